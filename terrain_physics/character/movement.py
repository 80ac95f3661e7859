"""CharacterMovement: a body that falls, lands, stands and walks on the ground."""

import math
from typing import Any

import numpy as np

from terrain_physics import _checks
from terrain_physics._checks import Floats3, Floats9
from terrain_physics._kernels._jit import Direct
from terrain_physics._kernels.character import layout as columns
from terrain_physics._kernels.character.update import update_characters
from terrain_physics.character.body import CharacterBody
from terrain_physics.character.colliders import Collider
from terrain_physics.character.owner import Owner
from terrain_physics.character.placement import AnyGround, checked_collider, checked_ground
from terrain_physics.character.state import (
    LONGEST_STEP,
    LiveVec3,
    first_random_state,
    move_result,
    unsigned_zeros,
)
from terrain_physics.surface.results import MoveResult
from terrain_physics.surface.surface import queries_of

_UPRIGHT: Floats9 = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
_ZERO: Floats3 = (0.0, 0.0, 0.0)


_UPDATE = Direct(update_characters)


class CharacterMovement(CharacterBody):
    """Moves a body under gravity and keeps it out of the ground.

    Each `update` falls, moves in steps so short that nothing is passed unseen, pushes the body out
    of the ground, decides whether it is grounded, and takes the velocity into the ground away. At
    rest the position stays the same, bit for bit, until the game disturbs it.

    Parameters
    ----------
    ground : HeightMap, TriangleMesh or Ground
        What to stand on.
    collider : SphereCollider, CapsuleCollider or BoxCollider
        The body; it turns and scales with its owner.
    position : three numbers, default (0, 0, 0)
        Where the body starts, in meters. To be left out with an owner, whose position it is then.
    rotation : glm.quat, glm.mat3 or 3 x 3 array, optional
        How the body is turned. To be left out with an owner that has a rotation.
    owner : object, optional
        Has ``position``, and may have ``rotation`` (quat or mat3) and ``scale`` (a number or
        three), or instead of all of them ``transform`` (a 4 x 4 matrix). Its position is read
        before and written after each update, in the type it has; what the game writes is obeyed.
    seed : int or numpy.random.Generator, default 0
        Where the shuffling of contacts starts. A generator gives one draw of 64 bits.
    gravity : float, default 9.81
        Downward, in m/s^2.
    gravity_scale : float, default 1.0
        Factor on gravity for this character.
    slope_limit : float, default 30 degrees
        Steepest walkable slope in radians, from 0 to pi / 2.
    ground_rule : {"contact", "sum"}, default "contact"
        Grounded when some contact is walkable or the body is wedged between steep ones; or when
        +Y plus the normals of all triangles touched, summed up, is within the slope limit of +Y.
    ground_friction : float, default 20.0
        How fast horizontal speed falls on the ground, in m/s^2, unless the game set the velocity.
    resolver : {"shuffled", "simultaneous"}, default "shuffled"
        Contacts are pushed out one after another in seeded random order, or all at once, whatever
        their order.
    snap_distance : float, default 0.3
        How far down a walker stays on the ground, on slopes and stairs, in meters.
    step_offset : float, default 0.3
        Walls up to this height with walkable ground behind are stepped up, in meters; at most half
        the body's height.
    slope_speed : {"horizontal", "surface"}, default "horizontal"
        Which speed a walk keeps on slopes: seen from above, or along the ground.
    max_rounds : int, default 16
        After this many rounds of pushing out, the body is lifted straight up instead; >= 1.

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

    def __init__(
        self,
        ground: AnyGround,
        collider: Collider,
        *,
        position: Any = None,
        rotation: Any = None,
        owner: Any = None,
        seed: int | np.random.Generator = 0,
        gravity: float = 9.81,
        gravity_scale: float = 1.0,
        slope_limit: float = math.radians(30),
        ground_rule: str = "contact",
        ground_friction: float = 20.0,
        resolver: str = "shuffled",
        snap_distance: float = 0.3,
        step_offset: float = 0.3,
        slope_speed: str = "horizontal",
        max_rounds: int = 16,
    ) -> None:
        self._ground = checked_ground(ground)
        self._collider = checked_collider(collider)
        self._owner = None if owner is None else Owner(owner)
        self._state = np.zeros(columns.STATE_SIZE)
        self._state[columns.CONVERGED] = 1.0
        self._rules = np.zeros(columns.RULES_SIZE)
        self._random = np.array([first_random_state(seed)], dtype=np.uint64)

        self.gravity = gravity
        self.gravity_scale = gravity_scale
        self.slope_limit = slope_limit
        self.ground_rule = ground_rule
        self.ground_friction = ground_friction
        self.max_rounds = max_rounds
        self.resolver = resolver
        self.snap_distance = snap_distance
        self.step_offset = step_offset
        self.slope_speed = slope_speed

        start, linear = _ZERO, None
        if self._owner is not None:
            if position is not None:
                raise ValueError("position must be left to the owner where there is one")
            start, linear = self._owner.position(), self._owner.linear()
        elif position is not None:
            start = _checks.vector("position", position)
        if rotation is not None:
            if linear is not None:
                raise ValueError("rotation must be left to the owner that has one")
            linear = _checks.rotation("rotation", rotation)
        self._place(linear or _UPRIGHT)
        start = unsigned_zeros(start)
        self._state[columns.POSITION : columns.POSITION + 3] = start
        # What readers of the live vectors and of the owner see, to tell later what they wrote.
        self._position, self._velocity = LiveVec3(), LiveVec3()
        self._shown_position = self._position.show(start)
        self._shown_velocity = self._velocity.show(_ZERO)
        self._owner_place = self._shown_owner = start

    # The step

    def update(self, delta_time: float) -> MoveResult:
        """Advance by one frame.

        Parameters
        ----------
        delta_time : float
            Seconds since the last update, from 0 to 1. Zero does nothing.

        Returns
        -------
        MoveResult

        Raises
        ------
        ValueError
            For a time outside 0..1, and if the game wrote a NaN or an infinity into the velocity,
            the position or the owner. Nothing has changed then.
        TypeError
            If the time is no number, and if the owner's transform is none or shears the collider.
        """
        seconds = _checks.between("delta_time", delta_time, 0.0, LONGEST_STEP)
        if seconds == 0.0:
            return move_result(self._state.tolist())
        self._adopt()
        if self._state[columns.GROUND_VERSION] != queries_of(self._ground).version:
            self._state[columns.GROUND_VERSION] = queries_of(self._ground).version
            self._wake()
            edited = max(float(self._state[columns.MOVED]), columns.GROUND_EDITED)
            self._state[columns.MOVED] = edited
        with queries_of(self._ground).lock:
            _UPDATE.call(
                self._state,
                self._random,
                self._rules,
                seconds,
                0,
                1,
                queries_of(self._ground).ground_arrays.table,
            )
        values = self._state.tolist()
        self._show_live(values)
        return move_result(values)
