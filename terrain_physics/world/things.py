"""The things of a world: characters alone and groups, and what a world asks of either."""

from collections.abc import Iterable, Mapping
from typing import Any
from weakref import WeakKeyDictionary, ref

from terrain_physics._support import checks
from terrain_physics.character.group_data import Key, checked_key
from terrain_physics.character.movement import CharacterMovement
from terrain_physics.character.placement import AnyGround, refuse_any_too_wide, refuse_too_wide
from terrain_physics.group.group import CharacterGroup

Thing = CharacterMovement | CharacterGroup

Layout = tuple[tuple[Key, Thing], ...]
"""Which things are in a world, by their keys, in the order of adding."""

_WORLDS: "WeakKeyDictionary[Thing, ref[object]]" = WeakKeyDictionary()
"""The world that a thing is in."""


def checked_new(things: Mapping[Key, Thing], key: Any, thing: Any, ground: AnyGround) -> Key:
    """Return the key of a thing that a world can take, or refuse it."""
    name = checked_key(key)
    if not isinstance(thing, (CharacterMovement, CharacterGroup)):
        raise TypeError(
            f"thing must be a CharacterMovement or a CharacterGroup, got {checks.shorten(thing)}"
        )
    if name in things:
        raise ValueError(f"key must be new, got {checks.shorten(name)} again")
    for known, other in things.items():
        if other is thing:
            raise ValueError(f"thing must be new, got that of key {known!r} again")
    refuse_elsewhere("thing", thing, ground)
    return name


def refuse_elsewhere(what: str, thing: Thing, ground: AnyGround) -> None:
    """Refuse a thing on another ground than a world's, and a character that a group updates."""
    if isinstance(thing, CharacterMovement) and thing._group is not None:  # noqa: SLF001
        raise ValueError(
            f"{what} must be in no group, is in one as {thing._key!r}: "  # noqa: SLF001
            "add that group to the world instead"
        )
    if thing.ground is not ground:
        raise ValueError(
            f"{what} must stand on the world's own ground, got one on {thing.ground!r}: "
            "an equal ground is another one"
        )


def refuse_in_other(what: str, thing: Thing, world: "ref[object]") -> None:
    """Refuse a thing that is in another world: both would update it, and put it back."""
    known = _WORLDS.get(thing)
    if known is not None and known is not world and known() is not None:
        raise ValueError(f"{what} must be in no other World, is in {known()!r}: remove it there")


def move_in(before: Iterable[Thing], now: Iterable[Thing], world: "ref[object]") -> None:
    """Note which things are in a world, and which are there no longer."""
    old, new = set(before), set(now)
    for thing in old - new:
        _WORLDS.pop(thing, None)
    for thing in new - old:
        _WORLDS[thing] = world


def in_turn(layout: Layout) -> Layout:
    """Return the things in the order of an update: characters, then groups."""
    return tuple(sorted(layout, key=lambda entry: isinstance(entry[1], CharacterGroup)))


def prepare(layout: Layout, ground: AnyGround, *, to_keep: bool) -> None:
    """Refuse things that have gone elsewhere; take over what the game wrote to the others.

    Before an update that finds bad values while nobody has moved. Numbers ``to_keep`` are shown to
    the game at once, as what it writes next is no part of them. An error names the key.
    """
    for key, thing in layout:
        if _is_as_left(thing, ground):
            continue
        checks.named_check(key, refuse_elsewhere, "it", thing, ground)
        if isinstance(thing, CharacterGroup):
            checks.named_check(key, thing._data.adopt_writes)  # noqa: SLF001
        else:
            checks.named_check(key, thing._adopt)  # noqa: SLF001
            if to_keep:
                thing._show()  # noqa: SLF001


def _is_as_left(thing: Thing, ground: AnyGround) -> bool:
    """Tell whether a thing is where it belongs, and the game has written nothing to it."""
    if isinstance(thing, CharacterGroup):
        return thing.ground is ground and not thing._data.adopted  # noqa: SLF001
    position, velocity = thing._position, thing._velocity  # noqa: SLF001
    return (
        thing._ground is ground  # noqa: SLF001
        and thing._group is None  # noqa: SLF001
        and thing._owner is None  # noqa: SLF001
        and not (position.written or velocity.written)
        and position == position.shown
        and velocity == velocity.shown
    )


def refuse_too_wide_bodies(layout: Layout, ground: AnyGround) -> None:
    """Refuse bodies that cover too many cells of a map that was added to the ground."""
    for key, thing in layout:
        if isinstance(thing, CharacterGroup):
            names = [f"{key!r}: {member!r}" for member in thing]
            refuse_any_too_wide(ground, thing._data.rows().rules, names)  # noqa: SLF001
        else:
            rules = thing._row().rules  # noqa: SLF001
            checks.named_check(key, refuse_too_wide, ground, rules)


def leave_groups(layout: Layout, ground: AnyGround) -> None:
    """Take characters out of groups that they have joined, and all things to a world's ground."""
    for _, thing in layout:
        if isinstance(thing, CharacterMovement) and thing._group is not None:  # noqa: SLF001
            thing._group.remove([thing._key])  # noqa: SLF001
        if thing.ground is not ground:
            _bring_to(thing, ground)


def _bring_to(thing: Thing, ground: AnyGround) -> None:
    """Take a thing to a ground that it has been on, where its body of then fits."""
    if isinstance(thing, CharacterMovement):
        thing._ground, thing._cell_sizes, thing._idle = ground, None, None  # noqa: SLF001
    else:
        thing._data.ground, thing._data.cell_sizes = ground, None  # noqa: SLF001
