"""Questions to a map: which place is meant, and what is kept between questions."""

import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from terrain_physics._kernels.types import (
    Bytes,
    Float32s,
    Floats,
    Int32s,
    Int64s,
    read_only,
)
from terrain_physics._support import checks
from terrain_physics._support.matrices import length
from terrain_physics.surface.queries import Queries
from terrain_physics.walkability.places import Places
from terrain_physics.walkability.ways.labels import labels_of, nearest_to
from terrain_physics.walkability.ways.search import Searcher

START_SPACINGS, GOAL_SPACINGS = 2.0, 1.0
"""How far a start and a goal may be from the nearest place that stands, in spacings."""

# Rays to the ground under a place begin so many meters above the character's position there.
_RAISED = 0.05


class _KnownMaterials(NamedTuple):
    """What is under the places of a version of a map."""

    version: Any
    repaints: int
    heights: Float32s  # (n,): what it was found for
    found: Bytes  # (n,)


class Kept:
    """What is found once and good until the map changes, and the working memory of searches."""

    __slots__ = ("_labels", "_materials", "searcher")

    def __init__(self) -> None:
        self.searcher = Searcher()
        self._labels: tuple[Any, Int32s] | None = None
        self._materials: _KnownMaterials | None = None

    def labels(self, places: Places, version: Any) -> Int32s:
        """Return the labels (n,) of the places of a version of a map."""
        kept = self._labels
        if kept is None or kept[0] != version:
            kept = self._labels = version, labels_of(places)
        return kept[1]

    def materials(self, version: Any, repaints: int) -> Bytes | None:
        """Return the materials (n,) under the places of a version of a map, if they are known."""
        kept = self._materials
        is_good = kept is not None and (kept.version, kept.repaints) == (version, repaints)
        return kept.found if kept is not None and is_good else None

    def find_materials(
        self,
        places: Places,
        heights: Float32s,
        version: Any,
        repaints: int,
        rays: Callable[[Floats], Bytes],
    ) -> Bytes:
        """Find the materials (n,) under places with some heights; those of others are 0.

        Only places whose heights have changed are asked about again, but all after a repaint.
        """
        kept = self._materials
        found = np.zeros(len(heights), dtype=np.uint8)
        asked = ~np.isnan(heights)
        if kept is not None and kept.repaints == repaints and len(kept.found) == len(heights):
            is_known = kept.heights == heights
            found[is_known] = kept.found[is_known]
            asked &= ~is_known
        numbers = np.flatnonzero(asked)
        if len(numbers):
            found[numbers] = rays(places.points_at(numbers, heights[numbers]))
        self._materials = _KnownMaterials(version, repaints, heights, found)
        return found


def materials_under(queries: Queries, points: Floats, threads: int | None) -> Bytes:
    """Return the materials (n,) of the ground below positions at rest; 0 where there is none."""
    starts = points + np.array([0.0, _RAISED, 0.0])
    starts, down, longest = read_only(starts, np.array([[0.0, -1.0, 0.0]]), np.full(1, math.inf))
    return queries.rays(starts, down, longest, threads).material


def position_of(name: str, value: Any) -> tuple[float, float | None, float]:
    """Return x, y and z of a point (x, z), which has no y, a position, or what has a position."""
    point = checks.vector_or_pair(name, getattr(value, "position", value))
    if len(point) == 2:
        return point[0], None, point[1]
    return point[0], point[1], point[2]


def start_of(places: Places, start: Any) -> int:
    """Return the place that a start is taken to."""
    return _place_of(places, "start", start, START_SPACINGS)


def goal_of(places: Places, name: str, goal: Any, *, nearest: bool) -> int:
    """Return the place of a goal."""
    return _place_of(places, name, goal, math.inf if nearest else GOAL_SPACINGS)


def goals_of(places: Places, goals: Any, *, nearest: bool) -> Int64s:
    """Return the places (k,) of goals: one, or any number of them."""
    if hasattr(goals, "position") or _is_point(goals):
        return np.array([goal_of(places, "goals", goals, nearest=nearest)])
    if not isinstance(goals, Iterable):
        raise TypeError(f"goals must be points or positions, got {checks.shorten(goals)}")
    given = list(goals)
    if not given:
        raise ValueError("goals must be at least one point, got none")
    return np.array(
        [goal_of(places, f"goals[{k}]", goal, nearest=nearest) for k, goal in enumerate(given)]
    )


def _is_point(value: Any) -> bool:
    """Tell whether a value is one point: its first part is a number."""
    try:
        first = next(iter(value))
    except (TypeError, StopIteration):
        return False
    return np.ndim(first) == 0 and not hasattr(first, "position")


def _place_of(places: Places, name: str, value: Any, spacings: float) -> int:
    """Return the place nearest to a point, or tell how far the nearest is."""
    point = position_of(name, value)
    found = nearest_to(places, *point)
    if found is None:
        raise ValueError(
            f"{name} must be near to where a character can stand, got {_text(point)}; the map has "
            "no such place (update() makes places)"
        )
    within = spacings * places.spacing
    x, y, z = places.points(np.array([found]))[0].tolist()
    apart = length((x - point[0], 0.0 if point[1] is None else y - point[1], z - point[2]))
    if apart > within:
        hint = "" if name == "start" else ", where nearest=True moves it"
        raise ValueError(
            f"{name} must be at most {within:g} m from where a character can stand, got "
            f"{_text(point)}; the nearest place is {_text((x, y, z))}, {apart:.3g} m away{hint}"
        )
    return found


def _text(point: tuple[float | None, ...]) -> str:
    return f"({', '.join(f'{number:.6g}' for number in point if number is not None)})"
