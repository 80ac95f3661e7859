"""Ground made of several parts: height maps and meshes that are asked and stood on as one."""

from collections.abc import Sequence

from terrain_physics import _checks
from terrain_physics.ground.contacts import GroundContacts
from terrain_physics.ground.edits import GroundEdits
from terrain_physics.ground.parts import Part
from terrain_physics.ground.rays import GroundRays
from terrain_physics.ground.sweeps import GroundSweeps
from terrain_physics.heightmap.heightmap import HeightMap
from terrain_physics.mesh.mesh import TriangleMesh


class Ground(GroundContacts, GroundSweeps, GroundRays, GroundEdits):
    """Several height maps and meshes as one ground.

    Maps on one lattice that share stretches of border lines, samples included, are one map, with
    the least thickness: nothing at the seam tells that they are two. Where there is more than one
    map, each ends at its border, whatever its ``border`` says. Parts may be edited and refitted as
    ever; answers are those of the edited parts. Samples on a shared border line are both maps':
    what one map changes there, the others have after the next question to the ground, or its next
    copy. If several changed a sample since the last one, the last of them in `parts` wins. `carve`
    and `raise_` edit all maps at once.

    A triangle's id is that of its part plus the part's of `first_ids`; -1 outside a single map that
    goes on. What several triangles answer equally well the lowest id answers; within maps that are
    one, the lowest row, then column and half of the one map.

    Parameters
    ----------
    parts : sequence of HeightMap and TriangleMesh
        At least one.

    Raises
    ------
    TypeError, ValueError
        For anything else, naming the first.

    Examples
    --------
    >>> valley = HeightMap([[0, 0, 0], [0, -3, 0], [0, 0, 0]], cell_size=4)
    >>> bridge = TriangleMesh([(0, 0, 3), (0, 0, 5), (8, 0, 3), (8, 0, 5)], [(0, 1, 2), (1, 3, 2)])
    >>> ground = Ground([valley, bridge])
    >>> ground.height_at(4, 4), valley.height_at(4, 4)
    (0.0, -3.0)
    >>> from terrain_physics import Ray
    >>> hit = ground.raycast(Ray((2, 9, 4), (0, -1, 0)))
    >>> hit.distance, ground.part_of(hit.triangle)
    (9.0, (1, 0))
    """

    __slots__ = ()

    def __init__(self, parts: Sequence[Part]) -> None:
        if isinstance(parts, (HeightMap, TriangleMesh)):
            raise TypeError(
                "parts must be a sequence of HeightMap and TriangleMesh, "
                f"got {_checks.shorten(parts)}"
            )
        given = list(parts)
        if not given:
            raise ValueError("parts must hold at least one HeightMap or TriangleMesh, got none")
        for index, part in enumerate(given):
            if not isinstance(part, (HeightMap, TriangleMesh)):
                raise TypeError(
                    f"parts[{index}] must be a HeightMap or a TriangleMesh, "
                    f"got {_checks.shorten(part)}"
                )
        self._hold(given)

    def __repr__(self) -> str:
        maps = sum(isinstance(part, HeightMap) for part in self._parts)
        return f"<Ground: {maps} height maps, {len(self._parts) - maps} meshes>"

    def __getstate__(self) -> tuple[Part, ...]:
        self._current()  # so that the copies share their borders too
        return self._parts

    def __setstate__(self, state: tuple[Part, ...]) -> None:
        self._hold(state)
