"""The crowd of a group: preferred velocities, contact impulses and half-planes of an update."""

from typing import Any, Literal, NamedTuple, Self

import numpy as np

from terrain_physics._kernels.character.others.half_planes import CROWD_SIZE
from terrain_physics._kernels.crowd.agents import (
    AGENT_SIZE,
    MOST_PAIRS,
    PAIR_SIZE,
    AgentGrid,
    Pairs,
    list_pairs,
    put_agents,
)
from terrain_physics._kernels.crowd.constraints import (
    ASIDE,
    Displacements,
    find_turns,
    put_ends,
    put_half_planes,
)
from terrain_physics._kernels.crowd.preferred_velocities import find_preferred_velocities
from terrain_physics._kernels.crowd.solver import solve_contact_impulses
from terrain_physics._kernels.crowd.standing_on_characters import find_characters_below
from terrain_physics._kernels.types import Floats, Int64s, UInt64s
from terrain_physics._support import checks
from terrain_physics._support.threads import Workers

# Pairs are listed for the longest displacement times a factor, as pushes may lead farther, and for
# a least displacement.
_SEARCH_FACTOR, _LEAST_DISPLACEMENT = 1.25, 1e-3  # meters

# Initial room for the pairs of one character.
_FIRST_PAIRS = 16

# Rounds of half-planes on moving bases; each round uses the displacements that the last one allows.
_ROUNDS_ON_MOVING_BASES = 8

# Rough costs of the stages for one character, in nanoseconds.
_BELOW_COST, _PAIRS_COST, _PREFERRED_COST, _HALF_PLANES_COST = 20, 300, 200, 200

# The sides that streams may keep to, as kernels know them.
_SIDES = {"right": 1.0, "left": -1.0, None: 0.0}


class CrowdOptions(NamedTuple):
    """How the characters of a crowd treat each other; see `CharacterGroup`."""

    heads: Literal["slide", "stand"] = "slide"
    keep_to: Literal["right", "left"] | None = "right"

    @classmethod
    def checked(cls, heads: Any, keep_to: Any) -> Self:
        """Return options that may be anything; raise ValueError for those that there are not."""
        checks.choice("heads", heads, ("slide", "stand"))
        is_known = keep_to is None or (isinstance(keep_to, str) and keep_to in _SIDES)
        if not is_known:
            got = checks.shorten(keep_to)
            raise ValueError(f"keep_to must be 'right', 'left' or None, got {got}")
        return cls(heads, keep_to)

    def require_defaults(self) -> None:
        """Raise ValueError, naming the option, for one that only those who collide have."""
        for name, value, default in zip(self._fields, self, CrowdOptions(), strict=True):
            if value != default:
                raise ValueError(f"{name} must come with collide=True, got {value!r} without it")


