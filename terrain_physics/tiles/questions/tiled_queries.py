"""The questions to a ground whose land is in tiles, some of which are missing.

With "load", a question reads the tiles that it needs, outside of all locks, and is asked again
until it needs none: the answer is that of one map. Rays and sweeps find what they need in the order
of their paths, by the boxes of the tiles, up to the first hit.

With "wait", nothing is read, and rays and sweeps tell where they come to a missing tile's box.
"""

from collections.abc import Callable, Sequence
from functools import partial
from math import inf
from typing import TypeVar, cast

import numpy as np
from pyglm import glm

from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels.surface.ground_arrays import ALL_LAYERS
from terrain_physics._kernels.tiles.squares import put_square_of_shapes
from terrain_physics._kernels.types import Bools, Bytes, Floats, Int64s, read_only
from terrain_physics._support.checks import Floats3
from terrain_physics.ground.parts import GroundParts
from terrain_physics.surface.contact_buffer import ContactRoom
from terrain_physics.surface.queries import Queries
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
from terrain_physics.surface.shapes import (
    Shape,
    box_of,
    centers_of,
    extents_of,
    for_kernels,
    row_of,
)
from terrain_physics.surface.streaming import Streaming
from terrain_physics.tiles.questions.land_tiles import LandTiles, Supply
from terrain_physics.tiles.questions.missing_tiles import MissingTiles
from terrain_physics.tiles.questions.paths import Paths
from terrain_physics.tiles.questions.row_answers import (
    Columns,
    RowQuestion,
    Rows,
    answered,
    some_of,
)
from terrain_physics.tiles.questions.unknown_hits import (
    only_of,
    with_unknown,
)

LAND = 0
"""The key of the land in its ground."""

_SQUARE = CachedDispatch(put_square_of_shapes)

_Answer = TypeVar("_Answer")
_Hits = TypeVar("_Hits", RayHits, SweepHits)

# So often rays are cast again if tiles come and go meanwhile.
_ATTEMPTS = 3

# Half the size of what is asked at a place: whatever the height.
_PLACE, _STILL = np.array([[0.0, inf, 0.0]]), np.zeros((1, 3))
for _values in (_PLACE, _STILL):
    _values.setflags(write=False)


