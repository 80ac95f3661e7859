"""Draws points in glass spheres: NumPy for the light, pygame for lines, balls and text."""

import os
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from terrain_physics import Sphere

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
try:
    import pygame
except ImportError as error:
    raise SystemExit('pictures need pygame: pip install "terrain-physics[demo]"') from error

Array = NDArray[np.float64]
Scene = tuple[str, Array, Sphere, Array]  # title, points, sphere, the points it rests on

SMOOTH = 2  # everything is drawn this many times as large, then scaled down
WIDTH, HEIGHT, LARGE, SMALL = (SMOOTH * pixels for pixels in (1280, 720, 690, 295))
NIGHT, GLASS, STARS, GOLD = (10, 13, 26), (110, 170, 255), (255, 244, 225), (255, 190, 80)

# Seen from above, a little from the side: rows are right, up, and towards the viewer.
VIEW = np.array([[0.80, 0.0, -0.60], [-0.27, 0.89, -0.36], [0.534, 0.45, 0.712]])


def _glass(size: int, radius: float) -> Array:
    """Return light (size, size): a rim that is brighter towards the upper left."""
    axis = (np.arange(size) + 0.5 - size / 2) / radius
    across, down = axis[:, None], axis[None, :]
    facing = np.sqrt(np.maximum(1.0 - across**2 - down**2, 0.0))
    rim = (1.0 - facing) ** 3 * (0.55 - 0.25 * (across + down))
    shine = np.exp(-((across + 0.42) ** 2 + (down + 0.5) ** 2) / 0.03)
    inside = np.clip((1.0 - np.hypot(across, down)) * radius, 0.0, 1.0)
    return np.asarray(inside * (0.05 + 0.8 * rim + 0.13 * shine))


def _dust(places: Array, size: int) -> Array:
    """Return light (size, size) of points (n, 2) in pixels."""
    edges = np.arange(size + 1)
    counts, _, _ = np.histogram2d(places[:, 0], places[:, 1], bins=(edges, edges))
    light = np.log1p(counts) / np.log1p(counts.max())
    return np.asarray(light)


def _globe() -> list[Array]:
    """Return circles (k, 3) of latitude and longitude on the unit sphere."""
    turn = np.linspace(0.0, 2 * np.pi, 181)
    circle = np.stack([np.cos(turn), np.zeros_like(turn), np.sin(turn)], axis=1)
    circles = [
        np.cos(a) * circle + [0.0, np.sin(a), 0.0] for a in np.radians([-60, -30, 0, 30, 60])
    ]
    for a in np.radians(range(0, 180, 30)):
        side = np.array([np.cos(a), 0.0, np.sin(a)])
        circles.append(np.outer(np.cos(turn), side) + np.outer(np.sin(turn), [0.0, 1.0, 0.0]))
    return circles


def _panel(scene: Scene, size: int) -> pygame.Surface:
    title, points, sphere, resting = scene
    radius = 0.42 * size
    middle = np.array([size / 2, 0.47 * size])

    def on_screen(places: Array) -> tuple[Array, Array]:
        """Return pixels (n, 2) and how far towards the viewer, -1 to 1."""
        seen = (places - sphere.center64) / (sphere.radius or 1.0) @ VIEW.T
        return middle + radius * seen[:, :2] * [1.0, -1.0], seen[:, 2]

    light = np.zeros((size, size, 3))
    if sphere.radius:
        glass = np.roll(_glass(size, radius), round(middle[1] - size / 2), axis=1)
        light += glass[:, :, None] * GLASS
    if len(points) > 100:
        dust = _dust(on_screen(points)[0], size)[:, :, None]
        light += dust * (0.5 * (1 - dust) * np.array(GLASS) + 1.1 * dust * np.array(STARS))
    panel = pygame.surfarray.make_surface(np.clip(light + NIGHT, 0, 255).astype(np.uint8))

    if sphere.radius:
        lines = pygame.Surface((size, size), pygame.SRCALPHA)
        for circle in _globe():
            pixels, depth = on_screen(np.array(sphere.center64) + sphere.radius * circle)
            for k in range(len(circle) - 1):
                strength = 26 + 60 * max(float(depth[k]), 0.0)
                pygame.draw.line(lines, (*GLASS, int(strength)), pixels[k], pixels[k + 1], SMOOTH)
        panel.blit(lines, (0, 0))

    ball = 0.012 * size + 2 * SMOOTH
    corners = on_screen(resting)[0]
    for pixel in corners:
        pygame.draw.line(panel, (150, 112, 50), middle.tolist(), pixel.tolist(), SMOOTH)
    for pixel in corners:
        for share in np.linspace(1.0, 0.0, 12):
            color = np.array(GOLD) * (0.45 + 0.55 * (1 - share)) + 40 * (1 - share) ** 4
            place = pixel - 0.35 * ball * (1 - share)
            pygame.draw.circle(
                panel, np.clip(color, 0, 255).tolist(), place.tolist(), max(ball * share, 1.0)
            )
    if sphere.radius:
        pygame.draw.circle(panel, STARS, middle.tolist(), 2 * SMOOTH)

    font = pygame.font.Font(None, 24 * SMOOTH)
    text = f"{title}: radius {sphere.radius:.3f}, rests on {len(resting)}"
    smooth = True  # pygame takes it by position only
    image = font.render(text if size > SMALL else title, smooth, (190, 205, 235))
    panel.blit(image, ((size - image.get_width()) / 2, size - 1.5 * image.get_height()))
    return panel


def save_picture(scenes: Iterable[Scene], path: str) -> None:
    """Write a picture: the last scene large, four others small beside it."""
    pygame.font.init()
    *small, large = scenes
    canvas = pygame.Surface((WIDTH, HEIGHT))
    canvas.fill(NIGHT)
    top = (HEIGHT - 2 * SMALL) / 2
    for k, scene in enumerate(small):
        panel = _panel(scene, SMALL)
        canvas.blit(panel, (10 * SMOOTH + (k % 2) * SMALL, top + (k // 2) * SMALL))
    canvas.blit(_panel(large, LARGE), (WIDTH - LARGE, (HEIGHT - LARGE) / 2))
    pygame.image.save(
        pygame.transform.smoothscale(canvas, (WIDTH // SMOOTH, HEIGHT // SMOOTH)), path
    )
