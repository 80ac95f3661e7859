"""Leading many characters along a field: the velocity of each for its next update.

All follows from the place of a character, and from whether somebody comes against it. In an open
cell it goes in the direction that is interpolated between the corners; elsewhere it goes along the
edges that lead to the goal, from the middle of one place to that of the next.
"""

import math
from typing import NamedTuple

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.state.layout import (
    AIRBORNE,
    DRIVEN,
    GROUND_KIND,
    POSITION,
    RULES_SIZE,
    SPEED_FACTOR,
    STATE_SIZE,
    UNDISTURBED,
    VELOCITY,
    three_at,
)
from terrain_physics._kernels.math.vec3 import Vec3
from terrain_physics._kernels.types import Bytes, Floats, Int32s, Int64s
from terrain_physics._kernels.walkability.headings import Headings, is_opposed, put_headings
from terrain_physics._kernels.walkability.layout import (
    DIRECTIONS,
    DROP,
    NO_EDGE,
    PlaceArrays,
    aside_of,
    end_of,
    is_aside,
    kind_of,
)
from terrain_physics._kernels.walkability.open_cells import (
    Spot,
    blend,
    corners,
    height_in,
    is_inside,
    put_open,
    spot_at,
)
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

# In spacings: how near to the middle of a goal a character has arrived, and how far below or above
# it may be; how far from the ground of an open cell it is still in it; how far from all edges it
# finds no way.
_ARRIVAL, _LEVEL, _NEAR, _FAR = 0.25, 0.5, 0.5, 2.0

# Interpolated directions that are shorter than this contradict each other.
_WEAKEST = 0.3

# Where an open cell beside a character is looked for.
_BESIDE_X, _BESIDE_Z = (1.0, -1.0, 0.0, 0.0), (0.0, 0.0, 1.0, -1.0)

# Beside directions, in `Steering.ways`.
_OVER_EDGE, _STAY = 8, 255

# Unit vectors of the directions.
_HALF = 0.7071067811865476
_AHEAD_X = (1.0, _HALF, 0.0, -_HALF, -1.0, -_HALF, 0.0, _HALF)
_AHEAD_Z = (0.0, _HALF, 1.0, _HALF, 0.0, -_HALF, -1.0, -_HALF)
_DIAGONAL = 1.4142135623730951


class Steering(NamedTuple):
    """The ways of n places to the nearest goal."""

    distances: Floats  # (n,), in m; infinite: no way
    nexts: Int32s  # (n,): the next place on the way; -1: none
    ways: Bytes  # (n,): the direction to it, plus `_OVER_EDGE` if it is a drop; `_STAY`: none
    directions: Floats  # (n, 2): x and z of the direction in which it leads; zeros: none
    is_open: Bytes  # (n,): whether the cell with the number of a place is open
    is_turned: Bytes  # (n,): whether the direction leads off a wall, to a side


class SeenEdge(NamedTuple):
    """An edge of a field, as a character sees it; a goal is an edge without length."""

    start: int  # -1: there is none
    distance2: float  # square of the distance of the character from the edge, in m^2
    left: float  # from there along the edges to the goal, in m


class Told(NamedTuple):
    """What a character is told."""

    velocity_x: float  # in m/s
    velocity_z: float
    left: float  # the distance to the goal, in m; infinite: it finds no way


@kernel(no_refcount=True)
def _way_on(places: PlaceArrays, place: int, following: int) -> int:
    """Return what `Steering.ways` has for a place, by the next one."""
    for direction in range(DIRECTIONS):
        kind = kind_of(places, place, direction)
        if kind != NO_EDGE and end_of(places, place, direction) == following:
            return direction + (_OVER_EDGE if kind == DROP else 0)
    return _STAY


@kernel(no_refcount=True)
def put_ways(places: PlaceArrays, field: Steering) -> None:
    """Write what a field has beside distances, next places and directions."""
    put_open(places, field.is_open)
    for place in range(len(field.nexts)):
        following = int(field.nexts[place])
        field.ways[place] = _way_on(places, place, following) if following >= 0 else _STAY


# The way of one character


@kernel(inline=True, no_refcount=True)
def _piece_on(places: PlaceArrays, row: int, column: int, way: int) -> Piece:
    """Return the piece of the way that leads on from a point of the grid; a point at a goal."""
    x, z = places.lower_x + places.spacing * column, places.lower_z + places.spacing * row
    if way == _STAY:
        return Piece(x, z, 0.0, 0.0, 0.0)
    direction = way % DIRECTIONS
    length = places.spacing * _DIAGONAL if direction % 2 == 1 else places.spacing
    return Piece(x, z, _AHEAD_X[direction], _AHEAD_Z[direction], length)


@kernel(no_refcount=True)
def _piece_beside(places: PlaceArrays, piece: Piece, start: int, end: int) -> Piece:
    """Return the piece between two places beside the points of the grid that a piece joins."""
    (x, z), (to_x, to_z) = aside_of(places, start), aside_of(places, end)
    end_x, end_z = point_along(piece, piece.length)
    return piece_between(piece.x + x, piece.z + z, end_x + to_x, end_z + to_z)


