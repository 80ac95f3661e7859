"""Reads which libraries a module for macOS needs, and whether its signature holds."""

import hashlib
import struct
from pathlib import Path
from typing import NamedTuple

X86_64, ARM64 = 0x01000007, 0x0100000C
_MAGIC, _LIBRARY = 0xFEEDFACF, 6
_LOADS, _OWN_NAME, _SIGNATURE, _SYSTEM = 0xC, 0xD, 0x1D, 0x32
_DIRECTORY_OF_PAGES, _AD_HOC = 0xFADE0C02, 2


class MachOFile(NamedTuple):
    """What a file says about itself."""

    machine: int
    name: str
    imported: list[str]
    oldest: tuple[int, int]
    """The oldest macOS."""
    is_signed: bool
    """Whether each page has the hash of an ad-hoc signature: Macs with ARM load no other."""


def read(file: Path) -> MachOFile:
    """Read a library of 64 bits."""
    data = file.read_bytes()
    magic, machine, _, kind, count = struct.unpack_from("<IIIII", data)
    assert (magic, kind) == (_MAGIC, _LIBRARY)
    place, name, imported, oldest, is_signed = 32, "", [], (0, 0), False
    for _ in range(count):
        command, size = struct.unpack_from("<II", data, place)
        (first,) = struct.unpack_from("<I", data, place + 8)
        text = data[place + first : place + size].split(b"\0")[0]
        if command & 0xFF == _LOADS:
            imported.append(text.decode())
        elif command == _OWN_NAME:
            name = text.decode()
        elif command == _SIGNATURE:
            is_signed = _holds(data, first)
        elif command == _SYSTEM:
            (version,) = struct.unpack_from("<I", data, place + 12)
            oldest = version >> 16, version >> 8 & 0xFF
        place += size
    return MachOFile(machine, name, imported, oldest, is_signed)


def _holds(data: bytes, start: int) -> bool:
    """Tell whether the signature that begins here has the hashes of all pages."""
    (blobs,) = struct.unpack_from(">I", data, start + 8)
    for k in range(blobs):
        at = start + struct.unpack_from(">I", data, start + 16 + 8 * k)[0]
        numbers = struct.unpack_from(">9I4B", data, at)
        if numbers[0] == _DIRECTORY_OF_PAGES:
            flags, hashes, pages, limit, size, log = (numbers[k] for k in (3, 4, 7, 8, 9, 12))
            return bool(flags & _AD_HOC) and all(
                hashlib.sha256(data[k << log : min((k + 1) << log, limit)]).digest()
                == data[at + hashes + k * size : at + hashes + (k + 1) * size]
                for k in range(pages)
            )
    return False
