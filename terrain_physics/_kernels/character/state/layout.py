"""Contents of a character's two rows of numbers: its state, and the rules that the game sets.

The tables define each column once. All else follows from them: the sizes of the rows, the places
where kernels find a column, the values of a new character, the numbers that are saved and hashed.
"""

import math

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.state.columns import (
    COUNT,
    FLAG,
    NOT_NEGATIVE,
    PART_OF_UNIT,
    Column,
    Layout,
    Span,
)
from terrain_physics._kernels.math.vec3 import Mat3, Vec3, add, scale
from terrain_physics._kernels.surface.ground_arrays import ALL_LAYERS
from terrain_physics._kernels.surface.shapes import (
    BOX,
    CAPSULE,
    SPHERE,
    Body,
    box_body,
    capsule_body,
    sphere_body,
)
from terrain_physics._kernels.types import Floats

# The format of saved rows.
FORMAT = 1

MOST_ROUNDS = 1000

# Least and greatest factor of a material on the velocity of a walk.
LEAST_SPEED_FACTOR, MOST_SPEED_FACTOR = 1e-3, 1e3

# Bits of the mark of material rules, which is a whole number that a float holds exactly.
MATERIAL_RULES_BITS = 53

# Updates for which a body remembers how many moves of parts the ground had counted.
UPDATES_SEEN = 8

# Most parts remembered that squeeze a body against still ground; those that press hardest stay.
MOST_SQUEEZING = 2

# Most walls that a body in a crowd remembers.
MOST_WALLS = 2

# Most other characters that a body remembers to touch.
MOST_TOUCHED = 4

_SHAPES = Span(min(SPHERE, BOX, CAPSULE), max(SPHERE, BOX, CAPSULE), is_whole=True)
_SHARE = Span(0.0, 1.0, is_whole=False)
_SLOPES = Span(0.0, math.pi / 2.0, is_whole=False)
_IDS = Span(-1.0, 2.0**53, is_whole=True)  # and counts
_ROUNDS = Span(1.0, MOST_ROUNDS, is_whole=True)
_LAYERS = Span(0.0, ALL_LAYERS, is_whole=True)
_MARKS = Span(0.0, 2.0**MATERIAL_RULES_BITS - 1.0, is_whole=True)
_SPEEDS = Span(LEAST_SPEED_FACTOR, MOST_SPEED_FACTOR, is_whole=False)

