"""Parts that come upon a body: doors, crushers, cabins. It gives way, and they yield to walls.

Where the body is, and how deep in a part, is known from the planes of its faces.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from terrain_physics import Ground, HeightMap, TriangleMesh
from terrain_physics.character.colliders import Collider
from tests.behaviour import lands
from tests.behaviour.drive import RESOLVERS, STAND, character
from tests.behaviour.levels import BODIES, RATES, draw_body
from tests.behaviour.rides import Pace, Stage, there_and_back
from tests.helpers.draws import Draws
from tests.helpers.portable import cos, sin, times
from tests.oracles.motion import into, pose, turn

REACH = {"sphere": 0.5, "capsule": 0.5, "box": 0.4}  # along x and z
TALL = {"sphere": 1.0, "capsule": 1.8, "box": 1.8}
FLOOR = ((-60.0, -1.0, -60.0), (60.0, 0.0, 60.0))
WALL = 5.0  # its face, across x
DOOR = 0.1  # thickness
IN_AIR = 0.02  # more than a body that stands is off its floor


class Met(NamedTuple):
    """Contact of a part with a body."""

    wrong: int  # frames in which it was behind the part, or not where it belongs
    depth: float  # deepest in what stands still, in meters
    off: float  # by how much the depth in the part that was told is wrong, at most
    most: float  # deepest in the part
    lifted: float  # farthest lifted in a frame, in meters
    is_free: bool  # at the end


def _met(result, *, wrong, depth, overlap=None):
    """Return what came of one frame; ``overlap``: how deep the body is in part 1, if known."""
    told = max((squeeze.depth for squeeze in result.squeezed if squeeze.part == 1), default=0.0)
    off = 0.0 if overlap is None else abs(overlap - told)
    return Met(wrong, depth, off, overlap or 0.0, result.lifted, not result.squeezed)


def _in_all(frames):
    wrong, depth, off, most, lifted, free = zip(*frames, strict=True)
    return Met(sum(wrong), max(depth), max(off), max(most), max(lifted), free[-1])


def _at_rest(stage, body, place):
    mover = character(stage.ground, body, place)
    for _ in range(10):
        mover.update(1 / 60)
    return mover


def fine_door(cell):
    """Return the two faces across x of a door 4 m high and wide, in squares of that size."""
    places = np.linspace(-2.0, 2.0, round(4.0 / cell) + 1)
    y, z = (values.ravel() for values in np.meshgrid(places, places, indexing="ij"))
    sides = [np.stack([np.full(y.shape, x), y, z], axis=1) for x in (-0.5 * DOOR, 0.5 * DOOR)]
    below = np.arange(len(y)).reshape(len(places), -1)
    a, b, c, d = (
        v.ravel() for v in (below[:-1, :-1], below[:-1, 1:], below[1:, :-1], below[1:, 1:])
    )
    faces = np.concatenate([np.stack([a, b, c], axis=1), np.stack([b, d, c], axis=1)])
    return TriangleMesh(np.concatenate(sides), np.concatenate([faces, faces[:, ::-1] + len(y)]))


def slam(body, pace, speed, *, wall=True, hop=False, walking=0.0, door=None):
    """A door across x is pushed at a body, as far as to a gap too narrow, and back again.

    Without a ``wall`` behind the body it is pushed 20 m far.
    """
    reach = REACH[body]
    way = WALL - 1.2 * reach if wall else 20.0

    def motion(t):
        return pose((-0.5 * DOOR - 1.0 + there_and_back(t, way + 1.0, speed), 2.0, 0.0))

    spans = [FLOOR, ((WALL, 0.0, -60.0), (WALL + 1.0, 6.0, 60.0))] if wall else [FLOOR]
    if door is None:
        door = TriangleMesh.box((DOOR, 4.0, 8.0))
    stage = Stage([door], [motion], pace, land=lands.boxes(*spans))
    mover = _at_rest(stage, body, (0.7, STAND[body] + 0.01, 0.3))
    turns_at, frames = (way + 1.0) / speed * pace.updates, []
    for frame in stage.frames(2.0 * (way + 1.0) / speed):
        if hop and frame == 2:
            mover.velocity.y = 4.0
        mover.velocity.x = walking
        result = mover.update(stage.seconds)
        x, y, _ = mover.position64
        face = stage.poses[0][0, 3] + 0.5 * DOOR
        depth = max(STAND[body] - y, x + reach - WALL if wall else 0.0)
        is_pressed = result.grounded and frame < turns_at
        overlap = max(face - (x - reach), 0.0) if is_pressed else None
        frames.append(_met(result, wrong=x < face - 0.5 * DOOR, depth=depth, overlap=overlap))
    return _in_all(frames)


def crush(body, pace, speed, *, walking=0.0):
    """A ceiling comes down on a body to 0.6 of its height, and goes up again."""
    tall, wide = TALL[body], 3.0
    way = 3.0 - 0.6 * tall

    def motion(t):
        return pose((0.0, 4.0 - there_and_back(t, way, speed), 0.0))

    stage = Stage([TriangleMesh.box((wide, 2.0, wide))], [motion], pace, land=lands.boxes(FLOOR))
    mover, frames = _at_rest(stage, body, (0.1, STAND[body] + 0.01, 0.3)), []
    for _ in stage.frames(2.0 * way / speed):
        mover.velocity.x = walking
        result = mover.update(stage.seconds)
        x, y, z = mover.position64
        low = stage.poses[0][1, 3] - 1.0
        is_under = result.grounded and max(abs(x), abs(z)) < 0.5 * wide
        overlap = max(y - STAND[body] + tall - low, 0.0) if is_under else None
        frames.append(_met(result, wrong=y > low + 1.0, depth=STAND[body] - y, overlap=overlap))
    return _in_all(frames)


def swing(body, pace, spin):
    """A door turns by 90 degrees about its hinge, against a body before it, and back again."""

    def motion(t):
        angle = there_and_back(t, 0.5 * math.pi, spin)
        return times(pose((0.0, 2.0, 0.0), turn((0, 1, 0), -angle)), pose((1.5, 0.0, 0.0)))

    stage = Stage([TriangleMesh.box((3.0, 4.0, DOOR))], [motion], pace, land=lands.boxes(FLOOR))
    mover, frames = _at_rest(stage, body, (1.6, STAND[body] + 0.01, 1.2)), []
    for _ in stage.frames(math.pi / spin):
        result = mover.update(stage.seconds)
        x, _, z = into(stage.poses[0], mover.position64)
        is_before = abs(x) < 1.5
        overlap = None
        if is_before and body != "box":
            overlap = max(0.5 * DOOR + REACH[body] - z, 0.0)
        depth = STAND[body] - mover.position64[1]
        frames.append(_met(result, wrong=is_before and z < 0.0, depth=depth, overlap=overlap))
    return _in_all(frames)


INSIDE, HIGH = 1.5, 2.4  # half of the width of a cabin, and how high it is
CABIN = (
    ((-2.0, -0.2, -2.0), (2.0, 0.0, 2.0)),
    ((-2.0, HIGH, -2.0), (2.0, HIGH + 0.2, 2.0)),
    ((-2.0, 0.0, -2.0), (-INSIDE, HIGH, 2.0)),
    ((INSIDE, 0.0, -2.0), (2.0, HIGH, 2.0)),
    ((-INSIDE, 0.0, -2.0), (INSIDE, HIGH, -INSIDE)),
    ((-INSIDE, 0.0, INSIDE), (INSIDE, HIGH, 2.0)),
)


def cabin(body, pace, way, walking):
    """A cabin with walls, a floor and a ceiling shakes a body that walks and hops about in it."""

    def motion(t):
        x, y, z = way
        swung = sin(2.0 * t)
        return pose((x * swung, 30.0 + y * swung, z * swung))

    stage = Stage([lands.boxes(*CABIN)], [motion], pace)
    mover, frames = _at_rest(stage, body, (0.2, 30.01 + STAND[body], 0.1)), []
    for frame in stage.frames(4.0):
        angle = 0.9 * frame * stage.seconds
        mover.velocity.x, mover.velocity.z = walking * cos(angle), walking * sin(angle)
        if walking and frame % pace.updates == 1:
            mover.velocity.y = 4.0
        result = mover.update(stage.seconds)
        x, y, z = into(stage.poses[0], mover.position64)
        aside = max(abs(x), abs(z))
        wrong = aside > INSIDE or not 0.0 < y < HIGH or bool(result.squeezed)
        depth = max(
            aside + REACH[body] - INSIDE, STAND[body] - y, y - STAND[body] + TALL[body] - HIGH
        )
        frames.append(_met(result, wrong=wrong, depth=depth))
    return _in_all(frames)


def into_wall(body, pace, speed):
    """A platform carries a body at a wall, in which the platform ends."""

    def motion(t):
        return pose((there_and_back(t, 5.0, speed), 1.0, 0.0))

    wall = ((WALL, 0.0, -60.0), (WALL + 9.0, 6.0, 60.0))
    stage = Stage(
        [TriangleMesh.box((6.0, 0.5, 6.0))], [motion], pace, land=lands.boxes(FLOOR, wall)
    )
    mover, frames = _at_rest(stage, body, (1.5, 1.26 + STAND[body], 0.3)), []
    for _ in stage.frames(10.0 / speed):
        result = mover.update(stage.seconds)
        x, y, _ = mover.position64
        depth = max(x + REACH[body] - WALL, 1.25 + STAND[body] - y)
        frames.append(_met(result, wrong=not result.grounded, depth=depth))
    return _in_all(frames)


DOORWAY = (
    *(wall for wall in CABIN if wall[0][0] != INSIDE),
    ((INSIDE, 0.0, -2.0), (2.0, HIGH, -0.7)),
    ((INSIDE, 0.0, 0.7), (2.0, HIGH, 2.0)),
)


def doorway(body, pace, heave):
    """The door of a cabin that goes up and down closes on a body in the doorway, and opens."""

    def lift(t):
        return pose((0.0, 30.0 + heave * sin(t), 0.0))

    def door(t):
        return times(lift(t), pose((1.75, 0.5 * HIGH, -3.0 + there_and_back(t, 3.0, 1.5))))

    parts = [lands.boxes(*DOORWAY), TriangleMesh.box((DOOR, HIGH, 1.5))]
    stage = Stage(parts, [lift, door], pace)
    mover, frames = _at_rest(stage, body, (1.75, 30.01 + STAND[body], 0.0)), []
    for _ in stage.frames(4.0):
        result = mover.update(stage.seconds)
        _, y, z = into(stage.poses[0], mover.position64)
        depth = max(STAND[body] - y, abs(z) + REACH[body] - 0.7)
        frames.append(_met(result, wrong=not result.grounded, depth=depth))
    return _in_all(frames)


def against_ceiling(body, pace, speed):
    """A lift carries a body at a ceiling that stands still, and down again."""
    tall, way = TALL[body], 2.0

    def motion(t):
        return pose((0.0, 1.0 + there_and_back(t, way, speed), 0.0))

    ceiling = ((-9.0, 1.0 + way + 0.7 * tall, -9.0), (9.0, 9.0, 9.0))
    slab = TriangleMesh.box((4.0, 0.4, 4.0))
    stage = Stage([slab], [motion], pace, land=lands.boxes(FLOOR, ceiling))
    mover, frames = _at_rest(stage, body, (0.3, 1.21 + STAND[body], 0.2)), []
    for _ in stage.frames(2.0 * way / speed):
        result = mover.update(stage.seconds)
        y = mover.position64[1]
        foot = y - STAND[body]
        deck = stage.poses[0][1, 3] + 0.2
        overlap = max(deck - foot, 0.0) if result.grounded else None
        wrong = foot < deck - 0.4 - tall
        frames.append(_met(result, wrong=wrong, depth=foot + tall - ceiling[0][1], overlap=overlap))
    return _in_all(frames)


WAYS = {"lift": (1, 1.0), "slab": (1, -1.0), "door": (0, 1.0)}  # the axis and direction of each
LEAVES = ("back", "removed", "put away")


class Vise(NamedTuple):
    """A part that presses a body against ground that stands still, goes on, and then is gone.

    Places are along its direction.
    """

    part: str
    collider: Collider
    stand: float  # height of the body's center over its foot
    half: float  # of the body along the direction
    floor: float  # height of what the body stands on at first
    front: float  # of the part, at first
    thick: float  # the part
    wall: float  # where the still ground begins
    still: tuple[HeightMap | TriangleMesh, ...]
    way: float  # of the part
    speed: float
    rate: int
    leaves: str
    resolver: str


def _deck(rng, bottom, thick):
    """Return a wide deck: a mesh, or a map with an underside."""
    if rng.chance(0.4):
        top = np.full((2, 2), bottom + thick)
        return HeightMap(top, cell_size=24.0, origin=(-12.0, 0.0, -12.0), thickness=thick)
    return lands.boxes(((-12.0, bottom, -12.0), (12.0, bottom + thick, 12.0)))


def vise_case(seed):
    """Draw a lift under a ceiling, a slab over a floor, or a door before a wall."""
    rng = Draws(seed)
    _, collider, stand, reach = draw_body(rng)
    part, thick = rng.one_of(list(WAYS)), rng.one_of((0.05, 0.3, 1.0))
    floor, gap, speed = rng.uniform(1.0, 3.0), rng.uniform(0.05, 0.5), 0.2 * rng.uniform(1, 7) ** 2
    still: tuple[Any, ...] = (_deck(rng, floor - thick, thick),)
    half = stand
    if part == "lift":
        front, wall = floor, floor + 2.0 * stand + gap
        still = (lands.boxes(FLOOR, ((-12.0, wall, -12.0), (12.0, wall + thick, 12.0))),)
    elif part == "slab":
        front, wall = -floor - 2.0 * stand - gap, -floor
    else:
        half, front, wall = reach, -reach - gap, reach + gap
        still += (lands.boxes(((wall, floor - 0.5, -12.0), (wall + thick, floor + 9.0, 12.0))),)
    beyond = min(rng.uniform(0.1, 5.0), 2.0 * speed)
    way = wall - 2.0 * half + beyond - front
    return Vise(
        part, collider, stand, half, floor, front, rng.one_of((0.1, 0.4, 3.0)), wall, still, way,
        speed, rng.one_of(RATES), rng.one_of(LEAVES), rng.one_of(RESOLVERS),
    )  # fmt: skip


def lift_on(body, leaves):
    """Return a lift that goes on for 2 m and more after its rider has come to a ceiling."""
    collider, stand, _ = BODIES[body]
    still = (lands.boxes(FLOOR, ((-12.0, 3.5, -12.0), (12.0, 3.8, 12.0))),)
    way = 5.0 - 2.0 * stand
    return Vise(
        "lift", collider, stand, stand, 1.0, 1.0, 0.4, 3.5, still, way, 1.5, 60, leaves, "shuffled"
    )


def _stage_of(vise):
    """Return a stage with the part of a vise, which goes there, rests for 0.2 s and comes back."""
    (axis, sign), lasts = WAYS[vise.part], vise.way / vise.speed

    def motion(t):
        gone = vise.speed * (min(t, lasts) - min(max(t - lasts - 0.2, 0.0), lasts))
        place = [0.0, vise.floor if axis == 0 else 0.0, 0.0]
        place[axis] = sign * (vise.front + gone - 0.5 * vise.thick)
        return pose(place)

    size = [8.0, 8.0, 8.0]
    size[axis] = vise.thick
    land, *more = vise.still
    parts = [TriangleMesh.box(size), *more]
    return Stage(parts, [motion], Pace(vise.rate, vise.rate), land=land)


class Pressed(NamedTuple):
    """The result of being pressed by a part that goes on, and let go."""

    inside: float  # deepest in what stands still, in meters
    off: float  # by how much the depth in the part that was told is wrong, at most
    most: float  # how far its front went beyond the near side of the body
    hung: int  # frames on the ground while in the air, after the part had gone
    walked: float  # then, as a part of the way


def _let_go(vise, stage, mover, is_passed):
    """Take the part away, and return (frames that the body hung in the air, part of its walk).

    A lift that comes back has its rider on it, and so has a slab that has passed the body.
    """
    if vise.leaves == "removed":
        stage.ground.remove(1)
    elif vise.leaves == "put away":
        stage.ground.move(1, pose((0.0, 300.0, 0.0)))
    lowest = 0.0 if vise.part == "lift" else vise.floor
    if vise.leaves == "back" and (vise.part == "lift" or (vise.part == "slab" and is_passed)):
        lowest = stage.poses[0][1, 3] + 0.5 * vise.thick
    hung = 0
    for _ in range(vise.rate):
        grounded = mover.update(stage.seconds).grounded
        hung += grounded and mover.position64[1] - vise.stand > lowest + IN_AIR
    start = mover.position64[2]
    for _ in range(vise.rate // 4):
        mover.velocity.z = 2.0
        mover.update(stage.seconds)
    return hung, (mover.position64[2] - start) / (2.0 * stage.seconds * (vise.rate // 4))


def press(vise):
    """A part presses a body, goes on far beyond its size, and is gone."""
    stage, (axis, sign) = _stage_of(vise), WAYS[vise.part]
    start = (0.0, vise.floor + vise.stand, 0.0)
    mover = character(stage.ground, vise.collider, start, resolver=vise.resolver)
    mover.update(stage.seconds)
    inside = off = most = 0.0
    comes, is_passed = vise.way / vise.speed, False
    for frame in stage.frames(comes + 0.2 + (comes + 0.1 if vise.leaves == "back" else 0.0)):
        told = math.fsum(one.depth for one in mover.update(stage.seconds).squeezed)
        center = sign * mover.position64[axis]
        front = sign * stage.poses[0][axis, 3] + 0.5 * vise.thick
        beyond = max(front - (center - vise.half), 0.0)
        is_passed = is_passed or beyond > 2.0 * vise.half + vise.thick
        most = max(most, beyond)
        if not is_passed or frame < comes * vise.rate:  # else it comes back from behind
            off = max(off, abs((0.0 if is_passed else beyond) - told))
        low = vise.floor if vise.part == "door" else 0.0
        in_floor = low - (mover.position64[1] - vise.stand)
        inside = max(inside, center + vise.half - vise.wall, in_floor)
    return Pressed(inside, off, most, *_let_go(vise, stage, mover, is_passed))


def left_behind(body):
    """A lift presses its rider to a ceiling, goes on through both and far up; the ceiling goes.

    Returns (height over the floor 2 s later, deepest squeeze told then, longest way in a frame as
    the ceiling goes).
    """
    ground = Ground([lands.boxes(FLOOR)])
    lift = ground.add(TriangleMesh.box((3.0, 0.4, 3.0)), transform=(0.0, 0.2, 0.0))
    ceiling = ground.add(TriangleMesh.box((6.0, 0.4, 6.0)), transform=(0.0, 3.0, 0.0))
    mover, told, longest = character(ground, body, (0.0, 0.4 + STAND[body], 0.0)), 0.0, 0.0
    for frame in range(240):
        ground.move(lift, (0.0, 0.2 + frame / 30, 0.0), 1 / 60)
        mover.update(1 / 60)
    for _ in range(120):
        told = max([told, *(one.depth for one in mover.update(1 / 60).squeezed)])
    height = mover.position64[1] - STAND[body]
    ground.remove(ceiling)
    for _ in range(30):
        before = mover.position64[1]
        mover.update(1 / 60)
        longest = max(longest, abs(mover.position64[1] - before))
    return height, told, longest


def jammed(body, resolver):
    """Stand on a block, a little into a ceiling, until the block is gone.

    Returns (height over the floor, whether it is grounded) a second later.
    """
    stand = STAND[body]
    ceiling = ((-9.0, 0.98 + 2.0 * stand, -9.0), (9.0, 6.0, 9.0))
    ground = Ground(
        [lands.boxes(FLOOR, ceiling), lands.boxes(((-1.0, 0.0, -1.0), (1.0, 1.0, 1.0)))]
    )
    mover = character(ground, body, (0.0, 1.0 + stand, 0.0), resolver=resolver)
    for frame in range(90):
        if frame == 30:
            ground.remove(1)
        mover.update(1 / 60)
    return mover.position64[1] - stand, mover.grounded
