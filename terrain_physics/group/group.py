"""CharacterGroup: thousands of characters as arrays, moved by one call."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from functools import partial
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike

from terrain_physics._kernels._quick import put_entries, slots
from terrain_physics._kernels.character.sleep.wake import wake_near
from terrain_physics._kernels.character.state import layout as columns
from terrain_physics._kernels.character.update import update_characters
from terrain_physics._kernels.types import Floats
from terrain_physics._public import public, quick
from terrain_physics._support import checks
from terrain_physics._support.threads import Workers
from terrain_physics.character.colliders import Collider
from terrain_physics.character.frame_time import FrameTime, MaxDelta, slots_of_update
from terrain_physics.character.ground_contacts import GroundContacts
from terrain_physics.character.ground_material import put_all_factors
from terrain_physics.character.group_data import (
    GroupData,
    GroupState,
    Key,
    Members,
    checked_key,
    checked_keys,
    hash_content,
    seed_of,
)
from terrain_physics.character.hits import logs_of
from terrain_physics.character.live import unsigned_zeros
from terrain_physics.character.material_rules import MaterialRules
from terrain_physics.character.movement import CharacterMovement
from terrain_physics.character.needs import run_where_loaded
from terrain_physics.character.placement import (
    UPRIGHT,
    AnyGround,
    checked_collider,
    checked_ground,
    make_new,
    put_shape,
    put_shapes,
    refuse_any_too_wide,
)
from terrain_physics.character.rows import (
    ALONE,
    Rows,
    mixed_hashes,
    nothing_new,
    state_hashes,
    step_off,
    wake,
)
from terrain_physics.character.rules import CharacterRules, RuleKeywords, put_rules, refuse_unknown
from terrain_physics.character.state import first_random_state
from terrain_physics.group.checks import (
    positions_per_character,
    random_states_per_character,
    rotations_per_character,
    velocities_per_character,
)
from terrain_physics.group.crowd import Crowd, CrowdOptions
from terrain_physics.group.results import GroupResult
from terrain_physics.group.table import GroupTable
from terrain_physics.surface.queries import Queries
from terrain_physics.surface.surface import KEPT_BY_ENTRIES, queries_of

# Rough costs of an update of a moving character and of one at rest, in nanoseconds.
_MOVING_COST, _RESTING_COST = 2_000, 20

# So few are too little work to share, whatever they do; and so few hold the lock of their ground
# no longer than a short question does. To keep the ground for a long one takes longer than their
# update: by that road, one to four members at rest take 7.8 us on a map and 11 on a ground, by
# this one 3.5 and 5.4.
_FEW, _VERY_FEW = 100, 4

# Arguments of a group beside rules by name.
_ARGUMENTS = ("collider", "seed", "threads", "collide", "heads", "keep_to", "max_delta")


@public
class CharacterGroup(GroupTable):
    """Characters on one ground, each as if it were a `CharacterMovement` alone, bit for bit.

    It is a mapping from keys to members, and a table: its arrays have a row for each character, in
    the order in which they were added.

    The result of a character depends on its key, its state and the ground. It depends on other
    characters only if they ``collide``, and never on the order in which they were added, or on the
    number of threads.

    Parameters
    ----------
    ground : HeightMap, TriangleMesh or Ground
        The ground to stand on.
    collider : SphereCollider, CapsuleCollider or BoxCollider, optional
        The body of characters that are added without one of their own.
    seed : int, default 0
        The start of the shuffling of contacts, together with each key.
    threads : int, optional
        Number of threads of an update; None: one for each processor. The results are the same.
    collide : bool, default False
        Whether characters collide with and push each other. See the notes.
    heads : {"slide", "stand"}, default "slide"
        Whether a colliding character on top of another one slides off, or stands there as on level
        ground.
    keep_to : {"right", "left"} or None, default "right"
        The side on which colliding characters that walk in a stream pass those who walk against
        it; None: one that follows from their keys, as of two who meet alone.
    max_delta : float, default 0.25
        The longest time step one update simulates, as of a `CharacterMovement`.
    rules : CharacterRules, optional
        The rules of characters that are added without rules of their own.
    **rules_by_name
        As for `CharacterMovement`, such as ``slope_limit`` and ``material_rules``; they replace
        those of `rules`.

    Raises
    ------
    TypeError, ValueError
        As for `CharacterMovement`.

    Notes
    -----
    For each other, colliding characters are upright cylinders around their colliders. They collide
    if they are at the same height and their `layers` and `mask` allow it. Displacements follow from
    all places before the update and all preferred velocities, and who pushes another one moves
    after it, so the order of characters does not matter: each has its share of the gap to each
    other one, by mass, and goes no farther. So no character walks into another one or through it at
    any speed, and a crowd that presses on comes to rest.

    A character that walks against others pushes them along, by mass, up to 32 in a row. Walls,
    slopes and the ground hold a pushed character as they hold one that walks. Among characters that
    go the same way, those behind stay back by a tenth of both widths and give way to those ahead,
    so that crowds flow through doors. In `hits` and ``blocked_by``, ``other`` is the row of the
    other character that one runs into. The speed of such a hit is that at which both approached
    each other. Each arrival is one hit, and the next one comes after both have parted.

    Characters on the same moving base go along together. Others hold back a character that a
    conveyor carries against them. If a carried character cannot go on, as at the end of a belt or
    against a wall, those behind may be carried into it; a character that a moving part pushes may
    be pushed into others too. Overlapping characters, also those put there, are pushed apart at no
    more than 3 m/s. Others may take velocity from a character, but pushes add none to it. Walkers
    that come face to face give way, as far as there is room: to a side, and in an order, that
    follow from their keys. Those who come to a door side by side have such an order too. Where one
    of those who meet head on has company, another one near by that walks the same way, they are
    streams: each goes to its own right, or left by ``keep_to="left"``. So streams head on pass each
    other in a corridor as narrow as two.

    The top of a character is flat, and another one above does not fall below it. By
    ``heads="slide"`` it slides off to the nearest side at 3 m/s, in the air. If other characters
    are there, it goes over them in one direction until it is off, and in another direction after 1,
    3, 7, 15 ... seconds. By ``heads="stand"`` it stands, walks and jumps there. It climbs no steps
    from there, and the character below carries it up and down, but not along. In `states` both are
    "character".

    On a `TiledGround`, members may have to wait for land, as a `CharacterMovement` does; see
    `GroupResult.waiting`. Others walk against one that waits as against one that cannot be pushed,
    and may stand on it.

    Examples
    --------
    >>> from terrain_physics import CapsuleCollider, HeightMap
    >>> floor = HeightMap([[0, 0], [0, 0]])
    >>> group = CharacterGroup(floor, CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0)))
    >>> for i in range(100):
    ...     group.add(i, (i, 0, 0), velocity=(0, 0, 3))
    >>> result = group.update(1 / 60)
    >>> int(result.grounded.sum()), float(group.positions[7, 2])
    (100, 0.05)
    >>> group[7].velocity.x = 2
    >>> group.set_velocities([(0, 5, 0), (0, 6, 0)], keys=[1, 2])
    >>> result = group.update(1 / 60)
    >>> int(result.grounded.sum()), round(group[7].position.x, 4), group[1].grounded
    (98, 7.0333, False)

    Ada walks against Bob, and both go on at half her speed:

    >>> crowd = CharacterGroup(floor, CapsuleCollider(0.4, 1.8), collide=True)
    >>> crowd.add_many(["Ada", "Bob"], [(0, 0.9, 0), (1, 0.9, 0)])
    >>> for frame in range(60):
    ...     crowd.walk(3, 0, keys=["Ada"])
    ...     result = crowd.update(1 / 60)
    >>> crowd.velocities[:, 0].round(3), bool(crowd.positions[1, 0] > 2)
    (array([1.5, 0. ]), True)
    """

    max_delta = MaxDelta()

    def __init__(
        self,
        ground: AnyGround,
        collider: Collider | None = None,
        *,
        seed: int = 0,
        threads: int | None = None,
        collide: bool = False,
        heads: Literal["slide", "stand"] = "slide",
        keep_to: Literal["right", "left"] | None = "right",
        max_delta: float = MaxDelta.default,
        rules: CharacterRules | None = None,
        **rules_by_name: Unpack[RuleKeywords],
    ) -> None:
        self._collider = None if collider is None else checked_collider(collider)
        known_seed = checks.whole("seed", seed, 0, 2**64 - 1)
        refuse_unknown(rules_by_name, _ARGUMENTS, CharacterGroup)
        self._rules = columns.RULES.defaults()
        self._material_rules = put_rules(self._rules, rules, rules_by_name, ())
        Workers(threads)  # refuses a value that is no number of threads
        self._threads = threads
        checks.instance("collide", collide, bool)
        options = CrowdOptions.checked(heads, keep_to)
        if not collide:
            options.require_defaults()
        self._crowd = Crowd(options) if collide else None
        self._data = GroupData(checked_ground(ground), FrameTime(max_delta), known_seed)

    @property
    def ground(self) -> AnyGround:
        """The ground they stand on; set another one, and the next update goes on there.

        Until then no report names a triangle. Raises TypeError for a value that is no ground, and
        ValueError, naming the key, for a ground with so small cells that a body covers too many.
        Nothing has changed then.
        """
        return self._data.ground

    @ground.setter
    def ground(self, ground: AnyGround) -> None:
        known, rows = checked_ground(ground), self._data.rows()
        self._refuse_too_wide(known)
        if known is not self._data.ground:
            step_off(rows.state)
        self._data.ground = known
        wake(rows.state)

    def _refuse_too_wide(self, ground: AnyGround) -> None:
        refuse_any_too_wide(ground, self._data.rows().rules, [repr(key) for key in self])

    def seed_of(self, key: Key) -> int:
        """Return the seed that a character with this key is given.

        Parameters
        ----------
        key : str or int

        Returns
        -------
        int
            It follows from the group's seed and the key alone. A `CharacterMovement` with this seed
            moves the same, bit for bit.
        """
        return seed_of(self._data.seed, checked_key(key))

    def add(
        self,
        key: Key,
        position: Any = None,
        *,
        movement: CharacterMovement | None = None,
        collider: Collider | None = None,
        velocity: Any = None,
        rotation: Any = None,
        seed: "int | np.random.Generator | None" = None,
        rules: CharacterRules | None = None,
        **rules_by_name: Unpack[RuleKeywords],
    ) -> None:
        """Add a character.

        Parameters
        ----------
        key : str or int
            Its name, which no other character has. The whole number 1 and the text "1" are two
            keys.
        position : three numbers
            In meters.
        movement : CharacterMovement, optional
            An existing character, such as the player's with its owner, in place of all other
            arguments. It keeps its state, comes to the ground of the group, and is updated by the
            group from now on; the game goes on to read and steer it. After removal it is a
            character alone again.
        collider : SphereCollider, CapsuleCollider or BoxCollider, optional
            Its body; default: the group's.
        velocity : three numbers, optional
            In m/s; it counts as set by the game, so that friction does not reduce it in the next
            update.
        rotation : glm.quat, glm.mat3 or 3 x 3 array, optional
            The rotation of the body.
        seed : int or numpy.random.Generator, optional
            The start of the shuffling of contacts; default: `seed_of` the key.
        rules : CharacterRules, optional
            All its rules; default: the group's.
        **rules_by_name
            As for `CharacterMovement`, such as ``slope_limit``; they replace those of `rules`.

        Raises
        ------
        TypeError, ValueError
            As for `CharacterMovement`, naming the key; for a key that is already used; if neither
            the group nor the character has a collider; and for a movement that is in a group.
        """
        name = checked_key(key)
        self._data.refuse_known([name])
        if movement is not None:
            given = {"position": position, "collider": collider, "velocity": velocity}
            given |= {"rotation": rotation, "seed": seed, "rules": rules, **rules_by_name}
            self._add_movement(name, movement, given)
            return
        rows = self._data.room_for(1)
        try:
            body = self._body(collider)
            own_rules = self._put_rules(rows, rules, rules_by_name)
            linear = UPRIGHT if rotation is None else checks.rotation("rotation", rotation)
            put_shape(rows, self.ground, body, linear)
            place = checks.vector("position", position)
            speed = checks.vector("velocity", (0, 0, 0) if velocity is None else velocity)
            random_state = self.seed_of(name) if seed is None else first_random_state(seed)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{name!r}: {error}") from None
        place, speed, driven = unsigned_zeros(place), unsigned_zeros(speed), velocity is not None
        make_new(rows, place, speed, random_state, are_driven=driven)
        self._data.add([name], body, own_rules)

    def _add_movement(self, key: Key, movement: Any, given: dict[str, Any]) -> None:
        """Add an existing character, and refuse all other arguments ``given``."""
        checks.instance("movement", movement, CharacterMovement)
        for name, value in given.items():
            if value is not None:
                raise TypeError(f"{key!r}: {name} must be left to the movement")
        checks.named_check(key, movement._join, self._data, key)  # noqa: SLF001

    def add_many(
        self,
        keys: Iterable[Key],
        positions: ArrayLike,
        *,
        velocities: ArrayLike | None = None,
        rotations: Iterable[Any] | None = None,
        collider: Collider | None = None,
        seeds: "Iterable[int | np.random.Generator] | None" = None,
        rules: CharacterRules | None = None,
        **rules_by_name: Any,
    ) -> None:
        """Add characters as `add` does one by one, but all or none of them.

        Parameters
        ----------
        keys : iterable of str or int
            Their names, n of them, which no other characters have.
        positions : array_like, shape (n, 3)
            In meters.
        velocities : array_like, shape (n, 3), optional
            In m/s; set by the game.
        rotations : iterable, optional
            The rotation of each body, as `add` takes it; an array has the shape (n, 3, 3).
        collider : SphereCollider, CapsuleCollider or BoxCollider, optional
            The body of all; default: the group's.
        seeds : iterable of int or numpy.random.Generator, optional
            The start of the shuffling of their contacts; default: `seed_of` each key.
        rules : CharacterRules, optional
            The rules of all; default: the group's.
        **rules_by_name
            As for `CharacterMovement`; they replace those of `rules`. Each is one value for all, or
            an array of n; ``material_rules`` are one mapping for all.

        Raises
        ------
        TypeError, ValueError
            As for `add`, naming the first key with a bad value; and for a key given twice. Nothing
            has changed then.

        Examples
        --------
        >>> from terrain_physics import HeightMap, SphereCollider
        >>> group = CharacterGroup(HeightMap([[0, 0], [0, 0]]), SphereCollider(0.5))
        >>> places = [(x, 0.5, 0) for x in range(1000)]
        >>> group.add_many(range(1000), places, gravity_scale=np.linspace(0.5, 1, 1000))
        >>> len(group), group[999].position, group[0].gravity_scale
        (1000, vec3( 999, 0.5, 0 ), 0.5)
        """
        names = checked_keys(keys)
        self._data.refuse_known(names)
        rows = self._data.room_for(len(names))
        body = self._body(collider)
        own_rules = self._put_rules(rows, rules, rules_by_name, names)
        places = positions_per_character(positions, names)
        speeds = velocities_per_character(velocities, names)
        if rotations is None:
            put_shape(rows, self.ground, body, UPRIGHT)
        else:
            put_shapes(rows, self.ground, body, rotations_per_character(rotations, names), names)
        random_states = random_states_per_character(self._data.seed, names, seeds)
        make_new(rows, places, speeds, random_states, are_driven=velocities is not None)
        self._data.add(names, body, own_rules)

    def _body(self, collider: Collider | None) -> Collider:
        """Return the body of new characters: the group's if they have none of their own."""
        return checked_collider(self._collider if collider is None else collider)

    def _put_rules(
        self,
        rows: Rows,
        rules: CharacterRules | None,
        changes: Mapping[str, Any],
        keys: Sequence[Key] | None = None,
    ) -> MaterialRules:
        """Give new characters the group's rules, or those of a value, then some by name."""
        rows.rules[:] = self._rules
        return put_rules(rows.rules, rules, changes, self._material_rules, keys)

    def remove(self, key: Key) -> None:
        """Remove a character.

        Parameters
        ----------
        key : str or int

        Raises
        ------
        KeyError
            If no character has the key.
        """
        self._data.remove([checked_key(key)])

    def remove_many(self, keys: Iterable[Key]) -> None:
        """Remove characters, all or none of them.

        Parameters
        ----------
        keys : iterable of str or int

        Raises
        ------
        KeyError
            For a key that no character has. Nothing has changed then.
        TypeError, ValueError
            For a value that is no key, and for a key given twice. Nothing has changed then.
        """
        self._data.remove(checked_keys(keys))

    # The step

    @quick
    def update(self, delta_time: float) -> GroupResult:
        """Advance all characters by one frame.

        Parameters
        ----------
        delta_time : float
            Seconds since the last update, >= 0; time beyond `max_delta` is left out. Zero does
            nothing.

        Returns
        -------
        GroupResult
            Its ``seconds`` are the time that the update really took.

        Raises
        ------
        TypeError, ValueError
            For a time that is no number, below 0, NaN or infinite, and for a body, naming its key,
            that covers too many cells of a map that was added to the ground. Nothing has changed
            then.
        """
        time, rows = self._frame_time(), self._data.rows()
        seconds = time.lived(delta_time)
        if seconds == 0.0:
            nothing_new(rows.state)
            return GroupResult(rows.state.copy())
        time.in_update = True
        try:
            self._data.adopt_writes()
            logs = before = waits = None
            if len(rows.state) > 0:
                queries, in_crowd = queries_of(self.ground), self._crowd is not None
                before = self._see_changes(rows, queries)
                run = partial(self._advance, rows, queries, seconds)
                any_hits, waits = run_where_loaded(run, rows, queries, seconds, in_crowd=in_crowd)
                if any_hits:
                    logs = logs_of(rows, queries)
            time.last = seconds
            self._data.show_adopted()
            return GroupResult(rows.state.copy(), seconds, logs, before, waits)
        finally:
            time.in_update = False

    def _see_changes(self, rows: Rows, queries: Queries) -> GroundContacts:
        """Wake characters near changes of the ground; return their contacts before the update."""
        if queries.cell_sizes is not self._data.cell_sizes:  # maps were added or removed
            self._refuse_too_wide(self.ground)
            self._data.cell_sizes = queries.cell_sizes
        contents, log = queries.contents, queries.wake_log
        before = GroundContacts.by(rows.state, queries).copy()
        states, rules, *_ = self._data.flat(rows)
        changes = log.rows, float(log.forgotten), queries.left
        wake_near(states, rules, *changes, float(contents), 0, len(rows.state))
        return before

    def _advance(self, rows: Rows, queries: Queries, seconds: float) -> bool:
        """Advance all characters by ``seconds``; tell whether any ran into something."""
        states, rules, _, draws, hits = self._data.flat(rows)
        count, are_plain = len(rows.state), not (self._crowd or self._data.has_material_rules)
        if count <= _VERY_FEW and are_plain:
            with queries.lock:
                table = queries.ground_arrays.table
                return update_characters(
                    states, draws, rules, hits, ALONE, seconds, 0, count, table
                )
        with queries.reading() as ground:
            if self._data.has_material_rules:
                put_all_factors(self._data, queries, ground.table, self._threads)
            crowd, passes, any_hits = ALONE, 1, False
            if self._crowd is not None:
                known = states, rules, hits, self._data.words(), seconds, ground.table
                crowd = self._crowd.constraints(*known, self._threads)
                passes = self._crowd.passes

            def advance(first: int, last: int) -> bool:
                return update_characters(
                    *(states, draws, rules, hits, crowd), *(seconds, first, last, ground.table)
                )

            workers, cost = Workers(self._threads), _cost(rows.state)
            for turn in range(passes):
                if self._crowd is not None and turn > 0:
                    self._crowd.begin_pass(states, rules, seconds, turn, self._threads)
                any_hits = any(workers.run(advance, count, cost)) or any_hits
            return any_hits

    def __repr__(self) -> str:
        return f"<CharacterGroup: {checks.counted(len(self), 'character')}>"

    # State

    def state(self) -> GroupState:
        """Return the exact state, with everything that changes.

        Returns
        -------
        GroupState
            Picklable; about 900 bytes for each character.
        """
        return self._data.state()

    def restore(self, state: GroupState) -> None:
        """Go back to a state, bit for bit, with the characters of that time.

        Parameters
        ----------
        state : GroupState
            A state itself, as `state` returned it in this process for this ground, is restored as
            it is; all others are checked, and characters look at the ground anew then, as by
            `CharacterView.restore`.

        Raises
        ------
        TypeError, ValueError
            For a value that is no state, a damaged state, naming the first key, and a state of
            another format. Nothing has changed then.
        RuntimeError
            Inside an update, as from a signal handler or an owner. Nothing has changed then.
        """
        self._data.restore(state)

    def state_hash(self) -> str:
        """Return 16 hexadecimal digits that are equal when two groups are, bit for bit.

        They do not depend on the order in which the characters were added.
        """
        data = self._data
        content = hash_content(data.members().keys, mixed_hashes(data.rows()))
        digest = hashlib.blake2b(f"{data.seed} {len(self)}\n".encode(), digest_size=8)
        digest.update(content)
        return digest.hexdigest()

    def hashes(self) -> Iterable[tuple[Key, str]]:
        """Return each key with the hash that a `CharacterMovement` in that state has.

        Returns
        -------
        iterable of (str or int, str)
            In order.
        """
        digits = state_hashes(self._data.rows().packed())
        return list(zip(self, digits, strict=True))

    # Inside, as of a character

    def _frame_time(self) -> FrameTime:
        return self._data.time

    def _side(self) -> float:
        """Return the side that streams keep to: 1: right, -1: left, 0: none."""
        return 0.0 if self._crowd is None else self._crowd.side

    def _rows(self) -> Rows:
        return self._data.rows()

    def _members(self) -> Members:
        return self._data.members()

    def _is_as_left(self, ground: AnyGround) -> bool:
        return self.ground is ground and not self._data.adopted

    def _adopt_all(self, *, to_show: bool) -> None:  # noqa: ARG002
        self._data.adopt_writes()

    def _refuse_in_group(self, name: str) -> None:
        """Refuse nothing: no group is in another."""

    def _bring_to(self, ground: AnyGround) -> None:
        if self._data.ground is not ground:
            self._data.ground, self._data.cell_sizes = ground, None

    def _take_over(self, state: GroupState) -> None:
        self._data.take_over(state)

    def _told(self) -> dict[str, Any]:
        """Return what a file has of it, beside its members."""
        return {
            "body": self._collider,
            "rules": self._rules.tolist(),
            "material_rules": self._material_rules,
            "seed": int(self._data.seed),
            "threads": None if self._threads is None else int(self._threads),
            **self._collision(),
            "max_delta": self.max_delta,
            "last": self._data.time.last,
        }

    def _keep_rules(self, rules: Floats, material_rules: MaterialRules) -> None:
        """Have rules, which were checked, for characters that are added from now on."""
        self._rules, self._material_rules = rules, material_rules

    def _collision(self) -> dict[str, Any]:
        """Return the arguments that say how its characters collide."""
        options = CrowdOptions() if self._crowd is None else self._crowd.options
        return {"collide": self._crowd is not None} | options._asdict()

    def __getstate__(self) -> dict[str, Any]:
        """Give a copy characters of its own."""
        crowd = None if self._crowd is None else Crowd(self._crowd.options)
        return self.__dict__ | {"_data": copy(self._data), "_crowd": crowd}


def _cost(state: Floats) -> float:
    """Return the rough cost of an update for each character on average, in nanoseconds."""
    if len(state) < _FEW:
        return _MOVING_COST
    rests = (state[:, columns.UNDISTURBED] != 0.0) & (state[:, columns.GROUNDED] != 0.0)
    for axis in range(3):  # three times as fast as comparing rows of three
        rests &= state[:, columns.VELOCITY + axis] == 0.0
    moving = len(state) - np.count_nonzero(rests)
    return _RESTING_COST + _MOVING_COST * moving / len(state)


# What the entry in C knows of a group, in its order. Whoever edits what `update` does, or a name
# with an underscore, edits `_build/quick/groups.c` too.
put_entries(
    (
        *(*KEPT_BY_ENTRIES, CharacterGroup, Rows),
        *slots_of_update(GroupResult),
        *(GroupData, *slots(GroupResult, "_states", "_logs", "_before", "_made")),
        *(logs_of, GroundContacts),
    ),
    (CharacterGroup, "update"),
)
