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
    "netplay": ("--headless", "--seconds", "1.5", "--speed", "3"),
    "cluster_flood": ("--places", "100_000"),
}
"""Arguments of those that take seconds otherwise."""

SMALL_LAND = {"cluster_flood": "SAMPLES = 512"}
"""What else is smaller in their modules then."""


def test_there_are_examples() -> None:
    assert EXAMPLES
    assert SMALL.keys() <= set(EXAMPLES)
    assert SMALL_LAND.keys() <= SMALL.keys()


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str) -> None:
    check(name, *SMALL.get(name, ()), change=SMALL_LAND.get(name, ""))


@pytest.mark.full
@pytest.mark.parametrize(
    "name", sorted(SMALL.keys() - {"netplay"})
)  # that takes a minute, in windows
def test_example_as_it_is(name: str) -> None:
    check(name)


def check(name: str, *arguments: str, change: str = "") -> None:
    """Run an example, maybe with a change of its module; it ends well and says something."""
    # Without a screen and without sound.
    environment = os.environ | {"SDL_VIDEODRIVER": "dummy", "SDL_AUDIODRIVER": "dummy"}
    module = f"demo.examples.{name}"
    program = ("-m", module)
    if change:
        program = ("-c", f"import {module} as example; example.{change}; example.main()")
    finished = forks.run(*program, *arguments, env=environment)
    assert finished.returncode == 0, finished.stderr
    assert not finished.stderr
    assert finished.stdout.strip()
