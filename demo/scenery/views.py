"""What the collision machinery sees, drawn over the picture: one view for each key F2 to F9."""

import math
from collections.abc import Callable, Collection
from typing import NamedTuple, assert_never

import numpy as np
from numpy.typing import NDArray

from terrain_physics import (
    AABB,
    OBB,
    Capsule,
    Sphere,
    rows,
)

from ..picture import colors
from ..picture.frame import Frame, Label, Lines, Tint
from .bodies import Body, Floats
from .inputs import looking
from .scene import Scene, path_lines

# Views of single bodies show those nearest to the camera.
MOST_BODIES = 80
# Bodies stand just clear of the ground; what is nearer than this counts as touched.
_TOUCHING = 2e-3
_NORMAL_LENGTH = 1.2
_CROSS = 0.4
# Planes are drawn as squares, so much larger than the body and as far in front of the ground.
_PLANE_SIZE, _PLANE_LIFT = 1.5, 0.01
# Blocks of cells are drawn up to so many of their own sides away; larger ones only where one looks.
_BLOCKS_AWAY = (4.5, 1.0)

# Corners of a box are numbered by bits: 1 is x, 2 is y, 4 is z.
_BOX_EDGES = [(i, i | bit) for i in range(8) for bit in (1, 2, 4) if not i & bit]
_SQUARE = np.array([(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)])
_LEVELS = (colors.BLUE, colors.ORANGE, colors.VIOLET, colors.RED)
_STAR = (colors.YELLOW, colors.TEAL, colors.VIOLET, colors.ORANGE, colors.BLUE, colors.RED)


class ShownContact(NamedTuple):
    """Where a body touches a triangle, and how the triangle pushes it."""

    point: Floats
    normal: Floats
    depth: float


def fill_views(frame: Frame, scene: Scene, names: Collection[str]) -> None:
    """Add the views that are on to a frame."""
    for name, fill in _FILLED_BY.items():
        if name in names:
            fill(frame, scene)


def candidates_of(scene: Scene, body: Body) -> Floats:
    """Return the triangles that the broad phase finds around a body, (n, 3, 3)."""
    lower, upper = body.bounds()
    return scene.ground.triangles_in(AABB(lower.tolist(), upper.tolist())).vertices


def contacts_of(scene: Scene, body: Body) -> list[ShownContact]:
    """Return the triangles a body touches, each by itself."""
    triangles = candidates_of(scene, body)
    if not len(triangles):
        return []
    shape, slack = body.shape(), _TOUCHING
    if isinstance(shape, Sphere):
        row = np.array([[*shape.center64, shape.radius + slack]])
        pushes = rows.intersect_sphere_triangle(row, triangles)
        middle = np.array(shape.center64)
    elif isinstance(shape, Capsule):
        row = np.array([[*shape.a64, *shape.b64, shape.radius + slack]])
        pushes = rows.intersect_capsule_triangle(row, triangles)
        middle = 0.5 * (np.array(shape.a64) + np.array(shape.b64))
    elif isinstance(shape, OBB):
        middle = np.array(shape.center64)
        extents = np.array([shape.half_extents64]) + slack
        pushes = rows.intersect_obb_triangle(middle[None], extents, body.turn[None], triangles)
    else:
        assert_never(shape)
    found = []
    for push in pushes[~np.isnan(pushes[:, 0])]:
        length = float(np.sqrt(push @ push))
        if length > 0.0:
            normal = push / length
            point = middle - normal * _reach(shape, normal)
            found.append(ShownContact(point, normal, max(0.0, length - slack)))
    return found


def _reach(shape: Sphere | OBB | Capsule, way: Floats) -> float:
    """Return how far a shape goes from its middle against a direction."""
    if isinstance(shape, Sphere):
        return shape.radius
    if isinstance(shape, Capsule):
        axis = 0.5 * (np.array(shape.b64) - np.array(shape.a64))
        return shape.radius + abs(float(axis @ way))
    if isinstance(shape, OBB):
        turn = np.array(shape.rotation64).reshape(3, 3)
        return float(np.abs(way @ turn) @ np.array(shape.half_extents64))
    assert_never(shape)


