"""The table of tolerances: it is whole, and names the right readers."""

import ast
import re
from pathlib import Path

from tests.helpers.recipes import tree_of

KERNELS = Path(__file__).parents[2] / "terrain_physics" / "_kernels"
TABLE = KERNELS / "tolerances.py"
MODULE = "terrain_physics._kernels.tolerances"

# A constant with such a word in its name is a tolerance, but for those that bound what may be given
# or tried, or where float32 begins.
WORDS = re.compile(r"MARGIN|SLOP(?!E)|SLACK|ROUNDING|CLEARANCE|TOLERANCE|(?<!AT_)LEAST_")
BOUNDS = {
    "LEAST_CELL",
    "LEAST_EXPONENT",
    "LEAST_FACING",
    "LEAST_MASS",
    "LEAST_OFF",
    "LEAST_OUT",
    "LEAST_PARTS",
    "LEAST_PROGRESS",
    "LEAST_SHARE",
    "LEAST_SINE2",
    "LEAST_SPEED_FACTOR",
    "LEAST_SQUARE",
}


def constants(file: Path) -> list[str]:
    """Return the constants that a module defines, without the underscore in front."""
    names: list[str] = []
    for node in tree_of(file).body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        for target in targets:
            each = target.elts if isinstance(target, ast.Tuple) else [target]
            names += [name.id.lstrip("_") for name in each if isinstance(name, ast.Name)]
    return [name for name in names if name.isupper()]


def entries() -> dict[str, str]:
    """Return the comment of each tolerance, on one line."""
    text = TABLE.read_text(encoding="utf-8")
    found = re.findall(r"((?:^# .*\n)+)^([A-Z0-9_]+) = ", text, flags=re.MULTILINE)
    return {name: " ".join(comment.replace("# ", "").split()) for comment, name in found}


def readers() -> dict[str, set[str]]:
    """Return the folders of kernels, or modules of the package, that import each tolerance."""
    found: dict[str, set[str]] = {}
    for file in KERNELS.parent.rglob("*.py"):
        if KERNELS in file.parents:
            reader = ".".join(file.relative_to(KERNELS).parent.parts)
        else:
            reader = ".".join(file.relative_to(KERNELS.parents[1]).with_suffix("").parts)
        if MODULE not in file.read_text(encoding="utf-8"):
            continue  # parsing takes longer
        for node in ast.walk(tree_of(file)):
            if isinstance(node, ast.ImportFrom) and node.module == MODULE:
                for alias in node.names:
                    found.setdefault(alias.name, set()).add(reader)
    return found


def test_each_has_purpose_unit_and_readers() -> None:
    known = entries()
    assert sorted(known) == sorted(constants(TABLE))
    for name, comment in known.items():
        assert re.fullmatch(r"[A-Z].+\. Unit: [^.]+\. Read by: [^.]+(\.\w+)*.*\.", comment), name


def test_it_names_all_readers_and_no_others() -> None:
    said = {
        name: set(comment.partition("Read by: ")[2].removesuffix(".").split(", "))
        for name, comment in entries().items()
    }
    assert said == readers()


def test_no_tolerance_stands_elsewhere() -> None:
    elsewhere = {
        f"{file.relative_to(KERNELS).as_posix()}: {name}"
        for file in KERNELS.rglob("*.py")
        if file != TABLE
        for name in constants(file)
        if WORDS.search(name) and name not in BOUNDS
    }
    assert not elsewhere


def test_no_bound_is_excepted_that_is_not_there() -> None:
    known = {name for file in KERNELS.rglob("*.py") for name in constants(file)}
    assert known >= BOUNDS
