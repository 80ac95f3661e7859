"""Leading many characters along a field: the velocity of each for its next update.

All follows from the place of a character alone. In an open cell it goes in the direction that is
interpolated between the corners; elsewhere it goes along the edges that lead to the goal, from the
middle of one place to that of the next.
"""

import math
from typing import NamedTuple

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.state.layout import (
    AIRBORNE,
    GROUND_KIND,
    POSITION,
    RULES_SIZE,
    SPEED_FACTOR,
    STATE_SIZE,
    three_at,
)
from terrain_physics._kernels.math.vec3 import Vec3
from terrain_physics._kernels.types import Bytes, Float32s, Floats, Int32s, Int64s
from terrain_physics._kernels.walkability.layout import (
    DIRECTIONS,
    DROP,
    PlaceArrays,
    end_of,
    kind_of,
)
from terrain_physics._kernels.walkability.open_cells import (
    Grid,
    Spot,
    blend,
    corners,
    height_in,
    is_inside,
    put_open,
    spot_at,
)
from terrain_physics._kernels.walkability.pursuit import (
    Pace,
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


class FieldArrays(NamedTuple):
    """The ways of n places to the nearest goal."""

    distances: Floats  # (n,), in m; infinite: no way
    nexts: Int32s  # (n,): the next place on the way; -1: none
    directions: Float32s  # (n, 2): x and z of the direction in which it leads; zeros: none
    is_open: Bytes  # (n,): whether the cell with the number of a place is open


class Edge(NamedTuple):
    """The edge of a field that is nearest to a character; a goal is an edge without length."""

    start: int  # -1: there is none
    distance: float  # of the character from the edge, in m
    left: float  # from there along the edges to the goal, in m


class Told(NamedTuple):
    """What a character is told."""

    velocity_x: float  # in m/s
    velocity_z: float
    left: float  # the distance to the goal, in m; infinite: it finds no way


_NO_EDGE_NEAR = Edge(-1, math.inf, math.inf)


# Directions of the places


@kernel(no_refcount=True)
def _lies_open(places: PlaceArrays, is_open: Bytes, place: int) -> bool:
    """Tell whether all four cells around a place are open."""
    if is_open[place] == 0:
        return False
    size = places.rows * places.columns
    row, column = place % size // places.columns, place % size % places.columns
    if row == 0 or column == 0 or ((int(places.kinds[place]) >> 8) & 0b010101) != 0b010101:
        return False
    west, north = end_of(places, place, 4), end_of(places, place, 6)
    far = end_of(places, place, 5)
    return bool(is_open[west] and is_open[north] and is_open[far])


@kernel(no_refcount=True)
def _downhill(places: PlaceArrays, distances: Floats, place: int) -> tuple[float, float]:
    """Return the direction in which the distance falls most, at a place that lies open."""
    east, south = (
        float(distances[end_of(places, place, 0)]),
        float(distances[end_of(places, place, 2)]),
    )
    west, north = (
        float(distances[end_of(places, place, 4)]),
        float(distances[end_of(places, place, 6)]),
    )
    dx, dz = west - east, north - south
    length = math.sqrt(dx * dx + dz * dz)
    return (dx / length, dz / length) if length > 0.0 else (0.0, 0.0)


@kernel(no_refcount=True)
def _direction_between(places: PlaceArrays, place: int, other: int) -> tuple[float, float]:
    """Return the direction on the level from a place to a neighbor."""
    size = places.rows * places.columns
    a, b = place % size, other % size
    dx = float(b % places.columns - a % places.columns)
    dz = float(b // places.columns - a // places.columns)
    length = math.sqrt(dx * dx + dz * dz)
    return dx / length, dz / length


@kernel(no_refcount=True)
def put_directions(places: PlaceArrays, field: FieldArrays) -> None:
    """Write which cells are open, and the directions of all places."""
    put_open(places, field.is_open)
    for place in range(len(field.nexts)):
        following, x, z = int(field.nexts[place]), 0.0, 0.0
        if following >= 0:
            if _lies_open(places, field.is_open, place):
                x, z = _downhill(places, field.distances, place)
            if x == 0.0 and z == 0.0:
                x, z = _direction_between(places, place, following)
        field.directions[place, 0], field.directions[place, 1] = x, z


# The way of one character


@kernel(no_refcount=True)
def _point_of(places: PlaceArrays, grid: Grid, place: int) -> Vec3:
    """Return the position of a character at rest on a place."""
    on_level = place % (places.rows * places.columns)
    return (
        grid.lower_x + grid.spacing * (on_level % places.columns),
        float(places.heights[place]),
        grid.lower_z + grid.spacing * (on_level // places.columns),
    )


@kernel(no_refcount=True)
def _piece_from(places: PlaceArrays, grid: Grid, field: FieldArrays, place: int) -> Piece:
    """Return the piece of the way that leads on from a place; a point at a goal."""
    a, following = _point_of(places, grid, place), int(field.nexts[place])
    b = _point_of(places, grid, following) if following >= 0 else a
    return piece_between(a[0], a[2], b[0], b[2])


@kernel(no_refcount=True)
def _is_drop(places: PlaceArrays, place: int, following: int) -> bool:
    """Tell whether the edge that leads from a place to another is a drop."""
    for direction in range(DIRECTIONS):
        if kind_of(places, place, direction) == DROP:
            if end_of(places, place, direction) == following:
                return True
    return False


@kernel(no_refcount=True)
def _edge_from(
    places: PlaceArrays, grid: Grid, field: FieldArrays, place: int, position: Vec3
) -> Edge:
    """Return the edge that leads on from a place, as a character sees it."""
    x, y, z = position
    piece, following = _piece_from(places, grid, field, place), int(field.nexts[place])
    along = distance_along(piece, x, z)
    at_x, at_z = point_along(piece, along)
    aside = flat_distance(x, z, at_x, at_z)
    if following < 0:
        up = y - float(places.heights[place])
        return Edge(place, math.sqrt(aside * aside + up * up), aside)
    first, last = float(places.heights[place]), float(places.heights[following])
    share = along / piece.length
    up = y - (first + share * (last - first))
    if _is_drop(places, place, following):
        up = max(y - first, min(y - last, 0.0))
        up = 0.0 if last <= y <= first else up
    whole, rest = float(field.distances[place]), float(field.distances[following])
    return Edge(place, math.sqrt(aside * aside + up * up), whole + share * (rest - whole))


@kernel(no_refcount=True)
def _nearest_edge(
    places: PlaceArrays,
    grid: Grid,
    field: FieldArrays,
    spot: Spot,
    ring: int,
    position: Vec3,
    slack: float,
) -> Edge:
    """Return the edge of the corners of a cell, or of more cells around it, that is nearest.

    Of edges that are as near, to ``slack``, it is the one that is nearest to the goal.
    """
    best, least = _NO_EDGE_NEAR, _FAR * grid.spacing
    first_row, last_row = max(spot.row - ring, 0), min(spot.row + ring + 2, places.rows)
    first, last = max(spot.column - ring, 0), min(spot.column + ring + 2, places.columns)
    for is_second in range(2):
        for level in range(places.levels):
            for row in range(first_row, last_row):
                for column in range(first, last):
                    place = (level * places.rows + row) * places.columns + column
                    if math.isnan(places.heights[place]) or math.isinf(field.distances[place]):
                        continue
                    edge = _edge_from(places, grid, field, place, position)
                    if is_second == 0:
                        least = min(least, edge.distance)
                    elif edge.distance <= least + slack and edge.left < best.left:
                        best = edge
    return best


@kernel(no_refcount=True)
def _along_edge(
    places: PlaceArrays,
    grid: Grid,
    field: FieldArrays,
    edge: Edge,
    position: Vec3,
    in_air: bool,
    pace: Pace,
) -> Told:
    """Lead a character along an edge."""
    x, y, z = position
    piece, following = _piece_from(places, grid, field, edge.start), int(field.nexts[edge.start])
    if following < 0:
        speed = min(pace.speed, edge.left / pace.horizon)
        vx, vz = velocity_to(x, z, piece.x, piece.z, speed)
    elif _is_drop(places, edge.start, following):
        is_above = y - float(places.heights[following]) > _LEVEL * grid.spacing
        vx, vz = pursue_drop(x, z, piece, is_above, in_air, pace)
    else:
        slack = pace.slack
        if field.nexts[following] >= 0:
            slack = corner_slack(piece, _piece_from(places, grid, field, following), slack)
        vx, vz = pursue(x, z, piece, slack, pace)
    return Told(vx, vz, edge.left + edge.distance)


@kernel(no_refcount=True)
def _is_at_goal(
    places: PlaceArrays, grid: Grid, field: FieldArrays, spot: Spot, position: Vec3
) -> bool:
    """Tell whether a character is at one of the goals around it."""
    row = spot.row + (1 if spot.down >= 0.5 and spot.row + 1 < places.rows else 0)
    column = spot.column + (1 if spot.across >= 0.5 and spot.column + 1 < places.columns else 0)
    for level in range(places.levels):
        place = (level * places.rows + row) * places.columns + column
        if field.distances[place] == 0.0:
            at = _point_of(places, grid, place)
            if abs(position[1] - at[1]) <= _LEVEL * grid.spacing:
                aside = flat_distance(position[0], position[2], at[0], at[2])
                if aside <= _ARRIVAL * grid.spacing:
                    return True
    return False


@kernel(no_refcount=True)
def _open_cell(places: PlaceArrays, grid: Grid, field: FieldArrays, spot: Spot, y: float) -> int:
    """Return the open cell that a character is in; -1 if there is none."""
    best, least = -1, _NEAR * grid.spacing
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
    places: PlaceArrays, field: FieldArrays, cell: int, spot: Spot, pace: Pace
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
def _lead_one(
    places: PlaceArrays, grid: Grid, field: FieldArrays, position: Vec3, in_air: bool, pace: Pace
) -> Told:
    """Return what one character is told."""
    spot = spot_at(places, grid, position[0], position[2])
    if _is_at_goal(places, grid, field, spot, position):
        return Told(0.0, 0.0, 0.0)
    cell = _open_cell(places, grid, field, spot, position[1])
    if cell >= 0:
        is_told, told = _in_open_cell(places, field, cell, spot, pace)
        if is_told:
            return told
    edge = _NO_EDGE_NEAR
    for ring in range(2):
        if edge.start < 0:
            edge = _nearest_edge(places, grid, field, spot, ring, position, pace.slack)
    if edge.start < 0:
        return Told(0.0, 0.0, math.inf)
    return _along_edge(places, grid, field, edge, position, in_air, pace)


@kernel(no_refcount=True)
def lead_members(
    places: PlaceArrays,
    grid: Grid,
    field: FieldArrays,
    states: Floats,
    rules: Floats,
    rows: Int64s,
    pace: Pace,
    told: Floats,
) -> None:
    """Write what characters of a group are told (m, 3): velocities along x and z, distances left.

    ``states`` and ``rules`` are the rows of all characters of the group, ``rows`` the numbers (m,)
    of those that are led.
    """
    for k in range(len(rows)):
        state = states[int(rows[k]) * STATE_SIZE :]
        factor = float(rules[int(rows[k]) * RULES_SIZE + SPEED_FACTOR])
        own = Pace(pace.speed, pace.horizon * factor, pace.slack)
        in_air = int(state[GROUND_KIND]) == AIRBORNE
        one = _lead_one(places, grid, field, three_at(state, POSITION), in_air, own)
        told[k, 0], told[k, 1], told[k, 2] = one.velocity_x, one.velocity_z, one.left
