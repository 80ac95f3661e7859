"""WorldState: a world at one moment, to go back to."""

from itertools import pairwise
from typing import Any, NoReturn
from weakref import WeakKeyDictionary

from terrain_physics._public import public
from terrain_physics._support import checks
from terrain_physics.character.group_data import Key
from terrain_physics.character.movement import CharacterMovement
from terrain_physics.character.rows import Rows
from terrain_physics.group.group import CharacterGroup
from terrain_physics.group.kept import KeptGroup
from terrain_physics.world.contents import Contents
from terrain_physics.world.kept_character import KeptCharacter
from terrain_physics.world.things import Layout, Thing, leave_groups, prepare

Kept = KeptCharacter | KeptGroup


class Rooms:
    """Rooms for the numbers of groups in several kept worlds, of one block of memory each.

    One large block takes large pages of memory: 16 frames of 1,000 characters are written in half
    the time.
    """

    def __init__(self, frames: int) -> None:
        self._frames = frames
        self._left: WeakKeyDictionary[CharacterGroup, list[Rows]] = WeakKeyDictionary()

    def take(self, group: CharacterGroup) -> Rows:
        """Return a room for the numbers of a group, for one more frame."""
        count, left = len(group), self._left.get(group)
        if not left or len(left[-1].state) < count:
            block = Rows.room(self._frames * count)
            ends = [count * frame for frame in range(self._frames + 1)]
            left = [block.at(slice(*pair)) for pair in pairwise(ends)]
            self._left[group] = left
        return left.pop()


class KeptWorld:
    """A world at one moment, in arrays that can be written again.

    Attributes
    ----------
    layout : tuple of (key, thing)
        The things that were there, in the order of adding.
    parts : list of KeptCharacter and KeptGroup
        Their numbers, one for each.
    ground : GroundState or None
    clock : tuple
        What the clock of the world had counted.
    seconds : float
        The length of its steps.
    extra : bytes
    fit : tuple of (float, float), or None
        Cell sizes of the ground that all bodies were known to fit on.
    is_shared : bool
        Whether somebody relies on the numbers, so that they may not be written again.

    Parameters
    ----------
    rooms : Rooms, optional
        Those of several kept worlds that are written again and again.
    """

    __slots__ = (
        "_rooms", "clock", "extra", "fit", "ground", "is_shared", "layout", "parts", "seconds",
    )  # fmt: skip

    fit: tuple[tuple[float, float], ...] | None

    def __init__(self, rooms: Rooms | None = None) -> None:
        self._rooms = rooms
        self.layout: Layout = ()
        self.parts: list[Kept] = []
        self.ground: Any = None
        self.clock, self.seconds, self.extra = (0, 0, 0), 0.0, b""
        self.is_shared, self.fit = False, None

    def keep(self, contents: Contents) -> None:
        """Take over the present state of a world, with what the game wrote."""
        prepare(contents.layout, contents.ground, to_keep=True)
        if contents.layout is not self.layout:
            self._make_room(contents.layout)
        for part in self.parts:
            part.keep()
        self.ground = contents.ground.state()
        self.clock, self.seconds = contents.clock._kept(), contents.clock.seconds  # noqa: SLF001
        self.extra, self.fit = contents.extra, contents.cell_sizes

    def _make_room(self, layout: Layout) -> None:
        """Have room for the numbers of these things; that of things that stay is used again."""
        pairs = zip(self.layout, self.parts, strict=True)
        known = {id(thing): part for (_, thing), part in pairs}
        self.parts = [known.get(id(thing)) or self._new(thing) for _, thing in layout]
        self.layout = layout

    def _new(self, thing: Thing) -> Kept:
        if isinstance(thing, CharacterMovement):
            return KeptCharacter(thing)
        return KeptGroup(thing, None if self._rooms is None else self._rooms.take(thing))

    def put_back(self, contents: Contents) -> None:
        """Put a world back into this state."""
        for _, thing in (*contents.layout, *self.layout):
            thing._frame_time().refuse_in_update()  # noqa: SLF001
        contents.ground.restore(self.ground)  # refuses, if at all, before anything has changed
        leave_groups(self.layout, contents.ground)
        if contents.layout is not self.layout:
            contents.put(self.layout)
        for part in self.parts:
            if isinstance(part, KeptGroup):  # first, as characters leave them
                part.put_back()
        for part in self.parts:
            if isinstance(part, KeptCharacter):
                part.put_back()
        contents.clock._put_back(self.clock)  # noqa: SLF001
        contents.extra, contents.cell_sizes = self.extra, self.fit

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""
        ground = 0 if self.ground is None else self.ground.nbytes
        return sum(part.nbytes for part in self.parts) + ground + len(self.extra)


