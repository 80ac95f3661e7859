"""CharacterMovement: a body that falls, lands, stands and walks on the ground."""

from array import array
from collections.abc import Callable, Mapping
from copy import copy
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np

from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels._quick import put_entries, slots
from terrain_physics._kernels.character.sleep.wake import wake_near
from terrain_physics._kernels.character.state import layout as columns
from terrain_physics._kernels.character.state.drive import drive
from terrain_physics._kernels.character.update import update_characters
from terrain_physics._kernels.math.rigid import sine_and_cosine
from terrain_physics._kernels.types import Floats, Int64s
from terrain_physics._public import public, quick
from terrain_physics._support import checks
from terrain_physics._support.checks import Floats3, Floats9
from terrain_physics.character.colliders import Collider
from terrain_physics.character.frame_time import FrameTime, MaxDelta, slots_of_update
from terrain_physics.character.ground_material import put_factors
from terrain_physics.character.group_data import AdoptedMember, GroupData, Key
from terrain_physics.character.live import LiveVec3, merged, numbers_of, unsigned_zeros
from terrain_physics.character.material_rules import MaterialRules
from terrain_physics.character.needs import run_one_where_loaded
from terrain_physics.character.owners.owner import Owner, checked_owner
from terrain_physics.character.placement import (
    UPRIGHT,
    AnyGround,
    checked_collider,
    checked_ground,
    refuse_too_wide,
    standing,
)
from terrain_physics.character.results import MoveResult
from terrain_physics.character.rows import (
    ALONE,
    LAST_PLACE,
    POSITION,
    VELOCITY,
    Row,
    Rows,
    nothing_new,
    plain_row,
    refuse_other_format,
    step_off,
    wake,
)
from terrain_physics.character.rules import (
    DEFAULT,
    CharacterRules,
    GroundRule,
    Leave,
    Resolver,
    SlopeSpeed,
    given_rules,
    put_rules,
)
from terrain_physics.character.state import (
    CellSizes,
    KeptNumbers,
    first_random_state,
)
from terrain_physics.character.view import DRIVE, CharacterView
from terrain_physics.surface.axes import AnyAxes
from terrain_physics.surface.queries import Queries
from terrain_physics.surface.surface import KEPT_BY_ENTRIES, queries_of

_ZERO: Floats3 = (0.0, 0.0, 0.0)

_SINE_AND_COSINE = CachedDispatch(sine_and_cosine)
_UPDATE, _WAKE = CachedDispatch(update_characters), CachedDispatch(wake_near)


class _Idle(NamedTuple):
    """An update of a body that stands still; its result may be used again.

    Attributes
    ----------
    numbers : tuple of bytes
        All numbers after the update.
    changed : bool
        Whether the update changed any number; if it did not, the next one has the same result.
    contents : int
        The number of the ground's contents.
    seconds : float
        The length of the update.
    result : MoveResult
    """

    numbers: tuple[bytes, ...]
    changed: bool
    contents: int
    seconds: float
    result: MoveResult


_Owner = TypeVar("_Owner")


