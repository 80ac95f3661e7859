"""The land as the picture shows it: a smooth surface that rays can be marched over."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from terrain_physics import HeightMap

Grid = NDArray[np.floating]  # of float32, or what float32 and float64 give together

HEIGHT = 80.0  # meters at the number 65535 of land.png
FINER = 4  # samples a meter of the smooth surface that is drawn
SUN = np.array([-0.66, 0.36, 0.22], np.float32)
SUN /= np.linalg.norm(SUN)


def fold(x: Grid) -> Grid:
    """Return coordinates within the map: beyond its end the land is mirrored."""
    return np.abs((x + 512.0) % 1024.0 - 512.0)


def bilinear(table: Grid, u: Grid, v: Grid) -> Grid:
    """Return ``table[v, u]`` between its entries; u and v must lie within."""
    i, j = u.astype(np.int32), v.astype(np.int32)
    i, j = np.minimum(i, table.shape[1] - 2), np.minimum(j, table.shape[0] - 2)
    a, b = u - i, v - j
    at = j * table.shape[1] + i
    flat = table.ravel()
    upper = flat[at] * (1.0 - a) + flat[at + 1] * a
    lower = flat[at + table.shape[1]] * (1.0 - a) + flat[at + table.shape[1] + 1] * a
    return upper * (1.0 - b) + lower * b


def smooth(heights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the surface at ``FINER`` samples a meter (Catmull and Rom), for looks only."""
    for axis in (0, 1):
        h = np.moveaxis(heights, axis, 0)
        p = np.concatenate([h[:1], h, h[-1:]])
        a, b, c, d = p[:-3], p[1:-2], p[2:-1], p[3:]
        parts = []
        for k in range(FINER):
            t = k / FINER
            parts.append(
                b + 0.5 * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)))
            )
        fine = np.stack(parts, 1).reshape(-1, h.shape[1])
        heights = np.moveaxis(np.concatenate([fine, h[-1:]]), 0, axis)
    return heights


def clouds(chance: np.random.Generator, side: int, falloff: float) -> Grid:
    """Return periodic fractal noise of mean 0 and deviation 1."""
    frequency = np.hypot(np.fft.fftfreq(side)[:, None], np.fft.rfftfreq(side)[None, :]) * side
    frequency[0, 0] = 1.0
    waves = np.fft.rfft2(chance.normal(size=(side, side))) / frequency**falloff
    waves[0, 0] = 0.0
    noise = np.fft.irfft2(waves, (side, side))
    return (noise / noise.std()).astype(np.float32)


