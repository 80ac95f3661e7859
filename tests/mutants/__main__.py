"""``python -m tests.mutants``: puts each fault into a copy and tells which tests catch it.

By default the tests run that a fault names: each of them has to fail. With ``--whole`` the default
tier runs for each fault. ``--fault NAME`` tries only those whose names begin so, ``--part 2/4``
each fourth, from the second.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.mutants.fault import Fault
from tests.mutants.faults import FAULTS

ROOT = Path(__file__).parents[2]
COPIED = (
    *(".ci", ".github", "terrain_physics", "demo", "tests", "assets", "pyproject.toml"),
    *("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", ".gitignore"),
)
SECONDS = 3600  # only against a hang: a fault may make a loop endless


def main() -> None:
    """Try the faults one after another; the status tells whether one was missed."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--whole", action="store_true", help="run all of the default tier")
    parser.add_argument("--fault", default="", metavar="NAME", help="only those that begin so")
    parser.add_argument("--part", type=_part, default=slice(None), metavar="K/N")
    chosen = parser.parse_args()
    faults = [fault for fault in FAULTS if fault.name.startswith(chosen.fault)][chosen.part]
    with tempfile.TemporaryDirectory(prefix="terrain-physics-mutants-") as name:
        place = Path(name)
        _copy(place)
        named = sorted({test for fault in faults for test in fault.caught_by})
        if failed := _failures(place, () if chosen.whole else named):
            sys.exit(f"these fail without any fault: {', '.join(failed)}")
        missed = [fault.name for fault in faults if not _is_caught(fault, place, chosen.whole)]
    if missed:
        sys.exit(f"not caught: {', '.join(missed)}")
    sys.stdout.write(f"{len(faults)} passed: these faults are caught\n")


def _part(text: str) -> slice:
    """Return the part of a list that K/N means: each N-th, from the K-th."""
    number, _, parts = text.partition("/")
    if not 1 <= int(number) <= int(parts):
        raise ValueError(text)
    return slice(int(number) - 1, None, int(parts))


def _copy(place: Path) -> None:
    left_out = shutil.ignore_patterns("__pycache__", "_native_*.so", "_native_*.pyd")
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, place / name, ignore=left_out)
        else:
            shutil.copy(ROOT / name, place / name)


def _is_caught(fault: Fault, place: Path, whole: bool) -> bool:
    """Run tests on a copy that has the fault; print which of them fail."""
    file = place.joinpath("terrain_physics", *fault.module.split(".")).with_suffix(".py")
    source = file.read_text(encoding="utf-8")
    file.write_text(source.replace(fault.old, fault.new), encoding="utf-8", newline="\n")
    try:
        failed = _failures(place, () if whole else fault.caught_by)
    finally:
        file.write_text(source, encoding="utf-8", newline="\n")
    sys.stdout.write(f"{fault.name:40} {len(failed)} fail: {', '.join(failed[:3])}\n")
    sys.stdout.flush()
    failed_functions = {test.partition("[")[0] for test in failed}
    named = [
        test for test in fault.caught_by if test not in failed and test not in failed_functions
    ]
    return bool(failed) if whole else not named


def _failures(place: Path, tests: Sequence[str]) -> list[str]:
    """Return the tests that fail among some, or in the default tier if none are named."""
    # A test compares the sources with the faults: in a copy that has one it fails for that alone.
    which = tests or ("-n", "auto", "--ignore=tests/mutants")
    command = [sys.executable, "-m", "pytest", "-q", "-rfE", "--tb=no", *which]
    # Machine code is kept by what a kernel is made of: that of one fault is none for another.
    env = dict(os.environ) | {"TERRAIN_PHYSICS_CACHE_DIR": str(place / "cache")}
    done = subprocess.run(
        command, cwd=place, env=env, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    if done.returncode not in {0, 1}:
        sys.exit(f"pytest ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    starts = ("FAILED ", "ERROR ")
    told = [line for line in done.stdout.splitlines() if line.startswith(starts)]
    return [line.split(" ", 1)[1].split(" - ")[0] for line in told]


if __name__ == "__main__":
    main()
