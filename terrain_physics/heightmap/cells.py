"""Values of the cells of a map, to read and to write, and regions of cells."""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from terrain_physics._kernels.types import Bools, Floats, Int64s
from terrain_physics._public import public, quick
from terrain_physics.surface.limits import checked_places

Get = Callable[[Any], Any]
Find = Callable[[Floats, Floats], tuple[tuple[Int64s, Int64s], Bools]]
Read = Callable[[Any], NDArray[Any]]
Fit = Callable[[Any, tuple[int, ...]], NDArray[Any]]


Ranges = tuple[slice, slice]
"""Rows and columns of samples or cells, from start to before stop."""

Bounds = tuple[int, int, int, int]
"""First row, end of rows, first column, end of columns."""


@public
class Region(NamedTuple):
    """Cells of a map that an edit changed: rows and columns from start to before stop."""

    row_start: int
    row_stop: int
    column_start: int
    column_stop: int


def grown(region: Region) -> Region:
    """Return a region with the cells around it."""
    row_start, row_stop, column_start, column_stop = region
    return Region(row_start - 1, row_stop + 1, column_start - 1, column_stop + 1)


def moved(region: Region, rows: int, columns: int) -> Region:
    """Return a region so many rows and columns farther on."""
    row_start, row_stop, column_start, column_stop = region
    return Region(row_start + rows, row_stop + rows, column_start + columns, column_stop + columns)


def common(one: Region, other: Region) -> Region | None:
    """Return the cells that are in both regions; None if there are none."""
    row_start, row_stop = max(one[0], other[0]), min(one[1], other[1])
    column_start, column_stop = max(one[2], other[2]), min(one[3], other[3])
    if row_start >= row_stop or column_start >= column_stop:
        return None
    return Region(row_start, row_stop, column_start, column_stop)


def all_common(regions: Iterable[Region], area: Region) -> list[Region]:
    """Return what of each region is in an area, where anything is."""
    return [own for own in (common(region, area) for region in regions) if own is not None]


def rectangles_of(marks: Bools) -> list[Region]:
    """Return rectangles of the marked places, each place in one, in order."""
    turns = (marks[1:] != marks[:-1]).any(axis=1)
    begun: dict[tuple[int, int], int] = {}  # runs of places, and the rows that they began in
    found: list[Region] = []
    for row in [0, *(np.flatnonzero(turns) + 1).tolist(), len(marks)]:
        runs = _runs(marks[row]) if row < len(marks) else []
        ended = set(begun).difference(runs)
        found += [Region(begun.pop(run), row, *run) for run in ended]
        for run in runs:
            begun.setdefault(run, row)
    return sorted(found)


def _runs(line: Bools) -> list[tuple[int, int]]:
    """Return where the marked places of a line begin and end."""
    edges = np.flatnonzero(np.diff(line, prepend=False, append=False)).tolist()
    return list(zip(edges[::2], edges[1::2], strict=True))


def shared(one: Ranges, other: Ranges) -> tuple[Ranges, Ranges] | None:
    """Return what two ranges share: where in the one, and where in the other; None: nothing."""
    spans = []
    for own, their in zip(one, other, strict=True):
        first, last = max(own.start, their.start), min(own.stop, their.stop)
        if first >= last:
            return None
        spans.append([slice(first - span.start, last - span.start) for span in (own, their)])
    (rows, their_rows), (columns, their_columns) = spans
    return (rows, columns), (their_rows, their_columns)


def within(place: Ranges, own: Ranges) -> Ranges:
    """Return ranges of the values at a place as ranges of the whole."""
    (rows, columns), (down, across) = place, own
    row, column = rows.start, columns.start
    return slice(row + down.start, row + down.stop), slice(
        column + across.start, column + across.stop
    )


def ranges_of(bounds: Bounds, lines: int = 0) -> Ranges:
    """Return rows and columns within bounds; with ``lines``, so many beyond, as of corners."""
    row_start, row_stop, column_start, column_stop = bounds
    return slice(row_start, row_stop + lines), slice(column_start, column_stop + lines)


def bounds_of(place: Ranges) -> Bounds:
    """Return the bounds of a place: `ranges_of` in reverse."""
    rows, columns = place
    return rows.start, rows.stop, columns.start, columns.stop


def rim_of(rows: int, columns: int) -> list[Region]:
    """Return the cells along the border of so many cells, each once."""
    found = [
        Region(0, 1, 0, columns),
        Region(1, rows - 1, 0, 1),
        Region(1, rows - 1, max(1, columns - 1), columns),
        Region(max(1, rows - 1), rows, 0, columns),
    ]
    return [own for own in found if own.row_start < own.row_stop and own[2] < own[3]]