class LandView:
    """The land as it is drawn: a smooth surface, what shades it, and noise to color it with."""

    def __init__(self, land: HeightMap) -> None:
        axis = np.arange(513.0)
        x, z = np.meshgrid(axis, axis)
        heights: NDArray[np.float64] = np.asarray(land.height_at(x, z))
        fine = smooth(heights)
        self.heights = fine.astype(np.float32)
        self.slope_z: Grid = np.asarray(np.gradient(fine, 1.0 / FINER, axis=0), np.float32)
        self.slope_x: Grid = np.asarray(np.gradient(fine, 1.0 / FINER, axis=1), np.float32)
        self.open = self._openness(heights).astype(np.float32)
        chance = np.random.default_rng(1)
        self.noise = [clouds(chance, 512, 1.2), clouds(chance, 512, 1.2), clouds(chance, 512, 1.5)]

    @staticmethod
    def _openness(heights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how much sky each sample sees, roughly: from how far it lies under its mean."""
        total = np.zeros_like(heights)
        for radius in (2, 6, 18):
            mean = heights
            for axis in (0, 1):
                pad = [(radius, radius) if a == axis else (0, 0) for a in (0, 1)]
                sums = np.cumsum(np.pad(mean, pad, "reflect"), axis)
                sums = np.concatenate([np.zeros_like(np.take(sums, [0], axis)), sums], axis)
                count = 2 * radius + 1
                stop = sums.shape[axis]
                later = np.take(sums, range(count, stop), axis)
                mean = (later - np.take(sums, range(stop - count), axis)) / count
            total += np.clip((mean - heights) / radius, -0.3, 1.0)
        return np.clip(1.0 - 0.9 * total, 0.25, 1.1)

    def height(self, x: Grid, z: Grid) -> Grid:
        return bilinear(self.heights, fold(x) * FINER, fold(z) * FINER)

    def normal(self, x: Grid, z: Grid) -> Grid:
        u, v = fold(x) * FINER, fold(z) * FINER
        sign_x = np.where((x + 512.0) % 1024.0 < 512.0, -1.0, 1.0)  # mirrored land slopes back
        sign_z = np.where((z + 512.0) % 1024.0 < 512.0, -1.0, 1.0)
        slope_x, slope_z = bilinear(self.slope_x, u, v), bilinear(self.slope_z, u, v)
        normal = np.stack([-sign_x * slope_x, np.ones_like(x), -sign_z * slope_z], -1)
        return unit(normal.astype(np.float32))

    def speckle(self, which: int, x: Grid, z: Grid, length: float) -> Grid:
        side = self.noise[which].shape[0] - 2
        return bilinear(self.noise[which], (x / length * 64) % side, (z / length * 64) % side)

    def march(self, origin: Grid, direction: Grid, far: float) -> Grid:
        """Return the distance along each ray to the land, infinite where there is none."""
        reach = np.full(len(direction), np.inf, np.float32)
        alive = np.arange(len(direction))
        distance = np.full(len(direction), 0.3, np.float32)
        before = distance.copy()
        above_before = np.ones(len(direction), np.float32)
        for _ in range(700):
            d, here = direction[alive], distance[alive]
            y = origin[1] + d[:, 1] * here
            above = y - self.height(origin[0] + d[:, 0] * here, origin[2] + d[:, 2] * here)
            hit = above <= 0.0
            if hit.any():
                cells = alive[hit]
                reach[cells] = self._between(
                    origin,
                    direction[cells],
                    before[cells],
                    distance[cells],
                    above_before[cells],
                    above[hit],
                )
            leaves = (here > far) | ((d[:, 1] > 0.0) & (y > HEIGHT))
            stays = ~hit & ~leaves
            cells = alive[stays]
            before[cells], above_before[cells] = here[stays], above[stays]
            distance[cells] = here[stays] + np.maximum(
                0.45 * above[stays], 0.03 + 0.0012 * here[stays]
            )
            alive = cells
            if not len(alive):
                break
        return reach

    def _between(
        self, origin: Grid, d: Grid, near: Grid, far: Grid, above: Grid, below: Grid
    ) -> Grid:
        for _ in range(5):  # false position
            middle = near + (far - near) * above / (above - below + 1e-9)
            y = origin[1] + d[:, 1] * middle
            value = y - self.height(origin[0] + d[:, 0] * middle, origin[2] + d[:, 2] * middle)
            over = value > 0.0
            near, above = np.where(over, middle, near), np.where(over, value, above)
            far, below = np.where(over, far, middle), np.where(over, below, value)
        return far

    def sunshine(self, point: Grid) -> Grid:
        """Return how much of the sun each point sees, 0..1, past the land."""
        light = np.ones(len(point), np.float32)
        alive = np.arange(len(point))
        step = 0.15
        while step < 260.0 and len(alive):
            p = point[alive] + SUN * np.float32(step)
            clearance = (p[:, 1] - self.height(p[:, 0], p[:, 2])) / (0.035 * step + 0.03)
            light[alive] = np.minimum(light[alive], np.clip(0.5 + 0.5 * clearance, 0.0, 1.0))
            alive = alive[(light[alive] > 0.0) & (p[:, 1] < HEIGHT)]
            step = step * 1.09 + 0.05
        return light * light * (3.0 - 2.0 * light)


def unit(vectors: Grid) -> Grid:
    return vectors / np.sqrt((vectors * vectors).sum(-1, keepdims=True))


def mixed(a: Any, b: Any, share: Grid) -> Grid:
    return np.asarray(a + (b - a) * share[..., None], np.float32)


def rise(low: float, high: float, value: Grid) -> Grid:
    share = np.clip((value - low) / (high - low), 0.0, 1.0)
    return share * share * (3.0 - 2.0 * share)
