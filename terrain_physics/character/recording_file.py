"""What a recording holds frame by frame, and the file it is kept in."""

import io
import json
import os
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from terrain_physics import _checks
from terrain_physics._kernels.character.layout import FORMAT as STATE_FORMAT
from terrain_physics._kernels.character.layout import SAVED
from terrain_physics._kernels.types import Words
from terrain_physics.character.colliders import Collider, collider_from, described
from terrain_physics.character.frame_time import LONGEST_STEP
from terrain_physics.character.group_data import GroupState, Key, checked_key, packed_rows

FORMAT, VERSION = "terrain_physics recording", 1


@dataclass(frozen=True, slots=True)
class Frame:
    """What the game did before one update, and what came of it."""

    delta_time: float
    left: list[Key]
    bodies: list[tuple[Key, Collider]]  # characters that came or were given another body
    # What was written: to which characters, by number in the order after all that; to which places
    # of a packed row; and which bits.
    rows: NDArray[np.int32]
    places: NDArray[np.int32]
    bits: Words
    hashes: dict[Key, str]


def keys_after(keys: list[Key], left: list[Key], bodies: list[tuple[Key, Collider]]) -> list[Key]:
    """Return the keys in order after some left and some came."""
    gone = set(left)
    kept = dict.fromkeys(key for key in keys if key not in gone)
    return list(kept | dict.fromkeys(key for key, _ in bodies))


def frame_between(
    old: GroupState, new: GroupState, seconds: float, hashes: dict[Key, str]
) -> Frame:
    """Return what the game did to come from one state to the other."""
    numbers = {key: number for number, key in enumerate(old.keys)}
    kept: list[int] = []
    for key in new.keys:  # removed and added again counts as one that came
        number = numbers.get(key, -1)
        if number < 0 or (kept and number < kept[-1]):
            break
        kept.append(number)
    staying = {old.keys[number] for number in kept}
    left = [key for key in old.keys if key not in staying]
    bodies = [
        (key, body)
        for key, body in zip(new.keys, new.colliders, strict=True)
        if key not in staying or body != old.colliders[numbers[key]]
    ]
    base = np.zeros((len(new.keys), SAVED.size), dtype=np.uint64)
    base[: len(kept)] = packed_rows(old)[kept]
    rows = packed_rows(new)
    written, places = np.nonzero(rows != base)
    return Frame(
        seconds,
        left,
        bodies,
        written.astype(np.int32),
        places.astype(np.int32),
        rows[written, places],
        hashes,
    )


def save_frames(path: str | os.PathLike[str], start: dict[Key, str], frames: list[Frame]) -> None:
    """Write a recording: the hashes before the first frame, and the frames."""
    header = {
        "format": FORMAT,
        "version": VERSION,
        "state_format": STATE_FORMAT,
        "state_size": SAVED.size,
        "start": list(start),
        "frames": [
            {"left": f.left, "bodies": [[key, described(body)] for key, body in f.bodies]}
            for f in frames
        ],
    }
    hashes = [*start.values()]
    for frame in frames:
        hashes += frame.hashes.values()
    with open(path, "wb") as file:  # noqa: PTH123 numpy would add a suffix to a path
        np.savez_compressed(
            file,
            header=np.frombuffer(json.dumps(header).encode(), dtype=np.uint8),
            delta_times=np.array([f.delta_time for f in frames], dtype="<f8"),
            counts=np.array([len(f.rows) for f in frames], dtype="<i8"),
            who=_joined([f.rows for f in frames], "<i4"),
            where=_joined([f.places for f in frames], "<i4"),
            bits=_joined([f.bits for f in frames], "<u8"),
            hashes=np.array([int(text, 16) for text in hashes], dtype="<u8"),
        )


def load_frames(path: str | os.PathLike[str]) -> tuple[dict[Key, str], list[Frame]]:
    """Return what was written, or raise ValueError naming the file."""
    content = Path(path).read_bytes()
    try:
        header, arrays = _unpacked_file(content)
        # Files of version 1 that do not name the format of states have the first one.
        form = header.get("state_format", 1)
        found = _version_text(header["version"], form, header["state_size"])
        if found == _VERSION_TEXT:
            return _frames_of(header, arrays)
    except Exception:  # whatever damage leads to
        raise ValueError(f"{os.fspath(path)}: file must be a recording, undamaged") from None
    raise ValueError(
        f"{os.fspath(path)}: recording must be of {_VERSION_TEXT}, got {found}: another version "
        "of terrain_physics saved it, and can replay it"
    )


def _version_text(version: Any, state_format: Any, state_size: Any) -> str:
    return f"version {version} with states of format {state_format}, {state_size} numbers each"


_VERSION_TEXT = _version_text(VERSION, STATE_FORMAT, SAVED.size)


def _unpacked_file(content: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the header and the arrays of a file; raise any error if it is damaged."""
    with zipfile.ZipFile(io.BytesIO(content)) as parts:
        if parts.testzip() is not None:
            raise zipfile.BadZipFile
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    header = json.loads(bytes(arrays["header"]))
    if header["format"] != FORMAT:
        raise ValueError(header["format"])
    return header, arrays


def _frames_of(
    header: dict[str, Any], arrays: dict[str, NDArray[Any]]
) -> tuple[dict[Key, str], list[Frame]]:
    """Return what a file holds; raise any error where its parts do not fit each other."""
    hashes = iter([f"{value:016x}" for value in arrays["hashes"].tolist()])
    keys = [checked_key(key) for key in header["start"]]
    start, frames = {key: next(hashes) for key in keys}, []
    counts = arrays["counts"].tolist()
    end = 0
    for events, seconds, count in zip(
        header["frames"], arrays["delta_times"].tolist(), counts, strict=True
    ):
        left = [checked_key(key) for key in events["left"]]
        bodies = [(checked_key(key), collider_from(parts)) for key, parts in events["bodies"]]
        keys = keys_after(keys, left, bodies)
        own, end = slice(end, end + count), end + count
        rows, places, bits = (arrays[name][own] for name in ("who", "where", "bits"))
        if count and not (
            len(rows) == len(places) == len(bits) == count
            and 0 <= rows.min() <= rows.max() < len(keys)
            and 0 <= places.min() <= places.max() < SAVED.size
        ):
            raise ValueError(count)
        time = _checks.between("delta_time", seconds, 0.0, LONGEST_STEP)
        after = {key: next(hashes) for key in keys}
        frames.append(Frame(time, left, bodies, rows, places, bits, after))
    if next(hashes, None) is not None or end != len(arrays["who"]):
        raise ValueError(end)
    return start, frames


def _joined(parts: list[NDArray[Any]], dtype: str) -> NDArray[Any]:
    return np.concatenate([np.zeros(0, dtype), *parts]).astype(dtype)
