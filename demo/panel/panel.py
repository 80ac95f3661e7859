"""What lies over the picture: hints, help, menu, and the panel with figures and sliders."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import pygame

from ..scenery.inputs import Rules
from ..scenery.names import VIEWS
from ..scenery.scene import Scene
from ..scenery.views import candidates_of
from ..simulation import Simulation
from .bindings import USUAL, Bindings
from .figures import WIDTH, FrameTimes, Graph, Look, draw_figures, graph_of
from .help import help_of, hints_of, way_to_help
from .maps import draw_maps, width_of
from .menu import Menu
from .question import Question
from .sliders import Sliders
from .tables import Row, Table, Words, draw_table, pairs
from .widgets import ACCENT, DARK_GLASS, GLASS, Canvas, Color4

HINT_SECONDS = 10.0
# Figures change so often a second; a faster flicker could not be read.
_FIGURES_A_SECOND = 4.0
# Slow motion is told below the first, until it is above the second.
SLOW, FAST_AGAIN = 0.85, 0.92
_PAUSED = (120, 60, 20, 190)


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
    hints: bool = False
    asks: bool = False  # whether to quit
    pad: bool = False  # words for a gamepad
    sound: bool = False


Part = tuple[Callable[..., Any], tuple[Any, ...]]
"""A function that draws on a canvas, and what it draws: equal values look alike."""


class Panel:
    """Draws itself on a surface of the window's size, anew only when something looks different."""

    def __init__(self, size: tuple[int, int], scene: Scene, bindings: Bindings = USUAL) -> None:
        self.visible = False  # figures, views and sliders
        self.bare = False  # nothing but those
        self.version = 0  # how often the surface was drawn
        self.times = FrameTimes()
        self.menu = Menu(bindings)
        self.question = Question(bindings.labels())
        self._bindings = bindings
        self._labels = bindings.labels()
        self._figures: tuple[tuple[str, str], ...] = ()
        self._graph = Graph((), (), (), 1.0)
        self._fps = ""
        self._fresh = (0.0, -1)  # seconds that figures stay, the step they are of
        self._is_slow = False
        self.resize(size)
        self.use_rules(type(scene).rules)

    def resize(self, size: tuple[int, int]) -> None:
        """Follow the window."""
        self.canvas = Canvas(size)
        self._drawn: list[Part] | None = None

    def use_rules(self, rules: Rules) -> None:
        """Set the sliders."""
        self.sliders = Sliders(rules)

    @property
    def boxes(self) -> list[pygame.Rect]:
        """Where something is drawn; they do not overlap."""
        return self.canvas.boxes

    def press(self, place: tuple[int, int]) -> bool:
        """Begin to drag the slider there, if there is one; tell whether anything was hit."""
        if self.visible and self.sliders.press(place):
            return True
        return any(box.collidepoint(place) for box in self.boxes)

    def draw(self, simulation: Simulation, status: Status, seconds: float) -> pygame.Surface:
        """Return the surface, up to date; nothing is on it outside of `boxes`."""
        self._refresh(simulation, status, seconds)
        parts = self._side(simulation, status) if self.visible else []
        maps = simulation.scene.maps()
        if maps:
            parts.append((draw_maps, (maps, self._left + self.canvas.ink.px(12))))
        if not self.bare:
            parts += self._lines(simulation, status)
            parts += self._middle(simulation, status)
        if parts != self._drawn:
            self._drawn = parts
            self.version += 1
            self.canvas.clear()
            for draw, values in parts:
                draw(self.canvas, *values)
        return self.canvas.surface

    def _refresh(self, simulation: Simulation, status: Status, seconds: float) -> None:
        """Take new figures now and then; while paused, after each step."""
        left, step = self._fresh
        stepped = simulation.paused and step != simulation.scene.steps
        self._fresh = left - seconds, step
        if left - seconds > 0.0 and not stepped:
            return
        self._fresh = 1.0 / _FIGURES_A_SECOND, simulation.scene.steps
        whole = self.times.mean(self.times.whole)
        self._fps = f"{1e3 / whole:.0f} fps" if whole else ""
        self._is_slow = simulation.pace < (FAST_AGAIN if self._is_slow else SLOW)
        self._slow = f"slow: {simulation.pace:.1f} x" if self._is_slow else ""
        if self.visible:
            self._figures = tuple(self._rows(simulation, status))
            self._graph = graph_of(self.times)

    def _rows(self, simulation: Simulation, status: Status) -> list[tuple[str, str]]:
        scene, times = simulation.scene, self.times
        rows = [
            ("fps", self._fps.removesuffix(" fps") or "-"),
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

    # The parts, each as plain values

    @property
    def _left(self) -> int:
        """Where the panel ends, and the rest begins."""
        return self.canvas.ink.px(WIDTH + 12) if self.visible else 0

    def _side(self, simulation: Simulation, status: Status) -> list[Part]:
        """Return figures, views and sliders, and the scene in words."""
        if not self._figures:
            self._figures = tuple(self._rows(simulation, status))
        views = [(view.key, view.title, view.name in status.views) for view in VIEWS]
        views.append((self._labels["grid"], "grid", status.grid))
        look = Look(self._figures, self._graph, tuple(views), self.sliders.look())
        scene, title = simulation.scene, simulation.scene.title
        if simulation.paused:
            back, forward = simulation.steps_back, simulation.steps_forward
            title = f"{title}   \u2022   paused, {back} steps back, {forward} forward"
        lines = tuple((Words(line),) for line in scene.menu())
        return [
            (draw_figures, (look, self.sliders)),
            (self._draw_title, (title, _PAUSED if simulation.paused else GLASS, lines)),
        ]

    def _lines(self, simulation: Simulation, status: Status) -> list[Part]:
        """Return the menu, the line beside it, and what was said last."""
        px = self.canvas.ink.px
        width, height = self.canvas.surface.get_size()
        on = {f"scene {simulation.scene.name}"}
        on |= {name for name, is_on in (("sound", status.sound), ("panel", self.visible)) if is_on}
        told = [self._slow, self._paused(simulation)]
        rows: list[Row] = [(Words(text, ACCENT),) for text in told if text]
        way = way_to_help(self._bindings, pad=status.pad)
        rows.append((Words(f"{self._fps}   {way}".strip()),))
        beside = width - px(12 + 72 + 8), height - px(12)
        line = Table(tuple(rows), "bottomright", beside, beside[0], 12)
        parts: list[Part] = [
            (draw_table, (line,)),
            (self.menu.draw, (self.menu.look(status.mouse, on),)),
        ]
        if status.picked:
            left = self._left + px(width_of(simulation.scene.maps()))
            place = (left + width) // 2, height - px(12 + 30 + 8)
            room = width - left - px(24)
            said = Table(((Words(status.picked),),), "midbottom", place, room)
            parts.insert(0, (draw_table, (said,)))
        return parts

    def _paused(self, simulation: Simulation) -> str:
        if not simulation.paused or self.visible:
            return ""
        return f"paused   {self._labels['pause']}: resume   {self._labels['single']}: one step"

    def _middle(self, simulation: Simulation, status: Status) -> list[Part]:
        """Return the question, the help or the first hints."""
        px = self.canvas.ink.px
        width, height = self.canvas.surface.get_size()
        middle = (self._left + width) // 2
        if status.asks:
            return [(self.question.draw, (middle,))]
        room = width - self._left - px(24)
        if status.help:
            rows = pairs(help_of(self._bindings, pad=status.pad))
            table = Table(rows, "center", (middle, height // 2), room, 13, DARK_GLASS)
            return [(draw_table, (table,))]
        if status.hints and not self.visible:
            scene = simulation.scene
            task = scene.task.format_map(self._labels)
            rows = ((Words(scene.title, ACCENT),), (Words(task),)) if task else ()
            keys = hints_of(self._bindings, pad=status.pad, player=scene.player is not None)
            place = self._left + px(12), px(12)
            table = Table((*rows, *keys), "topleft", place, min(room, px(360)), 14)
            return [(draw_table, (table,))]
        return []

    def _draw_title(
        self, canvas: Canvas, words: str, color: Color4, lines: tuple[Row, ...]
    ) -> None:
        """Draw the scene's title, and below it what it says about itself."""
        px = canvas.ink.px
        right, room = canvas.surface.get_width() - px(12), canvas.surface.get_width() - self._left
        title = Table(((Words(words),),), "topright", (right, px(12)), room - px(24), 15, color)
        box = draw_table(canvas, title)
        if lines:
            place = right, box.bottom + px(8)
            draw_table(canvas, Table(lines, "topright", place, room - px(24)))