def _candidates(frame: Frame, scene: Scene) -> None:
    corners, tints = [], []
    for index, body in enumerate(scene.nearest(frame.camera.position, MOST_BODIES)):
        found = candidates_of(scene, body)
        corners.append(found)
        tints.append(colors.rows(_STAR[index % len(_STAR)], len(found)))
    if corners:
        frame.tints.append(Tint(np.concatenate(corners), np.concatenate(tints), 0.55))


def _contacts(frame: Frame, scene: Scene) -> None:
    """A cross where a body touches, its normal, and over it in red the penetration to scale.

    Drawn in front of the body, which would hide them, where the eye sees them just as well.
    """
    eye = np.array(frame.camera.position)
    found, sizes = [], []
    for body in scene.nearest(frame.camera.position, MOST_BODIES):
        contacts = contacts_of(scene, body)
        lower, upper = body.bounds()
        found += contacts
        sizes += [float(np.linalg.norm(upper - lower))] * len(contacts)
    if not found:
        return
    points = np.array([contact.point for contact in found])
    normals = np.array([contact.normal for contact in found])
    depths = np.array([contact.depth for contact in found])[:, np.newaxis]
    away = np.linalg.norm(points - eye, axis=1)
    nearer = np.maximum(away - np.array(sizes), 0.2 * away) / away
    side = np.cross(normals, np.where(np.abs(normals[:, :1]) < 0.9, (1.0, 0, 0), (0, 1.0, 0)))
    side *= _CROSS / np.sqrt((side * side).sum(axis=1))[:, np.newaxis]
    other = np.cross(normals, side)
    pieces = (
        (points, points + _NORMAL_LENGTH * normals, colors.YELLOW),
        (points - side, points + side, colors.WHITE),
        (points - other, points + other, colors.WHITE),
        (points, points + depths * normals, colors.RED),
    )
    for starts, stops, color in pieces:
        ends = eye + (np.stack([starts, stops], axis=1) - eye) * nearer[:, np.newaxis, np.newaxis]
        frame.lines.append(Lines(ends, colors.rows(color, len(found))))


def _corners(bounds: Floats) -> Floats:
    """Return all corners (n, 8, 3) of boxes, lower and upper corners (n, 2, 3)."""
    bits = np.array([[corner >> axis & 1 for axis in range(3)] for corner in range(8)])
    return np.where(bits == 1, bounds[:, 1:], bounds[:, :1])


def _outlines(bounds: Floats, color: colors.Color) -> Lines:
    """Return the edges of boxes, lower and upper corners (n, 2, 3)."""
    ends = _corners(bounds)[:, np.array(_BOX_EDGES)].reshape(-1, 2, 3)
    return Lines(ends, colors.rows(color, len(ends)))


def _boxes(frame: Frame, scene: Scene) -> None:
    bounds = np.array(
        [body.bounds() for body in scene.nearest(frame.camera.position, MOST_BODIES)]
    ).reshape(-1, 2, 3)
    frame.lines.append(_outlines(bounds, colors.YELLOW))


def _wireframe(frame: Frame, scene: Scene) -> None:  # noqa: ARG001 all views are called alike
    frame.wireframe = True


def _planes(frame: Frame, scene: Scene) -> None:
    """A square in each plane a body touches: blue where it is walkable, else orange and crossed."""
    limit = math.cos(scene.bodies.rules.slope_limit)
    squares, walkable = [], []
    for body in scene.nearest(frame.camera.position, MOST_BODIES):
        planes = body.mover.constraint_planes()
        if not len(planes):
            continue
        lower, upper = body.bounds()
        middle, size = 0.5 * (lower + upper), _PLANE_SIZE * 0.5 * float((upper - lower)[::2].max())
        normals = planes[:, :3]
        away = normals @ middle - planes[:, 3]
        feet = middle - (away - _PLANE_LIFT)[:, np.newaxis] * normals
        level = np.cross(normals, np.where(np.abs(normals[:, :1]) < 0.7, (1.0, 0, 0), (0, 0, 1.0)))
        level *= size / np.sqrt((level * level).sum(axis=1))[:, np.newaxis]
        other = np.cross(normals, level)
        squares.append(
            feet[:, np.newaxis]
            + _SQUARE[:, :1] * level[:, np.newaxis]
            + _SQUARE[:, 1:] * other[:, np.newaxis]
        )
        walkable.append(normals[:, 1] >= limit - 1e-9)
        stops = feet + 0.7 * _NORMAL_LENGTH * normals
        ends = np.stack([feet, stops], axis=1)
        frame.lines.append(Lines(ends, colors.rows(colors.WHITE, len(ends))))
    if squares:
        _fill_squares(frame, np.concatenate(squares), np.concatenate(walkable))


