"""Pictures of several channels as heights: gray, one of the channels, or an encoding of meters."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.types import Floats
from terrain_physics.heightmap.formats.source import Heights, Loaded, Source, largest

GRAY, GRAY_ALPHA = ("gray",), ("gray", "alpha")
RGB, RGBA = ("red", "green", "blue"), ("red", "green", "blue", "alpha")
COLORS = {1: GRAY, 2: GRAY_ALPHA, 3: RGB, 4: RGBA}


def _terrarium(red: Floats, green: Floats, blue: Floats) -> Floats:
    return red * 256.0 + green + blue / 256.0 - 32768.0


def _mapbox(red: Floats, green: Floats, blue: Floats) -> Floats:
    # The same as -10000 + 0.1 * number, rounded once.
    return (red * 65536.0 + green * 256.0 + blue - 100_000.0) / 10.0


ENCODINGS: dict[str, Callable[..., Floats]] = {"terrarium": _terrarium, "mapbox": _mapbox}
"""Elevation tiles: how red, green and blue (0 to 255) are a height in meters."""


def heights_of(source: Source, channels: dict[str, Heights]) -> Loaded:
    """Return the heights in a picture, whose channels (rows, columns) are known by their names."""
    if source.encoding is not None:
        return Loaded(_decoded(source, channels, source.encoding), _transparent(source, channels))
    if source.channel is not None:
        return Loaded(_chosen(source, channels, source.channel))
    return Loaded(_gray(source, channels), _transparent(source, channels))


def _decoded(source: Source, channels: dict[str, Heights], encoding: str) -> Heights:
    if not set(RGB) <= channels.keys() or channels["red"].dtype != np.uint8:
        got = f"{_words(channels)} of {next(iter(channels.values())).dtype.name}"
        raise source.bad(f"encoding is for red, green and blue of 8 bits, got {got}")
    return ENCODINGS[encoding](*(channels[name].astype(np.float64) for name in RGB))


def _chosen(source: Source, channels: dict[str, Heights], channel: str) -> Heights:
    if len(channels) == 1:
        got = f"got {_words(channels)} alone"
        raise source.bad(f"channel is for pictures of several channels, {got}")
    if channel not in channels:
        raise source.bad(f"channel must be one of its own, {_words(channels)}, got {channel!r}")
    return channels[channel]


def _gray(source: Source, channels: dict[str, Heights]) -> Heights:
    """Return the only channel beside alpha, or one of several that are equal."""
    names = [name for name in channels if name != "alpha"] or ["alpha"]
    first = channels[names[0]]
    if len(names) > 1 and names != list(RGB):
        rule = "must have one channel, or red, green and blue"
        raise source.bad(f"{rule}, got {_words(channels)}. Pass channel={names[0]!r} or another")
    differ = np.zeros(first.shape, np.bool_)
    for name in names[1:]:
        other = channels[name]
        differ |= (first != other) & ~(np.isnan(first) & np.isnan(other))
    if differ.any():
        row, column = np.argwhere(differ)[0].tolist()
        got = ", ".join(str(channels[name][row, column]) for name in names)
        apart = max(_most_apart(first, channels[name]) for name in names[1:])
        raise source.bad(
            f"must be gray, red, green and blue equal, got ({got}) at [{row}, {column}] (at most "
            f"{apart:g} from red anywhere). Pass "
            'channel="red" (or "green", "blue") for the one that holds the heights, or, for '
            'elevation tiles, encoding="terrarium" or "mapbox"'
        )
    return first


def _most_apart(one: Heights, other: Heights) -> float:
    """Return how far two channels differ at most: files meant to be gray may differ a little."""
    with np.errstate(invalid="ignore"):  # infinity from infinity
        return float(np.fmax.reduce(np.abs(one.astype(np.float64) - other), axis=None))


def _transparent(source: Source, channels: dict[str, Heights]) -> NDArray[np.bool_] | None:
    """Return where a picture is wholly transparent, if anywhere; refuse partial transparency."""
    if len(channels) == 1 or "alpha" not in channels:
        return None
    alpha = channels["alpha"]
    opaque = 1.0 if alpha.dtype.kind == "f" else largest(alpha)
    holes = alpha == 0
    remedy = f'Pass channel="{next(iter(channels))}" to read that channel whatever alpha is'
    partial = ~holes & (alpha != opaque)
    if partial.any():
        row, column = np.argwhere(partial)[0].tolist()
        got = f"got alpha {alpha[row, column]} of {opaque} at [{row}, {column}]"
        raise source.bad(f"must be opaque, or transparent where it has holes, {got}. {remedy}")
    if holes.all():
        raise source.bad(f"must be opaque somewhere, got alpha 0 everywhere. {remedy}")
    return holes if holes.any() else None


def _words(channels: dict[str, Heights]) -> str:
    *others, last = channels
    return f"{', '.join(others)} and {last}" if others else last
