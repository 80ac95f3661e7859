"""Levels: ledges before walls and under rails, false steps, stairs at every rate, corners.

Each function draws one case from a seed, walks it, and returns what was measured.
"""

import math
from typing import NamedTuple

import numpy as np

from terrain_physics import BoxCollider, CapsuleCollider, HeightMap, SphereCollider, TriangleMesh
from terrain_physics.character.colliders import Collider
from tests.behaviour import lands
from tests.behaviour.drive import RESOLVERS, character
from tests.helpers.draws import Draws
from tests.helpers.portable import cos, sin, tan, times

RATES = (20, 24, 30, 50, 60, 90, 120, 144, 240, 360)
BODIES: dict[str, tuple[Collider, float, float]] = {
    "sphere": (SphereCollider(0.5), 0.5, 0.5),
    "capsule": (CapsuleCollider(0.3, 1.8), 0.9, 0.3),
    "box": (BoxCollider((0.3, 0.9, 0.3)), 0.9, 0.3),
}  # collider, height of the center over its foot, least reach aside

SETTLED = 0.5  # seconds after which a body that presses against something must be calm


def turned(mesh, degrees):
    """Return a mesh turned about +Y."""
    return TriangleMesh(times(mesh.vertices, turning(degrees).T), mesh.faces)


def turning(degrees):
    """Return the matrix of a turn about +Y."""
    c, s = cos(math.radians(degrees)), sin(math.radians(degrees))
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


class Pressed(NamedTuple):
    """The result of pressing against something for a while."""

    bob: float  # between the least and greatest height once settled, in meters
    climbed: float  # the highest that it ever was over its start, in meters
    blinks: int  # frames not grounded once settled
    slide: float  # way once settled, over the commanded one, along z


def press(mover, velocity, rate, *, approach=0.0, seconds=1.0, turn=0.0):
    """Command the same velocity for a while; the scene was turned about +Y by ``turn``."""
    there = turning(turn)
    x, _, z = times(there, velocity)
    calm = math.ceil((approach + SETTLED) * rate)
    frames = calm + max(math.ceil(seconds * rate), 8)
    start = mover.position64[1]
    heights, blinks, first = [], 0, None
    for frame in range(frames):
        mover.velocity.x, mover.velocity.z = x, z
        grounded = mover.update(1 / rate).grounded
        heights.append(mover.position64[1])
        if frame == calm - 1:
            first = np.array(mover.position64) @ there
        blinks += frame >= calm and not grounded
    way = (np.array(mover.position64) @ there - first)[2]
    wanted = velocity[2] * (frames - calm) / rate
    late = heights[calm:]
    return Pressed(
        max(late) - min(late), max(heights) - start, blinks, way / wanted if wanted else 1.0
    )


def draw_body(rng):
    name = rng.one_of(list(BODIES))
    return name, *BODIES[name]


class LedgeCase(NamedTuple):
    """A low ledge before a wall."""

    body: str
    rise: float
    tread: float
    speed: float
    slant: float  # of the way from straight at the wall, in degrees
    rate: int
    turn: float
    resolver: str
    gap: float  # from the riser at first


def ledge_case(seed):
    rng = Draws(seed)
    name, _, _, reach = draw_body(rng)
    return LedgeCase(
        name,
        rng.uniform(0.03, 0.29),
        float(rng.uniform(0.005, min(0.1, 0.3 * reach))),
        rng.uniform(1.0, 6.0),
        float(rng.below(2) * rng.uniform(5.0, 80.0)),
        rng.one_of([r for r in RATES if 30 <= r <= 144]),
        float(rng.below(2) * rng.uniform(0.0, 360.0)),
        rng.one_of(RESOLVERS),
        rng.uniform(0.02, 0.2),
    )


def ledge_land(rise, tread, turn=0.0):
    """Return a floor that ends at x = 0 in a riser, a tread, and a wall of 3 m."""
    spans = [
        ((-9.0, -1.0, -20.0), (0.0, 0.0, 20.0)),
        ((0.0, -1.0, -20.0), (tread, rise, 20.0)),
        ((tread, -1.0, -20.0), (3.0, 3.0, 20.0)),
    ]
    return turned(lands.boxes(*spans), turn)


def ledge(case):
    """Press against a low ledge before a wall."""
    collider, stand, reach = BODIES[case.body]
    slant, turn = math.radians(case.slant), math.radians(case.turn)
    if case.body == "box":
        reach *= abs(cos(turn)) + abs(sin(turn))
    velocity = (case.speed * cos(slant), 0.0, case.speed * sin(slant))
    start = times(turning(case.turn), (-reach - case.gap, stand, -6.0 * sin(slant)))
    mover = character(
        ledge_land(case.rise, case.tread, case.turn), collider, start, resolver=case.resolver
    )
    mover.update(1 / case.rate)
    return press(
        mover, velocity, case.rate, approach=(case.gap + case.tread) / velocity[0], turn=case.turn
    )


