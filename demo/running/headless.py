"""The demo without a window: it plays itself, is recorded, and tells what a frame costs."""

import sys
import time
from contextlib import suppress
from functools import partial

from ..app import App
from ..panel.bindings import USUAL
from .options import Options, Refused
from .run import FRAME, begin, make, renderer_of

RECORDED_EVERY = 3  # frames


def run_headless(options: Options) -> int:
    """Run the demo unseen; return the exit status."""
    renderer = renderer_of(options, options.renderer)
    try:
        scene = make(options, options.scene)
        # Nobody presses anything.
        run = begin(scene, renderer, USUAL, options, partial(make, options))
        _run_frames(run.app, options)
        return run.finish()
    finally:
        renderer.close()


def _run_frames(app: App, options: Options) -> None:
    from tqdm import tqdm

    from ..picture.pictures import AnimatedPicture, save_picture

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
