"""One character of a group, as its key gives it: a view that reads from and writes to the group."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyglm import glm

from terrain_physics import _checks
from terrain_physics._checks import Floats3, Floats9
from terrain_physics._kernels.character import layout as columns
from terrain_physics.character.colliders import Collider
from terrain_physics.character.group_data import CrowdData, Key
from terrain_physics.character.placement import constraint_planes, placed_shape, resize
from terrain_physics.character.rules import CharacterRules
from terrain_physics.character.state import (
    CharacterState,
    ground_report,
    packed,
    state_hash,
    unsigned_zeros,
)
from terrain_physics.surface.results import GroundReport

_POSITION = slice(columns.POSITION, columns.POSITION + 3)
_VELOCITY = slice(columns.VELOCITY, columns.VELOCITY + 3)


class _WrittenThrough(glm.vec3):
    """A ``vec3`` whose parts, when they are written to, are written to the group."""

    def __init__(self, exact: Floats3, write: Callable[[Any], None]) -> None:
        super().__init__(*exact)
        self.__dict__.update(exact=exact, shown=glm.vec3(self), write=write)

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        self._pass_on()

    def __setitem__(self, index: Any, value: Any) -> None:
        super().__setitem__(index, value)
        self._pass_on()

    def _pass_on(self) -> None:
        """Write the parts that differ from what was shown; the others keep their float64."""
        known = self.__dict__
        exact = tuple(
            new if new != old else kept
            for new, old, kept in zip(
                glm.vec3(self).to_tuple(), known["shown"].to_tuple(), known["exact"], strict=True
            )
        )
        known["write"](exact)
        known.update(exact=exact, shown=glm.vec3(self))

    def __repr__(self) -> str:
        return repr(glm.vec3(self))

    def __str__(self) -> str:
        return str(glm.vec3(self))


class CrowdMember(CharacterRules):
    """One character of a `CharacterGroup`, from ``group[key]``.

    It has the rules of a `CharacterMovement` (``gravity``, ``slope_limit`` and so on), to read and
    to write at any time. Once the character is removed, all but `key` and ``repr`` raises KeyError.
    """

    def __init__(self, group: CrowdData, key: Key) -> None:
        self._group, self._key = group, key

    @property
    def key(self) -> Key:
        """The key it was added by."""
        return self._key

    @property
    def position(self) -> glm.vec3:
        """The position in meters as of now; writing to it, or to its parts, moves the character."""
        return _WrittenThrough(self.position64, self._put_position)

    @position.setter
    def position(self, value: Any) -> None:
        self._put_position(value)

    @property
    def position64(self) -> Floats3:
        """The position in float64."""
        x, y, z = self._state[_POSITION].tolist()
        return x, y, z

    @property
    def velocity(self) -> glm.vec3:
        """The velocity in m/s as of now; the game may write to it or to its parts."""
        x, y, z = self._state[_VELOCITY].tolist()
        return _WrittenThrough((x, y, z), self._put_velocity)

    @velocity.setter
    def velocity(self, value: Any) -> None:
        self._put_velocity(value)

    @property
    def rotation(self) -> glm.mat3:
        """How the body is turned; set a quat or a mat3."""
        m = self._linear
        return glm.mat3(m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8])

    @rotation.setter
    def rotation(self, value: Any) -> None:
        linear = _checks.rotation("rotation", value)
        group, row = self._place
        shape = placed_shape(group._ground, group._colliders[self._key], linear)  # noqa: SLF001
        self._rules[: len(shape)] = shape
        group._linears[row] = linear  # noqa: SLF001
        self._disturb()

    @property
    def collider(self) -> Collider:
        """The body before it was placed; see `resize`."""
        self._place  # noqa: B018 raises KeyError
        return self._group._colliders[self._key]  # noqa: SLF001

    @property
    def grounded(self) -> bool:
        """Whether it stood on the ground at the end of the last update."""
        return bool(self._state[columns.GROUNDED])

    @property
    def ground_normal(self) -> glm.vec3 | None:
        """The normal of the ground it stands on; None in the air."""
        if not self.grounded:
            return None
        return glm.vec3(self._state[columns.GROUND_NORMAL : columns.GROUND_NORMAL + 3]) + 0.0

    def ground_report(self) -> GroundReport:
        """Return what it stands on or touches, as of the last update.

        Returns
        -------
        GroundReport
        """
        return ground_report(self._state.tolist(), self._group._ground)  # noqa: SLF001

    def constraint_planes(self) -> NDArray[np.float64]:
        """Return the planes it touches: see `CharacterMovement.constraint_planes`.

        Returns
        -------
        ndarray of float64, shape (m, 4)
        """
        group, row = self._place
        random_state = group._randoms[row : row + 1]  # noqa: SLF001
        return constraint_planes(group._ground, self._state, self._rules, random_state)  # noqa: SLF001

    def resize(self, collider: Collider) -> bool:
        """Change to another body where it stands, if that fits: see `CharacterMovement.resize`.

        Parameters
        ----------
        collider : SphereCollider, CapsuleCollider or BoxCollider
            Of the same kind as before.

        Returns
        -------
        bool
            False if it does not fit; nothing has changed then.
        """
        group, row = self._place
        if not resize(
            group._ground,  # noqa: SLF001
            self.collider,
            collider,
            self._linear,
            self._state,
            self._rules,
            group._randoms[row : row + 1],  # noqa: SLF001
        ):
            return False
        group._colliders[self._key] = collider  # noqa: SLF001
        return True

    def state(self) -> CharacterState:
        """Return everything that changes, exact: a `CharacterMovement` can go on from it.

        Returns
        -------
        CharacterState
        """
        group, row = self._place
        return CharacterState(
            tuple(self._state.tolist()),
            tuple(self._rules.tolist()),
            self._linear,
            int(group._randoms[row]),  # noqa: SLF001
            self.collider,
        )

    def state_hash(self) -> str:
        """Return what `CharacterMovement.state_hash` gives for the same state."""
        return state_hash(packed(self.state()))

    def __repr__(self) -> str:
        if self._key not in self._group:
            return f"<CrowdMember {self._key!r}, removed>"
        x, y, z = self.position64
        place = "grounded" if self.grounded else "in the air"
        return f"<CrowdMember {self._key!r} at ({x:.3f}, {y:.3f}, {z:.3f}), {place}>"

    # Inside

    @property
    def _place(self) -> tuple[CrowdData, int]:
        return self._group, self._group._row(self._key)  # noqa: SLF001

    @property
    def _state(self) -> NDArray[np.float64]:
        group, row = self._place
        state: NDArray[np.float64] = group._states[row]  # noqa: SLF001
        return state

    @property
    def _rules(self) -> NDArray[np.float64]:  # type: ignore[override]
        group, row = self._place
        rules: NDArray[np.float64] = group._rules[row]  # noqa: SLF001
        return rules

    @property
    def _linear(self) -> Floats9:
        group, row = self._place
        return _checks.floats9(group._linears[row])  # noqa: SLF001

    def _put_position(self, value: Any) -> None:
        self._state[_POSITION] = unsigned_zeros(_checks.vector("position", value))
        self._disturb()

    def _put_velocity(self, value: Any) -> None:
        state = self._state
        state[_VELOCITY] = unsigned_zeros(_checks.vector("velocity", value))
        state[columns.DRIVEN], state[columns.UNDISTURBED] = 1.0, 0.0

    def _wake(self) -> None:
        self._state[columns.UNDISTURBED] = 0.0

    def _disturb(self) -> None:
        state = self._state
        state[columns.UNDISTURBED], state[columns.MOVED] = 0.0, 1.0
