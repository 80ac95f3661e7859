"""AdoptedMember: a `CharacterMovement` that a group updates."""

from collections.abc import Callable
from typing import NamedTuple


class AdoptedMember(NamedTuple):
    """Callbacks of a character that is a member of a group, and an object of the game by itself.

    Attributes
    ----------
    adopt : callable
        Takes over the values that the game wrote to it; raises for bad values, and changes nothing
        then.
    show : callable
        Shows the result of an update to the game and to its owner.
    show_restored : callable
        Shows a restored state in the same way.
    leave : callable
        Copies its numbers out of the group, before the group drops them.
    join_again : callable
        Makes it a member of the group again, under its key, after it had left.
    """

    adopt: Callable[[], None]
    show: Callable[[], None]
    show_restored: Callable[[], None]
    leave: Callable[[], None]
    join_again: Callable[[], None]
