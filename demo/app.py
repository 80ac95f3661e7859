"""One frame of the demo: events, steps, picture, panel."""

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pygame
from numpy.typing import NDArray

from .camera_rig import CameraRig
from .panel.bindings import USUAL, Bindings
from .panel.controls import Events, Press
from .panel.panel import HINT_SECONDS, Panel, Status
from .panel.thin_bar import ThinBar, Underway
from .picture.camera import pick_ray
from .picture.frame import Camera, Frame
from .renderers import Renderer
from .resolution import FrameTime, Resolution
from .scenery.inputs import Controls, Floats3
from .scenery.names import SCENES
from .scenery.pick import Found
from .scenery.scene import Scene
from .scenery.views import fill_views
from .simulation import Simulation
from .sound.sounds import Sounds

NOTICE_SECONDS, NEWS_SECONDS = 5.0, 12.0
QUESTION_SECONDS = 6.0


class App:
    """The demo, frame by frame; the loop around it belongs to `demo.running`."""

    def __init__(
        self,
        simulation: Simulation,
        renderer: Renderer,
        size: tuple[int, int],
        *,
        change_scene: Callable[[str], Scene | None] | None = None,
        save_picture: Callable[[NDArray[np.uint8]], str] | None = None,
        bindings: Bindings = USUAL,
        resolution: Resolution | None = None,
        scripted: bool = False,
    ) -> None:
        self.simulation, self.renderer, self.size = simulation, renderer, size
        self.events = Events(bindings)
        self.panel = Panel(size, simulation.scene, bindings)
        self.rig = CameraRig(simulation.scene)
        self.resolution = resolution or Resolution(1.0)
        self.views: set[str] = set()
        self.sounds = Sounds()
        simulation.stepped.append(self._hear)
        self.grid = False
        self.scripted = scripted
        self.panel.bare = scripted
        self.help = False
        self.hints_left = HINT_SECONDS
        self.asks_left = 0.0  # seconds that the question whether to quit is still there
        self.running = True
        self.picked = ""
        self._picked_left = 0.0
        self._change_scene, self._save_picture = change_scene, save_picture
        self._news = ""
        self._right_for = 0.0  # seconds that the right button is down
        self._captured = False
        self._hole = False
        self._saves = False  # the picture of this frame
        self._wish = Controls()
        self._camera = Camera()
        # Told what is about to be done. It may wait until the code for it is there, and returns
        # whether to go on; a ValueError tells why not.
        self.before: Callable[[str], bool] | None = None
        self.background: Underway | None = None
        self._thin_bar = ThinBar()

    @property
    def scene(self) -> Scene:
        """The scene that runs."""
        return self.simulation.scene

    def frame(
        self, seconds: float, events: list[pygame.event.Event], *, drawn: bool = True
    ) -> None:
        """Do one frame, ``seconds`` after the last one; one that nobody sees need not be drawn."""
        begun = time.perf_counter()
        self.events.begin_frame(seconds)
        self._right_for += seconds
        self.events.in_menu = self.panel.menu.is_open
        for event in events:
            self.events.handle(event)
        if self.events.quit:
            self.running = False
        if self.events.resized is not None:
            self.resize(self.events.resized)
        self._hole = False
        if self.events.touched and "escape" not in self.events.commands:
            self._answer()
        for command in self.events.commands:
            self._obey(command)
        for press in self.events.presses:
            self._press(press)
        self._follow_capture()
        self._hold(seconds)
        self.simulation.time_scale = self.panel.sliders.time.value
        self._wish = self._controls()
        self.simulation.advance(seconds, self._wish)
        self._tell_news()
        if drawn:
            self._draw(seconds, begun)

    def resize(self, size: tuple[int, int]) -> None:
        """Follow the window."""
        self.size = size
        self.renderer.resize(size)
        self.panel.resize(size)

    def show(self, words: str, seconds: float = NOTICE_SECONDS) -> None:
        """Say something in the line at the bottom."""
        self.picked, self._picked_left = words, seconds

    def _tell_news(self) -> None:
        """Say what the scene has to tell; what a step back undoes is told again."""
        news = self.scene.news()
        if news and news != self._news:
            self.show(news, NEWS_SECONDS)
        self._news = news

    # What commands do

    def _is_ready(self, command: str) -> bool:
        """Tell whether a command can be done now; say why not."""
        if self.before is None:
            return True
        try:
            return self.before(command)
        except ValueError as error:
            self.show(str(error))
            return False
        finally:
            self._follow_window()

    def _follow_window(self) -> None:
        """Take over the size that the window got while something else listened."""
        if self.size != self.renderer.size:
            self.resize(self.renderer.size)

    def _obey(self, command: str) -> None:
        if not self._is_ready(command):
            return
        word, _, rest = command.partition(" ")
        if word == "view":
            self.views ^= {rest}
        elif word == "scene":
            self._go_to(rest)
        elif word == "menu":
            self._obey_menu(rest)
        elif rest == "scene":
            way = 1 if word == "next" else -1
            self._go_to(SCENES[(SCENES.index(self.scene.name) + way) % len(SCENES)])
        elif word in {"pause", "single", "back", "forward", "restart"}:
            self._obey_clock(word)
        elif word in {"home", "camera", "grid", "screenshot"}:
            self._obey_picture(word)
        elif word == "panel":
            self.panel.visible = not self.panel.visible
        elif word == "sound":
            self.show(self.sounds.toggle())
        elif word == "help":
            self.help, self.hints_left = not self.help, 0.0
        elif word == "hole":
            self._hole = True
        elif word == "quit":
            self.running = False
        elif word == "escape":
            self._escape()

    def _obey_clock(self, word: str) -> None:
        simulation = self.simulation
        if word == "pause":
            simulation.paused = not simulation.paused
        elif word == "single":
            simulation.single(self._controls())
        elif word == "back":
            if not simulation.back():
                self.show("there is no earlier step")
        elif word == "forward":
            simulation.forward()
        else:
            simulation.restart()
            self.rig.go_home(self.scene)

    def _obey_picture(self, word: str) -> None:
        if word == "home":
            self.rig.go_home(self.scene)
        elif word == "camera":
            self.rig.next_mode(self.scene)
            self.show(f"camera: {self.rig.mode}")
        elif word == "grid":
            self.grid = not self.grid
        else:
            self._saves = True

    def _obey_menu(self, what: str) -> None:
        menu = self.panel.menu
        if what == "choose":
            self._obey(menu.choose())
        elif what:
            menu.move(-1 if what == "up" else 1)
        else:
            menu.toggle(f"scene {self.scene.name}")

    def _escape(self) -> None:
        """Close what is open, free the mouse, or ask, and the second time end."""
        if self.asks_left > 0.0:
            self.running = False
        elif self.panel.menu.is_open:
            self.panel.menu.close()
        elif self.help:
            self.help = False
        elif self.events.captured:
            self.events.captured = False
        else:
            self.asks_left = QUESTION_SECONDS

    def _answer(self) -> None:
        """Take a click or another key than Esc as the answer to the question, if there is one.

        It is nothing but the answer: neither is it a command nor does it dig below.
        """
        if self.asks_left <= 0.0:
            return
        self.asks_left = 0.0
        clicks = [press for press in self.events.presses if press.down and press.button == 1]
        if clicks and self.panel.question.press(clicks[0].place) == "quit":
            self.running = False
        self.events.left_down = False
        self.events.presses.clear()
        self.events.commands.clear()

    def _go_to(self, name: str) -> None:
        if self._change_scene is None:
            return
        try:
            scene = self._change_scene(name)
        except ValueError as error:
            self.show(str(error))
            return
        finally:
            self._follow_window()
        if scene is None:
            return
        simulation = Simulation(scene, self.simulation.seed)
        simulation.stepped = self.simulation.stepped
        if self.scripted:
            simulation.source = scene.script
        self.simulation = simulation
        self.rig = CameraRig(scene)
        self.hints_left = HINT_SECONDS
        self.panel.use_rules(type(scene).rules)

    def _hear(self, scene: Scene, controls: Controls) -> None:  # noqa: ARG002 told to all alike
        if not self.simulation.paused:
            self.sounds.hear(scene)

    def _press(self, press: Press) -> None:
        if press.button == 3:
            if press.down:
                self._right_for = 0.0
                self.events.captured = not self.events.captured
            # A long press looks around only while it lasts, a click until Esc.
            elif self._right_for > 0.3:
                self.events.captured = False
        elif press.button == 1 and not press.down:
            self.panel.sliders.dragged = None
        elif press.button == 1 and not self._press_panel(press):
            if "left" not in self.scene.tools and self._is_ready("pick"):
                self._tell(self.scene.pick(*self._sight()))

    def _tell(self, found: Found) -> None:
        """Say what was met, with numbers while the panel is on."""
        figures = f" \u2022 {found.figures}" if self.panel.visible and found.figures else ""
        self.show(found.words + figures)

    def _press_panel(self, press: Press) -> bool:
        """Tell whether a click was for the panel or its menu, and do what it asks for."""
        if self.events.captured or self.panel.bare:
            return False
        command = self.panel.menu.press(press.place)
        if command is None and not self.panel.press(press.place):
            return False
        self.events.left_down = False  # no digging below
        self._obey(command or "")
        return True

    def _follow_capture(self) -> None:
        """Hide and hold the mouse while it looks around, also after the window lost the focus."""
        if self.events.captured == self._captured:
            return
        self._captured = captured = self.events.captured
        if pygame.display.get_init() and pygame.display.get_surface() is not None:
            pygame.mouse.set_visible(not captured)
            pygame.event.set_grab(captured)

    def _hold(self, seconds: float) -> None:
        """Do what goes on while something is held."""
        events = self.events
        if events.repeats("back"):
            self.simulation.back()
        if events.repeats("forward"):
            self.simulation.forward()
        if self.panel.sliders.dragged is not None:
            self.panel.sliders.dragged.drag(events.mouse[0])
        if events.look != (0.0, 0.0):
            self.rig.turn(*events.look)
        if events.wheel:
            self.rig.zoom(events.wheel)
        up = float("up" in events.held) - float("down" in events.held)
        self.rig.fly(seconds, events.controls(), up, self.scene)
        self.hints_left = max(0.0, self.hints_left - seconds)
        self.asks_left = max(0.0, self.asks_left - seconds)
        self._picked_left -= seconds
        if self._picked_left <= 0.0:
            self.picked = ""

    def _controls(self) -> Controls:
        """Return what is wished for in the next step."""
        wish = self.events.controls()
        camera = self.rig.camera
        tool, place = self._tool()
        if not self.rig.steers_player:
            wish = replace(wish, forward=0.0, right=0.0, jump=False)
        rules = self.panel.sliders.rules()
        return replace(
            wish,
            yaw=camera.yaw,
            pitch=camera.pitch,
            eye=camera.position,
            tool=tool,
            place=place,
            rules=None if rules == type(self.scene).rules else rules,
        )

    def _tool(self) -> tuple[str, Floats3 | None]:
        """Return what the mouse does to the ground in scenes where it may."""
        left = self.events.left_down and self.panel.sliders.dragged is None
        by = "hole" if self._hole else "left" if left else ""
        tools = self.scene.tools
        tool = tools.get(f"run {by}" if "run" in self.events.held else by, tools.get(by, ""))
        if not tool:
            return "", None
        place = self.scene.point(*self._sight())
        return (tool, place) if place is not None else ("", None)

    def _sight(self) -> tuple[Floats3, Floats3]:
        width, height = self.size
        pixel = (width / 2, height / 2) if self.events.captured else self.events.mouse
        return pick_ray(self._camera, self.size, (float(pixel[0]), float(pixel[1])))

    # The picture

    def _draw(self, seconds: float, begun: float) -> None:
        frame = self._frame()
        laid_out = time.perf_counter()
        panel = self._draw_panel(seconds) if self._has_panel() else None
        if panel is not None:
            frame.covered = [(box.x, box.y, box.w, box.h) for box in self.panel.boxes]
        self.renderer.scale = 1.0 if self._saves else self.resolution.scale
        gathered = time.perf_counter()
        self.renderer.draw(frame)
        drawn = time.perf_counter()
        if panel is not None:
            self.renderer.overlay(panel, self.panel.boxes, self.panel.version)
        if self.background is not None and self.background.is_working:
            bar = self._thin_bar.draw(self.size, self.background.share, self.background.words)
            self.renderer.overlay(bar, self._thin_bar.boxes)
        paneled = time.perf_counter()
        if self._saves and self._save_picture is not None:
            self.show(self._save_picture(self.renderer.read()))
        self._saves = False
        showing = time.perf_counter()
        self.renderer.present()
        done = time.perf_counter()
        timing = self.simulation.timing
        physics, drawing = timing.seconds, drawn - gathered
        rest = paneled - begun - physics - drawing
        self.resolution.add(
            FrameTime(
                physics, timing.steps, drawing, rest, done - showing,
                self.renderer.card_seconds,
            )
        )  # fmt: skip
        over = (gathered - laid_out) + (paneled - drawn)
        spent = paneled - begun - physics - over + (done - showing)
        self.panel.times.add(physics, spent, over, max(seconds, done - begun))

    def _has_panel(self) -> bool:
        return self.panel.visible or not self.panel.bare or bool(self.scene.maps())

    def _frame(self) -> Frame:
        simulation, scene = self.simulation, self.scene
        if self.scripted:
            self.rig.look(simulation.last_controls.yaw, simulation.last_controls.pitch)
        self._camera = self.rig.placed(scene, simulation.alpha)
        frame = Frame(self._camera, grid=self.grid)
        scene.fill(frame, simulation.alpha)
        fill_views(frame, scene, self.views)
        return frame

    def _draw_panel(self, seconds: float) -> pygame.Surface:
        status = Status(
            self.views, self.grid, self.rig.mode, self.renderer.name, self.picked,
            f"{self.resolution.scale:.0%}", self.events.mouse, help=self.help,
            hints=self.hints_left > 0.0, asks=self.asks_left > 0.0, pad=self.events.pad,
            sound=self.sounds.on,
        )  # fmt: skip
        return self.panel.draw(self.simulation, status, seconds)
