"""The data of a group of characters: their keys, their bodies, and their numbers as rows."""

import hashlib
import struct
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, repeat
from typing import Any, NamedTuple, Self, cast
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.character.state import layout as columns
from terrain_physics._kernels.types import Floats, Int64s, UInt64s
from terrain_physics._public import public
from terrain_physics._support import checks
from terrain_physics._support.checks import Floats9
from terrain_physics._support.interruptions import carried_out
from terrain_physics.character.colliders import Collider
from terrain_physics.character.frame_time import FrameTime
from terrain_physics.character.hits import renumber_others
from terrain_physics.character.material_rules import MaterialRules
from terrain_physics.character.placement import AnyGround, refuse_any_too_wide
from terrain_physics.character.rows import Rows, refuse_other_format, wake
from terrain_physics.character.state import (
    CellSizes,
    CharacterState,
    Trusted,
    digits,
    pickled_by_name,
    refuse_other_content,
    refuse_unfit,
    trusted,
    word_from,
)
from terrain_physics.surface.surface import queries_of

Key = str | int

_FIRST_CAPACITY = 16


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


class Members(NamedTuple):
    """Who is in a group: the fields of a `GroupState` beside the rows."""

    seed: int
    keys: tuple[Key, ...]
    colliders: tuple[Collider, ...]
    material_rules: tuple[tuple[Key, MaterialRules], ...]


class KeptRows(NamedTuple):
    """All numbers of a group at a moment, with what its members know of their ground.

    Attributes
    ----------
    saved : tuple of ndarray
        As of `Rows.saved`, of all members in order; nobody writes to them as long as others may put
        them back.
    members : Members
    ground : weak reference
        The ground that it was on.
    fit : tuple of (float, float), or None
        Cell sizes of the ground when an update last found that all bodies fit there.
    """

    saved: tuple[NDArray[Any], ...]
    members: Members
    ground: "ref[AnyGround]"
    fit: CellSizes


