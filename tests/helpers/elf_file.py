"""Reads which libraries a module for Linux needs, and how new a glibc."""

import re
import struct
from pathlib import Path
from typing import NamedTuple

X86_64, AARCH64 = 62, 183
_DYNAMIC, _LOADED = 2, 1
_NEEDED, _STRINGS = 1, 5


class ELFFile(NamedTuple):
    """What a file says about itself."""

    machine: int
    imported: list[str]
    glibc: tuple[int, int]
    """The oldest version that has all symbols; (0, 0) if none has a version."""


def read(file: Path) -> ELFFile:
    """Read a file of 64 bits, little-endian."""
    data = file.read_bytes()
    assert data[:6] == b"\x7fELF\2\1"
    (machine,) = struct.unpack_from("<H", data, 18)
    (start,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    headers = [struct.unpack_from("<IIQQQQ", data, start + size * k) for k in range(count)]

    def place(address: int) -> int:
        for kind, _, offset, loaded_at, _, length in headers:
            if kind == _LOADED and loaded_at <= address < loaded_at + length:
                return int(offset + address - loaded_at)
        raise AssertionError(f"nothing is loaded at {address}")

    (dynamic,) = [header for header in headers if header[0] == _DYNAMIC]
    entries = list(struct.iter_unpack("<QQ", data[dynamic[2] : dynamic[2] + dynamic[5]]))
    strings = place(dict(entries)[_STRINGS])
    needed = [_text(data, strings + value) for tag, value in entries if tag == _NEEDED]
    versions = re.findall(rb"\0GLIBC_(\d+)\.(\d+)", data)
    return ELFFile(machine, needed, max(((int(a), int(b)) for a, b in versions), default=(0, 0)))


def _text(data: bytes, start: int) -> str:
    return data[start : data.index(b"\0", start)].decode()
