"""Draws of hypothesis: shapes of all sizes, at all places, hard cases as likely as plain ones.

Every case is drawn near the origin at size one, mostly with a point common to both shapes, then
scaled and moved away. So contacts are as likely at every size and place.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

Array = NDArray[np.float64]

UNIT = st.floats(-1.0, 1.0).map(lambda x: round(x * 2.0**40) * 2.0**-40)
"""No number but zero is so small that its powers vanish."""
SIZES = st.integers(-10, 13).map(lambda power: 2.0**power)
"""From a millimeter to eight kilometers. Powers of two: flat triangles stay exactly flat."""

# Made once: hypothesis checks each alternative anew, which takes longer than to draw from it.
RATIOS = st.sampled_from([1.0, 1.0, 0.5, 0.0]) | st.floats(0.01, 1.0)
"""Of half extents to the largest one; 0 makes a sheet."""
SIDES = st.sampled_from([-1.0, 0.0, 1.0]) | UNIT
"""Places within a box along one of its axes."""
HEIGHTS = st.sampled_from([1.0, -1.0, 1e-9, -1e-9]) | st.floats(-1.2, 1.2)
"""Of a center over a face, in radii."""
_SHARES = st.sampled_from([0.5, 0.25]) | st.floats(0.01, 0.99)


class SphereCase(NamedTuple):
    """A sphere (4,) x y z r and a triangle (3, 3)."""

    sphere: Array
    triangle: Array


class BoxCase(NamedTuple):
    """A box, its rotation's columns being its axes, and a triangle (3, 3)."""

    center: Array
    half: Array
    rotation: Array
    triangle: Array


def as_array(values: object) -> Array:
    return np.asarray(values, dtype=np.float64)


def rotation_from(quaternion: Array) -> Array:
    """Return the rotation matrix of a quaternion w, x, y, z of any length but zero."""
    w, x, y, z = quaternion / np.linalg.norm(quaternion)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


@st.composite
def rotations(draw: st.DrawFn) -> Array:
    """Return no turn, quarter turns, turns about one axis, or any turn."""
    kind = draw(st.sampled_from(["none", "quarter", "yaw", "any"]))
    if kind == "none":
        return np.eye(3)
    if kind == "quarter":
        order = draw(st.sampled_from([(0, 1, 2), (1, 2, 0), (2, 0, 1)]))
        signs = draw(st.sampled_from([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)]))
        return as_array(np.eye(3)[list(order)] * np.array(signs, dtype=float))
    if kind == "yaw":
        return rotation_from(np.array([1.0, 0.0, draw(UNIT), 0.0]))
    quaternion = np.array([draw(UNIT) for _ in range(4)])
    return rotation_from(quaternion) if np.linalg.norm(quaternion) > 0.1 else np.eye(3)


@st.composite
def flat_triangles(draw: st.DrawFn) -> Array:
    """Return corners exactly on one line or one point, in eighths, which add without rounding."""
    start, step = (np.array([draw(st.integers(-4, 4)) for _ in range(3)]) for _ in range(2))
    places = [draw(st.integers(-2, 2)) for _ in range(3)]
    return np.array([start + place * step for place in places], dtype=float) / 8.0


@st.composite
def thin_triangles(draw: st.DrawFn) -> Array:
    """Return a needle: one meter long, a millimeter to a micrometer high."""
    turn = draw(rotations())
    height = 10.0 ** draw(st.floats(-6.0, -3.0))
    middle = draw(st.floats(-0.2, 1.2))
    return as_array(np.array([[0, 0, 0], [1, 0, 0], [middle, 0, -height]]) @ turn.T)


@st.composite
def plain_triangles(draw: st.DrawFn) -> Array:
    """Return any corners, or corners of a grid (a height map's triangles among them)."""
    if draw(st.booleans()):
        return np.array([[draw(UNIT) for _ in range(3)] for _ in range(3)])
    corners = np.array([[draw(st.integers(-2, 2)) for _ in range(3)] for _ in range(3)])
    return as_array(corners / 2.0)


@cache
def triangles() -> st.SearchStrategy[Array]:
    """Return triangles of size one: plain, thin and without area."""
    return st.one_of(plain_triangles(), plain_triangles(), thin_triangles(), flat_triangles())


