"""A fault: a change of a few characters in one module."""

from typing import NamedTuple


class Fault(NamedTuple):
    """A change that leaves a module importable and wrong."""

    name: str
    module: str  # below terrain_physics
    old: str  # stands in the module exactly once
    new: str
    caught_by: tuple[str, ...]  # tests of the default tier, each of which fails
