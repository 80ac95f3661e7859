"""The things of a world: characters alone and groups, and what a world asks of either."""

from collections.abc import Iterable, Mapping
from typing import Any
from weakref import WeakKeyDictionary, ref

from terrain_physics._support import checks
from terrain_physics.character.frame_time import FrameTime
from terrain_physics.character.group_data import Key, Members, checked_key
from terrain_physics.character.material_rules import MaterialRules
from terrain_physics.character.movement import CharacterMovement
from terrain_physics.character.placement import AnyGround
from terrain_physics.character.rows import Rows
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
    thing._refuse_in_group(what)  # noqa: SLF001
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
    return tuple(sorted(layout, key=lambda entry: members_of(entry[1]) is not None))


def rows_of(thing: Thing) -> Rows:
    """Return the numbers (n, ...) of a thing; of a character alone (1, ...)."""
    return thing._rows()  # noqa: SLF001


def members_of(thing: Thing) -> Members | None:
    """Return who is in a group; None of a character alone."""
    return thing._members()  # noqa: SLF001


def time_of(thing: Thing) -> FrameTime:
    """Return the frame time of a thing."""
    return thing._frame_time()  # noqa: SLF001


def take_over(thing: Thing, state: Any) -> None:
    """Check a state, and let a thing go on from it."""
    thing._take_over(state)  # noqa: SLF001


def told_of(thing: Thing) -> dict[str, Any]:
    """Return what a file has of a thing, beside numbers, bodies and members."""
    return thing._told()  # noqa: SLF001


def material_rules_of(character: CharacterMovement) -> MaterialRules:
    """Return the rules of a character for materials, as states have them."""
    return character._material_rules()  # noqa: SLF001


def settings_of(thing: Thing) -> dict[str, Any] | None:
    """Return how the characters of a group collide; None of a character alone."""
    return thing._collision()  # noqa: SLF001


def prepare(layout: Layout, ground: AnyGround, *, to_keep: bool) -> None:
    """Refuse things that have gone elsewhere; take over what the game wrote to the others.

    Before an update that finds bad values while nobody has moved. Numbers ``to_keep`` are shown to
    the game at once, as what it writes next is no part of them. An error names the key.
    """
    for key, thing in layout:
        if not thing._is_as_left(ground):  # noqa: SLF001
            checks.named_check(key, refuse_elsewhere, "it", thing, ground)
            checks.named_check(key, adopt, thing, to_keep)


def adopt(thing: Thing, to_show: bool = False) -> None:  # noqa: FBT001, FBT002
    """Take over what the game wrote to a thing; show it to the game at once, if asked."""
    thing._adopt_all(to_show=to_show)  # noqa: SLF001


def refuse_too_wide_bodies(layout: Layout, ground: AnyGround) -> None:
    """Refuse bodies that cover too many cells of a map that was added to the ground."""
    for key, thing in layout:
        checks.named_check(key, thing._refuse_too_wide, ground)  # noqa: SLF001


def leave_groups(layout: Layout, ground: AnyGround) -> None:
    """Take characters out of groups that they have joined, and all things to a world's ground."""
    for _, thing in layout:
        thing._bring_to(ground)  # noqa: SLF001
