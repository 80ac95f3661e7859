"""The surface of a height map: triangles, heights and normals against brute force."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from terrain_physics import AABB, HeightMap, Triangle
from terrain_physics._kernels.heightmap.batch_contacts.broad_phase import corner_places
from terrain_physics._kernels.heightmap.grid import half_corners
from tests.helpers.examples import examples
from tests.helpers.heightmaps import AROUND, MapCase, both, boxes, maps, places
from tests.oracles.heightmap import Piece, height_on, normal_of

pytestmark = pytest.mark.kernels

EPSILON = 2.0**-52


def reach(case: MapCase) -> tuple[float, float]:
    """Return how far coordinates and heights go, in meters: what rounding is a part of."""
    oracle = case.oracle
    far = max(
        abs(start) + size * (count + 2 * AROUND)
        for start, size, count in zip(
            oracle.origin[::2], oracle.cell_size, (oracle.columns, oracle.rows), strict=True
        )
    )
    highest = np.nanmax(np.append(np.abs(oracle.heights.astype(float)), 0.0))
    return far, abs(oracle.origin[1]) + abs(oracle.height_scale) * float(highest)


def height_tolerance(case: MapCase) -> float:
    """Return what rounding a place and a height may change of the surface."""
    far, high = reach(case)
    return EPSILON * (8 * high + 8 * far * 2 * high / min(case.oracle.cell_size))


def normal_tolerance(case: MapCase) -> float:
    return EPSILON * (16 + 16 * reach(case)[0] / min(case.oracle.cell_size))


def assert_same(case: MapCase, found: Any, expected: list[Piece]) -> None:
    """Compare a result with the oracle's triangles: order, ids and corners to the last bit."""
    assert found.ids.tolist() == [piece.id for piece in expected]
    assert found.vertices.tolist() == [[list(p) for p in piece[4:]] for piece in expected]
    assert found.vertices.shape == (len(expected), 3, 3)
    assert found.normals.shape == (len(expected), 3)
    for normal, piece in zip(found.normals, expected, strict=True):
        assert normal[1] > 0.0
        np.testing.assert_allclose(normal, normal_of(piece), rtol=0, atol=normal_tolerance(case))


@given(st.data())
@examples(120)
def test_triangles_in_any_box_are_those_of_brute_force(data):
    case = data.draw(maps())
    box = data.draw(boxes(case))
    margin = data.draw(st.sampled_from([0.0, 0.0, 0.1, 0.25, 1.0]))
    margin = min(margin, *case.oracle.cell_size)  # the oracle's window is that wide
    expected = case.oracle.triangles_in(box.lower64, box.upper64, margin, case.window)
    assert_same(case, case.land.triangles_in(box, margin=margin), expected)


@pytest.mark.parametrize("border", ["extend", "open"])
@pytest.mark.parametrize("split", ["a-c", "b-d", "alternating", "shortest", "table"])
def test_every_cell_is_split_as_stated_within_the_map_and_around_it(split, border):
    rng = np.random.default_rng(8)
    diagonal = rng.random((4, 3)) < 0.5 if split == "table" else split
    case = both(rng.integers(0, 4, (5, 4)), diagonal=diagonal, border=border)
    found = case.land.triangles_in(AABB((-4.5, -9, -3.5), (6.5, 9, 5.5)), margin=0.0)
    expected = case.oracle.triangles_in((-4.5, -9, -3.5), (6.5, 9, 5.5), 0.0, case.window)
    assert len(expected) == (24 if border == "open" else 2 * 10 * 12)
    assert_same(case, found, expected)


@pytest.mark.parametrize("border", ["extend", "open"])
def test_margin_is_a_tenth_by_default(border):
    case = both(np.arange(25).reshape(5, 5) / 8, border=border)
    for low in (2.05, 2.1, np.nextafter(2.1, 3), 2.125):
        box = AABB((low, 0.0, low), (2.5, 9.0, 2.5))
        found = case.land.triangles_in(box)
        assert_same(
            case, found, case.oracle.triangles_in(box.lower64, box.upper64, 0.1, case.window)
        )
        assert len(found) == (2 if low > 2.1 else 8)


