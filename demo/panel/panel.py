"""The panel over the picture: figures, graph, views, sliders, help, menu."""

import math
from collections import deque
from collections.abc import Collection
from dataclasses import dataclass, field

import pygame

from ..scenery.inputs import RESOLVERS, Rules
from ..scenery.names import VIEWS
from ..scenery.scene import Scene
from ..scenery.views import candidates_of
from ..simulation import Simulation
from .bindings import USUAL, Bindings
from .controls import help_of, hint_of
from .menu import Menu
from .widgets import ACCENT, FAINT, GLASS, TEXT, Color4, Slider, draw_graph, window_ink

WIDTH = 236
GRAPH_FRAMES = 120
HELP_SECONDS = 8.0
# Words change so often a second; a faster flicker could not be read.
_WORDS_A_SECOND = 6.0
PHYSICS, DRAW, PANEL = (250, 196, 32), (70, 150, 230), (150, 110, 220)


@dataclass
class FrameTimes:
    """Milliseconds of the last frames."""

    physics: deque[float] = field(default_factory=lambda: deque(maxlen=GRAPH_FRAMES))
    draw: deque[float] = field(default_factory=lambda: deque(maxlen=GRAPH_FRAMES))
    panel: deque[float] = field(default_factory=lambda: deque(maxlen=GRAPH_FRAMES))
    whole: deque[float] = field(default_factory=lambda: deque(maxlen=GRAPH_FRAMES))

    def add(self, physics: float, draw: float, panel: float, whole: float) -> None:
        """Take down a frame, in seconds."""
        for values, seconds in (
            (self.physics, physics),
            (self.draw, draw),
            (self.panel, panel),
            (self.whole, whole),
        ):
            values.append(1e3 * seconds)

    def mean(self, values: deque[float], last: int = 30) -> float:
        """Return the mean of the last frames."""
        part = list(values)[-last:]
        return sum(part) / len(part) if part else 0.0


@dataclass
class Status:
    """What the panel is to say about this frame."""

    views: Collection[str] = ()
    grid: bool = False
    camera: str = ""
    renderer: str = ""
    picked: str = ""
    picture: str = "100%"  # of the window's width and height
    mouse: tuple[int, int] = (0, 0)
    help: bool = False
    sound: bool = False


