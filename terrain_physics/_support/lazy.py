"""Lazy arrays, which are Dask's: known without importing Dask, and answered lazily, block by block.

A question is answered as if each block were asked by itself, in any process. The threads of Dask
are the only ones: a block is answered by the one thread that works on it.
"""

import copy
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial, wraps
from operator import itemgetter
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np

from terrain_physics._support import checks
from terrain_physics._support.threads import alone

_Asked = ParamSpec("_Asked")
_Answer = TypeVar("_Answer")

_ROW = 0  # the index of rows, in Dask's notation of which block goes with which
_COLUMN, _TRAILING = 100, 200  # those of an argument's columns, and of an answer's


def is_lazy(value: object) -> bool:
    """Tell whether a value is a collection of Dask, which is imported only if it may be one."""
    if not hasattr(value, "__dask_graph__"):
        return False
    from dask.base import is_dask_collection

    return bool(is_dask_collection(value))  # labeled arrays may hold numbers or lazy ones


def answers_rows(
    **shapes: tuple[int, ...],
) -> Callable[[Callable[_Asked, _Answer]], Callable[_Asked, _Answer]]:
    """Let a method answer lazy arrays lazily that have a row for each question.

    ``shapes`` are those of one row, by the names of parameters.
    """
    return _answering(lambda values: _rows(shapes, values), tuple(shapes))


def answers_places(
    *names: str,
) -> Callable[[Callable[_Asked, _Answer]], Callable[_Asked, _Answer]]:
    """Let a method answer lazy arrays lazily that are broadcast; these are their parameters."""
    return _answering(_places, names)


class _Question(NamedTuple):
    """The lazy arguments of a method, cut into blocks that go together.

    Attributes
    ----------
    arrays : mapping of str to (array of Dask, tuple of int)
        With the index of each axis: axes of the same index have the same blocks.
    constants : mapping of str to Any
        Arguments that every block is asked with.
    chunks : tuple of tuple of int
        How long the blocks are along each axis of the answer, except for those of a row.
    empty : mapping of str to ndarray
        Arguments with which the method answers that there is nothing.
    """

    arrays: Mapping[str, tuple[Any, tuple[int, ...]]]
    constants: Mapping[str, Any]
    chunks: tuple[tuple[Any, ...], ...]
    empty: Mapping[str, Any]


class _RowAxis(NamedTuple):
    """An axis of an array; blocks of axes with the same label go together."""

    array: str
    number: int
    label: int


def _answering(
    question_of: Callable[[dict[str, Any]], _Question], names: tuple[str, ...]
) -> Callable[[Callable[_Asked, _Answer]], Callable[_Asked, _Answer]]:
    def decorate(method: Callable[_Asked, _Answer]) -> Callable[_Asked, _Answer]:
        @wraps(method)
        def ask(*args: _Asked.args, **kwargs: _Asked.kwargs) -> _Answer:
            # An attribute that is missing costs 30 ns.
            for value in (*args, *kwargs.values()):
                if hasattr(value, "__dask_graph__") and is_lazy(value):
                    break
            else:
                return method(*args, **kwargs)
            others = inspect.signature(method).bind(*args, **kwargs).arguments
            owner = others.pop("self")
            question = question_of({name: others.pop(name) for name in names if name in others})
            template = method(owner, **question.empty, **others)
            others |= question.constants
            return _lazily(owner, method.__name__, question, others, template)  # type: ignore[no-any-return]

        return ask

    return decorate


def _rows(shapes: Mapping[str, tuple[int, ...]], values: dict[str, Any]) -> _Question:
    """Return a question of rows; arguments of one row serve for all."""
    import dask.array as da

    arrays: dict[str, Any] = {}
    constants: dict[str, Any] = {}
    held: dict[str, Any] = {}
    for name, value in values.items():
        if is_lazy(value):
            array = lazy_array(name, value, shapes[name])
            (constants if array.shape[0] == 1 else arrays)[name] = array
            continue
        held_array = np.asarray(value)
        if held_array.dtype == object and held_array.size > 1:
            raise TypeError(f"{name} must be an array, or one shape, beside lazy arrays")
        alone_of_its_kind = held_array.ndim <= len(shapes[name]) or len(held_array) == 1
        (constants if alone_of_its_kind else held)[name] = value
    if not arrays and not held:  # one row each, of which some are lazy
        name = next(name for name, value in constants.items() if is_lazy(value))
        arrays[name] = constants.pop(name)
    lengths = {name: array.shape[0] for name, array in arrays.items()}
    lengths |= {name: len(value) for name, value in held.items()}
    if len({length for length in lengths.values() if not math.isnan(length)}) > 1:
        stated = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise ValueError(f"arrays must have the same number of rows or one, but {stated}")
    for name, value in held.items():
        # The only block, if what is lazy is one row for all.
        blocks = next((array.chunks[0] for array in arrays.values()), (len(value),))
        if any(map(math.isnan, blocks)):
            raise ValueError(
                f"{name} must be lazy, with the same blocks, beside a lazy array of unknown length"
            )
        values_held = checks.copied(checks.real_numbers(name, value))
        arrays[name] = da.from_array(values_held, (blocks, *values_held.shape[1:]))
    arrays = dict(zip(arrays, _aligned(list(arrays.values())), strict=True))
    indexed = {
        name: (array, (_ROW, *(_COLUMN + axis for axis in range(1, array.ndim))))
        for name, array in arrays.items()
    }
    chunks = next(iter(arrays.values())).chunks[:1]
    empty = {name: np.empty((0, *shapes[name])) for name in arrays}
    empty |= {
        name: np.ones((1, *shapes[name])) if is_lazy(value) else value
        for name, value in constants.items()
    }
    return _Question(indexed, constants, chunks, empty)


