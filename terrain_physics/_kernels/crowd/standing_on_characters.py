"""Heads: what characters of a crowd fall on that are above others."""

import math

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.contacts.body import foot_of
from terrain_physics._kernels.character.others.half_planes import HEAD, HOLDS, WHOSE_HEAD
from terrain_physics._kernels.character.reports.hits import HitLog, note_character
from terrain_physics._kernels.character.state.free_motion import along_ground, through_air
from terrain_physics._kernels.character.state.layout import (
    GROUND_KIND,
    GROUND_NORMAL,
    GROUND_PART,
    GROUND_POINT,
    GROUND_TRIANGLE,
    ON_HEAD,
    put_three_at,
)
from terrain_physics._kernels.character.state.motion import (
    Footing,
    Motion,
    Mover,
    Tally,
    with_forces,
)
from terrain_physics._kernels.character.substeps import Pace
from terrain_physics._kernels.crowd.agents import (
    FALLS,
    FLOOR,
    FLOOR_HOLDS,
    HIGH,
    HIGHEST,
    IN_AIR,
    IS_ON_HEAD,
    LEAST_OVERLAP,
    LIFT,
    LOW,
    LOWEST,
    ON_TOP,
    PARTING_SPEED,
    RADIUS,
    SLIDE,
    UNDER,
    X,
    Z,
    any_direction,
    distance2_of,
    is_above,
    is_over_head,
    list_near,
    meets,
)
from terrain_physics._kernels.math.vec3 import Vec3, add
from terrain_physics._kernels.surface.shapes import Body
from terrain_physics._kernels.types import Floats, Longs, Words

_UP: Vec3 = (0.0, 1.0, 0.0)

# For how long one is in the air and tries the nearest side, before it goes a long way.
_PATIENCE = 0.5  # seconds

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)

# How far above a head is on it.
_SLACK = 1e-6  # meters


@kernel
def find_heads(
    discs: Floats,
    order: Longs,
    cells: Longs,
    starts: Longs,
    size: float,
    widest: float,
    seconds: float,
    holds: bool,
    words: Words,
    first: int,
    last: int,
) -> None:
    """Write how far discs first..last may fall that have others below them: onto their heads.

    Who has come into a head from above is lifted onto it as that rises, and no faster than others
    are parted besides. If heads do not ``holds``, it is also written where it slides off them. The
    arrays are as of `list_pairs`, ``words`` too.
    """
    near, around = np.empty(len(discs), dtype=np.int64), np.empty(len(discs), dtype=np.int64)
    for i in range(first, last):
        if discs[i, FALLS] == 0.0 and not holds:
            continue
        reach = float(discs[i, RADIUS]) + widest
        count = 0
        for j in range(list_near(discs, cells, starts, size, i, reach, near)):
            if is_over_head(discs, i, near[j]) and meets(discs, i, near[j]):
                near[count] = near[j]
                count += 1
        if count == 0:
            continue
        under = _highest(discs, order, words, near, count)
        _put_floor(discs, order, i, under, seconds)
        if not holds and discs[i, LOW] <= discs[under, HIGHEST] + ON_TOP:
            nearest = _nearest(discs, order, words, i, near, count)
            x, z = _away(discs, i, nearest)
            is_free = count == 1 and _is_free_beside(
                discs, cells, starts, size, widest, i, nearest, x, z, around
            )
            if (x == 0.0 and z == 0.0) or (not is_free and discs[i, IN_AIR] > _PATIENCE):
                x, z = _long_way(words[order[i]], float(discs[i, IN_AIR]))
            far = PARTING_SPEED * seconds
            discs[i, SLIDE], discs[i, SLIDE + 1] = far * x, far * z


@kernel
def _highest(discs: Floats, order: Longs, words: Words, heads: Longs, count: int) -> int:
    """Return whose of some heads gets highest; of several that do, the one of the least word."""
    best = heads[0]
    for j in range(1, count):
        k = heads[j]
        head, height = float(discs[k, HIGHEST]), float(discs[best, HIGHEST])
        if head > height or (head == height and words[order[k]] < words[order[best]]):
            best = k
    return int(best)


@kernel
def _put_floor(discs: Floats, order: Longs, i: int, under: int, seconds: float) -> None:
    """Write that a character falls onto a head at most, unless it stands beside it and as high."""
    low, height = float(discs[i, LOW]), float(discs[under, HIGHEST])
    if discs[i, FALLS] == 0.0 and low >= height:
        return
    rise = max(float(height - discs[under, HIGH] + discs[under, LIFT]), 0.0)
    discs[i, FLOOR] = min(height, low + rise + PARTING_SPEED * seconds)
    discs[i, LOWEST] = max(float(discs[i, LOWEST]), min(height, low))
    discs[i, UNDER] = float(order[under])
    discs[i, FLOOR_HOLDS] = 0.0 if discs[under, FALLS] > discs[under, IS_ON_HEAD] else 1.0


@kernel
def _nearest(discs: Floats, order: Longs, words: Words, i: int, heads: Longs, count: int) -> int:
    """Return whose head is nearest as seen from above; of equally near ones, the least word's."""
    best = heads[0]
    for j in range(1, count):
        k = heads[j]
        here, least = distance2_of(discs, i, k), distance2_of(discs, i, best)
        if here < least or (here == least and words[order[k]] < words[order[best]]):
            best = k
    return int(best)


