"""What a ground of several parts holds: what is asked in their place, and whose a triangle is."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from terrain_physics import _checks
from terrain_physics._checks import Floats3
from terrain_physics._kernels.heightmap import grid as grid_kernels
from terrain_physics._kernels.types import Longs
from terrain_physics.ground.answers import Owners
from terrain_physics.ground.union import Union, groups_of_neighbors
from terrain_physics.heightmap.heightmap import HeightMap
from terrain_physics.mesh.mesh import TriangleMesh
from terrain_physics.surface.ground_arrays import GroundArrays, MapArrays
from terrain_physics.surface.results import RayHit, SweepHit

Part = HeightMap | TriangleMesh
Hit = TypeVar("Hit", RayHit, SweepHit)


class Surface(NamedTuple):
    """What is asked in place of one part, or of several maps that are one.

    Attributes
    ----------
    asked : HeightMap or TriangleMesh
        The part itself, or the map that parts are united in.
    union : Union or None
        How it is made of the parts.
    parts : ndarray of int64, shape (k,)
        Which parts, ascending.
    first_ids : ndarray of int64, shape (k,)
        The ids of their first triangles.
    part, first_id : int
        The first of them.
    """

    asked: Part
    union: Union | None
    parts: Longs
    first_ids: Longs
    part: int
    first_id: int

    @classmethod
    def of(cls, asked: Part, union: Union | None, parts: Longs, first_ids: Longs) -> "Surface":
        """Return the surface of these parts."""
        return cls(asked, union, parts, first_ids, int(parts[0]), int(first_ids[0]))

    def owners(self, triangles: Longs) -> Owners:
        """Return whose triangles (n,) are; -1 stays, and is of the first part."""
        if self.union is None:
            return Owners(self.ids(triangles)[0], np.full(len(triangles), self.part))
        ids, parts, _ = self.union.owners(triangles, self.parts, self.first_ids)
        return Owners(ids, parts)

    def ids(self, triangles: Longs) -> tuple[Longs, Longs | None]:
        """Return the ground's ids of triangles (n,), and their parts unless these ascend."""
        if self.union is None:
            if self.first_id == 0:
                return triangles, None
            ids = triangles + self.first_id
            if isinstance(self.asked, HeightMap):
                ids[triangles < 0] = -1
            return ids, None
        ids, parts, ascend = self.union.owners(triangles, self.parts, self.first_ids)
        return ids, None if ascend else parts

    def owner(self, triangle: int) -> tuple[int, int]:
        """Return the ground's id of a triangle and the part it is of."""
        if self.union is None:
            return (triangle + self.first_id if triangle >= 0 else -1), self.part
        return self.union.owner(triangle, self.parts, self.first_ids)


