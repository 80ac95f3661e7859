"""Make assets/land.png, 513 x 513 heights as 16-bit grayscale: ``python -m demo.making.land``.

Load it with ``HeightMap.load("assets/land.png", height_range=(0, 80))`` and cells of 1 m: heights
from 1 to 79.5 m. Noise lays out where the ground rises; rivers cut it down while it does, slopes
slump, gravel fills the valleys, rain rounds it off, and roughness of a few meters goes on top.
The low corner at x = z = 0 is a plain of 1 to 17 m, where scenes begin; the ridge is across.

Twelve seconds, the same bytes each time on one machine. Other processors and NumPy versions may
round sines and powers differently: the committed file is the land, this is how it came to be.
"""

import heapq
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from . import ASSETS

Grid = NDArray[np.float64]

SEED = 20
SIDE = 513  # samples; 512 cells of 1 m
HEIGHT = 80.0  # meters at the number 65535
EIGHT = ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1))


def gradient_noise(x: Grid, y: Grid, chance: np.random.Generator) -> Grid:
    """Return Perlin noise, about -0.7..0.7, one feature for each unit of x and y."""
    turn = chance.uniform(0.0, 2.0 * np.pi, (256, 256))
    column, row = np.floor(x).astype(int), np.floor(y).astype(int)
    u, v = x - column, y - row

    def corner(right: int, down: int) -> Grid:
        angle = turn[(row + down) % 256, (column + right) % 256]
        return np.cos(angle) * (u - right) + np.sin(angle) * (v - down)

    across, along = (t * t * t * (t * (6.0 * t - 15.0) + 10.0) for t in (u, v))
    upper = corner(0, 0) + across * (corner(1, 0) - corner(0, 0))
    lower = corner(0, 1) + across * (corner(1, 1) - corner(0, 1))
    return upper + along * (lower - upper)


def octaves(
    x: Grid,
    y: Grid,
    chance: np.random.Generator,
    count: int,
    *,
    ridged: bool = False,
    gain: float = 0.5,
) -> Grid:
    """Return a sum of noises, each of half the wavelength ``gain`` as high as the last."""
    total, weight, share = np.zeros_like(x), np.ones_like(x), 1.0
    for octave in range(count):
        noise = gradient_noise(x * 2.0**octave + 17.3 * octave, y * 2.0**octave, chance)
        if ridged:
            noise = (1.0 - 2.0 * np.abs(noise)) ** 2 * weight
            weight = np.clip(2.0 * noise, 0.0, 1.0)  # small ridges only on large ones
        total += share * noise
        share *= gain
    return total


def smooth_step(low: float, high: float, value: Grid) -> Grid:
    share = np.clip((value - low) / (high - low), 0.0, 1.0)
    return share * share * (3.0 - 2.0 * share)


def sample(grid: Grid, row: Grid, column: Grid) -> Grid:
    """Return ``grid`` between its samples, bilinear, the border extended."""
    row = np.clip(row, 0.0, grid.shape[0] - 1.001)
    column = np.clip(column, 0.0, grid.shape[1] - 1.001)
    r, c = row.astype(int), column.astype(int)
    v, u = row - r, column - c
    upper = grid[r, c] * (1.0 - u) + grid[r, c + 1] * u
    lower = grid[r + 1, c] * (1.0 - u) + grid[r + 1, c + 1] * u
    return upper * (1.0 - v) + lower * v


def blurred(grid: Grid, radius: float) -> Grid:
    """Return ``grid`` under a Gaussian of that many samples, the border extended."""
    reach = int(3.0 * radius) + 1
    weights = np.exp(-0.5 * (np.arange(-reach, reach + 1) / radius) ** 2)
    weights /= weights.sum()
    for axis in (0, 1):
        padded = np.pad(grid, [(reach, reach) if a == axis else (0, 0) for a in (0, 1)], "edge")
        windows = np.lib.stride_tricks.sliding_window_view(padded, weights.size, axis)
        grid = windows @ weights
    return grid


def shifted(grid: NDArray[Any], down: int, right: int, fill: float) -> NDArray[Any]:
    """Return the grid of the neighbors (row + down, column + right)."""
    result = np.full_like(grid, fill)
    rows, columns = grid.shape
    here = np.s_[max(0, -down) : rows - max(0, down), max(0, -right) : columns - max(0, right)]
    there = np.s_[max(0, down) : rows + min(0, down), max(0, right) : columns + min(0, right)]
    result[here] = grid[there]
    return result


