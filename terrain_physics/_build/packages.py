"""The packages whose kernels are compiled ahead of time: the library's, and the demo's renderer."""

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from terrain_physics._kernels import _sources

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class KernelPackage:
    """A package of kernels in this checkout, and the list of those that Python calls."""

    name: str
    listed: Path
    """Its list: see `signatures`."""
    decorators: tuple[str, ...]
    """How the names of its decorators begin."""
    users: str
    """The package whose Python code calls the kernels."""
    may_fuse: tuple[str, ...]
    """Modules and folders that may use fused multiply-add: no bits of answers depend on it."""

    @property
    def place(self) -> str:
        """Return the folder of its extension modules, from that of the checkout."""
        return self.name.replace(".", "/")

    def within(self, name: str) -> str:
        """Return the name of something in the package, without the package's."""
        return name.removeprefix(f"{self.name}.")

    def digest(self) -> str:
        """Return the state of the sources that its machine code is made from."""
        if self.name == _sources.LIBRARY.name:
            return _sources.digest()
        return _sources.digest(import_module(f"{self.name}.compiled").PACKAGE)


LIBRARY = KernelPackage(
    name=_sources.LIBRARY.name,
    listed=Path(__file__).with_name("signatures.txt"),
    decorators=("kernel",),
    users="terrain_physics",
    may_fuse=(".counter.count", ".geometry.point_in_triangle", ".heightmap.batch_contacts"),
)
DEMO = KernelPackage(
    name="demo.renderers",
    listed=Path(__file__).with_name("signatures_of_demo.txt"),
    decorators=("compiled", "by_vectors", "inlined", "uncounted"),
    users="demo",
    may_fuse=("",),  # pictures
)
PACKAGES = (LIBRARY, DEMO)


def package_of(module: str) -> KernelPackage | None:
    """Return the package of kernels that a module is in."""
    return next((one for one in PACKAGES if module.startswith(f"{one.name}.")), None)
