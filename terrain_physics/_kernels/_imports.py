"""The state of a module: a hash of its source and of the sources of all that it imports.

The machine code of a kernel holds what the kernel calls and the constants that it reads, wherever
these stand. So it is good for one state of its module, and an edit elsewhere leaves it alone.

Imports are read off the text, which is neither run nor parsed: whatever looks like one counts, also
in a function, under ``TYPE_CHECKING`` or in a docstring. Where the text does not tell which modules
are meant, as after ``import package``, the state is that of all sources. So it is where they cannot
be read one by one: in archives, without ``.py`` files, in frozen programs.

A module has the state that it had when Python ran it. Its spec shows that: Python makes a new spec
to run the module again, and until then an edit of its file changes nothing that is loaded.
"""

import hashlib
import importlib.util
import os
import re
import sys
import time
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from terrain_physics._kernels import _sources

_SPACE = rb"(?:\s|\\\r?\n)"
_NAMES = rb"\((?:[^)#]|#[^\n]*)*\)|(?:[^\n\\]|\\\r?\n)*"
_FROM = re.compile(rb"from%b*([.\w \t]+?)%b*\bimport\b%b*(%b)" % (_SPACE, _SPACE, _SPACE, _NAMES))
_PLAIN = rb"import%b+(?:[\w., \t]|\\\r?\n)*?%b"

_WORD = re.compile(r"[\w*]+")
_ALIAS = re.compile(r"\bas\s+\w+")

_BEGAN = time.time()


class _Package(NamedTuple):
    """A followed package."""

    name: str
    text: str
    """Its name in its own sources: they may be imported under another one (``_by_numba.py``)."""
    folder: str


class _UnclearError(Exception):
    """The text does not tell which modules are meant."""


class _ModuleText(NamedTuple):
    """The text of a module."""

    text: bytes
    is_folder: bool
    edited: float


_packages = [
    _Package(str(__package__), str(__package__).removesuffix("_by_numba"), _sources.FOLDER)
]

_states: dict[str, tuple[object, str]] = {}
"""The spec and the state of each module that was asked for."""

_meant: dict[bytes, str] = {
    b"typing": "",
    b"numpy": "",
    b"numpy.typing": "",
    b"collections.abc": "",
}
"""Modules that are not folders, by their names in sources: most are imported often."""


def follow(name: str) -> None:
    """Follow the imports of one more package: its kernels are kept, too."""
    folder = os.path.dirname(str(sys.modules[name].__file__))
    if (package := _Package(name, name, folder)) not in _packages:
        _packages.append(package)


def is_followed(module: str) -> bool:
    """Tell whether a module is in a followed package."""
    return any(module.startswith(f"{package.name}.") for package in _packages)


def state_of(module: str) -> str:
    """Return the state of a module that is being run; raise OSError where it cannot be known."""
    try:
        if not getattr(sys, "frozen", False):
            return _state(module, ())
    except (_UnclearError, FileNotFoundError, NotADirectoryError):
        if os.path.isfile(os.path.join(_sources.FOLDER, "_imports.py")):
            return _state_of_all(*_packages)
    # The kernels know no package that is followed later.
    is_ours = _is_within(module, _packages[0].name)
    return _state_of_all_for_good(*(_packages[:1] if is_ours else _packages))


def _state(name: str, importers: tuple[str, ...]) -> str:
    spec = getattr(sys.modules.get(name), "__spec__", None)
    known_spec, known = _states.get(name, (None, ""))
    if known and known_spec is spec:
        return known
    if name in importers:  # they import each other
        raise _UnclearError(name)
    package = next(package for package in _packages if _is_within(name, package.name))
    source = _read(package.folder, name.removeprefix(package.name))
    if importers and spec is not None and not known and _BEGAN < source.edited < time.time():
        raise PermissionError(f"{name} may have been edited since it was loaded")
    called = package.text + name.removeprefix(package.name)
    parts = [called, hashlib.sha256(source.text).hexdigest()]
    imported = sorted(set(_imported(called, source)))
    parts += [_state(other, (*importers, name)) for other in imported]
    state = hashlib.sha256(repr(parts).encode()).hexdigest()
    _states[name] = spec, state
    return state


