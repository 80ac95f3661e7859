"""What a character is made of besides its movement: live vectors, its state, its result."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyglm import glm

from terrain_physics import _arrays
from terrain_physics._arrays import Floats3, Floats9
from terrain_physics._kernels import character as kernels
from terrain_physics.contacts import MoveResult

MOST_ROUNDS = 1000


class LiveVec3(glm.vec3):
    """A ``vec3`` that a game may write to; it remembers that it was."""

    written = False

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        self.__dict__["written"] = True

    def __setitem__(self, index: Any, value: Any) -> None:
        super().__setitem__(index, value)
        self.__dict__["written"] = True

    def __repr__(self) -> str:
        return repr(glm.vec3(self))

    def __str__(self) -> str:
        return str(glm.vec3(self))

    def show(self, values: Floats3) -> glm.vec3:
        """Take new values, rounded to float32; return a copy to compare with later."""
        glm.vec3.__init__(self, *values)  # three times as quick as setting x, y and z
        self.__dict__["written"] = False
        return glm.vec3(self)


@dataclass(frozen=True, slots=True)
class CharacterState:
    """Everything about a character that changes, exact; pickle it, send it, restore it.

    Attributes
    ----------
    values : tuple of float
        Position, velocity, ground and the last result.
    rules : tuple of float
        The shape in the world, gravity, slope limit and the other parameters.
    linear : tuple of float
        Rotation times scale, row by row, that the shape was made for.
    random_state : int
        The generator that shuffles contacts, 64 bits.
    """

    values: tuple[float, ...]
    rules: tuple[float, ...]
    linear: Floats9
    random_state: int


def move_result(values: list[float]) -> MoveResult:
    """Return the result that is part of a state."""
    normal = values[kernels.GROUND_NORMAL : kernels.GROUND_NORMAL + 3]
    return MoveResult(
        grounded=values[kernels.GROUNDED] != 0.0,
        ground_normal=glm.vec3(*normal) + 0.0 if values[kernels.GROUNDED] else None,
        contacts=int(values[kernels.CONTACTS]),
        penetration=values[kernels.PENETRATION],
        converged=values[kernels.CONVERGED] != 0.0,
        rounds=int(values[kernels.ROUNDS]),
        lifted=values[kernels.LIFTED],
    )


def refuse_rules(rules: NDArray[np.float64]) -> None:
    """Refuse numbers that a kernel could not work with."""
    extents = rules[kernels.EXTENTS : kernels.EXTENTS + 3]
    if not ((extents > 0.0).all() and rules[kernels.GROUND_RULE] in {0.0, 1.0}):
        raise ValueError("state must come from a character: its rules are not those of one")
    _arrays.whole("max_rounds", int(rules[kernels.MAX_ROUNDS]), 1, MOST_ROUNDS)


def first_random_state(seed: int | np.random.Generator) -> int:
    """Return the 64 bits that a seed stands for."""
    if isinstance(seed, np.random.Generator):
        return int(seed.integers(0, 2**64, dtype=np.uint64))
    return _arrays.whole("seed", seed, 0, 2**64 - 1)
