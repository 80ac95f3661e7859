"""No body leaps: in an update it moves no farther than something that it is told of explains.

The law holds for each update of a character or a group, but where something else may move a body:
it is new or still on its way out of the ground, the game has put it there or changed it, or the
ground has changed since its last update. Moving parts have a law of their own,
`tests/group/leaps.py`, and so have solids that are put on a crowd, `tests/group/puts.py`.

It does not hold for owners, which are read within an update, and where materials change the speed.
In a group one may be pushed as far as the fastest goes.
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
    free: Any  # whether it was out of the ground


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


def _ways_of_update(mover: Any, left: _Left, speed: float, result: Any) -> tuple[float, float]:
    """Return (how far a character has moved, how far it may)."""
    moved = math.dist(left.places, mover.position64) if left.free else 0.0
    most = SLACK + speed * result.seconds
    if moved > most:
        speed = max(speed, glm.length(mover.world_velocity))
        most = own_ways(speed, result.seconds, _ways_of_one(mover)) + result.lifted
    return moved, most


def _ways_of_updates(group: Any, left: _Left, speeds: Any, result: Any) -> tuple[Any, Any]:
    """Return the same of the one in a group that exceeds it most."""
    moved = np.where(left.free, np.linalg.norm(group.positions - left.places, axis=1), 0.0)
    fastest = max(speeds.max(), speeds_of(group).max())
    most = own_ways(fastest, result.seconds, ways_of(group)) + result.lifted
    k = np.argmax(moved - most)
    return moved[k], most[k]


def _left_by_one(mover: Any, free: Any = False) -> _Left:
    ground, who = mover.ground, (mover.collider, mover.rotation)
    shown = mover.position.to_tuple()
    return _Left(shown, who, ground, ground.version, mover.position64, free)


def _left_by_many(group: Any, free: Any = False) -> _Left:
    places, ground = group.positions, group.ground
    return _Left(places.tobytes(), list(group), ground, ground.version, places, free)


def _watched(update: Any, left_by: Any, speed_of: Any, ways_of_update: Any) -> Any:
    lefts: weakref.WeakKeyDictionary[Any, _Left] = weakref.WeakKeyDictionary()

    @functools.wraps(update)
    def watched(body: Any, delta_time: float) -> Any:
        left, speed, now = lefts.get(body), speed_of(body), left_by(body)
        result = update(body, delta_time)
        if left is not None and left[:4] == now[:4] and len(left.places):
            moved, most = ways_of_update(body, left, speed, result)
            assert moved <= most, (moved, most, result)
        lefts[body] = left_by(body, result.converged)
        return result

    return watched


@contextmanager
def none_leaps() -> Iterator[None]:
    """Hold the law in all updates meanwhile."""
    of_one = _left_by_one, lambda mover: glm.length(mover.velocity), _ways_of_update
    of_many = _left_by_many, speeds_of, _ways_of_updates
    with (
        mock.patch.object(CharacterMovement, "update", _watched(CharacterMovement.update, *of_one)),
        mock.patch.object(CharacterGroup, "update", _watched(CharacterGroup.update, *of_many)),
    ):
        yield
