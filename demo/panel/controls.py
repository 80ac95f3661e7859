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

# Keys in braces are those of the bindings.
_HELP = (
    ("{ahead} {left} {behind} {right}", "walk; without a player, move the camera"),
    ("{jump}, {run}", "jump, run"),
    ("right mouse", "look around; the wheel comes nearer"),
    ("left mouse", "what is there? (digging: dig, {run} heaps up, {hole} hole)"),
    ("{throw}, {drop}", "throw a ball, drop a box"),
    ("1-9, 0, {previous_scene} {next_scene}", "scenes"),
    ("{pause}, {single}", "pause, one step"),
    ("{back} {forward}", "one step back, forward"),
    ("{restart}", "restart"),
    ("{camera}, {home}", "camera mode, camera home"),
    ("F2-F9, {grid}", "views, grid"),
    ("{panel}, {help}", "panel, this help"),
    ("{sound}", "sound of footsteps on, off"),
    ("{screenshot}", "screenshot"),
    ("{escape}", "free the mouse, then quit"),
)
_HINT = "{help} help, 1-9 scenes"


def help_of(bindings: Bindings) -> list[tuple[str, str]]:
    """Return keys and what they do, in words."""
    labels = bindings.labels()
    return [(keys.format_map(labels), words.format_map(labels)) for keys, words in _HELP]


def hint_of(bindings: Bindings) -> str:
    """Return the line that stays on the screen: the way to everything else."""
    return _HINT.format_map(bindings.labels())


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
        self.wheel, self.resized = 0.0, None
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
        right, backward = self._stick(self._move)
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
            self._axes[event.axis] = event.value if abs(event.value) > _DEAD else 0.0
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

    def _press(self, switch: _Switch) -> None:
        if switch in self._down:  # the system's own repeats
            return
        self._down.add(switch)
        if switch in self._once:
            self.commands.append(self._once[switch])
        if switch in self._while:
            self.held.setdefault(self._while[switch], 0.0)

    def _let_go(self, switch: _Switch) -> None:
        self._down.discard(switch)
        name = self._while.get(switch)
        if name is not None and not any(self._while.get(other) == name for other in self._down):
            self.held.pop(name, None)
