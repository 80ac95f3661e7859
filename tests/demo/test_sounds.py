"""Footsteps: what they sound like, when they are heard, and what the sound card has to do."""

import importlib.util
import os
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pygame
import pytest

from demo.panel.bindings import USUAL
from demo.panel.help import help_of
from demo.renderers.look import BY_NAME
from demo.running import command_line, options, run
from demo.scenery.player import _STRIDE
from demo.scenery.scenes import make_scene
from demo.sound import sounds
from demo.sound.audio_driver import AudioDriver
from demo.sound.timbres import _TIMBRES, RATE, VARIANTS, footstep, landing
from demo.starting import code
from tests.demo.stand_in import Counting, click, key, open_app, press
from tests.helpers.examples import times

WALKED_ON = ("grass", "earth", "sand", "gravel", "snow", "stone", "wood", "metal", "water")


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> AudioDriver:
    """Return a driver that has touched nothing yet; nobody has chosen one."""
    monkeypatch.setenv("SDL_AUDIODRIVER", "")  # so that what is set later is undone, too
    monkeypatch.delenv("SDL_AUDIODRIVER")
    fresh = AudioDriver()
    monkeypatch.setattr(sounds, "AUDIO_DRIVER", fresh)
    monkeypatch.setattr(command_line, "AUDIO_DRIVER", fresh)
    return fresh


