"""Ways between two places."""

import numpy as np

from terrain_physics._kernels.types import Int64s
from terrain_physics._kernels.walkability.ways.lengths import Lengths
from terrain_physics._kernels.walkability.ways.search import Search, find_way
from terrain_physics.walkability.places import Places
from terrain_physics.walkability.ways.field import new_buckets

_LAST_STAMP = 2**31 - 1


class Searcher:
    """Finds ways between places. It keeps working memory; no search sees what others left."""

    __slots__ = ("_free",)

    def __init__(self) -> None:
        # Working memory with its last stamp. A search takes it and brings it back, so that one in
        # another thread, or in a signal handler, takes another.
        self._free: list[tuple[Search, int]] = []

    def way(self, places: Places, start: int, goal: int, lengths: Lengths) -> Int64s | None:
        """Return the places (k,) of a shortest way, None if there is none."""
        search, stamp = self._take(len(places))
        count = find_way(places.arrays(), lengths, start, goal, search, stamp + 1)
        way = search.buckets.after[:count][::-1].astype(np.int64)
        self._free.append((search, stamp + 1))
        return way if count else None

    def _take(self, count: int) -> tuple[Search, int]:
        try:
            search, stamp = self._free.pop()
        except IndexError:
            search, stamp = _new(count), 0
        if len(search.stamps) != count or stamp == _LAST_STAMP - 1:
            return _new(count), 0
        return search, stamp


def _new(count: int) -> Search:
    """Return new working memory; the system gives it in pages, where a search first comes to."""
    stamps = np.zeros(count, dtype=np.int32)
    return Search(new_buckets(count), stamps, np.empty(count), np.empty(count, dtype=np.int32))