def _is_within(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def _read(folder: str, within: str) -> _ModuleText:
    """Read the file of a module, given its folder and its name after that of its package."""
    place = folder + within.replace(".", os.sep)
    is_folder = os.path.isdir(place)
    file = os.path.join(place, "__init__.py") if is_folder else f"{place}.py"
    with open(file, "rb") as opened:
        return _ModuleText(opened.read(), is_folder, os.fstat(opened.fileno()).st_mtime)


def _imported(module: str, source: _ModuleText) -> Iterator[str]:
    """Yield the modules that a source imports from packages that are followed."""
    text = source.text
    for package in _packages:
        top = package.text.partition(".")[0].encode()
        if re.search(_PLAIN % (_SPACE, top), text):
            raise _UnclearError(module)  # everything below a package can be reached by its name
    place, last = 0, text.rfind(b"import")
    while place <= last and (found := _FROM.search(text, place)):  # the text behind it is long
        place, origin = found.end(), found[1]
        if (name := _meant.get(origin)) is None:
            whole = _absolute("".join(origin.decode().split()), module, is_folder=source.is_folder)
            for package in _packages:
                yield from _modules_meant(whole, found[2], package)
        elif name:
            yield name


def _words(names: bytes) -> list[str]:
    return _WORD.findall(_ALIAS.sub("", names.decode(errors="replace")))


def _absolute(origin: str, module: str, *, is_folder: bool) -> str:
    if not origin.startswith("."):
        return origin
    try:
        return importlib.util.resolve_name(
            origin, module if is_folder else module.rpartition(".")[0]
        )
    except ImportError:
        raise _UnclearError(origin) from None


def _modules_meant(origin: str, names: bytes, package: _Package) -> Iterator[str]:
    """Yield the modules of a package that ``from origin import names`` imports."""
    if not _is_within(origin, package.text):
        if _is_within(package.text, origin) and any(
            _is_within(package.text, f"{origin}.{word}") for word in _words(names)
        ):
            raise _UnclearError(package.text)
        return
    within = origin.removeprefix(package.text)
    place = package.folder + within.replace(".", os.sep)
    if not os.path.isdir(place):
        _meant[origin.encode()] = package.name + within
        yield package.name + within
        return
    for word in _words(names):
        if word == "*" or os.path.isdir(os.path.join(place, word)):
            raise _UnclearError(origin)
        is_module = os.path.isfile(os.path.join(place, f"{word}.py"))
        yield f"{package.name}{within}.{word}" if is_module else package.name + within


def _state_of_all(*packages: _Package) -> str:
    """Return the state of all sources; of the program that holds them where it is frozen."""
    import importlib.resources  # here, as it takes as long as a tenth of NumPy

    parts: list[object] = []
    for package in packages:
        # Files of a folder or an archive; PyInstaller hides them inside its executable.
        try:
            found = sorted(_sources_below(importlib.resources.files(package.name)))
        except (FileNotFoundError, NotADirectoryError):
            continue
        for name, file in found:
            parts += name, file.read_bytes()
    if getattr(sys, "frozen", False):
        with open(sys.executable, "rb") as program:
            parts.append(hashlib.file_digest(program, "sha256").digest())
    if not parts:
        raise OSError("no sources")
    return hashlib.sha256(repr(parts).encode()).hexdigest()


_state_of_all_for_good = cache(_state_of_all)
"""The same, remembered: for sources that nobody can edit."""


def _sources_below(folder: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for entry in folder.iterdir():
        if entry.name.endswith((".py", ".pyc")) and entry.is_file():  # .pyc: without its sources
            yield prefix + entry.name, entry
        elif entry.is_dir() and entry.name != "__pycache__":
            yield from _sources_below(entry, f"{prefix}{entry.name}/")
