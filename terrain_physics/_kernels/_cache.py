"""The cache of machine code that numba makes: a file for each kernel and each list of types.

It differs from numba's own in three ways; each avoids a trap for its users:

- numba notices an edited function, not an edited *callee* in another file. Here a file's name holds
  the state of all sources that the kernel's module imports (``_imports.py``), besides the types, so
  that an edit has the kernels compiled again that it may concern, and no others. One folder belongs
  to the versions of numba, llvmlite and Python, to the processor and to numba's settings.
- numba numbers its files through an index that two processes can overwrite for each other. Here
  a file is found by its name alone, and it is replaced as a whole.
- numba raises when a cached file is cut short or no folder can be written. Here such a file counts
  as missing, and what cannot be written is compiled again next time. So does a file that somebody
  else may have written (``_own_files.py``): loading it runs what it holds.

Files of old states and old versions are deleted when no process has loaded them for long.
"""

import contextlib
import hashlib
import importlib
import os
import pickle
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from terrain_physics._kernels import _imports, _native, _notices, _numba, _own_files

UNUSED_SECONDS = 90 * 24 * 3600
"""Age at which a file is deleted: since it was last loaded, or else written."""


def _why_it_takes_long() -> str:
    if reason := why_refused():
        return f"compiling, about a minute if all is used, at each start: {reason}"
    return "compiling, once on this computer, about a minute if all is used"


_compiling = _notices.Stopwatch(_why_it_takes_long)


def cache_root() -> Path:
    """Return the folder that holds all cache folders.

    ``TERRAIN_PHYSICS_CACHE_DIR`` wins, then numba's own setting if the user made one, then the
    user's cache folder of the system.
    """
    if chosen := os.environ.get("TERRAIN_PHYSICS_CACHE_DIR"):
        return Path(chosen).absolute()
    if _numba.HAS_NUMBA and _numba.numba.config.CACHE_DIR:
        return Path(_numba.numba.config.CACHE_DIR).absolute() / "terrain_physics"
    import platformdirs

    return Path(platformdirs.user_cache_dir("terrain_physics", appauthor=False))


def settings() -> tuple[Any, ...]:
    """Return what numba compiles by, beside the processor."""
    names = ("OPT", "BOUNDSCHECK", "DEBUGINFO_DEFAULT", "LOOP_VECTORIZE", "SLP_VECTORIZE")
    return tuple(getattr(_numba.numba.config, name, None) for name in names)


@cache
def cache_folder() -> Path | None:
    """Return the folder for this numba and this machine.

    None if there is no home folder. The folder need not exist yet, and may be read-only: an
    installer can fill one for all users.
    """
    if not _numba.CAN_CACHE:
        return None
    try:
        parts = (
            __package__,
            _numba.numba.__version__,
            _numba.llvmlite.__version__,
            sys.implementation.cache_tag,
            _numba.binding.get_host_cpu_name(),
            _native.CHECKED,
            *settings(),
        )
        folder = cache_root() / f"kernels-{_short_hash(parts)}"
    except Exception:  # a game must start without a current folder
        return None
    # platformdirs leaves a "~" in place when nobody's home is known
    return folder if folder.is_absolute() else None


def is_cached(function: Callable[..., Any]) -> bool:
    """Tell whether machine code of this kernel is on disk, so that its first call is quick."""
    folder = cache_folder()
    if folder is None or why_refused():
        return False
    try:
        state = _imports.state_of(function.__module__)
    except OSError:
        return False
    kept = folder.glob(f"{_stem(function)}-{_short_hash(state)}*.bin")
    return any(file.is_file() for file in kept)


def why_refused() -> str:
    """Return why the cache folder is not used, nothing if it is."""
    if (folder := cache_folder()) is not None and folder.exists():
        try:
            _own_files.refuse_shared(folder)
        except (OSError, RuntimeError) as reason:  # RuntimeError: nobody knows where home is
            return str(reason)
    return ""


def _stem(function: Callable[..., Any]) -> str:
    return f"{function.__module__.removeprefix(f'{__package__}.')}.{function.__name__}"


def _short_hash(parts: object) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:20]


@cache  # once in a process
def _delete_unused(root: Path) -> None:
    """Delete what no process has loaded for long."""
    oldest = time.time() - UNUSED_SECONDS
    for folder in root.glob("kernels-" + "[0-9a-f]" * 20):
        with contextlib.suppress(OSError):
            is_young = folder.stat().st_mtime >= oldest  # perhaps another process begins it now
            for file in folder.iterdir():
                if file.stat().st_mtime < oldest:
                    file.unlink()
            if not is_young:
                folder.rmdir()  # refused while it holds anything


def keeper(function: Callable[..., Any]) -> Callable[..., None]:
    """Return the function that gives a dispatcher of a kernel its files, for its module as it is.

    That function does nothing where machine code depends on more than sources.
    """
    folder = cache_folder()
    # A closure may hold anything, and so may the imports of a game's own module.
    if folder is None or function.__closure__ or not _imports.is_followed(function.__module__):
        return _keep_nothing
    try:
        state = _imports.state_of(function.__module__)
    except Exception:  # a game must start under any importer
        return _keep_nothing
    # After an edit and a reload, one name could mean the old code and the new.
    is_first = _first_states.setdefault(function.__module__, state) == state

    def keep(dispatcher: Any, *, inside: bool = False, noinline: bool = False) -> None:
        start = f"{_stem(function)}{'.inside' * inside}-{_short_hash(state)}"
        dispatcher._cache = _KernelCache(  # noqa: SLF001
            function, folder, start, noinline=noinline and is_first
        )

    return keep


