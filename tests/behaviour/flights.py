"""Flights: placed on slopes, drops, jumps, ledges, ceilings; and the way to a stop.

Each function draws one case from a seed, plays it, and compares every frame with closed forms: the
parabola of the fall against a plane, a rim or a ceiling. They know nothing of the library's code.
"""

import itertools
import math
from typing import NamedTuple

import numpy as np

from terrain_physics import HeightMap, TriangleMesh
from tests.behaviour import lands
from tests.behaviour.drive import RESOLVERS, SLOPE_LIMIT, character
from tests.behaviour.levels import BODIES, RATES, draw_body, turned
from tests.helpers.draws import Draws
from tests.helpers.portable import cos, length_of, sin, tan

GRAVITY = 9.81
ALIKE = 1e-6  # meters, and m/s, by which a flight may differ from its closed form
HALF = 32.0  # of a plane, in meters


class Plane(NamedTuple):
    """A plane with everything that an oracle needs of it."""

    ground: HeightMap | TriangleMesh
    origin: np.ndarray  # a point of it, around which there is room
    slopes: np.ndarray  # along x and z

    def height(self, x, z):
        """Return how high the plane is at a place."""
        x, z = x - self.origin[0], z - self.origin[2]
        return self.origin[1] + self.slopes[0] * x + self.slopes[1] * z

    def rest(self, body):
        """Return how high the center of a body that touches the plane is over it."""
        _, stand, reach = BODIES[body]
        if body == "box":
            return float(stand + reach * np.abs(self.slopes).sum())
        return stand + reach * (length_of((1.0, *self.slopes)) - 1.0)


def draw_plane(rng, steepest=44.0):
    """Return a plane: a map that rises along x, or a mesh of odd triangles that rises any way."""
    degrees = rng.chance(0.8) * rng.uniform(0.0, steepest)
    slope = tan(math.radians(degrees))
    far = 1e5 * rng.chance(0.2)
    if rng.chance(0.4):
        columns = np.tile(np.arange(2 * HALF), (int(2 * HALF), 1))
        land = HeightMap(columns, height_scale=slope or 1.0, origin=(far, 0.0, -far))
        if slope == 0.0:
            land = HeightMap(0.0 * columns, origin=(far, 0.0, -far))
        origin = np.array([far + HALF, slope * HALF, HALF - far])
        return Plane(land, origin, np.array([slope, 0.0]))
    way = rng.uniform(0.0, 2 * math.pi)
    slopes = slope * np.array([cos(way), sin(way)])
    flat = lands.triangulated(rng.below(4), size=16)
    vertices = (np.array(flat.vertices, dtype=float) - (8.0, 0.0, 8.0)) * (HALF / 8.0)
    vertices[:, 1] = vertices[:, 0] * slopes[0] + vertices[:, 2] * slopes[1]
    origin = np.array([far, 0.0, -far])
    return Plane(TriangleMesh(vertices + origin, flat.faces), origin, slopes)


def _times(rng):
    """Yield the seconds of frames: of one rate, or of all rates mixed."""
    rate = rng.one_of(RATES) if rng.chance(0.7) else 0
    while True:
        yield 1.0 / (rate or rng.one_of(RATES))


def _round(values):
    """Return numbers that float32 holds, so that they are what the game writes."""
    return np.round(64.0 * np.asarray(values)) / 64.0


def _level_velocity(rng, fastest=6.0):
    angle, speed = rng.uniform(0.0, 2 * math.pi), rng.uniform(0.0, fastest)
    return _round([speed * cos(angle), speed * sin(angle)])


def _velocity64(mover):
    return np.array(mover.state().values[3:6])


def _near(rng, plane):
    x, z = plane.origin[[0, 2]] + rng.uniform(-2.0, 2.0, 2)
    return float(x), float(z)


def placed(seed):
    """Return how far a body moves in the frame after it is placed on a slope, feet touching."""
    rng = Draws(seed)
    body, collider, *_ = draw_body(rng)
    plane, seconds = draw_plane(rng), next(_times(rng))
    x, z = _near(rng, plane)
    start = (x, plane.height(x, z) + plane.rest(body), z)
    mover = character(plane.ground, collider, start, resolver=rng.one_of(RESOLVERS))
    if rng.chance(0.3):  # one that has stood elsewhere
        mover.update(seconds)
        x, z = _near(rng, plane)
        start = (x, plane.height(x, z) + plane.rest(body), z)
        mover.position = start
    grounded = mover.update(seconds).grounded
    return math.dist(mover.position64, start) if grounded else math.inf


