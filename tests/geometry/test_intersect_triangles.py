"""Triangle against triangle at the border: shapes, rows, bad input."""

import numpy as np
import pytest

import terrain_physics as tp
from terrain_physics.geometry.intersect_triangles import (
    crossing_segment,
    intersect_triangle_triangle,
)
from terrain_physics.geometry.shapes import Segment, Sphere, Triangle

FLOOR = np.array([(0, 0, 0), (0, 0, 4), (4, 0, 0)], dtype=float)
WALL = np.array([(1, -1, 1), (1, 1, 1), (3, 1, 1)], dtype=float)
ABOVE = WALL + np.array([0.0, 3.0, 0.0])


def random_rows(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1, 1, (40, 3, 3))


def test_one_pair_is_a_row():
    first, second = random_rows(1), random_rows(2)
    touching = tp.rows.intersect_triangle_triangle(first, second)
    ends = tp.rows.crossing_segment(first, second)
    assert touching.dtype == np.bool_
    assert ends.dtype == np.float64
    assert 0 < touching.sum() < len(touching)
    for one, two, touches, segment in zip(first, second, touching, ends, strict=True):
        pair = Triangle(*one), Triangle(*two)
        assert intersect_triangle_triangle(*pair) is bool(touches)
        assert crossing_segment(*pair) == (Segment(*segment) if touches else None)


def test_one_row_stands_for_all():
    rows = random_rows(3)
    every = np.broadcast_to(rows[:1], rows.shape)
    for many in (tp.rows.intersect_triangle_triangle, tp.rows.crossing_segment):
        np.testing.assert_array_equal(many(rows[:1], rows), many(every, rows))
        np.testing.assert_array_equal(many(rows, rows[:1]), many(rows, every))


def test_rows_of_nine_and_no_rows():
    touching = tp.rows.intersect_triangle_triangle(FLOOR.reshape(1, 9), [WALL, ABOVE])
    np.testing.assert_array_equal(touching, [True, False])
    assert tp.rows.intersect_triangle_triangle(np.empty((0, 9)), FLOOR[None]).shape == (0,)
    assert tp.rows.crossing_segment(np.empty((0, 3, 3)), FLOOR[None]).shape == (0, 2, 3)


def test_no_negative_zeros():
    wall = -WALL * [[0.0, 1.0, 1.0]]
    ends = tp.rows.crossing_segment(-FLOOR[None], wall[None])
    assert not np.isnan(ends).any()
    assert not np.signbit(ends[ends == 0.0]).any()
    segment = crossing_segment(Triangle(*-FLOOR), Triangle(*wall))
    assert segment is not None
    assert "-0.0" not in repr(segment)


def test_input_is_left_alone():
    first, second = FLOOR[None].copy(), WALL[None].copy()
    tp.rows.crossing_segment(first, second)
    np.testing.assert_array_equal(first[0], FLOOR)
    np.testing.assert_array_equal(second[0], WALL)
    assert first.flags.writeable


@pytest.mark.parametrize("one_pair", [intersect_triangle_triangle, crossing_segment])
def test_wrong_shapes(one_pair):
    triangle = Triangle(*FLOOR)
    with pytest.raises(TypeError, match=r"second must be a Triangle, got Sphere"):
        one_pair(triangle, Sphere((0, 0, 0), 1))
    with pytest.raises(TypeError, match=r"first must be a Triangle, got array"):
        one_pair(FLOOR, triangle)


@pytest.mark.parametrize("many", [tp.rows.intersect_triangle_triangle, tp.rows.crossing_segment])
def test_wrong_arrays(many):
    with pytest.raises(ValueError, match=r"first must have shape .*got \(3, 3\)"):
        many(FLOOR, WALL[None])
    bad = WALL[None].copy()
    bad[0, 1, 2] = np.nan
    with pytest.raises(ValueError, match=r"second must be finite, got nan at \[0, 1, 2\]"):
        many(FLOOR[None], bad)
    with pytest.raises(ValueError, match="first has 2, second has 3"):
        many(np.stack([FLOOR] * 2), np.stack([WALL] * 3))
    with pytest.raises(TypeError, match="second must hold real numbers"):
        many(FLOOR[None], [["a"] * 9])
