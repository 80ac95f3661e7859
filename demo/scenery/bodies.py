"""Bodies that move on a ground: stepped, saved, restored, and drawn between two steps."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, assert_never

import numpy as np
from numpy.typing import NDArray

from terrain_physics import (
    OBB,
    BoxCollider,
    Capsule,
    CapsuleCollider,
    CharacterMovement,
    CharacterView,
    Sphere,
    SphereCollider,
)
from terrain_physics.character.colliders import Collider

from ..picture.colors import Color
from ..picture.frame import Balls, Crates, Frame, Pills
from .inputs import Floats3, Rules

Floats = NDArray[np.float64]
_TURNED_LEAST = 1e-9


class Body:
    """A character with a color, where it was one step ago, and how far it has rolled."""

    __slots__ = ("before", "collider", "color", "mover", "name", "result", "rolls", "shown", "turn")

    def __init__(
        self,
        mover: CharacterView,
        collider: Collider,
        color: Color,
        *,
        name: str = "",
        rolls: bool = True,
        shown: bool = True,
    ) -> None:
        self.mover, self.collider, self.color, self.name = mover, collider, color, name
        self.rolls = rolls and isinstance(collider, SphereCollider)
        self.shown = shown
        self.before: Floats3 = mover.position64
        self.result = mover.move_result()
        self.turn = np.eye(3) if self.rolls else np.array(mover.rotation.to_list()).T

    @property
    def place(self) -> Floats3:
        """Where it is, in meters."""
        return self.mover.position64

    @property
    def speed(self) -> float:
        """How fast it is, in m/s."""
        velocity = self.mover.velocity
        return float(np.sqrt(velocity.x**2 + velocity.y**2 + velocity.z**2))

    def step(self, seconds: float) -> None:
        """Move for one step."""
        assert isinstance(self.mover, CharacterMovement)
        self.before = self.mover.position64
        self.result = self.mover.update(seconds)
        if self.rolls:
            self._roll(seconds)
        elif self.mover.turn_with_ground:
            self.turn = np.array(self.mover.rotation.to_list()).T

    def shape(self) -> Sphere | OBB | Capsule:
        """Return the body in the world."""
        x, y, z = self.place
        matrix = np.eye(4)
        matrix[:3, :3] = np.array(self.mover.rotation.to_list()).T
        matrix[:3, 3] = x, y, z
        return self.collider.transformed(matrix)

    def bounds(self) -> tuple[Floats, Floats]:
        """Return the lower and the upper corner of the box around it."""
        shape = self.shape()
        if isinstance(shape, Sphere):
            center, reach = np.array(shape.center64), np.full(3, shape.radius)
        elif isinstance(shape, Capsule):
            a, b = np.array(shape.a64), np.array(shape.b64)
            return np.minimum(a, b) - shape.radius, np.maximum(a, b) + shape.radius
        elif isinstance(shape, OBB):
            turn = np.array(self.mover.rotation.to_list()).T
            center = np.array(shape.center64)
            reach = np.abs(turn) @ np.array(shape.half_extents64)
        else:
            assert_never(shape)
        return center - reach, center + reach

    def _roll(self, seconds: float) -> None:
        """Turn as a ball that rolls over what it lies on; it is only drawn so."""
        assert isinstance(self.collider, SphereCollider)
        normal = self.result.ground_normal
        if normal is None:
            return
        x, y, z = self.mover.velocity * seconds
        axis = np.array(
            [normal.y * z - normal.z * y, normal.z * x - normal.x * z, normal.x * y - normal.y * x]
        )
        length = float(np.sqrt(axis @ axis))
        angle = length / self.collider.radius
        if angle > _TURNED_LEAST:
            self.turn = rotation_about(axis / length, angle) @ self.turn


def rotation_about(axis: Floats, angle: float) -> Floats:
    """Return the matrix that turns about a unit axis."""
    x, y, z = axis
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    turn = np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * (cross @ cross)
    return np.asarray(turn)


class Bodies:
    """Any number of bodies on one ground."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self._bodies: list[Body] = []

    def __len__(self) -> int:
        return len(self._bodies)

    def __iter__(self) -> Iterator[Body]:
        return iter(self._bodies)

    def __getitem__(self, index: int) -> Body:
        return self._bodies[index]

    def add(self, body: Body) -> Body:
        """Take in a body; from now on it obeys the rules."""
        self._bodies.append(body)
        _obey(body, self.rules)
        return body

    def keep(self, claim: Callable[[Body], bool]) -> None:
        """Let go of all others."""
        self._bodies = [body for body in self._bodies if claim(body)]

    def obey(self, rules: Rules) -> None:
        """Set new rules; nothing is touched if they are the old ones."""
        if rules == self.rules:
            return
        self.rules = rules
        for body in self._bodies:
            _obey(body, rules)

    def step(self, seconds: float) -> None:
        """Move all."""
        for body in self._bodies:
            body.step(seconds)

    def state(self) -> tuple[Any, ...]:
        """Return what `restore` needs to go on as if nothing had happened since."""
        parts = tuple(
            (body, body.mover.state(), body.before, body.result, body.turn) for body in self._bodies
        )
        return self.rules, parts

    def restore(self, state: tuple[Any, ...]) -> None:
        """Go back to a state of these bodies."""
        self.rules, parts = state
        self._bodies = []
        for body, moved, before, result, turn in parts:
            body.mover.restore(moved)
            body.before, body.result, body.turn = before, result, turn
            self._bodies.append(body)

    def digest(self) -> bytes:
        """Return a digest that is equal where all bodies are, bit for bit."""
        mixed = hashlib.blake2b(digest_size=8)
        for body in self._bodies:
            mixed.update(body.mover.state_hash().encode())
        return mixed.digest()

    def fill(self, frame: Frame, alpha: float) -> None:
        """Add the bodies as they are ``alpha`` of a step after the last but one."""
        shown = [body for body in self._bodies if body.shown]
        groups: dict[type[Collider], list[Body]] = {kind: [] for kind in _DRAWN_BY}
        for body in shown:
            groups[type(body.collider)].append(body)
        for kind, group in groups.items():
            if group:
                _DRAWN_BY[kind](frame, group, between(group, alpha))


