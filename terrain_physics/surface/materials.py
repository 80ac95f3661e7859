"""Materials of ground: numbers from 0 to 255, which may have names, for cells and faces."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from terrain_physics._kernels.types import Bytes
from terrain_physics._support import checks

Names = tuple[str, ...] | None

MOST_MATERIALS = 256

_NO_NAMES = "there are no material_names"


def checked_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of up to 256 materials, all different."""
    given = (names,) if isinstance(names, str) else tuple(names)
    if not all(isinstance(name, str) for name in given) or len(set(given)) != len(given):
        raise ValueError(f"material_names must be different strings, got {checks.shorten(names)}")
    if not 1 <= len(given) <= MOST_MATERIALS:
        raise ValueError(f"material_names must be 1 to {MOST_MATERIALS} strings, got {len(given)}")
    return given


def material_numbers(value: Any, *, names: Names) -> NDArray[Any]:
    """Return a new array with numbers in place of the names of materials."""
    raw = checks.copied("materials", value)
    if raw.dtype.kind != "U" or names is None:
        return raw
    different, places = np.unique(raw, return_inverse=True)
    for name in different.tolist():
        checks.choice("materials", name, names)
    numbers = np.array([names.index(name) for name in different.tolist()], dtype=np.uint8)
    return numbers[places].reshape(raw.shape)


def material_number(name: str, value: Any, names: Names) -> int:
    """Return the number of one material, given by its number or by its name."""
    if isinstance(value, str) and names is not None:
        return names.index(checks.choice(name, value, names))
    if isinstance(value, str):
        raise TypeError(f"{name} must be a number where {_NO_NAMES}, got {value!r}")
    return checks.whole(name, value, 0, _most(names))


def _most(names: Names) -> int:
    """Return the highest number of a material."""
    return MOST_MATERIALS - 1 if names is None else len(names) - 1


def material_rows(value: ArrayLike, shape: tuple[int, ...], *, names: Names) -> Bytes:
    """Return a new array of materials that fits a shape of cells or faces."""
    raw = material_numbers(value, names=names)
    if raw.dtype.kind == "U":
        raise TypeError(f"materials must be numbers where {_NO_NAMES}, got {checks.shorten(value)}")
    if raw.dtype.kind not in "biu":
        raise TypeError(f"materials must be whole numbers, got dtype {raw.dtype}")
    try:
        raw = np.broadcast_to(raw, shape)
    except ValueError:
        each = "cell" if len(shape) == 2 else "face"
        raise ValueError(
            f"materials must have shape {shape}, one for each {each}, got {raw.shape}"
        ) from None
    most = _most(names)
    bad = (raw < 0) | (raw > most)
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        raise ValueError(f"materials must be from 0 to {most}, got {raw[where]} at {list(where)}")
    return raw.astype(np.uint8)


def joined_names(parts: Sequence[Names]) -> Names:
    """Return the names of all parts, each once, in order; None if no part has any.

    Raises ValueError for more names than there are numbers.
    """
    names = tuple(dict.fromkeys(name for own in parts if own is not None for name in own))
    if len(names) > MOST_MATERIALS:
        raise ValueError(
            f"parts must have at most {MOST_MATERIALS} material_names together, got {len(names)}"
        )
    return names or None


def joined_numbers(parts: Sequence[Names]) -> Bytes | None:
    """Return the joined number (k, 256) for each number of each part; None if they are the same.

    The numbers of parts without names follow those of the names, so that they name no material.
    """
    names = joined_names(parts)
    if names is None:
        return None
    if None in parts and len(names) == MOST_MATERIALS:
        raise ValueError(
            f"parts must have at most {MOST_MATERIALS - 1} material_names together beside parts "
            f"without any, got {len(names)}"
        )
    numbers = np.arange(MOST_MATERIALS)
    table = np.tile(numbers, (len(parts), 1))
    for row, own in zip(table, parts, strict=True):
        if own is None:
            row[:] = np.minimum(numbers + len(names), MOST_MATERIALS - 1)
        else:
            row[: len(own)] = [names.index(name) for name in own]
    return None if (table == numbers).all() else table.astype(np.uint8)
