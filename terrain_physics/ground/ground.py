"""Ground made of several parts: height maps and meshes that are asked and stood on as one."""

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pyglm import glm

from terrain_physics._kernels._quick import put_entries, slots
from terrain_physics._kernels.ground.moves import move_all, move_one
from terrain_physics._kernels.mesh.parts import ID_BITS
from terrain_physics._kernels.surface.changes import put_merged
from terrain_physics._kernels.types import Int64s
from terrain_physics._public import public, quick
from terrain_physics._support import checks
from terrain_physics.geometry.shapes import AABB
from terrain_physics.ground.checks import (
    Part,
    checked_layers,
    checked_name,
    checked_place,
    checked_times,
    layers_per_part,
    listed,
    names_per_part,
    owner_of,
    refuse_others,
    refuse_twice,
)
from terrain_physics.ground.edits import apply_to_all, highest_at, paint_all
from terrain_physics.ground.keeper import GroundKeeper
from terrain_physics.ground.kept_parts import PartSource
from terrain_physics.ground.meshes import FoundMeshes
from terrain_physics.ground.movers import NO_DIRECTION, NONE_SAVED, checked_seconds
from terrain_physics.ground.parts import GroundParts
from terrain_physics.ground.poses import Pose
from terrain_physics.ground.saved import loaded_part, parts_and_rest, saved_part, state_of_saved
from terrain_physics.ground.transforms import pose_of_one, poses_of_many
from terrain_physics.heightmap.brushes import Disc, leveling, raising, smoothing
from terrain_physics.heightmap.heightmap import HeightMap
from terrain_physics.heightmap.solid.solid_map import SolidMap
from terrain_physics.mesh.mesh import TriangleMesh
from terrain_physics.mesh.storage import MeshStorage
from terrain_physics.surface.changes import LATEST_CHANGES, MOST_CHANGES, MOST_MERGED
from terrain_physics.surface.ground_files import (
    SavedGround,
    SavedPart,
    damaged_otherwise,
    load_parts,
    save_parts,
)
from terrain_physics.surface.ground_state import Keeper
from terrain_physics.surface.limits import refuse_far_row
from terrain_physics.surface.queries import Queries
from terrain_physics.surface.surface import KEPT_BY_ENTRIES, Surface, queries_of

_KIND = "ground"

# Keys are lower: no ground has so many parts.
_KEYS = 2**40


