"""Height maps that share border lines, put together as the one map they are parts of."""

from typing import NamedTuple

import numpy as np

from terrain_physics.heightmap import HeightMap

# Cells by which a map may be off the lattice of another: rounding of its origin.
_OFF_LATTICE = 1e-6

# A union may have this many times the cells of its parts; beyond, it would be mostly empty.
_MOST_EMPTY = 4.0


class Place(NamedTuple):
    """Where a part lies in a union: its first cell, and how many cells it has."""

    row: int
    column: int
    rows: int
    columns: int


def lattice_place(land: HeightMap, other: HeightMap) -> Place | None:
    """Return where a map lies on the lattice of another; None if it does not fit it."""
    x0, y0, z0 = other.origin64
    x, y, z = land.origin64
    cell_x, cell_z = other.cell_size
    if (
        land.cell_size != other.cell_size
        or land.height_scale != other.height_scale
        or land.thickness != other.thickness
        or y != y0
    ):
        return None
    column, row = (x - x0) / cell_x, (z - z0) / cell_z
    if max(abs(column - round(column)), abs(row - round(row))) > _OFF_LATTICE:
        return None
    rows, columns = land.cell_count
    return Place(round(row), round(column), rows, columns)


def groups_of_neighbors(lands: list[HeightMap]) -> list[list[int]]:
    """Return which maps make one: those that share a stretch of border line, step by step."""
    left = list(range(len(lands)))
    groups = []
    while left:
        group = [left.pop(0)]
        for index in group:  # grows while it is walked
            for other in left[:]:
                if _are_neighbors(lands[index], lands[other]):
                    group.append(other)
                    left.remove(other)
        groups.append(sorted(group) if _is_worth_it(lands, group) else [group[0]])
        if len(groups[-1]) < len(group):
            groups += [[index] for index in group[1:]]
    return groups


def _are_neighbors(land: HeightMap, other: HeightMap) -> bool:
    """Tell whether two maps share a border line, no cell, and the samples on that line."""
    place = lattice_place(other, land)
    if place is None:
        return False
    rows, columns = land.cell_count
    row_0, row_1 = max(place.row, 0), min(place.row + place.rows, rows)
    column_0, column_1 = max(place.column, 0), min(place.column + place.columns, columns)
    beside = row_0 < row_1 and column_0 == column_1
    above = column_0 < column_1 and row_0 == row_1
    if not (beside or above):
        return False
    mine = land.heights[row_0 : row_1 + 1, column_0 : column_1 + 1]
    theirs = other.heights[
        row_0 - place.row : row_1 + 1 - place.row,
        column_0 - place.column : column_1 + 1 - place.column,
    ]
    return bool(np.array_equal(mine, theirs, equal_nan=True))


def _is_worth_it(lands: list[HeightMap], group: list[int]) -> bool:
    """Tell whether a union is not mostly empty, and none of its parts overlap."""
    places = [lattice_place(lands[index], lands[group[0]]) for index in group]
    if any(place is None for place in places):
        return False
    found = [place for place in places if place is not None]
    rows = max(p.row + p.rows for p in found) - min(p.row for p in found)
    columns = max(p.column + p.columns for p in found) - min(p.column for p in found)
    cells = sum(p.rows * p.columns for p in found)
    for k, p in enumerate(found):
        for q in found[:k]:
            if (
                max(p.row, q.row) < min(p.row + p.rows, q.row + q.rows)
                and max(p.column, q.column) < min(p.column + p.columns, q.column + q.columns)
            ):  # fmt: skip
                return False
    return rows * columns <= _MOST_EMPTY * cells


class Union:
    """One map made of several; what is edited in a part is copied over by `follow`."""

    def __init__(self, parts: list[HeightMap]) -> None:
        self._parts = parts
        places = [lattice_place(part, parts[0]) for part in parts]
        found = [place for place in places if place is not None]
        row = min(place.row for place in found)
        column = min(place.column for place in found)
        self.places = [p._replace(row=p.row - row, column=p.column - column) for p in found]
        rows = max(place.row + place.rows for place in self.places)
        columns = max(place.column + place.columns for place in self.places)
        heights = np.full((rows + 1, columns + 1), np.nan, dtype=np.float32)
        holes = np.ones((rows, columns), dtype=np.bool_)
        flipped = np.zeros((rows, columns), dtype=np.bool_)
        for part, place in zip(parts, self.places, strict=True):
            samples, cells = _windows(place)
            heights[samples] = part.heights
            holes[cells] = part.holes
            flipped[cells] = part.flipped_cells()
        # The origin of the part at the low corner: all samples are where that part has them.
        x0, y0, z0 = parts[0].origin64
        cell_x, cell_z = parts[0].cell_size
        corner = next(
            (
                part.origin64
                for part, place in zip(parts, self.places, strict=True)
                if place.row == 0 and place.column == 0
            ),
            (x0 + column * cell_x, y0, z0 + row * cell_z),
        )
        self.land = HeightMap(
            heights,
            cell_size=(cell_x, cell_z),
            height_scale=parts[0].height_scale,
            origin=corner,
            border="open",
            diagonal=flipped,
            holes=holes,
            thickness=parts[0].thickness,
        )
        self._seen = [part.version for part in parts]

    def part_of(self, triangle: int) -> tuple[HeightMap, int]:
        """Return the part that a triangle of the union belongs to, and its id there."""
        row, column = divmod(triangle // 2, self.land.cell_count[1])
        for part, place in zip(self._parts, self.places, strict=True):
            r, c = row - place.row, column - place.column
            if 0 <= r < place.rows and 0 <= c < place.columns:
                return part, 2 * (r * place.columns + c) + triangle % 2
        raise ValueError(f"triangle must be one of a part, got {triangle}")

    def follow(self) -> None:
        """Copy what was edited in the parts since the last time."""
        for k, part in enumerate(self._parts):
            if part.version != self._seen[k]:
                row, column = self.places[k].row, self.places[k].column
                for region in part.changes_since(self._seen[k]):
                    self.land.copy_region(part, region, row, column)
                self._seen[k] = part.version
        thickness = min(part.thickness for part in self._parts)
        if thickness != self.land.thickness:
            self.land.thickness = thickness


def _windows(place: Place) -> tuple[tuple[slice, slice], tuple[slice, slice]]:
    """Return the samples and the cells of a part in its union."""
    row, column, rows, columns = place
    return (
        np.s_[row : row + rows + 1, column : column + columns + 1],
        np.s_[row : row + rows, column : column + columns],
    )
