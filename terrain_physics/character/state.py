"""What a character is made of besides its movement: live vectors, its state, its result."""

import hashlib
import math
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyglm import glm

from terrain_physics import _checks
from terrain_physics._checks import Floats3, Floats9
from terrain_physics._kernels.character import layout as columns
from terrain_physics.character.colliders import Collider
from terrain_physics.character.placement import AnyGround
from terrain_physics.surface.results import GroundReport, MoveResult
from terrain_physics.surface.surface import queries_of

MOST_ROUNDS = 1000
LONGEST_STEP = 1.0  # seconds

# A state as bytes: its values, rules, linear part and random state, 8 bytes each.
LINEAR_SIZE = 9
PACKED_SIZE = columns.STATE_SIZE + columns.RULES_SIZE + LINEAR_SIZE + 1

_GROUND_STATES = ("airborne", "steep", "wedged", "grounded")


def unsigned_zeros(values: Floats3) -> Floats3:
    """Return three numbers with zeros that have no sign, as all of a character's."""
    x, y, z = values
    return x + 0.0, y + 0.0, z + 0.0


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
        shown = glm.vec3(*values) + 0.0  # what rounds to a zero may be negative
        glm.vec3.__init__(self, shown)  # three times as quick as setting x, y and z
        self.__dict__["written"] = False
        return shown


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
    collider : SphereCollider, CapsuleCollider or BoxCollider
        The body before it was placed.
    """

    values: tuple[float, ...]
    rules: tuple[float, ...]
    linear: Floats9
    random_state: int
    collider: Collider


def packed(state: CharacterState) -> bytes:
    """Return a state without its collider as bytes, in the order of PACKED_SIZE."""
    numbers = (*state.values, *state.rules, *state.linear)
    return struct.pack(f"<{len(numbers)}dQ", *numbers, state.random_state)


def unpacked(row: bytes, collider: Collider) -> CharacterState:
    """Return the state that was packed."""
    *numbers, random_state = struct.unpack(f"<{PACKED_SIZE - 1}dQ", row)
    rules, linear = columns.STATE_SIZE, columns.STATE_SIZE + columns.RULES_SIZE
    return CharacterState(
        tuple(numbers[:rules]),
        tuple(numbers[rules:linear]),
        tuple(numbers[linear:]),
        random_state,
        collider,
    )


def state_hash(row: bytes | memoryview) -> str:
    """Return the 16 hexadecimal digits of a packed state."""
    return hashlib.blake2b(row, digest_size=8).hexdigest()


def ground_report(values: list[float], ground: AnyGround) -> GroundReport:
    """Return the report that is part of a state."""
    state = _GROUND_STATES[int(values[columns.GROUND_KIND])]
    air_time, landing_speed = values[columns.AIR_TIME], values[columns.LANDING_SPEED]
    if state == "airborne":
        return GroundReport(state, None, None, -1, 0, None, air_time, landing_speed)
    x, y, z = values[columns.GROUND_NORMAL : columns.GROUND_NORMAL + 3]
    px, py, pz = values[columns.GROUND_POINT : columns.GROUND_POINT + 3]
    triangle, material = queries_of(ground).triangle_at(
        int(values[columns.GROUND_PART]), int(values[columns.GROUND_TRIANGLE]), (px, py, pz)
    )
    return GroundReport(
        state,
        glm.vec3(x, y, z) + 0.0,
        glm.vec3(px, py, pz) + 0.0,
        triangle,
        material,
        math.atan2(math.hypot(x, z), y),
        air_time,
        landing_speed,
    )


def move_result(values: list[float]) -> MoveResult:
    """Return the result that is part of a state."""
    normal = values[columns.GROUND_NORMAL : columns.GROUND_NORMAL + 3]
    return MoveResult(
        grounded=values[columns.GROUNDED] != 0.0,
        ground_normal=glm.vec3(*normal) + 0.0 if values[columns.GROUNDED] else None,
        contacts=int(values[columns.CONTACTS]),
        penetration=values[columns.PENETRATION],
        converged=values[columns.CONVERGED] != 0.0,
        rounds=int(values[columns.ROUNDS]),
        lifted=values[columns.LIFTED],
    )


def are_rules(rules: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell which rows (n, RULES_SIZE) hold numbers that a kernel can work with."""
    x, y, z = rules[:, columns.EXTENTS : columns.EXTENTS + 3].T
    rounds = rules[:, columns.MAX_ROUNDS]
    good = (x > 0.0) & (y >= 0.0) & (z > 0.0) & (rounds >= 1) & (rounds <= MOST_ROUNDS)
    for choice in (columns.GROUND_RULE, columns.RESOLVER, columns.SURFACE_SPEED):
        good &= (rules[:, choice] == 0.0) | (rules[:, choice] == 1.0)
    return np.asarray(good & np.isfinite(rules).all(axis=1))


def refuse_rules(rules: NDArray[np.float64]) -> None:
    """Refuse numbers that a kernel could not work with."""
    if not are_rules(rules[np.newaxis])[0]:
        raise ValueError("state must come from a character: its rules are not those of one")


def first_random_state(seed: int | np.random.Generator) -> int:
    """Return the 64 bits that a seed stands for."""
    if isinstance(seed, np.random.Generator):
        return int(seed.integers(0, 2**64, dtype=np.uint64))
    return _checks.whole("seed", seed, 0, 2**64 - 1)
