"""States of worlds as bytes, for a world elsewhere that began in the same way.

The bytes are a mark, a checksum, and deflated: the length of a header, the header as JSON, the rows
of all characters, column by column and byte by byte, the content of the ground's difference (see
``world/ground/difference.py``), and the bytes of the game. A peer is not trusted: everything is
measured and checked.
"""

import hashlib
import json
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, NamedTuple
from weakref import ref

import numpy as np

from terrain_physics._kernels.character.state.layout import FORMAT as STATE_FORMAT
from terrain_physics._kernels.character.state.layout import SAVED
from terrain_physics._kernels.types import UInt64s
from terrain_physics._support import checks
from terrain_physics._support.archives import Pieces
from terrain_physics.character.fixed_step import checked_counts
from terrain_physics.character.frame_time import LONGEST_STEP
from terrain_physics.character.group_data import KeptRows, Key, Members, checked_key
from terrain_physics.character.material_rules import MaterialRules, saved_material_rules
from terrain_physics.character.rows import Rows
from terrain_physics.character.state import KeptNumbers, refuse_unfit
from terrain_physics.group.kept import KeptGroup
from terrain_physics.surface.ground_state import keeper_of, kept_of
from terrain_physics.surface.surface import queries_of
from terrain_physics.world.contents import Contents
from terrain_physics.world.ground.difference import difference_of, put, received, storages_in
from terrain_physics.world.kept_character import KeptCharacter
from terrain_physics.world.kept_world import Kept, KeptWorld
from terrain_physics.world.saved import Bodies, members_in, told_members
from terrain_physics.world.seen import have_seen, look_around_then
from terrain_physics.world.things import Thing, members_of, settings_of

MOST_BYTES = 1 << 26
"""Of a state, unpacked."""

MOST_HEADER_BYTES = 1 << 22
"""Of its header."""

_MARK, _VERSION = b"terrain_physics state 1\n", 2
_SUM_SIZE = 16
_SIZES = struct.Struct("<QQQ")  # of the header, the rows and the ground


class _OtherWorldError(ValueError):
    """Error for a state of another world."""


_DAMAGE = (
    ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError,
    struct.error, zlib.error,
)  # fmt: skip
"""What content of another form may cause."""


# To bytes


def bytes_of(contents: Contents, kept: KeptWorld) -> bytes:
    """Return a state of a world as bytes."""
    ground = contents.ground
    about, pieces = difference_of(ground, kept.ground, contents.beginning)
    seen = kept_of(kept.ground).seen
    bodies, things, rows = Bodies(), [], []
    for (key, thing), part in zip(kept.layout, kept.parts, strict=True):
        own = part.rows.copy()
        look_around_then(own, *seen)
        rows.append(own.packed())
        things.append({"key": key} | _told(thing, part, bodies))
    owed, dropped, count = kept.clock
    header = {
        "state": [_VERSION, STATE_FORMAT, SAVED.size],
        "beginning": contents.beginning.digest(),
        "ground": about,
        "bodies": bodies.saved(),
        "things": things,
        "clock": [kept.seconds, owed, dropped, count],
    }
    text = json.dumps(header, separators=(",", ":"), allow_nan=False).encode()
    numbers = _woven(np.concatenate([np.zeros((0, SAVED.size), np.uint64), *rows]))
    content = b"".join(pieces)
    sizes = _SIZES.pack(len(text), len(numbers), len(content))
    unpacked = b"".join((sizes, text, numbers, content, kept.extra))
    for what, got, limit in (("of header", len(text), MOST_HEADER_BYTES),
                             ("unpacked", len(unpacked), MOST_BYTES)):  # fmt: skip
        if got > limit:
            raise ValueError(f"state must have at most {limit} bytes {what}, got {got}")
    packed = zlib.compress(unpacked)
    return _MARK + _sum(packed) + packed


