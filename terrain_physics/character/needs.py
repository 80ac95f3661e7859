"""Needs of characters: the ground that an update may look at, brought before it begins."""

from collections.abc import Callable

import numpy as np

from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels.character import needs as kernels
from terrain_physics._kernels.character.reports.hits import HITS_SIZE, NEED, NEED_MARK
from terrain_physics._kernels.types import Bools, Floats, Int64s
from terrain_physics.character.rows import Rows, nothing_happened
from terrain_physics.surface.queries import Queries
from terrain_physics.surface.streaming import Streaming

_PUT = CachedDispatch(kernels.put_needs)


def run_where_loaded(
    run: Callable[[], bool], rows: Rows, queries: Queries, seconds: float, *, in_crowd: bool = False
) -> tuple[bool, Bools | None]:
    """Run an update on ground that has a `Streaming`.

    Parameters
    ----------
    run : callable
        Advances the characters; tells whether any ran into something.
    rows : Rows
        The numbers of one character, or of n.
    queries : Queries
        Of their ground.
    seconds : float
        Length of the update.
    in_crowd : bool, default False
        Whether they push each other.

    Returns
    -------
    tuple of bool and ndarray of bool or None
        Whether any ran into something, and which ones have waited, None if none has.
    """
    streaming = queries.streaming
    if streaming is None:
        return run(), None
    with streaming.updating():
        needs, any_hits = _Needs(rows, queries, streaming, seconds, in_crowd=in_crowd), False
        try:
            while True:
                any_hits = run() or any_hits
                if needs.are_met():
                    break
        finally:
            waits = needs.end()
    return any_hits, waits


def is_there(rows: Rows, queries: Queries) -> bool:
    """Bring the ground around the body of one character; tell whether it is there."""
    streaming = queries.streaming
    if streaming is None:
        return True
    hits = np.zeros(HITS_SIZE)
    with queries.lock:
        table = queries.ground_arrays.table
        _PUT.call(rows.state, rows.rules, hits, *(0.0, 0, 1, True), table)
    return streaming.bring(hits[np.newaxis, NEED:NEED_MARK].copy()) is None


class _Needs:
    """Needs of characters in one update, on ground that may not be all there.

    Their ground is brought as this is made, and again by `are_met`, without a lock.

    Parameters
    ----------
    rows, queries, seconds, in_crowd
        As of `run_where_loaded`. In a crowd, one that strays undoes the update of all.
    streaming : Streaming
        That of the queries.
    """

    __slots__ = ("_before", "_hits", "_rows", "_streaming")

    def __init__(
        self,
        rows: Rows,
        queries: Queries,
        streaming: Streaming,
        seconds: float,
        *,
        in_crowd: bool,
    ) -> None:
        self._rows, self._streaming = rows, streaming
        self._hits = rows.hits.reshape(-1, HITS_SIZE)
        # Kernels take flat arrays of rows; these are views.
        flat = rows.state.reshape(-1), rows.rules.reshape(-1), rows.hits.reshape(-1)
        count = len(self._hits)
        with queries.lock:
            table = queries.ground_arrays.table
            going, farthest = _PUT.call(*flat, seconds, 0, count, in_crowd, table)
        self._before = None
        if in_crowd:
            # A push leads nobody farther than another one goes.
            self._boxes[:, :2] -= farthest
            self._boxes[:, 2:] += farthest
            self._before = rows.state.copy(), rows.random.copy()
        if going:
            marks = self._marks
            self._bring(np.flatnonzero(marks == kernels.GOES) if count > 1 else np.zeros(1, int))

    @property
    def _boxes(self) -> Floats:
        """The boxes (n, 4), a view."""
        return self._hits[:, NEED:NEED_MARK]

    @property
    def _marks(self) -> Floats:
        """The marks (n,), a view."""
        return self._hits[:, NEED_MARK]

    def _bring(self, which: Int64s) -> None:
        """Bring the ground of some characters, and mark those that must wait."""
        waits = self._streaming.bring(self._boxes[which])
        if waits is not None:
            self._marks[which[waits]] = kernels.WAITS

    def are_met(self) -> bool:
        """Tell whether the update is done; if not, it is to be run once more.

        Then characters have looked at other ground than was brought. They are as before, and so are
        all others of a crowd. Their ground has been brought now.
        """
        marks = self._marks
        lacking = marks == kernels.STRAYED
        if self._before is not None:
            lacking |= self._reached(marks == kernels.WOKEN)
        which = np.flatnonzero(lacking)
        if len(which) == 0:
            return True
        if self._before is None:
            marks[marks == kernels.GOES] = kernels.DONE
        else:
            self._rows.state[...], self._rows.random[...] = self._before
            marks[marks == kernels.WOKEN] = kernels.ASLEEP
        marks[which] = kernels.GOES
        self._bring(which)
        return False

    def _reached(self, woken: Bools) -> Bools:
        """Tell which characters that others have pushed awake have ground that is not there."""
        which = np.flatnonzero(woken)
        if len(which):
            reached = self._streaming.reached(self._boxes[which])
            woken[which] = False if reached is None else reached
        return woken

    def end(self) -> Bools | None:
        """End the update, whatever came of it; tell which characters have waited, None if none.

        That update leaves them as one of no time does.
        """
        waits: Bools = self._marks == kernels.WAITS
        self._marks[:] = np.where(waits, kernels.HAS_WAITED, kernels.UNBOUND)
        count = int(np.count_nonzero(waits))
        if count == 0:
            return None
        states = self._rows.state.reshape(len(waits), -1)
        left = states[waits]
        nothing_happened(left)
        states[waits] = left
        self._streaming.count_waits(count)
        return waits
