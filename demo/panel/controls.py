"""pygame's events become commands and held keys; nothing else of the demo reads events."""

from collections.abc import Callable
from typing import Any, NamedTuple

import pygame

from ..scenery.inputs import Controls
from .bindings import USUAL, Bindings

LOOK = 0.0035  # radians a pixel
REPEAT_AFTER = 0.3  # seconds a key is held before it repeats

_STICK = 2.5  # radians a second, of a stick pushed all the way
_DEAD = 0.2  # of a stick that nobody pushes

# What chooses in an open menu, whatever the bindings say; and their words that do so too.
_MENU_KEYS = {
    pygame.K_UP: "menu up", pygame.K_DOWN: "menu down",
    pygame.K_RETURN: "menu choose", pygame.K_KP_ENTER: "menu choose",
}  # fmt: skip
_MENU_WORDS = {"ahead": "menu up", "behind": "menu down", "jump": "menu choose"}
_TILTED = 0.5  # of a stick that steps through the menu


_Switch = tuple[str, int]  # "key" or "button", and which


class Press(NamedTuple):
    """A mouse button went down or up somewhere."""

    button: int
    down: bool
    place: tuple[int, int]


class Events:
    """What was asked for since the last frame, and what is held."""

    def __init__(self, bindings: Bindings = USUAL) -> None:
        self.commands: list[str] = []
        self.presses: list[Press] = []
        self.held: dict[str, float] = {}  # seconds so far
        self.mouse = (0, 0)
        self.left_down = False
        self.captured = False
        self.pad = False  # whether a gamepad was used last
        self.touched = False  # whether anything went down since the last frame
        self.in_menu = False  # whether keys and buttons choose from a menu
        self.look = (0.0, 0.0)
        self.wheel = 0.0
        self.resized: tuple[int, int] | None = None
        self.quit = False
        self._down: set[_Switch] = set()
        self._once: dict[_Switch, str] = {}
        self._while: dict[_Switch, str] = {}
        for device, once, held in (
            ("key", bindings.key_commands(), bindings.key_holds()),
            ("button", bindings.button_commands(), bindings.button_holds()),
        ):
            self._once |= {(device, number): name for number, name in once.items()}
            self._while |= {(device, number): name for number, name in held.items()}
        self._move, self._look = bindings.move, bindings.look
        self._axes: dict[int, float] = {}
        self._pads: dict[int, Any] = {}  # a gamepad is heard as long as it is kept

    def begin_frame(self, seconds: float) -> None:
        """Forget what was done once."""
        self.commands, self.presses = [], []
        self.wheel, self.resized, self.touched = 0.0, None, False
        right, down = self._stick(self._look)
        self.look = -right * _STICK * seconds, -down * _STICK * seconds
        for name in self.held:
            self.held[name] += seconds

    def handle(self, event: pygame.event.Event) -> None:
        """Take in one event."""
        if event.type == pygame.QUIT:
            self.quit = True
        elif event.type == pygame.KEYDOWN:
            self._press(("key", event.key))
        elif event.type == pygame.KEYUP:
            self._let_go(("key", event.key))
        elif event.type == pygame.MOUSEMOTION:
            self.mouse = event.pos
            if self.captured:
                self.look = (self.look[0] - event.rel[0] * LOOK, self.look[1] - event.rel[1] * LOOK)
        elif event.type == pygame.MOUSEBUTTONDOWN and event.button <= 3:
            self.mouse = event.pos
            self.pad, self.touched = False, True
            self.left_down |= event.button == 1
            self.presses.append(Press(event.button, down=True, place=event.pos))
        elif event.type == pygame.MOUSEBUTTONUP and event.button <= 3:
            self.left_down &= event.button != 1
            self.presses.append(Press(event.button, down=False, place=event.pos))
        elif event.type == pygame.MOUSEWHEEL:
            self.wheel += event.y
        elif event.type == pygame.VIDEORESIZE:
            self.resized = (max(event.w, 64), max(event.h, 64))
        elif event.type == pygame.WINDOWFOCUSLOST:
            self.lose_focus()
        else:
            self._handle_gamepad(event)

    def hold(self, pressed: Callable[[int], bool]) -> None:
        """Hold the keys that went down before anybody listened; what is done once is not done."""
        for device, number in self._while:
            if device == "key" and pressed(number):
                self._down.add((device, number))
                self.held.setdefault(self._while[device, number], 0.0)

    def lose_focus(self) -> None:
        """Let go of all keys and of the mouse: their release will go to another window."""
        self.held.clear()
        self._down.clear()
        self._axes.clear()
        self.left_down = self.captured = False

    def repeats(self, name: str) -> bool:
        """Return whether a key is held long enough to repeat."""
        return self.held.get(name, 0.0) > REPEAT_AFTER

    def controls(self) -> Controls:
        """Return the wish to move, without where the player looks."""
        right, backward = (0.0, 0.0) if self.in_menu else self._stick(self._move)
        forward = float("ahead" in self.held) - float("behind" in self.held) - backward
        right += float("right" in self.held) - float("left" in self.held)
        return Controls(
            forward=min(max(forward, -1.0), 1.0),
            right=min(max(right, -1.0), 1.0),
            run="run" in self.held,
            jump="jump" in self.commands,
            throw="throw" in self.commands,
            drop="drop" in self.commands,
        )

    def _handle_gamepad(self, event: pygame.event.Event) -> None:
        if event.type == pygame.JOYBUTTONDOWN:
            self._press(("button", event.button))
        elif event.type == pygame.JOYBUTTONUP:
            self._let_go(("button", event.button))
        elif event.type == pygame.JOYAXISMOTION:
            self._tilt(event.axis, event.value if abs(event.value) > _DEAD else 0.0)
        elif event.type == pygame.JOYHATMOTION:
            if self.in_menu and event.value[1]:
                self.commands.append("menu up" if event.value[1] > 0 else "menu down")
        elif event.type == pygame.JOYDEVICEADDED:
            pad = pygame.joystick.Joystick(event.device_index)
            self._pads[pad.get_instance_id()] = pad
        elif event.type == pygame.JOYDEVICEREMOVED:
            self._pads.pop(event.instance_id, None)
            self._axes.clear()
            for switch in [switch for switch in self._down if switch[0] == "button"]:
                self._let_go(switch)

    def _stick(self, axes: tuple[int, int]) -> tuple[float, float]:
        across, along = axes
        return self._axes.get(across, 0.0), self._axes.get(along, 0.0)

    def _tilt(self, axis: int, value: float) -> None:
        before, self._axes[axis] = self._axes.get(axis, 0.0), value
        self.pad |= value != 0.0
        if self.in_menu and axis == self._move[1] and abs(value) > _TILTED >= abs(before):
            self.commands.append("menu down" if value > 0.0 else "menu up")

    def _press(self, switch: _Switch) -> None:
        if switch in self._down:  # the system's own repeats
            return
        self._down.add(switch)
        self.touched, self.pad = True, switch[0] == "button"
        if self.in_menu and (chosen := self._in_menu(switch)):
            self.commands.append(chosen)
            return
        if switch in self._once:
            self.commands.append(self._once[switch])
        if switch in self._while:
            self.held.setdefault(self._while[switch], 0.0)

    def _in_menu(self, switch: _Switch) -> str | None:
        """Return what a key or button does in a menu; None: what it does elsewhere."""
        if switch[0] == "key" and switch[1] in _MENU_KEYS:
            return _MENU_KEYS[switch[1]]
        if switch[0] == "button" and self._while.get(switch) == "run":
            return "escape"
        names = (self._once.get(switch, ""), self._while.get(switch, ""))
        return next((_MENU_WORDS[name] for name in names if name in _MENU_WORDS), None)

    def _let_go(self, switch: _Switch) -> None:
        self._down.discard(switch)
        name = self._while.get(switch)
        if name is not None and not any(self._while.get(other) == name for other in self._down):
            self.held.pop(name, None)
