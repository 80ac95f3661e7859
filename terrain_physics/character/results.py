"""Results of a character's update, and the report of its ground, as small immutable values.

They hold copies of rows of state. A field is computed when it is read, so that more fields make no
update slower.
"""

import math
from array import array
from collections.abc import Sequence
from typing import Any, ClassVar, Literal, NamedTuple, cast

from pyglm import glm

from terrain_physics._kernels.character.state import layout as columns
from terrain_physics._kernels.mesh.parts import ID_BITS
from terrain_physics._public import PublicType, public, quick
from terrain_physics._support.angles import slope
from terrain_physics.character.hits import (
    Log,
    MoveHit,
    blocker_of,
)
from terrain_physics.character.rows import Row, refuse_other_format
from terrain_physics.surface.results import of_plain, plain

Limit = Literal["work", "depth", "room"]

# The words of limits by their numbers in the column.
LIMITS = (None, *cast("tuple[Limit, ...]", columns.STATE.words("limit")[1:]))
GROUND_STATES = columns.STATE.words("ground_kind")


class Fields(metaclass=PublicType):
    """Base of values that consist of named fields."""

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


@public
class Squeeze(NamedTuple):
    """A moving part that presses a character against ground that stands still.

    Attributes
    ----------
    part : int
        Its key in the ground.
    depth : float
        Depth of the character in the part, in meters.
    """

    part: int
    depth: float


def squeezes_of(values: Sequence[float]) -> tuple[Squeeze, ...]:
    """Return the parts that press a character, from its row of state."""
    found = []
    for k in range(columns.MOST_SQUEEZING):
        start = columns.SQUEEZED + 3 * k
        x, y, z = values[start : start + 3]
        depth = math.sqrt(x * x + y * y + z * z)
        if depth > 0.0:
            found.append(Squeeze(int(values[columns.SQUEEZED_BY + k]), depth))
    return tuple(sorted(found, key=lambda squeeze: -squeeze.depth))


@public
class MoveResult(Fields):
    """Result of one update of a character.

    Parameters
    ----------
    values : array of float
        A row of state, which is not copied.
    seconds : float, default 0.0
        Length of the update.
    log : Log, optional
        Hits of the character, and its ground; None: no hits.
    waiting : bool, default False
        Whether the character waited for its ground.
    """

    __slots__ = ("_met", "_seconds", "_values", "_waiting")
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
        "waiting",
    )

    @quick
    def __init__(
        self, values: Row, seconds: float = 0.0, log: Log | None = None, *, waiting: bool = False
    ) -> None:
        self._values, self._seconds, self._waiting = values, seconds, waiting
        self._met: Log | MoveHit | None = log

    def __getstate__(self) -> tuple[Any, ...]:
        hit, values = self.blocked_by, self._values.tolist()
        return columns.FORMAT, values, self._seconds, hit and plain(hit), self._waiting

    def __setstate__(self, content: tuple[Any, ...]) -> None:
        form, values, self._seconds, hit, self._waiting = content
        refuse_other_format("MoveResult", form)
        self._values = array("d", values)
        self._met = of_plain(MoveHit, hit) if hit else None

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
        """Count of triangles that hold it up at the end, without those that a neighbor covers."""
        return int(self._values[columns.CONTACTS])

    @property
    def penetration(self) -> float:
        """The deepest penetration left, in meters."""
        return self._values[columns.PENETRATION]

    @property
    def converged(self) -> bool:
        """Whether it ended outside of the ground, to 1e-5 m, and at the end of its displacement.

        If not, `limited_by` is the reason.
        """
        return self._values[columns.CONVERGED] != 0.0

    @property
    def limited_by(self) -> Limit | None:
        """The reason why it did not converge; None if it did.

        "depth": it is so far below the surface that it is still being lifted, or so deep in a solid
        mesh that it is still being taken out, at 30 m/s. "room": it is in the ground, and found no
        free place nearby. "work": its steps visited too many triangles. Then it is where the last
        complete step left it, which may be where it was before the update, with the velocity that
        it had there, as if less time had passed. The next update goes on from there.
        """
        return LIMITS[int(self._values[columns.LIMIT])]

    @property
    def rounds(self) -> int:
        """The most rounds of gather, shuffle and push that a step needed; 0 at rest."""
        return int(self._values[columns.ROUNDS])

    @property
    def lifted(self) -> float:
        """Distance that it was lifted straight up in this update, in meters.

        It is lifted from below the ground, and if pushing out found no place nearby. Of a body that
        was inside of a solid mesh: how far it was taken on its way out, whichever way.
        """
        return self._values[columns.LIFTED]

    @property
    def seconds(self) -> float:
        """Length of the update in seconds; at most `max_delta`."""
        return self._seconds

    @property
    def blocked(self) -> bool:
        """Whether something was in its way and took speed from it.

        Falling does not count: the ground that a body falls on, stands on or slides down does not
        block it, nor does a step that it climbs.
        """
        return self.blocked_by is not None

    @property
    def blocked_by(self) -> MoveHit | None:
        """The hit on the surface in its way that took the most speed; None if the way was free.

        Its ``speed`` is the speed taken, in each update in which the character pushes on. Its
        ``reason`` is "steep": ground too steep to walk up; "wall": upright, or leaning over;
        "step": a riser with walkable ground on top, lower than the body and higher than
        `step_offset`; "ceiling": facing down, or wholly higher than the body's center; "edge": the
        side of a map, where its ground ends; "character": another one of a group that collides.

        Id and material are looked up when it is first read: they are those of the ground then.
        """
        if self._met is not None and not isinstance(self._met, MoveHit):
            self._met = blocker_of(self._met, int(self._values[columns.HITS]))
        hit = self._met
        # Copies: the reader may change the vectors.
        return hit and hit._replace(point=glm.vec3(hit.point), normal=glm.vec3(hit.normal))

    @property
    def just_landed(self) -> bool:
        """Whether it is grounded, and was not before this update.

        One that was made or teleported where it touches walkable ground stands there, and has not
        landed. One that lands and leaves the ground again within one update has not landed either,
        but `CharacterMovement.hits` has the hit on the ground.
        """
        return self.grounded and self._values[columns.WAS_GROUNDED] == 0.0

    @property
    def just_left(self) -> bool:
        """Whether it was grounded before this update, and is not any more."""
        return not self.grounded and self._values[columns.WAS_GROUNDED] != 0.0

    @property
    def turn(self) -> float:
        """Angle by which its moving base has turned it about +Y in this update, in radians."""
        return self._values[columns.TURN]

    @property
    def squeezed(self) -> tuple[Squeeze, ...]:
        """The moving parts that press it against still ground, the hardest first; at most 2.

        It stays out of still ground, and so it is in these parts. They yield to it: they hold it up
        or stop it as if they were farther back by its depth in them. That is so until the way back
        is free, the part is gone, or its box has passed the box around the character.
        """
        return squeezes_of(self._values)

    @property
    def waiting(self) -> bool:
        """Whether the update left it as it was, because ground that it needed is not loaded yet.

        Its velocity stays, ``seconds`` are 0, and it goes on as soon as the ground is there. False
        on all grounds but one that is loaded in parts.
        """
        return self._waiting