def _told(thing: Thing, part: Kept, bodies: Bodies) -> dict[str, Any]:
    """Return all of a character or a group beside its rows, for JSON."""
    own: Any = part.kept
    told: dict[str, Any] = {"last": part.seconds}
    if part.keys is None:
        return told | {"body": bodies.number(own.collider), "material_rules": own.material_rules}
    told |= {"settings": _settings(thing), "members": part.keys}
    return told | told_members(own.members, bodies)


def _settings(thing: Thing) -> str:
    """Return what must be equal in things on both sides."""
    collision = settings_of(thing)
    if collision is None:
        return "a character"
    if not collision["collide"]:
        return "collide=False"
    return ", ".join(f"{name}={value}" for name, value in collision.items())


def _woven(rows: UInt64s) -> bytes:
    """Return rows (n, size) column by column and byte by byte: equal numbers are side by side."""
    columns = np.ascontiguousarray(rows.astype("<u8", copy=False).T)
    return columns.view(np.uint8).reshape(*columns.shape, 8).transpose(0, 2, 1).tobytes()


def _unwoven(content: bytes) -> UInt64s:
    """Return the rows that were woven."""
    pieces = np.frombuffer(content, np.uint8).reshape(SAVED.size, 8, -1).transpose(0, 2, 1)
    columns = np.ascontiguousarray(pieces).view("<u8")[:, :, 0]
    return np.ascontiguousarray(columns.T).astype(np.uint64)


def _sum(packed: bytes) -> bytes:
    return hashlib.blake2b(packed, digest_size=_SUM_SIZE).digest()


# From bytes


def kept_from(data: Any, contents: Contents) -> KeptWorld:
    """Return the state of a world that bytes are of, or refuse them; the world stays as it is."""
    try:
        content = bytes(memoryview(data))
    except TypeError:
        given = checks.shorten(data)
        raise TypeError(f"data must be bytes, as from to_bytes, got {given}") from None
    with _damaged_otherwise():
        header, packed, own, extra = _pieces(content)
        _refuse_others(header, contents)
        difference = received(header["ground"], own, contents.ground, contents.beginning)
        things = list(_things(header, packed, contents))
    ground, beginning = contents.ground, contents.beginning

    def change() -> None:
        put(difference, ground, beginning)
        for thing in things:
            colliders, rules, names = thing.checked
            refuse_unfit(thing.rows, colliders, rules, ground, names)
        for thing in things:
            have_seen(thing.rows, queries_of(ground))

    keeper = keeper_of(ground)
    keeper.refuse_inside()
    kept = KeptWorld()
    with _damaged_otherwise((ValueError,)):  # its form is checked: others are no damage
        kept.ground = keeper.imagined(storages_in(beginning), change)
    kept.layout = tuple((thing.key, thing.thing) for thing in things)
    kept.parts = [thing.kept(ground) for thing in things]
    seconds, *counts = header["clock"]
    kept.seconds, kept.clock, kept.extra = seconds, tuple(counts), extra
    return kept


@contextmanager
def _damaged_otherwise(errors: tuple[type[Exception], ...] = _DAMAGE) -> Iterator[None]:
    """Tell of damage where some errors come, by default those of content of another form."""
    try:
        yield
    except _OtherWorldError:
        raise
    except errors as error:
        raise ValueError(f"data must be those of to_bytes, undamaged: {error}") from error


def _pieces(content: bytes) -> tuple[Any, UInt64s, bytes, bytes]:
    """Return the header, the rows, the content of the ground and the bytes of the game."""
    start = len(_MARK) + _SUM_SIZE
    packed = content[start:]
    if not content.startswith(_MARK) or content[len(_MARK) : start] != _sum(packed):
        raise ValueError("another mark or sum")
    unpacking = zlib.decompressobj()
    unpacked = unpacking.decompress(packed, MOST_BYTES)
    if not unpacking.eof or unpacking.unused_data:
        raise ValueError(f"more than {MOST_BYTES} bytes, or less than they say")
    sizes = _SIZES.unpack_from(unpacked)
    ends = [_SIZES.size]
    for size in sizes:
        ends.append(ends[-1] + size)
    if ends[-1] > len(unpacked) or sizes[0] > MOST_HEADER_BYTES or sizes[1] % (8 * SAVED.size):
        raise ValueError("other sizes")
    text, rows, ground = (unpacked[a:b] for a, b in pairwise(ends))
    return json.loads(text), _unwoven(rows), ground, unpacked[ends[-1] :]


