"""Saved files that are damaged in one place: they load, or ValueError names the file.

An entry of JSON is missing, or a value of another type stands there; an array is missing, or of
another shape or type. `tests/fuzz/files.py` damages bytes at random.
"""

import io
import json
import zipfile
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, cycle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

OTHERS: tuple[Any, ...] = (None, [], {}, "x", -7, 0.5, True)
"""Values of all types of JSON."""

Others = Callable[[], tuple[Any, ...]]
"""Returns the values that stand in the next place."""


def some() -> Others:
    """Return what gives one of the values for each third place, each in turn."""
    values = chain.from_iterable(((other,), (), ()) for other in cycle(OTHERS))
    return lambda: next(values)


how_many = pytest.mark.parametrize(
    "how",
    [
        pytest.param(some, id="some"),
        pytest.param(lambda: lambda: OTHERS, id="all", marks=pytest.mark.full),
    ],
)
"""Gives a test the makers of `Others`: each place lacks its entry, and some or all other values."""


def damaged_json(value: Any, others: Others) -> Iterator[tuple[str, Any]]:
    """Give copies of a value that differ in one place, with what was done there."""
    for other in others():
        yield f" = {other!r}", other
    for place in _places(value):
        yield f"[{place!r}] missing", _without(value, place)
        for what, inner in damaged_json(value[place], others):
            changed = value.copy()
            changed[place] = inner
            yield f"[{place!r}]{what}", changed


def _places(value: Any) -> Iterable[Any]:
    """Return the keys of a dict, or the first indices of a list: a number in it stands for all."""
    if isinstance(value, dict):
        return list(value)
    if not isinstance(value, list):
        return ()
    is_numbers = all(isinstance(each, int | float) for each in value)
    return range(min(len(value), 1 if is_numbers else 2))


def _without(value: Any, place: Any) -> Any:
    left = value.copy()
    del left[place]
    return left


def _damaged_arrays(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Give other arrays than that of the bytes of a member."""
    values = np.load(io.BytesIO(content))
    yield " empty", _npy(values[:0])
    yield " of another shape", _npy(values[np.newaxis] if values.ndim == 1 else values.ravel())
    yield " complex", _npy(values.astype(np.complex64))


def _npy(values: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, values)
    return stream.getvalue()


def _damaged_members(
    members: dict[str, bytes], others: Others
) -> Iterator[tuple[str, dict[str, bytes]]]:
    """Give the members of an archive with one of them missing or damaged."""
    for name, content in members.items():
        yield f"{name} missing", _without(members, name)
        if name.endswith(".json"):
            for what, value in damaged_json(json.loads(content), others):
                yield name + what, members | {name: json.dumps(value).encode()}
        if name == "header.npy":  # of a recording: JSON in an array
            text = bytes(np.load(io.BytesIO(content)))
            for what, value in damaged_json(json.loads(text), others):
                header = np.frombuffer(json.dumps(value).encode(), np.uint8)
                yield name + what, members | {name: _npy(header)}
        if name.endswith(".npy"):
            for what, array in _damaged_arrays(content):
                yield name + what, members | {name: array}


def check_archive(path: Path, load: Callable[[Path], Any], others: Others) -> None:
    """Damage an archive in each place, and load it; no other error than ValueError may come."""
    load(path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    refused = 0
    for what, damaged in _damaged_members(members, others):
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in damaged.items():
                archive.writestr(zipfile.ZipInfo(name), content)
        refused += is_refused(load, path, what)
    assert refused > len(members)


def is_refused(load: Callable[[Any], Any], source: Any, what: str) -> bool:
    """Tell whether loading raises ValueError, which must name the file if the source is one."""
    try:
        load(source)
    except ValueError as error:
        error.add_note(what)
        if isinstance(source, Path) and str(source) not in str(error):
            raise
        return True
    except Exception as error:
        error.add_note(what)
        raise
    return False
