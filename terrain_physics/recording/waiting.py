"""Who waited for ground in a recorded update, and an update in which the same ones wait again.

A ground that is not there yet makes characters wait, and which ground that was depends on the disk.
So a recording keeps the answers of `Streaming`, in the order of the questions, and a replay gives
them again, with all other ground in place.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from threading import get_ident
from typing import Any, NamedTuple, Self

import numpy as np

from terrain_physics._kernels.types import Bools, Floats
from terrain_physics._support import checks
from terrain_physics.character.placement import AnyGround
from terrain_physics.surface.ground_files import MOST_EDITS
from terrain_physics.surface.streaming import Streaming
from terrain_physics.surface.surface import queries_of


class Waits(NamedTuple):
    """Who waited in an update.

    Attributes
    ----------
    answers : dict of int to list of int
        By the number of a question of the update, the rows that had to wait; no others had to.
    counts : list of int
        Of each ground, how often characters had waited after the update.
    """

    answers: dict[int, list[int]]
    counts: list[int]

    @property
    def count(self) -> int:
        """How often a character waited in the update."""
        return sum(map(len, self.answers.values()))

    def saved(self) -> list[Any]:
        """Return it for JSON."""
        return [[[number, *rows] for number, rows in self.answers.items()], self.counts]

    @classmethod
    def of_saved(cls, about: Any, grounds: int) -> Self:
        """Return the saved form of an update on so many grounds; any error if it is damaged."""
        answers, counts = about
        known = [checks.whole("waits", count, 0, MOST_EDITS) for count in counts]
        if len(known) != grounds:
            raise ValueError("waits must be of all grounds")
        whole = [[checks.whole("row", row, 0, 2**31) for row in answer] for answer in answers]
        return cls({number: rows for number, *rows in whole}, known)


def counts_of(grounds: Sequence[AnyGround]) -> list[int]:
    """Return how often characters have waited on each ground."""
    found = [queries_of(ground).streaming for ground in grounds]
    return [0 if streaming is None else streaming.waits for streaming in found]


def put_counts(grounds: Sequence[AnyGround], counts: Sequence[int]) -> None:
    """Count waits on from there."""
    for ground, count in zip(grounds, counts, strict=True):
        streaming = queries_of(ground).streaming
        if streaming is not None:
            streaming.waits = count


class _Between(Streaming):
    """Stands between updates of a thread and what brings their ground."""

    __slots__ = ("_asked", "_thread", "own")

    def __init__(self, own: Streaming, asked: "_Asked") -> None:
        self.own, self._asked, self._thread = own, asked, get_ident()

    @property
    def waits(self) -> int:  # type: ignore[override]
        return self.own.waits

    @waits.setter
    def waits(self, count: int) -> None:
        self.own.waits = count

    def count_waits(self, count: int) -> None:
        self.own.count_waits(count)

    def bring(self, boxes: Floats) -> Bools | None:
        if get_ident() != self._thread:
            return self.own.bring(boxes)
        return self._asked.answer(boxes, self.own.bring)

    def reached(self, boxes: Floats) -> Bools | None:
        if get_ident() != self._thread:
            return self.own.reached(boxes)
        return self._asked.answer(boxes, self.own.reached)


class _Asked:
    """Counts the questions of an update, and keeps the answers."""

    def __init__(self) -> None:
        self.answers: dict[int, list[int]] = {}
        self._count = 0

    def next_number(self) -> int:
        """Return the number of the next question."""
        self._count += 1
        return self._count - 1

    def answer(self, boxes: Floats, ask: Any) -> Bools | None:
        """Return the answer to a question."""
        found: Bools | None = ask(boxes)
        number = self.next_number()
        if found is not None and found.any():
            self.answers[number] = np.flatnonzero(found).tolist()
        return found


class _AskedAgain(_Asked):
    """Gives the answers of an update again."""

    def __init__(self, answers: dict[int, list[int]], load: Any) -> None:
        super().__init__()
        self.answers, self._load = answers, load

    def answer(self, boxes: Floats, ask: Any) -> Bools | None:  # noqa: ARG002 others were given
        rows = self.answers.get(self.next_number(), [])
        waits = np.zeros(len(boxes), np.bool_)
        if rows and max(rows) >= len(boxes):
            raise ValueError("recording must hold waits of characters that are there")
        waits[rows] = True
        self._load(boxes[~waits])
        return waits if rows else None


@contextmanager
def _standing_between(grounds: Sequence[AnyGround], make: Any) -> Iterator[None]:
    with ExitStack() as held:
        for ground in grounds:
            queries = queries_of(ground)
            own = queries.streaming
            if own is not None:
                queries.streaming = _Between(own, make(own))
                held.callback(setattr, queries, "streaming", own)
        yield
