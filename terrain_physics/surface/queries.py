"""The answers to the questions of `Surface`, arguments checked, and what is asked for them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from math import inf, isnan
from typing import Any, Protocol, TypeVar

import numpy as np
from pyglm import glm

from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels._quick import tell_of
from terrain_physics._kernels.ground import boxes, closest, heights, inside
from terrain_physics._kernels.ground.hits import FACE, TRIANGLE
from terrain_physics._kernels.ground.owners import MESH
from terrain_physics._kernels.ground.rays import ray_hit, ray_hits
from terrain_physics._kernels.ground.sweeps import sweep_one, sweep_rows
from terrain_physics._kernels.ground.triangles import put_triangles, triangle_at
from terrain_physics._kernels.heightmap import grid
from terrain_physics._kernels.heightmap.batch_contacts.broad_phase import MOST_CELLS
from terrain_physics._kernels.heightmap.one_shape import contacts_of_shape, contacts_of_sphere
from terrain_physics._kernels.mesh.parts import ID_BITS
from terrain_physics._kernels.mesh.queries import along_a_curve
from terrain_physics._kernels.surface.ground_arrays import ALL_LAYERS, MAP_NUMBER
from terrain_physics._kernels.surface.shapes import SPHERE
from terrain_physics._kernels.types import Bools, Bytes, Floats, Int64s, read_only
from terrain_physics._locks import Mark, lasting
from terrain_physics._support.checks import MOST_RESULTS, Floats3, refuse_more
from terrain_physics._support.threads import Workers
from terrain_physics.surface.changes import ChangeLog
from terrain_physics.surface.contact_buffer import ContactRoom
from terrain_physics.surface.contacts import (
    PART_BITS,
    few_contacts_in,
    many_contact_counts,
    many_contacts,
)
from terrain_physics.surface.ground_arrays import GroundArrays
from terrain_physics.surface.ground_state import NOTHING_LEFT, Keeper
from terrain_physics.surface.limits import refuse_far_row
from terrain_physics.surface.naming import NO_NAMES, Naming
from terrain_physics.surface.results import (
    ClosestPoint,
    ClosestPoints,
    Contacts,
    RayHit,
    RayHits,
    SweepHit,
    SweepHits,
    Triangles,
    new_hit,
)
from terrain_physics.surface.shapes import Shape, for_kernels, row_of
from terrain_physics.surface.streaming import Streaming

_Answer = TypeVar("_Answer")

_SURFACE, _SURFACES = CachedDispatch(heights.surface_over), CachedDispatch(heights.put_surface)
_HEIGHT, _NORMAL = CachedDispatch(grid.height_at), CachedDispatch(grid.normal_at)
_ONE_SPHERE, _ONE_SHAPE = CachedDispatch(contacts_of_sphere), CachedDispatch(contacts_of_shape)
_RAY, _RAYS = CachedDispatch(ray_hit), CachedDispatch(ray_hits)
_CLOSEST, _ALL_CLOSEST = CachedDispatch(closest.closest_one), CachedDispatch(closest.closest_rows)
_SWEEP, _SWEEPS = CachedDispatch(sweep_one), CachedDispatch(sweep_rows)
_INSIDE, _ALL_INSIDE = CachedDispatch(inside.contains_one), CachedDispatch(inside.contains_rows)
_DISTANCE = CachedDispatch(inside.signed_distance_one)
_DISTANCES = CachedDispatch(inside.signed_distance_rows)

_BOX, _BOXES = CachedDispatch(boxes.triangles_in), CachedDispatch(boxes.list_triangles)
_TRIANGLE = CachedDispatch(triangle_at)
_TRIANGLES = CachedDispatch(put_triangles)

# Nanoseconds for one question on one thread, roughly; for one to maps alone.
_RAY_COST, _SEARCH_COST, _POINT_COST = 300, 1_500, 8

_FEW = 1024.0
"""Cells of each map, and triangles, that a short question about a box may meet."""

_ATTEMPTS = 3
"""How often an answer is found without a lock that changes of parts would wait for."""


class Askable(ABC):
    """What can be asked: the arrays of a map, of a mesh, or of all parts of a ground."""

    __slots__ = ()

    @property
    @abstractmethod
    def storage(self) -> Any:
        """What has the arrays."""

    @property
    @abstractmethod
    def naming(self) -> Naming:
        """The names of materials and parts; as they are now."""

    @property
    @abstractmethod
    def version(self) -> int:
        """The number of edits so far."""

    @property
    @abstractmethod
    def changes(self) -> ChangeLog:
        """The latest changes of the ground, up to `version`."""

    @property
    @abstractmethod
    def triangle_count(self) -> int:
        """Count of triangles that have ids."""

    @property
    def id_count(self) -> int:
        """Count of ids: of triangles, and of sides of maps."""
        return self.triangle_count

    @property
    def cell_sizes(self) -> tuple[tuple[float, float], ...]:
        """Cell sizes of each map, in meters along x and z.

        As long as the maps are the same, it is the same tuple object.
        """
        return ()

    @property
    def moves(self) -> int:
        """How many moves of parts there have been."""
        return 0

    @property
    @abstractmethod
    def lock(self) -> AbstractContextManager[Any]:
        """The lock to hold while a kernel reads `ground_arrays` in a short query."""

    @property
    @abstractmethod
    def ground_arrays(self) -> GroundArrays:
        """The arrays of the ground, for kernels of characters."""

    lone: Any = None
    """The arrays of a map by itself, whose surface has kernels of its own; None: other ground."""

    @property
    def is_bare(self) -> bool:
        """Whether it is known that there is nothing but that surface."""
        return False

    @abstractmethod
    def answer(self, mask: int, ask: Callable[..., _Answer], *about: Any) -> _Answer:
        """Return the answer to a short question from what is there; entries in C do the same."""

    @abstractmethod
    def begin_asking(self, mark: Mark) -> GroundArrays:
        """Return the arrays for a long question; they stay until the mark is given back."""

    def begin_update(self, mark: Mark) -> GroundArrays:
        """Return them for an update of characters."""
        return self.begin_asking(mark)


class _Ask(Protocol):
    """See `Askable.answer`."""

    def __call__(self, mask: int, ask: Callable[..., _Answer], /, *about: Any) -> _Answer: ...


class Queries:
    """The answers of a ground.

    Arrays come in as float64, C-contiguous and read-only. They have as many rows as the answer,
    unless a method says otherwise. The rules of the answers are those of the matching `Surface`
    method. The answer to one question and the answer to many agree bit for bit.

    Parameters
    ----------
    source : Askable
        What is asked.
    mask : int
        The layers of parts that are asked, a bit for each.
    """

    __slots__ = ("keeper", "mask", "source")

    keeper: Keeper | None
    """What keeps the states of the ground, once there are any."""

    streaming: Streaming | None = None
    """What brings the ground that an update needs; None if all of it is always there."""

    def __init__(self, source: Askable, mask: int = ALL_LAYERS) -> None:
        self.source, self.mask, self.keeper = source, mask, None

    @property
    def ask(self) -> _Ask:
        """Answers short questions as `Askable.answer` does."""
        return self.source.answer

    def filtered(self, mask: int) -> "Queries":
        """Return the queries of the parts on layers of the mask."""
        return Queries(self.source, mask)

    @property
    def storage(self) -> Any:
        """What has the arrays."""
        return self.source.storage

    # Places

    def height(self, x: float, z: float) -> float:
        """Return the height at a place."""
        lone = self.source.lone
        if lone is None or self.mask != ALL_LAYERS:
            return self.ask(self.mask, surface_at, self.mask, x, z)[0]
        with lone.lock:
            heights, cells, _, frame = lone.views
            level: float = _HEIGHT.call(heights, cells, frame, x, z)
            return level

    def normal(self, x: float, z: float) -> glm.vec3:
        """Return the normal at a place."""
        lone = self.source.lone
        if lone is None or self.mask != ALL_LAYERS:
            return glm.vec3(self.ask(self.mask, surface_at, self.mask, x, z)[1]) + 0.0
        with lone.lock:
            heights, cells, _, frame = lone.views
            return glm.vec3(_NORMAL.call(heights, cells, frame, x, z)) + 0.0

    def heights(self, xs: Floats, zs: Floats, threads: int | None) -> Floats:
        """Return the heights (n,) at places (n,), (n,)."""
        return self._surface_over(xs, zs, threads, (True, False))[0]

    def normals(self, xs: Floats, zs: Floats, threads: int | None) -> Floats:
        """Return the normals (n, 3) at places (n,), (n,)."""
        return self._surface_over(xs, zs, threads, (False, True))[1]

    def heights_and_normals(
        self, xs: Floats, zs: Floats, threads: int | None
    ) -> tuple[Floats, Floats]:
        """Return heights and normals of the same moment, even if the ground is edited meanwhile."""
        return self._surface_over(xs, zs, threads)

    def _surface_over(
        self, xs: Floats, zs: Floats, threads: int | None, *wanted: tuple[bool, bool]
    ) -> tuple[Floats, Floats]:
        return self.asked_of_rows(self._begin_over, surface_over, xs, zs, threads, *wanted)

    def _begin_over(self, mark: Mark) -> GroundArrays:
        """Return the arrays for heights: of a map by itself those without its sides."""
        lone = self.source.lone
        if lone is None:
            return self.begin_asking(mark)
        with lone.lock:
            lone.begin_reading(mark)
            arrays: GroundArrays = lone.ground_arrays
            return arrays

    # Triangles in boxes

    def triangles_in(self, lower: Floats3, upper: Floats3) -> Triangles | None:
        """Return the triangles within a box; None for too many."""
        if self.source.lone is None:
            found = self.ask(self.mask, few_triangles_in, self.mask, lower, upper)
            if found is not None:
                return found
        return self.asked_of_rows(self._begin_over, all_triangles_in, lower, upper)

    def triangle_ids_in(self, boxes: Floats, most: int) -> tuple[Int64s, Int64s]:
        """Return the offsets and ids of boxes: lower and upper corners, flat.

        More results than ``most`` are refused, here as for contacts.
        """
        return self.asked_of_rows(self._begin_over, triangle_ids_in, boxes, most)

    # Rays

    def ray(self, origin: Floats3, direction: Floats3, longest: float) -> RayHit | None:
        """Return the first hit of a ray of a unit direction."""
        return self.ask(self.mask, one_ray, self.mask, origin, direction, longest)

    def rays(
        self, origins: Floats, directions: Floats, longest: Floats, threads: int | None
    ) -> RayHits:
        """Return the first hits of rays of unit directions; an array of one row serves for all."""
        return self.asked_of_rows(
            self.begin_asking, many_rays, origins, directions, longest, threads
        )

    # Shapes, as rows of one kind: see `terrain_physics.surface.shapes`

    def contacts_of_one(self, shape: Shape, keep: str, most: int) -> Contacts:
        """Return the contacts of one shape."""
        kind, row = row_of("shapes", shape)
        found = self.few_contacts(kind, row, keep)
        if found is not None and (most == MOST_RESULTS or len(found) <= most):
            return found
        refuse_far_row("shapes", row)
        (rows,) = read_only(np.array([row]))
        return self.contacts(kind, rows, keep, None, most, ContactRoom())

    def few_contacts(self, kind: int, row: Sequence[float], keep: str) -> Contacts | None:
        """Return the contacts of a shape over few triangles; None: a task for `contacts`."""
        source = self.source
        lone = source.lone if self.mask == ALL_LAYERS else None
        if lone is not None and source.is_bare:
            found = contacts_of_surface(lone, kind, row, keep)
            if source.is_bare:  # nobody edited it meanwhile
                return found
        return self.ask(self.mask, few_contacts_in, self.mask, kind, row, keep)

    def contacts(
        self, kind: int, rows: Floats, keep: str, threads: int | None, most: int, room: ContactRoom
    ) -> Contacts:
        """Return the contacts of rows, all or the deepest of each.

        Those of many rows are written to ``room``.
        """
        Workers(threads)  # refuses a value that is no number of threads
        if len(rows) == 1:
            found = self.few_contacts(kind, rows[0].tolist(), keep)
            if found is not None and len(found) <= most:
                return found
        return self.asked_of_rows(
            self.begin_asking, many_contacts, kind, rows, threads, keep, most, room
        )

    def contact_counts(self, kind: int, rows: Floats, threads: int | None) -> Int64s:
        """Return how many triangles each row touches."""
        Workers(threads)
        if len(rows) == 1:
            found = self.few_contacts(kind, rows[0].tolist(), "all")
            if found is not None:
                return np.array([len(found)], np.int64)
        return self.asked_of_rows(self.begin_asking, many_contact_counts, kind, rows, threads)

    def sweep(self, kind: int, row: Sequence[float], motion: Floats3) -> SweepHit | None:
        """Return the first touch of one shape that moves."""
        return self.ask(self.mask, one_sweep, self.mask, kind, row, motion)

    def sweeps(self, kind: int, rows: Floats, motions: Floats, threads: int | None) -> SweepHits:
        """Return the first touches of moving rows; an array of one row serves for all."""
        return self.asked_of_rows(self.begin_sweeping, many_sweeps, kind, rows, motions, threads)

    def begin_sweeping(self, mark: Mark) -> GroundArrays:
        """Return `ground_arrays` for sweeps, as `begin_asking`."""
        with self.lock:
            arrays = self.begin_asking(mark)
            arrays.find_skins()  # before a mesh goes
            return arrays

    # Closest points

    def closest_point(self, point: Floats3) -> ClosestPoint:
        """Return the point of the ground closest to a point."""
        return self.ask(self.mask, point_closest, self.mask, point)

    def closest_points(self, points: Floats, threads: int | None) -> ClosestPoints:
        """Return the points of the ground closest to points (n, 3)."""
        return self.asked_of_rows(self.begin_asking, points_closest, points, threads)

    # Inside

    def contains(self, points: Floats, threads: int | None) -> Bools:
        """Tell which points (n, 3) are in something solid, or on a surface."""
        return self.asked_of_rows(self.begin_asking, are_contained, points, threads)

    def contains_one(self, point: Floats3) -> bool:
        """Tell whether a point is in something solid, or on a surface."""
        return self.ask(self.mask, is_contained, self.mask, point)

    def signed_distances(self, points: Floats, threads: int | None) -> Floats:
        """Return the distances (n,) of points (n, 3) to the surface, below 0 in something solid."""
        return self.asked_of_rows(self.begin_asking, distances_of, points, threads)

    def signed_distance(self, point: Floats3) -> float:
        """Return the distance of a point to the surface, below 0 in something solid."""
        return self.ask(self.mask, distance_of, self.mask, point)

    @property
    def triangle_count(self) -> int:
        """Count of triangles that have ids."""
        return self.source.triangle_count

    @property
    def naming(self) -> Naming:
        """The names of materials and parts; as they are now."""
        return self.source.naming

    def with_names(self, ask: Callable[[], _Answer]) -> tuple[_Answer, Naming]:
        """Return an answer, and the names that its numbers of materials and its ids have.

        It is asked anew if parts with names came or went meanwhile: numbers may be others then.
        """
        for _ in range(_ATTEMPTS):
            naming = self.naming
            answer = ask()
            if naming is NO_NAMES is self.naming:
                break
            with self.lock:  # no change is half made
                if self.naming is naming:
                    return answer, naming
        else:
            with self.lock:
                naming, answer = self.naming, ask()
        return answer, naming

    # Interface for characters

    @property
    def cell_sizes(self) -> tuple[tuple[float, float], ...]:
        """Cell sizes of each map, see `Askable`."""
        return self.source.cell_sizes

    @property
    def version(self) -> int:
        """The number of edits so far."""
        return self.source.version

    @property
    def contents(self) -> int:
        """The number of the present contents: the version, but after a restore that of then."""
        version, keeper = self.version, self.keeper
        return version if keeper is None else keeper.contents(version)

    @property
    def moves(self) -> int:
        """How many moves of parts there have been."""
        return self.source.moves

    @property
    def changes(self) -> ChangeLog:
        """The latest changes of the ground, up to `version`."""
        return self.source.changes

    @property
    def wake_log(self) -> ChangeLog:
        """The changes by which characters wake: those that led to the present contents."""
        changes, keeper = self.changes, self.keeper
        return changes if keeper is None else keeper.wake_log(changes)

    @property
    def left(self) -> Floats:
        """The versions that did not lead to the present contents: see `wake_near`."""
        return NOTHING_LEFT if self.keeper is None else self.keeper.left

    @property
    def lock(self) -> AbstractContextManager[Any]:
        """The lock to hold while a kernel reads `ground_arrays` in a short query."""
        return self.source.lock

    @property
    def ground_arrays(self) -> GroundArrays:
        """The arrays of the ground, for kernels of characters."""
        return self.source.ground_arrays

    def asked(self, ask: Callable[..., _Answer], *about: Any) -> _Answer:
        """Return the answer to a short question from what is there; entries in C do the same."""
        return self.source.answer(self.mask, ask, *about)

    def asked_of_rows(
        self, begin: Callable[[Mark], GroundArrays], ask: Callable[..., _Answer], *about: Any
    ) -> _Answer:
        """Return the answers of rows: of the arrays that ``begin`` returns, the mask, and the rest.

        All arrays in what it is about have a row for each answer, or one for all.
        """
        with lasting(begin) as arrays:
            return ask(arrays, self.mask, *about)

    def begin_asking(self, mark: Mark) -> GroundArrays:
        """Return `ground_arrays` for a long question, as `begin_reading`."""
        return self.source.begin_asking(mark)

    def reading(self) -> AbstractContextManager[GroundArrays]:
        """Give `ground_arrays` to a long query; they do not change until it ends."""
        return lasting(self.begin_reading)

    def begin_reading(self, mark: Mark) -> GroundArrays:
        """Return `ground_arrays`, which do not change until the mark is given back."""
        return self.source.begin_update(mark)

    def triangle_at(self, part: int, triangle: int, point: Floats3) -> tuple[int, int, bool]:
        """Return id and material of a triangle, given by part and number, touched at a point.

        And whether the part and the triangle are there; else the id is -1.
        """
        return self.ask(self.mask, one_triangle, self.mask, part, triangle, point)

    def triangles_at(
        self, parts: Int64s, triangles: Int64s, points: Floats
    ) -> tuple[Int64s, Bytes, Bools]:
        """Return the ids and materials (n,) of many triangles, touched at points (n, 3).

        And whether they are there, as `triangle_at`. The points may be of any layout.
        """
        return self.asked_of_rows(self._begin_over, many_triangles, parts, triangles, points)


def surface_at(arrays: GroundArrays, mask: int, x: float, z: float) -> tuple[float, Floats3]:
    """Return the height and the normal at a place; nobody edits the arrays meanwhile."""
    level, normal = _SURFACE.call(arrays.table, mask, x, z)
    return level, normal


def surface_over(
    arrays: GroundArrays, mask: int, xs: Floats, zs: Floats, threads: int | None,
    wanted: tuple[bool, bool] = (True, True),
) -> tuple[Floats, Floats]:  # fmt: skip
    """Return the heights and the normals at places, none of those that are not ``wanted``."""
    levels, normals = np.empty((len(xs) * wanted[0], 1)), np.empty((len(xs) * wanted[1], 3))
    cost = _RAY_COST if arrays.has_meshes else _POINT_COST
    _run(_SURFACES, threads, cost, len(xs), (arrays.table, mask, xs, zs), (levels, normals))
    return levels.reshape(-1), normals


def few_triangles_in(
    arrays: GroundArrays, mask: int, lower: Floats3, upper: Floats3
) -> Triangles | None:
    """Return the triangles within a box over few cells; None: over more, or more than a few."""
    return _triangles_in(arrays, mask, lower, upper, _FEW, int(_FEW))


def all_triangles_in(
    arrays: GroundArrays, mask: int, lower: Floats3, upper: Floats3
) -> Triangles | None:
    """Return the triangles within a box; None for too many."""
    return _triangles_in(arrays, mask, lower, upper, MOST_CELLS, MOST_RESULTS)


def _triangles_in(
    arrays: GroundArrays, mask: int, lower: Floats3, upper: Floats3, most_cells: float, most: int
) -> Triangles | None:
    count, vertices, normals, ids = _BOX.call(arrays.table, mask, lower, upper, most_cells, most)
    if not 0 <= count <= most:
        return None
    order = _order_of(arrays, ids)
    if order is None:
        return Triangles(vertices, normals, ids)
    return Triangles(vertices[order], normals[order], ids[order])


def triangle_ids_in(
    arrays: GroundArrays, mask: int, boxes: Floats, most: int
) -> tuple[Int64s, Int64s]:
    """Return the offsets and ids of boxes: lower and upper corners, flat."""
    offsets = np.empty(len(boxes) // 6 + 1, np.int64)
    total, ids = _BOXES.call(arrays.table, mask, boxes, MOST_CELLS, most, offsets)
    if total < 0:
        raise ValueError(f"boxes must be over at most 100 million cells, got box {-1 - total}")
    refuse_more("triangles", total, most)
    ids = ids[:total]
    order = _order_of(arrays, ids, offsets)
    return offsets, ids if order is None else ids[order]


def _order_of(arrays: GroundArrays, ids: Int64s, offsets: Int64s | None = None) -> Int64s | None:
    """Return the order of ids by query, the part that owns them, and its own; None: as they are."""
    if arrays.is_of_one_part:
        return None
    keys = ids >> ID_BITS
    if len(arrays.maps):  # the only map may go on outside of its border, without ids
        keys[ids < 0] = arrays.maps[0, MAP_NUMBER]
    if offsets is not None:
        keys |= np.repeat(np.arange(len(offsets) - 1) << PART_BITS, np.diff(offsets))
    if (keys[1:] >= keys[:-1]).all():
        return None
    return np.argsort(keys, kind="stable")  # ascending stretches, which it finds and merges


def contacts_of_surface(
    storage: Any, kind: int, row: Sequence[float], keep: str
) -> Contacts | None:
    """Return the contacts of a shape over few cells of a surface; None: over too many."""
    deepest, shape = keep == "deepest", None if kind == SPHERE else for_kernels(np.array(row))
    with storage.lock:
        heights, cells, _, frame = storage.views
        if shape is None:
            x, y, z, radius = row
            ints, floats = _ONE_SPHERE.call(heights, cells, frame, x, y, z, radius, deepest)
        else:
            ints, floats = _ONE_SHAPE.call(heights, cells, frame, kind, shape, deepest)
        if ints.size == 3 and ints[0, 0] < 0:
            return None
        made_of = None if storage.materials is None else storage.materials.take(ints[2])
    return Contacts(ints, floats, made_of)


def one_ray(
    arrays: GroundArrays, mask: int, origin: Floats3, direction: Floats3, longest: float
) -> RayHit | None:
    """Return the first hit of a ray of a unit direction; nobody edits the arrays meanwhile."""
    (x, y, z), (dx, dy, dz) = origin, direction
    distance, point, normal, triangle, cell, row = _RAY.call(
        arrays.table, mask, x, y, z, dx, dy, dz, longest
    )
    if isnan(distance):
        return None
    material = _material_of(arrays, row, triangle, cell)
    place = glm.vec3(*point), glm.vec3(*normal)
    parts = distance, *place, triangle, material, None, None, False
    return new_hit(RayHit, parts)


def many_rays(
    arrays: GroundArrays,
    mask: int,
    origins: Floats,
    directions: Floats,
    longest: Floats,
    threads: int | None,
) -> RayHits:
    """Return the first hits of rays of unit directions; an array of one row serves for all."""
    count = _common_count(origins, directions, longest)
    distances, points, normals = np.empty(count), np.empty((count, 3)), np.empty((count, 3))
    whole = np.empty((2, count), np.int64)
    about = arrays.table, mask, origins, directions, longest
    _run(_RAYS, threads, _RAY_COST, count, about, (distances, points, normals, whole))
    materials = _materials_of(arrays, ~np.isnan(distances), whole)
    return RayHits(distances, points, normals, whole[TRIANGLE], materials)


def one_sweep(
    arrays: GroundArrays, mask: int, kind: int, row: Sequence[float], motion: Floats3
) -> SweepHit | None:
    """Return the first touch of one shape that moves."""
    arrays.find_skins()
    distance, fraction, point, normal, triangle, cell, at = _SWEEP.call(
        arrays.table, mask, kind, for_kernels(np.array(row)), *motion
    )
    if isnan(distance):
        return None
    material = _material_of(arrays, at, triangle, cell)
    touch = glm.vec3(*normal), glm.vec3(*point)
    return new_hit(SweepHit, (fraction, distance, *touch, triangle, material, None, None, False))


def many_sweeps(
    arrays: GroundArrays,
    mask: int,
    kind: int,
    rows: Floats,
    motions: Floats,
    threads: int | None,
) -> SweepHits:
    """Return the first touches of moving rows; an array of one row serves for all."""
    count = _common_count(rows, motions)
    numbers, whole = np.empty(8 * count), np.empty((2, count), np.int64)
    visits = _visits_of(arrays, rows if len(rows) == count else motions)
    about = arrays.table, mask, kind, rows.reshape(-1), motions, visits
    _run(_SWEEPS, threads, _SEARCH_COST, count, about, (numbers, whole))
    distances, fractions = numbers[: 2 * count].reshape(2, count)
    points, normals = numbers[2 * count :].reshape(2, count, 3)
    materials = _materials_of(arrays, ~np.isnan(distances), whole)
    return SweepHits(fractions, distances, normals, points, whole[TRIANGLE], materials)


def point_closest(arrays: GroundArrays, mask: int, point: Floats3) -> ClosestPoint:
    """Return the point of the ground closest to a point."""
    distance, place, triangle, cell, row = _CLOSEST.call(arrays.table, mask, *point)
    material = _material_of(arrays, row, triangle, cell)
    return new_hit(ClosestPoint, (glm.vec3(*place), distance, triangle, material, None, None))


def points_closest(
    arrays: GroundArrays, mask: int, points: Floats, threads: int | None
) -> ClosestPoints:
    """Return the points of the ground closest to points (n, 3)."""
    count = len(points)
    distances, places = np.empty(count), np.empty((count, 3))
    whole = np.empty((2, count), np.int64)
    about = arrays.table, mask, points, _visits_of(arrays, points)
    _run(_ALL_CLOSEST, threads, _SEARCH_COST, count, about, (distances, places, whole))
    materials = _materials_of(arrays, distances < inf, whole)
    return ClosestPoints(places, distances, whole[TRIANGLE], materials)


def is_contained(arrays: GroundArrays, mask: int, point: Floats3) -> bool:
    """Tell whether a point is in something solid, or on a surface."""
    return bool(_INSIDE.call(arrays.table, mask, *point))


def are_contained(arrays: GroundArrays, mask: int, points: Floats, threads: int | None) -> Bools:
    """Tell which points (n, 3) are in something solid, or on a surface."""
    are_in = np.empty(len(points), np.uint8)
    cost = _RAY_COST if arrays.has_meshes else _POINT_COST
    _run(_ALL_INSIDE, threads, cost, len(points), (arrays.table, mask, points), (are_in,))
    return are_in.view(np.bool_)


def distance_of(arrays: GroundArrays, mask: int, point: Floats3) -> float:
    """Return the distance of a point to the surface, below 0 in something solid."""
    distance: float = _DISTANCE.call(arrays.table, mask, *point)
    return distance


def distances_of(arrays: GroundArrays, mask: int, points: Floats, threads: int | None) -> Floats:
    """Return the distances (n,) of points (n, 3) to the surface, below 0 in something solid."""
    distances = np.empty(len(points))
    about = arrays.table, mask, points, _visits_of(arrays, points)
    _run(_DISTANCES, threads, _SEARCH_COST, len(points), about, (distances,))
    return distances


def _run(
    kernel: CachedDispatch, threads: int | None, cost: float, count: int,
    about: tuple[Any, ...], out: tuple[Any, ...],
) -> None:  # fmt: skip
    """Have a kernel write the answers of so many rows; one costs so many nanoseconds."""

    def work(first: int, last: int) -> None:
        kernel.call(*about, first, last, *out)

    Workers(threads).run(work, count, cost)


def _common_count(*columns: Floats) -> int:
    """Return how many rows all have, where one row serves for all."""
    counts = [*map(len, columns)]
    return max(counts) if all(counts) else 0


def one_triangle(
    arrays: GroundArrays, _: int, part: int, triangle: int, point: Floats3
) -> tuple[int, int, bool]:
    """Return id and material of a triangle touched at a point, and whether it is there."""
    found, cell, row, known = _TRIANGLE.call(arrays.table, part, triangle, point[0], point[2])
    return found, _material_of(arrays, row, found, cell), known


def many_triangles(
    arrays: GroundArrays, _: int, parts: Int64s, triangles: Int64s, points: Floats
) -> tuple[Int64s, Bytes, Bools]:
    """Return the same of many."""
    columns = parts, triangles, points[:, 0], points[:, 2]
    whole, known = np.empty((2, len(parts)), np.int64), np.empty(len(parts), np.uint8)
    _TRIANGLES.call(arrays.table, *read_only(*map(np.ascontiguousarray, columns)), whole, known)
    everywhere = np.ones(len(parts), np.bool_)
    return whole[TRIANGLE], _materials_of(arrays, everywhere, whole), known.view(np.bool_)


def _visits_of(arrays: GroundArrays, places: Floats) -> Int64s:
    """Return an order for places: near ones follow each other, which helps where meshes are."""
    visits = along_a_curve(places[:, :3]) if arrays.has_meshes else np.arange(len(places))
    visits.setflags(write=False)  # kernels know one type only
    return visits


def _material_of(arrays: GroundArrays, row: int, triangle: int, cell: int) -> int:
    """Return the material of a hit: of a mesh it is in the place of the cell."""
    if row == MESH:
        return cell
    made = arrays.made_of[row]
    return 0 if made is None else made.one(triangle, cell)


def _materials_of(arrays: GroundArrays, are_hits: Bools, whole: Int64s) -> Bytes:
    """Return the materials of hits, 0 where nothing was hit."""
    triangles, places = whole
    materials = np.zeros(len(places), np.uint8)
    if arrays.is_of_one_kind:
        return materials
    rows, cells = places >> ID_BITS, places & FACE
    np.copyto(materials, cells, where=are_hits & (rows == MESH), casting="unsafe")
    for row, made in enumerate(arrays.made_of):
        if made is not None:
            here = np.flatnonzero(are_hits & (rows == row))
            materials[here] = made.of(triangles[here], cells[here])
    return materials


tell_of("parts", Queries)  # whoever edits `asked` edits `_build/quick/` too
