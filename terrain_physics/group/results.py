"""GroupResult: the result of one update of many characters, as arrays."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.character.state import layout as columns
from terrain_physics._kernels.types import Bools, Floats, Int64s
from terrain_physics._public import public
from terrain_physics.character.ground_contacts import GroundContacts
from terrain_physics.character.hits import Logs, MoveHits, same_values, spread
from terrain_physics.character.results import GROUND_STATES, LIMITS, Fields
from terrain_physics.character.rows import refuse_other_format, vectors
from terrain_physics.surface.results import columns_of


@public
class GroupResult(Fields):
    """Result of one update of a group; each array has a row for each key, in order.

    The arrays are read-only.

    Parameters
    ----------
    states : ndarray of float64, shape (n, k)
        Rows of state, which are not copied.
    seconds : float, default 0.0
        Length of the update.
    logs : Logs, optional
        Hits of the characters; None: no hits.
    before : GroundContacts, optional
        Their contacts with the ground before the update; None: unknown.
    waiting : ndarray of bool, shape (n,), optional
        Which of them waited for their ground; None: none.
    """

    __slots__ = ("_before", "_logs", "_made", "_seconds", "_states", "_waiting")
    __match_args__ = (
        "grounded",
        "ground_normals",
        "contacts",
        "penetrations",
        "converged",
        "limited_by",
        "rounds",
        "lifted",
        "seconds",
        "blocked",
        "blocked_by",
        "just_landed",
        "just_left",
        "just_hit",
        "material_changed",
        "turns",
        "squeezed",
        "squeezed_by",
        "waiting",
    )

    def __init__(
        self,
        states: Floats,
        seconds: float = 0.0,
        logs: Logs | None = None,
        before: GroundContacts | None = None,
        waiting: Bools | None = None,
    ) -> None:
        self._states, self._seconds, self._logs, self._before = states, seconds, logs, before
        self._waiting = waiting
        self._made: dict[str, Any] = {}

    def __getstate__(self) -> tuple[Any, ...]:
        events = self._blockers, self.just_hit, self.material_changed
        return columns.FORMAT, self._states, self._seconds, self._waiting, *events

    def __setstate__(self, content: tuple[Any, ...]) -> None:
        form, self._states, self._seconds, self._waiting, *events = content
        refuse_other_format("GroupResult", form)
        self._logs = self._before = None
        names = ("_blockers", "just_hit", "material_changed")
        self._made = dict(zip(names, events, strict=True))
        for flags in events[1:]:
            read_only(flags)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GroupResult):
            return NotImplemented
        pairs = zip(self._parts(), other._parts(), strict=True)
        return all(
            one == two if isinstance(one, MoveHits) else same_values(one, two) for one, two in pairs
        )

    __hash__ = None  # type: ignore[assignment]  # arrays have none

    @property
    def grounded(self) -> Bools:
        """Whether each stands on walkable ground, or is wedged between steep slopes (n,)."""
        return self._once("grounded", lambda states: states[:, columns.GROUNDED] != 0.0)

    @property
    def ground_normals(self) -> Floats:
        """The normals of the ground they stand on (n, 3); NaN in the air."""
        return self._once("ground_normals", ground_normals)

    @property
    def contacts(self) -> Int64s:
        """Count of triangles that hold each one up at the end (n,)."""
        return self._once("contacts", lambda states: states[:, columns.CONTACTS].astype(np.int64))

    @property
    def penetrations(self) -> Floats:
        """The deepest penetrations left, in meters (n,)."""
        return self._once("penetrations", lambda states: states[:, columns.PENETRATION].copy())

    @property
    def converged(self) -> Bools:
        """Whether they ended outside of the ground, and at the end of their displacements (n,)."""
        return self._once("converged", lambda states: states[:, columns.CONVERGED] != 0.0)

    @property
    def limited_by(self) -> NDArray[np.str_]:
        """The reason why each did not converge, as `MoveResult.limited_by` (n,); "" if it did."""
        return self._once("limited_by", _limits)

    @property
    def rounds(self) -> Int64s:
        """The most rounds of pushing that a step needed (n,); 0 at rest."""
        return self._once("rounds", lambda states: states[:, columns.ROUNDS].astype(np.int64))

    @property
    def lifted(self) -> Floats:
        """Distances that they were lifted straight up in this update, in meters (n,)."""
        return self._once("lifted", lambda states: states[:, columns.LIFTED].copy())

    @property
    def seconds(self) -> float:
        """Length of the update in seconds; at most `max_delta`."""
        return self._seconds

    @property
    def blocked(self) -> Bools:
        """Whether something was in the way of each, as `MoveResult.blocked` (n,)."""
        return self._once("blocked", self._find_blocked)

    @property
    def blocked_by(self) -> MoveHits:
        """The hit in the way of each, with n rows: NaN, -1 and "" where the way was free.

        As `MoveResult.blocked_by`.
        """
        if "blocked_by" not in self._made:
            self._made["blocked_by"] = spread(self._blockers, len(self._states))
        hits: MoveHits = self._made["blocked_by"]
        return hits

    @property
    def just_landed(self) -> Bools:
        """Whether they are grounded, and were not before this update (n,).

        As `MoveResult.just_landed`: not those that were made or teleported onto ground.
        """
        return self._once("just_landed", _landed)

    @property
    def just_left(self) -> Bools:
        """Whether they were grounded before this update, and are not any more (n,)."""
        return self._once("just_left", _left)

    @property
    def just_hit(self) -> Bools:
        """Whether each ran into something: it has a row of `CharacterGroup.hits` (n,)."""
        return self._once("just_hit", self._find_hitting)

    @property
    def material_changed(self) -> Bools:
        """Whether each stands on or touches another material than before this update (n,).

        Both materials are looked up when this is first read: they are those of the ground then.
        False for a character that was in the air before, which `just_landed` tells, or is in the
        air now.
        """
        return self._once("material_changed", self._find_changes)

    @property
    def turns(self) -> Floats:
        """Angles by which their moving bases have turned them about +Y, in radians (n,)."""
        return self._once("turns", lambda states: states[:, columns.TURN].copy())

    @property
    def squeezed(self) -> Floats:
        """Depth of each in the moving part that presses it hardest, in meters (n,).

        As `MoveResult.squeezed`; 0 where none does.
        """
        return self._once("squeezed", lambda states: _hardest(states)[0])

    @property
    def squeezed_by(self) -> Int64s:
        """The key of the moving part that presses each hardest (n,); -1 where none does."""
        return self._once("squeezed_by", lambda states: _hardest(states)[1])

    @property
    def waiting(self) -> Bools:
        """Whether the update left each as it was, as `MoveResult.waiting` (n,).

        In a group that collides, others walk against it as against one that cannot be pushed.
        """
        return self._once("waiting", self._find_waiting)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the arrays as columns of a table, as `RayHits.columns` does, a row for each key.

        ``seconds`` is no array, and `blocked_by` is a table of its own.
        """
        names = [name for name in self.__match_args__ if name not in {"seconds", "blocked_by"}]
        return columns_of({name: getattr(self, name) for name in names}, ("ground_normals",))

    @property
    def _blockers(self) -> MoveHits | None:
        """The hits in the way of the blocked characters, looked up once."""
        if "_blockers" not in self._made and self._logs is not None:
            self._made["_blockers"] = self._logs.blockers()
        hits: MoveHits | None = self._made.get("_blockers")
        return hits

    def _find_blocked(self, states: Floats) -> Bools:
        flags = np.zeros(len(states), dtype=np.bool_)
        if self._logs is not None:
            flags[self._logs.blocked()] = True
        elif (blockers := self._blockers) is not None:  # of a pickle
            flags[blockers.character] = True
        return flags

    def _find_hitting(self, states: Floats) -> Bools:
        flags = np.zeros(len(states), dtype=np.bool_)
        if self._logs is not None:
            flags[self._logs.hitting()] = True
        return flags

    def _find_waiting(self, states: Floats) -> Bools:
        return np.zeros(len(states), np.bool_) if self._waiting is None else self._waiting

    def _find_changes(self, states: Floats) -> Bools:
        if self._before is None:
            return np.zeros(len(states), dtype=np.bool_)
        return GroundContacts.by(states, self._before.queries).is_other_material(self._before)

    def _once(self, name: str, make: Callable[[Floats], NDArray[Any]]) -> NDArray[Any]:
        """Make a field when it is first read, and keep it: a game may read its rows one by one."""
        if name not in self._made:
            self._made[name] = read_only(make(self._states))
        values: NDArray[Any] = self._made[name]
        return values


