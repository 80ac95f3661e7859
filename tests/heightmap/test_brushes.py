"""Brushes do to a map what a loop over its samples does; a place in meters has a cell."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from terrain_physics import CharacterMovement, Ground, HeightMap, SphereCollider
from terrain_physics.heightmap.cells import Region
from tests.oracles import brushes

ROWS, COLUMNS = 11, 14


def drawn(seed: int) -> dict[str, Any]:
    """Return what to make a map of: some with holes, some with long cells, some upside down."""
    rng = np.random.default_rng(seed)
    heights = rng.normal(0, 2, (ROWS, COLUMNS)).astype(np.float32)
    heights[rng.random(heights.shape) < rng.choice((0.0, 0.2))] = np.nan
    return {
        "heights": heights,
        "origin": rng.uniform(-5, 5, 3) * rng.choice((0, 1, 100)),
        "cell_size": tuple(rng.choice((0.3, 0.75, 1.0, 2.0), 2).tolist()),
        "height_scale": float(rng.choice((1.0, -0.5, 3.0))),
    }


def disc_of(seed: int, land: HeightMap) -> tuple[tuple[float, float], float]:
    """Return a center on the map or near it, and a radius from far less than a cell."""
    rng = np.random.default_rng(seed)
    x0, _, z0 = land.origin64
    cell_x, cell_z = land.cell_size
    column, row = rng.uniform((-3, -3), (COLUMNS + 3, ROWS + 3))
    if rng.random() < 0.3:
        column, row = round(column), round(row)
    center = float(x0 + column * cell_x), float(z0 + row * cell_z)
    return center, float(10.0 ** rng.uniform(-1.5, 1.3))


@given(st.integers(0, 10**6))
def test_heights_are_those_of_a_loop_over_samples(seed):
    made = drawn(seed)
    rng = np.random.default_rng(seed)
    strength = float(rng.choice((1.0, 0.0, rng.random())))
    level = float(rng.normal())
    heights, origin, size, scale = made.values()
    land = HeightMap(**made)
    center, radius = disc_of(seed, land)
    flat = float(rng.choice((0.0, radius, radius * rng.random())))
    land.flatten(center, radius, level, flat=flat, strength=strength)
    wanted = brushes.flattened(heights, origin, size, scale, center, radius, level, flat, strength)
    np.testing.assert_allclose(land.heights, wanted, rtol=1e-6, atol=1e-5)
    land = HeightMap(**made)
    land.smooth(center, radius, strength)
    wanted = brushes.smoothed(heights, origin, size, center, radius, strength)
    np.testing.assert_allclose(land.heights, wanted, rtol=1e-6, atol=1e-6)


@given(st.integers(0, 10**6))
def test_painted_are_the_cells_of_a_loop_over_cells(seed):
    land = HeightMap(**drawn(seed))
    land.materials[:] = 7
    center, radius = disc_of(seed, land)
    land.paint(center, radius, 9)
    wanted = brushes.painted(
        np.full(land.cell_count, 7), land.origin64, land.cell_size, center, radius, 9
    )
    assert np.array_equal(land.materials[:], wanted)
    assert land.version == 1 + (wanted == 9).any()


@given(st.integers(0, 10**6), st.sampled_from(["flatten", "smooth", "paint"]))
def test_what_changed_is_told(seed, name):
    land = HeightMap(**drawn(seed), diagonal="shortest")
    before, seen = (land.heights.copy(), land.materials[:]), land.version
    holes = np.isnan(before[0])
    center, radius = disc_of(seed, land)
    numbers: tuple[Any, ...] = {"flatten": (3.0,), "smooth": (), "paint": (2,)}[name]
    getattr(land, name)(center, radius, *numbers)
    assert np.array_equal(np.isnan(land.heights), holes)
    told = np.zeros(land.cell_count, dtype=bool)
    for row_0, row_1, column_0, column_1 in land.changes_since(seen):
        told[row_0:row_1, column_0:column_1] = True
    moved = (land.heights != before[0]) & ~holes
    around = moved[:-1, :-1] | moved[:-1, 1:] | moved[1:, :-1] | moved[1:, 1:]
    assert told[around | (land.materials != before[1])].all()
    new = HeightMap(**(drawn(seed) | {"heights": land.heights}), diagonal="shortest")
    for one, other in zip(land.blocks(), new.blocks(), strict=True):
        np.testing.assert_array_equal(one, other)
    for again in (copy.deepcopy(land), pickle.loads(pickle.dumps(land))):
        assert np.array_equal(again.heights, land.heights, equal_nan=True)
        assert np.array_equal(again.materials[:], land.materials[:])
        assert again.version == land.version


def test_regions_are_as_small_as_the_change():
    land = HeightMap(np.zeros((20, 30)))
    land.paint((10.5, 5.5), 1.2, 3)
    land.paint((10, 5), 0.3, 3)  # between the middles of four cells
    land.flatten((10, 5), 1.5)
    land.smooth((200, 5), 3)
    assert land.changes_since(0) == [Region(4, 7, 9, 12), Region(3, 7, 8, 12)]


@pytest.mark.parametrize("corner", [(3, 4), (5, 12), (8, 15), (20, 21)])
def test_the_border_of_a_painted_disc_is_within(corner):
    a, b = corner
    radius = (a * a + b * b) ** 0.5
    assert radius == int(radius)
    land = HeightMap(np.zeros((62, 62)), origin=(-0.5, 0, -0.5))
    land.paint((30, 30), radius, 1)
    for row, column in ((30 + a, 30 - b), (30 - b, 30 - a), (30, 30 + int(radius))):
        assert land.materials[row, column] == 1
    assert land.materials[30, 31 + int(radius)] == 0


def test_a_foundation_is_exactly_flat():
    rng = np.random.default_rng(2)
    land = HeightMap(rng.normal(0, 3, (41, 41)) + 1e3, origin=(0.1, 50.3, 0), height_scale=0.1)
    before = land.heights.copy()
    land.flatten((20.1, 0, 20), 15, 151.7, flat=10)
    x, z = np.meshgrid(np.arange(41) - 20, np.arange(41) - 20)
    distance = np.hypot(x, z)
    assert len(set(land.heights[distance <= 10].tolist())) == 1
    assert land.height_at(20.1, 20.0) == pytest.approx(151.7, abs=1e-5)
    assert np.array_equal(land.heights[distance >= 15], before[distance >= 15])
    ring = (distance > 10) & (distance < 15)
    way = (land.heights - before)[ring] / (np.float32(1014.0) - before[ring])
    assert ((way > 0) & (way < 1)).all()
    again = land.heights.copy()
    land.flatten((20.1, 20), 10, flat=10)  # to its own height
    assert np.array_equal(land.heights, again)


def test_a_map_is_flattened_to_the_height_of_its_ground_at_the_center():
    heights = np.random.default_rng(3).normal(size=(9, 9))
    land, same = HeightMap(heights), HeightMap(heights)
    level = land.height_at(3.3, 4.6)
    land.flatten((3.3, 4.6), 3, flat=1)
    same.flatten((3.3, 4.6), 3, level, flat=1)
    assert np.array_equal(land.heights, same.heights)
    land.flatten((-1, 4), 2, flat=2)  # outside, the border goes on
    assert not np.array_equal(land.heights[3:6, :2], same.heights[3:6, :2])
    assert land.heights[4, 0] == same.heights[4, 0]


@pytest.mark.parametrize("scale", [1.0, 1e-30, 1e30])
def test_planes_stay_planes(scale):
    x, z = np.meshgrid(np.arange(20), np.arange(15))
    plane = ((3 * x - 2 * z) / 8 * scale).astype(np.float32)
    if scale == 1.0:
        exact = HeightMap(plane)
        exact.smooth((10, 7), 6)
        assert np.array_equal(exact.heights, plane)
    land = HeightMap(plane)
    land.smooth((10, 7), 6, 0.37)
    np.testing.assert_allclose(land.heights, plane, rtol=3e-7)
    level = HeightMap(np.full((6, 6), 0.1))  # to the border and beside holes too
    level[2, 3] = np.nan
    level.smooth((3, 3), 20, 0.37)
    level.flatten((1, 1), 20, strength=0.37)
    assert set(level.heights[~np.isnan(level.heights)].tolist()) == {float(np.float32(0.1))}


def test_smoothing_softens_steps_and_checkers():
    checkers = HeightMap(np.indices((30, 30)).sum(axis=0) % 2)
    checkers.smooth((15, 15), 10)
    assert checkers.height_at(15, 15) == 0.5
    rough = HeightMap(np.random.default_rng(1).normal(size=(30, 30)))
    inner, before = np.s_[12:18, 12:18], rough.heights.copy()
    for _ in range(5):
        rough.smooth((15, 15), 10)
    assert rough.heights[inner].std() < 0.3 * before[inner].std()


def test_far_away_nothing_changes():
    for border in ("extend", "open"):
        land = HeightMap(np.ones((5, 5)), border=border)
        for center in ((1e30, 0), (-1e300, 2), (3, -50), (1.7e308, -1.7e308)):
            for radius in (1e-300, 1.0, 40.0):
                land.flatten(center, radius)
                land.flatten(center, radius, 1e300)
                land.smooth(center, radius)
                land.paint(center, radius, 3)
        assert land.version == 0


def test_a_disc_that_covers_all():
    land = HeightMap(np.arange(25.0).reshape(5, 5))
    land.paint((2, 2), 1e300, 3)
    land.flatten((2, 2), 1e300, 7)
    assert (land.heights == 7).all()
    assert (land.materials == 3).all()


@pytest.mark.parametrize(
    ("edit", "error", "message"),
    [
        (lambda land: land.flatten((1, 1), 0), ValueError, "radius must be finite and > 0"),
        (lambda land: land.flatten("ab", 1), TypeError, "center must be three numbers"),
        (lambda land: land.flatten((1, 1), 1, np.inf), ValueError, "height must be finite"),
        (
            lambda land: land.flatten((1, 1), 2, flat=3),
            ValueError,
            "flat must be from 0 to 2, got 3.0; it is a distance, height= is the level",
        ),
        (lambda land: land.flatten((1, 1), 2, flat=-1), ValueError, "flat must be from 0 to 2"),
        (lambda land: land.flatten((1, 1), 2, strength=1.5), ValueError, "strength must be from 0"),
        (lambda land: land.flatten((1, 1), 2, 1e39), ValueError, r"heights must be below 1e\+38 m"),
        (lambda land: land.flatten((1, 1), 2, 2e29), ValueError, r"heights must be below 1e\+38 m"),
        (lambda land: land.raise_((1, 1), 2, 2e29), ValueError, r"heights must be below 1e\+38 m"),
        (lambda land: land.carve((1, 1), 2, 2e29), ValueError, r"heights must be below 1e\+38 m"),
        (lambda land: land.flatten((1, 1), 2, 1e300), ValueError, "heights must be finite"),
        (
            lambda land: land.flatten((3.5, 2.5), 2),
            ValueError,
            r"given where there is no ground at the center, got None at \(3.5, 2.5\)",
        ),
        (lambda land: land.smooth((1, np.nan), 1), ValueError, r"center\[1\] must be finite"),
        (lambda land: land.smooth((1, 1), -1), ValueError, "radius must be"),
        (lambda land: land.smooth((1, 1), 1, "full"), TypeError, "strength must be a number"),
        (lambda land: land.paint((1, 1), np.inf, 1), ValueError, "radius must be finite"),
        (lambda land: land.paint((1, 1), 1, 3), ValueError, "material must be from 0 to 2, got 3"),
        (lambda land: land.paint((1, 1), 1, 0.5), TypeError, "material must be a whole number"),
        (
            lambda land: land.paint((1, 1), 1, "sand"),
            ValueError,
            "material must be one of 'mud', 'rock', 'ice', got 'sand'",
        ),
    ],
)
def test_a_refused_brush_changes_nothing(edit, error, message):
    land = HeightMap(
        np.arange(20.0).reshape(4, 5), height_scale=1e-9, material_names=["mud", "rock", "ice"]
    )
    land.holes[2, 3] = True
    before = land.heights.copy(), land.materials[:]
    with pytest.raises(error, match=message):
        edit(land)
    assert land.version == 1
    assert np.array_equal(land.heights, before[0])
    assert np.array_equal(land.materials[:], before[1])


def test_names_are_for_maps_that_have_some():
    land = HeightMap(np.zeros((3, 3)))
    with pytest.raises(TypeError, match="a number where there are no material_names, got 'rock'"):
        land.paint((1, 1), 1, "rock")
    land.paint((1, 1), 1, 255)
    assert (land.materials == 255).all()


@pytest.mark.parametrize("make", [lambda land: land, lambda land: Ground([land])])
def test_who_stands_on_flattened_ground_wakes_up(make):
    ground = make(HeightMap(np.zeros((17, 17))))
    ball = CharacterMovement(ground, SphereCollider(0.5), position=(8, 0.5, 8))
    for _ in range(60):
        ball.update(1 / 60)
    ground.flatten((8, 8), 5, 0.25, flat=3)
    ball.update(1 / 60)
    assert ball.position64[1] > 0.7
    ground.flatten((8, 8), 5, -2.0, flat=3)
    for _ in range(120):
        ball.update(1 / 60)
    assert ball.position64[1] == pytest.approx(-1.5, abs=0.05)


# The cell under a place


@pytest.mark.parametrize("border", ["extend", "open"])
def test_a_place_has_a_cell_where_it_has_ground(border):
    rng = np.random.default_rng(4)
    for origin, size in (
        ((0, 0, 0), 1.0),
        ((0.1, 0, -1e5 / 7), (0.3, 0.7)),
        ((1e6 / 3, 0, 7), 0.1),
    ):
        land = HeightMap(np.zeros((9, 12)), origin=origin, cell_size=size, border=border)
        land.materials = rng.integers(1, 256, land.cell_count)
        x0, _, z0 = land.origin64
        cell_x, cell_z = land.cell_size
        x = np.concatenate([x0 + np.arange(-2, 14) * cell_x, x0 + rng.uniform(-2, 13, 99) * cell_x])
        z = np.concatenate([z0 + np.arange(-2, 11) * cell_z, z0 + rng.uniform(-2, 10, 99) * cell_z])
        x = np.concatenate([x, np.nextafter(x, np.inf), np.nextafter(x, -np.inf)])
        xs, zs = np.meshgrid(x, z)
        found = land.materials.at(xs, zs)
        assert found.dtype == np.uint8
        ground = ~np.isnan(land.height_at(xs, zs))
        assert np.array_equal(found != 0, ground)
        assert np.array_equal(land.holes.at(xs, zs), ~ground)
        # In the middle of a cell, and on the nearest cell outside, as a ray that comes down.
        hits = land.raycast_many(
            np.stack([xs.ravel(), np.full(xs.size, 5.0), zs.ravel()], axis=1), [(0, -1, 0)]
        )
        inside = (xs - x0) / cell_x % 1, (zs - z0) / cell_z % 1
        clear = np.logical_and.reduce([(part > 1e-3) & (part < 1 - 1e-3) for part in inside])
        assert np.array_equal(found[clear], hits.material.reshape(xs.shape)[clear])


def test_a_number_for_numbers_an_array_for_arrays():
    land = HeightMap(np.zeros((3, 4)), materials=[[1, 2, 3], [4, 5, 6]])
    land.holes[1, 2] = True
    assert land.materials.at(0.5, 1.5) == 4
    assert type(land.materials.at(np.float32(0.5), 1)) is int
    assert land.holes.at(2.5, 1.5) is True
    assert land.holes.at(0, 0) is False
    assert land.materials.at([0.5, 1.5], [[0.5], [1.5]]).tolist() == [[1, 2], [4, 5]]
    assert land.materials.at(1, 1) == 5  # between cells
    assert land.materials.at(3, 2) == 6  # on the far border
    assert land.materials.at(-9, 9) == 4
    assert HeightMap(np.zeros((3, 4))).materials.at(1.5, 1.5) == 0
    assert HeightMap(np.zeros((3, 4))).holes.at(1.5, 1.5) is False


@pytest.mark.parametrize(
    ("x", "z", "error", "message"),
    [
        (np.nan, 0, ValueError, "x must be finite"),
        (0, [1, np.inf], ValueError, "z must be finite"),
        ("a", 0, TypeError, "x must hold real numbers"),
        (1e39, 0, ValueError, "x must be below 1e"),
        ([1, 2], [1, 2, 3], ValueError, "x and z must have shapes that fit"),
    ],
)
def test_a_bad_place_is_refused(x, z, error, message):
    land = HeightMap(np.zeros((3, 4)))
    for cells in (land.materials, land.holes):
        with pytest.raises(error, match=message):
            cells.at(x, z)


@pytest.mark.parametrize("cell", [0.1, 0.3, 0.7, 1.1])
def test_samples_at_the_radius_are_flattened_on_all_sides(cell):
    for middle in range(2, 9):
        land = HeightMap(np.zeros((11, 11)), cell_size=cell)
        land.flatten((middle * cell, 5 * cell), cell, height=5, flat=cell)
        row, column = np.nonzero(np.asarray(land))
        around = sorted(zip((row - 5).tolist(), (column - middle).tolist(), strict=True))
        assert around == [(-1, 0), (0, -1), (0, 0), (0, 1), (1, 0)]