@public
class WorldState:
    """A `World` at one moment, from its `state`; it never changes.

    It holds all that the next updates go on from: the numbers of the characters, the ground with
    its moving parts and edits, the clock, and the bytes of the game. The world can go back to it,
    and forward again, in any order and as often as wanted. Edits of the ground are kept as long as
    a state needs them.
    """

    __slots__ = ("__weakref__", "_contents", "_kept")

    _kept: KeptWorld
    _contents: Contents

    def __init__(self, *_: Any, **__: Any) -> None:
        raise TypeError("WorldState must come from state() of a World")

    @property
    def nbytes(self) -> int:
        """How much memory it takes, in bytes. States share the edits of the ground."""
        return self._kept.nbytes

    @property
    def keys(self) -> tuple[Key, ...]:
        """The keys of the characters and groups that were there, in the order of adding."""
        return tuple(key for key, _ in self._kept.layout)

    @property
    def extra(self) -> bytes:
        """The bytes of the game, as they were."""
        return self._kept.extra

    # For a network

    def to_bytes(self) -> bytes:
        """Return the state as bytes, for a world elsewhere that began in the same way.

        They hold all numbers of characters, the places of moving parts, blocks of heights, holes
        and materials that were edited since the world was made or loaded, and meshes that were
        refitted and parts that came since, whole; deflated.

        Returns
        -------
        bytes
            To be passed to `from_bytes`. A character takes some 200 bytes, less in a crowd.

        Raises
        ------
        ValueError
            For more than 64 MiB, unpacked.
        RuntimeError
            Inside another call to the world.
        """
        from terrain_physics.world.network import bytes_of

        with self._contents.turns.take("to_bytes"):
            return bytes_of(self._contents, self._kept)

    @staticmethod
    def from_bytes(data: bytes, world: Any) -> "WorldState":
        """Return a state of a world from bytes that another one's `to_bytes` returned.

        Restored there, it leads to the same: the same hashes in all frames to come.

        Parameters
        ----------
        data : bytes
            From anybody: they are measured and checked first.
        world : World
            Which began on an equal ground, made in the same way or loaded from the same file, and
            has characters and groups under the same keys, with the same settings. It stays as it is
            until the state is restored.

        Returns
        -------
        WorldState
            A state like others, for `World.restore` and `Rewind.compare`.

        Raises
        ------
        TypeError, ValueError
            For anything else, damaged bytes, and those of a world that began in another way.
        RuntimeError
            Inside another call to the world.

        Examples
        --------
        >>> from terrain_physics import CharacterMovement, HeightMap, SphereCollider, World
        >>> def make_world():
        ...     floor = HeightMap([[0] * 9] * 9)
        ...     world, body = World(floor), SphereCollider(0.5)
        ...     world.add("hero", CharacterMovement(floor, body, position=(4, 0.5, 4)))
        ...     return world
        >>> here, there = make_world(), make_world()
        >>> there.ground.carve((4, 4), radius=2, depth=1)
        >>> result = there.update(1 / 60)
        >>> here.restore(WorldState.from_bytes(there.state().to_bytes(), here))
        >>> here.state_hash() == there.state_hash(), here.ground.height_at(4, 4)
        (True, -1.0)
        """
        from terrain_physics.world.network import kept_from

        contents = getattr(world, "_contents", None)
        if not isinstance(contents, Contents):
            raise TypeError(f"world must be a World, got {checks.shorten(world)}")
        with contents.turns.take("from_bytes"):
            return state_of(contents, kept_from(data, contents))

    def __copy__(self) -> "WorldState":
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "WorldState cannot be pickled or copied to elsewhere, as its world can go back to it"
        )

    def __repr__(self) -> str:
        return f"<WorldState: {len(self.keys)} characters and groups, {self.nbytes} bytes>"


def state_of(contents: Contents, kept: KeptWorld) -> WorldState:
    """Return the state of a world whose numbers were kept; they stay as they are from now."""
    state = WorldState.__new__(WorldState)
    kept.is_shared = True
    state._contents, state._kept = contents, kept  # noqa: SLF001
    return state
