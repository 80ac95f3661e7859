"""The demo in a window: from the first picture, over what is to be compiled, to the loop."""

import sys
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import pygame

from ..panel.bindings import Bindings
from ..panel.loading import Closed, Report, Screen, Window, wait_with_bar
from ..panel.still import Still
from ..starting.compiling import told_of_functions
from ..starting.preparation import Preparation
from .options import Options, Refused

if TYPE_CHECKING:
    from ..renderers import Renderer
    from ..scenery.scene import Scene
    from ..starting.background import Background
    from .run import Run

T = TypeVar("T")
# Seconds that pass before a bar is drawn over the running game.
_PATIENCE = 0.2


def run_in_window(options: Options, bindings: Bindings) -> int:
    """Open a window at once, load all else behind a bar, and run; return the exit status."""
    try:
        window = Window(options.size)
    except pygame.error as error:
        raise Refused(" ".join(str(error).split())) from None
    preparation = Preparation(options.scene)
    try:
        return _Play(options, bindings, preparation).run(window)
    except Closed:
        return 0
    finally:
        preparation.end()
        pygame.display.quit()


def _import_and_compile(options: Options, preparation: Preparation) -> str:
    """Import all, and compile what is missing; return the kind of renderer."""
    from . import run  # noqa: F401 in this thread, while the bar is shown

    return preparation.compile(options.renderer)


def _prepared(screen: Screen, work: Callable[[], T], still: Still, preparation: Preparation) -> T:
    """Return what comes of a part of the preparation, or refuse to go on with a reason."""
    try:
        return wait_with_bar(screen, work, still, preparation.report)
    except (Closed, Refused, ModuleNotFoundError):
        raise
    except Exception as error:
        words = " ".join(str(error).split())
        raise Refused(
            f"{preparation.name} cannot be opened: {type(error).__name__}: {words}"
        ) from error


class _Play:
    """What a window shows from its beginning to its end."""

    def __init__(self, options: Options, bindings: Bindings, preparation: Preparation) -> None:
        self._options, self._bindings, self._preparation = options, bindings, preparation
        self._background: Background | None = None
        self._has_waited = True
        self._rehearsed: set[tuple[str, str]] = set()  # scenes and commands

    def run(self, window: Window) -> int:
        """Prepare behind a bar, then play."""
        options, preparation = self._options, self._preparation
        still = Still(options.scene)
        kind = _prepared(
            window, partial(_import_and_compile, options, preparation), still, preparation
        )
        from .run import make, renderer_of

        renderer = renderer_of(options, kind)
        try:
            if renderer.size != window.size:
                renderer.resize(window.size)
            if renderer.name == "software" != kind:  # which nobody could know before
                draw = partial(preparation.compile, renderer.name)
                _prepared(renderer, draw, still, preparation)
            load = partial(preparation.load, partial(make, options, options.scene), renderer)
            scene = _prepared(renderer, load, still, preparation)
            return self._play(scene, renderer)
        finally:
            if self._background is not None:
                self._background.end()
            renderer.close()

    def _play(self, scene: "Scene", renderer: "Renderer") -> int:
        from .run import begin

        options = self._options
        run = begin(scene, renderer, self._bindings, options, partial(self._change, renderer))
        for note in self._preparation.notes:
            self._tell(run, note)
        if options.frames is None and options.replay is None:
            self._begin_rest(run, renderer)
        run.app.before = partial(self._before, run)
        self._loop(run)
        return run.finish()

    def _tell(self, run: "Run", note: str) -> None:
        print(f"demo: {note}", file=sys.stderr)
        run.app.show(note)

    def _begin_rest(self, run: "Run", renderer: "Renderer") -> None:
        """Have the rest of the code compiled while the game runs."""
        from ..starting import code

        if code.is_missing("rest") and code.can_help() and not code.why_not_kept():
            from ..starting.background import Background

            self._background = run.app.background = Background(self._options.scene, renderer.name)

    def _loop(self, run: "Run") -> None:
        from .run import FRAME

        app, most = run.app, self._options.frames
        pygame.joystick.init()  # gamepads are told as events
        clock = pygame.time.Clock()
        last, frames = time.perf_counter(), 0
        while app.running and (most is None or frames < most):
            has_waited, self._has_waited = self._has_waited, False
            now = time.perf_counter()
            # With --frames a frame is 1/60 s, however long it took.
            seconds = FRAME if most is not None else now - last
            app.frame(min(seconds, 0.25), pygame.event.get())
            if has_waited:  # keys went down while a bar listened, perhaps after others went up
                app.events.hold(pygame.key.get_pressed().__getitem__)
            # The time of a wait is nobody's: the game would call itself slow.
            last = time.perf_counter() if self._has_waited else now
            frames += 1
            if self._background is not None and (news := self._background.news()):
                self._tell(run, news)
            clock.tick(60)

    def _change(self, renderer: "Renderer", name: str) -> "Scene | None":
        """Return another scene, behind a bar if that takes long; None if nobody waits for it."""
        if self._options.replay is not None:
            raise ValueError("a replay stays in its scene")
        return self._wait(renderer, name, f"Loading {name}", partial(self._other, renderer, name))

    def _other(self, renderer: "Renderer", name: str) -> "Scene":
        from ..starting import code, rehearsal
        from .run import make

        scene = make(self._options, name)
        if code.is_missing("rest"):
            rehearsal.everything(scene, renderer.name)
            scene.start(scene.seed)
        rehearsal.ready(scene, renderer)
        return scene

    def _before(self, run: "Run", command: str) -> bool:
        """Wait for the code of a command behind a bar, as long as not all code is there.

        Return whether the command is to be done: not if nobody waited.
        """
        from ..starting import code, rehearsal

        word, _, view = command.partition(" ")
        name, renderer = run.app.scene.name, run.app.renderer
        if (
            word not in {"view", "pick"}
            or (name, command) in self._rehearsed
            or not code.is_missing("rest")
        ):
            return True
        views = [view] if view else []

        def work() -> bool:
            rehearsal.see(name, renderer.name, views)
            self._rehearsed.add((name, command))
            return True

        return bool(self._wait(renderer, name, "One moment", work))

    def _wait(self, renderer: "Renderer", name: str, title: str, work: Callable[[], T]) -> T | None:
        """Return what comes of some work; None if it is not waited for, or the window is closed."""
        report, self._has_waited = Report(title), True

        def tell(function: str) -> None:
            nonlocal report
            words = function.rpartition(".")[2].strip("_").replace("_", " ")
            report = Report(title, (f"compiling, once on this computer: {words}",))

        try:
            with told_of_functions(tell):
                return wait_with_bar(
                    renderer, work, Still(name), lambda: report, patience=_PATIENCE
                )
        except Closed as closed:
            if not closed.by_escape:
                pygame.event.post(pygame.event.Event(pygame.QUIT))
            return None
        except ValueError:
            raise
        except Exception as error:
            words = " ".join(str(error).split())
            raise ValueError(f"{name} cannot go on: {type(error).__name__}: {words}") from error