@public
class GroundReport(Fields):
    """The ground that a character stands on or touches, as of its last update.

    Parameters
    ----------
    values : array of float
        A row of state, which is not copied.
    triangle : int
        The id of the triangle touched; -1 in the air, and outside a map.
    material : int
        The material of the ground there.
    material_name, part_name : str, optional
        The names of the material and of the part.
    """

    __slots__ = ("_material", "_material_name", "_part_name", "_triangle", "_values")
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
        "material_name",
        "part_name",
    )

    @quick
    def __init__(
        self,
        values: Row,
        triangle: int,
        material: int,
        material_name: str | None = None,
        part_name: str | None = None,
    ) -> None:
        self._values, self._triangle, self._material = values, triangle, material
        self._material_name, self._part_name = material_name, part_name

    def __getstate__(self) -> tuple[Any, ...]:
        values, names = self._values.tolist(), (self._material_name, self._part_name)
        return columns.FORMAT, values, self._triangle, self._material, *names

    def __setstate__(self, content: tuple[Any, ...]) -> None:
        form, values, self._triangle, self._material, *names = content
        self._material_name, self._part_name = names
        refuse_other_format("GroundReport", form)
        self._values = array("d", values)

    @property
    def state(self) -> str:
        """One of "grounded", "wedged", "steep", "airborne" and "character".

        "grounded": on walkable ground. "wedged": held between slopes too steep to walk on. "steep":
        touching such a slope, down which it slides. "airborne": touching no ground. "character": on
        top of another character of its group.
        """
        return GROUND_STATES[int(self._values[columns.GROUND_KIND])]

    @property
    def normal(self) -> glm.vec3 | None:
        """The unit normal of that ground; None in the air."""
        return _vector(self._values, columns.GROUND_NORMAL) if self._touches else None

    @property
    def point(self) -> glm.vec3 | None:
        """The point where the body touches it, in meters; None in the air."""
        return _vector(self._values, columns.GROUND_POINT) if self._touches else None

    @property
    def triangle(self) -> int:
        """The id of the triangle touched; -1 in the air, and outside a map."""
        return self._triangle

    @property
    def material(self) -> int:
        """The material of the ground there, outside a map of the cell nearest to the point.

        0 if the ground has no materials.
        """
        return self._material

    @property
    def material_name(self) -> str | None:
        """The name of that material; None if it has none, and in the air."""
        return self._material_name

    @property
    def slope(self) -> float | None:
        """The slope of the ground, in radians from 0 to pi / 2; None in the air."""
        if not self._touches:
            return None
        x, y, z = self._values[columns.GROUND_NORMAL : columns.GROUND_NORMAL + 3]
        return slope(x, y, z)

    @property
    def air_time(self) -> float:
        """Seconds since it was grounded or wedged, or since its first update; 0 while it is."""
        return self._values[columns.AIR_TIME]

    @property
    def landing_speed(self) -> float:
        """The speed of its fall when it landed last, in m/s; 0 before its first landing."""
        return self._values[columns.LANDING_SPEED]

    @property
    def part(self) -> int:
        """The key of the part of a `Ground` touched; 0 of another ground; -1 as ``triangle`` is."""
        return self._triangle >> ID_BITS

    @property
    def part_name(self) -> str | None:
        """The name of that part; None if it has none, and where ``part`` is -1."""
        return self._part_name

    @property
    def velocity(self) -> glm.vec3:
        """The velocity there of the part that it stands on, in m/s; 0 if the part stands still."""
        return _vector(self._values, columns.BASE_VELOCITY)

    @property
    def _touches(self) -> bool:
        return self._values[columns.GROUND_KIND] != columns.AIRBORNE


def _vector(values: Row, start: int) -> glm.vec3:
    return glm.vec3(values[start], values[start + 1], values[start + 2]) + 0.0
