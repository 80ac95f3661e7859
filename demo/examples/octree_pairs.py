"""Balls in a box: which of them touch, and how few had to be compared.

``--picture OUT.png`` draws them from the front: orange where they touch another one.
"""

import argparse
import os

import numpy as np
from numpy.typing import NDArray

from terrain_physics import Octree

COUNT = 1_500
WIDTH, HEIGHT, DEPTH = 1200, 800, 600  # of the box in centimeters, a pixel each


def draw(balls: NDArray[np.float64], touching: NDArray[np.bool_], path: str) -> None:
    os.environ["PYGAME_HIDE_SUPPORT_PROMPT"] = "1"
    try:
        import pygame
    except ImportError:
        raise SystemExit("--picture needs pygame: pip install 'terrain-physics[demo]'") from None
    picture = pygame.Surface((2 * WIDTH, 2 * HEIGHT))  # twice as large, then smoothed
    picture.fill((16, 20, 30))
    for k in np.argsort(balls[:, 2]):  # the farthest first
        x, y, z, radius = (2 * balls[k]).tolist()
        base = np.array([255, 140, 50] if touching[k] else [110, 130, 165])
        near = z / (2 * DEPTH)
        for part in np.linspace(0.0, 1.0, 24):  # from the rim to a highlight at the upper left
            color = base * (0.35 + 0.65 * part) + 110 * part**8
            color = color * (0.3 + 0.7 * near) + np.array([16, 20, 30]) * (0.7 - 0.7 * near)
            center = (x - 0.35 * part * radius, y - 0.4 * part * radius)
            pygame.draw.circle(
                picture, np.minimum(color, 255).tolist(), center, radius * (1 - 0.9 * part)
            )
    pygame.image.save(pygame.transform.smoothscale(picture, (WIDTH, HEIGHT)), path)
    print(f"drawn to {path}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--picture", metavar="OUT.png", help="draw the balls; needs pygame")
    path = parser.parse_args().picture
    rng = np.random.default_rng(7)
    radii = 5.0 * 10.0 ** rng.beta(1.0, 3.0, COUNT)  # many small ones, a few nearly ten times that
    room = np.array([WIDTH, HEIGHT, DEPTH]) - 2 * radii[:, None]
    centers = radii[:, None] + rng.uniform(0.0, 1.0, (COUNT, 3)) * room
    octree = Octree(centers, radii)
    pairs, tests = octree.overlapping_pairs(), octree.count_pair_tests()
    others = np.bincount(pairs.ravel(), minlength=COUNT)
    print(f"{COUNT} balls: {len(pairs)} pairs touch; ball {others.argmax()}, {others.max()} others")
    print(f"{tests} pairs were compared, {100 * tests / (COUNT * (COUNT - 1) / 2):.1f} % of all")
    if path:
        draw(np.column_stack([centers, radii]), others > 0, path)


if __name__ == "__main__":
    main()
