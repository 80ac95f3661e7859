"""The height map, slow and obvious: every triangle of every cell, one after the other.

Nothing here is imported from ``terrain_physics``. Coordinates are float64; a sample's height is
the float32 nearest to what was given. Cell (row, column) has the corners d (row, column),
c (row, column + 1), a (row + 1, column) and b (row + 1, column + 1).
"""

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Point = tuple[float, float, float]
Array = NDArray[np.float64]


class Piece(NamedTuple):
    """One triangle of a map."""

    row: int
    column: int
    half: int
    id: int
    a: Point
    b: Point
    c: Point


class Map:
    """A height map as a list of triangles.

    ``split`` is "a-c", "b-d", "alternating", "shortest" or an array of bool, True for b-d.
    """

    def __init__(
        self,
        heights: Any,
        *,
        cell_size: tuple[float, float] = (1.0, 1.0),
        height_scale: float = 1.0,
        origin: Point = (0.0, 0.0, 0.0),
        border: str = "extend",
        split: Any = "a-c",
    ) -> None:
        self.heights: NDArray[np.float32] = np.asarray(heights).astype(np.float32)
        self.cell_size = cell_size
        self.height_scale = height_scale
        self.origin = origin
        self.border = border
        self.split = split
        self._cells: dict[tuple[int, int, int, int], list[list[Piece]]] = {}
        self.rows, self.columns = self.heights.shape[0] - 1, self.heights.shape[1] - 1

    def point(self, row: int, column: int) -> Point:
        """Return a sample as a point; outside the map the height of the nearest sample."""
        inner_row, inner_column = clamp(row, self.rows), clamp(column, self.columns)
        height = float(self.heights[inner_row, inner_column])
        return (
            self.origin[0] + column * self.cell_size[0],
            self.origin[1] + self.height_scale * height,
            self.origin[2] + row * self.cell_size[1],
        )

    def is_in_map(self, row: int, column: int) -> bool:
        return bool(0 <= row < self.rows and 0 <= column < self.columns)

    def is_split_bd(self, row: int, column: int) -> bool:
        if isinstance(self.split, str):
            if self.split == "alternating":
                return (row + column) % 2 == 1
            if self.split != "shortest":
                return bool(self.split == "b-d")
        row, column = clamp(row, self.rows - 1), clamp(column, self.columns - 1)
        if not isinstance(self.split, str):
            return bool(self.split[row, column])
        d, c, a, b = (float(h) for h in self.heights[row : row + 2, column : column + 2].ravel())
        return abs(b - d) < abs(a - c)  # equal means equal as float64; holes are not split

    def cell(self, row: int, column: int) -> list[Piece]:
        """Return the two triangles of a cell, none where there is a hole or no ground."""
        inside = self.is_in_map(row, column)
        if not inside and self.border != "extend":
            return []
        d, c = self.point(row, column), self.point(row, column + 1)
        a, b = self.point(row + 1, column), self.point(row + 1, column + 1)
        if any(math.isnan(corner[1]) for corner in (a, b, c, d)):
            return []
        halves = ((a, b, d), (b, c, d)) if self.is_split_bd(row, column) else ((a, b, c), (a, c, d))
        first = 2 * (row * self.columns + column)
        return [
            Piece(row, column, half, first + half if inside else -1, *corners)
            for half, corners in enumerate(halves)
        ]

    def cells(self, window: tuple[int, int, int, int]) -> list[list[Piece]]:
        """Return the triangles of the cells of rows [r0, r1) and columns [c0, c1), cell by cell."""
        if window not in self._cells:
            row_0, row_1, column_0, column_1 = window
            everything = (
                self.cell(row, column)
                for row in range(row_0, row_1)
                for column in range(column_0, column_1)
            )
            self._cells[window] = [pieces for pieces in everything if pieces]
        return self._cells[window]

    def triangles_in(
        self, lower: Point, upper: Point, margin: float, window: tuple[int, int, int, int]
    ) -> list[Piece]:
        """Return both triangles of each cell of a window whose closed box meets the widened box."""
        found = []
        for pieces in self.cells(window):
            corners = [p for piece in pieces for p in (piece.a, piece.b, piece.c)]
            if all(
                min(p[axis] for p in corners) <= upper[axis] + margin
                and max(p[axis] for p in corners) >= lower[axis] - margin
                for axis in range(3)
            ):
                found += pieces
        return found

    def pieces_at(self, x: float, z: float, window: tuple[int, int, int, int]) -> list[Piece]:
        """Return the triangles of a window whose closed outline, seen from above, holds a point.

        Decided exactly, for the corners as rounded as they are.
        """
        return [
            piece
            for pieces in self.cells(window)
            for piece in pieces
            if is_between(x, piece.a[0], piece.b[0], piece.c[0])
            and is_between(z, piece.a[2], piece.b[2], piece.c[2])
            and min(weights(piece, x, z)) >= 0
        ]


def clamp(index: int, most: int) -> int:
    return min(max(index, 0), most)


def is_between(place: float, *corners: float) -> bool:
    return min(corners) <= place <= max(corners)


def weights(piece: Piece, x: float, z: float) -> tuple[Fraction, Fraction, Fraction]:
    """Return the barycentric weights of a point seen from above, exactly."""
    corners = [(Fraction(p[0]), Fraction(p[2])) for p in (piece.a, piece.b, piece.c)]
    place = (Fraction(x), Fraction(z))

    def area(p: Any, q: Any, r: Any) -> Fraction:
        return (q[1] - p[1]) * (r[0] - p[0]) - (q[0] - p[0]) * (r[1] - p[1])  # type: ignore[no-any-return]

    a, b, c = corners
    whole = area(a, b, c)
    return area(place, b, c) / whole, area(a, place, c) / whole, area(a, b, place) / whole


def height_on(piece: Piece, x: float, z: float) -> float:
    """Return the height of a triangle's plane over a point."""
    shares = weights(piece, x, z)
    heights = (piece.a[1], piece.b[1], piece.c[1])
    return float(sum(share * Fraction(y) for share, y in zip(shares, heights, strict=True)))


def normal_of(piece: Piece) -> Array:
    """Return the unit normal by the vector product, from exact differences of the corners."""
    a, b, c = ([Fraction(x) for x in corner] for corner in (piece.a, piece.b, piece.c))
    p = [q - s for q, s in zip(b, a, strict=True)]
    q = [r - s for r, s in zip(c, a, strict=True)]
    product = [p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]]
    largest = max(abs(part) for part in product)
    scaled = np.array([float(part / largest) for part in product])
    return scaled / math.sqrt(float(scaled @ scaled))
