"""Which checks the files of a checkout ask for, and what is known of those that have passed.

    python .ci/checks.py asked [PYTHON]          the checks that are to run; why, on stderr
    python .ci/checks.py names                   all checks
    python .ci/checks.py extras NAME             the extras that a check needs beside README's
    python .ci/checks.py requirements EXTRA...   what pip installs for some extras
    python .ci/checks.py state NAME              a hash of the files that ask for a check
    python .ci/checks.py passed NAME STATE LOG SECONDS PYTHON
                                                 writes down that it has passed on these files
    python .ci/checks.py pieces                  the checks, and pieces of `full`, that do not count
    python .ci/checks.py table                   all that is written down

`passed.json` holds an entry for each check, `logs` what it printed. A check runs again when one of
its files is edited, added or removed, whatever the history says; after `DAYS`; with another Python,
or another version of what it installs, as PYTHON, that of an environment by README, would resolve
it now; and if its log is not the one that was written down, or tells of no test. Without git, all
are asked for.
"""

import hashlib
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PASSED = ROOT / ".ci" / "passed.json"
LOGS = ROOT / ".ci" / "logs"

DAYS = 14
"""How long a check that has passed counts."""

ENVIRONMENTS: dict[str, tuple[str, ...]] = {
    "plain_python": (),
    "packaging": (),
    "data": ("data", "exr"),
    "site": ("docs", "browser"),
    "browser": ("browser",),
    "engines": ("engines",),
    "cluster": ("dask", "data"),
    "benchmarks": (),
    "examples": ("judges",),
    "workflows": ("judges",),
}
"""The extras of a check's environment, beside those of README's command."""

CHECKS = tuple(ENVIRONMENTS)
"""Each is a function of `steps`, in the order in which they run."""

DEFAULT: tuple[str, ...] = ()
"""What asks for no more than each run does: the default tier of tests, lint, types, contracts."""

# `*` stands for folders too. All rows that a path fits count; a path that fits none asks for all.
# `full` compares the rows with the lines that the tests of a check alone run: `coverage_map.py`.
PATHS: dict[str, tuple[str, ...]] = {
    "terrain_physics/*": DEFAULT,
    "terrain_physics/[!_]*": ("site",),  # its docstrings are pages
    "terrain_physics/_kernels/*": ("plain_python", "packaging"),
    "terrain_physics/_build/*": ("packaging",),
    "terrain_physics/_pyinstaller/*": ("packaging",),
    "terrain_physics/__main__.py": ("packaging",),
    "terrain_physics/__init__.py*": ("examples", "packaging"),
    "terrain_physics/warmup.py": ("packaging",),
    "terrain_physics/character/*": ("engines",),
    "terrain_physics/counter/*": ("cluster", "data"),
    "terrain_physics/heightmap/*": ("data",),
    "terrain_physics/mesh/*": ("data",),
    "terrain_physics/surface/*": ("cluster", "data"),
    "terrain_physics/_support/*": ("cluster", "data"),
    "terrain_physics/viewer/*": ("browser",),
    "terrain_physics/recording/*": ("browser",),
    "demo/*": DEFAULT,
    "demo/__*.py": ("packaging",),
    "demo/renderers/*": ("packaging",),  # kernels that wheels hold machine code for
    "demo/docs/*": ("site",),
    "demo/docs/guide/cluster.md": ("cluster",),
    "demo/docs/cookbook/crates.md": ("engines",),
    "demo/docs/cookbook/geotiff.md": ("data",),
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
    "tests/docs/test_pages.py": ("cluster", "data", "engines"),
    "tests/docs/test_recipe_of_crates.py": ("engines",),
    "tests/heightmap/test_files_pictures.py": ("data",),
    "tests/helpers/environments.py": ("packaging",),
    "tests/helpers/extras.py": ("cluster", "data", "engines", "site", "browser"),
    "tests/mesh/test_assembly.py": ("data",),
    "tests/mesh/test_models.py": ("data",),
    "tests/package/*": ("packaging",),
    "tests/surface/test_other_libraries.py": ("data",),
    "tests/viewer/*": ("browser",),
    "tests/walkability/test_graph.py": ("data",),
    ".ci/*": DEFAULT,
    ".ci/checks.py": CHECKS,
    ".ci/steps": CHECKS,
    ".ci/full": ("packaging",),
    ".ci/package": ("packaging",),
    ".ci/wheel": ("packaging",),
    ".github/*": DEFAULT,
    ".github/workflows/*": ("workflows",),
    "pyproject.toml": CHECKS,
    "README.md": ("site",),
    "CHANGELOG.md": ("site",),
    "CONTRIBUTING.md": DEFAULT,
    "LICENSE": DEFAULT,
    ".editorconfig": DEFAULT,
    ".gitattributes": DEFAULT,
    ".gitignore": DEFAULT,
}


class Tests(NamedTuple):
    """What a log tells of tests, of all runs in it."""

    passed: int
    skipped: int


