"""Render assets/terrain.png, the picture of the README: ``python -m demo.making.terrain_picture``.

100 balls and 25 crates, dropped on our land and brought to rest by the library. Drawn by marching
rays over the height field in NumPy, with sun, shadows, haze and 2 x 2 samples a pixel. Takes a
minute or two; the library must be installed.
"""

import argparse
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from terrain_physics import BoxCollider, CharacterMovement, HeightMap, SphereCollider

from . import ASSETS
from .land_view import HEIGHT, SUN, Grid, LandView, bilinear, fold, mixed, rise, unit

SUNLIGHT = np.array([4.6, 3.6, 2.5], np.float32)
SKYLIGHT = np.array([0.36, 0.52, 0.80], np.float32)
HAZE = np.array([0.40, 0.53, 0.72], np.float32)
EYE, TARGET, LENS = (5.0, 10.0, 6.0), (60.0, 9.6, 61.0), 0.56
BALLS = [
    (0.62, 0.06, 0.035),
    (0.80, 0.36, 0.03),
    (0.72, 0.68, 0.60),
    (0.025, 0.17, 0.42),
    (0.03, 0.27, 0.21),
]


class Body(NamedTuple):
    """A ball (no rotation) or a crate, where it came to rest; size is radius or half extent."""

    center: NDArray[np.float64]
    size: float
    color: Grid
    rotation: NDArray[np.float64] | None


class Scene(NamedTuple):
    """The land and what lies on it."""

    land: LandView
    bodies: list[Body]


def turned(normal: Any, angle: float) -> NDArray[np.float64]:
    """Return the rotation of a crate that lies flat on a slope, turned by an angle."""
    up = np.array([normal.x, normal.y, normal.z])
    aside = np.cross(up, [np.sin(angle), 0.0, np.cos(angle)])
    aside /= np.linalg.norm(aside)
    return np.column_stack([aside, up, np.cross(aside, up)])


def settled(land: HeightMap) -> list[Body]:
    """Drop balls and crates in front of the camera and return where they come to rest."""
    chance = np.random.default_rng(7)
    dropped: list[tuple[CharacterMovement, tuple[float, Grid, NDArray[np.float64] | None]]] = []
    taken: list[tuple[float, float]] = []
    while len(dropped) < 125:
        x, z = chance.uniform(0.0, 100.0, 2)
        if any(np.hypot(x - a, z - b) < 3.2 for a, b in taken):
            continue
        if np.hypot(x - EYE[0], z - EYE[2]) < 17.0:
            continue
        taken.append((x, z))
        start, seed = (x, 20.0, z), len(dropped)
        if seed % 5:
            size = float(chance.choice((0.6, 0.8, 1.0, 1.0, 1.3)))
            color = np.array(BALLS[int(chance.integers(len(BALLS)))], np.float32)
            collider: Any = SphereCollider(size)
            mover, rotation = CharacterMovement(land, collider, position=start, seed=seed), None
        else:
            size, rotation = (
                float(chance.choice((0.8, 1.0, 1.2))),
                turned(land.normal_at(x, z), chance.uniform(0.0, 6.0)),
            )
            color = np.array((0.40, 0.23, 0.10), np.float32) * np.float32(chance.uniform(0.8, 1.3))
            mover = CharacterMovement(
                land, BoxCollider((size, size, size)), position=start, rotation=rotation, seed=seed
            )
        dropped.append((mover, (size, color, rotation)))
    for _ in range(600):
        for mover, _ in dropped:
            mover.update(1.0 / 60.0)
    return [Body(np.array(mover.position64), *look) for mover, look in dropped]


def ray_ball(body: Body, origin: Grid, direction: Grid) -> Grid:
    """Return the distance to a ball along each ray, infinite for those that miss."""
    aside = (origin - body.center).astype(np.float32)
    along = (aside * direction).sum(-1)
    root = along * along - (aside * aside).sum(-1) + np.float32(body.size**2)
    distance = -along - np.sqrt(np.maximum(root, 0.0))
    return np.where((root > 0.0) & (distance > 0.01), distance, np.float32(np.inf))


def ray_crate(body: Body, origin: Grid, direction: Grid) -> Grid:
    """Return the distance to a crate along each ray, infinite for those that miss."""
    axes = np.asarray(body.rotation, np.float32)
    start = (origin - body.center).astype(np.float32) @ axes
    way = direction @ axes
    way = np.where(np.abs(way) < 1e-6, np.float32(1e-6), way)
    one, other = (-body.size - start) / way, (body.size - start) / way
    enter, leave = np.minimum(one, other).max(-1), np.maximum(one, other).min(-1)
    return np.where((enter < leave) & (enter > 0.01), enter, np.float32(np.inf))


