"""Every example runs, says something, and ends by itself; those of engines in test_engine_games."""

import os
from pathlib import Path

import pytest

from tests.demo.engine_games import GAMES
from tests.helpers import forks

ROOT = Path(__file__).parents[2]
STEMS = {path.stem for path in (ROOT / "demo" / "examples").glob("*.py")}
EXAMPLES = sorted(stem for stem in STEMS - GAMES.keys() if not stem.startswith("_"))


SMALL = {
    "gym_env": ("--agents", "16"),
    "strategy_game": ("--reds", "50"),
    "netplay": ("--headless", "--seconds", "3", "--speed", "3"),
}
"""Arguments of those that take seconds otherwise."""


def test_there_are_examples() -> None:
    assert EXAMPLES
    assert SMALL.keys() <= set(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str) -> None:
    check(name, *SMALL.get(name, ()))


@pytest.mark.full
@pytest.mark.parametrize(
    "name", sorted(SMALL.keys() - {"netplay"})
)  # that takes a minute, in windows
def test_example_as_it_is(name: str) -> None:
    check(name)


def check(name: str, *arguments: str) -> None:
    """Run an example; look that it ends well and says something."""
    # Without a screen and without sound.
    environment = os.environ | {"SDL_VIDEODRIVER": "dummy", "SDL_AUDIODRIVER": "dummy"}
    finished = forks.run("-m", f"demo.examples.{name}", *arguments, env=environment)
    assert finished.returncode == 0, finished.stderr
    assert not finished.stderr
    assert finished.stdout.strip()
