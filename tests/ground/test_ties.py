"""Of answers that are equally near or deep, that of the part with the lowest number counts."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from terrain_physics import OBB, Capsule, Ground, HeightMap, Ray, Sphere, TriangleMesh
from terrain_physics.surface.shapes import Shape
from tests.helpers.grounds import bits

FLAT = np.zeros((9, 9), np.float32)


def sheet() -> TriangleMesh:
    """Return a mesh at the height of the maps, over both of them."""
    return TriangleMesh([(0, 0, 0), (0, 0, 8), (16, 0, 0), (16, 0, 8)], [(0, 1, 2), (1, 3, 2)])


def left(**options: Any) -> HeightMap:
    return HeightMap(FLAT, **options)


def right(**options: Any) -> HeightMap:
    return HeightMap(FLAT, origin=(8, 0, 0), **options)


# The parts, and which of them have ground at the height 0 on the left and on the right.
GROUNDS: dict[str, tuple[Any, list[int], list[int]]] = {
    "map, mesh, map: united": (lambda: [left(), sheet(), right()], [0, 1], [1, 2]),
    "map, mesh, map: thick": (
        lambda: [left(thickness=3.0), sheet(), right(thickness=3.0)],
        [0, 1],
        [1, 2],
    ),
    "mesh, maps": (lambda: [sheet(), left(), right()], [0, 1], [0, 2]),
    "maps, equal meshes": (lambda: [right(), left(), sheet(), sheet()], [1, 2, 3], [0, 2, 3]),
    "equal meshes": (lambda: [sheet(), sheet()], [0, 1], [0, 1]),
    "mesh, map": (lambda: [sheet(), left(border="open")], [0, 1], [0]),
    "equal maps": (lambda: [left(), left(), right()], [0, 1], [2]),
}
SHAPES: dict[str, Callable[[float], Shape]] = {
    "ball": lambda x: Sphere((x, 0.5, 4.3), 1.0),
    "capsule": lambda x: Capsule((x, 0.5, 4.3), (x, 2.0, 4.3), 1.0),
    "box": lambda x: OBB((x, 0.5, 4.3), (1, 1, 1)),
}


def part_of_all(found: Any) -> list[int]:
    return list(found.part.tolist())


def parts_of_first(ground: Ground, x: float) -> dict[str, int]:
    """Return the part that each question names which has one answer."""
    place, down, ball = (x, 3.0, 4.3), (0.0, -1.0, 0.0), Sphere((x, 3.0, 4.3), 1.0)
    row, way = [(*place, 1.0)], [(0.0, -9.0, 0.0)]
    ray, sweep = ground.raycast(Ray(place, down)), ground.sweep(ball, way[0])
    assert ray is not None
    assert sweep is not None
    found = {
        "ray": ray.part,
        "rays": int(ground.raycast_many([place], [down]).part[0]),
        "sweep": sweep.part,
        "sweeps": int(ground.sweep_many(row, way).part[0]),
        "closest point": ground.closest_point(place).part,
        "closest points": int(ground.closest_points([place]).part[0]),
    }
    for name, shape in SHAPES.items():
        (found[f"deepest {name}"],) = part_of_all(ground.contacts(shape(x), keep="deepest"))
        (found[f"deepest {name} of many"],) = part_of_all(
            ground.contacts([shape(x)], keep="deepest")
        )
    return found


@pytest.mark.parametrize("name", GROUNDS)
def test_the_lowest_part_that_owns_a_triangle_there_counts(name: str) -> None:
    make, *sides = GROUNDS[name]
    ground = Ground(make())
    for x, parts in zip((4.25, 11.75), sides, strict=True):
        found = parts_of_first(ground, x)
        assert found == dict.fromkeys(found, parts[0])


@pytest.mark.parametrize("name", GROUNDS)
def test_all_contacts_are_in_the_order_of_the_parts_that_own_them(name: str) -> None:
    make, *sides = GROUNDS[name]
    ground = Ground(make())
    for x, parts in zip((4.25, 11.75), sides, strict=True):
        for shape in (make(x) for make in SHAPES.values()):
            one, many = ground.contacts(shape), ground.contacts([shape])
            assert sorted(part_of_all(one)) == part_of_all(one)
            assert set(part_of_all(one)) == set(parts)
            assert bits(one) == bits(many)


# Rays that hit the surface, the side and the underside of a map, and of a box of its size.
RAYS = {
    "surface": ((4.3, 5, 4.2), (0, -1, 0)),
    "side": ((-3, -1, 4.2), (1, 0, 0)),
    "corner of two sides": ((-3, -1, 0), (1, 0, 0)),
    "underside": ((4.3, -9, 4.2), (0, 1, 0)),
}


@pytest.mark.parametrize("name", RAYS)
def test_of_equal_sides_and_undersides_those_of_the_first_are_hit(name: str) -> None:
    def thick() -> HeightMap:
        return left(border="open", thickness=2.0)

    def box() -> TriangleMesh:
        return TriangleMesh.box((8, 2, 8), position=(4, -1, 4))

    (origin, direction), alone = RAYS[name], thick()
    wanted = alone.raycast(Ray(origin, direction))
    assert wanted is not None
    cases: list[list[Any]] = [
        [thick(), thick()],
        [thick(), box()],
        [box(), thick()],
        [box(), box()],
    ]
    for parts in cases:
        ground = Ground(parts)
        one = ground.raycast(Ray(origin, direction))
        many = ground.raycast_many([origin], [direction])
        assert one is not None
        assert (one.part, many.part.tolist()) == (0, [0])
        assert one.distance == many.distance[0] == wanted.distance
        assert isinstance(parts[0], TriangleMesh) or one.triangle == wanted.triangle


@pytest.mark.parametrize("name", ["maps", "boxes", "solid boxes"])
def test_of_many_points_on_a_face_the_closest_is_that_of_the_first(name: str) -> None:
    """However the parts lie in trees: no face is passed over for another at no distance."""

    def part() -> Any:
        if name == "maps":
            return left(border="open")
        return TriangleMesh.box((8, 2, 8), position=(4, -1, 4), solid=name == "solid boxes")

    ground = Ground([part() for _ in range(9)])
    places = [(x, -1.25, z) for x in (0, 8) for z in np.linspace(0.5, 7.5, 15)]
    assert set(ground.closest_points(places).part.tolist()) == {0}
    assert {ground.closest_point(place).part for place in places} == {0}


def test_a_mesh_that_has_gone_decides_no_normal() -> None:
    ramp = TriangleMesh([(0, 0, 0), (0, 0, 2), (4, 2, 0)], [(0, 1, 2)])
    cases: list[tuple[list[Any], bool]] = [([left(), ramp], True), ([ramp, left()], False)]
    for parts, is_level in cases:
        ground = Ground([TriangleMesh.box((1, 1, 1), position=(90, 0, 90)), *parts])
        ground.remove(0)
        for one in (ground, Ground(parts)):
            assert (one.normal_at(0.0, 1.0).x == 0.0) == is_level
            assert (one.normal_at([0.0], [1.0])[0, 0] == 0.0) == is_level
