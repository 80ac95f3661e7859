"""Keys and mouse of the demo, as scripted events."""

import re
from typing import Any

import numpy as np
import pygame
import pytest

from demo.panel.bindings import USUAL
from demo.panel.controls import Events
from demo.panel.help import help_of
from demo.panel.panel import HINT_SECONDS
from demo.panel.tables import draw_table
from demo.picture.camera import project
from demo.resolution import Resolution
from demo.scenery.names import SCENES, VIEWS
from demo.scenery.scenes import make_scene
from tests.demo.stand_in import SIZE, click, key, open_app, press

MIDDLE = (SIZE[0] // 2, SIZE[1] // 2)


def texts_of(app: Any) -> str:
    """Return what the tables over the picture say."""
    tables = [values[0] for draw, values in app.panel._drawn if draw is draw_table]
    return "\n".join(words.text for table in tables for row in table.rows for words in row)


def test_a_frame_is_drawn_overlaid_and_shown() -> None:
    app = open_app()
    renderer = app.renderer
    assert (renderer.drawn, renderer.overlaid, renderer.presented) == (1, 1, 1)
    assert renderer.panel.any()
    assert app.scene.steps == 2


@pytest.fixture(scope="module")
def paused() -> Any:
    app = open_app("reference")
    for _ in range(130):
        app.frame(1 / 60, [], drawn=False)
    press(app, "p")
    return app


@pytest.mark.parametrize("view", VIEWS, ids=[view.name for view in VIEWS])
def test_view_keys_switch_views(view, paused) -> None:
    app = paused
    app.frame(1 / 60, [])
    plain = app.renderer.last
    press(app, view.key)
    assert app.views == {view.name}
    seen = app.renderer.last
    changed = [
        len(seen.lines) != len(plain.lines),
        len(seen.tints) != len(plain.tints),
        seen.wireframe != plain.wireframe,
    ]
    assert any(changed)
    press(app, view.key)
    assert not app.views


def test_grid_and_panel_and_help() -> None:
    app = open_app()
    press(app, "g")
    assert app.renderer.last.grid
    assert not app.panel.visible
    assert not app.help
    hints = np.count_nonzero(app.renderer.panel)
    press(app, "h")
    assert np.count_nonzero(app.renderer.panel) > 2 * hints
    press(app, "F1")
    assert not app.help
    line = np.count_nonzero(app.renderer.panel)
    assert line < hints  # those were closed by asking for more
    press(app, "TAB")
    assert app.panel.visible
    assert np.count_nonzero(app.renderer.panel) > 5 * line
    press(app, "TAB")
    assert np.count_nonzero(app.renderer.panel) == line


def test_a_small_line_stays_that_tells_frames_and_the_way_to_help() -> None:
    app = open_app()
    for _ in range(698):
        app.frame(1 / 60, [], drawn=False)
    for _ in range(30):
        app.frame(1 / 60, [])
    line = app.renderer.panel
    assert line[: SIZE[0] // 2].max() == 0
    assert line[:, : SIZE[1] * 3 // 4].max() == 0
    assert (line > 0).mean() < 0.02
    assert re.search(r"\d fps   H: all keys", texts_of(app))


def test_hints_go_by_themselves_and_come_with_each_scene() -> None:
    app = open_app()
    assert "jump" in texts_of(app)
    app.hints_left = 0.01
    app.frame(1 / 60, [])
    assert app.hints_left == 0.0
    assert "jump" not in texts_of(app)
    press(app, "0")
    assert app.hints_left > HINT_SECONDS - 1.0
    assert "move the camera" in texts_of(app)
    rows = help_of(USUAL)
    assert len({keys for keys, _ in rows}) == len(rows)


def test_pause_single_step_back_and_forward() -> None:
    app = open_app("digging")
    for _ in range(20):
        app.frame(1 / 60, [])
    press(app, "p")
    steps, state = app.scene.steps, app.scene.state_hash()
    app.frame(1 / 60, [])
    assert app.scene.steps == steps
    press(app, "o")
    after = app.scene.state_hash()
    assert app.scene.steps == steps + 1
    press(app, "COMMA")
    assert (app.scene.steps, app.scene.state_hash()) == (steps, state)
    press(app, "PERIOD")
    assert (app.scene.steps, app.scene.state_hash()) == (steps + 1, after)
    press(app, "COMMA", frames=31)  # held: repeats after 0.3 s
    assert app.scene.steps <= steps - 10
    press(app, "p")
    assert app.scene.steps > 2


def test_restart_and_scenes() -> None:
    app = open_app()
    app.frame(1 / 60, [])
    press(app, "r")
    assert app.scene.steps <= 6
    for index, name in enumerate(SCENES[:10]):
        press(app, str((index + 1) % 10))
        assert app.scene.name == name
    for name in SCENES[10:]:  # without keys of their own
        press(app, "RIGHTBRACKET")
        assert app.scene.name == name
    press(app, "RIGHTBRACKET")
    assert app.scene.name == SCENES[0]
    press(app, "LEFTBRACKET")
    assert app.scene.name == SCENES[-1]
    assert app.renderer.drawn > 2 * len(SCENES)


def test_walking_running_and_jumping() -> None:
    app = open_app("digging")
    for _ in range(40):
        app.frame(1 / 60, [])
    body = app.scene.player.body
    _, _, z = body.place
    press(app, "w", frames=30)
    walked = z - body.place[2]
    assert 1.5 < walked < 2.6
    for _ in range(60):
        app.frame(1 / 60, [])
    _, _, z = body.place
    press(app, "w", "LSHIFT", frames=30)
    assert z - body.place[2] > 1.7 * walked
    for _ in range(30):
        app.frame(1 / 60, [])
    assert body.result.grounded
    press(app, "SPACE", frames=5)
    assert not body.result.grounded


def test_throwing_and_dropping() -> None:
    app = open_app()
    count = len(app.scene.bodies)
    press(app, "b")
    press(app, "n")
    thrown = [body for body in app.scene.bodies if body.name == "thrown"]
    assert len(thrown) == len(app.scene.bodies) - count == 2
    assert thrown[0].speed > 15.0
    press(app, "2")
    press(app, "0")
    press(app, "b")  # a scene without a player throws from the camera
    ball = app.scene.bodies[len(app.scene.bodies) - 1]
    away = np.array(ball.place) - np.array(app.renderer.last.camera.position)
    assert np.sqrt(away @ away) < 3.0


def test_the_mouse_digs_heaps_up_and_makes_holes() -> None:
    app = open_app("digging")
    land = app.scene.land
    for _ in range(5):
        app.frame(1 / 60, [])
    before = np.array(land.heights)
    click(app, (500, 200), frames=3)
    assert land.version > 0
    assert (land.heights <= before).all()
    assert land.heights.min() < before.min() - 0.1
    dug = np.array(land.heights)
    app.frame(1 / 60, [key("LSHIFT")])
    click(app, (500, 200), frames=3)
    app.frame(1 / 60, [key("LSHIFT", down=False)])
    assert (land.heights >= dug).all()
    assert not np.array(land.holes).any()
    press(app, "x")
    assert 0 < np.array(land.holes).sum() <= 18


def test_the_mouse_leads_the_hero_and_digs_trenches() -> None:
    app = open_app("paths")
    click(app, (420, 260))
    assert app.scene.path is not None
    assert not app.picked  # a click tells nothing where it leads
    x, _, z = app.scene.goal
    press(app, "x")
    (trench,) = app.scene.trenches
    assert (app.scene.level[trench] - app.scene.land.heights[trench]).min() > 2.0
    press(app, "LSHIFT", "x")
    assert not app.scene.trenches
    assert app.scene.goal == (x, app.scene.goal[1], z)


def test_clicks_pick_what_is_there() -> None:
    app = open_app()
    app.hints_left = 0.0
    for _ in range(30):
        app.frame(1 / 60, [])
    x, y, z = app.scene.player.body.place
    pixel = project(app.renderer.last.camera, SIZE, [(x, y + 0.9, z)])[0]
    click(app, (round(pixel[0]), round(pixel[1])))
    assert app.picked == "You, at rest."
    click(app, (SIZE[0] - 40, SIZE[1] - 60))
    assert re.fullmatch(r"Ground, level, \d+ m away\.", app.picked)
    press(app, "TAB")
    click(app, (SIZE[0] - 40, SIZE[1] - 60))
    assert re.match(r"Ground, level, \d+ m away\. \u2022 triangle \d+: ", app.picked)
    for _ in range(320):
        app.frame(1 / 60, [])
    assert not app.picked


def test_sliders_set_rules() -> None:
    app = open_app()
    press(app, "TAB")
    sliders = app.panel.sliders
    slider = sliders.gravity
    assert slider.rect is not None
    assert app.scene.bodies.rules.gravity == 9.81
    click(app, (slider.rect.right, slider.rect.centery))
    assert app.scene.bodies.rules.gravity == pytest.approx(30.0)
    assert sliders.dragged is None
    resolver = sliders.resolver
    click(app, (resolver.rect.right, resolver.rect.centery))
    assert app.scene.bodies.rules.resolver == "simultaneous"
    assert app.scene.bodies[0].mover.resolver == "simultaneous"
    time = sliders.time
    click(app, (time.rect.left, time.rect.centery))
    steps = app.scene.steps
    app.frame(1 / 60, [])
    assert app.scene.steps == steps
    press(app, "2")
    assert app.panel.sliders.gravity.value == 9.81


def test_camera_modes_look_zoom_and_home() -> None:
    app = open_app()
    modes = [app.rig.mode]
    for _ in range(4):
        press(app, "c")
        modes.append(app.rig.mode)
    assert modes == ["third person", "first person", "orbit", "free", "third person"]
    yaw, distance = app.rig.camera.yaw, app.rig.distance
    click(app, MIDDLE, button=3)
    assert app.events.captured
    turn = pygame.event.Event(pygame.MOUSEMOTION, pos=MIDDLE, rel=(50, 10), buttons=(0, 0, 0))
    app.frame(1 / 60, [turn])
    assert app.rig.camera.yaw < yaw
    press(app, "ESCAPE")
    assert not app.events.captured
    assert app.running
    app.frame(1 / 60, [pygame.event.Event(pygame.MOUSEWHEEL, x=0, y=2)])
    assert app.rig.distance < distance
    press(app, "HOME")
    assert app.rig.distance == distance


def test_a_long_press_looks_around_only_while_it_lasts(monkeypatch) -> None:
    app = open_app()
    click(app, MIDDLE, button=3, frames=30)
    assert not app.events.captured
    # A click is one however long this machine takes for its frames.
    times = iter(range(1_000_000))
    monkeypatch.setattr("demo.app.time.perf_counter", lambda: float(next(times)))
    click(app, MIDDLE, button=3)
    assert app.events.captured


def test_escape_closes_then_frees_then_asks_then_ends() -> None:
    app = open_app()
    click(app, MIDDLE, button=3)
    press(app, "h")
    press(app, "F10")
    for is_open, is_helped, is_captured, asks in (
        (False, True, True, False),
        (False, False, True, False),
        (False, False, False, False),
        (False, False, False, True),
    ):
        press(app, "ESCAPE")
        assert app.panel.menu.is_open is is_open
        assert app.help is is_helped
        assert app.events.captured is is_captured
        assert (app.asks_left > 0.0) is asks
        assert app.running
    assert "Quit the demo?" not in texts_of(app)  # drawn by itself, not as a table
    press(app, "ESCAPE")
    assert not app.running


@pytest.mark.parametrize("other", ["a key", "time", "a click", "the button"])
def test_the_question_goes_away(other: str) -> None:
    app = open_app()
    press(app, "ESCAPE")
    assert app.asks_left > 0.0
    if other == "a key":
        press(app, "w")
    elif other == "time":
        for _ in range(400):
            app.frame(1 / 60, [], drawn=False)
    else:
        places = app.panel.question._places
        click(app, places["stay"].center if other == "the button" else (5, SIZE[1] - 5))
    assert app.asks_left == 0.0
    assert app.running
    assert not app.picked


def test_the_question_is_answered_by_mouse() -> None:
    app = open_app()
    press(app, "ESCAPE")
    click(app, app.panel.question._places["quit"].center)
    assert not app.running


def test_an_answer_does_not_dig_below_the_question() -> None:
    app = open_app("digging")
    press(app, "ESCAPE")
    version = app.scene.land.version
    click(app, app.panel.question._places["stay"].center, frames=5)
    assert app.asks_left == 0.0
    assert app.scene.land.version == version
    click(app, app.panel.question._places["stay"].center, frames=5)
    assert app.scene.land.version > version


def test_a_key_that_answers_is_no_command() -> None:
    app = open_app()
    for _ in range(2):
        press(app, "ESCAPE")
        press(app, "5")
        assert app.asks_left == 0.0
        assert app.scene.name == "slopes"
    press(app, "5")
    assert app.scene.name != "slopes"


def test_a_command_without_code_is_not_done(monkeypatch) -> None:
    app = open_app()
    asked: list[str] = []

    def before(command: str) -> bool:
        asked.append(command)
        return False

    monkeypatch.setattr(app.scene, "pick", lambda *_: asked.append("picked"))
    app.before = before
    press(app, "F2")
    click(app, (SIZE[0] - 40, SIZE[1] - 60))
    assert asked == ["view candidates", "pick"]
    assert not app.views
    assert not app.picked


def test_why_a_command_has_no_code_is_told() -> None:
    app = open_app()

    def before(command: str) -> bool:
        raise ValueError(f"no room for {command}")

    app.before = before
    press(app, "F2")
    assert app.picked == "no room for view candidates"
    assert not app.views
    click(app, (SIZE[0] - 40, SIZE[1] - 60))
    assert app.picked == "no room for pick"
    assert app.running


def test_a_size_that_the_window_got_behind_a_bar_is_followed() -> None:
    app = open_app()

    def change(name: str) -> Any:
        app.renderer.resize((900, 500))
        return make_scene(name, small=True)

    app._change_scene = change
    press(app, "5")
    assert app.size == app.panel.canvas.surface.get_size() == (900, 500)

    def before(_: str) -> bool:
        app.renderer.resize((500, 900))
        return True

    app.before = before
    press(app, "F2")
    assert app.size == app.panel.canvas.surface.get_size() == (500, 900)


def test_camera_flies_but_never_under_the_ground() -> None:
    app = open_app("edges")
    before = app.renderer.last.camera.position
    press(app, "w", "d", frames=10)
    assert app.renderer.last.camera.position != before
    press(app, "c")
    assert app.rig.mode == "free"
    press(app, "q", "LSHIFT", frames=120)
    x, y, z = app.renderer.last.camera.position
    assert y > app.scene.land.height_at(x, z) + 0.3


def test_losing_focus_lets_go_of_everything() -> None:
    app = open_app("digging")
    app.frame(1 / 60, [key("w")])
    assert app.events.controls().forward == 1.0
    click(app, MIDDLE, button=3)
    app.frame(1 / 60, [pygame.event.Event(pygame.WINDOWFOCUSLOST)])
    assert app.events.controls().forward == 0.0
    assert not app.events.captured
    app.frame(1 / 60, [key("w", down=False)])
    app.frame(20.0, [])  # the window was dragged: no spiral
    assert app.running


def test_resizing() -> None:
    app = open_app()
    app.frame(1 / 60, [pygame.event.Event(pygame.VIDEORESIZE, w=900, h=500, size=(900, 500))])
    assert app.renderer.size == app.size == (900, 500)
    app.frame(1 / 60, [pygame.event.Event(pygame.VIDEORESIZE, w=1, h=1, size=(1, 1))])
    assert app.renderer.size == (64, 64)


def test_screenshot_key_saves_what_is_seen() -> None:
    saved = []

    def keep(pixels: np.ndarray) -> str:
        saved.append(pixels)
        return "saved it"

    app = open_app(save_picture=keep)
    press(app, "F12")
    assert saved[0].shape == (SIZE[1], SIZE[0], 3)
    assert app.picked == "saved it"


def test_a_screenshot_is_at_full_resolution() -> None:
    app = open_app(save_picture=lambda pixels: "saved it", resolution=Resolution(0.6))  # noqa: ARG005
    press(app, "F12")
    app.frame(1 / 60, [])
    assert app.renderer.scales == [0.6, 1.0, 0.6, 0.6]
    assert open_app().renderer.scales == [1.0]


def test_slow_pictures_are_drawn_smaller_and_the_panel_tells(monkeypatch) -> None:
    app = open_app(resolution=Resolution())
    now = [0.0]
    monkeypatch.setattr("demo.app.time.perf_counter", lambda: now[0])
    draw = app.renderer.draw

    def slow(frame) -> None:
        draw(frame)
        now[0] += 0.030 * app.renderer.scale**2

    app.renderer.draw = slow
    for _ in range(60):
        app.frame(1 / 60, [])
    assert app.renderer.scale == 0.7
    press(app, "TAB")
    assert ("picture", "70%") in app.panel._figures


def test_closing_the_window_ends() -> None:
    app = open_app()
    app.frame(1 / 60, [pygame.event.Event(pygame.QUIT)])
    assert not app.running


def test_two_keys_for_one_direction() -> None:
    events = Events()
    for event in (key("w"), key("UP"), key("w", down=False)):
        events.handle(event)
    assert events.controls().forward == 1.0
    events.handle(key("s"))
    assert events.controls().forward == 0.0
    events.handle(key("UP", down=False))
    assert events.controls().forward == -1.0


def test_keys_that_are_down_at_the_start_are_held() -> None:
    events = Events()
    events.hold({pygame.K_w, pygame.K_SPACE}.__contains__)
    assert events.controls().forward == 1.0
    assert not events.controls().jump
    events.handle(key("w", down=False))
    assert events.controls().forward == 0.0


def test_scripted_runs_follow_the_script() -> None:
    app = open_app("slopes", scripted=True)
    app.simulation.source = app.scene.script
    for _ in range(5):
        app.frame(1 / 60, [])
    assert app.rig.camera.yaw == app.scene.script().yaw
    assert app.renderer.overlaid == 0
    app.panel.visible = True
    app.frame(1 / 60, [])
    assert app.renderer.overlaid == 1
