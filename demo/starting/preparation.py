"""All between the command and the first step: imports, code, scene, picture.

Two processes compile, one what a player needs to walk, one what the picture needs; they share the
cache on disk, from which this process loads. Where no other process can help, it compiles itself.
Nothing here is shown: `report` tells what there is to show.
"""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from ..panel.loading import Report
from .course import Course, in_words
from .courses import begun

if TYPE_CHECKING:
    from ..renderers import Renderer
    from ..scenery.scene import Scene
    from .helper import Helper

# Of a start with all code at hand, after the imports; measured.
_LOADING = 2.0


class Preparation:
    """What one start of the demo prepares."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.notes: list[str] = []  # what the user is to be told
        self._courses: dict[str, Course] = {}
        self._is_shared = True
        self._loading: Course | None = None
        self._helpers: list[Helper] = []

    def report(self) -> Report:
        """Return what the bar is to show now."""
        now = time.monotonic()
        if not self._courses:
            return Report("Loading", (), self._loading.share(now) if self._loading else 0.0)
        # Other threads finish courses meanwhile.
        courses = self._courses.values()
        going = [course for course in courses if not course.done]
        seconds = sum(course.seconds for course in courses)
        share = sum(course.share(now) * course.seconds for course in courses) / seconds
        if not going:
            return Report("Loading", (), share)
        left = [course.left(now) for course in going]
        wait = in_words(max(left) if self._is_shared else sum(left))
        once = "at each start" if self.notes else "once on this computer"
        title = f"Compiling the code for {' and '.join(self._courses)}"
        return Report(title, (f"{once}, {wait}", *self.notes), share)

    def compile(self, kind: str) -> str:
        """Compile what is needed and not there; return the kind of renderer."""
        from ..renderers import likely_kind
        from . import code

        kind = likely_kind(kind)
        if missing := code.missing_parts(kind):
            reason = code.why_not_kept()
            if reason and reason not in self.notes:
                self.notes.append(reason)
            if not reason and code.can_help():
                self._compile_elsewhere(missing, kind)
            if missing := code.missing_parts(kind):
                self._compile_here(missing, kind)
        self._loading = Course(_LOADING, (), time.monotonic())
        return kind

    def _compile_elsewhere(self, parts: list[str], kind: str) -> None:
        from .helper import Helper

        now = time.monotonic()
        # All at once: `report` reads them in another thread.
        self._courses = {part: begun(part, now) for part in parts}
        helpers = {}
        for part, course in self._courses.items():
            helpers[part] = Helper(part, self.name, kind, _reaching(course))
            self._helpers.append(helpers[part])
        for part, helper in helpers.items():
            threading.Thread(
                target=_finish, args=(helper, self._courses[part]), daemon=True
            ).start()
        for part, helper in helpers.items():
            helper.wait()
            if helper.failure:
                self.notes.append(f"the code for {part} was not compiled ({helper.failure})")

    def _compile_here(self, parts: list[str], kind: str) -> None:
        from .rehearsal import rehearse

        self._is_shared = False
        now = time.monotonic()
        self._courses = {part: begun(part, now) for part in parts}
        for part in parts:
            course = self._courses[part] = begun(part, time.monotonic())
            rehearse(part, self.name, kind, _reaching(course))
            course.finish()

    def load(self, make: Callable[[], "Scene"], renderer: "Renderer") -> "Scene":
        """Make the scene, and load the code for it and for its picture."""
        from terrain_physics import warm_up

        from .rehearsal import ready

        # Loading holds locks for a part of the time only, and shadows are computed without any.
        with ThreadPoolExecutor(1) as other:
            hero = other.submit(warm_up, only=["character"])
            scene = make()
            ready(scene, renderer)
            hero.result()
        return scene

    def end(self) -> None:
        """Stop what goes on, after the window was closed."""
        for helper in self._helpers:
            helper.end()


def _reaching(course: Course) -> Callable[[str], None]:
    return lambda name: course.reach(name, time.monotonic())


def _finish(helper: "Helper", course: Course) -> None:
    helper.wait()
    course.finish()
