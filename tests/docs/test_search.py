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

HERE = Path(__file__).parent

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

# Others' searches, each with the one page that has to be found.
ASKED = [
    tuple(line.split(" | "))
    for line in (HERE / "searches.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]

# Questions, and what is left of them.
QUESTIONS = {
    "why does my character float": "character float",
    "how to make it jump": "jump",
    "How can I make my hero swim?": "hero swim",
    "why is it so slow": "slow",
    "why doesn't it install": "install",
    "how do I make a moving platform": "moving platform",
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


def stop_words_of_the_search() -> list[str]:
    script = (DOCS / "search.js").read_text(encoding="utf-8")
    listed = script.partition("STOP_WORDS = ")[2].partition(".split(")[0]
    return " ".join(re.findall(r'"(.*)"', listed)).split()


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
@pytest.mark.parametrize(("query", "page"), ASKED)
def test_a_search_finds_its_page(search: Any, query: str, page: str) -> None:
    first = search(query)[:3]
    assert page in first, first


@pytest.mark.docs
@pytest.mark.parametrize("query", QUESTIONS)
def test_a_question_finds_what_its_subject_does(search: Any, query: str) -> None:
    assert search(query)[:3] == search(QUESTIONS[query])[:3]


@pytest.mark.docs
def test_a_search_of_stop_words_alone_goes_by_them(search: Any) -> None:
    assert "concepts/walkability" in search("what is it for")[:3]  # "What it is used for"
    assert "guide/make_ground" in search("make")[:3]
    assert search("why")


@pytest.mark.docs
def test_a_search_for_nonsense_finds_nothing(search: Any) -> None:
    assert search("xyzzyplugh") == []


def test_all_pages_that_answer_are_there() -> None:
    named = {page for pages in SEARCHES.values() for page in pages.split()}
    named.update(page for _, page in ASKED)
    assert named <= {name_of(page) for page in PAGES}


def test_questions_are_left_with_their_subject() -> None:
    stop_words = stop_words_of_the_search()
    assert len(stop_words) == len(set(stop_words))
    for question, subject in QUESTIONS.items():
        words = re.findall(r"[a-z]+", question.lower())
        assert [word for word in words if word not in stop_words] == subject.split()
    for query in (*SEARCHES, *(query for query, _ in ASKED)):
        assert not set(re.findall(r"[a-z]+", query.lower())) <= set(stop_words), query


@pytest.mark.parametrize(("query", "page"), ASKED)
def test_a_page_that_has_to_be_found_knows_each_word(query: str, page: str) -> None:
    """The cheap part of what the built site is asked: a page without the words is not found."""
    if page.startswith("api/"):
        return  # made of docstrings
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8").lower()
    there = re.findall(r"\w+", text)
    for word in set(re.findall(r"\w+", query.lower())) - set(stop_words_of_the_search()):
        beginning = word[: max(4, len(word) - 2)]  # without an ending
        assert any(other.startswith(beginning) for other in there), word


@pytest.mark.parametrize("page", PAGES_WITH_WORDS, ids=name_of)
def test_a_page_ends_with_search_words(page: Path) -> None:
    last = page.read_text(encoding="utf-8").rstrip().rpartition("\n")[2]
    match = re.fullmatch(r"<small>Search words: (.+)</small>", last)
    assert match, last
    words = match[1].split(", ")
    assert len(words) <= 20
    assert len(set(words)) == len(words)
    assert match[1] == match[1].lower()
