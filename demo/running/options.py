"""The options of the command line: read, checked, and refused with one line each.

The library is imported for files alone, so that a window opens before it.
"""

import argparse
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from ..picture.scaling import LEAST_SCALE, checked_scale
from ..scenery.names import SCENES, VIEW_NAMES

if TYPE_CHECKING:
    from terrain_physics import HeightMap

    from ..replay import Replay

PACKAGE = __name__.split(".", maxsplit=1)[0]
RENDERERS = ("auto", "gl", "software")
DEFAULT_SIZE = (1280, 720)
LEAST, MOST = 64, 8192
SCREENSHOT_FRAMES, RECORDED_FRAMES = 180, 240
_WEBP, _GIF = ".webp", ".gif"
# A height map whose heights span more than this share of its width is in other units than meters.
_STEEPEST, _WANTED = 0.5, 0.15


class Refused(Exception):  # noqa: N818 not every refusal is an error of the program
    """What was asked for cannot be done; the message says why."""


@dataclass
class Options:
    """What is to be done."""

    scene: str
    seed: int
    size: tuple[int, int]
    renderer: str
    frames: int | None
    headless: bool
    screenshot: Path | None = None
    record: Path | None = None
    replay: "Replay | None" = None
    save_replay: Path | None = None
    land: "HeightMap | None" = None
    views: tuple[str, ...] = ()
    panel: bool = False
    scale: float | None = None  # the share of its size that the picture is drawn at; None: follows
    sound: bool = False


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise Refused(message)


def parse(
    arguments: Sequence[str],
    environment: Mapping[str, str] = os.environ,
    *,
    prog: str = f"python -m {PACKAGE}",
) -> Options | None:
    """Return what is to be done; None if it has been done. Raise `Refused` for what cannot be."""
    given = _parser(prog).parse_args(list(arguments))
    if given.list:
        _print_scenes()
        return None
    replay = None if given.replay is None else _replay(given.replay)
    if replay is not None and given.scene not in {None, replay.scene}:
        raise Refused(
            f"--replay {given.replay} is of the scene {replay.scene!r}, not {given.scene!r}"
        )
    scene = replay.scene if replay is not None else given.scene
    land = None if given.heightmap is None else load_land_file(given.heightmap)
    scene = scene or "walk"
    if scene not in SCENES:
        raise Refused(f"--scene must be one of {', '.join(SCENES)}, got {scene!r}")
    if land is not None:
        _check_takes_land(scene)
    options = Options(
        scene=scene,
        seed=replay.seed if replay is not None else _whole("--seed", given.seed, 0, 2**32 - 1),
        size=_size(given.size),
        renderer=given.renderer,
        frames=None if given.frames is None else _whole("--frames", given.frames, 1, 10**7),
        headless=given.headless,
        screenshot=_out("--screenshot", given.screenshot, (".png",)),
        record=_out("--record", given.record, (_WEBP, _GIF)),
        replay=replay,
        save_replay=_out("--save-replay", given.save_replay, ()),
        land=land,
        views=_views(given.views),
        panel=given.panel,
        scale=_scale(given.scale),
        sound=given.sound,
    )
    if options.renderer not in RENDERERS:
        raise Refused(f"--renderer must be one of {', '.join(RENDERERS)}, got {options.renderer!r}")
    _decide_frames(options, environment)
    if options.headless and options.scale is not None:
        raise Refused("--scale is for a window; without one all is drawn at full size")
    return options


def has_display(environment: Mapping[str, str], platform: str = sys.platform) -> bool:
    """Return whether a window would be seen by anybody."""
    if environment.get("SDL_VIDEODRIVER") in {"dummy", "offscreen"}:
        return False
    if not platform.startswith(("linux", "freebsd", "openbsd")):
        return True
    return bool(environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))


def load_land_file(path: str) -> "HeightMap":
    """Return any height map as land of a plausible height."""
    import numpy as np

    from terrain_physics import HeightMap

    try:
        land = HeightMap.load(path)
    except (OSError, ValueError, TypeError, ImportError) as error:
        words = " ".join(str(error).split())
        raise Refused(words if path in words else f"{path}: {words}") from None
    heights = land.heights
    solid = heights[~np.isnan(heights)]
    if not solid.size:
        raise Refused(f"{path}: has no ground, only holes")
    width = min(land.cell_count)
    span = float(solid.max()) - float(solid.min())
    if span <= _STEEPEST * width:
        return land
    return HeightMap(heights, height_scale=_WANTED * width / span)