def without_pits(heights: Grid, outlet: NDArray[np.bool_]) -> Grid:
    """Return heights raised so that water runs off everywhere (priority flood, Barnes 2014)."""
    rows, columns = heights.shape
    wide = columns + 2
    level = np.full((rows + 2, wide), np.inf)
    level[1:-1, 1:-1] = heights
    ground = level.ravel().tolist()
    done = np.ones((rows + 2, wide), bool)
    done[1:-1, 1:-1] = outlet
    closed = done.ravel().tolist()
    starts = np.flatnonzero(np.pad(outlet, 1))
    queue = [(ground[cell], cell) for cell in starts.tolist()]
    heapq.heapify(queue)
    steps = [down * wide + right for down, right in EIGHT]
    while queue:
        height, cell = heapq.heappop(queue)
        for step in steps:
            other = cell + step
            if not closed[other]:
                closed[other] = True
                if ground[other] <= height:
                    ground[other] = height + 1e-5
                heapq.heappush(queue, (ground[other], other))
    return np.array(ground).reshape(rows + 2, wide)[1:-1, 1:-1]


class Drainage:
    """Where water goes from each sample, and in which order to visit them."""

    def __init__(
        self, heights: Grid, outlet: NDArray[np.bool_], chance: np.random.Generator
    ) -> None:
        filled = without_pits(heights, outlet)
        cells = np.arange(heights.size).reshape(heights.shape)
        best, target, length = np.zeros_like(heights), cells.copy(), np.ones_like(heights)
        for down, right in EIGHT:
            distance = float(np.hypot(down, right))
            # Chance keeps rivers off the eight straight lines (Fairfield and Leymarie 1991, rho8).
            fall = (filled - shifted(filled, down, right, np.inf)) / distance
            fall *= chance.uniform(0.5, 1.5, fall.shape)
            better = fall > best
            best[better] = fall[better]
            target[better] = shifted(cells, down, right, 0)[better]
            length[better] = distance
        target[outlet] = cells[outlet]
        self.target, self.length = target.ravel(), length.ravel()
        depth = np.where(self.target == np.arange(heights.size), 0, 1)
        jump = self.target.copy()
        while (depth[jump] > 0).any():  # pointer jumping: steps to the outlet in log time
            depth = depth + depth[jump]
            jump = jump[jump]
        order = np.argsort(depth, kind="stable")
        bounds = np.searchsorted(depth[order], np.arange(int(depth.max()) + 2))
        self.levels = [order[a:b] for a, b in pairwise(bounds.tolist())]

    def area(self, cell_area: float) -> NDArray[Any]:
        """Return the area that drains through each sample."""
        area = np.full(self.target.size, cell_area)
        for level in reversed(self.levels[1:]):
            np.add.at(area, self.target[level], area[level])
        return area


def carve(
    heights: Grid,
    uplift: Grid,
    outlet: NDArray[np.bool_],
    cell: float,
    rounds: int,
    k: float,
    chance: np.random.Generator,
) -> Grid:
    """Raise the land and let rivers cut it down, implicit stream power (Braun and Willett 2013)."""
    for _ in range(rounds):
        drainage = Drainage(heights, outlet, chance)
        cut = k * np.sqrt(drainage.area(cell * cell)) / (drainage.length * cell)
        flat = (heights + np.where(outlet, 0.0, uplift)).ravel()
        for level in drainage.levels[1:]:
            below = flat[drainage.target[level]]
            lowered = (flat[level] + cut[level] * below) / (1.0 + cut[level])
            flat[level] = np.where(flat[level] > below, lowered, flat[level])
        heights = flat.reshape(heights.shape)
        heights += 0.08 * (blurred(heights, 1.0) - heights)  # creep of the soil
    return heights


def slump(heights: Grid, cell: float, steepest: Grid, rounds: int) -> Grid:
    """Let material slide until no slope is steeper than ``steepest`` (height over distance)."""
    for _ in range(rounds):
        change = np.zeros_like(heights)
        for down, right in EIGHT:
            limit = steepest * cell * float(np.hypot(down, right))
            excess = np.clip(heights - shifted(heights, down, right, np.inf) - limit, 0.0, None)
            change -= 0.09 * excess
            change += 0.09 * np.nan_to_num(shifted(excess, -down, -right, 0.0))
        heights = heights + change
    return heights


