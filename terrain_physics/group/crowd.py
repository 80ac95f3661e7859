"""The crowd of a group: preferred velocities, contact impulses and half-planes of an update."""

import numpy as np

from terrain_physics._kernels.character.others.half_planes import CROWD_SIZE
from terrain_physics._kernels.crowd.agents import (
    AGENT_SIZE,
    MOST_PAIRS,
    PAIR_SIZE,
    list_pairs,
    put_agents,
)
from terrain_physics._kernels.crowd.constraints import ASIDE, put_half_planes
from terrain_physics._kernels.crowd.preferred_velocities import find_preferred_velocities
from terrain_physics._kernels.crowd.solver import solve_contact_impulses
from terrain_physics._kernels.crowd.standing_on_characters import find_characters_below
from terrain_physics._kernels.types import Floats, Int64s, UInt64s
from terrain_physics._support.threads import Workers

# Pairs are listed for so many times the longest displacement, as pushes may lead farther, and for a
# least displacement.
_SEARCH_FACTOR, _LEAST_DISPLACEMENT = 1.25, 1e-3  # meters

# Initial room for the pairs of one character.
_FIRST_PAIRS = 16

# Rounds of half-planes where moving bases carry characters, each by how far the last lets them go.
_ROUNDS_ON_MOVING_BASES = 8

# Nanoseconds that each stage takes for one character, roughly.
_BELOW_COST, _PAIRS_COST, _PREFERRED_COST, _HALF_PLANES_COST = 20, 300, 200, 200


class Crowd:
    """Working memory of a crowd: nothing in it outlasts an update.

    Parameters
    ----------
    stand_on_characters : bool
        Whether characters stand on each other.
    """

    def __init__(self, *, stand_on_characters: bool) -> None:
        self.stand_on_characters = stand_on_characters
        self._make_room(0)

    def _make_room(self, count: int) -> None:
        self._agents = np.empty((count, AGENT_SIZE))
        self._order = np.empty(count, dtype=np.int64)
        self._cells = np.empty((count, 2), dtype=np.int64)
        self._starts = np.empty((1 << count.bit_length()) + 1, dtype=np.int64)
        self._displacements = np.empty((count, 2)), np.empty((count, 2))
        self._ends = np.empty((count, 2)), np.empty((count, 2))
        self._rows = np.empty(count * CROWD_SIZE)
        self._make_room_for_pairs(count, _FIRST_PAIRS)

    def _make_room_for_pairs(self, count: int, room: int) -> None:
        self._pairs = (
            np.zeros(count, dtype=np.int64),
            np.empty((count, room), dtype=np.int64),
            np.empty((count, room, PAIR_SIZE)),
        )

    def constraints(
        self,
        states: Floats,
        rules: Floats,
        words: UInt64s,
        seconds: float,
        table: Int64s,
        threads: int | None,
    ) -> Floats:
        """Return the constraints of n characters among others in an update: (n * CROWD_SIZE,).

        ``states``, ``rules`` and ``table`` are as of `update_characters`, ``words`` (n,) all
        different. The result is valid until the next call.
        """
        count, workers = len(words), Workers(threads)
        if count != len(self._order):
            self._make_room(count)
        size, widest, longest, any_carried = put_agents(
            states, rules, seconds, table, self.stand_on_characters, *self._sorted_agents
        )
        self._find_below(size, widest, seconds, words, workers)
        expected = 0.0
        while longest > expected or expected == 0.0:
            expected = max(_SEARCH_FACTOR * longest, _LEAST_DISPLACEMENT)
            self._list_pairs(size, widest, 2.0 * (expected + ASIDE), words, workers)
            longest = max(longest, self._solve(seconds, workers))
        rounds = _ROUNDS_ON_MOVING_BASES if any_carried else 1
        self._put_half_planes(states, rules, seconds, rounds, workers)
        return self._rows

    @property
    def _sorted_agents(self) -> tuple[Floats, Int64s, Int64s, Int64s]:
        """The agents, their order by cells, and where the characters of a cell are in that."""
        return self._agents, self._order, self._cells, self._starts

    def _find_below(
        self, size: float, widest: float, seconds: float, words: UInt64s, workers: Workers
    ) -> None:
        """Find the character below each, where there is one."""
        found, stands = self._sorted_agents, self.stand_on_characters

        def find_below(first: int, last: int) -> None:
            find_characters_below(*found, size, widest, seconds, stands, words, first, last)

        workers.run(find_below, len(words), _BELOW_COST)

    def _list_pairs(
        self, size: float, widest: float, most: float, words: UInt64s, workers: Workers
    ) -> None:
        """List the pairs, with as much room as they need."""
        found = self._sorted_agents

        def pair(first: int, last: int) -> int:
            return list_pairs(*found, size, widest, most, words, *self._pairs, first, last)

        room = self._pairs[1].shape[1]
        needed = max(workers.run(pair, len(words), _PAIRS_COST))
        if needed > room:
            self._make_room_for_pairs(len(words), min(2 * needed, MOST_PAIRS))
            workers.run(pair, len(words), _PAIRS_COST)

    def _solve(self, seconds: float, workers: Workers) -> float:
        """Solve for the displacements of all; return the length of the longest."""
        known, count = (self._agents, *self._pairs), len(self._agents)

        def prefer(first: int, last: int) -> None:
            find_preferred_velocities(*known, seconds, np.empty(CROWD_SIZE), first, last)

        workers.run(prefer, count, _PREFERRED_COST)
        return solve_contact_impulses(*known, *self._displacements)

    def _put_half_planes(
        self, states: Floats, rules: Floats, seconds: float, rounds: int, workers: Workers
    ) -> None:
        """Put the half-planes of all, each round by how far the one before lets the others go."""
        known = states, rules, self._agents, self._order, *self._pairs, self._displacements[0]
        guaranteed, stands = self._displacements[0], self.stand_on_characters
        for turn in range(rounds):
            places = guaranteed, self._ends[turn % 2]

            def constrain(first: int, last: int, places: tuple[Floats, Floats] = places) -> None:
                put_half_planes(*known, *places, seconds, stands, self._rows, first, last)

            workers.run(constrain, len(self._order), _HALF_PLANES_COST)
            guaranteed = places[1]
