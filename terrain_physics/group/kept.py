"""Numbers of a group at a moment, kept as they are, and put back bit for bit without checks."""

from collections.abc import Callable
from typing import Self

from terrain_physics.character.group_data import KeptRows, Key
from terrain_physics.character.rows import Rows, wake
from terrain_physics.group.group import CharacterGroup
from terrain_physics.group.table import data_of


class KeptGroup:
    """The numbers of a group at a moment, in arrays that are written again and again.

    The arrays grow with the group.

    Parameters
    ----------
    group : CharacterGroup
        Its present numbers are kept.
    room : Rows, optional
        Arrays to begin with, for as many members or more.

    Attributes
    ----------
    rows : Rows
        The numbers kept (n, ...), without hits; to read.
    kept : KeptRows
    seconds : float
        Of the last update.
    adopted : mapping
        The members that characters of the game were, by their keys.
    """

    __slots__ = ("_data", "_group", "_room", "adopted", "kept", "rows", "seconds")

    kept: KeptRows

    def __init__(
        self, group: CharacterGroup, room: Rows | None = None, kept: KeptRows | None = None
    ) -> None:
        self._group, self._data = group, data_of(group)
        self._room = Rows.room(len(group)) if room is None else room
        self.rows = self._room
        if kept is None:
            self.keep()
        else:
            self.kept = kept

    @classmethod
    def of(cls, group: CharacterGroup, rows: Rows, kept: KeptRows, seconds: float) -> Self:
        """Return numbers (n, ...) that were checked, to be put back to a group.

        Members that characters of the game are now, and that are there then, stay so.
        """
        known = cls(group, rows, kept)
        adopted, keys = data_of(group).adopted, set(kept.members.keys)
        known.seconds = seconds
        known.adopted = {key: own for key, own in adopted.items() if key in keys}
        return known

    @property
    def keys(self) -> tuple[Key, ...]:
        """The keys of the members at that moment, in the order of the rows."""
        return self.kept.members.keys

    @property
    def nbytes(self) -> int:
        """Count of the bytes of the arrays."""
        return sum(part.nbytes for part in self._room.saved())

    def keep(self) -> None:
        """Keep the present numbers of all members.

        What the game wrote to live vectors and owners of adopted members since the last update is
        not part of them.
        """
        count = len(self._group)
        if count > len(self._room.state):
            self._room = Rows.room(2 * count)
        if count != len(self.rows.state):
            self.rows = self._room.at(slice(count))
        data = self._data
        self.kept, self.seconds = data.kept_in(self.rows), data.time.last
        self.adopted = data.adopted

    def copy(self) -> "KeptGroup":
        """Return the same numbers in arrays of their own, to be put back."""
        rows = Rows.of_saved(self.rows.saved())
        kept = self.kept._replace(saved=rows.saved())
        known = KeptGroup.of(self._group, rows, kept, self.seconds)
        known.adopted = self.adopted
        return known

    def put_back(self) -> None:
        """Put the numbers, and show them."""
        self.put()
        for show in self.shows():
            show()

    def put(self) -> None:
        """Go back to the numbers kept, bit for bit, with the members of that time.

        Adopted members are the same objects, also those that were removed since; those that joined
        since leave. They and their owners are yet to be put there, see `shows`. On another ground
        than that of then, the next update looks at the ground.

        Raises
        ------
        RuntimeError
            Inside an update. Nothing has changed then.
        """
        data, kept = self._data, self.kept
        data.time.refuse_in_update()
        data.adopt_again(self.adopted)
        data.put_numbers(kept, self.seconds)
        if kept.ground() is not data.ground:
            wake(data.rows().state)

    def shows(self) -> list[Callable[[], None]]:
        """Return what puts each adopted member and its owner where its numbers are."""
        return self._data.shows()
