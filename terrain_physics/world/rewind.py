"""Rewind: the latest frames of a world, to go back to and play again."""

from bisect import insort
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from terrain_physics._public import public, quick
from terrain_physics._support import checks
from terrain_physics.character.attribute_guard import AttributeGuard
from terrain_physics.character.fixed_step import counts_of, put_counts
from terrain_physics.world.compare import AllRows, Mismatch, Side, compared, compared_worlds
from terrain_physics.world.hashes import (
    GroundHash,
    Name,
    ground_content,
    ground_hashes_of,
    hashes_of,
    numbers_of,
    packed_rows,
    state_hash_of,
)
from terrain_physics.world.kept_world import KeptWorld, Rooms
from terrain_physics.world.state import WorldState, moment_of, state_of
from terrain_physics.world.world import World, contents_of

_FRAMES = 2**62


class _Ring:
    """The frames that are kept.

    Attributes
    ----------
    kept : dict of int to KeptWorld
        In order.
    free : list of KeptWorld
        To be written again.
    agreed : list of int
        Frames that were compared and equal, in order.
    """

    __slots__ = ("_most", "agreed", "free", "kept")

    def __init__(self, most: int) -> None:
        self._most = most
        self.kept: dict[int, KeptWorld] = {}
        self.free: list[KeptWorld] = []
        self.agreed: list[int] = []

    def put(self, end: int, more: dict[int, KeptWorld], free: list[KeptWorld]) -> None:
        """Forget a frame and later ones, and keep more in their place."""
        frames, gone = self.kept.copy(), list[KeptWorld]()
        while frames and next(reversed(frames)) >= end:
            gone.append(frames.popitem()[1])
        frames.update(more)
        if len(frames) > self._most:
            gone.append(frames.pop(next(iter(frames))))
        agreed = [frame for frame in self.agreed if frame < end]
        # Nothing is called in between, so no signal handler runs: the frame is kept, or not.
        self.kept, self.agreed, self.free = frames, agreed, free + gone
        for known in gone:
            known.ground = None  # lets go of edits


