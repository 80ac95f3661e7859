"""What a ground has in a state, as the difference from the beginning of its world.

The difference is JSON and bytes: squares of samples and cells that differ, as exclusive or of both;
vertices of meshes that were refitted, likewise; parts that came, whole; which parts there are; and
how meshes move.
"""

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.mesh.tree import Mesh, refit_mesh
from terrain_physics._kernels.surface.ground_arrays import ALL_LAYERS
from terrain_physics._support import checks
from terrain_physics._support.archives import Pieces
from terrain_physics.character.placement import AnyGround
from terrain_physics.ground.ground import parts_by_key, parts_of
from terrain_physics.ground.poses import checked_scale
from terrain_physics.ground.saved import loaded_part, saved_part
from terrain_physics.heightmap.checks import TINY
from terrain_physics.heightmap.framed import KINDS, place_of
from terrain_physics.heightmap.storage import MapStorage
from terrain_physics.heightmap.undo import (
    crossed,
    patches_of,
    solid_depth_after,
    values_with,
)
from terrain_physics.mesh.checks import checked_vertices
from terrain_physics.mesh.closed import refuse_open
from terrain_physics.mesh.mesh import TriangleMesh
from terrain_physics.surface.ground_files import MOST_EDITS, SavedPart, checked_keys
from terrain_physics.surface.ground_state import keeper_of
from terrain_physics.tiles.tiled_ground import TILES
from terrain_physics.world.ground.beginning import Beginning, layout_of, storage_of
from terrain_physics.world.ground.first_values import FirstValues, Wanted


def _mesh_after(storage: Any, edits: list[Any]) -> Mesh:
    """Return the arrays of a mesh after edits."""
    own = [edit for edit in edits if edit.storage is storage]
    found: Mesh = own[-1].held if own else storage.arrays
    return found


def _saved_after(storage: Any, edits: list[Any]) -> SavedPart:
    """Return the saved form of a part after edits."""
    header, arrays = saved_part(storage)
    if not isinstance(storage, MapStorage):
        return SavedPart(header, arrays | {"vertices": _mesh_after(storage, edits).vertices})
    depth, follows = solid_depth_after(storage, edits)
    header |= {"thickness": depth if np.isfinite(depth) else None, "thickens": follows}
    patches = patches_of(storage, edits)
    for kind in KINDS:
        own = [patch for patch in patches if patch.what == kind]
        values = values_with(storage, kind, place_of(storage, kind, storage.whole), own)
        if kind == "heights" or values.any():
            arrays[kind] = values
        else:
            arrays.pop(kind, None)
    return SavedPart(header, arrays)


def difference_of(
    ground: AnyGround, state: Any, beginning: Beginning
) -> tuple[dict[str, Any], list[bytes]]:
    """Return a ground in a state as JSON and bytes."""
    look = partial(_difference_of, state, beginning)
    found: tuple[dict[str, Any], list[bytes]] = keeper_of(ground).looking(
        state, storages_in(beginning), look
    )
    return found


def _difference_of(
    state: Any, beginning: Beginning, edits: list[Any], rest: Any
) -> tuple[dict[str, Any], list[bytes]]:
    content = list[bytes]()
    about: dict[str, Any] = {"maps": [], "refits": [], "came": [], "layout": None}
    about |= {"motion": None if rest is None else rest.motion.saved(), "waits": state.waits}
    parts: dict[int, Any] = beginning.with_land(beginning.parts if rest is None else rest.parts)
    for key, part in parts.items():
        if key not in beginning.parts or beginning.parts[key] is not part:
            first = _first_of(part, parts, beginning)
            if first != key:  # one mesh at several places
                about["came"].append([key, first, 0])
                continue
            packed, own = _saved_after(storage_of(part), edits).packed()
            about["came"].append([key, packed, len(own)])
            content.append(own)
        elif key in beginning.maps:
            _put_map(key, beginning.maps[key], edits, about["maps"], content)
        else:
            mesh = _mesh_after(storage_of(part), edits)
            _put_mesh(key, beginning.meshes[key], mesh, about["refits"], content)
    if rest is not None and layout_of(rest.layout) != beginning.layout:
        about["layout"] = layout_of(rest.layout)
    return about, content


def _first_of(part: Any, parts: dict[int, Any], beginning: Beginning) -> int:
    """Return the key that tells a part: one that it had at the beginning, or its first one."""
    keys = [key for key, own in parts.items() if own is part]
    return next((key for key in keys if beginning.parts.get(key) is part), keys[0])