@public
class CharacterMovement(CharacterView):
    """Moves a body under gravity and keeps it out of the ground.

    Each `update` applies gravity, moves the body in steps so short that it passes through nothing,
    pushes it out of the ground, decides whether it is grounded, and removes the velocity into the
    ground. At rest the position stays the same, bit for bit, until the game disturbs it.

    Parameters
    ----------
    ground : HeightMap, TriangleMesh or Ground
        The ground to stand on.
    collider : SphereCollider, CapsuleCollider or BoxCollider
        The body; it turns and scales with its owner.
    position : three numbers, default (0, 0, 0)
        The position of the body at the start, in meters. Left out with an owner, which has it.
    rotation : glm.quat, glm.mat3 or 3 x 3 array, optional
        The rotation of the body. Left out with an owner that has a rotation.
    owner : object, optional
        Any object of a game that has a place. Its position is read before each update and written
        after it, in its own type; a position that the game writes to it is obeyed. See the notes.
    axes : {"y-up", "z-up", "y-up-left"}, default "y-up"
        The axes of the owner: "z-up" for Panda3D, "y-up-left" for ursina. Their (x, y, z) is
        (x, z, -y) and (x, y, -z) here. All else of a character has the library's axes.
    read : function, optional
        Called with the owner; returns its position, instead of an attribute. Needs `write`.
    write : function, optional
        Called with the owner and its new position, three floats, instead of setting an attribute.
        Without `read` the owner only shows the place of the character, which then has `position`
        and `rotation` of its own.
    seed : int or numpy.random.Generator, default 0
        The start of the shuffling of contacts. A generator gives one draw of 64 bits.
    rules : CharacterRules, optional
        All the rules below at once. A rule that is also given by its name has that value instead.
    gravity : float, default 9.81
        Downward, in m/s^2; >= 0.
    gravity_scale : float, default 1.0
        Factor on gravity for this character; may be negative.
    slope_limit : float, default 30 degrees
        Steepest walkable slope in radians, from 0 to pi / 2.
    ground_rule : {"contact", "sum"}, default "contact"
        "contact": grounded if a contact is walkable or the body is wedged between steep ones.
        "sum": grounded if the sum of +Y and the normals of all triangles touched is within the
        slope limit of +Y.
    ground_friction : float, default 20.0
        Deceleration of horizontal speed on the ground, in m/s^2, unless the game set the velocity.
    max_rounds : int, default 16
        After this many rounds of pushing out, the body is lifted straight up instead; >= 1.
    resolver : {"shuffled", "simultaneous"}, default "shuffled"
        The body is pushed out of contacts one after another, in seeded random order, or out of all
        at once, independent of their order.
    snap_distance : float, default 0.3
        Greatest drop over which a walker stays on the ground, on slopes and stairs, in meters.
    step_offset : float, default 0.3
        Walls up to this height with walkable ground behind are stepped up, in meters; at most half
        the body's height.
    slope_speed : {"horizontal", "surface"}, default "horizontal"
        The speed that a walk keeps on slopes: the horizontal one, or that along the ground.
    mask : int, default 0xFFFF_FFFF
        Layers of the parts of a `Ground` that exist for the character, a bit for each. All other
        parts do not exist for it. A map or a mesh by itself has the layers 1.
    leave : {"velocity", "up", "none"}, default "velocity"
        The part that it keeps of the velocity of a moving base when it leaves the base, by a jump,
        over an edge or because the base is gone: all of it, all but the downward part, or nothing.
        With "none", a lift that stops or reverses does not throw it up either: what most games want
        of lifts. A base that falls faster than gravity lets go of it whatever the rule.
    turn_with_ground : bool, default False
        Whether an owner with a rotation turns along with a moving part, about +Y.
    mass : float, default 80.0
        Mass in collisions with others of a `CharacterGroup`, in kg, > 0. A character pushes another
        one along at the speed of both after a collision without a bounce. With infinite mass, it
        cannot be pushed. Mass does not matter to the ground.
    layers : int, default 1
        Layers that it is on for others of its group, a bit for each: two characters collide if the
        `mask` of each has a layer of the other.
    keep_off_ledges : bool, default False
        Whether pushes of others never take it off the ground, as over an edge.
    material_rules : mapping, optional
        Friction and speed on the materials of the ground, such as ``{"ice": dict(friction=0.5),
        "mud": dict(speed=0.5)}``. A material is given by name, or by number, from 0 to 255, on maps
        and meshes without names; names that the ground does not have (yet) are no mistake.
        ``friction`` is a factor on `ground_friction`, >= 0; with 0 a body slides on without end.
        ``speed`` is a factor on the speed of its walk, from 0.001 to 1000: it really moves at its
        `velocity` times the factor, while `velocity` stays as the game set it, to rounding. Both
        are 1 if left out. See the notes.
    max_delta : float, default 0.25
        The longest time step one update simulates, in seconds, from 1e-6 to 1. The rest of a longer
        frame is left out: after a pause the game goes on where it stopped. It is no part of the
        state.

    Notes
    -----
    Its material is that of the triangle that it stands on as an update begins; of several triangles
    the one that holds it up most; on a step's edge, that of the edge. A material that it comes onto
    in an update counts from the next update on. In the air nothing changes: a jump takes the
    `velocity` along. A body that walks off the ground flies on at its real speed, and runs into
    walls at its real speed. A body without velocity rests, on ice as in mud. A body that does not
    walk, by ``ground_rule="sum"``, has friction but no ``speed``. A ``speed`` of 0 is refused,
    because a body could never leave such ground.

    An owner has one of these, looked for in this order when the character is made:

    - ``transform``, a 4 x 4 matrix: of PyGLM, pyrr or Panda3D, an array or rows with the
      translation in the last column, or 16 numbers column by column, as OpenGL, pyglet and raylib
      have them. Its rotation and scale turn and scale the body;
    - ``position``, and it may have ``rotation`` and ``scale`` (a number or three), which turn and
      scale the body;
    - ``matrix``, as ``transform``;
    - ``getPos`` and ``setPos``, and it may have ``getScale``, as Panda3D's nodes;
    - ``x``, ``y`` and ``z``: a vector, or a component such as a dataclass.

    A rotation is a quaternion or a 3 x 3 matrix. A rotation of another kind (an angle, Euler
    angles, HPR) is not read: spheres and capsules stay upright, and a box is refused.

    A position of two numbers, as of a sprite, is seen from above: x and z, with ``axes="z-up"`` x
    and -z. The character has the height: it starts on the ground there, and keeps its height when
    the game puts the owner elsewhere. A scale of two numbers belongs to the picture, and is not
    read.

    On a `TiledGround`, an update has the land loaded that it may come to, or leaves the character
    as it is until the land is there: see ``missing`` there, and `MoveResult.waiting`. Moves of a
    moving base add up meanwhile, as for any character that is not updated: it is carried to its
    base then. It needs no land while it sleeps.

    An attribute that a character does not have is refused with AttributeError, because it is likely
    misspelled. A subclass may have attributes of its own.

    Examples
    --------
    >>> from terrain_physics import HeightMap, SphereCollider
    >>> floor = HeightMap([[0, 0], [0, 0]])
    >>> mover = CharacterMovement(floor, SphereCollider(0.5), position=(0.5, 2, 0.5))
    >>> for frame in range(60):
    ...     result = mover.update(1 / 60)
    >>> result.grounded, mover.position
    (True, vec3( 0.5, 0.5, 0.5 ))
    >>> mover.velocity.x = 3
    >>> mover.update(1 / 60).grounded, round(mover.position.x, 3)
    (True, 0.55)
    """

    max_delta = MaxDelta()

    # Cell sizes of the ground when an update last found that the body fits there.
    _cell_sizes: CellSizes = None

    # The last update, if the body stood still in it.
    _idle: _Idle | None = None

    # The data of the group that updates it, and its key there.
    _group: GroupData | None = None
    _key: Key

    def __init__(
        self,
        ground: AnyGround,
        collider: Collider,
        position: Any = None,
        *,
        rotation: Any = None,
        owner: _Owner | None = None,
        axes: AnyAxes = "y-up",
        read: Callable[[_Owner], Any] | None = None,
        write: Callable[[_Owner, Floats3], object] | None = None,
        seed: "int | np.random.Generator" = 0,
        rules: CharacterRules | None = None,
        gravity: float = DEFAULT.gravity,
        gravity_scale: float = DEFAULT.gravity_scale,
        slope_limit: float = DEFAULT.slope_limit,
        ground_rule: GroundRule = DEFAULT.ground_rule,
        ground_friction: float = DEFAULT.ground_friction,
        max_rounds: int = DEFAULT.max_rounds,
        resolver: Resolver = DEFAULT.resolver,
        snap_distance: float = DEFAULT.snap_distance,
        step_offset: float = DEFAULT.step_offset,
        slope_speed: SlopeSpeed = DEFAULT.slope_speed,
        mask: int = DEFAULT.mask,
        leave: Leave = DEFAULT.leave,
        turn_with_ground: bool = DEFAULT.turn_with_ground,
        mass: float = DEFAULT.mass,
        layers: int = DEFAULT.layers,
        keep_off_ledges: bool = DEFAULT.keep_off_ledges,
        material_rules: Mapping[Any, Mapping[str, float]] = DEFAULT.material_rules,
        max_delta: float = MaxDelta.default,
    ) -> None:
        given = given_rules(locals())
        self._ground = checked_ground(ground)
        self._collider = checked_collider(collider)
        self._owner = checked_owner(owner, self._collider, axes, read, write)
        self._numbers, self._time = Rows.one(), FrameTime(max_delta)
        self._first_random = self._numbers.random[0] = first_random_state(seed)
        self._own_rules = put_rules(self._numbers.rules, rules, given, ())
        self._begin(position, rotation)

    def _begin(self, position: Any, rotation: Any) -> None:
        """Begin at the place given by the owner or the game."""
        start, linear = self._first_place(position, rotation)
        cell_sizes = queries_of(self._ground).cell_sizes
        self._place(linear)  # which finds that the body fits
        self._cell_sizes = cell_sizes
        if self._owner is not None:
            start = self._put_owner(self._owner, start)
        self._numbers.state[POSITION] = self._numbers.state[LAST_PLACE] = start
        # Readers of the live vectors see these. A component that differs later was written.
        self._position, self._velocity = LiveVec3(), LiveVec3()
        self._position.show(start)
        self._velocity.show(_ZERO)

    def _first_place(self, position: Any, rotation: Any) -> tuple[Floats3, Floats9]:
        """Return position and rotation of the body at the start, from its owner or the game."""
        start, owner = _ZERO, self._owner
        linear = None if owner is None else owner.linear()
        if owner is not None and owner.is_read:
            if position is not None:
                raise ValueError("position must be left to the owner where there is one")
            start = owner.position()
        elif position is not None:
            start = checks.vector("position", position)
        if rotation is not None:
            self._refuse_rotation()
            linear = checks.rotation("rotation", rotation)
        return unsigned_zeros(start), linear or UPRIGHT

    def _put_owner(self, owner: Owner, start: Floats3) -> Floats3:
        """Begin with an owner; return the place, which is on the ground for a flat owner."""
        if owner.is_flat:
            start = standing(self._ground, self._numbers.rules, start)
        if not owner.is_read:
            owner.move_to(start)
        owner.shown = owner.place = start
        return start

    # The step

    @quick
    def update(self, delta_time: float) -> MoveResult:
        """Advance by one frame.

        Parameters
        ----------
        delta_time : float
            Seconds since the last update, >= 0; time beyond `max_delta` is left out. Zero does
            nothing.

        Returns
        -------
        MoveResult
            Its ``seconds`` are the time that the update really took.

        Raises
        ------
        ValueError
            For a time below 0, NaN or infinite, if the game wrote a NaN or an infinity into the
            velocity, the position or the owner, and if the body covers too many cells of a map that
            was added to the ground. Nothing has changed then.
        TypeError
            If the time is no number, and if the owner's transform is no matrix or shears the
            collider.
        RuntimeError
            If the character is in a group.
        """
        if self._group is not None:
            raise RuntimeError(
                f"update must be left to the group that it is in, with the key {self._key!r}"
            )
        time = self._time
        seconds = time.lived(delta_time)
        if seconds == 0.0:
            state = self._numbers.state
            nothing_new(state)
            return MoveResult(plain_row(state))
        queries = queries_of(self._ground)
        contents, idle = queries.contents, self._idle
        if idle is not None and not self._is_left_as(idle, seconds):
            idle = None
        if idle is not None and not idle.changed and idle.contents == contents:
            return idle.result
        time.in_update = True
        try:
            if idle is not None and idle.contents != contents:
                idle = self._slept_on(idle, queries, contents)
                if idle is not None:
                    return idle.result
            return self._advance(queries, contents, idle, seconds)
        finally:
            time.in_update = False

    def _advance(
        self, queries: Queries, contents: int, idle: _Idle | None, seconds: float
    ) -> MoveResult:
        """Advance by ``seconds``; ``idle`` is the last update if nothing has changed since."""
        state, _, _, _, hits = self._numbers
        self._adopt()
        if state[columns.GROUND_VERSION] != contents:
            self._see_changes(queries, contents)
        if queries.streaming is None:
            ran_into = self._run_alone(queries, seconds)
        else:
            run = partial(self._run, queries, seconds)
            ran_into, waits = run_one_where_loaded(run, self._numbers, queries, seconds)
            if waits is not None:
                return self._waited()
        values = plain_row(state)
        self._show_vectors(values)
        self._show_owner()
        self._time.last = seconds
        result = MoveResult(values, seconds, (hits.tobytes(), queries) if ran_into else None)
        if values[columns.CONTACT_SIGNATURE] != 0.0 and not (
            ran_into or self._own_rules or self._owner
        ):
            self._keep_idle(contents, seconds, result, idle)
        elif self._idle is not None:  # setting an attribute is slow
            self._idle = None
        return result

    def _keep_idle(
        self, contents: int, seconds: float, result: MoveResult, last: _Idle | None = None
    ) -> None:
        """Keep an update of a body that stands still; ``last`` is the one before, if it is left."""
        numbers = self._bytes()
        # It was restored just before if the last one is forgotten.
        changed = last is None or last is not self._idle or numbers != last.numbers
        self._idle = _Idle(numbers, changed, contents, seconds, result)

    def _run_alone(self, queries: Queries, seconds: float) -> bool:
        """Advance by ``seconds`` in the kernel, with the lock of ground that is all there."""
        with queries.lock:
            return self._run(queries, seconds, queries.ground_arrays.table)

    def _run(self, queries: Queries, seconds: float, table: Int64s) -> bool:
        """Advance by ``seconds`` in the kernel; tell whether it ran into something.

        ``table`` is that of the ground, whose lock is held.
        """
        numbers = self._numbers
        if self._own_rules:
            put_factors(numbers, self._own_rules, queries, table, self._ground.material_names)
        state, rules, _, random_state, hits = numbers
        ran_into: bool = _UPDATE.call(state, random_state, rules, hits, ALONE, seconds, 0, 1, table)
        return ran_into

    def _waited(self) -> MoveResult:
        """Return the result of an update that has left the character waiting for its ground."""
        values = plain_row(self._numbers.state)
        self._show_values(values)
        return MoveResult(values, waiting=True)

    def _see_changes(self, queries: Queries, contents: int) -> None:
        """Check the body and wake it if the ground has changed since the last update."""
        state, rules, *_ = self._numbers
        if queries.cell_sizes is not self._cell_sizes:  # maps were added or removed
            refuse_too_wide(self._ground, rules)
            self._cell_sizes = queries.cell_sizes
        log = queries.wake_log
        changes = log.rows, float(log.forgotten), queries.left
        _WAKE.call(state, rules, *changes, float(contents), 0, 1)

    def _bytes(self) -> tuple[bytes, ...]:
        """Return all numbers that an update depends on."""
        state, rules, _, random_state, _ = self._numbers
        return state.tobytes(), rules.tobytes(), random_state.tobytes()

    def _slept_on(self, idle: _Idle, queries: Queries, contents: int) -> _Idle | None:
        """Return the idle update again if it also holds on the changed ground, else None.

        It does where nothing near has changed: who sleeps is left as the kernel leaves it.
        """
        if idle.changed or queries.streaming is not None:
            return None
        self._see_changes(queries, contents)
        state, moves = self._numbers.state, queries.moves
        if state[columns.UNDISTURBED] == 0.0:
            return None
        if moves > 0:
            state[columns.MOVES_SEEN : columns.MOVES_SEEN + columns.UPDATES_SEEN] = moves
        numbers = state.tobytes(), *idle.numbers[1:]
        slept = _Idle(numbers, idle.changed, contents, idle.seconds, idle.result)
        self._idle = slept
        return slept

    def _is_left_as(self, idle: _Idle, seconds: float) -> bool:
        """Tell whether nothing but the ground may have changed since an idle update."""
        position, velocity = self._position, self._velocity
        return (
            seconds == idle.seconds
            and not (position.written or velocity.written)
            and position == position.shown
            and velocity == velocity.shown
            and self._bytes() == idle.numbers
        )

    def reset(  # noqa: D102 as of any character
        self,
        position: Any,
        velocity: Any = _ZERO,
        seed: "int | np.random.Generator | None" = None,
    ) -> None:
        super().reset(position, velocity, seed)
        if self._group is None:
            self._time.last = 0.0

    @property
    def ground(self) -> AnyGround:
        """The ground it stands on; set another one, and the next update goes on there.

        Until then the report names no triangle. Raises TypeError for a value that is no ground, and
        ValueError for a ground with so small cells that the body covers too many, and in a group,
        which has one ground for all. Nothing has changed then.
        """
        return self._ground if self._group is None else self._group.ground

    @ground.setter
    def ground(self, ground: AnyGround) -> None:
        known = checked_ground(ground)
        if self._group is not None:
            raise ValueError("ground must be left to the group that it is in")
        cell_sizes = queries_of(known).cell_sizes
        refuse_too_wide(known, self._numbers.rules)
        if known is not self._ground:
            step_off(self._numbers.state)
        self._ground, self._cell_sizes, self._idle = known, cell_sizes, None
        wake(self._numbers.state)

    @property
    def collider(self) -> Collider:
        """The body before it was placed; see `resize`."""
        return self._collider if self._group is None else self._group.collider(self._key)

    def __getstate__(self) -> dict[str, Any]:
        """Give a copy, which is in no group, numbers and vectors of its own."""
        return self.__dict__ | {
            "format": columns.FORMAT,
            "_group": None,
            "_ground": self.ground,
            "_collider": self.collider,
            "_own_rules": self._material_rules(),
            "_numbers": self._row().copy(),
            "_time": self._frame_time().copy(),
            "_owner": copy(self._owner),
            "_position": self._position.parts(),
            "_velocity": self._velocity.parts(),
            "_idle": None,
        }

    def __setstate__(self, content: dict[str, Any]) -> None:
        refuse_other_format("CharacterMovement", content.pop("format", None))
        content["_position"] = LiveVec3.from_parts(*content["_position"])
        content["_velocity"] = LiveVec3.from_parts(*content["_velocity"])
        self.__dict__.update(content)

    def __repr__(self) -> str:
        return f"<CharacterMovement {self._where()}>"

    # In a world: the same methods as of a group

    def _rows(self) -> Rows:
        """Return its numbers (1, ...)."""
        return self._row().at(np.newaxis)

    def _members(self) -> None:
        """Return None: it is no group."""

    def _collision(self) -> None:
        """Return None: it collides with nobody."""

    def _is_as_left(self, ground: AnyGround) -> bool:
        """Tell whether it is alone on a ground, and the game has written nothing to it."""
        position, velocity = self._position, self._velocity
        return (
            self._ground is ground
            and self._group is None
            and self._owner is None
            and not (position.written or velocity.written)
            and position == position.shown
            and velocity == velocity.shown
        )

    def _adopt_all(self, *, to_show: bool) -> None:
        """Take over what the game wrote; show it to the game at once, if asked."""
        self._adopt()
        if to_show:
            self._show()

    def _refuse_too_wide(self, ground: AnyGround) -> None:
        refuse_too_wide(ground, self._row().rules)

    def _refuse_in_group(self, name: str) -> None:
        if self._group is not None:
            raise ValueError(
                f"{name} must be in no group, is in one as {self._key!r}: "
                "add that group to the world instead"
            )

    def _bring_to(self, ground: AnyGround) -> None:
        """Leave its group, and go to a ground that it has been on, where its body of then fits."""
        if self._group is not None:
            self._group.remove([self._key])
        if self._ground is not ground:
            self._ground, self._cell_sizes, self._idle = ground, None, None

    def _told(self) -> dict[str, Any]:
        """Return what a file has of it, beside its numbers and its body."""
        return {
            "material_rules": self._material_rules(),
            "seed": int(self._first_random),
            "max_delta": self.max_delta,
            "last": self._frame_time().last,
        }

    # In a group

    def _join(self, group: GroupData, key: Key) -> None:
        """Become a member of a group, under a new key."""
        if self._group is not None:
            raise ValueError(f"movement must be in no group, is in one as {self._key!r}")
        refuse_too_wide(group.ground, self._numbers.rules)
        self._adopt()
        row = group.room_for(1).at(0)
        row.put(self._numbers)
        if group.ground is not self._ground:
            step_off(row.state)
            wake(row.state)
        join_again = partial(self._join_again, group, key)
        shown = self._show_updated, self._show_restored
        adopted = AdoptedMember(self._adopt, *shown, self._leave, join_again)
        try:
            group.add([key], self._collider, self._own_rules)
            group.welcome(key, adopted)
            self._group, self._key, self._idle = group, key, None
        except BaseException:  # such as Ctrl-C: it is undone
            if key in group:
                group.remove([key])
            raise

    def _join_again(self, group: GroupData, key: Key) -> None:
        """Become the member with a key again, whose numbers the group is about to put back."""
        if self._group is not None:
            self._group.remove([self._key])
        self._group, self._key, self._idle = group, key, None

    def _leave(self) -> None:
        """Leave the group, at the place where it has brought the character."""
        self._ground, self._collider, self._numbers = self.ground, self.collider, self._row().copy()
        self._own_rules, self._time.last = self._material_rules(), self._frame_time().last
        cell_sizes = queries_of(self._ground).cell_sizes
        self._cell_sizes = cell_sizes if self._fit() == cell_sizes else None
        self._group = None

    def _show_updated(self) -> None:
        self._show_vectors(plain_row(self._state()))
        self._show_owner()

    # Differences from a member of a group

    def _row(self) -> Rows:
        return self._numbers if self._group is None else self._group.row(self._key)

    def _state(self) -> Floats:
        return self._numbers.state if self._group is None else self._group.state_row(self._key)

    def _seed(self) -> int:
        return self._first_random

    def _frame_time(self) -> FrameTime:
        return self._time if self._group is None else self._group.time

    def _fit(self) -> CellSizes:
        return self._cell_sizes if self._group is None else self._group.cell_sizes

    def _forget_fit(self) -> None:
        if self._group is None:
            self._cell_sizes = None
        else:
            self._group.cell_sizes = None

    def _live_position(self) -> LiveVec3:
        if self._group is not None:
            self._show_anew(self._position, POSITION)
        return self._position

    def _live_velocity(self) -> LiveVec3:
        if self._group is not None:
            self._show_anew(self._velocity, VELOCITY)
        return self._velocity

    def _show_anew(self, vector: LiveVec3, place: slice) -> None:
        """Show a value that the game wrote to the group, unless it also wrote to this vector."""
        if not vector.written and vector == vector.shown:
            x, y, z = self._state()[place].tolist()
            vector.show((x, y, z))

    def _keep_collider(self, collider: Collider) -> None:
        if self._group is None:
            self._collider = collider
        else:
            self._group.keep_collider(self._key, collider)

    def _material_rules(self) -> MaterialRules:
        return self._own_rules if self._group is None else self._group.material_rules(self._key)

    def _keep_material_rules(self, rules: MaterialRules) -> None:
        if self._group is None:
            self._own_rules = rules
        else:
            self._group.keep_material_rules(self._key, rules)

    def _refuse_rotation(self) -> None:
        if self._owner is not None and self._owner.linear() is not None:
            raise ValueError("rotation must be left to the owner that has one")

    def _vertical_velocity(self) -> float:
        shown, written = self._velocity.shown.y, self._velocity.y
        return super()._vertical_velocity() if written == shown else written

    def _exact_velocity(self) -> Floats3:
        shown, written = numbers_of(self._velocity.shown), numbers_of(self._velocity)
        return merged(super()._exact_velocity(), shown, written)

    def _put_position(self, value: Any) -> None:
        super()._put_position(value)
        self._position.show(self.position64)
        self._move_owner()

    def _put_velocity(self, value: Any) -> Floats3:
        velocity = super()._put_velocity(value)
        self._velocity.show(velocity)
        return velocity

    def _adopt(self) -> None:
        """Take over the values that the game wrote since the last update: all or none."""
        owner, position, velocity = self._owner, None, None
        place = None if owner is None else (owner.position(), owner.linear())
        if self._position != self._position.shown:  # also where the game wrote a NaN
            position = checks.vector("position", self._position)
        if self._velocity != self._velocity.shown:
            velocity = checks.vector("velocity", self._velocity)
        if owner is not None and place is not None:
            self._adopt_place(owner, *place)
        state = self._state()
        if position is not None:
            self._adopt_position(numbers_of(self._position.shown), position)
        if velocity is not None:
            x, y, z = state[VELOCITY].tolist()
            DRIVE.call(state, *merged((x, y, z), numbers_of(self._velocity.shown), velocity))
        elif self._velocity.written:
            state[columns.DRIVEN] = 1.0

    def _turn_owner(self, angle: float) -> None:
        """Turn an owner with a rotation about +Y, and the body with it."""
        sine, cosine = _SINE_AND_COSINE.call(angle)
        a, b, c, d, e, f, g, h, i = self._row().linear.tolist()
        linear = (
            cosine * a + sine * g, cosine * b + sine * h, cosine * c + sine * i,
            d, e, f,
            cosine * g - sine * a, cosine * h - sine * b, cosine * i - sine * c,
        )  # fmt: skip
        if self._owner is not None and self._owner.turn_to(linear):
            self._place(linear)

    def _take_over(self, state: Any) -> None:
        super()._take_over(state)
        if self._owner is not None:
            self._turn_owner_back()
        self._settle_idle()

    def _put_numbers(self, kept: KeptNumbers, seconds: float | None) -> None:
        super()._put_numbers(kept, seconds)
        self._settle_idle()

    def _show_restored(self) -> None:
        self._show()
        if self._owner is not None:
            self._turn_owner_back()

    def _settle_idle(self) -> None:
        """Forget an idle update that may not tell what the next one does."""
        idle = self._idle
        if idle is not None and (idle.changed or idle.seconds != self._time.last):
            self._idle = None

    def _turn_owner_back(self) -> None:
        """Set the rotation of an owner that turns with the ground to that of the body."""
        if self._owner is not None and self.turn_with_ground:
            self._owner.turn_to(checks.floats9(self._row().linear))

    def _adopt_owner(self, owner: Owner) -> None:
        """Take over where the owner is: for the entry in C, if the game wrote nothing else."""
        self._adopt_place(owner, owner.position(), owner.linear())

    def _adopt_place(self, owner: Owner, shown: Floats3, linear: Floats9 | None) -> None:
        if linear is not None and linear != owner.turned:
            if linear != checks.floats9(self._row().linear):
                self._place(linear)
                owner.turned = None
        if shown != owner.shown:
            self._adopt_position(owner.shown, shown)

    def _adopt_position(self, shown: Floats3, written: Floats3) -> None:
        exact = merged(self.position64, shown, written)
        self._state()[POSITION] = unsigned_zeros(exact)
        self._disturb()

    def _show(self) -> None:
        self._show_values(plain_row(self._state()))
        if self._owner is not None and self._owner.position() != self._owner.shown:
            self._move_owner()  # the game has put it elsewhere

    def _show_values(self, values: Row) -> None:
        """Show position and velocity to readers of the live vectors, and to the owner."""
        self._show_vectors(values)
        self._bring_owner()

    def _show_vectors(self, values: Row) -> None:
        self._position.show((values[0], values[1], values[2]))
        self._velocity.show((values[3], values[4], values[5]))

    def _show_owner(self) -> None:
        """Move and turn the owner as an update did the body."""
        if self._owner is None:
            return
        state, rules, *_ = self._row()
        turn = state.item(columns.TURN)
        self._bring_owner()
        if turn != 0.0 and rules[columns.TURN_WITH_GROUND] != 0.0:
            self._turn_owner(turn)

    def _bring_owner(self) -> None:
        if self._owner is not None and self.position64 != self._owner.place:
            self._move_owner()

    def _move_owner(self) -> None:
        """Move the owner along; if it keeps within bounds of its own, the character follows it."""
        owner = self._owner
        if owner is None:
            return
        place = self.position64
        shown = owner.move_to(place)
        owner.shown, owner.place = shown, place
        for axis in range(3) if shown != place else ():
            # A smaller difference may come from rounding to float32.
            if abs(shown[axis] - place[axis]) > 1e-6 * max(1.0, abs(place[axis])):
                self._state()[columns.POSITION + axis] = shown[axis] + 0.0
                self._disturb()
                owner.place = self.position64
        if owner.place != place:
            self._position.show(owner.place)


# What the entries in C know of a character, in their order. Whoever edits what `walk` and `update`
# do, or a name with an underscore, edits `_build/quick/` too.
put_entries(
    (
        *(*KEPT_BY_ENTRIES, CharacterMovement, Rows),
        *slots_of_update(MoveResult),
        *(LiveVec3, drive, *slots(MoveResult, "_values", "_met")),
        *(update_characters, ALONE, 0, 1, array("d", bytes(8 * columns.STATE_SIZE))),
        *(columns.POSITION, columns.VELOCITY),
        *(columns.GROUND_VERSION, columns.CONTACT_SIGNATURE),
        *(columns.GROUND_KIND, columns.GROUND_TRIANGLE),
    ),
    (CharacterView, "walk"),
    (CharacterMovement, "update"),
)