def _print_scenes() -> None:
    from ..scenery.scenes import scene_class

    for name in SCENES:
        print(f"{name:10} {scene_class(name).title}")


def _check_takes_land(scene: str) -> None:
    from ..scenery.scenes import scene_class

    if not scene_class(scene).takes_land:
        takers = ", ".join(name for name in SCENES if scene_class(name).takes_land)
        raise Refused(f"--heightmap is for the scenes {takers}; {scene!r} has ground of its own")


def _parser(prog: str) -> _Parser:
    parser = _Parser(
        prog=prog,
        description="A testbed for terrain_physics: walk, throw, dig, and watch the collisions.",
    )
    add = parser.add_argument
    add("--scene", metavar="NAME", help="where to begin; see --list")
    add("--list", action="store_true", help="print the scenes, and end")
    add("--seed", default="0", metavar="N", help="where chance begins (0)")
    add("--frames", metavar="N", help="end after so many frames of 1/60 s")
    add("--headless", action="store_true", help="no window; the scene plays itself")
    add("--size", default="{}x{}".format(*DEFAULT_SIZE), metavar="WxH", help="of the picture")
    add("--renderer", default="auto", metavar="KIND", help="auto, gl or software")
    add(
        "--scale",
        default="auto",
        metavar="SHARE",
        help="how much of its width and height a window is drawn at: 0.5 to 1, or auto, as speed "
        "allows",
    )
    add("--heightmap", metavar="FILE", help="another land, in any format of HeightMap.load")
    add("--screenshot", metavar="OUT.png", help="save the last frame")
    add("--record", metavar="OUT.webp", help="save all frames, as .webp or .gif")
    add("--save-replay", metavar="FILE", help="save the inputs and the hash of each step")
    add("--replay", metavar="FILE", help="play such a file and compare the hashes")
    add("--views", default="", metavar="A,B", help=f"of {', '.join(VIEW_NAMES)}")
    add("--panel", action="store_true", help="with the panel: figures, views and sliders")
    add("--sound", action="store_true", help="footsteps are heard, if there is a window")
    return parser


def _decide_frames(options: Options, environment: Mapping[str, str]) -> None:
    """Say how long to run, and whether without a window."""
    if options.frames is None:
        if options.replay is not None and (options.headless or not has_display(environment)):
            options.frames = max(1, (len(options.replay.inputs) + 1) // 2)
        elif options.record is not None:
            options.frames = RECORDED_FRAMES
        elif options.screenshot is not None:
            options.frames = SCREENSHOT_FRAMES
    if options.frames is None and options.headless:
        raise Refused("--headless needs --frames N")
    if options.frames is None and not has_display(environment):
        raise Refused("no display to open a window on; --frames N runs without one")
    if not has_display(environment) or options.screenshot or options.record:
        options.headless = True


def _replay(path: str) -> "Replay":
    from ..replay import load

    try:
        return load(path)
    except (OSError, ValueError) as error:
        raise Refused(str(error)) from None


def _size(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d{1,5})[xX](\d{1,5})", text)
    if found is None:
        raise Refused(f"--size must be WIDTHxHEIGHT, such as 1280x720, got {text!r}")
    width, height = int(found[1]), int(found[2])
    if not (LEAST <= width <= MOST and LEAST <= height <= MOST):
        raise Refused(f"--size must be from {LEAST} to {MOST} each way, got {text!r}")
    return width, height


def _scale(text: str) -> float | None:
    if text == "auto":
        return None
    try:
        return checked_scale(float(text))
    except ValueError:
        raise Refused(f"--scale must be auto or from {LEAST_SCALE} to 1, got {text!r}") from None


def _whole(name: str, text: str, least: int, most: int) -> int:
    try:
        number = int(text)
    except ValueError:
        raise Refused(f"{name} must be a whole number, got {text!r}") from None
    if not least <= number <= most:
        raise Refused(f"{name} must be from {least} to {most}, got {text}")
    return number


def _out(name: str, path: str | None, endings: tuple[str, ...]) -> Path | None:
    if path is None:
        return None
    out = Path(path)
    if endings and out.suffix.lower() not in endings:
        raise Refused(f"{name} must end in {' or '.join(endings)}, got {path!r}")
    if not out.parent.is_dir():
        raise Refused(f"{name}: there is no folder {str(out.parent)!r}")
    return out


def _views(text: str) -> tuple[str, ...]:
    names = tuple(name for name in text.split(",") if name)
    for name in names:
        if name not in VIEW_NAMES:
            raise Refused(f"--views must be of {', '.join(VIEW_NAMES)}, got {name!r}")
    return names