@public
@pickled_by_name
@dataclass(frozen=True, slots=True)
class GroupState(Trusted):
    """The exact state of a group, with everything that changes; pickle it, send it, restore it.

    Pickles of another format are refused, as those of `CharacterState`.

    Attributes
    ----------
    seed : int
        The seed of the group.
    keys : tuple of str or int
        The keys of the characters, in order.
    colliders : tuple of colliders
        The bodies before they were placed.
    rows : bytes
        The numbers of each character: the columns of both tables of `CharacterState`, its
        ``linear`` and its ``random_state``, each number as 8 bytes, little-endian. The bytes given
        are copied.
    format : int
        The number of the format, which tells the columns of the rows: 1.
    material_rules : tuple of (str or int, tuple)
        For each character with rules for materials, in order: its key, and its ``material_rules``
        as in `CharacterState`.
    """

    seed: int
    keys: tuple[Key, ...]
    colliders: tuple[Collider, ...]
    rows: bytes
    format: int = columns.FORMAT
    material_rules: tuple[tuple[Key, MaterialRules], ...] = ()

    def __repr__(self) -> str:
        return f"<GroupState: {checks.counted(len(self.keys), 'character')}>"

    def __post_init__(self) -> None:
        """Copy values that the caller may still write to, such as a bytearray."""
        try:
            rows = bytes(memoryview(self.rows))
        except TypeError:
            given = checks.shorten(self.rows)
            raise TypeError(f"rows must be bytes, got {given}") from None
        object.__setattr__(self, "rows", rows)
        Trusted.__post_init__(self)

    def _make(self, name: str) -> None:
        kept: KeptRows = self._kept
        made = {"format": columns.FORMAT, **kept.members._asdict()}
        if name == "rows":
            rows = Rows.of_saved(kept.saved)
            wake(rows.state)  # characters that go on from it do not know this ground
            made = {"rows": rows.packed().astype("<u8", copy=False).tobytes()}
        for field, value in made.items():
            object.__setattr__(self, field, value)

    def to_dict(self) -> dict[str, Any]:
        """Return the state as a dict for JSON, as `CharacterState.to_dict` does.

        Returns
        -------
        dict
        """
        characters = zip(self.keys, self._states(), strict=True)
        return {
            "format": self.format,
            "seed": digits(self.seed),
            "characters": [{"key": key} | state.to_dict() for key, state in characters],
        }

    @classmethod
    def from_dict(cls, content: Any) -> Self:
        """Return the state of a dict that `to_dict` returned.

        Parameters
        ----------
        content : dict

        Returns
        -------
        GroupState

        Raises
        ------
        TypeError, ValueError
            As `CharacterState.from_dict`.
        """
        refuse_other_content(cls.__name__, content, "seed", "characters")
        parts = content["characters"]
        if not isinstance(parts, list) or not all(
            isinstance(part, dict) and "key" in part for part in parts
        ):
            raise ValueError(
                "characters must be a list of dicts with a key, as from to_dict, "
                f"got {checks.shorten(parts)}"
            )
        keys = tuple(part["key"] for part in parts)
        seed = word_from("seed", content["seed"])
        states = [CharacterState.from_dict(part) for part in parts]
        rows = b"".join(
            struct.pack(f"<{len(numbers)}dQ", *numbers, state.random_state)
            for state in states
            for numbers in ([*state.values, *state.rules, *state.linear],)
        )
        rules = tuple(
            (key, state.material_rules)
            for key, state in zip(keys, states, strict=True)
            if state.material_rules
        )
        bodies = tuple(state.collider for state in states)
        return cls(seed, keys, bodies, rows, material_rules=rules)

    def _states(self) -> Iterator[CharacterState]:
        """Give the characters one by one."""
        values = columns.STATE_SIZE
        rules = values + columns.RULES_SIZE
        row, by_key = struct.Struct(f"<{rules + columns.LINEAR_SIZE}dQ"), dict(self.material_rules)
        for key, collider, parts in zip(
            self.keys, self.colliders, row.iter_unpack(self.rows), strict=True
        ):
            linear = cast("Floats9", parts[rules:-1])
            numbers = parts[:values], parts[values:rules], linear, parts[-1]
            yield CharacterState(*numbers, collider, self.format, by_key.get(key, ()))


def checked_key(key: Any) -> Key:
    """Return a key as str or int."""
    if isinstance(key, np.integer):
        return int(key)
    if not isinstance(key, (str, int)) or isinstance(key, bool):
        raise TypeError(f"key must be a str or an int, got {checks.shorten(key)}")
    return key


def checked_keys(keys: Any) -> list[Key]:
    """Return the keys of an iterable, each as str or int."""
    given = keys.tolist() if isinstance(keys, np.ndarray) else keys
    known = list(checks.listed("keys", given))
    return known if {*map(type, known)} <= {str, int} else [checked_key(key) for key in known]


def seed_of(seed: int, key: Key) -> int:
    """Return the seed of one character, which follows from its group's seed and its key alone."""
    return int.from_bytes(_digest(seed, key), "little")


def seeds_of(seed: int, keys: Iterable[Key]) -> UInt64s:
    """Return the seeds (n,) of characters by their keys."""
    digests = b"".join([_digest(seed, key) for key in keys])  # quicker than from a generator
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


def hash_content(members: tuple[Key, ...] | None, words: UInt64s) -> bytes:
    """Return the hashes (n,) of characters as bytes, those of members in an order by their keys."""
    if members is not None:
        names, order = _in_order(members)
        words = np.concatenate([names, words[order]])
    return words.astype("<u8", copy=False).tobytes()


@lru_cache(maxsize=64)
def _in_order(keys: tuple[Key, ...]) -> tuple[UInt64s, Int64s]:
    """Return words that follow from keys alone, in order, and the places of their keys."""
    words = seeds_of(0, keys)
    order = words.argsort()
    return words[order], order


