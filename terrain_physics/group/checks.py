"""Per-character checks of values for many characters; errors name the key of the bad value."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from terrain_physics._kernels.types import Floats, UInt64s
from terrain_physics._support import checks
from terrain_physics.character.group_data import Key, seeds_of
from terrain_physics.character.state import first_random_state

# Numbers up to this are finite as floats.
_LARGE = 1e300


def number_per_character(name: str, value: ArrayLike, keys: Sequence[Key]) -> Floats:
    """Return a finite number (n,) for each key, given as one for all or as an array."""
    plain: Any = value
    if type(plain) in {float, int} and -_LARGE < plain < _LARGE:
        given = np.empty(len(keys))
        given.fill(plain + 0.0)  # as below, and twenty times as quick
        return given
    given = checks.real_array(name, value)
    if given.shape not in {(), (len(keys),)}:
        raise ValueError(f"{name} must be a number or have shape ({len(keys)},), got {given.shape}")
    for bad in np.flatnonzero(~np.isfinite(given))[:1]:
        prefix = f"{keys[bad]!r}: " if given.ndim else ""
        raise ValueError(f"{prefix}{name} must be finite, got {given.flat[bad]}")
    return np.broadcast_to(given, len(keys)) + 0.0  # a zero has no sign


def three_per_character(name: str, one: str, values: ArrayLike, keys: Sequence[Key]) -> Floats:
    """Return three finite numbers (n, 3) for each key; ``one`` names those of one character."""
    given = checks.real_array(name, values)
    if given.shape == (0,):  # an empty list stands for no rows
        given = given.reshape(0, 3)
    if given.shape != (len(keys), 3):
        raise ValueError(f"{name} must have shape ({len(keys)}, 3), got {given.shape}")
    for bad in np.flatnonzero(~np.isfinite(given).all(axis=1))[:1]:
        raise ValueError(f"{keys[bad]!r}: {one} must be finite, got {given[bad].tolist()}")
    return given + 0.0  # a zero has no sign


def positions_per_character(positions: ArrayLike, keys: Sequence[Key]) -> Floats:
    """Return positions (n, 3) for each key."""
    return three_per_character("positions", "position", positions, keys)


def velocities_per_character(velocities: ArrayLike | None, keys: Sequence[Key]) -> Floats:
    """Return velocities (n, 3) for each key; None is 0."""
    given = np.zeros((len(keys), 3)) if velocities is None else velocities
    return three_per_character("velocities", "velocity", given, keys)


def rotations_per_character(rotations: Any, keys: Sequence[Key]) -> Floats:
    """Return rotations (n, 9), row by row, for each key."""
    if isinstance(rotations, np.ndarray) and rotations.shape == (len(keys), 3, 3):
        with suppress(TypeError, ValueError):  # checked one by one below, to name the bad one
            return checks.rotations("rotations", rotations).reshape(-1, 9)
    checked = _each("rotations", rotations, keys, partial(checks.rotation, "rotation"))
    return np.array(checked).reshape(-1, 9)


def random_states_per_character(
    seed: int, keys: Sequence[Key], seeds: Iterable[Any] | None
) -> UInt64s:
    """Return the random states (n,) of seeds; None: those of a group's own seed."""
    if seeds is None:
        return seeds_of(seed, keys)
    return np.array(_each("seeds", seeds, keys, first_random_state), dtype=np.uint64)


def _each(name: str, values: Any, keys: Sequence[Key], check: Callable[[Any], Any]) -> list[Any]:
    """Return the results of a check for one value of each key."""
    given = checks.listed(name, values)
    if len(given) != len(keys):
        raise ValueError(f"{name} must be {len(keys)}, one for each, got {len(given)}")
    return [checks.named_check(key, check, value) for key, value in zip(keys, given, strict=True)]
