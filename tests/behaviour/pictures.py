"""Draw ``internal_edges.png``, ``resolvers.png`` and ``crowds.png`` in assets: ``--pictures``.

The ball without internal-edge handling is pushed out of one triangle after the other, each by
itself; gravity, speed and ground are the same.
"""

import math
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from demo.playground.edges import OneByOne
from terrain_physics import HeightMap
from tests.behaviour import lands, throngs
from tests.behaviour.drive import FRAME, RADIUS, RESOLVERS, character

ASSETS = Path(__file__).parents[2] / "assets"
GRAVITY, SPEED = 9.81, 4.0
SMOOTH = 3  # drawn so much larger, then shrunk
INK, GRAY, GROUND = (40, 44, 52), (208, 211, 216), (226, 219, 205)
STEEP = math.tan(math.radians(70))
TEAL, RED, ORANGE = (0, 128, 128), (204, 62, 50), (226, 140, 40)


class Chart:
    """Axes over a part of a picture."""

    def __init__(self, image, frame, x_range, y_range, title):
        self.draw = ImageDraw.Draw(image)
        self.left, self.top, self.right, self.bottom = (SMOOTH * side for side in frame)
        self.x_range, self.y_range = x_range, y_range
        self.write(0, -24, title, 15)

    def write(self, right, down, text, size=12, color=INK, anchor="la"):
        """Write at so many pixels from the upper left corner."""
        font = ImageFont.load_default(SMOOTH * size)
        place = (self.left + SMOOTH * right, self.top + SMOOTH * down)
        self.draw.text(place, text, fill=color, font=font, anchor=anchor)

    def place(self, x, y):
        across = (np.asarray(x) - self.x_range[0]) / (self.x_range[1] - self.x_range[0])
        up = (np.asarray(y) - self.y_range[0]) / (self.y_range[1] - self.y_range[0])
        return self.left + across * (self.right - self.left), self.bottom - up * (
            self.bottom - self.top
        )

    def points(self, x, y):
        return [(float(u), float(v)) for u, v in zip(*self.place(x, y), strict=True)]

    def line(self, x, y, color, width=2.0):
        self.draw.line(self.points(x, y), fill=color, width=round(SMOOTH * width), joint="curve")

    def area_below(self, x, y):
        low = [(self.right, self.bottom), (self.left, self.bottom)]
        self.draw.polygon(self.points(x, y) + low, fill=GROUND)
        self.line(x, y, INK, 1.5)

    def ball(self, x, y, radius, color):
        (u, v), (w, _) = self.place(x, y), self.place(x + radius, y)
        size = w - u
        self.draw.ellipse((u - size, v - size, u + size, v + size), outline=color, width=2 * SMOOTH)

    def grid(self, x_ticks, y_ticks, x_name):
        for tick in x_ticks:
            u, _ = self.place(tick, 0.0)
            self.draw.line((u, self.top, u, self.bottom), fill=GRAY, width=SMOOTH)
            self._label((u, self.bottom + 5 * SMOOTH), f"{tick:g}", "ma")
        for tick in y_ticks:
            _, v = self.place(0.0, tick)
            self.draw.line((self.left, v, self.right, v), fill=GRAY, width=SMOOTH)
            self._label((self.left - 5 * SMOOTH, v), f"{tick:g}", "rm")
        middle = (self.left + self.right) / 2
        self._label((middle, self.bottom + 22 * SMOOTH), x_name, "ma")

    def _label(self, place, text, anchor):
        font = ImageFont.load_default(SMOOTH * 12)
        self.draw.text(place, text, fill=INK, font=font, anchor=anchor)


def _picture(width, height):
    return Image.new("RGB", (SMOOTH * width, SMOOTH * height), "white")


