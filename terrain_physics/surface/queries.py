"""The questions of `Surface`, arguments checked: what is asked for the answers, and how."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, TypeVar

import numpy as np
from pyglm import glm

from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels._quick import tell_of
from terrain_physics._kernels.heightmap import grid
from terrain_physics._kernels.surface.ground_arrays import ALL_LAYERS
from terrain_physics._kernels.types import Bools, Bytes, Floats, Int64s, read_only
from terrain_physics._locks import Mark, lasting
from terrain_physics._support.checks import MOST_RESULTS, Floats3
from terrain_physics._support.threads import Workers
from terrain_physics.surface.answers import hits, triangles
from terrain_physics.surface.answers.contacts import (
    contacts_of_surface,
    few_contacts_in,
    many_contact_counts,
    many_contacts,
)
from terrain_physics.surface.changes import ChangeLog
from terrain_physics.surface.contact_buffer import ContactRoom
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
)
from terrain_physics.surface.shapes import Shape, row_of
from terrain_physics.surface.streaming import Streaming

_Answer = TypeVar("_Answer")

_HEIGHT, _NORMAL = CachedDispatch(grid.height_at), CachedDispatch(grid.normal_at)

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
            return self.asked(hits.surface_at, self.mask, x, z)[0]
        with lone.lock:
            heights, cells, _, frame = lone.views
            level: float = _HEIGHT.call(heights, cells, frame, x, z)
            return level

    def normal(self, x: float, z: float) -> glm.vec3:
        """Return the normal at a place."""
        lone = self.source.lone
        if lone is None or self.mask != ALL_LAYERS:
            return glm.vec3(self.asked(hits.surface_at, self.mask, x, z)[1]) + 0.0
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
        return self.asked_of_rows(self._begin_over, hits.surface_over, xs, zs, threads, *wanted)

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
            found = self.asked(triangles.few_triangles_in, self.mask, lower, upper)
            if found is not None:
                return found
        return self.asked_of_rows(self._begin_over, triangles.all_triangles_in, lower, upper)

    def triangle_ids_in(self, boxes: Floats, most: int) -> tuple[Int64s, Int64s]:
        """Return the offsets and ids of boxes: lower and upper corners, flat.

        More results than ``most`` are refused, here as for contacts.
        """
        return self.asked_of_rows(self._begin_over, triangles.triangle_ids_in, boxes, most)

    # Rays

    def ray(self, origin: Floats3, direction: Floats3, longest: float) -> RayHit | None:
        """Return the first hit of a ray of a unit direction."""
        return self.asked(hits.one_ray, self.mask, origin, direction, longest)

    def rays(
        self, origins: Floats, directions: Floats, longest: Floats, threads: int | None
    ) -> RayHits:
        """Return the first hits of rays of unit directions; an array of one row serves for all."""
        return self.asked_of_rows(
            self.begin_asking, hits.many_rays, origins, directions, longest, threads
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
        return self.asked(few_contacts_in, self.mask, kind, row, keep)

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
        return self.asked(hits.one_sweep, self.mask, kind, row, motion)

    def sweeps(self, kind: int, rows: Floats, motions: Floats, threads: int | None) -> SweepHits:
        """Return the first touches of moving rows; an array of one row serves for all."""
        return self.asked_of_rows(
            self.begin_sweeping, hits.many_sweeps, kind, rows, motions, threads
        )

    def begin_sweeping(self, mark: Mark) -> GroundArrays:
        """Return `ground_arrays` for sweeps, as `begin_asking`."""
        with self.lock:
            arrays = self.begin_asking(mark)
            arrays.find_skins()  # before a mesh goes
            return arrays

    # Closest points

    def closest_point(self, point: Floats3) -> ClosestPoint:
        """Return the point of the ground closest to a point."""
        return self.asked(hits.point_closest, self.mask, point)

    def closest_points(self, points: Floats, threads: int | None) -> ClosestPoints:
        """Return the points of the ground closest to points (n, 3)."""
        return self.asked_of_rows(self.begin_asking, hits.points_closest, points, threads)

    # Inside

    def contains(self, points: Floats, threads: int | None) -> Bools:
        """Tell which points (n, 3) are in something solid, or on a surface."""
        return self.asked_of_rows(self.begin_asking, hits.are_contained, points, threads)

    def contains_one(self, point: Floats3) -> bool:
        """Tell whether a point is in something solid, or on a surface."""
        return self.asked(hits.is_contained, self.mask, point)

    def signed_distances(self, points: Floats, threads: int | None) -> Floats:
        """Return the distances (n,) of points (n, 3) to the surface, below 0 in something solid."""
        return self.asked_of_rows(self.begin_asking, hits.distances_of, points, threads)

    def signed_distance(self, point: Floats3) -> float:
        """Return the distance of a point to the surface, below 0 in something solid."""
        return self.asked(hits.distance_of, self.mask, point)

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
        """Return the answer to a short question, see `Askable.answer`; entries in C ask so too."""
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
        return self.asked(hits.one_triangle, self.mask, part, triangle, point)

    def triangles_at(
        self, parts: Int64s, triangles: Int64s, points: Floats
    ) -> tuple[Int64s, Bytes, Bools]:
        """Return the ids and materials (n,) of many triangles, touched at points (n, 3).

        And whether they are there, as `triangle_at`. The points may be of any layout.
        """
        return self.asked_of_rows(self._begin_over, hits.many_triangles, parts, triangles, points)


tell_of("parts", Queries)  # whoever edits `asked` edits `_build/quick/` too
