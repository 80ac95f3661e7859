"""Entries in C that stand in for methods of Python in the usual case: see ``_build/quick/``."""

import copyreg
import hashlib
import os
from operator import attrgetter
from types import MethodType
from typing import Any

from terrain_physics._kernels._jit import native
from terrain_physics._kernels._sources import FOLDER
from terrain_physics._locks import plain_lock

_SOURCES = os.path.join(os.path.dirname(FOLDER), "_build", "quick")  # noqa: PTH118, PTH120 quicker


def source() -> str:
    """Return the C source of the entries, which lies in a checkout; none in a wheel."""
    parts = []
    try:
        for name in ("basics", "characters", "groups", "questions", "moves", "entries"):
            with open(os.path.join(_SOURCES, f"{name}.c"), encoding="utf-8") as file:  # noqa: PTH118, PTH123 quicker
                parts.append(file.read())
    except OSError:
        return ""
    return "\n".join(parts)


def digest() -> str:
    """Return a hash of that source; nothing where there is none."""
    text = source()
    return hashlib.sha256(text.encode()).hexdigest() if text else ""


_CODE: Any = native if native is not None and digest() in {"", native.QUICK} else None
"""The machine code, if it has these very entries."""

_lock = plain_lock()

OF_PYTHON = _lock.acquire, _lock.release, MethodType
"""What entries know of Python: how any lock is taken and given back, and a method is bound."""


def put_entries(kept: tuple[Any, ...], *methods: tuple[type, str]) -> None:
    """Have entries stand in for methods, if there are any.

    They serve the usual case, and call the methods in all others. What is ``kept`` for them, C
    lists in the same order.
    """
    for kind, name in methods if _CODE else ():
        entry = _CODE.quick(name, vars(kind)[name], kept)
        copyreg.pickle(type(entry), attrgetter("__qualname__"))  # copies and pickles as a function
        setattr(kind, name, entry)


def tell_of(kinds: str, *parts: Any) -> None:
    """Tell the entries how "maps", "meshes" or "parts" are made, also in the order of C."""
    if _CODE:
        _CODE.quick(kinds, None, parts)


def slots(kind: type, *names: str) -> list[Any]:
    """Return the descriptors of a class's slots."""
    return [getattr(kind, name) for name in names]
