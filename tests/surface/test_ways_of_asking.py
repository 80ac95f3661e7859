"""The short ways to ask: rays without a `Ray`, sweeps by a direction, whether a shape touches."""

from functools import partial
from typing import Any, assert_type

import numpy as np
import pytest
from numpy.typing import NDArray
from pyglm import glm

from terrain_physics import (
    AABB,
    OBB,
    Boxes,
    Capsule,
    Capsules,
    Ground,
    HeightMap,
    Ray,
    RayHit,
    Sphere,
    Spheres,
    Surface,
    SweepHit,
    TriangleMesh,
)
from tests.helpers.calls import calls_of


def rough() -> HeightMap:
    heights = np.random.default_rng(1).uniform(0, 1, (9, 9))
    holes = np.zeros((8, 8), np.bool_)
    holes[3, 4] = True
    return HeightMap(heights, holes=holes, thickness=2.0, border="open")


def crate() -> TriangleMesh:
    return TriangleMesh.box((2, 2, 2), position=(3, 1.5, 4), solid=True)


GROUNDS = {
    "map": rough,
    "solid mesh": crate,
    "skin": lambda: TriangleMesh.sphere(2.0, position=(4, 1, 4)),
    "ground": lambda: Ground([rough(), crate()], layers=[1, 2]),
}


@pytest.fixture(params=GROUNDS)
def ground(request: pytest.FixtureRequest) -> Any:
    return GROUNDS[request.param]()


def places() -> NDArray[np.float64]:
    return np.random.default_rng(2).uniform((1, -1, 2), (6, 4, 6), (30, 3))


def test_a_ray_is_given_whole_or_by_its_parts(ground: Any) -> None:
    ways = np.random.default_rng(3).uniform(-3, 3, (30, 3))
    hits = 0
    for place, way in zip(places(), ways, strict=True):
        for limits in ((), (2.5,)):
            hit = ground.raycast(Ray(place, way), *limits)
            origin, direction = tuple(place.tolist()), glm.dvec3(way)
            assert ground.raycast(origin, direction, *limits) == hit
            named: Any = {"max_distance": limits[0]} if limits else {}
            assert ground.raycast(origin=place, direction=direction, **named) == hit
            assert ground.raycast(ray=Ray(place, way), **named) == hit
            assert ground.raycast(place, direction, mask=2, **named) == ground.raycast(
                Ray(place, way), mask=2, **named
            )
            hits += hit is not None
    assert hits > 2


RAY = Ray((1, 9, 1), (0, -1, 0))


@pytest.mark.parametrize(
    ("given", "named", "error", "message"),
    [
        ((), {}, TypeError, r"ray must be a Ray, or an origin with a direction: raycast\(origin, "),
        (((1, 9, 1),), {}, TypeError, r"ray must be a Ray, or an .* got \(1, 9, 1\)"),
        (((1, 9, 1), 5.0), {}, TypeError, "direction must be three numbers, got 5.0"),
        (((1, 9, 1), (0, 0, 0)), {}, ValueError, "direction must not be zero"),
        (((1, 9), (0, -1, 0)), {}, ValueError, "origin must be three numbers, got 2"),
        (((1, 9, 1), (0, -1, 0), -1), {}, ValueError, "max_distance must be from 0 to inf"),
        (((1, 9, 1), (0, -1, 0), 9, 1), {}, TypeError, "mask must be given by name: mask=1"),
        ((RAY, 9, 1), {}, TypeError, "mask must be given by name: mask=1"),
        ((RAY, 9.0, 1), {}, TypeError, "mask must be given by name: mask=1"),
        ((RAY, (0, -1, 0)), {}, TypeError, r"a Ray has its direction, got another one: \(0, -1"),
        ((RAY,), {"origin": (1, 2, 3)}, TypeError, "give a Ray or an origin, not both"),
        ((RAY, float("nan")), {}, ValueError, "max_distance must be from 0 to inf, got nan"),
    ],
)
def test_what_is_no_ray_is_refused(given: Any, named: Any, error: Any, message: str) -> None:
    for make in GROUNDS.values():
        ask: Any = make().raycast
        with pytest.raises(error, match=message):
            ask(*given, **named)