class GroundData:
    """The parts of a ground; `terrain_physics.Ground` is made of it."""

    __slots__ = (
        "_arrays",
        "_ends",
        "_following",
        "_lands",
        "_lock",
        "_mesh",
        "_meshes",
        "_moved",
        "_parts",
        "_seen",
        "_surfaces",
    )

    def _hold(self, parts: Sequence[Part]) -> None:
        self._parts: tuple[Part, ...] = tuple(parts)
        self._following = threading.Lock()
        sizes = [
            len(part) if isinstance(part, TriangleMesh) else 2 * int(np.prod(part.cell_count))
            for part in self._parts
        ]
        self._ends = np.cumsum(sizes, dtype=np.int64)
        first_ids = self.first_ids
        maps = [(k, part) for k, part in enumerate(parts) if isinstance(part, HeightMap)]
        lands = [land for _, land in maps]
        # A single map keeps its border.
        groups = groups_of_neighbors(lands) if len(lands) > 1 else [[0]] * len(lands)
        self._lands: list[Surface] = []
        for group in groups:
            union = Union([lands[k] for k in group]) if len(lands) > 1 else None
            where = np.array([maps[k][0] for k in group])
            asked = lands[0] if union is None else union.land
            self._lands.append(Surface.of(asked, union, where, first_ids[where]))
        # Edits write to the arrays of a single map, or of one that all are united in.
        self._lock = self._lands[0].asked.lock if len(self._lands) == 1 else threading.Lock()
        self._meshes = [
            Surface.of(part, None, np.array([k]), first_ids[[k]])
            for k, part in enumerate(parts)
            if isinstance(part, TriangleMesh)
        ]
        self._surfaces = sorted(
            [*self._lands, *self._meshes], key=lambda surface: int(surface.parts[0])
        )
        self._mesh: TriangleMesh | None = None
        self._seen: tuple[int, ...] = ()
        self._moved: tuple[int, ...] = ()
        self._arrays = GroundArrays()

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts, in the order given."""
        return self._parts

    @property
    def first_ids(self) -> Longs:
        """The id of each part's first triangle: a triangle's id is that plus the part's own id."""
        return np.concatenate([np.zeros(1, dtype=np.int64), self._ends[:-1]])

    def part_of(self, triangle: ArrayLike) -> tuple[Any, Any]:
        """Return which part a triangle is of, and its id there.

        Parameters
        ----------
        triangle : int, or array_like of integers
            Ids, as answers give them.

        Returns
        -------
        part : int, or ndarray of int64
            The index in `parts`; -1 for the id -1, which is of no part.
        own : int, or ndarray of int64
            The id in that part.

        Raises
        ------
        TypeError
            For what is no integer.
        ValueError
            For ids that no triangle has.

        Examples
        --------
        >>> from terrain_physics import Ground, HeightMap
        >>> tiles = [HeightMap([[0, 0], [0, 0]], origin=(x, 0, 0)) for x in (0, 1)]
        >>> Ground(tiles).part_of(3)
        (1, 1)
        >>> Ground(tiles).part_of([0, 3, -1])
        (array([ 0,  1, -1]), array([ 0,  1, -1]))
        """
        ids = np.asarray(triangle)
        if ids.dtype.kind not in "iu" and ids.size:
            raise TypeError(f"triangle must be an integer, got {_checks.shorten(triangle)}")
        for bad in ids[(ids < -1) | (ids >= self._ends[-1])][:1]:
            raise ValueError(f"triangle must be from -1 to {self._ends[-1] - 1}, got {bad}")
        ids = ids.astype(np.int64)
        found = np.searchsorted(self._ends, ids, side="right")
        part = np.where(ids < 0, -1, found)
        own = np.where(ids < 0, -1, ids - self.first_ids[found])
        return (part, own) if ids.ndim else (int(part), int(own))

    def triangle_at(self, number: int, triangle: int, point: Floats3) -> tuple[int, int]:
        """Return the id and the material of a triangle that a kernel names by map and number.

        It is touched at the point: see `MapData.triangle_at`.
        """
        self._follow()
        if number >= len(self._lands):
            return -1, 0
        if number >= 0:
            surface = self._lands[number]
            return surface.owner(triangle)[0], surface.asked.triangle_at(0, triangle, point)[1]
        own = -1 if self._mesh is None else self._mesh.triangle_at(0, triangle, point)[0]
        if own < 0:
            return -1, 0
        for surface in self._meshes:
            count = int(self._ends[surface.parts[0]] - surface.first_ids[0])
            if own < count:
                return surface.owner(own)[0], 0
            own -= count
        return -1, 0

    @property
    def lock(self) -> AbstractContextManager[Any]:
        """Held by short queries of characters."""
        return self._lock

    @property
    def version(self) -> int:
        """How many edits and refits there were in all parts, shared samples handed on."""
        self._current()
        return sum(part.version for part in self._parts)

    def _current(self) -> list[Surface]:
        """Return what to ask, in the order of their first parts, edits taken over."""
        for surface in self._lands:
            if surface.union is not None:
                surface.union.follow()
        return self._surfaces

    def _nearest_hit(self, ask: Callable[[Part], Hit | None]) -> Hit | None:
        """Return what is hit at the least distance, of those as near that of the lower id."""
        best, triangle, part = None, -1, -1
        for surface in self._current():
            hit = ask(surface.asked)
            if hit is None or (best is not None and hit.distance > best.distance):
                continue
            own, owner = surface.owner(hit.triangle)
            if best is None or hit.distance < best.distance or owner < part:
                best, triangle, part = hit, own, owner
        if best is None or best.triangle == triangle:
            return best
        return best._replace(triangle=triangle)

    @property
    def ground_arrays(self) -> GroundArrays:
        """What characters stand on."""
        return self._follow()

    @contextmanager
    def standing(self) -> Iterator[GroundArrays]:
        """Give what characters stand on to a long query; it stays as it is until that ends."""
        self._current()
        if len(self._lands) == 1:  # only the arrays of a single map are edited in place
            with self._lands[0].asked.standing() as land:
                arrays = self._follow()
                yield arrays if arrays.maps is land.maps else GroundArrays(land.maps, arrays.mesh)
        else:
            yield self._follow()

    def _follow(self) -> GroundArrays:
        """Return the arrays for characters, made anew if the parts were edited."""
        # Before our lock: characters hold that of a united map, which this takes, and want ours.
        self._current()
        with self._following:
            versions = tuple(surface.asked.version for surface in self._surfaces)
            if versions == self._seen:
                return self._arrays
            moved = tuple(surface.asked.version for surface in self._meshes)
            if self._meshes and moved != self._moved:
                self._mesh = _joined([surface.asked for surface in self._meshes])
            lands = [surface.asked for surface in self._lands]
            maps = lands[0].ground_arrays.maps if len(lands) == 1 else _side_by_side(lands)
            mesh = None if self._mesh is None else self._mesh.ground_arrays.mesh
            if maps is not self._arrays.maps or mesh is not self._arrays.mesh:
                self._arrays = GroundArrays(maps, mesh)
            self._seen, self._moved = versions, moved
            return self._arrays


def _joined(meshes: list[Any]) -> TriangleMesh:
    """Return one mesh with the faces of several, in order."""
    if len(meshes) == 1:
        only: TriangleMesh = meshes[0]
        return only
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


def _side_by_side(lands: list[Any]) -> MapArrays | None:
    """Return the arrays of several maps one behind the other."""
    if not lands:
        return None
    with ExitStack() as stack:
        arrays = [stack.enter_context(land.reading()) for land in lands]
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
        heights, cells, blocks = (np.concatenate([own[k] for own in arrays]) for k in range(3))
    return heights, cells, blocks, np.concatenate(frames)