@pytest.fixture
def dummy(driver: AudioDriver, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Let SDL play to nobody, as if the user had chosen so."""
    monkeypatch.setenv("SDL_AUDIODRIVER", "dummy")
    yield driver
    pygame.mixer.quit()


def listen(app: Any) -> list[tuple[Any, str, int, float]]:
    """Turn sound on, and return a list of what is played from now on."""
    played = []

    class Sound:
        def __init__(self, *what: Any) -> None:
            self.what = what

        def set_volume(self, volume: float) -> None:
            self.volume = volume

        def play(self) -> None:
            played.append((*self.what, self.volume))

    app.sounds.on, app.sounds._made = True, Sound
    return played


def standing(name: str = "digging") -> Any:
    """Return the demo with a player who has come to rest."""
    app = open_app(name)
    wait(app, 60)
    return app


def wait(app: Any, frames: int) -> None:
    """Let time go by; nobody looks."""
    for _ in range(frames):
        app.frame(1 / 60, [], drawn=False)


# What they sound like


@pytest.mark.parametrize("make", [footstep, landing])
@pytest.mark.parametrize("material", [*BY_NAME, "", "cheese"])
def test_sounds_are_short_bounded_and_without_clicks(make: Any, material: str) -> None:
    for variant in range(times(VARIANTS)):
        samples = make(material, variant)
        assert 0.05 * RATE < len(samples) < 0.5 * RATE
        assert 0.3 < np.abs(samples).max() <= 1.0
        assert abs(samples[0]) < 1e-3 > abs(samples[-1])
        # A third of a millisecond at either end is all but silent.
        assert np.abs(np.concatenate([samples[:15], samples[-15:]])).max() < 0.05
        assert (make(material, variant) == samples).all()


def spectrum(samples: np.ndarray) -> np.ndarray:
    """Return how loud each third of an octave is, all together 1."""
    power = np.abs(np.fft.rfft(samples, RATE)) ** 2
    edges = (50.0 * 2.0 ** (np.arange(26) / 3.0)).astype(int)
    bands = np.add.reduceat(power, edges)
    return np.asarray(np.sqrt(bands / bands.sum()))


@cache
def spectrum_of_step(material: str, variant: int) -> np.ndarray:
    """Return the spectrum of a footstep; -1 is the last variant."""
    return spectrum(footstep(material, variant))


@pytest.mark.parametrize(("one", "other"), list(combinations(WALKED_ON, 2)))
def test_materials_differ_more_than_steps_on_one(one: str, other: str) -> None:
    def pair(a: str, i: int, b: str, j: int) -> float:
        return float(np.abs(spectrum_of_step(a, i) - spectrum_of_step(b, j)).sum())

    across = np.mean([pair(one, i, other, i) for i in range(VARIANTS)])
    within = np.mean([pair(each, i, each, i - 1) for each in (one, other) for i in range(VARIANTS)])
    assert across > within


def test_steps_on_one_material_vary() -> None:
    for one, other in combinations(range(VARIANTS), 2):
        first, second = footstep("wood", one), footstep("wood", other)
        assert not np.array_equal(first, second)
    assert np.array_equal(footstep("wood", 1), footstep("Wood", 1 + VARIANTS))


def test_all_materials_that_have_a_color_have_a_sound() -> None:
    assert _TIMBRES.keys() == BY_NAME.keys()
    assert np.array_equal(footstep("cheese", 3), footstep("", 3))


def test_a_landing_is_deeper_than_a_step() -> None:
    def low(samples: np.ndarray) -> float:
        return float((spectrum(samples)[:4] ** 2).sum())

    for material in WALKED_ON:
        assert low(landing(material, 0)) > 0.5 > low(footstep(material, 0))


# When they are heard


@pytest.mark.parametrize("run", [False, True])
def test_a_walk_of_n_strides_has_n_footsteps(run: bool) -> None:
    app = standing()
    played = listen(app)
    player = app.scene.player
    start = player.walked
    assert start < 0.1  # at rest nobody steps on the spot
    app.frame(1 / 60, [key("w"), *([key("LSHIFT")] if run else [])])
    while player.walked < start + 9 * _STRIDE:
        app.frame(1 / 60, [])
    assert len(played) == 9
    assert {make for make, *_ in played} == {footstep}
    assert {material for _, material, _, _ in played} == {"grass"}
    variants = [variant for _, _, variant, _ in played]
    assert len(set(variants)) == VARIANTS
    assert all(volume <= 1.0 for *_, volume in played)


def test_who_runs_is_louder() -> None:
    app = standing()
    played = listen(app)
    press(app, "w", frames=60)
    walking = played[-1][-1]
    press(app, "w", "LSHIFT", frames=60)
    running = played[-1][-1]
    assert 0.3 < walking < running - 0.2


def test_who_stands_is_not_heard() -> None:
    app = standing()
    played = listen(app)
    wait(app, 120)
    assert not played


def test_a_jump_is_silent_until_it_ends_in_one_thump() -> None:
    app = standing()
    played = listen(app)
    app.frame(1 / 60, [key("w")])
    wait(app, 30)
    app.frame(1 / 60, [key("SPACE")])
    del played[:]
    while not app.scene.player.body.result.grounded:
        assert not played
        app.frame(1 / 60, [])
    assert [make for make, *_ in played] == [landing]


def test_the_harder_the_landing_the_louder() -> None:
    volumes = []
    for height in (0.15, 1.0, 3.0, 8.0, 30.0, 40.0):
        app = standing()
        played = listen(app)
        mover = app.scene.player.body.mover
        x, y, z = mover.position64
        mover.position = (x, y + height, z)
        wait(app, 240)
        assert len(played) <= 1
        volumes.append(played[0][-1] if played else 0.0)
    assert volumes[0] == 0.0
    assert volumes == sorted(volumes)
    assert len(set(volumes)) == 5
    assert volumes[-1] == volumes[-2] == 1.0


def test_pause_and_steps_back_are_silent() -> None:
    app = standing()
    played = listen(app)
    app.frame(1 / 60, [key("w")])
    wait(app, 90)
    heard = len(played)
    assert heard > 3
    press(app, "p")
    wait(app, 30)
    app.frame(1 / 60, [key("COMMA")])
    wait(app, 60)  # held: it repeats
    app.frame(1 / 60, [key("COMMA", down=False), key("PERIOD")])
    wait(app, 90)
    app.frame(1 / 60, [key("PERIOD", down=False)])
    for _ in range(40):
        press(app, "o")
    assert len(played) == heard
    press(app, "p")
    wait(app, 60)
    assert len(played) > heard


def test_a_step_that_was_taken_back_is_heard_again() -> None:
    app = standing()
    played = listen(app)
    app.frame(1 / 60, [key("w")])
    while len(played) < 4:
        app.frame(1 / 60, [])
    press(app, "COMMA", "COMMA", "COMMA")
    for _ in range(4):
        press(app, "COMMA")
    press(app, "p")
    while len(played) < 5:
        app.frame(1 / 60, [])
    assert played[4][:3] == played[3][:3]


def test_scenes_without_a_player_are_silent_and_the_next_one_is_heard() -> None:
    app = open_app("reference")
    played = listen(app)
    wait(app, 150)
    assert not played
    press(app, "7")
    press(app, "w", frames=60)
    assert played


@pytest.mark.parametrize(
    ("name", "place", "material"),
    [
        ("digging", (0.0, 0.1, 12.0), "grass"),
        ("stairs", (0.0, 0.1, 14.0), "grass"),
        ("stairs", (0.0, 2.5, -6.0), "wood"),
        ("stairs", (-6.0, 2.5, -1.0), "stone"),
        ("lift", (0.0, 6.1, -14.0), "stone"),
        ("lift", (-12.5, 0.4, 1.0), "metal"),
        ("lift", (4.0, 6.1, -14.0), "wood"),
        ("slopes", (0.0, 0.1, 9.0), ""),
    ],
)
def test_the_material_is_that_of_the_ground(name: str, place: Any, material: str) -> None:
    app = open_app(name)
    if name == "stairs":  # columns of stairs stand beside the ramp
        x, y, z = place
        place = (app.scene._x(5) + x, y, z)
    played = listen(app)
    mover = app.scene.player.body.mover
    mover.position = place
    wait(app, 20)
    del played[:]
    mover.velocity = (0.0, 4.0, 0.0)
    wait(app, 60)
    assert [(make, made_of) for make, made_of, *_ in played] == [(landing, material)]


def test_physics_knows_nothing_of_sound(dummy: AudioDriver) -> None:
    states = []
    for loud in (False, True):
        app = open_app("walk")
        if loud:
            press(app, "m")
            assert app.sounds.on
        else:
            press(app, "k")
        app.frame(1 / 60, [key("w"), key("LSHIFT")])
        wait(app, 50)
        press(app, "SPACE")
        wait(app, 60)
        states.append((app.scene.steps, app.scene.state_hash()))
    assert states[0] == states[1]


# The sound card


def test_the_key_turns_sound_on_and_off(dummy: AudioDriver) -> None:
    app = standing()
    assert not app.sounds.on
    assert pygame.mixer.get_init() is None
    press(app, "m")
    assert (app.sounds.on, app.picked) == (True, "sound: on")
    assert pygame.mixer.get_init() == (RATE, -16, 1)
    app.frame(1 / 60, [key("w")])
    wait(app, 10)
    while not app.scene.player.foot_down:
        app.simulation.step(app.events.controls())
    assert pygame.mixer.get_busy()
    press(app, "m")
    assert (app.sounds.on, app.picked) == (False, "sound: off")
    assert not pygame.mixer.get_busy()
    wait(app, 60)
    assert not pygame.mixer.get_busy()
    press(app, "m")
    assert app.sounds.on


def test_the_menu_turns_it_on_and_off_and_shows_which(dummy: AudioDriver) -> None:
    app = open_app()

    def entry() -> np.ndarray:
        click(app, app.panel.menu.button.center)
        place = app.panel.menu.places["sound"]
        app.frame(1 / 60, [pygame.event.Event(pygame.MOUSEMOTION, pos=(300, 9), rel=(0, 0))])
        seen = pygame.surfarray.array3d(app.panel.canvas.surface.subsurface(place))
        click(app, place.center)
        return seen

    off = entry()
    assert app.sounds.on
    on = entry()
    assert not app.sounds.on
    assert not np.array_equal(off, on)
    assert np.array_equal(off, entry())


def test_the_action_has_a_key_and_help() -> None:
    assert USUAL.keys["sound"] == ("m",)
    assert "sound" in dict(help_of(USUAL))["M"]


def test_without_a_sound_card_a_line_says_so(
    driver: AudioDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = standing()
    monkeypatch.setenv("SDL_AUDIODRIVER", "gramophone")
    press(app, "m")
    assert not app.sounds.on
    assert app.picked.startswith("sound: off, as no sound card can be opened (")
    assert "gramophone" in app.picked
    press(app, "w", frames=60)
    assert pygame.mixer.get_init() is None


def test_a_pygame_without_a_mixer_is_told_too(
    dummy: AudioDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Missing:  # as pygame has it where a library of the system is not there
        def __getattr__(self, name: str) -> Any:
            raise NotImplementedError("mixer module not available")

    with monkeypatch.context() as patch:
        patch.setattr(pygame, "mixer", Missing())
        spec: Any = importlib.util.spec_from_file_location("demo.sound.anew", sounds.__file__)
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
        app = open_app()
        press(app, "m")
        assert app.picked.endswith("(mixer module not available)")
        assert not app.sounds.on


def test_sdl_looks_for_a_card_only_when_it_may(
    driver: AudioDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        driver.silence()
        driver.silence()
        assert os.environ["SDL_AUDIODRIVER"] == "dummy"
        driver.allow()
        assert "SDL_AUDIODRIVER" not in os.environ
    for chosen in ("dummy", "pulseaudio"):
        monkeypatch.setenv("SDL_AUDIODRIVER", chosen)
        driver.silence()
        driver.allow()
        assert os.environ["SDL_AUDIODRIVER"] == chosen


def test_a_card_that_is_not_there_is_looked_for_once(
    driver: AudioDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver.silence()
    seen = []

    def init(*_: Any, **__: Any) -> None:
        seen.append(os.environ.get("SDL_AUDIODRIVER"))
        raise pygame.error("no such device")

    monkeypatch.setattr(pygame.mixer, "init", init)
    app = open_app()
    press(app, "m")
    assert seen == [None]
    assert os.environ["SDL_AUDIODRIVER"] == "dummy"


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Take the place of the renderers, make scenes small, and return what opens the mixer."""
    calls: list[Any] = []
    real = pygame.mixer.init

    def init(*values: Any, **named: Any) -> None:
        calls.append(values)
        real(*values, **named)

    monkeypatch.setattr(pygame.mixer, "init", init)
    monkeypatch.setattr(run, "open_renderer", lambda _, size, **__: Counting(size))
    monkeypatch.setattr("demo.renderers.likely_kind", lambda kind: kind)
    monkeypatch.setattr(code, "missing_parts", lambda _: [])  # no test waits for it
    monkeypatch.setattr(
        run, "make_scene", lambda name, seed, **_: make_scene(name, seed, small=True)
    )
    return calls


@pytest.mark.parametrize("arguments", [["--headless"], []])
def test_runs_without_a_window_never_open_the_mixer(
    dummy: AudioDriver, opened: list[Any], arguments: list[str]
) -> None:
    arguments = [*arguments, "--sound", "--frames", "90", "--scene", "walk"]
    assert command_line.main(arguments) == 0
    assert not opened


def test_a_window_opens_it_only_if_asked(
    dummy: AudioDriver, opened: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(options, "has_display", lambda _: True)
    pygame.display.init()
    try:
        assert command_line.main(["--frames", "3", "--scene", "slopes"]) == 0
        assert not opened
        assert command_line.main(["--frames", "3", "--scene", "slopes", "--sound"]) == 0
        assert len(opened) == 1
        assert pygame.mixer.get_init()
    finally:
        pygame.display.quit()
