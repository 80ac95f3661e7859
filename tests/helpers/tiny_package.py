"""A package of kernels, some of them in folders, and a way to run it in a new process."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from terrain_physics import _locks
from terrain_physics._kernels import _by_numba, _jit, _native, _own_files, _sources

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
    folder = _jit.cache_folder()
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
        for module in (_by_numba, _jit, _native, _own_files, _sources, _locks):
            file = Path(str(module.__file__))
            source = file.read_text()
            for package in ("terrain_physics._kernels", "terrain_physics"):
                source = source.replace(f"from {package} import", "from tiny import")
                source = source.replace(f"from {package}._locks", "from tiny._locks")
            (self.package / file.name).write_text(source)
        self.path = self.package.parent
        self.cache = place / "cache"
        self.home = place / "home"
        self.home.mkdir()

    def start(
        self, code: str = "", *, env: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> subprocess.Popen[str]:
        """Start a process with no trace of this one's settings."""
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("NUMBA_", "TERRAIN_PHYSICS_", "XDG_", "PYTHON", "COV"))
        }
        ours = {
            "PYTHONPATH": str(self.path),
            "PYTHONDONTWRITEBYTECODE": "1",
            "TERRAIN_PHYSICS_CACHE_DIR": str(self.cache),
            "HOME": str(self.home),
            "LOCALAPPDATA": str(self.home),
        }
        return subprocess.Popen(
            [sys.executable, "-c", code or REPORT],
            env=inherited | ours | dict(env or {}),
            cwd=cwd or self.place,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(
        self, code: str = "", *, env: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> Any:
        """Run to the end, in silence but for the report; return the report."""
        return self.finish(self.start(code, env=env, cwd=cwd))

    @staticmethod
    def finish(process: subprocess.Popen[str]) -> Any:
        out, err = process.communicate(timeout=1800)
        assert process.returncode == 0, err
        assert not err
        return json.loads(out)

    def cached_files(self, kernel: str = "*") -> list[Path]:
        return sorted(self.cache.glob(f"kernels-*/{kernel}"))


def preceded_by(lines: str) -> str:
    """Return the report's code after these lines."""
    return lines + "\n" + REPORT
