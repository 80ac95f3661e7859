"""Brushes, sample by sample in plain Python."""

import math
from typing import Any

import numpy as np

Size = tuple[float, float]


def weight(x: float, z: float, radius: float, flat: float = 0.0) -> float:
    """Return how much a sample counts that is (x, z) off the center."""
    distance = math.hypot(x, z)
    if distance <= flat:
        return 1.0
    if distance >= radius:
        return 0.0
    way = (distance - flat) / (radius - flat)
    return (1.0 - way * way) ** 2


def flattened(
    heights: Any,
    origin: Any,
    size: Size,
    scale: float,
    center: Size,
    radius: float,
    level: float,
    flat: float = 0.0,
    strength: float = 1.0,
) -> Any:
    """Return heights on their way to a level in meters."""
    new = np.array(heights, dtype=np.float64)
    for row, column in np.ndindex(new.shape):
        x, z = origin[0] + column * size[0], origin[2] + row * size[1]
        share = strength * weight(x - center[0], z - center[1], radius, flat)
        meters = origin[1] + scale * new[row, column]
        new[row, column] = (meters + share * (level - meters) - origin[1]) / scale
    return new


def smoothed(
    heights: Any, origin: Any, size: Size, center: Size, radius: float, strength: float = 1.0
) -> Any:
    """Return heights moved toward the mean around them."""
    old = np.array(heights, dtype=np.float64)
    new = old.copy()
    for row, column in np.ndindex(old.shape):
        total = count = 0.0
        for down in (-1, 0, 1):
            for aside in (-1, 0, 1):
                r, c = row + down, column + aside
                if 0 <= r < old.shape[0] and 0 <= c < old.shape[1] and not math.isnan(old[r, c]):
                    counts = (2 - abs(down)) * (2 - abs(aside))
                    total, count = total + counts * old[r, c], count + counts
        x, z = origin[0] + column * size[0], origin[2] + row * size[1]
        share = strength * weight(x - center[0], z - center[1], radius)
        if not math.isnan(old[row, column]):
            new[row, column] += share * (total / count - old[row, column])
    return new


def painted(
    materials: Any, origin: Any, size: Size, center: Size, radius: float, number: int
) -> Any:
    """Return materials with that of the cells replaced whose middle is within the radius."""
    new = np.array(materials)
    for row, column in np.ndindex(new.shape):
        x, z = origin[0] + (column + 0.5) * size[0], origin[2] + (row + 0.5) * size[1]
        if math.hypot(x - center[0], z - center[1]) <= radius:
            new[row, column] = number
    return new
