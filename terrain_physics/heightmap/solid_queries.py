"""The questions to a height map as solid ground: its surface, its sides and its underside."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, TypeVar

import numpy as np

from terrain_physics._kernels.types import Floats, Int64s, read_only
from terrain_physics._support.checks import Floats3
from terrain_physics.heightmap.beside import Beside, Underside, Walls, put_hits
from terrain_physics.heightmap.framed import LiveMap
from terrain_physics.heightmap.queries import MapQueries
from terrain_physics.heightmap.sides import Sides
from terrain_physics.heightmap.solid_contacts import SolidContacts
from terrain_physics.heightmap.still import StillMap
from terrain_physics.surface.contact_room import ContactRoom
from terrain_physics.surface.ground_arrays import NO_MOVERS, GroundArrays
from terrain_physics.surface.results import (
    ClosestPoint,
    ClosestPoints,
    Contacts,
    RayHit,
    RayHits,
    SweepHit,
    SweepHits,
)
from terrain_physics.surface.shapes import Shape, row_of

_Hit = TypeVar("_Hit", RayHit, SweepHit)
_Hits = TypeVar("_Hits", RayHits, SweepHits, ClosestPoints)


class SolidMapQueries(MapQueries):
    """The answers of a height map that is solid.

    The surface is asked first. If there are sides or an underside, these are asked too, and what is
    nearer, or deeper, is the answer; of equals, the surface.
    """

    __slots__ = ("_arrays", "_beside", "_shown", "_surface", "sides")

    storage: LiveMap

    def __init__(self, storage: LiveMap) -> None:
        super().__init__(storage)
        self.sides = Sides(storage)
        self._surface = MapQueries(storage)
        self._shown: tuple[Any, ...] = None, None, None
        self._beside: tuple[Beside, ...] = ()
        self._arrays: tuple[Any, ...] = None, None, None

    def _now(self) -> tuple[Beside, ...]:
        """Return what there is beside the surface. The caller holds the lock of the map."""
        storage, mesh = self.storage, self.sides.now()
        if mesh is None and storage.thickness == np.inf:
            return ()
        shown = storage.views, storage.materials, mesh
        if any(new is not old for new, old in zip(shown, self._shown, strict=True)):
            still, beside = StillMap(storage.views, storage.materials), list[Beside]()
            if mesh is not None:
                beside.append(Walls(mesh, storage.materials))
            if storage.thickness < np.inf:
                beside.append(Underside(still))
            self._beside, self._shown = tuple(beside), shown
        return self._beside

    @contextmanager
    def _asked(self) -> Iterator[tuple[MapQueries, tuple[Beside, ...]]]:
        """Give the surface, and what is beside it, of one moment."""
        with ExitStack() as held:
            surface = self._surface
            with self.storage.lock:
                beside = self._now()
                if beside:
                    views, materials = held.enter_context(self.storage.reading())
                    surface = MapQueries(StillMap(views, materials))
            yield surface, beside

    # Rays

    def ray(self, origin: Floats3, direction: Floats3, longest: float) -> RayHit | None:
        with self.storage.lock:
            best = super().ray(origin, direction, longest)
            for own in self._now():
                nearest = longest if best is None else best.distance
                best = _nearer(best, own.ray(origin, direction, nearest))
        return best

    def rays(
        self, origins: Floats, directions: Floats, longest: Floats, count: int, threads: int | None
    ) -> RayHits:
        with self._asked() as (surface, beside):
            hits = surface.rays(origins, directions, longest, count, threads)
            for own in beside:
                (nearest,) = read_only(np.fmin(hits.distance, longest))
                _put_nearer(hits, own.rays(origins, directions, nearest, count, threads))
        return hits

    # Shapes

    def contacts_of_one(self, shape: Shape, keep: str, most: int) -> Contacts:
        with self.storage.lock:
            beside = self._now()
        if not beside:
            return super().contacts_of_one(shape, keep, most)
        kind, row = row_of("shapes", shape)
        (rows,) = read_only(np.array([row]))
        with self._asked() as (surface, beside):
            found = surface.contacts_of_one(shape, keep, most)
            return SolidContacts(surface, beside, kind, rows, None).joined(found, keep, most)

    def contacts(
        self, kind: int, rows: Floats, keep: str, threads: int | None, most: int, room: ContactRoom
    ) -> Contacts:
        with self._asked() as (surface, beside):
            found = surface.contacts(kind, rows, keep, threads, most, room)
            if not beside:
                return found
            return SolidContacts(surface, beside, kind, rows, threads).joined(found, keep, most)

    def contact_counts(self, kind: int, rows: Floats, threads: int | None) -> Int64s:
        with self._asked() as (surface, beside):
            counts = surface.contact_counts(kind, rows, threads)
            if beside:
                SolidContacts(surface, beside, kind, rows, threads).recount(counts)
        return counts

    def sweep(self, kind: int, row: Floats, motion: Floats) -> SweepHit | None:
        with self.storage.lock:
            best = super().sweep(kind, row, motion)
            for own in self._now():
                best = _nearer(best, own.sweep(kind, row, motion))
        return best

    def sweeps(
        self, kind: int, rows: Floats, motions: Floats, count: int, threads: int | None
    ) -> SweepHits:
        with self._asked() as (surface, beside):
            hits = surface.sweeps(kind, rows, motions, count, threads)
            for own in beside:
                _put_nearer(hits, own.sweeps(kind, rows, motions, count, threads))
        return hits

    # Closest points

    def closest_point(self, point: Floats3) -> ClosestPoint:
        with self.storage.lock:
            best = super().closest_point(point)
            for own in self._now():
                found = own.closest_point(point)
                best = found if found.distance < best.distance else best
        return best

    def closest_points(self, points: Floats, threads: int | None) -> ClosestPoints:
        with self._asked() as (surface, beside):
            found = surface.closest_points(points, threads)
            for own in beside:
                _put_nearer(found, own.closest_points(points, threads))
        return found

    # For characters

    @property
    def ground_arrays(self) -> GroundArrays:
        with self.storage.lock:
            return self._arrays_now()

    def _arrays_now(self) -> GroundArrays:
        """Return the arrays. The caller holds the lock of the map."""
        arrays, mesh = self.storage.ground_arrays, self.sides.now()
        if mesh is None:
            return arrays
        if self._arrays[0] is not arrays or self._arrays[1] is not mesh:
            made = GroundArrays(arrays.maps, arrays.meshes, NO_MOVERS, mesh.storage.table.view)
            self._arrays = arrays, mesh, made
        found: GroundArrays = self._arrays[2]
        return found

    @contextmanager
    def reading(self) -> Iterator[GroundArrays]:
        with ExitStack() as held:
            with self.storage.lock:  # no edit in between
                held.enter_context(self.storage.reading())
                arrays = self._arrays_now()
            yield arrays


def _nearer(best: _Hit | None, other: _Hit | None) -> _Hit | None:
    """Return the nearer one of two hits; of equals, the first."""
    if best is None or (other is not None and other.distance < best.distance):
        return other
    return best


def _put_nearer(best: _Hits, others: _Hits) -> None:
    """Write hits over those that are farther, or missed."""
    is_nearer = others.distance < best.distance
    is_nearer |= np.isnan(best.distance) & ~np.isnan(others.distance)
    rows = np.flatnonzero(is_nearer)
    put_hits(best, rows, others, rows)