def _digest(seed: int, key: Key) -> bytes:
    name = f"{seed} {type(key).__name__} {key}".encode(errors="surrogatepass")
    return hashlib.blake2b(name, digest_size=8).digest()


def state_of_rows(
    seed: int,
    colliders: dict[Key, Collider],
    material_rules: dict[Key, MaterialRules],
    packed: UInt64s,
) -> GroupState:
    """Return a state of packed rows (n, size), one for each key that has a collider."""
    rows = packed.astype("<u8", copy=False).tobytes()
    rules = tuple((key, material_rules[key]) for key in colliders if material_rules.get(key))
    keys, bodies = tuple(colliders), tuple(colliders.values())
    return GroupState(seed, keys, bodies, rows, material_rules=rules)


def packed_rows(state: GroupState) -> UInt64s:
    """Return the packed rows (n, size) of a state; read-only."""
    return np.frombuffer(state.rows, dtype="<u8").reshape(-1, columns.SAVED.size)


class GroupData:
    """The characters of a group by key: a row of numbers, a collider and rules for materials each.

    It also holds the values that all members share: the ground, the time of updates, and the seed.

    A removed character leaves its row behind until all rows are used next, so that removing many
    characters costs about as much as removing one.

    Attributes
    ----------
    cell_sizes : tuple of (float, float), or None
        Cell sizes of the ground when an update last found that all bodies fit there.
    """

    cell_sizes: CellSizes = None
    # The room, those of its rows that are in use, and the same as flat arrays.
    _shown: tuple[Rows, Rows, Rows] | None = None

    def __init__(self, ground: AnyGround, time: FrameTime, seed: int) -> None:
        self.ground, self.time, self.seed = ground, time, seed
        self._places: dict[Key, int] = {}
        self._colliders: dict[Key, Collider] = {}
        self._material_rules: dict[Key, MaterialRules] = {}  # only of characters that have any
        self._adopted: dict[Key, AdoptedMember] = {}
        self._room = Rows.room(_FIRST_CAPACITY)
        self._end = 0
        self._words: UInt64s | None = None  # computed when asked for
        self._members: Members | None = None  # likewise

    def __getstate__(self) -> dict[str, Any]:
        """Give a copy arrays and tables of its own, on the same ground, without adopted members."""
        content = {"format": columns.FORMAT} | {
            name: value.copy() if isinstance(value, (FrameTime, Rows, dict)) else value
            for name, value in self.__dict__.items()
        }
        return content | {"_adopted": {}, "_members": None, "_shown": None}

    def __setstate__(self, content: dict[str, Any]) -> None:
        refuse_other_format("CharacterGroup", content.pop("format", None))
        self.__dict__.update(content)

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[Key]:
        return iter(tuple(self._places))

    def __contains__(self, key: object) -> bool:
        return (
            not isinstance(key, bool)
            and isinstance(key, (str, int, np.integer))
            and (key in self._places)
        )

    def place(self, key: Any) -> int:
        """Return the row number of a character, or raise KeyError."""
        name = checked_key(key)
        if name not in self._places:
            raise KeyError(f"no character has the key {checks.shorten(name)}")
        return self._places[name]

    def places(self, keys: Sequence[Key]) -> Int64s:
        """Return the row numbers (n,) of some characters, or raise KeyError."""
        if not self._places.keys() >= set(keys):
            list(map(self.place, keys))  # raises for the first missing key
        return np.array([self._places[key] for key in keys], dtype=np.int64)

    def row(self, key: Any) -> Rows:
        """Return a character's numbers, to read and to write; or raise KeyError."""
        return self._room.at(self.place(key))

    def state_row(self, key: Any) -> Floats:
        """Return a character's row of state alone, or raise KeyError."""
        row: Floats = self._room.state[self.place(key)]
        return row

    def collider(self, key: Key) -> Collider:
        """Return a character's body, or raise KeyError."""
        self.place(key)
        return self._colliders[checked_key(key)]

    def keep_collider(self, key: Key, collider: Collider) -> None:
        """Remember a character's body."""
        self._colliders[checked_key(key)], self._members = collider, None

    def material_rules(self, key: Key) -> MaterialRules:
        """Return a character's rules for materials, or raise KeyError."""
        self.place(key)
        return self._material_rules.get(checked_key(key), ())

    def keep_material_rules(self, key: Key, rules: MaterialRules) -> None:
        """Remember a character's rules for materials."""
        self._members = None
        if rules:
            self._material_rules[checked_key(key)] = rules
        else:
            self._material_rules.pop(checked_key(key), None)

    @property
    def has_material_rules(self) -> bool:
        """Whether any character has rules for materials."""
        return bool(self._material_rules)

    def words(self) -> UInt64s:
        """Return the words (n,) of the characters in order; each follows from the key alone."""
        if self._words is None:
            self._words = seeds_of(0, self._places)
        return self._words

    def material_rules_in(self, rows: Int64s) -> list[MaterialRules]:
        """Return the rules for materials of characters that have some, by row numbers."""
        keys = tuple(self._places)
        return [self._material_rules[keys[row]] for row in rows.tolist()]

    def rows(self) -> Rows:
        """Return the rows of all characters in order, to read and to write."""
        self._compact()
        shown, count = self._shown, len(self._places)
        if shown is None or shown[0] is not self._room or len(shown[1].state) != count:
            rows = self._room.at(slice(count))
            self._shown = shown = self._room, rows, rows.flat()
        return shown[1]

    def flat(self, rows: Rows) -> Rows:
        """Return `rows` that were shown as kernels take them: each array of one axis."""
        shown = self._shown
        return shown[2] if shown is not None and shown[1] is rows else rows.flat()

    def room_for(self, count: int) -> Rows:
        """Return rows to write new characters to, which `add` then takes over.

        Hits need not be written, as only the number of hits that the state has is ever read.
        """
        if self._end + count > len(self._room.state):
            self._compact()
            needed = self._end + count
            # Grow unless half is free: a few that come and go must not compact each time.
            if 2 * needed > len(self._room.state):
                room = Rows.room(2 * needed)
                room.at(slice(self._end)).put(self._room.at(slice(self._end)))
                self._room = room
        return self._room.at(slice(self._end, self._end + count))

    def add(self, keys: Sequence[Key], collider: Collider, material_rules: MaterialRules) -> None:
        """Add characters under new keys, with the rows of the last `room_for`."""
        end = self._end + len(keys)
        places = dict(zip(keys, range(self._end, end), strict=True))
        colliders = dict.fromkeys(keys, collider)
        ruled = dict.fromkeys(keys if material_rules else (), material_rules)
        # Nothing is called from here on, so no signal handler comes in between.
        self._places |= places
        self._colliders |= colliders
        self._material_rules |= ruled
        self._end, self._words, self._members = end, None, None

    def welcome(self, key: Key, adopted: AdoptedMember) -> None:
        """Adopt a `CharacterMovement` as the member with a key."""
        self._adopted[key] = adopted

    @property
    def adopted(self) -> Mapping[Key, AdoptedMember]:
        """The adopted members as they are now, by their keys."""
        return self._adopted.copy()

    def adopt_again(self, members: Mapping[Key, AdoptedMember]) -> None:
        """Have these adopted members again, and no others; their rows are to be written anew."""
        known = self._adopted
        self._dismiss([key for key in known if members.get(key) is not known[key]])
        for key, adopted in members.items():
            if key not in known:
                adopted.join_again()
                known[key] = adopted

    def adopt_writes(self) -> None:
        """Take over the values that the game wrote to adopted members.

        An error names the key of the bad value; no member has changed then.
        """
        before = {key: self.row(key).copy() for key in self._adopted}
        try:
            for key, adopted in self._adopted.items():
                checks.named_check(key, adopted.adopt)
        except (TypeError, ValueError):
            for key, row in before.items():
                self.row(key).put(row)
            raise

    def show_adopted(self) -> None:
        """Show the results of an update in the adopted members."""
        for adopted in self._adopted.values():
            adopted.show()

    def _dismiss(self, keys: Iterable[Key]) -> None:
        """Release the adopted members among some keys, with copies of their numbers."""
        for key in keys:
            if key in self._adopted:
                self._adopted[key].leave()
                del self._adopted[key]

    def refuse_known(self, keys: Sequence[Key]) -> None:
        """Refuse keys of which one is already used, or given twice."""
        if len(set(keys)) == len(keys) and self._places.keys().isdisjoint(keys):
            return
        known = set(self._places)
        for key in keys:
            if key in known:
                raise ValueError(f"key must be new, got {checks.shorten(key)} again")
            known.add(key)

    def remove(self, keys: Sequence[Key]) -> None:
        """Remove characters, all or none: raise KeyError, and ValueError for a key twice."""
        self.places(keys)
        if len(set(keys)) < len(keys):
            ((key, _),) = Counter(keys).most_common(1)
            raise ValueError(f"keys must be different, got {checks.shorten(key)} twice")
        carried_out(lambda: self._drop(keys))

    def _drop(self, keys: Sequence[Key]) -> None:
        """Remove those that are still there."""
        self._dismiss(keys)
        tables: list[dict[Key, Any]] = [self._places, self._colliders, self._material_rules]
        removing = chain(*(map(table.pop, keys, repeat(None)) for table in tables))
        self._words = self._members = None
        list(removing)  # one call of C, in which no signal handler runs

    def members(self) -> Members:
        """Return who is in the group; the same object until that changes."""
        if self._members is None:
            own = self._material_rules
            rules = tuple((key, own[key]) for key in self._places if key in own)
            bodies = tuple(self._colliders.values())
            self._members = Members(self.seed, tuple(self._places), bodies, rules)
        return self._members

    def kept_in(self, rows: Rows) -> KeptRows:
        """Write all numbers to rows of a kept state, without hits, and return all that it is."""
        rows.put_saved(self.rows().saved())
        return self._kept(rows.saved())

    def _kept(self, saved: tuple[NDArray[Any], ...]) -> KeptRows:
        """Return all that the group is, of copies of its numbers."""
        saved[0][:, columns.HITS].fill(0.0)
        return KeptRows(saved, self.members(), ref(self.ground), self.cell_sizes)

    def put_back(self, kept: KeptRows, seconds: float | None = None) -> None:
        """Go on from numbers on this ground, unchecked, with the members of that time."""
        self.put_numbers(kept, seconds)
        for show in self.shows():
            show()

    def put_numbers(self, kept: KeptRows, seconds: float | None) -> None:
        """Go on from numbers on this ground, which are yet to be shown in adopted members.

        ``seconds`` are those of the last update before they were kept.
        """
        carried_out(lambda: self._take_numbers(kept, seconds))

    def _take_numbers(self, kept: KeptRows, seconds: float | None) -> None:
        if kept.members is not self._members:
            self._take_members(kept.members)
        if kept.fit != self.cell_sizes:
            self.cell_sizes = None
        if seconds is not None:
            self.time.last = seconds
        self.rows().put_saved(kept.saved)

    def shows(self) -> list[Callable[[], None]]:
        """Return what shows numbers that were put back in each adopted member."""
        return [adopted.show_restored for adopted in self._adopted.values()]

    def state_of(self, rows: Rows) -> GroupState:
        """Return the state of the group with ``rows`` of all characters in order."""
        return state_of_rows(self.seed, self._colliders, self._material_rules, rows.packed())

    def state(self) -> GroupState:
        """Return the state of the group."""
        return trusted(GroupState, self._kept(self.rows().copies()))

    def restore(self, state: Any) -> None:
        """Go on from a state: one of this process and this ground as it is, others checked."""
        self.time.refuse_in_update()
        kept = state._kept if isinstance(state, GroupState) else None  # noqa: SLF001
        if kept is not None and kept.ground() is self.ground:
            if kept.fit != queries_of(self.ground).cell_sizes:  # maps were added or removed
                refuse_any_too_wide(self.ground, kept.saved[1], _names(kept.members.keys))
            self.put_back(kept)
        else:
            self.take_over(state)
            wake(self.rows().state)

    def take_over(self, state: Any) -> None:
        """Check a state, and go on from it as if it had always been this group's.

        An error names the first key with bad values.
        """
        if not isinstance(state, GroupState):
            raise TypeError(f"state must be a GroupState, got {checks.shorten(state)}")
        refuse_other_format("state", state.format)
        keys, count = tuple(checked_key(key) for key in state.keys), len(state.keys)
        if len(set(keys)) != count or len(state.colliders) != count:
            raise ValueError("state must hold one collider for each key, and no key twice")
        width = columns.SAVED.size
        if len(state.rows) != 8 * width * count:
            raise ValueError(
                f"state must hold {8 * width} bytes for each of {count} keys, got {len(state.rows)}"
            )
        seed = checks.whole("seed", state.seed, 0, 2**64 - 1)
        rows = Rows.unpacked(packed_rows(state))
        names = _names(keys)
        material_rules = _by_key(state.material_rules, keys)
        own_rules = [material_rules.get(key, ()) for key in keys]
        refuse_unfit(rows, state.colliders, own_rules, self.ground, names)
        ruled = tuple((key, own) for key, own in zip(keys, own_rules, strict=True) if own)
        members = Members(seed, keys, tuple(state.colliders), ruled)

        def take() -> None:
            self._take_members(members)
            self._room = Rows.room(max(count, _FIRST_CAPACITY))  # without hits, whatever was there
            self.rows().put_saved(rows.saved())

        carried_out(take)
        for show in self.shows():
            show()

    def _take_members(self, members: Members) -> None:
        """Make the group one of these members, whose rows are to be written anew."""
        self._dismiss(self._adopted.keys() - set(members.keys))
        count = len(members.keys)
        room = self._room if count <= len(self._room.state) else Rows.room(count)
        places = {key: row for row, key in enumerate(members.keys)}
        colliders = dict(zip(members.keys, members.colliders, strict=True))
        material_rules = dict(members.material_rules)
        self._places, self._colliders, self._material_rules = places, colliders, material_rules
        self.seed, self._room, self._end = members.seed, room, count
        self._words, self._members = None, members

    def _compact(self) -> None:
        """Close the gaps that removed characters left."""
        count = len(self._places)
        if self._end == count:
            return
        kept = np.fromiter(self._places.values(), dtype=np.int64, count=count)
        room = Rows.room(len(self._room.state))
        room.at(slice(count)).put(self._room.at(kept))
        renumber_others(room.hits[:count], kept, self._end)
        places = {key: row for row, key in enumerate(self._places)}
        self._room, self._places, self._end = room, places, count


def _names(keys: Iterable[Key]) -> list[str]:
    """Return what errors call the states of characters."""
    return [f"state of {key!r}" for key in keys]


def _by_key(material_rules: Any, keys: tuple[Key, ...]) -> dict[Key, Any]:
    """Return a state's rules for materials by key, unchecked."""
    try:
        given = dict(material_rules)
    except (TypeError, ValueError):
        given = {None: ()}
    if not given.keys() <= set(keys):
        raise ValueError(
            "material_rules must be pairs of a key of the state and its rules, "
            f"got {checks.shorten(material_rules)}"
        )
    return given
