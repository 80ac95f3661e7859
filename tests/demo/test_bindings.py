"""Keys of the user's file, and gamepads."""

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pygame
import pytest

from demo import app as demo_app
from demo.panel import bindings, menu
from demo.panel.bindings import USUAL, fixed_keys, load
from demo.panel.controls import Events
from demo.panel.help import help_of, hints_of, way_to_help
from demo.running import command_line, options
from demo.scenery import names, scenes
from demo.scenery.names import SCENES
from demo.scenery.scenes import scene_class
from tests.demo.stand_in import key, open_app, press
from tests.helpers.pages import DOCS


@pytest.fixture
def write(tmp_path: Path) -> Any:
    """Write a file of bindings, and return its path."""

    def to_file(text: str | bytes) -> Path:
        path = tmp_path / "demo.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return to_file


def button(number: int, *, down: bool = True) -> pygame.event.Event:
    kind = pygame.JOYBUTTONDOWN if down else pygame.JOYBUTTONUP
    return pygame.event.Event(kind, button=number, instance_id=0)


def axis(number: int, value: float) -> pygame.event.Event:
    return pygame.event.Event(pygame.JOYAXISMOTION, axis=number, value=value, instance_id=0)


def words_of(rows: Any) -> list[tuple[str, ...]]:
    return [tuple(words.text for words in row) for row in rows]


def test_no_file_is_the_usual(tmp_path: Path) -> None:
    assert load(tmp_path / "none.toml") is USUAL
    assert way_to_help(USUAL) == "H: all keys"
    rows = dict(help_of(USUAL))
    assert rows["Space, Shift"] == "jump, run"
    assert "W A S D" in rows
    assert rows["1 to 9, 0"] == "the first ten scenes; [ ] previous, next"


def test_the_usual_has_no_doubles(write: Any) -> None:
    assert load(write("[keys]\n[gamepad]\n")) == USUAL


def test_keys_of_the_file_take_the_place_of_the_usual(write: Any) -> None:
    chosen = load(write('[keys]\nthrow = ["k", "RETURN"]\nhelp = "j"\nahead = "i"\n'))
    app = open_app(bindings=chosen)
    count = len(app.scene.bodies)
    press(app, "b")
    assert len(app.scene.bodies) == count
    press(app, "k")
    press(app, "RETURN")
    assert len(app.scene.bodies) == count + 2
    app.frame(1 / 60, [key("i"), key("w")])
    assert app.events.controls().forward == 1.0
    app.frame(1 / 60, [key("i", down=False)])
    assert app.events.controls().forward == 0.0
    assert way_to_help(chosen) == "J: all keys"
    assert words_of(hints_of(chosen, pad=False, player=True))[0] == ("I A S D", "walk")
    assert "I A S D" in dict(help_of(chosen))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[keys", "must be TOML: "),
        (b"\xff\xfe", "must be TOML: "),
        ("[mouse]\n", "mouse must be keys or gamepad"),
        ("keys = 3\n", "keys must be a table, got 3"),
        ('[keys]\nfly = "f"\n', "keys.fly must be one of ahead, left"),
        ('[keys]\njump = "spase"\n', "keys.jump must be a key as pygame names it without K_"),
        ("[keys]\njump = 3\n", "got 3"),
        ("[keys]\njump = []\n", "keys.jump must name a key, got []"),
        ('[keys]\njump = "3"\n', "keys.jump must not be '3', the key of scene slopes"),
        ('[keys]\njump = "F2"\n', "keys.jump must not be 'F2', the key of view candidates"),
        ('[keys]\nahead = "b"\n', "keys.ahead must not be 'b', which is throw already"),
        ('[keys]\nthrow = "z"\ndrop = "z"\n', "keys.drop must not be 'z', which is throw already"),
        ('[keys]\njump = "kp0"\nthrow = "kp_0"\n', "must not be 'kp_0', which is jump already"),
        ("[gamepad]\njump = -1\n", "gamepad.jump must be a button's number, 0 or more, got -1"),
        ("[gamepad]\njump = true\n", "gamepad.jump must be a button's number, 0 or more, got True"),
        ("[gamepad]\njump = 1\n", "gamepad.jump must not be 1, which is run already"),
        ("[gamepad]\nfly = 1\n", "gamepad.fly must be one of move, look, ahead"),
        ("[gamepad]\nmove = 1\n", "gamepad.move must be the numbers of two axes, such as [0, 1]"),
    ],
)
def test_a_bad_file_is_refused_by_file_key_and_rule(
    write: Any, text: str | bytes, message: str
) -> None:
    path = write(text)
    with pytest.raises(ValueError, match=r"demo\.toml") as refused:
        load(path)
    assert str(refused.value).startswith(f"{path}: ")
    assert message in str(refused.value)


