"""The nearest point of a height map's ground: all triangles asked, and what goes on outside.

Nothing here is imported from ``terrain_physics``.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tests.oracles.heightmap import Map, Point
from tests.oracles.mesh import closest_distances

Array = NDArray[np.float64]


class Strip(NamedTuple):
    """A segment swept away from the map without an end, along x, along z, or both."""

    a: Point
    b: Point
    sign_x: int  # -1, 0 or 1: which way
    sign_z: int

    def distance(self, point: Array) -> float:
        """Return the distance of a point: to the segment, swept as far as the point is."""
        a, b = np.array(self.a), np.array(self.b)
        for axis, sign in ((0, self.sign_x), (2, self.sign_z)):
            if sign * (point[axis] - a[axis]) > 0:
                a[axis] = b[axis] = point[axis]
        edge, start = b - a, a - point
        square = edge @ edge
        share = np.clip(-(start @ edge) / square, 0.0, 1.0) if square > 0 else 0.0
        return float(np.linalg.norm(start + share * edge))


class Surface:
    """All the ground of a map: its triangles by id, then the ground outside."""

    def __init__(self, oracle: Map, holes: Any = None) -> None:
        self.oracle = oracle
        self.holes = np.zeros((oracle.rows, oracle.columns), bool) if holes is None else holes
        pieces = [
            piece
            for row in range(oracle.rows)
            for column in range(oracle.columns)
            if not self.holes[row, column]
            for piece in oracle.cell(row, column)
        ]
        self.ids = np.array([piece.id for piece in pieces], np.int64)
        self.corners = np.array([(p.a, p.b, p.c) for p in pieces], float).reshape(-1, 3, 3)
        self.strips = self._strips() if oracle.border == "extend" else []

    def _strips(self) -> list[Strip]:
        point, rows, columns = self.oracle.point, self.oracle.rows, self.oracle.columns
        strips = []
        for sign, line, cell in ((-1, 0, 0), (1, columns, columns - 1)):
            strips += [
                Strip(point(row, line), point(row + 1, line), sign, 0)
                for row in range(rows)
                if not self.holes[row, cell]
            ]
        for sign, line, cell in ((-1, 0, 0), (1, rows, rows - 1)):
            strips += [
                Strip(point(line, column), point(line, column + 1), 0, sign)
                for column in range(columns)
                if not self.holes[cell, column]
            ]
        for sign_z, row in ((-1, 0), (1, rows)):
            for sign_x, column in ((-1, 0), (1, columns)):
                if not self.holes[min(row, rows - 1), min(column, columns - 1)]:
                    corner = point(row, column)
                    strips.append(Strip(corner, corner, sign_x, sign_z))
        return [strip for strip in strips if not np.isnan(strip.a[1] + strip.b[1])]

    def to_triangles(self, points: Array) -> Array:
        """Return the distances (m, n) of points to the triangles of the map."""
        return closest_distances(points, self.corners)

    def to_outside(self, points: Array) -> Array:
        """Return the distances (m,) of points to the ground outside; inf without any."""
        strips = self.strips
        return np.array([min((s.distance(p) for s in strips), default=np.inf) for p in points])

    def distances(self, points: Array) -> Array:
        """Return the distances (m,) of points to the ground; inf without any."""
        inside: Array = self.to_triangles(points).min(axis=1, initial=np.inf)
        return np.fmin(inside, self.to_outside(points))
