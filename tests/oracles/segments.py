"""Slow, exact distances of segments, triangles and boxes, on the fractions of ``geometry.py``."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

from tests.oracles import boxes
from tests.oracles.boxes import Box
from tests.oracles.geometry import (
    Corners,
    Vector,
    add,
    closest_on_segment,
    closest_on_triangle,
    cross,
    distance_squared,
    dot,
    doubled_area_normal,
    foot_weights,
    root,
    scale,
    subtract,
)

Segment = tuple[Vector, Vector]


def between_segments(first: Segment, second: Segment) -> Fraction:
    """Return the squared distance of two segments: ends against the other, then both insides."""
    pairs = [(point, closest_on_segment(point, *second)) for point in first]
    pairs += [(point, closest_on_segment(point, *first)) for point in second]
    u, v = subtract(first[1], first[0]), subtract(second[1], second[0])
    w = subtract(second[0], first[0])
    uu, uv, vv, uw, vw = dot(u, u), dot(u, v), dot(v, v), dot(u, w), dot(v, w)
    determinant = uu * vv - uv * uv
    if determinant != 0:
        s = (uw * vv - uv * vw) / determinant
        t = (uw * uv - uu * vw) / determinant
        if 0 <= s <= 1 and 0 <= t <= 1:
            pairs.append((add(first[0], scale(u, s)), add(second[0], scale(v, t))))
    return min(distance_squared(one, other) for one, other in pairs)


def goes_through(segment: Segment, triangle: Corners) -> bool:
    """Tell whether a segment has ends on both sides of a triangle and meets it."""
    normal = doubled_area_normal(triangle)
    heights = [dot(normal, subtract(end, triangle[0])) for end in segment]
    if heights[0] * heights[1] >= 0:
        return False
    share = heights[0] / (heights[0] - heights[1])
    place = add(segment[0], scale(subtract(segment[1], segment[0]), share))
    weights = foot_weights(place, triangle)
    return weights is not None and min(weights) >= 0


def segment_to_triangle(segment: Segment, triangle: Corners) -> Fraction:
    """Return the distance of a segment and a triangle."""
    if goes_through(segment, triangle):
        return Fraction(0)
    squares = [distance_squared(end, closest_on_triangle(end, triangle)) for end in segment]
    squares += [between_segments(segment, edge) for edge in combinations(triangle, 2)]
    return root(min(squares))


def depth_in(points: Sequence[Vector]) -> Fraction:
    """Return how deep the origin, which is in the hull of some points, is in it; 0 without volume.

    ``points`` are the differences of a corner of one shape and a corner of the other.
    """
    return min((side.distance for side in boxes.facets(points)), default=Fraction(0))


def differences(first: Sequence[Vector], second: Sequence[Vector]) -> list[Vector]:
    """Return all corners of the second minus all corners of the first: moves that keep contact."""
    return [subtract(point, corner) for point in second for corner in first]


def box_to_point(box: Box, point: Vector) -> Fraction:
    """Return the distance of a box and a point: what the point lacks of the box on each axis."""
    line = subtract(point, box.center)
    square = Fraction(0)
    for extent, axis in zip(box.half, box.axes, strict=True):
        outside = abs(dot(line, axis) / dot(axis, axis)) - extent
        square += max(outside, Fraction(0)) ** 2 * dot(axis, axis)
    return root(square)


def box_to_segment(box: Box, segment: Segment) -> Fraction:
    """Return the distance of a box and a segment: the ends to the box, the segment to each edge."""
    if boxes.touches(box, (segment[0], segment[1], segment[1])):
        return Fraction(0)
    distances = [box_to_point(box, end) for end in segment]
    corners = boxes.box_corners(box)
    edges = [(corners[i], corners[i | bit]) for i in range(8) for bit in (1, 2, 4) if not i & bit]
    return min(*distances, root(min(between_segments(segment, edge) for edge in edges)))


_FACES = ((0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5))


def boxes_touch(first: Box, second: Box) -> bool:
    """Tell whether two boxes have a point in common: one holds the other, or a face meets it."""
    corners = boxes.box_corners(second)
    triangles = [
        (corners[i], corners[j], corners[k])
        for a, b, c, d in _FACES
        for i, j, k in ((a, b, c), (a, c, d))
    ]
    return box_to_point(second, first.center) == 0 or any(
        boxes.touches(first, triangle) for triangle in triangles
    )


def lengths_cross(first: Vector, second: Vector) -> float:
    """Return the sine of the angle between two vectors; 0 if one is zero."""
    square = dot(first, first) * dot(second, second)
    product = cross(first, second)
    return float(root(dot(product, product) / square)) if square else 0.0
