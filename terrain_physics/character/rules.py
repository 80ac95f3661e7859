"""The rules of a character: numbers that its kernel reads, checked when they are set."""

import math
from collections.abc import Callable
from typing import Any, Self, overload

import numpy as np
from numpy.typing import NDArray

from terrain_physics import _checks
from terrain_physics._kernels.character import layout as columns
from terrain_physics.character.state import MOST_ROUNDS

# What `CharacterMovement` has where nothing else is said.
DEFAULT_RULES = {
    "gravity": 9.81,
    "gravity_scale": 1.0,
    "slope_limit": math.radians(30),
    "ground_rule": "contact",
    "ground_friction": 20.0,
    "resolver": "shuffled",
    "snap_distance": 0.3,
    "step_offset": 0.3,
    "slope_speed": "horizontal",
    "max_rounds": 16,
}


class _Rule:
    """A number of a character that the kernel reads, checked when it is set."""

    def __init__(self, index: int, check: Callable[[str, Any], float]) -> None:
        self._index = index
        self._check = check

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, mover: None, owner: type) -> Self: ...
    @overload
    def __get__(self, mover: "CharacterRules", owner: type) -> float: ...
    def __get__(self, mover: "CharacterRules | None", owner: type) -> "Self | float":
        return self if mover is None else float(mover._rules[self._index])  # noqa: SLF001

    def __set__(self, mover: "CharacterRules", value: float) -> None:
        mover._set_rule(self._index, self._check(self._name, value))  # noqa: SLF001


class _Choice:
    """One of a few words."""

    def __init__(self, index: int, words: tuple[str, ...]) -> None:
        self._index = index
        self._words = words

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, mover: None, owner: type) -> Self: ...
    @overload
    def __get__(self, mover: "CharacterRules", owner: type) -> str: ...
    def __get__(self, mover: "CharacterRules | None", owner: type) -> "Self | str":
        return self if mover is None else self._words[int(mover._rules[self._index])]  # noqa: SLF001

    def __set__(self, mover: "CharacterRules", value: str) -> None:
        word = _checks.choice(self._name, value, self._words)
        mover._set_rule(self._index, float(self._words.index(word)))  # noqa: SLF001


class CharacterRules:
    """What the game sets of a character, and may change at any time; see `CharacterMovement`."""

    gravity = _Rule(columns.GRAVITY, _checks.finite)
    gravity_scale = _Rule(columns.GRAVITY_SCALE, _checks.finite)
    ground_friction = _Rule(columns.FRICTION, _checks.non_negative)
    snap_distance = _Rule(columns.SNAP, _checks.non_negative)
    step_offset = _Rule(columns.STEP_OFFSET, _checks.non_negative)
    ground_rule = _Choice(columns.GROUND_RULE, ("contact", "sum"))
    resolver = _Choice(columns.RESOLVER, ("shuffled", "simultaneous"))
    slope_speed = _Choice(columns.SURFACE_SPEED, ("horizontal", "surface"))

    _rules: NDArray[np.float64]

    @property
    def slope_limit(self) -> float:
        """Steepest walkable slope in radians."""
        return float(self._rules[columns.SLOPE_LIMIT])

    @slope_limit.setter
    def slope_limit(self, value: float) -> None:
        limit = _checks.between("slope_limit", value, 0.0, math.pi / 2)
        self._set_rule(columns.SLOPE_LIMIT, limit)
        self._set_rule(columns.SLOPE_COSINE, math.cos(limit))

    @property
    def max_rounds(self) -> int:
        """After how many rounds of pushing out the body is lifted instead."""
        return int(self._rules[columns.MAX_ROUNDS])

    @max_rounds.setter
    def max_rounds(self, value: int) -> None:
        self._set_rule(
            columns.MAX_ROUNDS, float(_checks.whole("max_rounds", value, 1, MOST_ROUNDS))
        )

    def _set_rule(self, index: int, value: float) -> None:
        self._rules[index] = value
        self._wake()

    def _wake(self) -> None:
        """End the rest of a character that stays where it is."""
        raise NotImplementedError
