"""Sensors: points around characters, given in each character's own frame."""

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.math.rigid import sine_and_cosine
from terrain_physics._kernels.types import Floats


@kernel
def put_sensors(
    places: Floats, yaws: Floats, arms: Floats, first: int, last: int, out: Floats
) -> None:
    """Write the sensors of n characters by axes, (3, n k): ``places`` (n, 3) plus turned arms.

    The ``arms`` (k, 3) are turned by ``yaws`` (n,) about +Y, from -pi to pi.
    """
    count = len(arms)
    for i in range(first, last):
        sine, cosine = sine_and_cosine(float(yaws[i]))
        x, y, z = float(places[i, 0]), float(places[i, 1]), float(places[i, 2])
        for k in range(count):
            dx, dz = float(arms[k, 0]), float(arms[k, 2])
            out[0, i * count + k] = x + (cosine * dx + sine * dz)
            out[1, i * count + k] = y + float(arms[k, 1])
            out[2, i * count + k] = z + (cosine * dz - sine * dx)
