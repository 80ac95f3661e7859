"""Things that are recorded: their characters as rows of one state; and which ones a world has."""

from collections.abc import Collection, Iterable, Mapping
from itertools import takewhile
from typing import Any

import numpy as np

from terrain_physics._kernels.character.state.layout import SAVED
from terrain_physics._support import checks
from terrain_physics.character.colliders import Collider
from terrain_physics.character.frame_time import LONGEST_STEP
from terrain_physics.character.group_data import (
    GroupState,
    checked_key,
    packed_rows,
    state_of_rows,
)
from terrain_physics.character.movement import CharacterMovement
from terrain_physics.character.rows import Rows
from terrain_physics.character.state import state_of
from terrain_physics.group.crowd import CrowdOptions
from terrain_physics.group.group import CharacterGroup
from terrain_physics.world.hashes import Name
from terrain_physics.world.things import (
    Thing,
    material_rules_of,
    members_of,
    prepare,
    rows_of,
    settings_of,
    take_over,
)
from terrain_physics.world.world import World, contents_of

Turn = Iterable[tuple[Any, Any]]
"""What is updated, by its key, in order; a group that is all there is has None for a key."""

Things = list[list[Any]]
"""For each thing of a world, in the order of adding: its key, and settings if it is a group."""


def checked_name(key: Any) -> Name:
    """Return the key of a character, or those of a group and its member, which JSON made a list."""
    if isinstance(key, (list, tuple)):
        group, member = key
        return checked_key(group), checked_key(member)
    return checked_key(key)


def things_of(world: World) -> Things:
    """Return which things a world has."""
    return [[key, _settings_of(world[key])] for key in world]


def _settings_of(thing: Thing) -> dict[str, Any] | None:
    members = members_of(thing)
    return None if members is None else {"seed": int(members.seed), **(settings_of(thing) or {})}


def read_world(world: World) -> GroupState:
    """Return the numbers of all characters in the order of an update, with what the game wrote."""
    contents = contents_of(world)
    prepare(contents.layout, contents.ground, to_keep=True)
    return read_things(contents.turn)


def _name(key: Any, member: Any) -> Any:
    """Return what a state calls a member of a group; the group has no key if it is all there is."""
    return member if key is None else (key, member)


def read_things(turn: Turn) -> GroupState:
    """Return the numbers of characters by their keys, and of members by two keys each."""
    colliders: dict[Any, Collider] = {}
    rules: dict[Any, Any] = {}
    seed, rows = 0, [np.zeros((0, SAVED.size), np.uint64)]
    for key, thing in turn:
        members = members_of(thing)
        if members is None:
            colliders[key], rules[key] = thing.collider, material_rules_of(thing)
        else:
            names = [_name(key, member) for member in members.keys]
            colliders.update(zip(names, members.colliders, strict=True))
            rules |= {_name(key, member): own for member, own in members.material_rules}
            seed = members.seed if key is None else seed
        rows.append(rows_of(thing).packed())
    return state_of_rows(seed, colliders, rules, np.concatenate(rows))


def lay_out(world: World, things: Things, bodies: Mapping[Any, Collider]) -> set[Any]:
    """Have these things, and no others; return the keys of those that were made anew."""
    try:
        return _lay_out(world, things, bodies)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise ValueError(f"recording must hold things that a world takes: {error}") from error


def _lay_out(world: World, things: Things, bodies: Mapping[Any, Collider]) -> set[Any]:
    contents, made, layout = contents_of(world), set(), []
    for given, settings in things:
        key = checked_key(given)
        thing = contents.things.get(key)
        if thing is None or _settings_of(thing) != settings:
            made.add(key)
            thing = (
                CharacterMovement(world.ground, bodies[key])
                if settings is None
                else _group_on(world, settings)
            )
            thing.max_delta = LONGEST_STEP  # what was recorded was lived
        layout.append((key, thing))
    if len({key for key, _ in layout}) != len(layout):
        raise ValueError("things must have different keys")
    contents.put(tuple(layout))
    return made


def _group_on(world: World, settings: Any) -> CharacterGroup:
    seed = checks.whole("seed", settings["seed"], 0, 2**64 - 1)
    options = {name: settings[name] for name in ("collide", *CrowdOptions._fields)}
    return CharacterGroup(world.ground, seed=seed, **options)


def _members_first(key: Any, names: list[Any]) -> list[Any]:
    """Return the members of a group that come first among names."""
    if key is None:
        return names
    own = takewhile(lambda name: isinstance(name, tuple) and name[0] == key, names)
    return [member for _, member in own]


def put_things(
    turn: Turn, state: GroupState, written: Collection[int], made: Collection[Any]
) -> None:
    """Put characters into a state: those with some numbers, and those made anew."""
    rows, rules = Rows.unpacked(packed_rows(state)), dict(state.material_rules)
    names: list[Any] = list(state.keys)
    end, touched = 0, set(written)
    for key, thing in turn:
        first = end
        known = members_of(thing)
        if known is None:
            end += 1
            if names[first:end] != [key]:
                raise ValueError(f"recording must be of {key!r}, got {names[first:end]}")
            if first in touched or key in made:
                body = state.colliders[first]
                take_over(thing, state_of(rows.at(first), body, rules.get(key, ())))
            continue
        members = _members_first(key, names[first:])
        end += len(members)
        if members != [*known.keys] or key in made or touched.intersection(range(first, end)):
            colliders = dict(zip(members, state.colliders[first:end], strict=True))
            own = {member: rules.get(_name(key, member), ()) for member in members}
            packed = rows.at(slice(first, end)).packed()
            take_over(thing, state_of_rows(known.seed, colliders, own, packed))
    if end != len(names):
        raise ValueError(f"recording must be of its scene, got {names[end:]} beside")
