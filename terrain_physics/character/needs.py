"""Needs of characters: the ground that an update may look at, brought before it begins."""

from collections.abc import Callable
from typing import cast

import numpy as np

from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels.character import needs as kernels
from terrain_physics._kernels.character.reports.hits import HITS_SIZE, NEED, NEED_MARK
from terrain_physics._kernels.types import Bools, Int64s
from terrain_physics.character.rows import Rows, nothing_happened
from terrain_physics.surface.queries import Queries
from terrain_physics.surface.streaming import Streaming

_PUT, _LIST = CachedDispatch(kernels.put_needs), CachedDispatch(kernels.list_marked)


def run_one_where_loaded(
    run: Callable[[Int64s], bool], row: Rows, queries: Queries, seconds: float
) -> tuple[bool, Bools | None]:
    """Run an update of one character as `run_where_loaded`, mostly at once.

    ``run`` advances it on the table of the ground, whose lock is held.
    """
    ran_into = _run_at_once(run, row, queries, seconds)
    if ran_into is not None:
        return ran_into, None

    def run_again() -> bool:
        with queries.lock:
            return run(queries.ground_arrays.table)

    return run_where_loaded(run_again, row, queries, seconds)


def _run_at_once(
    run: Callable[[Int64s], bool], row: Rows, queries: Queries, seconds: float
) -> bool | None:
    """Run an update of one character if it is easy to tell that its ground is there.

    Returns whether it ran into something; None if it is as before, and its ground must be brought.
    """
    streaming, hits = cast("Streaming", queries.streaming), row.hits
    which, box, in_crowd = np.empty(1, np.int64), np.empty((1, 4)), False
    with streaming.updating(), queries.lock:
        table = queries.ground_arrays.table
        count, _ = _PUT.call(row.state, row.rules, hits, seconds, in_crowd, which, box, table)
        if count == 0:
            return run(table)
        try:
            if not streaming.has(tuple(box[0].tolist())):
                return None
            ran_into = run(table)
            return ran_into if hits.item(NEED_MARK) == kernels.GOES else None
        finally:
            hits[NEED_MARK] = kernels.UNBOUND


def run_where_loaded(
    run: Callable[[], bool], rows: Rows, queries: Queries, seconds: float, *, in_crowd: bool = False
) -> tuple[bool, Bools | None]:
    """Run an update on ground that has a `Streaming`.

    Its ground is brought without a lock.

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
        Whether they push each other. Then one that strays undoes the update of all.

    Returns
    -------
    tuple of bool and ndarray of bool or None
        Whether any ran into something, and which ones have waited, None if none has.
    """
    streaming = queries.streaming
    if streaming is None:
        return run(), None
    needs, any_hits = _Needs(rows, queries, streaming, in_crowd=in_crowd), False
    with streaming.updating():
        try:
            needs.bring(seconds)
            while True:
                any_hits = run() or any_hits
                if needs.are_met():
                    break
        finally:
            waits = needs.end()
    return any_hits, waits


def is_there(row: Rows, queries: Queries) -> bool:
    """Bring the ground around the body of one character; tell whether it is there."""
    streaming = queries.streaming
    if streaming is None:
        return True
    hits = np.zeros(HITS_SIZE)
    needs = _Needs(row._replace(hits=hits), queries, streaming, in_crowd=True)
    needs.put(0.0)
    return streaming.bring(hits[NEED:NEED_MARK].reshape(1, 4)) is None


