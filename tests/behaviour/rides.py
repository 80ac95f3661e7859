"""Riding on parts that move: a body's way there is its way on ground that stands still.

The oracle is the motion of each part as matrices, see `tests.oracles.motion`.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from terrain_physics import Ground, HeightMap, TriangleMesh
from tests.behaviour.drive import STAND, character
from tests.helpers.portable import cos, sin, times
from tests.oracles.motion import into, out_of, pose, turn

GRAVITY = 9.81
HIGH, THICK, WIDE = 3.0, 0.5, 12.0  # of a platform, in meters

Motion = Callable[[float], Any]  # from a time in seconds to a pose (4, 4)


class Pace(NamedTuple):
    """Moves of parts and updates of characters in a second."""

    moves: int
    updates: int


ALIKE = [Pace(rate, rate) for rate in (20, 30, 60, 144, 240, 360)]
PACES = [*ALIKE, Pace(30, 60), Pace(120, 30)]


def there_and_back(t, way, speed):
    """Return how far it is at a time: up to ``way`` and back at one speed, again and again."""
    gone = speed * t % (2.0 * way)
    return min(gone, 2.0 * way - gone)


def still(t):
    return pose((0.0, HIGH, 0.0))


def lift(t):
    return pose((0.0, HIGH + 2.0 * sin(0.8 * t), 0.0))


def reversing(t):
    return pose((0.0, HIGH + there_and_back(t, 1.0, 1.0), 0.0))


def sideways(t):
    return pose((3.0 * sin(1.3 * t), HIGH, 0.0))


def shuttle(t):
    return pose((there_and_back(t, 1.5, 4.0), HIGH, 0.0))


def turntable(t):
    return pose((0.0, HIGH, 0.0), turn((0, 1, 0), 1.5 * t))


def screw(t):
    return pose((2.0 * sin(t), HIGH + sin(0.7 * t), 0.0), turn((0, 1, 0), -0.7 * t))


def ship(t):
    roll, pitch = (
        turn((0, 0, 1), 0.2 * sin(0.7 * t)),
        turn((1, 0, 0), 0.15 * sin(1.1 * t)),
    )
    place = (0.2 * t, HIGH + 0.8 * sin(0.9 * t), 0.4 * sin(0.5 * t))
    yaw = turn((0, 1, 0), 0.3 * sin(0.4 * t))
    return pose(place, times(times(roll, pitch), yaw))


def lift_on_ship(t):
    return times(ship(t), pose((1.0, 1.0 + sin(0.9 * t), 0.5)))


LEVEL: dict[str, Motion] = {
    "lift": lift,
    "reversing": reversing,
    "sideways": sideways,
    "shuttle": shuttle,
    "turntable": turntable,
    "screw": screw,
}
TILTING: dict[str, Motion] = {"ship": ship, "lift on a ship": lift_on_ship}
MOTIONS = LEVEL | TILTING


class Stage:
    """A ground with parts that move, and characters that are updated, each at its own rate.

    Parts come after the land, with keys 1, 2, ...; ``motions`` are theirs.
    """

    def __init__(self, parts, motions, pace, *, land=None):
        bottom = HeightMap([[-60.0, -60.0]] * 2, cell_size=400, origin=(-200, 0, -200))
        self.ground = Ground([bottom if land is None else land, *parts])
        self.motions, self.pace, self.updates, self.moves = motions, pace, 0, 0
        self.poses = [motion(0.0) for motion in motions]
        for key, there in enumerate(self.poses, 1):
            self.ground.move(key, there)

    @property
    def seconds(self):
        return 1.0 / self.pace.updates

    def advance(self):
        """Move the parts on to the next update: at its time, or up to one move ahead of it."""
        self.updates += 1
        while self.moves * self.pace.updates < self.updates * self.pace.moves:
            self.moves += 1
            self.poses = [motion(self.moves / self.pace.moves) for motion in self.motions]
            for key, there in enumerate(self.poses, 1):
                self.ground.move(key, there, 1.0 / self.pace.moves)

    def frames(self, seconds):
        """Advance frame by frame."""
        for _ in range(round(seconds * self.pace.updates)):
            self.advance()
            yield self.updates


def above(point, height):
    """Return the point so far above another."""
    return np.add(point, (0.0, height, 0.0))


def foot_of(mover, body):
    return above(mover.position64, -STAND[body])


def platform_stage(motion, pace):
    slab = TriangleMesh.box((WIDE, THICK, WIDE))
    motions, parts = [motion], [slab]
    if motion is lift_on_ship:
        motions, parts = [motion, ship], [slab, TriangleMesh.box((30.0, THICK, 30.0))]
    return Stage(parts, motions, pace)


def rider(stage, body, at=(1.0, 0.7), **rules):
    """Return a body that stands on part 1."""
    foot = times(stage.poses[0], (at[0], 0.5 * THICK, at[1], 1.0))[:3]
    mover = character(stage.ground, body, above(foot, STAND[body] + 0.01), **rules)
    for _ in range(30):
        mover.update(1 / 60)
    return mover


def under_foot(there, foot, thick=THICK):
    """Return the point of a platform's deck straight below a foot, in its frame."""
    up, on_deck = there[:3, 1], out_of(there, (0.0, 0.5 * thick, 0.0))
    down = np.dot(foot - on_deck, up) / up[1]
    return into(there, above(foot, -down))


