"""A bucket queue of places: linked lists in a ring of slots, one for each range of distances.

A place beyond the ring waits in its last slot, and is put back when its turn comes too early. A
place knows its neighbors in its list, so that it moves to another slot in no time.
"""

from typing import NamedTuple

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.types import Int32s

SLOTS = 4096

ABSENT = -SLOTS - 1
"""Stands in ``before`` of a place that is in no list."""

_END = -1


class Buckets(NamedTuple):
    """The lists of a queue over n places."""

    heads: Int32s  # (SLOTS,): the first place of each list, or -1
    before: Int32s  # (n,): the place before; of a first place, -1 minus its slot
    after: Int32s  # (n,): the place behind, or -1


@kernel(inline=True, no_refcount=True)
def clear(buckets: Buckets) -> None:
    """Empty all lists; what ``before`` says of places is up to the caller."""
    for slot in range(SLOTS):
        buckets.heads[slot] = _END


@kernel(inline=True, no_refcount=True)
def put(buckets: Buckets, place: int, turn: int, now: int) -> None:
    """Put a place that is in no list into that of its turn, when the queue is at ``now``."""
    slot = min(turn, now + SLOTS - 1) % SLOTS
    first = int(buckets.heads[slot])
    buckets.before[place] = -1 - slot
    buckets.after[place] = first
    if first != _END:
        buckets.before[first] = place
    buckets.heads[slot] = place


@kernel(inline=True, no_refcount=True)
def take_out(buckets: Buckets, place: int) -> None:
    """Take a place out of its list."""
    before, after = int(buckets.before[place]), int(buckets.after[place])
    if before < 0:
        buckets.heads[-1 - before] = after
    else:
        buckets.after[before] = after
    if after != _END:
        buckets.before[after] = before
    buckets.before[place] = ABSENT
