"""Maps of places with edges set by hand, and ways on them by a search in plain Python."""

import heapq
import math
from collections.abc import Callable, Iterable
from itertools import pairwise

import numpy as np

from terrain_physics import CharacterMovement, Ground, HeightMap, TriangleMesh
from terrain_physics._kernels.walkability import layout
from terrain_physics.character.colliders import Collider
from terrain_physics.character.placement import AnyGround
from terrain_physics.walkability.field import Field
from terrain_physics.walkability.path import Path
from terrain_physics.walkability.places import Places
from terrain_physics.walkability.terms import Terms


def flat(_x: float, _z: float) -> float:
    """Return the height of a level floor."""
    return 0.0


def open_land(_a: tuple[float, float], _b: tuple[float, float]) -> int:
    """Return the kind of edges where nothing is in the way."""
    return layout.WALK


class HandMadeMap:
    """A map on one level: all places have the heights given; ``kind_of`` says what joins two.

    It gets the (x, z) of two neighbors, and returns a kind of `layout`.
    """

    def __init__(
        self,
        ground: AnyGround,
        collider: Collider,
        height_of: Callable[[float, float], float],
        kind_of: Callable[[tuple[float, float], tuple[float, float]], int],
        *,
        size: tuple[int, int],
        spacing: float = 1.0,
        speed: float = 3.0,
        **rules: float,
    ) -> None:
        rows, columns = size
        self.places = Places(0.0, 0.0, spacing, 1, rows, columns)
        hero = CharacterMovement(ground, collider, **rules)  # type: ignore[arg-type]
        self.terms = Terms(ground, collider, hero._row().rules.copy(), speed)
        arrays = self.places.arrays()
        for place in range(len(self.places)):
            self.places.heights[place] = height_of(*self._flat(place))
        for place in range(len(self.places)):
            row, column = divmod(place, columns)
            for direction in range(layout.DIRECTIONS):
                r = row + layout.row_step(direction)
                c = column + layout.column_step(direction)
                if not (0 <= r < rows and 0 <= c < columns):
                    continue
                other = r * columns + c
                if not np.isfinite(self.places.heights[[place, other]]).all():
                    continue
                kind = kind_of(self._flat(place), self._flat(other))
                layout.put_edge(arrays, place, direction, kind, 0)

    def _flat(self, place: int) -> tuple[float, float]:
        row, column = divmod(place, self.places.columns)
        return column * self.places.spacing, row * self.places.spacing

    def number(self, x: float, z: float) -> int:
        column, row = round(x / self.places.spacing), round(z / self.places.spacing)
        return row * self.places.columns + column

    def search(self, goals: Iterable[tuple[float, float]]) -> tuple[list[float], list[int]]:
        """Return the distance (n,) of each place to the nearest goal, and the next place; or -1."""
        arrays, count = self.places.arrays(), len(self.places)
        into: list[list[int]] = [[] for _ in range(count)]
        for place in range(count):
            for direction in range(layout.DIRECTIONS):
                if layout.kind_of(arrays, place, direction) != layout.NO_EDGE:
                    into[layout.end_of(arrays, place, direction)].append(place)
        points = self.places.points(np.arange(count))
        distances, nexts = [math.inf] * count, [-1] * count
        queue = [(0.0, self.number(*goal)) for goal in goals]
        for _, goal in queue:
            distances[goal] = 0.0
        while queue:
            far, place = heapq.heappop(queue)
            if far > distances[place]:
                continue
            for other in into[place]:
                longer = far + float(np.linalg.norm(points[place] - points[other]))
                if longer < distances[other]:
                    distances[other], nexts[other] = longer, place
                    heapq.heappush(queue, (longer, other))
        return distances, nexts

    def field(self, *goals: tuple[float, float]) -> Field:
        """Return the field of some goals, each place of which leads to the next one."""
        distances, nexts = self.search(goals)
        points = self.places.points(np.arange(len(self.places)))[:, ::2]
        directions = np.zeros((len(nexts), 2))
        for place, following in enumerate(nexts):
            if following >= 0:
                directions[place] = points[following] - points[place]
                directions[place] /= np.linalg.norm(directions[place])
        numbers = np.array(nexts, dtype=np.int32)
        return Field(self.places, self.terms, np.array(distances), numbers, directions)

    def path(self, start: tuple[float, float], goal: tuple[float, float]) -> Path:
        """Return the path from place to place, without a shortcut."""
        _, nexts = self.search([goal])
        numbers = [self.number(*start)]
        while nexts[numbers[-1]] >= 0:
            numbers.append(nexts[numbers[-1]])
        assert numbers[-1] == self.number(*goal), "there is no way"
        return self.path_along(numbers)

    def path_along(self, numbers: list[int]) -> Path:
        arrays = self.places.arrays()
        kinds = []
        for place, other in pairwise(numbers):
            ways = [
                layout.kind_of(arrays, place, direction)
                for direction in range(layout.DIRECTIONS)
                if layout.kind_of(arrays, place, direction) != layout.NO_EDGE
                and layout.end_of(arrays, place, direction) == other
            ]
            kinds += ways or [layout.WALK]
        points = self.places.points(np.array(numbers))
        return Path(self.places, self.terms, points, np.array(kinds, dtype=np.uint8))


def two_floors(collider: Collider) -> tuple[Field, AnyGround]:
    """Return a field on two floors, 4 m above each other, with a goal on each, and their ground."""
    ground = Ground(
        [HeightMap(np.zeros((10, 10))), TriangleMesh.box((9, 0.2, 9), position=(4.5, 3.9, 4.5))]
    )
    one = HandMadeMap(ground, collider, flat, open_land, size=(10, 10))
    both = Places(0.0, 0.0, 1.0, 2, 10, 10)
    both.heights[:100], both.heights[100:] = 0.0, 4.0
    both.kinds[:] = np.tile(one.places.kinds, 2)
    both.targets[100:] = 0b0101010101010101
    fields = [one.field(goal) for goal in ((7, 7), (7, 2))]
    distances = np.concatenate([field._distances for field in fields])
    nexts = np.concatenate([field._nexts + level * 100 for level, field in enumerate(fields)])
    nexts[distances == 0] = -1
    directions = np.concatenate([field._directions for field in fields])
    return Field(both, one.terms, distances, nexts.astype(np.int32), directions), ground
