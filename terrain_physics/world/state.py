"""WorldState: a world at one moment, to go back to."""

from typing import Any, NoReturn

from terrain_physics._public import public
from terrain_physics._support import checks
from terrain_physics.character.group_data import Key
from terrain_physics.world.contents import Contents
from terrain_physics.world.kept_world import KeptWorld
from terrain_physics.world.network import bytes_of, kept_from


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
        refitted and parts that came since, whole; deflated. Of a `TiledGround` both sides have the
        same file of tiles.

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
        return self._contents.turns.do("to_bytes", bytes_of, self._contents, self._kept)

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
            has characters and groups under the same keys, with the same settings. If one side was
            loaded, the other must be loaded from that file too, and go on from there: a world that
            wrote a file began before it. What was done to a ground before ``World(...)`` belongs to
            its beginning.

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

        Notes
        -----
        To find the state of its ground, the world's own is edited and put back: it is then as
        before, and `version` of it has risen.

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
        contents = getattr(world, "_contents", None)
        if not isinstance(contents, Contents):
            given = type(world).__name__
            is_swapped = isinstance(getattr(data, "_contents", None), Contents)
            mistake = ": data comes first, then the world" if is_swapped else ""
            raise TypeError(f"world must be a World, got {given}{mistake}")
        return state_of(contents, contents.turns.do("from_bytes", kept_from, data, contents))

    def __copy__(self) -> "WorldState":
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "WorldState cannot be pickled or copied deeply, as only its own world can go back to "
            "it: use to_bytes, or World.save"
        )

    def __repr__(self) -> str:
        things = checks.counted(len(self.keys), "character or group", "characters and groups")
        return f"<WorldState: {things}, {self.nbytes} bytes>"


def state_of(contents: Contents, kept: KeptWorld) -> WorldState:
    """Return the state of a world whose numbers were kept; they stay as they are from now."""
    state = WorldState.__new__(WorldState)
    state._contents, state._kept = contents, kept  # noqa: SLF001
    return state


def moment_of(state: WorldState) -> tuple[Contents, KeptWorld]:
    """Return the contents of the world that a state is of, and what was kept."""
    return state._contents, state._kept  # noqa: SLF001 the one door