def _put_map(
    key: int, own: FirstValues, edits: list[Any], told: list[Any], content: list[bytes]
) -> None:
    """Tell the squares of a map that differ from the beginning, and how deep it is solid."""
    depth, follows = solid_depth_after(own.terrain, edits)
    differing = own.told(patches_of(own.terrain, edits), content)
    if differing or (depth, follows) != own.solid_depth:
        told.append([key, depth if np.isfinite(depth) else None, follows, differing])


def _put_mesh(key: int, old: Mesh, new: Mesh, told: list[Any], content: list[bytes]) -> None:
    """Tell the vertices of a mesh that was refitted."""
    changed = crossed(new.vertices.astype("<f8"), old.vertices.astype("<f8"))
    if changed.any():
        told.append(key)
        content.append(changed.tobytes())


@dataclass
class GroundDifference:
    """A difference that was received, checked as far as it can be by itself.

    Attributes
    ----------
    maps : dict of int to (solid depth, values)
        Maps of the beginning, with the squares that differ; a land of tiles is one of them.
    vertices : dict of int to ndarray
        Meshes of the beginning that were refitted.
    came : dict of int to HeightMap and TriangleMesh
        Parts that are not of the beginning.
    layout : list, or None
    motion : dict, or None
    waits : int
        See `GroundState`.
    """

    maps: dict[int, tuple[tuple[float, bool], Wanted]] = field(default_factory=dict)
    vertices: dict[int, NDArray[Any]] = field(default_factory=dict)
    came: dict[int, Any] = field(default_factory=dict)
    layout: Any = None
    motion: Any = None
    waits: int = 0


def received(
    about: Any, content: bytes, ground: AnyGround, beginning: Beginning
) -> GroundDifference:
    """Return the difference that `difference_of` gave elsewhere; any error if it is damaged."""
    found, pieces = GroundDifference(), Pieces(content)
    found.layout = beginning.layout if about["layout"] is None else _layout(about["layout"])
    keys = [0] if found.layout is None else found.layout[0]
    found.waits = checks.whole("waits", about["waits"], 0, MOST_EDITS)
    came = {key: (packed, size) for key, packed, size in about["came"]}
    if beginning.land is not None and (keys[0] != TILES or TILES in came):
        raise ValueError("a land of tiles must be there")
    maps = {key: own for key, *own in about["maps"]}
    refits = set(about["refits"])
    places: list[tuple[int, int]] = []
    for key in keys:
        if key in came:
            packed, size = came.pop(key)
            if isinstance(packed, int):
                places.append((key, packed))
                continue
            part = loaded_part(SavedPart.unpacked(packed, pieces.take(size)))
            if beginning.land is not None and not isinstance(part, TriangleMesh):
                raise ValueError("parts of a land of tiles must be meshes")
            found.came[key] = _known(ground, key, part)
        elif key in maps:
            found.maps[key] = _map(beginning.maps[key], maps.pop(key), pieces)
        elif key in refits:
            refits.remove(key)
            found.vertices[key] = _vertices(beginning, key, pieces)
        elif key not in beginning.parts:
            raise ValueError("parts must be of the beginning, or have come")
    pieces.end()
    _put_places(places, keys, found, beginning)
    if came or maps or refits or (about["motion"] is None) != (found.layout is None):
        raise ValueError("parts must be those of the layout")
    if found.layout is None and found.came:
        raise ValueError("a map or a mesh by itself has no parts that come")
    found.motion = about["motion"]
    return found


def _put_places(
    places: list[tuple[int, int]], keys: list[int], found: GroundDifference, beginning: Beginning
) -> None:
    """Put meshes at several places, which are told by another key; refuse scales of others."""
    for key, first in places:
        known = found.came.get(first, beginning.parts.get(first) if first in keys else None)
        if not isinstance(known, TriangleMesh) or first in dict(places):
            raise ValueError("a mesh at several places must be told once")
        found.came[key] = known
    if found.layout is not None:
        keys = [int(name) for name in found.layout[3]]
        scaled = [found.came.get(key, beginning.parts.get(key)) for key in keys]
        if not all(isinstance(part, TriangleMesh) for part in scaled):
            raise ValueError("scales must be of meshes")


