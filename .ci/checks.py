"""Which checks the files of a checkout ask for.

    python .ci/checks.py asked                the checks whose files have changed since they passed
    python .ci/checks.py state NAME           a hash of the files that ask for a check
    python .ci/checks.py passed NAME STATE    writes down that it has passed on these files

`passed.json` holds, by check, a hash of the files that ask for it. So a check runs again when one
of them is edited, added or removed, whatever the history says. Without git, all are asked for.
"""

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PASSED = ROOT / ".ci" / "passed.json"

CHECKS = (
    "plain_python",
    "packaging",
    "data",
    "site",
    "browser",
    "engines",
    "cluster",
    "benchmarks",
    "examples",
    "workflows",
)
"""Each is a function of `steps`, in the order in which they run."""

DEFAULT: tuple[str, ...] = ()
"""What asks for no more than each run does: the default tier of tests, lint, types, contracts."""

# `*` stands for folders too. All rows that a path fits count; a path that fits none asks for all.
PATHS: dict[str, tuple[str, ...]] = {
    "terrain_physics/*": DEFAULT,
    "terrain_physics/[!_]*": ("site",),  # its docstrings are pages
    "terrain_physics/_kernels/*": ("plain_python",),
    "terrain_physics/_kernels/_*.py": ("packaging",),
    "terrain_physics/_build/*": ("packaging",),
    "terrain_physics/_pyinstaller/*": ("packaging",),
    "terrain_physics/__main__.py": ("packaging",),
    "terrain_physics/__init__.py*": ("examples", "packaging"),
    "terrain_physics/counter/*": ("cluster", "data"),
    "terrain_physics/heightmap/*": ("data",),
    "terrain_physics/mesh/*": ("data",),
    "terrain_physics/surface/*": ("data",),
    "terrain_physics/_support/checks.py": ("cluster", "data"),
    "terrain_physics/_support/lazy.py": ("cluster",),
    "demo/docs/guide/cluster.md": ("cluster",),
    "demo/docs/cookbook/crates.md": ("engines",),
    "demo/docs/cookbook/geotiff.md": ("data",),
    "terrain_physics/viewer/*": ("browser",),
    "terrain_physics/recording/*": ("browser",),
    "terrain_physics/character/owners/*": ("engines",),
    "demo/*": DEFAULT,
    "demo/__*.py": ("packaging",),
    "demo/docs/*": ("site",),
    "demo/examples/*": ("examples",),
    "demo/examples/geodata.py": ("data",),
    "demo/examples/*_game.py": ("engines",),
    "assets/*": DEFAULT,
    "tests/*": DEFAULT,
    "tests/__init__.py": CHECKS,
    "tests/conftest.py": CHECKS,
    "tests/counter/data_sets.py": ("cluster",),
    "tests/counter/test_partitions.py": ("data",),
    "tests/geometry/*": ("plain_python",),
    "tests/kernels/*": ("plain_python",),
    "tests/benchmarks/*": ("benchmarks",),
    "tests/character/*engines.py": ("engines",),
    "tests/demo/*engine_games.py": ("engines",),
    "tests/demo/test_example_terrains.py": ("data",),
    "tests/cluster/*": ("cluster",),
    "tests/docs/*": ("site",),
    "tests/docs/test_recipe_of_crates.py": ("engines",),
    "tests/helpers/environments.py": ("packaging",),
    "tests/mesh/test_assembly.py": ("data",),
    "tests/mesh/test_models.py": ("data",),
    "tests/package/*": ("packaging",),
    "tests/surface/test_other_libraries.py": ("data",),
    "tests/viewer/*": ("browser",),
    ".ci/*": DEFAULT,
    ".ci/checks.py": CHECKS,
    ".ci/steps": CHECKS,
    ".ci/package": ("packaging",),
    ".ci/wheel": ("packaging",),
    ".github/*": DEFAULT,
    ".github/workflows/*": ("workflows",),
    "pyproject.toml": ("packaging", "data", "site", "browser", "engines", "cluster", "examples"),
    "README.md": ("site",),
    "CHANGELOG.md": ("site",),
    "CONTRIBUTING.md": DEFAULT,
    "LICENSE": DEFAULT,
    ".editorconfig": DEFAULT,
    ".gitattributes": DEFAULT,
    ".gitignore": DEFAULT,
}


def asked_by(path: str) -> set[str]:
    """Return the checks that a change of a path asks for."""
    rows = [checks for pattern, checks in PATHS.items() if fnmatchcase(path, pattern)]
    return {check for checks in rows for check in checks} if rows else set(CHECKS)


def state_of(check: str, paths: Iterable[str]) -> str:
    """Return a hash of the files among these that ask for a check."""
    found = hashlib.sha256()
    for path in sorted(paths):
        if check in asked_by(path) and (ROOT / path).is_file():
            content = (ROOT / path).read_bytes()
            found.update(f"{path} {len(content)}\n".encode())
            found.update(content)
    return found.hexdigest()[:32]


def tracked() -> list[str]:
    """Return the paths of a checkout, also those that are not committed yet."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode()  # noqa: S603
    return [path for path in listed.split("\0") if path and path != ".ci/passed.json"]


def passed() -> dict[str, str]:
    """Return the hash of the files that each check has passed on."""
    try:
        known: dict[str, str] = json.loads(PASSED.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def asked() -> list[str]:
    """Return the checks whose files are not those that they have passed on."""
    try:
        paths, known = tracked(), passed()
    except (OSError, subprocess.CalledProcessError):
        return list(CHECKS)
    return [check for check in CHECKS if known.get(check) != state_of(check, paths)]


def note(check: str, state: str) -> None:
    """Write down that a check has passed on files of a state."""
    if check not in CHECKS:
        raise SystemExit(f"no check: {check}")
    known = passed() | {check: state}
    text = json.dumps(known, indent=2, sort_keys=True) + "\n"
    PASSED.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["asked"]:
            sys.stdout.write("".join(f"{check}\n" for check in asked()))
        case ["state", check]:
            sys.stdout.write(f"{state_of(check, tracked())}\n")
        case ["passed", check, state]:
            note(check, state)
        case _:
            raise SystemExit(__doc__)