@public
class Rewind(AttributeGuard):
    """The latest frames of a `World`, to go back to and play again, as in a game with rollback.

    Frames are kept in arrays that are used again and again, so that a frame costs microseconds and
    no memory. With the inputs of others that come late, a game calls `replay`.

    Parameters
    ----------
    world : World
    frames : int, default 16
        How many frames it holds, at least 2; a further one takes the place of the oldest.

    Raises
    ------
    TypeError, ValueError
        For anything else.

    Examples
    --------
    >>> from terrain_physics import CharacterMovement, HeightMap, SphereCollider, World
    >>> floor = HeightMap([[0, 0], [0, 0]], cell_size=20)
    >>> world, body = World(floor), SphereCollider(0.5)
    >>> hero = world.add("hero", CharacterMovement(floor, body, position=(9, 0.5, 9)))
    >>> rewind, keys = Rewind(world), [0] * 60
    >>> def step(frame):
    ...     hero.walk(6 * keys[frame], 0)
    ...     world.update(1 / 60)
    >>> for frame in range(60):
    ...     rewind.save(frame)
    ...     step(frame)
    >>> hero.position.x, rewind.frames[0]
    (9.0, 44)

    An input for frame 50 comes late:

    >>> keys[50] = 1
    >>> rewind.replay(50, 60, step)
    >>> round(hero.position.x, 3)
    9.1
    """

    def __init__(self, world: World, frames: int = 16) -> None:
        checks.instance("world", world, World)
        self._world, self._contents = world, contents_of(world)
        self._most = checks.whole("frames", frames, 2, 2**20)
        self._ring = _Ring(self._most)
        self._rooms = Rooms(self._most + 1)  # one is written before another is forgotten

    @property
    def world(self) -> World:
        """The world whose frames these are."""
        return self._world

    @property
    def frames(self) -> tuple[int, ...]:
        """The frames that it holds, in order."""
        return tuple(self._ring.kept)

    @property
    def nbytes(self) -> int:
        """How much memory it takes, in bytes."""
        return sum(kept.nbytes for kept in (*self._ring.kept.values(), *self._ring.free))

    @quick
    def save(self, frame: int) -> None:
        """Keep the present state of the world as that of a frame: usually before it is played.

        Later frames are forgotten, as they are to be played anew, and so is the oldest one if there
        is no room left.

        Parameters
        ----------
        frame : int
            Its number. A frame that is there is replaced.

        Raises
        ------
        TypeError, ValueError
            For a frame that is no whole number, and as `World.state`. Nothing has changed then.
        RuntimeError
            Inside another call to the world.
        """
        self._contents.turns.do("save", self._save, frame)

    def _save(self, frame: int) -> None:
        number = checks.whole("frame", frame, -_FRAMES, _FRAMES)
        free = self._ring.free.copy() or [KeptWorld(self._rooms)]
        kept = free.pop()
        kept.keep(self._contents)  # may refuse values that the game wrote
        self._ring.put(number, {number: kept}, free)

    @quick
    def restore(self, frame: int) -> None:
        """Go back, or forward, to a frame, as `World.restore` does; no frame is forgotten.

        Parameters
        ----------
        frame : int
            One of `frames`.

        Raises
        ------
        TypeError, ValueError
            For anything else; the message says which frames are there. Nothing has changed then.
        RuntimeError
            As `World.restore`. Nothing has changed then.
        """
        self._contents.turns.do("restore", self._restore, frame)

    def _restore(self, frame: int) -> None:
        kept = self._kept_at(frame)
        kept.put_back(self._contents)

    def replay(self, frame: int, now: int, step: Callable[[int], object]) -> None:
        """Go back to a frame, and play all frames from there on again, as its inputs have changed.

        Each frame is saved again before it is played, except the one ``now``, which comes next, and
        later ones are forgotten.

        Parameters
        ----------
        frame : int
            One of `frames`.
        now : int
            The frame to come back to, >= ``frame``.
        step : function
            Called with the number of each frame from ``frame`` to ``now - 1``; it sets inputs and
            updates the world, as when the frame was first played. If it does not ask the clock of
            the world, the time that the clock owes stays as it is.

        Raises
        ------
        TypeError, ValueError
            For another frame, for ``now`` before it, or so late that the ring is too small, and if
            ``step`` is no function. Nothing has changed then. What ``step`` raises leaves the world
            in the frame that it was called for.
        RuntimeError
            As `World.restore`. Nothing has changed then.
        """
        first = self._number(frame)
        last = checks.whole("now", now, first, _FRAMES)
        if not callable(step):
            raise TypeError(f"step must be a function of a frame, got {checks.shorten(step)}")
        if last - first > self._most:
            raise ValueError(
                f"frames {first} to {last - 1} must be no more than the ring holds, "
                f"got {last - first} for {self._most}: make a Rewind with more frames"
            )
        clock = self._contents.clock
        known = {number: kept.clock for number, kept in self._ring.kept.items()}
        present = counts_of(clock)
        self.restore(first)
        before = counts_of(clock)
        if first < last:
            self._ring.put(first + 1, {}, self._ring.free)  # also if no frame is saved again
        for number in range(first, last):
            if number > first:
                self.save(number)
            step(number)
        if counts_of(clock) == before:  # frames of the game are steps of the clock
            put_counts(clock, present)
            for number, kept in self._ring.kept.items():
                kept.clock = known.get(number, kept.clock)

    def state(self, frame: int) -> WorldState:
        """Return a frame as a state of the world, which stays when the frame is forgotten.

        Parameters
        ----------
        frame : int
            One of `frames`.

        Returns
        -------
        WorldState
        """
        return state_of(self._contents, self._kept_at(frame).copy())

    # Comparing

    def state_hash(self, frame: int) -> str:
        """Return `World.state_hash` of a frame: 16 digits to send to others.

        Parameters
        ----------
        frame : int
            One of `frames`.

        Returns
        -------
        str

        Raises
        ------
        RuntimeError
            Inside another call to the world.
        """
        return self._hash_of(self._kept_at(frame))

    def _hash_of(self, kept: KeptWorld) -> str:
        ground, maps = ground_content(kept.ground), Side(self._contents, kept).maps
        return state_hash_of(numbers_of(kept), kept.seconds, kept.extra, ground, maps)

    def hashes(self, frame: int) -> list[tuple[Name, int]]:
        """Return `World.hashes` of a frame, to find out which character differs.

        Parameters
        ----------
        frame : int
            One of `frames`.

        Returns
        -------
        list of (key, int)
        """
        return hashes_of(numbers_of(self._kept_at(frame)))

    def ground_hashes(self, frame: int) -> list[GroundHash]:
        """Return the hashes of the ground in a frame, to find out which part of it differs.

        Parameters
        ----------
        frame : int
            One of `frames`.

        Returns
        -------
        list of (what, key, int)
            First "ground", without a key: which parts there are, where, on which layers and how
            they move. Then of each map its "heights", "holes", "materials" and "thickness", with
            the key of the part: 0 of a map by itself, and of the land of a `TiledGround`. Equal
            numbers of 64 bits are equal, as in `World.state_hash`.

        Raises
        ------
        RuntimeError
            Inside another call to the world.
        """
        kept = self._kept_at(frame)
        return ground_hashes_of(kept.ground, Side(self._contents, kept).maps)

    def rows(self, frame: int, keys: Iterable[Name] | None = None) -> dict[Name, bytes]:
        """Return all numbers of some characters in a frame, to find out which one differs.

        Parameters
        ----------
        frame : int
            One of `frames`.
        keys : iterable, optional
            Those that `hashes` gives; default: all.

        Returns
        -------
        dict
            By key about 1 kB each, to be sent as they are. Of all characters it is a dict of its
            own class, by which `compare` knows: send it pickled, or compare `hashes` first.

        Raises
        ------
        KeyError
            For a key that no character had in that frame.
        """
        found = packed_rows(numbers_of(self._kept_at(frame)))
        names = found if keys is None else list(keys)
        rows = {name: found[name].astype("<u8").tobytes() for name in names}
        return AllRows(rows) if keys is None else rows

    def compare(self, frame: int, theirs: Any) -> Mismatch | None:
        """Return where another world first differs in a frame; None if no difference is seen.

        Hashes and rows are of characters alone, hashes of the ground of that alone, and rows of
        some characters tell of no others; such a frame does not count as equal.

        Over a network, send the digits of `state_hash` for each frame; where they differ, `hashes`,
        which say which character does; and `rows` of that one, which say in what. If no character
        differs, `ground_hashes` say whether heights do, and of which part.

        Parameters
        ----------
        frame : int
            One of `frames`.
        theirs : str, list, dict, Rewind or WorldState
            What `state_hash`, `hashes`, `ground_hashes` or `rows` returned for the same frame
            elsewhere, hashes also as JSON has brought them; or another world's `Rewind`, or its
            state.

        Returns
        -------
        Mismatch or None
            With the last frame before that is known to be equal: found equal by an earlier call, or
            in both, if ``theirs`` is a `Rewind`.

        Raises
        ------
        TypeError, ValueError
            For anything else, and for a frame that is not there, on either side.

        Examples
        --------
        >>> from terrain_physics import CharacterMovement, HeightMap, SphereCollider, World
        >>> def play(gravity):
        ...     floor = HeightMap([[0, 0], [0, 0]], cell_size=20)
        ...     world, body = World(floor), SphereCollider(0.5)
        ...     hero = world.add("hero", CharacterMovement(floor, body, position=(9, 3, 9)))
        ...     rewind = Rewind(world)
        ...     for frame in range(4):
        ...         rewind.save(frame)
        ...         if frame == 2:
        ...             hero.gravity = gravity
        ...         world.update(1 / 60)
        ...     return rewind
        >>> mine, theirs = play(9.81), play(9.8)
        >>> mine.compare(1, theirs.state_hash(1))
        >>> mine.compare(3, theirs.hashes(3)).key
        'hero'
        >>> found = mine.compare(3, theirs.rows(3, ["hero"]))
        >>> found.column, found.agreed
        ('position', 1)
        >>> mine.compare(3, theirs).agreed
        2
        """
        number, is_whole = self._number(frame), True
        mine = Side(self._contents, self._kept_at(frame))
        if isinstance(theirs, Rewind):
            found = compared_worlds(number, mine, Side(*moment_of(theirs.state(frame))))
            self._agree_before(number, theirs)
        elif isinstance(theirs, WorldState):
            found = compared_worlds(number, mine, Side(*moment_of(theirs)))
        elif isinstance(theirs, str):
            own = self._hash_of(mine.kept)
            found = None if own == theirs else Mismatch(number, None, None, own, theirs)
        else:
            found, is_whole = compared(number, mine, theirs)
        if found is None:
            if is_whole:
                self._agree(number)
            return None
        before = [other for other in self._ring.agreed if other < number]
        return found._replace(agreed=before[-1] if before else None)

    def _agree(self, frame: int) -> None:
        """Remember that a frame is equal elsewhere."""
        if frame not in self._ring.agreed:
            insort(self._ring.agreed, frame)
            del self._ring.agreed[: -self._most]

    def _agree_before(self, frame: int, other: "Rewind") -> None:
        """Find the last frame before one that is equal in another world's frames."""
        for number in reversed([own for own in other.frames if own < frame]):
            if number in self._ring.kept:
                if self._hash_of(self._ring.kept[number]) == other.state_hash(number):
                    self._agree(number)
                    return

    def _kept_at(self, frame: Any) -> KeptWorld:
        return self._ring.kept[self._number(frame)]

    def _number(self, frame: Any) -> int:
        """Return the number of a frame that is there, or raise ValueError that says which are."""
        number = checks.whole("frame", frame, -_FRAMES, _FRAMES)
        if number in self._ring.kept:
            return number
        there = [*self._ring.kept]
        if not there:
            raise ValueError(f"frame must be saved first, got {number}, and no frame is kept yet")
        is_row = there[-1] - there[0] == len(there) - 1
        which = f"{there[0]} to {there[-1]}" if is_row else ", ".join(map(str, there))
        raise ValueError(f"frame must be one of those kept, {which}, got {number}")

    def __copy__(self) -> NoReturn:
        raise TypeError(
            "Rewind cannot be copied or pickled: make a new one of a copy of its world, or send "
            "state(frame).to_bytes()"
        )

    def __reduce__(self) -> NoReturn:
        self.__copy__()

    def __repr__(self) -> str:
        there = f", {min(self._ring.kept)} to {max(self._ring.kept)}" if self._ring.kept else ""
        return f"<Rewind: {len(self._ring.kept)} of {self._most} frames{there}>"