def test_a_box_touches_cells_at_borders_corners_and_in_height():
    land = HeightMap([[0, 0, 0], [0, 1, 0], [0, 0, 0]], border="open")

    def count(lower: Any, upper: Any) -> int:
        return len(land.triangles_in(AABB(lower, upper), margin=0.0))

    assert count((1, 0, 1), (1, 0, 1)) == 8  # a point on the sample where four cells meet
    assert count((2, 0, 2), (5, 5, 5)) == 2  # only the corner
    assert count((2, 0, 0.5), (5, 5, 0.5)) == 2  # only a side
    assert count((math.nextafter(2, 3), 0, 0), (5, 5, 5)) == 0
    assert count((0, 1, 0), (2, 3, 2)) == 8  # the top
    assert count((0, math.nextafter(1, 2), 0), (2, 3, 2)) == 0
    assert count((0, -3, 0), (2, 0, 2)) == 8  # the bottom
    assert count((0, -3, 0), (2, -5e-324, 2)) == 0


def test_ids_are_stable_and_count_cells_and_halves():
    land = HeightMap(np.zeros((4, 6)), border="open")
    whole = land.triangles_in(AABB((0, 0, 0), (5, 0, 3)))
    assert whole.ids.tolist() == list(range(2 * 3 * 5))
    part = land.triangles_in(AABB((2.5, 0, 1.5), (2.5, 0, 1.5)))
    assert part.ids.tolist() == [2 * (1 * 5 + 2), 2 * (1 * 5 + 2) + 1]
    np.testing.assert_array_equal(part.vertices, whole.vertices[part.ids])


def test_order_is_row_column_half_outside_too():
    case = both(np.arange(4).reshape(2, 2))
    found = case.land.triangles_in(AABB((-1.5, -9, -1.5), (2.5, 9, 2.5)), margin=0.0)
    ids = found.ids.reshape(5, 5, 2)  # cells from -2 to 2
    assert ids[2, 2].tolist() == [0, 1]
    assert np.count_nonzero(ids == -1) == ids.size - 2
    corners = found.vertices.reshape(5, 5, 2, 3, 3)
    assert corners[:, :, :, :, 2].min(axis=(2, 3)).tolist() == [[r] * 5 for r in range(-2, 3)]
    assert corners[:, :, :, :, 0].min(axis=(2, 3)).tolist() == [list(range(-2, 3))] * 5


def test_corners_by_diagonal():
    d, c, a, b = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 1.0)
    everywhere = AABB((0, 0, 0), (1, 0, 1))
    for diagonal, halves in (("a-c", [[a, b, c], [a, c, d]]), ("b-d", [[a, b, d], [b, c, d]])):
        land = HeightMap(np.zeros((2, 2)), border="open", diagonal=diagonal)
        vertices = land.triangles_in(everywhere).vertices.tolist()
        assert vertices == [[list(p) for p in half] for half in halves]


@pytest.mark.parametrize("far", [1e3, 1e6, 1e9, 1e12])
def test_far_outside_the_border_goes_on_or_there_is_nothing(far):
    heights = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
    for x, z, corner in ((-far, -far, 1), (far, -far, 3), (-far, far, 7), (far, far, 9)):
        box = AABB((x + 0.25, 0, z + 0.25), (x + 0.5, 10, z + 0.5))
        found = HeightMap(heights).triangles_in(box, margin=0.0)
        assert found.ids.tolist() == [-1, -1]
        assert np.unique(found.vertices[:, :, 1]).tolist() == [corner]
        assert found.vertices[:, :, 0].min() == math.floor(x)
        assert found.vertices[:, :, 2].max() == math.floor(z) + 1
        assert HeightMap(heights).height_at(x, z) == corner
        empty = HeightMap(heights, border="open")
        assert len(empty.triangles_in(box)) == 0
        assert math.isnan(empty.height_at(x, z))
        assert np.isnan(empty.normal_at(x, z)).all()


@given(st.data())
@examples(60)
def test_height_and_normal_are_those_of_the_triangle_there(data):
    """On a map without rounding the ground is the closed triangles, not a point more or less."""
    case = data.draw(maps(exact=True))
    for _ in range(8):
        x, z = data.draw(places(case))
        pieces = case.oracle.pieces_at(x, z, case.window)
        height, normal = case.land.height_at(x, z), np.array(case.land.normal_at(x, z))
        if not pieces:
            assert math.isnan(height)
            assert np.isnan(normal).all()
            continue
        expected = [height_on(piece, x, z) for piece in pieces]
        assert max(abs(height - other) for other in expected) <= height_tolerance(case)
        # float32 of the scalar form
        assert min(np.abs(normal - normal_of(piece)).max() for piece in pieces) < 1e-6


