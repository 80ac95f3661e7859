"""Contacts of characters with the ground in their last updates: triangles and materials."""

from typing import NamedTuple, Self

import numpy as np

from terrain_physics._kernels.character.state import layout as columns
from terrain_physics._kernels.types import Bools, Bytes, Floats, Int64s
from terrain_physics.surface.queries import Queries

# Columns in the rows of `GroundContacts`, which are consecutive columns of the state.
_KIND = 0
_POINT = columns.GROUND_POINT - columns.GROUND_KIND
_PART = columns.GROUND_PART - columns.GROUND_KIND
_TRIANGLE = columns.GROUND_TRIANGLE - columns.GROUND_KIND


class GroundContacts(NamedTuple):
    """The contacts of characters with triangles, by parts and numbers as in kernels.

    Attributes
    ----------
    rows : ndarray of float64, shape (n, 6)
        Kind of ground, point, part and triangle of each.
    queries : Queries
        The queries of the ground.
    """

    rows: Floats
    queries: Queries

    @classmethod
    def by(cls, states: Floats, queries: Queries) -> Self:
        """Return the contacts in rows of state (n, STATE_SIZE), as a view of the rows."""
        return cls(states[:, columns.GROUND_KIND : columns.GROUND_TRIANGLE + 1], queries)

    def copy(self) -> Self:
        """Return a copy, which later changes of the rows of state do not reach."""
        item = f"V{self.rows.shape[1] * self.rows.itemsize}"  # NumPy copies a row at once then
        return type(self)(self.rows.view(item).copy().view(np.float64), self.queries)

    def named(self) -> tuple[Int64s, Bytes, Bools]:
        """Return the ids (n,) of the triangles, their materials (n,), and which are there.

        Ids are -1 of those that are not, and their materials tell nothing.
        """
        triangles, points = self.rows[:, _TRIANGLE], self.rows[:, _POINT : _POINT + 3]
        return self.queries.triangles_at(self.parts(), triangles.astype(np.int64), points)

    def parts(self) -> Int64s:
        """Return the numbers (n,) of the parts touched; -1: none, or none that is known."""
        parts = self.rows[:, _PART].astype(np.int64)
        parts[self.rows[:, _KIND] == columns.AIRBORNE] = -1
        return parts

    def at(self, rows: Int64s) -> Self:
        """Return the contacts of some of the characters."""
        return self._replace(rows=self.rows[rows])

    def is_other_material(self, before: "GroundContacts") -> Bools:
        """Tell which touch another material than before; False if there is none now or before."""
        parts, parts_before = self.parts(), before.parts()
        triangles = self.rows[:, _TRIANGLE]
        differs: Bools = (triangles != before.rows[:, _TRIANGLE]) | (parts != parts_before)
        differs |= triangles < 0.0  # outside a map, where the point decides the material
        differs &= (parts >= 0) & (parts_before >= 0)
        rows = np.flatnonzero(differs)
        differs[rows] = self.at(rows).named()[1] != before.at(rows).named()[1]
        return differs
