"""Environments of their own, for what is to be seen as a user sees it: installed, elsewhere."""

import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]

IS_NATIVE = sys.platform == "linux" and platform.machine() == "x86_64"
"""Whether wheels made here hold machine code."""

HIDDEN = (
    "PYTHONPATH",
    "TERRAIN_PHYSICS_NATIVE",
    "NUMBA_DISABLE_JIT",
    "TERRAIN_PHYSICS_TEST_EXTRAS",
)

OWN_PYTHON = {"PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])}
"""Environment of a script, for its `python` to be this one."""


def run(
    command: Sequence[object],
    *,
    cwd: Path,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
) -> bytes:
    """Run a program to its end, which must be a good one; return what it printed."""
    inherited = {name: value for name, value in os.environ.items() if name not in HIDDEN}
    finished = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=inherited | dict(env or {}),
        input=stdin,
        capture_output=True,
        timeout=6 * 3600,  # only against a hang: it may compile everything
        check=False,
    )
    assert finished.returncode == 0, finished.stdout.decode() + finished.stderr.decode()
    return finished.stdout


def seconds(command: Sequence[object], *, cwd: Path) -> float:
    """Return the time of a processor that a program takes, at best: a busy machine takes longer."""
    import resource

    def spent() -> float:
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return children.ru_utime + children.ru_stime

    found = []
    for _ in range(3):
        before = spent()
        run(command, cwd=cwd)
        found.append(spent() - before)
    return min(found)


def environment(place: Path, *packages: object, python: str = sys.executable) -> Path:
    """Make an environment that holds these packages; return the folder of its programs."""
    paths = {"base": "", "platbase": ""}
    folder = place / Path(sysconfig.get_path("scripts", "venv", paths)).name
    if python == sys.executable:
        # Without a pip of its own: Debian's Python cannot make one.
        venv.create(place, with_pip=False, symlinks=os.name != "nt")
        pip = [sys.executable, "-m", "pip", "--python", folder / "python"]
    else:
        run([python, "-m", "venv", place], cwd=place)
        pip = [folder / "python", "-m", "pip"]  # another Python's may be too old for it
    run([*pip, "install", "--quiet", *packages], cwd=place)
    return folder


def pythons() -> list[str]:
    """Return the Pythons that we support and that run here, of each version one, newest first."""
    folders = os.environ["PATH"].split(os.pathsep)
    found = []
    for minor in range(14, 10, -1):
        if minor == sys.version_info.minor:
            found.append(sys.executable)
            continue
        places = (shutil.which(f"python3.{minor}", path=folder) for folder in folders)
        found += [program for program in places if program and _runs(program)][:1]
    return found


def _runs(program: str) -> bool:
    check = subprocess.run(
        [program, "-c", "import ensurepip, venv"], capture_output=True, check=False
    )
    return check.returncode == 0