@kernel(inline=True, no_refcount=True)
def _piece_from(places: PlaceArrays, field: Steering, place: int) -> Piece:
    """Return the piece of the way that leads on from a place."""
    on_level = place % (places.rows * places.columns)
    row, column = on_level // places.columns, on_level % places.columns
    way = int(field.ways[place])
    piece = _piece_on(places, row, column, way)
    end = place if way == _STAY else int(field.nexts[place])
    if is_aside(places, place) or is_aside(places, end):
        return _piece_beside(places, piece, place, end)
    return piece


@kernel(inline=True, no_refcount=True)
def _edge_from(
    places: PlaceArrays, field: Steering, place: int, piece: Piece, position: Vec3
) -> SeenEdge:
    """Return the edge that leads on from a place, as a character sees it."""
    x, y, z = position
    along = distance_along(piece, x, z)
    at_x, at_z = point_along(piece, along)
    aside2 = (x - at_x) * (x - at_x) + (z - at_z) * (z - at_z)
    first, whole, way = float(places.heights[place]), float(field.distances[place]), 0
    last, rest, share = first, whole, 0.0
    way = int(field.ways[place])
    if way != _STAY:
        following = int(field.nexts[place])
        last, rest = float(places.heights[following]), float(field.distances[following])
        share = along / piece.length if piece.length > 0.0 else 0.0
    up = y - (first + share * (last - first))
    if way != _STAY and way >= _OVER_EDGE:  # it may fall along there at any height
        up = max(y - first, 0.0) + min(y - last, 0.0)
    return SeenEdge(place, aside2 + up * up, whole + share * (rest - whole))


@kernel(no_refcount=True)
def _nearest_edge(
    places: PlaceArrays,
    field: Steering,
    spot: Spot,
    ring: int,
    position: Vec3,
    slack: float,
) -> SeenEdge:
    """Return the edge of the corners of a cell, or of more cells around it, that is nearest.

    Of edges that are as near, to ``slack``, it is the one that is nearest to the goal.
    """
    best, most = SeenEdge(-1, math.inf, math.inf), _FAR * places.spacing
    most *= most
    first_row, last_row = max(spot.row - ring, 0), min(spot.row + ring + 2, places.rows)
    first, last = max(spot.column - ring, 0), min(spot.column + ring + 2, places.columns)
    for is_second in range(2):
        for level in range(places.levels):
            for row in range(first_row, last_row):
                for column in range(first, last):
                    place = (level * places.rows + row) * places.columns + column
                    if math.isinf(field.distances[place]):
                        continue
                    piece = _piece_from(places, field, place)
                    edge = _edge_from(places, field, place, piece, position)
                    if is_second == 0:
                        most = min(most, edge.distance2)
                    elif edge.distance2 <= most and edge.left < best.left:
                        best = edge
        least = math.sqrt(most) + slack
        most = least * least
    return best


@kernel(no_refcount=True)
def _along_edge(
    places: PlaceArrays,
    field: Steering,
    edge: SeenEdge,
    position: Vec3,
    in_air: bool,
    pace: Gait,
) -> Told:
    """Lead a character along an edge."""
    x, y, z = position
    left = edge.left + math.sqrt(edge.distance2)
    piece, way = _piece_from(places, field, edge.start), int(field.ways[edge.start])
    if way == _STAY:
        speed = min(pace.speed, flat_distance(x, z, piece.x, piece.z) / pace.horizon)
        vx, vz = velocity_to(x, z, piece.x, piece.z, speed)
        return Told(vx, vz, left)
    following = int(field.nexts[edge.start])
    if way >= _OVER_EDGE:
        is_above = y - float(places.heights[following]) > _LEVEL * places.spacing
        vx, vz = pursue_drop(x, z, piece, is_above, in_air, pace)
        return Told(vx, vz, left)
    slack = pace.slack
    if int(field.ways[following]) != _STAY:
        slack = corner_slack(piece, _piece_from(places, field, following), pace)
    vx, vz = pursue(x, z, piece, slack, pace)
    return Told(vx, vz, left)


@kernel(no_refcount=True)
def _is_at_goal(places: PlaceArrays, field: Steering, spot: Spot, position: Vec3) -> bool:
    """Tell whether a character is at one of the goals around it."""
    row = spot.row + (1 if spot.down >= 0.5 and spot.row + 1 < places.rows else 0)
    column = spot.column + (1 if spot.across >= 0.5 and spot.column + 1 < places.columns else 0)
    for level in range(places.levels):
        place = (level * places.rows + row) * places.columns + column
        if field.distances[place] == 0.0:
            if abs(position[1] - float(places.heights[place])) <= _LEVEL * places.spacing:
                at = _piece_from(places, field, place)
                aside = flat_distance(position[0], position[2], at.x, at.z)
                if aside <= _ARRIVAL * places.spacing:
                    return True
    return False


