"""CharacterMovement: a body that falls, lands, stands and walks on a height map."""

import hashlib
import math
import struct
from collections.abc import Callable
from typing import Any, Self, overload

import numpy as np
from pyglm import glm

from terrain_physics import _arrays
from terrain_physics._arrays import Floats3, Floats9
from terrain_physics._kernels import character as kernels
from terrain_physics.character_state import (
    MOST_ROUNDS,
    CharacterState,
    LiveVec3,
    first_random_state,
    move_result,
    refuse_rules,
)
from terrain_physics.colliders import BoxCollider, Collider, SphereCollider
from terrain_physics.contacts import MoveResult
from terrain_physics.heightmap import HeightMap
from terrain_physics.owner import Owner

_RULES = ("contact", "sum")
_RESOLVERS = ("shuffled",)
_UPRIGHT: Floats9 = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
_ZERO: Floats3 = (0.0, 0.0, 0.0)

_POSITION = slice(kernels.POSITION, kernels.POSITION + 3)
_VELOCITY = slice(kernels.VELOCITY, kernels.VELOCITY + 3)
_GROUND_NORMAL = slice(kernels.GROUND_NORMAL, kernels.GROUND_NORMAL + 3)

# A body over more cells than this wants a coarser map: an update would take a second.
MOST_CELLS = 250_000

LONGEST_STEP = 1.0

# The attributes of a character that are vectors of PyGLM.
_VECTORS = ("_position", "_velocity", "_shown_position", "_shown_velocity")


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
    def __get__(self, mover: "CharacterMovement", owner: type) -> float: ...
    def __get__(self, mover: "CharacterMovement | None", owner: type) -> "Self | float":
        return self if mover is None else float(mover._rules[self._index])  # noqa: SLF001

    def __set__(self, mover: "CharacterMovement", value: float) -> None:
        mover._set_rule(self._index, self._check(self._name, value))  # noqa: SLF001