class TiledQueries(Queries):
    """The answers of a ground whose land is in tiles.

    Parameters
    ----------
    parts : GroundParts
        The land has the key 0.
    supply : Supply
        Where its tiles come from. It is the `streaming` of the ground, too.
    mask : int
    tiles : LandTiles, optional
        The tiles of the land, if there are queries already.
    """

    __slots__ = ("_supply", "_tiles", "streaming")

    source: GroundParts
    streaming: Streaming | None

    def __init__(
        self,
        parts: GroundParts,
        supply: Supply,
        mask: int = ALL_LAYERS,
        tiles: LandTiles | None = None,
    ) -> None:
        super().__init__(parts, mask)
        self._supply, self._tiles = supply, LandTiles(supply) if tiles is None else tiles
        self.streaming = cast("Streaming", supply)

    def filtered(self, mask: int) -> "TiledQueries":
        queries = TiledQueries(self.source, self._supply, mask, self._tiles)
        queries.streaming = self.streaming
        return queries

    @property
    def _asks_land(self) -> bool:
        """Whether the mask selects the land."""
        return self.source.layers[LAND] & self.mask != 0

    @property
    def _loads(self) -> bool:
        """Whether questions load what they need."""
        return not self._tiles.waits and self._asks_land

    def _over(
        self, boxes: Callable[[MissingTiles], Floats | None], what: str, ask: Callable[[], _Answer]
    ) -> _Answer:
        """Return an answer from all tiles under boxes (n, 4): least x and z, greatest ones.

        ``boxes`` returns None where it is easy to tell that nothing is missing there.
        """
        tiles, loads = self._tiles, self._loads
        while True:
            missing = tiles.now()
            needed = _under(missing, boxes) if loads else []
            if needed:
                tiles.refuse_more(len(needed), what)
                tiles.bring(needed)
                continue
            answer = ask()
            changed = missing.or_changed()
            if changed is missing or not loads or not _under(changed, boxes):
                return answer

    def _rows(
        self,
        what: str,
        ask: Callable[[Rows], Columns],
        need: Callable[[MissingTiles, Rows, Columns], Int64s | None],
    ) -> Columns:
        """Return the answers of rows, see `RowQuestion`."""
        if not self._loads:
            return ask(None)
        return answered(self._tiles, RowQuestion(what, ask, need, lambda: self.version))

    # Places

    def height(self, x: float, z: float) -> float:
        missing = self._tiles.now()
        if missing.are_away(x, z, x, z):
            level = super().height(x, z)
            if missing.or_changed() is missing:
                return level
        box = np.array([[x, z, x, z]])
        return self._over(lambda _: box, "x and z", lambda: Queries.height(self, x, z))

    def normal(self, x: float, z: float) -> glm.vec3:
        xs, zs = read_only(np.array([x]), np.array([z]))
        return glm.vec3(*self.normals(xs, zs, None)[0].tolist()) + 0.0

    def heights(self, xs: Floats, zs: Floats, threads: int | None) -> Floats:
        def ask(rows: Rows) -> Columns:
            x, z = some_of(rows, xs), some_of(rows, zs)
            return (Queries.heights(self, x, z, threads),)

        return self._at(xs, zs, threads, ask)[0]

    def normals(self, xs: Floats, zs: Floats, threads: int | None) -> Floats:
        def ask(rows: Rows) -> Columns:
            x, z = some_of(rows, xs), some_of(rows, zs)
            return (Queries.normals(self, x, z, threads),)

        return self._at(xs, zs, threads, ask)[0]

    def heights_and_normals(
        self, xs: Floats, zs: Floats, threads: int | None
    ) -> tuple[Floats, Floats]:
        def ask(rows: Rows) -> Columns:
            x, z = some_of(rows, xs), some_of(rows, zs)
            return Queries.heights_and_normals(self, x, z, threads)

        levels, normals = self._at(xs, zs, threads, ask)
        return levels, normals

    def _at(
        self, xs: Floats, zs: Floats, threads: int | None, ask: Callable[[Rows], Columns]
    ) -> Columns:
        """Return answers at places."""

        def need(missing: MissingTiles, rows: Rows, _: Columns) -> Int64s | None:
            x, z = some_of(rows, xs), some_of(rows, zs)
            return _under_each(missing, x, z, _PLACE, threads)

        return self._rows("x and z", ask, need)

    # Triangles in boxes

    def triangles_in(self, lower: Floats3, upper: Floats3, most: int) -> Triangles | None:
        box = np.array([[lower[0], lower[2], upper[0], upper[2]]])
        return self._over(
            lambda _: box, "aabb", lambda: Queries.triangles_in(self, lower, upper, most)
        )

    def triangle_ids_in(self, boxes: Floats, most: int) -> tuple[Int64s, Int64s]:
        squares = boxes.reshape(-1, 6)[:, [0, 2, 3, 5]]
        return self._over(
            lambda _: squares, "boxes", lambda: Queries.triangle_ids_in(self, boxes, most)
        )

    # Rays

    def ray(self, origin: Floats3, direction: Floats3, longest: float) -> RayHit | None:
        missing, hit = self._tiles.now(), super().ray(origin, direction, longest)
        (x, _, z), (dx, _, dz) = origin, direction
        length, changed = longest if hit is None else hit.distance, missing.or_changed()
        end_x, end_z = x + (length * dx if dx else 0.0), z + (length * dz if dz else 0.0)
        if changed.are_away(x, z, end_x, end_z) or not self._asks_land:
            return hit
        starts, ways, far = read_only(
            np.array([origin]), np.array([direction]), np.array([longest])
        )
        return only_of(RayHit, self._rays("ray", starts, ways, far, 1, 1))

    def rays(
        self, origins: Floats, directions: Floats, longest: Floats, count: int, threads: int | None
    ) -> RayHits:
        return self._rays("origins", origins, directions, longest, count, threads)

    def _rays(
        self, what: str, origins: Floats, directions: Floats, longest: Floats, count: int,
        threads: int | None,
    ) -> RayHits:  # fmt: skip
        def ask(rows: Rows) -> RayHits:
            number = count if rows is None else len(rows)
            starts, ways, far = (some_of(rows, own) for own in (origins, directions, longest))
            return Queries.rays(self, starts, ways, far, number, threads)

        def most(rows: Rows, hits: RayHits) -> Floats:
            return np.asarray(np.fmin(hits.distance, some_of(rows, longest)))

        paths = partial(Paths.of_rays, origins, directions)
        return self._first_hits(what, paths, ask, most, threads)

    def _first_hits(
        self,
        what: str,
        paths: Callable[[], Paths],
        ask: Callable[[Rows], _Hits],
        most: Callable[[Rows, _Hits], Floats],
        threads: int | None,
    ) -> _Hits:
        """Return the first hits on paths, which are followed up to places ``most`` from there."""
        if self._tiles.waits and self._asks_land:
            return self._known_hits(paths, ask, most, threads)

        def need(missing: MissingTiles, rows: Rows, columns: Columns) -> Int64s | None:
            hits = cast("_Hits", columns)
            found = paths().first_missing(missing, rows, most(rows, hits), threads)
            return None if found is None else found[1]

        return cast("_Hits", self._rows(what, ask, need))

    def _known_hits(
        self,
        paths: Callable[[], Paths],
        ask: Callable[[Rows], _Hits],
        most: Callable[[Rows, _Hits], Floats],
        threads: int | None,
    ) -> _Hits:
        """Return the first hits on paths as far as it is known that there is nothing before."""
        attempts = _ATTEMPTS
        while True:
            attempts -= 1
            missing, hits = self._tiles.now(), ask(None)
            changed = missing.or_changed()
            if changed.are_none:
                return hits
            found = paths().first_missing(changed, None, most(None, hits), threads)
            if found is None:
                return hits
            if changed is missing or not attempts:
                return with_unknown(hits, paths(), self._supply.tile_bounds, *found)

    # Shapes

    def contacts_of_one(self, shape: Shape, keep: str, most: int) -> Contacts:
        missing, (kind, row) = self._tiles.now(), row_of("shapes", shape)
        if missing.are_none or missing.are_away(*_square_of_row(kind, row)):
            found = super().contacts_of_one(shape, keep, most)
            if missing.or_changed() is missing:
                return found
        rows = np.array([row])
        return self._over(
            lambda _: _boxes_of_shapes(kind, rows),
            "shapes",
            lambda: Queries.contacts_of_one(self, shape, keep, most),
        )

    def contacts(
        self, kind: int, rows: Floats, keep: str, threads: int | None, most: int, room: ContactRoom
    ) -> Contacts:
        def boxes(missing: MissingTiles) -> Floats | None:
            return None if _are_off_shapes(missing, kind, rows) else _boxes_of_shapes(kind, rows)

        return self._over(
            boxes,
            "shapes",
            lambda: Queries.contacts(self, kind, rows, keep, threads, most, room),
        )

    def contact_counts(self, kind: int, rows: Floats, threads: int | None) -> Int64s:
        def ask(some: Rows) -> Columns:
            return (Queries.contact_counts(self, kind, some_of(some, rows), threads),)

        def need(missing: MissingTiles, some: Rows, _: Columns) -> Int64s | None:
            shapes = some_of(some, rows)
            if _are_off_shapes(missing, kind, shapes):
                return None
            x, _, z = centers_of(kind, shapes).T
            extents = extents_of(kind, shapes) * (1.0, 0.0, 1.0) + _PLACE
            return _under_each(missing, x, z, extents, threads)

        return np.asarray(self._rows("shapes", ask, need)[0])

    def _ways_of(self, kind: int, rows: Floats, motions: Floats) -> Paths:
        """Return the paths of moving shapes."""
        tiles = self._tiles
        has_underside = not tiles.waits and tiles.land.thickness < inf
        return Paths(centers_of(kind, rows), motions, extents_of(kind, rows), has_underside)

    def sweep(self, kind: int, row: Floats, motion: Floats) -> SweepHit | None:
        missing, hit = self._tiles.now(), super().sweep(kind, row, motion)
        square = _square_of_row(kind, row.tolist(), motion, 1.0 if hit is None else hit.fraction)
        if missing.or_changed().are_away(*square) or not self._asks_land:
            return hit
        return only_of(SweepHit, self._sweeps("shape", kind, row[np.newaxis], motion, 1, 1))

    def sweeps(
        self, kind: int, rows: Floats, motions: Floats, count: int, threads: int | None
    ) -> SweepHits:
        return self._sweeps("shapes", kind, rows, motions, count, threads)

    def _sweeps(
        self, what: str, kind: int, rows: Floats, motions: Floats, count: int, threads: int | None
    ) -> SweepHits:
        def ask(some: Rows) -> SweepHits:
            number = count if some is None else len(some)
            shapes, ways = some_of(some, rows), some_of(some, motions)
            return Queries.sweeps(self, kind, shapes, ways, number, threads)

        def most(_: Rows, hits: SweepHits) -> Floats:
            return np.asarray(np.fmin(hits.fraction, 1.0))

        ways = partial(self._ways_of, kind, rows, motions)
        return self._first_hits(what, ways, ask, most, threads)

    # Closest points

    def closest_point(self, point: Floats3) -> ClosestPoint:
        missing, found, (x, _, z) = self._tiles.now(), super().closest_point(point), point
        if missing.or_changed().are_away(x, z, x, z, found.distance) or not self._loads:
            return found
        (rows,) = read_only(np.array([point]))
        return cast("ClosestPoint", only_of(ClosestPoint, self._closest_points("point", rows, 1)))

    def closest_points(self, points: Floats, threads: int | None) -> ClosestPoints:
        return self._closest_points("points", points, threads)

    def _closest_points(self, what: str, points: Floats, threads: int | None) -> ClosestPoints:
        def ask(rows: Rows) -> ClosestPoints:
            return Queries.closest_points(self, some_of(rows, points), threads)

        def need(missing: MissingTiles, rows: Rows, columns: Columns) -> Int64s | None:
            distances = cast("ClosestPoints", columns).distance
            return _nearest(missing, some_of(rows, points), distances, threads)

        return cast("ClosestPoints", self._rows(what, ask, need))

    # Inside

    def contains(self, points: Floats, threads: int | None) -> Bools:
        def ask(rows: Rows) -> Columns:
            return (Queries.contains(self, some_of(rows, points), threads),)

        xs, _, zs = points.T
        return np.asarray(self._at(xs, zs, threads, ask)[0])

    def contains_one(self, point: Floats3) -> bool:
        return bool(self.contains(read_only(np.array([point]))[0], None)[0])  # some may be missing

    def signed_distance(self, point: Floats3) -> float:
        return float(self.signed_distances(read_only(np.array([point]))[0], None)[0])

    def signed_distances(self, points: Floats, threads: int | None) -> Floats:
        def ask(rows: Rows) -> Columns:
            return (Queries.signed_distances(self, some_of(rows, points), threads),)

        def need(missing: MissingTiles, rows: Rows, columns: Columns) -> Int64s | None:
            places = some_of(rows, points)
            near = _nearest(missing, places, np.abs(columns[0]), threads)
            if near is None:
                return None
            below = _under_each(missing, places[:, 0], places[:, 2], _PLACE, threads)
            return near if below is None else np.where(below < 0, near, below)

        return np.asarray(self._rows("points", ask, need)[0])

    # For characters

    def triangle_at(self, part: int, triangle: int, point: Floats3) -> tuple[int, int, bool]:
        if self._tiles.now().are_none:
            return super().triangle_at(part, triangle, point)
        rows = np.array([part]), np.array([triangle]), np.array([point])
        ids, materials, known = self.triangles_at(*rows)
        return int(ids[0]), int(materials[0]), bool(known[0])

    def triangles_at(
        self, parts: Int64s, triangles: Int64s, points: Floats
    ) -> tuple[Int64s, Bytes, Bools]:
        """Return as of all grounds; with "wait" it is not known what a missing tile is made of."""

        def ask(rows: Rows) -> Columns:
            own = some_of(rows, parts), some_of(rows, triangles), some_of(rows, points)
            return Queries.triangles_at(self, *own)

        def need(missing: MissingTiles, rows: Rows, _: Columns) -> Int64s | None:
            part, triangle = some_of(rows, parts), some_of(rows, triangles)
            return missing.of_ids(np.where(part == LAND, triangle, -1))

        if not self._tiles.waits:
            question = RowQuestion("triangles", ask, need, lambda: self.version)
            ids, materials, known = answered(self._tiles, question)
            return ids, materials, known
        missing = self._tiles.now()
        ids, materials, known = ask(None)
        needed = need(missing.or_changed(), None, ())
        if needed is not None:
            materials[needed >= 0], known[needed >= 0] = 0, False
        return ids, materials, known


