"""Draws of hypothesis for pairs of solid shapes: crossing, parallel, inside, touching, apart."""

from functools import cache
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from tests.helpers.strategies import (
    HEIGHTS,
    RATIOS,
    SIDES,
    SIZES,
    UNIT,
    Array,
    as_array,
    offsets,
    rotation_from,
    rotations,
    triangles,
    weights,
)

RADII = st.sampled_from([0.0, 1.0, 0.25]) | st.floats(-3.0, 1.0).map(lambda power: 10.0**power)


class CapsuleCase(NamedTuple):
    """A capsule (7,) ax ay az bx by bz r and a triangle (3, 3)."""

    capsule: Array
    triangle: Array


class BoxPair(NamedTuple):
    """Two boxes; the columns of a rotation are the axes."""

    center: Array
    half: Array
    rotation: Array
    other_center: Array
    other_half: Array
    other_rotation: Array


@st.composite
def vectors(draw: st.DrawFn) -> Array:
    """Return a vector of any direction, often along an axis, sometimes zero."""
    kind = draw(st.sampled_from(["any", "any", "axis", "zero"]))
    if kind == "any":
        return np.array([draw(UNIT) for _ in range(3)])
    unit = as_array(np.eye(3)[draw(st.integers(0, 2))]) * draw(st.sampled_from([1.0, -1.0, 0.5]))
    return unit if kind == "axis" else np.zeros(3)


@cache
def shares() -> st.SearchStrategy[float]:
    """Return a place along a segment, as likely an end or the middle as any."""
    return st.sampled_from([0.0, 0.5, 1.0]) | st.floats(0.0, 1.0)


@st.composite
def ball_pairs(draw: st.DrawFn) -> tuple[Array, Array]:
    """Return two spheres x y z r."""
    first, second = draw(RADII), draw(RADII)
    away = draw(vectors()) * draw(st.sampled_from([1.0, 1e-9, first + second]))
    size = draw(SIZES)
    offset = draw(offsets(size))
    center = np.array([draw(UNIT) for _ in range(3)])
    return (
        as_array([*(center + away) * size + offset, first * size]),
        as_array([*center * size + offset, second * size]),
    )


@st.composite
def axis_pairs(draw: st.DrawFn, *, ball: bool = False) -> tuple[Array, Array]:
    """Return two capsules, the second one a ball if so asked; their axes meet or nearly do."""
    first, second = draw(vectors()), np.zeros(3)
    if not ball:
        relation = draw(st.sampled_from(["any", "any", "parallel", "nearly"]))
        second = draw(vectors()) if relation == "any" else first * draw(UNIT)
        if relation == "nearly":
            second = second + 10.0 ** draw(st.floats(-17.0, -3.0)) * draw(vectors())
    radii = [draw(RADII), draw(RADII)]
    gap = draw(st.sampled_from(["none", "any", "square", "hair"]))
    away = np.zeros(3) if gap == "none" else draw(vectors())
    if gap == "square":
        across = np.cross(first, second)
        norm = float(np.linalg.norm(across))
        away = across / norm * draw(st.floats(-1.2, 1.2)) * sum(radii) if norm > 0.0 else away
    if gap == "hair":
        away = away * 10.0 ** draw(st.floats(-16.0, -8.0))
    start = away - draw(shares()) * first
    other = -draw(shares()) * second
    size = draw(SIZES)
    offset = draw(offsets(size))
    ends = [start, start + first, other, other + second]
    a, b, c, d = (end * size + offset for end in ends)
    return as_array([*a, *b, radii[0] * size]), as_array([*c, *d, radii[1] * size])


class CapsuleBoxPair(NamedTuple):
    """A capsule (7,) ax ay az bx by bz r and a box; the columns of the rotation are its axes."""

    capsule: Array
    center: Array
    half: Array
    rotation: Array


