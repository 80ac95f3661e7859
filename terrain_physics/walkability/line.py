"""A path as a line on the ground, as games draw it: straight pieces would hang above hills."""

import math
from typing import NamedTuple

import numpy as np

from terrain_physics._kernels.character.state import layout as columns
from terrain_physics._kernels.types import Bytes, Floats
from terrain_physics._kernels.walkability.layout import DROP
from terrain_physics.character.placement import AnyGround, reach_below
from terrain_physics.geometry.shapes import Ray
from terrain_physics.walkability.terms import Terms

# Beside those of the path itself.
MOST_POINTS = 1_000_000

_DOWN = 0.0, -1.0, 0.0


class _Look(NamedTuple):
    """How the ground is looked for under a body that goes on by a stride; in meters."""

    ground: AnyGround
    mask: int
    ups: tuple[float, float]  # how far above the last height: near, and from its head
    down: float

    def height_at(self, x: float, y: float, z: float, fall: float, straight: float) -> float:
        """Return the height of the ground; that of before, y, where a body goes over a gap.

        From its head it is looked for only behind a gap, so that what is above does not count.
        Where the ground waits for its tiles, it is that of the straight line.
        """
        for up in self.ups:
            ray = Ray((x, y + up, z), _DOWN)
            hit = self.ground.raycast(ray, up + self.down + fall, mask=self.mask)
            if hit is not None:
                return straight if hit.unknown else y + up - hit.distance
        return y


def line_on_ground(points: Floats, kinds: Bytes, terms: Terms, spacing: float) -> Floats:
    """Return points (m, 3) on the ground along a path, at most a spacing apart on the level."""
    rules = terms.rules
    stride = min(spacing, float(rules[columns.EXTENTS]), float(rules[columns.EXTENTS + 2]))
    below = reach_below(rules)
    look = _look(terms, stride, below)
    feet = points - np.array([0.0, below - rules[columns.OFFSET + 1], 0.0])
    lengths = np.sqrt(np.square(np.diff(points[:, ::2], axis=0)).sum(axis=1))
    least_spacing = lengths.sum() / MOST_POINTS
    if spacing < least_spacing:
        raise ValueError(
            f"spacing must be at least {1.01 * least_spacing:.3g} m on a path of "
            f"{lengths.sum():.4g} m, got {spacing}"
        )
    parts = np.maximum(np.ceil(lengths / spacing), 1.0)
    x, y, z = feet[0].tolist()
    line = [(x, look.height_at(x, y, z, 0.0, y), z)]
    for k, count in enumerate(parts.astype(np.int64).tolist()):
        fall = max(float(feet[k, 1] - feet[k + 1, 1]), 0.0) if kinds[k] == DROP else 0.0
        strides = max(math.ceil(lengths[k] / count / stride), 1)
        y = float(feet[k, 1])
        for i in range(1, count * strides + 1):
            share = i / (count * strides)
            x, straight, z = (feet[k] + share * (feet[k + 1] - feet[k])).tolist()
            if i == count * strides:
                x, y, z = feet[k + 1].tolist()
                straight = y
            y = look.height_at(x, y, z, fall, straight)
            if i % strides == 0:
                line.append((x, y, z))
    return np.array(line)


def _look(terms: Terms, stride: float, below: float) -> _Look:
    """Return how far from its last height a body that takes a stride may find ground."""
    rules = terms.rules
    cosine = float(rules[columns.SLOPE_COSINE])
    rise = stride * math.sqrt(1.0 - cosine * cosine) / max(cosine, 1e-9)
    step = float(rules[columns.STEP_OFFSET])
    head = 2.0 * below
    near = min(rise + step, head)
    down = near + max(step, float(rules[columns.SNAP])) + below
    return _Look(terms.ground, int(rules[columns.MASK]), (near, head), down)
