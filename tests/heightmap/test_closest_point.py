"""The nearest point of a map's surface, against brute force over all triangles."""

import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from terrain_physics import HeightMap
from terrain_physics._kernels.geometry.closest_point import closest_on_triangle, triangle_normal
from terrain_physics._kernels.ground.closest import closest_one, closest_rows
from terrain_physics._kernels.ground.hits import FACE, PLACE, TRIANGLE
from terrain_physics._kernels.heightmap.grid import THICKNESS
from terrain_physics._kernels.surface.ground_arrays import ALL_LAYERS
from terrain_physics.heightmap.files import load_heights
from terrain_physics.surface.ground_arrays import arrays_alone
from tests.helpers.examples import examples
from tests.helpers.heightmaps import MapCase, both, coordinates, maps
from tests.helpers.pairwise import pairwise
from tests.oracles.closest import Surface
from tests.oracles.heightmap import Map
from tests.oracles.mesh import closest_distances

pytestmark = pytest.mark.kernels


class Found(NamedTuple):
    """The nearest triangle to one point."""

    triangle: int
    distance: float
    point: tuple[float, float, float]
    cell: int


def surface_of(land):
    """Return the arrays of a map without its underside."""
    heights, cells, blocks, frame = land._storage.views
    frame = frame.copy()
    frame[THICKNESS] = math.inf
    frame.flags.writeable = False
    return arrays_alone((heights, cells, blocks, frame), None)


def closest(land, x, y, z):
    found = closest_one(surface_of(land).table, ALL_LAYERS, x, y, z)
    distance, point, triangle, cell, _ = found
    return Found(triangle, distance, point, cell)


def many(land, points, first=0, last=None):
    """Return the results of the rows first..last; 7 in the others."""
    given = np.ascontiguousarray(points, float)
    given.flags.writeable = False
    count = len(given)
    places, distances = np.full((count, 3), 7.0), np.full(count, 7.0)
    whole, visits = np.full((2, count), 7), np.arange(count)
    visits.flags.writeable = False
    closest_rows(
        surface_of(land).table, ALL_LAYERS, given, visits,
        first, count if last is None else last, distances, places, whole,
    )  # fmt: skip
    return whole[TRIANGLE], distances, places, whole[PLACE] & FACE


def slack(oracle, points, distances):
    """Return how far distances may be off: by 1e-9, and more where triangles are thin."""
    levels = oracle.heights[~np.isnan(oracle.heights)].astype(float)
    extent = sum(oracle.cell_size) + abs(oracle.height_scale) * float(np.ptp(levels))
    thin = min(extent / oracle.cell_size[0] * extent / oracle.cell_size[1], 1e10)
    largest = max(np.abs(points).max(), np.abs(oracle.origin).max())
    return 1e-9 * distances + 1e-13 * thin * (distances + extent) + 1e-15 * largest


def check(case, points, surface=None):
    """Compare with the oracle: the distance, the point, and its triangle."""
    surface = Surface(case.oracle) if surface is None else surface
    points = np.array(points, float)
    triangles, distances, places, cells = many(case.land, points)
    expected = surface.distances(points)
    for k, point in enumerate(points):
        one = Found(int(triangles[k]), float(distances[k]), tuple(places[k]), int(cells[k]))
        same = closest(case.land, *point.tolist())
        assert same[1:2] + same[3:] == one[1:2] + one[3:]
        np.testing.assert_array_equal(same.point, one.point)
        if math.isinf(expected[k]):
            assert one[:2] == (-1, math.inf)
            assert one.cell == 0
            assert np.isnan(one.point).all()
            continue
        assert all(math.copysign(1.0, number) == 1.0 for number in one.point if number == 0)
        margin = slack(case.oracle, points[k], expected[k])
        assert one.distance == pytest.approx(expected[k], rel=0, abs=margin)
        gap = float(np.linalg.norm(np.subtract(one.point, point)))
        assert gap == pytest.approx(one.distance, rel=0, abs=margin)
        place = np.array([one.point])
        if one.triangle < 0:
            assert surface.to_outside(place)[0] <= margin
            assert is_nearest_cell(case.oracle, one.cell, one.point, margin)
        else:
            (number,) = np.flatnonzero(surface.ids == one.triangle)
            assert surface.to_triangles(place)[0, number] <= margin
            assert one.cell == one.triangle // 2


