"""The games of real engines, of those that are installed."""

import importlib.util
import os

import pytest

from tests.character.engines import NOT_HERE, ROOT
from tests.demo.engine_games import GAMES
from tests.helpers import forks
from tests.helpers.extras import lacks


@pytest.mark.parametrize("name", GAMES)
def test_plays_to_its_end(name, tmp_path, request):
    game = GAMES[name]
    if importlib.util.find_spec(game.module) is None:
        lacks(f"{game.package} is not installed", "engines")
    environment = {key: value for key, value in os.environ.items() if key != "DISPLAY"}
    environment["PYTHONPATH"] = str(ROOT)
    if game.needs_screen:
        environment["DISPLAY"] = request.getfixturevalue("display")
    program = "-m", "tests.demo.engine_games", name, tmp_path / "end.png"
    done = forks.run(*program, env=environment, cwd=tmp_path)
    if done.returncode == NOT_HERE:
        lacks(f"{game.package} cannot be imported: {done.stderr.strip()}", "engines")
    assert done.returncode == 0, done.stderr
    assert "m above the land" in done.stdout