def stays_put(moved):
    """Tell whether a body that was placed stays there."""
    return moved <= 1e-5


class Flight(NamedTuple):
    """The result of a flight, against its closed form."""

    off: float  # the farthest from the parabola while in the air, in meters
    speed: float  # the greatest difference of velocities there, in m/s
    clock: float  # of the time in the air, in seconds
    frames: int  # after the first frame in which it should have landed
    aside: float  # horizontally from its way when it landed and after that, in meters
    height: float  # from the ground when it landed and after that, in meters
    blinks: int  # frames not grounded after it landed
    impact: float  # of the landing speed reported, in m/s


WORST = Flight(0.0, 0.0, 0.0, 0, 0.0, 0.0, 0, 0.0)


def is_exact(found):
    """Tell whether a flight went along its parabola, and landed where and when that does."""
    return (
        found.off <= ALIKE
        and found.speed <= 1e-9
        and found.clock <= 1e-9
        and found.frames == 0
        and found.aside <= 1e-5
        and found.height <= 1e-5
        and found.blinks == 0
        and found.impact <= 1e-3
    )


def _parabola(start, velocity, t):
    return start + velocity * t + (0.0, -0.5 * GRAVITY * t * t, 0.0)


def _speed_of_fall(start, velocity, gap, low, high):
    """Return how fast a parabola falls where it meets the ground between two moments."""
    for _ in range(60):
        middle = 0.5 * (low + high)
        above = gap(_parabola(start, velocity, middle)) > 0.0
        low, high = (middle, high) if above else (low, middle)
    return max(GRAVITY * low - velocity[1], 0.0)


def _follow(mover, times, start, velocity, gap, command, *, seconds_after=0.2):
    """Fly until a while after the landing, each frame against the parabola; see `Flight`.

    ``gap`` (place) says how high a place of the body is over where it stands. ``command`` gives the
    horizontal velocity that the game writes each frame, if any.
    """
    level = velocity * (1.0, 0.0, 1.0)
    elapsed, late, end, found = 0.0, 0, 20.0, WORST
    landed = False
    while elapsed < end:
        before, elapsed = elapsed, elapsed + next(times)
        if command is not None:
            mover.velocity.x, mover.velocity.z = command
        grounded = mover.update(elapsed - before).grounded
        place, flown = np.array(mover.position64), _parabola(start, velocity, elapsed)
        report = mover.ground_report()
        if not landed and not grounded:
            if gap(flown) < -ALIKE:
                late += 1
                if late > 3:
                    break
                continue
            fall = _velocity64(mover) - velocity + (0.0, GRAVITY * elapsed, 0.0)
            found = found._replace(
                off=max(found.off, float(np.abs(place - flown).max())),
                speed=max(found.speed, float(np.abs(fall).max())),
                clock=max(found.clock, abs(report.air_time - elapsed)),
            )
            continue
        if not landed:
            landed, end = True, elapsed + seconds_after
            if gap(flown) > ALIKE:
                late = -1  # too early
            impact = _speed_of_fall(start, velocity, gap, before, elapsed)
            found = found._replace(impact=abs(report.landing_speed - impact))
        aside = place - (start + level * elapsed)
        found = found._replace(
            aside=max(found.aside, math.hypot(aside[0], aside[2])),
            height=max(found.height, abs(gap(place))),
            blinks=found.blinks + (not grounded),
        )
    return found._replace(frames=late if landed else 99)


def _over(plane, body):
    rest = plane.rest(body)
    return lambda place: place[1] - plane.height(place[0], place[2]) - rest


def drop(seed):
    """Let a body fall on a slope, with any velocity."""
    rng = Draws(seed)
    body, collider, *_ = draw_body(rng)
    plane, times = draw_plane(rng), _times(rng)
    x, z = _near(rng, plane)
    start = np.array([x, plane.height(x, z) + plane.rest(body) + rng.uniform(0.05, 2.0), z])
    level = _level_velocity(rng)
    velocity = np.array([level[0], _round(rng.uniform(-4.0, 3.0)), level[1]])
    mover = character(
        plane.ground, collider, start, resolver=rng.one_of(RESOLVERS), ground_friction=0.0
    )
    mover.velocity = velocity
    command = level if rng.chance(0.5) else None
    return _follow(mover, times, start, velocity, _over(plane, body), command)


