"""CharacterView: the interface of one character to the game, alone or in a group."""

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, overload
from weakref import ref

import numpy as np
from numpy.typing import NDArray
from pyglm import glm

from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels.character.state import layout as columns
from terrain_physics._kernels.character.state.drive import drive
from terrain_physics._kernels.types import Floats
from terrain_physics._public import public, quick
from terrain_physics._support import checks
from terrain_physics._support.checks import Floats3, Floats9
from terrain_physics._support.interruptions import carried_out
from terrain_physics.character.colliders import Collider
from terrain_physics.character.frame_time import FrameTime
from terrain_physics.character.hits import MoveHits, impacts_of
from terrain_physics.character.live import LiveVec3, Rotation, ThreeNumbers, unsigned_zeros
from terrain_physics.character.placement import (
    AnyGround,
    constraint_planes,
    make_new,
    placed_shape,
    put_in_air,
    refuse_too_wide,
    resize,
)
from terrain_physics.character.results import GroundReport, MoveResult
from terrain_physics.character.rows import (
    BASE_VELOCITY,
    POSITION,
    VELOCITY,
    Rows,
    forget_contact_signature,
    has_waited,
    plain_row,
    state_hashes,
    wake,
)
from terrain_physics.character.rules import RuleProperties
from terrain_physics.character.state import (
    CellSizes,
    CharacterState,
    KeptNumbers,
    first_random_state,
    row_of,
    trusted,
)
from terrain_physics.surface.surface import queries_of

DRIVE = CachedDispatch(drive)


