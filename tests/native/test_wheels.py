"""Wheels of other systems are put together from the package's own files and modules."""

import base64
import csv
import hashlib
import io
import zipfile
from pathlib import Path

import pytest
from packaging.tags import parse_tag
from packaging.utils import parse_wheel_filename

from terrain_physics._kernels import _jit

platforms = pytest.importorskip("terrain_physics._build.platforms")

pytestmark = pytest.mark.skipif(not _jit.HAS_NUMBA, reason="nothing is compiled")

ABOUT = "terrain_physics-1.0.dist-info"
WHEEL = "Wheel-Version: 1.0\nGenerator: a test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    file = tmp_path / "terrain_physics-1.0-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("terrain_physics/__init__.py", "")
        archive.writestr(f"{ABOUT}/WHEEL", WHEEL)
        archive.writestr(f"{ABOUT}/METADATA", "Name: terrain_physics\n")
        archive.writestr(f"{ABOUT}/RECORD", "terrain_physics/__init__.py,,\n")
    return file


def assembled(plain: Path, target: str, folder: Path) -> Path:
    from terrain_physics._build import wheels
    from terrain_physics._build.systems.linking import Module

    code = plain.with_name("code")
    code.write_bytes(b"machine code")
    folder.mkdir()
    places = ("terrain_physics/_kernels/_native_v2.so", "demo/renderers/_native_v2.so")
    modules = [Module(target, place, code) for place in places]
    return wheels._assembled(plain, target, modules, folder)


@pytest.mark.parametrize("target", platforms.PLATFORMS)
def test_a_wheel_names_its_system_and_lists_its_files(plain, tmp_path, target):
    wheel = assembled(plain, target, tmp_path / "made")
    tags = platforms.PLATFORMS[target].tags
    expected = frozenset().union(*(parse_tag(f"cp311-abi3-{tag}") for tag in tags))
    assert parse_wheel_filename(wheel.name)[3] == expected
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        told = archive.read(f"{ABOUT}/WHEEL").decode()
        record = list(csv.reader(io.StringIO(archive.read(f"{ABOUT}/RECORD").decode())))
        for name, digest, size in record[:-1]:
            content = archive.read(name)
            found = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode()
            assert (digest, size) == (f"sha256={found.rstrip('=')}", str(len(content)))
    assert "Root-Is-Purelib: false" in told
    assert [line for line in told.splitlines() if line.startswith("Tag: ")] == [
        f"Tag: cp311-abi3-{tag}" for tag in tags
    ]
    assert record[-1] == [f"{ABOUT}/RECORD", "", ""]
    assert [row[0] for row in record] == names
    assert {
        "terrain_physics/_kernels/_native_v2.so",
        "terrain_physics_demo/renderers/_native_v2.so",
    } <= set(names)


def test_the_same_files_give_the_same_bytes(plain, tmp_path):
    first, second = (assembled(plain, "win32-amd64", tmp_path / name) for name in ("one", "two"))
    assert first.read_bytes() == second.read_bytes()
