"""Lines of a frame, and the outlines of bodies and meshes where only wires are drawn."""

import numpy as np
from numpy.typing import NDArray

from ..picture.frame import Frame
from . import look
from .faces import Faces

Floats = NDArray[np.float64]

MANY = 400
"""From this many bodies on, circles have fewer corners."""
_SIGNS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=np.float64)
_BOX = np.array([[i, j] for i in range(8) for j in range(i) if (i ^ j) in (1, 2, 4)])


def frame_lines(frame: Frame, meshes: Faces) -> tuple[Floats, Floats]:
    """Return ends (n, 6) and colors (n, 3) of all lines of a frame."""
    ends = [np.empty((0, 6))]
    colors = [np.empty((0, 3))]
    for lines in frame.lines:
        ends.append(np.asarray(lines.ends, dtype=np.float64).reshape(-1, 6))
        colors.append(np.broadcast_to(lines.colors, (len(lines.ends), 3)))
    if frame.wireframe:
        for wires, tones in _bodies(frame):
            ends.append(wires.reshape(-1, 6))
            colors.append(np.repeat(tones, wires.shape[1], axis=0))
        ends.append(meshes.vertices[meshes.edges].reshape(-1, 6))
        colors.append(np.tile(look.WIRE, (len(meshes.edges), 1)))
    return np.concatenate(ends), np.concatenate(colors).astype(np.float64)


def _bodies(frame: Frame) -> list[tuple[Floats, NDArray[np.uint8]]]:
    """Return wires (n, k, 2, 3) of bodies and a color for each body."""
    found = []
    for balls in frame.balls:
        rings = np.concatenate([_ring(len(balls.centers), axis) for axis in range(3)])
        local = rings[np.newaxis] * np.asarray(balls.radii)[:, np.newaxis, np.newaxis, np.newaxis]
        found.append((_placed(local, balls.centers, balls.rotations), balls.colors))
    for boxes in frame.boxes:
        local = (_SIGNS * boxes.half_extents[:, np.newaxis, :])[:, _BOX]
        found.append((_placed(local, boxes.centers, boxes.rotations), boxes.colors))
    for capsules in frame.capsules:
        wires = _capsules(capsules.a, capsules.b, capsules.radii)
        found.append((wires, capsules.colors))
    return found


def _ring(bodies: int, axis: int) -> Floats:
    """Return the circle of radius 1 about an axis as lines, (k, 2, 3)."""
    count = 12 if bodies > MANY else 28
    angles = np.linspace(0.0, 2.0 * np.pi, count + 1)
    points = np.zeros((count + 1, 3))
    points[:, (axis + 1) % 3], points[:, (axis + 2) % 3] = np.cos(angles), np.sin(angles)
    return np.stack([points[:-1], points[1:]], axis=1)


def _placed(local: Floats, centers: Floats, rotations: Floats) -> Floats:
    turned = np.einsum("nij,nkej->nkei", np.asarray(rotations), local)
    return np.asarray(turned + centers[:, np.newaxis, np.newaxis, :])


def _capsules(a: Floats, b: Floats, radii: Floats) -> Floats:
    """Rings at both ends, the sides between them, and half circles over the ends."""
    from .bodies import axes_along

    turn, half = axes_along(b - a), 0.5 * np.linalg.norm(b - a, axis=1)
    wide = np.asarray(radii)[:, np.newaxis, np.newaxis, np.newaxis]
    parts = []
    for axis in range(3):
        ring = _ring(len(a), axis)[np.newaxis] * wide
        for end in (-1.0, 1.0) if axis == 2 else (0.0,):
            moved = ring.copy()
            if axis == 2:
                moved[..., 2] += end * half[:, np.newaxis, np.newaxis]
            else:  # the circle's two halves, moved apart
                moved[..., 2] += (
                    np.sign(ring[..., 2].mean(axis=2))[..., np.newaxis]
                    * (half[:, np.newaxis, np.newaxis])
                )
            parts.append(moved)
    sides = np.array([[[x, y, -1.0], [x, y, 1.0]] for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1))])
    scale = np.stack([np.asarray(radii), np.asarray(radii), half], axis=1)
    parts.append(sides[np.newaxis] * scale[:, np.newaxis, np.newaxis, :])
    return _placed(np.concatenate(parts, axis=1), 0.5 * (a + b), turn)
