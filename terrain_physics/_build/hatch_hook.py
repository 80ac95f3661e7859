"""Puts machine code into the wheel that pip makes of the sources: for the very processor here.

It takes some minutes; ``pip wheel -v`` shows how far it is. ``TERRAIN_PHYSICS_NATIVE=0`` asks for a
wheel without machine code, ``=1`` for one with it or an error. Source archives and editable
installations hold none: there numba compiles when a function is first called. Wheels for others are
made by ``python -m terrain_physics._build --all``.
"""

import os
import re
import subprocess
import sys
import sysconfig
import tempfile
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NEEDED = ("numpy>=2.0", "pyglm>=2.8", "platformdirs>=4.0")
"""What modules of kernels import, beside the compilers."""

CHOICE = os.environ.get("TERRAIN_PHYSICS_NATIVE", "")


class MachineCodeHook(BuildHookInterface):  # type: ignore[type-arg]
    """Adds an extension module of each package of kernels to the wheel."""

    def dependencies(self) -> list[str]:
        """Return what must be installed before a wheel is built."""
        if self._why_not_here():
            return []
        pins = self._ours("systems.pins")
        needed = [*pins.COMPILERS, *NEEDED]
        if self._c_compiler() is None:  # the package index has one
            needed.append(pins.ZIG)
        return needed

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make the modules, and tell the wheel about them."""
        if version == "editable":
            return
        if reason := self._why_not_here() or self._what_is_missing():
            if CHOICE == "1":
                raise RuntimeError(f"no machine code can be made: {reason}")
            self.app.display_warning(f"terrain_physics: a wheel without machine code: {reason}")
            return
        modules = self._make()
        build_data["force_include"] |= {str(module): self._place_of(module) for module in modules}
        build_data["pure_python"] = False
        build_data["tag"] = f"cp311-abi3-{self._tag()}"

    def _tag(self) -> str:
        """Return the system in the wheel's name. Pythons for Macs may name two processors."""
        if sys.platform == "darwin":
            own: str = self._platform().tags[0]
            return own
        return re.sub(r"\W", "_", sysconfig.get_platform())

    def _make(self) -> list[Path]:
        self._place = tempfile.TemporaryDirectory()  # until the wheel is written
        command = [sys.executable, "-m", "terrain_physics._build", self._place.name]
        ended = subprocess.run(command, cwd=self.root, check=False)  # noqa: S603
        modules = sorted(Path(self._place.name).rglob("_native_*"))
        if ended.returncode or not modules:
            raise RuntimeError(
                f"machine code could not be made (status {ended.returncode}; the reason is above); "
                "TERRAIN_PHYSICS_NATIVE=0 builds a wheel without"
            )
        return modules

    def _place_of(self, module: Path) -> str:
        """Return where a module goes in the wheel, which has the demo under another name."""
        place = module.relative_to(self._place.name).as_posix()
        return place.replace("demo/", "terrain_physics_demo/", 1)

    def _why_not_here(self) -> str:
        if CHOICE == "0":
            return "TERRAIN_PHYSICS_NATIVE=0"
        if (here := self._platform()) is None or sys.maxsize < 2**32:
            return "it is not made for this kind of system"
        if not here.has_compilers:
            return "the numba that makes it has no wheel for this system"
        if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
            return "it is made for CPython with its lock only"
        return ""

    def _what_is_missing(self) -> str:
        if absent := [name for name in ("numba", "numpy", "pyglm") if find_spec(name) is None]:
            return f"{' and '.join(absent)} must be installed first, as `pip wheel .` does"
        if self._c_compiler() is None:
            return "there is no C compiler"
        missing: str = self._ours("systems.headers").missing()
        return missing

    def _platform(self) -> Any:
        """Return the platform for which machine code is made here; None without one."""
        platforms = self._ours("platforms")
        return platforms.PLATFORMS.get(platforms.HERE)

    def _c_compiler(self) -> Any:
        return self._ours("systems.c_compiler").find(self._ours("platforms").HERE)

    def _ours(self, name: str) -> Any:
        """Import a module that lies beside this file, which is loaded by its path."""
        if self.root not in sys.path:
            sys.path.insert(0, self.root)
        return import_module(f"terrain_physics._build.{name}")