@public
class Ground(Surface):
    """Several height maps and meshes as one ground.

    Maps on one lattice that share stretches of border lines, samples included, are united in one
    map, with the least thickness; the seam does not show. If there are several maps, each ends at
    its border, whatever its ``border`` says, and has sides there as far as no map on the same
    layers goes on: between two maps a side is the area between their border lines.

    Parts may be edited and refitted at any time; answers are those of the edited parts. Samples on
    a shared border line belong to all maps there. A sample that one map changes there is copied to
    the others at the next question to the ground, or when the ground is copied. If several maps
    have changed a sample by then, the last of them in `parts` wins. `carve`, `raise_`, `flatten`,
    `smooth` and `paint` edit all maps at once.

    Materials in answers are numbers of the ground: see `material_names`.

    Each part is on layers, 32 bits, which the ``mask`` of a question and of a character may leave
    out: see `Surface`. Maps on different layers are not united.

    Parts may have names, given with them: a name may stand for the key wherever one is asked for,
    and answers have it, as ``hit.part_name``. Two parts never have the same.

    Parts come and go: `add` gives a part its key, `remove` takes it away. Keys are numbers that
    ascend and are never used twice; those of the first parts are 0, 1, .... A triangle's id is
    ``key << 40`` plus its id in its part, see `part_of`; -1 outside a single map that is extended.
    If several triangles answer equally well, the lowest id wins; within united maps, the lowest
    row, column and half of the union. Where maps and meshes are equally high, `normal_at` ranks
    united maps by the lowest of their keys, and meshes by the lowest key of any mesh. So the same
    parts in the same order answer alike, whatever came and went before.

    Parameters
    ----------
    parts : sequence of HeightMap and TriangleMesh, or one of them
        At least one; each once.
    layers : int, or sequence of int, default 1
        Those that the parts are on, a bit for each, from 0 to 0xFFFF_FFFF: one number for all
        parts, or one for each. With 0, nothing meets a part.
    names : sequence of str or None, optional
        One for each part; None: it has none.

    Raises
    ------
    TypeError, ValueError
        For anything else, and a part that is there twice; the message names the first. For more
        than 256 names of materials, or 255 beside parts without any. For layers
        that are not whole numbers of 32 bits, or not one for each part. For names that are empty,
        there twice, or not one for each part.

    Examples
    --------
    >>> valley = HeightMap([[0, 0, 0], [0, -3, 0], [0, 0, 0]], cell_size=4)
    >>> bridge = TriangleMesh([(0, 0, 3), (0, 0, 5), (8, 0, 3), (8, 0, 5)], [(0, 1, 2), (1, 3, 2)])
    >>> ground = Ground([valley, bridge])
    >>> ground.height_at(4, 4), valley.height_at(4, 4)
    (0.0, -3.0)
    >>> from terrain_physics import Ray
    >>> hit = ground.raycast(Ray((2, 9, 4), (0, -1, 0)))
    >>> hit.distance, ground.part_of(hit.triangle)
    (9.0, (1, 0))

    Equal names are one material, whatever their numbers are in the parts:

    >>> road = HeightMap([[0, 0], [0, 0]], materials=1, material_names=["grass", "wood"])
    >>> plank = [(0, 1, 0), (0, 1, 1), (1, 1, 0)]
    >>> planks = TriangleMesh(plank, [(0, 1, 2)], material_names=["wood"])
    >>> ground = Ground([road, planks])
    >>> ground.material_names, ground.raycast(Ray((0.2, 9, 0.2), (0, -1, 0))).material
    (('grass', 'wood'), 1)

    The bridge on a layer of its own is left out where the mask does not include the layer:

    >>> ground = Ground([valley, bridge], layers=[1, 2])
    >>> ground.height_at(4, 4), ground.height_at(4, 4, mask=1)
    (0.0, -3.0)
    >>> ground.set_layers(1, 0)
    >>> ground.height_at(4, 4)
    -3.0

    Parts with names:

    >>> ground = Ground([valley, bridge], names=["valley", "bridge"])
    >>> ground.raycast(Ray((2, 9, 4), (0, -1, 0))).part_name
    'bridge'
    >>> ground.key_of("bridge")
    1
    >>> ground.remove("bridge")
    """

    __slots__ = ("_held", "_parts")

    _parts: dict[int, Part]
    _held: GroundParts

    def __init__(
        self,
        parts: Part | Sequence[Part],
        *,
        layers: int | Sequence[int] | NDArray[Any] = 1,
        names: Sequence[str | None] | None = None,
    ) -> None:
        given = [parts] if isinstance(parts, (HeightMap, TriangleMesh)) else listed(parts)
        if not given:
            raise ValueError("parts must hold at least one HeightMap or TriangleMesh, got none")
        places: dict[int, int] = {}
        for index, part in enumerate(given):
            refuse_others(f"parts[{index}]", part)
            first = places.setdefault(id(part), index)
            if first != index:
                raise ValueError(f"parts[{index}] must be another part, got parts[{first}] again")
        on = layers_per_part(layers, len(given))
        known = names_per_part(names, len(given))
        self._adopt(dict(enumerate(given)), on, len(given), 0, {}, NONE_SAVED, known, {})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Return a ground that `save` wrote: equal answers, to the last bit.

        Parameters
        ----------
        path : path
            The file.

        Raises
        ------
        FileNotFoundError, ValueError
            If there is none, if it is damaged or holds something else, and for more than 2 GiB
            unpacked, before that is read; the message names the file.
        """
        saved = load_parts(path, _KIND)
        with damaged_otherwise(path):
            return cls._of_saved(*saved)

    @classmethod
    def _of_saved(cls, saved: Sequence[SavedPart], about: Any) -> Self:
        ground = cls.__new__(cls)
        ground._adopt(*state_of_saved(saved, about))  # noqa: SLF001
        return ground

    def _adopt(
        self,
        parts: dict[int, Part],
        layers: Sequence[int],
        next_key: int,
        changes: int,
        poses: dict[int, Pose],
        movers: Any,
        names: Mapping[int, str],
        scales: Mapping[int, float],
    ) -> None:
        sources = self._sources_with(parts)
        on = dict(zip(sources, layers, strict=True))
        self._held = GroundParts(sources, on, next_key, changes, poses, movers, names, scales)
        self._parts = self._held.surfaces = parts
        self._queries = self._queries_over(self._held)

    def _sources_with(self, parts: dict[int, Part]) -> dict[int, PartSource]:
        """Return what is asked of all parts, by their keys."""
        return {key: _source_of(part) for key, part in parts.items()}

    def _queries_over(self, held: GroundParts) -> Queries:
        """Return the queries of the ground."""
        return Queries(held)

    @property
    def parts(self) -> Mapping[int, Part]:
        """The parts by their keys, which ascend; as they are now."""
        self._held.mend()
        return MappingProxyType(self._parts)

    @property
    def bounds(self) -> AABB:
        """The smallest box around the `bounds` of all parts, where they are now.

        A map counts as far as it has cells, also one that goes on beyond its border.
        """
        with self._held.followed:
            boxes = [*filter(None, map(self._box_of_map, self._held.maps.numbers()))]
            boxes.append(self._held.box_of_meshes())
        lowers, uppers = zip(*boxes, strict=True)
        return AABB(np.min(lowers, axis=0), np.max(uppers, axis=0))

    def _box_of_map(self, key: int) -> tuple[Any, Any] | None:
        """Return the lower and upper corner of the box around a map; None of one that comes."""
        part = self._parts.get(key)
        return None if part is None else (part.bounds.lower64, part.bounds.upper64)

    @property
    def part_names(self) -> Mapping[int, str]:
        """The names of the parts that have one, by their keys; as they are now."""
        self._held.mend()
        return MappingProxyType(dict(self._held.naming.parts))

    def key_of(self, name: str) -> int:
        """Return the key of the part with a name.

        Parameters
        ----------
        name : str
            As it was given to `Ground` or `add`.

        Raises
        ------
        KeyError
            If no part has it; the message lists the names.

        Examples
        --------
        >>> from terrain_physics import Ground, HeightMap, TriangleMesh
        >>> ground = Ground([HeightMap([[0, 0], [0, 0]], cell_size=9)])
        >>> ground.add(TriangleMesh.box((6, 2, 6)), name="crate")
        1
        >>> ground.key_of("crate"), ground.part_names[1]
        (1, 'crate')
        """
        key = owner_of(checked_name("name", name), self._held.naming.parts)
        if key is None:
            known = ", ".join(map(repr, self._held.naming.parts.values())) or "no part has one"
            raise KeyError(f"name must be that of a part, got {name!r}; names: {known}")
        return key

    def add(
        self, part: Part, transform: Any = None, *, layers: int = 1, name: str | None = None
    ) -> int:
        """Add a part, or a mesh that is there already at one more place.

        All places share the mesh: its triangles and their tree are there once, however often it was
        added. Each has its own key, ids, layers, name, surface velocity and one-way direction, and
        is moved and removed by itself; `TriangleMesh.refit` changes all of them. Answers are those
        of a mesh with its vertices there, to the last bit.

        Parameters
        ----------
        part : HeightMap or TriangleMesh
            If it shares border lines with maps on the same layers, they are united.
        transform : 4 x 4 matrix, (position, rotation, scale), (position, rotation) or position
            Of a mesh, from its own coordinates to the world's, as for `move`, and with one scale of
            all axes, from 1e-6 to 1e6, which it keeps. Default: the mesh is where its vertices are.
        layers : int, default 1
            Those that it is on, a bit for each, from 0 to 0xFFFF_FFFF. With 0, nothing meets it.
        name : str, optional
            Stands for its key, and is in answers as ``part_name``. No other part has it; that of a
            part that was removed is free again.

        Returns
        -------
        int
            Its key: higher than any before, those of parts that were removed included.

        Raises
        ------
        TypeError, ValueError
            For anything else, for a map that is there already or has a transform, for a transform
            that shears or mirrors, for other layers, for a name that is empty or another part's,
            and for more names of materials than `Ground` takes. Nothing has changed then.

        Notes
        -----
        Which faces are neighbors, for sweeps, and how a solid mesh faces follow from the mesh's own
        vertices. They could differ for a mesh made at the place only if rounding makes vertices
        coincide there, or where a closed mesh has no volume.

        Examples
        --------
        >>> from terrain_physics import Ground, HeightMap, TriangleMesh
        >>> ground = Ground([HeightMap([[0, 0], [0, 0]], cell_size=9)])
        >>> key = ground.add(TriangleMesh.box((6, 2, 6)))
        >>> key, ground.height_at(2, 2)
        (1, 1.0)
        >>> ground.remove(key)
        >>> ground.height_at(2, 2)
        0.0

        One tree as often as wanted, one of them twice as large:

        >>> import numpy as np
        >>> tree = TriangleMesh.box((1, 4, 1))
        >>> trees = [ground.add(tree, transform=(x, 2, 3)) for x in (1, 4)]
        >>> trees.append(ground.add(tree, transform=((7, 4, 3), np.eye(3), 2)))
        >>> ground.height_at([1, 4, 7], 3).tolist()
        [4.0, 4.0, 8.0]
        """
        refuse_others("part", part)
        on = checked_layers("layers", layers)
        called = None if name is None else checked_name("name", name)
        place = checked_place(part, transform)
        source = _source_of(part)

        def add() -> int:
            if isinstance(part, HeightMap):
                self._refuse_again(part)
            owner = owner_of(called, self._held.naming.parts)
            if owner is not None:
                raise ValueError(f"name must be that of no other part, got {name!r} of key {owner}")
            key = self._held.next_number
            names = {} if called is None else {key: called}
            self._held.adopt({key: source}, {key: on}, key + 1, 1, names, {key: place})
            self._parts[key] = part
            return key

        return self._held.change(add, source)

    def _refuse_again(self, part: HeightMap) -> None:
        known = next((key for key, own in self._parts.items() if own is part), None)
        if known is not None:
            raise ValueError(f"part must not be in the ground already, got that of key {known}")

    def replace(self, key: int | str, mesh: TriangleMesh) -> None:
        """Put another mesh in the place of one: a house that breaks.

        Key, transform, layers, name, surface velocity and one-way direction stay; characters near
        the one or the other wake up. Other places of the former mesh stay as they are.

        Parameters
        ----------
        key : int or str
            Of a `TriangleMesh`, or its name.
        mesh : TriangleMesh
            May be there already, at other places.

        Raises
        ------
        KeyError
            If there is no such part.
        TypeError, ValueError
            For the key of a map, for anything but a mesh, and for more names of materials than
            `Ground` takes. Nothing has changed then.

        Examples
        --------
        >>> from terrain_physics import Ground, HeightMap, TriangleMesh
        >>> ground = Ground([HeightMap([[0, 0], [0, 0]], cell_size=9)])
        >>> house = ground.add(TriangleMesh.box((2, 6, 2)), transform=(4, 3, 4))
        >>> ground.height_at(4, 4)
        6.0
        >>> ground.replace(house, TriangleMesh.box((4, 1, 4)))
        >>> ground.height_at(4, 4), ground.height_at(2.5, 4)
        (3.5, 3.5)
        """
        if not isinstance(mesh, TriangleMesh):
            raise TypeError(f"mesh must be a TriangleMesh, got {checks.shorten(mesh)}")

        def replace() -> None:
            number = self._mesh_key(key)
            self._held.replace(number, cast("MeshStorage", _source_of(mesh)))
            self._parts[number] = mesh

        self._held.change(replace)

    def remove(self, key: int | str) -> None:
        """Take a part away; a character that stands on it falls.

        Parameters
        ----------
        key : int or str
            As `add` returned it, or the name of the part.

        Raises
        ------
        KeyError
            If there is none.
        ValueError
            For the last part: a ground has at least one.
        """

        def remove() -> None:
            number = self._removable(key)
            self._held.remove(number)
            del self._parts[number]

        self._held.change(remove)

    def _removable(self, key: Any) -> int:
        """Return the key of a part that may go."""
        number = self._checked_key(key)
        if len(self._parts) == 1:
            raise ValueError(f"key must leave at least one part, got {key!r} of the only one")
        return number

    @quick
    def move(self, key: int | str, transform: Any, delta_time: float | None = None) -> None:
        """Move a mesh: characters on this moving base go along, and it pushes those in its way.

        Call it before the update of the characters, once or several times: all moves since a
        character's last update add up for it, and move and update may have different times. Without
        a time the mesh is teleported, and a character on it stays behind.

        Nothing is rebuilt or copied. Answers are those of a mesh with its vertices there, to the
        last bit. Characters near the mesh's old and new place wake up.

        Parameters
        ----------
        key : int or str
            Of a `TriangleMesh`, or its name.
        transform : 4 x 4 matrix, (position, rotation), or position
            From the mesh's own coordinates to the world's: a ``glm.mat4``, an array that acts on
            columns, or a position in meters and a quaternion or 3 x 3 matrix. It may only rotate
            and translate, and keeps the scale that `add` was given: a matrix has it too. It
            replaces the transform before, and is not added to it. A position alone, of three
            numbers, leaves the rotation as it is.
        delta_time : float, optional
            The duration of the move in seconds, from 1e-6 to 3600. The mesh has the velocity of
            this move for that time.

        Raises
        ------
        KeyError
            If there is no such part.
        TypeError, ValueError
            For the key of a map, for a transform that shears or mirrors, has another scale, or is
            not finite, and for another time. Nothing has changed then.

        Notes
        -----
        Between two transforms, the origin moves straight, and the mesh takes the shorter turn about
        one axis. The path is cut into steps as a character's displacement is, so that no door
        passes a body. A mesh that has ever been moved with a time yields where it squeezes a
        character against still ground: see `MoveResult.squeezed`. It remembers its last 32 moves,
        for characters that are updated less often. Of the moving meshes near a character, the 8 of
        lowest keys count.

        Examples
        --------
        >>> from pyglm import glm
        >>> from terrain_physics import CharacterMovement, Ground, HeightMap, SphereCollider
        >>> from terrain_physics import TriangleMesh
        >>> lift = TriangleMesh.box((2, 0.5, 2))
        >>> ground = Ground([HeightMap([[0, 0], [0, 0]], cell_size=20), lift])
        >>> ground.move(1, glm.translate(glm.vec3(10, 3, 10)))
        >>> ground.height_at(10, 10), lift.height_at(0, 0)
        (3.25, 0.25)
        >>> hero = CharacterMovement(ground, SphereCollider(0.5), position=(10, 3.75, 10))
        >>> hero.update(1 / 60).grounded
        True
        >>> for frame in range(60):
        ...     ground.move(1, (10, 3 + (frame + 1) / 60, 10), 1 / 60)
        ...     result = hero.update(1 / 60)
        >>> hero.position.y, hero.velocity, round(hero.world_velocity.y, 6)
        (4.75, vec3( 0, 0, 0 ), 1.0)
        """
        seconds = 0.0 if delta_time is None else checked_seconds("delta_time", delta_time)
        held = self._held

        def move() -> None:
            number = self._mesh_key(key)
            found, *_ = held.meshes.find(np.array([number], np.int64))
            scale = held.meshes.scales.get(number, 1.0)
            poses = pose_of_one("transform", transform, scale, partial(held.meshes.poses_of, found))
            held.move(found, poses, np.array([seconds]))

        held.change(move)

    @quick
    def move_many(self, keys: Any, transforms: Any, delta_time: Any = None) -> None:
        """Move many meshes at once: the same as `move` for each, in the order of the keys.

        All are moved, or none. Other threads see all of it at once.

        Parameters
        ----------
        keys : sequence of int or str, or array of integers
            Of a `TriangleMesh` each, or its name; no mesh twice.
        transforms : array_like (n, 4, 4), (positions, rotations), or positions (n, 3)
            As for `move`, a row for each key. Rotations of a pair are matrices (n, 3, 3) or
            quaternions w, x, y, z (n, 4), as in arrays of PyGLM's. Positions alone leave the
            rotations as they are.
        delta_time : float or array_like (n,), optional
            The duration of the moves in seconds, one for all or one for each.

        Raises
        ------
        KeyError, TypeError, ValueError
            As `move`, and for a mesh that is there twice; errors name the row. Nothing has changed
            then.

        Examples
        --------
        >>> import numpy as np
        >>> from terrain_physics import Ground, HeightMap, TriangleMesh
        >>> boxes = [TriangleMesh.box((1, 1, 1)) for _ in range(3)]
        >>> ground = Ground([HeightMap([[0, 0], [0, 0]], cell_size=20), *boxes])
        >>> places = np.array([(2, 0.5, 2), (4, 1.5, 2), (6, 2.5, 2)])
        >>> ground.move_many([1, 2, 3], places, 1 / 60)
        >>> [ground.height_at(x, 2) for x in (2, 4, 6)]
        [1.0, 2.0, 3.0]
        """
        held = self._held

        def move() -> None:
            found = self._meshes_of(keys)
            seconds, scales = checked_times(delta_time, len(found.rows)), None
            if held.meshes.scales:
                scales = [held.meshes.scales.get(number, 1.0) for number in found.numbers.tolist()]
            known = partial(held.meshes.poses_of, found)
            poses = poses_of_many("transforms", transforms, scales, len(found.rows), known)
            held.move(found, poses, seconds)

        held.change(move)

    def set_surface_velocity(self, key: int | str, velocity: Any) -> None:
        """Make a mesh a conveyor: its surface moves, and the mesh does not.

        Parameters
        ----------
        key : int or str
            Of a `TriangleMesh`, or its name.
        velocity : three numbers
            In m/s, in the mesh's own coordinates: it turns with the mesh. Zeros: none.

        Raises
        ------
        KeyError
            If there is no such part.
        TypeError, ValueError
            For the key of a map, and for anything but three finite numbers. Nothing has changed
            then.

        Examples
        --------
        >>> from terrain_physics import CharacterMovement, Ground, HeightMap, SphereCollider
        >>> from terrain_physics import TriangleMesh
        >>> belt = TriangleMesh.box((20, 1, 2))
        >>> ground = Ground([HeightMap([[-9, -9], [-9, -9]]), belt])
        >>> ground.set_surface_velocity(1, (2, 0, 0))
        >>> crate = CharacterMovement(ground, SphereCollider(0.5), position=(0, 1, 0))
        >>> for frame in range(61):
        ...     result = crate.update(1 / 60)
        >>> round(crate.position.x, 4), crate.velocity.x, crate.world_velocity.x
        (1.9, 0.0, 2.0)

        It has slid for the first 0.1 m, until friction gave it the belt's speed.
        """
        checked = checks.vector("velocity", velocity)
        refuse_far_row("velocity", checked)
        self._held.change(lambda: self._held.set_surface_velocity(self._mesh_key(key), checked))

    def set_one_way(self, key: int | str, direction: Any) -> None:
        """Let characters pass a mesh from all sides but one, as a platform to jump up to.

        Only faces that look that way hold a body, and only if it was wholly in front of them when
        its step began: a body with its foot below a platform passes. A body that stands on it drops
        through if its `mask` leaves out the layers of the mesh in one update, or more. Questions
        such as rays meet the mesh from all sides.

        Parameters
        ----------
        key : int or str
            Of a `TriangleMesh`, or its name.
        direction : three numbers or None
            The direction in which it holds up, in the mesh's own coordinates, such as (0, 1, 0); of
            any length but 0. None: all directions.

        Raises
        ------
        KeyError
            If there is no such part.
        TypeError, ValueError
            For the key of a map, and for anything but a direction. Nothing has changed then.

        Examples
        --------
        >>> from terrain_physics import CharacterMovement, Ground, HeightMap, SphereCollider
        >>> from terrain_physics import TriangleMesh
        >>> import numpy as np
        >>> floor = HeightMap([[0, 0], [0, 0]], cell_size=9)
        >>> ground = Ground([floor, TriangleMesh.box((4, 0.2, 4))])
        >>> ground.move(1, ((4, 1.6, 4), np.eye(3)))
        >>> ground.set_one_way(1, (0, 1, 0))
        >>> hero = CharacterMovement(ground, SphereCollider(0.5), position=(4, 0.5, 4))
        >>> hero.update(1 / 60).grounded
        True
        >>> hero.velocity.y = 7
        >>> for frame in range(90):
        ...     result = hero.update(1 / 60)
        >>> result.grounded, round(hero.position.y, 4)
        (True, 2.2)
        """
        checked = NO_DIRECTION if direction is None else checks.unit("direction", direction)
        self._held.change(lambda: self._held.set_one_way(self._mesh_key(key), checked))

    def _meshes_of(self, keys: Any) -> FoundMeshes:
        """Return the meshes of keys, each another one."""
        if isinstance(keys, np.ndarray):
            keys = checks.copied("keys", keys)
            keys = keys if keys.dtype == np.int64 and keys.ndim == 1 else keys.tolist()
        if isinstance(keys, str | int):
            raise TypeError(f"keys must be a sequence of keys, got {keys!r}")
        numbers = keys
        if not isinstance(keys, np.ndarray):
            keys = checks.listed("keys", keys)
            are_numbers = {*map(type, keys)} == {int} and min(keys) >= -1 and max(keys) < _KEYS
            named = keys
            if not are_numbers:
                named = [self._mesh_key_in_row(row, key) for row, key in enumerate(keys)]
            numbers = np.array(named, np.int64)
        found, known, ascend = self._held.meshes.find(numbers)
        if known < len(numbers):
            self._mesh_key_in_row(known, keys[known])
        if not ascend and len(np.unique(numbers)) < len(numbers):
            refuse_twice(keys, numbers.tolist())
        return found

    def _mesh_key_in_row(self, row: int, key: Any) -> int:
        try:
            return self._mesh_key(key)
        except (KeyError, TypeError, ValueError) as error:
            raise type(error)(f"keys[{row}]: {error.args[0]}") from None

    def _mesh_key(self, key: Any) -> int:
        number = self._checked_key(key)
        if not isinstance(self._parts[number], TriangleMesh):
            raise TypeError(f"key must be that of a TriangleMesh, got {key!r} of a HeightMap")
        return number

    def transform(self, key: int | str) -> NDArray[np.float64]:
        """Return the transform of a part: the matrix (4, 4) of the last `move`, or of `add`.

        It has the scale of the part. Of parts that were given none, it is the identity.

        Parameters
        ----------
        key : int or str
            As `add` returned it, or the name of the part.

        Raises
        ------
        KeyError
            If there is no such part.
        """
        number = self._checked_key(key)
        pose, scale = self._held.meshes.place_of(number)
        matrix = (pose or Pose.none()).matrix()
        matrix[:3, :3] *= scale
        return matrix

    def layers_of(self, key: int | str) -> int:
        """Return the layers that a part is on, a bit for each.

        Parameters
        ----------
        key : int or str
            As `add` returned it, or the name of the part.

        Raises
        ------
        KeyError
            If there is none.
        """
        return self._held.layers[self._checked_key(key)]

    def set_layers(self, key: int | str, layers: int) -> None:
        """Put a part on other layers; characters there wake up.

        Maps are then united anew by their layers.

        Parameters
        ----------
        key : int or str
            As `add` returned it, or the name of the part.
        layers : int
            A bit for each, from 0 to 0xFFFF_FFFF. With 0, nothing meets the part.

        Raises
        ------
        KeyError
            If there is no such part.
        TypeError, ValueError
            For other layers. Nothing has changed then.

        Examples
        --------
        >>> from terrain_physics import Ground, HeightMap, TriangleMesh
        >>> ground = Ground([HeightMap([[0, 0], [0, 0]], cell_size=9)])
        >>> door = ground.add(TriangleMesh.box((1, 4, 6)), layers=2)
        >>> ground.set_layers(door, ground.layers_of(door) | 4)
        >>> ground.height_at(0.5, 3, mask=4), ground.height_at(0.5, 3, mask=1)
        (2.0, 0.0)
        """
        on = checked_layers("layers", layers)
        self._held.change(lambda: self._held.set_layers(self._checked_key(key), on))

    def _checked_key(self, key: Any) -> int:
        """Return the key of a part, given by its key or by its name."""
        known = self._held.sources
        if type(key) is int and key in known:  # most are
            return key
        if isinstance(key, str):
            return self.key_of(key)
        if isinstance(key, bool) or checks.whole("key", key, -(2**63), 2**63 - 1) not in known:
            raise KeyError(f"key must be that of a part, got {key}")
        return int(key)

    @property
    def material_names(self) -> tuple[str, ...] | None:
        """The names of materials 0, 1, ... in answers; None if no part has names.

        Answers have the names themselves too, as ``hit.material_name``.

        Equal names of several parts are one material. Where there are names, the numbers of parts
        without any come after them: their 0 is ``len(material_names)``, at most 255.
        """
        return self._held.material_names

    @quick
    def part_of(self, triangle: ArrayLike) -> tuple[Any, Any]:
        """Return the part that owns a triangle, and the triangle's id there.

        Parameters
        ----------
        triangle : int, or array_like of integers
            Ids, as answers give them.

        Returns
        -------
        part : int, or ndarray of int64
            The key in `parts`; -1 for the id -1, which no part owns.
        own : int, or ndarray of int64
            The id in that part.

        Raises
        ------
        TypeError
            For anything but integers.
        ValueError
            For ids that no triangle has.

        Examples
        --------
        >>> from terrain_physics import Ground, HeightMap
        >>> tiles = [HeightMap([[0, 0], [0, 0]], origin=(x, 0, 0)) for x in (0, 1)]
        >>> Ground(tiles).part_of((1 << 40) + 1)
        (1, 1)
        >>> Ground(tiles).part_of([0, (1 << 40) + 1, -1])
        (array([ 0,  1, -1]), array([ 0,  1, -1]))
        """
        ids = checks.copied("triangle", triangle)
        if ids.dtype.kind not in "iu" and ids.size:
            raise TypeError(f"triangle must be an integer, got {checks.shorten(triangle)}")
        ids = ids.astype(np.int64)
        part, own = ids >> ID_BITS, ids & ((1 << ID_BITS) - 1)
        self._refuse_strangers(ids, part, own)
        own = np.where(ids < 0, -1, own)
        return (part, own) if ids.ndim else (int(part), int(own))

    def _refuse_strangers(self, ids: Int64s, part: Int64s, own: Int64s) -> None:
        """Raise ValueError for ids that no triangle has, now or any more."""
        for key in np.unique(part[ids != -1]).tolist():
            known = self._held.sources.get(key)
            if known is None:
                bad = ids[part == key].flat[0]
                raise ValueError(f"triangle must be of a part that is there, got {bad} of {key}")
            count = known.id_count
            for bad in ids[(part == key) & (own >= count)].flat[:1]:
                raise ValueError(
                    f"triangle must be from {key << ID_BITS} to {(key << ID_BITS) + count - 1} in "
                    f"part {key}, got {bad}"
                )

    # Edits

    def carve(self, center: Any, radius: float, depth: float) -> None:
        """Dig a round pit in all maps, across their borders; meshes stay as they are.

        United maps change exactly as one map would; other threads see the whole change at once.

        Parameters
        ----------
        center : three numbers, or two
            A point in meters, such as where a ray hit, of which only x and z count; or (x, z).
        radius : float
            In meters, > 0.
        depth : float
            How much deeper the ground becomes at the center, in meters. The change falls smoothly
            to 0 at the radius.

        Raises
        ------
        ValueError, TypeError
            For other numbers, for heights of 1e38 m and more, and if no part is a map. Nothing
            changes then.

        Examples
        --------
        >>> from terrain_physics import Ground, HeightMap
        >>> tiles = [HeightMap([[0] * 5] * 5, origin=(x, 0, 0)) for x in (0, 4)]
        >>> ground = Ground(tiles)
        >>> ground.carve((4, 2), radius=2, depth=1)
        >>> ground.height_at(4, 2), tiles[0].height_at(4, 2), tiles[1].height_at(4, 2)
        (-1.0, -1.0, -1.0)
        """
        brush = raising(Disc.of(center, radius), -checks.finite("depth", depth))
        self._editing(brush.disc, lambda maps: apply_to_all(maps, brush))

    def raise_(self, center: Any, radius: float, height: float) -> None:
        """Raise a round hill on all maps, across their borders; meshes stay as they are.

        United maps change exactly as one map would; other threads see the whole change at once.

        Parameters
        ----------
        center : three numbers, or two
            A point in meters, such as where a ray hit, of which only x and z count; or (x, z).
        radius : float
            In meters, > 0.
        height : float
            How much higher the ground becomes at the center, in meters. The change falls smoothly
            to 0 at the radius.

        Raises
        ------
        ValueError, TypeError
            For other numbers, for heights of 1e38 m and more, and if no part is a map. Nothing
            changes then.

        Examples
        --------
        >>> from terrain_physics import Ground, HeightMap
        >>> tiles = [HeightMap([[0] * 5] * 5, origin=(x, 0, 0)) for x in (0, 4)]
        >>> ground = Ground(tiles)
        >>> ground.raise_((4, 2), radius=2, height=1)
        >>> ground.height_at(4, 2), ground.height_at(5, 2)
        (1.0, 0.5625)
        """
        brush = raising(Disc.of(center, radius), checks.finite("height", height))
        self._editing(brush.disc, lambda maps: apply_to_all(maps, brush))

    def flatten(
        self,
        center: Any,
        radius: float,
        height: float | None = None,
        *,
        flat: float = 0.0,
        strength: float = 1.0,
    ) -> None:
        """Bring all maps to a level, across their borders; meshes stay as they are.

        United maps change exactly as one map would; other threads see the whole change at once.

        Parameters
        ----------
        center : three numbers, or two
            A point in meters, such as where a ray hit, of which only x and z count; or (x, z).
        radius : float
            In meters, > 0. The change falls smoothly to 0 there.
        height : float, optional
            The level in meters, one for all maps. Default: the height of the highest map at the
            center.
        flat : float, default 0
            Samples within this distance of the center change in full, so the place for a building
            is exactly flat. In meters, from 0 to ``radius``; equal to it, the edge is sharp.
        strength : float, default 1
            The share of the way to the level that a full change goes, from 0 to 1.

        Raises
        ------
        ValueError, TypeError
            For other numbers, for heights of 1e38 m and more, if samples would change and no map
            has ground at the center to take the height of, and if no part is a map. Nothing changes
            then. Holes stay holes.

        Examples
        --------
        >>> from terrain_physics import Ground, HeightMap
        >>> tiles = [HeightMap([[0, 1, 2]] * 3, origin=(x, x, 0)) for x in (0, 2)]
        >>> ground = Ground(tiles)
        >>> ground.flatten((2, 1), radius=3, height=5, flat=1)
        >>> ground.height_at([0, 1, 2, 3, 4], 1).tolist()
        [2.8125, 5.0, 5.0, 5.0, 4.5625]
        """
        disc = Disc.of(center, radius)

        def edit(maps: list[SolidMap]) -> None:
            level = highest_at(maps, disc) if height is None else checks.finite("height", height)
            apply_to_all(maps, leveling(disc, level, flat, strength))

        self._editing(disc, edit)

    def smooth(self, center: Any, radius: float, strength: float = 1.0) -> None:
        """Soften all maps, across their borders; meshes stay as they are.

        United maps change exactly as one map would; other threads see the whole change at once. How
        each sample changes: see `HeightMap.smooth`.

        Parameters
        ----------
        center : three numbers, or two
            A point in meters, such as where a ray hit, of which only x and z count; or (x, z).
        radius : float
            In meters, > 0. The change falls smoothly to 0 there.
        strength : float, default 1
            The share of the way to the mean that the sample at the center goes, from 0 to 1.

        Raises
        ------
        ValueError, TypeError
            For other numbers, and if no part is a map. Nothing changes then. Holes stay holes.

        Examples
        --------
        >>> from terrain_physics import Ground, HeightMap
        >>> west = HeightMap([[0, 0], [0, 8], [0, 0]])
        >>> east = HeightMap([[0, 0], [8, 0], [0, 0]], origin=(1, 0, 0))
        >>> ground = Ground([west, east])
        >>> ground.smooth((1, 1), radius=1)
        >>> ground.height_at(1, 1)
        2.0
        """
        brush = smoothing(Disc.of(center, radius), strength)
        self._editing(brush.disc, lambda maps: apply_to_all(maps, brush))

    def paint(self, center: Any, radius: float, material: int | str) -> None:
        """Give cells of all maps a material, across their borders; meshes stay as they are.

        Other threads see the whole change of united maps at once.

        Parameters
        ----------
        center : three numbers, or two
            A point in meters, such as where a ray hit, of which only x and z count; or (x, z).
        radius : float
            In meters, > 0. The cells that have their middle within it, border included, change.
        material : int or str
            The number of the ground, as in answers, from 0 to 255, or a name. It becomes the number
            that each map's own `material_names` have for it.

        Raises
        ------
        ValueError, TypeError
            For other numbers, for a name that a map with such cells does not know, and if no part
            is a map. Nothing changes then.

        Examples
        --------
        >>> from terrain_physics import Ground, HeightMap
        >>> names = ["grass", "rock"], ["rock", "snow"]
        >>> tiles = [
        ...     HeightMap([[0] * 3] * 3, origin=(x, 0, 0), material_names=own)
        ...     for x, own in zip((0, 2), names)
        ... ]
        >>> Ground(tiles).paint((2, 0.5), radius=1, material="rock")
        >>> [tile.materials[0].tolist() for tile in tiles]
        [[0, 1], [0, 0]]
        """
        disc = Disc.of(center, radius)
        self._editing(disc, lambda maps: paint_all(maps, disc, material, self.material_names))

    def _editing(self, disc: Disc, edit: Callable[[list[SolidMap]], None]) -> None:  # noqa: ARG002
        """Edit all maps within a disc; nobody else edits them meanwhile."""

        def edit_some(maps: list[SolidMap]) -> None:
            if not maps:
                raise ValueError("parts must hold a HeightMap to be edited, got meshes only")
            edit(maps)

        self._held.editing(edit_some)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all parts to a file for `load`, with all that they hold.

        That is heights, holes, diagonals, thickness, materials, vertices, faces, layers, versions,
        and the names of materials and of parts. The file is a zip archive of arrays and JSON,
        described in ``surface/ground_files.py``.

        Parameters
        ----------
        path : path
            An existing file is replaced only when the new one is complete.

        Raises
        ------
        TypeError, ValueError
            If ``path`` is not a path that the system takes, and for more than 2 GiB or 10,000
            parts.
        OSError
            If the file cannot be written.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from terrain_physics import Ground, HeightMap
        >>> ground = Ground([HeightMap([[0] * 5] * 5, origin=(x, 0, 0)) for x in (0, 4)])
        >>> ground.carve((4, 2), radius=2, depth=1)
        >>> with tempfile.TemporaryDirectory() as name:
        ...     ground.save(Path(name) / "level.ground")
        ...     again = Ground.load(Path(name) / "level.ground")
        >>> again, again.height_at(4, 2)
        (<Ground: 2 height maps, 0 meshes>, -1.0)
        """
        kind, parts, about = self._saved()
        save_parts(path, kind, parts, about)

    def _saved(self) -> SavedGround:
        # All of one moment, borders included.
        return self._held.editing(lambda _: self._saved_now())

    def _saved_now(self) -> SavedGround:
        parts, about = parts_and_rest(self._held)
        return SavedGround(_KIND, [self._saved_part(part.storage) for part in parts], about)

    def _saved_part(self, storage: Any) -> SavedPart:
        return saved_part(storage)

    def __repr__(self) -> str:
        maps = sum(isinstance(part, HeightMap) for part in self._parts.values())
        meshes = checks.counted(len(self._parts) - maps, "mesh", "meshes")
        return f"<Ground: {checks.counted(maps, 'height map')}, {meshes}>"

    def _new_keeper(self) -> Keeper:
        return GroundKeeper(self._held, self._parts)

    def __getstate__(self) -> tuple[Any, ...]:
        held = self._held
        with held.followed:  # so that the copies share their borders too
            parts, layers = self._parts.copy(), list(held.layers.values())
            poses, movers = held.meshes.poses, held.meshes.saved_movers()
            changes, names = held.own_changes, dict(held.naming.parts)
            scales = held.meshes.scales.copy()
            return parts, layers, held.next_number, changes, poses, movers, names, scales

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self._adopt(*state)


