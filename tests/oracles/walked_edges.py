"""Edges walked one by one with a `CharacterMovement`, as the definition says."""

import math
from typing import Any, NamedTuple

import numpy as np

from terrain_physics import CharacterMovement

NO_EDGE, WALK, STEP, DROP = 0, 1, 2, 3

STEPS = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))
"""Rows and columns by which the directions of edges lead."""


class Walked(NamedTuple):
    """How a walk has gone."""

    arrives: bool
    fallen: float  # the deepest fall
    takes_riser: bool
    level: int
    was_in_air: bool


NOT_WALKED = Walked(arrives=False, fallen=0.0, takes_riser=False, level=0, was_in_air=False)


class Walks:
    """Walks between the places of a map, on the same ground and with the same rules."""

    def __init__(self, paths: Any, rate: float = 60) -> None:
        self.paths, self.rate = paths, rate
        self.positions = paths.positions
        _, rows, columns, _ = self.positions.shape
        places = paths._places
        x = places.lower_x + paths.spacing * np.arange(columns)
        z = places.lower_z + paths.spacing * np.arange(rows)
        self.is_aside = (self.positions[..., 0] != x) | (self.positions[..., 2] != z[:, np.newaxis])

    def kind(self, place: tuple[int, int, int], step: tuple[int, int]) -> tuple[int, int]:
        """Return the kind of an edge from (level, row, column), and the level it leads to."""
        straight = self.walk(place, step, stops=False)
        found = straight
        if not straight.arrives and straight.was_in_air:
            found = self.walk(place, step, stops=True)
        if not found.arrives:
            return NO_EDGE, 0
        if found.fallen > self.paths.rules.step_offset:
            return DROP, found.level
        return (STEP if found.takes_riser else WALK), found.level

    def walk(self, place: tuple[int, int, int], step: tuple[int, int], *, stops: bool) -> Walked:
        """Walk from a place by so many rows and columns."""
        paths = self.paths
        level, row, column = place
        _, rows, columns, _ = self.positions.shape
        if not (0 <= row + step[0] < rows and 0 <= column + step[1] < columns):
            return NOT_WALKED
        start = self.positions[level, row, column]
        ends = self.positions[:, row + step[0], column + step[1]]
        if np.isnan([start[1], ends[0, 1]]).any():
            return NOT_WALKED
        hero = CharacterMovement(
            paths.ground,
            paths.collider,
            position=start,
            rules=paths.rules,
            seed=(level * rows + row) * columns + column,
        )
        if not hero.update(1 / self.rate).grounded:
            return NOT_WALKED
        aside = self.is_aside[:, row + step[0], column + step[1]]
        ahead = np.array(step[::-1]) / math.hypot(*step)
        length = paths.spacing * math.hypot(*step)
        end = int(np.nanargmin(np.abs(ends[:, 1] - start[1])))
        if self.is_aside[place] or aside[end]:
            way = (ends[end] - start)[[0, 2]]
            length = math.hypot(*way)
            ahead = way / length
        is_wide = aside | self.is_aside[place]
        return self._follow(hero, start, ends, is_wide, ahead, length, stops=stops)

    def _follow(
        self,
        hero: Any,
        start: Any,
        ends: Any,
        is_wide: Any,
        ahead: Any,
        length: float,
        *,
        stops: bool,
    ) -> Walked:
        paths, spacing = self.paths, self.paths.spacing
        gravity = hero.gravity * hero.gravity_scale
        seconds = 3 * length / paths.speed
        if stops and gravity > 0:
            seconds += math.sqrt(2 * paths.max_drop / gravity)
        height, fallen, in_air, stopped, takes_riser = hero.position64[1], 0.0, False, False, False
        was_in_air = False
        last = np.array(hero.position64)
        for _ in range(math.floor(self.rate * seconds + 1e-9)):
            speed = 0.0 if stopped else paths.speed
            hero.walk(*(speed * ahead))
            hero.update(1 / self.rate)
            now = np.array(hero.position64)
            rise = math.tan(hero.slope_limit) * math.hypot(*(now - last)[[0, 2]])
            takes_riser |= abs(now[1] - last[1]) > rise + 1e-3
            last = now
            if hero.grounded:
                fallen = max(fallen, height - now[1]) if in_air else fallen
                height = now[1]
            in_air = not hero.grounded
            was_in_air |= in_air
            if max(fallen, height - now[1] if in_air else 0.0) > paths.max_drop:
                break
            apart = self._apart(now, ends, is_wide)
            if hero.grounded and apart.min() < np.inf:
                level = int(np.argmin(apart))
                return Walked(
                    arrives=True,
                    fallen=fallen,
                    takes_riser=takes_riser,
                    level=level,
                    was_in_air=was_in_air,
                )
            along, aside = self._off(now - start, ahead)
            to_end = math.hypot(max(length - along, 0.0), aside)
            if stops and in_air and (to_end <= spacing / 8 or along >= length):
                stopped = True
            if aside > spacing / 2 or not -spacing / 2 <= along <= length + spacing / 2:
                break
        return NOT_WALKED._replace(was_in_air=was_in_air)

    def _apart(self, now: Any, ends: Any, is_wide: Any) -> Any:
        """Return how far from each end of its edge a walker is that is near enough; else inf."""
        near, step_offset = self.paths.spacing / 4, self.paths.rules.step_offset
        apart, rise = np.linalg.norm(now - ends, axis=1), (now - ends)[:, 1]
        flat = np.hypot(*(now - ends).T[[0, 2]])
        beside = is_wide & (flat <= near) & (rise >= -near) & (rise <= max(near, step_offset))
        return np.where((apart <= near) | beside, apart, np.inf)

    @staticmethod
    def _off(walked: Any, ahead: Any) -> tuple[float, float]:
        x, z = walked[[0, 2]]
        return x * ahead[0] + z * ahead[1], abs(x * ahead[1] - z * ahead[0])
