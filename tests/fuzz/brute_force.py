"""Contacts, rays and sweeps of random surfaces against NumPy's answers about every triangle.

Verdicts may differ only where something touches, or a ray hits an edge, by less than `TOLERANCE`.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import terrain_physics as tp
from tests.helpers.surfaces import surface_contacts, surface_hits, surface_touches
from tests.oracles.heightmap import Map
from tests.oracles.heightmap_contacts import feet_on_triangles
from tests.oracles.sweeps import ray_triangles

Array = NDArray[np.float64]

TOLERANCE = 1e-7
"""Of cells of a meter; heights are float32, but the oracle reads them as they were rounded."""
AROUND = 6
"""Cells outside the map that the oracle knows: nothing reaches farther."""
FARTHEST = 3.0
"""Meters that rays and sweeps go at most."""
GROUNDS, RAYS, BALLS, SWEEPS = 10, 10, 5, 5


class KnownGround(NamedTuple):
    """A ground near the origin, all of its triangles, and what is asked around it."""

    ground: Any
    corners: Array
    ids: NDArray[np.int64]
    is_map: bool
    size: float
    top: float


def case(seed: int) -> None:
    """Ask a few grounds."""
    rng = np.random.default_rng(seed)
    grounds = [_mesh(rng) if rng.random() < 0.3 else _map(rng) for _ in range(GROUNDS)]
    for land in grounds:
        _rays(rng, land)
        _balls(rng, land)
    _sweeps(rng, grounds)


def _map(rng: np.random.Generator) -> KnownGround:
    rows, columns = rng.integers(2, 6, 2).tolist()
    heights = rng.uniform(0, 10 ** rng.uniform(-1.5, 0.6), (rows, columns)).astype(np.float32)
    if rng.random() < 0.3:
        heights = np.round(heights)
    if rng.random() < 0.2:
        heights[rng.random(heights.shape) < 0.1] = np.nan
    split = ["a-c", "b-d", "alternating", "shortest"][rng.integers(4)]
    border = ["extend", "open"][rng.integers(2)]
    land = tp.HeightMap(heights, diagonal=split, border=border)
    told = Map(heights, split=split, border=border)
    window = (-AROUND, rows + AROUND, -AROUND, columns + AROUND)
    pieces = [piece for cell in told.cells(window) for piece in cell]
    corners = np.array([[p.a, p.b, p.c] for p in pieces]).reshape(-1, 3, 3)
    ids = np.array([p.id for p in pieces], dtype=np.int64)
    return KnownGround(
        land, corners, ids, True, float(max(rows, columns)), float(np.nanmax([0, *heights.flat]))
    )


def _mesh(rng: np.random.Generator) -> KnownGround:
    count = int(rng.integers(1, 40))
    corners = rng.uniform(0, 4, (count, 1, 3)) + rng.normal(0, 1, (count, 3, 3))
    faces = np.arange(3 * count).reshape(-1, 3)
    ground = tp.TriangleMesh(corners.reshape(-1, 3), faces)
    return KnownGround(ground, corners, np.arange(count), False, 4.0, 4.0)


def _places(rng: np.random.Generator, land: KnownGround, count: int) -> Array:
    high = (land.size, land.top + 2.0, land.size)
    places: Array = rng.uniform((-1.0, -1.0, -1.0), high, (count, 3))
    return places


def _rays(rng: np.random.Generator, land: KnownGround) -> None:
    origins, ways = _places(rng, land, RAYS), rng.normal(size=(RAYS, 3))
    ways[0] = (0.0, -1.0, 0.0)
    ask = partial(surface_hits, land.ground) if land.is_map else land.ground.raycast_many
    hits = ask(origins, ways, FARTHEST)
    ways /= np.linalg.norm(ways, axis=1)[:, None]
    for k in range(RAYS):
        distances, least = ray_triangles(np.zeros(3), ways[k], land.corners - origins[k])
        near = (distances > -TOLERANCE) & (distances < FARTHEST + TOLERANCE)
        sure = near & (least > 1e-6) & (distances > TOLERANCE) & (distances < FARTHEST - TOLERANCE)
        told = hits.distance[k]
        if np.isnan(told):
            assert not sure.any(), k
            continue
        if sure.any():
            assert told <= distances[sure].min() + 1e3 * TOLERANCE, k
        possible = near & (least > -1e-5) & (np.abs(distances - told) < 1e3 * TOLERANCE)
        flat = np.isinf(distances).any() or (np.abs(least) > 1e9).any()
        assert flat or hits.triangle[k] in land.ids[possible], k


def _balls(rng: np.random.Generator, land: KnownGround) -> None:
    balls = np.column_stack([_places(rng, land, BALLS), rng.uniform(0.05, 1.5, BALLS)])
    found = surface_contacts(land.ground, balls) if land.is_map else land.ground.contacts(balls)
    for k in range(BALLS):
        feet, _, _ = feet_on_triangles(balls[k, :3], land.corners)
        gaps = np.linalg.norm(feet - balls[k, :3], axis=1) - balls[k, 3]
        told = found.triangle[found.query == k]
        surely, possible = land.ids[gaps < -TOLERANCE], land.ids[gaps < TOLERANCE]
        assert (_counts(told, surely) >= _counts(surely, surely)).all(), k
        assert (_counts(possible, told) >= _counts(told, told)).all(), k
    _look_at_pushes(land, balls, found)


def _counts(ids: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how often each wanted id is there: triangles outside a map all have -1."""
    return np.asarray((ids == np.unique(wanted)[:, None]).sum(axis=1))


