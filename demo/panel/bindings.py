"""Which keys and gamepad buttons do what: the usual ones, or those of the user's file."""

import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import platformdirs
import pygame

from ..scenery.names import SCENES, VIEWS

# Keys are named as pygame names them, in lower case without "K_".
_KEYS = {
    name[2:].lower(): code
    for name, code in vars(pygame).items()
    if name.startswith("K_") and name != "K_UNKNOWN"
}
DIGITS = "1234567890"


def fixed_keys(scenes: Sequence[str]) -> dict[str, str]:
    """Return the keys that no file changes: those of the views and of the first ten scenes.

    The menu and the keys for the next and the previous scene lead to all of them.
    """
    views = {view.key.lower(): f"view {view.name}" for view in VIEWS}
    return views | {digit: f"scene {name}" for digit, name in zip(DIGITS, scenes, strict=False)}


_FIXED = fixed_keys(SCENES)

_USUAL_KEYS: dict[str, tuple[str, ...]] = {
    "ahead": ("w", "up"),
    "left": ("a", "left"),
    "behind": ("s", "down"),
    "right": ("d", "right"),
    "up": ("e", "space"),
    "down": ("q",),
    "jump": ("space",),
    "run": ("lshift", "rshift"),
    "throw": ("b",),
    "drop": ("n",),
    "hole": ("x",),
    "previous_scene": ("leftbracket",),
    "next_scene": ("rightbracket",),
    "pause": ("p",),
    "single": ("o",),
    "back": ("comma",),
    "forward": ("period",),
    "restart": ("r",),
    "camera": ("c",),
    "home": ("home",),
    "grid": ("g",),
    "menu": ("f10",),
    "panel": ("tab",),
    "sound": ("m",),
    "help": ("h", "f1"),
    "screenshot": ("f12",),
    "escape": ("escape",),
}
# As SDL numbers them on an Xbox pad.
_USUAL_BUTTONS: dict[str, tuple[int, ...]] = {
    "jump": (0,),
    "run": (1,),
    "throw": (2,),
    "drop": (3,),
    "previous_scene": (4,),
    "next_scene": (5,),
    "help": (6,),
    "menu": (7,),
}
_BUTTON_NAMES = ("A", "B", "X", "Y", "LB", "RB", "Back", "Start")
_STICK_NAMES = {(0, 1): "left stick", (2, 3): "right stick", (3, 4): "right stick"}
_STICKS = {"move": (0, 1), "look": (3, 4)}

_HELD = {"ahead", "behind", "left", "right", "up", "down", "run", "back", "forward"}
_HELD_ONLY = _HELD - {"back", "forward"}
# A camera rises by the key that a player jumps by.
_SHARING = {"jump", "up"}
_SIGNS = {
    "comma": ",", "period": ".", "leftbracket": "[", "rightbracket": "]", "escape": "Esc",
    "lshift": "Shift", "rshift": "Shift",
}  # fmt: skip


@dataclass(frozen=True)
class Bindings:
    """What each action is done by, an action being a word of `demo.app` or a way to move."""

    keys: dict[str, tuple[str, ...]] = field(default_factory=lambda: dict(_USUAL_KEYS))
    buttons: dict[str, tuple[int, ...]] = field(default_factory=lambda: dict(_USUAL_BUTTONS))
    move: tuple[int, int] = _STICKS["move"]  # axes to the right and backward
    look: tuple[int, int] = _STICKS["look"]

    def key_commands(self) -> dict[int, str]:
        """Return what is done once by each key, given by its code."""
        by_key = {_KEYS[key]: command for key, command in _FIXED.items()}
        return by_key | {_KEYS[key]: _command(name) for key, name in _each(self.keys, _is_command)}

    def key_holds(self) -> dict[int, str]:
        """Return what goes on while each key is held."""
        return {_KEYS[key]: name for key, name in _each(self.keys, _HELD.__contains__)}

    def button_commands(self) -> dict[int, str]:
        """Return what is done once by each button."""
        return {button: _command(name) for button, name in _each(self.buttons, _is_command)}

    def button_holds(self) -> dict[int, str]:
        """Return what goes on while each button is held."""
        return dict(_each(self.buttons, _HELD.__contains__))

    def labels(self) -> dict[str, str]:
        """Return the first key of each action, as people call it."""
        return {name: _SIGNS.get(keys[0], keys[0].title()) for name, keys in self.keys.items()}

    def pad_labels(self) -> dict[str, str]:
        """Return the first button of each action that has one, and the sticks to move and look."""
        labels = {name: _button_name(numbers[0]) for name, numbers in self.buttons.items()}
        return labels | {"move": _stick_name(self.move), "look": _stick_name(self.look)}


