"""Worlds that are recorded: their characters as rows of one state, and which things there are."""

from collections.abc import Collection, Mapping
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
from terrain_physics.world.things import Thing, prepare
from terrain_physics.world.world import World

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
    if isinstance(thing, CharacterMovement):
        return None
    seed = int(thing._data.seed)  # noqa: SLF001
    return {"seed": seed} | thing._collision()  # noqa: SLF001


def read_world(world: World) -> GroupState:
    """Return the numbers of all characters in the order of an update, with what the game wrote."""
    contents = world._contents  # noqa: SLF001
    prepare(contents.layout, contents.ground, to_keep=True)
    colliders: dict[Any, Collider] = {}
    rules: dict[Any, Any] = {}
    rows = [np.zeros((0, SAVED.size), np.uint64)]
    for key, thing in contents.turn:
        if isinstance(thing, CharacterMovement):
            colliders[key], rules[key] = thing.collider, thing._material_rules()  # noqa: SLF001
            rows.append(thing._row().at(np.newaxis).packed())  # noqa: SLF001
            continue
        members = thing._data.members()  # noqa: SLF001
        names: list[Any] = [(key, member) for member in members.keys]
        colliders.update(zip(names, members.colliders, strict=True))
        rules |= {(key, member): own for member, own in members.material_rules}
        rows.append(thing._data.rows().packed())  # noqa: SLF001
    return state_of_rows(0, colliders, rules, np.concatenate(rows))


def lay_out(world: World, things: Things, bodies: Mapping[Any, Collider]) -> set[Any]:
    """Have these things, and no others; return the keys of those that were made anew."""
    try:
        return _lay_out(world, things, bodies)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise ValueError(f"recording must hold things that a world takes: {error}") from error


def _lay_out(world: World, things: Things, bodies: Mapping[Any, Collider]) -> set[Any]:
    contents, made, layout = world._contents, set(), []  # noqa: SLF001
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


def put_world(
    world: World, state: GroupState, written: Collection[int], made: Collection[Any]
) -> None:
    """Put characters of a world into a state: those with some numbers, and those made anew."""
    rows, rules = Rows.unpacked(packed_rows(state)), dict(state.material_rules)
    names: list[Any] = list(state.keys)
    end, touched = 0, set(written)
    for key, thing in world._contents.turn:  # noqa: SLF001
        first = end
        if isinstance(thing, CharacterMovement):
            end += 1
            if names[first:end] != [key]:
                raise ValueError(f"recording must be of a world with {key!r}")
            if first in touched or key in made:
                body = state.colliders[first]
                thing._take_over(state_of(rows.at(first), body, rules.get(key, ())))  # noqa: SLF001
            continue
        while end < len(names) and isinstance(names[end], tuple) and names[end][0] == key:
            end += 1
        members = [name[1] for name in names[first:end]]
        if members != [*thing] or key in made or touched.intersection(range(first, end)):
            colliders = dict(zip(members, state.colliders[first:end], strict=True))
            own = {name[1]: rules[name] for name in names[first:end] if name in rules}
            packed = rows.at(slice(first, end)).packed()
            seed = thing._data.seed  # noqa: SLF001
            thing._data.take_over(state_of_rows(seed, colliders, own, packed))  # noqa: SLF001
    if end != len(names):
        raise ValueError("recording must be of the characters of its world")
