"""The demo's command line: what it does, what it refuses, and a real window."""

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from demo.running import command_line, options, run
from demo.scenery.names import SCENES
from demo.scenery.scenes import make_scene
from demo.starting import code
from terrain_physics._kernels import _jit
from tests.demo.stand_in import Counting
from tests.helpers import forks
from tests.helpers.extras import library

ROOT = Path(__file__).parents[2]
HIDDEN = {"SDL_VIDEODRIVER": "dummy"}
SEEN = {"DISPLAY": ":0"}


@pytest.fixture
def renderers(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Take the place of the renderers, and of large scenes."""
    opened: list[Any] = []

    def open_renderer(kind: str, size: tuple[int, int], *, visible: bool) -> Any:
        opened.append(Counting(size))
        opened[-1].kind, opened[-1].visible = kind, visible
        return opened[-1]

    monkeypatch.setattr(run, "open_renderer", open_renderer)
    monkeypatch.setattr("demo.renderers.likely_kind", lambda kind: kind)
    monkeypatch.setattr(code, "missing_parts", lambda _: [])  # no test waits for it
    real = make_scene
    monkeypatch.setattr(
        run,
        "make_scene",
        lambda name, seed, *, land=None: real(name, seed, land=land, small=True),
    )
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    return opened


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Return the one line on stderr of a call that must end with status 2."""
    assert command_line.main(arguments) == 2
    captured = capsys.readouterr()
    assert not captured.out
    assert captured.err.count("\n") == 1
    return captured.err.strip()


def test_an_interrupt_ends_without_a_word(monkeypatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupt(_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(command_line, "_run", interrupt)
    assert command_line.main(["--frames", "1"]) == 130
    assert capsys.readouterr() == ("", "")


def test_list_names_the_scenes(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert tuple(line.split()[0] for line in lines) == SCENES
    assert all(len(line.split()) > 3 for line in lines)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--scene", "moon"], "--scene must be one of walk, stairs"),
        (["--size", "big"], "--size must be WIDTHxHEIGHT, such as 1280x720, got 'big'"),
        (["--size", "10x720"], "--size must be from 64 to 8192 each way"),
        (["--frames", "0"], "--frames must be from 1 to"),
        (["--frames", "x"], "--frames must be a whole number, got 'x'"),
        (["--seed", "-1"], "--seed must be from 0 to"),
        (["--renderer", "crayon", "--frames", "1"], "--renderer must be one of auto, gl, software"),
        (["--scale", "0.4"], "--scale must be auto or from 0.5 to 1, got '0.4'"),
        (["--scale", "80%"], "--scale must be auto or from 0.5 to 1, got '80%'"),
        (["--scale", "0.7", "--headless", "--frames", "1"], "--scale is for a window"),
        (["--heightmap", "nowhere.png"], "nowhere.png"),
        (["--replay", "nowhere.jsonl"], "nowhere.jsonl"),
        (["--screenshot", "out.bmp"], "--screenshot must end in .png"),
        (["--screenshot", "no/folder/out.png"], "there is no folder 'no/folder'"),
        (["--record", "out.mp4"], "--record must end in .webp or .gif"),
        (["--views", "xray"], "--views must be of candidates, contacts"),
        (["--headless"], "--headless needs --frames N"),
        (["--unknown"], "unrecognized arguments: --unknown"),
        (["--scene"], "argument --scene: expected one argument"),
    ],
)
def test_bad_input_is_refused_in_one_line(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    line = refusal(capsys, *arguments)
    assert line.startswith("demo: ")
    assert message in line


def test_no_display_and_no_frames_is_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    line = refusal(capsys)
    assert "no display" in line
    assert "--frames" in line
    assert options.has_display({"DISPLAY": ":0"}, "linux")
    assert options.has_display({"WAYLAND_DISPLAY": "wayland-0"}, "linux")
    assert not options.has_display({}, "linux")
    assert options.has_display({}, "win32")
    assert options.has_display({}, "darwin")


def test_what_is_to_be_done() -> None:
    parse: Any = options.parse
    plain = parse([], SEEN)
    assert (plain.scene, plain.seed, plain.size) == ("walk", 0, (1280, 720))
    assert (plain.frames, plain.headless, plain.renderer) == (None, False, "auto")
    assert parse(["--frames", "5"], SEEN).headless is False
    assert parse(["--frames", "5"], HIDDEN).headless is True
    assert parse(["--screenshot", "a.png"], SEEN).frames == options.SCREENSHOT_FRAMES
    assert parse(["--record", "a.gif"], HIDDEN).frames == options.RECORDED_FRAMES
    assert parse(["--views", "boxes,trail"], SEEN).views == ("boxes", "trail")


@pytest.mark.parametrize("missing", ["pygame", "numba"])
def test_what_is_missing_names_the_extra(missing: str) -> None:
    if missing == "numba" and _jit.native is not None:
        pytest.skip("machine code needs no numba")
    code = (
        f"import sys; sys.modules[{missing!r}] = None\n"
        "from demo.running.command_line import main\n"
        "sys.exit(main(['--headless', '--frames', '1']))"
    )
    ended = forks.run("-c", code)
    assert ended.returncode == 2
    assert ended.stderr.count("\n") == 1
    assert f"needs {missing}" in ended.stderr
    assert ".[demo,jit]" in ended.stderr


def test_headless_prints_a_timing_line(
    renderers: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert command_line.main(["--headless", "--frames", "6", "--scene", "crowd"]) == 0
    out = capsys.readouterr().out
    assert re.fullmatch(
        r"6 frames of crowd, seed 0, counting, 1280x720: [\d.]+ s, [\d.]+ fps; physics [\d.]+ ms, "
        r"draw [\d.]+ ms, panel [\d.]+ ms a frame; state [0-9a-f]{16}\n",
        out,
    )
    assert renderers[0].drawn == 6
    assert renderers[0].visible is False
    assert renderers[0].closed
    assert command_line.main(["--headless", "--frames", "6", "--scene", "crowd"]) == 0
    assert capsys.readouterr().out[-17:] == out[-17:]


def test_a_window_waits_behind_a_bar_and_can_be_closed_there(
    renderers: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(options, "has_display", lambda _: True)
    pygame = library("pygame", "demo")
    pygame.display.init()
    try:
        assert command_line.main(["--frames", "3", "--scene", "slopes"]) == 0
        shown = renderers[0]
        assert shown.visible is True
        assert (shown.drawn, shown.prepared) == (3, 1)
        assert shown.presented >= 3
        assert shown.closed
        assert command_line.main(["--frames", "3", "--scene", "slopes", "--scale", "0.7"]) == 0
        assert renderers[1].scales == [0.7, 0.7, 0.7]
        pygame.display.init()
        pygame.event.post(pygame.event.Event(pygame.QUIT))
        assert command_line.main(["--scene", "slopes"]) == 0
        assert all(shown.closed and not shown.drawn for shown in renderers[2:])
        assert not pygame.display.get_init()
    finally:
        pygame.display.quit()


def test_screenshot_and_size(renderers: list[Any], tmp_path: Path) -> None:
    out = tmp_path / "last.png"
    arguments = ["--screenshot", str(out), "--frames", "3", "--size", "320x200", "--scene", "edges"]
    assert command_line.main(arguments) == 0
    image: Any
    with Image.open(out) as image:
        assert image.size == (320, 200)
        assert image.getpixel((0, 0))[:3] == (0, 81, 0)
    assert renderers[0].overlaid == 0


@pytest.mark.parametrize("ending", ["webp", "gif"])
def test_recording(renderers: list[Any], tmp_path: Path, ending: str) -> None:
    out = tmp_path / f"run.{ending}"
    arguments = ["--record", str(out), "--frames", "12", "--size", "96x64", "--scene", "counter"]
    assert command_line.main(arguments) == 0
    image: Any
    with Image.open(out) as image:
        assert image.size == (96, 64)
        assert image.n_frames == 4


def test_replays_by_command_line(
    renderers: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run.jsonl"
    arguments = ["--headless", "--frames", "20", "--scene", "digging", "--seed", "5"]
    assert command_line.main([*arguments, "--save-replay", str(path)]) == 0
    capsys.readouterr()
    assert command_line.main(["--replay", str(path)]) == 0
    assert "replay: 40 steps, all equal" in capsys.readouterr().out
    lines = path.read_text().splitlines()
    lines[11] = lines[12]
    path.write_text("\n".join(lines))
    assert command_line.main(["--replay", str(path)]) == 1
    assert "replay differs from step 11 on" in capsys.readouterr().out
    assert "is of the scene 'digging', not 'walk'" in refusal(
        capsys, "--replay", str(path), "--scene", "walk"
    )


def test_heightmap_files(
    renderers: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "land.npy"
    rng = np.random.default_rng(0)
    np.save(path, rng.uniform(0.0, 60_000.0, (70, 60)))
    assert command_line.main(["--heightmap", str(path), "--frames", "3"]) == 0
    assert "of walk," in capsys.readouterr().out
    land = renderers[0].last.land
    assert land.sample_count == (70, 60)
    assert 8.0 < np.ptp(land.heights * land.height_scale) < 9.0  # metres, whatever the units were
    assert "'slopes' has ground of its own" in refusal(
        capsys, "--heightmap", str(path), "--scene", "slopes"
    )
    path.write_bytes(b"no heights")
    assert str(path) in refusal(capsys, "--heightmap", str(path))
    np.save(path, np.full((5, 5), np.nan))
    assert "only holes" in refusal(capsys, "--heightmap", str(path))


def test_nothing_but_ours_on_the_terminal() -> None:
    ended = forks.run("-m", "demo", "--list", env=os.environ | HIDDEN)
    assert ended.returncode == 0
    assert not ended.stderr
    code = "import os; from demo.running.command_line import main; main(['--list']); import pygame"
    assert "pygame" not in forks.run("-c", code).stdout.lower()


@pytest.mark.skipif(
    shutil.which("xdotool") is None, reason="needs keys to press: apt-get install xdotool"
)
def test_real_keys_in_a_real_window(tmp_path: Path, display: str) -> None:
    """Open a window, press keys as a user does, and leave by Esc."""
    demo: Any = None
    try:
        environment = {
            name: value for name, value in os.environ.items() if name != "SDL_VIDEODRIVER"
        }
        environment |= {"DISPLAY": display, "SDL_VIDEO_X11_WMCLASS": "terrain_physics"}
        environment["PYTHONPATH"] = str(ROOT)
        replay = tmp_path / "run.jsonl"
        demo = subprocess.Popen(
            [
                *(sys.executable, "-m", "demo", "--scene", "digging", "--renderer", "software"),
                *("--size", "160x120", "--save-replay", str(replay)),
            ],
            cwd=tmp_path,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

        def xdotool(*arguments: str) -> str:
            return subprocess.run(
                ["xdotool", *arguments],
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            ).stdout

        window, patience = "", time.monotonic() + 1800.0
        while not window and time.monotonic() < patience and demo.poll() is None:
            window = xdotool("search", "--class", "^terrain_physics$").strip()
            time.sleep(0.1)
        assert window, demo.stderr.read() if demo.poll() is not None else "no window"
        xdotool("windowfocus", window)
        xdotool("mousemove", "100", "60")
        # A frame may take seconds while it compiles. A screenshot shows that keys are heard: w is
        # held and b was pressed before the third, and steps are taken between it and the fourth.
        # Before the first the window is opened anew, which lets go of keys that do not repeat.
        deadline = time.monotonic() + 1800.0
        for wanted in (1, 2, 3, 4):
            if wanted == 2:
                xdotool("keydown", "w")
            xdotool("key", "b")
            while len(list(tmp_path.glob("*.png"))) < wanted and demo.poll() is None:
                assert time.monotonic() < deadline, f"{wanted - 1} screenshots"
                xdotool("key", "F12")
                time.sleep(0.3)
        xdotool("keyup", "w")
        while demo.poll() is None and time.monotonic() < deadline:
            xdotool("key", "Escape")
            time.sleep(0.3)
        _, errors = demo.communicate(timeout=900)
        assert demo.returncode == 0, errors
        assert not errors
        text = replay.read_text()
        assert '"throw":true' in text
        assert '"forward":1.0' in text
    finally:
        if demo is not None:
            demo.kill()
            demo.wait(timeout=600)
