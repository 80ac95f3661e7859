"""CharacterGroup: thousands of characters as arrays, moved by one call."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from terrain_physics import _checks
from terrain_physics._kernels.character import layout as columns
from terrain_physics._kernels.character.update import update_characters
from terrain_physics._kernels.types import Floats
from terrain_physics._threads import Workers
from terrain_physics.character.colliders import Collider
from terrain_physics.character.group_data import CrowdData, Key
from terrain_physics.character.member import CrowdMember
from terrain_physics.character.placement import AnyGround
from terrain_physics.character.state import LONGEST_STEP
from terrain_physics.surface.surface import queries_of

# So few that a thread is not worth its while.
_LEAST_AT_ONCE = 64


def _shown(values: NDArray[Any]) -> NDArray[Any]:
    """Return an array read-only: whoever writes to a copy of the group's state would be misled."""
    values.setflags(write=False)
    return values


class GroupResult(NamedTuple):
    """What one update of a group did; each array has a row for each key, in order.

    Attributes
    ----------
    grounded : ndarray of bool, shape (n,)
        Whether a character stands on walkable ground, or is wedged between steep slopes.
    ground_normals : ndarray of float64, shape (n, 3)
        The normals of the ground they stand on; NaN in the air.
    contacts : ndarray of int64, shape (n,)
        How many triangles hold each one up at the end.
    penetrations : ndarray of float64, shape (n,)
        The deepest penetrations left, in meters.
    converged : ndarray of bool, shape (n,)
        Whether they ended outside of the ground, to 1e-5 m.
    rounds : ndarray of int64, shape (n,)
        The most rounds of pushing that a step needed; 0 at rest.
    lifted : ndarray of float64, shape (n,)
        How far they were lifted straight up in this update, in meters.
    """

    grounded: NDArray[np.bool_]
    ground_normals: Floats
    contacts: NDArray[np.int64]
    penetrations: Floats
    converged: NDArray[np.bool_]
    rounds: NDArray[np.int64]
    lifted: Floats


