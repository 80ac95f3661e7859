"""AdoptedMember: a `CharacterMovement` that a group updates."""

from collections.abc import Callable
from typing import NamedTuple


class AdoptedMember(NamedTuple):
    """Calls by which a group asks a character that is a member, but has a face of its own.

    Attributes
    ----------
    adopt : callable
        Takes over what the game wrote to it; raises for bad values, and changes nothing then.
    show : callable
        Shows what an update did to it to the game, and to its owner.
    show_restored : callable
        Does the same where a state was restored.
    leave : callable
        Takes its numbers along, as long as they are still the group's.
    """

    adopt: Callable[[], None]
    show: Callable[[], None]
    show_restored: Callable[[], None]
    leave: Callable[[], None]
