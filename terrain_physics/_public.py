"""The decorator that names public classes by the package, wherever they are defined."""

from typing import TypeVar

_Kind = TypeVar("_Kind", bound=type)


def public(kind: _Kind) -> _Kind:
    """Name a class by the package: pickles and reprs survive when it moves to another module.

    `inspect.getsource` of such a class finds nothing, as it looks in the package's own file. The
    class's methods know where they are.
    """
    kind.__module__ = "terrain_physics"
    return kind