def window_box(case: MapCase) -> AABB:
    """Return a box around the whole map and two cells beyond."""
    oracle = case.oracle
    low, high = oracle.point(-2, -2), oracle.point(oracle.rows + 2, oracle.columns + 2)
    return AABB((low[0], -1e40, low[2]), (high[0], 1e40, high[2]))


@given(maps(holes=True))
@examples(60)
def test_nothing_touches_a_hole(case):
    found = case.land.triangles_in(window_box(case))
    assert np.isfinite(found.vertices).all()
    assert np.isfinite(found.normals).all()
    oracle = case.oracle
    for row, column in np.argwhere(np.isnan(oracle.heights)).tolist():
        x, _, z = oracle.point(row, column)
        assert math.isnan(case.land.height_at(x, z))
        assert math.isnan(case.land.normal_at(x, z).y)
        assert not ((found.vertices[..., 0] == x) & (found.vertices[..., 2] == z)).any()


def test_ground_beside_a_hole_ends_with_its_own_border_on_every_side():
    for turns in range(4):
        heights = np.rot90(np.array([[1, 1, np.nan]] * 3), turns)
        case = both(heights, border="open")
        x, z = {0: (1, 0.5), 1: (0.5, 1), 2: (1, 0.5), 3: (0.5, 1)}[turns]
        assert case.land.height_at(x, z) == 1.0
        assert case.land.normal_at(x, z).y == 1.0
        assert len(case.oracle.pieces_at(x, z, case.window)) == 1
    heights = np.array([[np.nan, 2, 2], [2, 2, 2], [2, 2, np.nan]])
    corner = HeightMap(heights, border="open")
    assert corner.height_at(1, 1) == 2.0
    assert math.isnan(corner.height_at(0.5, 0.5))
    assert math.isnan(corner.height_at(1.5, 1.5))
    ring = np.full((4, 4), np.nan)
    for row, column in ((0, 0), (0, 2), (2, 0), (2, 2)):  # one cell of ground, in a corner
        ring[:] = np.nan
        ring[row : row + 2, column : column + 2] = 3.0
        land = HeightMap(ring, border="open")
        x, z = (1.0 if column == 0 else 2.0), (1.0 if row == 0 else 2.0)
        assert land.height_at(x, z) == 3.0
        assert math.isnan(land.height_at(1.5, 1.5))


@pytest.mark.parametrize("shape", [(2, 2), (9, 10), (70, 3), (30, 80)])
def test_bounds_and_size_are_those_of_the_surface(shape):
    rng = np.random.default_rng(shape[0])
    heights = rng.normal(size=shape).astype(np.float32)
    land = HeightMap(heights, cell_size=(0.5, 2.0), origin=(8, -3, 1), height_scale=-4)
    if shape[0] > 2:
        land[1, 1] = np.nan
        land.holes[0, 0] = True
    levels = -3 - 4 * np.array(land).astype(np.float64)
    (x0, low, z0), (x1, high, z1) = land.bounds.lower64, land.bounds.upper64
    assert (low, high) == (np.nanmin(levels), np.nanmax(levels))
    assert (x0, z0, x1, z1) == (8, 1, 8 + land.size[0], 1 + land.size[1])
    assert land.size == (0.5 * (shape[1] - 1), 2.0 * (shape[0] - 1))
    land[...] = np.nan
    assert land.bounds.lower64[1] == land.bounds.upper64[1] == -3.0


def test_a_map_of_holes_is_empty_space():
    land = HeightMap(np.full((3, 3), np.nan))
    assert len(land.triangles_in(AABB((-9, -9, -9), (9, 9, 9)))) == 0
    assert math.isnan(land.height_at(1.0, 1.0))
    assert math.isnan(land.height_at(-5.0, 1.0))


