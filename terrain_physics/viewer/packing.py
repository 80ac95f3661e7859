"""A clip as bytes, small, and the same each time by the same zlib; ``page.js`` unpacks them.

They are zlib's format: the length of a header as four bytes, little endian, the header in JSON, and
then arrays one after another, which the header lists as ``streams``: name, type, rows and columns.

Numbers are whole. Lengths are multiples of the header's ``step``, a power of two that is at most
1/256 of the smallest half extent, so that places are exact to half of it. Times are
multiples of its ``tick``, parts of unit vectors of 1/127, of quaternions of 1/32767. Rows of an
array hold differences from one number to the next, modulo the width of the type, folded so that
small ones of both signs are small (0, -1, 1, -2 become 0, 1, 2, 3). All lowest bytes come first,
then all second ones. Even changes are nearly nothing after that.
"""

import json
import math
import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from terrain_physics.viewer.clip import SHAPE_NAMES, Clip, ClipBodies, ClipPart

_UNITS, _TURNS = 127, 32767

_TICK = 1e-4  # seconds

_MOST_TICKS = 2**31 - 1

_FINEST, _COARSEST = -20, 10  # steps as powers of two

_MOST_STEPS = 2**30


class _Streams:
    """Arrays of whole numbers, packed."""

    def __init__(self, step: float) -> None:
        self.step = step
        self.about: list[tuple[str, int, int, int]] = []
        self.content: list[bytes] = []

    def add(self, name: str, width: int, values: NDArray[Any]) -> None:
        """Add rows (r, n) of whole numbers of so many bytes."""
        rows, count = values.shape
        kind = np.dtype(f"<i{width}")
        whole = values.astype(np.int64).astype(kind)
        with np.errstate(over="ignore"):
            change = np.diff(whole, axis=1, prepend=np.zeros((rows, 1), kind)).astype(kind)
            folded = (change << 1) ^ (change >> (8 * width - 1))
        planes = folded.astype(kind).reshape(-1).view(np.uint8).reshape(-1, width).T
        self.about.append((name, width, rows, count))
        self.content.append(planes.tobytes())

    def add_lengths(self, name: str, values: NDArray[Any]) -> None:
        """Add rows of meters."""
        self.add(name, 4, np.rint(values / self.step))


def packed(clip: Clip) -> bytes:
    """Return the bytes of a clip.

    ValueError for lengths beyond 2^30 times the coarsest step, times beyond 2^31 ticks, and shapes
    that no page can draw.
    """
    for kind, _ in clip.bodies.shapes:
        if kind not in SHAPE_NAMES:
            raise ValueError(
                f"shape of a body must be one of {', '.join(SHAPE_NAMES)}, got {kind!r}"
            )
    if clip.times[-1] >= _MOST_TICKS * _TICK:
        raise ValueError(
            f"recording must be shorter than {_MOST_TICKS * _TICK:.0f} s to be shown, got "
            f"{clip.times[-1]:.0f} s"
        )
    origin = _origin_of(clip)
    streams = _Streams(_step_of(clip, origin))
    streams.add("time", 4, np.rint(np.array([clip.times]) / _TICK))
    _add_bodies(streams, clip.bodies, origin)
    parts = [
        _add_part(streams, f"part{number}", part, origin) for number, part in enumerate(clip.parts)
    ]
    header = {
        "title": clip.title,
        "step": streams.step,
        "origin": origin.tolist(),
        "samples": len(clip.times),
        "tick": _TICK,
        "slopeCosine": clip.slope_cosine,
        "names": clip.bodies.names,
        "shapes": clip.bodies.shapes,
        "parts": parts,
        "streams": streams.about,
    }
    about = json.dumps(header, separators=(",", ":"), allow_nan=False).encode()
    return zlib.compress(b"".join([struct.pack("<I", len(about)), about, *streams.content]), 9)


def _origin_of(clip: Clip) -> NDArray[np.float64]:
    """Return a place near most bodies, or parts, in whole meters: browsers draw in float32."""
    places = clip.bodies.center[clip.bodies.shape >= 0]
    if not len(places):
        places = np.concatenate(
            [np.zeros((0, 3)), *(np.array(part.position) for part in clip.parts)]
        )
    if not len(places):
        return np.zeros(3)
    origin: NDArray[np.float64] = np.round(np.median(places, axis=0))
    return origin


