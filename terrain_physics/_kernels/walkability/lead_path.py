"""Leading one character along a path: the velocity for its next update, and how far it has come.

All follows from the character's place and its progress, so that a game which puts both back goes
on alike.
"""

import math
from typing import NamedTuple

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.state.layout import (
    AIRBORNE,
    GROUND_KIND,
    GROUNDED,
    OWN_VELOCITY,
    POSITION,
    SPEED_FACTOR,
    three_at,
)
from terrain_physics._kernels.math.vec3 import Vec3, add_scaled, subtract
from terrain_physics._kernels.types import Bytes, Floats
from terrain_physics._kernels.walkability.layout import DROP, PlaceArrays
from terrain_physics._kernels.walkability.open_cells import leads_straight
from terrain_physics._kernels.walkability.pursuit import (
    Gait,
    Piece,
    corner_slack,
    distance_along,
    flat_distance,
    piece_between,
    point_along,
    pursue,
    pursue_drop,
    velocity_to,
)

ON_THE_WAY, ARRIVED, LOST = 0, 1, 2

# In spacings: how far beside its path a character goes on along it, how far below or above a corner
# it may be to pass it, and how far from its path it has lost it.
_BESIDE, _LEVEL, _FAR = 0.25, 0.5, 3.0

# A piece no longer than this, in spacings, is an edge. Its walker went straight on until it was so
# near to the end, and may have been so far beside its line, as along the frame of a door.
_EDGE, _NEAR_END, _BESIDE_EDGE = 1.5, 0.25, 0.5

# Seconds in which a character does not come on. Then it goes back to the last corner, tries again
# from there, and has lost patience.
RETREAT, RETRY, PATIENCE = 0.6, 1.2, 2.0

# A character comes on if it has more than this share of the velocity that it was told.
_COMES_ON = 0.25

# A character that is this much nearer to the end than `Gait.slack` has arrived.
_ARRIVAL = 0.5


class Route(NamedTuple):
    """The path of n points."""

    points: Floats  # (n, 3), in m
    kinds: Bytes  # (n - 1,) of the pieces between them
    lengths: Floats  # (n,): of the path up to each point, in m


class Lead(NamedTuple):
    """What a character is told."""

    velocity_x: float  # in m/s
    velocity_z: float
    progress: float  # along the path, in m
    word: int  # ON_THE_WAY, ARRIVED or LOST
    stalled: float  # for how long it has hardly come on, in s


@kernel(no_refcount=True)
def _piece(way: Route, k: int) -> Piece:
    a, b = way.points[k], way.points[k + 1]
    return piece_between(float(a[0]), float(a[2]), float(b[0]), float(b[2]))


@kernel(no_refcount=True)
def _piece_at(way: Route, progress: float) -> int:
    """Return the piece that a progress is on; the later one at a corner."""
    first, last = 0, len(way.kinds) - 1
    while first < last:
        middle = (first + last + 1) // 2
        if float(way.lengths[middle]) <= progress:
            first = middle
        else:
            last = middle - 1
    return first


@kernel(no_refcount=True)
def _progress_at(way: Route, k: int, piece: Piece, along: float) -> float:
    """Return the progress at a distance along a piece on the level."""
    first, last = float(way.lengths[k]), float(way.lengths[k + 1])
    share = along / piece.length if piece.length > 0.0 else 0.0
    return last if share >= 1.0 else first + share * (last - first)


@kernel(no_refcount=True)
def _point_at(way: Route, k: int, progress: float) -> Vec3:
    """Return the point of a piece at a progress."""
    a, b = three_at(way.points[k], 0), three_at(way.points[k + 1], 0)
    first, last = float(way.lengths[k]), float(way.lengths[k + 1])
    share = (progress - first) / (last - first) if last > first else 0.0
    return add_scaled(a, subtract(b, a), share)