# The hash of a state leaves out the columns that the next update finds anew.
STATE = Layout(
    Column("position", "place of the character", "m", 3),
    Column("velocity", "velocity, relative to its base", "m/s", 3),
    Column("grounded", "1: it stands on walkable ground, or is wedged", allowed=FLAG),
    Column(
        "ground_normal",
        "unit normal of the ground it stands on or touches",
        width=3,
        allowed=PART_OF_UNIT,
    ),
    Column("contacts", "how many triangles hold it up", is_hashed=False, allowed=COUNT),
    Column(
        "penetration",
        "the deepest penetration left",
        "m",
        is_hashed=False,
        allowed=NOT_NEGATIVE,
    ),
    Column(
        "converged",
        "1: it ended outside of the ground, at the end of its displacement",
        default=1.0,
        allowed=FLAG,
    ),
    Column(
        "rounds", "the most rounds of pushing that a step needed", is_hashed=False, allowed=COUNT
    ),
    Column(
        "lifted",
        "distance that it was lifted straight up in the last update",
        "m",
        is_hashed=False,
        allowed=NOT_NEGATIVE,
    ),
    Column(
        "undisturbed",
        "1: the game has left it alone since the last update",
        is_hashed=False,
        allowed=FLAG,
    ),
    Column("driven", "1: the game has set its velocity since the last update", allowed=FLAG),
    Column(
        "moved",
        "not 0: place, shape or ground may differ from the last update",
        default=1.0,
        is_hashed=False,
        allowed=_SHARE,
    ),
    Column(
        "ground_kind",
        "kind of the ground",
        words=("airborne", "steep", "wedged", "grounded", "character"),
    ),
    Column("ground_point", "where it touches the ground", "m", 3, is_hashed=False),
    Column("ground_part", "number of the part that it touches", is_hashed=False, allowed=_IDS),
    Column("ground_triangle", "number of the triangle in the part", is_hashed=False, allowed=_IDS),
    Column("air_time", "time since it was on the ground", "s", allowed=NOT_NEGATIVE),
    Column("landing_speed", "speed of its fall when it landed last", "m/s"),
    Column("ground_version", "the version of the ground that the last update saw", is_hashed=False),
    Column("stepping", "1: it is on the way up a step", allowed=FLAG),
    Column("step_foot", "height of its foot before the step", "m"),
    Column("last_place", "where the last update left it", "m", 3),
    Column(
        "below",
        "1: on the ground, with its center below the surface of a map",
        is_hashed=False,
        allowed=FLAG,
    ),
    Column(
        "contact_signature",
        "asleep, the signature of its contacts; 0: none",
        is_hashed=False,
    ),
    Column(
        "was_grounded",
        "1: it stood on the ground before the last update",
        is_hashed=False,
        allowed=FLAG,
    ),
    Column("hits", "how many hits are kept beside this row", is_hashed=False, allowed=COUNT),
    Column(
        "limit",
        "the limit that ended the last update: work, ground far above its body, ground around it",
        is_hashed=False,
        words=("none", "work", "depth", "room"),
    ),
    Column(
        "own_velocity",
        "velocity at the end of the last update; the game may have set another one since",
        "m/s",
        3,
        is_hashed=False,
    ),
    Column(
        "base_part",
        "the number of its base: the part that it stands on, in whose frame it moves; -1: none",
        default=-1.0,
        is_hashed=False,
        allowed=_IDS,
    ),
    Column(
        "on_moving_base",
        "1: its base may move, and the next two columns are in the frame of the base",
        allowed=FLAG,
    ),
    Column("base_point", "where its foot is on its base, in the frame of the base", "m", 3),
    Column(
        "base_ahead",
        "direction of the world's +Z in that frame",
        width=3,
        allowed=PART_OF_UNIT,
    ),
    Column("base_velocity", "velocity of the base at that point", "m/s", 3),
    Column("excess", "speed at which it would rise from its base in free flight", "m/s"),
    Column(
        "move_age",
        "time since the latest move of its base began, by its own updates",
        "s",
        allowed=NOT_NEGATIVE,
    ),
    Column(
        "turn",
        "angle by which its base turned about +Y in the last update",
        "rad",
        is_hashed=False,
    ),
    Column(
        "moves_seen",
        "moves that the ground had counted as the last updates ended, the last first; -1: unknown",
        width=UPDATES_SEEN,
        default=-1.0,
        is_hashed=False,
        allowed=_IDS,
    ),
    Column(
        "squeezed_by",
        "numbers of the parts that press it against still ground; -1: none",
        width=MOST_SQUEEZING,
        default=-1.0,
        is_hashed=False,
        allowed=_IDS,
    ),
    Column("squeezed", "displacements that would take it out of them", "m", 3 * MOST_SQUEEZING),
    Column(
        "dropped",
        "number of the one-way part that it drops through, until it is behind the part; -1: none",
        default=-1.0,
        is_hashed=False,
        allowed=_IDS,
    ),
    Column(
        "dropped_from",
        "where its center was on that part, in the frame of the part",
        "m",
        3,
    ),
    Column(
        "walls",
        "horizontal normals of walls in its way, for pushes of others of its group; 0: none",
        width=2 * MOST_WALLS,
        allowed=PART_OF_UNIT,
    ),
    Column(
        "wall_gaps",
        "distances to these walls",
        "m",
        width=MOST_WALLS,
        allowed=NOT_NEGATIVE,
    ),
    Column(
        "touched",
        "other characters that it touches: numbers that follow from their keys; 0: none",
        width=MOST_TOUCHED,
        allowed=PART_OF_UNIT,
    ),
    Column(
        "last_heading",
        "horizontal direction in which it wanted to go near others; 0: none",
        width=2,
        allowed=PART_OF_UNIT,
    ),
    Column(
        "circling",
        "how far that direction has turned while others were in its way; 1: it gives up",
        allowed=_SHARE,
    ),
)

