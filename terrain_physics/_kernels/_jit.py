"""Compiles kernels with numba: the ``kernel`` decorator and the cache of its machine code.

A kernel is plain Python on float64 scalars and arrays. Its machine code came with the wheel
(``_native.py``). Where it did not, as in a checkout, numba compiles a kernel on first use and the
machine code is kept on disk; without numba, or with ``NUMBA_DISABLE_JIT=1``, the same source runs
as it stands: slower, same results.

The cache differs from numba's own in three ways, each a trap its users fall into:

- numba notices an edited function, not an edited *callee* in another file. Here one folder belongs
  to one state of all kernel sources together (and to the versions of numba, llvmlite and Python,
  and to the processor), so that any edit starts a new folder.
- numba numbers its files through an index that two processes can overwrite for each other. Here
  a file's name is the hash of what it holds, and it is replaced as a whole.
- numba raises when a cached file is cut short or no folder can be written. Here such a file counts
  as missing, and what cannot be written is compiled again next time. So does a file that somebody
  else may have written (``_own_files.py``): loading it runs what it holds.

``numba.config`` is read and never set: it belongs to the whole process, and so to the host game.
"""

import contextlib
import gc
import hashlib
import importlib
import os
import pickle
import shutil
import sys
import time
import uuid
import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar, cast, overload

from terrain_physics._kernels import _native, _own_files, _sources
from terrain_physics._locks import Rank, hold_at_fork

F = TypeVar("F", bound=Callable[..., Any])

native = _native.load()
"""The extension module that holds machine code, None where numba compiles."""

HAS_NUMBA = CAN_CACHE = CAN_NOALIAS = CAN_SKIP_REFCOUNT = False
if native is None:
    try:
        import llvmlite
        import numba
        from llvmlite import binding as llvm
    except Exception as reason:  # a broken numba raises more than ImportError
        if not _native.IS_PLAIN_WANTED:
            warnings.warn(
                f"numba cannot be used ({type(reason).__name__}: {reason}); "
                "terrain_physics runs as plain Python: same results, much slower "
                "(pip install 'terrain-physics[jit]')",
                RuntimeWarning,
                stacklevel=2,
            )
    else:
        HAS_NUMBA = True
if HAS_NUMBA:
    # Private parts, which a later numba may move.
    with contextlib.suppress(ImportError):  # without them kernels run without a cache
        from numba.core.caching import NullCache
        from numba.core.compiler import CompileResult
        from numba.core.serialize import dumps

        CAN_CACHE = True
    with contextlib.suppress(Exception):  # without them kernels are only slower
        from numba.core.cpu import CPUTargetOptions
        from numba.core.options import TargetOptions

        CAN_SKIP_REFCOUNT = hasattr(
            CPUTargetOptions, "_nrt"
        )  # numba refuses others only as it compiles
        CPUTargetOptions.noalias = TargetOptions.Mapping("noalias")
        CAN_NOALIAS = True
    with contextlib.suppress(Exception):  # without it a child forked meanwhile may hang
        from numba.core.compiler_lock import global_compiler_lock

        hold_at_fork(global_compiler_lock, Rank.COMPILER)

_SUFFIXES = (".py", ".pyc")  # .pyc: a package shipped without its sources

UNUSED_SECONDS = 90 * 24 * 3600
"""Age at which the folder of an older state of the sources is deleted."""

# New objects after which Python looks for garbage. numba makes millions of objects and leaves few
# of them behind: with Python's 700 a tenth of the time that it takes to compile goes into that.
_OBJECTS_A_COLLECTION = 10_000


