"""The nearest point of a map's surface is that of each triangle asked alone, to the bit."""

import math
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
from terrain_physics.surface.ground_arrays import arrays_alone
from tests.helpers.examples import examples
from tests.helpers.heightmaps import coordinates, maps
from tests.helpers.pairwise import pairwise
from tests.helpers.surfaces import own_triangles

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


def one_by_one(land, point):
    """Return (id, distance) of what is nearest on the map, each triangle asked by itself.

    By the kernel of one triangle: to be met to the last bit. Only triangles whose bounds are
    farther off than the nearest of all corners are not asked.
    """
    own, best = own_triangles(land), (math.inf, -1)
    corners = own.vertices
    to_corners = np.linalg.norm(corners - point, axis=2)
    lower, upper = corners.min(axis=1), corners.max(axis=1)
    to_bounds = np.linalg.norm(np.maximum(0.0, np.maximum(lower - point, point - upper)), axis=1)
    near = to_bounds <= to_corners.min(initial=math.inf) * (1.0 + 1e-6) + 1e-6
    ids, triangles = own.ids[near].tolist(), corners[near].tolist()
    for number, corners in zip(ids, triangles, strict=True):
        a, b, c = (tuple(p - q for p, q in zip(corner, point, strict=True)) for corner in corners)
        offset = closest_on_triangle(a, b, c, *triangle_normal(a, b, c))[1]
        square = offset[0] * offset[0] + offset[1] * offset[1] + offset[2] * offset[2]
        best = min(best, (square, number))
    return best[1], math.sqrt(best[0])


@examples(100)
@given(st.data(), maps())
def test_nothing_is_left_out_that_is_as_near(data, case):
    point = data.draw(points_near(case))
    triangle, distance = one_by_one(case.land, point)
    found = closest(case.land, *point)
    if found.triangle >= 0 or case.oracle.border == "open":
        assert found[:2] == (triangle, distance)
    else:
        assert found.distance < distance
    assert all(math.copysign(1.0, number) == 1.0 for number in found.point if number == 0)


DIAGONALS = ["a-c", "b-d", "alternating", "shortest", "table"]


@pytest.mark.parametrize(
    ("diagonal", "border", "origin"),
    pairwise(DIAGONALS, ["extend", "open"], [(0.0, 0.0, 0.0), (1e6, -512.0, -1e6)]),
)
def test_blocks_and_marked_holes(diagonal, border, origin):
    """A map of two levels of blocks, a third of it a hole."""
    rng = np.random.default_rng(3)
    heights = rng.normal(size=(30, 75)).cumsum(axis=0).cumsum(axis=1) / 20
    heights[12, 0] = heights[3, 30] = heights[-1, -2] = np.nan
    holes = rng.random((29, 74)) < 0.1
    holes[4:26, 8:40] = holes[0, 5] = holes[-1, -1] = True
    land = HeightMap(
        heights, holes=holes, border=border, origin=origin, cell_size=(0.5, 1.75),
        height_scale=-1.5,
        diagonal=rng.random(holes.shape) < 0.5 if diagonal == "table" else diagonal,
    )  # fmt: skip
    points = rng.uniform((-9, -40, -9), (46, 40, 60), (10, 3)) + origin
    points[:3] = own_triangles(land).vertices[[5, 900, 2000], 0]
    points[3:5] = origin + np.array([[12, 0, 25], [30, 2000, 30]])
    points[5:7] = origin + np.array([[-1e6, 5, 20], [30, 5, 1e6]])
    triangles, distances, places, cells = many(land, points)
    for k, point in enumerate(points.tolist()):
        found = closest(land, *point)
        row = int(triangles[k]), float(distances[k]), tuple(places[k]), int(cells[k])
        assert found == row or np.isnan(places[k]).all()
        if found.triangle >= 0 or border == "open":
            assert found[:2] == one_by_one(land, point)
            assert found.cell == found.triangle // 2


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
    land = HeightMap(tub, border="open")
    for point in ((2.0, 2.0, 2.0), (2.0, 1.0, 2.0), (2.0, 1.5, 2.0)):
        assert closest(land, *point)[:2] == one_by_one(land, point)


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
    land = HeightMap(heights, border="open", cell_size=cell_size, origin=origin)
    corners = own_triangles(land).vertices.reshape(-1, 3)
    for x, level, z in corners[rng.integers(len(corners), size=60)].tolist():
        point = (x, level + rng.normal() * rng.choice([1.0, 1e3, 1e6]), z)
        assert closest(land, *point)[:2] == one_by_one(land, point)


def test_the_border_line_belongs_to_the_map():
    rng = np.random.default_rng(6)
    land = HeightMap(rng.normal(size=(12, 9)), cell_size=(0.7, 0.3))
    points = rng.uniform((0.0, -9.0, 0.0), (8 * 0.7, 9.0, 11 * 0.3), (800, 3))
    points[:200, 0] = 0.0
    points[200:400, 2] = 11 * 0.3
    triangles, *_ = many(land, points)
    assert (triangles >= 0).all()


def test_rows_in_parts():
    rng = np.random.default_rng(8)
    land = HeightMap(rng.normal(size=(20, 20)))
    points = rng.uniform(-5, 25, (50, 3))
    whole, part = many(land, points), many(land, points, 10, 30)
    for one, other in zip(whole, part, strict=True):
        np.testing.assert_array_equal(other[10:30], one[10:30])
        assert (other[:10] == 7).all()
        assert (other[30:] == 7).all()