def _source_of(part: Part) -> PartSource:
    return cast("PartSource", queries_of(part).source)


def parts_of(ground: Any) -> Any:
    """Return the `GroundParts` of a ground; None for a map or a mesh by itself."""
    source = queries_of(ground).source
    return source if isinstance(source, GroundParts) else None


def parts_by_key(ground: Any) -> dict[int, Part]:
    """Return the parts of a ground; a map or a mesh by itself has the key 0."""
    return dict(ground.parts) if isinstance(ground, Ground) else {0: ground}


def saved_ground(ground: Part | Ground) -> SavedGround:
    """Return the saved form of a ground of any kind."""
    if isinstance(ground, Ground):
        return ground._saved()  # noqa: SLF001 of its own file
    part = saved_part(queries_of(ground).storage)
    return SavedGround(part.header["kind"], [part], {})


def loaded_ground(saved: SavedGround) -> Part | Ground:
    """Return the ground of a saved form."""
    if saved.kind == _KIND:
        return Ground._of_saved(saved.parts, saved.about)  # noqa: SLF001 of its own file
    (part,) = saved.parts
    if part.header["kind"] != saved.kind:
        raise ValueError(saved.kind)
    return loaded_part(part)


# What the entry in C knows of a move, in its order. Whoever edits what `move` does, or a name of
# what it writes to, edits `_build/quick/moves.c` too.
put_entries(
    (
        *(*KEPT_BY_ENTRIES, Ground, *slots(Ground, "_held"), GroundParts),
        *(move_one, checks.ROTATION_TOLERANCE, glm.dvec3, glm.mat4, glm.dmat4),
        *(move_all, put_merged, MOST_CHANGES, LATEST_CHANGES, MOST_MERGED),
    ),
    (Ground, "move"),
    (Ground, "move_many"),
)
