"""The clock of a scene: fixed steps, pause, single steps, and the way back."""

import math
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from terrain_physics import FixedStep

from .scenery.inputs import IDLE, STEP, STEPS_A_SECOND, Controls
from .scenery.scene import Scene

MOST_STEPS = 5  # a frame; what is missing then is slow motion, not a spiral
REMEMBERED = 10 * STEPS_A_SECOND
FIRST_SECONDS = 2.0  # that do not count for the pace: caches are cold, and a scene is new
PACE_SECONDS = 2.0  # that the pace is a mean of, older ones weighing less


@dataclass
class Timing:
    """What the last frame's steps cost."""

    steps: int = 0
    seconds: float = 0.0


@dataclass
class _Pace:
    """Time that was asked for and time that was simulated, of late."""

    asked: float = 0.0
    done: float = 0.0
    ignored: float = 0.0

    def add(self, asked: float, done: float) -> None:
        """Take down a frame, in seconds."""
        if self.ignored < FIRST_SECONDS:
            self.ignored += asked
            return
        fades = math.exp(-asked / PACE_SECONDS)
        self.asked, self.done = self.asked * fades + asked, self.done * fades + done


@dataclass
class _Past:
    """Inputs of the last steps and states between them."""

    first: int = 0  # the step that inputs[0] starts from
    inputs: deque[Controls] = field(default_factory=deque)
    states: dict[int, Any] = field(default_factory=dict)


class Simulation:
    """Steps a scene at 120 Hz and can step it back.

    Time that has passed is turned into whole steps; `alpha` is the share of a step by which the
    picture is ahead of the last but one state.
    """

    def __init__(self, scene: Scene, seed: int | None = None) -> None:
        self.scene = scene
        self.seed = scene.seed if seed is None else seed
        self.paused = False
        self.time_scale = 1.0
        # Where the inputs of the next step come from, instead of the player; None gives it back.
        self.source: Callable[[], Controls | None] | None = None
        # Told of each step that is done for the first time.
        self.stepped: list[Callable[[Scene, Controls], None]] = []
        self.last_controls = IDLE
        self.timing = Timing()
        self._clock = FixedStep(STEP, max_steps=MOST_STEPS)
        if scene.steps or scene.seed != self.seed:
            scene.start(self.seed)
        self._begin()

    @property
    def pace(self) -> float:
        """Simulated time over the time asked for, of late: less than 1 is slow motion."""
        return self._pace.done / self._pace.asked if self._pace.asked else 1.0

    @property
    def alpha(self) -> float:
        """The share of a step from the state before to the present one; 1 while paused."""
        return 1.0 if self.paused else self._clock.alpha

    @property
    def steps_back(self) -> int:
        """How many steps the way back is long."""
        return self.scene.steps - min(self._past.states)

    @property
    def steps_forward(self) -> int:
        """How many steps are known after the present one."""
        return self._past.first + len(self._past.inputs) - self.scene.steps

    def restart(self) -> None:
        """Begin the scene anew, with the same seed."""
        self.scene.start(self.seed)
        self._begin()

    def _begin(self) -> None:
        self._clock.reset()
        self._past = _Past(states={0: self.scene.state()})
        self.timing = Timing()
        self._pace = _Pace()

    def advance(self, seconds: float, controls: Controls) -> int:
        """Let time pass; return how many steps that was."""
        if self.paused:
            self.timing = Timing()
            return 0
        asked = max(0.0, seconds) * self.time_scale
        count = len(self._clock.steps(asked))
        self._pace.add(asked, asked - self._clock.dropped)
        self._run(count, controls)
        return count

    def single(self, controls: Controls = IDLE) -> None:
        """Pause, and do one step."""
        self.paused = True
        self._run(1, controls)

    def back(self) -> bool:
        """Pause, and go back by one step; False where the memory ends."""
        self.paused = True
        return self.go_to(self.scene.steps - 1)

    def forward(self) -> bool:
        """Pause, and do the next step again as it was done; a new one where none is known."""
        self.paused = True
        if self.steps_forward:
            self._redo()
            return True
        self._run(1, IDLE)
        return False

    def go_to(self, step: int) -> bool:
        """Go to a step that is remembered."""
        last = self._past.first + len(self._past.inputs)
        before = [saved for saved in self._past.states if saved <= step]
        if not before or step > last:
            return False
        self.scene.restore(self._past.states[max(before)])
        while self.scene.steps < step:
            self._redo()
        return True

    def step(self, controls: Controls) -> None:
        """Do one step, whatever the clock says; what was known of later steps is forgotten."""
        controls = (self.source() if self.source is not None else None) or controls
        past = self._past
        while self.steps_forward:
            past.inputs.pop()
        past.states = {at: state for at, state in past.states.items() if at <= self.scene.steps}
        past.inputs.append(controls)
        self.scene.step(STEP, controls)
        self.last_controls = controls
        for tell in self.stepped:
            tell(self.scene, controls)
        if self.scene.steps % self.scene.saved_every == 0:
            past.states[self.scene.steps] = self.scene.state()
            self._forget()

    def _run(self, count: int, controls: Controls) -> None:
        start = time.perf_counter()
        for _ in range(count):
            self.step(controls)
            controls = controls.repeated()
        self.timing = Timing(count, time.perf_counter() - start)

    def _redo(self) -> None:
        self.scene.step(STEP, self._past.inputs[self.scene.steps - self._past.first])

    def _forget(self) -> None:
        """Keep the last states, and the inputs from the first of them on."""
        past = self._past
        oldest = self.scene.steps - REMEMBERED
        for at in [at for at in past.states if at < oldest]:
            del past.states[at]
        first = min(past.states)
        while past.first < first:
            past.inputs.popleft()
            past.first += 1
