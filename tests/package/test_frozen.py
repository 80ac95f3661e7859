"""A game and the counter, frozen by PyInstaller from the wheel: small, quick, and without numba."""

import sys
from pathlib import Path

import pytest

from tests.helpers.environments import IS_NATIVE, ROOT, environment, run, seconds

pytestmark = [
    pytest.mark.packaging,
    pytest.mark.skipif(not IS_NATIVE, reason="no machine code is made here"),
]

SAMPLE = ROOT / "assets" / "contest" / "sample.in"

PROGRAM = """
import sys

if "count" in sys.argv:
    from terrain_physics.__main__ import main

    main()

from terrain_physics import CharacterMovement, HeightMap, SphereCollider

mover = CharacterMovement(HeightMap([[0, 0], [0, 0]]), SphereCollider(1), position=(0.5, 2, 0.5))
mover.update(1 / 60)
if "stand" in sys.argv:
    while not mover.update(1 / 60).grounded:
        pass
    from terrain_physics._kernels import _jit

    print("stands", _jit.native is not None)
"""


@pytest.fixture(scope="module")
def game(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a frozen program, which has no Python beside it."""
    place = tmp_path_factory.mktemp("frozen")
    (place / "game.py").write_text(PROGRAM)
    programs = environment(place / "venv", wheel, "pyinstaller>=6.10")
    run([programs / "pyinstaller", "--noconfirm", "game.py"], cwd=place)
    return place / "dist" / "game"


def test_frozen_game_walks_by_machine_code(game: Path, tmp_path: Path) -> None:
    assert run([game / "game", "stand"], cwd=tmp_path).split() == [b"stands", b"True"]


def test_frozen_counter_answers_the_sample(game: Path, tmp_path: Path) -> None:
    expected = SAMPLE.with_suffix(".out").read_bytes()
    assert run([game / "game", "count"], cwd=tmp_path, stdin=SAMPLE.read_bytes()) == expected


def test_frozen_game_is_small_and_starts_at_once(game: Path, tmp_path: Path) -> None:
    files = [file for file in game.rglob("*") if file.is_file() and not file.is_symlink()]
    assert not [file for file in files if "numba" in file.name or "llvmlite" in file.name]
    assert sum(file.stat().st_size for file in files) < 140e6
    numpy_alone = seconds([sys.executable, "-c", "import numpy"], cwd=tmp_path)
    assert seconds([game / "game"], cwd=tmp_path) < max(1.0, 6 * numpy_alone)