def test_a_sweep_is_given_by_a_motion_or_by_how_far_it_goes(ground: Any) -> None:
    hits = 0
    for place in places():
        shape = Sphere(place, 0.4)
        hit = ground.sweep(shape, (0, -5, 0))
        assert ground.sweep(shape, (0, -0.125, 0), max_distance=5) == hit
        assert ground.sweep(shape, direction=glm.vec3(0, -2, 0), max_distance=5.0) == hit
        assert ground.sweep(shape, (0, -1, 0), max_distance=5, mask=2) == ground.sweep(
            shape, (0, -5, 0), mask=2
        )
        assert ground.sweep(shape, (0, -1, 0), max_distance=0) == ground.sweep(shape, (0, 0, 0))
        hits += hit is not None
    assert hits > 2


@pytest.mark.parametrize(
    ("given", "named", "error", "message"),
    [
        ((), {}, TypeError, "motion must be three numbers, got None"),
        ((), {"max_distance": 5}, TypeError, "direction must be three numbers, got None"),
        ((), {"direction": (0, -1, 0)}, TypeError, r"direction needs max_distance: sweep\(shape, "),
        (((0, -1, 0),), {"max_distance": np.inf}, ValueError, "max_distance must be finite and >="),
        (((0, 0, 0),), {"max_distance": 1}, ValueError, "direction must not be zero"),
        (((0, -1, 0),), {"direction": (0, -1, 0), "max_distance": 1}, TypeError, "not both"),
    ],
)
def test_what_is_no_motion_is_refused(given: Any, named: Any, error: Any, message: str) -> None:
    ask: Any = rough().sweep
    with pytest.raises(error, match=message):
        ask(Sphere((1, 9, 1), 1), *given, **named)


def shapes_of(kind: str) -> tuple[Any, list[Any]]:
    """Return shapes at many places: those for one call, and each by itself."""
    centers = places()
    sizes = np.random.default_rng(4).uniform(0, 1.5, (30, 3))
    if kind == "spheres":
        rows = np.hstack([centers, sizes[:, :1]])
        return Spheres(rows), [Sphere(row[:3], row[3]) for row in rows]
    if kind == "capsules":
        rows = np.hstack([centers, centers + sizes, sizes[:, :1]])
        return Capsules(rows), [Capsule(row[:3], row[3:6], row[6]) for row in rows]
    if kind == "boxes":
        pairs = zip(centers, sizes, strict=True)
        return Boxes(centers, sizes), [OBB(center, half) for center, half in pairs]
    corners = zip(centers, centers + sizes, strict=True)
    alone = [AABB(low, high) for low, high in corners]
    return alone, alone


@pytest.mark.parametrize("kind", ["spheres", "capsules", "boxes", "level boxes"])
def test_a_shape_touches_where_it_has_contacts(ground: Any, kind: str) -> None:
    many, alone = shapes_of(kind)
    for options in ({}, {"mask": 2}):
        touching = ground.touches(many, **options)
        assert touching.dtype == np.bool_
        assert touching.tolist() == [len(ground.contacts(one, **options)) > 0 for one in alone]
        assert touching.tolist() == [ground.touches(one, **options) for one in alone]
        assert touching.tolist() == ground.touches(alone, threads=2, **options).tolist()
    assert 3 < ground.touches(many).sum() < 30


def test_touching_counts_and_depths_in_a_solid_do_not() -> None:
    flat, box = HeightMap(np.zeros((5, 5))), TriangleMesh.box((4, 4, 4), solid=True)
    assert flat.touches(Sphere((2, 1, 2), 1)) is True
    assert flat.touches(Sphere((2, np.nextafter(1, 2), 2), 1)) is False
    assert box.touches(Sphere((0, 3, 0), 1)) is True
    assert box.touches(Sphere((0, 0, 0), 1)) is False
    assert box.contains((0, 0, 0))
    assert box.touches(AABB((2, 0, 0), (3, 1, 1)))
    assert flat.touches([]).shape == (0,)