def _keep_nothing(dispatcher: Any, **_: bool) -> None:
    """Leave a dispatcher without a cache."""


_first_states: dict[str, str] = {}
"""The state of each module when this process first met it."""

_noinline: dict[str, tuple[str, str, object]] = {}
"""Loaded kernels that are ``noinline``: module, name and signature by symbol."""


def compiled_noinline() -> list[tuple[str, str, object]]:
    """Return module, name and signature of the loaded kernels that are ``noinline``."""
    return list(_noinline.values())


if _numba.CAN_CACHE:

    class _KernelCache(_numba.NullCache):  # type: ignore[misc]  # numba is untyped
        """Keep the machine code of one kernel, one file for each signature.

        numba asks it before it compiles and hands it the result; methods that a later numba
        may add do nothing. Whatever goes wrong here, the kernel is compiled and runs.
        """

        def __init__(
            self, function: Callable[..., Any], folder: Path, start: str, *, noinline: bool
        ) -> None:
            self._function = function
            self._folder = folder
            self._start = start
            self._noinline = noinline
            self._line = function.__code__.co_firstlineno

        @property
        def cache_path(self) -> str:
            return str(self._folder)

        def flush(self) -> None:
            for file in self._folder.glob(f"{self._start}*.bin"):
                file.unlink(missing_ok=True)

        def file(self, signature: Any, codegen: Any) -> Path:
            """Return where machine code for these types is kept."""
            fields = tuple(_fields(getattr(signature, "args", signature)))
            # The magic tuple holds the processor's features as numba was told to use them.
            key = _short_hash((signature, fields, codegen.magic_tuple(), self._line))
            return self._folder / f"{self._start}{key}.bin"

        def load_overload(self, signature: Any, target_context: Any) -> Any:
            result = None
            with contextlib.suppress(Exception):
                result = self._stored(signature, target_context)
            if result is None:
                _compiling.begin(self)
            elif self._noinline:
                _set_noinline(self._function, signature, result)
            return result

        def _stored(self, signature: Any, target_context: Any) -> Any:
            target_context.refresh()
            file = self.file(signature, target_context.codegen())
            stored = _own_files.read(file)
            digest, payload = stored[:32], stored[32:]
            if hashlib.sha256(payload).digest() != digest:
                return None
            callees, parts = pickle.loads(payload)  # noqa: S301
            if not all(_is_loaded(*callee) for callee in callees):
                return None
            result = _numba.CompileResult._rebuild(target_context, *parts)  # noqa: SLF001
            with contextlib.suppress(OSError):
                os.utime(file)  # in use: see `_delete_unused`
            return result

        def save_overload(self, signature: Any, result: Any) -> None:
            _compiling.end(self)
            with contextlib.suppress(Exception):
                if not result.library.has_dynamic_globals:  # addresses, valid in this process only
                    self._write(
                        self.file(signature, result.codegen),
                        _numba.dumps((_callees(result), result._reduce())),  # noqa: SLF001
                    )
            if self._noinline:
                with contextlib.suppress(Exception):
                    _set_noinline(self._function, signature, result)

        def _write(self, file: Path, payload: bytes) -> None:
            if not self._folder.is_dir():
                _own_files.make_folder(self._folder)
            _own_files.refuse_shared(self._folder)
            _delete_unused(self._folder.parent)
            part = file.with_suffix(f".{uuid.uuid4().hex}")
            try:
                _own_files.write_new(part, hashlib.sha256(payload).digest() + payload)
                part.replace(file)
            finally:
                part.unlink(missing_ok=True)

    def _fields(kinds: Any) -> Iterator[tuple[str, ...]]:
        """Yield the names of fields: another module may edit those of a tuple that is handed in."""
        for kind in kinds:
            if isinstance(kind, _numba.numba.types.BaseNamedTuple):
                yield tuple(kind.fields)
            yield from _fields(getattr(kind, "types", ()))

    def _set_noinline(function: Callable[..., Any], signature: object, result: Any) -> None:
        """Let callers of a kernel call it where it is, instead of copying it into themselves.

        numba links what is called into each caller and optimizes it there once more, through all
        levels. A caller is linked with an empty module instead; the one engine of the process finds
        the symbol among what it has loaded.
        """
        library = result.library
        empty = library.codegen._create_empty_module(library.name)  # noqa: SLF001
        library._shared_module = _numba.binding.parse_assembly(str(empty))  # noqa: SLF001
        symbol = result.fndesc.llvm_func_name
        _noinline[symbol] = function.__module__, function.__name__, signature

    def _callees(result: Any) -> list[tuple[str, tuple[str, str, object]]]:
        """Return the kernels that must be loaded first: LLVM ends the process if one is missing."""
        declared = (f.name for f in result.library._final_module.functions if f.is_declaration)  # noqa: SLF001
        return [(name, _noinline[name]) for name in declared if name in _noinline]

    def _is_loaded(symbol: str, kernel: tuple[str, str, object]) -> bool:
        """Load a kernel from disk if it is not; tell whether it has the name it was called by."""
        if symbol not in _noinline:
            module, name, signature = kernel
            getattr(importlib.import_module(module), name).inner().compile(signature)
        return symbol in _noinline
