"""The C compiler that makes the modules of a wheel, and the C library that they need."""

import sys
from pathlib import Path

import pytest

from terrain_physics._kernels import _native

c_compiler = pytest.importorskip("terrain_physics._build.systems.c_compiler")
platforms = pytest.importorskip("terrain_physics._build.platforms")

LINUX, WINDOWS = "linux-x86_64", "win32-amd64"


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder, the only one with programs."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(c_compiler.importlib.util, "find_spec", lambda _: None)
    monkeypatch.setattr(c_compiler, "HERE", LINUX)
    return tmp_path


def add(folder: Path, name: str) -> Path:
    program = folder / (f"{name}.exe" if sys.platform == "win32" else name)
    program.write_text("")
    program.chmod(0o755)
    return program


def test_the_one_that_the_user_names_wins(programs, monkeypatch):
    add(programs, "gcc")
    monkeypatch.setenv("CC", "ccache 'my compiler' -m64")
    assert c_compiler.find(LINUX) == ["ccache", "my compiler", "-m64"]


def test_the_system_s_own_comes_next(programs):
    clang = add(programs, "clang")
    assert c_compiler.find(LINUX) == [str(clang)]
    gcc = add(programs, "gcc")
    assert c_compiler.find(LINUX) == [str(gcc)]


def test_that_of_the_package_index_serves_where_there_is_none(programs, monkeypatch):
    assert c_compiler.find(LINUX) is None
    monkeypatch.setattr(c_compiler.importlib.util, "find_spec", lambda name: name)
    assert c_compiler.find(LINUX) == [
        *(sys.executable, "-m", "ziglang", "cc"),
        *("-target", "x86_64-linux-gnu.2.17"),
    ]


def test_it_alone_serves_for_other_systems(programs, monkeypatch):
    add(programs, "cc")
    assert c_compiler.find(WINDOWS) is None
    monkeypatch.setattr(c_compiler.importlib.util, "find_spec", lambda name: name)
    command = c_compiler.find(WINDOWS)
    assert command is not None
    assert command[-2:] == ["-target", "x86_64-windows-gnu"]


def test_the_loader_knows_the_levels_of_all_platforms():
    made = {level.name for platform in platforms.WITH_WHEELS.values() for level in platform.levels}
    assert made == set(_native.LEVELS)