@kernel
def _away(discs: Floats, i: int, head: int) -> tuple[float, float]:
    """Return the unit direction to the nearest side of a head; zeros exactly over its middle."""
    distance = math.sqrt(distance2_of(discs, i, head))
    if distance == 0.0:
        return 0.0, 0.0
    x = float(discs[i, X] - discs[head, X]) / distance
    return x, float(discs[i, Z] - discs[head, Z]) / distance


@kernel
def _is_free_beside(
    discs: Floats,
    cells: Longs,
    starts: Longs,
    size: float,
    widest: float,
    i: int,
    head: int,
    x: float,
    z: float,
    around: Longs,
) -> bool:
    """Tell whether no other head is below a character once it is off one in a direction.

    ``around`` (n,) is written to.
    """
    radius = float(discs[i, RADIUS])
    left = radius + float(discs[head, RADIUS]) - math.sqrt(distance2_of(discs, i, head))
    reach = left + radius + widest
    for j in range(list_near(discs, cells, starts, size, i, reach, around)):
        k = around[j]
        away_x = float(discs[k, X] - discs[i, X]) - left * x
        away_z = float(discs[k, Z] - discs[i, Z]) - left * z
        radii = radius + float(discs[k, RADIUS]) - LEAST_OVERLAP
        is_there = away_x * away_x + away_z * away_z < radii * radii
        if k != head and is_there and is_above(discs, i, k) and meets(discs, i, k):
            return False
    return True


@kernel
def _long_way(word: np.uint64, in_air: float) -> tuple[float, float]:
    """Return the unit direction in which a character leaves a crowd over its heads.

    It follows from a word, and is another one after 1, 3, 7, 15 ... seconds: a wall may be in the
    way, and a crowd may be large.
    """
    turn, end = 1, 1.0
    while end <= in_air:
        turn, end = turn + 1, 2.0 * end + 1.0
    mixed = word ^ (np.uint64(turn) * _GOLDEN)
    x, z = any_direction(mixed)
    return (x, z) if mixed & np.uint64(1) else (-x, -z)


@kernel(inline=True, lent=True)
def is_over_heads(crowd: Floats) -> bool:
    """Tell whether others are below a character, whose row of a crowd it is."""
    return len(crowd) > 0 and crowd[HEAD] > -np.inf


@kernel
def to_head(
    crowd: Floats, mover: Mover, motion: Motion, pace: Pace, body: Body, was_on_head: bool
) -> tuple[bool, Mover, Motion]:
    """Return (whether a step is bound by the head below, how a body takes it).

    It leads no lower than that. Who ``was_on_head`` already follows it down as far as it would snap
    to the ground.
    """
    velocity = motion.velocity
    rise = float(crowd[HEAD]) - foot_of(add(motion.base, motion.offset), body)[1]
    (_, fall, _), _ = through_air(velocity, mover.gravity, pace.seconds)
    is_pulled = velocity[1] <= 0.0 and (mover.gravity > 0.0 or mover.by_sum)
    follows = was_on_head and is_pulled and rise >= -mover.snap
    if fall >= rise and not follows:
        return False, mover, motion
    velocity = (velocity[0], rise / pace.seconds, velocity[2])
    footing = Footing(False, False, _UP, False, 0.0)
    motion = Motion(motion.base, motion.offset, velocity, footing, motion.tally)
    return True, with_forces(mover, 0.0, mover.friction), motion


@kernel(apart=True)
def on_head(
    crowd: Floats, mover: Mover, before: Motion, ahead: Motion, seconds: float, body: Body,
    log: HitLog, was_on_head: bool,
) -> tuple[bool, Motion]:  # fmt: skip
    """Return (whether a step has ended on a head, the motion after it).

    ``before`` is the motion before a step that was bound by the head. Where heads hold it, the body
    is grounded then, and friction slows it. What it came upon is noted, unless it ``was_on_head``
    already.
    """
    foot = foot_of(add(ahead.base, ahead.offset), body)
    if ahead.footing.grounded or foot[1] > crowd[HEAD] + _SLACK:
        return False, ahead
    falling, tally = max(-before.velocity[1], 0.0), ahead.tally
    hits = tally.hits
    if not was_on_head:
        who = float(crowd[WHOSE_HEAD])
        hits = note_character(log, hits, who, foot, _UP, falling, 0.0)
    holds = crowd[HOLDS] != 0.0
    velocity = (ahead.velocity[0], 0.0, ahead.velocity[2])
    if holds and mover.walks:
        _, velocity = along_ground(velocity, mover.friction, seconds)
    landing = max(tally.landing, falling)
    tally = Tally(
        tally.contacts, tally.depth, tally.rounds, tally.lifted, landing, tally.air_time, hits
    )
    footing = Footing(holds, holds and mover.walks, _UP, False, 0.0)
    return True, Motion(ahead.base, ahead.offset, velocity, footing, tally)


@kernel
def report_head(state: Floats, center: Vec3, body: Body) -> None:
    """Write that a body stands on a head, or slides off it."""
    state[GROUND_KIND], state[GROUND_PART], state[GROUND_TRIANGLE] = ON_HEAD, -1.0, -1.0
    put_three_at(state, GROUND_NORMAL, _UP)
    put_three_at(state, GROUND_POINT, foot_of(center, body))
