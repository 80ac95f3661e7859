"""Who waited for ground in a recorded update, and an update in which the same ones wait again.

A ground that is not there yet makes characters wait, and which ground that was depends on the disk.
So a recording keeps the answers of `Streaming`, in the order of the questions, and a replay gives
them again, with all other ground in place.
"""

from collections.abc import Callable, Sequence
from itertools import starmap
from threading import get_ident
from typing import Any, NamedTuple, Self, TypeVar, cast

import numpy as np

from terrain_physics._kernels.types import Bools, Floats
from terrain_physics._locks import Mark
from terrain_physics._support import checks
from terrain_physics.character.placement import AnyGround
from terrain_physics.surface.ground_files import MOST_EDITS
from terrain_physics.surface.streaming import Streaming
from terrain_physics.surface.surface import queries_of
from terrain_physics.tiles.loading.supply import TileSupply
from terrain_physics.tiles.questions.tiled_queries import TiledQueries
from terrain_physics.tiles.stored import StoredTiles
from terrain_physics.tiles.tiled_ground import supply_of

_Result = TypeVar("_Result")
Ask = Callable[[Floats], Bools | None]


class Waits(NamedTuple):
    """Who waited in an update.

    Attributes
    ----------
    answers : dict of int to list of int
        By the number of a question of the update, the rows that had to wait; no others had to.
    here : int
        How often a character waited in the update.
    totals : list of int
        Of each ground, how often characters had waited after the update.
    """

    answers: dict[int, list[int]]
    here: int
    totals: list[int]

    def saved(self) -> list[Any]:
        """Return it for JSON."""
        answers = [[number, *rows] for number, rows in self.answers.items()]
        return [answers, self.here, self.totals]

    @classmethod
    def of_saved(cls, about: Any, grounds: int) -> Self:
        """Return the saved form of an update on so many grounds; any error if it is damaged."""
        answers, count, totals = about
        known = [checks.whole("waits", own, 0, MOST_EDITS) for own in totals]
        if len(known) != grounds:
            raise ValueError("waits must be of all grounds")
        whole = [[checks.whole("row", row, 0, 2**31) for row in answer] for answer in answers]
        own = {number: rows for number, *rows in whole}
        return cls(own, checks.whole("waits", count, 0, MOST_EDITS), known)


def totals_of(grounds: Sequence[AnyGround]) -> list[int]:
    """Return how often characters have waited on each ground."""
    return [0 if own is None else own.waits for own in map(supply_of, grounds)]


def put_totals(grounds: Sequence[AnyGround], totals: Sequence[int]) -> None:
    """Count on from there."""
    for own, total in zip(map(supply_of, grounds), totals, strict=True):
        if own is not None:
            own.waits = total


class _Questions:
    """The questions of an update: asked, and the answers kept.

    Attributes
    ----------
    answers : dict of int to list of int
        As of `Waits`.
    count : int
        How often a character waited.
    """

    def __init__(self) -> None:
        self.answers: dict[int, list[int]] = {}
        self.count = self._asked = 0

    def next_number(self) -> int:
        """Return the number of the next question."""
        self._asked += 1
        return self._asked - 1

    def answer(self, own: TileSupply, ask: Ask, boxes: Floats) -> Bools | None:  # noqa: ARG002
        """Return the answer to a question."""
        found, number = ask(boxes), self.next_number()
        if found is not None and found.any():
            self.answers[number] = np.flatnonzero(found).tolist()
        return found


class _QuestionsAgain(_Questions):
    """The same questions of a replay: the answers of then, and all other ground in place."""

    def __init__(self, answers: dict[int, list[int]]) -> None:
        super().__init__()
        self.answers = answers

    def answer(self, own: TileSupply, ask: Ask, boxes: Floats) -> Bools | None:  # noqa: ARG002
        """Return the answer of then."""
        rows = self.answers.get(self.next_number(), [])
        if rows and max(rows) >= len(boxes):
            raise ValueError("recording must hold waits of characters that are there")
        waits = np.zeros(len(boxes), np.bool_)
        waits[rows] = True
        own.fetch(own.land.missing_in(np.ascontiguousarray(boxes[~waits]))[1])
        return waits if rows else None


class _Between(Streaming):
    """Stands between the updates of a thread and what brings their ground."""

    __slots__ = ("_own", "_questions", "_thread")

    def __init__(self, own: TileSupply, questions: _Questions) -> None:
        self._own, self._questions, self._thread = own, questions, get_ident()

    @property
    def waits(self) -> int:  # type: ignore[override]
        return self._own.waits

    @property
    def _is_own(self) -> bool:
        return get_ident() == self._thread

    def begin_updating(self, mark: Mark) -> None:
        self._own.begin_updating(mark)

    def bring(self, boxes: Floats) -> Bools | None:
        own = self._own
        if self._is_own:
            return self._questions.answer(own, own.bring, boxes)
        return own.bring(boxes)

    def reached(self, boxes: Floats) -> Bools | None:
        own = self._own
        if self._is_own:
            return self._questions.answer(own, own.reached, boxes)
        return own.reached(boxes)

    def count_waits(self, count: int) -> None:
        if self._is_own:
            self._questions.count += count
        self._own.count_waits(count)


def _asking(
    grounds: Sequence[AnyGround], questions: _Questions, update: Callable[[], _Result]
) -> _Result:
    """Make an update that asks what brings its ground by the questions."""
    supplies = [(queries_of(ground), supply_of(ground)) for ground in grounds]
    tiled = [(cast("TiledQueries", queries), own) for queries, own in supplies if own is not None]
    before = [(queries, "streaming", queries.streaming) for queries, _ in tiled]
    putting_back = starmap(setattr, before)
    try:
        for queries, own in tiled:
            queries.streaming = _Between(own, questions)
        return update()
    finally:
        any(putting_back)  # by C, where no handler can come between


def watched(grounds: Sequence[AnyGround], update: Callable[[], _Result]) -> tuple[_Result, Any]:
    """Make an update; return its result, and the `Waits` in it, None if nobody waited."""
    questions = _Questions()
    result = _asking(grounds, questions, update)
    if not questions.answers and not questions.count:
        return result, None
    return result, Waits(questions.answers, questions.count, totals_of(grounds))


def again(
    grounds: Sequence[AnyGround], waits: Waits | None, update: Callable[[], _Result]
) -> _Result:
    """Make an update in which those wait who waited then, and nobody else."""
    answers = {} if waits is None else waits.answers
    result = _asking(grounds, _QuestionsAgain(answers), update)
    if waits is not None:
        put_totals(grounds, waits.totals)
    return result


def tiles_without_file(grounds: Sequence[AnyGround]) -> dict[str, StoredTiles]:
    """Return the tiles of grounds that no file holds, by their digest."""
    found = [own.tiles.stored for own in map(supply_of, grounds) if own is not None]
    return {tiles.digest: tiles for tiles in found if tiles.path is None}
