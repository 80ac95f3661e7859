"""One run of the demo, with or without a window: its app, what it records and what it plays."""

from collections.abc import Callable
from typing import NamedTuple

from .. import replay as replays
from ..app import App
from ..panel.bindings import Bindings
from ..picture.pictures import save_screenshot
from ..renderers import Renderer, open_renderer
from ..resolution import Resolution
from ..scenery.scene import Scene
from ..scenery.scenes import make_scene, scene_class
from ..simulation import Simulation
from .options import Options, Refused

FRAME = 1.0 / 60.0


def make(options: Options, name: str) -> Scene:
    """Return a scene as the options want it."""
    land = options.land if scene_class(name).takes_land else None
    return make_scene(name, options.seed, land=land)


def renderer_of(options: Options, kind: str) -> Renderer:
    """Open a renderer of a kind."""
    try:
        return open_renderer(kind, options.size, visible=not options.headless)
    except (RuntimeError, OSError, ValueError) as error:  # pygame.error is a RuntimeError
        raise Refused(" ".join(str(error).split())) from None


class Run(NamedTuple):
    """An app, and the replays that it makes and plays."""

    app: App
    options: Options
    recorder: replays.Recorder | None
    playback: replays.Playback | None

    def finish(self) -> int:
        """Save and tell what came of it; return the exit status."""
        options = self.options
        if self.recorder is not None and options.save_replay is not None:
            try:
                replays.save(self.recorder.replay, options.save_replay)
            except OSError as error:
                raise Refused(f"--save-replay: {error}") from None
        if self.playback is not None:
            print(self.playback.verdict(self.app.scene.steps))
            return 1 if self.playback.first_difference is not None else 0
        return 0


def begin(
    scene: Scene,
    renderer: Renderer,
    bindings: Bindings,
    options: Options,
    change_scene: Callable[[str], Scene | None],
) -> Run:
    """Return a run at its start."""
    simulation = Simulation(scene)
    playback = recorder = None
    if options.replay is not None:
        playback = replays.Playback(options.replay)
        playback.attach(simulation)
    elif options.headless:
        simulation.source = scene.script
    if options.save_replay is not None:
        recorder = replays.Recorder(scene)
        simulation.stepped.append(recorder.stepped)
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
    return Run(app, options, recorder, playback)
