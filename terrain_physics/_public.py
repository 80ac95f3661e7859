"""Public classes are named by the package, wherever they are defined."""

from typing import TypeVar

_Kind = TypeVar("_Kind", bound=type)


def public(kind: _Kind) -> _Kind:
    """Name a class by the package: pickles and reprs survive when it moves to another module."""
    kind.__module__ = "terrain_physics"
    return kind
