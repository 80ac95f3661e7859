"""One table of materials for all parts of a ground."""

from collections.abc import Sequence

import numpy as np

from terrain_physics._kernels.types import Bytes
from terrain_physics.surface.materials import MOST_MATERIALS

Names = tuple[str, ...] | None


def joined_names(parts: Sequence[Names]) -> Names:
    """Return the names of all parts, each once, in the order of the parts; None if none has any.

    Raises ValueError for more names than there are numbers.
    """
    names = tuple(dict.fromkeys(name for own in parts if own is not None for name in own))
    if len(names) > MOST_MATERIALS:
        raise ValueError(
            f"parts must have at most {MOST_MATERIALS} material_names together, got {len(names)}"
        )
    return names or None


def joined_numbers(parts: Sequence[Names]) -> Bytes | None:
    """Return the ground's number (k, 256) for each number of each part; None if they are the same.

    The numbers of parts without names follow those of the names, so that they mean nothing else.
    """
    numbers = np.arange(MOST_MATERIALS)
    names = joined_names(parts) or ()
    table = np.tile(numbers, (len(parts), 1))
    for row, own in zip(table, parts, strict=True):
        if own is None:
            row[:] = np.minimum(numbers + len(names), MOST_MATERIALS - 1)
        else:
            row[: len(own)] = [names.index(name) for name in own]
    return None if (table == numbers).all() else table.astype(np.uint8)