def ray_body(body: Body, origin: Grid, direction: Grid) -> Grid:
    return (ray_ball if body.rotation is None else ray_crate)(body, origin, direction)


class Camera:
    """A pinhole camera, level with the horizon but for its pitch."""

    def __init__(self, eye: Any, target: Any, width: int, height: int, lens: float) -> None:
        self.eye = np.array(eye, np.float32)
        self.ahead = unit(np.array(target, np.float32) - self.eye)
        self.right = unit(np.cross(self.ahead, np.array([0.0, 1.0, 0.0], np.float32)))
        self.up = np.cross(self.right, self.ahead)
        self.width, self.height, self.lens = width, height, lens

    def rays(self, first: int, last: int) -> Grid:
        """Return unit directions through the pixels of rows first..last - 1, one after another."""
        x = ((np.arange(self.width) + 0.5) / self.width * 2.0 - 1.0).astype(np.float32)
        y = ((self.height - 2.0 * np.arange(first, last) - 1.0) / self.width).astype(np.float32)
        across = x[None, :, None] * self.right * np.float32(self.lens)
        return unit(
            self.ahead + across + y[:, None, None] * self.up * np.float32(self.lens)
        ).reshape(-1, 3)


def sky(direction: Grid, land: LandView) -> Grid:
    up = np.clip(direction[:, 1], 0.0, 1.0)
    color = mixed(np.array([0.50, 0.62, 0.76]), np.array([0.055, 0.17, 0.47]), rise(-0.1, 0.45, up))
    near_sun = np.clip(direction @ SUN, 0.0, 1.0)
    color += np.array([1.0, 0.75, 0.45], np.float32) * (0.30 * near_sun[:, None] ** 6)
    flat = 9.0 / (up + 0.09)
    x, z = direction[:, 0] * flat, direction[:, 2] * flat
    cover = land.speckle(2, x + 60.0, z + 20.0, 13.0) + 0.3 * land.speckle(0, x, z, 9.0)
    share = 0.85 * rise(0.0, 1.6, cover) * rise(0.01, 0.12, up)
    return mixed(color, np.array([1.12, 1.06, 1.0]) - 0.25 * rise(1.0, 2.6, cover)[:, None], share)


def hazed(color: Grid, distance: Grid, direction: Grid) -> Grid:
    near_sun = np.clip(direction @ SUN, 0.0, 1.0) ** 4
    haze = mixed(HAZE, np.array([0.85, 0.74, 0.60]), 0.7 * near_sun)
    share = 1.0 - np.exp(-((np.maximum(distance - 25.0, 0.0) / 900.0) ** 1.2))
    return color + (haze - color) * share[:, None]


def ground_color(land: LandView, point: Grid, normal: Grid, distance: Grid) -> Grid:
    x, y, z = point.T
    wide = land.speckle(0, x, z, 34.0)
    middle = land.speckle(1, x, z, 7.0)
    fine = land.speckle(0, z, x, 1.5) * np.exp(-distance / 60.0)
    steep = 1.0 - normal[:, 1]
    grass = mixed(
        np.array([0.060, 0.098, 0.026]),
        np.array([0.150, 0.155, 0.050]),
        rise(-1.2, 1.4, wide + 0.4 * middle),
    )
    grass = mixed(grass, np.array([0.24, 0.205, 0.09]), 0.6 * rise(0.5, 2.2, middle + 0.3 * wide))
    soil = mixed(
        np.array([0.15, 0.108, 0.065]), np.array([0.23, 0.175, 0.11]), rise(-1.0, 1.0, middle)
    )
    wood = (
        rise(0.1, 0.7, middle + 0.8 * wide) * rise(14.0, 20.0, y + 3.0 * wide) * rise(46.0, 34.0, y)
    )
    grass = mixed(grass, np.array([0.030, 0.052, 0.020]), 0.85 * wood)
    layers = np.sin(y * 0.9 + 1.3 * wide + 0.3 * middle) + 0.6 * np.sin(y * 2.3) * np.exp(
        -distance / 150.0
    )
    rock = mixed(
        np.array([0.088, 0.078, 0.070]),
        np.array([0.20, 0.170, 0.138]),
        rise(-1.6, 1.6, layers + 0.5 * middle),
    )
    color = mixed(grass, soil, rise(0.07, 0.17, steep + 0.025 * middle))
    color = mixed(color, rock, rise(0.16, 0.30, steep + 0.03 * middle))
    color = mixed(color, rock, 0.8 * rise(40.0, 58.0, y + 5.0 * wide))
    snow = rise(56.0, 66.0, y + 4.0 * wide + 1.5 * middle) * rise(0.40, 0.24, steep)
    color = mixed(color, np.array([0.86, 0.89, 0.94]), snow)
    return color * np.clip(1.0 + 0.16 * fine + 0.05 * middle, 0.4, 1.6)[:, None]


