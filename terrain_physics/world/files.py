"""World files: a ground, all that moves on it, the clock and what the game keeps, in one archive.

A file is a zip archive. ``world.json``, which is stored uncompressed, describes it:

- ``format``: "terrain_physics world"; ``version``: 1; ``state_format`` and ``state_size``: the
  format of states and how many numbers a character has;
- ``things``: the characters and groups in order, with their keys (see ``world/saved.py``), and
  ``bodies``: their colliders, each once;
- ``clock``: ``seconds``, ``max_steps``, and the steps ``owed``, ``dropped`` and ``count``.

``rows.npy`` has a row of numbers for each character, as 64 bits each, and ``extra`` the bytes of
the game. All other members are those of a ``.ground`` file (``surface/ground_files.py``). A file is
checked against limits before memory is reserved for it, and nothing beyond is saved.
"""

import json
import os
import pathlib
import zipfile
from collections.abc import Mapping
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from terrain_physics._kernels.character.state.layout import FORMAT as STATE_FORMAT
from terrain_physics._kernels.character.state.layout import SAVED
from terrain_physics._support import checks
from terrain_physics._support.archives import (
    array_of,
    content_of,
    members_of,
    refuse_other_bytes,
    write_archive,
    write_array,
    write_member,
)
from terrain_physics._support.files import checked_size, file_name, written_whole
from terrain_physics.character.fixed_step import FixedStep, checked_counts, counts_of, put_counts
from terrain_physics.character.group_data import Key
from terrain_physics.character.movement import CharacterMovement
from terrain_physics.character.placement import AnyGround
from terrain_physics.ground.ground import saved_ground
from terrain_physics.surface.ground_files import (
    RefusedError,
    SavedGround,
    damaged_otherwise,
    described,
    ground_in,
    put_ground,
    stored_text,
)
from terrain_physics.tiles.saving.land_content import reference_in
from terrain_physics.world.ground.found import keep_edits_in, loaded_on, tiles_for
from terrain_physics.world.saved import SavedThings, loaded_things, saved_things
from terrain_physics.world.things import Layout, Thing

FORMAT, VERSION = "terrain_physics world", 1

MOST_HEADER_BYTES = 1 << 26
"""Of ``world.json``."""

MOST_ROW_BYTES = 1 << 30
"""Of all rows."""

MOST_EXTRA_BYTES = 1 << 28
"""Of what the game keeps."""

_ABOUT_OWNERS = {"owner", "axes", "read", "write"}
"""Arguments of `CharacterMovement` that no file holds."""

_HEADER, _ROWS, _EXTRA = "world.json", "rows.npy", "extra"


class LoadedWorld(NamedTuple):
    """What a file holds, made anew.

    Attributes
    ----------
    ground : HeightMap, TriangleMesh or Ground
    things : dict of str or int to CharacterMovement or CharacterGroup
        In order.
    clock : FixedStep
    extra : bytes
    """

    ground: AnyGround
    things: dict[Key, Thing]
    clock: FixedStep
    extra: bytes


def save_world(
    path: str | os.PathLike[str],
    ground: AnyGround,
    layout: Layout,
    clock: FixedStep,
    extra: bytes,
) -> None:
    """Write a file; an existing one is replaced only when the new one is complete.

    The caller has taken over what the game wrote.
    """
    name = file_name(path)
    things, saved = saved_things(layout), saved_ground(ground)
    header = {
        "format": FORMAT,
        "version": VERSION,
        "state_format": STATE_FORMAT,
        "state_size": SAVED.size,
        "things": things.about,
        "bodies": things.bodies,
        "clock": _saved_clock(clock),
    }
    content, about = json.dumps(header, allow_nan=False).encode(), described(name, saved)
    _refuse_more(name, len(content), things.rows.nbytes, len(extra))

    def put(archive: zipfile.ZipFile) -> None:
        write_member(archive, _HEADER, content, zipfile.ZIP_STORED)
        write_array(archive, _ROWS, things.rows.astype("<u8", copy=False))
        write_member(archive, _EXTRA, extra, zipfile.ZIP_DEFLATED)
        put_ground(archive, about, saved.parts)

    with written_whole(name) as file:
        write_archive(file, put)


