"""The paths of rays and of moving shapes over a land in tiles."""

from typing import NamedTuple

import numpy as np

from terrain_physics._kernels.types import Floats, Int64s
from terrain_physics.surface.shapes import centers_of, extents_of
from terrain_physics.tiles.missing_tiles import MissingTiles
from terrain_physics.tiles.row_answers import Rows, some_of

_POINT = np.zeros((1, 3))
_POINT.setflags(write=False)


class Paths(NamedTuple):
    """Straight paths of boxes; an array of one row serves for all.

    Attributes
    ----------
    starts : ndarray of float64, shape (n, 3)
        Where the centers of the boxes begin.
    ways : ndarray of float64, shape (n, 3)
        Where they lead: a place along a path is a multiple of it.
    extents : ndarray of float64, shape (n, 3)
        Half the sizes of the boxes.
    """

    starts: Floats
    ways: Floats
    extents: Floats

    @classmethod
    def of_rays(cls, origins: Floats, directions: Floats) -> "Paths":
        """Return the paths of rays."""
        return cls(origins, directions, _POINT)

    @classmethod
    def of_shapes(cls, kind: int, rows: Floats, motions: Floats) -> "Paths":
        """Return the paths of moving shapes."""
        return cls(centers_of(kind, rows), motions, extents_of(kind, rows))

    def first_missing(
        self, missing: MissingTiles, rows: Rows, most: Floats, threads: int | None
    ) -> tuple[Floats, Int64s] | None:
        """Return where some of the paths come to the first missing tile, and its number, or -1.

        They are followed up to places ``most`` (m,). None: it is easy to tell that none comes to
        any.
        """
        starts, ways, extents = some_of(rows, *self)
        if missing.are_none or not len(most):
            return None
        if np.isfinite(most).all():
            both = np.concatenate([starts, starts + ways * most[:, np.newaxis]])
            reach = extents.max(axis=0)
            x0, _, z0 = both.min(axis=0) - reach
            x1, _, z1 = both.max(axis=0) + reach
            if not len(missing.under(np.array([[x0, z0, x1, z1]]))):
                return None
        return missing.first_on(starts, ways, most, extents, threads)
