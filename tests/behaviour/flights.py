"""Flights: placed on slopes, drops, jumps, ledges, ceilings; and the way to a stop.

Each function draws one case from a seed, plays it, and compares every frame with closed forms: the
parabola of the fall against a plane, a rim or a ceiling. They know nothing of the library's code.
"""

import math
from typing import NamedTuple

import numpy as np

from terrain_physics import HeightMap, TriangleMesh
from tests.behaviour import lands
from tests.behaviour.drive import RESOLVERS, SLOPE_LIMIT, character
from tests.behaviour.levels import BODIES, RATES, draw_body, turned

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
        return self.origin[1] + self.slopes @ (x - self.origin[0], z - self.origin[2])

    def rest(self, body):
        """Return how high the center of a body that touches the plane is over it."""
        upright = math.hypot(1.0, *self.slopes)
        if body == "box":
            x, y, z = BODIES[body][0].half_extents64
            return float(y + x * abs(self.slopes[0]) + z * abs(self.slopes[1]))
        collider = BODIES[body][0]
        half = 0.5 * getattr(collider, "height", 2 * collider.radius) - collider.radius
        return half + collider.radius * upright


def draw_plane(rng, steepest=44.0):
    """Return a plane: a map that rises along x, or a mesh of odd triangles that rises any way."""
    degrees = rng.choice([0.0, 1.0], p=[0.2, 0.8]) * rng.uniform(0.0, steepest)
    slope = math.tan(math.radians(degrees))
    far = rng.choice([0.0, 1e5], p=[0.8, 0.2])
    if rng.random() < 0.4:
        columns = np.tile(np.arange(2 * HALF), (int(2 * HALF), 1))
        land = HeightMap(columns, height_scale=slope or 1.0, origin=(far, 0.0, -far))
        if slope == 0.0:
            land = HeightMap(0.0 * columns, origin=(far, 0.0, -far))
        origin = np.array([far + HALF, slope * HALF, HALF - far])
        return Plane(land, origin, np.array([slope, 0.0]))
    way = rng.uniform(0.0, 2 * math.pi)
    slopes = slope * np.array([math.cos(way), math.sin(way)])
    flat = lands.triangulated(int(rng.integers(4)), size=16)
    vertices = (np.array(flat.vertices, dtype=float) - (8.0, 0.0, 8.0)) * (HALF / 8.0)
    vertices[:, 1] = vertices[:, [0, 2]] @ slopes
    origin = np.array([far, 0.0, -far])
    return Plane(TriangleMesh(vertices + origin, flat.faces), origin, slopes)


def _times(rng):
    """Yield the seconds of frames: of one rate, or of all rates mixed."""
    rate = int(rng.choice(RATES)) if rng.random() < 0.7 else 0
    while True:
        yield 1.0 / (rate or int(rng.choice(RATES)))


def _round(values):
    """Return numbers that float32 holds, so that they are what the game writes."""
    return np.round(64.0 * np.asarray(values)) / 64.0


def _level_velocity(rng, fastest=6.0):
    angle, speed = rng.uniform(0.0, 2 * math.pi), rng.uniform(0.0, fastest)
    return _round([speed * math.cos(angle), speed * math.sin(angle)])


def _velocity64(mover):
    return np.array(mover.state().values[3:6])


def _near(rng, plane):
    x, z = plane.origin[[0, 2]] + rng.uniform(-2.0, 2.0, 2)
    return float(x), float(z)


def placed(seed):
    """Return how far a body moves in the frame after it is placed on a slope, feet touching."""
    rng = np.random.default_rng(seed)
    body, collider, *_ = draw_body(rng)
    plane, seconds = draw_plane(rng), next(_times(rng))
    x, z = _near(rng, plane)
    start = (x, plane.height(x, z) + plane.rest(body), z)
    mover = character(plane.ground, collider, start, resolver=str(rng.choice(RESOLVERS)))
    if rng.random() < 0.3:  # one that has stood elsewhere
        mover.update(seconds)
        x, z = _near(rng, plane)
        start = (x, plane.height(x, z) + plane.rest(body), z)
        mover.position = start
    grounded = mover.update(seconds).grounded
    return math.dist(mover.position64, start) if grounded else math.inf


class Flight(NamedTuple):
    """What came of a flight, against its closed form."""

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