def on_and_beside(surface: Surface) -> NDArray[np.float64]:
    """Return points around a surface, and some exactly on it and on its underside."""
    points = np.random.default_rng(3).uniform((-1, -3, -1), (9, 3, 9), (60, 3))
    heights = surface.height_at(points[:20, 0], points[:20, 2])
    points[:20, 1] = np.where(np.isnan(heights), 0.0, heights)
    points[:10, 1] -= 0.5
    return points


@pytest.mark.parametrize("options", [{}, {"mask": 2}], ids=["all", "masked"])
def test_a_point_alone_is_in_the_ground_like_one_of_many(
    ground: Ground, options: dict[str, Any]
) -> None:
    thin = HeightMap(np.random.default_rng(1).uniform(0, 1, (9, 9)), thickness=0.5, border="open")
    box = TriangleMesh.box((3, 3, 3), solid=True)
    inside = 0
    for surface in (thin, ground, box, Ground([thin]), Ground([box, rough()])):
        points = on_and_beside(surface)
        many = surface.contains(points, **options)
        inside += many.sum()
        assert many.tolist() == [surface.contains(tuple(p), **options) for p in points.tolist()]
        assert many.tolist() == [surface.contains(glm.dvec3(p), **options) for p in points]
        distances = surface.signed_distance(points, **options)
        alone = [surface.signed_distance(tuple(p), **options) for p in points.tolist()]
        assert distances.tobytes() == np.array(alone).tobytes()
    assert options or inside > 20


@pytest.mark.parametrize(("kind", "most"), [("map", 30), ("mesh", 25), ("ground", 60)])
def test_where_a_point_is_takes_few_calls(kind: str, most: int) -> None:
    land, box = HeightMap(np.zeros((9, 9))), TriangleMesh.box((3, 3, 3))
    surface = {"map": land, "mesh": box, "ground": Ground([land, box])}[kind]
    for ask in (surface.contains, surface.signed_distance):
        ask((2.0, 0.5, 3.0))
        assert calls_of(partial(ask, (2.0, 0.5, 3.0))) <= most


def test_a_point_too_far_or_of_no_numbers_is_refused_alone_too() -> None:
    no_numbers: Any = (1.0, "a", 0.0)
    for surface in (rough(), TriangleMesh.box((3, 3, 3))):
        with pytest.raises(ValueError, match="points must be below 1e\\+38 m"):
            surface.contains((1e39, 0.0, 0.0))
        with pytest.raises(TypeError, match="points must be three numbers"):
            surface.signed_distance(no_numbers)


def test_types_tell_one_from_many() -> None:
    surface: Surface = rough()
    assert_type(surface.touches(Sphere((1, 1, 1), 1)), bool)
    assert_type(surface.touches(Spheres([(1, 1, 1, 1)])), NDArray[np.bool_])
    assert_type(surface.touches([(1, 1, 1, 1)]), NDArray[np.bool_])
    assert_type(surface.touches([Sphere((1, 1, 1), 1)]), NDArray[np.bool_])
    assert_type(surface.raycast(RAY, 5), RayHit | None)
    assert_type(surface.raycast((1, 9, 1), (0, -1, 0), max_distance=5), RayHit | None)
    assert_type(surface.sweep(Sphere((1, 9, 1), 1), (0, -1, 0)), SweepHit | None)
    assert_type(surface.sweep(Sphere((1, 9, 1), 1), (0, -1, 0), max_distance=5), SweepHit | None)
    with pytest.raises(TypeError, match="or an origin with a direction"):
        surface.raycast((1, 9, 1))  # type: ignore[call-overload]