@kernel(no_refcount=True)
def _open_cell(places: PlaceArrays, field: Steering, spot: Spot, y: float) -> int:
    """Return the open cell that a character is in; -1 if there is none."""
    best, least = -1, _NEAR * places.spacing
    if is_inside(spot):
        for level in range(places.levels):
            cell = (level * places.rows + spot.row) * places.columns + spot.column
            if field.is_open[cell] != 0:
                off = abs(height_in(places, cell, spot) - y)
                if off <= least:
                    best, least = cell, off
    return best


@kernel(no_refcount=True)
def _in_open_cell(
    places: PlaceArrays, field: Steering, cell: int, spot: Spot, pace: Gait
) -> tuple[bool, Told]:
    """Lead a character through an open cell; return whether its corners tell a direction."""
    east, south, far = corners(places, cell)
    a, b = float(field.distances[cell]), float(field.distances[east])
    c, d = float(field.distances[south]), float(field.distances[far])
    ways = field.directions
    x = blend(
        spot, float(ways[cell, 0]), float(ways[east, 0]), float(ways[south, 0]), float(ways[far, 0])
    )
    z = blend(
        spot, float(ways[cell, 1]), float(ways[east, 1]), float(ways[south, 1]), float(ways[far, 1])
    )
    length = math.sqrt(x * x + z * z)
    if min(a, b, c, d) == 0.0 or math.isinf(a) or length < _WEAKEST:
        return False, Told(0.0, 0.0, math.inf)
    speed = pace.speed / length
    return True, Told(speed * x, speed * z, blend(spot, a, b, c, d))


@kernel(no_refcount=True)
def _off_wall(
    places: PlaceArrays, field: Steering, position: Vec3, pace: Gait
) -> tuple[bool, Told]:
    """Lead a character that a crowd presses against a wall as in the open cell beside it."""
    x, y, z = position
    for k in range(len(_BESIDE_X)):
        near = spot_at(places, x + pace.slack * _BESIDE_X[k], z + pace.slack * _BESIDE_Z[k])
        cell = _open_cell(places, field, near, y)
        if cell >= 0:
            is_told, told = _in_open_cell(places, field, cell, near, pace)
            if is_told:
                return True, told
    return False, Told(0.0, 0.0, math.inf)


@kernel(no_refcount=True)
def _lead_one(
    places: PlaceArrays,
    field: Steering,
    position: Vec3,
    in_air: bool,
    pace: Gait,
) -> Told:
    """Return what one character is told."""
    spot = spot_at(places, position[0], position[2])
    if _is_at_goal(places, field, spot, position):
        return Told(0.0, 0.0, 0.0)
    cell = _open_cell(places, field, spot, position[1])
    if cell >= 0:
        is_told, told = _in_open_cell(places, field, cell, spot, pace)
        if is_told:
            return told
    edge = _nearest_edge(places, field, spot, 0, position, pace.slack)
    if edge.start < 0:
        edge = _nearest_edge(places, field, spot, 1, position, pace.slack)
    if edge.start < 0:
        return Told(0.0, 0.0, math.inf)
    if field.is_turned[edge.start] != 0:
        is_told, told = _off_wall(places, field, position, pace)
        if is_told:
            return told
    return _along_edge(places, field, edge, position, in_air, pace)


@kernel(inline=True, no_refcount=True)
def _walk(state: Floats, vx: float, vz: float) -> None:
    """Set the walk of a character, as the game does; one that stands, and shall, may sleep on."""
    if vx != 0.0 or vz != 0.0 or state[VELOCITY] != 0.0 or state[VELOCITY + 2] != 0.0:
        state[VELOCITY], state[VELOCITY + 2] = vx + 0.0, vz + 0.0
        state[DRIVEN], state[UNDISTURBED] = 1.0, 0.0


@kernel(no_refcount=True)
def lead_members(
    places: PlaceArrays,
    field: Steering,
    lanes: Steering,
    headings: Headings,
    states: Floats,
    rules: Floats,
    rows: Int64s,
    others: Int64s,
    pace: Gait,
    left: Floats,
) -> None:
    """Set the walks of members of a group; write how far it is for each (m,) to a goal.

    ``states`` and ``rules`` are the rows of all members, ``rows`` the numbers (m,) of those that
    are led, ``others`` those that are not. Those against whom somebody comes go by ``lanes``: the
    field for who keeps to a side. ``headings`` has none before.
    """
    put_headings(headings, states, others)
    for k in range(len(rows)):
        state = states[int(rows[k]) * STATE_SIZE :]
        factor = float(rules[int(rows[k]) * RULES_SIZE + SPEED_FACTOR])
        own = Gait(pace.speed, pace.horizon * factor, pace.slack)
        in_air = int(state[GROUND_KIND]) == AIRBORNE
        at = three_at(state, POSITION)
        told = _lead_one(places, field, at, in_air, own)
        if len(others) > 0 and is_opposed(headings, at[0], at[2], told.velocity_x, told.velocity_z):
            told = _lead_one(places, lanes, at, in_air, own)
        _walk(state, told.velocity_x, told.velocity_z)
        left[k] = told.left