def asked_by(path: str) -> set[str]:
    """Return the checks that a change of a path asks for."""
    rows = [checks for pattern, checks in PATHS.items() if fnmatchcase(path, pattern)]
    return {check for checks in rows for check in checks} if rows else set(CHECKS)


def _belongs_to(path: str, name: str) -> bool:
    """Tell whether a file belongs to a check, or to a piece of `full`: all code does."""
    if name in CHECKS:
        return name in asked_by(path)
    return path == "pyproject.toml" or path.startswith(("terrain_physics/", "tests/", "demo/"))


def state_of(name: str, paths: Iterable[str]) -> str:
    """Return a hash of the files among these that belong to a check, or to a piece of `full`."""
    found = hashlib.sha256()
    for path in sorted(paths):
        if _belongs_to(path, name) and (ROOT / path).is_file():
            content = (ROOT / path).read_bytes()
            found.update(f"{path} {len(content)}\n".encode())
            found.update(content)
    return found.hexdigest()[:32]


def tracked() -> list[str]:
    """Return the paths of a checkout, also those that are not committed yet."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode()
    written = (".ci/passed.json", ".ci/logs/")
    return [path for path in listed.split("\0") if path and not path.startswith(written)]


def passed() -> dict[str, dict[str, str]]:
    """Return the entries of the record, by check."""
    try:
        known = json.loads(PASSED.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    known = known if isinstance(known, dict) else {}
    return {name: entry for name, entry in known.items() if _is_whole(entry)}


def _is_whole(entry: object) -> bool:
    names = "commit", "date", "files", "log", "seconds", "tests", "versions"
    return isinstance(entry, dict) and all(isinstance(entry.get(name), str) for name in names)


def log_of(name: str) -> Path:
    """Return the file that holds what a check printed."""
    return LOGS / (re.sub(r"[^\w.]+", "_", name) + ".log")


def tests_in(log: str) -> Tests:
    """Return how many tests passed and were skipped, by the last lines of all runs."""
    counted = dict.fromkeys(Tests._fields, 0)
    for number, word in re.findall(r"\b(\d+) (passed|skipped)\b", log):
        counted[word] += int(number)
    return Tests(**counted)


def why_stale(name: str, paths: Iterable[str]) -> str:
    """Return why a check does not count any more, nothing if it does; versions are not asked."""
    entry = passed().get(name)
    if entry is None:
        return "nothing is written down"
    if entry["files"] != state_of(name, paths):
        return f"its files have changed since {entry['date']}"
    try:
        age = date.today() - date.fromisoformat(entry["date"])
        log = log_of(name).read_bytes()
    except (OSError, ValueError) as reason:
        return f"its date or its log cannot be read ({reason})"
    if not timedelta(-1) <= age <= timedelta(DAYS):
        return f"it ran on {entry['date']}"
    if hashlib.sha256(log).hexdigest() != entry["log"] or not tests_in(log.decode()).passed:
        return "its log is another one, or tells of no test"
    return ""


def requirements(extras: Iterable[str]) -> list[str]:
    """Return what some extras of the project ask for."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        listed = tomllib.load(file)["project"]["optional-dependencies"]
    found = [one for extra in extras for one in listed[extra]]
    return [one for one in found if not one.startswith("terrain-physics[")]


def installed(python: str) -> dict[str, str]:
    """Return the versions of Python and of what an environment holds, by name."""
    program = "import platform; print(platform.python_version())"
    version = subprocess.run([python, "-c", program], capture_output=True, text=True, check=True)
    command = [python, "-m", "pip", "list", "--format", "json"]
    listed = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    held = {_name(one["name"]): one["version"] for one in listed}
    return {"python": version.stdout.strip()} | held


def resolved(python: str, extras: Iterable[str], held: Mapping[str, str]) -> dict[str, str]:
    """Return the versions that an environment would have after the installation of some extras."""
    wanted = requirements(extras)
    if not wanted:
        return dict(held)
    command = [python, "-m", "pip", "install", "--dry-run", "--quiet", "--report", "-", *wanted]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    new = [one["metadata"] for one in json.loads(told[told.index("{") :])["install"]]
    return dict(held) | {_name(one["name"]): one["version"] for one in new}


