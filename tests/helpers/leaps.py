"""No body leaps: in an update it moves no farther than something that it is told of explains.

The law holds for each update of a character or a group, but where something else may move a body:
it is new, the game has put it there or changed it, or the ground has changed since its last update.
Then it is taken out of what it is in. Moving parts have a law of their own, `tests/group/leaps.py`,
and so have solids that are put on a crowd, `tests/group/puts.py`.
"""

import functools
import math
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
from pyglm import glm

from terrain_physics import CharacterGroup, CharacterMovement

SLACK = 0.02  # meters: margins of contacts, and rounding

_LEAST_COSINE = 0.2  # steeper, nobody walks


class Ways(NamedTuple):
    """What rules allow, each a number or an array."""

    slant: Any  # way along the steepest slope, per way on the level
    gravity: Any  # in m/s2
    steps: Any  # the farthest up a step and down to the ground, in meters


class _Left(NamedTuple):
    """What an update left: a body that is as that is on its own."""

    shown: Any
    who: Any
    ground: Any
    version: int
    places: Any


def own_ways(speeds: Any, seconds: float, ways: Ways) -> Any:
    """Return how far bodies go by themselves at most, in meters: along a slope, up a step, down.

    ``speeds`` are the greatest before and after the update, in m/s.
    """
    return (speeds * ways.slant + ways.gravity * seconds) * seconds + ways.steps + SLACK


def ways_of(group: CharacterGroup) -> Ways:
    """Return what the rules of a group allow, as arrays."""
    slope, gravity, scale, step, snap = (
        np.array(group.rules(name))
        for name in ("slope_limit", "gravity", "gravity_scale", "step_offset", "snap_distance")
    )
    return Ways(
        1.0 / np.maximum(np.cos(slope), _LEAST_COSINE), np.abs(gravity * scale), step + snap
    )


def speeds_of(group: CharacterGroup) -> Any:
    """Return the speeds of a group in the world, in m/s."""
    return np.linalg.norm(group.world_velocities, axis=1)


def _ways_of_one(mover: CharacterMovement) -> Ways:
    slant = 1.0 / max(math.cos(mover.slope_limit), _LEAST_COSINE)
    gravity, steps = mover.gravity * mover.gravity_scale, mover.step_offset + mover.snap_distance
    return Ways(slant, abs(gravity), steps)


def _leaps(mover: Any, left: _Left, speed: float, result: Any) -> bool:
    """Tell whether a character leaps in an update that it was on its own in."""
    moved = math.dist(left.places, mover.position64)
    if moved <= SLACK + speed * result.seconds:
        return False
    speed = max(speed, glm.length(mover.world_velocity))
    return moved > own_ways(speed, result.seconds, _ways_of_one(mover)) + result.lifted


def _leap_of_many(group: Any, left: _Left, speeds: Any, result: Any) -> bool:
    """Tell whether one of a group does."""
    moved = np.linalg.norm(group.positions - left.places, axis=1)
    most = own_ways(np.maximum(speeds, speeds_of(group)), result.seconds, ways_of(group))
    return bool((moved > most + result.lifted).any())


def _left_by_one(mover: Any) -> _Left:
    ground, who = mover.ground, (mover.collider, mover.rotation)
    shown = mover.position.to_tuple()
    return _Left(shown, who, ground, ground.version, mover.position64)


def _left_by_many(group: Any) -> _Left:
    places, ground = group.positions, group.ground
    return _Left(places.tobytes(), list(group), ground, ground.version, places)


def _watched(update: Any, left_by: Any, speed_of: Any, leaps: Any) -> Any:
    lefts: weakref.WeakKeyDictionary[Any, _Left] = weakref.WeakKeyDictionary()

    @functools.wraps(update)
    def watched(body: Any, delta_time: float) -> Any:
        left, speed, now = lefts.get(body), speed_of(body), left_by(body)
        result = update(body, delta_time)
        is_alone = left is not None and left[:4] == now[:4]
        assert not (is_alone and leaps(body, left, speed, result))
        lefts[body] = left_by(body)
        return result

    return watched


@contextmanager
def none_leaps() -> Iterator[None]:
    """Hold the law in all updates meanwhile."""
    of_one = _left_by_one, lambda mover: glm.length(mover.velocity), _leaps
    of_many = _left_by_many, speeds_of, _leap_of_many
    with (
        mock.patch.object(CharacterMovement, "update", _watched(CharacterMovement.update, *of_one)),
        mock.patch.object(CharacterGroup, "update", _watched(CharacterGroup.update, *of_many)),
    ):
        yield
