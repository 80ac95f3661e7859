"""A world at one moment, in arrays that can be written again."""

from contextlib import suppress
from itertools import pairwise
from typing import Any
from weakref import WeakKeyDictionary

from terrain_physics._support import checks
from terrain_physics._support.interruptions import carried_out
from terrain_physics.character.fixed_step import counts_of, put_counts
from terrain_physics.character.rows import Rows
from terrain_physics.group.group import CharacterGroup
from terrain_physics.group.kept import KeptGroup
from terrain_physics.world.contents import Contents
from terrain_physics.world.kept_character import KeptCharacter, KeptCharacters
from terrain_physics.world.things import (
    Layout,
    leave_groups,
    members_of,
    prepare,
    refuse_in_other,
    time_of,
)

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

    Parameters
    ----------
    rooms : Rooms, optional
        Those of several kept worlds that are written again and again.
    """

    __slots__ = (
        "_keepers", "_rooms", "clock", "extra", "fit", "ground", "layout", "parts", "seconds",
    )  # fmt: skip

    fit: tuple[tuple[float, float], ...] | None

    def __init__(self, rooms: Rooms | None = None) -> None:
        self._rooms = rooms
        self.layout: Layout = ()
        self.parts: list[Kept] = []
        self._keepers: list[KeptCharacters | KeptGroup] = []
        self.ground: Any = None
        self.clock, self.seconds, self.extra = (0, 0, 0), 0.0, b""
        self.fit = None

    def keep(self, contents: Contents) -> None:
        """Take over the present state of a world, with what the game wrote."""
        prepare(contents.layout, contents.ground, to_keep=True)
        if contents.layout is not self.layout:
            self._make_room(contents.layout)
        for keeper in self._keepers:
            keeper.keep()
        self.ground = contents.ground.state()
        self.clock, self.seconds = counts_of(contents.clock), contents.clock.seconds
        self.extra, self.fit = contents.extra, contents.cell_sizes

    def _make_room(self, layout: Layout) -> None:
        """Have room for the numbers of these things; that of things that stay is used again."""
        pairs = zip(self.layout, self.parts, strict=True)
        known = {id(thing): part for (_, thing), part in pairs}
        self.parts = [known.get(id(thing)) or self._new(thing) for _, thing in layout]
        self.layout = layout
        alone: list[Any] = [part for part in self.parts if part.keys is None]
        groups: list[Any] = [part for part in self.parts if part.keys is not None]
        self._keepers = [KeptCharacters(alone), *groups] if alone else [*groups]

    def _new(self, thing: Any) -> Kept:
        if members_of(thing) is None:
            return KeptCharacter(thing)
        return KeptGroup(thing, None if self._rooms is None else self._rooms.take(thing))

    def copy(self) -> "KeptWorld":
        """Return the same in arrays of its own, to be put back."""
        known = KeptWorld()
        known.layout, known.parts = self.layout, [part.copy() for part in self.parts]
        known.ground, known.clock, known.seconds = self.ground, self.clock, self.seconds
        known.extra, known.fit = self.extra, self.fit
        return known

    def put_back(self, contents: Contents) -> None:
        """Put a world back into this state.

        Owners come last: an error of one, which is raised then, leaves everything else in place.
        """
        for key, thing in self.layout:
            checks.named_check(key, refuse_in_other, "it", thing, contents.world)
        for _, thing in (*contents.layout, *self.layout):
            time_of(thing).refuse_in_update()
        carried_out(lambda: self._put(contents))
        _show(self.parts)

    def _put(self, contents: Contents) -> None:
        contents.ground.restore(self.ground)  # refuses, if at all, before anything has changed
        leave_groups(self.layout, contents.ground)
        if contents.layout is not self.layout:
            contents.put(self.layout)
        for part in sorted(self.parts, key=lambda part: part.keys is None):
            part.put()  # groups first, as characters leave them
        put_counts(contents.clock, self.clock)
        contents.extra, contents.cell_sizes = self.extra, self.fit

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""
        ground = 0 if self.ground is None else self.ground.nbytes
        return sum(part.nbytes for part in self.parts) + ground + len(self.extra)


def _show(parts: list[Kept]) -> None:
    """Put owners where their characters are, all of them; raise the first error then."""
    errors = []
    for part in parts:
        for show in part.shows():
            try:
                show()
            except BaseException as error:  # of an owner; or of a signal handler, only once
                errors.append(error)
                with suppress(BaseException):
                    show()
    if errors:
        raise errors[0]