class _Needs:
    """Needs of characters in one update, on ground that may not be all there.

    Parameters
    ----------
    rows : Rows
        The numbers of one character, or of n.
    queries : Queries
        Of their ground.
    streaming : Streaming
        That of the queries.
    in_crowd : bool
        Whether they push each other.
    """

    __slots__ = (
        "_before", "_boxes", "_flat", "_is_used", "_marks", "_queries", "_rows", "_streaming",
        "_waits", "_which",
    )  # fmt: skip

    def __init__(
        self, rows: Rows, queries: Queries, streaming: Streaming, *, in_crowd: bool
    ) -> None:
        self._rows, self._queries, self._streaming = rows, queries, streaming
        self._flat = rows.state, rows.rules, rows.hits
        if rows.hits.ndim > 1:  # kernels take flat arrays of rows; these are views
            self._flat = rows.state.reshape(-1), rows.rules.reshape(-1), rows.hits.reshape(-1)
        self._marks = self._flat[2][NEED_MARK::HITS_SIZE]
        count = len(self._marks)
        self._which, self._boxes = np.empty(count, np.int64), np.empty((count, 4))
        self._before = (rows.state.copy(), rows.random.copy()) if in_crowd else None
        self._is_used, self._waits = in_crowd, False

    def put(self, seconds: float) -> tuple[int, float]:
        """List those who go, and their boxes; return how many, and how far they go at most."""
        in_crowd = self._before is not None
        with self._queries.lock:
            table = self._queries.ground_arrays.table
            found: tuple[int, float] = _PUT.call(
                *self._flat, seconds, in_crowd, self._which, self._boxes, table
            )
        return found

    def bring(self, seconds: float) -> None:
        """Bring the ground for an update, and mark those who must wait for it."""
        count, farthest = self.put(seconds)
        if self._before is not None:
            # A push leads nobody farther than another one goes.
            boxes = self._flat[2].reshape(-1, HITS_SIZE)[:, NEED:NEED_MARK]
            boxes[:, :2] -= farthest
            boxes[:, 2:] += farthest
            self._boxes[:count] = boxes[self._which[:count]]
        if count > 0:
            self._is_used = True
            self._bring(count)

    def _bring(self, count: int) -> None:
        """Bring the ground of the first characters listed, and mark those who must wait."""
        waits = self._streaming.bring(self._boxes[:count])
        if waits is not None:
            self._marks[self._which[:count][waits]] = kernels.WAITS
            self._waits = True

    def are_met(self) -> bool:
        """Tell whether the update is done; if not, it is to be run once more.

        Then characters have looked at other ground than was brought. They are as before, and so are
        all others of a crowd. Their ground has been brought now.
        """
        marks, which = self._marks, self._which
        if not self._is_used or (len(which) == 1 and marks.item(0) == kernels.GOES):
            return True
        self._mark_reached()
        count = self._list(kernels.STRAYED)
        if count == 0:
            return True
        if self._before is None:  # all others are done, also those that need no ground
            marks[(marks != kernels.STRAYED) & (marks != kernels.WAITS)] = kernels.DONE
        else:
            self._rows.state[...], self._rows.random[...] = self._before
            marks[marks == kernels.WOKEN] = kernels.ASLEEP
        marks[which[:count]] = kernels.GOES
        self._bring(count)
        return False

    def _list(self, mark: int) -> int:
        """List the characters with a mark; return how many."""
        count: int = _LIST.call(self._flat[2], float(mark), self._which, self._boxes)
        return count

    def _mark_reached(self) -> None:
        """Mark as strayed whom others have pushed awake where the ground is not there."""
        count = 0 if self._before is None else self._list(kernels.WOKEN)
        if count > 0:
            reached = self._streaming.reached(self._boxes[:count])
            if reached is not None:
                self._marks[self._which[:count][reached]] = kernels.STRAYED

    def end(self) -> Bools | None:
        """End the update, whatever came of it; tell which characters have waited, None if none.

        That update leaves them as one of no time does.
        """
        if not self._waits:
            if self._is_used:
                self._marks[:] = kernels.UNBOUND
            return None
        waits: Bools = self._marks == kernels.WAITS
        self._marks[:] = np.where(waits, kernels.HAS_WAITED, kernels.UNBOUND)
        states = self._rows.state.reshape(len(waits), -1)
        left = states[waits]
        nothing_happened(left)
        states[waits] = left
        self._streaming.count_waits(int(np.count_nonzero(waits)))
        return waits
