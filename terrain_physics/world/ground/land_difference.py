"""What a land of tiles has in a state, as the difference from the beginning of its world.

Blocks that differ travel as the exclusive or of both. Values that nobody has edited on one side are
those of the beginning on both: so a side needs to know the others only.
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from terrain_physics._support import checks
from terrain_physics.heightmap.cells import Ranges
from terrain_physics.heightmap.framed import DTYPES, KINDS, Edited
from terrain_physics.heightmap.undo import crossed
from terrain_physics.tiles.saving.values import LandValues, checked_values
from terrain_physics.world.ground.edited_land import (
    BLOCK,
    Block,
    EditedLand,
    FirstValues,
    place_of,
    shape_of,
)

Wanted = dict[Edited, dict[Block, FirstValues]]
"""By kind and block, values that differ from the beginning."""


def put_land_blocks(own: EditedLand, edits: Iterable[Any], content: list[bytes]) -> dict[str, Any]:
    """Tell the blocks of a land that differ from the beginning once edits are swapped, in order."""
    terrain, values = own.supply.land, LandValues(own.supply)
    told: dict[str, Any] = {}
    swapped = [one for edit in edits if edit.storage is terrain for one in edit.replaced]
    for kind in KINDS:
        numbers = []
        for block in sorted(own.before[kind]):
            old, marks = own.before[kind][block]
            place = _place_of(own, kind, block)
            new = values.of(kind, place)
            for replaced in swapped:
                if replaced.what == kind:
                    replaced.put_over(new, place=place)
            changed = crossed(_in_block(new), old)
            changed[~marks] = 0
            if changed.any():
                numbers.append(block)
                content.append(changed.tobytes())
        if numbers:
            told[kind] = numbers
    return told


def received_land(own: EditedLand, about: Any, take: Callable[[int], bytes]) -> Wanted:
    """Return the blocks that `put_land_blocks` told elsewhere; any error if they are damaged."""
    if not about.keys() <= set(KINDS):
        raise ValueError("blocks must be of heights, holes or materials")
    values, wanted = LandValues(own.supply), Wanted()
    for kind in KINDS:
        blocks = [(row, column) for row, column in about.get(kind, [])]
        if blocks != sorted(set(blocks)):
            raise ValueError("blocks must ascend")
        wanted[kind] = {}
        for row, column in blocks:
            rows, columns = shape_of(own.supply.land, kind)
            checks.whole("row", row, 0, (rows - 1) // BLOCK)
            checks.whole("column", column, 0, (columns - 1) // BLOCK)
            wanted[kind][row, column] = _received(own, kind, (row, column), values, take)
    return wanted


def _received(
    own: EditedLand, kind: Edited, block: Block, values: LandValues, take: Callable[[int], bytes]
) -> FirstValues:
    """Return the checked values of a block that differ."""
    now = _in_block(values.of(kind, _place_of(own, kind, block)))
    known = own.before[kind].get(block)
    first = now if known is None else np.where(known.marks, known.values, now)
    changed = np.frombuffer(take(first.nbytes), f"<u{first.dtype.itemsize}").reshape(first.shape)
    new = crossed(first, changed).view(DTYPES[kind])
    return FirstValues(
        checked_values(own.supply.land, kind, new).astype(DTYPES[kind]), changed != 0
    )


def put_land(own: EditedLand, wanted: Wanted) -> None:
    """Bring a land to its beginning, but for values that differ from it."""
    supply = own.supply
    terrain, values = supply.land, LandValues(supply)
    for kind in KINDS:
        for block in sorted(own.before[kind].keys() | wanted.get(kind, {}).keys()):
            place = _place_of(own, kind, block)
            now = values.of(kind, place)
            new = _wanted_in(own, wanted, kind, block, now)
            rows, columns = np.nonzero(crossed(new, now))
            if not len(rows):
                continue
            own_rows, own_columns = (slice(n.min(), n.max() + 1) for n in (rows, columns))
            within = _moved(place, own_rows, own_columns)
            supply.fetch(terrain.tiles_of(within, int(kind == "heights")))
            terrain.edit(kind, within, _as_edited(kind, new[own_rows, own_columns]))
            values = LandValues(supply)


def _wanted_in(
    own: EditedLand, wanted: Wanted, kind: Edited, block: Block, now: NDArray[Any]
) -> NDArray[Any]:
    """Return what a block shall hold, from what it holds now."""
    rows, columns = now.shape
    found = now.copy()
    for known in (own.before[kind].get(block), wanted.get(kind, {}).get(block)):
        if known is not None:
            marks = known.marks[:rows, :columns]
            found[marks] = known.values[:rows, :columns][marks]
    return found


def _as_edited(kind: Edited, values: NDArray[Any]) -> NDArray[Any]:
    return values.astype(np.bool_) if kind == "holes" else values


def _moved(place: Ranges, rows: slice, columns: slice) -> Ranges:
    """Return rows and columns within a place, on the whole land."""
    down, across = place[0].start, place[1].start
    return (
        slice(down + rows.start, down + rows.stop),
        slice(across + columns.start, across + columns.stop),
    )


def _place_of(own: EditedLand, kind: Edited, block: Block) -> Ranges:
    """Return the samples or cells of a block, as far as the land goes."""
    return place_of(block, shape_of(own.supply.land, kind))


def _in_block(values: NDArray[Any]) -> NDArray[Any]:
    """Return values as those of a whole block, with zeros where the land has ended."""
    if values.shape == (BLOCK, BLOCK):
        return np.ascontiguousarray(values)
    found = np.zeros((BLOCK, BLOCK), values.dtype)
    found[: values.shape[0], : values.shape[1]] = values
    return found