@public
class MapCells:
    """One value for each cell of a map: reads and writes go to the map.

    Cells are named ``[row, column]``, by whole numbers: the row runs along z, the column along x.
    Places are named ``at(x, z)``, in meters. Compared with ``==`` and ``!=`` it is an array, cell
    by cell.

    Examples
    --------
    >>> from terrain_physics import HeightMap
    >>> land = HeightMap([[0, 0, 0], [0, 0, 0]], material_names=["grass", "rock", "ice"])
    >>> land.materials[0, 0] = "rock"
    >>> land.materials[land.materials == "rock"] = "ice"
    >>> land.materials[:]
    array([[2, 0]], dtype=uint8)
    >>> land.holes |= land.materials == 2
    >>> land.holes[:]
    array([[ True, False]])
    >>> land.material_names[land.materials.at(0.5, 0.5)], land.holes.at([0.5, 1.5], 0.5)
    ('ice', array([ True, False]))
    """

    __slots__ = (
        "_editing",
        "_find",
        "_fit",
        "_get",
        "_kind",
        "_lock",
        "_outside",
        "_put",
        "_read",
        "_shape",
    )

    def __init__(
        self,
        kind: str,
        shape: tuple[int, int],
        lock: AbstractContextManager[Any],
        editing: Callable[[Callable[[], None]], None],
        get: Get,
        put: Callable[[Any, ArrayLike], None],
        read: Read,
        fit: Fit,
        find: Find,
        *,
        outside: Any,
    ) -> None:
        self._kind, self._shape, self._lock, self._editing = kind, shape, lock, editing
        self._get, self._put, self._read, self._fit = get, put, read, fit
        self._find, self._outside = find, outside

    @property
    def shape(self) -> tuple[int, int]:
        """The number of cells, rows by columns."""
        return self._shape

    def __len__(self) -> int:
        return self._shape[0]

    def __array__(
        self,
        dtype: Any = None,
        copy: bool | None = None,  # noqa: FBT001 NumPy calls it so
    ) -> NDArray[Any]:
        if copy is False:
            raise ValueError(f"{self._kind} must be copied to become an array")
        with self._lock:
            return np.array(self._get(...), dtype=dtype)

    def __getitem__(self, index: Any) -> Any:
        with self._lock:
            try:
                return self._get(index).copy()
            except IndexError as error:
                raise IndexError(
                    f"{self._kind}[row, column] of {self._shape[0]} x {self._shape[1]} cells: "
                    f"{error} (places in meters: {self._kind}.at(x, z))"
                ) from None

    @quick
    def at(self, x: Any, z: Any) -> Any:
        """Return the value of the cell under a place.

        Parameters
        ----------
        x, z : float or array_like
            The place in meters, x first; arrays are broadcast. In ``[row, column]`` the row runs
            along z. A place between cells belongs to the one of higher row and column.

        Returns
        -------
        int, bool or ndarray of uint8 or bool
            Outside a map with an extended border, the value of the nearest cell. An open border has
            no ground outside: materials are 0, as for a ray that meets nothing, and holes True.

        Raises
        ------
        TypeError, ValueError
            For anything but numbers, for NaN and infinity, and for shapes that do not fit.
        """
        xs, zs = checked_places(x, z)
        cells, on_map = self._find(xs, zs)
        with self._lock:
            found = np.where(on_map, self._get(cells), self._outside)
        return found if found.ndim else found.item()

    def __setitem__(self, index: Any, values: ArrayLike) -> None:
        self._put(index, values)

    def put_all(self, values: Any) -> None:
        """Write a value for each cell; only cells that differ are edited."""
        new = self._fit(values, self._shape)

        def edit() -> None:
            differs = self._get(...) != new
            self._put(differs, new[differs])

        self._editing(edit)

    def __eq__(self, other: object) -> NDArray[np.bool_]:  # type: ignore[override]
        others = self._read(other)  # first: it may take a lock of its own
        with self._lock:
            return np.asarray(self._get(...) == others)

    def __ne__(self, other: object) -> NDArray[np.bool_]:  # type: ignore[override]
        others = self._read(other)
        with self._lock:
            return np.asarray(self._get(...) != others)

    __hash__ = None  # type: ignore[assignment]

    def __ior__(self, other: Any) -> Self:
        others = self._read(other)
        self._editing(lambda: self.put_all(self._get(...) | others))
        return self

    def __iand__(self, other: Any) -> Self:
        others = self._read(other)
        self._editing(lambda: self.put_all(self._get(...) & others))
        return self

    def __repr__(self) -> str:
        return f"<{self._kind} of {self._shape[0]} x {self._shape[1]} cells>"
