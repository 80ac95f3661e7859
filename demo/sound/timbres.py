"""What a foot sounds like on each material of the ground: short noises made of numbers."""

from typing import NamedTuple

import numpy as np

from ..scenery.bodies import Floats

RATE = 44_100  # samples a second
VARIANTS = 8  # no two steps are quite alike

_TOE = 0.055  # seconds from the heel to the toe
_RISE, _FALL = 0.002, 0.03  # seconds; a wave that is cut off would click
_CRUMB = 0.006  # seconds that one of them crackles
_THUMP = 62.0  # Hz, of a body that lands


class Timbre(NamedTuple):
    """How a material answers a foot."""

    loudness: float  # the highest sample, at most 1
    pitch: float  # Hz, the middle of its noise
    width: float  # octaves from there to where the noise is a good third weaker
    fade: float  # seconds until it has faded to a third
    crumbs: int = 0  # that crackle while it fades
    tones: tuple[float, ...] = ()  # Hz
    ringing: float = 0.01  # seconds until the tones have faded to a third


_EARTH = Timbre(0.55, 210.0, 1.0, 0.030)
_STONE = Timbre(0.70, 2100.0, 0.9, 0.010, tones=(640.0, 1130.0))
_TIMBRES = {
    "grass": Timbre(0.50, 1500.0, 1.1, 0.040, crumbs=6),
    "earth": _EARTH,
    "dirt": _EARTH,
    "mud": Timbre(0.55, 420.0, 0.7, 0.060, crumbs=5),
    "sand": Timbre(0.40, 3600.0, 0.9, 0.055),
    "gravel": Timbre(0.65, 3000.0, 0.8, 0.050, crumbs=16),
    "snow": Timbre(0.50, 1050.0, 0.6, 0.075, crumbs=40),
    "stone": _STONE,
    "rock": _STONE,
    "road": _STONE,
    "asphalt": _STONE,
    "lava": _STONE,
    "ice": Timbre(0.60, 4200.0, 0.7, 0.008, tones=(1900.0, 2730.0), ringing=0.02),
    "wood": Timbre(0.75, 300.0, 0.8, 0.022, tones=(128.0, 236.0, 410.0), ringing=0.035),
    "metal": Timbre(0.60, 2500.0, 1.0, 0.012, tones=(410.0, 987.0, 1730.0), ringing=0.08),
    "water": Timbre(0.60, 800.0, 1.0, 0.070, crumbs=12),
}
# Land without names is drawn as grass wherever it is level.
_UNKNOWN = _TIMBRES["grass"]


def footstep(material: str, variant: int) -> Floats:
    """Return the samples of a step, from -1 to 1; the same for the same arguments."""
    timbre = _TIMBRES.get(material.lower(), _UNKNOWN)
    random = np.random.default_rng(variant % VARIANTS)
    timbre = _varied(timbre, random)
    heel, toe = _impact(timbre, random), 0.5 * _impact(timbre, random)
    late = round(_TOE * RATE)
    samples = np.zeros(late + len(toe))
    samples[: len(heel)] += heel
    samples[late:] += toe
    return _leveled(samples, timbre.loudness)


def landing(material: str, variant: int) -> Floats:
    """Return the samples of a landing: a step, and the thump of a body."""
    step = footstep(material, variant)
    time = _times(0.3)
    # Its pitch falls, as that of a drum.
    thump = np.sin(2.0 * np.pi * _THUMP * (time + 0.02 * (1.0 - np.exp(-time / 0.02))))
    samples = np.zeros(max(len(time), len(step)))
    samples[: len(time)] += thump * np.exp(-time / 0.06)
    samples[: len(step)] += step
    return _leveled(samples, 0.9)


def _varied(timbre: Timbre, random: np.random.Generator) -> Timbre:
    share = 2.0 ** random.uniform(-0.12, 0.12)
    return timbre._replace(
        loudness=timbre.loudness * random.uniform(0.85, 1.0),
        pitch=timbre.pitch * share,
        tones=tuple(tone * share for tone in timbre.tones),
    )


def _impact(timbre: Timbre, random: np.random.Generator) -> Floats:
    """Return a heel or a toe: noise, and what rings."""
    time = _times(4.0 * max(timbre.fade, timbre.ringing))
    strength = np.exp(-time / timbre.fade)
    if timbre.crumbs:
        strength *= _crackle(time, timbre, random)
    samples = _noise(len(time), timbre, random) * strength
    for tone in timbre.tones:
        samples += np.sin(2.0 * np.pi * tone * time) * np.exp(-time / timbre.ringing)
    return samples


def _noise(count: int, timbre: Timbre, random: np.random.Generator) -> Floats:
    """Return noise around the pitch of a timbre, of standard deviation 1."""
    spectrum = np.fft.rfft(random.standard_normal(count))
    hertz = np.maximum(np.fft.rfftfreq(count, 1.0 / RATE), 1.0)
    spectrum *= np.exp(-((np.log2(hertz / timbre.pitch) / timbre.width) ** 2))
    samples = np.fft.irfft(spectrum, count)
    return np.asarray(samples / samples.std())


def _crackle(time: Floats, timbre: Timbre, random: np.random.Generator) -> Floats:
    """Return how strong the noise is where crumbs break one after another."""
    begins = random.uniform(0.0, 2.5 * timbre.fade, timbre.crumbs)
    since = time - begins[:, np.newaxis]
    bursts = np.where(since >= 0.0, np.exp(-np.maximum(since, 0.0) / _CRUMB), 0.0)
    strengths = random.uniform(0.3, 1.0, timbre.crumbs)
    return np.asarray(0.5 + strengths @ bursts)


def _leveled(samples: Floats, loudness: float) -> Floats:
    """Return samples that begin and end in silence, the highest as loud as is wanted."""
    rise, fall = round(_RISE * RATE), round(_FALL * RATE)
    samples = samples.copy()
    samples[:rise] *= _ramp(rise)
    samples[-fall:] *= _ramp(fall)[::-1]
    return np.asarray(samples * (loudness / np.abs(samples).max()))


def _ramp(count: int) -> Floats:
    return np.asarray(0.5 - 0.5 * np.cos(np.linspace(0.0, np.pi, count)))


def _times(seconds: float) -> Floats:
    return np.arange(round(seconds * RATE)) / RATE
