"""Balls and boxes for an octree: at all places, of all sizes, many of them touching exactly."""

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from terrain_physics import AABB, Octree, Sphere
from tests.helpers.strategies import Array


class Scene(NamedTuple):
    """Balls (n, 4) or boxes (n, 6), and how an octree is to hold them."""

    shapes: Array
    max_depth: int = 100
    leaf_capacity: int = 16
    bounds: AABB | None = None


def octree_of(scene: Scene) -> Octree:
    shapes, max_depth, leaf_capacity, bounds = scene
    make = Octree if shapes.shape[1] == 4 else Octree.from_aabbs
    parts = (shapes[:, :3], shapes[:, 3] if shapes.shape[1] == 4 else shapes[:, 3:])
    return make(*parts, bounds=bounds, max_depth=max_depth, leaf_capacity=leaf_capacity)


def shape_of(row: Array) -> Sphere | AABB:
    return Sphere(row[:3], row[3]) if len(row) == 4 else AABB(row[:3], row[3:])


def _places(kind: str, rng: np.random.Generator, count: int) -> Array:
    points = rng.uniform(-1.0, 1.0, (count, 3))
    if kind == "grid":
        return np.round(points * 4.0) / 4.0
    if kind == "line":
        return points * (0.0, 1.0, 0.0)
    if kind == "plane":
        return points * (0.0, 1.0, 1.0)
    if kind == "point":
        return np.tile(points[:1], (count, 1))
    if kind == "clusters":
        return points * 10.0 ** -rng.integers(0, 12, (count, 1)).astype(float)
    return points


def _sizes(kind: str, rng: np.random.Generator, count: int, edges: int) -> Array:
    if kind == "small":
        return rng.uniform(0.0, 0.05, (count, edges))
    if kind == "eighths":
        return rng.integers(0, 4, (count, edges)) / 8.0
    if kind == "zero":
        return np.zeros((count, edges))
    if kind == "orders of magnitude":
        return np.asarray(10.0 ** rng.uniform(-6.0, 6.0, (count, edges)))
    return rng.uniform(0.0, 0.5, (count, edges))


@st.composite
def shapes(draw: st.DrawFn, count: int, boxes: bool) -> Array:
    """Return balls (n, 4) or boxes (n, 6)."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kinds = ["any", "grid", "line", "plane", "point", "clusters"]
    points = _places(draw(st.sampled_from(kinds)), rng, count)
    kinds = ["any", "small", "eighths", "zero", "orders of magnitude"]
    sizes = _sizes(draw(st.sampled_from(kinds)), rng, count, 3 if boxes else 1)
    scale = draw(st.sampled_from([1.0, 1.0, 1e-6, 1024.0]))
    offset = draw(st.sampled_from([0.0, 0.0, 1e6, 1e12])) * np.array([0.375, 1.0, -0.5])
    points, sizes = points * scale + offset, sizes * scale
    parts = [points - sizes, points + sizes] if boxes else [points, sizes]
    return np.concatenate(parts, axis=1)


@st.composite
def scenes(draw: st.DrawFn, most: int = 40) -> Scene:
    """Return up to so many balls or boxes, in trees of all kinds, also with bounds elsewhere."""
    return Scene(
        draw(shapes(draw(st.integers(0, most)), draw(st.booleans()))),
        draw(st.sampled_from([100, 100, 1000, 3, 0])),
        draw(st.sampled_from([16, 1, 2, 5])),
        draw(st.sampled_from([None, AABB((-1, -1, -1), (1, 2, 1)), AABB((5, 5, 5), (5, 5, 5))])),
    )
