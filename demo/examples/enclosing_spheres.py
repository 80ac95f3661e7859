"""The smallest sphere around one to four points, and around a million; it prints them.

``--picture OUT.png`` draws them as well; that needs the extra ``demo``.
"""

import argparse
import time

import numpy as np
from numpy.typing import NDArray

from terrain_physics import Sphere, smallest_enclosing_sphere

Array = NDArray[np.float64]


def supporting(points: Array, sphere: Sphere) -> Array:
    """Return the points that lie on the sphere: it is as small as they allow."""
    distances = np.linalg.norm(points - sphere.center64, axis=1)
    lies_on_it: NDArray[np.bool_] = distances >= sphere.radius * (1 - 1e-12)
    return points[lies_on_it]


def galaxy(count: int) -> Array:
    """Return points of two arms that wind around a dense middle."""
    rng = np.random.default_rng(2)
    far = rng.beta(1.0, 3.0, count)
    turn = 7.0 * np.sqrt(far) + np.pi * rng.integers(0, 2, count)
    arms = np.stack([far * np.cos(turn), np.zeros(count), far * np.sin(turn)], axis=1)
    return arms + rng.normal(size=(count, 3)) * (0.02 + 0.05 * far[:, None]) * [1.0, 0.6, 1.0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--picture", metavar="OUT.png", help="draw the spheres into a file")
    options = parser.parse_args()

    corners = np.array([(1, 2, 0), (3, 0, 1), (0, 0, 2), (2, 3, 3)], dtype=float)
    sets = {f"{count} point{'s'[: count > 1]}": corners[:count] for count in (1, 2, 3, 4)}
    sets["a million points"] = galaxy(1_000_000)
    smallest_enclosing_sphere(np.zeros((5, 3)))  # compiles, once for ever

    scenes = []
    for name, points in sets.items():
        start = time.perf_counter()
        sphere = smallest_enclosing_sphere(points)
        milliseconds = 1e3 * (time.perf_counter() - start)
        resting = supporting(points, sphere)
        scenes.append((name, points, sphere, resting))
        x, y, z = sphere.center64
        print(
            f"{name:<16}  center ({x:.3f}, {y:.3f}, {z:.3f})  radius {sphere.radius:.3f}"
            f"  rests on {len(resting)}  in {milliseconds:.2f} ms"
        )

    if options.picture:
        from ._sphere_picture import save_picture

        save_picture(scenes, options.picture)
        print(f"wrote {options.picture}")


if __name__ == "__main__":
    main()
