"""The approach of a batch of rays to the ground, before any of them is tested against it.

On a map larger than the caches, a ray waits for memory longer than it computes, and it cannot know
which heights it needs before it has read the blocks. So all rays of a batch first go as far as the
blocks lead, and ask for the heights of the cells there; then each is cast on from where it was.
"""

from terrain_physics._kernels._intrinsics import prefetch
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.heightmap.blocks import BLOCK, blocks_across
from terrain_physics._kernels.heightmap.clipping import FARTHEST, Terrain, clamp
from terrain_physics._kernels.heightmap.grid import Grid
from terrain_physics._kernels.heightmap.traversal import (
    NOT_BEGUN,
    MapLine,
    Stretch,
    Strip,
    first_stretch,
    next_stretch,
    parts_of,
    path_over,
    strip_of,
)
from terrain_physics._kernels.math.vec3 import Vec3
from terrain_physics._kernels.types import Floats

# Rays of a batch: 16, 32 and 64 took the same time.
BATCH = 64

# Blocks that are fetched: a ray near the ground passes about eight before it hits. Fewer blocks in
# all than this, 256 KB, stay in the second cache.
_BLOCKS_FETCHED = 8
_MANY_BLOCKS = 1 << 15

# Columns of cells that are fetched: a ray that passes more of them computes meanwhile.
_COLUMNS_FETCHED = 8

# Numbers of a row that `put_approach` writes.
APPROACH_SIZE = 18


@kernel(inline=True, no_refcount=True)
def approach(
    terrain: Terrain, origin: Vec3, direction: Vec3, most: float
) -> tuple[MapLine, Stretch]:
    """Return the path of an oblique ray and its first stretch, and prefetch that one's heights."""
    path = path_over(terrain, origin, direction, (0.0, 0.0, 0.0), most)
    stretch = NOT_BEGUN
    first_turn, last_turn = parts_of(terrain, path)
    if first_turn < last_turn:
        limit = min(most, FARTHEST)
        strip = strip_of(terrain, path, first_turn, limit)
        stretch = first_stretch(terrain, strip)
        stretch = next_stretch(terrain, path, strip, stretch, stretch.level, limit)
        _fetch_stretch(terrain.grid, strip, stretch)
    return path, stretch


@kernel(inline=True, no_refcount=True)
def _fetch_stretch(grid: Grid, strip: Strip, stretch: Stretch) -> None:
    """Prefetch the heights of the first columns of a stretch."""
    if grid.tiles != 0:
        return
    row_step, column_step = grid.columns + 1, 1
    step, cross_step = (column_step, row_step) if strip.along_u else (row_step, column_step)
    slope = strip.inverse * strip.cross_rate
    count = min(abs(stretch.last - stretch.first), _COLUMNS_FETCHED)
    for k in range(count + 1):
        line = min(max(stretch.first + k * strip.step, 0), strip.cells)
        cross = strip.cross + (float(line) - strip.place) * slope
        place = (
            line * step + clamp(cross, max(strip.cross_least, 0.0), strip.cross_most) * cross_step
        )
        prefetch(grid.heights, place)
        prefetch(grid.heights, place + cross_step)


@kernel(inline=True, no_refcount=True)
def are_blocks_fetched(terrain: Terrain) -> bool:
    """Tell whether the lowest blocks of a map are too many to stay in a cache."""
    grid = terrain.grid
    return bool(blocks_across(grid.columns, 0) * blocks_across(grid.rows, 0) >= _MANY_BLOCKS)


@kernel(inline=True, no_refcount=True)
def fetch_blocks(terrain: Terrain, origin: Vec3, direction: Vec3) -> None:
    """Prefetch the lowest blocks that an oblique ray passes first."""
    grid = terrain.grid
    across, down = blocks_across(grid.columns, 0), blocks_across(grid.rows, 0)
    size_x, size_z = BLOCK * grid.cell_x, BLOCK * grid.cell_z
    u, v = (origin[0] - grid.x0) / size_x, (origin[2] - grid.z0) / size_z
    # Meters from block to block, along the axis on which there are more of them.
    stride = 1.0 / max(abs(direction[0]) / size_x, abs(direction[2]) / size_z)
    rate_u, rate_v = stride * direction[0] / size_x, stride * direction[2] / size_z
    for k in range(_BLOCKS_FETCHED):
        row = clamp(v + k * rate_v, 0.0, down - 1.0)
        column = clamp(u + k * rate_u, 0.0, across - 1.0)
        prefetch(terrain.blocks, 2 * (row * across + column))


@kernel(inline=True)
def put_approach(rows: Floats, k: int, path: MapLine, stretch: Stretch) -> None:
    """Write the progress of a ray as row k of (n, APPROACH_SIZE)."""
    row = rows[k]
    row[0], row[1], row[2] = path.u, path.v, path.level
    row[3], row[4], row[5] = path.rate_u, path.rate_v, path.rate_level
    row[6], row[7], row[8] = path.inverse_u, path.inverse_v, path.inverse_level
    row[9], row[10], row[11] = path.wide_u, path.wide_v, path.wide_level
    row[12], row[13] = path.start, path.end
    row[14], row[15] = float(stretch.first), float(stretch.last)
    row[16], row[17] = float(stretch.done), float(stretch.level)


@kernel(inline=True)
def approach_at(rows: Floats, k: int) -> tuple[MapLine, Stretch]:
    """Return what `put_approach` wrote."""
    row = rows[k]
    path = MapLine(
        float(row[0]), float(row[1]), float(row[2]), float(row[3]), float(row[4]), float(row[5]),
        float(row[6]), float(row[7]), float(row[8]), float(row[9]), float(row[10]), float(row[11]),
        float(row[12]), float(row[13]),
    )  # fmt: skip
    return path, Stretch(int(row[14]), int(row[15]), int(row[16]), int(row[17]))
