"""The numbers that a ground has for the materials of its parts: equal names are one material."""

from collections.abc import Sequence

import numpy as np

from terrain_physics._kernels.types import Bytes
from terrain_physics.surface.materials import MOST_MATERIALS, Names, joined_names, joined_numbers

_SAME = np.arange(MOST_MATERIALS)


class GroundMaterials:
    """Materials of parts by the parts' numbers.

    Attributes
    ----------
    names : tuple of str, or None
        The names of the ground's materials 0, 1, ..., in the order of the parts; None if no part
        has any.
    """

    __slots__ = ("_named", "_own", "names")

    def __init__(self) -> None:
        self._own: dict[int, Names] = {}
        self._named: dict[Names, Bytes | None] = {}
        self.names: Names = None

    def named(self, number: int) -> Bytes | None:
        """Return the ground's number (256,) for each of a part's; None if they are the same."""
        return self._named[self._own[number]]

    def refuse_more(self, more: Sequence[Names]) -> None:
        """Raise ValueError if there would be too many names with those of more parts."""
        fresh = [own for own in dict.fromkeys(more) if own not in self._named]
        if fresh:
            _numbered([*self._named, *fresh])

    def add(self, number: int, own: Names) -> bool:
        """Add a part; tell whether numbers of others may have changed."""
        is_new = own not in self._named
        self._own[number] = own
        if is_new:
            self._number([*self._named, own])
        return is_new

    def remove(self, number: int) -> bool:
        """Remove a part; tell whether numbers of others may have changed."""
        if self._own.pop(number) is None and None in self._own.values():
            return False
        return self._renumber()

    def replace(self, number: int, own: Names) -> bool:
        """Put another part in the place of one; tell whether numbers of others may have changed."""
        self._own[number] = own
        return self._renumber()

    def _renumber(self) -> bool:
        before = list(self._named)
        after = list(dict.fromkeys(self._own.values()))
        if after != before:
            self._number(after)
        return after != before

    def _number(self, different: list[Names]) -> None:
        self.names, self._named = _numbered(different)


def _numbered(different: list[Names]) -> tuple[Names, dict[Names, Bytes | None]]:
    """Return all names, and the numbers for each of the different lists of names."""
    names, numbers = joined_names(different), joined_numbers(different)
    if numbers is None:
        return names, dict.fromkeys(different)
    rows = [None if (row == _SAME).all() else row for row in numbers]
    return names, dict(zip(different, rows, strict=True))