def _layout(about: Any) -> list[Any]:
    keys, layers, names, scales, next_number = about
    known, end = checked_keys(keys, next_number, len(keys))
    on = [checks.whole("layers", own, 0, ALL_LAYERS) for own in layers]
    if len(on) != len(known) or len(set(names.values())) != len(names):
        raise ValueError("layers and names must be of parts")
    for key, name in names.items():
        if int(key) not in known or not isinstance(name, str) or not name:
            raise ValueError("names must be of parts")
    by_key = {str(int(key)): checked_scale("scales", scale) for key, scale in scales.items()}
    if not {int(key) for key in by_key} <= set(known):
        raise ValueError("scales must be of parts")
    return [known, on, {str(int(key)): name for key, name in names.items()}, by_key, end]


def _known(ground: AnyGround, key: int, part: Any) -> Any:
    """Return the ground's own part of a key if it is equal, so that it need not come anew."""
    present = None if parts_of(ground) is None else parts_by_key(ground).get(key)
    if present is None:
        return part
    (one, first), (other, second) = (saved_part(storage_of(p)).packed() for p in (present, part))
    for packed in (one, other):
        packed["header"] = packed["header"] | {"version": 0}
    return present if first == second and repr(one) == repr(other) else part


def _map(own: FirstValues, about: Any, pieces: Pieces) -> tuple[tuple[float, bool], Wanted]:
    """Return how deep a map is solid, and the squares that differ."""
    depth, follows, differing = about
    thickness = checks.between("thickness", np.inf if depth is None else depth, TINY, np.inf)
    checks.instance("thickens", follows, bool)
    return (thickness, follows), own.received(differing, pieces.take)


def _vertices(beginning: Beginning, key: int, pieces: Pieces) -> NDArray[Any]:
    """Return the checked vertices of a mesh that was refitted."""
    mesh, storage = beginning.meshes[key], storage_of(beginning.parts[key])
    old = np.ascontiguousarray(mesh.vertices.astype("<f8"))
    changed = np.frombuffer(pieces.take(old.nbytes), "<f8").reshape(old.shape)
    places = checked_vertices(crossed(old, changed).view("<f8"))
    if storage.solid:
        refuse_open("vertices", places, mesh.faces)
    return places


# Edits that lead to a difference


def storages_in(beginning: Beginning) -> list[Any]:
    """Return the storages that `put` may edit."""
    return [own.terrain for own in beginning.maps.values()]


def put(difference: GroundDifference, ground: AnyGround, beginning: Beginning) -> None:
    """Make a ground as a difference says: the caller holds the locks and makes this a change."""
    keys = [0] if difference.layout is None else difference.layout[0]
    if beginning.land is not None:
        beginning.land.supply.waits = difference.waits
    for key in keys:
        if key in difference.came:
            continue
        if key in beginning.maps:
            own = beginning.maps[key]
            depth, values = difference.maps.get(key, (own.solid_depth, {}))
            own.bring(values, depth)
        else:
            _refit(beginning, key, difference.vertices.get(key))
    if difference.layout is not None:
        _lay_out(difference, ground, beginning)


def _refit(beginning: Beginning, key: int, vertices: NDArray[Any] | None) -> None:
    """Bring a mesh to its beginning, or to other vertices."""
    storage, first = storage_of(beginning.parts[key]), beginning.meshes[key]
    present, wanted = storage.arrays, first.vertices if vertices is None else vertices
    if present is first and vertices is None:
        return
    if crossed(present.vertices, wanted).any():
        storage.put_back(first if vertices is None else refit_mesh(first, wanted))


def _lay_out(difference: GroundDifference, ground: Any, beginning: Beginning) -> None:
    """Have these parts, where they are and as they move."""
    held, keeper = parts_of(ground), keeper_of(ground)
    keys, layers, names, scales, end = difference.layout
    own = keys[beginning.land is not None :]  # a land stays
    parts = {key: difference.came.get(key, beginning.parts.get(key)) for key in own}
    is_same = [*parts] == [*ground.parts] and all(
        parts[key] is part for key, part in ground.parts.items()
    )
    if not is_same or layout_of(held.layout()) != difference.layout:
        on = dict(zip(keys, layers, strict=True))
        keeper.lay_out(parts, on, _by_key(names), _by_key(scales), end)
    if repr(held.saved_motion()) != repr(difference.motion):  # zeros of two signs are equal
        try:
            held.load_motion(difference.motion)
        except (ArithmeticError, AttributeError, LookupError, TypeError) as error:
            raise ValueError(f"motion must be that of the parts: {error!r}") from error


def _by_key(values: dict[str, Any]) -> dict[int, Any]:
    return {int(key): value for key, value in values.items()}