@contextlib.contextmanager
def collecting_rarely() -> Iterator[None]:
    """Have Python look for garbage less often than it does by default, while much is compiled."""
    before = gc.get_threshold()
    if before[0]:  # 0: it is turned off
        gc.set_threshold(max(before[0], _OBJECTS_A_COLLECTION), *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def cache_root() -> Path:
    """Return the folder that holds all cache folders.

    ``TERRAIN_PHYSICS_CACHE_DIR`` wins, then numba's own setting if the user made one, then the
    user's cache folder of the system.
    """
    if chosen := os.environ.get("TERRAIN_PHYSICS_CACHE_DIR"):
        return Path(chosen).absolute()
    if HAS_NUMBA and numba.config.CACHE_DIR:
        return Path(numba.config.CACHE_DIR).absolute() / "terrain_physics"
    import platformdirs

    return Path(platformdirs.user_cache_dir("terrain_physics", appauthor=False))


@cache
def cache_folder() -> Path | None:
    """Return the folder for this state of the sources and this machine.

    None if the state cannot be known or there is no home folder. The folder need not exist yet,
    and may be read-only: an installer can fill one for all users.
    """
    if not CAN_CACHE:
        return None
    settings = ("OPT", "BOUNDSCHECK", "DEBUGINFO_DEFAULT", "LOOP_VECTORIZE", "SLP_VECTORIZE")
    try:
        parts = (
            __package__,
            _source_digest(),
            numba.__version__,
            llvmlite.__version__,
            sys.implementation.cache_tag,
            llvm.get_host_cpu_name(),
            _native.CHECKED,
            *(getattr(numba.config, name, None) for name in settings),
        )
        folder = cache_root() / f"kernels-{_short_hash(parts)}"
    except Exception:  # a game must start under any importer and without a current folder
        return None
    if not folder.is_absolute():  # platformdirs leaves a "~" in place when nobody's home is known
        return None
    with contextlib.suppress(OSError):
        os.utime(folder)  # in use: see `_make_folder`
    return folder


@cache
def _first_folder() -> Path | None:
    """Return the folder for the sources as this process found them first."""
    return cache_folder()


def is_cached(function: Callable[..., Any]) -> bool:
    """Tell whether machine code of this kernel is on disk, so that its first call is quick."""
    if native is not None:
        return True
    folder = cache_folder()
    if folder is None or why_refused():
        return False
    return any(folder.glob(f"{_stem(function)}-*.bin"))


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


@cache
def _scanned_sources() -> dict[str, tuple[int, int]]:
    """Return (time, size) of each source by its path, found once per process.

    Empty where there is no folder to scan, as in an archive: those sources cannot be edited.
    """
    try:
        found = _sources.stats_below(_sources.FOLDER, _SUFFIXES)
        return {path: _time_and_size(stat) for path, stat in found}
    except OSError:
        return {}


def _time_and_size(stat: os.stat_result) -> tuple[int, int]:
    return stat.st_mtime_ns, stat.st_size


def _look_again_if_edited(source: str) -> None:
    """Scan and hash the sources anew if this one was edited since: modules are being reloaded."""
    known = _scanned_sources().get(source)
    with contextlib.suppress(OSError):
        if known is not None and _time_and_size(os.stat(source)) != known:  # noqa: PTH116 quicker
            _scanned_sources.cache_clear()
            cache_folder.cache_clear()


def _source_digest() -> str:
    """Return a hash of all kernel sources; of the program that holds them where it is frozen."""
    import importlib.resources  # here, as it takes as long as a tenth of NumPy

    parts: list[object] = []
    # Files of a folder or an archive; PyInstaller hides them inside its executable.
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        for name, file in sorted(_sources_below(importlib.resources.files(__package__))):
            parts += name, file.read_bytes()
    if getattr(sys, "frozen", False):
        with open(sys.executable, "rb") as program:  # noqa: PTH123 and not where or when it lies
            parts.append(hashlib.file_digest(program, "sha256").digest())
    if not parts:
        raise FileNotFoundError("no kernel sources")
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _sources_below(folder: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for entry in folder.iterdir():
        if entry.name.endswith(_SUFFIXES):
            yield prefix + entry.name, entry
        elif entry.is_dir() and entry.name != "__pycache__":
            yield from _sources_below(entry, f"{prefix}{entry.name}/")


def _short_hash(parts: tuple[object, ...]) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:20]


def _make_folder(folder: Path) -> None:
    """Begin a cache folder, and delete those that no process has used for long."""
    _own_files.make_folder(folder)
    _own_files.refuse_shared(folder)
    for other in folder.parent.glob("kernels-" + "[0-9a-f]" * 20):
        if other.stat().st_mtime < time.time() - UNUSED_SECONDS:
            shutil.rmtree(other, ignore_errors=True)


@cache
def tell_that_it_compiles() -> None:
    """Say on a terminal, once, why nothing happens for a while."""
    if sys.stderr is not None and sys.stderr.isatty():
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write("terrain_physics: compiling once for this machine, up to a minute\n")
            sys.stderr.flush()


if CAN_CACHE:

    class _KernelCache(NullCache):  # type: ignore[misc]  # numba is untyped
        """Keep the machine code of one kernel, one file for each signature.

        numba asks it before it compiles and hands it the result; methods that a later numba
        may add do nothing. Whatever goes wrong here, the kernel is compiled and runs.
        """

        def __init__(
            self, function: Callable[..., Any], folder: Path, *, inside: bool, noinline: bool
        ) -> None:
            self._function = function
            self._folder = folder
            # After an edit and a reload, one name could mean the old code and the new.
            self._noinline = noinline and folder == _first_folder()
            self._stem = _stem(function) + ".inside" * inside
            self._line = function.__code__.co_firstlineno

        @property
        def cache_path(self) -> str:
            return str(self._folder)

        def flush(self) -> None:
            for file in self._folder.glob(f"{self._stem}-*.bin"):
                file.unlink(missing_ok=True)

        def _file(self, signature: object, codegen: Any) -> Path:
            # The magic tuple holds the processor's features as numba was told to use them.
            key = _short_hash((signature, codegen.magic_tuple(), self._line))
            return self._folder / f"{self._stem}-{key}.bin"

        def load_overload(self, signature: object, target_context: Any) -> Any:
            result = None
            with contextlib.suppress(Exception):
                result = self._stored(signature, target_context)
            if result is None:
                tell_that_it_compiles()
            elif self._noinline:
                _set_noinline(self._function, signature, result)
            return result

        def _stored(self, signature: object, target_context: Any) -> Any:
            target_context.refresh()
            stored = _own_files.read(self._file(signature, target_context.codegen()))
            digest, payload = stored[:32], stored[32:]
            if hashlib.sha256(payload).digest() != digest:
                return None
            callees, parts = pickle.loads(payload)  # noqa: S301
            if not all(_is_loaded(*callee) for callee in callees):
                return None
            return CompileResult._rebuild(target_context, *parts)  # noqa: SLF001

        def save_overload(self, signature: object, result: Any) -> None:
            with contextlib.suppress(Exception):
                if not result.library.has_dynamic_globals:  # addresses, valid in this process only
                    self._write(
                        self._file(signature, result.codegen),
                        dumps((_callees(result), result._reduce())),  # noqa: SLF001
                    )
            if self._noinline:
                with contextlib.suppress(Exception):
                    _set_noinline(self._function, signature, result)

        def _write(self, file: Path, payload: bytes) -> None:
            if not self._folder.is_dir():
                _make_folder(self._folder)
            _own_files.refuse_shared(self._folder)
            part = file.with_suffix(f".{uuid.uuid4().hex}")
            try:
                _own_files.write_new(part, hashlib.sha256(payload).digest() + payload)
                part.replace(file)
            finally:
                part.unlink(missing_ok=True)

    _noinline: dict[str, tuple[str, str, object]] = {}
    """Loaded kernels that are ``noinline``: module, name and signature by symbol."""

    def _set_noinline(function: Callable[..., Any], signature: object, result: Any) -> None:
        """Let callers of a kernel call it where it is, instead of copying it into themselves.

        numba links what is called into each caller and optimizes it there once more, through all
        levels. A caller is linked with an empty module instead; the one engine of the process finds
        the symbol among what it has loaded.
        """
        library = result.library
        empty = library.codegen._create_empty_module(library.name)  # noqa: SLF001
        library._shared_module = llvm.parse_assembly(str(empty))  # noqa: SLF001
        symbol = result.fndesc.llvm_func_name
        _noinline[symbol] = function.__module__, function.__name__, signature

    def _callees(result: Any) -> list[tuple[str, tuple[str, str, object]]]:
        """Return what must be loaded before this result: LLVM ends the process where it is not."""
        declared = (f.name for f in result.library._final_module.functions if f.is_declaration)  # noqa: SLF001
        return [(name, _noinline[name]) for name in declared if name in _noinline]

    def _is_loaded(symbol: str, kernel: tuple[str, str, object]) -> bool:
        """Load a kernel from disk if it is not; tell whether it has the name it was called by."""
        if symbol not in _noinline:
            module, name, signature = kernel
            getattr(importlib.import_module(module), name).inner().compile(signature)
        return symbol in _noinline


def compiled_noinline() -> list[tuple[str, str, object]]:
    """Return module, name and signature of the loaded kernels that are ``noinline``."""
    return list(_noinline.values())


def _with_machine_code(function: F) -> F:
    """Return a kernel of the extension module; a function that only kernels call stays as it is."""
    fallback = _native.Fallback(function)
    made = native.kernel(function.__module__, function.__name__, fallback)
    return function if made is None else cast("F", made)


def _is_cacheable(function: Callable[..., Any]) -> bool:
    # The folder's name knows the sources of this package, and nothing of what a closure holds.
    return function.__module__.startswith(f"{__package__}.") and not function.__closure__


def _compile(
    function: F,
    *,
    inline: bool,
    noinline: bool,
    no_refcount: bool,
    holds_gil: bool,
    contract: bool,
    noalias: bool,
) -> F:
    if native is not None:
        return _with_machine_code(function)
    if not HAS_NUMBA:
        return function
    options: dict[str, Any] = {
        "nogil": not holds_gil,
        "error_model": "numpy",
        "forceinline": inline,
        "no_cfunc_wrapper": True,  # for calls from C; a twelfth of the time to compile
        "fastmath": {"contract"} if contract else False,
    }
    if _native.CHECKED:
        options["boundscheck"] = True
    if noalias and CAN_NOALIAS:
        options["noalias"] = True
    if CAN_SKIP_REFCOUNT:
        # Always set: unset, it is that of the kernel that is compiled first.
        options["_nrt"] = not no_refcount
    outer: Any = numba.njit(**options)(function)
    if outer is function:  # NUMBA_DISABLE_JIT=1
        return function
    folder = None
    if _is_cacheable(function):
        _look_again_if_edited(function.__code__.co_filename)
        folder = cache_folder()
    if folder is not None:
        outer._cache = _KernelCache(function, folder, inside=False, noinline=False)  # noqa: SLF001

    @cache
    def inner() -> Any:
        """Return what other kernels call: no wrapper for calls from Python.

        The wrapper takes a quarter of the time to compile, and most kernels are never called so.
        """
        dispatcher = numba.njit(**options, no_cpython_wrapper=True)(function)
        if folder is not None:
            dispatcher._cache = _KernelCache(function, folder, inside=True, noinline=noinline)  # noqa: SLF001
        return dispatcher

    def find(arguments: Any, keywords: Any) -> Any:
        """Compile one version for variables and constants; numba makes one for each constant."""
        wider = tuple(numba.types.unliteral(argument) for argument in arguments)
        keywords = {k: numba.types.unliteral(v) for k, v in keywords.items()}
        return inner().get_call_template(wider, keywords)

    outer.inner = inner
    outer.get_call_template = find
    outer.get_overload = lambda signature: inner().get_overload(signature)
    return cast("F", outer)


@overload
def kernel(function: F, /) -> F: ...
@overload
def kernel(
    *,
    inline: bool = False,
    noinline: bool = False,
    no_refcount: bool = False,
    holds_gil: bool = False,
    contract: bool = False,
    noalias: bool = False,
) -> Callable[[F], F]: ...
def kernel(
    function: F | None = None,
    /,
    *,
    inline: bool = False,
    noinline: bool = False,
    no_refcount: bool = False,
    holds_gil: bool = False,
    contract: bool = False,
    noalias: bool = False,
) -> F | Callable[[F], F]:
    """Compile a function on first use; release the GIL inside; keep the machine code on disk.

    Parameters
    ----------
    function : callable
        Plain Python on scalars, tuples and arrays, by the kernel rules of ARCHITECTURE.md.
    inline : bool
        Always inline into the calling kernel. For small functions of few lines.
    noinline : bool
        Never inline, and compile only once. For large functions: others are compiled again within
        each kernel that calls them, and within the callers of those.
    no_refcount : bool
        Do not count references of arrays: an atomic operation for each, at each call. For functions
        that take arrays, or tuples with arrays, but make none and return none; a caller that is
        ``no_refcount`` itself must not be handed one either. numba refuses to compile one that
        makes some, but not one that calls such a function: that would never free them, since numba
        compiles it in the same way.
    holds_gil : bool
        Keep the GIL. For single questions that take no longer than to give it away and get it
        back.
    contract : bool
        Allow fused multiply-add. Only where every verdict is guarded by an error band.
    noalias : bool
        Promise that no two arrays overlap, so that loops which gather and store are vectorized.
        Only for private stages that write to working memory of their own.
    """
    compiled: Callable[[F], F] = partial(
        _compile,
        inline=inline,
        noinline=noinline,
        no_refcount=no_refcount,
        holds_gil=holds_gil,
        contract=contract,
        noalias=noalias,
    )
    return compiled if function is None else compiled(function)


class CachedDispatch:
    """A kernel called with the same types of arguments always: numba asks for them once.

    Asking takes as long as the rest of a short call, most of it for read-only arrays.
    """

    __slots__ = ("_kernel", "call")

    def __init__(self, kernel: Callable[..., Any]) -> None:
        self._kernel: Any = kernel
        self.call: Callable[..., Any] = self._first

    def _first(self, *arguments: Any) -> Any:
        result = self._kernel(*arguments)
        self.call = known = self._kernel
        with contextlib.suppress(Exception):  # private parts of numba, or plain Python
            self.call = known.overloads[tuple(map(known.typeof_pyval, arguments))].entry_point
        return result
