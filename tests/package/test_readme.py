"""The README is what people run: its Python blocks run, its commands are the ones CI runs."""

import re
import tomllib
from collections import defaultdict
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from terrain_physics import __version__
from terrain_physics._build import metadata_hook
from tests.helpers.extras import library
from tests.helpers.pages import blocks, run

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


class _Clock:
    """A clock of a game that takes 16 ms a frame and waits for nobody."""

    def tick(self, _most: int) -> int:
        return 16


@pytest.fixture
def player(monkeypatch):
    """Somebody who holds D for two seconds, jumps and closes the window, which nobody sees."""
    pygame = library("pygame", "demo")
    frames, looks = iter(range(130)), count()
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setattr(pygame.time, "Clock", _Clock)
    monkeypatch.setattr(
        pygame.key,
        "get_pressed",
        lambda: defaultdict(int, {pygame.K_d: 1, pygame.K_SPACE: next(looks) == 120}),
    )
    moved, closed = pygame.event.Event(pygame.MOUSEMOTION), pygame.event.Event(pygame.QUIT)
    monkeypatch.setattr(
        pygame.event, "get", lambda: [moved, closed] if next(frames, None) is None else [moved]
    )
    yield
    pygame.display.quit()


pytestmark = pytest.mark.filterwarnings("ignore:no fast renderer available")


@pytest.mark.usefixtures("player")
def test_the_game_opens_a_window_and_its_hero_walks():
    game = next(block.code for block in blocks(TEXT) if block.language == "python")
    names: dict[str, Any] = {}
    exec(game, names)  # noqa: S102
    hero, land = names["hero"], names["land"]
    x, y, z = hero.position
    assert 180 < x < 184  # 6 m/s
    assert z == 170
    assert not hero.grounded
    assert 0.5 < y - 0.9 - land.height_at(x, z) < 2
    picture = names["window"]
    assert picture.get_at((320, round(320 - 20 * y)))[:3] == (255, 255, 255)
    for column in range(5, 640, 45):
        top = 320 - 20 * land.height_at(x + (column - 320) / 20, z)
        above, below = (picture.get_at((column, round(top + by)))[:3] for by in (-3, 3))
        assert above in {(135, 206, 235), (255, 255, 255)}
        assert below == (0, 100, 0)


@pytest.mark.usefixtures("player")
def test_python_blocks_run_one_after_another(monkeypatch):
    monkeypatch.chdir(ROOT)
    printed = list(run(ROOT / "README.md", ROOT))
    assert len(printed) >= 2
    assert [text for _, text, _ in printed] == [shown for _, _, shown in printed]


def test_the_game_is_of_few_lines():
    game = next(block.code for block in blocks(TEXT) if block.language == "python")
    assert len([line for line in game.splitlines() if line]) <= 16  # three of them import


def test_ci_runs_the_two_commands_of_the_readme():
    script = "".join((ROOT / ".ci" / name).read_text(encoding="utf-8") for name in ("run", "steps"))
    (commands,) = (block for block in blocks(TEXT) if "-e " in block.code)
    install, test = commands.code.splitlines()
    assert '-e ".[demo,test]"' in install
    assert '-e ".[demo,test]"' in script
    assert "-m terrain_physics count < assets/contest/sample.in" in install
    assert "assets/contest/sample.in" in script
    assert test.endswith("-m pytest -n auto")
    assert f"'{test}'" in script


@pytest.mark.parametrize("target", re.findall(r"\]\(([^)]+)\)", TEXT))
def test_links_lead_somewhere(target):
    assert (ROOT / target.partition("#")[0]).exists()


def test_on_a_package_index_pages_are_shown_and_pictures_handed_out():
    address = "https://example.invalid/somebody/terrain_physics"
    text = metadata_hook.with_address(TEXT, address, __version__)
    found = re.findall(r"(!?)\[[^\[\]]*\]\(([^)]+)\)", text)
    assert len(found) == len(re.findall(r"\]\(", TEXT))
    assert {bool(mark) for mark, _ in found} == {True, False}
    for mark, link in found:
        folder = f"{address}/{'raw' if mark else 'blob'}/v{__version__}/"
        assert link.startswith(folder)
        assert (ROOT / link.removeprefix(folder).partition("#")[0]).is_file()
    plain = text.replace(f"{address}/raw/v{__version__}/", "")
    assert plain.replace(f"{address}/blob/v{__version__}/", "") == TEXT


def test_one_setting_has_the_address_of_the_repository():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    settings = project["tool"]["hatch"]["metadata"]["hooks"]["custom"]
    assert settings["repository"] == "", "the address is the publisher's; here there is none"

    def metadata_of(repository: str) -> dict[str, Any]:
        hook = metadata_hook.RepositoryHook(str(ROOT), settings | {"repository": repository})
        metadata: dict[str, Any] = {"version": "1.2.3"}
        hook.update(metadata)
        return metadata

    without = metadata_of("")
    assert "urls" not in without
    assert without["readme"] == {"content-type": "text/markdown", "text": TEXT}
    made = metadata_of("https://example.invalid/a/")
    assert made["urls"]["Repository"] == "https://example.invalid/a"
    assert made["urls"]["Changelog"] == "https://example.invalid/a/blob/v1.2.3/CHANGELOG.md"
    assert "](https://example.invalid/a/blob/v1.2.3/demo/docs/" in made["readme"]["text"]
    with pytest.raises(ValueError, match=r"begins with https://.*got 'github.com/a'"):
        metadata_of("github.com/a")


def test_it_is_short():
    assert TEXT.count("\n") <= 110