def jump(seed):
    """Jump from a slope, standing or walking any way on it."""
    rng = Draws(seed)
    body, collider, *_ = draw_body(rng)
    plane, times = draw_plane(rng), _times(rng)
    x, z = _near(rng, plane)
    level = _level_velocity(rng) * rng.chance(0.8)
    rate = 1 / 60
    lead = np.array([x - 3 * rate * level[0], 0.0, z - 3 * rate * level[1]])
    lead[1] = plane.height(lead[0], lead[2]) + plane.rest(body)
    mover = character(plane.ground, collider, lead, resolver=rng.one_of(RESOLVERS))
    mover.update(rate)  # else it would jump off downhill
    for _ in range(3):
        mover.velocity.x, mover.velocity.z = level
        mover.update(rate)
    start = np.array(mover.position64)
    rise = max(float((plane.slopes * level).sum()), 0.0)
    velocity = np.array([level[0], _round(rise + rng.uniform(0.5, 6.0)), level[1]])
    mover.velocity.y = velocity[1]
    return _follow(mover, times, start, velocity, _over(plane, body), level)


def jump_beside_wall(seed):
    """Jump on level ground while pressing against a wall."""
    rng = Draws(seed)
    body, collider, stand, reach = draw_body(rng)
    turn = rng.one_of([0.0, rng.uniform(0.0, 360.0)]) if body != "box" else 0.0
    c, s = cos(math.radians(turn)), sin(math.radians(turn))
    land = turned(
        lands.boxes(
            ((-20.0, -1.0, -20.0), (0.0, 0.0, 20.0)), ((0.0, -1.0, -20.0), (1.0, 9.0, 20.0))
        ),
        turn,
    )
    into, along = rng.uniform(0.5, 5.0), rng.uniform(-4.0, 4.0)
    command = _round([c * into + s * along, -s * into + c * along])
    mover = character(
        land,
        collider,
        np.array([-c * reach, stand, s * reach]),
        resolver=rng.one_of(RESOLVERS),
    )
    for _ in range(3):
        mover.velocity.x, mover.velocity.z = command
        mover.update(1 / 60)
    start = np.array(mover.position64)
    slide = command @ (s, c)
    velocity = np.array([s * slide, _round(rng.uniform(0.5, 7.0)), c * slide])
    mover.velocity.y = velocity[1]
    return _follow(mover, _times(rng), start, velocity, lambda p: p[1] - stand, command)


def jump_through_hole(seed):
    """Jump up through a hole in a ceiling, and come down through it."""
    rng = Draws(seed)
    _, collider, stand, reach = draw_body(rng)
    rim, low = reach + rng.uniform(0.02, 0.3), 2.0 * stand + rng.uniform(0.1, 1.0)
    plates = [
        ((-9.0, low, -9.0), (-rim, low + 0.3, 9.0)), ((rim, low, -9.0), (9.0, low + 0.3, 9.0)),
        ((-rim, low, -9.0), (rim, low + 0.3, -rim)), ((-rim, low, rim), (rim, low + 0.3, 9.0)),
    ]  # fmt: skip
    land = lands.boxes(((-9.0, -1.0, -9.0), (9.0, 0.0, 9.0)), *plates)
    mover = character(land, collider, (0.0, stand, 0.0), resolver=rng.one_of(RESOLVERS))
    mover.update(1 / 60)
    start, velocity = np.array(mover.position64), np.array([0.0, _round(rng.uniform(4, 9)), 0.0])
    mover.velocity.y = velocity[1]
    return _follow(mover, _times(rng), start, velocity, lambda p: p[1] - stand, None)


class Path(NamedTuple):
    """The result of a path that leaves the ground and comes back, against its closed form."""

    off: float  # in meters, in any frame
    wrong: int  # frames in the air that should be on the ground, or the other way
    clock: float  # of the time in the air, in seconds


def _compare(mover, times, path, leaves, lands, command=None):
    """Compare a mover with ``path`` (seconds), a place, to a while after it should have landed."""
    off, wrong, clock, elapsed = 0.0, 0, 0.0, 0.0
    while elapsed < lands + 0.1:
        seconds = next(times)
        elapsed += seconds
        if command is not None:
            mover.velocity.x, mover.velocity.z = command
        grounded = mover.update(seconds).grounded
        off = max(off, float(np.abs(np.array(mover.position64) - path(elapsed)).max()))
        flies = leaves < elapsed < lands
        sure = min(abs(elapsed - leaves), abs(elapsed - lands)) > ALIKE
        wrong += sure and grounded == flies
        if sure and flies:
            clock = max(clock, abs(mover.ground_report().air_time - (elapsed - leaves)))
    return Path(off, wrong, clock)


