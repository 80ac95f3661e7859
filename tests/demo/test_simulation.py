"""The demo's clock: fixed steps, pause, back and forward, replays."""

import json
from pathlib import Path

import pytest

from demo.panel.panel import SLOW
from demo.replay import Playback, Recorder, load, save
from demo.scenery.inputs import STEP, Controls, Rules
from demo.scenery.scenes import make_scene
from demo.simulation import MOST_STEPS, REMEMBERED, Simulation
from tests.helpers.examples import rest_is_full

WALK = Controls(forward=1.0, yaw=0.3)


def start(name: str = "slopes", seed: int = 2) -> Simulation:
    return Simulation(make_scene(name, seed, small=True))


def test_time_becomes_whole_steps() -> None:
    simulation = start()
    assert simulation.advance(1 / 60, WALK) == 2
    assert simulation.advance(0.5 * STEP, WALK) == 0
    assert simulation.alpha == pytest.approx(0.5)
    assert simulation.advance(0.5 * STEP, WALK) == 1
    assert simulation.alpha == pytest.approx(0.0, abs=1e-9)
    assert simulation.scene.steps == 3


def test_slow_frames_become_slow_motion() -> None:
    simulation = start()
    assert simulation.advance(3.0, WALK) == MOST_STEPS
    assert simulation.advance(0.0, WALK) == 0
    assert simulation.advance(-1.0, WALK) == 0


def test_pace_is_simulated_over_asked_time() -> None:
    simulation = start("counter")
    assert simulation.pace == 1.0
    for _ in range(120):
        simulation.advance(1 / 60, WALK)
    assert simulation.pace == 1.0
    for _ in range(200):
        simulation.advance(2 * MOST_STEPS * STEP, WALK)
    assert simulation.pace == pytest.approx(0.5, abs=0.01)
    simulation.time_scale = 0.5  # slower because somebody wants it is not slow
    for _ in range(200):
        simulation.advance(2 * MOST_STEPS * STEP, WALK)
    assert simulation.pace == pytest.approx(1.0, abs=0.01)
    simulation.advance(0.25, WALK)  # one long frame
    assert simulation.pace > SLOW
    simulation.restart()
    assert simulation.pace == 1.0


def test_a_slow_start_is_no_slow_motion() -> None:
    simulation = start("counter")
    for seconds in (0.6, 0.6, 0.6, 0.2, 0.1, 1 / 60, 1 / 60):
        simulation.advance(seconds, WALK)
        assert simulation.pace == 1.0


def test_same_steps_however_time_is_cut() -> None:
    first, second = start(), start()
    for _ in range(30):
        first.advance(1 / 60, WALK)
    for _ in range(60):
        second.advance(1 / 120, WALK)
    assert first.scene.steps == second.scene.steps == 60
    assert first.scene.state_hash() == second.scene.state_hash()


def test_pause_stops_time_and_single_steps() -> None:
    simulation = start()
    simulation.advance(0.02, WALK)
    simulation.paused = True
    steps, state = simulation.scene.steps, simulation.scene.state_hash()
    assert simulation.advance(1.0, WALK) == 0
    assert simulation.scene.state_hash() == state
    assert simulation.alpha == 1.0
    simulation.single()
    assert simulation.scene.steps == steps + 1
    assert simulation.paused


def test_time_scale() -> None:
    simulation = start()
    simulation.time_scale = 0.5
    assert simulation.advance(2 * STEP, WALK) == 1
    simulation.time_scale = 0.0
    assert simulation.advance(1.0, WALK) == 0


@pytest.mark.parametrize(
    "name", rest_is_full(["digging", "lift", "doorway", "edges", "counter", "walk", "paths"], 3)
)
def test_back_and_forward_restore_the_hashes_of_the_first_pass(name: str) -> None:
    simulation = start(name)
    scene = simulation.scene
    simulation.source = scene.script
    hashes = [scene.state_hash()]
    for _ in range(45):
        simulation.step(Controls())
        hashes.append(scene.state_hash())
    simulation.source = None
    for step in range(44, 20, -1):
        assert simulation.back()
        assert scene.steps == step
        assert scene.state_hash() == hashes[step]
    assert simulation.paused
    for step in range(22, 46):
        assert simulation.forward()
        assert scene.state_hash() == hashes[step]
    assert not simulation.forward()
    assert scene.steps == 46