def _aligned(arrays: list[Any]) -> list[Any]:
    """Return arrays with the same blocks along their rows."""
    import dask.array as da

    if len(arrays) == 1:
        return arrays
    pairs = [
        part
        for number, array in enumerate(arrays)
        for part in (array, (_ROW, *range(10 * (number + 1), 10 * (number + 1) + array.ndim - 1)))
    ]
    return list(da.unify_chunks(*pairs)[1])


def _places(values: dict[str, Any]) -> _Question:
    """Return a question of places, whose coordinates are broadcast."""
    import dask.array as da

    given = [
        lazy_array(name, value, None)
        if is_lazy(value)
        else da.from_array(checks.copied(checks.real_numbers(name, value)), -1)
        for name, value in values.items()
    ]
    most = max(array.ndim for array in given)
    axes = [tuple(range(most - array.ndim, most)) for array in given]
    try:
        chunks, together = da.unify_chunks(
            *(part for pair in zip(given, axes, strict=True) for part in pair)
        )
    except ValueError:
        shapes = " and ".join(str(array.shape) for array in given)
        names = " and ".join(values)
        raise ValueError(f"{names} must have shapes and blocks that fit, got {shapes}") from None
    return _Question(
        dict(zip(values, zip(together, axes, strict=True), strict=True)),
        {},
        tuple(chunks[axis] for axis in range(most)),
        {name: np.empty(0) for name in values},
    )


def lazy_array(name: str, value: Any, row: tuple[int, ...] | None) -> Any:
    """Return a lazy array of real numbers whose rows have a shape and are not cut.

    Data frames and series become arrays; of a labeled array the lazy one in it is taken. An axis
    of length 1 is one block: what serves for all has no empty blocks beside it.
    """
    import dask.array as da

    array = value
    if hasattr(value, "to_dask_array") and isinstance(value.ndim, int) and value.ndim > 0:
        array = _frame_of_numbers(name, value).to_dask_array()
    elif hasattr(value, "dims") and hasattr(value, "data"):
        array = value.data
    if not isinstance(array, da.Array):
        raise TypeError(
            f"{name} must be an array, or a data frame or an array of Dask, "
            f"got {type(value).__name__}"
        )
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold real numbers, got dtype {array.dtype}")
    single = {axis: -1 for axis, length in enumerate(array.shape) if length == 1}
    if row is None:
        return array.rechunk(single)
    if array.shape[1:] != row or array.ndim != 1 + len(row):
        wanted = "".join(f", {length}" for length in row) or ","
        raise ValueError(f"{name} must have shape (n{wanted}), got {array.shape}")
    return array.rechunk(single | dict.fromkeys(range(1, array.ndim), -1))


def _frame_of_numbers(name: str, frame: Any) -> Any:
    """Return a data frame or series whose nullable numbers are float64, with NaN for nothing."""
    import pandas as pd

    types = pd.api.types
    kinds = [frame.dtype] if frame.ndim == 1 else frame.dtypes
    if not any(map(types.is_extension_array_dtype, kinds)):
        return frame
    for kind in kinds:
        if not types.is_any_real_numeric_dtype(kind):
            raise TypeError(f"{name} must hold real numbers, got dtype {kind}")
    return frame.astype("float64")


def refuse_lazy(instead: str, **arrays: object) -> None:
    """Refuse lazy arrays, by their names, where the size of an answer is not known before."""
    for name, value in arrays.items():
        if is_lazy(value):
            raise TypeError(
                f"{name} must be in memory, got a collection of Dask: compute it, or {instead}"
            )


