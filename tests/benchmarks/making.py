"""Height maps made of samples and of files, beside reading the samples once."""

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from terrain_physics import HeightMap
from tests.benchmarks.timing import median_seconds, print_table


def main(*, smoke: bool = False) -> None:
    side, repeats = (129, 1) if smoke else (8193, 5)
    heights = np.random.default_rng(1).random((side, side), dtype=np.float32)
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "land.npy"
        np.save(file, heights)
        calls: dict[str, Callable[[], object]] = {
            "samples read once, heights.sum()": lambda: float(heights.sum()),
            "HeightMap(heights)": lambda: HeightMap(heights),
            "HeightMap(heights, copy=False)": lambda: HeightMap(heights, copy=False),
            "HeightMap.load, .npy": lambda: HeightMap.load(file),
            "HeightMap.load, .npy, mmap=True": lambda: HeightMap.load(file, mmap=True),
        }
        seconds = median_seconds(calls, repeats)
    once = next(iter(seconds.values()))
    rows = [(call, f"{1e3 * s:7.1f} ms, {s / once:5.2f} x") for call, s in seconds.items()]
    print_table(f"A map of {side} x {side} samples, {heights.nbytes / 1e6:.0f} MB", rows)