@st.composite
def offsets(draw: st.DrawFn, size: float) -> Array:
    """Return the origin, or a place up to 1000 km away, on a grid of an eighth of the size."""
    far = draw(st.sampled_from([0.0, 0.0, 1.0, 1e3, 1e6]))
    place = far * np.array([draw(UNIT) for _ in range(3)])
    return as_array(np.round(place * 8.0 / size) * size / 8.0)


@st.composite
def weights(draw: st.DrawFn) -> Array:
    """Return barycentric weights of a corner, a point on an edge, inside, or near the triangle."""
    kind = draw(st.sampled_from(["corner", "edge", "inside", "anywhere"]))
    if kind == "corner":
        return as_array(np.eye(3)[draw(st.integers(0, 2))])
    share = draw(_SHARES)
    if kind == "edge":
        return np.roll([share, 1.0 - share, 0.0], draw(st.integers(0, 2)))
    if kind == "inside":
        rest = draw(st.floats(0.01, 0.99)) * (1.0 - share)
        return np.array([share, rest, 1.0 - share - rest])
    first, second = draw(st.floats(-1.0, 2.0)), draw(st.floats(-1.0, 2.0))
    return np.array([first, second, 1.0 - first - second])


@st.composite
def sphere_cases(draw: st.DrawFn, shapes: st.SearchStrategy[Array] | None = None) -> SphereCase:
    """Return a sphere over, under, beside or exactly on a triangle."""
    triangle = draw(triangles() if shapes is None else shapes)
    radius = 10.0 ** draw(st.floats(-3.0, 1.0))
    center = draw(weights()) @ triangle
    normal = np.cross(triangle[1] - triangle[0], triangle[2] - triangle[0])
    if np.linalg.norm(normal) > 0.0:
        normal /= np.linalg.norm(normal)
    side = draw(st.sampled_from(["on", "normal", "any", "any"]))
    if side == "normal":
        center = center + normal * (radius * draw(HEIGHTS))
    elif side == "any":
        center = center + radius * np.array([draw(UNIT) for _ in range(3)])
    size = draw(SIZES)
    offset = draw(offsets(size))
    sphere = np.append(center * size + offset, radius * size)
    return SphereCase(sphere, triangle * size + offset)


@st.composite
def turned_with(draw: st.DrawFn, triangle: Array) -> Array:
    """Return a rotation; often one that lies along an edge of the triangle or flat on its face."""
    kind = draw(st.sampled_from(["free", "free", "edge", "face", "nearly"]))
    edge = triangle[1] - triangle[0]
    normal = np.cross(edge, triangle[2] - triangle[0])
    if kind == "free" or np.linalg.norm(edge) == 0.0:
        return draw(rotations())
    first = edge / np.linalg.norm(edge)
    aside = normal if np.linalg.norm(normal) > 0.0 else np.cross(first, [0.6, 0.64, 0.48])
    if kind == "edge":  # along the edge, turned about it in any way
        aside = aside / np.linalg.norm(aside) + draw(UNIT) * np.cross(first, aside)
    second = np.cross(aside, first)
    second /= np.linalg.norm(second)
    frame = np.column_stack([first, second, np.cross(first, second)])
    if kind == "nearly":  # parallel but for a small angle
        angle = 10.0 ** draw(st.floats(-17.0, -3.0))
        frame = frame @ rotation_from(np.array([1.0, *(angle * draw(UNIT) for _ in range(3))]))
    return frame[:, draw(st.sampled_from([[0, 1, 2], [1, 2, 0], [2, 0, 1]]))]


@st.composite
def box_cases(draw: st.DrawFn, shapes: st.SearchStrategy[Array] | None = None) -> BoxCase:
    """Return a box through, flat on, edge on edge with, or just off a triangle."""
    triangle = draw(triangles() if shapes is None else shapes)
    rotation = draw(turned_with(triangle))
    largest = 10.0 ** draw(st.floats(-2.0, 1.0))
    half = largest * np.array([draw(RATIOS) for _ in range(3)])
    # A point of the triangle and a point of the box meet: the shapes intersect, or are near.
    inside = np.array([draw(SIDES) for _ in range(3)])
    center = draw(weights()) @ triangle - rotation @ (inside * half)
    if draw(st.integers(0, 3)) == 0:
        center = center + largest * np.array([draw(UNIT) for _ in range(3)])
    size = draw(SIZES)
    offset = draw(offsets(size))
    return BoxCase(center * size + offset, half * size, rotation, triangle * size + offset)
