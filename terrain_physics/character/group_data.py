"""What a group of characters holds: their keys, and their states as rows of arrays."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from terrain_physics import _checks
from terrain_physics._checks import Floats9
from terrain_physics._kernels.character import layout as columns
from terrain_physics._kernels.character.resize import SHAPE_SIZE
from terrain_physics.character.colliders import Collider
from terrain_physics.character.placement import (
    AnyGround,
    checked_collider,
    checked_ground,
    placed_shape,
)
from terrain_physics.character.rules import DEFAULT_RULES, CharacterRules
from terrain_physics.character.state import (
    LINEAR_SIZE,
    PACKED_SIZE,
    are_rules,
    first_random_state,
    state_hash,
    unsigned_zeros,
)

Key = str | int

_FIRST_CAPACITY = 16
_UPRIGHT: Floats9 = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)

# Where the parts of a packed state begin.
_RULES = columns.STATE_SIZE
_LINEAR = _RULES + columns.RULES_SIZE
_RANDOM = _LINEAR + LINEAR_SIZE


@dataclass(frozen=True, slots=True)
class GroupState:
    """Everything about a group that changes, exact; pickle it, send it, restore it.

    Attributes
    ----------
    seed : int
        The group's.
    keys : tuple of str or int
        In order.
    colliders : tuple of colliders
        The bodies before they were placed.
    rows : bytes
        The state of each character, packed.
    """

    seed: int
    keys: tuple[Key, ...]
    colliders: tuple[Collider, ...]
    rows: bytes


class _Draft(CharacterRules):
    """Rules by name, of nobody yet."""

    def __init__(self, rules: NDArray[np.float64], changes: dict[str, Any]) -> None:
        self._rules = rules
        for name, value in changes.items():
            if name not in DEFAULT_RULES:
                raise TypeError(f"rules must be of {', '.join(DEFAULT_RULES)}, got {name!r}")
            setattr(self, name, value)

    def _wake(self) -> None:
        """Nobody is there to be woken."""


def checked_key(key: Any) -> Key:
    """Return a key as str or int."""
    if isinstance(key, np.integer):
        return int(key)
    if not isinstance(key, (str, int)) or isinstance(key, bool):
        raise TypeError(f"key must be a str or an int, got {_checks.shorten(key)}")
    return key


def seed_of(seed: int, key: Key) -> int:
    """Return the seed of one character: it follows from its group's and its key alone."""
    name = f"{seed} {type(key).__name__} {key}".encode(errors="surrogatepass")
    return int.from_bytes(hashlib.blake2b(name, digest_size=8).digest(), "little")


