"""A picture drawn at a share of its size, enlarged: sharp by Catmull and Rom's cubic."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .compiled import by_vectors, compiled
from .shade_rows import byte_of, fetch

Singles = NDArray[np.float32]
Words = NDArray[np.uint32]
Pairs = NDArray[np.uint64]
Numbers = NDArray[np.int32]
Taps = tuple[Numbers, Singles]

TAPS = 4
_SHARPNESS = -0.5  # the cubic's slope where it meets zero: Catmull and Rom's
_PAIR, _HALF, _ZERO, _BYTE = np.uint64(32), np.float32(0.5), np.float32(0.0), np.float32(255.0)


def find_taps(small: int, large: int) -> Taps:
    """Return for each of ``large`` pixels the first of the four it is mixed of, and their shares.

    What is beyond the first or the last of the ``small`` pixels is as they are.
    """
    middle = (np.arange(large) + 0.5) * (small / large) - 0.5
    before = np.floor(middle).astype(np.int64)
    starts = np.clip(before - 1, 0, small - TAPS)
    shares = np.zeros((TAPS, large))
    for k in range(-1, TAPS - 1):
        place = np.clip(before + k, 0, small - 1) - starts
        shares[place, np.arange(large)] += _cubic(np.abs(middle - before - k))
    return starts.astype(np.int32), shares.astype(np.float32)


def _cubic(away: NDArray[np.float64]) -> NDArray[np.float64]:
    a = _SHARPNESS
    near = ((a + 2.0) * away - (a + 3.0)) * away * away + 1.0
    far = ((a * away - 5.0 * a) * away + 8.0 * a) * away - 4.0 * a
    return np.where(away <= 1.0, near, np.where(away < 2.0, far, 0.0))


@by_vectors
def _widen(left: Pairs, right: Pairs, shares: Singles, out: Singles) -> None:
    """Mix four pixels beside each other, two in each pair; ``out``: (3, n)."""
    for k in range(left.shape[0]):
        a, b = np.uint32(left[k]), np.uint32(left[k] >> _PAIR)
        c, d = np.uint32(right[k]), np.uint32(right[k] >> _PAIR)
        for channel in range(3):
            shift = np.uint32(8 * channel)
            out[channel, k] = (
                shares[0, k] * byte_of(a, shift) + shares[1, k] * byte_of(b, shift)
                + shares[2, k] * byte_of(c, shift) + shares[3, k] * byte_of(d, shift)
            )  # fmt: skip


@by_vectors
def _mix(a: Singles, b: Singles, c: Singles, d: Singles, shares: Singles, out: Words) -> None:
    """Mix four rows of colors to words."""
    p, q, r, s = shares[0], shares[1], shares[2], shares[3]
    for k in range(out.shape[0]):
        blue = p * a[0, k] + q * b[0, k] + r * c[0, k] + s * d[0, k] + _HALF
        green = p * a[1, k] + q * b[1, k] + r * c[1, k] + s * d[1, k] + _HALF
        red = p * a[2, k] + q * b[2, k] + r * c[2, k] + s * d[2, k] + _HALF
        low = np.int32(min(max(blue, _ZERO), _BYTE))
        middle = np.int32(min(max(green, _ZERO), _BYTE))
        high = np.int32(min(max(red, _ZERO), _BYTE))
        out[k] = np.uint32((high << 16) | (middle << 8) | low)


@compiled
def enlarge(
    pairs: Pairs, columns: int, across: Any, down: Any, first: int, last: int, out: Words
) -> None:
    """Write rows of the large picture. ``across``, ``down``: see `find_taps`.

    ``pairs``: each of the small picture's pixels with the next one; it has so many ``columns``.
    """
    starts, shares = across
    rows, row_shares = down
    left = np.empty(starts.shape[0], dtype=np.uint64)
    right = np.empty(starts.shape[0], dtype=np.uint64)
    wide = np.empty((TAPS, 3, starts.shape[0]), dtype=np.float32)
    mixed = np.empty(TAPS, dtype=np.float32)
    known = rows[first]
    for i in range(first, last):
        top = rows[i]
        for row in range(known, top + TAPS):
            fetch(pairs[row * columns :], starts, left)
            fetch(pairs[row * columns + 2 :], starts, right)
            _widen(left, right, shares, wide[row % TAPS])
        known = top + TAPS
        for k in range(TAPS):
            mixed[k] = row_shares[k, i]
        a, b, c, d = top % TAPS, (top + 1) % TAPS, (top + 2) % TAPS, (top + 3) % TAPS
        _mix(wide[a], wide[b], wide[c], wide[d], mixed, out[i])
