"""A digest of the sources of kernels: machine code of other sources is wrong for them."""

import hashlib
import os
from collections.abc import Iterator
from typing import NamedTuple

FOLDER = os.path.dirname(__file__)


class NativePackage(NamedTuple):
    """A package of kernels, which may have machine code of its own."""

    name: str
    folders: tuple[str, ...]
    """What holds the sources that its machine code is made from, the package's own first."""


LIBRARY = NativePackage(str(__package__), (FOLDER,))


def stats_below(folder: str, suffixes: tuple[str, ...]) -> Iterator[tuple[str, os.stat_result]]:
    """Yield path and status of each source in a folder and those below it."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(suffixes) and entry.is_file():  # a pipe would keep us waiting
                yield entry.path, entry.stat()
            elif entry.is_dir() and entry.name != "__pycache__":
                yield from stats_below(entry.path, suffixes)


def digest(package: NativePackage = LIBRARY) -> str:
    """Return a hash of the source files; nothing where there are none, as in a frozen program."""
    found = hashlib.sha256()
    for folder in package.folders:
        try:
            files = sorted(path for path, _ in stats_below(folder, (".py",)))
        except OSError:
            return ""
        if not files:
            return ""
        for path in files:
            name = path[len(folder) :].replace(os.sep, "/")
            with open(path, "rb") as file:
                content = file.read()
            found.update(f"{name} {len(content)}\n".encode())
            found.update(content)
    return found.hexdigest()
