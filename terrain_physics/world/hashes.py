"""Hashes of a world: 64 bits for each character and each map, and 16 digits for all of it."""

import hashlib
from collections.abc import Iterable, Iterator
from functools import lru_cache

import numpy as np

from terrain_physics._kernels.types import UInt64s
from terrain_physics.character.group_data import Key, hash_content
from terrain_physics.character.rows import Rows, mixed_hashes
from terrain_physics.surface.ground_state import GroundState, kept_of
from terrain_physics.world.contents import Contents
from terrain_physics.world.ground.map_hashes import MapHash, hash_of
from terrain_physics.world.kept_world import KeptWorld
from terrain_physics.world.things import members_of, rows_of

Name = Key | tuple[Key, Key]
"""Which character: the key of one alone, or the keys of a group and of its member."""

Part = tuple[Key, tuple[Key, ...] | None, Rows]
"""The key of a thing, the keys of its members if it is a group, and its rows."""

Numbers = Iterable[Part]

GroundHash = tuple[str, int | None, int]
"""What is hashed of a ground, the key of a part if it is of one, and 64 bits."""

_NO_HITS = np.zeros((0, 0))


def numbers_now(contents: Contents) -> Iterator[Part]:
    """Give the numbers of a world as they are, to be read at once."""
    for key, thing in contents.layout:
        members = members_of(thing)
        yield key, None if members is None else members.keys, rows_of(thing)


def numbers_of(kept: KeptWorld) -> Iterator[Part]:
    """Give the numbers of a world in a kept state."""
    for (key, _), part in zip(kept.layout, kept.parts, strict=True):
        yield key, part.keys, part.rows


def packed_rows(numbers: Numbers) -> dict[Name, UInt64s]:
    """Return the bits of all numbers of each character, in the order of adding."""
    found: dict[Name, UInt64s] = {}
    for key, members, rows in numbers:
        packed = rows.packed()
        if members is None:
            found[key] = packed[0]
        else:
            found.update(zip([(key, member) for member in members], packed, strict=True))
    return found


def _words_of(parts: list[Part]) -> list[UInt64s]:
    """Return the hashes (n,) of each thing; those of all characters alone are found at once."""
    alone = [rows.saved() for _, members, rows in parts if members is None]
    if alone:
        state, rules, linear, random = (np.concatenate(part) for part in zip(*alone, strict=True))
        rows = Rows(state, rules, linear, random, _NO_HITS)
        words = iter(mixed_hashes(rows).reshape(-1, 1))
    return [next(words) if members is None else mixed_hashes(rows) for _, members, rows in parts]


def hashes_of(numbers: Numbers) -> list[tuple[Name, int]]:
    """Return each character with the hash of its numbers, in the order of adding."""
    found: list[tuple[Name, int]] = []
    parts = list(numbers)
    for (key, members, _), words in zip(parts, _words_of(parts), strict=True):
        names = (key,) if members is None else _names(key, members)
        found += zip(names, words.tolist(), strict=True)
    return found


def state_hash_of(
    numbers: Numbers, seconds: float, extra: bytes, ground: bytes, maps: tuple[MapHash, ...]
) -> str:
    """Return 16 hexadecimal digits of a world whose clock has steps of so many seconds."""
    digest, parts = hashlib.blake2b(digest_size=8), list(numbers)
    contents = [
        (f"{type(key).__name__} {key}", hash_content(members, words))
        for (key, members, _), words in zip(parts, _words_of(parts), strict=True)
    ]
    for name, content in sorted(contents):
        digest.update(f"{name} {len(content)}\n".encode(errors="surrogatepass"))
        digest.update(content)
    digest.update(f"{seconds.hex()} {len(extra)}\n".encode())
    digest.update(extra)
    digest.update(ground)
    if maps:
        digest.update(_maps_content(maps))
    return digest.hexdigest()


@lru_cache(maxsize=256)
def _maps_content(maps: tuple[MapHash, ...]) -> bytes:
    return f"maps {maps}".encode()


def ground_hashes_of(state: GroundState, maps: tuple[MapHash, ...]) -> list[GroundHash]:
    """Return the hash of what `ground_content` tells of a ground, and those of its maps."""
    return [("ground", None, hash_of(ground_content(state))), *maps]


@lru_cache(maxsize=64)
def _names(key: Key, members: tuple[Key, ...]) -> list[Name]:
    return [(key, member) for member in members]


def ground_content(state: GroundState) -> bytes:
    """Return which parts a ground has in a state, where, on which layers, and how they move.

    And how often characters waited for ground, if they did. What maps hold is in hashes of theirs.
    """
    kept = kept_of(state)
    content = b"" if kept.rest is None else bytes(kept.rest.content())
    return content + (f"waits {kept.waits}".encode() if kept.waits else b"")


def places_in(state: GroundState) -> dict[int, tuple[float, ...]]:
    """Return the parts of a ground in a state: key, and rotation and position if it was moved."""
    rest = kept_of(state).rest
    return {} if rest is None else rest.places()


def layers_in(state: GroundState) -> dict[int, int]:
    """Return the layers of the parts of a ground in a state, by key."""
    rest = kept_of(state).rest
    return {} if rest is None else rest.layers
