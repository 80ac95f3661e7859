"""pygame's events become commands and held keys; nothing else of the demo reads events."""

from typing import NamedTuple

import pygame

from demo.inputs import Controls
from demo.scenes import NAMES
from demo.views import VIEWS

LOOK = 0.0035  # radians a pixel
REPEAT_AFTER = 0.3  # seconds a key is held before it repeats

_COMMANDS = {
    pygame.K_p: "pause",
    pygame.K_o: "single",
    pygame.K_COMMA: "back",
    pygame.K_PERIOD: "forward",
    pygame.K_r: "restart",
    pygame.K_LEFTBRACKET: "previous scene",
    pygame.K_RIGHTBRACKET: "next scene",
    pygame.K_TAB: "panel",
    pygame.K_h: "help",
    pygame.K_F1: "help",
    pygame.K_HOME: "home",
    pygame.K_c: "camera",
    pygame.K_g: "grid",
    pygame.K_b: "throw",
    pygame.K_n: "drop",
    pygame.K_x: "hole",
    pygame.K_SPACE: "jump",
    pygame.K_F12: "screenshot",
    pygame.K_ESCAPE: "escape",
}
_COMMANDS |= {getattr(pygame, f"K_{view.key}"): f"view {view.name}" for view in VIEWS}
_COMMANDS |= {
    getattr(pygame, f"K_{(index + 1) % 10}"): f"scene {name}" for index, name in enumerate(NAMES)
}

_HELD = {
    pygame.K_w: "ahead",
    pygame.K_UP: "ahead",
    pygame.K_s: "behind",
    pygame.K_DOWN: "behind",
    pygame.K_a: "left",
    pygame.K_LEFT: "left",
    pygame.K_d: "right",
    pygame.K_RIGHT: "right",
    pygame.K_e: "up",
    pygame.K_q: "down",
    pygame.K_LSHIFT: "run",
    pygame.K_RSHIFT: "run",
    pygame.K_SPACE: "up",
    pygame.K_COMMA: "back",
    pygame.K_PERIOD: "forward",
}

HELP = (
    ("W A S D", "walk; without a player, move the camera"),
    ("Space, Shift", "jump, run"),
    ("right mouse", "look around; the wheel comes nearer"),
    ("left mouse", "what is there? (digging: dig, Shift heaps up, X hole)"),
    ("B, N", "throw a ball, drop a box"),
    ("1-9, 0, [ ]", "scenes"),
    ("P, O", "pause, one step"),
    (", .", "one step back, forward"),
    ("R", "restart"),
    ("C, Home", "camera mode, camera home"),
    ("F2-F9, G", "views, grid"),
    ("Tab, H", "panel, this help"),
    ("F12", "screenshot"),
    ("Esc", "free the mouse, then quit"),
)


class Press(NamedTuple):
    """A mouse button went down or up somewhere."""

    button: int
    down: bool
    place: tuple[int, int]


class Events:
    """What was asked for since the last frame, and what is held."""

    def __init__(self) -> None:
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
        self._keys: set[int] = set()

    def begin_frame(self, seconds: float) -> None:
        """Forget what was done once."""
        self.commands, self.presses = [], []
        self.look, self.wheel, self.resized = (0.0, 0.0), 0.0, None
        for name in self.held:
            self.held[name] += seconds

    def handle(self, event: pygame.event.Event) -> None:
        """Take in one event."""
        if event.type == pygame.QUIT:
            self.quit = True
        elif event.type == pygame.KEYDOWN:
            self._key_down(event.key)
        elif event.type == pygame.KEYUP:
            self._key_up(event.key)
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

    def lose_focus(self) -> None:
        """Let go of all keys and of the mouse: their release will go to another window."""
        self.held.clear()
        self._keys.clear()
        self.left_down = self.captured = False

    def repeats(self, name: str) -> bool:
        """Return whether a key is held long enough to repeat."""
        return self.held.get(name, 0.0) > REPEAT_AFTER

    def controls(self) -> Controls:
        """Return the wish to move, without where the player looks."""
        return Controls(
            forward=float("ahead" in self.held) - float("behind" in self.held),
            right=float("right" in self.held) - float("left" in self.held),
            run="run" in self.held,
            jump="jump" in self.commands,
            throw="throw" in self.commands,
            drop="drop" in self.commands,
        )

    def _key_down(self, key: int) -> None:
        if key in self._keys:  # the system's own repeats
            return
        self._keys.add(key)
        if key in _COMMANDS:
            self.commands.append(_COMMANDS[key])
        if key in _HELD:
            self.held.setdefault(_HELD[key], 0.0)

    def _key_up(self, key: int) -> None:
        self._keys.discard(key)
        name = _HELD.get(key)
        if name is not None and not any(_HELD.get(other) == name for other in self._keys):
            self.held.pop(name, None)
