"""Links machine code with the C code around it, as soon as both are there, in threads."""

from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from terrain_physics._build.lowered import Extension
from terrain_physics._build.platforms import Wanted
from terrain_physics._build.systems.c_compiler import Linker

MODULE = Path(__file__).parents[1] / "module.c"


@dataclass(frozen=True)
class MachineCode:
    """An object file, as it is emitted."""

    place: str
    """The place of its extension module."""
    wanted: Wanted
    content: bytes


@dataclass(frozen=True)
class Module:
    """An extension module that is made."""

    target: str
    place: str
    """Where it goes in a checkout."""
    file: Path


class Linking(AbstractContextManager["Linking"]):
    """The threads that compile C and link; what fails there is raised by `made`."""

    def __init__(self, linkers: Mapping[str, Linker], folder: Path, at_once: int) -> None:
        self._linkers = linkers
        self._folder = folder
        self._threads = ThreadPoolExecutor(at_once)
        self._extensions: dict[str, Extension] = {}
        self._wrappers: dict[tuple[str, str], Future[Path]] = {}
        self._linked: list[Future[Module]] = []

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown(cancel_futures=True)

    def compile(self, extension: Extension) -> None:
        """Begin to compile the C code of an extension, once for each system."""
        self._extensions[extension.place] = extension
        for target, linker in self._linkers.items():
            source = self._folder / f"{extension.place.replace('/', '.')}.{target}.c"
            source.write_text(linker.source_around(extension), encoding="utf-8")
            made = source.with_name(f"{source.name}.o")
            future = self._threads.submit(self._compiled, linker, source, made)
            self._wrappers[extension.place, target] = future

    @staticmethod
    def _compiled(linker: Linker, source: Path, made: Path) -> Path:
        linker.compile(source, made)
        return made

    def link(self, code: MachineCode) -> None:
        """Have machine code linked."""
        self._linked.append(self._threads.submit(self._module, code))

    def _module(self, code: MachineCode) -> Module:
        level, target = code.wanted.level, code.wanted.target
        # A folder for each: linkers put files of their own beside the module.
        folder = self._folder / f"{code.place.replace('/', '.')}.{target}.{level.name}"
        folder.mkdir()
        machine_code = folder / "kernels.o"
        machine_code.write_bytes(code.content)
        module = folder / code.wanted.file
        linker = self._linkers[target]
        wrappers = self._wrappers[code.place, target].result()  # begun earlier, so it ends
        parts = [wrappers, machine_code]
        if linker.is_for_python:
            parts.insert(0, self._around(linker, code, folder))
        linker.link(parts, module, self._extensions[code.place])
        return Module(target, f"{code.place}/{module.name}", module)

    def _around(self, linker: Linker, code: MachineCode, folder: Path) -> Path:
        """Compile what Python finds first."""
        level = code.wanted.level
        name = f"_native_{level.name}"
        defined = [
            *self._extensions[code.place].defined,
            f'PROCESSOR="{level.processor}"',
            f'MODULE_NAME="{name}"',
            f"INIT=PyInit_{name}",
        ]
        if level.processor.startswith("x86-64-v"):
            defined.append(f"X86_64_LEVEL={level.processor[-1]}")
        around = folder / "module.o"
        linker.compile(MODULE, around, defined)
        return around

    @property
    def made(self) -> list[Module]:
        """Return what is linked by now; raise what has failed."""
        for wrapper in self._wrappers.values():
            if wrapper.done():
                wrapper.result()
        return [future.result() for future in self._linked if future.done()]

    def wait(self, tell: Callable[[], None]) -> None:
        """Wait until all is linked; tell how far it is after each module."""
        while not all(future.done() for future in self._linked):
            wait(self._linked, return_when=FIRST_EXCEPTION, timeout=1)
            tell()
        tell()
