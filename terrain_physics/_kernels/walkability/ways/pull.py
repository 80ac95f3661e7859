"""String pulling: a way from place to place becomes straight where that is proved to hold."""

from typing import NamedTuple

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.math.rows import row3
from terrain_physics._kernels.types import Bytes, Floats, Int64s
from terrain_physics._kernels.walkability.layout import WALK, PlaceArrays, column_of, row_of
from terrain_physics._kernels.walkability.straight import way_holds
from terrain_physics._kernels.walkability.ways.lengths import Lengths, factor_at


class PulledWay(NamedTuple):
    """A way of k places that is pulled."""

    numbers: Int64s  # (k,): the places
    points: Floats  # (k, 3): a character at rest on them
    kinds: Bytes  # (k - 1,): of the edges between them


@kernel(inline=True, no_refcount=True)
def _costs_no_more(
    places: PlaceArrays, lengths: Lengths, way: PulledWay, first: int, last: int
) -> bool:
    """Tell whether no ground beside a line costs more than the cheapest that the way leads over.

    On several levels that of all levels counts.
    """
    if len(lengths.materials) == 0:
        return True
    least = factor_at(lengths, int(way.numbers[first]))
    for k in range(first + 1, last + 1):
        least = min(least, factor_at(lengths, int(way.numbers[k])))
    start, end = int(way.numbers[first]), int(way.numbers[last])
    row, end_row = row_of(places, start), row_of(places, end)
    column, end_column = column_of(places, start, row), column_of(places, end, end_row)
    steps = 2 * max(abs(end_row - row), abs(end_column - column), 1)
    for step in range(steps + 1):
        share = step / steps
        r, c = row + share * (end_row - row), column + share * (end_column - column)
        cell = int(r + 0.5) * places.columns + int(c + 0.5)
        for level in range(places.levels):
            if factor_at(lengths, level * places.rows * places.columns + cell) > least:
                return False
    return True


@kernel(inline=True)
def _holds(
    places: PlaceArrays,
    lengths: Lengths,
    way: PulledWay,
    table: Int64s,
    rules: Floats,
    speed: float,
    seconds: Floats,
    first: int,
    last: int,
) -> bool:
    """Tell whether a character may go straight from one place of a way to another."""
    if not _costs_no_more(places, lengths, way, first, last):
        return False
    start, end = row3(way.points, first), row3(way.points, last)
    for k in range(len(seconds)):
        if not way_holds(table, rules, speed, float(seconds[k]), start, end):
            return False
    return True


@kernel
def pull_way(
    places: PlaceArrays,
    lengths: Lengths,
    way: PulledWay,
    table: Int64s,
    rules: Floats,
    speed: float,
    seconds: Floats,
    kept: Int64s,
) -> int:
    """Write which places of a way stay, the first and the last among them; return how many.

    ``seconds`` (m,) are those of updates: what is straight has to hold at each.
    Only walks are pulled: the ends of steps and drops all stay. A straight piece is as long as it
    is found to hold: as all walks ahead, or lengths are doubled while they do, and halved then.
    """
    place, count, last = 0, 1, len(way.numbers) - 1
    kept[0] = 0
    while place < last:
        end = place  # of the walks that begin here
        while end < last and way.kinds[end] == WALK:
            end += 1
        far, length, grows = place + 1, max(end - place, 2), True
        is_whole = length > 2
        while length > 0:
            # While lengths grow they are those of the whole piece, then those of what is added.
            there = place + length if grows else far + length
            if there <= end and _holds(
                places, lengths, way, table, rules, speed, seconds, place, there
            ):
                far = there
                length = 2 * length if grows else length // 2
            elif is_whole:
                length = 2
            else:
                length = length // 4 if grows else length // 2
                grows = False
            is_whole = False
        place = far
        kept[count] = place
        count += 1
    return count
