"""The kernels once more, compiled by numba, beside the machine code that came with the wheel.

They serve types of arguments that the wheel has no machine code for. numba cannot call a compiled
function of the wheel. So the sources are imported again, as a package of another name that refers
to itself.
"""

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import find_spec, spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from terrain_physics._kernels import _memory
from terrain_physics._kernels._sources import NativePackage


def compiled(function: Callable[..., Any], package: NativePackage) -> Callable[..., Any] | None:
    """Return a kernel as numba compiles it; None without numba, or without sources."""
    finder = _Finder(package)
    module = function.__module__.replace(package.name, finder.name)
    try:
        if find_spec("numba") is None:
            return None
        if not any(map(finder.is_same, sys.meta_path)):
            sys.meta_path.insert(0, finder)  # others would find the sources as they are
        made: Callable[..., Any] = getattr(import_module(module), function.__name__)
    except Exception as reason:  # a frozen program or a broken numba
        _memory.refuse_without_memory("numba", reason)
        return None
    return made


class _Finder(MetaPathFinder):
    """Finds sources only, so that no machine code of the wheel is found from there."""

    def __init__(self, package: NativePackage) -> None:
        self._package = package
        self.name = f"{package.name}_by_numba"

    def is_same(self, other: object) -> bool:
        """Tell whether another one finds the same package."""
        return isinstance(other, _Finder) and other.name == self.name

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        if fullname != self.name and not fullname.startswith(f"{self.name}."):
            return None
        place = Path(self._package.folders[0], *fullname.removeprefix(self.name).split(".")[1:])
        is_folder = place.is_dir()
        file = place / "__init__.py" if is_folder else place.with_suffix(".py")
        if not file.is_file():
            return None
        loader = _Loader(fullname, str(file))
        loader.renamed = self._package.name, self.name
        folders: list[str] | None = [] if is_folder else None
        return spec_from_file_location(
            fullname, file, loader=loader, submodule_search_locations=folders
        )


class _Loader(SourceFileLoader):
    renamed: tuple[str, str]
    """The package's own name, and that of its copy."""

    def get_code(self, fullname: str) -> CodeType:
        """Compile the source with the package's other name; leave the original's bytecode alone."""
        path = self.get_filename(fullname)
        source = self.get_data(path).decode().replace(*self.renamed)
        code: CodeType = self.source_to_code(source.encode(), path)
        return code
