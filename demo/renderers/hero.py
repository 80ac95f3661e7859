"""The hero's outline where something hides it: a crowd, a wall, a hill."""

import numpy as np
from numpy.typing import NDArray

from ..picture import camera as cameras
from ..picture.frame import Frame

Floats = NDArray[np.float64]
Words = NDArray[np.uint32]

COLOR = (255, 238, 176)
WIDTH = 3.0  # pixels
_CLEAR = 0.5
"""What is less than so many meters in front of the hero does not hide it: its own hands, grass."""
_NEAREST = 1.5  # meters from the eye; nearer, one looks out of its head
_CORNERS = 40
_EVERY = 0.7  # pixels


def outline(frame: Frame) -> Floats:
    """Return lines around the hero as it is seen, (n, 2, 3), a little nearer; (0, 2, 3) of none."""
    if frame.hero is None:
        return np.empty((0, 2, 3))
    eye = np.array(frame.camera.position)
    low, high, radius = frame.hero.a[0], frame.hero.b[0], frame.hero.radii[0]
    look = 0.5 * (low + high) - eye
    away = float(np.linalg.norm(look))
    if away < _NEAREST:
        return np.empty((0, 2, 3))
    look /= away
    up = high - low
    up = up - look * (up @ look)
    up /= max(float(np.linalg.norm(up)), 1e-9)
    angles = np.linspace(0.0, 2.0 * np.pi, _CORNERS, endpoint=False)[:, np.newaxis]
    around = radius * (np.cos(angles) * np.cross(look, up) + np.sin(angles) * up)
    corners = np.where(np.sin(angles) >= 0.0, high, low) + around
    corners = eye + (corners - eye) * (1.0 - _CLEAR / away)
    return np.stack([corners, np.roll(corners, -1, axis=0)], axis=1)


def mark_hidden(frame: Frame, depth: NDArray[np.float32], pixels: Words) -> None:
    """Draw the outline into a picture where its depths, 1 / meters, are nearer."""
    corners = outline(frame)[:, 0]
    height, width = depth.shape
    seen = cameras.project(frame.camera, (width, height), corners)
    if not len(seen) or seen[:, 2].min() < cameras.NEAR:
        return
    x, y, inverse, normals = _along(np.column_stack([seen[:, :2], 1.0 / seen[:, 2]]))
    # The rims first: the middle is drawn over them.
    for aside, opacity in ((-1.2, 0.45), (1.2, 0.45), (-0.4, 1.0), (0.4, 1.0)):
        i = np.floor(y + aside * normals[:, 1]).astype(np.int64)
        j = np.floor(x + aside * normals[:, 0]).astype(np.int64)
        inside = (i >= 0) & (i < height) & (j >= 0) & (j < width)
        i, j = i[inside], j[inside]
        hidden = depth[i, j] > inverse[inside]
        i, j = i[hidden], j[hidden]
        pixels[i, j] = _blended(pixels[i, j], opacity)


def _along(corners: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return x, y, depth and normals of points close together on a closed line of the picture."""
    closed = np.concatenate([corners, corners[:1]])
    ways = np.diff(closed[:, :2], axis=0)
    lengths = np.hypot(*ways.T)
    ends = np.concatenate([[0.0], np.cumsum(lengths)])
    at = np.arange(0.0, ends[-1], _EVERY)
    x, y, inverse = (np.interp(at, ends, column) for column in closed.T)
    side = np.clip(np.searchsorted(ends, at, side="right") - 1, 0, len(ways) - 1)
    units = ways[side] / np.maximum(lengths[side], 1e-9)[:, np.newaxis]
    return x, y, inverse, units[:, ::-1] * (1.0, -1.0)


def _blended(words: Words, opacity: float) -> Words:
    """Return pixels, blue in the low byte, mixed with the outline's color."""
    mixed = np.zeros_like(words)
    for shift, tone in zip((16, 8, 0), COLOR, strict=True):
        value = (words >> shift & 255).astype(np.float64)
        mixed |= (value + opacity * (tone - value) + 0.5).astype(np.uint32) << np.uint32(shift)
    return mixed