def test_a_folder_in_the_place_of_the_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=str(tmp_path.name)):
        load(tmp_path)


def test_the_command_line_ends_with_2_before_a_window_opens(
    write: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write('[keys]\njump = "spase"\n')
    monkeypatch.setattr(bindings, "user_file", lambda: path)
    monkeypatch.setattr(options, "has_display", lambda _: True)
    monkeypatch.setattr("demo.renderers.open_renderer", None)
    assert command_line.main([]) == 2
    line = capsys.readouterr().err
    assert line.count("\n") == 1
    assert line.startswith(f"demo: {path}: keys.jump must be a key")


def test_the_example_of_the_site_is_right(write: Any) -> None:
    page = (DOCS / "guide" / "demo.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```toml\n(\[keys\].*?)```", page, re.DOTALL)
    chosen = load(write(example))
    assert chosen.keys["throw"] == ("t", "return")
    assert chosen.look == (2, 3)
    actions = page.partition("Other actions: ")[2].partition(". Digits")[0]
    assert {*re.findall(r"`(\w+)`", actions), "jump", "throw", "run"} == USUAL.keys.keys()


def test_the_file_is_in_the_folder_of_settings() -> None:
    path = bindings.user_file()
    assert path.is_absolute()
    assert path.parts[-2:] == ("terrain_physics", "demo.toml")


def test_sticks_walk_and_look() -> None:
    app = open_app("digging")
    for _ in range(40):
        app.frame(1 / 60, [])
    yaw = app.rig.camera.yaw
    app.frame(1 / 60, [axis(1, -0.5), axis(0, 0.1), axis(3, 1.0)])
    wish = app.events.controls()
    assert (wish.forward, wish.right) == (0.5, 0.0)  # a stick at rest is never quite at 0
    app.frame(1 / 60, [])
    assert app.rig.camera.yaw == pytest.approx(yaw - 2.5 / 60)
    app.frame(1 / 60, [key("w"), axis(3, 0.0)])
    assert app.events.controls().forward == 1.0
    app.frame(1 / 60, [pygame.event.Event(pygame.WINDOWFOCUSLOST)])
    assert app.events.controls().forward == 0.0


def test_buttons_jump_run_and_throw() -> None:
    app = open_app("digging")
    for _ in range(40):
        app.frame(1 / 60, [])
    count = len(app.scene.bodies)
    app.frame(1 / 60, [button(0), button(1), button(2)])
    assert app.events.controls().run
    assert len(app.scene.bodies) == count + 1
    app.frame(1 / 60, [button(0, down=False), button(1, down=False)])
    assert not app.events.controls().run
    assert not app.scene.player.body.result.grounded


def test_hints_are_of_what_is_in_the_hands(write: Any) -> None:
    hints = words_of(hints_of(USUAL, pad=False, player=True))
    assert hints == [
        ("W A S D", "walk"),
        ("Space", "jump"),
        ("hold the right mouse button", "look around"),
        ("H: all keys",),
    ]
    assert words_of(hints_of(USUAL, pad=True, player=True)) == [
        ("left stick", "walk"),
        ("A", "jump"),
        ("right stick", "look around"),
        ("Back: all buttons",),
    ]
    other = load(write("[gamepad]\njump = 3\ndrop = 12\nlook = [4, 5]\n"))
    rows = words_of(hints_of(other, pad=True, player=True))
    assert rows[1:3] == [("Y", "jump"), ("axes 4 and 5", "look around")]
    assert dict(help_of(other, pad=True))["button 12"] == "drop a box"
    assert words_of(hints_of(USUAL, pad=False, player=False))[0] == ("W A S D", "move the camera")
    assert "jump" not in str(hints_of(USUAL, pad=True, player=False))


def test_a_gamepad_is_noticed_and_forgotten_again() -> None:
    events = Events()
    used = []
    for event in (axis(0, 0.05), axis(0, 0.9), key("w"), button(0)):
        events.handle(event)
        used.append(events.pad)
    assert used == [False, True, False, True]  # a stick at rest is no use of it


def test_a_gamepad_opens_the_menu_and_chooses_in_it() -> None:
    app = open_app()
    opened = app.panel.menu
    app.frame(1 / 60, [button(7), button(7, down=False)])
    assert opened.is_open
    hat = pygame.event.Event(pygame.JOYHATMOTION, hat=0, value=(0, -1), instance_id=0)
    app.frame(1 / 60, [hat, axis(1, -0.9), axis(1, 0.0), axis(1, 0.9)])
    assert app.events.controls().forward == 0.0  # the stick is the menu's
    app.frame(1 / 60, [axis(1, 0.0), button(0), button(0, down=False)])
    assert not opened.is_open
    assert app.scene.name == SCENES[SCENES.index("slopes") + 1]
    app.frame(1 / 60, [button(7), button(7, down=False)])
    app.frame(1 / 60, [button(1), button(1, down=False)])  # B leaves it
    assert not opened.is_open
    assert app.asks_left == 0.0


def test_a_gamepad_that_is_pulled_out_lets_go(write: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class Pad:
        def __init__(self, index: int) -> None:
            self.index = index

        def get_instance_id(self) -> int:
            return 10 + self.index

    monkeypatch.setattr(pygame.joystick, "Joystick", Pad)
    events = Events(load(write("[gamepad]\nrun = [1, 9]\nmove = [2, 5]\n")))
    events.handle(pygame.event.Event(pygame.JOYDEVICEADDED, device_index=0))
    for event in (button(9), axis(2, 1.0)):
        events.handle(event)
    assert events.controls().run
    assert events.controls().right == 1.0
    events.handle(pygame.event.Event(pygame.JOYDEVICEREMOVED, instance_id=10))
    assert not events.controls().run
    assert events.controls().right == 0.0


def test_an_eleventh_scene_takes_no_key_of_another() -> None:
    eleven = (*SCENES[:10], "eleventh")
    keys = fixed_keys(eleven)
    assert {key: keys[key] for key in "1234567890"} == {
        key: f"scene {name}" for key, name in zip("1234567890", eleven[:10], strict=True)
    }
    assert "scene eleventh" not in keys.values()
    assert fixed_keys(SCENES[:10]) == keys


def anew(module: Any) -> Any:
    """Return a second copy of a module, as it is if it is loaded now."""
    spec: Any = importlib.util.find_spec(module.__name__)
    copy = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(copy)
    return copy


def test_the_menu_and_the_key_for_the_next_scene_lead_to_an_eleventh(monkeypatch: Any) -> None:
    others = [name for name in SCENES if name not in {"edges", "stairs"}][:8]
    eleven = ("edges", *others, "stairs", "eleventh")  # small ones, where the test goes
    playground: Any = ModuleType("demo.playground.eleventh")
    playground.Eleventh = type("Eleventh", (scene_class("slopes"),), {"name": "eleventh"})
    monkeypatch.setitem(sys.modules, playground.__name__, playground)
    for module in (names, scenes, demo_app):
        monkeypatch.setattr(module, "SCENES", eleven)
    assert "scene eleventh" in anew(menu).COMMANDS
    app = open_app(eleven[9], bindings=anew(bindings).USUAL)
    press(app, "RIGHTBRACKET")
    assert app.scene.name == "eleventh"
    press(app, "RIGHTBRACKET")
    assert app.scene.name == eleven[0]
    press(app, "LEFTBRACKET")
    assert app.scene.name == "eleventh"
    press(app, "0")
    assert app.scene.name == eleven[9]
