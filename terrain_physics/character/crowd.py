"""What the characters of a group do to each other in an update, before each of them moves."""

import numpy as np

from terrain_physics._kernels.character.crowd import push_each_other, put_fences, take_ways
from terrain_physics._kernels.character.discs import DISC_SIZE, put_discs
from terrain_physics._kernels.character.fences import CROWD_SIZE
from terrain_physics._kernels.types import Floats, Words
from terrain_physics._threads import Workers

ALONE = np.zeros(0)
"""What kernels take as the crowd of those to whom others are nothing."""

# How often pushes are handed on in an update: so many characters in a row one can push.
_ROUNDS = 3

# Nanoseconds that pushes and fences take of one character, roughly.
_PUSHES_COST, _FENCES_COST = 300, 300


class Crowd:
    """Working memory for the characters of a group among each other: nothing lasts in it."""

    def __init__(self) -> None:
        self._make_room(0)

    def _make_room(self, count: int) -> None:
        self._discs = np.empty((count, DISC_SIZE))
        self._order = np.empty(count, dtype=np.int64)
        self._cells = np.empty((count, 2), dtype=np.int64)
        self._starts = np.empty((1 << count.bit_length()) + 1, dtype=np.int64)
        self._rows = np.empty(count * CROWD_SIZE)

    def met(
        self, states: Floats, rules: Floats, words: Words, seconds: float, threads: int | None
    ) -> Floats:
        """Return what others let each of n characters do in an update: rows (n * CROWD_SIZE,).

        ``states`` and ``rules`` are as of `update_characters`, ``words`` (n,) all different. The
        result is valid until the next call.
        """
        count = len(words)
        if count != len(self._order):
            self._make_room(count)
        found = self._discs, self._order, self._cells, self._starts
        size, reach = put_discs(states, rules, seconds, *found)

        workers = Workers(threads)

        def push(first: int, last: int) -> float:
            return push_each_other(*found, size, reach, words, seconds, first, last)

        for _ in range(_ROUNDS):
            reach = max(workers.run(push, count, _PUSHES_COST))
            take_ways(self._discs)

        def fence(first: int, last: int) -> None:
            put_fences(states, rules, *found, size, reach, words, seconds, self._rows, first, last)

        workers.run(fence, count, _FENCES_COST)
        return self._rows