RULES = Layout(
    Column("kind", "the shape: 0 sphere, 1 box, 2 capsule", allowed=_SHAPES),
    Column("extents", "half extents along the shape's own axes", "m", 3, allowed=NOT_NEGATIVE),
    Column("offset", "from the position to the shape's center", "m", 3),
    Column(
        "rotation",
        "from the shape's axes to the world's, row by row",
        width=9,
        allowed=PART_OF_UNIT,
    ),
    Column(
        "gravity",
        "downward acceleration",
        "m/s^2",
        default=9.81,
        allowed=NOT_NEGATIVE,
        is_rule=True,
    ),
    Column("gravity_scale", "factor on gravity", default=1.0, is_rule=True),
    Column(
        "slope_limit",
        "steepest walkable slope",
        "rad",
        default=math.radians(30),
        allowed=_SLOPES,
        is_rule=True,
    ),
    Column(
        "slope_cosine",
        "cosine of the slope limit",
        default=0.8660254037844387,
        allowed=_SHARE,
    ),
    Column(
        "ground_rule",
        "whether one walkable contact or the sum of all normals decides what is ground",
        words=("contact", "sum"),
        is_rule=True,
    ),
    Column(
        "ground_friction",
        "deceleration of horizontal speed on the ground",
        "m/s^2",
        default=20.0,
        allowed=NOT_NEGATIVE,
        is_rule=True,
    ),
    Column(
        "max_rounds",
        "most rounds of pushing, after which the body is lifted",
        default=16.0,
        allowed=_ROUNDS,
        is_rule=True,
    ),
    Column(
        "resolver",
        "contacts are resolved one after another, shuffled, or all at once",
        words=("shuffled", "simultaneous"),
        is_rule=True,
    ),
    Column(
        "snap_distance",
        "greatest drop over which a walker stays on the ground",
        "m",
        default=0.3,
        allowed=NOT_NEGATIVE,
        is_rule=True,
    ),
    Column(
        "step_offset",
        "walls up to this height are stepped up",
        "m",
        default=0.3,
        allowed=NOT_NEGATIVE,
        is_rule=True,
    ),
    Column(
        "slope_speed",
        "the speed that a walk keeps: the horizontal one, or that along the surface",
        words=("horizontal", "surface"),
        is_rule=True,
    ),
    Column(
        "mask",
        "layers of the parts of a ground that exist for it, a bit for each",
        default=ALL_LAYERS,
        allowed=_LAYERS,
        is_rule=True,
    ),
    Column(
        "leave",
        "the part that it keeps of the velocity of a base that it leaves",
        words=("velocity", "up", "none"),
        is_rule=True,
    ),
    Column(
        "turn_with_ground", "1: an owner with a rotation turns along", allowed=FLAG, is_rule=True
    ),
    Column(
        "material_rules",
        "a mark of the rules for materials, which are kept beside the row; 0: none",
        allowed=_MARKS,
    ),
    # Each update of a character with material rules finds these two anew. They are not in the
    # state, because every result copies the state.
    Column(
        "friction_factor",
        "factor on friction by its material rules, for the ground before the last update",
        default=1.0,
        is_hashed=False,
        allowed=NOT_NEGATIVE,
    ),
    Column(
        "speed_factor",
        "factor on the speed of its walk, by the same rules",
        default=1.0,
        is_hashed=False,
        allowed=_SPEEDS,
    ),
    Column(
        "mass",
        "mass in collisions with others of its group; 0: it cannot be pushed",
        "kg",
        default=80.0,
        allowed=NOT_NEGATIVE,
        is_rule=True,
    ),
    Column(
        "layers",
        "layers that it is on for others of its group, a bit for each",
        default=1.0,
        allowed=_LAYERS,
        is_rule=True,
    ),
    Column(
        "keep_off_ledges",
        "1: no push of others takes it off the ground",
        allowed=FLAG,
        is_rule=True,
    ),
)

