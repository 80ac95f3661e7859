"""Height maps that share border lines, united in one map."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels.ground.owners import owner_of, put_owners
from terrain_physics._kernels.heightmap import grid as kernels
from terrain_physics._kernels.types import Longs
from terrain_physics._locks import Rank, new_lock
from terrain_physics.heightmap.copies import edits_since, put_edit, replace_samples
from terrain_physics.heightmap.edits import Ranges, set_thickness
from terrain_physics.heightmap.storage import MapStorage

# Cells by which a map may be off the lattice of another: rounding of its origin.
_OFF_LATTICE = 1e-6

# A union may have this many times the cells of its parts; beyond, it would be mostly empty.
_MOST_EMPTY = 4.0

_OWNER, _OWNERS = CachedDispatch(owner_of), CachedDispatch(put_owners)


class Place(NamedTuple):
    """Where a part lies in a union: its first cell, and how many cells it has."""

    row: int
    column: int
    rows: int
    columns: int


def lattice_place(land: MapStorage, other: MapStorage) -> Place | None:
    """Return where a map lies on the lattice of another; None if it does not fit it."""
    x0, y0, z0 = other.origin
    x, y, z = land.origin
    cell_x, cell_z = other.cell_size
    if land.cell_size != other.cell_size or land.height_scale != other.height_scale or y != y0:
        return None
    column, row = (x - x0) / cell_x, (z - z0) / cell_z
    if max(abs(column - round(column)), abs(row - round(row))) > _OFF_LATTICE:
        return None
    rows, columns = land.cell_count
    return Place(round(row), round(column), rows, columns)


def groups_of_neighbors(lands: list[MapStorage]) -> list[list[int]]:
    """Return which maps are united: those that share a stretch of border line, step by step."""
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


def _are_neighbors(land: MapStorage, other: MapStorage) -> bool:
    """Tell whether two maps share a border line, no cell, and the samples on that line."""
    place = lattice_place(other, land)
    if place is None:
        return False
    own = Place(0, 0, *land.cell_count)
    shared = _overlap(own, place)
    if shared is None or (shared.rows == 0) == (shared.columns == 0):
        return False
    return _agree(land, own, other, place)


def _overlap(one: Place, other: Place) -> Place | None:
    """Return the place of the samples in both, a line of them without cells; None if none are."""
    row, column = max(one.row, other.row), max(one.column, other.column)
    rows = min(one.row + one.rows, other.row + other.rows) - row
    columns = min(one.column + one.columns, other.column + other.columns) - column
    return None if rows < 0 or columns < 0 else Place(row, column, rows, columns)


def _within(shared: Place, place: Place, lines: int = 1) -> Ranges:
    """Return where samples are in the map at a place; without ``lines``, where cells are."""
    row, column = shared.row - place.row, shared.column - place.column
    return slice(row, row + shared.rows + lines), slice(column, column + shared.columns + lines)


def _agree(land: MapStorage, place: Place, other: MapStorage, other_place: Place) -> bool:
    """Tell whether two maps have equal samples where both have some."""
    shared = _overlap(place, other_place)
    return shared is None or bool(
        np.array_equal(
            land.heights[_within(shared, place)],
            other.heights[_within(shared, other_place)],
            equal_nan=True,
        )
    )


def _is_worth_it(lands: list[MapStorage], group: list[int]) -> bool:
    """Tell whether a union is not mostly empty, and its parts neither overlap nor disagree."""
    places = [lattice_place(lands[index], lands[group[0]]) for index in group]
    if any(place is None for place in places):
        return False
    found = [place for place in places if place is not None]
    rows = max(p.row + p.rows for p in found) - min(p.row for p in found)
    columns = max(p.column + p.columns for p in found) - min(p.column for p in found)
    cells = sum(p.rows * p.columns for p in found)
    if rows * columns > _MOST_EMPTY * cells:
        return False
    for k, p in enumerate(found):
        for i, q in enumerate(found[:k]):
            shared = _overlap(p, q)
            if shared is None:
                continue
            if shared.rows > 0 and shared.columns > 0:
                return False
            # Neighbors of neighbors may be a cliff apart, or differ where corners meet.
            if not _agree(lands[group[k]], p, lands[group[i]], q):
                return False
    return True


class Union:
    """One map made of several; `follow` copies edits of the parts to it.

    Samples that parts share are equal in all of them and in the union, except for edits not yet
    followed. So a part that differs from the union has been edited.

    A follower holds the union's lock and takes the parts' locks one at a time, releasing each
    before the next. Who edits a whole ground takes the locks of unions first, then those of parts,
    older ones before younger ones. So there is no deadlock.
    """

    def __init__(self, parts: list[MapStorage]) -> None:
        self._parts = parts
        places = [lattice_place(part, parts[0]) for part in parts]
        found = [place for place in places if place is not None]
        row = min(place.row for place in found)
        column = min(place.column for place in found)
        self._places = [p._replace(row=p.row - row, column=p.column - column) for p in found]
        rows = max(place.row + place.rows for place in self._places)
        columns = max(place.column + place.columns for place in self._places)
        # The origin of the part at the low corner: all samples are where that part has them.
        x0, y0, z0 = parts[0].origin
        cell_x, cell_z = parts[0].cell_size
        corner = next(
            (
                part.origin
                for part, place in zip(parts, self._places, strict=True)
                if place.row == 0 and place.column == 0
            ),
            (x0 + column * cell_x, y0, z0 + row * cell_z),
        )
        thickness = min(part.thickness for part in parts)
        kind = float(kernels.DIAGONAL_TABLE)
        self.land = MapStorage(
            np.full((rows + 1, columns + 1), np.nan, dtype=np.float32),
            (*corner, cell_x, cell_z, parts[0].height_scale, 0.0, kind, thickness),
            flipped=np.zeros((rows, columns), dtype=np.bool_),
            holes=np.ones((rows, columns), dtype=np.bool_),
        )
        # Characters hold it while they ask for the arrays, and asking follows edits of the parts.
        self.land.lock = new_lock(Rank.UNION)
        self._make_owners()
        self._whole = Place(0, 0, rows, columns)
        # For each part: the parts that share samples with it, and which samples.
        self._beside: list[list[tuple[int, Place]]] = [[] for _ in parts]
        for k, place in enumerate(self._places):
            for j, other in enumerate(self._places[:k]):
                shared = _overlap(place, other)
                if shared is not None:
                    self._beside[k].append((j, shared))
                    self._beside[j].append((k, shared))
        self._seen = [-1] * len(parts)
        self.follow()

    def _make_owners(self) -> None:
        """Make the table of which part has the cells between the lines where parts end."""
        rows = {edge for place in self._places for edge in (place.row, place.row + place.rows)}
        columns = {
            edge for place in self._places for edge in (place.column, place.column + place.columns)
        }
        edges = np.array(sorted(rows)), np.array(sorted(columns))
        table = np.zeros((len(rows), len(columns)), dtype=np.int64)
        for k, (row, column, height, width) in enumerate(self._places):
            row_0, row_1 = np.searchsorted(edges[0], (row, row + height))
            column_0, column_1 = np.searchsorted(edges[1], (column, column + width))
            table[row_0:row_1, column_0:column_1] = k
        # What kernels want to know of the union, see `put_owners`.
        self._tables = self.land.cell_count[1], *edges, table, np.array(self._places)

    def owners(self, triangles: Longs, parts: Longs, first_ids: Longs) -> tuple[Longs, Longs, bool]:
        """Return (ids in a ground, parts, whether these ascend) of triangles (n,) of the union.

        ``parts`` and ``first_ids`` (k,) are those of the union's parts in the ground. -1 stays.
        """
        ids, owners = triangles.copy(), np.empty_like(triangles)
        ascend = _OWNERS.call(*self._tables, first_ids, parts, ids, owners)
        return ids, owners, ascend

    def owner(self, triangle: int, parts: Longs, first_ids: Longs) -> tuple[int, int]:
        """Return the same of one triangle."""
        found: tuple[int, int] = _OWNER.call(*self._tables, first_ids, parts, triangle)
        return found

    def follow(self) -> None:
        """Copy new edits of the parts to the union and to the parts that share the samples.

        Part by part, in order: if several parts edited a sample, the last of them wins.
        """
        if [part.version for part in self._parts] == self._seen:
            return
        with self.land.lock:
            for k, part in enumerate(self._parts):
                if part.version != self._seen[k]:
                    self._take_over(k)

    def _take_over(self, k: int) -> None:
        """Copy new edits of one part. The caller holds the lock."""
        place = self._places[k]
        version, edits = edits_since(self._parts[k], self._seen[k])
        for edit in edits:
            row, column = place.row + edit.region.row_start, place.column + edit.region.column_start
            edited = Place(row, column, *edit.bits.shape)
            before = []
            for j, shared in self._beside[k]:
                samples = _overlap(edited, shared)
                if samples is not None:
                    old = self.land.heights[_within(samples, self._whole)].copy()
                    before.append((j, samples, old))
            put_edit(self.land, edit, place.row, place.column)
            for j, samples, old in before:
                self._hand_on(j, samples, old)
        thickness = min(part.thickness for part in self._parts)
        if thickness != self.land.thickness:
            set_thickness(self.land, thickness)
        self._seen[k] = version

    def _hand_on(self, j: int, samples: Place, old: NDArray[np.float32]) -> None:
        """Give a part new samples where it has the old ones; copy back what follows from them."""
        place = self._places[j]
        new = self.land.heights[_within(samples, self._whole)]
        answer = replace_samples(self._parts[j], _within(samples, place), old, new)
        if answer is not None and answer[0] == self._seen[j] + 1:
            # Its diagonals may have changed. If it was edited itself in between, its turn comes.
            put_edit(self.land, answer[1], place.row, place.column)
            self._seen[j] = answer[0]

    def shares(
        self, place: Ranges, values: NDArray[Any], *, lines: int
    ) -> Iterator[tuple[MapStorage, Ranges, NDArray[Any]]]:
        """Return which parts have some of the values of a range, where, and which.

        ``lines`` is 1 for values of samples, 0 for values of cells: samples are one more.
        """
        row, column = place[0].start, place[1].start
        edited = Place(row, column, values.shape[0] - lines, values.shape[1] - lines)
        for part, own in zip(self._parts, self._places, strict=True):
            shared = _overlap(edited, own)
            if shared is not None:
                yield part, _within(shared, own, lines), values[_within(shared, edited, lines)]