def keeps_to(found):
    """Tell whether a body kept to its closed form."""
    return found.off <= ALIKE and found.wrong == 0 and found.clock <= ALIKE


class Bump(NamedTuple):
    """The result of a jump against a ceiling."""

    off: float  # from the closed form, in meters
    most: float  # that it may be: the fall of one frame
    late: int  # frames


def bump(seed):
    """Jump against a ceiling: return (how far off, how far it may be, how late it lands).

    It may hang at the ceiling to the end of a step: half g t^2, and one frame, at most.
    """
    rng = Draws(seed)
    _, collider, stand, _ = draw_body(rng)
    room = rng.uniform(0.1, 1.0)
    land = lands.room(ceiling=2.0 * stand + room)
    mover = character(land, collider, (0.3, stand, 0.1), resolver=rng.one_of(RESOLVERS))
    mover.update(1 / 60)
    speed = float(_round(math.sqrt(2 * GRAVITY * room) + rng.uniform(0.3, 4.0)))
    mover.velocity.y = speed
    hit = (speed - math.sqrt(speed * speed - 2 * GRAVITY * room)) / GRAVITY
    down = hit + math.sqrt(2 * room / GRAVITY)

    def path(t):
        height = speed * t - 0.5 * GRAVITY * t**2
        if t > hit:
            height = max(room - 0.5 * GRAVITY * (t - hit) ** 2, 0.0)
        return np.array([0.3, stand + height, 0.1])

    rate = rng.one_of(RATES)
    found = _compare(mover, itertools.repeat(1 / rate), path, 0.0, down)
    return Bump(found.off, 0.5 * GRAVITY / rate**2, found.wrong)


def bumps_well(found):
    """Tell whether a ceiling stopped a jump, and then let it fall."""
    return found.off <= found.most + ALIKE and found.late <= 1


def drop_on_rim(seed):
    """Let a round body fall beside or on the rim of a platform, where it can stand."""
    rng = Draws(seed)
    body = ("sphere", "capsule")[seed % 2]
    collider, stand, radius = BODIES[body]
    beyond = float(rng.uniform(-0.2, radius * sin(SLOPE_LIMIT) - 1e-3))
    high, above = rng.uniform(1.0, 4.0), rng.uniform(0.05, 2.0)
    land = platform(high)
    round_off = radius - math.sqrt(radius * radius - max(beyond, 0.0) ** 2)
    rest = high + stand - round_off
    start = np.array([beyond, rest + above, 0.0])
    mover = character(land, collider, start, resolver=rng.one_of(RESOLVERS))

    def path(t):
        return start - (0.0, min(0.5 * GRAVITY * t * t, above), 0.0)

    return _compare(mover, _times(rng), path, 0.0, math.sqrt(2.0 * above / GRAVITY))


def platform(high):
    """Return a platform that ends at x = 0, over a floor."""
    return lands.boxes(
        ((-20.0, -1.0, -40.0), (0.0, high, 40.0)), ((0.0, -1.0, -40.0), (40.0, 0.0, 40.0))
    )


def _draw_fall_off(rng):
    """Return (body, velocity) that leaves a rim without touching it any more."""
    while True:
        body = draw_body(rng)[0]
        level = _level_velocity(rng)
        reach = BODIES[body][2]
        ahead, over = reach * sin(SLOPE_LIMIT), reach * cos(SLOPE_LIMIT)
        times = np.linspace(0.0, 0.5, 500)
        low, far = over - 0.5 * GRAVITY * times**2, ahead + level[0] * times
        apart = np.sqrt(low * low + far * far)
        if level[0] >= 0.5 and (body == "box" or apart.min() >= reach * (1.0 - 1e-12)):
            return body, level