def _square_around(xs: Floats, zs: Floats, far: float) -> Floats:
    """Return the square (4,) around places, as far as that around each."""
    return np.array([xs.min() - far, zs.min() - far, xs.max() + far, zs.max() + far])


def _under(missing: MissingTiles, boxes: Callable[[MissingTiles], Floats | None]) -> list[int]:
    """Return the numbers of missing tiles under boxes."""
    if missing.are_none or (found := boxes(missing)) is None:
        return []
    numbers: list[int] = missing.under(found).tolist()
    return numbers


def _under_each(
    missing: MissingTiles, xs: Floats, zs: Floats, extents: Floats, threads: int | None
) -> Int64s | None:
    """Return the number of a missing tile at each place (n,), or -1; None: there are none near."""
    far = float(extents[:, ::2].max(initial=0.0))
    if not len(xs) or missing.are_off(_square_around(xs, zs, far)):
        return None
    starts, still = np.column_stack([xs, np.zeros(len(xs)), zs]), np.zeros(len(xs))
    return missing.first_on(starts, _STILL, still, extents, threads)[1]


def _nearest(
    missing: MissingTiles, points: Floats, within: Floats, threads: int | None
) -> Int64s | None:
    """Return the nearest missing tile of each point up to a distance, or -1; None: none is near."""
    if not len(points):
        return None
    if missing.are_off(_square_around(points[:, 0], points[:, 2], float(within.max()))):
        return None
    return missing.nearest(points, within, threads)


def _are_off_shapes(missing: MissingTiles, kind: int, rows: Floats) -> bool:
    """Tell whether missing tiles are away from a square around shapes."""
    square = np.empty(4)
    _SQUARE.call(kind, for_kernels(rows), len(rows), square)
    return not len(rows) or missing.are_off(square)


def _boxes_of_shapes(kind: int, rows: Floats) -> Floats:
    """Return the boxes (n, 4) under shapes: least x and z, greatest ones."""
    places, extents = centers_of(kind, rows)[:, ::2], extents_of(kind, rows)[:, ::2]
    return np.concatenate([places - extents, places + extents], axis=1)


def _square_of_row(
    kind: int, row: Sequence[float], motion: Floats = _STILL, part: float = 1.0
) -> tuple[float, float, float, float]:
    """Return a square around a shape, or a shape that moves by a part of (1, 3)."""
    (x0, _, z0), (x1, _, z1) = box_of(kind, row)
    way_x, _, way_z = motion[0].tolist()
    x, z = part * way_x, part * way_z
    return x0 + min(x, 0.0), z0 + min(z, 0.0), x1 + max(x, 0.0), z1 + max(z, 0.0)