@kernel(no_refcount=True)
def _slack_behind(way: Route, k: int, level: float, pace: Gait) -> float:
    """Return how far from the end of a piece a character may go on to the next one.

    At most the distance at which it counts as lost.
    """
    if k + 1 == len(way.kinds):
        return 0.0
    if int(way.kinds[k]) == DROP:
        return pace.slack
    slack = corner_slack(_piece(way, k), _piece(way, k + 1), pace)
    return min(slack, _FAR / _LEVEL * level)


@kernel(no_refcount=True)
def _passes(
    way: Route, k: int, piece: Piece, position: Vec3, on_ground: bool, level: float, pace: Gait
) -> bool:
    """Tell whether a character has come to the end of a piece, and goes on to the next one."""
    x, y, z = position
    end = way.points[k + 1]
    is_falling = int(way.kinds[k]) == DROP and not on_ground
    if is_falling or abs(y - float(end[1])) > level:
        return False
    distance = flat_distance(x, z, float(end[0]), float(end[2]))
    return distance <= _slack_behind(way, k, level, pace) or (
        distance_along(piece, x, z) >= piece.length and distance <= level
    )


@kernel(no_refcount=True)
def _nearest_ahead(
    way: Route, first: int, position: Vec3, level: float
) -> tuple[float, float, Vec3]:
    """Return the distance, the progress and the point of the rest of a path nearest to a place.

    The distance is infinite if the path is nowhere at the height of the place.
    """
    x, y, z = position
    best, progress, point = math.inf, 0.0, position
    for k in range(first, len(way.kinds)):
        piece = _piece(way, k)
        along = distance_along(piece, x, z)
        here = _progress_at(way, k, piece, along)
        at = _point_at(way, k, here)
        distance = flat_distance(x, z, at[0], at[2])
        if distance < best and abs(y - at[1]) <= level:
            best, progress, point = distance, here, at
    return best, progress, point


@kernel(no_refcount=True)
def _rejoin(places: PlaceArrays, way: Route, position: Vec3, progress: float, pace: Gait) -> Lead:
    """Lead a character that is beside its path back to it.

    It goes to the nearest point ahead if the way there is straight, else to where it has left.
    """
    x, _, z = position
    first, spacing = _piece_at(way, progress), places.spacing
    far, ahead, target = _nearest_ahead(way, first, position, spacing)
    word = ON_THE_WAY
    if far <= _BESIDE * spacing or (far < math.inf and leads_straight(places, position, target)):
        progress = ahead
    else:
        target = _point_at(way, first, progress)
        far = flat_distance(x, z, target[0], target[2])
        word = LOST if far > _FAR * spacing else ON_THE_WAY
    speed = min(pace.speed, max(far, pace.slack) / pace.horizon)
    vx, vz = velocity_to(x, z, target[0], target[2], speed)
    return Lead(vx, vz, progress, word, 0.0)


@kernel(no_refcount=True)
def _follow(
    way: Route, k: int, position: Vec3, in_air: bool, as_proven: bool, level: float, pace: Gait
) -> Lead:
    """Lead a character along a piece of its path, or straight on as the walker of an edge went."""
    x, y, z = position
    piece, end = _piece(way, k), way.points[k + 1]
    progress = _progress_at(way, k, piece, distance_along(piece, x, z))
    if int(way.kinds[k]) == DROP:
        is_above = y - float(end[1]) > level
        vx, vz = pursue_drop(x, z, piece, is_above, in_air, pace)
    elif (
        as_proven and flat_distance(x, z, float(end[0]), float(end[2])) > _NEAR_END / _LEVEL * level
    ):
        vx, vz = pace.speed * piece.ahead_x, pace.speed * piece.ahead_z
    else:
        vx, vz = pursue(x, z, piece, _slack_behind(way, k, level, pace), pace)
    return Lead(vx, vz, progress, ON_THE_WAY, 0.0)


@kernel(no_refcount=True)
def _arrives(way: Route, position: Vec3, level: float, pace: Gait) -> bool:
    """Tell whether a character is at the end of its path."""
    end = way.points[len(way.points) - 1]
    distance = flat_distance(position[0], position[2], float(end[0]), float(end[2]))
    return distance <= _ARRIVAL * pace.slack and abs(position[1] - float(end[1])) <= level


