"""The sides of a height map as solid ground: their ids, and the grid of its underside.

A cell has four sides, towards -x, +x, -z and +z, and two halves of its underside. Each has an id,
whether it can be touched or ground covers it: ids stay the same as ground comes and goes.
"""

from terrain_physics._kernels._intrinsics import replaced
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.heightmap.grid import Grid

# The sides of a cell, in the order of their ids; then the halves of its underside.
WEST, EAST, NORTH, SOUTH, UNDERSIDE = range(5)
SIDES_OF_CELL = UNDERSIDE + 2


@kernel(inline=True)
def lowered(grid: Grid) -> Grid:
    """Return the grid of the underside of a map of finite thickness."""
    return replaced(grid, y0=grid.y0 - grid.thickness)


@kernel(inline=True, no_refcount=True)
def underside_id(grid: Grid, row: int, column: int, half: int) -> int:
    """Return the id of a half of a cell's underside."""
    cell = row * grid.columns + column
    return 2 * grid.rows * grid.columns + SIDES_OF_CELL * cell + UNDERSIDE + half