def _name(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def why_of_other_versions(name: str, python: str, held: Mapping[str, str]) -> str:
    """Return which versions of a check's record are not those of today, nothing if all are."""
    words = (one.rpartition(" ") for one in passed()[name]["versions"].split(", "))
    known = {package: version for package, _, version in words}
    try:
        now = resolved(python, ENVIRONMENTS[name], held)
    except (subprocess.CalledProcessError, ValueError, KeyError):
        return "pip does not tell what it would install"
    others = {one: version for one, version in now.items() if known.get(one) != version}
    told = [
        f"{one} {known.get(one, 'missing')} is {version} now" for one, version in others.items()
    ]
    return ", ".join(sorted(told))


def asked(python: str = "") -> dict[str, str]:
    """Return the checks that are to run, and why; with a Python, versions count."""
    try:
        paths = tracked()
    except (OSError, subprocess.CalledProcessError):
        return dict.fromkeys(CHECKS, "git knows of no files")
    held = installed(python) if python else {}
    why = {check: why_stale(check, paths) for check in CHECKS}
    for check in CHECKS if python else ():
        why[check] = why[check] or why_of_other_versions(check, python, held)
    return {check: reason for check, reason in why.items() if reason}


def note(name: str, state: str, printed: str, seconds: str, python: str) -> None:
    """Write down that a check, or a piece of `full`, has passed on files of a state."""
    if name not in CHECKS and name not in pieces():
        raise SystemExit(f"no check: {name}")
    log = cleaned(printed)
    tests = tests_in(log)
    if not tests.passed:
        raise SystemExit(f"{name} ran no test")
    LOGS.mkdir(exist_ok=True)
    log_of(name).write_text(log, encoding="utf-8", newline="\n")
    entry = {
        "date": date.today().isoformat(),
        "commit": commit(),
        "files": state,
        "tests": f"{tests.passed} passed, {tests.skipped} skipped",
        "seconds": seconds,
        "log": hashlib.sha256(log.encode()).hexdigest(),
        "versions": ", ".join(f"{one} {version}" for one, version in installed(python).items()),
    }
    known = passed() | {name: entry}
    text = json.dumps(known, indent=2, sort_keys=True) + "\n"
    PASSED.write_text(text, encoding="utf-8", newline="\n")


def commit() -> str:
    """Return the commit of this checkout, and a plus if files have been edited since."""
    parts = []
    for words in (["rev-parse", "--short=12", "HEAD"], ["status", "--porcelain", *_NOT_WRITTEN]):
        command = ["git", *words]
        told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        parts.append(told.stdout.strip())
    return parts[0] + "+" * bool(parts[1])


_NOT_WRITTEN = "--", ".", ":!.ci/passed.json", ":!.ci/logs"
"""The files that no check writes."""


def cleaned(printed: str) -> str:
    """Return what a check printed, its first and last lines, without places and addresses."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", printed).replace(str(ROOT), ".")
    text = re.sub(r"\w+://\S+", "<address>", text)
    text = re.sub(r"(?<![\w.])/(?:tmp|home|root|opt|Users|work)/[^\s:'\"]*", "<folder>", text)
    lines = [line.rstrip()[:160] for line in text.splitlines() if line.strip()]
    if len(lines) > 2 * _LINES:
        lines = [*lines[:_LINES], "...", *_telling(lines[_LINES:])]
    return "\n".join(lines) + "\n"


_LINES = 20


def _telling(lines: Iterable[str]) -> list[str]:
    """Return the lines that count tests, and some of those that tell of one."""
    counts = [line for line in lines if re.search(r"\b\d+ (passed|skipped)\b", line)]
    return [*[line for line in lines if line.startswith("SKIPPED")][:_LINES], *counts]


def pieces() -> list[str]:
    """Return the pieces of `full`, each of which takes less than an hour."""
    listed = (ROOT / ".ci" / "pieces").read_text(encoding="utf-8").splitlines()
    return [line for line in listed if line and not line.startswith("#")]


def table() -> str:
    """Return all that is written down, a line each, and what has changed since."""
    paths, known = tracked(), passed()
    lines = []
    for name in (*CHECKS, *pieces()):
        entry = known.get(name)
        if entry is None:
            lines.append(f"| {name} | never | | | |")
            continue
        still = "" if entry["files"] == state_of(name, paths) else ", on other files"
        ran = f"{entry['date']}, {entry['commit']}{still}"
        lines.append(f"| {name} | {ran} | {entry['tests']} | {entry['seconds']} s |")
    return "\n".join(["| piece | passed | tests | |", "|---|---|---|---|", *lines]) + "\n"


def main(words: list[str]) -> None:
    """Do what the command line asks for."""
    match words:
        case ["asked", *python] if len(python) < 2:
            for check, reason in asked(*python).items():
                sys.stdout.write(f"{check}\n")
                sys.stderr.write(f"{check}: {reason}\n")
        case ["names"]:
            sys.stdout.write("".join(f"{one}\n" for one in CHECKS))
        case ["extras", name]:
            sys.stdout.write(" ".join(ENVIRONMENTS.get(name, ())) + "\n")
        case ["requirements", *extras]:
            sys.stdout.write("".join(f"{one}\n" for one in requirements(extras)))
        case ["state", name]:
            sys.stdout.write(f"{state_of(name, tracked())}\n")
        case ["passed", name, state, log, seconds, python]:
            printed = Path(log).read_text(encoding="utf-8", errors="replace")
            note(name, state, printed, seconds, python)
        case ["pieces"]:
            paths = tracked()
            stale = (one for one in (*CHECKS, *pieces()) if why_stale(one, paths))
            sys.stdout.write("".join(f"{one}\n" for one in stale))
        case ["table"]:
            sys.stdout.write(table())
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
