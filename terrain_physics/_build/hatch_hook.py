"""Puts machine code into the wheel where it can be made: on Linux, x86-64, with a C compiler.

It takes some minutes. ``TERRAIN_PHYSICS_NATIVE=0`` asks for a wheel without, ``=1`` for none but
one with it. Source archives and editable installations never hold any: there numba compiles when a
function is first called.
"""

import os
import platform
import subprocess
import sys
import sysconfig
import tempfile
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

COMPILERS = ["numba==0.68.1", "llvmlite==0.50.0", "numpy>=2.0"]
"""What compiles: one version, for which the suite has shown the same bits on each level."""

C_COMPILER = "ziglang==0.17.1"
"""A C compiler from the package index, for where the system has none."""

CHOICE = os.environ.get("TERRAIN_PHYSICS_NATIVE", "")


class MachineCodeHook(BuildHookInterface):  # type: ignore[type-arg]
    """Adds an extension module for each level of x86-64 processors to the wheel."""

    def dependencies(self) -> list[str]:
        """Return what must be installed before a wheel is built."""
        if _why_not_here():
            return []
        return [*COMPILERS, C_COMPILER] if self._c_compiler().find() is None else COMPILERS

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make the modules, and tell the wheel about them."""
        if version == "editable":
            return
        if reason := _why_not_here() or self._what_is_missing():
            if CHOICE == "1":
                raise RuntimeError(f"no machine code can be made: {reason}")
            self.app.display_warning(f"terrain_physics: a wheel without machine code: {reason}")
            return
        modules = self._make()
        build_data["force_include"] |= {
            str(module): f"terrain_physics/_kernels/{module.name}" for module in modules
        }
        build_data["pure_python"] = False
        build_data["tag"] = f"cp311-abi3-{self._platform(modules)}"

    def _make(self) -> list[Path]:
        self._place = tempfile.TemporaryDirectory()  # until the wheel is written
        command = [sys.executable, "-m", "terrain_physics._build", self._place.name]
        ended = subprocess.run(command, cwd=self.root, check=False)  # noqa: S603
        modules = sorted(Path(self._place.name).glob("*.so"))
        if ended.returncode or not modules:
            raise RuntimeError(
                f"machine code could not be made (status {ended.returncode}; the reason is above); "
                "TERRAIN_PHYSICS_NATIVE=0 builds a wheel without"
            )
        return modules

    def _platform(self, modules: list[Path]) -> str:
        """Return the platform tag: that of the oldest glibc which serves all modules."""
        if platform.libc_ver()[0] != "glibc":
            return sysconfig.get_platform().replace("-", "_")
        compiler = self._c_compiler()
        major, minor = max(compiler.GLIBC, *map(compiler.glibc_needed, modules))
        return f"manylinux_{major}_{minor}_x86_64"

    def _what_is_missing(self) -> str:
        if missing := [name for name in ("numba", "numpy") if find_spec(name) is None]:
            return f"{' and '.join(missing)} must be installed first, as `pip wheel .` does"
        return "" if self._c_compiler().find() else "there is no C compiler"

    def _c_compiler(self) -> Any:
        if self.root not in sys.path:
            sys.path.insert(0, self.root)
        return import_module("terrain_physics._build.c_compiler")


def _why_not_here() -> str:
    if CHOICE == "0":
        return "TERRAIN_PHYSICS_NATIVE=0"
    if sys.platform != "linux" or platform.machine() != "x86_64" or sys.maxsize < 2**32:
        return "it is made for Linux on x86-64 only"
    if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return "it is made for CPython with its lock only"
    return ""
