"""Kernels that do not count references hand out no arrays: a caller that counts would free them."""

import ast
import re
from functools import cache
from pathlib import Path

import terrain_physics
from tests.helpers.recipes import tree_of

KERNELS = Path(terrain_physics.__file__).parent / "_kernels"
TYPES = (KERNELS / "types.py").read_text(encoding="utf-8")
ARRAYS = {"NDArray", *re.findall(r"^(\w+) = NDArray", TYPES, flags=re.MULTILINE)}
# These make their arrays of addresses: nobody counts references of such.
OF_ADDRESSES = {"tile_of"}


def trees():
    return [tree_of(file) for file in KERNELS.rglob("*.py")]


def words(annotation):
    return set(re.findall(r"\w+", ast.unparse(annotation)))


@cache
def with_arrays():
    """Return the names of all types that are arrays, or tuples with some."""
    fields = {
        node.name: set().union(
            *(words(f.annotation) for f in node.body if hasattr(f, "annotation"))
        )
        for tree in trees()
        for node in tree.body
        if isinstance(node, ast.ClassDef) and any("NamedTuple" in words(b) for b in node.bases)
    }
    found, before = set(ARRAYS), 0
    while len(found) > before:
        before = len(found)
        found |= {name for name, own in fields.items() if own & found}
    return found


def without_counts():
    for tree in trees():
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                options = " ".join(map(ast.unparse, node.decorator_list))
                if "no_refcount=True" in options:
                    yield node


def test_types_with_arrays_are_known():
    assert {"Floats", "Int64s", "Scene", "Memory", "GroundTable"} <= with_arrays()
    assert not {"Motion", "Pace", "MovementRules", "Vec3"} & with_arrays()


def test_no_kernel_without_counts_returns_an_array():
    arrays = with_arrays()
    returning = {node.name for node in without_counts() if words(node.returns) & arrays}
    assert returning == OF_ADDRESSES
