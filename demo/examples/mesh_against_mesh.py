"""Two bumpy balls cross: how many of their triangles touch, and how long it takes to find them.

``--picture OUT.png`` draws them with the crossing triangles lit; it needs the extra ``demo``.
"""

import argparse
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from terrain_physics import TriangleMesh

Array = NDArray[np.float64]

RINGS = 90
SIZE = (1280, 720)
FINE = 2  # drawn twice as large, then made smaller: smooth edges
COLORS = ((38, 120, 138), (196, 84, 62))
LIT = (255, 221, 120)


def bumpy_ball(center: tuple[float, float, float], turn: float) -> TriangleMesh:
    """Return a ball of radius 1 with bumps, of 4 RINGS (RINGS - 1) triangles."""
    around = 2 * RINGS
    polar, angle = np.meshgrid(
        np.pi * np.arange(1, RINGS) / RINGS, np.pi * np.arange(around) / RINGS, indexing="ij"
    )
    places = [np.sin(polar) * np.cos(angle), np.cos(polar), np.sin(polar) * np.sin(angle)]
    points = np.vstack([np.stack(places, axis=-1).reshape(-1, 3), [[0, 1, 0], [0, -1, 0]]])
    x, y, z = points.T
    radii = 1 + 0.05 * np.sin(7 * x + 3 * z + turn) * np.cos(6 * y - 4 * z)
    radii += 0.03 * np.sin(11 * y + 5 * x + turn)

    k = np.arange(around)
    onward = (k + 1) % around
    first = around * np.arange(RINGS - 2)[:, None]
    a, b = (first + k).ravel(), (first + onward).ravel()
    c, d = b + around, a + around
    top, bottom = np.full_like(k, len(points) - 2), np.full_like(k, len(points) - 1)
    last = around * (RINGS - 2)
    faces = [(a, b, c), (a, c, d), (top, onward, k), (bottom, last + k, last + onward)]
    return TriangleMesh(
        points * radii[:, None] + center, np.concatenate([np.stack(part, 1) for part in faces])
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog=f"python -m {__package__}.mesh_against_mesh")
    parser.add_argument("--picture", type=Path, metavar="OUT.png", help="draw it to a file")
    options = parser.parse_args()

    meshes = bumpy_ball((-0.55, 0, 0), 0.0), bumpy_ball((0.55, 0.15, 0.25), 2.0)
    meshes[0].intersecting_pairs(meshes[1])  # compiles, or loads what was compiled before
    start = time.perf_counter()
    pairs = meshes[0].intersecting_pairs(meshes[1])
    seconds = time.perf_counter() - start
    print(f"{len(meshes[0])} against {len(meshes[1])} triangles")
    crossing = [np.unique(side) for side in pairs.T]
    print(f"{len(crossing[0])} of the first cross {len(crossing[1])} of the second")
    print(f"{len(pairs)} pairs, found in {1e3 * seconds:.1f} ms")
    if options.picture:
        draw(options.picture, meshes, crossing)
        print(f"drawn to {options.picture}")


def draw(file: Path, meshes: tuple[TriangleMesh, ...], crossing: list[NDArray[np.int64]]) -> None:
    """Draw meshes from the front, the farthest triangles first."""
    try:
        import pygame
    except ImportError:
        raise SystemExit("--picture needs pygame: pip install 'terrain-physics[demo]'") from None

    width, height = SIZE[0] * FINE, SIZE[1] * FINE
    picture, light, hidden = (pygame.Surface((width, height)) for _ in range(3))
    for row in range(height):
        share = row / height
        color = (int(16 + 22 * share), int(20 + 26 * share), int(30 + 36 * share))
        pygame.draw.line(picture, color, (0, row), (width, row))

    corners = np.concatenate([mesh.vertices[mesh.faces] for mesh in meshes])
    colors = np.concatenate([shade(mesh, np.array(COLORS[k])) for k, mesh in enumerate(meshes)])
    lit = np.concatenate(
        [np.isin(np.arange(len(mesh)), crossing[k]) for k, mesh in enumerate(meshes)]
    )
    normals = np.concatenate([mesh.normals for mesh in meshes])

    # The eye looks along -z, from a little above.
    up, back = np.array([0, 0.94, -0.34]), np.array([0, 0.34, 0.94])
    depth = corners @ back
    scale = 0.36 * height / (1 - 0.12 * depth)
    x, y = 0.5 * width + corners[..., 0] * scale, 0.5 * height - corners @ up * scale
    polygons = np.stack([x, y], axis=-1)
    order = np.argsort(depth.mean(axis=1))
    for k in order[(normals @ back)[order] > -0.2]:
        polygon = polygons[k].tolist()
        pygame.draw.polygon(picture, LIT if lit[k] else colors[k].tolist(), polygon)
        pygame.draw.polygon(light, LIT if lit[k] else (0, 0, 0), polygon)
    for polygon in polygons[lit].tolist():
        pygame.draw.polygon(hidden, LIT, polygon)

    picture = pygame.transform.smoothscale(picture, SIZE)
    # Made small and large again, light spreads: a glow; the far side of the ring shines through.
    for source, part, strength in ((light, 8, 150), (light, 32, 120), (hidden, 6, 70)):
        glow = pygame.transform.smoothscale(source, (width // part, height // part))
        glow = pygame.transform.smoothscale(glow, SIZE)
        glow.fill((strength,) * 3, special_flags=pygame.BLEND_RGB_MULT)
        picture.blit(glow, (0, 0), special_flags=pygame.BLEND_RGB_ADD)
    pygame.image.save(picture, str(file))


def shade(mesh: TriangleMesh, color: Array) -> Array:
    """Return a color 0 .. 255 for each face, under a lamp from the upper left."""
    lamp = np.array([-0.5, 0.7, 0.5]) / np.sqrt(0.99)
    facing = np.clip(mesh.normals @ lamp, 0, 1)[:, None]
    colors: Array = color * (0.22 + 0.95 * facing) + 80 * facing**24
    return np.clip(colors, 0, 255)


if __name__ == "__main__":
    main()