def shared(value: Any) -> Any:
    """Return a value as a node of its own in Dask's graph, which goes to each worker once.

    The same value has the same name, so that several questions share it. It is a copy: later
    changes are not seen.
    """
    from dask.base import tokenize
    from dask.delayed import delayed

    frozen = copy.deepcopy(value)
    kind = type(value).__name__
    return delayed(frozen, name=f"{kind}-{tokenize(kind, frozen)}", traverse=False)


def _lazily(
    owner: Any, question_name: str, question: _Question, others: dict[str, Any], template: Any
) -> Any:
    """Return the lazy answer; ``template`` is that to an empty question."""
    import dask.array as da

    pairs = [part for pair in question.arrays.values() for part in pair]
    axes = tuple(range(len(question.chunks)))
    where = _beginnings(question.chunks[0]) if axes else "the only block"
    arguments = [where, axes[:1] or None, *pairs, shared(owner), None]
    unknown = _unknown(question)
    ask = partial(_ask, question_name, tuple(question.arrays), tuple(others), unknown)
    for value in others.values():
        # A lazy array of one row is computed once and goes with every block.
        arguments += [value.to_delayed().ravel()[0] if is_lazy(value) else value, None]
    if isinstance(template, np.ndarray):
        return _blocks(ask, question_name, arguments, axes, question.chunks, template)
    whole = da.blockwise(
        ask,
        axes,
        *arguments,
        adjust_chunks=dict(zip(axes, question.chunks, strict=True)),
        align_arrays=False,
        dtype=object,
        meta=np.empty((0,) * len(axes), object),
        token=question_name,
    )
    return type(template)(
        **{
            name: _blocks(
                itemgetter(number), f"{question_name}-{name}", [whole, axes], axes,
                question.chunks, field,
            )
            for number, (name, field) in enumerate(template._asdict().items())
        }
    )  # fmt: skip


def _unknown(question: _Question) -> tuple[_RowAxis, ...]:
    """Return the axes of arrays whose lengths Dask does not know, and could not compare."""
    return tuple(
        _RowAxis(name, number, label)
        for name, (array, labels) in question.arrays.items()
        for number, label in enumerate(labels)
        if math.isnan(array.shape[number])
    )


def _blocks(
    function: Callable[..., Any],
    token: str,
    arguments: Sequence[Any],
    axes: tuple[int, ...],
    chunks: tuple[tuple[Any, ...], ...],
    template: Any,
) -> Any:
    """Return a lazy array whose blocks a function returns; its rows are like the template's."""
    import dask.array as da

    trailing = {_TRAILING + axis: size for axis, size in enumerate(template.shape[1:])}
    return da.blockwise(
        function,
        (*axes, *trailing),
        *arguments,
        new_axes=trailing,
        adjust_chunks=dict(zip(axes, chunks, strict=True)),
        align_arrays=False,
        dtype=template.dtype,
        meta=np.empty((0,) * (len(axes) + len(trailing)), template.dtype),
        token=token,
    )


def _beginnings(lengths: tuple[Any, ...]) -> Any:
    """Return a lazy array that says to each block where it begins."""
    import dask.array as da

    known = not any(map(math.isnan, lengths))
    first = np.cumsum([0, *lengths[:-1]]) if known else np.arange(len(lengths))
    what = "the block that begins with row" if known else "block"
    return da.from_array(np.array([f"{what} {int(number)}" for number in first]), 1)


def _ask(
    question: str,
    arrays: tuple[str, ...],
    others: tuple[str, ...],
    unknown: tuple[_RowAxis, ...],
    where: Any,
    *values: Any,
) -> Any:
    """Ask one block: rows of arrays, the owner of the method, and what all are asked with."""
    blocks = {name: _only(value) for name, value in zip(arrays, values, strict=False)}
    owner, *rest = values[len(arrays) :]
    try:
        _refuse_other_lengths(blocks, unknown)
        with alone():
            return getattr(owner, question)(**blocks, **dict(zip(others, rest, strict=True)))
    except (TypeError, ValueError) as error:
        begins = where if isinstance(where, str) else where[0]
        raise type(error)(f"{error}, in {begins}") from None


def _refuse_other_lengths(blocks: dict[str, Any], unknown: tuple[_RowAxis, ...]) -> None:
    """Refuse blocks that do not go together: one of a single row would serve for all rows."""
    lengths: dict[int, dict[str, int]] = {}
    for axis in unknown:
        lengths.setdefault(axis.label, {})[axis.array] = blocks[axis.array].shape[axis.number]
    for told in lengths.values():
        if len(set(told.values())) > 1:
            stated = ", ".join(f"{name} has {length}" for name, length in told.items())
            raise ValueError(f"lazy arrays must have the same number of rows, but {stated}")


def _only(block: Any) -> Any:
    """Return the block of what Dask hands over as a list for each axis that is not answered."""
    while isinstance(block, list):
        (block,) = block
    return block