def _follow(mover, times, start, velocity, gap, command, *, most=20.0):
    """Fly until a second after the landing, each frame against the parabola; see `Flight`.

    ``gap`` (place) says how high a place of the body is over where it stands. ``command`` gives the
    horizontal velocity that the game writes each frame, if any.
    """
    level = np.array([velocity[0], 0.0, velocity[2]])
    elapsed, late, landed, found = 0.0, 0, None, WORST

    def parabola(t):
        return start + velocity * t + (0.0, -0.5 * GRAVITY * t * t, 0.0)

    while elapsed < most and (landed is None or elapsed < landed + 0.2):
        seconds = next(times)
        before, elapsed = elapsed, elapsed + seconds
        if command is not None:
            mover.velocity.x, mover.velocity.z = command
        grounded = mover.update(seconds).grounded
        place, report = np.array(mover.position64), mover.ground_report()
        if landed is None:
            over = gap(parabola(elapsed))
            if grounded and over < ALIKE:
                landed = elapsed
                low, high = before, elapsed
                for _ in range(60):
                    middle = 0.5 * (low + high)
                    low, high = (middle, high) if gap(parabola(middle)) > 0.0 else (low, middle)
                impact = max(GRAVITY * low - velocity[1], 0.0)
                found = found._replace(
                    frames=late, impact=abs(mover.ground_report().landing_speed - impact)
                )
            elif grounded:
                return found._replace(frames=-1)  # too early
            elif over < -ALIKE:
                late += 1
                if late > 3:
                    return found._replace(frames=late)
                continue
            else:
                drop = np.array([0.0, GRAVITY * elapsed, 0.0])
                found = found._replace(
                    off=max(found.off, float(np.abs(place - parabola(elapsed)).max())),
                    speed=max(
                        found.speed, float(np.abs(_velocity64(mover) - velocity + drop).max())
                    ),
                    clock=max(found.clock, abs(report.air_time - elapsed)),
                )
                continue
        wanted = start + level * elapsed
        found = found._replace(
            aside=max(found.aside, math.hypot(*(place - wanted)[[0, 2]])),
            height=max(found.height, abs(gap(place))),
            blinks=found.blinks + (not grounded),
        )
    return found if landed is not None else found._replace(frames=99)


def _over(plane, body):
    rest = plane.rest(body)
    return lambda place: place[1] - plane.height(place[0], place[2]) - rest


def drop(seed):
    """Let a body fall on a slope, with any velocity."""
    rng = np.random.default_rng(seed)
    body, collider, *_ = draw_body(rng)
    plane, times = draw_plane(rng), _times(rng)
    x, z = _near(rng, plane)
    start = np.array([x, plane.height(x, z) + plane.rest(body) + rng.uniform(0.05, 2.0), z])
    level = _level_velocity(rng)
    velocity = np.array([level[0], _round(rng.uniform(-4.0, 3.0)), level[1]])
    mover = character(
        plane.ground, collider, start, resolver=str(rng.choice(RESOLVERS)), ground_friction=0.0
    )
    mover.velocity = velocity
    command = level if rng.random() < 0.5 else None
    return _follow(mover, times, start, velocity, _over(plane, body), command)


def jump(seed):
    """Jump from a slope, standing or walking any way on it."""
    rng = np.random.default_rng(seed)
    body, collider, *_ = draw_body(rng)
    plane, times = draw_plane(rng), _times(rng)
    x, z = _near(rng, plane)
    level = _level_velocity(rng) * rng.choice([0.0, 1.0], p=[0.2, 0.8])
    rate = 1 / 60
    lead = np.array([x - 3 * rate * level[0], 0.0, z - 3 * rate * level[1]])
    lead[1] = plane.height(lead[0], lead[2]) + plane.rest(body)
    mover = character(plane.ground, collider, lead, resolver=str(rng.choice(RESOLVERS)))
    mover.update(rate)  # else it would jump off downhill
    for _ in range(3):
        mover.velocity.x, mover.velocity.z = level
        mover.update(rate)
    start = np.array(mover.position64)
    rise = max(float(plane.slopes @ level), 0.0)
    velocity = np.array([level[0], _round(rise + rng.uniform(0.5, 6.0)), level[1]])
    mover.velocity.y = velocity[1]
    return _follow(mover, times, start, velocity, _over(plane, body), level)


def jump_beside_wall(seed):
    """Jump on level ground while pressing against a wall."""
    rng = np.random.default_rng(seed)
    body, collider, stand, reach = draw_body(rng)
    turn = float(rng.choice([0.0, rng.uniform(0.0, 360.0)])) if body != "box" else 0.0
    c, s = math.cos(math.radians(turn)), math.sin(math.radians(turn))
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
        resolver=str(rng.choice(RESOLVERS)),
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
    rng = np.random.default_rng(seed)
    body, collider, stand, reach = draw_body(rng)
    rim, low = reach + rng.uniform(0.02, 0.3), 2.0 * stand + rng.uniform(0.1, 1.0)
    plates = [
        ((-9.0, low, -9.0), (-rim, low + 0.3, 9.0)), ((rim, low, -9.0), (9.0, low + 0.3, 9.0)),
        ((-rim, low, -9.0), (rim, low + 0.3, -rim)), ((-rim, low, rim), (rim, low + 0.3, 9.0)),
    ]  # fmt: skip
    land = lands.boxes(((-9.0, -1.0, -9.0), (9.0, 0.0, 9.0)), *plates)
    mover = character(land, collider, (0.0, stand, 0.0), resolver=str(rng.choice(RESOLVERS)))
    mover.update(1 / 60)
    start, velocity = np.array(mover.position64), np.array([0.0, _round(rng.uniform(4, 9)), 0.0])
    mover.velocity.y = velocity[1]
    return _follow(mover, _times(rng), start, velocity, lambda p: p[1] - stand, None)


