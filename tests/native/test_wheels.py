"""Wheels of other systems are put together from the package's own files and modules."""

import base64
import csv
import hashlib
import io
import re
import zipfile
from collections.abc import Callable
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


def places_of(target: str) -> list[str]:
    """Return where the modules of a platform go."""
    suffix = ".pyd" if target.startswith("win32") else ".abi3.so"
    levels = ["arm64"] if target.endswith(("arm64", "aarch64")) else ["v2", "v3", "v4"]
    folders = ("terrain_physics/_kernels", "demo/renderers")
    return [f"{folder}/_native_{level}{suffix}" for folder in folders for level in levels]


def assembled(
    plain: Path, target: str, folder: Path, change: Callable[[list[str]], object] = bool
) -> Path:
    from terrain_physics._build import wheels
    from terrain_physics._build.systems.linking import Module

    code = plain.with_name("code")
    code.write_bytes(b"machine code")
    folder.mkdir()
    places = places_of(target)
    change(places)
    modules = [Module(target, place, code) for place in places]
    return wheels._assembled(plain, target, modules, folder)


@pytest.mark.parametrize("target", platforms.WITH_WHEELS)
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
    places = {place.replace("demo/", "terrain_physics_demo/") for place in places_of(target)}
    assert {name for name in names if "_native_" in name} == places


def test_the_same_files_give_the_same_bytes(plain, tmp_path):
    first, second = (assembled(plain, "win32-amd64", tmp_path / name) for name in ("one", "two"))
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            lambda places: [places.pop(), places.pop(1)],
            "lacks demo/renderers/_native_v4.pyd, terrain_physics/_kernels/_native_v3.pyd",
        ),
        (lambda places: places.append(places[0]), "would hold more: "),
    ],
    ids=["fewer", "more"],
)
def test_another_number_of_modules_is_refused(plain, tmp_path, change, reason):
    with pytest.raises(OSError, match=f"the wheel for win32-amd64 {re.escape(reason)}"):
        assembled(plain, "win32-amd64", tmp_path / "made", change)
    assert list((tmp_path / "made").iterdir()) == []
