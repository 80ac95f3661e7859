"""How a map of where one can walk is drawn: its places as squares, a path as a ribbon."""

import numpy as np
from numpy.typing import NDArray

from terrain_physics import HeightMap, Path, Walkability

from ..picture import colors
from ..picture.frame import Tint
from .bodies import Floats

PARTS = (
    (40, 130, 255),
    (255, 120, 30),
    (210, 70, 220),
    (255, 210, 40),
    (60, 230, 220),
    (240, 60, 60),
)
KINDS = {"walk": colors.WHITE, "step": (255, 140, 0), "drop": colors.RED}
SMALLEST_SHOWN = 4  # places of a part

_LIFT = 0.06  # meters above the ground
_SHARE = 0.4  # of the spacing, from the middle of a square to its sides
_OPACITY = 0.5
_HALF_RIBBON, _EVERY = 0.14, 0.5  # meters
_CORNERS = np.array([(-1.0, 1.0), (1.0, 1.0), (1.0, -1.0), (-1.0, -1.0)])


def squares_of(paths: Walkability, land: HeightMap) -> tuple[Floats, NDArray[np.uint8], int]:
    """Return the places of a map as squares (n, 4, 3), their colors, and how many parts there are.

    All places of a part have one color: the largest part the first, and so on.
    """
    labels = np.asarray(paths.labels)
    sizes = np.bincount(labels.ravel())
    sizes[0] = 0
    order = np.argsort(-sizes, kind="stable")
    shown = (labels > 0) & (sizes[labels] >= SMALLEST_SHOWN)
    ranks = np.empty(len(sizes), dtype=np.int64)
    ranks[order] = np.arange(len(sizes))
    tints = np.array(PARTS, dtype=np.uint8)[ranks[labels[shown]] % len(PARTS)]
    corners = _squares(paths.positions[shown], _SHARE * paths.spacing, land)
    return corners, tints, int((sizes >= SMALLEST_SHOWN).sum())


def tint_of(squares: Floats, tints: NDArray[np.uint8]) -> Tint:
    """Return squares (n, 4, 3) to be drawn."""
    halves = squares[:, [[0, 1, 2], [0, 2, 3]]].reshape(-1, 3, 3)
    return Tint(halves, np.repeat(tints, 2, axis=0), _OPACITY)


class Ribbon:
    """A path as a ribbon on the ground. It is made anew where the path or the ground is another."""

    def __init__(self) -> None:
        self._made_of: tuple[Path, int] | None = None
        self._tint: Tint | None = None

    def of(self, path: Path, version: int) -> Tint | None:
        """Return the ribbon of a path over a version of its ground; None for one point."""
        if self._made_of is None or self._made_of[0] is not path or self._made_of[1] != version:
            self._made_of, self._tint = (path, version), ribbon_of(path)
        return self._tint


def ribbon_of(path: Path) -> Tint | None:
    """Return a path as a ribbon on the ground, in the colors of its kinds; None for one point."""
    if not path.kinds:
        return None
    line = path.on_ground(_EVERY) + np.array([0.0, _LIFT, 0.0])
    along = np.diff(line, axis=0)
    aside = np.stack([-along[:, 2], np.zeros(len(along)), along[:, 0]], axis=1)
    # A piece that goes straight up or down has no sides.
    aside *= _HALF_RIBBON / np.maximum(np.linalg.norm(aside, axis=1, keepdims=True), 1e-9)
    starts, ends = line[:-1], line[1:]
    corners = np.stack([starts - aside, ends - aside, ends + aside, starts + aside], axis=1)
    pieces = _piece_of_each(line, path.points)
    ribbon = tint_of(corners, np.array([KINDS[kind] for kind in path.kinds], np.uint8)[pieces])
    both = np.concatenate([ribbon.corners, ribbon.corners[:, ::-1]])
    return Tint(both, np.concatenate([ribbon.colors, ribbon.colors]), 0.9)


def _piece_of_each(line: Floats, points: Floats) -> NDArray[np.int64]:
    """Return the piece of a path that each part of its line belongs to.

    A line has all corners of its path, one behind the other; it may cross a corner before or after.
    """
    pieces = np.zeros(len(line) - 1, dtype=np.int64)
    at = 0
    for corner in points[1:-1, ::2]:
        at += 1 + int((line[at + 1 :, ::2] == corner).all(axis=1).argmax())
        pieces[at:] += 1
    return pieces


def _squares(places: Floats, half: float, land: HeightMap) -> Floats:
    """Return squares (n, 4, 3) around places, which lie on the land where that is near."""
    x, y, z = (values[:, np.newaxis] for values in places.T)
    corner_x, corner_z = x + half * _CORNERS[:, 0], z + half * _CORNERS[:, 1]
    ground = land.height_at(corner_x, corner_z)
    heights = np.where(np.abs(ground - y) < half, ground, y)
    return np.stack([corner_x, heights + _LIFT, corner_z], axis=2)
