"""The boxes of tiles: they follow edits, each by itself, and never become less."""

import numpy as np
import pytest

from terrain_physics.heightmap.solid.pieces import depth_of
from terrain_physics.lattice.tile import LatticeShape
from terrain_physics.tiles.questions.tile_bounds import TileBounds

SIDE, ROWS, COLUMNS = 64, 2, 3
Y0, THICKNESS = 5.0, 2.0


@pytest.mark.parametrize("scale", [0.1, -3.0])
def test_they_hold_all_heights_that_a_tile_has_had(scale: float) -> None:
    rng = np.random.default_rng(2)
    least = rng.normal(size=(ROWS * SIDE + 1, COLUMNS * SIDE + 1)).astype(np.float32)
    least[:, : SIDE + 1] = np.nan  # no ground yet
    greatest = least.copy()
    shape = LatticeShape(
        SIDE, ROWS, COLUMNS, (0.0, Y0, 0.0), (1.0, 1.0), scale, THICKNESS, 0, False, None
    )  # fmt: skip
    exists = np.ones((ROWS, COLUMNS), np.bool_)
    bounds = TileBounds(shape, exists, np.array(_ranges(least, greatest), np.float32))
    for _ in range(60):
        row, column = int(rng.integers(ROWS * SIDE + 1)), int(rng.integers(COLUMNS * SIDE + 1))
        stop = min(row + int(rng.integers(1, 90)), ROWS * SIDE + 1)
        place = slice(row, stop), slice(column, min(column + 5, COLUMNS * SIDE + 1))
        heights = rng.normal(0.0, 4.0, size=least[place].shape).astype(np.float32)
        heights[rng.random(heights.shape) < rng.choice([0.0, 0.3, 1.0])] = np.nan
        bounds.widen(place, heights)
        least[place] = np.fmin(least[place], heights)
        greatest[place] = np.fmax(greatest[place], heights)
        levels = np.sort(Y0 + scale * np.array(_ranges(least, greatest)), axis=1)
        none = np.isinf(levels[:, 0])
        np.testing.assert_array_equal(bounds.least, np.where(none, np.inf, levels[:, 0]))
        np.testing.assert_array_equal(bounds.high, np.where(none, -np.inf, levels[:, 1]))
        np.testing.assert_array_equal(bounds.low, bounds.least - depth_of(THICKNESS))


def _ranges(least: np.ndarray, greatest: np.ndarray) -> list[tuple[float, float]]:
    """Return the least and the greatest height of each tile as they are stored."""
    squares = [
        np.s_[row : row + SIDE + 1, column : column + SIDE + 1]
        for row in range(0, ROWS * SIDE, SIDE)
        for column in range(0, COLUMNS * SIDE, SIDE)
    ]
    return [
        (
            float(np.fmin.reduce(least[own], axis=None, initial=np.inf)),
            float(np.fmax.reduce(greatest[own], axis=None, initial=-np.inf)),
        )
        for own in squares
    ]