def bumped(land: LandView, point: Grid, normal: Grid, distance: Grid) -> Grid:
    """Tilt normals by noise too small for the height map, less and less with distance."""
    x, _, z = point.T
    strength = 0.05 + 0.25 * np.clip(1.0 - normal[:, 1], 0.0, 0.5)
    tilt = np.zeros_like(normal)
    for length, weight, fade in ((1.1, 1.0, 45.0), (5.0, 1.3, 300.0)):
        share = strength * weight * np.exp(-distance / fade)
        tilt[:, 0] += share * land.speckle(0, x, z, length)
        tilt[:, 2] += share * land.speckle(1, x, z, length)
    return unit(normal + tilt)


def body_shade(scene: Scene, point: Grid, normal: Grid, skip: int) -> tuple[Grid, Grid]:
    """Return the sun past all bodies but one and the share of sky they leave."""
    light, open_sky = np.ones(len(point), np.float32), np.ones(len(point), np.float32)
    for index, body in enumerate(scene.bodies):
        near = np.flatnonzero(
            np.abs(point - body.center.astype(np.float32)).max(-1) < 6.0 * body.size
        )
        if not len(near) or index == skip:
            continue
        p = point[near]
        beam = np.broadcast_to(SUN, p.shape)
        if body.rotation is None:
            aside = (body.center - p).astype(np.float32)
            along = aside @ SUN
            miss = np.sqrt(np.maximum((aside * aside).sum(-1) - along * along, 0.0)) - body.size
            shade = np.clip(0.5 + miss / (0.05 * np.maximum(along, 0.5)), 0.0, 1.0)
            light[near] *= np.where(along > 0.0, shade, 1.0)
        else:
            light[near] *= np.isinf(ray_crate(body, p, beam))
        aside = (body.center - p).astype(np.float32)
        gap = np.sqrt((aside * aside).sum(-1))
        facing = np.clip(((aside / gap[:, None]) * normal[near]).sum(-1) * 0.75 + 0.25, 0.0, 1.0)
        open_sky[near] *= 1.0 - 0.85 * facing * np.minimum(body.size / gap, 1.0) ** 2
    return light, open_sky


def lit(color: Grid, normal: Grid, sun: Grid, open_sky: Grid) -> Grid:
    direct = np.clip(normal @ SUN, 0.0, None) * sun
    sky_part = (0.55 + 0.45 * normal[:, 1]) * open_sky
    bounce = np.clip(0.35 - 0.35 * normal[:, 1], 0.0, 1.0) * 0.25
    warm = np.array([0.5, 0.45, 0.3], np.float32)
    return color * (
        direct[:, None] * SUNLIGHT + sky_part[:, None] * SKYLIGHT + bounce[:, None] * warm
    )


def body_look(scene: Scene, index: int, point: Grid, direction: Grid) -> Grid:
    body = scene.bodies[index]
    local = (point - body.center).astype(np.float32)
    if body.rotation is None:
        normal = local / np.float32(body.size)
        color = np.broadcast_to(body.color, point.shape)
        gloss = 0.5
    else:
        axes = np.asarray(body.rotation, np.float32)
        inside = local @ axes / np.float32(body.size)
        face = np.abs(inside).argmax(-1)
        rows = np.arange(len(point))
        normal = (axes.T)[face] * np.sign(inside[rows, face])[:, None]
        u, v = inside[rows, (face + 1) % 3], inside[rows, (face + 2) % 3]
        frame = np.maximum(np.abs(u), np.abs(v)) > 0.78
        brace = np.abs(u - v) < 0.20
        planks = np.abs((u * 2.5) % 1.0 - 0.5) > 0.455
        grain = scene.land.speckle(0, u * 0.6 + face * 3.0 + index, v * 0.08, 0.9)
        tone = np.where(frame | brace, 1.25, 0.9) * np.where(planks & ~frame & ~brace, 0.45, 1.0)
        edge = (np.abs(np.maximum(np.abs(u), np.abs(v)) - 0.78) < 0.02) | (
            (np.abs(np.abs(u - v) - 0.20) < 0.025) & ~frame
        )
        tone = tone * np.where(edge, 0.5, 1.0) * (1.0 + 0.12 * grain)
        color = body.color * tone[:, None].astype(np.float32)
        gloss = 0.06
    lifted = point + normal * np.float32(0.02)
    shade, open_sky = body_shade(scene, lifted, normal, index)
    sun = shade * scene.land.sunshine(lifted)
    height = point[:, 1] - scene.land.height(point[:, 0], point[:, 2])
    open_sky = open_sky * np.clip(0.45 + 0.4 * height / body.size, 0.0, 1.0)
    result = lit(color, normal, sun, open_sky)
    mirrored = direction - 2.0 * (direction * normal).sum(-1, keepdims=True) * normal
    edge_on = (1.0 + (direction * normal).sum(-1)) ** 5
    shine = np.clip((mirrored @ SUN), 0.0, 1.0) ** 60 * sun * gloss * 2.2
    above = sky(mirrored, scene.land) * rise(-0.1, 0.2, mirrored[:, 1])[:, None]
    return result + shine[:, None] * SUNLIGHT + above * ((0.04 + 0.6 * edge_on) * gloss)[:, None]


