"""The C headers of Python and NumPy, made good for each system from those of this one.

They differ between systems in two files only, which tell the sizes of C's types. What replaces them
leaves that to the compiler. For Windows there must be a library that tells which functions
python3.dll has.
"""

import re
import shutil
import subprocess
import sysconfig
from collections.abc import Iterable, Sequence
from pathlib import Path

from terrain_physics._build.systems.c_compiler import ZIG_COMMAND

RUNTIME = Path(__file__).parents[1] / "runtime.c"

PYCONFIG = """\
#ifndef Py_PYCONFIG_H
#define Py_PYCONFIG_H
#ifdef _WIN32
#define MS_WIN32
#define MS_WIN64
#define MS_WINDOWS
#define HAVE_DECLSPEC_DLL
#define Py_ENABLE_SHARED 1
#endif
#define HAVE_SSIZE_T 1
#define SIZEOF_VOID_P __SIZEOF_POINTER__
#define SIZEOF_INT __SIZEOF_INT__
#define SIZEOF_SIZE_T __SIZEOF_SIZE_T__
#define SIZEOF_LONG __SIZEOF_LONG__
#define SIZEOF_LONG_LONG __SIZEOF_LONG_LONG__
#define SIZEOF_WCHAR_T __SIZEOF_WCHAR_T__
#define SIZEOF_PID_T 4
#endif
"""

NUMPYCONFIG = """\
#define NPY_SIZEOF_SHORT __SIZEOF_SHORT__
#define NPY_SIZEOF_INT __SIZEOF_INT__
#define NPY_SIZEOF_LONG __SIZEOF_LONG__
#define NPY_SIZEOF_FLOAT __SIZEOF_FLOAT__
#define NPY_SIZEOF_COMPLEX_FLOAT (2 * __SIZEOF_FLOAT__)
#define NPY_SIZEOF_DOUBLE __SIZEOF_DOUBLE__
#define NPY_SIZEOF_COMPLEX_DOUBLE (2 * __SIZEOF_DOUBLE__)
#ifdef _WIN32 /* NumPy's own wheels are made by Microsoft's compiler */
#define NPY_SIZEOF_LONGDOUBLE 8
#define NPY_SIZEOF_COMPLEX_LONGDOUBLE 16
#else
#define NPY_SIZEOF_LONGDOUBLE __SIZEOF_LONG_DOUBLE__
#define NPY_SIZEOF_COMPLEX_LONGDOUBLE (2 * __SIZEOF_LONG_DOUBLE__)
#endif
#define NPY_SIZEOF_PY_INTPTR_T __SIZEOF_POINTER__
#define NPY_SIZEOF_INTP __SIZEOF_POINTER__
#define NPY_SIZEOF_UINTP __SIZEOF_POINTER__
#define NPY_SIZEOF_WCHAR_T __SIZEOF_WCHAR_T__
#define NPY_SIZEOF_OFF_T 8
#define NPY_SIZEOF_PY_LONG_LONG __SIZEOF_LONG_LONG__
#define NPY_SIZEOF_LONGLONG __SIZEOF_LONG_LONG__
#define NPY_NO_SMP 0
#define NPY_VISIBILITY_HIDDEN
"""


def missing() -> str:
    """Return what is missing of Python's headers, nothing if they are there."""
    folder = Path(sysconfig.get_paths()["include"])
    if (folder / "Python.h").is_file():
        return ""
    return f"{folder} has no Python.h: Debian and Ubuntu have it in python3-dev"


def here() -> list[Path]:
    """Return the folders with the headers of this Python and its NumPy."""
    import numpy as np

    return [Path(sysconfig.get_paths()["include"]), Path(np.get_include())]


def for_all_systems(folder: Path) -> list[Path]:
    """Put headers into a folder that serve each system; return the two folders in it."""
    made = [folder / "python", folder / "numpy"]
    for found, copy in zip(here(), made, strict=True):
        shutil.copytree(found, copy)
    (made[0] / "pyconfig.h").write_text(PYCONFIG, encoding="utf-8")
    (numpyconfig,) = made[1].rglob("_numpyconfig.h")
    versions = re.findall(
        r"^#define NPY_A[BP]I_VERSION .*\n", numpyconfig.read_text(encoding="utf-8"), re.MULTILINE
    )
    numpyconfig.write_text(NUMPYCONFIG + "".join(versions), encoding="utf-8")
    return made


def make_import_library(folder: Path, compiler: Sequence[str], found: Iterable[Path]) -> None:
    """Make ``python3.lib``, with all functions that the headers of `runtime.c` name.

    That is more than a module needs: which functions it needs is read from the module.
    """
    includes = [f"-I{place}" for place in found]
    command = [*compiler, "-E", *includes, str(RUNTIME)]
    told = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
    names = sorted(set(re.findall(r"\b_?Py\w+", told.stdout)))
    lines = ["LIBRARY python3.dll", "EXPORTS", *names, ""]
    (folder / "python3.def").write_text("\n".join(lines), encoding="utf-8")
    options = ("-m", "i386:x86-64", "-d", "python3.def", "-l", "python3.lib")
    subprocess.run([*ZIG_COMMAND, "dlltool", *options], cwd=folder, check=True)  # noqa: S603