def test_an_open_map_holds_its_own_corners_however_they_are_rounded():
    case = both(np.ones((4, 8)), cell_size=(0.1, 0.7), origin=(0.1, 0, 1e6 / 3), border="open")
    for row in range(4):
        for column in range(8):
            x, _, z = case.oracle.point(row, column)
            assert case.land.height_at(x, z) == 1.0
    x, _, z = case.oracle.point(3, 7)
    assert math.isnan(case.land.height_at(x + 1e-9, z))
    assert math.isnan(case.land.height_at(x, z + 1e-9))
    assert math.isnan(case.land.height_at(0.1 - 1e-9, z))


def test_no_cell_is_lost_to_rounding():
    """Every sample, as rounded as it is, is a corner of four cells."""
    case = both(np.ones((60, 60)), cell_size=(0.1, 0.7), origin=(0.1, 0, 1e6 / 3))
    for k in range(1, 59):
        corner = case.oracle.point(k, k)
        found = case.land.triangles_in(AABB(corner, corner), margin=0.0)
        cells = [(k - 1, k - 1), (k - 1, k), (k, k - 1), (k, k)]
        assert found.ids[::2].tolist() == [2 * (59 * row + column) for row, column in cells]


def test_the_far_border_belongs_to_the_last_cell():
    land = HeightMap([[0, 1], [1, 2]])
    assert land.normal_at(1.0, 1.0) == land.normal_at(0.9, 0.9) != land.normal_at(1.1, 1.1)


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.sampled_from(["a-c", "b-d", "alternating"]))
def test_level_ground_is_level_to_the_last_bit(x, z, diagonal):
    land = HeightMap(
        np.full((5, 3), 0.1), origin=(0.3, 0.7, 0.1), height_scale=0.9, diagonal=diagonal
    )
    level = 0.7 + 0.9 * float(np.float32(0.1))
    assert land.height_at(x, z) == level
    assert list(land.normal_at(x, z)) == [0.0, 1.0, 0.0]
    many = land.normal_at([x], [z])
    few = land.triangles_in(AABB((x, -9, z), (x, 9, z))).normals
    for normal in (list(land.normal_at(x, z)), *many.tolist(), *few.tolist()):
        assert not any(math.copysign(1.0, part) < 0.0 for part in normal)


@pytest.mark.parametrize("diagonal", ["a-c", "b-d", "alternating", "shortest", [[True]]])
def test_the_diagonal_bends_the_middle_of_a_cell(diagonal):
    heights = [[1.0, 0.0], [0.0, 1.0]]  # d and b high, a and c low
    land = HeightMap(heights, diagonal=diagonal)
    expected = {"a-c": 0.0, "alternating": 0.0, "b-d": 1.0, "shortest": 0.0}
    middle = 1.0 if isinstance(diagonal, list) else expected[diagonal]
    assert land.height_at(0.5, 0.5) == middle


def test_shortest_takes_the_smaller_rise_and_a_c_of_equals():
    land = HeightMap([[0, 5, 5], [1, 0, 5]], diagonal="shortest")  # rises: a-c 4, 5; b-d 0, 0
    assert land.height_at(0.5, 0.5) == 0.0
    assert land.height_at(1.5, 0.5) == 5.0
    # The rises are equal as they are, and differ by rounding once they are scaled.
    for high in range(2, 40):
        heights = np.array([[high, 1.0], [0.0, high - 1.0]])
        ties = HeightMap(heights, diagonal="shortest", height_scale=0.1)
        assert ties.height_at(0.5, 0.5) == pytest.approx(0.05, abs=1e-12)


def test_triangles_iterate_as_triangles_with_the_same_normals():
    found = both(np.arange(9).reshape(3, 3) ** 2).land.triangles_in(
        AABB((0.5,) * 3, (1.5, 99, 1.5))
    )
    pieces = list(found)
    assert len(pieces) == len(found) == 8
    for k, piece in enumerate(pieces):
        assert isinstance(piece, Triangle)
        assert [list(p) for p in (piece.a64, piece.b64, piece.c64)] == found.vertices[k].tolist()
        np.testing.assert_allclose(piece.normal64, found.normals[k], rtol=0, atol=1e-15)


@pytest.mark.parametrize("half", [0, 1])
@pytest.mark.parametrize("flipped", [0, 1])
def test_corners_without_branches(flipped, half):
    assert corner_places(flipped, half) == half_corners(bool(flipped), half)
