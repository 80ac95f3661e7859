"""The table that hands sides of maps to kernels, as meshes: one row for each band."""

from collections.abc import Sequence
from typing import NamedTuple

from terrain_physics._kernels.types import Int64s
from terrain_physics.mesh.storage import MeshStorage
from terrain_physics.mesh.table import MeshTable


class SideRow(NamedTuple):
    """A mesh of sides.

    Attributes
    ----------
    owner : int
        The number of the map.
    layers : int
        Those of the map.
    storage : MeshStorage
    """

    owner: int
    layers: int
    storage: MeshStorage


class SideTable:
    """Meshes of sides by their places in a list.

    It stays as it is, for long queries: what follows it shares the trees of those that are the
    same.

    Attributes
    ----------
    rows : tuple of SideRow
    """

    __slots__ = ("_meshes", "rows")

    def __init__(self, rows: Sequence[SideRow], known: "SideTable | None" = None) -> None:
        """Take over rows; ``known`` is a table with some of them."""
        self.rows, before = tuple(rows), list[SideRow | None]([None]) * len(rows)
        self._meshes = MeshTable(len(rows))
        if known is not None and len(known.rows) == len(rows):
            self._meshes, before = known._meshes.copy(), list(known.rows)  # noqa: SLF001 its own
        for number, (new, old) in enumerate(zip(rows, before, strict=True)):
            if new != old:
                self._meshes.put_sides(number, new.storage.table, new.layers, new.owner)

    @property
    def view(self) -> Int64s:
        """The table for kernels."""
        return self._meshes.view

    def with_rows(self, rows: Sequence[SideRow]) -> "SideTable":
        """Return the table of these meshes: this one if they are the same."""
        return self if tuple(rows) == self.rows else SideTable(rows, self)