def is_calm(found):
    """Tell whether a body that presses against a ledge keeps its height and slides along it."""
    return found.bob < 0.01 and found.blinks == 0 and abs(found.slide - 1.0) < 0.02


class KerbCase(NamedTuple):
    """A kerb with a bevelled face, a shelf, and a wall, with a rail somewhere over them."""

    body: str
    rise: float
    bevel: float  # in degrees
    shelf: float
    wall: float
    rail: float  # the height of its underside; 0: there is none
    beyond: float  # how far the rail is behind the face of the wall
    speed: float
    slant: float  # of the way from straight at the wall, in degrees
    rate: int
    turn: float
    resolver: str
    kind: str
    stretch: float = 1.0  # of the land along the kerb


def kerb_case(seed):
    rng = Draws(seed)
    name, _, stand, _ = draw_body(rng)
    rise, wall = rng.uniform(0.02, 0.34), rng.uniform(0.05, 0.6)
    over_wall = (rise + wall + rng.uniform(0.02, 1.2), 0.0)
    over_head = (2.0 * stand + rng.uniform(-0.1, 0.3), rng.uniform(-0.5, 0.3))
    anywhere = (rng.uniform(0.3, 1.9), rng.uniform(-0.5, 0.5))
    rail, beyond = rng.one_of([over_wall, over_head, over_head, anywhere, (0.0, 0.0)])
    return KerbCase(
        name,
        rise,
        rng.uniform(30.0, 90.0),
        rng.uniform(0.05, 0.6),
        wall,
        rail,
        beyond,
        rng.uniform(0.5, 8.0),
        float(rng.below(2) * rng.uniform(-40.0, 40.0)),
        rng.one_of(RATES),
        float(rng.below(2) * rng.uniform(0.0, 360.0)),
        rng.one_of(RESOLVERS),
        rng.one_of(["mesh", "mesh", "map"]),
    )


def grazing_kerb_case(seed):
    """Draw a kerb that a body walks along: by 40 to 89 degrees from straight at the wall."""
    case, rng = kerb_case(seed), Draws(100_000 + seed)
    slant = rng.one_of([-1.0, 1.0]) * rng.uniform(40.0, 89.0)
    case = case._replace(slant=slant)
    _, approach = _way_to_kerb(case)
    way = case.speed * abs(sin(math.radians(slant))) * (approach + SETTLED + 1.0)
    return case._replace(stretch=max(way / 18.0, 1.0))


def kerb_land(case):
    """Return a floor up to x = 0, the kerb and the wall; on a map, a cliff stands for the rail."""
    run = case.rise / tan(math.radians(case.bevel))
    face, top = run + case.shelf, case.rise + case.wall
    profile = [-9.0, 0.0, run, face, face, 20.0], [0.0, 0.0, case.rise, case.rise, top, top]
    if case.kind == "map":
        x = np.arange(-2.0, 18.0, 0.05)
        heights = np.interp(x, *profile)
        if case.rail:
            heights[x > face + 0.1] += 3.0
        rows, origin = math.ceil(800 * case.stretch), (-2.0, 0.0, -20.0 * case.stretch)
        return HeightMap(np.tile(heights, (rows, 1)), cell_size=0.05, origin=origin)
    side = 15.0 * case.stretch
    land = _extruded(*profile, side)
    if case.rail:
        at = face + case.beyond
        bar = lands.boxes(((at, case.rail, -side), (at + 0.1, case.rail + 0.1, side)))
        land = _together(land, (bar.vertices, bar.faces))
    return turned(land, case.turn)


def kerb(case):
    """Press against a kerb and what is behind it, from a start that is clear of the rail."""
    collider, stand, _ = BODIES[case.body]
    turn = case.turn if case.kind == "mesh" else 0.0
    slant = math.radians(case.slant)
    velocity = (case.speed * cos(slant), 0.0, case.speed * sin(slant))
    before, approach = _way_to_kerb(case)
    start = times(turning(turn), (-before, stand, -6.0 * case.stretch * sin(slant)))
    mover = character(kerb_land(case), collider, start, resolver=case.resolver)
    mover.update(1 / case.rate)
    return press(mover, velocity, case.rate, approach=approach, turn=turn)


