"""Ground made of several parts: height maps and meshes that are asked and stood on as one."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from terrain_physics import _arrays
from terrain_physics._kernels import grid as grid_kernels
from terrain_physics._kernels.ground import NO_MAPS, NO_MESH, read_only
from terrain_physics.ground_merge import Union, groups_of_neighbors
from terrain_physics.heightmap import HeightMap
from terrain_physics.mesh import TriangleMesh

Part = HeightMap | TriangleMesh


class Ground:
    """Several height maps and meshes as one ground.

    Maps on one lattice that share stretches of border lines, samples included, are one map: nothing
    at the seam tells that they are two. Where there is more than one map, each ends at its border,
    whatever its ``border`` says. Parts may be edited and refitted as ever.

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
    """

    __slots__ = ("_arrays", "_lands", "_lock", "_mesh", "_meshes", "_parts", "_seen", "_unions")

    def __init__(self, parts: Sequence[Part]) -> None:
        given = list(parts)
        if not given:
            raise ValueError("parts must hold at least one HeightMap or TriangleMesh, got none")
        for index, part in enumerate(given):
            if not isinstance(part, (HeightMap, TriangleMesh)):
                raise TypeError(
                    f"parts[{index}] must be a HeightMap or a TriangleMesh, "
                    f"got {_arrays.shorten(part)}"
                )
        self._parts: tuple[Part, ...] = tuple(given)
        self._lands = [part for part in given if isinstance(part, HeightMap)]
        self._meshes = [part for part in given if isinstance(part, TriangleMesh)]
        self._start()

    def _start(self) -> None:
        self._lock = threading.Lock()
        # A single map keeps its border, and its arrays.
        groups = groups_of_neighbors(self._lands) if len(self._lands) > 1 else []
        self._unions = [Union([self._lands[index] for index in group]) for group in groups]
        self._mesh: TriangleMesh | None = None
        self._seen: tuple[int, ...] = ()
        self._arrays: tuple[NDArray[Any], ...] = ()
        self._follow()

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts, in the order given."""
        return self._parts

    @property
    def first_ids(self) -> NDArray[np.int64]:
        """The id of each part's first triangle: a triangle's id is that plus the part's own id."""
        sizes = [
            len(part) if isinstance(part, TriangleMesh) else 2 * int(np.prod(part.cell_count))
            for part in self._parts
        ]
        return np.cumsum([0, *sizes[:-1]])

    def triangle_at(self, number: int, triangle: int) -> tuple[int, int]:
        """Return the id and the material of a triangle that a kernel names by map and number."""
        if triangle < 0:
            return -1, 0
        if number < 0:
            own, part = self._mesh.triangle_at(0, triangle)[0], 0  # type: ignore[union-attr]
            while own >= len(self._meshes[part]):
                own -= len(self._meshes[part])
                part += 1
            return int(self.first_ids[self._index(self._meshes[part])]) + own, 0
        if not self._unions:
            land, own = self._lands[number], triangle
        else:
            land, own = self._unions[number].part_of(triangle)
        return int(self.first_ids[self._index(land)]) + own, land.triangle_at(0, own)[1]

    def _index(self, part: Part) -> int:
        return next(k for k, own in enumerate(self._parts) if own is part)

    @property
    def lock(self) -> threading.Lock:
        """Held by short queries."""
        return self._lock

    @property
    def version(self) -> int:
        """How many edits and refits there were in all parts."""
        return sum(part.version for part in self._parts)

    @property
    def ground_arrays(self) -> tuple[NDArray[Any], ...]:
        """What the compiled functions take for the ground of characters. Read-only."""
        self._follow()
        return self._arrays

    @contextmanager
    def reading(self) -> Iterator[tuple[NDArray[Any], ...]]:
        """Give the arrays to a long query; they stay as they are until it ends."""
        with ExitStack() as stack:
            # Only the arrays of a single map are edited in place.
            for land in self._lands if len(self._lands) == 1 else []:
                stack.enter_context(land.reading())
            yield self.ground_arrays

    def _follow(self) -> None:
        """Take over what was edited in the parts."""
        versions = tuple(part.version for part in self._parts)
        if versions == self._seen:
            return
        for union in self._unions:
            union.follow()
        if self._meshes and versions != self._seen:
            self._mesh = _joined(self._meshes)
        self._seen = versions
        lands = [union.land for union in self._unions] or self._lands
        maps = lands[0].kernel_arrays if len(self._lands) == 1 else _side_by_side(lands)
        mesh = NO_MESH if self._mesh is None else self._mesh.ground_arrays[len(NO_MAPS) :]
        self._arrays = (*maps, *mesh)

    def height_at(self, x: float, z: float) -> float:
        """Return the height of the highest surface in meters; NaN where there is none.

        Parameters
        ----------
        x, z : float
            Where, in meters.

        Returns
        -------
        float
        """
        found = [part.height_at(x, z) for part in self._parts]
        return float(np.fmax.reduce(found))

    def __repr__(self) -> str:
        return f"<Ground: {len(self._lands)} height maps, {len(self._meshes)} meshes>"

    def __getstate__(self) -> tuple[Any, ...]:
        return self._parts, self._lands, self._meshes

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self._parts, self._lands, self._meshes = state
        self._start()


def _joined(meshes: list[TriangleMesh]) -> TriangleMesh:
    """Return one mesh with the faces of several, in order."""
    if len(meshes) == 1:
        return meshes[0]
    starts = np.cumsum([0] + [len(mesh.vertices) for mesh in meshes[:-1]])
    return TriangleMesh(
        np.concatenate([mesh.vertices for mesh in meshes]),
        np.concatenate(
            [
                mesh.faces.astype(np.int64) + start
                for mesh, start in zip(meshes, starts, strict=True)
            ]
        ),
    )


def _side_by_side(lands: list[HeightMap]) -> tuple[NDArray[Any], ...]:
    """Return the arrays of several maps one behind the other; none: those of no map."""
    if not lands:
        return NO_MAPS
    arrays = [land.kernel_arrays for land in lands]
    frames = []
    starts = np.zeros(3)
    for own in arrays:
        frame = own[3].copy()
        frame[grid_kernels.EXTEND] = 0.0
        frame[grid_kernels.FIRST_HEIGHT] = starts[0]
        frame[grid_kernels.FIRST_CELL] = starts[1]
        frame[grid_kernels.FIRST_BLOCK] = starts[2] / 2
        starts += [len(values) for values in own[:3]]
        frames.append(frame)
    joined = [np.concatenate([own[k] for own in arrays]) for k in range(3)]
    return read_only(*joined, np.concatenate(frames))
