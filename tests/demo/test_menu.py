"""The menu by mouse."""

from itertools import pairwise

import numpy as np
import pytest

from demo.panel.menu import COMMANDS
from demo.scenery.names import SCENES
from demo.scenery.scenes import scene_class
from tests.demo.stand_in import SIZE, click, open_app, press


def choose(app, command: str) -> None:
    """Open the menu and click an entry."""
    click(app, app.panel.menu.button.center)
    assert app.panel.menu.is_open
    click(app, app.panel.menu.places[command].center)


@pytest.fixture
def app():
    opened = open_app(save_picture=lambda _: "saved it")
    opened.hints_left = 0.0
    return opened


def test_scenes_are_chosen_by_mouse(app) -> None:
    choose(app, "scene edges")
    assert app.scene.name == "edges"
    assert not app.panel.menu.is_open
    choose(app, "scene slopes")
    assert app.scene.name == "slopes"


def test_every_entry_does_something(app) -> None:
    choose(app, "pause")
    assert app.simulation.paused
    choose(app, "pause")
    assert not app.simulation.paused
    choose(app, "restart")
    assert app.scene.steps < 10
    mode = app.rig.mode
    choose(app, "camera")
    assert app.rig.mode != mode
    choose(app, "help")
    assert app.help
    choose(app, "panel")
    assert app.panel.visible
    choose(app, "screenshot")
    assert app.picked == "saved it"
    choose(app, "quit")
    assert not app.running


def test_the_list_is_in_the_window_and_its_entries_do_not_overlap(app) -> None:
    click(app, app.panel.menu.button.center)
    places = list(app.panel.menu.places.values())
    assert len(places) == len(COMMANDS)
    for place, following in pairwise(places):
        assert place.bottom <= following.top
    assert places[0].top >= 0
    assert max(place.right for place in places) <= SIZE[0]


def test_a_click_beside_it_closes_and_does_nothing_else(app) -> None:
    click(app, app.panel.menu.button.center)
    click(app, (SIZE[0] // 2, SIZE[1] // 2))
    assert not app.panel.menu.is_open
    assert not app.picked
    click(app, app.panel.menu.button.center)
    click(app, app.panel.menu.button.center)
    assert not app.panel.menu.is_open


def test_the_menu_is_there_with_and_without_the_panel(app) -> None:
    for _ in range(2):
        click(app, app.panel.menu.button.center)
        assert app.panel.menu.is_open
        press(app, "ESCAPE")
        assert not app.panel.menu.is_open
        press(app, "TAB")


def test_keys_choose_in_the_menu_and_the_game_goes_on(app) -> None:
    press(app, "F10")
    assert app.panel.menu.is_open
    steps = app.scene.steps
    press(app, "DOWN")
    press(app, "s")
    press(app, "UP")
    assert app.events.controls().forward == 0.0
    press(app, "RETURN")
    assert app.scene.name == SCENES[SCENES.index("slopes") + 1]
    assert steps > 0
    press(app, "F10")
    for _ in range(3):
        press(app, "w")
    press(app, "SPACE")
    assert app.scene.name == SCENES[0]
    press(app, "F10")
    press(app, "UP")  # from the first to the last
    press(app, "RETURN")
    assert not app.running


def test_the_key_of_the_menu_closes_it_too(app) -> None:
    press(app, "F10")
    press(app, "F10")
    assert not app.panel.menu.is_open
    press(app, "RETURN")
    assert app.scene.name == "slopes"


def test_entries_are_titles_with_their_keys(app) -> None:
    rows = app.panel.menu._rows()
    assert rows[0] == ("1", scene_class("walk").title, "scene walk")
    assert [key for key, _, _ in rows[:10]] == list("1234567890")
    assert ("P", "pause or resume", "pause") in rows
    assert max(len(words) for _, words, _ in rows) < 36


def test_a_click_on_the_menu_does_not_dig() -> None:
    app = open_app("digging")
    before = np.array(app.scene.land.heights)
    click(app, app.panel.menu.button.center, frames=3)
    assert app.panel.menu.is_open
    assert (app.scene.land.heights == before).all()
