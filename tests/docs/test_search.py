"""The site's own search, in Chromium: what newcomers type finds an answer among the first three."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.helpers.extras import library
from tests.helpers.pages import DOCS, PAGES

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)
_PATIENCE = 900_000  # milliseconds, only against a hang

# What is typed, and the pages that answer it, by judgement. Nobody counts what else is found.
SEARCHES = {
    "wall jump": "cookbook/jump",
    "ladder": "cookbook/ladder",
    "swim": "cookbook/swim",
    "knockback": "cookbook/knockback",
    "ice": "cookbook/ice",
    "fps drop": "cookbook/fixed_step guide/groups guide/troubleshooting",
    "stuck in corner": "guide/troubleshooting cookbook/crowd",
    "multiplayer": "cookbook/save concepts/worlds",
    "save game": "cookbook/save concepts/worlds",
    "export to exe": "cookbook/release",
    "android": "cookbook/release guide/not_here",
    "godot": "guide/engines guide/not_here",
    "navmesh": "concepts/walkability cookbook/click_to_move",
    "height map looks like stairs": "guide/formats",
    "z up": "guide/engines guide/formats",
    "tile size": "guide/formats cookbook/tiles",
    "bounce": "cookbook/ball",
    "rigid body": "cookbook/crates guide/not_here",
    "car": "cookbook/car",
    "ragdoll": "guide/not_here cookbook/crates",
    "water": "cookbook/swim",
    "trigger": "cookbook/triggers",
    "raycast camera": "cookbook/rays",
    "split screen": "cookbook/rays",
    "mod support": "cookbook/level",
    # the same, as others type it
    "walljump": "cookbook/jump",
    "wall jumping": "cookbook/jump",
    "Swimming": "cookbook/swim",
    "ladders": "cookbook/ladder",
    "nav mesh": "concepts/walkability cookbook/click_to_move",
    "frame rate drops": "cookbook/fixed_step guide/groups guide/troubleshooting",
    "savegame": "cookbook/save",
    "saving the game": "cookbook/save concepts/worlds",
    "rigidbody": "guide/not_here cookbook/crates",
    "multi player": "cookbook/save concepts/worlds",
    "heightmap": "guide/formats guide/make_ground",
    "why is my height map stepped": "guide/formats",
    # first steps
    "how to install": "install",
    "getting started": "guide/loop install",
    "hello world": "guide/loop",
    "windows": "install cookbook/release",
    "no module named numba": "install",
    "pygame": "guide/engines cookbook/sprites",
    "unity": "coming_from guide/engines",
    "pymunk": "coming_from",
    "mujoco": "guide/mujoco",
    "isaac gym": "guide/mujoco",
    "gymnasium": "cookbook/learning guide/mujoco",
    "reinforcement learning": "cookbook/learning guide/mujoco",
    # land
    "perlin noise": "cookbook/tiles guide/make_ground",
    "infinite world": "cookbook/tiles",
    "minecraft": "cookbook/tiles guide/not_here cookbook/digging",
    "caves": "guide/make_ground guide/not_here concepts/what_is_solid cookbook/level",
    "16 bit png": "guide/formats",
    "raw file": "guide/formats",
    "blender model": "guide/make_ground guide/engines guide/formats",
    "satellite data": "cookbook/geotiff",
    "explosion crater": "cookbook/digging",
    "normal vector": "guide/ask_ground",
    "render terrain": "cookbook/draw",
    # bodies
    "character controller": "guide/character coming_from",
    "slope too steep": "cookbook/ice concepts/standing guide/character",
    "stairs": "concepts/standing cookbook/level guide/formats",
    "double jump": "cookbook/jump",
    "coyote time": "cookbook/jump",
    "ledge grab": "cookbook/mantle",
    "fall damage": "cookbook/landing",
    "gravity": "guide/character",
    "planet": "guide/not_here",
    "moon gravity": "guide/character guide/not_here",
    "walking on walls": "guide/not_here",
    "falls through floor": "concepts/what_is_solid guide/troubleshooting",
    "jitter": "guide/troubleshooting cookbook/fixed_step cookbook/rays",
    "moving platform": "cookbook/moving_platforms concepts/parts",
    "elevator": "cookbook/moving_platforms concepts/parts",
    "collision layers": "cookbook/ghosts concepts/parts",
    "respawn": "cookbook/triggers",
    "enemy ai": "cookbook/enemies",
    "zombie horde": "cookbook/crowd cookbook/horde guide/groups",
    "pathfinding": "cookbook/click_to_move cookbook/horde",
    "path finding": "cookbook/click_to_move cookbook/horde",
    "a star": "cookbook/click_to_move",
    "click to move": "cookbook/click_to_move",
    "flow field": "cookbook/horde",
    "navigation agent": "cookbook/click_to_move coming_from",
    "recast": "concepts/walkability coming_from",
    "unreachable": "concepts/walkability cookbook/click_to_move",
    # not here
    "cloth": "guide/not_here",
    "fluid": "guide/not_here",
    "joints": "guide/not_here cookbook/crates",
    "voxel": "guide/not_here",
    "gpu": "guide/not_here guide/mujoco cookbook/draw",
    # programs
    "multithreading": "concepts/threads",
    "asyncio": "concepts/threads",
    "multiprocessing": "guide/counter",
    "dask": "guide/cluster",
    "rollback": "cookbook/save concepts/worlds",
    "deterministic": "concepts/determinism",
    "performance": "benchmarks guide/groups",
    "pyinstaller": "cookbook/release",
    "gamepad": "guide/demo",
    "height_at": "api/grounds guide/ask_ground",
    "step_offset": "concepts/standing guide/character api/characters",
}


def name_of(page: Path) -> str:
    return page.relative_to(DOCS).with_suffix("").as_posix()


# Not those that list others, include a file or are made of docstrings.
PAGES_WITH_WORDS = [
    page
    for page in PAGES
    if page.stem not in {"404", "index", "architecture", "changelog", "contributing"}
    and page.parent.name != "api"
]


@pytest.fixture(scope="module")
def search(site: Path) -> Iterator[Any]:
    playwright = library("playwright.sync_api", "browser")
    if not CHROMIUM:
        pytest.skip("needs Chromium")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"], timeout=_PATIENCE
        )
        page = browser.new_page()
        page.set_default_timeout(_PATIENCE)

        def found(query: str) -> list[str]:
            """Return the pages that a query finds, in their order, each once."""
            page.goto(f"{(site / 'search.html').as_uri()}?q={quote(query)}")
            page.wait_for_function("document.querySelector('.search-summary')?.innerText")
            links = page.eval_on_selector_all(
                "ul.search > li > a", "links => links.map((link) => link.getAttribute('href'))"
            )
            return list(dict.fromkeys(link.partition(".html")[0] for link in links))

        yield found
        browser.close()


@pytest.mark.docs
@pytest.mark.parametrize("query", SEARCHES)
def test_a_search_finds_a_page_that_answers(search: Any, query: str) -> None:
    first = search(query)[:3]
    assert set(first) & set(SEARCHES[query].split()), first


@pytest.mark.docs
def test_a_search_for_nonsense_finds_nothing(search: Any) -> None:
    assert search("xyzzyplugh") == []


def test_all_pages_that_answer_are_there() -> None:
    named = {page for pages in SEARCHES.values() for page in pages.split()}
    assert named <= {name_of(page) for page in PAGES}


@pytest.mark.parametrize("page", PAGES_WITH_WORDS, ids=name_of)
def test_a_page_ends_with_search_words(page: Path) -> None:
    last = page.read_text(encoding="utf-8").rstrip().rpartition("\n")[2]
    match = re.fullmatch(r"<small>Search words: (.+)</small>", last)
    assert match, last
    words = match[1].split(", ")
    assert len(words) <= 20
    assert len(set(words)) == len(words)
    assert match[1] == match[1].lower()
