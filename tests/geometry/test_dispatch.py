"""`intersect` of any two shapes: the right function, the right way round."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from pyglm import glm

import terrain_physics
import terrain_physics.rows
from terrain_physics import (
    AABB,
    OBB,
    Capsule,
    Plane,
    Ray,
    Segment,
    Sphere,
    Triangle,
    intersect,
    intersect_aabb_aabb,
    intersect_aabb_sphere,
    intersect_aabb_triangle,
    intersect_capsule_aabb,
    intersect_capsule_capsule,
    intersect_capsule_obb,
    intersect_capsule_sphere,
    intersect_capsule_triangle,
    intersect_obb_aabb,
    intersect_obb_obb,
    intersect_obb_sphere,
    intersect_obb_triangle,
    intersect_sphere_sphere,
    intersect_sphere_triangle,
)

BALL = Sphere((0.25, 0.5, 0.125), 0.75)
CORNERS = AABB((-0.5, -1.0, -0.75), (0.5, 0.25, 1.25))
BOX = OBB((0.25, 0.5, 0), (0.5, 0.75, 1), glm.quat(glm.vec3(0.3, 0.4, 0)))
AS_BOX = OBB((0, -0.375, 0.25), (0.5, 0.625, 1))
ROD = Capsule((0, -0.25, 0), (0.5, 1.5, 0.25), 0.5)
FACE = Triangle((-2, 0, -2), (-2, 0, 3), (3, 0, -2))

PAIRS: list[tuple[Any, Any, Any]] = [
    (BALL, Sphere((0, 0, 0), 1), intersect_sphere_sphere),
    (CORNERS, AABB((0, 0, 0), (1, 2, 3)), intersect_aabb_aabb),
    (CORNERS, BALL, intersect_aabb_sphere),
    (BOX, BALL, intersect_obb_sphere),
    (BOX, OBB((0, 0, 0), (1, 0.5, 0.25)), intersect_obb_obb),
    (BOX, CORNERS, intersect_obb_aabb),
    (BOX, CORNERS, lambda box, _: intersect_obb_obb(box, AS_BOX)),
    (ROD, CORNERS, intersect_capsule_aabb),
    (ROD, BOX, intersect_capsule_obb),
    (ROD, BALL, intersect_capsule_sphere),
    (ROD, Capsule((0, 0, 0), (1, 1, 1), 0.25), intersect_capsule_capsule),
]
ON_TRIANGLES: list[tuple[Any, Any]] = [
    (Sphere((0, -0.25, 0), 1), intersect_sphere_triangle),
    (OBB((0, -0.25, 0), (1, 1, 1)), intersect_obb_triangle),
    (AABB((-1, -1.25, -1), (1, 0.75, 1)), intersect_aabb_triangle),
    (
        AABB((-1, -1.25, -1), (1, 0.75, 1)),
        lambda _, face, two_sided: intersect_obb_triangle(
            OBB((0, -0.25, 0), (1, 1, 1)), face, two_sided=two_sided
        ),
    ),
    (Capsule((0, -0.25, 0), (0, -0.75, 0), 1), intersect_capsule_triangle),
]


@pytest.mark.parametrize(("first", "second", "function"), PAIRS)
def test_solid_pairs_both_ways_round(first, second, function):
    expected = function(first, second)
    assert expected is not None
    assert intersect(first, second) == intersect(first, second, two_sided=True) == expected
    if type(first) is not type(second):
        assert intersect(second, first) == -expected


@pytest.mark.parametrize("two_sided", [False, True])
@pytest.mark.parametrize(("solid", "function"), ON_TRIANGLES)
def test_triangle_pairs_both_ways_round(solid, function, two_sided):
    expected = function(solid, FACE, two_sided=two_sided)
    assert expected is not None
    assert (expected.y > 0) != two_sided
    assert intersect(solid, FACE, two_sided=two_sided) == expected
    assert intersect(FACE, solid, two_sided=two_sided) == -expected


def test_apart_is_none_both_ways_round():
    far = Sphere((9, 9, 9), 1)
    for shape in (BALL, CORNERS, BOX, ROD, FACE):
        assert intersect(shape, far) is None
        assert intersect(far, shape) is None


def test_turned_round_is_never_minus_zero():
    push = intersect(FACE, Sphere((0, 0.75, 0), 1))
    assert str(push) == "vec3(            0,        -0.25,            0 )"


def test_a_derived_class_is_the_shape_it_derives_from():
    class Boulder(Sphere):
        """A sphere with a name."""

    boulder = Boulder((0.25, 0.5, 0.125), 0.75)
    assert intersect(boulder, FACE) == intersect(BALL, FACE)
    assert intersect(CORNERS, boulder) == intersect(CORNERS, BALL)


def test_two_triangles_have_no_penetration():
    with pytest.raises(TypeError) as caught:
        intersect(FACE, FACE)
    assert str(caught.value) == (
        "first and second must not both be a Triangle, as there is no penetration of two; "
        "intersect_triangle_triangle says whether they touch"
    )


@pytest.mark.parametrize(
    "wrong",
    [Ray((0, 0, 0), (1, 0, 0)), Segment((0, 0, 0), (1, 0, 0)), Plane((0, 0, 0), (0, 1, 0)), 1],
)
def test_what_is_no_shape_is_refused_by_name(wrong):
    rule = "must be a Sphere, AABB, OBB, Capsule or Triangle, got "
    with pytest.raises(TypeError, match=f"first {rule}"):
        intersect(wrong, BALL)
    with pytest.raises(TypeError, match=f"second {rule}"):
        intersect(BALL, wrong)


def test_every_pair_is_known_both_ways_round_but_that_of_two_triangles():
    shapes: list[Any] = [BALL, CORNERS, BOX, ROD, FACE]
    for first, second in itertools.product(shapes, repeat=2):
        if not first is second is FACE:
            move, back = intersect(first, second), intersect(second, first)
            assert move is not None
            assert back is not None
            if type(first) is not type(second):
                assert move == -back


def test_each_pair_has_its_function_for_one_and_for_rows():
    """A name is that of one order of the two shapes, and the same in `terrain_physics.rows`."""
    kinds = ("sphere", "aabb", "obb", "capsule", "triangle")
    for first, second in itertools.combinations_with_replacement(kinds, 2):
        names = {f"intersect_{first}_{second}", f"intersect_{second}_{first}"}
        for module in (terrain_physics, terrain_physics.rows):
            assert len(names & set(module.__all__)) == 1
    for kind in kinds:
        for module in (terrain_physics, terrain_physics.rows):
            assert f"raycast_{kind}" in module.__all__


def test_an_axis_aligned_box_touches_what_its_corners_touch():
    """Middle and half extents are rounded: that must not lift a crate off its floor."""
    rng = np.random.default_rng(6)
    for size in (1.0, 100.0, 1e6):
        for _ in range(200):
            lower = size * rng.normal(size=3)
            crate = AABB(lower, lower + rng.uniform(0.1, 3.0, 3))
            (x0, y0, z0), (x1, y1, z1) = crate.lower64, crate.upper64
            floor = Triangle((x0 - 9, y0, z0 - 9), (x0 - 9, y0, z0 + 30), (x0 + 30, y0, z0 - 9))
            wall = Triangle((x1, y0 - 9, z0 - 9), (x1, y0 + 30, z0 - 9), (x1, y0 - 9, z0 + 30))
            lid = Triangle((x0 - 9, y1, z1 - 30), (x0 + 30, y1, z1 + 9), (x0 - 9, y1, z1 + 9))
            for face in (floor, wall, lid):
                move = intersect(crate, face, two_sided=True)
                assert move is not None
                assert glm.length(move) <= 1e-15 * size


@pytest.mark.parametrize("far", [1e38, 1e40, 1e150, 1e300])
def test_an_answer_that_float32_does_not_hold_is_refused(far):
    for first, second in (
        (Sphere((0, 0, 0), far), Sphere((1, 0, 0), far)),
        (AABB((-far, -far, -far), (far, far, far)), Sphere((1, 0, 0), far)),
    ):
        try:
            move = intersect(first, second)
        except ValueError as error:
            assert "shapes must have an answer that float32 holds, got [" in str(error)  # noqa: PT017
        else:
            assert move is not None
            assert all(map(math.isfinite, move))
