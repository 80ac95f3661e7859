"""A package of kernels, some of them in folders, and a way to run it by itself."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from terrain_physics import _kernels, _locks
from tests.helpers import numba_forks

KERNELS = Path(str(_kernels.__file__)).parent

SOURCES = {
    "__init__.py": "",
    "callee.py": """
from tiny._jit import kernel

@kernel
def twice(value):
    return 2.0 * value

@kernel(noinline=True)
def weight(value):
    return twice(value) + 1.0
""",
    "caller.py": """
from tiny._jit import kernel
from tiny.callee import weight

@kernel
def total(first, second):
    return weight(first) + weight(second)
""",
    "inner/__init__.py": "",
    "inner/deep/__init__.py": "",
    # A module and a kernel with the names of others: their files must not be mixed up.
    "inner/deep/callee.py": """
from tiny._jit import kernel

@kernel(noinline=True)
def weight(value):
    return 7.0 * value
""",
    "inner/caller.py": """
from tiny._jit import kernel
from tiny.inner.deep.callee import weight

@kernel
def total(first, second):
    return weight(first) - weight(second)
""",
}

REPORT = """
import json, os, sys, warnings

def report():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        from tiny import _jit
        from tiny.caller import total
        cached_before = _jit.is_cached(total)
        result = total(3.0, 5.0)
    stats = getattr(total, "stats", None)
    folder = None
    if _jit.native is None:
        from tiny import _cache
        folder = _cache.cache_folder()
    return {
        "result": result,
        "compiled": stats is not None,
        "hits": sum(stats.cache_hits.values()) if stats else 0,
        "cached_before": cached_before,
        "cached_after": _jit.is_cached(total),
        "folder": folder and str(folder),
        "warnings": [str(w.message) for w in caught if "terrain_physics" in str(w.message)],
    }

if __name__ == "__main__":
    print(json.dumps(report()))
"""

INNER_REPORT = REPORT.replace("tiny.caller", "tiny.inner.caller")

INNER_RESULT = 7.0 * 3.0 - 7.0 * 5.0
RESULT = (2.0 * 3.0 + 1.0) + (2.0 * 5.0 + 1.0)


class Tiny:
    """The package, the home folder of its user, and a way to run it."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.package = place / "library" / "tiny"
        self.package.mkdir(parents=True)
        for name, source in SOURCES.items():
            (self.package / name).parent.mkdir(parents=True, exist_ok=True)
            (self.package / name).write_text(source)
        machinery = set(KERNELS.glob("_[!_]*.py")) - {KERNELS / "_intrinsics.py"}
        for file in (*machinery, Path(str(_locks.__file__))):
            source = file.read_text()
            for package in ("terrain_physics._kernels", "terrain_physics"):
                source = source.replace(f"from {package} import", "from tiny import")
                source = source.replace(f"from {package}.", "from tiny.")
            (self.package / file.name).write_text(source)
        self.path = self.package.parent
        self.cache = place / "cache"
        self.home = place / "home"
        self.home.mkdir()

    def start(
        self, code: str = "", *, env: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> subprocess.Popen[str]:
        """Start a process of its own."""
        return subprocess.Popen(
            [sys.executable, "-c", code or REPORT],
            env=self._environment(env),
            cwd=cwd or self.place,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def _environment(self, env: Mapping[str, str] | None) -> dict[str, str]:
        ours = {
            "PYTHONPATH": str(self.path),
            "PYTHONDONTWRITEBYTECODE": "1",
            "TERRAIN_PHYSICS_CACHE_DIR": str(self.cache),
            "HOME": str(self.home),
            "LOCALAPPDATA": str(self.home),
        }
        return numba_forks.clean_environment() | ours | dict(env or {})

    def run(
        self,
        code: str = "",
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        alone: bool = False,
    ) -> Any:
        """Run to the end, in silence but for the report; return the report.

        ``alone`` is for what must find numba not loaded; settings of Python and numba imply it.
        """
        is_read_early = any(name.startswith(("NUMBA_", "PYTHON")) for name in env or {})
        if alone or is_read_early or not numba_forks.CAN_FORK:
            return self.finish(self.start(code, env=env, cwd=cwd))
        status, out, err = numba_forks.run(
            code or REPORT,
            env=self._environment(env),
            cwd=cwd or self.place,
            path=[str(self.path)],
        )
        assert status == 0, err
        assert not err
        return json.loads(out)

    @staticmethod
    def finish(process: subprocess.Popen[str]) -> Any:
        out, err = process.communicate(timeout=1800)
        assert process.returncode == 0, err
        assert not err
        return json.loads(out)

    def cached_files(self, kernel: str = "*") -> list[Path]:
        """Return the files of machine code; a kernel is named as in `_cache`, with ``-*``."""
        return sorted(self.cache.glob(f"kernels-*/{kernel}"))


def preceded_by(lines: str) -> str:
    """Return the report's code after these lines."""
    return lines + "\n" + REPORT