@public
class CharacterView(RuleProperties):
    """One character on its ground, to read and to steer.

    A `CharacterMovement` is a character alone, a `GroupMember` is one of a group. Functions that
    work with either take a `CharacterView`. It has the rules of a `CharacterMovement`
    (``gravity``, ``slope_limit`` and so on, and all at once as ``rules``), to read and to write at
    any time. Only ``max_delta`` belongs to the group.
    """

    # Values that the game reads and writes

    @property
    @abstractmethod
    def ground(self) -> AnyGround:
        """The ground that it stands on."""

    @property
    def position(self) -> glm.vec3:
        """The position in meters; live: the game may write to it or to its components.

        A new position near the place after the last update is a nudge: the body keeps its footing,
        and walks on. Near is up to `step_offset` (at most half its height), or up to its radius or
        least half extent if that is more. Farther away it is a teleport: the body is in the air
        there, with the velocity that it has. `teleport` does the same at any distance, and `reset`
        begins anew.
        """
        return self._live_position()

    @position.setter
    def position(self, value: ThreeNumbers) -> None:
        self._put_position(value)

    @property
    def position64(self) -> Floats3:
        """The position in float64; of a `CharacterMovement`, the one after the last update."""
        x, y, z = self._state()[POSITION].tolist()
        return x, y, z

    @quick
    def relative_position(self, origin: Any) -> glm.vec3:
        """Return the position relative to an origin; the difference is taken in float64.

        Parameters
        ----------
        origin : three numbers
            In meters, such as the camera's position in a large world.

        Returns
        -------
        glm.vec3
        """
        x, y, z = self.position64
        ox, oy, oz = checks.vector("origin", origin)
        return glm.vec3(x - ox, y - oy, z - oz) + 0.0

    @property
    def velocity(self) -> glm.vec3:
        """The velocity in m/s; live: the game may write to it or to its components.

        On a moving part of a `Ground`, it is relative to that part at the place of the body. When
        the body leaves the part, the rule `leave` decides how much of the part's velocity it keeps.
        See `world_velocity`.
        """
        return self._live_velocity()

    @velocity.setter
    def velocity(self, value: ThreeNumbers) -> None:
        self._put_velocity(value)

    @overload
    def walk(self, vx: float, vz: float) -> None: ...
    @overload
    def walk(self, vx: glm.vec2 | glm.dvec2 | Sequence[float] | NDArray[Any]) -> None: ...
    @quick
    def walk(self, vx: Any, vz: Any = None) -> None:
        """Drive it over the ground; its vertical velocity stays.

        It can be called in each frame: in the air the body goes on falling, and a jump set as a
        velocity goes on. `velocity` sets all three components.

        Parameters
        ----------
        vx, vz : float
            Velocities along x and z in m/s. A pair of them, such as a vec2, may stand alone.

        Raises
        ------
        TypeError, ValueError
            For a value that is no finite number, and for one that stands alone and is no pair.
            Nothing has changed then.

        Examples
        --------
        >>> from terrain_physics import CharacterMovement, HeightMap, SphereCollider
        >>> floor = HeightMap([[0, 0], [0, 0]])
        >>> mover = CharacterMovement(floor, SphereCollider(0.5), position=(0, 2, 0))
        >>> for frame in range(30):
        ...     mover.walk(3, 0)
        ...     result = mover.update(1 / 60)
        >>> mover.velocity
        vec3( 3, -4.905, 0 )
        """
        if vz is None:
            vx, vz = _pair(vx)
        across, along = checks.finite("vx", vx), checks.finite("vz", vz)
        self._put_velocity((across, self._vertical_velocity(), along))

    def jump(self, height: float) -> None:
        """Set its vertical velocity to that of a jump of some height; the others stay.

        It rises by that height at any frame rate, unless something is in its way. It jumps in the
        air too, as for a double jump: a game asks ``grounded`` first, or how long ago that was.
        Where its ``gravity_scale`` is 0 or less, as under water, it gets the speed that it would
        need with a scale of 1.

        Parameters
        ----------
        height : float
            How far it rises, in meters, >= 0; over moving ground that it leaves with
            ``leave="velocity"``, relative to that.

        Raises
        ------
        TypeError, ValueError
            For a height that is no number, below 0, NaN or infinite. Nothing has changed then.

        Examples
        --------
        >>> from terrain_physics import CharacterMovement, HeightMap, SphereCollider
        >>> floor = HeightMap([[0, 0], [0, 0]])
        >>> hero = CharacterMovement(floor, SphereCollider(0.5), position=(0, 0.5, 0))
        >>> heights = []
        >>> for frame in range(60):
        ...     if hero.update(1 / 60).grounded:
        ...         hero.jump(1.2)
        ...     heights.append(hero.position.y - 0.5)
        >>> round(max(heights), 2)
        1.2
        """
        rise = checks.non_negative("height", height, " meters")
        pull, scale = self.gravity, self.gravity_scale
        if scale > 0.0:
            pull *= scale
        across, _, along = self._exact_velocity()
        self._put_velocity((across, math.sqrt(2.0 * pull * rise), along))

    @property
    def world_velocity(self) -> glm.vec3:
        """The velocity in the world in m/s: that of the ground it stands on is added.

        Both are those after the last update.
        """
        state = self._state()
        own, carried = state[VELOCITY].tolist(), state[BASE_VELOCITY].tolist()
        return glm.vec3(*(a + b for a, b in zip(own, carried, strict=True)))

    @property
    def rotation(self) -> glm.mat3:
        """The rotation of the body, with the scale of an owner; set a quat or a mat3."""
        m = self._row().linear.tolist()
        return glm.mat3(m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8])

    @rotation.setter
    def rotation(self, value: Rotation) -> None:
        self._refuse_rotation()
        self._place(checks.rotation("rotation", value))

    @property
    @abstractmethod
    def collider(self) -> Collider:
        """The body before it was placed; see `resize`."""

    @property
    def grounded(self) -> bool:
        """Whether it stood on the ground at the end of the last update."""
        return bool(self._state()[columns.GROUNDED])

    @property
    def ground_normal(self) -> glm.vec3 | None:
        """The normal of the ground it stands on; None in the air."""
        return self.move_result().ground_normal

    def move_result(self) -> MoveResult:
        """Return the result of the last update.

        Returns
        -------
        MoveResult
            Before the first update: in the air, without contacts. Its ``seconds``, ``blocked_by``
            and ``waiting`` are no part of a state: they are those of the last update of this
            object.
        """
        row, queries = self._row(), queries_of(self.ground)
        if queries.streaming is not None and has_waited(row):
            return MoveResult(plain_row(row.state), waiting=True)
        log = (row.hits.tobytes(), queries)
        return MoveResult(plain_row(row.state), self._frame_time().last, log)

    def ground_report(self) -> GroundReport:
        """Return the ground that it stands on or touches, as of the last update.

        Returns
        -------
        GroundReport
        """
        values = plain_row(self._state())
        if values[columns.GROUND_KIND] in {columns.AIRBORNE, columns.ON_CHARACTER}:
            return GroundReport(values, -1, 0)
        x, y, z = values[columns.GROUND_POINT : columns.GROUND_POINT + 3]
        part, triangle = values[columns.GROUND_PART], values[columns.GROUND_TRIANGLE]
        queries = queries_of(self.ground)
        (found, material, is_known), naming = queries.with_names(
            lambda: queries.triangle_at(int(part), int(triangle), (x, y, z))
        )
        name = naming.material(material) if is_known else None
        return GroundReport(values, found, material, name, naming.part(found))

    def hits(self) -> MoveHits:
        """Return the surfaces that it ran into in the last update, for sounds and damage.

        A hit is a surface that it came upon and that took speed from it: a floor that it fell on, a
        wall that it walked into, a ceiling. A surface that it touched before is no hit: there is
        one hit when it lands and none while it stands and walks, one when it comes to a wall and
        none while it pushes on or slides along. Surfaces that face the same way, to 8 degrees, are
        one hit, the strongest, also over several steps of an update. Speeds are relative to the
        moving part that it stood on as the update began, or that it hit in the air.

        Each call reads the hits anew, so that updates take no time for them. Read them before the
        ground is edited: ids and materials are those of the ground at the time of the call.

        Returns
        -------
        MoveHits
            The strongest first; at most 4, and of 1 mm/s or more. Empty at rest, after an update of
            0 seconds, and where the state was restored or the ground changed since.

        Examples
        --------
        >>> from terrain_physics import CharacterMovement, HeightMap, SphereCollider
        >>> floor = HeightMap([[2, 2], [2, 2]])
        >>> mover = CharacterMovement(floor, SphereCollider(0.5), position=(0.5, 2.6, 0.5))
        >>> mover.velocity.y = -8
        >>> mover.update(1 / 60).just_landed
        True
        >>> [(hit.point, round(hit.speed, 2)) for hit in mover.hits()]
        [(vec3( 0.5, 2, 0.5 ), 8.12)]
        """
        return impacts_of(self._row().at(np.newaxis), queries_of(self.ground))

    def constraint_planes(self) -> Floats:
        """Return the planes of the ground that the body touches where the last update left it.

        The body can move into none of them. Contacts that push the same way are one plane. To a
        walker a plane steeper than the slope limit is an upright wall. Each call finds the planes
        anew, so that updates take no time for them.

        Returns
        -------
        ndarray of float64, shape (m, 4)
            Unit normals, towards the body, and offsets in meters: points p of a plane have
            normal . p = offset, points on the body's side have more. Touching is within 1e-4 m. If
            the update left the body in the ground, the plane is at the surface, inside the body. m
            is 0 in the air, and at most 32.

        Examples
        --------
        >>> from terrain_physics import CharacterMovement, HeightMap, SphereCollider
        >>> floor = HeightMap([[2, 2], [2, 2]])
        >>> mover = CharacterMovement(floor, SphereCollider(0.5), position=(0.5, 2.5, 0.5))
        >>> mover.constraint_planes()
        array([[0., 1., 0., 2.]])
        """
        return constraint_planes(self.ground, self._row())

    def resize(self, collider: Collider) -> bool:
        """Change to another body where it stands, as to crouch or to stand up, if that fits.

        The lowest point of the body stays at its height: a body of another height around the same
        offset therefore changes the position. On a slope, a wider body rises as far as it must.

        Parameters
        ----------
        collider : SphereCollider, CapsuleCollider or BoxCollider
            Of the same kind as before.

        Returns
        -------
        bool
            False if the new body would reach into a ceiling, a wall or steep ground, by more than
            1e-5 m and deeper than the present one, and where its ground is not loaded yet. Nothing
            has changed then.

        Raises
        ------
        TypeError
            For a collider of another kind.
        ValueError
            For a collider that covers too many cells, and, as `CharacterMovement.update`, for bad
            values that the game wrote.
        """
        self._adopt()
        row = self._row()
        resized = row.copy()
        if not resize(self.ground, self.collider, collider, resized):
            return False

        def put() -> None:
            row.put(resized)
            self._keep_collider(collider)
            self._show()

        carried_out(put)
        return True

    # Other places and times

    def teleport(self, position: Any, velocity: Any = (0.0, 0.0, 0.0)) -> None:
        """Put it somewhere else, in the air, at any distance.

        A near place that is written to `position` is a nudge instead, see `position`.

        Parameters
        ----------
        position : three numbers
            In meters.
        velocity : three numbers, default (0, 0, 0)
            In m/s.

        Raises
        ------
        TypeError, ValueError
            For values that are not three finite numbers. Nothing has changed then.
        """
        place = unsigned_zeros(checks.vector("position", position))
        speed = unsigned_zeros(checks.vector("velocity", velocity))

        def put() -> None:
            put_in_air(self._state(), place, speed)
            self._show()

        carried_out(put)

    def reset(
        self,
        position: Any,
        velocity: Any = (0.0, 0.0, 0.0),
        seed: "int | np.random.Generator | None" = None,
    ) -> None:
        """Begin anew: it goes on as a new character would, bit for bit.

        Its rules, its body and the rotation of the body stay.

        Parameters
        ----------
        position : three numbers
            In meters.
        velocity : three numbers, default (0, 0, 0)
            In m/s.
        seed : int or numpy.random.Generator, optional
            The start of the shuffling of contacts. By default the seed that it was made with; for a
            member, the group's `seed_of` its key.

        Raises
        ------
        TypeError, ValueError
            For values that are not three finite numbers, or no seed. Nothing has changed then.
        """
        place = unsigned_zeros(checks.vector("position", position))
        speed = unsigned_zeros(checks.vector("velocity", velocity))
        random_state = self._seed() if seed is None else first_random_state(seed)

        def put() -> None:
            make_new(self._row(), place, speed, random_state)
            self._show()

        carried_out(put)

    def state(self) -> CharacterState:
        """Return the exact state, from which any other character can go on.

        Returns
        -------
        CharacterState
            Small and picklable. Values that the game wrote to a `CharacterMovement` since its last
            update are not part of it.
        """
        return trusted(CharacterState, self._kept_in(Rows.empty()))

    def restore(self, state: CharacterState) -> None:
        """Go back to a state, bit for bit, and put the owner there too.

        If the ground is as it was, the character goes on as if nothing had been saved. How fast a
        part moves is a matter of the ground: a lift that `Ground.move` puts back carries nobody
        until it has moved again. `World` puts both back, and so does `Ground.state` beside this.
        On another ground, and from a copy or a pickle of a state, the next update looks at the
        ground anew, even at rest; until then the report names no triangle.

        Parameters
        ----------
        state : CharacterState
            From a character with the same kind of collider. A state itself, as `state` returned it
            in this process, is restored in microseconds; all others are checked.

        Raises
        ------
        TypeError, ValueError
            For a value that is no state, damaged numbers, a body over too many cells of the ground,
            and a state of another format. Nothing has changed then.
        RuntimeError
            Inside an update, as from a signal handler or an owner. Nothing has changed then.
        """
        self._frame_time().refuse_in_update()
        kept = state._kept if isinstance(state, CharacterState) else None  # noqa: SLF001
        if kept is not None and kept.ground() is self.ground and self._may_be(kept):
            self._put_back(kept)
        else:
            self._take_over(state)
            wake(self._state())

    def state_hash(self) -> str:
        """Return 16 hexadecimal digits that are equal when two states are, bit for bit.

        They cover all values that an update goes on from: position, velocity, rules, random state,
        the kind of ground, its normal, and times. They leave out values that the next update finds
        anew, such as triangles, contacts and depths.
        """
        return state_hashes(self._row().packed()[np.newaxis])[0]

    # Differences between a character alone and one of a group

    def _state(self) -> Floats:
        """Return the row of state alone, which is needed most often."""
        return self._row().state

    @abstractmethod
    def _frame_time(self) -> FrameTime: ...

    @abstractmethod
    def _fit(self) -> CellSizes:
        """Return cell sizes of the ground when an update last found that the body fits there."""

    @abstractmethod
    def _forget_fit(self) -> None:
        """Let the next update look whether the body fits on the ground."""

    @abstractmethod
    def _seed(self) -> int:
        """Return the seed of its random state."""

    @abstractmethod
    def _live_position(self) -> LiveVec3: ...

    @abstractmethod
    def _live_velocity(self) -> LiveVec3: ...

    def _vertical_velocity(self) -> float:
        """Return its vertical velocity, with values that the game wrote since the last update."""
        return float(self._state()[columns.VELOCITY + 1])

    def _exact_velocity(self) -> Floats3:
        """Return its velocity in float64, with values that the game wrote since the last update."""
        x, y, z = self._state()[VELOCITY].tolist()
        return x, y, z

    @abstractmethod
    def _keep_collider(self, collider: Collider) -> None:
        """Keep the collider of the shape that the numbers now hold."""

    def _refuse_rotation(self) -> None:
        """Raise ValueError if an owner turns the body."""

    def _adopt(self) -> None:
        """Take over values that the game wrote since the last update."""

    def _show(self) -> None:
        """Show the numbers in all copies of them, such as the live vectors."""

    # Inside

    def _take_over(self, state: Any) -> None:
        """Check a state and go on from it as if it had always been this character's."""
        saved = row_of(state, self.ground)
        if saved.rules[columns.KIND] != self.collider.kind:
            raise ValueError(
                "state must come from a character with the same kind of collider, got "
                f"{checks.shorten(state.collider)} for {checks.shorten(self.collider)}"
            )
        self._row().put(saved)
        self._keep_collider(state.collider)
        self._keep_material_rules(state.material_rules)
        self._show()

    def _kept_in(self, row: Rows) -> KeptNumbers:
        """Write its numbers to a row of a kept state, without hits, and return all that it is."""
        own = self._row()
        row.put_saved(own.saved())
        row.state[columns.HITS] = 0.0
        known = self.collider, self._material_rules(), ref(self.ground), self._fit()
        return KeptNumbers(row.saved(), *known)

    def _may_be(self, kept: KeptNumbers) -> bool:
        """Tell whether numbers of its ground are of its kind of body; refuse one too wide now."""
        if kept.collider.kind != self.collider.kind:
            return False
        ground = self.ground
        if kept.fit != queries_of(ground).cell_sizes:  # maps were added or removed
            refuse_too_wide(ground, kept.saved[1])
        return True

    def _put_back(self, kept: KeptNumbers, seconds: float | None = None) -> None:
        """Go on from numbers of this kind of body on this ground, unchecked, and show them."""
        self._put_numbers(kept, seconds)
        self._show_restored()

    def _put_numbers(self, kept: KeptNumbers, seconds: float | None) -> None:
        """Go on from numbers of this kind of body on this ground, which are yet to be shown.

        ``seconds`` are those of the last update before they were kept.
        """
        self._row().put_saved(kept.saved)
        # Setting an attribute is slow, and makes a group forget what it knows of its members.
        if kept.collider is not self.collider:
            self._keep_collider(kept.collider)
        if kept.material_rules is not self._material_rules():
            self._keep_material_rules(kept.material_rules)
        if kept.fit != self._fit():
            self._forget_fit()
        if seconds is not None:
            self._frame_time().last = seconds

    def _show_restored(self) -> None:
        """Show numbers that were put back."""
        self._show()

    def _put_position(self, value: Any) -> None:
        self._state()[POSITION] = unsigned_zeros(checks.vector("position", value))
        self._disturb()

    def _put_velocity(self, value: Any) -> Floats3:
        """Take a velocity that the game sets, and return it."""
        velocity = unsigned_zeros(checks.vector("velocity", value))
        DRIVE.call(self._state(), *velocity)
        return velocity

    def _place(self, linear: Floats9) -> None:
        """Turn and scale the shape."""
        row = self._row()
        shape = placed_shape(self.ground, self.collider, linear)
        row.rules[: len(shape)] = shape
        row.linear[:] = linear
        forget_contact_signature(row.state)
        row.state[columns.MOVED] = 1.0

    def _disturb(self) -> None:
        """Wake a character: the next update looks at everything again."""
        state = self._state()
        state[columns.UNDISTURBED], state[columns.MOVED] = 0.0, 1.0

    def _where(self) -> str:
        x, y, z = self.position64
        return f"at ({x:.3f}, {y:.3f}, {z:.3f}), {'grounded' if self.grounded else 'in the air'}"


def _pair(value: Any) -> tuple[Any, Any]:
    """Return the two velocities of a walk that was given one value."""
    if hasattr(value, "x") and hasattr(value, "y") and not hasattr(value, "z"):
        return value.x, value.y
    is_row = isinstance(value, (tuple, list)) or (isinstance(value, np.ndarray) and value.ndim == 1)
    if is_row and len(value) == 2:
        return value[0], value[1]
    raise TypeError(
        f"walk(vx, vz) takes two numbers, along x and z, or a pair of them, got "
        f"{checks.shorten(value)}"
    )
