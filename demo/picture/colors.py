"""Colors of the demo: one palette for bodies, views and the panel."""

import numpy as np
from numpy.typing import NDArray

Color = tuple[int, int, int]

RED: Color = (226, 70, 52)
ORANGE: Color = (240, 140, 40)
YELLOW: Color = (250, 196, 32)
GREEN: Color = (64, 176, 92)
TEAL: Color = (22, 166, 146)
BLUE: Color = (34, 112, 208)
VIOLET: Color = (136, 92, 208)
WHITE: Color = (244, 246, 248)
GOLD: Color = (255, 198, 52)
WOOD: Color = (172, 122, 76)
STONE: Color = (190, 184, 174)
DARK: Color = (44, 48, 56)
SKIN: Color = (240, 190, 150)

BALLS: tuple[Color, ...] = (RED, YELLOW, TEAL, BLUE, WHITE)
PEOPLE: tuple[Color, ...] = (RED, ORANGE, YELLOW, TEAL, BLUE, VIOLET, WHITE)


def rows(color: Color, count: int) -> NDArray[np.uint8]:
    """Return one color as rows."""
    return np.tile(np.array(color, dtype=np.uint8), (count, 1))


def mixed(low: Color, high: Color, share: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Return colors from low (share 0) to high (share 1)."""
    part = np.clip(share, 0.0, 1.0)[:, np.newaxis]
    blend = np.array(low) * (1.0 - part) + np.array(high) * part
    return np.asarray(blend + 0.5, dtype=np.uint8)