def test_the_way_back_ends() -> None:
    simulation = start()
    assert not simulation.back()
    assert simulation.scene.steps == 0
    for _ in range(REMEMBERED + 100):
        simulation.step(Controls())
    assert abs(simulation.steps_back - REMEMBERED) <= 12
    assert not simulation.go_to(50)
    assert simulation.scene.steps == REMEMBERED + 100
    assert simulation.go_to(REMEMBERED)
    assert simulation.steps_forward == 100


def test_a_new_step_forgets_the_old_future() -> None:
    simulation = start()
    for _ in range(40):
        simulation.step(WALK)
    simulation.go_to(20)
    simulation.step(Controls(forward=-1.0))
    assert simulation.steps_forward == 0
    other = simulation.scene.state_hash()
    simulation.back()
    simulation.forward()
    assert simulation.scene.state_hash() == other


def test_restart_begins_anew_with_the_same_seed() -> None:
    simulation = start("reference", seed=9)
    state = simulation.scene.state_hash()
    for _ in range(20):
        simulation.step(Controls(throw=True, pitch=-0.5))
    simulation.restart()
    assert simulation.scene.steps == simulation.steps_back == 0
    assert simulation.scene.state_hash() == state


def test_throws_happen_once_in_a_frame() -> None:
    simulation = start()
    count = len(simulation.scene.bodies)
    simulation.advance(4 * STEP, Controls(throw=True))
    assert simulation.scene.steps == 4
    assert len(simulation.scene.bodies) == count + 1


def recorded(path: Path, name: str = "digging") -> Path:
    simulation = start(name)
    recorder = Recorder(simulation.scene)
    simulation.stepped.append(recorder.stepped)
    simulation.source = simulation.scene.script
    for _ in range(50):
        simulation.step(Controls())
    simulation.source = None
    simulation.go_to(40)  # what is stepped again differently counts
    for step in range(20):
        simulation.step(Controls(jump=step == 3, throw=step == 5, rules=Rules(gravity=20.0)))
    save(recorder.replay, path)
    return path


def test_replay_is_equal(tmp_path: Path) -> None:
    replay = load(recorded(tmp_path / "run.jsonl"))
    assert (replay.scene, replay.seed, len(replay.inputs)) == ("digging", 2, 60)
    simulation = start(replay.scene, replay.seed)
    playback = Playback(replay)
    playback.attach(simulation)
    for _ in range(70):
        simulation.step(Controls())
    assert playback.first_difference is None
    assert playback.verdict(70) == "replay: 60 steps, all equal"


def test_replay_names_the_first_step_that_differs(tmp_path: Path) -> None:
    replay = load(recorded(tmp_path / "run.jsonl"))
    replay.inputs[30] = Controls(forward=1.0)
    simulation = start(replay.scene, replay.seed)
    playback = Playback(replay)
    playback.attach(simulation)
    for _ in range(60):
        simulation.step(Controls())
    assert playback.first_difference == 31
    assert playback.verdict(60) == "replay differs from step 31 on"


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (0, "no json"),
        (0, "[]"),
        (0, json.dumps({"format": "another 1", "scene": "walk", "seed": 0})),
        (2, "[1]"),
        (2, '["0", {"forward": 1, "wings": 2}]'),
        (2, '["0", {"tool": "axe"}]'),
    ],
)
def test_damaged_replays_are_refused(tmp_path: Path, line: int, text: str) -> None:
    path = recorded(tmp_path / "run.jsonl", "counter")
    lines = path.read_text().splitlines()
    lines[line] = text
    path.write_text("\n".join(lines))
    with pytest.raises(ValueError, match=rf"run.jsonl is no replay: line {line + 1} "):
        load(path)


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "picture.png"
    path.write_bytes(b"\x89PNG\xff\xfe")
    with pytest.raises(ValueError, match="it is not text"):
        load(path)
    path.write_text("")
    with pytest.raises(ValueError, match="line 1 "):
        load(path)