def _hardest(states: Floats) -> tuple[Floats, Int64s]:
    """Return the deepest squeeze of each character: its depth, and the key of the part."""
    ends = columns.SQUEEZED + 3 * columns.MOST_SQUEEZING
    squeezes = states[:, columns.SQUEEZED : ends].reshape(-1, columns.MOST_SQUEEZING, 3)
    x, y, z = (squeezes[..., axis] for axis in range(3))
    depths = np.sqrt(x * x + y * y + z * z)
    hardest, every = depths.argmax(axis=1), np.arange(len(states))
    keys = states[every, columns.SQUEEZED_BY + hardest].astype(np.int64)
    return depths[every, hardest], keys


def _limits(states: Floats) -> NDArray[np.str_]:
    names = np.array([name or "" for name in LIMITS])
    return names[states[:, columns.LIMIT].astype(np.int64)]


def _landed(states: Floats) -> Bools:
    flags: Bools = (states[:, columns.GROUNDED] != 0.0) & (states[:, columns.WAS_GROUNDED] == 0.0)
    return flags


def _left(states: Floats) -> Bools:
    flags: Bools = (states[:, columns.GROUNDED] == 0.0) & (states[:, columns.WAS_GROUNDED] != 0.0)
    return flags


def ground_states(states: Floats) -> NDArray[np.str_]:
    """Return the kinds of ground of rows of state (n, STATE_SIZE), in words."""
    kinds = states[:, columns.GROUND_KIND].astype(np.int64)
    return np.array(GROUND_STATES).take(kinds)


def ground_normals(states: Floats) -> Floats:
    """Return the normals (n, 3) of the ground that rows of state stand on; NaN in the air."""
    off = np.where(states[:, columns.GROUNDED] != 0.0, 0.0, np.nan)
    return vectors(states, columns.GROUND_NORMAL, off)


def read_only(values: NDArray[Any]) -> NDArray[Any]:
    """Return an array read-only, because a write to the copy would move nothing."""
    values.setflags(write=False)
    return values