def _step_of(clip: Clip, origin: NDArray[np.float64]) -> float:
    """Return the length that all others are multiples of."""
    sizes = [size for _, extents in clip.bodies.shapes for size in extents if size > 0.0]
    power = math.frexp(min(sizes, default=1.0) / 256.0)[1] - 1  # the logarithm, rounded down
    is_there = clip.bodies.shape >= 0
    extent = np.abs(clip.bodies.center[is_there] - origin).max(initial=0.0)
    for part in clip.parts:
        extent = max(extent, np.abs(np.array(part.position) - origin).max(initial=0.0))
        extent = max(extent, np.abs(part.vertices).max(initial=0.0))
        for edit in part.edits:
            extent = max(extent, np.abs(edit.vertices).max(initial=0.0))
    share, least = math.frexp(max(float(extent), 1e-9) / _MOST_STEPS)
    least -= share == 0.5  # the logarithm, rounded up
    if least > _COARSEST:
        raise ValueError(f"recording must be at most 2^40 m wide to be shown, got {2 * extent:g} m")
    return math.ldexp(1.0, min(max(power, least, _FINEST), _COARSEST))


def _add_bodies(streams: _Streams, bodies: ClipBodies, origin: NDArray[np.float64]) -> None:
    """Add bodies one after another: each row is one number of one body over time."""
    center = np.where(bodies.shape[..., np.newaxis] >= 0, bodies.center, origin) - origin
    touches = (bodies.state > 0) & (bodies.shape >= 0)
    point = np.where(touches[..., np.newaxis], bodies.touch[..., :3] - bodies.center, 0.0)
    normal = np.where(touches[..., np.newaxis], bodies.touch[..., 3:], 0.0)
    streams.add("shape", 4, bodies.shape.T)
    streams.add_lengths("center", _over_time(center))
    streams.add("rotation", 2, np.rint(_over_time(bodies.rotation) * _TURNS))
    streams.add("state", 1, bodies.state.T)
    streams.add("isPut", 1, bodies.is_put.T)
    streams.add_lengths("touchPoint", _over_time(point))
    streams.add("touchNormal", 1, np.rint(_over_time(normal) * _UNITS))
    sample, body = bodies.blocked[:, 0].astype(np.int64), bodies.blocked[:, 1].astype(np.int64)
    streams.add("blockedWhen", 4, np.stack([sample, body]))
    away = bodies.blocked[:, 2:5] - bodies.center[sample, body]
    streams.add_lengths("blockedPoint", away.T)
    streams.add("blockedNormal", 1, np.rint(bodies.blocked[:, 5:].T * _UNITS))


def _over_time(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return samples of bodies (s, b, k) as rows over time (b * k, s)."""
    samples, bodies, width = values.shape
    rows: NDArray[np.float64] = values.transpose(1, 2, 0).reshape(bodies * width, samples)
    return rows


def _add_part(
    streams: _Streams, name: str, part: ClipPart, origin: NDArray[np.float64]
) -> dict[str, Any]:
    """Add a part of the ground, and return what the header says of it."""
    streams.add_lengths(f"{name}.vertices", part.vertices.T)
    for number, surface in enumerate(part.surfaces):
        streams.add(f"{name}.faces{number}", 4, surface.faces.T)
        streams.add(f"{name}.materials{number}", 1, surface.materials[np.newaxis])
    for number, edit in enumerate(part.edits):
        streams.add(f"{name}.rows{number}", 4, edit.rows[np.newaxis])
        streams.add_lengths(f"{name}.edit{number}", edit.vertices.T)
    streams.add_lengths(f"{name}.position", (np.array(part.position) - origin).T)
    streams.add(f"{name}.rotation", 2, np.rint(np.array(part.rotation).T * _TURNS))
    streams.add(f"{name}.isSolid", 1, np.array([part.is_solid]))
    return {
        "kind": part.kind,
        "cell": part.cell,
        "around": part.around,
        "isCut": part.is_cut,
        "first": part.first,
        "materialNames": part.material_names,
        "surfaces": [surface.first for surface in part.surfaces],
        "edits": [edit.first for edit in part.edits],
    }