def between(bodies: Sequence[Body], alpha: float) -> Floats:
    """Return places between the last two steps: alpha 0 the one before, 1 the present."""
    before = np.array([body.before for body in bodies])
    now = np.array([body.place for body in bodies])
    return np.asarray(before + (now - before) * alpha)


def _obey(body: Body, rules: Rules) -> None:
    mover = body.mover
    mover.gravity = rules.gravity
    mover.slope_limit = rules.slope_limit
    mover.resolver = rules.resolver
    # Who has feet climbs; balls and boxes do not.
    mover.step_offset = rules.step_offset if isinstance(body.collider, CapsuleCollider) else 0.0


def _colors(bodies: Sequence[Body]) -> NDArray[np.uint8]:
    return np.array([body.color for body in bodies], dtype=np.uint8)


def _balls(frame: Frame, bodies: Sequence[Body], places: Floats) -> None:
    radii = np.array([body.collider.radius for body in bodies])  # type: ignore[union-attr]
    turns = np.array([body.turn for body in bodies])
    frame.balls.append(Balls(places, radii, turns, _colors(bodies)))


def _boxes(frame: Frame, bodies: Sequence[Body], places: Floats) -> None:
    extents = np.array([body.collider.half_extents64 for body in bodies])  # type: ignore[union-attr]
    turns = np.array([body.turn for body in bodies])
    frame.boxes.append(Crates(places, extents, turns, _colors(bodies)))


def _pills(frame: Frame, bodies: Sequence[Body], places: Floats) -> None:
    radii = np.array([body.collider.radius for body in bodies])  # type: ignore[union-attr]
    heights = np.array([body.collider.height for body in bodies])  # type: ignore[union-attr]
    offsets = np.array([body.collider.offset64 for body in bodies])
    half = np.zeros((len(bodies), 3))
    half[:, 1] = 0.5 * heights - radii
    centers = places + offsets
    frame.capsules.append(Pills(centers - half, centers + half, radii, _colors(bodies)))


# In the order in which kinds are drawn.
_DRAWN_BY: dict[type[Collider], Callable[[Frame, Sequence[Body], Floats], None]] = {
    SphereCollider: _balls,
    BoxCollider: _boxes,
    CapsuleCollider: _pills,
}