class Idle(NamedTuple):
    """The result of standing on a moving base."""

    drift: float  # farthest from where it began on the part, in meters
    in_air: int  # frames


def idle(motion, body, pace, seconds=3.0):
    """Stand on a platform."""
    stage = platform_stage(motion, pace)
    mover = rider(stage, body)
    start, drift, in_air = under_foot(stage.poses[0], foot_of(mover, body)), 0.0, 0
    for _ in stage.frames(seconds):
        in_air += not mover.update(stage.seconds).grounded
        now = under_foot(stage.poses[0], foot_of(mover, body))
        drift = max(drift, float(np.abs(now - start).max()))
    return Idle(drift, in_air)


class Walk(NamedTuple):
    """The result of walking about on a moving base."""

    astray: float  # farthest from carried and then walked, of any frame, in meters
    in_air: int  # frames


def walk(motion, body, pace, seconds=3.0):
    """Walk about on a platform: each update carries the body, and then it walks."""
    stage = platform_stage(motion, pace)
    mover = rider(stage, body)
    astray, in_air, before = 0.0, 0, stage.poses[0]
    for frame in stage.frames(seconds):
        angle = 3.0 * frame * stage.seconds
        mover.velocity.x, mover.velocity.z = 2.0 * cos(angle), 2.0 * sin(angle)
        walked = stage.seconds * np.array([mover.velocity.x, 0.0, mover.velocity.z])
        wanted = out_of(stage.poses[0], into(before, foot_of(mover, body))) + walked
        in_air += not mover.update(stage.seconds).grounded
        off = foot_of(mover, body) - wanted
        astray, before = max(astray, float(np.abs(off[[0, 2]]).max())), stage.poses[0]
    return Walk(astray, in_air)


class Jump(NamedTuple):
    """The difference of a jump on a moving base from one on still ground."""

    apart: float  # landing points on the part, in meters
    late: int  # frames in the air


def _jump(motion, body, pace, velocity):
    stage = platform_stage(motion, pace)
    mover = rider(stage, body)
    for frame in stage.frames(2.0):
        if frame == 1:
            mover.update(stage.seconds)
            mover.velocity = velocity
            continue
        result = mover.update(stage.seconds)
        if result.just_landed:
            return into(stage.poses[0], foot_of(mover, body)), frame
    return np.full(3, np.inf), -1


def jump(way, body, pace, velocity=(1.5, 5.0, -0.8)):
    """Jump on a platform of constant velocity ``way``, and on one that stands."""

    def motion(t):
        return pose(above(np.multiply(way, t), HIGH))

    place, frame = _jump(motion, body, pace, velocity)
    still_place, still_frame = _jump(still, body, pace, velocity)
    return Jump(float(np.abs(place - still_place).max()), abs(frame - still_frame))


def belt(body, pace, way, motion=still, seconds=2.0):
    """Stand on a conveyor; return how far from velocity times time it ends, in its frame."""
    stage = platform_stage(motion, pace)
    mover = rider(stage, body)
    start = under_foot(stage.poses[0], foot_of(mover, body))
    stage.ground.set_surface_velocity(1, way)
    for frame in stage.frames(seconds):
        mover.update(stage.seconds)
        gone = under_foot(stage.poses[0], foot_of(mover, body)) - start
        off = np.abs(gone - np.multiply(way, frame * stage.seconds)).max()
        if not (off < 1.0 and mover.grounded):
            return math.inf
    return float(off)


class Stop(NamedTuple):
    """The result of standing on a lift that slows down."""

    in_air: int  # frames
    rise: float  # highest over the lift, in meters


