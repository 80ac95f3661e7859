"""World: a ground, characters and groups as one thing, stepped, kept and put back."""

import os
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn, Self, TypeVar

import numpy as np

from terrain_physics._public import public, quick
from terrain_physics._support import checks
from terrain_physics._support.pictures import png
from terrain_physics.character.attribute_guard import AttributeGuard
from terrain_physics.character.fixed_step import FixedStep
from terrain_physics.character.group_data import Key, checked_key
from terrain_physics.character.placement import AnyGround, checked_ground
from terrain_physics.surface.ground_state import keeper_of
from terrain_physics.surface.surface import queries_of
from terrain_physics.world.contents import Contents
from terrain_physics.world.files import load_world, save_world
from terrain_physics.world.hashes import (
    Name,
    ground_content,
    hashes_of,
    numbers_now,
    state_hash_of,
)
from terrain_physics.world.kept_world import KeptWorld
from terrain_physics.world.picture import world_picture
from terrain_physics.world.seen import see_again
from terrain_physics.world.state import WorldState, moment_of, state_of
from terrain_physics.world.things import (
    Thing,
    checked_new,
    prepare,
    refuse_in_other,
    refuse_too_wide_bodies,
    rows_of,
)

_Thing = TypeVar("_Thing", bound=Thing)


