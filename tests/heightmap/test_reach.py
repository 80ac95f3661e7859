"""What comes near the underside of a map: all that meets it, and little else."""

from typing import Any

import numpy as np
import pytest

from terrain_physics import HeightMap
from terrain_physics._kernels.heightmap.grid import unpack_grid
from terrain_physics._kernels.heightmap.solid.reach import meets_surface
from terrain_physics._kernels.heightmap.solid.sides import lowered
from terrain_physics.surface.surface import queries_of
from tests.helpers.examples import times

CELLS = np.array([0.7, 1.9])
ORIGIN = np.array([5.0, -3.0])
THICKNESS = 0.7


def hills() -> HeightMap:
    """Return hills far higher than the map is thick, with a hole."""
    rows, columns = np.mgrid[:40, :50]
    heights = 6.0 * np.sin(columns / 9.0) + rows / 5.0
    heights[20, 30] = np.nan
    x, z = ORIGIN
    return HeightMap(heights, cell_size=(CELLS[0], CELLS[1]), origin=(x, 0, z), thickness=THICKNESS)


def is_near_underside(land: HeightMap, lower: Any, upper: Any) -> bool:
    """Tell whether a box may come near the underside of a map."""
    storage: Any = queries_of(land).storage
    heights, cells, blocks, frame = storage.views
    grid = lowered(unpack_grid(heights, cells, frame))
    corners: Any = [tuple(map(float, corner)) for corner in (lower, upper)]
    return bool(meets_surface(grid, blocks, *corners))


def spans(heights: Any, lower: Any, upper: Any, aside: int) -> tuple[float, float]:
    """Return the least and the greatest underside over the cells of a box, and some around."""
    first = np.floor((lower[[0, 2]] - ORIGIN) / CELLS).astype(int) - aside
    last = np.floor((upper[[0, 2]] - ORIGIN) / CELLS).astype(int) + 1 + aside
    columns = np.clip(np.arange(first[0], last[0] + 1), 0, heights.shape[1] - 1)
    rows = np.clip(np.arange(first[1], last[1] + 1), 0, heights.shape[0] - 1)
    below = heights[np.ix_(rows, columns)] - THICKNESS
    return float(np.nanmin(below)), float(np.nanmax(below))


@pytest.mark.parametrize("wide", [0.3, 1.5])
def test_a_box_is_near_where_it_meets_the_underside(wide: float) -> None:
    land, draw, near = hills(), np.random.default_rng(1), 0
    heights = np.array(land.heights[:], dtype=float)
    for _ in range(times(900)):
        x, z = ORIGIN + draw.uniform(2.0, 33.0, 2)
        lower = np.array([x, draw.uniform(-8.0, 14.0), z])
        upper = lower + draw.uniform(0.1, wide, 3)
        least, greatest = spans(heights, lower, upper, aside=0)
        is_near = is_near_underside(land, lower, upper)
        assert is_near or greatest < lower[1] or least > upper[1]
        least, greatest = spans(heights, lower, upper, aside=1)
        assert not is_near or (least <= upper[1] and greatest >= lower[1])
        near += is_near
    assert near > times(20)


@pytest.mark.parametrize("far", [np.inf, 1e300, 1e12])
def test_what_has_no_end_may_be_near_all(far: float) -> None:
    land = hills()
    assert is_near_underside(land, (8.0, 0.0, 5.0), (far, 0.1, 5.1))
    assert is_near_underside(land, (-far, -far, -far), (far, far, far))