LINEAR_SIZE = 9

NUMBERS = Layout(
    *STATE.columns,
    *RULES.columns,
    Column(
        "linear",
        "rotation times scale, row by row, that the shape was made for",
        width=LINEAR_SIZE,
    ),
)

# All numbers of a character that are saved, 8 bytes each.
SAVED = Layout(
    *NUMBERS.columns,
    Column("random_state", "the generator that shuffles contacts, 64 bits"),
)

# Kinds of ground.
AIRBORNE = STATE.number("ground_kind", "airborne")
STEEP = STATE.number("ground_kind", "steep")
WEDGED = STATE.number("ground_kind", "wedged")
WALKABLE = STATE.number("ground_kind", "grounded")
ON_CHARACTER = STATE.number("ground_kind", "character")

# Limits of an update.
NO_LIMIT = STATE.number("limit", "none")
BY_WORK = STATE.number("limit", "work")
BY_DEPTH = STATE.number("limit", "depth")
BY_ROOM = STATE.number("limit", "room")

# Numbers of the words of rules.
RULE_SUM = RULES.number("ground_rule", "sum")
SIMULTANEOUS = RULES.number("resolver", "simultaneous")
ALONG_SURFACE = RULES.number("slope_speed", "surface")
KEEPS_UPWARD = RULES.number("leave", "up")
KEEPS_NONE = RULES.number("leave", "none")

STATE_SIZE = STATE.size
POSITION = STATE.place("position")
VELOCITY = STATE.place("velocity")
GROUNDED = STATE.place("grounded")
GROUND_NORMAL = STATE.place("ground_normal")
CONTACTS = STATE.place("contacts")
PENETRATION = STATE.place("penetration")
CONVERGED = STATE.place("converged")
ROUNDS = STATE.place("rounds")
LIFTED = STATE.place("lifted")
UNDISTURBED = STATE.place("undisturbed")
DRIVEN = STATE.place("driven")
MOVED = STATE.place("moved")
GROUND_KIND = STATE.place("ground_kind")
GROUND_POINT = STATE.place("ground_point")
GROUND_PART = STATE.place("ground_part")
GROUND_TRIANGLE = STATE.place("ground_triangle")
AIR_TIME = STATE.place("air_time")
LANDING_SPEED = STATE.place("landing_speed")
GROUND_VERSION = STATE.place("ground_version")
STEPPING = STATE.place("stepping")
STEP_FOOT = STATE.place("step_foot")
LAST_PLACE = STATE.place("last_place")
BELOW = STATE.place("below")
CONTACT_SIGNATURE = STATE.place("contact_signature")
WAS_GROUNDED = STATE.place("was_grounded")
HITS = STATE.place("hits")
LIMIT = STATE.place("limit")
OWN_VELOCITY = STATE.place("own_velocity")
BASE_PART = STATE.place("base_part")
ON_MOVING_BASE = STATE.place("on_moving_base")
BASE_POINT = STATE.place("base_point")
BASE_AHEAD = STATE.place("base_ahead")
BASE_VELOCITY = STATE.place("base_velocity")
EXCESS = STATE.place("excess")
MOVE_AGE = STATE.place("move_age")
TURN = STATE.place("turn")
MOVES_SEEN = STATE.place("moves_seen")
SQUEEZED_BY = STATE.place("squeezed_by")
SQUEEZED = STATE.place("squeezed")
DROPPED = STATE.place("dropped")
DROPPED_FROM = STATE.place("dropped_from")
WALLS = STATE.place("walls")
WALL_GAPS = STATE.place("wall_gaps")
TOUCHED = STATE.place("touched")
LAST_HEADING = STATE.place("last_heading")
CIRCLING = STATE.place("circling")