def _way_to_kerb(case):
    """Return (how far before the kerb a body begins, in how many seconds it is at the wall)."""
    reach, turn = BODIES[case.body][2], case.turn if case.kind == "mesh" else 0.0
    if case.body == "box":
        reach *= abs(cos(math.radians(turn))) + abs(sin(math.radians(turn)))
    face = case.rise / tan(math.radians(case.bevel)) + case.shelf
    gap = 0.05 - min(0.0, face + case.beyond)
    ahead = case.speed * cos(math.radians(case.slant))
    return reach + gap, (gap + face + 2.0 * reach) / ahead


def keeps_its_height(found):
    """Tell whether a body that presses against a kerb has come to rest on it, or beside it."""
    return found.bob < 0.001 and found.blinks == 0


# What looks like a step and is none. Each: (ground, start, slopes of the floor before it along x
# and z, the greatest height over that floor that it may lead to).


def _ledge_before_cliff(rng, stand, reach):
    """A map with cells of 0.1 m: a ledge of 0.25 m, then 3 m of 88 degrees."""
    treads = rng.whole(1, 3)
    row = np.concatenate([np.zeros(60), np.full(treads, 0.25), np.full(20, 3.25)])
    land = HeightMap(np.tile(row, (160, 1)), cell_size=0.1)
    return land, (5.9 - reach - 0.05, stand, 8.0), (0.0, 0.0), 0.26


def _side_of_ramp(rng, stand, reach):
    """The upright side of a ramp that rises along z, to be pressed against from the side."""
    slope = tan(math.radians(rng.uniform(15.0, 40.0)))
    height = rng.uniform(0.05, 0.6)
    round_off = reach * (math.hypot(1.0, slope) - 1.0)  # a round body stands over a slope
    low = -height / slope
    far = low + 8.0
    top = 8.0 * slope
    spans = [((-9.0, -1.0, -15.0), (0.0, 0.0, 15.0))]
    floor = lands.boxes(*spans)
    vertices = [
        [0.0, 0.0, low], [14.0, 0.0, low], [0.0, 0.0, far],
        [14.0, 0.0, far], [0.0, top, far], [14.0, top, far],
    ]  # fmt: skip
    faces = [[0, 2, 4], [1, 5, 3], [0, 4, 5], [0, 5, 1], [2, 3, 5], [2, 5, 4]]
    return (
        _together(floor, (vertices, faces)),
        (-reach - 0.05, stand, 0.0),
        (0.0, 0.0),
        0.31 + round_off,
    )


def _leaning_wall(rng, stand, reach):
    """A leaning wall of 75 degrees on a slope of 25 degrees that goes on behind it."""
    slope, lean = tan(math.radians(25.0)), tan(math.radians(rng.uniform(70.0, 80.0)))
    high = rng.uniform(0.6, 2.0)
    floor = _extruded([0.0, 12.0], [0.0, 12.0 * slope])
    wall = _extruded([6.0, 6.0 + high / lean], [6.0 * slope, 6.0 * slope + high])
    at = 6.0 - 2.0 * reach - 0.4
    ground = _together(floor, (wall.vertices, wall.faces))
    return ground, (at, at * slope + stand + reach * slope, 0.0), (slope, 0.0), 0.03


def _underside_behind_wall(rng, stand, reach):
    """A thin wall of 3 m with the underside of a stair behind it."""
    wall = [[0.0, -1.0, -15.0], [0.0, -1.0, 15.0], [0.0, 3.0, 15.0], [0.0, 3.0, -15.0]]
    low, far = rng.uniform(0.02, 0.25), rng.uniform(0.3, 1.5)
    behind = [
        [0.01, low, -15.0],
        [0.01, low, 15.0],
        [3.0, low + far, 15.0],
        [3.0, low + far, -15.0],
    ]
    floor = [[-9.0, 0.0, -15.0], [-9.0, 0.0, 15.0], [3.0, 0.0, 15.0], [3.0, 0.0, -15.0]]
    vertices = np.array(wall + behind + floor)
    quads = [[0, 1, 2, 3], [4, 7, 6, 5], [8, 9, 10, 11]]
    faces = [[q[0], q[i], q[i + 1]] for q in quads for i in (1, 2)]
    return TriangleMesh(vertices, faces), (-reach - 0.05, stand, 0.0), (0.0, 0.0), 0.03