def _refuse_others(header: Any, contents: Contents) -> None:
    """Refuse a state of a world that began in another way, or has other things."""
    if header["state"] != [_VERSION, STATE_FORMAT, SAVED.size]:
        raise _OtherWorldError("data must be of this version of terrain_physics")
    if header["beginning"] != contents.beginning.digest():
        raise _OtherWorldError(
            "data must be of a world that began on an equal ground, got one on another ground"
        )
    seconds, owed, dropped, count = header["clock"]
    if seconds != contents.clock.seconds:
        raise _OtherWorldError(
            f"data must be of a world with a clock of {contents.clock.seconds:g} s, "
            f"got {checks.shorten(seconds)} s"
        )
    checked_counts(contents.clock, owed, dropped, count)


class _Received(NamedTuple):
    """A character or a group in a state that was received."""

    key: Key
    thing: Any
    rows: Rows
    members: Members | None  # of a group
    collider: Any
    material_rules: Any
    seconds: float

    @property
    def checked(self) -> tuple[Any, Any, Any]:
        """Bodies, rules for materials and names for errors, one for each row."""
        if self.members is None:
            return (self.collider,), (self.material_rules,), (f"state of {self.key!r}",)
        rules = dict(self.members.material_rules)
        names = [f"state of {(self.key, key)!r}" for key in self.members.keys]
        return self.members.colliders, [rules.get(k, ()) for k in self.members.keys], names

    def kept(self, ground: Any) -> Kept:
        """Return its numbers, to be put back."""
        saved = self.rows.saved()
        if self.members is not None:
            rows = KeptRows(saved, self.members, ref(ground), None)
            return KeptGroup.of(self.thing, self.rows, rows, self.seconds)
        saved = self.rows.at(0).saved()
        numbers = KeptNumbers(saved, self.collider, self.material_rules, ref(ground), None)
        return KeptCharacter.of(self.thing, self.rows, numbers, self.seconds)


def _things(header: Any, packed: UInt64s, contents: Contents) -> Iterator[_Received]:
    """Give the characters and groups of a header, each checked against the world's own."""
    bodies, pieces = Bodies(header["bodies"]), Pieces(packed)
    seen: set[Key] = set()
    for about in header["things"]:
        key = checked_key(about["key"])
        thing: Any = contents.things.get(key)
        _refuse_other_thing(key, thing, about)
        if key in seen:
            raise ValueError("a key twice")
        seen.add(key)
        seconds = checks.between("last", about["last"], 0.0, LONGEST_STEP)
        members, collider = None, None
        rules: MaterialRules = ()
        if members_of(thing) is None:
            collider, count = bodies.at(about["body"]), 1
            rules = saved_material_rules(about["material_rules"])
            if type(collider) is not type(thing.collider):
                raise _OtherWorldError(f"{key!r} must have the same kind of body as there")
        else:
            members = members_in(about, about["members"], bodies)
            count = len(members.keys)
        rows = Rows.unpacked(pieces.take(count))
        yield _Received(key, thing, rows, members, collider, rules, seconds)
    pieces.end()


def _refuse_other_thing(key: Key, thing: Any, about: Any) -> None:
    if thing is None:
        raise _OtherWorldError(
            f"data must be of a world with the same keys, got {checks.shorten(key)}, which this "
            "one has not: add it first"
        )
    settings = about.get("settings", "a character")
    own = _settings(thing)
    if settings != own:
        raise _OtherWorldError(
            f"{key!r} must be the same as there, got {checks.shorten(settings)} for {own}"
        )
