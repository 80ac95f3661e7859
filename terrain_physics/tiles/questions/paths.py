"""The paths of rays and of moving shapes over a land in tiles."""

from typing import NamedTuple

import numpy as np

from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels.tiles.squares import put_square_of_paths
from terrain_physics._kernels.types import Floats, Int64s, read_only
from terrain_physics.surface.shapes import centers_of, extents_of
from terrain_physics.tiles.questions.missing_tiles import MissingTiles

_SQUARE = CachedDispatch(put_square_of_paths)

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
    looks_below : bool
        Whether a box that is stopped at once needs what is below and above it, however far: where
        it touches an underside, it matters on which side of the ground its center is.
    """

    starts: Floats
    ways: Floats
    extents: Floats
    looks_below: bool = False

    @classmethod
    def of_rays(cls, origins: Floats, directions: Floats) -> "Paths":
        """Return the paths of rays."""
        return cls(origins, directions, _POINT)

    @classmethod
    def of_shapes(cls, kind: int, rows: Floats, motions: Floats) -> "Paths":
        """Return the paths of moving shapes."""
        return cls(centers_of(kind, rows), motions, extents_of(kind, rows), looks_below=True)

    def first_missing(
        self, missing: MissingTiles, most: Floats, threads: int | None
    ) -> tuple[Floats, Int64s] | None:
        """Return where the paths come to the first missing tile, and its number, or -1.

        They are followed up to places ``most`` (n,). None: it is easy to tell that none comes to
        any.
        """
        starts, ways, extents = self[:3]
        square = np.empty(4)
        _SQUARE.call(*read_only(*map(np.ascontiguousarray, (starts, ways, most))), square)
        reach = extents[:, ::2].max(axis=0, initial=0.0)
        square[:2] -= reach
        square[2:] += reach
        if not len(most) or missing.are_off(square):
            return None
        if self.looks_below and missing.has_underside and not most.all():
            extents = np.broadcast_to(extents, (len(most), 3)).copy()
            extents[most == 0.0, 1] = np.inf
        return missing.first_on(starts, ways, most, extents, threads)
