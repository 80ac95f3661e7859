"""What code is there, and whether it can be kept."""

import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from terrain_physics._kernels import _jit
from terrain_physics._kernels.character.update import update_characters
from terrain_physics._kernels.counter.count import count_chunks
from terrain_physics._kernels.crowd.solver import solve_contact_impulses
from terrain_physics._kernels.heightmap.batch_contacts.find_contacts import find_contacts

from ..renderers.shade import shade

# The code of all scenes takes about half of it.
_ROOM = 100_000_000  # bytes
# The largest of each part: it is compiled last.
_LARGEST: dict[str, tuple[Callable[..., Any], ...]] = {
    "walking": (update_characters,),
    "drawing": (shade,),
    "rest": (count_chunks, find_contacts, solve_contact_impulses),
}


def missing_parts(kind: str) -> list[str]:
    """Return which parts must be compiled before the first step."""
    parts = ["walking", "drawing"] if kind == "software" else ["walking"]
    return [part for part in parts if is_missing(part)]


def is_missing(part: str) -> bool:
    """Tell whether a part is to be compiled: never with machine code from a wheel."""
    return not all(
        _jit.is_cached(kernel) for kernel in _LARGEST[part] if hasattr(kernel, "py_func")
    )


def can_help() -> bool:
    """Tell whether another process of Python can compile for this one."""
    is_python = Path(sys.executable or "").stem.startswith("python")  # not a game
    return is_python and not getattr(sys, "frozen", False)


def why_not_kept() -> str:
    """Return why compiled code cannot be kept, so that each start compiles; nothing if it can."""
    from terrain_physics._kernels import _cache  # which loads numba

    folder = _cache.cache_folder()
    if folder is None:
        return "there is no folder to keep compiled code in"
    reason, place = _cache.why_refused(), _existing(folder)
    try:
        with tempfile.TemporaryFile(dir=place):
            free = shutil.disk_usage(place).free
    except OSError as error:
        reason = reason or f"{place}: {error.strerror}"
    else:
        if free < _ROOM:
            reason = reason or f"{place}: only {free // 1_000_000} MB free"
    return f"compiled code is not kept: {reason}" if reason else ""


def _existing(folder: Path) -> Path:
    while not folder.exists():
        folder = folder.parent
    return folder
