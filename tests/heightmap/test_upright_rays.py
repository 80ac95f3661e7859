"""Many vertical rays, alone and among others: the same answers as one by one."""

import numpy as np
import pytest
from numpy.typing import NDArray

from terrain_physics import HeightMap, Ray


def land_of(seed: int, *, border: str, diagonal: str, holed: bool) -> HeightMap:
    rng = np.random.default_rng(seed)
    heights = rng.normal(0, 3, (14, 11)).round(1)
    heights[:4] = 0.0  # level: distances of exactly 0
    holes = None
    if holed:
        heights[tuple(rng.integers(2, 10, (2, 3)))] = np.nan
        holes = rng.random((13, 10)) < 0.1
    return HeightMap(
        heights, cell_size=(0.7, 1.3), height_scale=-1.5, origin=(-3.0, 2.0, 40.0), border=border,
        diagonal=diagonal, holes=holes,
    )  # fmt: skip


def places_on(land: HeightMap, count: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return places inside and outside, and on samples, edges and diagonals."""
    cells = np.array(land.cell_count[::-1])
    places = rng.uniform(-1.5, cells + 1.5, (count, 2))
    kinds = rng.integers(0, 4, count)
    places[kinds == 1] = places[kinds == 1].round()
    places[kinds == 2, 0] = places[kinds == 2, 0].round()
    places[kinds == 3] = places[kinds == 3].round() + rng.uniform(0, 1, (np.sum(kinds == 3), 1))
    x0, _, z0 = land.origin64
    return places * land.cell_size + (x0, z0)


@pytest.mark.parametrize("border", ["extend", "open"])
@pytest.mark.parametrize("diagonal", ["a-c", "b-d", "alternating", "shortest"])
@pytest.mark.parametrize("holed", [False, True])
def test_many_are_as_one_by_one(border: str, diagonal: str, holed: bool) -> None:
    land = land_of(1, border=border, diagonal=diagonal, holed=holed)
    rng = np.random.default_rng(2)
    count = 1100  # chunks of vertical rays, a mixed one and the rest of one
    origins = np.insert(places_on(land, count, rng), 1, rng.uniform(-9, 9, count).round(), axis=1)
    origins[::7, 1] = 2.0  # in the level part
    directions = np.zeros((count, 3))
    directions[:, 1] = rng.choice([-1.0, 1.0, -3.0], count)
    slanted = slice(600, 700, 9)
    directions[slanted] = rng.normal(size=(len(range(count)[slanted]), 3))
    limits = rng.choice([0.0, 1.0, 5.0, np.inf], count)
    found = land.raycast_many(origins, directions, limits)
    hits = 0
    for k in range(count):
        one = land.raycast(Ray(origins[k], directions[k]), limits[k])
        if one is None:
            assert np.isnan(found.distance[k])
            assert np.isnan(found.point[k]).all()
            assert np.isnan(found.normal[k]).all()
            assert found.triangle[k] == -1
            continue
        hits += 1
        assert found.distance[k] == one.distance
        assert found.triangle[k] == one.triangle
        np.testing.assert_array_equal(found.point[k].astype(np.float32), one.point)
        np.testing.assert_array_equal(found.normal[k].astype(np.float32), one.normal)
        assert not np.signbit(found.normal[k][found.normal[k] == 0]).any()
        assert not np.signbit(found.point[k][found.point[k] == 0]).any()
    assert 0.05 * count < hits < 0.8 * count


def test_one_direction_serves_all_and_one_origin() -> None:
    land = land_of(3, border="extend", diagonal="alternating", holed=True)
    rng = np.random.default_rng(4)
    origins = np.insert(places_on(land, 700, rng), 1, 50.0, axis=1)
    down = np.array([(0.0, -2.0, 0.0)])
    shared = land.raycast_many(origins, down)
    each = land.raycast_many(origins, np.repeat(down, 700, axis=0), np.full(700, np.inf))
    for one, other in zip(shared, each, strict=True):
        np.testing.assert_array_equal(one, other)
    limits = rng.uniform(0, 99, 600)
    from_one = land.raycast_many(origins[:1], down, limits)
    reached = shared.distance[0] <= limits
    np.testing.assert_array_equal(from_one.distance, np.where(reached, shared.distance[0], np.nan))


def test_the_first_zero_direction_is_named() -> None:
    land = HeightMap(np.zeros((2, 2)))
    directions = np.ones((9, 3))
    directions[[3, 6]] = 0.0
    with pytest.raises(
        ValueError, match=r"directions\[3\] must not be zero, got \(0.0, 0.0, 0.0\)"
    ):
        land.raycast_many(np.zeros((9, 3)), directions)
