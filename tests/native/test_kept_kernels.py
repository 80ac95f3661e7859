"""What builds keep of kernels that are lowered: after an edit the rest of it serves on."""

import os
import textwrap
from pathlib import Path

import pytest

from terrain_physics._kernels import _jit
from tests.helpers import forks

pytestmark = pytest.mark.skipif(not _jit.HAS_NUMBA, reason="nothing is compiled")

SOURCES = {
    "compiled": """
        from pathlib import Path
        from terrain_physics._kernels._sources import NativePackage
        PACKAGE = NativePackage("probes", (str(Path(__file__).parent),))
        """,
    "leaf": """
        from terrain_physics._kernels._jit import kernel

        @kernel(inline=True, no_refcount=True)
        def twice(value):
            return 2.0 * value

        @kernel(noinline=True, no_refcount=True)
        def apart(value):
            return value + 0.5
        """,
    "caller": """
        import math
        from terrain_physics._kernels._jit import kernel
        from probes.leaf import apart, twice

        @kernel(no_refcount=True)
        def call(value, count):  # gcd: one of numba's own functions
            return twice(apart(value)) + math.gcd(count, 6)
        """,
    "other": """
        import math
        from terrain_physics._kernels._jit import kernel

        @kernel(no_refcount=True)
        def alone(count):
            return math.gcd(count, 4)
        """,
}

LOWER = """
import sys
from pathlib import Path

sys.path.insert(0, sys.argv[1])
import probes
from terrain_physics._build import signatures
from terrain_physics._build.build_cache import BuildCache
from terrain_physics._build.llvm import kept_kernels
from terrain_physics._build.lowered import unpacked
from terrain_physics._build.llvm.lowered_functions import LoweredFunctions
from terrain_physics._build.packages import KernelPackage
from terrain_physics._kernels import _imports

_imports.follow("probes")
package = KernelPackage("probes", Path("probes.txt"), ("kernel",), "probes", ())
signatures.read = lambda _: sys.argv[3:]
save = kept_kernels._LoweredKernel.save_overload

def tell(cache, signature, result):
    print("lowered", result.fndesc.qualname)
    save(cache, signature, result)

kept_kernels._LoweredKernel.save_overload = tell
for order in LoweredFunctions([package], BuildCache(Path(sys.argv[2]))):
    made = unpacked(order.data)
    if order.extension is None:
        print("key", made.name, made.key)
    else:
        print("whole", len(made.libraries), made.machine_code)
"""

LINES = ("caller.call(float64, int64)", "other.alone(int64)")


@pytest.fixture
def probes(tmp_path: Path) -> Path:
    folder = tmp_path / "probes"
    folder.mkdir()
    (folder / "__init__.py").touch()
    for name, source in SOURCES.items():
        (folder / f"{name}.py").write_text(textwrap.dedent(source))
    return folder


def built(probes: Path, *lines: str) -> tuple[set[str], set[str]]:
    """Lower the kernels of these lines; return which numba has lowered, and all that there is."""
    env = os.environ | {"TERRAIN_PHYSICS_NATIVE": "0", "PYTHONDONTWRITEBYTECODE": "1"}
    arguments = LOWER, probes.parent, probes.with_name("cache"), *(lines or LINES)
    # In a process of its own: in a fork of the helper numba has compiled functions already.
    told = forks.printed("-c", *arguments, env=env, own=True).splitlines()
    lowered = {line.split()[1] for line in told if line.startswith("lowered ")}
    return lowered, {line for line in told if not line.startswith("lowered ")}


def test_an_edit_has_the_kernels_lowered_that_import_it(probes: Path) -> None:
    every, before = built(probes)
    assert every == {"twice", "apart", "call", "alone"}
    assert any(line.startswith("whole 3 ") for line in before)  # one of them is called in its place
    assert built(probes) == (set(), before)
    leaf = probes / "leaf.py"
    leaf.write_text(leaf.read_text().replace("0.5", "0.25"))
    lowered, edited = built(probes)
    assert lowered == {"twice", "apart", "call"}
    gone = {line.split()[1] for line in before - edited}
    assert gone == {"apart", *(line.split()[1] for line in before if line.startswith("whole"))}


@pytest.mark.full
def test_neither_the_order_nor_what_was_kept_changes_what_is_made(probes: Path) -> None:
    _, first = built(probes, LINES[1])
    lowered, whole = built(probes)
    assert "alone" not in lowered
    for file in probes.with_name("cache").iterdir():
        file.write_bytes(file.read_bytes()[:-1])
    lowered, again = built(probes, *reversed(LINES))
    assert lowered == {"twice", "apart", "call", "alone"}
    keys = [{line for line in one if line.startswith("key ")} for one in (first, whole, again)]
    assert keys[0] < keys[1] == keys[2]
