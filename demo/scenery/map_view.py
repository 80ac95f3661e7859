"""How a map of where one can walk is drawn: its places as squares, a path as a ribbon."""

import numpy as np
from numpy.typing import NDArray

from terrain_physics import HeightMap, Path, Walkability

from ..picture import colors
from ..picture.frame import Tint
from .bodies import Floats
from .pick import AnyGround

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
_LOOK_FROM, _LOOK_DOWN = 1.2, 6.0  # meters above a path, for the ground that it is on
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


def ribbon_of(path: Path, ground: AnyGround) -> Tint | None:
    """Return a path as a ribbon on the ground, in the colors of its kinds; None for one point."""
    corners, tints = [], []
    for start, end, kind in zip(path.points, path.points[1:], path.kinds, strict=False):
        places = _on_ground(start, end, ground) if kind == "walk" else np.array([start, end])
        aside = np.array([start[2] - end[2], 0.0, end[0] - start[0]])
        aside *= _HALF_RIBBON / max(float(np.linalg.norm(aside)), 1e-9)
        left, right = places - aside, places + aside
        corners.append(np.stack([left[:-1], left[1:], right[1:], right[:-1]], axis=1))
        tints.append(colors.rows(KINDS[kind], len(places) - 1))
    if not corners:
        return None
    ribbon = tint_of(np.concatenate(corners), np.concatenate(tints))
    both = np.concatenate([ribbon.corners, ribbon.corners[:, ::-1]])
    return Tint(both, np.concatenate([ribbon.colors, ribbon.colors]), 0.9)


def _squares(places: Floats, half: float, land: HeightMap) -> Floats:
    """Return squares (n, 4, 3) around places, which lie on the land where that is near."""
    x, y, z = (values[:, np.newaxis] for values in places.T)
    corner_x, corner_z = x + half * _CORNERS[:, 0], z + half * _CORNERS[:, 1]
    ground = land.height_at(corner_x, corner_z)
    heights = np.where(np.abs(ground - y) < half, ground, y)
    return np.stack([corner_x, heights + _LIFT, corner_z], axis=2)


def _on_ground(start: Floats, end: Floats, ground: AnyGround) -> Floats:
    """Return places along a straight way, on the ground below it."""
    count = 1 + max(1, round(float(np.linalg.norm(end - start)) / _EVERY))
    places = start + np.linspace(0.0, 1.0, count)[:, np.newaxis] * (end - start)
    above = places + np.array((0.0, _LOOK_FROM, 0.0))
    hits = ground.raycast_many(above, [(0.0, -1.0, 0.0)], max_distance=_LOOK_DOWN)
    heights = above[:, 1] - hits.distance
    places[:, 1] = np.where(np.isnan(hits.distance), places[:, 1], heights) + _LIFT
    return np.asarray(places)
