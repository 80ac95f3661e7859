"""Compares the map of `checks.py` with what the tests of checks run, as coverage.py has seen it.

    python .ci/coverage_map.py FOLDER

The folder holds a data file for the default tier, named `default`, and one for each check. A module
asks for a check if the check's tests run a line of one of its functions that the default tier does
not: nothing else would notice that such a line has gone wrong.
"""

import ast
import runpy
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from coverage import CoverageData

ROOT = Path(__file__).resolve().parent.parent
asked_by = runpy.run_path(str(ROOT / ".ci" / "checks.py"))["asked_by"]

Lines = Mapping[str, set[int]]


def run_lines(data: Path) -> dict[str, set[int]]:
    """Return the lines that have run, by the path of a module in this checkout."""
    found = CoverageData(str(data))
    found.read()
    return {
        Path(file).relative_to(ROOT).as_posix(): set(found.lines(file) or ())
        for file in found.measured_files()
        if Path(file).is_relative_to(ROOT)
    }


def of_functions(source: str) -> set[int]:
    """Return the lines of the bodies of functions, which an import does not run."""
    functions = (
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    return {
        line
        for function in functions
        for statement in function.body
        for line in range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
    }


def missing(check: str, ran: Lines, by_default: Lines) -> Iterator[str]:
    """Yield the modules that should ask for a check, and do not."""
    for path, lines in sorted(ran.items()):
        alone = lines - by_default.get(path, set())
        if alone and check not in asked_by(path):
            if alone & of_functions((ROOT / path).read_text(encoding="utf-8")):
                yield path


def main(folder: Path) -> None:
    """Print each module that asks for too little; the status tells whether there is one."""
    by_default = run_lines(folder / "default")
    checks = sorted(file.name for file in folder.iterdir() if file.name != "default")
    count = 0
    for check in checks:
        ran = run_lines(folder / check)
        for path in missing(check, ran, by_default):
            sys.stdout.write(f"{path} does not ask for {check}\n")
            count += 1
        sys.stdout.write(f"{len(ran)} modules ran in {check}\n")
    if count:
        sys.exit(f"{count} rows of .ci/checks.py are missing")
    sys.stdout.write(f"{len(checks)} passed: the map asks for what their tests alone run\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