def finer(grid: Grid) -> Grid:
    """Return the same land with twice as many cells each way."""
    side = 2 * grid.shape[0] - 1
    row, column = np.mgrid[0:side, 0:side] / 2.0
    return blurred(sample(grid, row, column), 0.8)


def eroded(chance: np.random.Generator) -> Grid:
    """Return land shaped by uplift and rivers, first coarse, then fine."""
    x, z = np.meshgrid(np.linspace(0, 512, SIDE), np.linspace(0, 512, SIDE))
    bend_x = x + 70.0 * octaves(x / 170.0, z / 170.0, chance, 3)
    bend_z = z + 70.0 * octaves(x / 170.0 + 9.0, z / 170.0 + 5.0, chance, 3)
    away = np.hypot(bend_x, bend_z)
    crest = octaves(bend_x / 230.0 + 3.1, bend_z / 230.0 + 0.4, chance, 3, ridged=True, gain=0.4)
    hills = np.clip(0.4 + octaves(bend_x / 110.0, bend_z / 110.0 + 2.0, chance, 3), 0.0, None)
    mountain = smooth_step(170.0, 430.0, away)
    uplift = 0.02 + 0.16 * hills * smooth_step(50.0, 190.0, away) + mountain * (0.1 + 0.5 * crest)
    heights = (4.0 * octaves(x / 60.0, z / 60.0, chance, 5) + 0.05 * away)[::4, ::4]
    for step, rounds in ((4, 80), (2, 30), (1, 10)):
        if step < 4:
            heights = finer(heights) + 0.15 * step * gradient_noise(
                x[::step, ::step] / (3.0 * step), z[::step, ::step] / (3.0 * step), chance
            )
        outlet = np.zeros(heights.shape, bool)
        outlet[0, : 160 // step] = outlet[: 160 // step, 0] = True
        heights = np.where(outlet, np.minimum(heights, 0.0), heights)
        heights = carve(heights, uplift[::step, ::step] * 1.2, outlet, step, rounds, 0.03, chance)
        heights = slump(heights, step, np.full(heights.shape, 1.0), 6)
    return heights


def warped(heights: Grid, chance: np.random.Generator) -> Grid:
    """Return the land bent a little: what is left of straight lines and right angles goes."""
    row, column = np.mgrid[0 : heights.shape[0], 0 : heights.shape[1]].astype(float)
    for length, reach in ((70.0, 14.0), (23.0, 4.5), (9.0, 1.2)):
        aside = gradient_noise(column / length, row / length, chance)
        along = gradient_noise(column / length + 7.7, row / length + 3.3, chance)
        heights = sample(heights, row + reach * along, column + reach * aside)
    return heights


def with_valley_floors(heights: Grid, chance: np.random.Generator) -> Grid:
    """Fill the bottoms of valleys with gravel, wider downstream, and lay in the river's bed."""
    outlet = np.zeros(heights.shape, bool)
    outlet[0, :160] = outlet[:160, 0] = True
    drainage = Drainage(heights, outlet, chance)
    area = drainage.area(1.0).reshape(heights.shape)
    row, column = np.mgrid[0 : heights.shape[0], 0 : heights.shape[1]]
    floor = heights.copy()
    bed = np.zeros_like(heights)
    channels = np.flatnonzero(area.ravel() > 1500.0)
    channels = channels[np.argsort(area.ravel()[channels], kind="stable")]
    level = blurred(heights, 1.5).ravel()
    for cell in channels.tolist():  # large ones last
        r, c = divmod(cell, heights.shape[1])
        width = 0.028 * area.flat[cell] ** 0.5 + 1.0
        reach = int(3.0 * width) + 1
        here = np.s_[max(0, r - reach) : r + reach + 1, max(0, c - reach) : c + reach + 1]
        distance = np.hypot(row[here] - r, column[here] - c)
        side = (
            level[cell]
            + 0.02 * distance
            + 0.9 * width * smooth_step(width, 3.0 * width, distance) ** 2
        )
        share = smooth_step(3.0 * width, width, distance)
        floor[here] = np.minimum(floor[here], floor[here] * (1.0 - share) + side * share)
        bed[here] = np.maximum(
            bed[here], (0.1 * width + 0.2) * smooth_step(0.6 * width, 0.1 * width, distance)
        )
    return blurred(floor, 0.8) - blurred(bed, 0.7)


def rained_on(heights: Grid, chance: np.random.Generator, batches: int) -> Grid:
    """Let drops run downhill that take soil where they are fast and drop it where slow."""
    limit = heights.shape[0] - 2.0
    for _ in range(batches):
        row, column = chance.uniform(1.0, limit, (2, 12_000))
        move_r, move_c = np.zeros_like(row), np.zeros_like(row)
        speed, load = np.ones_like(row), np.zeros_like(row)
        water = 1.0
        for _ in range(45):
            r, c = row.astype(int), column.astype(int)
            v, u = row - r, column - c
            a, b, d, e = (heights[r + i, c + j] for i, j in ((0, 0), (0, 1), (1, 0), (1, 1)))
            move_r = 0.3 * move_r - 0.7 * ((d - a) * (1.0 - u) + (e - b) * u)
            move_c = 0.3 * move_c - 0.7 * ((b - a) * (1.0 - v) + (e - d) * v)
            length = np.hypot(move_r, move_c) + 1e-9
            new_r = np.clip(row + move_r / length, 1.0, limit)
            new_c = np.clip(column + move_c / length, 1.0, limit)
            here = (a * (1.0 - u) + b * u) * (1.0 - v) + (d * (1.0 - u) + e * u) * v
            fall = here - sample(heights, new_r, new_c)
            room = np.clip(fall, 0.004, 1.5) * speed * water * 1.5 - load
            dig = np.where(
                fall > 0, np.clip(0.2 * room, -0.2 * load, 0.5 * fall), -np.minimum(load, -fall)
            )
            dig[np.minimum(np.minimum(r, c), limit - np.maximum(r, c)) < 3] = 0.0  # no moat
            change = np.zeros(heights.size)
            for i, j, share in (
                (0, 0, (1.0 - u) * (1.0 - v)),
                (0, 1, u * (1.0 - v)),
                (1, 0, (1.0 - u) * v),
                (1, 1, u * v),
            ):
                np.add.at(change, (r + i) * heights.shape[1] + c + j, -0.25 * dig * share)
            heights = heights + change.reshape(heights.shape)
            load += dig
            speed = np.sqrt(np.clip(speed * speed + 2.0 * fall, 0.05, 16.0))
            water *= 0.97
            row, column = new_r, new_c
        heights = slump(heights, 1.0, np.full(heights.shape, 1.3), 1)
    return heights


def slope(heights: Grid) -> Grid:
    along, across = np.gradient(heights)
    return np.hypot(along, across)


def land() -> Grid:
    """Return the heights in meters."""
    chance = np.random.default_rng(SEED)
    heights = warped(eroded(chance), chance)
    row, column = np.mgrid[0:SIDE, 0:SIDE].astype(float)
    rock = 1.05 + 0.5 * octaves(column / 40.0, row / 40.0, chance, 3)
    heights = slump(heights * 0.54, 1.0, rock, 25)
    heights = with_valley_floors(heights, chance)
    heights = rained_on(heights, chance, 8)
    rough = smooth_step(0.25, 1.0, blurred(slope(heights), 2.0))
    grain = octaves(column / 11.0, row / 11.0, chance, 4, gain=0.55)
    heights += (0.10 + 0.9 * rough) * grain + 0.35 * gradient_noise(column / 17, row / 17, chance)
    heights = slump(heights, 1.0, rock, 60)
    heights += (0.02 + 0.22 * rough) * octaves(column / 5.0, row / 5.0, chance, 2, gain=0.6)
    heights = slump(heights, 1.0, np.full(heights.shape, 1.6), 10)
    heights -= heights.min()
    return 1.0 + heights * (HEIGHT - 1.5) / heights.max()


def main() -> None:
    heights = land()
    numbers = np.rint(heights * (65535.0 / HEIGHT)).astype(np.uint16)
    path = ASSETS / "land.png"
    Image.fromarray(numbers).save(path, optimize=True)
    corner = heights[:101, :101]
    steep = np.degrees(np.arctan(slope(heights)))
    print(f"{path}: {heights.min():.2f} to {heights.max():.2f} m")
    print(f"corner of 100 m: {corner.min():.2f} to {corner.max():.2f} m")
    for share in (10, 25, 50, 75, 90, 99):
        print(f"{share}% of the land is no steeper than {np.percentile(steep, share):.0f} degrees")


if __name__ == "__main__":
    main()