@st.composite
def capsule_box_pairs(draw: st.DrawFn) -> CapsuleBoxPair:
    """Return a capsule in, through, at or beside a box, often along an axis of it or a diagonal."""
    rotation, half, radius = draw(rotations()), draw(halves()), draw(RADII)
    largest = float(half.max())
    axis = draw(vectors()) * largest * draw(st.sampled_from([1.0, 0.1, 5.0]))
    if draw(st.booleans()):
        axis = axis + largest * 10.0 ** draw(st.floats(-17.0, -3.0)) * draw(vectors())
    place = half * np.array([draw(SIDES) for _ in range(3)])
    gap = draw(st.sampled_from(["none", "any", "radius", "hair"]))
    if gap == "any":
        place = place + (largest + radius * largest) * draw(vectors())
    elif gap == "radius":
        away = draw(vectors())
        place = place + away * radius * largest / max(float(np.linalg.norm(away)), 1e-300)
    elif gap == "hair":
        place = place + largest * 10.0 ** draw(st.floats(-16.0, -8.0)) * draw(vectors())
    start = place - draw(shares()) * axis
    size = draw(SIZES)
    offset = draw(offsets(size))
    center = size * largest * draw(vectors()) + offset
    ends = [size * rotation @ end + center for end in (start, start + axis)]
    capsule = as_array([*ends[0], *ends[1], radius * largest * size])
    return CapsuleBoxPair(capsule, center, half * size, rotation)


@st.composite
def capsule_cases(draw: st.DrawFn, shapes: st.SearchStrategy[Array] | None = None) -> CapsuleCase:
    """Return a capsule over, under, through, beside or along a triangle."""
    triangle = draw(triangles() if shapes is None else shapes)
    radius = draw(RADII)
    edge = triangle[1] - triangle[0]
    normal = np.cross(edge, triangle[2] - triangle[0])
    if np.linalg.norm(normal) > 0.0:
        normal /= np.linalg.norm(normal)
    kind = draw(st.sampled_from(["any", "any", "upright", "level", "edge", "leaning"]))
    axis = draw(vectors()) * draw(st.sampled_from([1.0, 0.1, 5.0]))
    if kind == "upright":
        axis = normal * draw(UNIT)
    elif kind == "level":
        axis = axis - normal * (axis @ normal)
    elif kind == "edge":
        axis = edge * draw(UNIT)
    elif kind == "leaning":
        axis = edge * draw(UNIT) + normal * 10.0 ** draw(st.floats(-16.0, 0.0))
    place = draw(weights()) @ triangle
    side = draw(st.sampled_from(["on", "normal", "any"]))
    if side == "normal":
        place = place + normal * (radius * draw(HEIGHTS))
    elif side == "any":
        place = place + radius * np.array([draw(UNIT) for _ in range(3)])
    start = place - draw(shares()) * axis
    size = draw(SIZES)
    offset = draw(offsets(size))
    ends = [*(start * size + offset), *((start + axis) * size + offset), radius * size]
    return CapsuleCase(as_array(ends), triangle * size + offset)


@st.composite
def halves(draw: st.DrawFn) -> Array:
    """Return half extents; a third of them makes the box a plate, a rod or a point."""
    largest = 10.0 ** draw(st.floats(-2.0, 1.0))
    return as_array(largest * np.array([draw(RATIOS) for _ in range(3)]))


@st.composite
def box_pairs(draw: st.DrawFn) -> BoxPair:
    """Return two boxes with a point in common, or nearly; often turned alike, or nearly."""
    rotation = draw(rotations())
    relation = draw(st.sampled_from(["any", "any", "alike", "quarter", "nearly"]))
    other_rotation = draw(rotations())
    if relation in {"alike", "nearly"}:
        other_rotation = rotation
    elif relation == "quarter":
        other_rotation = rotation[:, [1, 2, 0]]
    if relation == "nearly":
        angle = 10.0 ** draw(st.floats(-17.0, -3.0))
        turn = np.array([1.0, *(angle * draw(UNIT) for _ in range(3))])
        other_rotation = other_rotation @ rotation_from(turn)
    half, other_half = draw(halves()), draw(halves())
    inside, other_inside = (np.array([draw(SIDES) for _ in range(3)]) for _ in range(2))
    center = other_rotation @ (other_inside * other_half) - rotation @ (inside * half)
    if draw(st.integers(0, 3)) == 0:
        center = center + max(half.max(), other_half.max()) * draw(vectors())
    size = draw(SIZES)
    offset = draw(offsets(size))
    return BoxPair(
        center * size + offset, half * size, rotation, offset, other_half * size, other_rotation
    )
