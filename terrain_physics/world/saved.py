"""Characters and groups as plain data: JSON, and a row of numbers for each character."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from terrain_physics._kernels.character.state.layout import MATERIAL_RULES, RULES, SAVED
from terrain_physics._kernels.types import UInt64s
from terrain_physics._support import checks
from terrain_physics._support.archives import Pieces
from terrain_physics.character.colliders import Collider, collider_from, described
from terrain_physics.character.frame_time import LONGEST_STEP
from terrain_physics.character.group_data import (
    GroupState,
    Key,
    Members,
    checked_key,
    state_of_rows,
)
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


class Bodies:
    """Colliders by the numbers that they have in a file, each once."""

    def __init__(self, saved: Iterable[Any] = ()) -> None:
        """Begin with those that `saved` gave elsewhere."""
        self._known: list[Collider] = [collider_from(own) for own in saved]
        self._numbers: dict[Collider, int] = {}

    def number(self, body: Collider) -> int:
        """Return the number of a collider, which may be new."""
        return self._numbers.setdefault(body, len(self._numbers))

    def saved(self) -> list[dict[str, Any]]:
        """Return all that have a number, for JSON."""
        return [described(body) for body in self._numbers]

    def at(self, number: Any) -> Collider:
        """Return the collider of a number."""
        return self._known[checks.whole("body", number, 0, len(self._known) - 1)]


def told_members(members: Members | GroupState, bodies: Bodies) -> dict[str, Any]:
    """Return who is in a group, beside its keys, for JSON."""
    return {
        "seed": int(members.seed),
        "bodies": [bodies.number(body) for body in members.colliders],
        "material_rules": members.material_rules,
    }


def members_in(
    about: Any, keys: Iterable[Any], bodies: Bodies, checked: Callable[[Any], Any] = checked_key
) -> Members:
    """Return who is in a group of which `told_members` told; any error if it is damaged."""
    names, colliders = tuple(map(checked, keys)), tuple(map(bodies.at, about["bodies"]))
    rules = {checked(key): saved_material_rules(own) for key, own in about["material_rules"]}
    if not len({*names}) == len(names) == len(colliders) or not rules.keys() <= {*names}:
        raise ValueError("members must have different keys, and a body each")
    ruled = tuple((key, rules[key]) for key in names if rules.get(key))
    return Members(checks.whole("seed", about["seed"], 0, 2**64 - 1), names, colliders, ruled)


def state_of_members(members: Members, packed: UInt64s) -> GroupState:
    """Return a state of packed rows (n, size), one for each member."""
    colliders = dict(zip(members.keys, members.colliders, strict=True))
    return state_of_rows(members.seed, colliders, dict(members.material_rules), packed)


def saved_things(layout: Layout) -> SavedThings:
    """Return all of characters and groups."""
    bodies, about, rows = Bodies(), [], []
    for key, thing in layout:
        about.append({"key": key} | _saved(thing, bodies))
        own = rows_of(thing).copy()
        look_around(own, queries_of(thing.ground))
        rows.append(own.packed())
    found = np.concatenate([np.zeros((0, SAVED.size), np.uint64), *rows])
    return SavedThings(about, bodies.saved(), found)


def _saved(thing: Any, bodies: Bodies) -> dict[str, Any]:
    told, members = told_of(thing), members_of(thing)
    if members is None:
        return {"kind": "character", **told, "body": bodies.number(thing.collider)}
    own = told_members(members, bodies)
    return {
        "kind": "group",
        **told,
        "body": None if told["body"] is None else bodies.number(told["body"]),
        "rules": RULES.named(told["rules"]),
        "members": members.keys,
        "bodies": own["bodies"],
        "members_material_rules": own["material_rules"],
    }


class _Loading:
    """Makes characters and groups of their saved form, one after another."""

    def __init__(self, saved: SavedThings, ground: AnyGround) -> None:
        self._bodies, self.rows, self._ground = Bodies(saved.bodies), Pieces(saved.rows), ground

    def _next_rows(self, count: int) -> Rows:
        """Return the next rows, of characters that have seen this ground."""
        rows = Rows.unpacked(self.rows.take(count))
        have_seen(rows, queries_of(self._ground))
        return rows

    def character(self, about: Any, owned: Mapping[str, Any]) -> CharacterMovement:
        """Return a character, with arguments about its owner."""
        collider, row = self._bodies.at(about["body"]), self._next_rows(1).at(0)
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
            None if about["body"] is None else self._bodies.at(about["body"]),
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
        own = about | {"material_rules": about["members_material_rules"]}
        members = members_in(own, about["members"], self._bodies)
        take_over(group, state_of_members(members, self._next_rows(len(members.keys)).packed()))
        time_of(group).last = _seconds(about)
        return group


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
    loading.rows.end()
    return things
