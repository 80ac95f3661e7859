"""Characters and groups as plain data: JSON, and a row of numbers for each character."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from terrain_physics._kernels.character.state.layout import MATERIAL_RULES, RULES, SAVED
from terrain_physics._kernels.types import UInt64s
from terrain_physics._support import checks
from terrain_physics.character.colliders import Collider, collider_from, described
from terrain_physics.character.frame_time import LONGEST_STEP
from terrain_physics.character.group_data import Key, checked_key, state_of_rows
from terrain_physics.character.material_rules import mark_of, saved_material_rules
from terrain_physics.character.movement import CharacterMovement
from terrain_physics.character.placement import AnyGround
from terrain_physics.character.rows import Rows
from terrain_physics.character.state import state_of
from terrain_physics.group.group import CharacterGroup
from terrain_physics.surface.surface import queries_of
from terrain_physics.world.seen import have_seen, look_around
from terrain_physics.world.things import (
    Layout,
    Thing,
    members_of,
    rows_of,
    take_over,
    time_of,
    told_of,
)

_MOST_THREADS = 1024
"""Of a group in a file, which anybody may have written."""


class SavedThings(NamedTuple):
    """Characters and groups in order, with all that they go on from.

    Attributes
    ----------
    about : list of dict
        For each one, for JSON: see `saved_things`.
    bodies : list of dict
        Colliders, each once, for JSON.
    rows : ndarray of uint64, shape (n, size)
        The packed numbers of all characters in order, as `look_around` leaves them.
    """

    about: list[dict[str, Any]]
    bodies: list[dict[str, Any]]
    rows: UInt64s


class _Bodies:
    """Colliders by the numbers that they have in a file."""

    def __init__(self, known: Sequence[Collider] = ()) -> None:
        self._numbers = {body: number for number, body in enumerate(known)}

    def number(self, body: Collider | None) -> int | None:
        return None if body is None else self._numbers.setdefault(body, len(self._numbers))

    def described(self) -> list[dict[str, Any]]:
        return [described(body) for body in self._numbers]


def saved_things(layout: Layout) -> SavedThings:
    """Return all of characters and groups."""
    bodies, about, rows = _Bodies(), [], []
    for key, thing in layout:
        about.append({"key": key} | _saved(thing, bodies))
        own = rows_of(thing).copy()
        look_around(own, queries_of(thing.ground))
        rows.append(own.packed())
    found = np.concatenate([np.zeros((0, SAVED.size), np.uint64), *rows])
    return SavedThings(about, bodies.described(), found)


def _saved(thing: Any, bodies: _Bodies) -> dict[str, Any]:
    told, members = told_of(thing), members_of(thing)
    if members is None:
        return {"kind": "character", **told, "body": bodies.number(thing.collider)}
    return {
        "kind": "group",
        **told,
        "body": bodies.number(told["body"]),
        "rules": RULES.named(told["rules"]),
        "members": members.keys,
        "bodies": [bodies.number(own) for own in members.colliders],
        "members_material_rules": members.material_rules,
    }


class _Loading:
    """Makes characters and groups of their saved form, one after another."""

    def __init__(self, saved: SavedThings, ground: AnyGround) -> None:
        self._bodies = [collider_from(own) for own in saved.bodies]
        self._rows, self._ground, self._end = saved.rows, ground, 0

    def body(self, number: Any) -> Collider:
        return self._bodies[checks.whole("body", number, 0, len(self._bodies) - 1)]

    def next_rows(self, count: int) -> Rows:
        """Return the next rows, of characters that have seen this ground."""
        first, self._end = self._end, self._end + count
        if self._end > len(self._rows):
            raise ValueError("rows must be of all characters")
        rows = Rows.unpacked(self._rows[first : self._end])
        have_seen(rows, queries_of(self._ground))
        return rows

    def character(self, about: Any, owned: Mapping[str, Any]) -> CharacterMovement:
        """Return a character, with arguments about its owner."""
        collider, row = self.body(about["body"]), self.next_rows(1).at(0)
        one = CharacterMovement(
            self._ground,
            collider,
            seed=checks.whole("seed", about["seed"], 0, 2**64 - 1),
            max_delta=about["max_delta"],
            **owned,
        )
        rules = saved_material_rules(about["material_rules"])
        take_over(one, state_of(row, collider, rules))
        time_of(one).last = _seconds(about)
        return one

    def group(self, about: Any) -> CharacterGroup:
        """Return a group with its members."""
        group = CharacterGroup(
            self._ground,
            None if about["body"] is None else self.body(about["body"]),
            threads=_threads(about["threads"]),
            collide=about["collide"],
            heads=about["heads"],
            keep_to=about["keep_to"],
            max_delta=about["max_delta"],
        )
        rules = np.array(RULES.unnamed("rules", about["rules"]))
        by_material = saved_material_rules(about["material_rules"])
        is_allowed = RULES.not_allowed(rules[np.newaxis]) is None
        if not is_allowed or rules[MATERIAL_RULES] != mark_of(by_material):
            raise ValueError("rules must be those of a group")
        group._keep_rules(rules, by_material)  # noqa: SLF001
        keys = [checked_key(key) for key in about["members"]]
        bodies = [self.body(number) for number in about["bodies"]]
        colliders = dict(zip(keys, bodies, strict=True))
        if len(colliders) != len(keys):
            raise ValueError("members must have different keys")
        own = {k: saved_material_rules(one) for k, one in about["members_material_rules"]}
        packed = self.next_rows(len(keys)).packed()
        seed = checks.whole("seed", about["seed"], 0, 2**64 - 1)
        take_over(group, state_of_rows(seed, colliders, own, packed))
        time_of(group).last = _seconds(about)
        return group

    def end(self) -> None:
        """Refuse rows of nobody."""
        if self._end != len(self._rows):
            raise ValueError("rows must be of all characters")


def _threads(threads: Any) -> int | None:
    return None if threads is None else checks.whole("threads", threads, 1, _MOST_THREADS)


def _seconds(about: Any) -> float:
    return checks.between("last", about["last"], 0.0, LONGEST_STEP)


def loaded_things(
    saved: SavedThings, ground: AnyGround, owned: Mapping[Key, Mapping[str, Any]] | None = None
) -> dict[Key, Thing]:
    """Return characters and groups anew; any error if they are damaged.

    ``owned`` has the arguments of characters about their owners, by key.
    """
    loading = _Loading(saved, ground)
    things: dict[Key, Thing] = {}
    for about in saved.about:
        key = checked_key(about["key"])
        if key in things:
            raise ValueError("keys must be different")
        if about["kind"] == "group":
            things[key] = loading.group(about)
        elif about["kind"] == "character":
            known = (owned or {}).get(key)
            try:
                things[key] = loading.character(about, known or {})
            except (TypeError, ValueError) as error:
                if known is None:
                    raise
                raise type(error)(f"owners[{key!r}]: {error}") from error
        else:
            raise ValueError(about["kind"])
    loading.end()
    return things