def _fill_squares(frame: Frame, corners: Floats, walkable: NDArray[np.bool_]) -> None:
    """Add squares of planes, (n, 4, 3)."""
    shade = np.where(walkable[:, np.newaxis], colors.BLUE, colors.ORANGE).astype(np.uint8)
    halves = corners[:, [[0, 1, 2], [0, 2, 3]]].reshape(-1, 3, 3)
    frame.tints.append(Tint(halves, np.repeat(shade, 2, axis=0), 0.5))
    edges = np.stack([corners, np.roll(corners, -1, axis=1)], axis=2).reshape(-1, 2, 3)
    frame.lines.append(Lines(edges, np.repeat(shade, 4, axis=0)))
    crosses = corners[~walkable][:, [[0, 2], [1, 3]]].reshape(-1, 2, 3)
    frame.lines.append(Lines(crosses, colors.rows(colors.ORANGE, len(crosses))))


def _blocks(frame: Frame, scene: Scene) -> None:
    """The boxes around blocks of the map's cells, level in level, about where one looks."""
    land = scene.land
    if land is None:
        return
    camera = frame.camera
    looked_at = scene.point(camera.position, looking(camera.yaw, camera.pitch))
    x, _, z = looked_at or camera.position
    for level in range(land.block_levels - 1, -1, -1):
        found = land.blocks(level)
        bounds = np.stack([found.lower, found.upper], axis=2).reshape(-1, 2, 3)
        bounds = bounds[~np.isnan(bounds[:, 0, 1])]
        gap = np.maximum(bounds[:, 0] - (x, 0.0, z), (x, 0.0, z) - bounds[:, 1])[:, ::2]
        away = _BLOCKS_AWAY[level] if level < len(_BLOCKS_AWAY) else 0.0
        bounds = bounds[(gap <= away * found.cells * max(land.cell_size)).all(axis=1)]
        color = _LEVELS[level % len(_LEVELS)]
        frame.lines.append(_outlines(bounds, color))
        if level == 0:
            lids = _corners(bounds)[:, [[2, 6, 7], [2, 7, 3]]].reshape(-1, 3, 3)
            frame.tints.append(Tint(lids, colors.rows(color, len(lids)), 0.2))


def _normals(frame: Frame, scene: Scene) -> None:
    starts, stops = [], []
    for body in scene.nearest(frame.camera.position, MOST_BODIES):
        normal = body.result.ground_normal
        if normal is None:
            continue
        lower, upper = body.bounds()
        foot = np.array([body.place[0], lower[1], body.place[2]])
        up = np.array([normal.x, normal.y, normal.z])
        starts.append(foot)
        stops.append(foot + up * (upper[1] - lower[1] + _NORMAL_LENGTH))
        if len(starts) <= 12:
            angle = math.degrees(math.acos(min(1.0, normal.y)))
            x, y, z = stops[-1].tolist()
            frame.labels.append(Label(f"{angle:.0f}\N{DEGREE SIGN}", (x, y + 0.15, z)))
    if starts:
        ends = np.stack([np.array(starts), np.array(stops)], axis=1)
        frame.lines.append(Lines(ends, colors.rows(colors.GREEN, len(ends))))


def _trail(frame: Frame, scene: Scene) -> None:
    if len(scene.trail) > 1:
        frame.lines.append(path_lines(scene.trail, colors.ORANGE, lift=0.08))


_FILLED_BY: dict[str, Callable[[Frame, Scene], None]] = {
    "candidates": _candidates,
    "contacts": _contacts,
    "boxes": _boxes,
    "wireframe": _wireframe,
    "planes": _planes,
    "normals": _normals,
    "trail": _trail,
    "blocks": _blocks,
}