def load_world(
    path: str | os.PathLike[str],
    owners: Mapping[Key, Any],
    tiles: Any = None,
    edits: Any = None,
) -> LoadedWorld:
    """Return what a file holds, anew, or raise ValueError naming the file.

    ``owners`` has owners of characters, or their arguments about them, by key. ``tiles`` and
    ``edits`` are files of a `TiledGround`.
    """
    name = file_name(path)
    checked_size(name)
    with pathlib.Path(name).open("rb") as file:
        ground, header, rows, extra = _contents_of(name, file)
    with damaged_otherwise(name, "world"):
        saved, wanted = SavedThings(header["things"], header["bodies"], rows), reference_in(ground)
    found = tiles_for(wanted, name, tiles)
    with damaged_otherwise(name, "world"):
        clock, made = _loaded_clock(header["clock"]), loaded_on(ground, found)
        things = loaded_things(saved, made)
    if owners:  # only now: what is wrong with them is no damage
        known = _owned(name, owners, things)
        things = loaded_things(saved, made, known)
    keep_edits_in(made, name, edits)
    return LoadedWorld(made, things, clock, extra)


def _owned(
    name: str, owners: Mapping[Key, Any], things: Mapping[Key, Thing]
) -> dict[Key, dict[str, Any]]:
    """Return the arguments of characters about their owners."""
    checks.instance("owners", owners, Mapping)
    characters = [key for key, thing in things.items() if isinstance(thing, CharacterMovement)]
    found = {}
    for key, owner in owners.items():
        if key not in characters:
            raise ValueError(
                f"{name}: owners must be of characters of the file, {checks.shorten(characters)}, "
                f"got {checks.shorten(key)}"
            )
        found[key] = owner if isinstance(owner, dict) else {"owner": owner}
        if not found[key].keys() <= _ABOUT_OWNERS:
            raise TypeError(
                f"owners[{key!r}] must be an owner, or a dict of {', '.join(sorted(_ABOUT_OWNERS))}"
                f", got {checks.shorten(owner)}"
            )
    return found


def _refuse_more(name: str, header: int, rows: int, extra: int) -> None:
    for what, got, limit in (
        (f"bytes of {_HEADER}", header, MOST_HEADER_BYTES),
        ("bytes of rows", rows, MOST_ROW_BYTES),
        ("bytes of extra", extra, MOST_EXTRA_BYTES),
    ):
        if got > limit:
            raise RefusedError(f"{name}: a saved world must have at most {limit} {what}, got {got}")


def _contents_of(name: str, file: BinaryIO) -> tuple[SavedGround, Any, Any, bytes]:
    """Return the saved ground, the header, the rows and the bytes of the game."""
    with damaged_otherwise(name, "world"), zipfile.ZipFile(file) as archive:
        members = members_of(file, archive)
        refuse_other_bytes(file, archive)
        own = [members.pop(member) for member in (_HEADER, _ROWS, _EXTRA)]
        _refuse_more(name, *(member.file_size for member in own))
        header = json.loads(stored_text(archive, own[0]))
        _refuse_others(name, header)
        rows = array_of(archive, own[1], "<u8", 2)
        if rows.shape[1] != SAVED.size:
            raise zipfile.BadZipFile("rows of another format")
        extra = content_of(archive, own[2])
        parts, about = ground_in(name, archive, members)
        ground = SavedGround(about["kind"], parts, about)
    return ground, header, rows.astype(np.uint64), extra


def _refuse_others(name: str, header: Any) -> None:
    """Refuse files of later versions."""
    if header["format"] != FORMAT:
        raise zipfile.BadZipFile
    found = header["version"], header["state_format"], header["state_size"]
    if found != (VERSION, STATE_FORMAT, SAVED.size):
        version, form, size = map(checks.shorten, found)
        raise RefusedError(
            f"{name}: file must be of version {VERSION} with states of format {STATE_FORMAT}, "
            f"{SAVED.size} numbers each, got version {version}, format {form}, {size}: another "
            "version of terrain_physics saved it, and can load it"
        )


def _saved_clock(clock: FixedStep) -> dict[str, Any]:
    """Return a clock for JSON, which knows whole numbers of any size."""
    owed, dropped, count = counts_of(clock)
    about = {"seconds": clock.seconds, "max_steps": clock.max_steps}
    return about | {"owed": owed, "dropped": dropped, "count": count}


def _loaded_clock(about: Any) -> FixedStep:
    clock = FixedStep(about["seconds"], max_steps=about["max_steps"])
    counts = checked_counts(clock, about["owed"], about["dropped"], about["count"])
    put_counts(clock, counts)
    return clock
