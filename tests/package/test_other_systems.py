"""Machine code for other systems with x86-64 processors is linked here. It cannot be run."""

import re
import shutil
import struct
import sys
import sysconfig
import zipfile
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import pytest

from tests.helpers import pe_file
from tests.helpers.environments import IS_NATIVE, ROOT, environment, run

pytestmark = [
    pytest.mark.packaging,
    pytest.mark.long,  # each compiles all kernels once more: minutes
    pytest.mark.skipif(not IS_NATIVE, reason="no machine code is made here"),
]

LEVELS = ("v3", "v2")
"""Those that follow from one compilation."""
PLACES = ("terrain_physics/_kernels", "demo/renderers")

MACH_O_64, MACH_O_X86_64, MACH_O_LIBRARY = 0xFEEDFACF, 0x01000007, 6

PYCONFIG = """
#define MS_WIN32
#define MS_WIN64
#define MS_WINDOWS
#define HAVE_DECLSPEC_DLL
#define Py_ENABLE_SHARED 1
#define HAVE_SSIZE_T 1
#define SIZEOF_VOID_P 8
#define SIZEOF_SIZE_T 8
#define SIZEOF_LONG 4
#define SIZEOF_LONG_LONG 8
#define SIZEOF_WCHAR_T 2
#define SIZEOF_PID_T 4
"""
"""Stands in for that of Python for Windows, of which all other headers are the same."""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a Python with what compiles and links."""
    hook = (ROOT / "terrain_physics" / "_build" / "hatch_hook.py").read_text()
    pinned = re.findall(r'"((?:numba|llvmlite|ziglang)==[\d.]+)"', hook)
    needed = [*pinned, "numpy>=2.0", "pyglm", "platformdirs", "tqdm"]
    return environment(tmp_path_factory.mktemp("compilers"), *needed) / "python"


def numpy_headers(place: Path, *systems: str) -> Path:
    """Return the headers of NumPy for another system, where other C types have 32 and 64 bits."""
    chosen = ["--only-binary", ":all:", "--python-version", "3.11"]
    chosen += [part for system in systems for part in ("--platform", system)]
    pip = (sys.executable, "-m", "pip", "download", "--quiet", "--no-deps")
    run([*pip, *chosen, "--dest", place, "numpy>=2.0"], cwd=place)
    (wheel,) = place.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(place)
    return place / "numpy" / "_core" / "include"


def windows_headers(place: Path) -> Path:
    """Return Python's headers, which are the same for all systems but for one."""
    headers = place / "include"
    shutil.copytree(sysconfig.get_paths()["include"], headers)
    (headers / "pyconfig.h").write_text(PYCONFIG)
    return headers


def import_library(place: Path, python: Path, headers: Sequence[Path]) -> Path:
    """Return a folder with a ``python3.lib`` of all names in the stable headers."""
    zig, source = [python, "-m", "ziglang"], ROOT / "terrain_physics" / "_build" / "runtime.c"
    found = [f"-I{folder}" for folder in headers]
    text = run([*zig, "cc", "-target", "x86_64-windows-gnu", "-E", *found, source], cwd=place)
    names = sorted(set(re.findall(r"\b_?Py\w+", text.decode())))
    (place / "python3.def").write_text("\n".join(["LIBRARY python3.dll", "EXPORTS", *names]))
    machine = ("-m", "i386:x86-64", "-d", "python3.def", "-l", "python3.lib")
    run([*zig, "dlltool", *machine], cwd=place)
    return place


def make(
    python: Path, folder: Path, target: str, headers: Sequence[Path], *options: object
) -> None:
    """Make the modules of ``LEVELS`` by ziglang, with no other program to be found."""
    command = [python, "-m", "terrain_physics._build", folder]
    command += ["--target", target, "--headers", *headers, *options, "--only", *LEVELS]
    run(command, cwd=ROOT, env={"PATH": str(folder)})


def test_for_windows_it_needs_python3_dll_and_the_system(python: Path, tmp_path: Path) -> None:
    headers = windows_headers(tmp_path), numpy_headers(tmp_path, "win_amd64")
    libraries = import_library(tmp_path, python, headers)
    make(python, tmp_path, "win32-amd64", headers, "--libraries", libraries)
    for place, level in product(PLACES, LEVELS):
        module = pe_file.read(tmp_path / place / f"_native_{level}.pyd")
        assert (module.machine, module.format) == (pe_file.X86_64, pe_file.PE32_PLUS)
        assert module.flags & pe_file.IS_LIBRARY
        assert module.exported == [f"PyInit__native_{level}"]
        others = {name for name in module.imported if not name.startswith("api-ms-win-crt-")}
        assert others == {"python3.dll", "kernel32.dll"}
        assert "PyModule_Create2" in module.imported["python3.dll"]


def test_for_macos_it_is_a_library_too(python: Path, tmp_path: Path) -> None:
    systems = ("macosx_11_0_x86_64", "macosx_14_0_x86_64")
    headers = Path(sysconfig.get_paths()["include"]), numpy_headers(tmp_path, *systems)
    make(python, tmp_path, "darwin-x86_64", headers)
    for place, level in product(PLACES, LEVELS):
        module = (tmp_path / place / f"_native_{level}.abi3.so").read_bytes()
        magic, processor, _, kind = struct.unpack_from("<IIII", module)
        assert (magic, processor, kind) == (MACH_O_64, MACH_O_X86_64, MACH_O_LIBRARY)
        assert f"_PyInit__native_{level}\0".encode() in module