def _look_at_pushes(land: KnownGround, balls: Array, found: tp.Contacts) -> None:
    """After its push a ball just touches its triangle."""
    contact, triangle = np.nonzero(found.triangle[:, None] == land.ids)
    moved = (balls[found.query, :3] + found.penetration)[contact]
    feet, _, _ = feet_on_triangles(moved, land.corners[triangle])
    gaps = np.abs(np.linalg.norm(feet - moved, axis=1) - balls[found.query, 3][contact])
    least = np.full(len(found), np.inf)
    np.minimum.at(least, contact, gaps)
    assert (least < 1e2 * TOLERANCE).all()


def _sweeps(rng: np.random.Generator, grounds: list[KnownGround]) -> None:
    """Compare sweeps on all grounds at once: NumPy is slow on a few rows."""
    balls, motions, told, rows, corners = [], [], [], [], []
    for number, land in enumerate(grounds):
        centers, radii = _places(rng, land, SWEEPS), rng.uniform(0.05, 0.8, (SWEEPS, 1))
        centers[:, 1] += rng.uniform(0, 2, SWEEPS)
        ways = rng.normal(size=(SWEEPS, 3))
        ways *= rng.uniform(0.1, FARTHEST, (SWEEPS, 1)) / np.linalg.norm(ways, axis=1)[:, None]
        balls.append(np.hstack([centers, radii]))
        motions.append(ways)
        ask = partial(surface_touches, land.ground) if land.is_map else land.ground.sweep_many
        told.append(ask(balls[-1], ways).fraction)
        low = np.minimum(centers, centers + ways) - radii - 1e-3
        high = np.maximum(centers, centers + ways) + radii + 1e-3
        lowest, highest = land.corners.min(axis=1), land.corners.max(axis=1)
        meet = ((lowest <= high[:, None]) & (highest >= low[:, None])).all(axis=2)
        who, triangle = np.nonzero(meet)
        rows.append(SWEEPS * number + who)
        corners.append(land.corners[triangle])
    who = np.concatenate(rows)
    gaps = _approaches(np.concatenate(corners), np.vstack(balls)[who], np.vstack(motions)[who])
    starts, least, touches = (np.full(len(grounds) * SWEEPS, np.inf) for _ in range(3))
    for all_rows, values in zip((starts, least, touches), gaps, strict=True):
        np.minimum.at(all_rows, who, values)
    fractions = np.concatenate(told)
    clear = starts > TOLERANCE  # what is touched at the start has rules of its own
    missed = np.isnan(fractions)
    assert (least[clear & missed] > -1e-5).all()  # what only grazes is no touch
    assert (np.abs(fractions - touches)[clear & ~missed] < 1e-4).all()


def _approaches(corners: Array, balls: Array, motions: Array) -> tuple[Array, Array, Array]:
    """Return the gaps of n balls and n triangles at the start, the least gaps, the first touches.

    A gap is a convex function of the way: thirds of it are dropped until it is known where the gap
    is least, then halves until it is known where it is first zero; infinity where it never is.
    """

    def gaps(shares: Array) -> Array:
        points = balls[:, :3] + shares[:, None] * motions
        feet, _, _ = feet_on_triangles(points, corners)
        return np.asarray(np.linalg.norm(points - feet, axis=1) - balls[:, 3])

    start, end = np.zeros(len(corners)), np.ones(len(corners))
    low, high = start, end
    for _ in range(40):
        first, second = low + (high - low) / 3, high - (high - low) / 3
        left = gaps(first) <= gaps(second)
        low, high = np.where(left, low, first), np.where(left, second, high)
    low, high = start, (low + high) / 2
    least = np.minimum(gaps(high), gaps(end))
    for _ in range(30):
        middle = (low + high) / 2
        inside = gaps(middle) <= 0.0
        low, high = np.where(inside, low, middle), np.where(inside, middle, high)
    return gaps(start), least, np.where(least <= 0.0, high, np.inf)
