"""Answers of the functions about shapes, of `Octree` and of the triangle counter."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import terrain_physics as tp
from tests.helpers import draws as drawn
from tests.helpers.digest import named
from tests.helpers.draws import Draws, Rows

Groups = dict[str, Callable[[], Iterator[Any]]]

ROWS, SINGLES = 400, 80
KINDS: dict[str, Callable[..., Rows]] = {
    "sphere": drawn.spheres,
    "capsule": drawn.capsules,
    "aabb": drawn.aabbs,
    "obb": drawn.obbs,
    "triangle": drawn.triangles,
    "segment": drawn.segments,
    "plane": drawn.planes,
    "ray": drawn.rays,
    "point": drawn.points,
}
# Near the origin, and far from it.
PLACES = (0.0, 1e6)


def _pairs(first: str, second: str) -> Iterator[tuple[Rows, Rows]]:
    """Return rows of two kinds that are near each other, at all places."""
    for place in PLACES:
        yield tuple(
            KINDS[kind](Draws(seed), place, place + 3.0, ROWS)
            for seed, kind in enumerate((first, second))
        )  # type: ignore[misc]


def _both(name: str, first: str, second: str, many: str | None = None) -> Iterator[Any]:
    """Give the answers of a function to many pairs, and to one after the other."""
    options: tuple[dict[str, Any], ...] = ({},)
    if name.startswith("intersect_") and second == "triangle" and first != "triangle":
        options = ({"two_sided": False}, {"two_sided": True})
    for one, other in _pairs(first, second):
        for option in options:
            yield getattr(tp.rows, many or name)(*one.arrays, *other.arrays, **option)
            for row in range(SINGLES):
                yield getattr(tp, name)(one.one(row), other.one(row), **option)


def _by_type(name: str, firsts: tuple[str, ...], seconds: tuple[str, ...]) -> Iterator[Any]:
    """Give the answers of a function that picks another by the shapes."""
    for first in firsts:
        for second in seconds:
            for one, other in _pairs(first, second):
                for row in range(20):
                    yield getattr(tp, name)(one.one(row), other.one(row))


def _points_in_triangles() -> Iterator[Any]:
    draws = Draws(3)
    for far in PLACES:
        rows = draws.mixed(far, far + 2.0, ROWS, 4, 2)
        rows[::7, 3] = rows[::7, 2]
        rows[3::7, 0] = 0.5 * (rows[3::7, 1] + rows[3::7, 2])
        yield tp.rows.point_in_triangle_2d(*rows.swapaxes(0, 1))
        yield from (tp.point_in_triangle_2d(*row) for row in rows[:SINGLES])


def _enclosing_spheres() -> Iterator[Any]:
    draws = Draws(4)
    for count in (1, 2, 3, 4, 7, 30):
        for far in PLACES:
            sets = draws.mixed(far, far + 3.0, 40, count, 3)
            sets[::6] = sets[::6, :1]
            yield tp.rows.smallest_enclosing_sphere(sets)
            yield from (tp.smallest_enclosing_sphere(points) for points in sets[:20])


def _triangle_counts() -> Iterator[Any]:
    for far in PLACES:
        corners = drawn.triangles(Draws(5), far, far + 9.0, 900).arrays[0]
        balls = drawn.spheres(Draws(6), far, far + 9.0, 300).arrays[0][:, [3, 0, 1, 2]]
        balls[::4, 0] *= 4.0
        for threads in (1, 2, None):
            yield tp.count_touching(corners, balls, threads=threads)
        counter = tp.TouchCounter(corners)
        yield counter.triangle_count, counter.count(balls), counter.count(balls[:1])


def _transformed_colliders() -> Iterator[Any]:
    draws = Draws(7)
    for k in range(60):
        matrix = np.eye(4)
        scale = draws.uniform(0.5, 2.0)
        matrix[:3, :3] = scale * (np.eye(3) if k % 4 == 0 else draws.turn())
        matrix[:3, 3] = draws.uniform(-9.0, 9.0, 3)
        offset = (0.0, draws.uniform(-1.0, 1.0), 0.0)
        for collider in (
            tp.SphereCollider(0.5, offset),
            tp.CapsuleCollider(0.4, 1.8, offset),
            tp.BoxCollider((0.4, 0.9, 0.3), offset),
        ):
            yield collider.transformed(matrix)


def _normals_of_triangles() -> Iterator[Any]:
    for far in PLACES:
        corners = drawn.triangles(Draws(8), far, far + 3.0, ROWS)
        for row in range(ROWS):
            triangle = corners.one(row)
            yield triangle.normal64, triangle.normal


def _octrees() -> Iterator[tp.Octree]:
    """Return octrees of balls and of boxes."""
    draws = Draws(9)
    for far in PLACES:
        balls = drawn.spheres(draws, far, far + 20.0, ROWS).arrays[0]
        yield tp.Octree(balls[:, :3], 0.6 * balls[:, 3])
        yield tp.Octree.from_aabbs(
            *drawn.aabbs(draws, far, far + 20.0, ROWS).arrays, leaf_capacity=4, max_depth=6
        )


def _octree_pairs() -> Iterator[Any]:
    for tree in _octrees():
        yield tree.overlapping_pairs(), tree.count_pair_tests(), tree.bounds


def _octree_queries() -> Iterator[Any]:
    for tree, far in zip(_octrees(), (0.0, 0.0, 1e6, 1e6), strict=True):
        balls = drawn.spheres(Draws(10), far - 2.0, far + 22.0, 100)
        boxes = drawn.aabbs(Draws(11), far - 2.0, far + 22.0, 100)
        yield tree.query_spheres_many(*balls.arrays), tree.query_aabbs_many(*boxes.arrays)
        for row in range(30):
            yield tree.query_sphere(balls.one(row)), tree.query_aabb(boxes.one(row))


def _octree_rays() -> Iterator[Any]:
    for tree, far in zip(_octrees(), (0.0, 0.0, 1e6, 1e6), strict=True):
        rays = drawn.rays(Draws(12), far - 2.0, far + 22.0, 200)
        starts, ways = rays.arrays
        yield tree.raycast_many(starts, ways), tree.raycast_many(starts, ways, 2.5)
        for row in range(40):
            yield named(tree.raycast(rays.one(row)), "distance", "object_id")


def _octree_changes() -> Iterator[Any]:
    for tree, kind in zip(_octrees(), ("sphere", "aabb") * 2, strict=True):
        draws = Draws(13)
        lower = np.array(tree.bounds.lower64)
        for _ in range(6):
            given = KINDS[kind](draws, lower, lower + 25.0, 20)
            new = tree.insert_many(np.hstack(given.arrays))
            tree.move_many(tree.ids[3:23], np.hstack(given.arrays)[::-1])
            tree.remove_many(tree.ids[::9])
            tree.remove(int(new[4]) if new[4] in tree.ids else int(tree.ids[0]))
            tree.move(int(tree.ids[-1]), given.one(7))
            added = tree.insert(given.one(8))
            yield new, added, tree.ids, tree.shape_of(added), tree.overlapping_pairs()


_PENETRATIONS = (
    "sphere_sphere", "aabb_aabb", "aabb_sphere", "obb_sphere", "obb_obb", "capsule_sphere",
    "capsule_capsule", "sphere_triangle", "obb_triangle", "capsule_triangle", "triangle_triangle",
    "capsule_aabb", "capsule_obb", "obb_aabb", "aabb_triangle",
)  # fmt: skip
_SOLIDS = ("sphere", "aabb", "obb", "capsule")

GROUPS: Groups = {
    f"intersect_{pair}": partial(_both, f"intersect_{pair}", *pair.split("_"))
    for pair in _PENETRATIONS
}
GROUPS |= {
    f"raycast_{kind}": partial(_both, f"raycast_{kind}", "ray", kind)
    for kind in (*_SOLIDS, "triangle")
}
GROUPS |= {
    f"closest_point_on_{kind}": partial(_both, f"closest_point_on_{kind}", "point", kind)
    for kind in ("segment", "triangle")
}
GROUPS |= {
    f"surface_touches_{kind}": partial(
        _both, "surface_touches", "sphere", kind, f"surface_touches_{kind}"
    )
    for kind in ("plane", "segment", "triangle")
}
GROUPS |= {
    "crossing_segment": partial(_both, "crossing_segment", "triangle", "triangle"),
    "intersect": partial(_by_type, "intersect", (*_SOLIDS, "triangle"), ("sphere",)),
    "raycast": partial(_by_type, "raycast", ("ray",), (*_SOLIDS, "triangle")),
    "point_in_triangle_2d": _points_in_triangles,
    "smallest_enclosing_sphere": _enclosing_spheres,
    "count_touching": _triangle_counts,
    "colliders": _transformed_colliders,
    "Triangle.normal": _normals_of_triangles,
    "Octree pairs": _octree_pairs,
    "Octree queries": _octree_queries,
    "Octree.raycast": _octree_rays,
    "Octree changes": _octree_changes,
}
