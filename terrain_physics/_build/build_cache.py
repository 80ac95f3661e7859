"""What earlier builds have made: lowered functions, optimized ones, and machine code.

The name of an entry holds all that it is made from, so that it is never wrong; what cannot be read,
or was damaged, is made anew. The folder lies where compiled kernels are kept. Builds may use it at
the same time: an entry is replaced as a whole, and whoever makes it makes the same.
"""

import contextlib
import hashlib
import os
import sys
import uuid
from functools import cache
from importlib.metadata import version
from pathlib import Path

from terrain_physics._build.platforms import HERE
from terrain_physics._kernels import _cache, _own_files

LIMIT = 300_000_000
"""Bytes that are kept; what was used last stays."""

FOLDER = Path(__file__).parent
"""Where the modules are that decide what is kept: `lowered` and the folder `llvm`."""


@cache
def tools() -> str:
    """Return a hash of what makes machine code: compilers, their settings and our part."""
    found = hashlib.sha256(f"{HERE} {sys.version}\n{_cache.settings()}\n".encode())
    for name in ("numba", "llvmlite", "numpy"):
        found.update(f"{name} {version(name)}\n".encode())
    for file in (FOLDER / "lowered.py", *sorted(FOLDER.glob("llvm/*.py"))):
        found.update(file.read_bytes())
    return found.hexdigest()


class BuildCache:
    """A folder of files, each with its own hash in front."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def _file(self, *parts: str) -> Path:
        name = hashlib.sha256("\n".join([tools(), *parts]).encode()).hexdigest()
        return self._folder / f"{name}.bin"

    def read(self, *parts: str) -> bytes | None:
        """Return what was kept under a name, None if it is to be made."""
        file = self._file(*parts)
        with contextlib.suppress(OSError, RuntimeError):
            stored = _own_files.read(file)
            if hashlib.sha256(stored[32:]).digest() == stored[:32]:
                os.utime(file)
                return stored[32:]
        return None

    def keep(self, content: bytes, *parts: str) -> None:
        """Keep something if it can be; else it is made again next time."""
        file = self._file(*parts)
        part = file.with_suffix(f".{uuid.uuid4().hex}")
        with contextlib.suppress(OSError, RuntimeError):
            if not self._folder.is_dir():
                _own_files.make_folder(self._folder)
            _own_files.refuse_shared(self._folder)
            try:
                _own_files.write_new(part, hashlib.sha256(content).digest() + content)
                part.replace(file)
            finally:
                part.unlink(missing_ok=True)

    def forget_oldest(self) -> None:
        """Keep no more than the limit."""
        with contextlib.suppress(OSError):
            files = [(entry.stat(), entry.path) for entry in os.scandir(self._folder)]
            size = sum(status.st_size for status, _ in files)
            for status, path in sorted(files, key=lambda one: one[0].st_mtime):
                if size <= LIMIT:
                    return
                Path(path).unlink(missing_ok=True)
                size -= status.st_size


def folder() -> Path:
    """Return where builds keep what they have made."""
    return _cache.cache_root() / "builds"