class Crowd:
    """Working memory of a crowd; its contents are valid for one update.

    Parameters
    ----------
    options : CrowdOptions

    Attributes
    ----------
    passes : int
        How many passes over the characters the update takes: who pushes moves after the pushed.
    side : float
        The one that streams keep to: 1: right, -1: left, 0: none.
    """

    def __init__(self, options: CrowdOptions) -> None:
        self.options, self.passes = options, 1
        self._stand_on_characters = options.heads == "stand"
        self.side = _SIDES[options.keep_to]
        self._make_room(0)

    def _make_room(self, count: int) -> None:
        self._grid = AgentGrid(
            np.empty((count, AGENT_SIZE)),
            np.empty(count, dtype=np.int64),
            np.empty((count, 2), dtype=np.int64),
            np.empty((1 << count.bit_length()) + 1, dtype=np.int64),
        )
        self._displacements = np.empty((count, 2)), np.empty((count, 2))
        self._ends = np.empty((count, 2)), np.empty((count, 2))
        self._turns = np.zeros(count, dtype=np.int64)
        self._rows = np.empty(count * CROWD_SIZE)
        self._make_room_for_pairs(count, _FIRST_PAIRS)

    def _make_room_for_pairs(self, count: int, room: int) -> None:
        self._pairs = Pairs(
            np.zeros(count, dtype=np.int64),
            np.empty((count, room), dtype=np.int64),
            np.empty((count, room, PAIR_SIZE)),
        )

    def constraints(
        self,
        states: Floats,
        rules: Floats,
        hits: Floats,
        words: UInt64s,
        seconds: float,
        table: Int64s,
        threads: int | None,
    ) -> Floats:
        """Return the constraints of n characters among others in an update: (n * CROWD_SIZE,).

        They are those of the first of ``passes`` over the characters.

        ``states``, ``rules``, ``hits`` and ``table`` are as of `update_characters`; the ``words``
        (n,) are all different. The result is valid until the next call.
        """
        count = len(words)
        if count != len(self._grid.order):
            self._make_room(count)
        workers, grid, holds = Workers(threads), self._grid, self._stand_on_characters
        known = states, rules, hits, seconds, table
        size, widest, longest, any_carried = put_agents(*known, holds, grid)

        def find_below(first: int, last: int) -> None:
            find_characters_below(grid, size, widest, seconds, holds, words, first, last)

        workers.run(find_below, count, _BELOW_COST)
        expected = 0.0
        while longest > expected or expected == 0.0:
            expected = max(_SEARCH_FACTOR * longest, _LEAST_DISPLACEMENT)
            self._list_pairs(size, widest, 2.0 * (expected + ASIDE), words, workers)
            longest = max(longest, self._solve(seconds, workers))

        self._turns[:] = 0
        solved = guaranteed = self._displacements[0]
        for attempt in range(_ROUNDS_ON_MOVING_BASES if any_carried else 1):
            self._moves = Displacements(solved, guaranteed, self._ends[attempt % 2], self._turns)
            self._constrain(states, rules, seconds, 0, workers)
            guaranteed = self._moves.ends
        self.passes = find_turns(grid, self._pairs, self._turns, self._rows)
        return self._rows

    def begin_pass(
        self, states: Floats, rules: Floats, seconds: float, turn: int, threads: int | None
    ) -> None:
        """Constrain those whose turn it is, after those before them have moved.

        Parameters
        ----------
        states, rules, seconds, threads
            As of `constraints`; the states are those after the passes before.
        turn : int
            The number of the pass, > 0; there are ``passes`` of them in all.
        """
        put_ends(states, rules, self._grid, self._moves, turn)
        self._constrain(states, rules, seconds, turn, Workers(threads))

    def _constrain(
        self, states: Floats, rules: Floats, seconds: float, turn: int, workers: Workers
    ) -> None:
        """Write the half-planes of those whose turn it is; in the first pass, of all."""

        def constrain(first: int, last: int) -> None:
            known = states, rules, self._grid, self._pairs, self._moves
            how = seconds, self._stand_on_characters, self._rows, turn
            put_half_planes(*known, *how, first, last)

        workers.run(constrain, len(self._turns), _HALF_PLANES_COST)

    def _list_pairs(
        self, size: float, widest: float, most: float, words: UInt64s, workers: Workers
    ) -> None:
        """List the pairs, and make the room that they need."""

        def pair(first: int, last: int) -> int:
            return list_pairs(self._grid, size, widest, most, words, self._pairs, first, last)

        room = self._pairs.others.shape[1]
        needed = max(workers.run(pair, len(words), _PAIRS_COST))
        if needed > room:
            self._make_room_for_pairs(len(words), min(2 * needed, MOST_PAIRS))
            workers.run(pair, len(words), _PAIRS_COST)

    def _solve(self, seconds: float, workers: Workers) -> float:
        """Solve for the displacements of all agents; return the length of the longest."""
        agents, pairs, side = self._grid.rows, self._pairs, self.side

        def prefer(first: int, last: int) -> None:
            scratch = np.empty(CROWD_SIZE)
            find_preferred_velocities(agents, pairs, seconds, side, scratch, first, last)

        workers.run(prefer, len(agents), _PREFERRED_COST)
        return solve_contact_impulses(agents, pairs, *self._displacements)
