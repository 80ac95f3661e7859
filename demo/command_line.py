"""The command line: windows and runs without one, pictures, recordings, replays."""

import os
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from . import replay as replays
from .options import Options, Refused, parse
from .scenery.scene import Scene
from .scenery.scenes import make_scene, scene_class
from .simulation import Simulation
from .sound.audio_driver import AUDIO_DRIVER

if TYPE_CHECKING:
    from .app import App
    from .panel.bindings import Bindings
    from .renderers import Renderer

FRAME = 1.0 / 60.0
RECORDED_EVERY = 3  # frames
_MODULES = {"pygame", "moderngl", "PIL"}
_WITH_ALL = '-e ".[demo]"' if __package__ == "demo" else '"terrain-physics[demo]"'


def main(arguments: Sequence[str] | None = None, prog: str = f"python -m {__package__}") -> int:
    """Run the demo, which was started by the words ``prog``; return the exit status."""
    # Before pygame is imported: no greeting, and no search for a sound card.
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    AUDIO_DRIVER.silence()
    try:
        options = parse(sys.argv[1:] if arguments is None else arguments, prog=prog)
        return 0 if options is None else _run(options)
    except Refused as refused:
        print(f"demo: {refused}", file=sys.stderr)
        return 2
    except ModuleNotFoundError as missing:
        if missing.name not in _MODULES:
            raise
        print(
            f"demo: needs {missing.name}, which comes with: pip install {_WITH_ALL}",
            file=sys.stderr,
        )
        return 2


def _run(options: Options) -> int:
    if options.headless:
        os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    import pygame  # noqa: F401 missing: told before anything is computed

    bindings = _bindings(options)
    renderer = _open_renderer(options)
    try:
        scene = _load(renderer, options)
        return 0 if scene is None else _show(scene, renderer, bindings, options)
    finally:
        renderer.close()


def _load(renderer: "Renderer", options: Options) -> Scene | None:
    """Return the scene, behind a bar if there is a window; None if it was closed meanwhile."""

    def make() -> Scene:
        return make_scene(options.scene, options.seed, land=options.land)

    if options.headless:
        return make()
    import pygame

    from .panel.loading import prepare, wait_with_bar

    pygame.display.set_caption("terrain_physics")
    return wait_with_bar(renderer, partial(prepare, make, renderer))


def _show(scene: Scene, renderer: "Renderer", bindings: "Bindings", options: Options) -> int:
    simulation = Simulation(scene)
    playback = None
    if options.replay is not None:
        playback = replays.Playback(options.replay)
        playback.attach(simulation)
    elif options.headless:
        simulation.source = scene.script
    recorder = None
    if options.save_replay is not None:
        recorder = replays.Recorder(scene)
        simulation.stepped.append(recorder.stepped)
    app = _open(simulation, renderer, bindings, options)
    if options.headless:
        _run_headless(app, options)
    else:
        _run_window(app, options)
    if recorder is not None and options.save_replay is not None:
        try:
            replays.save(recorder.replay, options.save_replay)
        except OSError as error:
            raise Refused(f"--save-replay: {error}") from None
    if playback is not None:
        print(playback.verdict(app.scene.steps))
        return 1 if playback.first_difference is not None else 0
    return 0


def _open_renderer(options: Options) -> "Renderer":
    from .renderers import open_renderer

    try:
        return open_renderer(options.renderer, options.size, visible=not options.headless)
    except (RuntimeError, OSError, ValueError) as error:  # pygame.error is a RuntimeError
        raise Refused(" ".join(str(error).split())) from None


def _bindings(options: Options) -> "Bindings":
    from .panel import bindings

    if options.headless:  # nobody presses anything
        return bindings.USUAL
    try:
        return bindings.load(bindings.user_file())
    except ValueError as error:
        raise Refused(" ".join(str(error).split())) from None


def _open(
    simulation: Simulation, renderer: "Renderer", bindings: "Bindings", options: Options
) -> "App":
    from .app import App
    from .picture.pictures import save_screenshot
    from .resolution import Resolution

    def change_scene(name: str) -> Scene:
        if options.replay is not None:
            raise ValueError("a replay stays in its scene")
        land = options.land if scene_class(name).takes_land else None
        return make_scene(name, options.seed, land=land)

    app = App(
        simulation,
        renderer,
        renderer.size,
        change_scene=change_scene,
        save_picture=save_screenshot,
        bindings=bindings,
        resolution=None if options.headless else Resolution(options.scale),
        scripted=options.headless,
    )
    app.views.update(options.views)
    app.panel.visible = options.panel
    if options.sound and not options.headless:
        app.show(app.sounds.toggle())
    return app


def _run_window(app: "App", options: Options) -> None:
    import pygame

    pygame.joystick.init()  # gamepads are told as events
    app.events.hold(pygame.key.get_pressed().__getitem__)  # since the bar
    clock = pygame.time.Clock()
    last, frames = time.perf_counter(), 0
    while app.running and (options.frames is None or frames < options.frames):
        now = time.perf_counter()
        # With --frames a frame is 1/60 s, however long it took.
        seconds = FRAME if options.frames is not None else now - last
        app.frame(min(seconds, 0.25), pygame.event.get())
        last = now
        frames += 1
        clock.tick(60)


def _run_headless(app: "App", options: Options) -> None:
    from tqdm import tqdm

    from .picture.pictures import AnimatedPicture, save_picture

    frames = options.frames or 1
    recording = AnimatedPicture(options.record) if options.record is not None else None
    bar = tqdm(
        total=frames,
        desc="recording",
        unit="frame",
        disable=None if recording is not None else True,
    )
    times = app.panel.times
    physics = draw = panel = 0.0
    pictures = 0
    begun = time.perf_counter()
    for frame in range(frames):
        recorded = recording is not None and frame % RECORDED_EVERY == RECORDED_EVERY - 1
        drawn = recording is None or recorded or frame == frames - 1
        app.frame(FRAME, [], drawn=drawn)
        physics += 1e3 * app.simulation.timing.seconds
        if drawn:
            draw, panel, pictures = draw + times.draw[-1], panel + times.panel[-1], pictures + 1
        if recording is not None and recorded:
            recording.add(app.renderer.read())
        bar.update()
    seconds = time.perf_counter() - begun
    bar.close()
    pixels = app.renderer.read()
    try:
        if options.screenshot is not None:
            save_picture(pixels, options.screenshot)
        if recording is not None:
            recording.close()
    except (OSError, RuntimeError) as error:
        raise Refused(str(error)) from None
    print(
        f"{frames} frames of {options.scene}, seed {options.seed}, {app.renderer.name}, "
        f"{options.size[0]}x{options.size[1]}: {seconds:.2f} s, {frames / seconds:.1f} fps; "
        f"physics {physics / frames:.2f} ms, draw {draw / pictures:.2f} ms, "
        f"panel {panel / pictures:.2f} ms a frame; "
        f"state {app.scene.state_hash()}"
    )
    with suppress(BrokenPipeError):
        sys.stdout.flush()