def stop(body, pace, speed, deceleration, **rules):
    """Ride up at a speed, until the lift slows down to a stop at its top."""
    begins, lasts = 1.0, speed / deceleration

    def motion(t):
        late = min(max(t - begins, 0.0), lasts)
        early = min(t, begins)
        way = 0.5 * speed * early * early + speed * late - 0.5 * deceleration * late * late
        return pose((0.0, HIGH + way, 0.0))

    stage = platform_stage(motion, pace)
    mover = rider(stage, body, **rules)
    in_air, rise = 0, 0.0
    for _ in stage.frames(begins + lasts + 1.5):
        in_air += not mover.update(stage.seconds).grounded
        foot = into(stage.poses[0], foot_of(mover, body))
        rise = max(rise, float(foot[1]) - 0.5 * THICK)
    return Stop(in_air, rise)


class Fall(NamedTuple):
    """How a body and the part that it stood on came down."""

    off: float  # farthest from where it stood on the part, in meters
    below: float  # farthest below a body in free fall
    in_air: int  # updates


def fall(body, pace, acceleration, seconds, **rules):
    """Ride a part that falls from rest, ever faster."""
    stage = platform_stage(lambda t: pose((0.0, HIGH - 0.5 * acceleration * t * t, 0.0)), pace)
    mover = rider(stage, body, **rules)
    start, off, below, in_air = mover.position64, 0.0, 0.0, 0
    for frame in stage.frames(seconds):
        in_air += not mover.update(stage.seconds).grounded
        gone, time = start[1] - mover.position64[1], frame / pace.updates
        off = max(off, abs(HIGH - stage.poses[0][1, 3] - gone))
        below = max(below, gone - 0.5 * GRAVITY * time * time)
    return Fall(off, below, in_air)


KEPT = {
    "velocity": lambda velocity: velocity,
    "up": lambda velocity: (velocity[0], max(velocity[1], 0.0), velocity[2]),
    "none": lambda _: (0.0, 0.0, 0.0),
}  # by the rule ``leave``: what a body keeps of the velocity of the part that it leaves


class Steady(NamedTuple):
    """A motion that goes on at the same velocity and spin."""

    motion: Motion
    velocity_at: Callable[[Any], tuple[float, float, float]]  # from a point of the world


def steady(way, spin=0.0):
    """Return the motion along ``way`` in a second, with a spin about +Y; it begins at x = z = 0."""

    def motion(t):
        return pose(above(np.multiply(way, t), HIGH), turn((0, 1, 0), spin * t))

    return Steady(motion, lambda arm: (way[0] + spin * arm[2], way[1], way[2] - spin * arm[0]))


def leave(rule, part, body, pace, own, at):
    """Leave a platform, by a jump or over its edge, at an ``own`` velocity.

    Returns how far the velocity is then from the one by the rule, in m/s; infinity if it stays.
    """
    stage = platform_stage(part.motion, pace)
    mover = rider(stage, body, at, leave=rule)
    for frame in stage.frames(1.0):
        if frame > 1:  # the first update finds the part in motion
            mover.velocity = own
        if mover.update(stage.seconds).grounded:
            continue
        arm = foot_of(mover, body) - stage.poses[0][:3, 3]
        fall = GRAVITY * mover.ground_report().air_time
        expected = np.add(own, KEPT[rule](part.velocity_at(arm))) - (0.0, fall, 0.0)
        return float(np.abs(mover.velocity - expected).max())
    return math.inf


def reverse(rule, body, pace, speed):
    """Ride up, and down from one move to the next.

    Returns (greatest height over the turn of the deck, frames in the air).
    """
    way = 1.5

    def motion(t):
        return pose((0.0, HIGH + (speed * t if speed * t < way else 2.0 * way - speed * t), 0.0))

    stage = platform_stage(motion, pace)
    mover = rider(stage, body, leave=rule)
    highest, in_air = -math.inf, 0
    for _ in stage.frames(way / speed + speed / GRAVITY + 0.1):
        in_air += not mover.update(stage.seconds).grounded
        highest = max(highest, float(foot_of(mover, body)[1]))
    return highest - (HIGH + 0.5 * THICK + way), in_air


def turns(body, motion, count):
    """Ride through the same 8 places again and again; return how far it ends from its start."""
    times = np.arange(1, 9) * (math.tau / 8.0)
    places = [motion(t) for t in times]
    stage = platform_stage(motion, Pace(60, 60))
    mover = rider(stage, body)
    ends = []
    for _ in range(count):
        for there in places:
            stage.ground.move(1, there, 1 / 60)
            mover.update(1 / 60)
        ends.append(mover.position64)
    return math.dist(ends[0], ends[-1])
