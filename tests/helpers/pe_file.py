"""Reads what a program or library for Windows is, and what it gives and takes."""

import struct
from pathlib import Path
from typing import NamedTuple

X86_64 = 0x8664
PE32_PLUS = 0x20B
IS_LIBRARY = 0x2000


class PEFile(NamedTuple):
    """The headers and tables of a file."""

    machine: int
    flags: int
    format: int
    exported: list[str]
    imported: dict[str, list[str]]
    """Names of functions by the library they come from, in small letters."""


def read(file: Path) -> PEFile:
    """Read a file with 64-bit tables."""
    data = file.read_bytes()
    assert data[:2] == b"MZ"
    start = _number(data, 0x3C)
    assert data[start : start + 4] == b"PE\0\0"
    machine, section_count = struct.unpack_from("<HH", data, start + 4)
    header_size, flags = struct.unpack_from("<HH", data, start + 20)
    header = start + 24
    sections: list[tuple[int, ...]] = [
        struct.unpack_from("<IIII", data, header + header_size + 40 * number + 8)
        for number in range(section_count)
    ]

    def place(address: int) -> int:
        """Return where in the file lies what is loaded at an address."""
        for size, loaded_at, raw_size, raw_at in sections:
            if loaded_at <= address < loaded_at + max(size, raw_size):
                return address - loaded_at + raw_at
        raise ValueError(f"no section holds {address:#x}")

    def text(address: int) -> str:
        at = place(address)
        return data[at : data.index(b"\0", at)].decode()

    def names(table: int) -> list[str]:
        found = []
        while entry := struct.unpack_from("<Q", data, place(table))[0]:
            found.append(f"#{entry & 0xFFFF}" if entry >> 63 else text(entry + 2))
            table += 8
        return found

    (kind,) = struct.unpack_from("<H", data, header)
    exports, _, imports, _ = struct.unpack_from("<IIII", data, header + 112)
    count, _, list_of_names = struct.unpack_from("<III", data, place(exports) + 24)
    exported = [text(_number(data, place(list_of_names) + 4 * k)) for k in range(count)]
    imported = {}
    while library := _number(data, place(imports) + 12):
        imported[text(library).lower()] = names(_number(data, place(imports)))
        imports += 20
    return PEFile(machine, flags, kind, exported, imported)


def _number(data: bytes, place: int) -> int:
    return int(struct.unpack_from("<I", data, place)[0])
