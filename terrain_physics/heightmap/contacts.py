"""Contacts of many shapes with a height map, as arrays."""

import numpy as np
from numpy.typing import NDArray

from terrain_physics import _checks
from terrain_physics._kernels._jit import Direct
from terrain_physics._kernels.heightmap.one_sphere import ball_contacts
from terrain_physics._kernels.heightmap.triangle_ids import list_triangles
from terrain_physics._kernels.types import Floats
from terrain_physics._threads import Workers
from terrain_physics.geometry.shapes import Sphere
from terrain_physics.heightmap.contact_parts import Query
from terrain_physics.heightmap.storage import MapData
from terrain_physics.surface.contacts import Shape, ShapeContacts
from terrain_physics.surface.results import Contacts

_ONE_BALL = Direct(ball_contacts)


class MapContacts(ShapeContacts, MapData):
    """What `terrain_physics.HeightMap` answers about contacts, and triangles in many boxes."""

    __slots__ = ()

    def triangles_in_rows(self, boxes: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the offsets and ids of boxes: lower and upper corners, flat."""
        offsets = np.zeros(len(boxes) // 6 + 1, dtype=np.int64)
        with self.reading() as views:
            total, ids = list_triangles(*views, boxes, offsets)
        if total < 0:
            raise ValueError(f"boxes must be over at most 100 million cells, got box {-1 - total}")
        return offsets, ids[:total]

    def contacts_of_one(self, shape: Shape, keep: str) -> Contacts | None:
        """Return all contacts of a small ball, without the ways of many; else None."""
        if type(shape) is not Sphere or keep != "all":
            return None
        x, y, z = shape.center64
        with self._lock:
            if self._materials is not None:
                return None
            heights, cells, _, frame = self._views
            ints, floats = _ONE_BALL.call(heights, cells, frame, x, y, z, shape.radius)
        return None if ints.size == 2 and ints[0, 0] < 0 else Contacts(ints, floats)

    def counts_of_rows(self, kind: int, bodies: Floats, threads: int | None) -> NDArray[np.int64]:
        """Return how many triangles each row touches."""
        with Workers(threads) as workers, self.reading() as views:
            return Query(views, kind, bodies, None).counts(workers)

    def contacts_of_rows(
        self,
        kind: int,
        bodies: Floats,
        keep: str,
        threads: int | None,
    ) -> Contacts:
        """Return the contacts of rows of one kind, all or the deepest of each."""
        deepest = _checks.choice("keep", keep, ("all", "deepest")) == "deepest"
        with Workers(threads) as workers, self.reading() as views:
            materials = self._materials
            query = Query(views, kind, bodies, None if materials is None else self.cell_count)
            ints, floats, cells = (query.deepest if deepest else query.contacts)(workers)
            made_of = None if materials is None else materials.reshape(-1)[cells]
        return Contacts(ints, floats, made_of)
