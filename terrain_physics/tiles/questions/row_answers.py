"""Questions about many rows of a land in tiles: rows that need a missing tile are asked again."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.types import Int64s, read_only
from terrain_physics.tiles.questions.land_tiles import LandTiles
from terrain_physics.tiles.questions.missing_tiles import MissingTiles

_Values = TypeVar("_Values", bound=NDArray[Any])

Rows = Int64s | None
"""Which rows; None: all."""

# So often a question is asked anew from the start if the ground has changed meanwhile.
_ATTEMPTS = 3


class RowQuestion(NamedTuple):
    """A question about many rows, each with an answer of its own.

    Attributes
    ----------
    what : str
        The name of the argument with the rows.
    ask : callable
        Returns the answers of rows, from what is loaded: an array, or several.
    need : callable
        Returns for rows with these answers the numbers of the missing tiles that each needs next,
        -1 where it needs none; None if no row needs any.
    version : callable
        Returns the version of the ground.
    """

    what: str
    ask: Callable[[Rows], Any]
    need: Callable[[MissingTiles, Rows, Any], Int64s | None]
    version: Callable[[], int]


def answered(tiles: LandTiles, question: RowQuestion) -> Any:
    """Return the answers of all rows, once none of them needs a missing tile."""
    for _ in range(_ATTEMPTS):
        version = question.version()
        answer, needed = _asked(tiles, question, None)
        if needed is None:
            break
        pending = np.flatnonzero(needed >= 0)
        order = np.argsort(needed[pending], kind="stable")
        _settle(tiles, question, answer, pending[order], needed[pending][order])
        if question.version() == version:
            break
    return answer


def _asked(tiles: LandTiles, question: RowQuestion, rows: Rows) -> tuple[Any, Rows]:
    """Return the answers of rows from what is loaded, and the tile that each needs next, or -1.

    None: no row needs any.
    """
    missing = tiles.now()
    answer = question.ask(rows)
    changed = missing.or_changed()
    return answer, None if changed.are_none else question.need(changed, rows, answer)


def _settle(
    tiles: LandTiles, question: RowQuestion, answer: Any, rows: Int64s, needed: Int64s
) -> None:
    """Bring the tiles that rows need, and write their answers: a slice at a time if many.

    The rows are in the order of the tiles that they need first: a slice needs few others.
    """
    slices = [(rows, needed)]
    while slices:
        rows, needed = slices.pop()
        brought = set[int]()
        while len(rows):
            wanted = np.unique(needed).tolist()
            brought.update(wanted)
            if len(brought) > tiles.most and len(rows) > 1:
                half = len(rows) // 2
                slices += [(rows[half:], needed[half:]), (rows[:half], needed[:half])]
                break
            tiles.refuse_more(len(brought), question.what)
            tiles.bring(sorted(brought))  # the earlier ones are to stay
            some, next_needed = _asked(tiles, question, rows)
            for values, new in zip(_columns(answer), _columns(some), strict=True):
                if len(values):  # else these were not asked for
                    values[rows] = new
            if next_needed is None:
                break
            pending = next_needed >= 0
            rows, needed = rows[pending], next_needed[pending]


def _columns(answer: Any) -> Sequence[NDArray[Any]]:
    return answer if isinstance(answer, tuple) else (answer,)


def some_of(rows: Rows, values: _Values) -> _Values:
    """Return some rows of an array, read-only; an array of one row serves for all."""
    if rows is None or len(values) == 1:
        return values
    return cast("_Values", read_only(values[rows])[0])