@public
class World(AttributeGuard, Mapping[Key, Thing]):
    """A ground with all that moves on it: one thing to step, to keep, to put back and to compare.

    Its characters and groups are made as without a world, and stay the game's own objects: the game
    steers them, moves parts of the ground and edits it as ever. A world steps them together, and
    its states hold them all, with the ground. It is a mapping from keys to these things.

    Parameters
    ----------
    ground : HeightMap, TriangleMesh, Ground or TiledGround
        The ground of all things that are added.
    clock : FixedStep, optional
        Cuts the frames of the game into steps; default: ``FixedStep(1 / 60)``.

    Raises
    ------
    TypeError
        For a value that is no ground, or no clock.

    Notes
    -----
    A state holds all that the next updates go on from: the numbers of all characters, the places of
    moving parts and how they move, edits, parts that came or went, which things there are, the time
    that the clock owes, and `extra`. It does not hold what belongs to the objects and not to the
    moment: the rule ``max_delta``, owners (they are put where their characters are), and settings
    of groups, such as ``collide``.

    While something is done to a world, other calls to it are refused with RuntimeError: those of a
    signal handler that interrupted it, of an owner of a character, and of other threads.

    Examples
    --------
    >>> from terrain_physics import CapsuleCollider, CharacterMovement, Ground, HeightMap
    >>> from terrain_physics import TriangleMesh
    >>> ground = Ground([HeightMap([[0, 0], [0, 0]], cell_size=20), TriangleMesh.box((2, 1, 2))])
    >>> world = World(ground)
    >>> body = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0))
    >>> hero = world.add("hero", CharacterMovement(ground, body, position=(10, 0.5, 10)))
    >>> def frame(number):
    ...     ground.move(1, (10, number / 60, 10), 1 / 60)
    ...     world.update(1 / 60)
    >>> for number in range(60):
    ...     frame(number)
    >>> before = world.state()
    >>> for number in range(60, 120):
    ...     frame(number)
    >>> there = world.state_hash()
    >>> world.restore(before)
    >>> round(hero.position.y, 4)
    1.4833
    >>> for number in range(60, 120):
    ...     frame(number)
    >>> world.state_hash() == there
    True
    """

    # A mapping would compare contents; two worlds are always different.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __init__(self, ground: AnyGround, *, clock: FixedStep | None = None) -> None:
        if clock is not None:
            checks.instance("clock", clock, FixedStep)
        self._contents = Contents(self, checked_ground(ground), clock or FixedStep(1 / 60))

    @property
    def ground(self) -> AnyGround:
        """The ground of all things of the world."""
        return self._contents.ground

    @property
    def clock(self) -> FixedStep:
        """The clock, kept with the state: ``for step in world.clock.steps(frame_seconds): ...``."""
        return self._contents.clock

    @property
    def extra(self) -> bytes:
        """Bytes of the game, kept with the state, such as its score, or a pickle of its own state.

        Raises TypeError for anything but bytes.
        """
        return self._contents.extra

    @extra.setter
    def extra(self, extra: bytes) -> None:
        if not isinstance(extra, bytes):
            raise TypeError(
                "extra must be bytes, such as pickle.dumps(...) or bytes(...), "
                f"got {checks.shorten(extra)}"
            )
        self._contents.extra = bytes(extra)

    # Keys and things

    def __len__(self) -> int:
        return len(self._contents.things)

    def __iter__(self) -> Iterator[Key]:
        return iter(tuple(self._contents.things))

    def __contains__(self, key: object) -> bool:
        is_key = isinstance(key, (str, int, np.integer)) and not isinstance(key, bool)
        return is_key and key in self._contents.things

    def __getitem__(self, key: Key) -> Thing:
        name = checked_key(key)
        if name not in self._contents.things:
            raise KeyError(f"nothing in the world has the key {checks.shorten(name)}")
        return self._contents.things[name]

    def add(self, key: Key, thing: _Thing) -> _Thing:
        """Add a character or a group.

        Parameters
        ----------
        key : str or int
            Its name, which nothing else in the world has. The whole number 1 and the text "1" are
            two keys.
        thing : CharacterMovement or CharacterGroup
            On the world's own ground. Characters that shall meet each other go into a group.

        Returns
        -------
        CharacterMovement or CharacterGroup
            The thing.

        Raises
        ------
        TypeError, ValueError
            For anything else, for a key or a thing that is there already, for one on another
            ground or in another world, and for a character in a group. Nothing has changed then.
        """
        return self._contents.turns.do("add", self._add, key, thing)

    def _add(self, key: Key, thing: _Thing) -> _Thing:
        contents = self._contents
        name = checked_new(contents.things, key, thing, contents.ground)
        refuse_in_other("thing", thing, contents.world)
        contents.put((*contents.layout, (name, thing)))
        return thing

    def remove(self, key: Key) -> None:
        """Take a character or a group out of the world; it is the game's own again.

        Parameters
        ----------
        key : str or int

        Raises
        ------
        KeyError
            If nothing has the key.
        """
        self._contents.turns.do("remove", self._remove, key)

    def _remove(self, key: Key) -> None:
        contents = self._contents
        thing = self[key]
        contents.put(tuple(entry for entry in contents.layout if entry[1] is not thing))

    # The step

    @quick
    def update(self, delta_time: float) -> dict[Key, Any]:
        """Advance everything by one frame: characters, then groups, in the order of adding.

        That is the same as calling ``update`` of each, to the last bit. Move the parts of the
        ground before.

        Parameters
        ----------
        delta_time : float
            Seconds since the last update, >= 0; time beyond `max_delta` of each is left out. Zero
            does nothing.

        Returns
        -------
        dict
            By key what its update returned, a `MoveResult` or a `GroupResult`, in that order.

        Raises
        ------
        TypeError, ValueError
            As for `CharacterMovement.update` and `CharacterGroup.update`, naming the key; for a
            character that has joined a group, and a thing that has gone to another ground. Nothing
            has moved then.
        RuntimeError
            Inside another call to this world.

        Notes
        -----
        If a signal handler raises meanwhile, as Ctrl-C does, some things may have moved and others
        not: go on from a state that was kept before.
        """
        return self._contents.turns.do("update", self._update, delta_time)

    def _update(self, delta_time: float) -> dict[Key, Any]:
        contents = self._contents
        checks.non_negative("delta_time", delta_time, " seconds")
        prepare(contents.layout, contents.ground, to_keep=False)
        sizes = queries_of(contents.ground).cell_sizes
        if sizes is not contents.cell_sizes:  # maps were added or removed
            refuse_too_wide_bodies(contents.layout, contents.ground)
            contents.cell_sizes = sizes
        with keeper_of(contents.ground).updating():
            return {key: thing.update(delta_time) for key, thing in contents.turn}

    # State

    def state(self) -> WorldState:
        """Return the present state of everything, to go back to.

        What the game has written to positions, velocities and owners is part of it.

        Returns
        -------
        WorldState

        Raises
        ------
        TypeError, ValueError
            For bad values that the game wrote, as `update`.
        RuntimeError
            Inside another call to this world.
        """
        return self._contents.turns.do("state", self._state)

    def _state(self) -> WorldState:
        kept = KeptWorld()
        kept.keep(self._contents)
        return state_of(self._contents, kept)

    def restore(self, state: WorldState) -> None:
        """Go back, or forward, to a state of this world: everything, bit for bit.

        Things that were removed since are there again, the same objects, and those that were added
        are no longer there.

        Parameters
        ----------
        state : WorldState
            From `state` of this world; any of them, as often as wanted.

        Raises
        ------
        TypeError, ValueError
            For anything else, for a state of another world, and if a thing of then has been added
            to another world. Nothing has changed then.
        RuntimeError
            Inside an update of this world, or of one of its characters or groups. Nothing has
            changed then.
        Exception
            What an owner raises when it is put where its character is. Everything is in the state
            then, and so are other owners.
        """
        self._contents.turns.do("restore", self._restore, state)

    def _restore(self, state: WorldState) -> None:
        contents = self._contents
        if not isinstance(state, WorldState):
            raise TypeError(f"state must be a WorldState, got {checks.shorten(state)}")
        own, kept = moment_of(state)
        if own is not contents:
            raise ValueError("state must be of this world, got one of another world")
        kept.put_back(contents)

    def state_hash(self) -> str:
        """Return 16 hexadecimal digits that are equal when two worlds are, bit for bit.

        They cover all characters by their keys, as `hashes`, which parts the ground has, where they
        are, on which layers and how they move, what its maps hold (heights, holes, materials and
        thickness), the length of a step of the clock, and `extra`. They leave out what two machines
        of one game do not share: the time that the clock owes, and the order in which things were
        added. They leave out vertices of meshes that were refitted, too.

        Maps count by their values: a map that was loaded, dug before the world was made, or dug and
        put back has the hash of an equal one. The first call reads them, some 10 ms for a million
        samples, and later ones what was edited since. Of a `TiledGround` the digest of its file
        counts, and what differs from it, whichever tiles are loaded: tiles that were edited are
        read once from the file.

        Raises
        ------
        TypeError, ValueError
            For bad values that the game wrote, as `update`, and for an edited tile that cannot be
            read.
        OSError
            As that.
        RuntimeError
            Inside another call to this world.
        """
        return self._contents.turns.do("state_hash", self._state_hash)

    def _state_hash(self) -> str:
        contents = self._contents
        prepare(contents.layout, contents.ground, to_keep=True)
        state: Any = contents.ground.state()
        ground, maps = ground_content(state), contents.maps.of(state)
        seconds, extra = contents.clock.seconds, contents.extra
        return state_hash_of(numbers_now(contents), seconds, extra, ground, maps)

    def hashes(self) -> list[tuple[Name, int]]:
        """Return the hash of each character: 64 bits, quicker to find than its `state_hash`.

        Returns
        -------
        list of (key, int)
            In the order of adding. The key of a member of a group is a tuple of the group's key and
            its own. Equal numbers are equal characters, in the sense of `state_hash`.
        """
        return self._contents.turns.do("hashes", self._hashes)

    def _hashes(self) -> list[tuple[Name, int]]:
        contents = self._contents
        prepare(contents.layout, contents.ground, to_keep=True)
        return hashes_of(numbers_now(contents))

    # Files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to a file for `load`: the world goes on there as here, bit for bit.

        That is the ground with its edits and moving parts, all characters and groups with their
        rules and settings, the clock, and `extra`. What the game has written to positions,
        velocities and owners is part of it. Owners are objects of the game, and are left out. Of a
        `TiledGround` it has the edits, and tells where its file of tiles is, which `load` needs.

        Parameters
        ----------
        path : path
            A zip archive of arrays and JSON is written there. An existing file is replaced only
            when the new one is complete: until then, and after an error or the end of the process,
            it is unchanged.

        Raises
        ------
        TypeError, ValueError
            If ``path`` is not a path that the system takes; for bad values that the game wrote, as
            `update`; and for more than `Ground.save` takes, than 1 GiB of characters or than 256
            MiB of `extra`. Nothing is written then.
        OSError
            If the file cannot be written.
        RuntimeError
            Inside another call to this world.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from terrain_physics import CharacterMovement, HeightMap, SphereCollider
        >>> floor = HeightMap([[0, 0], [0, 0]], cell_size=20)
        >>> world, body = World(floor), SphereCollider(0.5)
        >>> hero = world.add("hero", CharacterMovement(floor, body, position=(9, 0.5, 9)))
        >>> world.extra = b"3 lives"
        >>> with tempfile.TemporaryDirectory() as name:
        ...     world.save(Path(name) / "game.world")
        ...     again = World.load(Path(name) / "game.world")
        >>> again["hero"].position, again.extra
        (vec3( 9, 0.5, 9 ), b'3 lives')
        """
        self._contents.turns.do("save", self._save, path)

    def _save(self, path: str | os.PathLike[str]) -> None:
        contents = self._contents
        prepare(contents.layout, contents.ground, to_keep=True)
        save_world(path, contents.ground, contents.layout, contents.clock, contents.extra)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        owners: Mapping[Key, Any] | None = None,
        tiles: Any = None,
        edits: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Return a world that was saved, with a ground, characters and groups of its own.

        Members of a group that were characters of their own with `CharacterGroup.add` are members
        alone now, and subclasses come back as the classes of the library.

        Parameters
        ----------
        path : path
        owners : mapping, optional
            Objects of the game that own characters from now on, by the keys of these. Each is put
            where its character is. An owner with other arguments is a dict of those of
            `CharacterMovement`, such as ``{"owner": sprite, "axes": "z-up"}``.
        tiles : path or GeneratedTiles, optional
            The file of tiles of a `TiledGround`, if it is elsewhere than when the world was saved:
            else it is looked for where it was, and beside the file of the world.
        edits : path, optional
            The file that the edits of a `TiledGround` are kept in from now on. It then holds those
            of the world: others that it held are replaced. By default they are kept in memory.

        Returns
        -------
        World

        Raises
        ------
        FileNotFoundError
            If there is no such file, or no file of tiles: the message names all places.
        TypeError, ValueError
            If it is no saved world, damaged, of another version, or larger unpacked than `save`
            writes; naming the file. It is measured before it is read. For owners of characters that
            are not there, and for what `CharacterMovement` does not take as an owner. For tiles
            that are not those of then, and edits that are those of others.
        OSError
            If the file of edits cannot be written.
        """
        ground, things, clock, extra = load_world(path, owners or {}, tiles, edits)
        world = cls(ground, clock=clock)
        world._contents.extra = extra
        world._contents.put(tuple(things.items()))
        return world

    def __copy__(self) -> NoReturn:
        raise TypeError("World must be copied with its things and its ground: copy.deepcopy(world)")

    def __getstate__(self) -> dict[str, Any]:
        """Give a pickle or a deep copy a ground and things of its own."""
        contents = self._contents
        return {
            "ground": contents.ground,
            "clock": contents.clock,
            "extra": contents.extra,
            "layout": contents.layout,
            "seen": queries_of(contents.ground).contents,
        }

    def __setstate__(self, content: dict[str, Any]) -> None:
        self._contents = Contents(self, content["ground"], content["clock"])
        self._contents.extra = content["extra"]
        self._contents.put(content["layout"])
        for _, thing in self._contents.layout:  # the ground counts on, and knows of no restore
            see_again(rows_of(thing), content["seen"], queries_of(self._contents.ground))

    def __repr__(self) -> str:
        things = checks.counted(len(self), "character or group", "characters and groups")
        return f"<World: {things} on {self.ground!r}>"

    def _repr_png_(self) -> bytes | None:
        """Return what notebooks show: the ground around the characters from above, if any."""
        picture = world_picture(self.ground, (thing for _, thing in self._contents.layout))
        return None if picture is None else png(picture)


def contents_of(world: World) -> Contents:
    """Return the contents of a world."""
    return world._contents  # noqa: SLF001 the one door
