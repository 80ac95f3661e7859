"""The look both renderers share: light, sky, fog, colors of the ground, noise."""

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Light and albedo are multiplied linearly; the square root makes them colors of the screen.
SUN_LIGHT = (1.42, 1.30, 1.06)
SKY_LIGHT = (0.34, 0.43, 0.56)
BOUNCED_LIGHT = (0.20, 0.18, 0.13)

ZENITH = (72, 124, 196)
HORIZON = (196, 214, 230)
SUN_GLOW = (255, 232, 190)
BELOW = (54, 62, 76)  # what shows through holes
BEYOND = (150, 174, 202)  # what shows past open borders, and where there is no ground
EARTH = (112, 86, 62)  # the ground cut open

GRID_LINE = (20, 26, 22)
WIRE = (150, 205, 255)
WIRE_GROUND = (24, 34, 48)
LABEL_TEXT = (255, 255, 255)

# Grass, dry grass, earth, rock, dark rock, sand, snow.
NATURAL = (
    (96, 124, 58),
    (146, 146, 82),
    (126, 104, 76),
    (138, 130, 120),
    (98, 93, 88),
    (206, 188, 144),
    (238, 243, 250),
)
BY_NAME = {
    "grass": (96, 124, 58),
    "dirt": (126, 98, 68),
    "earth": (126, 98, 68),
    "mud": (92, 74, 54),
    "rock": (132, 126, 118),
    "stone": (142, 138, 132),
    "gravel": (150, 144, 134),
    "sand": (212, 192, 146),
    "snow": (238, 243, 250),
    "ice": (172, 212, 232),
    "water": (64, 116, 158),
    "wood": (150, 110, 70),
    "lava": (214, 84, 34),
    "metal": (128, 138, 150),
    "road": (84, 84, 88),
    "asphalt": (84, 84, 88),
}
BY_NUMBER = (
    (96, 124, 58),
    (212, 192, 146),
    (132, 126, 118),
    (172, 212, 232),
    (126, 98, 68),
    (214, 84, 34),
    (64, 116, 158),
    (150, 110, 70),
)

PLAIN, BY_SLOPE, BY_PLACE = range(3)
"""How ground is colored: as its material is, as grass on soil, or as wild land, by its height too.
"""

NOISE_SIZE = 512
DETAIL_METERS = 7.0
"""How far it is until the fine noise on the ground repeats."""


def palette(names: tuple[str, ...] | None) -> Floats:
    """Return linear colors of materials and how they are used, (256, 4)."""
    rows = [BY_NUMBER[i % len(BY_NUMBER)] for i in range(256)]
    for i, name in enumerate(names or ()):
        rows[i] = BY_NAME.get(name.lower(), rows[i])
    kinds = np.array([BY_SLOPE if row == BY_NAME["grass"] else PLAIN for row in rows])
    if names is None:
        kinds[0] = BY_PLACE
    return np.column_stack([linear(np.array(rows)), kinds])


def linear(colors: NDArray[np.generic] | Floats) -> Floats:
    """Return colors of the screen, 0..255, as light."""
    return np.asarray((np.asarray(colors, dtype=np.float64) / 255.0) ** 2)


def unit(direction: tuple[float, float, float]) -> tuple[float, float, float]:
    """Return a direction towards the sun, of length 1 and never below 3 degrees."""
    x, y, z = direction
    y = max(y, 0.05 * math.hypot(x, z), 1e-6)
    length = math.sqrt(x * x + y * y + z * z)
    return x / length, y / length, z / length


def view_distance(extent: float) -> float:
    """Return how far one sees over a map that is so many meters wide."""
    return min(max(1.6 * extent, 420.0), 2600.0)


def waves(*, seed: int, fall: float) -> NDArray[np.float32]:
    """Return fractal noise that repeats without a seam, in -1..1, of mean 0.

    Waves twice as short are ``2 ** -fall`` times as high.
    """
    random = np.random.default_rng(seed)
    across = np.fft.fftfreq(NOISE_SIZE) * NOISE_SIZE
    distance = np.hypot(across[:, np.newaxis], across[np.newaxis, :])
    distance[0, 0] = np.inf
    phases = np.fft.fft2(random.standard_normal((NOISE_SIZE, NOISE_SIZE)))
    values = np.real(np.fft.ifft2(phases * distance**-fall))
    return np.asarray(np.clip(values / (2.6 * values.std()), -1.0, 1.0), dtype=np.float32)


@cache
def noise() -> NDArray[np.float32]:
    """Return the noise that varies the colors of the ground, in -1..1."""
    return waves(seed=7, fall=1.3)


@cache
def detail() -> NDArray[np.uint8]:
    """Return the fine noise multiplied onto the ground: 128 changes nothing."""
    random = np.random.default_rng(11)
    across = np.fft.fftfreq(NOISE_SIZE) * NOISE_SIZE
    distance = np.hypot(across[:, np.newaxis], across[np.newaxis, :])
    phases = np.fft.fft2(random.standard_normal((NOISE_SIZE, NOISE_SIZE)))
    # Little of the coarse waves, or one would see it repeat.
    waves = phases * (distance / (40.0 + distance)) * np.maximum(distance, 1.0) ** -0.75
    values = np.real(np.fft.ifft2(waves))
    values = np.clip(values / (2.8 * values.std()), -1.0, 1.0)
    return np.asarray(128.0 + 127.0 * values).astype(np.uint8)


@cache
def clouds() -> NDArray[np.float32]:
    """Return how much of the sky is covered, 0..1; repeats without a seam."""
    values = waves(seed=5, fall=1.75)
    cover = 0.9 * np.clip((values - 0.16) * 1.6, 0.0, 1.0) ** 1.3
    return np.asarray(cover, dtype=np.float32)
