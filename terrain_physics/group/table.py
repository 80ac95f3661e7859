"""GroupTable: many characters as a table, a row for each key, to read and to steer."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from terrain_physics._kernels.character.state import layout as columns
from terrain_physics._kernels.mesh.parts import ID_BITS
from terrain_physics._kernels.types import Bools, Bytes, Floats, Int64s
from terrain_physics._public import quick
from terrain_physics.character.attribute_guard import AttributeGuard
from terrain_physics.character.ground_contacts import GroundContacts
from terrain_physics.character.group_data import GroupData, Key, checked_keys
from terrain_physics.character.hits import MoveHits, impacts_of
from terrain_physics.character.placement import make_new, put_in_air
from terrain_physics.character.rows import (
    BASE_VELOCITY,
    POSITION,
    VELOCITY,
    vectors,
)
from terrain_physics.character.rule import wake_changed
from terrain_physics.character.rules import CharacterRules, names_of, put_rules, rule_to_read
from terrain_physics.group.checks import (
    number_per_character,
    positions_per_character,
    random_states_per_character,
    velocities_per_character,
)
from terrain_physics.group.member import GroupMember
from terrain_physics.group.results import ground_normals, ground_states, read_only
from terrain_physics.group.sensors import Sensors
from terrain_physics.surface.results import RayHits
from terrain_physics.surface.surface import queries_of


class GroupTable(AttributeGuard, Mapping[Key, GroupMember]):
    """The characters of a group by their keys, and all at once as arrays with a row for each.

    Rows are in the order in which the characters were added. Arrays are read-only copies.
    """

    _data: GroupData
    _threads: int | None

    # Keys and members

    def __len__(self) -> int:
        return len(self._data)

    def __iter__(self) -> Iterator[Key]:
        return iter(self._data)

    def __contains__(self, key: object) -> bool:
        return key in self._data

    def __getitem__(self, key: Key) -> GroupMember:
        self._data.place(key)
        return GroupMember(self._data, key)

    # A mapping would compare contents; two groups are always different.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    # Motion

    @property
    def positions(self) -> Floats:
        """The positions (n, 3) in meters, a read-only copy; set them to move all characters."""
        return read_only(vectors(self._states(), columns.POSITION))

    @positions.setter
    def positions(self, positions: ArrayLike) -> None:
        self.set_positions(positions)

    @property
    def velocities(self) -> Floats:
        """The velocities (n, 3) in m/s, a read-only copy; set them to drive all characters."""
        return read_only(vectors(self._states(), columns.VELOCITY))

    @velocities.setter
    def velocities(self, velocities: ArrayLike) -> None:
        self.set_velocities(velocities)

    @property
    def world_velocities(self) -> Floats:
        """The velocities in the world (n, 3) in m/s, with those of moving bases; read-only."""
        state = self._states()
        return read_only(state[:, VELOCITY] + state[:, BASE_VELOCITY])

    # Ground

    @property
    def grounded(self) -> Bools:
        """Whether each one stood on the ground at the end of its last update (n,), read-only."""
        return read_only(self._states()[:, columns.GROUNDED] != 0.0)

    @property
    def states(self) -> NDArray[np.str_]:
        """The kind of ground of each one (n,), as `GroundReport.state`; read-only.

        "grounded", "wedged", "steep", "airborne" or "character".
        """
        return read_only(ground_states(self._states()))

    @property
    def ground_normals(self) -> Floats:
        """The normals (n, 3) of the ground they stand on; NaN in the air; read-only."""
        return read_only(ground_normals(self._states()))

    @property
    def materials(self) -> Bytes:
        """The material of the ground that each one touches (n,); 0 in the air; read-only.

        As `GroundReport.material`.
        """
        return read_only(self._touched().named()[1])

    @property
    def parts(self) -> Int64s:
        """The key of the part of a `Ground` that each one touches (n,), read-only.

        As `GroundReport.part`: 0 of another ground; -1 in the air, and outside a map.
        """
        return read_only(self._touched().named()[0] >> ID_BITS)

    @property
    def material_names(self) -> NDArray[np.object_]:
        """The name of the material that each one touches (n,), as `GroundReport.material_name`.

        None where it has none, and in the air; read-only.
        """
        touched = self._touched()
        (_, materials, known), naming = touched.queries.with_names(touched.named)
        return read_only(naming.all_materials(materials, known))

    @property
    def part_names(self) -> NDArray[np.object_]:
        """The name of the part of a `Ground` that each one touches (n,); None where it has none.

        As `GroundReport.part_name`; read-only.
        """
        touched = self._touched()
        (triangles, _, _), naming = touched.queries.with_names(touched.named)
        return read_only(naming.all_parts(triangles))

    @property
    def air_time(self) -> Floats:
        """Seconds since each one was on the ground (n,), as `GroundReport.air_time`; read-only."""
        return read_only(self._states()[:, columns.AIR_TIME].copy())

    @property
    def landing_speed(self) -> Floats:
        """The speed of each one's fall when it landed last, in m/s (n,), read-only.

        As `GroundReport.landing_speed`: 0 before its first landing.
        """
        return read_only(self._states()[:, columns.LANDING_SPEED].copy())

    def hits(self) -> MoveHits:
        """Return the surfaces that characters ran into in the last update, for sounds and damage.

        Returns
        -------
        MoveHits
            As `CharacterMovement.hits`, at most 4 of each character; ordered by character.
        """
        return impacts_of(self._data.rows(), queries_of(self._data.ground))

    # Sensors

    def height_scan(
        self,
        offsets: ArrayLike,
        yaw: ArrayLike | None = None,
        *,
        keys: Iterable[Key] | None = None,
    ) -> Floats:
        """Return the heights of the ground around each character, at offsets in its own frame.

        Parameters
        ----------
        offsets : array_like, shape (k, 2)
            Offsets from each position, in meters along x and z of each one's own frame.
        yaw : float or array_like, shape (n,), optional
            The angle of that frame about +Y, in radians, for all or for each: its +Z, ahead, is
            (sin yaw, 0, cos yaw) in the world, its +X, to the left, (cos yaw, 0, -sin yaw).
            Default: as the world.
        keys : iterable of str or int, optional
            The characters; default: all, in order.

        Returns
        -------
        ndarray of float64, shape (n, k)
            Heights in meters in the world, by the rules of `Surface.height_at`: of the highest
            surface among the parts in the character's `mask`; NaN where there is none.

        Raises
        ------
        KeyError
            For a key that no character has.
        TypeError, ValueError
            For another shape, numbers that are not finite, and places at 1e38 m or beyond.

        Examples
        --------
        >>> from terrain_physics import CharacterGroup, HeightMap, SphereCollider
        >>> slope = HeightMap([[0, 1, 2], [0, 1, 2], [0, 1, 2]], border="open")
        >>> group = CharacterGroup(slope, SphereCollider(0.2))
        >>> group.add("ada", (1, 1.3, 1))
        >>> group.height_scan([(0, 0), (0.5, 0), (9, 9)])
        array([[1. , 1.5, nan]])
        >>> group.height_scan([(0, 0.5)], yaw=math.pi / 2).round(9)
        array([[1.5]])
        """
        return self._sensors(yaw, keys).heights(offsets)

    def raycast(
        self,
        offsets: ArrayLike,
        directions: ArrayLike,
        max_distance: ArrayLike = math.inf,
        yaw: ArrayLike | None = None,
        *,
        keys: Iterable[Key] | None = None,
    ) -> RayHits:
        """Return the first hits of k rays from each character on the ground.

        Parameters
        ----------
        offsets : array_like, shape (k, 3) or (1, 3)
            Origins of the rays, from each position, in meters in each one's own frame.
        directions : array_like, shape (k, 3) or (1, 3)
            Directions in the same frame, of any length but zero.
        max_distance : float or array_like, shape (k,), default inf
            Reach of the rays in meters, for all or for each; >= 0.
        yaw : float or array_like, shape (n,), optional
            The angle of that frame, as for `height_scan`.
        keys : iterable of str or int, optional
            The characters; default: all, in order.

        Returns
        -------
        RayHits
            By the rules of `Surface.raycast`, on the parts in the character's `mask`. Its arrays
            have a row for each character and a column for each ray: ``distance`` is (n, k),
            ``point`` (n, k, 3).

        Raises
        ------
        KeyError
            For a key that no character has.
        TypeError, ValueError
            For other shapes, numbers that are not finite, zero directions, a distance below 0, and
            places at 1e38 m or beyond.

        Examples
        --------
        >>> from terrain_physics import CharacterGroup, HeightMap, SphereCollider
        >>> group = CharacterGroup(HeightMap([[0, 0], [0, 0]]), SphereCollider(0.2))
        >>> group.add("ada", (1, 3, 1))
        >>> group.raycast([(0, 0, 0)], [(0, -1, 0), (0, -3, 4), (0, 1, 0)]).distance
        array([[ 3.,  5., nan]])
        """
        return self._sensors(yaw, keys).rays(offsets, directions, max_distance)

    # Steering

    @quick
    def walk(self, vx: ArrayLike, vz: ArrayLike, keys: Iterable[Key] | None = None) -> None:
        """Drive characters over the ground; their vertical velocities stay.

        It can be called in each frame: a character in the air goes on falling, and a jump set as a
        velocity goes on. `set_velocities` sets all three components.

        Parameters
        ----------
        vx, vz : float or array_like, shape (n,)
            Velocities along x and z in m/s, for all or for each.
        keys : iterable of str or int, optional
            The characters; default: all, in order.

        Raises
        ------
        KeyError
            For a key that no character has.
        TypeError, ValueError
            For another shape and numbers that are not finite, naming the first key. Nothing has
            changed then.
        """
        names, rows = self._chosen(keys)
        across, along = number_per_character("vx", vx, names), number_per_character("vz", vz, names)
        state = self._states()
        state[rows, columns.VELOCITY], state[rows, columns.VELOCITY + 2] = across, along
        _let_drive(state, rows)

    def set_velocities(self, velocities: ArrayLike, keys: Iterable[Key] | None = None) -> None:
        """Drive characters; `walk` does it without their vertical velocities.

        Parameters
        ----------
        velocities : array_like, shape (n, 3)
            In m/s.
        keys : iterable of str or int, optional
            The characters; default: all, in order.

        Raises
        ------
        KeyError
            For a key that no character has.
        TypeError, ValueError
            For another shape and numbers that are not finite, naming the first key. Nothing has
            changed then.
        """
        names, rows = self._chosen(keys)
        speeds = velocities_per_character(velocities, names)
        state = self._states()
        state[rows, VELOCITY] = speeds
        _let_drive(state, rows)

    def set_positions(self, positions: ArrayLike, keys: Iterable[Key] | None = None) -> None:
        """Put characters somewhere: a nudge if it is near, a teleport if it is farther.

        See `CharacterView.position`.

        Parameters
        ----------
        positions : array_like, shape (n, 3)
            In meters.
        keys : iterable of str or int, optional
            The characters; default: all, in order.

        Raises
        ------
        KeyError
            For a key that no character has.
        TypeError, ValueError
            For another shape and numbers that are not finite, naming the first key. Nothing has
            changed then.
        """
        names, rows = self._chosen(keys)
        places = positions_per_character(positions, names)
        state = self._states()
        state[rows, POSITION] = places
        state[rows, columns.UNDISTURBED] = 0.0
        state[rows, columns.MOVED] = 1.0

    def teleport(
        self,
        positions: ArrayLike,
        velocities: ArrayLike | None = None,
        keys: Iterable[Key] | None = None,
    ) -> None:
        """Put characters somewhere else, in the air, at any distance.

        Parameters
        ----------
        positions : array_like, shape (n, 3)
            In meters.
        velocities : array_like, shape (n, 3), optional
            In m/s; default: 0.
        keys : iterable of str or int, optional
            The characters; default: all, in order.

        Raises
        ------
        KeyError, TypeError, ValueError
            As for `set_positions`. Nothing has changed then.
        """
        names, rows = self._chosen(keys)
        places = positions_per_character(positions, names)
        speeds = velocities_per_character(velocities, names)
        state = self._states()
        moved = state[rows]
        put_in_air(moved, places, speeds)
        state[rows] = moved

    def reset(
        self,
        positions: ArrayLike,
        velocities: ArrayLike | None = None,
        keys: Iterable[Key] | None = None,
        seeds: "Iterable[int | np.random.Generator] | None" = None,
    ) -> None:
        """Let characters begin anew: they go on as new characters would, bit for bit.

        Their rules, their bodies and the rotations of these stay.

        Parameters
        ----------
        positions : array_like, shape (n, 3)
            In meters.
        velocities : array_like, shape (n, 3), optional
            In m/s; default: 0.
        keys : iterable of str or int, optional
            The characters; default: all, in order.
        seeds : iterable of int or numpy.random.Generator, optional
            The start of the shuffling of their contacts; default: `seed_of` each key.

        Raises
        ------
        KeyError, TypeError, ValueError
            As for `set_positions`, and for another number of seeds. Nothing has changed then.
        """
        names, rows = self._chosen(keys)
        places = positions_per_character(positions, names)
        speeds = velocities_per_character(velocities, names)
        random_states = random_states_per_character(self._data.seed, names, seeds)
        all_rows = self._data.rows()
        new = all_rows.at(rows)
        make_new(new, places, speeds, random_states)
        all_rows.state[rows], all_rows.random[rows] = new.state, new.random

    # Rules

    def rules(self, name: str, keys: Iterable[Key] | None = None) -> NDArray[Any]:
        """Return a rule of each character.

        Parameters
        ----------
        name : str
            Such as "slope_limit", see `CharacterMovement`; not "material_rules", which are read
            from each member.
        keys : iterable of str or int, optional
            The characters; default: all, in order.

        Returns
        -------
        ndarray, shape (n,)
            Of float64, int64, bool or str; read-only.

        Raises
        ------
        KeyError
            For a key that no character has.
        ValueError
            For a name that no rule has.

        Examples
        --------
        >>> from terrain_physics import CharacterGroup, HeightMap, SphereCollider
        >>> group = CharacterGroup(HeightMap([[0, 0], [0, 0]]), SphereCollider(0.5))
        >>> group.add_many(["ada", "bob"], [(0, 1, 0), (1, 1, 0)], gravity_scale=0.5)
        >>> group.set_rules(gravity_scale=[1, 2], leave="up")
        >>> group.set_rules(step_offset=0, keys=["bob"])
        >>> group.rules("gravity_scale"), group.rules("leave"), group.rules("step_offset")
        (array([1., 2.]), array(['up', 'up'], dtype='<U8'), array([0.3, 0. ]))
        """
        rule = rule_to_read(name)
        _, rows = self._chosen(keys)
        return read_only(rule.read_all(self._data.rows().rules[rows]))

    def set_rules(
        self,
        rules: CharacterRules | None = None,
        *,
        keys: Iterable[Key] | None = None,
        **rules_by_name: Any,
    ) -> None:
        """Set rules of characters.

        Parameters
        ----------
        rules : CharacterRules, optional
            All rules; default: those that the characters have.
        keys : iterable of str or int, optional
            The characters; default: all, in order.
        **rules_by_name
            As for `CharacterMovement`, such as ``slope_limit``; they replace those of `rules`. Each
            is one value for all, or an array of n. ``material_rules`` are one mapping for all.

        Raises
        ------
        KeyError
            For a key that no character has.
        TypeError, ValueError
            For a bad value of a rule, naming the first key if there is a value for each. Nothing
            has changed then.
        """
        names, rows = self._chosen(keys)
        state, all_rules, *_ = self._data.rows()
        places = np.arange(len(state))[rows]
        before, after = all_rules[rows], all_rules[rows].copy()
        material_rules = put_rules(after, rules, rules_by_name, None, names)
        wake_changed(state, places, before, after, names_of(rules, rules_by_name))
        all_rules[rows] = after
        if material_rules is not None:
            for key in names:
                self._data.keep_material_rules(key, material_rules)

    # Inside

    def _states(self) -> Floats:
        return self._data.rows().state

    def _touched(self) -> GroundContacts:
        return GroundContacts.by(self._states(), queries_of(self._data.ground))

    def _sensors(self, yaw: ArrayLike | None, keys: Iterable[Key] | None) -> Sensors:
        names, rows = self._chosen(keys)
        yaws = number_per_character("yaw", 0.0 if yaw is None else yaw, names)
        queries = queries_of(self._data.ground)
        return Sensors(self._data.rows().at(rows), names, yaws, queries, self._threads)

    def _chosen(self, keys: Iterable[Key] | None) -> tuple[Sequence[Key], Any]:
        """Return some keys, all if None, and an index of their rows."""
        if keys is None:
            return self._data.members().keys, slice(None)
        self._data.rows()  # closes gaps, so that the places stay
        names = checked_keys(keys)
        return names, self._data.places(names)


def _let_drive(state: Floats, rows: Any) -> None:
    """Mark the velocities of some characters as set by the game."""
    state[rows, columns.DRIVEN], state[rows, columns.UNDISTURBED] = 1.0, 0.0


def data_of(group: GroupTable) -> GroupData:
    """Return the numbers of a group."""
    return group._data  # noqa: SLF001 the one door
