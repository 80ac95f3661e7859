"""A ball that bounces down a hill and over stairs, by `sweep`: a body of one's own in a few lines.

``--picture OUT.png`` draws its way; that needs the extra ``demo``.
"""

import argparse
from pathlib import Path

import numpy as np
from pyglm import glm

from terrain_physics import Ground, HeightMap, Sphere, TriangleMesh

from ..picture import colors
from ..picture.camera import looking_at
from ..picture.frame import Balls
from ._drawing import frame_of, save_frame

FRAME = 1 / 60
GRAVITY = glm.vec3(0, -9.81, 0)
RADIUS = 0.4
BOUNCE = 0.7  # the part of the speed into the ground that comes back
GRIP = 0.97  # the part of the speed along the ground that is left
GAP = 0.001  # it stops so far before what it meets, or rounding would let it slip in
TOUCHES = 4  # of a frame
SLOWEST = 0.4  # m/s: what bounces less lies still


class Ball:
    """A ball without spin: it flies, bounces, and comes to rest."""

    def __init__(self, position: glm.vec3, velocity: glm.vec3) -> None:
        self.position, self.velocity = glm.vec3(position), glm.vec3(velocity)
        self.bounces = 0

    def update(self, ground: Ground, seconds: float) -> None:
        """Advance by one frame, which ends at the fourth touch at the latest."""
        self.velocity += GRAVITY * seconds
        for _ in range(TOUCHES):
            motion = self.velocity * seconds
            hit = ground.sweep(Sphere(self.position, RADIUS), motion)
            if hit is None:
                self.position += motion
                return
            self.position += motion * hit.fraction + hit.normal * GAP
            seconds *= 1 - hit.fraction
            self._bounce(hit.normal)

    def _bounce(self, normal: glm.vec3) -> None:
        into = glm.dot(self.velocity, normal) * normal
        along = self.velocity - into
        if glm.length(into) > SLOWEST:
            self.bounces += 1
            self.velocity = GRIP * along - BOUNCE * into
        else:
            self.velocity = GRIP * along


def make_ground() -> Ground:
    """Return a hill, stairs down from its cliff, and a meadow that rises again, all along +X."""
    z, x = np.mgrid[-15:16, :51]
    heights = 4.5 + 1.5 * np.cos(np.minimum(x / 16, 1) * np.pi)
    heights += 0.15 * np.sin(1.3 * x) * np.cos(0.9 * z) + 0.01 * z**2
    heights[:, 19:] += 0.008 * np.maximum(x[:, 19:] - 27, 0) ** 2 - 3
    turned = glm.rotate(glm.translate(glm.vec3(24.4, -0.3, 0)), np.pi, glm.vec3(0, 1, 0))
    stairs = TriangleMesh.stairs(width=6, rise=0.5, tread=1, steps=6, transform=turned)
    return Ground([HeightMap(heights, origin=(0, 0, -15)), stairs])


def play(ground: Ground) -> tuple[Ball, list[glm.vec3]]:
    """Let a ball go until it lies still for a second; return it and its way."""
    ball = Ball(glm.vec3(6, 8, 0), glm.vec3(2, 0, 0))
    way, still = [glm.vec3(ball.position)], 0
    while still < 60 and len(way) < 3600:
        ball.update(ground, FRAME)
        still = still + 1 if glm.distance(ball.position, way[-1]) < 0.002 else 0
        way.append(glm.vec3(ball.position))
    return ball, way


def draw(ground: Ground, way: list[glm.vec3], file: Path) -> None:
    """Draw the ball wherever it was, every tenth of a second."""
    frame = frame_of(ground, {1: colors.STONE}, looking_at((23, 7, 15), (20, 2, 0)))
    places = np.array(way[::6], dtype=np.float64)
    count = len(places)
    trail = colors.mixed(colors.YELLOW, colors.RED, np.linspace(0, 1, count))
    turns = np.tile(np.eye(3), (count, 1, 1))
    frame.balls.append(Balls(places, np.full(count, RADIUS), turns, trail))
    save_frame(frame, file)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--picture", type=Path, metavar="OUT.png", help="draw the way of the ball")
    options = parser.parse_args()

    ground = make_ground()
    ball, way = play(ground)
    x, y, z = ball.position
    print(f"{ball.bounces} bounces in {len(way) * FRAME:.1f} s")
    print(
        f"lies at ({x:.2f}, {y:.2f}, {z:.2f}), {y - ground.height_at(x, z):.3f} m above the ground"
    )
    if options.picture:
        draw(ground, way, options.picture)


if __name__ == "__main__":
    main()
