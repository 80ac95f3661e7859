"""What comes out of a call that a signal handler ends by raising: that error, and no other."""

import io
import re
import threading
import zipfile
from pathlib import Path

import pytest

import terrain_physics
from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels._undisturbed import undisturbed
from terrain_physics._support.archives import write_archive
from tests.helpers.programs import run


def test_an_archive_that_is_interrupted_in_a_member_raises_that_error():
    def put(archive: zipfile.ZipFile) -> None:
        with archive.open("member", "w"):
            raise KeyboardInterrupt

    file = io.BytesIO()
    with pytest.raises(KeyboardInterrupt):
        write_archive(file, put)


def test_an_archive_is_whole_without_errors():
    file = io.BytesIO()
    write_archive(file, lambda archive: archive.writestr("member", "text"))
    assert zipfile.ZipFile(file).read("member") == b"text"


def test_a_kernel_raises_what_a_handler_raised():
    """To make an array numba runs Python, and tells what that raises as a cause."""

    inner = SystemError("inner")
    inner.__cause__ = KeyboardInterrupt()

    def boxes() -> None:
        raise SystemError("returned a result with an exception set") from inner

    with pytest.raises(KeyboardInterrupt):
        CachedDispatch(boxes).call()


def test_a_kernel_raises_a_system_error_of_its_own():
    def fail() -> None:
        raise SystemError("its own")

    with pytest.raises(SystemError, match="its own"):
        CachedDispatch(fail).call()


_LIBRARY = Path(terrain_physics.__file__).parent
_KERNEL = re.compile(r"^@kernel\b.*\ndef ([a-z]\w*)\((?:.|\n)*?\) -> (.*):$", re.MULTILINE)
_ARRAY = re.compile(r"\b(Floats|Float32s|U?Int\d\ds|Bytes|Bools|NDArray)\b")
_IMPORT = re.compile(r"^from terrain_physics\._kernels\S* import (\([^)]*\)|.*)", re.MULTILINE)


def _bare_calls(text: str, kernels: set[str]) -> list[str]:
    imported = set(re.findall(r"\w+", " ".join(_IMPORT.findall(text))))
    called = re.findall(r"(?<!def )(?<![\w.])(kernels\.)?(\w+)\(", text)
    return [name for module, name in called if name in kernels and (module or name in imported)]


def test_kernels_that_make_arrays_are_called_where_causes_are_raised():
    """That is through `CachedDispatch`."""
    sources = {path: path.read_text(encoding="utf-8") for path in _LIBRARY.rglob("*.py")}
    inner = {path for path in sources if {"_kernels", "_build"} & {*path.parts}}
    kernels = {
        name
        for path in inner
        for name, result in _KERNEL.findall(sources[path])
        if _ARRAY.search(result)
    }
    assert {"find_contacts", "list_triangles", "face_normals"} < kernels
    bare = {path.name: _bare_calls(sources[path], kernels) for path in sources.keys() - inner}
    assert {name: own for name, own in bare.items() if own} == {}


@pytest.mark.parametrize(
    "call",
    [
        "import list_triangles\nlist_triangles(1)",
        "import boxes as kernels\nkernels.list_triangles(1)",
    ],
)
def test_the_rule_of_arrays_sees_faults(call):
    text = f"from terrain_physics._kernels.ground {call}"
    assert _bare_calls(text, {"list_triangles"}) == ["list_triangles"]
    assert _bare_calls(text.replace("(", ".call("), {"list_triangles"}) == []


class TestUndisturbed:
    def test_is_made_where_no_handler_runs(self):
        assert undisturbed(threading.current_thread) is not threading.main_thread()

    def test_is_made_at_once_in_other_threads(self):
        found = []
        thread = threading.Thread(
            target=lambda: found.append(undisturbed(threading.current_thread))
        )
        thread.start()
        thread.join()
        assert found == [thread]

    def test_raises_the_error_of_the_call(self):
        with pytest.raises(ZeroDivisionError):
            undisturbed(lambda: 1 // 0)


_ARRAYS = """
import random
import numpy as np
from terrain_physics import AABB, HeightMap, Sphere, TriangleMesh
from tests.helpers.interruptions import interrupt
land = HeightMap(np.random.default_rng(0).normal(0, 0.2, (65, 65)))
mesh, box = TriangleMesh.box((1, 1, 1)), AABB((20, -1, 20), (22, 1, 22))
balls = [Sphere((20 + k, 0, 20), 0.5) for k in range(3)]
asked = {
    "contacts": lambda: land.contacts(balls[0]),
    "many contacts": lambda: land.contacts(balls),
    "triangles": lambda: land.triangles_in(box),
    "triangles of a mesh": lambda: mesh.triangles_in(AABB((-1, -1, -1), (1, 1, 1))),
}
ask = asked["NAME"]
ask()
rng = random.Random(1)
for _ in range(COUNT):
    interrupt(ask, rng.uniform(1e-5, 1e-4), again=True)
"""


@pytest.mark.alone
@pytest.mark.parametrize("interruptions", [100, pytest.param(10_000, marks=pytest.mark.full)])
@pytest.mark.parametrize("name", ["contacts", "many contacts", "triangles", "triangles of a mesh"])
def test_kernels_that_make_arrays_raise_what_a_handler_raised(name, interruptions):
    run(_ARRAYS.replace("COUNT", str(interruptions)).replace("NAME", name))


_FIRST_LOAD = """
from terrain_physics import HeightMap, Sphere
from terrain_physics._kernels import _jit
from tests.helpers.interruptions import interrupt
land, ends = HeightMap([[0, 1], [2, 3]]), []
def call():
    land.contacts(Sphere((0.5, 0, 0.5), 0.5))
    land.raise_((0.5, 0.5), 1, 0.001)
    ends.append(True)
for seconds in (0.0005, 0.003, 0.02, 0.05):
    interrupt(call, seconds)
assert len(ends) < 4 or _jit.native is not None  # machine code of a wheel is there at once
assert len(land.contacts(Sphere((0.5, 0.5, 0.5), 2.0)))
land.raise_((0.5, 0.5), 1, 0.001)
"""


@pytest.mark.alone
def test_kernels_can_be_loaded_after_an_interrupted_first_load():
    run(_FIRST_LOAD, own=True)
