"""A height map as it is at one moment, for questions about its surface and its underside."""

from contextlib import nullcontext

from terrain_physics._kernels.heightmap import grid as kernels
from terrain_physics._locks import Mark
from terrain_physics.heightmap.framed import FramedMap
from terrain_physics.surface.changes import ChangeLog
from terrain_physics.surface.ground_arrays import MapArrays, Materials

_NO_CHANGES = ChangeLog(0)


class StillMap(FramedMap):
    """A map that nobody edits: the arrays that a reader of another map holds."""

    __slots__ = ("_materials",)

    def __init__(self, views: MapArrays, materials: Materials | None) -> None:
        self.views, self.frame, self._materials = views, views[3], materials
        self.lock, self.version, self.changes = nullcontext(), 0, _NO_CHANGES

    def begin_reading(self, mark: Mark) -> tuple[MapArrays, Materials | None]:  # noqa: ARG002
        return self.views, self._materials

    @property
    def materials(self) -> Materials | None:
        return self._materials

    def upside_down(self) -> "StillMap":
        """Return the map whose surface is the underside of this one, seen from below: y is -y."""
        heights, cells, blocks, frame = self.views
        turned = frame.copy()
        turned[kernels.ORIGIN + 1] = frame[kernels.THICKNESS] - frame[kernels.ORIGIN + 1]
        turned[kernels.HEIGHT_SCALE] = -frame[kernels.HEIGHT_SCALE]
        turned.setflags(write=False)
        return StillMap((heights, cells, blocks, turned), self._materials)