def bump(seed):
    """Jump against a ceiling: return how far a body is from its closed form, and frames late."""
    rng = np.random.default_rng(seed)
    body, collider, stand, _ = draw_body(rng)
    room = rng.uniform(0.1, 1.0)
    land = lands.room(ceiling=2.0 * stand + room)
    mover = character(land, collider, (0.3, stand, 0.1), resolver=str(rng.choice(RESOLVERS)))
    mover.update(1 / 60)
    speed = float(_round(math.sqrt(2 * GRAVITY * room) + rng.uniform(0.3, 4.0)))
    mover.velocity.y = speed
    hit = (speed - math.sqrt(speed * speed - 2 * GRAVITY * room)) / GRAVITY
    down = hit + math.sqrt(2 * room / GRAVITY)
    off, late, elapsed = 0.0, 0, 0.0
    for seconds in _times(rng):
        elapsed += seconds
        grounded = mover.update(seconds).grounded
        late += (elapsed >= down + 1e-6) != grounded and abs(elapsed - down) > 1e-6
        t = elapsed - hit
        height = speed * elapsed - 0.5 * GRAVITY * elapsed**2
        if t > 0.0:
            height = max(room - 0.5 * GRAVITY * t * t, 0.0)
        off = max(off, abs(mover.position64[1] - stand - height))
        if elapsed > down + 0.1:
            return off, late
    return off, late


def ledge(seed):
    """Walk off a platform, any way: against the fall from the rim where it leaves the ground."""
    rng = np.random.default_rng(seed)
    while True:
        body, collider, stand, reach = draw_body(rng)
        level, high = _level_velocity(rng), rng.uniform(1.0, 4.0)
        c, s = math.cos(SLOPE_LIMIT), math.sin(SLOPE_LIMIT)
        # A round body goes down along the rim until its contact there is as steep as the limit.
        leaves = reach if body == "box" else reach * s
        lost = 0.0 if body == "box" else reach * (1.0 - c)
        times = np.linspace(0.0, 0.5, 500)
        clear = np.hypot(leaves + level[0] * times, reach * c - 0.5 * GRAVITY * times**2)
        if level[0] >= 0.5 and (body == "box" or clear.min() >= reach * (1.0 - 1e-12)):
            break
    land = lands.boxes(
        ((-20.0, -1.0, -40.0), (0.0, high, 40.0)), ((0.0, -1.0, -40.0), (40.0, 0.0, 40.0))
    )
    start = np.array([rng.uniform(-0.5, 0.0), high + stand, 0.0])
    mover = character(land, collider, start, resolver=str(rng.choice(RESOLVERS)))
    mover.update(1 / 60)
    at = (leaves - start[0]) / level[0]
    edge = np.array([leaves, high + stand - lost, at * level[1]])
    off, late, clock, elapsed = 0.0, 0, 0.0, 0.0
    down = at + math.sqrt(2.0 * (high - lost) / GRAVITY)
    for seconds in _times(rng):
        elapsed += seconds
        mover.velocity.x, mover.velocity.z = level
        grounded = mover.update(seconds).grounded
        t, place = elapsed - at, np.array(mover.position64)
        x, z = start[[0, 2]] + level * elapsed
        if t <= 0.0:
            y = high + stand
            if body != "box" and x > 0.0:
                y += math.sqrt(reach * reach - x * x) - reach
            airborne = False
        elif elapsed < down:
            y, airborne = edge[1] - 0.5 * GRAVITY * t * t, True
            clock = max(clock, abs(mover.ground_report().air_time - t))
        else:
            y, airborne = stand, False
        off = max(off, float(np.abs(place - (x, y, z)).max()))
        late += grounded == airborne and min(abs(t), abs(elapsed - down)) > 1e-6
        if elapsed > down + 0.1:
            break
    return off, late, clock


def stop(seed):
    """Let go of a walk; return (way to the stop over v^2 / (2 f), the same of the time)."""
    rng = np.random.default_rng(seed)
    body, collider, *_ = draw_body(rng)
    plane, times = draw_plane(rng), _times(rng)
    friction = float(rng.uniform(4.0, 40.0))
    x, z = _near(rng, plane)
    start = (x, plane.height(x, z) + plane.rest(body), z)
    mover = character(
        plane.ground, collider, start, resolver=str(rng.choice(RESOLVERS)), ground_friction=friction
    )
    level = _level_velocity(rng)
    while np.hypot(*level) < 0.5:
        level = _level_velocity(rng)
    mover.update(next(times))
    for _ in range(3):
        mover.velocity.x, mover.velocity.z = level
        mover.update(next(times))
    begin, speed, elapsed = np.array(mover.position64), float(np.hypot(*level)), 0.0
    while any(mover.velocity):
        seconds = next(times)
        elapsed += seconds
        mover.update(seconds)
    way = (np.array(mover.position64) - begin)[[0, 2]]
    free = speed / friction
    return (
        float(np.hypot(*way)) / (0.5 * speed * free),
        max(free - elapsed, elapsed - seconds - free),
    )


def stops_well(found):
    """Tell whether a stop is as long as it should be, and in the frame where it should be."""
    return abs(found[0] - 1.0) <= 0.01 and found[1] <= 1e-9
