"""Replays: the inputs of each step and the hash of the state after it, as lines of JSON."""

import json
import os
from pathlib import Path
from typing import NamedTuple

from .scenery.inputs import Controls, from_plain, to_plain
from .scenery.names import SCENES
from .scenery.scene import Scene
from .simulation import Simulation

_FORMAT = "terrain_physics replay 1"


class Replay(NamedTuple):
    """A recorded run."""

    scene: str
    seed: int
    inputs: list[Controls]
    hashes: list[str]


class Recorder:
    """Collects a replay while a scene runs; begins anew where the scene does."""

    def __init__(self, scene: Scene) -> None:
        self.replay = Replay(scene.name, scene.seed, [], [])

    def stepped(self, scene: Scene, controls: Controls) -> None:
        """Take down a step. After a step back, what came later is dropped."""
        if scene.name != self.replay.scene:
            self.replay = Replay(scene.name, scene.seed, [], [])
        inputs, hashes = self.replay.inputs, self.replay.hashes
        del inputs[scene.steps - 1 :]
        del hashes[scene.steps - 1 :]
        inputs.append(controls)
        hashes.append(scene.state_hash())


def save(replay: Replay, path: str | os.PathLike[str]) -> None:
    """Write a replay: a line that says what it is, then one line for each step."""
    head = {"format": _FORMAT, "scene": replay.scene, "seed": replay.seed}
    lines = [json.dumps(head)]
    for controls, state in zip(replay.inputs, replay.hashes, strict=True):
        lines.append(json.dumps([state, to_plain(controls)], separators=(",", ":")))
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")


def load(path: str | os.PathLike[str]) -> Replay:
    """Read a replay; ValueError names the file and the line that is wrong."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        raise ValueError(f"{path} is no replay: it is not text") from None
    number = 1
    inputs, hashes = [], []
    try:
        head = json.loads(lines[0])
        if head["format"] != _FORMAT or head["scene"] not in SCENES:
            raise ValueError  # noqa: TRY301 told below, with the line
        name, seed = head["scene"], int(head["seed"])
        for line in lines[1:]:
            number += 1
            state, values = json.loads(line)
            inputs.append(from_plain(values))
            hashes.append(str(state))
    except (ValueError, TypeError, KeyError, IndexError):
        raise ValueError(f"{path} is no replay: line {number} is not as it should be") from None
    return Replay(name, seed, inputs, hashes)


class Playback:
    """Gives the inputs of a replay step by step, and compares what comes of them."""

    def __init__(self, replay: Replay) -> None:
        self.replay = replay
        self.first_difference: int | None = None  # a step, counted from 1

    def attach(self, simulation: Simulation) -> None:
        """Let a simulation that is at its start play this replay."""
        simulation.source = lambda: self._next(simulation.scene.steps)
        simulation.stepped.append(self._compare)

    def verdict(self, steps: int) -> str:
        """Return how it went, in words."""
        if self.first_difference is not None:
            return f"replay differs from step {self.first_difference} on"
        return f"replay: {min(steps, len(self.replay.inputs))} steps, all equal"

    def _next(self, steps: int) -> Controls | None:
        return self.replay.inputs[steps] if steps < len(self.replay.inputs) else None

    def _compare(self, scene: Scene, controls: Controls) -> None:  # noqa: ARG002 told to all alike
        done = scene.steps
        if self.first_difference is None and done <= len(self.replay.hashes):
            if scene.state_hash() != self.replay.hashes[done - 1]:
                self.first_difference = done
