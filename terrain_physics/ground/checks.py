"""Checks of the arguments of a ground's methods, and of its parts."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.surface.ground_arrays import ALL_LAYERS
from terrain_physics._support import checks
from terrain_physics.ground.meshes import NO_PLACE, Place
from terrain_physics.ground.movers import checked_seconds
from terrain_physics.ground.poses import pose_and_scale
from terrain_physics.heightmap.heightmap import HeightMap
from terrain_physics.mesh.mesh import TriangleMesh

Part = HeightMap | TriangleMesh


def listed(parts: Any) -> list[Any]:
    """Return the parts of a new ground as a list."""
    checks.refuse_path("parts", parts, "Ground.load")
    if isinstance(parts, Mapping):
        raise TypeError(
            "parts must be a sequence, got a mapping: did you mean "
            "Ground([*parts.values()], names=[*parts])?"
        )
    try:
        return list(parts)
    except TypeError:
        raise TypeError(
            f"parts must be a sequence of HeightMap and TriangleMesh, got {checks.shorten(parts)}"
        ) from None


def refuse_others(name: str, part: Any) -> None:
    """Raise TypeError for what is no part of a ground."""
    if not isinstance(part, (HeightMap, TriangleMesh)):
        raise TypeError(f"{name} must be a HeightMap or a TriangleMesh, got {checks.shorten(part)}")


def refuse_twice(keys: Any, numbers: list[int]) -> None:
    """Raise ValueError for keys of which two are of the same mesh."""
    row = next(k for k, number in enumerate(numbers) if number in numbers[:k])
    raise ValueError(
        f"keys must be of a mesh once each, got {keys[row]!r} at [{row}] and that of the same mesh "
        f"at [{numbers.index(numbers[row])}]"
    )


def checked_times(delta_time: Any, count: int) -> NDArray[np.float64]:
    """Return the seconds that many moves take, 0 for teleports."""
    if delta_time is None:
        return np.zeros(count)
    if isinstance(delta_time, int | float):
        seconds = np.empty(count)
        seconds.fill(checked_seconds("delta_time", delta_time))
        return seconds
    given = checks.real_array("delta_time", delta_time)
    if given.ndim == 0:
        return np.full(count, checked_seconds("delta_time", float(given)))
    if given.shape != (count,):
        raise ValueError(
            f"delta_time must be one time, or as many as keys, {count}, got shape {given.shape}"
        )
    off = ~((given >= 1e-6) & (given <= 3600.0))
    if off.any():
        row = int(off.argmax())
        checked_seconds(f"delta_time[{row}]", float(given[row]))
    return given


def checked_layers(name: str, layers: Any) -> int:
    """Return layers, a bit for each."""
    return checks.whole(name, layers, 0, ALL_LAYERS)


def layers_per_part(layers: Any, count: int) -> list[int]:
    """Return the layers of ``count`` parts, given one by one or for all."""
    if not (isinstance(layers, Sequence) or np.ndim(layers)):
        return [checked_layers("layers", layers)] * count
    if len(layers) != count:
        raise ValueError(f"layers must be one number, or one for each part, got {len(layers)}")
    return [checked_layers(f"layers[{index}]", own) for index, own in enumerate(layers)]


def checked_place(part: Part, transform: Any) -> Place:
    """Return the place of a part that is added with a transform, or without."""
    if transform is None:
        return NO_PLACE
    if isinstance(part, HeightMap):
        raise TypeError(
            f"transform must be left out for a HeightMap, got {checks.shorten(transform)}; a map "
            "lies where its origin is"
        )
    pose, scale = pose_and_scale("transform", transform)
    return pose, 1.0 if scale is None else scale


def checked_name(label: str, name: Any) -> str:
    """Return the name of a part."""
    if not isinstance(name, str):
        raise TypeError(f"{label} must be a string, got {checks.shorten(name)}")
    if not name:
        raise ValueError(f"{label} must not be empty")
    return str(name)  # no class that a file could not hold


def owner_of(name: str | None, names: Mapping[int, str]) -> int | None:
    """Return the key of the part with a name; None if there is none."""
    return next((key for key, own in names.items() if own == name), None)


def names_per_part(names: Any, count: int) -> dict[int, str]:
    """Return the names of those of ``count`` parts that have one, by their keys."""
    if names is None:
        return {}
    if isinstance(names, str) or not isinstance(names, Sequence):
        raise TypeError(f"names must be a sequence of strings, got {checks.shorten(names)}")
    if len(names) != count:
        raise ValueError(f"names must be one for each of {count} parts, got {len(names)}")
    found: dict[int, str] = {}
    for index, name in enumerate(names):
        if name is not None:
            own = checked_name(f"names[{index}]", name)
            first = owner_of(own, found)
            if first is not None:
                raise ValueError(f"names[{index}] must be another name, got names[{first}] again")
            found[index] = own
    return found
