"""Numbers of characters at a moment, kept as they are, and put back bit for bit without checks."""

from collections.abc import Callable
from typing import Self

import numpy as np

from terrain_physics._kernels.character.state.layout import HITS
from terrain_physics.character.movement import CharacterMovement
from terrain_physics.character.rows import Rows, wake
from terrain_physics.character.state import KeptNumbers
from terrain_physics.world.things import rows_of, time_of


class KeptCharacter:
    """The numbers of one character at a moment, in arrays that are written again and again.

    Parameters
    ----------
    movement : CharacterMovement
        Alone or in a group. Its present numbers are kept.

    Attributes
    ----------
    movement : CharacterMovement
    rows : Rows
        The numbers kept (1, ...), without hits; to read.
    kept : KeptNumbers
    seconds : float
        Of the last update.
    keys : None
        As of a character, which has no members.
    """

    __slots__ = ("_row", "kept", "movement", "rows", "seconds")

    keys = None

    kept: KeptNumbers

    def __init__(self, movement: CharacterMovement, rows: Rows | None = None) -> None:
        self.movement, self.rows = movement, Rows.room(1) if rows is None else rows
        self._row = self.rows.at(0)
        if rows is None:
            self.keep()

    @property
    def nbytes(self) -> int:
        """Count of the bytes of the numbers."""
        return sum(part.nbytes for part in self.rows.saved())

    @classmethod
    def of(cls, movement: CharacterMovement, rows: Rows, kept: KeptNumbers, seconds: float) -> Self:
        """Return numbers (1, ...) that were checked, to be put back to a character."""
        known = cls(movement, rows)
        known.kept, known.seconds = kept, seconds
        return known

    def keep(self) -> None:
        """Keep the present numbers. What the game wrote to live vectors since is not part of them.

        Nor is what it wrote to an owner.
        """
        movement = self.movement
        self.kept = movement._kept_in(self._row)  # noqa: SLF001
        self.seconds = time_of(movement).last

    def use(self, rows: Rows) -> None:
        """Have other arrays (1, ...) from now on, which are yet to be written."""
        self.rows, self._row = rows, rows.at(0)
        self.kept = self.kept._replace(saved=self._row.saved())

    def note(self) -> None:
        """Keep all but the rows, of a character alone that has not left its ground."""
        movement, kept = self.movement, self.kept
        known = movement._collider, movement._own_rules, movement._cell_sizes  # noqa: SLF001
        if (kept.collider, kept.material_rules, kept.fit) != known:
            self.kept = KeptNumbers(kept.saved, *known[:2], kept.ground, known[2])
        self.seconds = movement._time.last  # noqa: SLF001

    def copy(self) -> "KeptCharacter":
        """Return the same numbers in arrays of their own, to be put back."""
        rows = Rows.unpacked(self.rows.packed())
        kept = self.kept._replace(saved=rows.at(0).saved())
        return KeptCharacter.of(self.movement, rows, kept, self.seconds)

    def put_back(self) -> None:
        """Put the numbers, and show them."""
        self.put()
        for show in self.shows():
            show()

    def put(self) -> None:
        """Go back to the numbers kept, bit for bit; they are yet to be shown, see `shows`.

        On another ground than that of then, the next update looks at the ground.

        Raises
        ------
        RuntimeError
            Inside an update. Nothing has changed then.
        """
        movement, kept = self.movement, self.kept
        time_of(movement).refuse_in_update()
        movement._put_numbers(kept, self.seconds)  # noqa: SLF001
        if kept.ground() is not movement.ground:
            wake(rows_of(movement).state)

    def shows(self) -> list[Callable[[], None]]:
        """Return what puts the live vectors and the owner where the numbers are."""
        return [self.movement._show_restored]  # noqa: SLF001


class KeptCharacters:
    """Keeps several characters alone at once: their rows are one block, written in four calls.

    Parameters
    ----------
    parts : list of KeptCharacter
        Of characters on one ground, which they do not leave.
    """

    __slots__ = ("_block", "_flat", "_parts")

    def __init__(self, parts: list[KeptCharacter]) -> None:
        self._parts, self._block = parts, Rows.room(len(parts))
        self._flat = [part.reshape(-1) for part in self._block.saved()]
        for place, part in enumerate(parts):
            part.use(self._block.at(slice(place, place + 1)))

    def keep(self) -> None:
        """Keep the present numbers of all, as `KeptCharacter.keep` does."""
        rows = [part.movement._numbers for part in self._parts]  # noqa: SLF001
        for flat, own in zip(self._flat, zip(*rows, strict=True), strict=False):  # without hits
            np.concatenate(own, out=flat)
        self._block.state[:, HITS] = 0.0
        for part in self._parts:
            part.note()