def _bank_beside_floor(rng, stand, reach):
    """A bank of 47 degrees beside a floor of 30, both rising along x and z."""
    lean = math.radians(rng.uniform(46.0, 50.0))
    z, x = np.mgrid[:60, :60].astype(np.float64) * 0.5
    floor = tan(math.radians(30.0)) * (z - 15.0)
    bank = floor + tan(lean) * np.maximum(x - 15.0, 0.0)
    heights = np.where(x > 15.0, bank, floor)
    land = HeightMap(heights - heights.min(), cell_size=0.5)
    at = (14.5 - reach, 15.0)
    place = (at[0], float(land.height_at(*at)) + stand + reach, at[1])
    return land, place, (0.0, tan(math.radians(30.0))), 0.03


FALSE_STEPS = {
    "ledge before a cliff": _ledge_before_cliff,
    "side of a ramp": _side_of_ramp,
    "leaning wall": _leaning_wall,
    "underside behind a wall": _underside_behind_wall,
    "bank beside a floor": _bank_beside_floor,
}


def _extruded(x, y, half=15.0):
    """Return a mesh of a profile along x, ``half`` a width to both sides along z."""
    vertices = [[a, b, side] for side in (-half, half) for a, b in zip(x, y, strict=True)]
    n = len(x)
    faces = [f for i in range(n - 1) for f in ([i, i + n, i + 1], [i + 1, i + n, i + n + 1])]
    return TriangleMesh(vertices, faces)


def _together(mesh, more):
    vertices, faces = more
    count = len(mesh.vertices)
    return TriangleMesh(
        np.vstack([mesh.vertices, vertices]), np.vstack([mesh.faces, np.array(faces) + count])
    )


class FalseStep(NamedTuple):
    """The result of pressing against what is no step; heights over the floor before it."""

    bobs: int  # times up and down again by more than 2 cm
    over: float  # the greatest height over what is allowed, in meters
    in_air: int


def false_step(kind, seed):
    """Press against what is no step for two seconds, at any speed and rate."""
    rng = Draws(seed)
    _, collider, stand, reach = draw_body(rng)
    rate, speed = rng.one_of(RATES), rng.uniform(1.0, 6.0)
    ground, start, slopes, allowed = FALSE_STEPS[kind](rng, stand, reach)
    slant = math.radians(rng.below(2) * rng.uniform(-25.0, 25.0))
    if kind == "bank beside a floor":
        slant = math.radians(rng.uniform(-80.0, 80.0))
    if kind == "side of a ramp":
        slant = 0.0  # along the ramp it would come to where its side is a step
    mover = character(ground, collider, start, resolver=rng.one_of(RESOLVERS))
    for _ in range(60):
        mover.velocity.x = mover.velocity.z = 0.0
        mover.update(1 / 60)

    def height():
        x, y, z = mover.position64
        return y - slopes[0] * x - slopes[1] * z

    heights, in_air = [height()], 0
    for _ in range(2 * rate):
        mover.velocity.x, mover.velocity.z = speed * cos(slant), speed * sin(slant)
        in_air += not mover.update(1 / rate).grounded
        heights.append(height())
    return FalseStep(bobs(heights), max(heights) - heights[0] - allowed, in_air)


def is_no_step(found):
    """Tell whether nothing was climbed, and nobody goes up and down and up again."""
    return found.bobs <= 1 and found.over <= 0.0


def bobs(heights, least=0.02):
    """Return how often a height turned from rising to falling by more than ``least``."""
    turns, low, high, rising = 0, heights[0], heights[0], True
    for y in heights:
        if rising:
            high = max(high, y)
            if y < high - least:
                turns, rising, low = turns + 1, False, y
        else:
            low = min(low, y)
            if y > low + least:
                rising, high = True, y
    return turns


class StairCase(NamedTuple):
    """A walk over ten steps."""

    body: str
    rise: float
    speed: float
    degrees: float
    rate: int
    resolver: str
    kind: str


def stair_case(seed):
    rng = Draws(seed)
    return StairCase(
        draw_body(rng)[0],
        rng.one_of([0.25, 0.3]),
        rng.uniform(2.0, 6.0),
        float(rng.below(2) * rng.uniform(0.0, 44.0)),
        RATES[seed % len(RATES)],
        rng.one_of(RESOLVERS),
        rng.one_of(["mesh", "map"]),
    )


class Stairs(NamedTuple):
    """The result of a walk up or down stairs, as shares of the commanded speed, horizontally."""

    least: float  # in any frame, along the way
    most: float  # in any frame
    mean: float
    in_air: int


_STAIRS: dict[tuple[str, float], HeightMap | TriangleMesh] = {}


def stairs_land(kind, rise, count=10):
    if (kind, rise) not in _STAIRS:
        make = lands.stairs_mesh if kind == "mesh" else lands.stairs_map
        _STAIRS[kind, rise] = make(rise, 0.3, count)
    return _STAIRS[kind, rise]