def _save(image, name):
    small = image.resize((image.width // SMOOTH, image.height // SMOOTH), Image.Resampling.LANCZOS)
    small.quantize(128).save(ASSETS / name, optimize=True)


def _ridge():
    """Return level ground, then a ridge of 17 degrees both ways with its crest at x = 20."""
    x = np.arange(41.0)
    rise = 0.3 * np.clip(np.minimum(x - 14.0, 26.0 - x), 0.0, None)
    return HeightMap(np.tile(rise, (41, 1)))


def _across(land, *, handled):
    """Return (n, 3) places of a ball that walks across at 4 m/s, a little aslant."""
    start, way = np.array([8.2, RADIUS, 20.37]), np.array([math.cos(0.1), math.sin(0.1)])
    places = [start]
    mover = character(land, "sphere", start, gravity=GRAVITY)
    other = OneByOne(tuple(start), 4)
    while places[-1][0] < 32.0:
        if handled:
            mover.velocity.x, mover.velocity.z = SPEED * way
            mover.update(FRAME)
            places.append(np.array(mover.position64))
        else:
            other.velocity[[0, 2]] = SPEED * way
            other.step(land, GRAVITY, FRAME)
            places.append(other.place.copy())
    return np.array(places)


def draw_edges():
    """Paths over a ridge, with and without internal-edge handling."""
    land, image = _ridge(), _picture(900, 560)
    smooth, rough = _across(land, handled=True), _across(land, handled=False)
    ends, left, right = (8.0, 32.0), 60, 880
    above = Chart(
        image, (left, 40, right, 200), ends, (-0.5, 4.0), "A ball walks over a ridge at 4 m/s"
    )
    x = np.linspace(*ends, 400)
    above.area_below(x, np.array([land.height_at(at, 20.37) for at in x]))
    above.line(rough[:, 0], rough[:, 1], RED)
    above.line(smooth[:, 0], smooth[:, 1], TEAL)
    for at in (10.0, 17.0, 23.5, 30.0):
        above.ball(at, float(np.interp(at, smooth[:, 0], smooth[:, 1])), RADIUS, TEAL)
    for name, color, at in (("the library", TEAL, 560), ("each triangle by itself", RED, 660)):
        above.write(at, -22, name, 13, color)
    speeds = Chart(
        image, (left, 245, right, 355), ends, (3.6, 4.5), "Horizontal speed, frame by frame, m/s"
    )
    speeds.grid(range(8, 33, 4), (3.6, 3.8, 4, 4.2, 4.4), "")
    most = 12.0
    gaps = Chart(image, (left, 405, right, 515), ends, (-0.3, most), "Gap to the ground below, mm")
    gaps.grid(range(8, 33, 4), (0, 4, 8, 12), "x in meters")
    touching = _resting_height(land)
    for path, color in ((rough, RED), (smooth, TEAL)):
        steps = np.linalg.norm(np.diff(path[:, [0, 2]], axis=0), axis=1) / FRAME
        speeds.line(path[1:, 0], steps, color, 1.5)
        gap = 1000.0 * (path[:, 1] - touching(path[:, 0]))
        gaps.line(path[:, 0], np.minimum(gap, most), color, 1.5)
        if gap.max() > most:
            gaps.write(
                480,
                8,
                f"nothing holds it down: {gap.max():.0f} mm high behind the crest",
                13,
                color,
            )
    _save(image, "internal_edges.png")


def _resting_height(land):
    """Return the height of a ball's center that lies on the ridge, which does not vary along z."""
    x = np.arange(0.0, 40.0, 0.001)
    ground = np.interp(x, np.arange(41), land.heights[0] * np.float64(land.height_scale))

    def height(places):
        best = np.full(len(places), -np.inf)
        for off in np.linspace(-RADIUS, RADIUS, 2001):
            up = math.sqrt(max(RADIUS**2 - off**2, 0.0))
            best = np.maximum(best, np.interp(places + off, x, ground) + up)
        return best

    return height


def _falls(resolver, seed, frames=120):
    """Return the places of a ball that falls into a valley of two flanks of 70 degrees."""
    land = lands.folded(STEEP, STEEP)
    mover = character(land, "sphere", (20.6, 3.9, 20.3), resolver=resolver, seed=seed)
    places = [mover.position64]
    for _ in range(frames):
        mover.update(FRAME)
        places.append(mover.position64)
    return np.array(places) - (20.0, 0.0, 0.0)


def draw_resolvers():
    """The two resolvers in a valley: the whole fall, and its end enlarged."""
    image = _picture(900, 430)
    colors = dict(zip(RESOLVERS, (ORANGE, TEAL), strict=True))
    rim = 4.0
    whole = Chart(
        image, (60, 40, 400, 403), (-2.06, 2.06), (0.0, 4.4), "A ball falls into a valley"
    )
    whole.area_below([-2.06, -rim / STEEP, 0.0, rim / STEEP, 2.06], [rim, rim, 0.0, rim, rim])
    found: dict[str, Any] = {
        resolver: [_falls(resolver, seed) for seed in range(8)] for resolver in RESOLVERS
    }
    for resolver, width in zip(RESOLVERS, (6.0, 2.0), strict=True):
        for path in found[resolver]:
            whole.line(path[:, 0], path[:, 1], colors[resolver], width)
    end = found["simultaneous"][0][-1]
    whole.ball(float(end[0]), float(end[1]), RADIUS, TEAL)
    most = 1.0
    close = Chart(
        image,
        (500, 40, 880, 360),
        (0.0, 2.0),
        (-most, most),
        "Off the middle, mm, eight seeds each",
    )
    close.grid((0, 0.5, 1, 1.5, 2), (-1, -0.5, 0, 0.5, 1), "seconds")
    for resolver in RESOLVERS:
        for path in found[resolver]:
            off = 1000.0 * path[:, 0]
            close.line(FRAME * np.arange(len(off)), np.clip(off, -most, most), colors[resolver])
    close.write(170, 14, "shuffled: each seed its way", 13, ORANGE)
    close.write(170, 34, "simultaneous: all the same", 13, TEAL)
    _save(image, "resolvers.png")


def _seen_from_above(image, frame, ranges, title, places, before, walls=()):
    """Draw a crowd and how far each came in the last half second; ``ranges`` are of x and of z."""
    chart = Chart(image, frame, ranges[0], ranges[1], title)
    for low_x, low_z, high_x, high_z in walls:
        x = np.clip([low_x, high_x, high_x, low_x], *ranges[0])
        chart.draw.polygon(
            chart.points(x, np.clip([low_z, low_z, high_z, high_z], *ranges[1])), GRAY
        )
    for (x, _, z), (old_x, _, old_z) in zip(places, before, strict=True):
        if ranges[0][0] < x < ranges[0][1] and ranges[1][0] < z < ranges[1][1]:
            chart.ball(x, z, throngs.RADIUS, TEAL)
            chart.line([old_x, x], [old_z, z], ORANGE, 1.5)


def _frames(scene, *given, **options):
    """Return the places of a crowd after each frame of a scene."""
    frames: list[np.ndarray] = []
    scene(*given, watch=frames.append, **options)
    return frames


def draw_crowds():
    """Crowds that collide, from above: a point that all chase, a door, a bend."""
    image, half_second = _picture(900, 480), round(0.5 / FRAME)
    frames = _frames(throngs.chase, 200, 10.0)
    around = (-8.8, 8.8), (-12.5, 12.5)
    title = "200 chase a point, after 10 s"
    _seen_from_above(image, (10, 40, 294, 443), around, title, frames[599], frames[569])
    frames = _frames(throngs.doorway, 300, 15.0)
    title, walls = "300 through a door, after 15 s", [(-40, 0, -0.6, 0.3), (0.6, 0, 40, 0.3)]
    near = (-8.8, 8.8), (-17.5, 7.5)
    before = frames[-1 - half_second]
    _seen_from_above(image, (308, 40, 592, 443), near, title, frames[-1], before, walls)
    frames = _frames(throngs.corridor, 60, 5.0)
    title, walls = "60 around a bend, after 5 s", throngs.bend(3.0)
    near, before = ((-3.0, 14.6), (-11.5, 13.5)), frames[-1 - half_second]
    _seen_from_above(image, (606, 40, 890, 443), near, title, frames[-1], before, walls)
    _save(image, "crowds.png")