@kernel(no_refcount=True)
def _stalled_now(state: Floats, vx: float, vz: float, stalled: float, seconds: float) -> float:
    """Return for how long a character has hardly come on, after an update of so many seconds.

    It grows while the last update has not left it the velocity that it is told, and falls three
    times as fast while it has, but not while the character tries again.
    """
    idle = 0.0
    if int(state[GROUND_KIND]) != AIRBORNE:
        own, wanted = three_at(state, OWN_VELOCITY), vx * vx + vz * vz
        idle = 1.0 - (own[0] * vx + own[2] * vz) / wanted if wanted > 0.0 else 1.0
    rate = (min(max(idle, 0.0), 1.0) - 1.0) / _COMES_ON + 1.0
    if stalled >= RETRY:
        rate = max(rate, 0.0)
    return max(stalled + rate * seconds, 0.0)


@kernel(no_refcount=True)
def _go_back(piece: Piece, position: Vec3, progress: float, stalled: float, pace: Gait) -> Lead:
    """Lead a character back to the start of a piece."""
    x, _, z = position
    speed = min(pace.speed, flat_distance(x, z, piece.x, piece.z) / pace.horizon)
    vx, vz = velocity_to(x, z, piece.x, piece.z, speed)
    return Lead(vx, vz, progress, ON_THE_WAY, stalled)


@kernel(no_refcount=True)
def _lead(
    places: PlaceArrays,
    way: Route,
    progress: float,
    stalled: float,
    seconds: float,
    state: Floats,
    rules: Floats,
    pace: Gait,
) -> Lead:
    """Lead a character along its path, or back to it."""
    position, level = three_at(state, POSITION), _LEVEL * places.spacing
    on_ground, in_air = state[GROUNDED] != 0.0, int(state[GROUND_KIND]) == AIRBORNE
    pace = Gait(pace.speed, pace.horizon * float(rules[SPEED_FACTOR]), pace.slack)
    k, last = _piece_at(way, progress), len(way.kinds) - 1
    while k < last and _passes(way, k, _piece(way, k), position, on_ground, level, pace):
        k += 1
        progress, stalled = max(progress, float(way.lengths[k])), 0.0
    if k == last and _arrives(way, position, level, pace):
        return Lead(0.0, 0.0, float(way.lengths[last + 1]), ARRIVED, 0.0)
    piece = _piece(way, k)
    x, z = point_along(piece, distance_along(piece, position[0], position[2]))
    is_edge = piece.length < _EDGE * places.spacing
    beside = _BESIDE_EDGE if is_edge else _BESIDE
    if flat_distance(position[0], position[2], x, z) > beside * places.spacing:
        lead = _rejoin(places, way, position, progress, pace)
    elif RETREAT <= stalled < RETRY and int(way.kinds[k]) != DROP:
        return _go_back(piece, position, progress, stalled + seconds, pace)
    else:
        as_proven = is_edge and stalled >= RETRY
        lead = _follow(way, k, position, in_air, as_proven, level, pace)
    vx, vz = lead.velocity_x, lead.velocity_z
    stalled = _stalled_now(state, vx, vz, stalled, seconds)
    return Lead(vx, vz, lead.progress, lead.word, stalled)


@kernel(no_refcount=True)
def lead_path(
    places: PlaceArrays,
    way: Route,
    progress: float,
    stalled: float,
    seconds: float,
    state: Floats,
    rules: Floats,
    pace: Gait,
) -> tuple[float, float, float, int, float]:
    """Return what a character is told, its progress then, and for how long it has been stalled.

    In the order of `Lead`. ``seconds`` are those of the last update.
    """
    lead = _lead(places, way, progress, stalled, seconds, state, rules, pace)
    return lead.velocity_x, lead.velocity_z, lead.progress, lead.word, lead.stalled