def walk_stairs(case, *, up):
    """Walk over ten steps of 0.3 m tread, from half a meter before them to half a meter beyond."""
    collider, stand, reach = BODIES[case.body]
    ground = stairs_land(case.kind, case.rise)
    angle = math.radians(case.degrees)
    ends = (lands.STAIRS_AT - reach - 0.1, lands.STAIRS_AT + 9 * 0.3 + reach + 0.1)
    begin, end = ends if up else ends[::-1]
    height = stand if up else 10 * case.rise + stand
    mover = character(
        ground, collider, (begin, height, 4.0), resolver=case.resolver, step_offset=0.3
    )
    for _ in range(3):
        mover.update(1 / case.rate)
    way = np.array([cos(angle) * (1 if up else -1), 0.0, sin(angle)])
    step = case.speed / case.rate
    least, most, in_air, frames = math.inf, 0.0, 0, 0
    first = last = np.array(mover.position64)
    limit = 4 * round(8.0 / step)
    while (end - last[0]) * way[0] > 0.0 and frames < limit:
        mover.velocity.x, mover.velocity.z = way[[0, 2]] * case.speed
        in_air += not mover.update(1 / case.rate).grounded
        place = np.array(mover.position64)
        moved = place - last
        least = min(least, float(moved @ way) / step)
        most = max(most, math.hypot(moved[0], moved[2]) / step)
        last, frames = place, frames + 1
    mean = float((last - first) @ way) / (step * frames)
    return Stairs(least, most, mean, in_air)


def goes_up_well(found):
    """Tell whether a walk up never goes back and keeps its speed."""
    return found.least > -1e-6 and found.mean >= 0.95


def goes_down_well(found):
    """Tell whether a walk down keeps its speed, and the ground."""
    return found.most <= 1.5 and abs(found.mean - 1.0) <= 0.02 and found.in_air == 0


class Cornered(NamedTuple):
    """The result of a walk into a corner."""

    short: float  # of as far as it goes, in meters
    deepest: float  # in a wall in any frame, in meters
    blinks: int


def corner(seed):
    """Walk into a corner of two walls, at any angle that leads into both."""
    rng = Draws(seed)
    name = ("sphere", "capsule")[seed % 2]
    collider, stand, radius = BODIES[name]
    half = math.radians(rng.uniform(30.0, 150.0)) / 2
    rate, speed = rng.one_of(RATES), rng.uniform(1.0, 6.0)
    aside = rng.uniform(-0.7, 0.7) * (math.pi / 2 - half)
    turn = float(rng.below(2) * rng.uniform(0.0, 360.0))
    c, s = 12.0 * cos(half), 12.0 * sin(half)
    flat = [[-12.0, 12.0], [-12.0, -12.0], [6.0, -12.0], [6.0, 12.0]]
    vertices = [[x, 0.0, z] for x, z in flat]
    vertices += [[x, y, z] for y in (-1.0, 4.0) for x, z in ((-c, s), (0.0, 0.0), (-c, -s))]
    faces = [[0, 2, 1], [0, 3, 2], [4, 5, 8], [4, 8, 7], [5, 6, 9], [5, 9, 8]]
    ground = turned(TriangleMesh(vertices, faces), turn)
    goal = np.array([-radius / sin(half), 0.0])
    way = np.array([cos(aside), sin(aside)])
    start = goal - (rng.uniform(0.2, 1.0), 0.0)
    there = turning(turn)
    mover = character(
        ground, collider, times(there, (start[0], stand, start[1])),
        resolver=rng.one_of(RESOLVERS),
    )  # fmt: skip
    mover.update(1 / rate)
    velocity = times(there, (way[0], 0.0, way[1])) * speed
    deepest, blinks = 0.0, 0
    slowest = speed * cos(half + abs(aside))  # along the walls
    for _ in range(math.ceil((1.0 / slowest + 0.3) * rate)):
        mover.velocity.x, mover.velocity.z = velocity[0], velocity[2]
        blinks += not mover.update(1 / rate).grounded
        x, _, z = np.array(mover.position64) @ there
        apart = -x * sin(half) - abs(z) * cos(half)
        deepest = max(deepest, radius - apart)
    return Cornered(math.hypot(x - goal[0], z - goal[1]), deepest, blinks)


def is_cornered(found):
    """Tell whether a walk into a corner went as far as it goes, and no farther."""
    return found.short <= 0.01 and found.deepest <= 1e-5 and found.blinks == 0
