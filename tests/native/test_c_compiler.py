"""Which C compiler makes the modules of a wheel, and which C library they need."""

import sys
from pathlib import Path

import pytest

c_compiler = pytest.importorskip("terrain_physics._build.c_compiler")


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder, the only one with programs."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(c_compiler.importlib.util, "find_spec", lambda _: None)
    return tmp_path


def add(folder: Path, name: str) -> Path:
    program = folder / (f"{name}.exe" if sys.platform == "win32" else name)
    program.write_text("")
    program.chmod(0o755)
    return program


def test_the_one_that_the_user_names_wins(programs, monkeypatch):
    add(programs, "gcc")
    monkeypatch.setenv("CC", "ccache 'my compiler' -m64")
    assert c_compiler.find() == ["ccache", "my compiler", "-m64"]


def test_the_system_s_own_comes_next(programs):
    clang = add(programs, "clang")
    assert c_compiler.find() == [str(clang)]
    gcc = add(programs, "gcc")
    assert c_compiler.find() == [str(gcc)]


def test_that_of_the_package_index_serves_where_there_is_none(programs, monkeypatch):
    assert c_compiler.find() is None
    monkeypatch.setattr(c_compiler.importlib.util, "find_spec", lambda name: name)
    assert c_compiler.find() == [
        *(sys.executable, "-m", "ziglang", "cc"),
        *("-target", "x86_64-linux-gnu.2.17"),
    ]


def test_the_c_library_is_as_new_as_the_newest_symbol(tmp_path):
    module = tmp_path / "module.so"
    module.write_bytes(b"\0GLIBC_2.2.5\0GLIBC_2.34\0GLIBC_2.9\0")
    assert c_compiler.glibc_needed(module) == (2, 34)
    module.write_bytes(b"")
    assert c_compiler.glibc_needed(module) == (2, 17)
