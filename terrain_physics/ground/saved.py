"""The saved form of a ground: its parts, and all that it knows of them."""

from collections.abc import Mapping, Sequence
from typing import Any

from terrain_physics._support import checks
from terrain_physics.ground.checks import Part, layers_per_part, names_per_part
from terrain_physics.ground.kept_parts import PartSource
from terrain_physics.ground.parts import GroundParts
from terrain_physics.ground.poses import Pose, checked_scale
from terrain_physics.heightmap.heightmap import loaded_map
from terrain_physics.heightmap.saved import KIND as MAP
from terrain_physics.heightmap.saved import saved_map
from terrain_physics.heightmap.storage import MapStorage
from terrain_physics.mesh.mesh import TriangleMesh, loaded_mesh
from terrain_physics.mesh.saved import KIND as MESH
from terrain_physics.mesh.saved import saved_mesh
from terrain_physics.surface.ground_files import MOST_EDITS, SavedPart, checked_keys


def parts_and_rest(held: GroundParts) -> tuple[list[PartSource], dict[str, Any]]:
    """Return the different parts of a ground, and the rest for JSON; the caller holds it."""
    parts, same = _each_once(held.sources)
    about: dict[str, Any] = {
        "keys": list(held.sources),
        "layers": list(held.layers.values()),
        "next_key": held.next_number,
        "changes": held.own_changes,
        "transforms": {key: pose.saved() for key, pose in held.meshes.poses.items()},
        "movers": held.meshes.saved_movers(),
        "names": dict(held.naming.parts),
    }
    if same:
        about["same"] = same
    if held.meshes.scales:
        about["scales"] = dict(held.meshes.scales)
    return parts, about


def _each_once(sources: Mapping[int, PartSource]) -> tuple[list[PartSource], dict[int, int]]:
    """Return different parts, and for each other key the first one of the same mesh."""
    firsts: dict[int, int] = {}
    found, same = [], {}
    for key, part in sources.items():
        first = firsts.setdefault(id(part.storage), key)
        if first == key:
            found.append(part)
        else:
            same[key] = first
    return found, same


def saved_part(storage: Any) -> SavedPart:
    """Return the saved form of a part, from its storage."""
    return saved_map(storage) if isinstance(storage, MapStorage) else saved_mesh(storage)


def loaded_part(saved: SavedPart) -> Part:
    """Return the part of a saved form."""
    if saved.header["kind"] == MAP:
        return loaded_map(saved)
    if saved.header["kind"] != MESH:
        raise ValueError(saved.header["kind"])
    return loaded_mesh(saved)


def state_of_saved(
    saved: Sequence[SavedPart], about: Any, others: Sequence[int] = ()
) -> tuple[Any, ...]:
    """Return the parts of a saved ground and all about them; any error if they do not fit.

    ``others`` are keys of what is no part of its own, such as a land of tiles.
    """
    same = {int(key): first for key, first in about.get("same", {}).items()}
    count = len(saved) + len(same) + len(others)
    keys, next_key = checked_keys(about["keys"], about["next_key"], count)
    own = [key for key in keys if key not in same and key not in others]
    parts = dict(zip(own, map(loaded_part, saved), strict=True))
    parts = {key: parts[same.get(key, key)] for key in keys if key not in others}
    changes = checks.whole("changes", about["changes"], 0, MOST_EDITS)
    poses = {int(key): Pose.of_saved(rows) for key, rows in about["transforms"].items()}
    sizes: Mapping[str, Any] = about.get("scales", {})
    scales = {int(key): checked_scale("scales", one) for key, one in sizes.items()}
    moved = (*poses, *scales, *same, *(parts if others else ()))
    if not all(isinstance(parts[key], TriangleMesh) for key in moved):
        raise ValueError("transforms must be of meshes, and other parts than a land meshes")
    layers = layers_per_part(about["layers"], len(keys))
    names = _saved_names(about["names"], keys)
    return parts, layers, next_key, changes, poses, about["movers"], names, scales


def _saved_names(about: Any, keys: Sequence[int]) -> dict[int, str]:
    """Return the names of parts with these keys from their saved form."""
    names = {int(key): name for key, name in about.items()}
    places = [*map(keys.index, names)]
    given = [names.get(key) for key in keys]
    found = names_per_part(given, len(keys))
    if len(found) != len(places):
        raise ValueError("names must be of parts")
    return {keys[place]: name for place, name in found.items()}
