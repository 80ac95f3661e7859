"""Labeled arrays, as xarray's: their coordinates say where the samples of a map lie."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from terrain_physics._support import checks
from terrain_physics._support.lazy import refuse_lazy
from terrain_physics.heightmap.placement import DEGREES, METERS, GridAxis, Placement

_EASTWARD = {"x", "lon", "longitude", "easting", "projection_x_coordinate"}
_ANGLES = {"lon", "longitude", "lat", "latitude"}
_METERS = {METERS, "meter", "metre", "metres", "m"}


def labeled(array: Any) -> tuple[NDArray[Any], Placement]:
    """Return the samples of a labeled array as a map has them, and where they lie."""
    dims, coords, values = (getattr(array, name, None) for name in ("dims", "coords", "values"))
    if dims is None or coords is None or values is None or callable(values):  # e.g. a Dataset
        raise TypeError(
            "array must have dims, coords and values, as an xarray.DataArray has (dataset[name] "
            f"is one), got {checks.shorten(array)}"
        )
    refuse_lazy("array", array, "read it without chunks")
    samples = np.asarray(values)
    counts = dict(zip(map(str, dims), samples.shape, strict=True))
    names = [name for name, count in counts.items() if count != 1]
    if len(names) != 2 or samples.size == 0:
        raise ValueError(
            f"array must have two dimensions (others of length 1 are left out), got {counts}"
        )
    samples = samples.reshape([counts[name] for name in names])
    if names[0].lower() in _EASTWARD and names[1].lower() not in _EASTWARD:
        names, samples = names[::-1], samples.T
    missing = getattr(array, "attrs", {}).get("_FillValue")
    if missing is not None:
        samples = np.where(samples == missing, np.nan, samples)
    (z, z_unit), (x, x_unit) = (
        _axis(name, coords, count) for name, count in zip(names, samples.shape, strict=True)
    )
    if names[0].lower() != "z" and names[0] in coords:
        z = z.mirrored()  # a northing
    if x.step < 0.0:
        samples, x = samples[:, ::-1], x.backward(samples.shape[1])
    if z.step < 0.0:
        samples, z = samples[::-1], z.backward(samples.shape[0])
    return samples, Placement.of(x, z, z_unit if x_unit in {METERS, None} else x_unit)


def _axis(name: str, coords: Any, count: int) -> tuple[GridAxis, str | None]:
    """Return the places of samples along a dimension, and their unit; 0, 1, ... without any."""
    if name not in coords:
        return GridAxis(0.0, 1.0), None
    coordinate = coords[name]
    places = checks.array(f"coordinate {name!r}", coordinate, (count,))
    step = float(places[-1] - places[0]) / (count - 1)
    even = places[0] + step * np.arange(count)
    if not (np.abs(places - even) <= 0.01 * abs(step)).all() or step == 0.0:
        steps = np.diff(places)
        raise ValueError(
            f"coordinate {name!r} must go up or down in equal steps, "
            f"got steps from {steps.min():g} to {steps.max():g}"
        )
    unit = getattr(coordinate, "attrs", {}).get("units")
    if name.lower() in _ANGLES or str(unit).startswith("degree"):
        unit = DEGREES
    return GridAxis(float(places[0]), step), METERS if unit in _METERS else unit
