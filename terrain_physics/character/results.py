"""Results: what an update did, and what a character stands on, as small immutable values.

They hold copies of rows of state. A field is made when it is read: updates cost nothing more when
results get new fields.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pyglm import glm

from terrain_physics._kernels.character import layout as columns
from terrain_physics._kernels.mesh.parts import ID_BITS
from terrain_physics._kernels.types import Flags, Floats, Longs
from terrain_physics._public import public
from terrain_physics.character.hits import (
    Log,
    Logs,
    MoveHit,
    MoveHits,
    blocker_of,
    same_values,
    spread,
)
from terrain_physics.character.rows import Row, plain_row, vectors
from terrain_physics.character.state import refuse_format
from terrain_physics.character.touched import Touched
from terrain_physics.surface.results import of_plain, plain

Limit = Literal["work", "depth", "room"]

# By the numbers of the column.
_LIMITS: tuple[Limit | None, ...] = (None, "work", "depth", "room")

_GROUND_STATES = ("airborne", "steep", "wedged", "grounded")


class _Fields:
    """Something with fields by name, which are its value."""

    __slots__ = ()
    __match_args__: ClassVar[tuple[str, ...]] = ()

    def _parts(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self.__match_args__)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(self._parts())

    def __repr__(self) -> str:
        fields = zip(self.__match_args__, self._parts(), strict=True)
        return f"{type(self).__name__}({', '.join(f'{name}={part!r}' for name, part in fields)})"


def _upgraded(what: str, form: int, states: Any) -> Floats:
    """Return rows of state (n, STATE_SIZE) that were pickled in some format."""
    refuse_format(what, form)
    return columns.STATE.upgraded(np.array(states, dtype=np.float64), form)


@public
class Squeeze(NamedTuple):
    """A moving part that presses a character against something that stands still.

    Attributes
    ----------
    part : int
        Its key in the ground.
    depth : float
        How deep the character is in it, in meters.
    """

    part: int
    depth: float


def squeezes_of(values: Sequence[float]) -> tuple[Squeeze, ...]:
    """Return what presses a character, of its row of state."""
    found = []
    for k in range(columns.MOST_SQUEEZING):
        start = columns.SQUEEZED + 3 * k
        x, y, z = values[start : start + 3]
        depth = math.sqrt(x * x + y * y + z * z)
        if depth > 0.0:
            found.append(Squeeze(int(values[columns.SQUEEZED_BY + k]), depth))
    return tuple(sorted(found, key=lambda squeeze: -squeeze.depth))


@public
class MoveResult(_Fields):
    """What one update of a character did.

    Parameters
    ----------
    values : array of float
        A row of state, kept as it is.
    seconds : float, default 0.0
        How long the update lasted.
    log : Log, optional
        What the character ran into, and its ground; None: nothing.
    """

    __slots__ = ("_met", "_seconds", "_values")
    __match_args__ = (
        "grounded",
        "ground_normal",
        "contacts",
        "penetration",
        "converged",
        "limited_by",
        "rounds",
        "lifted",
        "seconds",
        "blocked",
        "blocked_by",
        "just_landed",
        "just_left",
        "turn",
        "squeezed",
    )

    def __init__(self, values: Row, seconds: float = 0.0, log: Log | None = None) -> None:
        self._values, self._seconds = values, seconds
        self._met: Log | MoveHit | None = log

    def __getstate__(self) -> tuple[Any, ...]:
        hit = self.blocked_by
        return columns.FORMAT, self._values.tolist(), self._seconds, hit and plain(hit)

    def __setstate__(self, content: tuple[Any, ...]) -> None:
        form, values, self._seconds, *hit = content
        self._values = plain_row(_upgraded("MoveResult", form, [values])[0])
        self._met = of_plain(MoveHit, hit[0]) if hit and hit[0] else None

    @property
    def grounded(self) -> bool:
        """Whether the character stands on walkable ground, or is wedged between steep slopes."""
        return self._values[columns.GROUNDED] != 0.0

    @property
    def ground_normal(self) -> glm.vec3 | None:
        """The normal of the ground it stands on; None in the air."""
        return _vector(self._values, columns.GROUND_NORMAL) if self.grounded else None

    @property
    def contacts(self) -> int:
        """How many triangles hold it up at the end; those that a neighbor covers do not count."""
        return int(self._values[columns.CONTACTS])

    @property
    def penetration(self) -> float:
        """The deepest penetration left, in meters."""
        return self._values[columns.PENETRATION]

    @property
    def converged(self) -> bool:
        """Whether it ended outside of the ground, to 1e-5 m, and at the end of its way.

        If not, `limited_by` says why.
        """
        return self._values[columns.CONVERGED] != 0.0

    @property
    def limited_by(self) -> Limit | None:
        """Why it did not converge; None if it did.

        "depth": it is so far below the surface that it is still being lifted, at 30 m/s. "room": it
        is in something, and found no place to go to. "work": too many triangles were looked at, in
        all its steps together. It is where the last step before that left it, which may be where it
        was, with the velocity that it had there, as if less time had passed; and will go on from
        there.
        """
        return _LIMITS[int(self._values[columns.LIMIT])]

    @property
    def rounds(self) -> int:
        """The most rounds of gather, shuffle and push that a step needed; 0 at rest."""
        return int(self._values[columns.ROUNDS])

    @property
    def lifted(self) -> float:
        """How far it was lifted straight up in this update, in meters.

        It is lifted from below the ground, and where pushing out found no near way.
        """
        return self._values[columns.LIFTED]

    @property
    def seconds(self) -> float:
        """How long the update lasted, in seconds: less than it was given if above `max_delta`."""
        return self._seconds

    @property
    def blocked(self) -> bool:
        """Whether something was in the way, and took speed from it.

        The way is where the velocity led, but for falling: the ground that a body falls on, stands
        on or slides down does not block it, nor does a step that it climbs.
        """
        return self.blocked_by is not None

    @property
    def blocked_by(self) -> MoveHit | None:
        """What was in the way; of several, what took most speed; None where the way was free.

        Its ``speed`` is what it took, also in each later update in which the character pushes on.
        Its ``reason`` is "steep": ground too steep to walk up; "wall": upright, or leaning over;
        "step": a riser with walkable ground on top, lower than the body and higher than
        `step_offset`; "ceiling": facing down, or all higher than the body's center; "edge": the
        side of a map, where its ground ends.

        Id and material are looked up as it is first read: they are those of the ground then.
        """
        if self._met is not None and not isinstance(self._met, MoveHit):
            self._met = blocker_of(self._met, int(self._values[columns.HITS]))
        hit = self._met
        # Its vectors are the reader's, who may change them.
        return hit and hit._replace(point=glm.vec3(hit.point), normal=glm.vec3(hit.normal))

    @property
    def just_landed(self) -> bool:
        """Whether it is grounded, and was not before this update.

        Who lands and leaves the ground again within one update has not landed: see
        `CharacterMovement.hits`, which has the hit on the ground.
        """
        return self.grounded and self._values[columns.WAS_GROUNDED] == 0.0

    @property
    def just_left(self) -> bool:
        """Whether it was grounded before this update, and is not any more."""
        return not self.grounded and self._values[columns.WAS_GROUNDED] != 0.0

    @property
    def turn(self) -> float:
        """How far the part that it stood on has turned it about +Y in this update, in radians."""
        return self._values[columns.TURN]

    @property
    def squeezed(self) -> tuple[Squeeze, ...]:
        """Which moving parts press it against something that stands still; the hardest first.

        It stays out of what stands still, and is in these parts so deep: they yield to it, and hold
        it up or stop it as if they were so much farther back. At most 2.
        """
        return squeezes_of(self._values)


@public
class GroundReport(_Fields):
    """What a character stands on or touches, as of its last update.

    Parameters
    ----------
    values : array of float
        A row of state, kept as it is.
    triangle : int
        The id of the triangle touched; -1 in the air, and outside a map.
    material : int
        What the ground is made of there.
    """

    __slots__ = ("_material", "_triangle", "_values")
    __match_args__ = (
        "state",
        "normal",
        "point",
        "triangle",
        "material",
        "slope",
        "air_time",
        "landing_speed",
        "part",
        "velocity",
    )

    def __init__(self, values: Row, triangle: int, material: int) -> None:
        self._values, self._triangle, self._material = values, triangle, material

    def __getstate__(self) -> tuple[int, list[float], int, int]:
        return columns.FORMAT, self._values.tolist(), self._triangle, self._material

    def __setstate__(self, content: tuple[int, list[float], int, int]) -> None:
        form, values, self._triangle, self._material = content
        self._values = plain_row(_upgraded("GroundReport", form, [values])[0])

    @property
    def state(self) -> str:
        """One of "grounded", "wedged", "steep" and "airborne".

        On walkable ground; held between slopes too steep to walk on; touching such a slope, down
        which it slides; touching no ground.
        """
        return _GROUND_STATES[int(self._values[columns.GROUND_KIND])]

    @property
    def normal(self) -> glm.vec3 | None:
        """The unit normal of that ground; None in the air."""
        return _vector(self._values, columns.GROUND_NORMAL) if self._touches else None

    @property
    def point(self) -> glm.vec3 | None:
        """Where the body touches it, in meters; None in the air."""
        return _vector(self._values, columns.GROUND_POINT) if self._touches else None

    @property
    def triangle(self) -> int:
        """The id of the triangle touched; -1 in the air, and outside a map."""
        return self._triangle

    @property
    def material(self) -> int:
        """What the ground is made of there; outside a map the cell nearest to the point.

        0 where the ground does not say.
        """
        return self._material

    @property
    def slope(self) -> float | None:
        """How steep the ground is, in radians from 0 to pi / 2; None in the air."""
        if not self._touches:
            return None
        x, y, z = self._values[columns.GROUND_NORMAL : columns.GROUND_NORMAL + 3]
        return math.atan2(math.hypot(x, z), y)

    @property
    def air_time(self) -> float:
        """Seconds since it was grounded or wedged, or since its first update; 0 while it is."""
        return self._values[columns.AIR_TIME]

    @property
    def landing_speed(self) -> float:
        """How fast it fell when it landed last, in m/s; 0 before it ever did."""
        return self._values[columns.LANDING_SPEED]

    @property
    def part(self) -> int:
        """The key of that part of a `Ground`; 0 of another ground; -1 as ``triangle`` is."""
        return self._triangle >> ID_BITS

    @property
    def velocity(self) -> glm.vec3:
        """How the part that it stands on moves there, in m/s; 0 where that stands still."""
        return _vector(self._values, columns.CARRIED_VELOCITY)

    @property
    def _touches(self) -> bool:
        return self._values[columns.GROUND_KIND] != columns.AIRBORNE


@public
class GroupResult(_Fields):
    """What one update of a group did; each array has a row for each key, in order.

    The arrays are read-only.

    Parameters
    ----------
    states : ndarray of float64, shape (n, k)
        Rows of state, kept as they are.
    seconds : float, default 0.0
        How long the update lasted.
    logs : Logs, optional
        What the characters ran into; None: nothing.
    before : Touched, optional
        What they stood on or touched before the update; None: nothing that is known.
    """

    __slots__ = ("_before", "_logs", "_made", "_seconds", "_states")
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
    )

    def __init__(
        self,
        states: Floats,
        seconds: float = 0.0,
        logs: Logs | None = None,
        before: Touched | None = None,
    ) -> None:
        self._states, self._seconds, self._logs, self._before = states, seconds, logs, before
        self._made: dict[str, Any] = {}

    def __getstate__(self) -> tuple[Any, ...]:
        events = self._blockers, self.just_hit, self.material_changed
        return columns.FORMAT, self._states, self._seconds, *events

    def __setstate__(self, content: tuple[Any, ...]) -> None:
        form, states, self._seconds, *events = content
        self._states = _upgraded("GroupResult", form, states)
        self._logs = self._before = None
        names = ("_blockers", "just_hit", "material_changed")
        self._made = dict(zip(names, events, strict=False))  # earlier ones hold fewer
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
    def grounded(self) -> Flags:
        """Whether each stands on walkable ground, or is wedged between steep slopes (n,)."""
        return self._once("grounded", lambda states: states[:, columns.GROUNDED] != 0.0)

    @property
    def ground_normals(self) -> Floats:
        """The normals of the ground they stand on (n, 3); NaN in the air."""
        return self._once("ground_normals", ground_normals)

    @property
    def contacts(self) -> Longs:
        """How many triangles hold each one up at the end (n,)."""
        return self._once("contacts", lambda states: states[:, columns.CONTACTS].astype(np.int64))

    @property
    def penetrations(self) -> Floats:
        """The deepest penetrations left, in meters (n,)."""
        return self._once("penetrations", lambda states: states[:, columns.PENETRATION].copy())

    @property
    def converged(self) -> Flags:
        """Whether they ended outside of the ground, and at the end of their ways (n,)."""
        return self._once("converged", lambda states: states[:, columns.CONVERGED] != 0.0)

    @property
    def limited_by(self) -> NDArray[np.str_]:
        """Why each did not converge, as of `MoveResult.limited_by` (n,); "" if it did."""
        return self._once("limited_by", _limits)

    @property
    def rounds(self) -> Longs:
        """The most rounds of pushing that a step needed (n,); 0 at rest."""
        return self._once("rounds", lambda states: states[:, columns.ROUNDS].astype(np.int64))

    @property
    def lifted(self) -> Floats:
        """How far they were lifted straight up in this update, in meters (n,)."""
        return self._once("lifted", lambda states: states[:, columns.LIFTED].copy())

    @property
    def seconds(self) -> float:
        """How long the update lasted, in seconds: less than it was given if above `max_delta`."""
        return self._seconds

    @property
    def blocked(self) -> Flags:
        """Whether something was in the way of each, as of `MoveResult.blocked` (n,)."""
        return self._once("blocked", self._find_blocked)

    @property
    def blocked_by(self) -> MoveHits:
        """What was in the way of each, with n rows: NaN, -1 and "" where the way was free.

        As of `MoveResult.blocked_by`.
        """
        if "blocked_by" not in self._made:
            self._made["blocked_by"] = spread(self._blockers, len(self._states))
        hits: MoveHits = self._made["blocked_by"]
        return hits

    @property
    def just_landed(self) -> Flags:
        """Whether they are grounded, and were not before this update (n,)."""
        return self._once("just_landed", _landed)

    @property
    def just_left(self) -> Flags:
        """Whether they were grounded before this update, and are not any more (n,)."""
        return self._once("just_left", _left)

    @property
    def just_hit(self) -> Flags:
        """Whether each ran into something: it has a row of `CharacterGroup.hits` (n,)."""
        return self._once("just_hit", self._find_hitting)

    @property
    def material_changed(self) -> Flags:
        """Whether each stands on or touches another material than before this update (n,).

        Both materials are looked up as this is first read: they are those of the ground then. False
        where it came from the air, which `just_landed` tells, and where it is in the air now.
        """
        return self._once("material_changed", self._find_changes)

    @property
    def turns(self) -> Floats:
        """How far the parts that they stood on have turned them about +Y, in radians (n,)."""
        return self._once("turns", lambda states: states[:, columns.TURN].copy())

    @property
    def squeezed(self) -> Floats:
        """How deep each is in the moving part that presses it hardest, in meters (n,).

        As of `MoveResult.squeezed`; 0 where none does.
        """
        return self._once("squeezed", lambda states: _hardest(states)[0])

    @property
    def squeezed_by(self) -> Longs:
        """The key of that part (n,); -1 where none presses."""
        return self._once("squeezed_by", lambda states: _hardest(states)[1])

    @property
    def _blockers(self) -> MoveHits | None:
        """What was in the way of those that were blocked, looked up once."""
        if "_blockers" not in self._made and self._logs is not None:
            self._made["_blockers"] = self._logs.blockers()
        hits: MoveHits | None = self._made.get("_blockers")
        return hits

    def _find_blocked(self, states: Floats) -> Flags:
        flags = np.zeros(len(states), dtype=np.bool_)
        if self._logs is not None:
            flags[self._logs.blocked()] = True
        elif (blockers := self._blockers) is not None:  # of a pickle
            flags[blockers.character] = True
        return flags

    def _find_hitting(self, states: Floats) -> Flags:
        flags = np.zeros(len(states), dtype=np.bool_)
        if self._logs is not None:
            flags[self._logs.hitting()] = True
        return flags

    def _find_changes(self, states: Floats) -> Flags:
        if self._before is None:
            return np.zeros(len(states), dtype=np.bool_)
        return Touched.by(states, self._before.queries).is_other_material(self._before)

    def _once(self, name: str, make: Callable[[Floats], NDArray[Any]]) -> NDArray[Any]:
        """Make a field when it is first read: a game may read its rows one by one."""
        if name not in self._made:
            self._made[name] = read_only(make(self._states))
        values: NDArray[Any] = self._made[name]
        return values


def _hardest(states: Floats) -> tuple[Floats, Longs]:
    """Return what presses each character hardest: how deep it is in that, and its key."""
    ends = columns.SQUEEZED + 3 * columns.MOST_SQUEEZING
    ways = states[:, columns.SQUEEZED : ends].reshape(-1, columns.MOST_SQUEEZING, 3)
    depths = np.sqrt(ways[..., 0] ** 2 + ways[..., 1] ** 2 + ways[..., 2] ** 2)
    hardest, every = depths.argmax(axis=1), np.arange(len(states))
    keys = states[every, columns.SQUEEZED_BY + hardest].astype(np.int64)
    return depths[every, hardest], keys


def _limits(states: Floats) -> NDArray[np.str_]:
    names = np.array([name or "" for name in _LIMITS])
    return names[states[:, columns.LIMIT].astype(np.int64)]


def _landed(states: Floats) -> Flags:
    flags: Flags = (states[:, columns.GROUNDED] != 0.0) & (states[:, columns.WAS_GROUNDED] == 0.0)
    return flags


def _left(states: Floats) -> Flags:
    flags: Flags = (states[:, columns.GROUNDED] == 0.0) & (states[:, columns.WAS_GROUNDED] != 0.0)
    return flags


def nothing_new(states: Floats) -> None:
    """Forget in rows of state (..., STATE_SIZE) what happened in the last update alone."""
    states[..., columns.WAS_GROUNDED] = states[..., columns.GROUNDED]
    states[..., columns.HITS] = 0.0


def ground_states(states: Floats) -> NDArray[np.str_]:
    """Return how rows of state (n, STATE_SIZE) stand, in words."""
    kinds = states[:, columns.GROUND_KIND].astype(np.int64)
    return np.array(_GROUND_STATES).take(kinds)


def ground_normals(states: Floats) -> Floats:
    """Return the normals (n, 3) of the ground that rows of state stand on; NaN in the air."""
    off = np.where(states[:, columns.GROUNDED] != 0.0, 0.0, np.nan)
    return vectors(states, columns.GROUND_NORMAL, off)


def read_only(values: NDArray[Any]) -> NDArray[Any]:
    """Return an array read-only: what a game writes to a copy would move nothing."""
    values.setflags(write=False)
    return values


def _vector(values: Row, start: int) -> glm.vec3:
    return glm.vec3(values[start], values[start + 1], values[start + 2]) + 0.0