def ledge(seed):
    """Walk off a platform, any way: against the fall from the rim where it leaves the ground."""
    rng = Draws(seed)
    body, level = _draw_fall_off(rng)
    collider, stand, reach = BODIES[body]
    high = rng.uniform(1.0, 4.0)
    # A round body goes down along the rim until its contact there is as steep as the limit.
    is_round = body != "box"
    leaves_at = reach * sin(SLOPE_LIMIT) if is_round else reach
    lost = reach * (1.0 - cos(SLOPE_LIMIT)) if is_round else 0.0
    start = np.array([rng.uniform(-0.5, 0.0), high + stand, 0.0])
    mover = character(platform(high), collider, start, resolver=rng.one_of(RESOLVERS))
    mover.update(1 / 60)
    leaves = (leaves_at - start[0]) / level[0]

    def path(t):
        x, z = start[[0, 2]] + level * t
        if t > leaves:
            y = max(high - lost - 0.5 * GRAVITY * (t - leaves) ** 2, 0.0)
        else:
            y = high - (reach - math.sqrt(reach**2 - max(x, 0.0) ** 2) if is_round else 0.0)
        return np.array([x, y + stand, z])

    down = leaves + math.sqrt(2.0 * (high - lost) / GRAVITY)
    return _compare(mover, _times(rng), path, leaves, down, level)


class Stop(NamedTuple):
    """The result of letting go of a walk."""

    way: float  # over v^2 / (2 f)
    off: float  # seconds by which the frame of the standstill misses v / f


def stop(seed):
    """Let go of a walk, and see where it stops."""
    rng = Draws(seed)
    body, collider, *_ = draw_body(rng)
    plane, times = draw_plane(rng), _times(rng)
    friction = rng.uniform(4.0, 40.0)
    x, z = _near(rng, plane)
    start = (x, plane.height(x, z) + plane.rest(body), z)
    mover = character(
        plane.ground, collider, start, resolver=rng.one_of(RESOLVERS), ground_friction=friction
    )
    angle, speed = rng.uniform(0.0, 2 * math.pi), rng.uniform(0.5, 6.0)
    level = _round([speed * cos(angle), speed * sin(angle)])
    mover.update(next(times))
    for _ in range(3):
        mover.velocity.x, mover.velocity.z = level
        mover.update(next(times))
    begin, speed, elapsed = np.array(mover.position64), math.hypot(*level), 0.0
    while any(mover.velocity):
        before, elapsed = elapsed, elapsed + next(times)
        mover.update(elapsed - before)
    x, _, z = np.array(mover.position64) - begin
    free = speed / friction
    return Stop(math.hypot(x, z) / (0.5 * speed * free), max(free - elapsed, before - free))


def stops_well(found):
    """Tell whether a stop is as long as it should be, and in the frame where it should be."""
    return abs(found.way - 1.0) <= 0.01 and found.off <= 1e-9


def jump_of(body, height, rate):
    """Jump from the floor for a height; return the greatest height of the parabola flown.

    The frames lie on either side of the top, so it is that of the last frame on the way up, and of
    the speed that is left there.
    """
    collider, stand, _ = BODIES[body]
    mover = character(lands.tilted(0.0), collider, (100.3, stand, 100.7))
    mover.update(1 / rate)
    mover.velocity.y = math.sqrt(2 * GRAVITY * height)
    top = 0.0
    for _ in range(rate):
        mover.update(1 / rate)
        speed = _velocity64(mover)[1]
        if speed > 0.0:
            top = mover.position64[1] - stand + speed * speed / (2 * GRAVITY)
    return top


def ways_of_landing(rate, speed):
    """Return the way of each frame of a jump over the floor and of a while after it."""
    mover = character(lands.tilted(0.0), "sphere", (100.3, 0.5, 100.7))
    mover.update(1 / rate)
    mover.velocity.y = 4.0
    ways = []
    for _ in range(rate):
        before = mover.position64[0]
        mover.velocity.x = speed
        mover.update(1 / rate)
        ways.append(mover.position64[0] - before)
    return ways


def jump_too_slow_for_a_slope():
    """Run up a slope that rises faster than a jump: return (grounded, height gained, wanted)."""
    mover = character(lands.tilted(0.75), "sphere", (100.3, 100.3 * 0.75 + 0.625, 100.7))
    mover.update(1 / 60)
    grounded, start = [], mover.position64[1]
    for frame in range(30):
        mover.velocity.x = 6.0
        if frame == 10:
            mover.velocity.y = 4.0
        grounded.append(mover.update(1 / 60).grounded)
    return grounded, mover.position64[1] - start, 30 * 0.75 * 6.0 / 60
