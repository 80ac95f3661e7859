"""Boxes, cylinders, stairs, ramps and spheres as closed meshes, fronts outside.

All but spheres are prisms: an outline in a plane, extruded along its normal.
"""

import itertools
import math
from functools import lru_cache
from typing import Any

import numpy as np

from terrain_physics._kernels.types import Floats, Int64s, read_only
from terrain_physics._support import checks
from terrain_physics._support.angles import cosine, sine
from terrain_physics._support.matrices import determinants
from terrain_physics.surface.limits import refuse_far_number

Solid = tuple[Floats, Int64s]
"""Vertices (v, 3) and faces (n, 3)."""

MOST_PARTS = 100_000
"""Steps of a flight, or sections of a cylinder: more are refused before memory is gone."""

_MOST_SUBDIVISIONS = 8  # of a sphere: 1.3 million faces


def box(extents: Any) -> Solid:
    """Return a box around the origin, given its edge lengths."""
    lengths = zip("xyz", checks.vector("extents", extents), strict=True)
    x, y, z = (_size(f"extents.{axis}", length) for axis, length in lengths)
    outline = 0.5 * np.array([(-x, -y), (x, -y), (x, y), (-x, y)])
    return _prism(outline, _fan(4), z)


def cylinder(radius: Any, height: Any, sections: Any) -> Solid:
    """Return a cylinder around +Y and the origin, with its corners on the circle."""
    circumradius, length = _size("radius", radius), _size("height", height)
    count = checks.whole("sections", sections, 3, MOST_PARTS)
    vertices, faces = _prism(circumradius * _circle(count), _fan(count), length)
    return vertices[:, [1, 2, 0]], faces  # drawn along z, which becomes y


@lru_cache(maxsize=16)
def _circle(count: int) -> Floats:
    """Return corners on the unit circle (n, 2), read-only; those at quarter turns are exact."""
    turns = [2.0 * math.pi * k / count for k in range(count)]
    (circle,) = read_only(np.round([(-sine(turn), cosine(turn)) for turn in turns], 12))
    return circle


def stairs(width: Any, rise: Any, tread: Any, steps: Any) -> Solid:
    """Return a flight up along +x, solid down to y = 0, that starts at x = 0."""
    width, rise, tread = _size("width", width), _size("rise", rise), _size("tread", tread)
    count = checks.whole("steps", steps, 1, MOST_PARTS)
    # The outline runs along the floor, with a corner below each riser, and back down the steps: at
    # the top of each riser it has an outer corner, the nosing, at the foot an inner one.
    along = np.arange(count + 1)
    down = along[:0:-1]
    floor = np.stack([tread * along, 0.0 * along], axis=1)
    inner = np.stack([tread * down, rise * down], axis=1)
    nosing = np.stack([tread * (down - 1), rise * down], axis=1)
    outline = np.concatenate([floor, np.stack([inner, nosing], axis=1).reshape(-1, 2)])

    # The sides are a column below each step: their triangles are as narrow as a tread, so a query
    # anywhere on a long flight finds few.
    step = np.arange(count)
    foot, next_foot = step, step + 1
    nosing_of = 3 * count - 2 * step
    inner_of, next_inner = (nosing_of + 1) % len(outline), nosing_of - 1
    caps = [
        np.stack([next_foot, next_inner, nosing_of], axis=1),
        np.stack([next_foot, nosing_of, inner_of], axis=1),
        np.stack([next_foot, inner_of, foot], axis=1)[1:],  # the first step's are one corner
    ]
    return _prism(outline, np.concatenate(caps), width)


def ramp(width: Any, height: Any, length: Any) -> Solid:
    """Return a wedge that rises along +x from the line x = y = 0, solid down to y = 0."""
    width, height, length = _size("width", width), _size("height", height), _size("length", length)
    outline = np.array([(0.0, 0.0), (length, 0.0), (length, height)])
    return _prism(outline, _fan(3), width)


def sphere(radius: Any, subdivisions: Any) -> Solid:
    """Return a sphere around the origin: an icosahedron with divided faces."""
    size = _size("radius", radius)
    times = checks.whole("subdivisions", subdivisions, 0, _MOST_SUBDIVISIONS)
    vertices, faces = _icosahedron()
    for _ in range(times):
        vertices, faces = _divided(vertices, faces)
    return size * vertices, faces


def _icosahedron() -> Solid:
    """Return the twelve corners of three golden rectangles, on the unit sphere, and their faces."""
    golden = 0.5 + math.sqrt(1.25)
    rectangle = np.array([(0.0, u, golden * v) for u in (-1.0, 1.0) for v in (-1.0, 1.0)])
    vertices = np.concatenate([np.roll(rectangle, turn, axis=1) for turn in range(3)])
    apart = np.square(vertices[:, np.newaxis] - vertices).sum(axis=2)
    is_edge = (apart > 3.0) & (apart < 5.0)  # squares of lengths: an edge has 4
    corners = [
        (i, j, k) if determinants(vertices[[i, j, k]]) > 0.0 else (i, k, j)
        for i, j, k in itertools.combinations(range(12), 3)
        if is_edge[i, j] and is_edge[j, k] and is_edge[k, i]
    ]
    return _on_unit_sphere(vertices), np.array(corners, np.int64)


def _divided(vertices: Floats, faces: Int64s) -> Solid:
    """Return four faces for each, with the middles of edges put on the unit sphere."""
    count = len(vertices)
    edges = np.sort(faces[:, [[0, 1], [1, 2], [2, 0]]], axis=2)
    # One whole number for each edge: rows of two would be sorted ten times as slowly.
    numbers, own = np.unique(count * edges[:, :, 0] + edges[:, :, 1], return_inverse=True)
    a, b, c = faces.T
    ab, bc, ca = (own.reshape(-1, 3) + count).T
    corners = [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
    divided = np.stack([np.stack(three, axis=1) for three in corners], axis=1).reshape(-1, 3)
    middles = _on_unit_sphere(vertices[numbers // count] + vertices[numbers % count])
    return np.concatenate([vertices, middles]), divided


def _on_unit_sphere(points: Floats) -> Floats:
    x, y, z = (points[:, [axis]] for axis in range(3))
    units: Floats = points / np.sqrt(x * x + y * y + z * z)
    return units


def _size(name: str, value: Any) -> float:
    length = checks.positive(name, value)
    refuse_far_number(name, length)
    return length


def _fan(count: int) -> Int64s:
    """Return the triangles of a convex outline, all around its first corner."""
    k = np.arange(1, count - 1)
    return np.stack([0 * k, k, k + 1], axis=1)


def _prism(outline: Floats, caps: Int64s, length: float) -> Solid:
    """Return an outline (m, 2) of x and y drawn along z, from -length / 2 to length / 2.

    The outline and the triangles (k, 3) that fill it run counter-clockwise seen from +z.
    """
    count = len(outline)
    ends = np.repeat([-0.5 * length, 0.5 * length], count)
    vertices = np.column_stack([np.tile(outline, (2, 1)), ends])
    back = np.arange(count)
    next_back = (back + 1) % count
    front, next_front = back + count, next_back + count
    sides = [
        np.stack([back, next_back, next_front], axis=1),
        np.stack([back, next_front, front], axis=1),
    ]
    return vertices, np.concatenate([*sides, caps[:, ::-1], caps + count])
