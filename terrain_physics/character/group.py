"""CharacterGroup: thousands of characters as arrays, moved by one call."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from terrain_physics import _checks
from terrain_physics._kernels.character import layout as columns
from terrain_physics._kernels.character.update import update_characters
from terrain_physics._kernels.character.waking import wake_near
from terrain_physics._kernels.types import Flags, Floats, Longs
from terrain_physics._public import public
from terrain_physics._threads import Workers
from terrain_physics.character.colliders import Collider
from terrain_physics.character.frame_time import FrameTime, MaxDelta
from terrain_physics.character.group_data import (
    GroupData,
    GroupState,
    Key,
    checked_key,
    seed_of,
)
from terrain_physics.character.hits import MoveHits, impacts_of, logs_of
from terrain_physics.character.live import unsigned_zeros
from terrain_physics.character.material_rules import NO_MATERIAL_RULES, put_material_rules
from terrain_physics.character.member import GroupMember
from terrain_physics.character.placement import (
    UPRIGHT,
    AnyGround,
    checked_collider,
    checked_ground,
    make_new,
    placed_shape,
    put_in_air,
    refuse_any_too_wide,
)
from terrain_physics.character.results import (
    GroupResult,
    ground_normals,
    nothing_new,
    read_only,
)
from terrain_physics.character.rows import (
    CARRIED_VELOCITY,
    LAST_PLACE,
    POSITION,
    VELOCITY,
    Rows,
    state_hashes,
    step_off,
    wake,
)
from terrain_physics.character.rules import put_rules
from terrain_physics.character.spelling import Spelled
from terrain_physics.character.state import first_random_state
from terrain_physics.character.touched import Touched
from terrain_physics.character.underfoot import put_all_factors
from terrain_physics.surface.surface import queries_of

# Nanoseconds that an update takes of a character that moves, and of one at rest, roughly.
_MOVING_COST, _RESTING_COST = 3_000, 20


@public
class CharacterGroup(Spelled):
    """Characters on one ground, each as if it were a `CharacterMovement` alone, bit for bit.

    They do not push each other. What happens to one depends on its key, its state and the ground:
    not on the others, the order in which they were added, or the number of threads.

    Parameters
    ----------
    ground : HeightMap, TriangleMesh or Ground
        What to stand on.
    collider : SphereCollider, CapsuleCollider or BoxCollider, optional
        The body of those that are added without one of their own.
    seed : int, default 0
        Where the shuffling of contacts starts, together with each key.
    threads : int, optional
        How many threads an update uses; None: one for each processor. The results are the same.
    max_delta : float, default 0.25
        The longest time that one update lives, as of a `CharacterMovement`.
    material_rules : mapping, optional
        As for `CharacterMovement`, for those that are added without material rules of their own.
    **rules
        As for `CharacterMovement`, for those that are added without rules of their own.

    Raises
    ------
    TypeError, ValueError
        As for `CharacterMovement`.

    Examples
    --------
    >>> from terrain_physics import CapsuleCollider, HeightMap
    >>> floor = HeightMap([[0, 0], [0, 0]])
    >>> group = CharacterGroup(floor, CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0)))
    >>> for i in range(100):
    ...     group.add(i, (i, 0, 0), velocity=(0, 0, 3))
    >>> result = group.update(1 / 60)
    >>> int(result.grounded.sum()), float(group.positions[7, 2])
    (100, 0.05)
    >>> group[7].velocity.x = 2
    >>> group.set_velocities([(0, 5, 0), (0, 6, 0)], keys=[1, 2])
    >>> result = group.update(1 / 60)
    >>> int(result.grounded.sum()), round(group[7].position.x, 4), group[1].grounded
    (98, 7.0333, False)
    """

    max_delta = MaxDelta()

    def __init__(
        self,
        ground: AnyGround,
        collider: Collider | None = None,
        *,
        seed: int = 0,
        threads: int | None = None,
        max_delta: float = MaxDelta.default,
        material_rules: Mapping[Any, Mapping[str, float]] = NO_MATERIAL_RULES,
        **rules: Any,
    ) -> None:
        self._collider = None if collider is None else checked_collider(collider)
        known_seed = _checks.whole("seed", seed, 0, 2**64 - 1)
        self._first_row = Rows.one()
        put_rules(self._first_row.rules, rules)
        self._material_rules = put_material_rules(self._first_row.rules, material_rules)
        Workers(threads)  # refuses what is no number of threads
        self._threads = threads
        self._data = GroupData(checked_ground(ground), FrameTime(max_delta), known_seed)

    @property
    def ground(self) -> AnyGround:
        """What they stand on; set another one, and the next update goes on there.

        Until then no report names a triangle. TypeError for what is no ground, ValueError for one
        of whose cells a body covers too many, naming its key; nothing has changed then.
        """
        return self._data.ground

    @ground.setter
    def ground(self, ground: AnyGround) -> None:
        known, rows = checked_ground(ground), self._data.rows()
        self._refuse_too_wide(known)
        if known is not self._data.ground:
            step_off(rows.state)
        self._data.ground = known
        wake(rows.state)

    def _refuse_too_wide(self, ground: AnyGround) -> None:
        refuse_any_too_wide(ground, self._data.rows().rules, [repr(key) for key in self.keys])

    # Which characters there are

    @property
    def keys(self) -> tuple[Key, ...]:
        """The keys of all characters, in the order in which they were added."""
        return tuple(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __iter__(self) -> Iterator[Key]:
        return iter(self._data)

    def __contains__(self, key: object) -> bool:
        return key in self._data

    def __getitem__(self, key: Key) -> GroupMember:
        self._data.place(key)
        return GroupMember(self._data, key)

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
        return seed_of(self._data.seed, checked_key(key))

    def add(
        self,
        key: Key,
        position: Any,
        *,
        collider: Collider | None = None,
        velocity: Any = None,
        rotation: Any = None,
        seed: int | np.random.Generator | None = None,
        material_rules: Mapping[Any, Mapping[str, float]] | None = None,
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
        material_rules : mapping, optional
            As for `CharacterMovement`; default: the group's.
        **rules
            As for `CharacterMovement`, such as ``slope_limit``; default: the group's.

        Raises
        ------
        TypeError, ValueError
            As for `CharacterMovement`, naming the key; for a key that is there already; and where
            neither the group nor the character has a collider.
        """
        name = checked_key(key)
        if name in self._data:
            raise ValueError(f"key must be new, got {_checks.shorten(name)} again")
        try:
            body = checked_collider(self._collider if collider is None else collider)
            row = self._first_row.copy()
            put_rules(row.rules, rules)
            own_rules = self._material_rules
            if material_rules is not None:
                own_rules = put_material_rules(row.rules, material_rules)
            linear = UPRIGHT if rotation is None else _checks.rotation("rotation", rotation)
            shape = placed_shape(self.ground, body, linear)
            place = _checks.vector("position", position)
            speed = _checks.vector("velocity", (0, 0, 0) if velocity is None else velocity)
            row.random[0] = self.seed_of(name) if seed is None else first_random_state(seed)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{name!r}: {error}") from None
        row.rules[: len(shape)], row.linear[:] = shape, linear
        row.state[POSITION] = row.state[LAST_PLACE] = unsigned_zeros(place)
        row.state[VELOCITY] = unsigned_zeros(speed)
        row.state[columns.DRIVEN] = float(velocity is not None)
        self._data.add(name, body, own_rules, row)

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
        self._data.remove(key)

    # The step

    def update(self, delta_time: float) -> GroupResult:
        """Advance all characters by one frame.

        Parameters
        ----------
        delta_time : float
            Seconds since the last update, >= 0; those beyond `max_delta` are left out. Zero does
            nothing.

        Returns
        -------
        GroupResult
            Its ``seconds`` say how long the update lasted.

        Raises
        ------
        TypeError, ValueError
            For a time that is no number, below 0, NaN or infinite, and for a body, naming its key,
            that covers too many cells of a map that was added to the ground. Nothing has changed
            then.
        """
        seconds = self._frame_time().lived(delta_time)
        rows = self._data.rows()
        state, rules, _, random, hits = rows
        count, logs, before = len(state), None, None
        if seconds == 0.0:
            nothing_new(state)
            return GroupResult(state.copy())
        if count > 0:
            queries = queries_of(self.ground)
            if queries.cell_sizes is not self._data.cell_sizes:  # maps came or went
                self._refuse_too_wide(self.ground)
                self._data.cell_sizes = queries.cell_sizes
            version = queries.version
            log = queries.changes
            before = Touched.by(state, queries).copy()
            # Kernels take rows one after another; these are views.
            states, flat_rules, draws = state.reshape(-1), rules.reshape(-1), random.reshape(-1)
            flat_hits = hits.reshape(-1)
            wake_near(states, flat_rules, log.rows, float(log.forgotten), float(version), 0, count)
            with queries.reading() as ground:
                if self._data.has_material_rules:
                    put_all_factors(self._data, queries, ground.table, self._threads)

                def advance(first: int, last: int) -> bool:
                    return update_characters(
                        states, draws, flat_rules, flat_hits, seconds, first, last, ground.table
                    )

                if any(Workers(self._threads).run(advance, count, _cost(state))):
                    logs = logs_of(rows, queries)
        self._frame_time().last = seconds
        return GroupResult(state.copy(), seconds, logs, before)

    # All at once

    @property
    def positions(self) -> Floats:
        """The positions (n, 3) in meters, a read-only copy; set them to move all characters."""
        return read_only(self._data.rows().state[:, POSITION].copy())

    @positions.setter
    def positions(self, positions: ArrayLike) -> None:
        self.set_positions(positions)

    @property
    def velocities(self) -> Floats:
        """The velocities (n, 3) in m/s, a read-only copy; set them to drive all characters."""
        return read_only(self._data.rows().state[:, VELOCITY].copy())

    @velocities.setter
    def velocities(self, velocities: ArrayLike) -> None:
        self.set_velocities(velocities)

    @property
    def world_velocities(self) -> Floats:
        """The velocities (n, 3) in m/s with those of the ground they stand on; read-only."""
        state = self._data.rows().state
        return read_only(state[:, VELOCITY] + state[:, CARRIED_VELOCITY])

    @property
    def grounded(self) -> Flags:
        """Whether each one stood on the ground at the end of its last update (n,), read-only."""
        return read_only(self._data.rows().state[:, columns.GROUNDED] != 0.0)

    @property
    def ground_normals(self) -> Floats:
        """The normals (n, 3) of the ground they stand on; NaN in the air; read-only."""
        return read_only(ground_normals(self._data.rows().state))

    def hits(self) -> MoveHits:
        """Return what the characters ran into in the last update, for sounds and damage.

        Returns
        -------
        MoveHits
            As of `CharacterMovement.hits`, at most 4 of each character; ordered by character.
        """
        return impacts_of(self._data.rows(), queries_of(self.ground))

    def set_positions(self, positions: ArrayLike, keys: Iterable[Key] | None = None) -> None:
        """Put characters somewhere: near, they are nudged, farther it is a teleport.

        See `CharacterView.position`.

        Parameters
        ----------
        positions : array_like, shape (n, 3)
            In meters.
        keys : iterable of str or int, optional
            Of which characters; default: all, in order.

        Raises
        ------
        KeyError
            For a key that is not there.
        TypeError, ValueError
            For another shape and numbers that are not finite, naming the first key. Nothing has
            changed then.
        """
        state, rows, places = self._checked_rows("positions", positions, keys)
        state[rows, POSITION] = places
        state[rows, columns.UNDISTURBED] = 0.0
        state[rows, columns.MOVED] = 1.0

    def teleport(
        self,
        positions: ArrayLike,
        velocities: ArrayLike | None = None,
        keys: Iterable[Key] | None = None,
    ) -> None:
        """Put characters somewhere else, however near: there they are in the air.

        Parameters
        ----------
        positions : array_like, shape (n, 3)
            In meters.
        velocities : array_like, shape (n, 3), optional
            In m/s; default: 0.
        keys : iterable of str or int, optional
            Of which characters; default: all, in order.

        Raises
        ------
        KeyError, TypeError, ValueError
            As for `set_positions`. Nothing has changed then.
        """
        rows, places, speeds = self._checked_places(positions, velocities, keys)
        state = self._data.rows().state
        moved = state[rows]
        put_in_air(moved, places, speeds)
        state[rows] = moved

    def reset(
        self,
        positions: ArrayLike,
        velocities: ArrayLike | None = None,
        keys: Iterable[Key] | None = None,
        seeds: Iterable[int] | None = None,
    ) -> None:
        """Let characters begin anew: they go on as new ones would, whatever became of them before.

        Their rules, their bodies and how these are turned stay.

        Parameters
        ----------
        positions : array_like, shape (n, 3)
            In meters.
        velocities : array_like, shape (n, 3), optional
            In m/s; default: 0.
        keys : iterable of str or int, optional
            Of which characters; default: all, in order.
        seeds : iterable of int, optional
            Where the shuffling of their contacts starts; default: `seed_of` each key.

        Raises
        ------
        KeyError, TypeError, ValueError
            As for `set_positions`, and for another number of seeds. Nothing has changed then.
        """
        names = self.keys if keys is None else _checks.listed("keys", keys)
        rows, places, speeds = self._checked_places(positions, velocities, names)
        given = map(self.seed_of, names) if seeds is None else seeds
        known = _checks.listed("seeds", given)
        if len(known) != len(names):
            raise ValueError(f"seeds must be {len(names)}, one for each, got {len(known)}")
        random_states = np.array([first_random_state(seed) for seed in known], dtype=np.uint64)
        all_rows = self._data.rows()
        reset = all_rows.at(rows)
        make_new(reset, places, speeds, random_states)
        all_rows.state[rows], all_rows.random[rows] = reset.state, reset.random

    def set_velocities(self, velocities: ArrayLike, keys: Iterable[Key] | None = None) -> None:
        """Drive characters.

        Parameters
        ----------
        velocities : array_like, shape (n, 3)
            In m/s.
        keys : iterable of str or int, optional
            Of which characters; default: all, in order.

        Raises
        ------
        KeyError
            For a key that is not there.
        TypeError, ValueError
            For another shape and numbers that are not finite, naming the first key. Nothing has
            changed then.
        """
        state, rows, speeds = self._checked_rows("velocities", velocities, keys)
        state[rows, VELOCITY] = speeds
        state[rows, columns.DRIVEN] = 1.0
        state[rows, columns.UNDISTURBED] = 0.0

    def __repr__(self) -> str:
        return f"<CharacterGroup: {len(self)} characters>"

    # State

    def state(self) -> GroupState:
        """Return everything that changes, exact.

        Returns
        -------
        GroupState
            Picklable; about 900 bytes for each character.
        """
        rows = self._data.rows().copy()
        wake(rows.state)  # whoever goes on from it does not know this ground
        return self._data.state_of(rows)

    def restore(self, state: GroupState) -> None:
        """Go back to a state, bit for bit, with the characters that there were then.

        Parameters
        ----------
        state : GroupState

        Raises
        ------
        TypeError, ValueError
            For something else, a damaged state, naming the first key, and one that a later version
            of the library saved. Nothing has changed then.
        """
        self._data.take_over(state)
        wake(self._data.rows().state)

    def state_hash(self) -> str:
        """Return 16 hexadecimal digits that are equal when two groups are, bit for bit.

        They do not depend on the order in which the characters were added.
        """
        parts = sorted(f"{type(key).__name__} {key}: {value}" for key, value in self.hashes())
        text = "\n".join([str(self._data.seed), *parts])
        return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=8).hexdigest()

    def hashes(self) -> Iterable[tuple[Key, str]]:
        """Return each key with the hash that a `CharacterMovement` in that state has.

        Returns
        -------
        iterable of (str or int, str)
            In order.
        """
        digits = state_hashes(self._data.rows().packed())
        return list(zip(self.keys, digits, strict=True))

    # Inside

    def _frame_time(self) -> FrameTime:
        return self._data.time

    def _checked_places(
        self, positions: ArrayLike, velocities: ArrayLike | None, keys: Iterable[Key] | None
    ) -> tuple[Longs, Floats, Floats]:
        """Return the rows of the keys, and finite positions and velocities for each."""
        names = None if keys is None else _checks.listed("keys", keys)
        _, rows, places = self._checked_rows("positions", positions, names)
        given = np.zeros_like(places) if velocities is None else velocities
        _, _, speeds = self._checked_rows("velocities", given, names)
        return rows, places, speeds

    def _checked_rows(
        self, name: str, values: ArrayLike, keys: Iterable[Key] | None
    ) -> tuple[Floats, Longs, Floats]:
        """Return the states of all, the rows of the keys, and three finite numbers for each."""
        state = self._data.rows().state
        names = self.keys if keys is None else _checks.listed("keys", keys)
        rows = (
            np.arange(len(names))
            if keys is None
            else np.array([self._data.place(key) for key in names], dtype=np.int64)
        )
        given = _checks.real_array(name, values)
        if given.shape != (len(names), 3):
            raise ValueError(f"{name} must have shape ({len(names)}, 3), got {given.shape}")
        for bad in np.flatnonzero(~np.isfinite(given).all(axis=1))[:1]:
            raise ValueError(f"{name} must be finite, got {given[bad].tolist()} for {names[bad]!r}")
        return state, rows, given + 0.0  # a zero has no sign

    def __getstate__(self) -> dict[str, Any]:
        """Characters of its own for a copy."""
        return self.__dict__ | {"_data": copy(self._data)}


def _cost(state: Floats) -> float:
    """Return how many nanoseconds an update takes, shared out among all characters, roughly."""
    rests = (state[:, columns.UNDISTURBED] != 0.0) & (state[:, columns.GROUNDED] != 0.0)
    moving = len(state) - np.count_nonzero(rests & ~state[:, VELOCITY].any(axis=1))
    return _RESTING_COST + _MOVING_COST * moving / len(state)
