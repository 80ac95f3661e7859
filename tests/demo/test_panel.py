"""What lies over the picture: drawn when it changes, readable at every size."""

from typing import Any

import numpy as np
import pygame
import pytest

from demo.app import App
from demo.panel.maps import SIDE
from demo.picture.frame import Camera, Frame, Label
from demo.renderers.labels import draw_labels
from demo.scenery.names import SCENES
from demo.scenery.scenes import make_scene
from demo.simulation import Simulation
from tests.demo.stand_in import Counting, open_app, press

SIZES = [(800, 600), (1280, 720), (2560, 1440), (640, 360)]


def open_at(size: tuple[int, int], name: str = "digging") -> Any:
    return App(Simulation(make_scene(name, small=True)), Counting(size), size)


def versions(app: Any, frames: int) -> int:
    """Return how often the surface is drawn anew in some frames."""
    first = app.panel.version
    for _ in range(frames):
        app.frame(1 / 60, [])
    return int(app.panel.version - first)


def test_it_is_drawn_anew_only_when_something_looks_different() -> None:
    app = open_app()
    app.panel.times.mean = lambda *_: 1000 / 60  # whatever this machine does
    assert versions(app, 60) <= 1
    assert app.renderer.versions[-1] == app.panel.version
    app.show("a word")
    assert versions(app, 1) == 1
    assert versions(app, 20) == 0
    app.hints_left = app._picked_left = 0.0
    app.frame(1 / 60, [])
    before = app.renderer.panel
    assert versions(app, 60) == 0
    np.testing.assert_array_equal(app.renderer.panel, before)


def test_figures_and_graph_change_a_few_times_a_second() -> None:
    app = open_app()
    press(app, "TAB")
    assert 2 <= versions(app, 60) <= 6
    press(app, "p")
    app.frame(1 / 60, [])
    press(app, "COMMA")
    app.frame(1 / 60, [])
    assert ("step", str(app.scene.steps)) in app.panel._figures  # at once


def test_a_slider_is_drawn_as_it_is_dragged() -> None:
    app = open_app()
    press(app, "TAB")
    rect = app.panel.sliders.gravity.rect
    down = pygame.event.Event(pygame.MOUSEBUTTONDOWN, button=1, pos=rect.center)
    app.frame(1 / 1000, [down])
    for x in range(rect.left + 5, rect.right, 20):
        version = app.panel.version
        move = pygame.event.Event(pygame.MOUSEMOTION, pos=(x, rect.centery), rel=(1, 0))
        app.frame(1 / 1000, [move])
        assert app.panel.version == version + 1


def test_what_is_bare_is_not_drawn_at_all() -> None:
    app = open_app(scripted=True)
    for _ in range(5):
        app.frame(1 / 60, [])
    assert app.panel.version == app.renderer.overlaid == 0


def test_slow_motion_is_told() -> None:
    app = open_app("counter")
    for _ in range(30):
        app.frame(0.1, [])
    app.frame(1 / 60, [])
    assert app.panel._slow == "slow: 0.4 x"
    for _ in range(400):
        app.frame(1 / 60, [])
    assert not app.panel._slow


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("shown", ["hints", "help", "panel", "menu", "question", "a long word"])
def test_nothing_is_cut_at_the_edge(size: tuple[int, int], shown: str) -> None:
    app = open_at(size)
    app.frame(1 / 60, [])
    if shown == "a long word":
        app.show("All of a long sentence is seen, with figures that nobody reads. " * 4)
    elif shown != "hints":
        press(app, {"help": "h", "panel": "TAB", "menu": "F10", "question": "ESCAPE"}[shown])
    app.frame(1 / 60, [])
    window = pygame.Rect((0, 0), size)
    assert all(window.contains(box) for box in app.panel.boxes)
    edge = app.renderer.panel.copy()
    edge[3:-3, 3:-3] = 0
    assert not edge.any()


@pytest.mark.parametrize("name", SCENES)
def test_first_words_of_each_scene_leave_most_of_the_picture_free(name: str) -> None:
    app = open_at((800, 600), name)
    app.frame(1 / 60, [])
    covered = (app.renderer.panel > 0).mean()
    assert 0.01 < covered < 0.12


@pytest.mark.parametrize("panel", [False, True])
@pytest.mark.parametrize("size", SIZES)
def test_maps_are_in_the_corner_and_beside_all_else(size: tuple[int, int], panel: bool) -> None:
    app = open_at(size, "world")
    app.panel.visible = panel
    app.show("All of a long sentence is seen, with figures that nobody reads. " * 2)
    app.frame(1 / 60, [])
    corner = min(app.panel.boxes, key=lambda box: (-box.bottom, box.left))
    px = app.panel.canvas.ink.px
    assert corner.height == px(SIDE) + 2 * px(8)  # nothing is joined to it
    assert corner.width == 2 * px(SIDE) + 3 * px(8)
    assert corner.bottom == size[1] - px(12)
    assert np.asarray(app.renderer.panel)[corner.left + 20, corner.top + 20]


def test_maps_are_also_in_pictures_without_words() -> None:
    app = open_app("world", scripted=True)
    app.frame(1 / 60, [])
    assert len(app.panel.boxes) == 1
    assert app.renderer.overlaid == 2  # in each frame


def labeled(covered: list[tuple[int, int, int, int]], place: Any = (0.0, 0.0, -20.0)) -> Any:
    """Return where a label is written on a picture of 400 x 300, if anywhere."""
    picture = pygame.Surface((400, 300), pygame.SRCALPHA)
    frame = Frame(Camera((0.0, 0.0, 0.0), 0.0, 0.0), labels=[Label("a word", place)])
    frame.covered = covered
    draw_labels(picture, frame)
    box = picture.get_bounding_rect()
    return box if box.width else None


def test_labels_are_beside_what_covers_the_picture_or_left_out() -> None:
    free = labeled([])
    assert free.midbottom == pytest.approx((200, 150), abs=2)
    assert labeled([(0, 0, 50, 300)]) == free
    cover = (free.left + 10, 0, 400, 300)
    moved = labeled([cover])
    assert moved is not None
    assert moved.right <= cover[0]
    assert moved.top == free.top
    assert labeled([(20, 20, 360, 260)]) is None


def test_labels_are_not_cut_at_the_edge() -> None:
    right = labeled([], (15.0, 0.0, -20.0))
    assert right is not None
    assert right.right <= 400
    assert right.width == labeled([]).width
    assert labeled([], (60.0, 0.0, -20.0)) is None  # not in the picture


@pytest.mark.parametrize("size", [*SIZES, (1920, 1080), (1366, 768)])
def test_the_sliders_fit_below_figures_and_views(size: tuple[int, int]) -> None:
    app = open_at(size, "stairs")
    app.panel.visible = True
    app.frame(1 / 60, [])
    assert all(slider.rect is not None for slider in app.panel.sliders)