# Columns that are 0 for a body that has just become airborne.
ZERO_IN_THE_AIR = (
    GROUNDED,
    *range(GROUND_NORMAL, GROUND_NORMAL + 3),
    CONTACTS,
    PENETRATION,
    GROUND_KIND,
    *range(GROUND_POINT, GROUND_POINT + 3),
    AIR_TIME,
    STEPPING,
    STEP_FOOT,
    BELOW,
    CONTACT_SIGNATURE,
    ON_MOVING_BASE,
    EXCESS,
    *range(BASE_VELOCITY, BASE_VELOCITY + 3),
    TURN,
    *range(SQUEEZED, SQUEEZED + 3 * MOST_SQUEEZING),
    *range(WALLS, WALLS + 2 * MOST_WALLS),
    *range(WALL_GAPS, WALL_GAPS + MOST_WALLS),
    *range(TOUCHED, TOUCHED + MOST_TOUCHED),
    *range(LAST_HEADING, LAST_HEADING + 2),
    CIRCLING,
)

RULES_SIZE = RULES.size
KIND = RULES.place("kind")
EXTENTS = RULES.place("extents")
OFFSET = RULES.place("offset")
ROTATION = RULES.place("rotation")
GRAVITY = RULES.place("gravity")
GRAVITY_SCALE = RULES.place("gravity_scale")
SLOPE_COSINE = RULES.place("slope_cosine")
GROUND_RULE = RULES.place("ground_rule")
FRICTION = RULES.place("ground_friction")
MAX_ROUNDS = RULES.place("max_rounds")
RESOLVER = RULES.place("resolver")
SNAP = RULES.place("snap_distance")
STEP_OFFSET = RULES.place("step_offset")
SURFACE_SPEED = RULES.place("slope_speed")
MASK = RULES.place("mask")
LEAVE = RULES.place("leave")
TURN_WITH_GROUND = RULES.place("turn_with_ground")
MATERIAL_RULES = RULES.place("material_rules")
FRICTION_FACTOR = RULES.place("friction_factor")
SPEED_FACTOR = RULES.place("speed_factor")
MASS = RULES.place("mass")
LAYERS = RULES.place("layers")
KEEP_OFF_LEDGES = RULES.place("keep_off_ledges")


@kernel(inline=True, no_refcount=True)
def three_at(values: Floats, start: int) -> Vec3:
    """Return three numbers of an array."""
    return (float(values[start]), float(values[start + 1]), float(values[start + 2]))


@kernel(inline=True, no_refcount=True)
def put_three_at(values: Floats, start: int, v: Vec3) -> None:
    """Write three numbers of an array; a zero without its sign."""
    values[start] = v[0] + 0.0
    values[start + 1] = v[1] + 0.0
    values[start + 2] = v[2] + 0.0


@kernel(inline=True, no_refcount=True)
def center_at(state: Floats, rules: Floats) -> Vec3:
    """Return the center of a character's body, in the world."""
    return add(three_at(state, POSITION), three_at(rules, OFFSET))


@kernel(inline=True, no_refcount=True)
def gravity_of(rules: Floats) -> float:
    """Return the gravity that acts on a character, downward, in m/s^2."""
    return float(rules[GRAVITY]) * float(rules[GRAVITY_SCALE])


@kernel(no_refcount=True)
def unpack_body(rules: Floats) -> Body:
    """Return the shape that the rules hold."""
    kind = int(rules[KIND])
    e = three_at(rules, EXTENTS)
    x, y, z = (
        three_at(rules, ROTATION),
        three_at(rules, ROTATION + 3),
        three_at(rules, ROTATION + 6),
    )
    m: Mat3 = (x[0], x[1], x[2], y[0], y[1], y[2], z[0], z[1], z[2])
    if kind == SPHERE:
        return sphere_body(e[0])
    if kind == BOX:
        return box_body(e, m)
    axis = (m[1] * e[1], m[4] * e[1], m[7] * e[1])
    if axis[1] < 0.0:
        axis = scale(axis, -1.0)
    return capsule_body(e[0], axis, (0.0, e[1], 0.0), m)
