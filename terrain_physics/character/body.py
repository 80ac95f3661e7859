"""What a character holds: its shape in the world, its exact state, and what the game sees of it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyglm import glm

from terrain_physics import _checks
from terrain_physics._checks import Floats3, Floats9
from terrain_physics._kernels.character import layout as columns
from terrain_physics.character.colliders import Collider
from terrain_physics.character.owner import Owner
from terrain_physics.character.placement import AnyGround, constraint_planes, placed_shape, resize
from terrain_physics.character.rules import CharacterRules
from terrain_physics.character.state import (
    CharacterState,
    LiveVec3,
    ground_report,
    packed,
    refuse_rules,
    state_hash,
    unsigned_zeros,
)
from terrain_physics.surface.results import GroundReport

_POSITION = slice(columns.POSITION, columns.POSITION + 3)
_VELOCITY = slice(columns.VELOCITY, columns.VELOCITY + 3)
_GROUND_NORMAL = slice(columns.GROUND_NORMAL, columns.GROUND_NORMAL + 3)

# The attributes of a character that are vectors of PyGLM.
_VECTORS = ("_position", "_velocity", "_shown_position", "_shown_velocity")


class CharacterBody(CharacterRules):
    """State and shape of a character; `terrain_physics.CharacterMovement` moves it."""

    _ground: AnyGround
    _collider: Collider
    _owner: Owner | None
    _state: NDArray[np.float64]
    _random: NDArray[np.uint64]
    _linear: Floats9
    _position: LiveVec3
    _velocity: LiveVec3
    _shown_position: glm.vec3
    _shown_velocity: glm.vec3
    _owner_place: Floats3
    _shown_owner: Floats3

    # What the game reads and writes

    @property
    def position(self) -> glm.vec3:
        """The position in meters; live: the game may write to it or to its parts."""
        return self._position

    @position.setter
    def position(self, value: Any) -> None:
        place = unsigned_zeros(_checks.vector("position", value))
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
        ox, oy, oz = _checks.vector("origin", origin)
        return glm.vec3(x - ox, y - oy, z - oz) + 0.0

    @property
    def velocity(self) -> glm.vec3:
        """The velocity in m/s; live: the game may write to it or to its parts."""
        return self._velocity

    @velocity.setter
    def velocity(self, value: Any) -> None:
        velocity = unsigned_zeros(_checks.vector("velocity", value))
        self._state[_VELOCITY] = velocity
        self._state[columns.DRIVEN] = 1.0
        self._shown_velocity = self._velocity.show(velocity)
        self._state[columns.UNDISTURBED] = 0.0

    @property
    def rotation(self) -> glm.mat3:
        """How the body is turned (and scaled, with an owner that is); set a quat or a mat3."""
        m = self._linear
        return glm.mat3(m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8])

    @rotation.setter
    def rotation(self, value: Any) -> None:
        if self._owner is not None and self._owner.linear() is not None:
            raise ValueError("rotation must be left to the owner that has one")
        self._place(_checks.rotation("rotation", value))

    @property
    def collider(self) -> Collider:
        """The body before it was placed; see `resize`."""
        return self._collider

    @property
    def grounded(self) -> bool:
        """Whether it stood on the ground at the end of the last update."""
        return bool(self._state[columns.GROUNDED])

    @property
    def ground_normal(self) -> glm.vec3 | None:
        """The normal of the ground it stands on; None in the air."""
        return glm.vec3(self._state[_GROUND_NORMAL]) + 0.0 if self.grounded else None

    def ground_report(self) -> GroundReport:
        """Return what it stands on or touches, as of the last update.

        Returns
        -------
        GroundReport
        """
        return ground_report(self._state.tolist(), self._ground)

    def constraint_planes(self) -> NDArray[np.float64]:
        """Return the planes of the ground that the body touches where the last update left it.

        The body can move into none of them. Contacts that push the same way are one plane. To a
        walker a plane steeper than the slope limit is an upright wall. They are found anew by
        each call, so updates cost nothing more.

        Returns
        -------
        ndarray of float64, shape (m, 4)
            Unit normals, towards the body, and offsets in meters: points p of a plane have
            normal . p = offset, points on the body's side have more. Touching is within 1e-4 m;
            what the update left too deep has a plane through the depth of the ground, inside the
            body. m is 0 in the air, and at most 32.

        Examples
        --------
        >>> from terrain_physics import CharacterMovement, HeightMap, SphereCollider
        >>> floor = HeightMap([[2, 2], [2, 2]])
        >>> mover = CharacterMovement(floor, SphereCollider(0.5), position=(0.5, 2.5, 0.5))
        >>> mover.constraint_planes()
        array([[0., 1., 0., 2.]])
        """
        return constraint_planes(self._ground, self._state, self._rules, self._random)

    def resize(self, collider: Collider) -> bool:
        """Change to another body where it stands, as to crouch and to stand up, if that fits.

        The feet, the lowest point of the body, stay at their height: so bodies of different height
        around the same offset move the position. On a slope, wider feet rise as far as they must.

        Parameters
        ----------
        collider : SphereCollider, CapsuleCollider or BoxCollider
            Of the same kind as before.

        Returns
        -------
        bool
            False if the new body would reach into a ceiling, a wall or steep ground, by 1e-5 m or
            deeper than the one it has; nothing has changed then.

        Raises
        ------
        TypeError
            For a collider of another kind.
        ValueError
            For one that covers too many cells, and as `update` for what the game wrote.
        """
        self._adopt()
        if not resize(
            self._ground,
            self._collider,
            collider,
            self._linear,
            self._state,
            self._rules,
            self._random,
        ):
            return False
        self._collider = collider
        self._show_live(self._state.tolist())
        return True

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
            self._collider,
        )

    def restore(self, state: CharacterState) -> None:
        """Go back to a state, bit for bit, and put the owner there too.

        Parameters
        ----------
        state : CharacterState
            From a character with the same kind of collider.
        """
        if not isinstance(state, CharacterState):
            raise TypeError(f"state must be a CharacterState, got {_checks.shorten(state)}")
        values, rules = _checks.array("values", state.values, (None,)), np.array(state.rules)
        if values.shape != self._state.shape or rules.shape != self._rules.shape:
            raise ValueError("state must come from this version of the library")
        if not rules[columns.KIND] == state.collider.kind == self._collider.kind:
            raise ValueError("state must come from a character with the same kind of collider")
        refuse_rules(_checks.array("rules", rules, (None,)))
        _checks.array("linear", state.linear, (9,))
        draws = _checks.whole("random_state", state.random_state, 0, 2**64 - 1)
        self._state[:] = values
        self._rules[:] = rules
        self._random[0] = draws
        self._linear, self._collider = state.linear, state.collider
        self._show_live(self._state.tolist())
        self._move_owner()

    def state_hash(self) -> str:
        """Return 16 hexadecimal digits that are equal when two states are, bit for bit."""
        return state_hash(packed(self.state()))

    def __getstate__(self) -> dict[str, Any]:
        """Vectors as tuples: PyGLM's own pickles need a module that is going away."""
        state = self.__dict__.copy()
        state["_written"] = self._velocity.written
        for name in _VECTORS:
            state[name] = tuple(state[name])
        for name in ("_state", "_rules", "_random"):
            state[name] = state[name].copy()
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
        self._state[columns.UNDISTURBED] = 0.0
        self._state[columns.MOVED] = 1.0

    def _wake(self) -> None:
        self._state[columns.UNDISTURBED] = 0.0

    def _place(self, linear: Floats9) -> None:
        """Turn and scale the shape."""
        shape = placed_shape(self._ground, self._collider, linear)
        self._rules[: len(shape)] = shape
        self._linear = linear
        self._disturb()

    def _adopt(self) -> None:
        """Take over what the game wrote since the last update: all of it, or nothing."""
        position = velocity = None
        if self._position != self._shown_position:  # also where the game wrote a NaN
            position = _checks.vector("position", self._position)
        if self._velocity != self._shown_velocity:
            velocity = _checks.vector("velocity", self._velocity)
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
            self._state[columns.DRIVEN] = 1.0

    def _adopt_changed(self, where: slice, written: Floats3, shown: Floats3) -> None:
        """Take the parts that differ from what was shown; the others keep their float64."""
        kept = self._state[where].tolist()
        self._state[where] = [
            new + 0.0 if new != old else exact
            for new, old, exact in zip(written, shown, kept, strict=True)
        ]
        self._state[columns.UNDISTURBED] = 0.0
        if where == _POSITION:
            self._state[columns.MOVED] = 1.0

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
                self._state[columns.POSITION + axis] = shown[axis] + 0.0
                self._disturb()
        self._shown_owner, self._owner_place = shown, self.position64
        if self._owner_place != place:
            self._shown_position = self._position.show(self._owner_place)


def _floats(shown: glm.vec3) -> Floats3:
    return shown.x, shown.y, shown.z