class CharacterGroup(CrowdData):
    """Characters on one ground, each as if it were a `CharacterMovement` alone, bit for bit.

    They do not push each other. What happens to one depends on its key, its state and the ground:
    not on who else is there, the order in which they were added, or the number of threads.

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

    def __init__(
        self,
        ground: AnyGround,
        collider: Collider | None = None,
        *,
        seed: int = 0,
        threads: int | None = None,
        **rules: Any,
    ) -> None:
        super().__init__(ground, collider, seed, rules)
        with Workers(threads):  # refuses what is no number of threads
            self._threads = threads

    def __getitem__(self, key: Key) -> CrowdMember:
        self._row(key)
        return CrowdMember(self, key)

    # The step

    def update(self, delta_time: float) -> GroupResult:
        """Advance all characters by one frame.

        Parameters
        ----------
        delta_time : float
            Seconds since the last update, from 0 to 1. Zero does nothing.

        Returns
        -------
        GroupResult

        Raises
        ------
        TypeError, ValueError
            For a time that is no number, or outside 0..1. Nothing has changed then.
        """
        seconds = _checks.between("delta_time", delta_time, 0.0, LONGEST_STEP)
        self._compact()
        count = len(self)
        if seconds > 0.0 and count > 0:
            states, version = self._states[:count], queries_of(self._ground).version
            stale = states[:, columns.GROUND_VERSION] != version
            if stale.any():
                states[stale, columns.UNDISTURBED] = 0.0
                moved = np.maximum(states[stale, columns.MOVED], columns.GROUND_EDITED)
                states[stale, columns.MOVED] = moved
                states[:, columns.GROUND_VERSION] = version
            all_states, all_rules = self._states.reshape(-1), self._rules.reshape(-1)
            reading = queries_of(self._ground).reading()
            with reading as ground, Workers(self._threads) as workers:

                def advance(first: int, last: int) -> None:
                    update_characters(
                        all_states, self._randoms, all_rules, seconds, first, last, ground.table
                    )

                workers.run(advance, count, _LEAST_AT_ONCE)
        return self._result()

    def _result(self) -> GroupResult:
        states = self._states[: len(self)]
        grounded = states[:, columns.GROUNDED] != 0.0
        normals = states[:, columns.GROUND_NORMAL : columns.GROUND_NORMAL + 3] + 0.0
        normals[~grounded] = np.nan
        return GroupResult(
            grounded,
            normals,
            states[:, columns.CONTACTS].astype(np.int64),
            states[:, columns.PENETRATION].copy(),
            states[:, columns.CONVERGED] != 0.0,
            states[:, columns.ROUNDS].astype(np.int64),
            states[:, columns.LIFTED].copy(),
        )

    # All at once

    @property
    def positions(self) -> Floats:
        """The positions (n, 3) in meters, a read-only copy; set them to move all characters."""
        return self._columns(columns.POSITION)

    @positions.setter
    def positions(self, positions: ArrayLike) -> None:
        self.set_positions(positions)

    @property
    def velocities(self) -> Floats:
        """The velocities (n, 3) in m/s, a read-only copy; set them to drive all characters."""
        return self._columns(columns.VELOCITY)

    @velocities.setter
    def velocities(self, velocities: ArrayLike) -> None:
        self.set_velocities(velocities)

    @property
    def grounded(self) -> NDArray[np.bool_]:
        """Whether each one stood on the ground at the end of its last update (n,), read-only."""
        self._compact()
        return _shown(np.asarray(self._states[: len(self), columns.GROUNDED] != 0.0))

    @property
    def ground_normals(self) -> Floats:
        """The normals (n, 3) of the ground they stand on; NaN in the air; read-only."""
        self._compact()
        return _shown(self._result().ground_normals)

    def set_positions(self, positions: ArrayLike, keys: Iterable[Key] | None = None) -> None:
        """Put characters somewhere.

        Parameters
        ----------
        positions : array_like, shape (n, 3)
            In meters.
        keys : iterable of str or int, optional
            Whose; default: all, in order.

        Raises
        ------
        KeyError
            For a key that is not there.
        TypeError, ValueError
            For another shape and numbers that are not finite, naming the first key. Nothing has
            changed then.
        """
        rows, places = self._checked_rows("positions", positions, keys)
        self._states[rows, columns.POSITION : columns.POSITION + 3] = places
        self._disturb(rows)

    def set_velocities(self, velocities: ArrayLike, keys: Iterable[Key] | None = None) -> None:
        """Drive characters.

        Parameters
        ----------
        velocities : array_like, shape (n, 3)
            In m/s.
        keys : iterable of str or int, optional
            Whose; default: all, in order.

        Raises
        ------
        KeyError
            For a key that is not there.
        TypeError, ValueError
            For another shape and numbers that are not finite, naming the first key. Nothing has
            changed then.
        """
        rows, speeds = self._checked_rows("velocities", velocities, keys)
        self._states[rows, columns.VELOCITY : columns.VELOCITY + 3] = speeds
        self._states[rows, columns.DRIVEN] = 1.0
        self._states[rows, columns.UNDISTURBED] = 0.0

    def __repr__(self) -> str:
        return f"<CharacterGroup: {len(self)} characters>"

    # Inside

    def _columns(self, first: int) -> Floats:
        self._compact()
        return _shown(self._states[: len(self), first : first + 3].copy())

    def _checked_rows(
        self, name: str, values: ArrayLike, keys: Iterable[Key] | None
    ) -> tuple[NDArray[np.int64], Floats]:
        """Return the rows of keys, and three finite numbers for each."""
        self._compact()
        names = self.keys if keys is None else tuple(keys)
        rows = (
            np.arange(len(names))
            if keys is None
            else np.array([self._row(key) for key in names], dtype=np.int64)
        )
        given = _checks.real_array(name, values)
        if given.shape != (len(names), 3):
            raise ValueError(f"{name} must have shape ({len(names)}, 3), got {given.shape}")
        for bad in np.flatnonzero(~np.isfinite(given).all(axis=1))[:1]:
            raise ValueError(f"{name} must be finite, got {given[bad].tolist()} for {names[bad]!r}")
        return rows, given + 0.0  # a zero has no sign

    def _disturb(self, rows: NDArray[np.int64]) -> None:
        self._states[rows, columns.UNDISTURBED] = 0.0
        self._states[rows, columns.MOVED] = 1.0