class CharacterMovement:
    """Moves a body under gravity and keeps it out of the ground.

    Each `update` falls, moves in steps so short that nothing is passed unseen, pushes the body out
    of the ground, decides whether it is grounded, and takes the velocity into the ground away. At
    rest the position stays the same, bit for bit, until the game disturbs it.

    Parameters
    ----------
    ground : HeightMap
        What to stand on.
    collider : SphereCollider or BoxCollider
        The body; it turns and scales with its owner.
    position : three numbers, default (0, 0, 0)
        Where the body starts, in meters. To be left out with an owner, whose position it is then.
    rotation : glm.quat, glm.mat3 or 3 x 3 array, optional
        How the body is turned. To be left out with an owner that has a rotation.
    owner : object, optional
        Has ``position``, and may have ``rotation`` (quat or mat3) and ``scale`` (a number or
        three), or instead of all of them ``transform`` (a 4 x 4 matrix). Its position is read
        before and written after each update, in the type it has; what the game writes is obeyed.
    seed : int or numpy.random.Generator, default 0
        Where the shuffling of contacts starts. A generator gives one draw of 64 bits.
    gravity : float, default 9.81
        Downward, in m/s^2.
    gravity_scale : float, default 1.0
        Factor on gravity for this character.
    slope_limit : float, default 30 degrees
        Steepest walkable slope in radians, from 0 to pi / 2.
    ground_rule : {"contact", "sum"}, default "contact"
        Grounded when some contact is walkable or the body is wedged between steep ones; or when
        +Y plus the normals of all triangles touched, summed up, is within the slope limit of +Y.
    ground_friction : float, default 20.0
        How fast horizontal speed falls on the ground, in m/s^2, unless the game set the velocity.
    resolver : {"shuffled"}, default "shuffled"
        Contacts are pushed out one after another in random order.
    max_rounds : int, default 16
        After this many rounds of pushing out, the body is lifted straight up instead; >= 1.

    Examples
    --------
    >>> from terrain_physics import HeightMap
    >>> floor = HeightMap([[0, 0], [0, 0]])
    >>> mover = CharacterMovement(floor, SphereCollider(0.5), position=(0.5, 2, 0.5))
    >>> for frame in range(60):
    ...     result = mover.update(1 / 60)
    >>> result.grounded, mover.position
    (True, vec3( 0.5, 0.5, 0.5 ))
    >>> mover.velocity.x = 3
    >>> mover.update(1 / 60).grounded, round(mover.position.x, 3)
    (True, 0.55)
    """

    gravity = _Rule(kernels.GRAVITY, _arrays.finite)
    gravity_scale = _Rule(kernels.GRAVITY_SCALE, _arrays.finite)
    ground_friction = _Rule(kernels.FRICTION, _arrays.non_negative)

    def __init__(
        self,
        ground: HeightMap,
        collider: Collider,
        *,
        position: Any = None,
        rotation: Any = None,
        owner: Any = None,
        seed: int | np.random.Generator = 0,
        gravity: float = 9.81,
        gravity_scale: float = 1.0,
        slope_limit: float = math.radians(30),
        ground_rule: str = "contact",
        ground_friction: float = 20.0,
        resolver: str = "shuffled",
        max_rounds: int = 16,
    ) -> None:
        if not isinstance(ground, HeightMap):
            raise TypeError(f"ground must be a HeightMap, got {_arrays.shorten(ground)}")
        if not isinstance(collider, (SphereCollider, BoxCollider)):
            raise TypeError(f"collider must be a sphere or a box, got {_arrays.shorten(collider)}")
        _arrays.choice("resolver", resolver, _RESOLVERS)
        self._ground = ground
        self._collider = collider
        self._owner = None if owner is None else Owner(owner)
        self._state = np.zeros(kernels.STATE_SIZE)
        self._state[kernels.CONVERGED] = 1.0
        self._rules = np.zeros(kernels.RULES_SIZE)
        self._random = np.array([first_random_state(seed)], dtype=np.uint64)

        self.gravity = gravity
        self.gravity_scale = gravity_scale
        self.slope_limit = slope_limit
        self.ground_rule = ground_rule
        self.ground_friction = ground_friction
        self.max_rounds = max_rounds

        start, linear = _ZERO, None
        if self._owner is not None:
            if position is not None:
                raise ValueError("position must be left to the owner where there is one")
            start, linear = self._owner.position(), self._owner.linear()
        elif position is not None:
            start = _arrays.vector("position", position)
        if rotation is not None:
            if linear is not None:
                raise ValueError("rotation must be left to the owner that has one")
            linear = _arrays.rotation("rotation", rotation)
        self._place(linear or _UPRIGHT)
        self._state[_POSITION] = start
        # What readers of the live vectors and of the owner see, to tell later what they wrote.
        self._position, self._velocity = LiveVec3(), LiveVec3()
        self._shown_position = self._position.show(start)
        self._shown_velocity = self._velocity.show(_ZERO)
        self._owner_place = self._shown_owner = start

    # What the game reads and writes

    @property
    def position(self) -> glm.vec3:
        """The position in meters; live: the game may write to it or to its parts."""
        return self._position

    @position.setter
    def position(self, value: Any) -> None:
        place = _arrays.vector("position", value)
        self._state[_POSITION] = place
        self._shown_position = self._position.show(place)
        self._move_owner()
        self._disturb()

    @property
    def position64(self) -> Floats3:
        """The position in float64 as of the last update."""
        x, y, z = self._state[_POSITION].tolist()
        return x, y, z

    def relative_position(self, origin: Any) -> glm.vec3:
        """Return the position relative to an origin; the difference is taken in float64.

        Parameters
        ----------
        origin : three numbers
            In meters, such as the camera's position in a large world.

        Returns
        -------
        glm.vec3
        """
        x, y, z = self.position64
        ox, oy, oz = _arrays.vector("origin", origin)
        return glm.vec3(x - ox, y - oy, z - oz)

    @property
    def velocity(self) -> glm.vec3:
        """The velocity in m/s; live: the game may write to it or to its parts."""
        return self._velocity

    @velocity.setter
    def velocity(self, value: Any) -> None:
        velocity = _arrays.vector("velocity", value)
        self._state[_VELOCITY] = velocity
        self._state[kernels.DRIVEN] = 1.0
        self._shown_velocity = self._velocity.show(velocity)
        self._disturb()

    @property
    def rotation(self) -> glm.mat3:
        """How the body is turned (and scaled, with an owner that is); set a quat or a mat3."""
        m = self._linear
        return glm.mat3(m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8])

    @rotation.setter
    def rotation(self, value: Any) -> None:
        if self._owner is not None and self._owner.linear() is not None:
            raise ValueError("rotation must be left to the owner that has one")
        self._place(_arrays.rotation("rotation", value))

    @property
    def grounded(self) -> bool:
        """Whether it stood on the ground at the end of the last update."""
        return bool(self._state[kernels.GROUNDED])

    @property
    def ground_normal(self) -> glm.vec3 | None:
        """The normal of the ground it stands on; None in the air."""
        return glm.vec3(self._state[_GROUND_NORMAL]) + 0.0 if self.grounded else None

    @property
    def slope_limit(self) -> float:
        """Steepest walkable slope in radians."""
        return float(self._rules[kernels.SLOPE_LIMIT])

    @slope_limit.setter
    def slope_limit(self, value: float) -> None:
        limit = _arrays.between("slope_limit", value, 0.0, math.pi / 2)
        self._set_rule(kernels.SLOPE_LIMIT, limit)
        self._set_rule(kernels.SLOPE_COSINE, math.cos(limit))

    @property
    def ground_rule(self) -> str:
        """Which rule decides whether it is grounded: "contact" or "sum"."""
        return _RULES[int(self._rules[kernels.GROUND_RULE])]

    @ground_rule.setter
    def ground_rule(self, value: str) -> None:
        rule = _arrays.choice("ground_rule", value, _RULES)
        self._set_rule(kernels.GROUND_RULE, float(_RULES.index(rule)))

    @property
    def max_rounds(self) -> int:
        """After how many rounds of pushing out the body is lifted instead."""
        return int(self._rules[kernels.MAX_ROUNDS])

    @max_rounds.setter
    def max_rounds(self, value: int) -> None:
        self._set_rule(
            kernels.MAX_ROUNDS, float(_arrays.whole("max_rounds", value, 1, MOST_ROUNDS))
        )

    # The step

    def update(self, delta_time: float) -> MoveResult:
        """Advance by one frame.

        Parameters
        ----------
        delta_time : float
            Seconds since the last update, from 0 to 1. Zero does nothing.

        Returns
        -------
        MoveResult

        Raises
        ------
        ValueError
            For a time outside 0..1, and if the game wrote a NaN or an infinity into the velocity,
            the position or the owner. Nothing has changed then.
        TypeError
            If the time is no number, and if the owner's transform is none or shears the collider.
        """
        seconds = _arrays.between("delta_time", delta_time, 0.0, LONGEST_STEP)
        if seconds == 0.0:
            return move_result(self._state.tolist())
        self._adopt()
        kernels.update_character(
            self._state,
            self._random,
            self._rules,
            *self._ground.kernel_arrays,
            seconds,
        )
        values = self._state.tolist()
        self._show_live(values)
        return move_result(values)

    def state(self) -> CharacterState:
        """Return everything that changes, exact.

        Returns
        -------
        CharacterState
            Small and picklable. What the game wrote since the last update is not part of it.
        """
        return CharacterState(
            tuple(self._state.tolist()),
            tuple(self._rules.tolist()),
            self._linear,
            int(self._random[0]),
        )

    def restore(self, state: CharacterState) -> None:
        """Go back to a state, bit for bit, and put the owner there too.

        Parameters
        ----------
        state : CharacterState
            From a character with the same kind of collider.
        """
        if not isinstance(state, CharacterState):
            raise TypeError(f"state must be a CharacterState, got {_arrays.shorten(state)}")
        values, rules = _arrays.array("values", state.values, (None,)), np.array(state.rules)
        if values.shape != self._state.shape or rules.shape != self._rules.shape:
            raise ValueError("state must come from this version of the library")
        if rules[kernels.KIND] != self._collider.kind:
            raise ValueError("state must come from a character with the same kind of collider")
        refuse_rules(_arrays.array("rules", rules, (None,)))
        _arrays.array("linear", state.linear, (9,))
        draws = _arrays.whole("random_state", state.random_state, 0, 2**64 - 1)
        self._state[:] = values
        self._rules[:] = rules
        self._random[0] = draws
        self._linear = state.linear
        self._show_live(self._state.tolist())
        self._move_owner()

    def state_hash(self) -> str:
        """Return 16 hexadecimal digits that are equal when two states are, bit for bit."""
        state = self.state()
        numbers = (*state.values, *state.rules, *state.linear)
        packed = struct.pack(f"<{len(numbers)}dQ", *numbers, state.random_state)
        return hashlib.blake2b(packed, digest_size=8).hexdigest()

    def __getstate__(self) -> dict[str, Any]:
        """Vectors as tuples: PyGLM's own pickles need a module that is going away."""
        state = self.__dict__.copy()
        state["_written"] = self._velocity.written
        for name in _VECTORS:
            state[name] = tuple(state[name])
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        written = state.pop("_written")
        self.__dict__.update(state)
        for name in _VECTORS:
            setattr(self, name, LiveVec3(*state[name]))
        self._velocity.__dict__["written"] = written

    def __repr__(self) -> str:
        x, y, z = self.position64
        place = "grounded" if self.grounded else "in the air"
        return f"<CharacterMovement at ({x:.3f}, {y:.3f}, {z:.3f}), {place}>"

    # Inside

    def _disturb(self) -> None:
        """End the rest of a character: the next update looks at everything again."""
        self._state[kernels.UNDISTURBED] = 0.0

    def _set_rule(self, index: int, value: float) -> None:
        self._rules[index] = value
        self._disturb()

    def _place(self, linear: Floats9) -> None:
        """Turn and scale the shape."""
        extents, offset, rotation = self._collider.placed(np.array(linear).reshape(3, 3))
        reach_x, _, reach_z = np.abs(np.reshape(rotation, (3, 3))) @ extents
        cell_x, cell_z = self._ground.cell_size
        if not (2 * reach_x / cell_x) * (2 * reach_z / cell_z) <= MOST_CELLS:
            raise ValueError(
                f"collider and scale must cover at most {MOST_CELLS} cells, "
                f"got half extents {extents} on cells of {cell_x} x {cell_z} m"
            )
        start = kernels.KIND
        self._rules[start : start + 16] = (self._collider.kind, *extents, *offset, *rotation)
        self._linear = linear
        self._disturb()

    def _adopt(self) -> None:
        """Take over what the game wrote since the last update: all of it, or nothing."""
        position = velocity = None
        if self._position != self._shown_position:  # also where the game wrote a NaN
            position = _arrays.vector("position", self._position)
        if self._velocity != self._shown_velocity:
            velocity = _arrays.vector("velocity", self._velocity)
        if self._owner is not None:
            shown, linear = self._owner.position(), self._owner.linear()
            if linear is not None and linear != self._linear:
                self._place(linear)
            if shown != self._shown_owner:
                self._adopt_changed(_POSITION, shown, self._shown_owner)
        if position is not None:
            self._adopt_changed(_POSITION, position, _floats(self._shown_position))
        if velocity is not None:
            self._adopt_changed(_VELOCITY, velocity, _floats(self._shown_velocity))
        if velocity is not None or self._velocity.written:
            self._state[kernels.DRIVEN] = 1.0

    def _adopt_changed(self, where: slice, written: Floats3, shown: Floats3) -> None:
        """Take the parts that differ from what was shown; the others keep their float64."""
        kept = self._state[where].tolist()
        self._state[where] = [
            new if new != old else exact
            for new, old, exact in zip(written, shown, kept, strict=True)
        ]
        self._disturb()

    def _show_live(self, values: list[float]) -> None:
        """Show position and velocity to readers of the live vectors, and to the owner."""
        position = (values[0], values[1], values[2])
        self._shown_position = self._position.show(position)
        self._shown_velocity = self._velocity.show((values[3], values[4], values[5]))
        if self._owner is not None and position != self._owner_place:
            self._move_owner()

    def _move_owner(self) -> None:
        """Move the owner along; one that stays within bounds of its own is obeyed."""
        if self._owner is None:
            return
        place = self.position64
        shown = self._owner.move_to(place)
        for axis in range(3):
            # More than what float32 rounds away.
            if abs(shown[axis] - place[axis]) > 1e-6 * max(1.0, abs(place[axis])):
                self._state[kernels.POSITION + axis] = shown[axis]
                self._disturb()
        self._shown_owner, self._owner_place = shown, self.position64
        if self._owner_place != place:
            self._shown_position = self._position.show(self._owner_place)


def _floats(shown: glm.vec3) -> Floats3:
    return shown.x, shown.y, shown.z