def picture(scene: Scene, camera: Camera) -> Grid:
    """Return the picture in linear light, (height, width, 3)."""
    bands = []
    for first in range(0, camera.height, 60):
        direction = camera.rays(first, min(first + 60, camera.height))
        bands.append(_band(scene, camera, direction))
    return np.concatenate(bands).reshape(camera.height, camera.width, 3)


def _band(scene: Scene, camera: Camera, direction: Grid) -> Grid:
    reach = scene.land.march(camera.eye, direction, 1100.0)
    which = np.full(len(direction), -1)
    for index, body in enumerate(scene.bodies):
        toward = (body.center - camera.eye).astype(np.float32)
        gap = float(np.sqrt((toward * toward).sum()))
        radius = body.size * (1.0 if body.rotation is None else 1.75)
        near = np.flatnonzero(direction @ (toward / gap) > np.cos(np.arctan2(radius * 1.1, gap)))
        distance = ray_body(body, np.broadcast_to(camera.eye, (len(near), 3)), direction[near])
        front = distance < reach[near]
        reach[near[front]], which[near[front]] = distance[front], index
    color = sky(direction, scene.land)
    ground = np.flatnonzero((which < 0) & np.isfinite(reach))
    point = camera.eye + direction[ground] * reach[ground, None]
    point[:, 1] = scene.land.height(point[:, 0], point[:, 2])
    normal = scene.land.normal(point[:, 0], point[:, 2])
    shade, open_sky = body_shade(scene, point, normal, -1)
    sun = shade * scene.land.sunshine(point + normal * np.float32(0.05))
    open_sky = open_sky * bilinear(scene.land.open, fold(point[:, 0]), fold(point[:, 2]))
    bumps = bumped(scene.land, point, normal, reach[ground])
    color[ground] = lit(
        ground_color(scene.land, point, normal, reach[ground]), bumps, sun, open_sky
    )
    for index in np.unique(which[which >= 0]).tolist():
        seen = np.flatnonzero(which == index)
        at = camera.eye + direction[seen] * reach[seen, None]
        color[seen] = body_look(scene, index, at, direction[seen])
    solid = np.isfinite(reach)
    color[solid] = hazed(color[solid], reach[solid], direction[solid])
    return color


def developed(light: Grid, samples: int) -> NDArray[np.uint8]:
    """Return 8-bit sRGB: a film-like curve (Narkowicz's fit of ACES), then samples averaged."""
    light = light * np.float32(0.80)
    film = np.clip(light * (2.51 * light + 0.03) / (light * (2.43 * light + 0.59) + 0.14), 0.0, 1.0)
    height, width = (side // samples for side in film.shape[:2])
    film = film.reshape(height, samples, width, samples, 3).mean((1, 3))
    image = np.rint(255.0 * film ** (1.0 / 2.2)).astype(np.uint8)
    # Where neighbors differ, nobody sees the last two bits, which are half of the file.
    level = np.pad(image.mean(-1), 1, "edge")
    windows = np.lib.stride_tricks.sliding_window_view(level, (3, 3))
    busy = windows.max((2, 3)) - windows.min((2, 3)) > 2.0
    image[busy] = np.minimum(image[busy].astype(int) + 2, 255) & ~3
    return image


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--samples", type=int, default=2, help="along each side of a pixel")
    parser.add_argument("--output", type=Path, default=ASSETS / "terrain.png")
    given = parser.parse_args()
    land = HeightMap.load(ASSETS / "land.png", height_range=(0, HEIGHT))
    scene = Scene(LandView(land), settled(land))
    wide = given.width * given.samples
    camera = Camera(EYE, TARGET, wide, wide * 9 // 16, LENS)
    image = developed(picture(scene, camera), given.samples)
    Image.fromarray(image).save(given.output, optimize=True)
    print(f"{given.output}: {given.output.stat().st_size} bytes")


if __name__ == "__main__":
    main()
