"""All functions of the packages of kernels, lowered: by numba now, or in an earlier build."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from terrain_physics._build import signatures
from terrain_physics._build.build_cache import BuildCache
from terrain_physics._build.llvm import kept_kernels, lowering
from terrain_physics._build.lowered import Entry, Extension, Library, packed
from terrain_physics._build.packages import KernelPackage
from terrain_physics._kernels import _jit


@dataclass(frozen=True)
class Order:
    """What the processes that optimize are told."""

    data: bytes
    extension: Extension | None
    """The extension module that it asks for; None for the code of a function."""


class LoweredFunctions:
    """The orders, those of an extension module after the functions that it is made of."""

    def __init__(self, packages: Sequence[KernelPackage], cache: BuildCache) -> None:
        self._lists = {package: signatures.read(package) for package in packages}
        self._cache = cache
        self._all_kernels = sum(map(len, self._lists.values()))
        self._kernels = self._functions = 0

    @property
    def state(self) -> str:
        """Return how far it is, in words."""
        return (
            f"{self._kernels} of {self._all_kernels} kernels lowered: {self._functions} functions"
        )

    def __iter__(self) -> Iterator[Order]:
        libraries: dict[str, Library] = {}
        new: list[Library] = []

        def take(library: Library) -> None:
            if library.key not in libraries:  # several kernels have brought it from the cache
                libraries[library.key] = library
                new.append(library)

        lowering.hand_on_to(take)
        kept_kernels.keep_in(self._cache)
        with _jit.collecting_rarely():
            for package, lines in self._lists.items():
                digest = package.digest()
                entries: list[Entry] = []
                for line in lines:
                    entries.append(lowering.lower(line, package, f"kernel_{len(entries)}"))
                    self._kernels += 1
                    self._functions += len(new)
                    yield from (Order(packed(library), None) for library in new)
                    new.clear()
                extension = lowering.extension(package, entries, libraries, digest)
                yield Order(packed(extension), extension)