def is_nearest_cell(oracle, cell, point, margin):
    """Tell whether no cell of the map is nearer to a point, seen from above."""
    row, column = divmod(cell, oracle.columns)
    for axis, index, count in ((0, column, oracle.columns), (2, row, oracle.rows)):
        start, size = oracle.origin[axis], oracle.cell_size[axis // 2]
        place = min(max(point[axis], start), start + count * size)
        if not start + index * size - margin <= place <= start + (index + 1) * size + margin:
            return False
    return True


@st.composite
def points_near(draw, case):
    """Return a point near a map, on its surface more often than not, or far away."""
    x, z = draw(coordinates(case, 0)), draw(coordinates(case, 2))
    level = float(case.land.height_at(x, z))
    if math.isnan(level):
        level = case.oracle.origin[1]
    lift = draw(st.sampled_from([0.0, 0.0, 0.5, -0.25, 3.0, -20.0, 1e3, 1e6]) | st.floats(-9, 9))
    aside = draw(st.sampled_from([0.0, 0.0, 0.0, 100.0, -1e6]))
    return x + aside, level + lift, z - draw(st.sampled_from([0.0, aside]))


@examples(150)
@given(st.data(), maps())
def test_any_map(data, case):
    check(case, [data.draw(points_near(case)) for _ in range(3)])


def one_by_one(case, point, surface=None):
    """Return (squared distance, id) of what is nearest on the map, each triangle asked by itself.

    By the kernel of one triangle: to be met to the last bit. Only triangles whose bounds are
    farther off than the nearest of all corners are not asked.
    """
    best = (math.inf, -1)
    surface = Surface(case.oracle) if surface is None else surface
    to_corners = np.linalg.norm(surface.corners - point, axis=2)
    lower, upper = surface.corners.min(axis=1), surface.corners.max(axis=1)
    to_bounds = np.linalg.norm(np.maximum(0.0, np.maximum(lower - point, point - upper)), axis=1)
    near = to_bounds <= to_corners.min(initial=math.inf) * (1.0 + 1e-6) + 1e-6
    ids, triangles = surface.ids[near].tolist(), surface.corners[near].tolist()
    for number, corners in zip(ids, triangles, strict=True):
        a, b, c = (tuple(p - q for p, q in zip(corner, point, strict=True)) for corner in corners)
        offset = closest_on_triangle(a, b, c, *triangle_normal(a, b, c))[1]
        square = offset[0] * offset[0] + offset[1] * offset[1] + offset[2] * offset[2]
        best = min(best, (square, number))
    return best


@examples(100)
@given(st.data(), maps())
def test_nothing_is_left_out_that_is_as_near(data, case):
    point = data.draw(points_near(case))
    square, number = one_by_one(case, point)
    found = closest(case.land, *point)
    if found.triangle >= 0 or case.oracle.border == "open":
        assert (found.triangle, found.distance) == (number, math.sqrt(square))
    else:
        assert found.distance < math.sqrt(square)


DIAGONALS = ["a-c", "b-d", "alternating", "shortest", "table"]


@pytest.mark.parametrize(
    ("diagonal", "border", "origin"),
    pairwise(DIAGONALS, ["extend", "open"], [(0.0, 0.0, 0.0), (1e6, -512.0, -1e6)]),
)
def test_blocks_and_marked_holes(diagonal, border, origin):
    """A map of two levels of blocks, a third of it a hole."""
    rng = np.random.default_rng(3)
    rows, columns = 30, 75
    heights = rng.normal(size=(rows, columns)).cumsum(axis=0).cumsum(axis=1) / 20
    heights[12, 0] = heights[3, 30] = heights[-1, -2] = np.nan
    holes = rng.random((rows - 1, columns - 1)) < 0.1
    holes[4:26, 8:40] = True
    holes[0, 5] = holes[-1, -1] = True
    split: Any = rng.random(holes.shape) < 0.5 if diagonal == "table" else diagonal
    options: dict[str, Any] = {
        "diagonal": split, "border": border, "origin": origin,
        "cell_size": (0.5, 1.75), "height_scale": -1.5,
    }  # fmt: skip
    oracle = both(heights, **options).oracle
    case = MapCase(HeightMap(heights, holes=holes, **options), oracle)
    surface = Surface(oracle, holes)
    points = rng.uniform((-9, -40, -9), (46, 40, 60), (30, 3)) + origin
    points[:8] = surface.corners[rng.integers(0, len(surface.corners), 8), 0]
    points[8:12] = origin + np.array([[12, 0, 25], [12, 3, 26], [9, 99, 20], [30, 2000, 30]])
    points[12:14] = origin + np.array([[-1e6, 5, 20], [30, 5, 1e6]])
    check(case, points, surface)
    for point in points[::4].tolist():
        square, number = one_by_one(case, point, surface)
        found = closest(case.land, *point)
        if found.triangle >= 0 or border == "open":
            assert (found.triangle, found.distance) == (number, math.sqrt(square))


@pytest.mark.parametrize("border", ["extend", "open"])
def test_level_ground(border):
    land = HeightMap(np.zeros((40, 90)), border=border)
    assert closest(land, 3.25, 2.0, 5.5) == (2 * (5 * 89 + 3) + 1, 2.0, (3.25, 0, 5.5), 5 * 89 + 3)
    # Of all triangles around a vertex, and on both sides of an edge, the first.
    for lift in (1.0, -1e3, 1e6, 0.0):
        assert closest(land, 3.0, lift, 5.0)[:3] == (2 * (4 * 89 + 2), abs(lift), (3, 0, 5))
        assert closest(land, 3.0, lift, 5.25)[0] == 2 * (5 * 89 + 2)
    # The border line is the map's.
    assert closest(land, 0.0, 2.0, 5.25)[0] == 2 * 5 * 89 + 1
    assert closest(land, 89.0, 2.0, 39.0)[0] == 2 * (39 * 89 - 1)


def test_the_ground_outside():
    rows = np.mgrid[0:9, 0:7][0]
    options: dict[str, Any] = {"heights": 1.0 * rows, "origin": (10.0, 0.0, 0.0)}
    land, edge = HeightMap(**options), HeightMap(border="open", **options)
    for far in (1.0, 50.0, 1e6):
        # A prism along -x that rises with z.
        found = closest(land, 10 - far, 3.0, 1.0)
        assert found == (-1, math.sqrt(2.0), (10 - far, 2, 2), found.cell)
        assert found.cell in {6, 12}
        assert closest(edge, 10 - far, 3.0, 3.0)[2] == (10, 3, 3)
        # A level quarter of a plane, and level ground along x.
        assert closest(land, 10 - far, -3.0, -far) == (-1, 3.0, (10 - far, 0, -far), 0)
        assert closest(land, 16 + far, 12.0, 8 + far) == (-1, 4.0, (16 + far, 8, 8 + far), 47)
        assert closest(land, 12.5, 12.0, 8 + far) == (-1, 4.0, (12.5, 8, 8 + far), 44)
        # What is nearest to a point beside the map may be on it.
        assert closest(land, 12.5, 2.0 * far, -0.5).triangle >= 0
    # Ground outside where the border cell of the map is none.
    heights = np.zeros((3, 3))
    heights[1, 1] = np.nan
    assert closest(HeightMap(heights), 0.5, 1.0, 1.0) == (-1, math.sqrt(1.25), (0, 0, 1), 0)
    assert closest(HeightMap(heights), 0.5, 1.0, 0.25)[:3] == (-1, math.sqrt(1.0625), (0.5, 0, 0))
    assert closest(HeightMap(heights, border="open"), 0.5, 1.0, 0.25).distance == math.inf


def test_no_ground():
    nowhere = (-1, math.inf)
    holes = np.ones((2, 2), bool)
    for border in ("extend", "open"):
        for scale in (1.0, -2.0):
            for land in (
                HeightMap(np.full((3, 3), np.nan), border=border, height_scale=scale),
                HeightMap(np.zeros((3, 3)), holes=holes, border=border, height_scale=scale),
            ):
                found = closest(land, 1.0, 5.0, 1.0)
                assert found[:2] == nowhere
                assert np.isnan(found.point).all()
                assert found.cell == 0


def test_equally_near():
    """In a trough, on the side of the lower column; under a roof, of the lower row."""
    trough = HeightMap(np.tile([1.0, 0.0, 1.0], (3, 1)), border="open")
    assert closest(trough, 1.0, 1.0, 0.25).cell == 0
    roof = HeightMap(np.tile([[0.0], [1.0], [0.0]], (1, 3)), border="open")
    assert closest(roof, 0.25, -0.5, 1.0).cell == 0
    # A tub: walls on all sides.
    tub = np.full((5, 5), 4.0)
    tub[1:4, 1:4] = 0.0
    case = both(tub, border="open")
    for point in ((2.0, 2.0, 2.0), (2.0, 1.0, 2.0), (2.0, 1.5, 2.0)):
        square, number = one_by_one(case, point)
        assert closest(case.land, *point)[:2] == (number, math.sqrt(square))


def test_the_smallest_map_and_great_heights():
    for heights in ([[0, 1], [2, 3]], [[1e30, -1e30], [3, 0]], [[0, 0], [0, 65535.0]]):
        for border in ("extend", "open"):
            case = both(np.array(heights, float), border=border)
            points = [(0.5, 9, 0.5), (0, 0, 0), (-5, 2, 0.5), (1e6, -3, 1e6), (0.5, 1e6, 0.5)]
            check(case, points)
            for point in points:
                square, number = one_by_one(case, point)
                found = closest(case.land, *map(float, point))
                if found.triangle >= 0:
                    assert (found.triangle, found.distance) == (number, math.sqrt(square))


@pytest.mark.parametrize("far", [1e9, 1e18, 9e37])
def test_from_far_away(far):
    for border in ("extend", "open"):
        land = HeightMap(np.arange(12.0).reshape(3, 4), border=border)
        assert closest(land, 1.5, far, 1.5).distance == pytest.approx(far, rel=1e-7)
        assert closest(land, 1.5, -far, 1.5).distance == pytest.approx(far, rel=1e-7)
        found = closest(land, far, 0.0, -far)
        away = math.sqrt(2.0) * far if border == "open" else 3.0
        assert found.distance == pytest.approx(away, rel=1e-7)
        # From too far to tell, all triangles are equally near.
        nearest = 4 if far < 1e15 else 0
        assert found.triangle == (nearest if border == "open" else -1)


@pytest.mark.parametrize(("rise", "cell_size"), [(0.0, 0.1), (0.0, (0.3, 0.7)), (1e6, (1.0, 0.1))])
def test_rounding_leaves_out_nothing(rise, cell_size):
    """Rounding may make a triangle nearer than the box around it: on level ground, or thin ones."""
    rng = np.random.default_rng(5)
    origin = (1036999.0384, 210222.5277, 340604.9729)
    heights = rise * rng.normal(size=(7, 6))
    case = both(heights, border="open", cell_size=cell_size, origin=origin)
    for _ in range(60):
        x, _, z = case.oracle.point(int(rng.integers(7)), int(rng.integers(6)))
        level = float(case.land.height_at(x, z))
        point = (x, level + rng.normal() * rng.choice([1.0, 1e3, 1e6]), z)
        square, number = one_by_one(case, point)
        assert closest(case.land, *point)[:2] == (number, math.sqrt(square))


def test_the_border_line_belongs_to_the_map():
    rng = np.random.default_rng(6)
    land = HeightMap(rng.normal(size=(12, 9)), cell_size=(0.7, 0.3))
    points = rng.uniform((0.0, -9.0, 0.0), (8 * 0.7, 9.0, 11 * 0.3), (800, 3))
    points[:200, 0] = 0.0
    points[200:400, 2] = 11 * 0.3
    triangles, *_ = many(land, points)
    assert (triangles >= 0).all()


def test_a_rough_border_seen_from_beside():
    rng = np.random.default_rng(7)
    case = both(20.0 * rng.normal(size=(12, 9)), cell_size=(0.7, 0.3))
    points = rng.uniform((-5.0, -30.0, -5.0), (-0.1, 30.0, 8.0), (60, 3))
    check(case, points)
    check(case, points[:, [2, 1, 0]])


def test_rows_in_parts():
    rng = np.random.default_rng(8)
    land = HeightMap(rng.normal(size=(20, 20)))
    points = rng.uniform(-5, 25, (50, 3))
    whole, part = many(land, points), many(land, points, 10, 30)
    for one, other in zip(whole, part, strict=True):
        np.testing.assert_array_equal(other[10:30], one[10:30])
        assert (other[:10] == 7).all()
        assert (other[30:] == 7).all()


def test_our_land():
    path = Path(__file__).parents[2] / "assets" / "land.png"
    heights = load_heights(path, height_range=(0, 80))
    case = MapCase(HeightMap(heights), Map(heights))
    x, z = np.meshgrid(np.arange(513.0), np.arange(513.0))
    d, c, a, b = (
        np.stack([x[r, s], heights[r, s].astype(np.float32), z[r, s]], -1).reshape(-1, 3)
        for r in (slice(None, -1), slice(1, None))
        for s in (slice(None, -1), slice(1, None))
    )
    corners = np.stack([np.stack([a, b, c], 1), np.stack([a, c, d], 1)], 1).reshape(-1, 3, 3)
    for point in [(100.0, 40.0, 100.0), (300.25, 700.0, 41.5), (256.0, -50.0, 256.0)]:
        expected = min(
            float(closest_distances(np.array([point]), part).min())
            for part in np.array_split(corners, 16)
        )
        found = closest(case.land, *point)
        assert found.distance == pytest.approx(expected, rel=1e-12)
        own = closest_distances(np.array([found.point]), corners[found.triangle][None])
        assert own[0, 0] < 1e-12