class Panel:
    """Draws itself on a surface of the window's size; holds the sliders."""

    def __init__(self, size: tuple[int, int], scene: Scene, bindings: Bindings = USUAL) -> None:
        self.visible = True
        self._help, self._hint = help_of(bindings), hint_of(bindings)
        self._grid_key = bindings.labels()["grid"]
        self.times = FrameTimes()
        self.dragged: Slider | None = None
        self.menu = Menu()
        self._words: list[tuple[str, str]] = []
        self._words_left = 0.0
        self.resize(size)
        self.use_rules(type(scene).rules)

    def resize(self, size: tuple[int, int]) -> None:
        """Follow the window."""
        self.surface = pygame.Surface(size, pygame.SRCALPHA)
        self.boxes: list[pygame.Rect] = []
        self.ink = window_ink(size)

    def use_rules(self, rules: Rules) -> None:
        """Set the sliders."""
        self.gravity = Slider("gravity", 0.0, 30.0, rules.gravity, "{:.1f} m/s\u00b2".format)
        self.slope = Slider(
            "slope limit", 0.0, 90.0, math.degrees(rules.slope_limit), "{:.0f}\u00b0".format
        )
        self.step = Slider("step height", 0.0, 1.0, rules.step_offset, "{:.2f} m".format)
        self.resolver = Slider(
            "resolver",
            0.0,
            len(RESOLVERS) - 1.0,
            float(RESOLVERS.index(rules.resolver)),
            lambda value: RESOLVERS[int(value)],
            RESOLVERS,
        )
        self.time = Slider("time scale", 0.0, 2.0, 1.0, "{:.2f}".format)
        self.dragged = None
        self._first = rules

    @property
    def sliders(self) -> tuple[Slider, ...]:
        """All sliders, from top to bottom."""
        return self.gravity, self.slope, self.step, self.resolver, self.time

    def rules(self) -> Rules:
        """Return what the sliders say; untouched ones keep the scene's exact numbers."""
        first = self._first
        slope = self.slope.value
        return Rules(
            gravity=self.gravity.value,
            slope_limit=(
                first.slope_limit
                if slope == math.degrees(first.slope_limit)
                else math.radians(slope)
            ),
            step_offset=self.step.value,
            resolver=RESOLVERS[int(self.resolver.value)],
        )

    def press(self, place: tuple[int, int]) -> bool:
        """Begin to drag the slider there, if there is one; tell whether the panel was hit."""
        for slider in self.sliders:
            if slider.rect is not None and slider.rect.inflate(8, 8).collidepoint(place):
                self.dragged = slider
                slider.drag(place[0])
                return True
        return place[0] < self.ink.px(WIDTH + 12)

    def draw(self, simulation: Simulation, status: Status, seconds: float) -> pygame.Surface:
        """Draw all anew and return the surface; nothing is on it outside of `boxes`."""
        for box in self.boxes:
            self.surface.fill((0, 0, 0, 0), box)
        self.boxes.clear()
        if self.visible:
            self._words_left -= seconds
            if self._words_left <= 0.0 or simulation.paused or not self._words:
                self._words_left = 1.0 / _WORDS_A_SECOND
                self._words = self._figures(simulation, status)
            self._draw_left(simulation, status)
            self._draw_title(simulation)
            self._draw_line(self._hint)
        if status.help:
            self._draw_help()
        if status.picked:
            self._draw_line(status.picked, above=self.visible)
        if self.visible:
            on = {f"scene {simulation.scene.name}"} | ({"sound"} if status.sound else set())
            for box in self.menu.draw(self.ink, self.surface, status.mouse, on):
                self._add(box)
        return self.surface

    def _box(self, width: int, height: int, place: tuple[int, int], color: Color4 = GLASS) -> None:
        self.surface.blit(self.ink.box(width, height, color), place)
        self._add(pygame.Rect(place, (width, height)))

    def _add(self, box: pygame.Rect) -> None:
        """Take down where something is drawn; what overlaps becomes one."""
        while (other := box.collidelist(self.boxes)) >= 0:
            box = box.union(self.boxes.pop(other))
        self.boxes.append(box)

    def _figures(self, simulation: Simulation, status: Status) -> list[tuple[str, str]]:
        scene, times = simulation.scene, self.times
        whole = times.mean(times.whole)
        rows = [
            ("fps", f"{1e3 / whole:.0f}" if whole else "-"),
            ("physics", f"{times.mean(times.physics):.2f} ms"),
            ("draw", f"{times.mean(times.draw):.2f} ms"),
            ("panel", f"{times.mean(times.panel):.2f} ms"),
        ]
        body = scene.focus
        if body is not None:
            result = body.result
            by = result.blocked_by
            rows += [
                ("candidates", str(len(candidates_of(scene, body)))),
                ("contacts", str(result.contacts)),
                ("rounds", str(result.rounds)),
                ("grounded", "yes" if result.grounded else "no"),
                ("blocked by", (by and by.reason) or "-"),
                ("speed", f"{body.speed:.2f} m/s"),
            ]
        rows.append(("step", f"{scene.steps}"))
        rows.append(("state", scene.state_hash()))
        rows.append(("camera", status.camera))
        rows.append(("renderer", status.renderer))
        rows.append(("picture", status.picture))
        return rows

    def _draw_left(self, simulation: Simulation, status: Status) -> None:
        ink, surface = self.ink, self.surface
        px = ink.px
        left, width, row = px(12), px(WIDTH), px(17)
        inner, right = left + px(12), left + width - px(12)
        menu = simulation.scene.menu()
        heights = (
            px(18) + row * len(self._words) + px(62),
            px(16) + row * (len(VIEWS) + 1),
            px(14) + px(33) * len(self.sliders),
        )
        top = px(12)
        self._box(width, heights[0], (left, top))
        y = top + px(10)
        for name, value in self._words:
            surface.blit(ink.text(name, 12, FAINT), (inner, y))
            shown = ink.text(value, 12)
            surface.blit(shown, (right - shown.get_width(), y))
            y += row
        times = self.times
        draw_graph(
            ink,
            surface,
            pygame.Rect(inner, y + px(6), width - px(24), px(48)),
            ((times.physics, PHYSICS), (times.draw, DRAW), (times.panel, PANEL)),
            top=self._graph_top(),
            line=16.7,
        )
        top += heights[0] + px(8)
        self._box(width, heights[1], (left, top))
        y = top + px(8)
        entries = [(view.key, view.title, view.name in status.views) for view in VIEWS]
        for key, title, on in (*entries, (self._grid_key, "grid", status.grid)):
            surface.blit(ink.text(key, 12, ACCENT if on else FAINT), (inner, y))
            surface.blit(ink.text(title, 12, TEXT if on else FAINT), (inner + px(30), y))
            y += row
        top += heights[1] + px(8)
        if top + heights[2] <= surface.get_height():
            self._box(width, heights[2], (left, top))
            y = top + px(9)
            for slider in self.sliders:
                y += slider.draw(ink, surface, inner, y, width - px(24))
        self._draw_menu(menu)

    def _graph_top(self) -> float:
        """Return what the graph's height stands for: a power of two times 1/60 s."""
        most, top = self.times.mean(self.times.whole), 33.4
        while most > 0.8 * top:
            top *= 2.0
        return top

    def _draw_menu(self, lines: list[str]) -> None:
        if not lines:
            return
        ink = self.ink
        texts = [ink.text(line, 13) for line in lines]
        width = max(text.get_width() for text in texts) + ink.px(24)
        height = ink.px(18) * len(texts) + ink.px(14)
        x = self.surface.get_width() - width - ink.px(12)
        y = ink.px(52)
        self._box(width, height, (x, y))
        for index, text in enumerate(texts):
            self.surface.blit(text, (x + ink.px(12), y + ink.px(9) + index * ink.px(18)))

    def _draw_title(self, simulation: Simulation) -> None:
        ink = self.ink
        words = simulation.scene.title
        if simulation.paused:
            back, forward = simulation.steps_back, simulation.steps_forward
            words = f"{words}   \u2022   paused, {back} steps back, {forward} forward"
        text = ink.text(words, 15)
        width, height = text.get_width() + ink.px(28), ink.px(32)
        x = self.surface.get_width() - width - ink.px(12)
        color = (120, 60, 20, 190) if simulation.paused else (16, 22, 32, 176)
        self._box(width, height, (x, ink.px(12)), color)
        self.surface.blit(text, (x + ink.px(14), ink.px(12) + (height - text.get_height()) // 2))

    def _draw_help(self) -> None:
        ink = self.ink
        row = ink.px(20)
        keys = [ink.text(key, 13, ACCENT) for key, _ in self._help]
        texts = [ink.text(text, 13) for _, text in self._help]
        first = max(key.get_width() for key in keys) + ink.px(16)
        width = first + max(text.get_width() for text in texts) + ink.px(32)
        height = row * len(self._help) + ink.px(24)
        left = self.ink.px(WIDTH + 12) if self.visible else 0
        x = left + (self.surface.get_width() - left - width) // 2
        y = (self.surface.get_height() - height) // 2
        self._box(width, height, (x, y), (16, 22, 32, 205))
        for index, (key, text) in enumerate(zip(keys, texts, strict=True)):
            at = y + ink.px(14) + index * row
            self.surface.blit(key, (x + ink.px(16), at))
            self.surface.blit(text, (x + ink.px(16) + first, at))

    def _draw_line(self, words: str, *, above: bool = False) -> None:
        """Draw a line at the bottom, or above the one that is there."""
        ink = self.ink
        text = ink.text(words, 13)
        width, height = text.get_width() + ink.px(28), ink.px(30)
        x = max(0, (self.surface.get_width() - width) // 2)
        y = self.surface.get_height() - height - ink.px(12)
        if above:
            y -= height + ink.px(6)
        self._box(width, height, (x, y))
        self.surface.blit(text, (x + ink.px(14), y + (height - text.get_height()) // 2))