USUAL = Bindings()


def user_file() -> Path:
    """Return where the user's bindings are, if there are any."""
    return Path(platformdirs.user_config_dir("terrain_physics", appauthor=False)) / "demo.toml"


def load(path: Path) -> Bindings:
    """Return the bindings of a file, the usual ones if there is none.

    Whatever is wrong is a ValueError that names file, entry and rule.
    """
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return USUAL
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else f"must be TOML: {error}"
        raise ValueError(f"{path}: {reason}") from None
    try:
        return _read(tables)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _read(tables: dict[str, Any]) -> Bindings:
    for name, table in tables.items():
        if name not in {"keys", "gamepad"}:
            raise ValueError(f"{name} must be keys or gamepad, the tables there are")
        if not isinstance(table, dict):
            raise ValueError(f"{name} must be a table, got {table!r}")  # noqa: TRY004 as all here
    keys, pad = dict(_USUAL_KEYS), dict(_USUAL_BUTTONS)
    sticks = dict(_STICKS)
    for name, value in tables.get("keys", {}).items():
        _check_action("keys", name)
        keys[name] = _keys(f"keys.{name}", value)
    for name, value in tables.get("gamepad", {}).items():
        if name in sticks:
            sticks[name] = _axes(f"gamepad.{name}", value)
        else:
            _check_action("gamepad", name, *sticks)
            pad[name] = _buttons(f"gamepad.{name}", value)
    _refuse_doubles("keys", keys, tables)
    _refuse_doubles("gamepad", pad, tables)
    return Bindings(keys, pad, **sticks)


def _check_action(table: str, name: str, *more: str) -> None:
    if name not in _USUAL_KEYS:
        known = ", ".join([*more, *_USUAL_KEYS])
        raise ValueError(f"{table}.{name} must be one of {known}")


def _keys(name: str, value: Any) -> tuple[str, ...]:
    given = value if isinstance(value, list) else [value]
    for key in given:
        if not isinstance(key, str) or key.lower() not in _KEYS:
            raise ValueError(
                f'{name} must be a key as pygame names it without K_, such as "space", got {key!r}'
            )
        if key.lower() in _FIXED:
            raise ValueError(f"{name} must not be {key!r}, the key of {_FIXED[key.lower()]}")
    if not given:
        raise ValueError(f"{name} must name a key, got []")
    return tuple(key.lower() for key in given)


def _buttons(name: str, value: Any) -> tuple[int, ...]:
    given = value if isinstance(value, list) else [value]
    if not given or not all(map(_is_number, given)):
        raise ValueError(f"{name} must be a button's number, 0 or more, got {value!r}")
    return tuple(given)


def _axes(name: str, value: Any) -> tuple[int, int]:
    if not isinstance(value, list) or len(value) != 2 or not all(map(_is_number, value)):
        raise ValueError(f"{name} must be the numbers of two axes, such as [0, 1], got {value!r}")
    right, backward = value
    return right, backward


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _refuse_doubles(table: str, bound: dict[str, tuple[Any, ...]], tables: dict[str, Any]) -> None:
    """Refuse what two actions are done by; the message names the one in the file."""
    owners: dict[Any, str] = {}
    # Those of the file last: they are to blame.
    for name in sorted(bound, key=lambda name: name in tables.get(table, {})):
        for which in bound[name]:
            # Some keys have two names.
            owner = owners.setdefault(_KEYS.get(which, which), name)
            if owner != name and {owner, name} != _SHARING:
                raise ValueError(f"{table}.{name} must not be {which!r}, which is {owner} already")


def _each(
    bound: dict[str, tuple[Any, ...]], wanted: Callable[[str], bool]
) -> Iterable[tuple[Any, str]]:
    return ((which, name) for name in bound if wanted(name) for which in bound[name])


def _button_name(number: int) -> str:
    return _BUTTON_NAMES[number] if number < len(_BUTTON_NAMES) else f"button {number}"


def _stick_name(axes: tuple[int, int]) -> str:
    return _STICK_NAMES.get(axes, "axes {} and {}".format(*axes))


def _is_command(name: str) -> bool:
    return name not in _HELD_ONLY


def _command(name: str) -> str:
    return name.replace("_", " ")
