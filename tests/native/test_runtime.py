"""What kernels need of numba's runtime, the wheel's own has: else no wheel could be linked.

numba's JIT takes whatever it has itself, so only the machine code that it keeps can tell.
"""

import re
from functools import cache
from pathlib import Path

import pytest

from terrain_physics import HeightMap
from terrain_physics._kernels import _imports
from terrain_physics._kernels._jit import HAS_NUMBA
from tests.helpers.environments import ROOT

pytestmark = pytest.mark.skipif(not HAS_NUMBA, reason="nothing is compiled")

IN_EACH_MODULE = {"NRT_incref", "NRT_decref"}
"""What numba writes into the code of kernels."""
OF_WRAPPERS = {
    "NRT_adapt_ndarray_from_python",
    "NRT_adapt_ndarray_to_python_acqref",
    "numba_adapt_ndarray",
    "numba_do_raise",
    "numba_runtime_build_excinfo_struct",
    "numba_unpickle",
}
"""What takes arguments from Python and gives it results: wheels have wrappers of their own."""


@cache
def defined() -> set[str]:
    """Return the functions of the wheel's runtime."""
    text = (ROOT / "terrain_physics/_build/memory.c").read_text(encoding="utf-8")
    return set(re.findall(r"\b((?:NRT|numba)_\w+)\(", text))


def unknown(code: bytes, known: set[str]) -> set[str]:
    """Return the functions of numba that machine code names and that are not known.

    Behind a name other letters may stand in the file.
    """
    names = {name.decode() for name in re.findall(rb"\b(?:NRT|numba)_[a-zA-Z0-9_]+", code)}
    return {name for name in names if not name.startswith(tuple(known))}


@cache
def start_of(stem: str) -> str:
    """Return how names of files of a kernel begin while its sources are as they are now."""
    from terrain_physics._kernels import _cache

    module = stem.removesuffix(".inside").rpartition(".")[0]
    full = module if module.startswith("demo.") else f"terrain_physics._kernels.{module}"
    try:
        return f"{stem}-{_cache._short_hash(_imports.state_of(full))}"
    except (OSError, StopIteration):
        return "gone"


def kept() -> list[Path]:
    """Return the files of machine code of kernels as they are now."""
    from terrain_physics._kernels import _cache

    folder = _cache.cache_folder()
    files = folder.glob("*.bin") if folder else ()
    return [file for file in files if file.name.startswith(start_of(file.name.partition("-")[0]))]


def test_kernels_need_no_more_than_the_wheel_has() -> None:
    assert HeightMap([[0, 0], [0, 0]]).height_at(0.5, 0.5) == 0.0  # is compiled
    files = kept()
    assert files
    for file in files:
        known = defined() | IN_EACH_MODULE
        if ".inside-" not in file.name:
            known |= OF_WRAPPERS
        lacking = unknown(file.read_bytes(), known)
        assert not lacking, f"{file.name.partition('-')[0]} needs {lacking}: no wheel can be built"


def test_what_is_missing_is_found() -> None:
    code = b"\0NRT_incref\0numba_attempt_nocopy_reshape\0NRT_MemInfo_alloc_aligned22\0"
    assert unknown(code, defined() | IN_EACH_MODULE) == {"numba_attempt_nocopy_reshape"}
