"""What shapes and paths come near: the sides of a map, or its underside."""

import numpy as np

from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels.heightmap import grid as kernels
from terrain_physics._kernels.heightmap.solid.reach import put_shapes_near
from terrain_physics._kernels.types import Bytes, Floats, read_only
from terrain_physics.surface.ground_arrays import MapArrays
from terrain_physics.surface.shapes import for_kernels

_SHAPES = CachedDispatch(put_shapes_near)


class Reach:
    """Tells what comes near the sides or the underside of a map, as it is at one moment.

    Answers are bits: see the kernels' `heightmap.solid.reach`. What has none comes near nothing;
    what has some may come near nothing yet.
    """

    __slots__ = ("_arrays",)

    def __init__(self, views: MapArrays, marks: Bytes, clear: Floats) -> None:
        """Take over arrays: a map's, the marks of its blocks, and a place without sides."""
        heights, cells, blocks, frame = views
        lowered = frame.copy()
        lowered[kernels.ORIGIN + 1] -= lowered[kernels.THICKNESS]
        (lowered,) = read_only(lowered)
        self._arrays = heights, cells, blocks, lowered, marks, clear

    def of_shapes(self, kind: int, rows: Floats) -> Bytes:
        """Return what each of some shapes comes near."""
        near = np.empty(len(rows), np.uint8)
        _SHAPES.call(*self._arrays, kind, for_kernels(rows), near)
        return near