class CrowdData:
    """Keys and states of a group; `terrain_physics.CharacterGroup` moves them.

    A character that was removed leaves its row behind until the arrays are next used as a whole:
    so many can be removed at the cost of one.
    """

    _ground: AnyGround
    _threads: int | None

    def __init__(self, ground: Any, collider: Any, seed: int, rules: dict[str, Any]) -> None:
        self._ground = checked_ground(ground)
        self._collider = None if collider is None else checked_collider(collider)
        self._seed = _checks.whole("seed", seed, 0, 2**64 - 1)
        self._default_rules = np.zeros(columns.RULES_SIZE)
        _Draft(self._default_rules, DEFAULT_RULES | rules)
        self._rows: dict[Key, int] = {}
        self._colliders: dict[Key, Collider] = {}
        self._states = np.zeros((_FIRST_CAPACITY, columns.STATE_SIZE))
        self._rules = np.zeros((_FIRST_CAPACITY, columns.RULES_SIZE))
        self._linears = np.zeros((_FIRST_CAPACITY, LINEAR_SIZE))
        self._randoms = np.zeros(_FIRST_CAPACITY, dtype=np.uint64)
        self._end = 0

    def __getstate__(self) -> dict[str, Any]:
        """Arrays and tables of its own for a copy."""
        return {
            name: value.copy() if isinstance(value, (np.ndarray, dict)) else value
            for name, value in self.__dict__.items()
        }

    # Who is there

    @property
    def keys(self) -> tuple[Key, ...]:
        """The keys of all characters, in the order in which they were added."""
        return tuple(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Key]:
        return iter(self.keys)

    def __contains__(self, key: object) -> bool:
        return (
            not isinstance(key, bool)
            and isinstance(key, (str, int, np.integer))
            and (key in self._rows)
        )

    def seed_of(self, key: Key) -> int:
        """Return the seed that a character with this key is given.

        Parameters
        ----------
        key : str or int

        Returns
        -------
        int
            It follows from the group's seed and the key alone. A `CharacterMovement` with this seed
            goes the same way, bit for bit.
        """
        return seed_of(self._seed, checked_key(key))

    def add(
        self,
        key: Key,
        position: Any,
        *,
        collider: Collider | None = None,
        velocity: Any = None,
        rotation: Any = None,
        seed: int | np.random.Generator | None = None,
        **rules: Any,
    ) -> None:
        """Add a character.

        Parameters
        ----------
        key : str or int
            Its name, which no other has. The whole numbers 1 and "1" are two keys.
        position : three numbers
            In meters.
        collider : SphereCollider, CapsuleCollider or BoxCollider, optional
            Its body; default: the group's.
        velocity : three numbers, optional
            In m/s; set by the game, so that friction leaves it alone in the next update.
        rotation : glm.quat, glm.mat3 or 3 x 3 array, optional
            How the body is turned.
        seed : int or numpy.random.Generator, optional
            Where the shuffling of contacts starts; default: `seed_of` the key.
        **rules
            As for `CharacterMovement`, such as ``slope_limit``; default: the group's.

        Raises
        ------
        TypeError, ValueError
            As for `CharacterMovement`, naming the key; for a key that is there already; and where
            neither the group nor the character has a collider.
        """
        name = checked_key(key)
        if name in self._rows:
            raise ValueError(f"key must be new, got {_checks.shorten(name)} again")
        try:
            body = checked_collider(self._collider if collider is None else collider)
            drawn = _Draft(self._default_rules.copy(), rules)._rules  # noqa: SLF001
            linear = _UPRIGHT if rotation is None else _checks.rotation("rotation", rotation)
            drawn[:SHAPE_SIZE] = placed_shape(self._ground, body, linear)
            place = unsigned_zeros(_checks.vector("position", position))
            speed = unsigned_zeros(
                _checks.vector("velocity", (0, 0, 0) if velocity is None else velocity)
            )
            random_state = self.seed_of(name) if seed is None else first_random_state(seed)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{name!r}: {error}") from None
        if self._end == len(self._states):
            self._grow()
        row = self._end
        self._end += 1
        self._rows[name], self._colliders[name] = row, body
        state = self._states[row]
        state[:] = 0.0
        state[columns.CONVERGED] = state[columns.MOVED] = 1.0
        state[columns.POSITION : columns.POSITION + 3] = place
        state[columns.VELOCITY : columns.VELOCITY + 3] = speed
        state[columns.DRIVEN] = float(velocity is not None)
        self._rules[row], self._linears[row], self._randoms[row] = drawn, linear, random_state

    def remove(self, key: Key) -> None:
        """Remove a character.

        Parameters
        ----------
        key : str or int

        Raises
        ------
        KeyError
            If it is not there.
        """
        self._row(key)
        name = checked_key(key)
        del self._rows[name], self._colliders[name]

    # State

    def state(self) -> GroupState:
        """Return everything that changes, exact.

        Returns
        -------
        GroupState
            Picklable; about 500 bytes for each character.
        """
        self._compact()
        return GroupState(
            self._seed, self.keys, tuple(self._colliders.values()), self._packed().tobytes()
        )

    def restore(self, state: GroupState) -> None:
        """Go back to a state, bit for bit; who was not there then is gone, and the other way round.

        Parameters
        ----------
        state : GroupState

        Raises
        ------
        TypeError, ValueError
            If it is none, or damaged; naming the first key. Nothing has changed then.
        """
        if not isinstance(state, GroupState):
            raise TypeError(f"state must be a GroupState, got {_checks.shorten(state)}")
        keys, count = tuple(checked_key(key) for key in state.keys), len(state.keys)
        if len(set(keys)) != count or len(state.colliders) != count:
            raise ValueError("state must hold one collider for each key, and no key twice")
        if len(state.rows) != count * PACKED_SIZE * 8:
            raise ValueError("state must come from this version of the library")
        seed = _checks.whole("seed", state.seed, 0, 2**64 - 1)
        bits = np.frombuffer(state.rows, dtype="<u8").reshape(count, PACKED_SIZE)
        values = bits[:, :_RANDOM].view("<f8")
        good = np.isfinite(values).all(axis=1) & are_rules(values[:, _RULES:_LINEAR])
        kinds = [checked_collider(collider).kind for collider in state.colliders]
        good &= values[:, _RULES + columns.KIND] == np.array(kinds, dtype=np.float64)
        for row in np.flatnonzero(~good)[:1]:
            raise ValueError(f"state must come from a group: that of {keys[row]!r} is none")
        room = max(count, _FIRST_CAPACITY)
        self._states, self._rules = (
            np.zeros((room, columns.STATE_SIZE)),
            np.zeros((room, columns.RULES_SIZE)),
        )
        self._linears, self._randoms = (
            np.zeros((room, LINEAR_SIZE)),
            np.zeros(room, dtype=np.uint64),
        )
        self._states[:count], self._rules[:count] = values[:, :_RULES], values[:, _RULES:_LINEAR]
        self._linears[:count], self._randoms[:count] = values[:, _LINEAR:], bits[:, _RANDOM]
        self._seed, self._end = seed, count
        self._rows = {key: row for row, key in enumerate(keys)}
        self._colliders = dict(zip(keys, state.colliders, strict=True))

    def state_hash(self) -> str:
        """Return 16 hexadecimal digits that are equal when two groups are, bit for bit.

        They do not depend on the order in which the characters were added.
        """
        parts = sorted(f"{type(key).__name__} {key}: {value}" for key, value in self.hashes())
        text = "\n".join([str(self._seed), *parts])
        return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=8).hexdigest()

    def hashes(self) -> Iterable[tuple[Key, str]]:
        """Return each key with the hash that a `CharacterMovement` in that state has.

        Returns
        -------
        iterable of (str or int, str)
            In order.
        """
        self._compact()
        size, rows = 8 * PACKED_SIZE, memoryview(self._packed().tobytes())
        return [
            (key, state_hash(rows[size * row : size * (row + 1)]))
            for row, key in enumerate(self._rows)
        ]

    # Inside

    def _row(self, key: Any) -> int:
        """Return where a character is, or raise KeyError."""
        name = checked_key(key)
        if name not in self._rows:
            raise KeyError(f"no character has the key {_checks.shorten(name)}")
        return self._rows[name]

    def _packed(self) -> NDArray[np.uint64]:
        """Return the states of all, packed (n, PACKED_SIZE); after `_compact`."""
        count = len(self)
        return np.concatenate(
            [
                self._states[:count].view(np.uint64),
                self._rules[:count].view(np.uint64),
                self._linears[:count].view(np.uint64),
                self._randoms[:count, np.newaxis],
            ],
            axis=1,
        ).astype("<u8", copy=False)

    def _grow(self) -> None:
        self._compact()
        room = 2 * len(self._states)
        for name in ("_states", "_rules", "_linears", "_randoms"):
            old = getattr(self, name)
            new = np.zeros((room, *old.shape[1:]), dtype=old.dtype)
            new[: len(old)] = old
            setattr(self, name, new)

    def _compact(self) -> None:
        """Close the gaps that removed characters left."""
        count = len(self._rows)
        if self._end == count:
            return
        kept = np.fromiter(self._rows.values(), dtype=np.int64, count=count)
        for values in (self._states, self._rules, self._linears, self._randoms):
            values[:count] = values[kept]
        self._rows = {key: row for row, key in enumerate(self._rows)}
        self._end = count
