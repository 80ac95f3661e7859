"""The window around the game: what waits behind a bar, and what comes of it."""

import threading
from types import SimpleNamespace
from typing import Any

import pygame
import pytest

from demo.panel.bindings import USUAL
from demo.panel.loading import Report
from demo.running.window import _Play
from demo.starting import code, rehearsal
from tests.demo.stand_in import Counting

HANG = 900.0  # seconds that nothing here takes
ESCAPE = pygame.event.Event(pygame.KEYDOWN, key=pygame.K_ESCAPE)


@pytest.fixture
def renderer(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    pygame.display.init()
    pygame.event.clear()
    yield Counting()
    pygame.display.quit()


@pytest.fixture
def play(monkeypatch):
    """Return a window while the rest of the code is not there."""
    monkeypatch.setattr(code, "is_missing", lambda _: True)
    options: Any = SimpleNamespace(scene="slopes")
    nothing: Any = None
    play: Any = _Play(options, nothing, nothing)
    return play


def running(renderer: Any) -> Any:
    """Return a run of which nothing but name and renderer may be used in another thread."""
    return SimpleNamespace(
        app=SimpleNamespace(scene=SimpleNamespace(name="slopes"), renderer=renderer)
    )


def test_the_code_of_a_command_is_rehearsed_first(play, renderer, monkeypatch) -> None:
    seen: list[tuple[str, str, list[str]]] = []
    monkeypatch.setattr(rehearsal, "see", lambda *what: seen.append(what))
    run = running(renderer)
    for command in ("view boxes", "pick", "pause"):
        assert play._before(run, command)
        assert play._before(run, command)
    assert seen == [("slopes", "counting", ["boxes"]), ("slopes", "counting", [])]
    monkeypatch.setattr(code, "is_missing", lambda _: False)
    assert play._before(run, "view contacts")
    assert len(seen) == 2


def test_keys_that_went_down_behind_a_bar_are_held(play, renderer) -> None:
    asked: list[str] = []

    def frame(*_: object) -> None:
        asked.append("frame")
        if len(asked) == 4:
            play._wait(renderer, "slopes", "One moment", lambda: None)

    play._options.frames = 4
    events = SimpleNamespace(hold=lambda _: asked.append("hold"))
    play._loop(SimpleNamespace(app=SimpleNamespace(running=True, frame=frame, events=events)))
    # First is heard what went up: a window that is opened anew lets go of all keys for a moment.
    assert asked == ["frame", "hold", "frame", "frame", "frame", "hold"]


def test_the_time_of_a_wait_is_not_played(play, renderer, monkeypatch) -> None:
    now, played = [0.0], list[float]()
    monkeypatch.setattr("demo.running.window.time.perf_counter", lambda: now[0])

    def frame(seconds: float, _: object) -> None:
        played.append(seconds)
        now[0] += 0.125
        if len(played) == 2:
            play._wait(renderer, "slopes", "One moment", lambda: None)
            now[0] += 60.0
        app.running = len(played) < 4

    events = SimpleNamespace(hold=lambda _: None)
    app = SimpleNamespace(running=True, frame=frame, events=events)
    play._options.frames = None
    play._loop(SimpleNamespace(app=app))
    assert played == [0.0, 0.125, 0.0, 0.125]


def test_escape_gives_a_command_up(play, renderer, monkeypatch) -> None:
    let_go = threading.Event()
    monkeypatch.setattr(rehearsal, "see", lambda *_: let_go.wait(HANG))
    pygame.event.post(ESCAPE)
    try:
        assert not play._before(running(renderer), "view boxes")
        assert not pygame.event.get(pygame.QUIT)
    finally:
        let_go.set()


def test_a_window_closed_meanwhile_ends_the_game(play, renderer, monkeypatch) -> None:
    let_go = threading.Event()
    monkeypatch.setattr(rehearsal, "see", lambda *_: let_go.wait(HANG))
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    try:
        assert not play._before(running(renderer), "pick")
        assert pygame.event.get(pygame.QUIT)
    finally:
        let_go.set()


def test_what_goes_wrong_is_told_with_the_scene(play, renderer, monkeypatch) -> None:
    def see(*_: object) -> None:
        raise OSError("no\nroom")

    monkeypatch.setattr(rehearsal, "see", see)
    with pytest.raises(ValueError, match=r"^slopes cannot go on: OSError: no room$"):
        play._before(running(renderer), "pick")


def test_a_rehearsal_has_a_scene_of_its_own(monkeypatch) -> None:
    done: list[tuple[str, Any]] = []
    monkeypatch.setattr(rehearsal, "play", lambda scene: done.append(("play", scene)))
    monkeypatch.setattr(rehearsal, "look", lambda scene: done.append(("look", scene)))
    monkeypatch.setattr(
        rehearsal, "draw", lambda scene, kind, *views: done.append((f"{kind} {views}", scene))
    )
    rehearsal.see("slopes", "gl", ["boxes"])
    assert [what for what, _ in done] == ["play", "gl ('boxes',)", "look"]
    assert {id(scene) for _, scene in done} == {id(done[0][1])}
    assert done[0][1].name == "slopes"


@pytest.mark.parametrize(
    ("kind", "name", "compiled"),
    [
        ("auto", "software", ["auto", "software"]),
        ("software", "software", ["software"]),
        ("auto", "gl", ["auto"]),
    ],
)
def test_code_of_a_renderer_that_nobody_expected_is_compiled_behind_the_bar(
    renderer, monkeypatch, kind: str, name: str, compiled: list[str]
) -> None:
    done: list[str] = []

    def compile_kind(kind: str) -> str:
        done.append(kind)
        return kind

    preparation: Any = SimpleNamespace(
        name="slopes",
        compile=compile_kind,
        load=lambda *_: done.append("loaded"),
        report=Report,
    )
    renderer.name = name
    monkeypatch.setattr("demo.running.run.renderer_of", lambda *_: renderer)
    options: Any = SimpleNamespace(scene="slopes", renderer=kind)
    play: Any = _Play(options, USUAL, preparation)
    monkeypatch.setattr(play, "_play", lambda *_: 0)
    assert play.run(renderer) == 0
    assert done == [*compiled, "loaded"]
    assert renderer.closed
