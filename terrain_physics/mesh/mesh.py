"""Triangle meshes."""

import os
from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from terrain_physics._kernels.mesh import intersections
from terrain_physics._kernels.mesh.adjacency import Neighbors
from terrain_physics._kernels.types import Int64s
from terrain_physics._public import public
from terrain_physics._support import checks
from terrain_physics._support.checks import MOST_RESULTS
from terrain_physics._support.files import file_name
from terrain_physics._support.threads import Workers
from terrain_physics.geometry.shapes import AABB, Sphere
from terrain_physics.mesh import solids
from terrain_physics.mesh.assembly import joined, joined_materials, moved, placed
from terrain_physics.mesh.checks import (
    checked_faces,
    checked_materials,
    checked_solid,
    checked_vertices,
    vertices_and_faces,
)
from terrain_physics.mesh.closed import refuse_open
from terrain_physics.mesh.models import is_model, model_triangles
from terrain_physics.mesh.saved import KIND, mesh_state, saved_mesh
from terrain_physics.mesh.solids import Solid
from terrain_physics.mesh.storage import MeshStorage
from terrain_physics.mesh.undo import MeshEdit
from terrain_physics.surface.axes import AnyAxes, frame_of
from terrain_physics.surface.ground_files import (
    SavedPart,
    damaged_otherwise,
    load_parts,
    save_parts,
)
from terrain_physics.surface.ground_state import Keeper, StorageKeeper
from terrain_physics.surface.materials import joined_names
from terrain_physics.surface.mesh_arrays import MeshArrays, made_trimesh, mesh_arrays_of
from terrain_physics.surface.queries import Queries
from terrain_physics.surface.surface import Surface


@public
class TriangleMesh(Surface):
    """Triangles that share vertices, prepared for many questions.

    A face's index is its id. Triangles are two-sided surfaces, closed at their edges: touching
    counts. If several faces answer equally well, the lowest index wins. A shape is pushed out, or
    stopped, on the side it is on, and may leave on that side.

    A closed mesh may be *solid*: then it has an inside, where its winding number is not 0,
    whichever way its faces are wound; several bodies of one mesh are wound alike, but for hollows.
    Contacts of a shape whose middle is inside lead outwards, and a character inside is taken out.
    Rays, sweeps and closest points are those of a skin.

    Parameters
    ----------
    vertices : array_like, shape (v, 3)
        In meters, below 1e38 m; copied. Not every one need be used. Rays and closest points are
        right where lengths that are not zero are above 1e-70 m.
    faces : array_like of integers, shape (n, 3), n >= 1
        Rows of ``vertices``, counter-clockwise seen from the front; copied. A face without area is
        the segment or the point it is, with the normal +Y.
    materials : array_like of whole numbers from 0 to 255, or of names, shape (n,), optional
        The materials of the faces, or one for all of them; by default 0. Copied.
    material_names : sequence of str, optional
        The names of materials 0, 1, ...; then there are no others.
    solid : bool, default False
        Whether the mesh is solid, and no skin: it must be closed. Each edge, between vertices at
        the same positions, has as many faces that run along it one way as the other way.
    axes : {"y-up", "z-up", "y-up-left"}, default "y-up"
        Those of ``vertices``: "z-up" where +Z is up, as in Panda3D and CAD, "y-up-left" where axes
        are left-handed, as in ursina. The mesh has them in the library's axes.

    Raises
    ------
    TypeError
        If ``vertices`` holds no real numbers, ``faces`` no integers or ``materials`` no whole
        numbers.
    ValueError
        For other shapes, vertices that are not finite, faces with vertices that do not exist and
        unknown materials; the message names the first one. For other axes. For a mesh that is to be
        solid and is not closed; the message names the first open edge.

    Examples
    --------
    >>> mesh = TriangleMesh([(0, 0, 0), (0, 0, 4), (4, 0, 0), (4, 2, 4)], [(0, 1, 2), (1, 3, 2)])
    >>> mesh
    <TriangleMesh: 2 faces, 4 vertices>
    >>> mesh.height_at(1, 1), mesh.height_at(3, 3)
    (0.0, 1.0)
    >>> from terrain_physics import Ray
    >>> mesh.raycast(Ray((1, 5, 1), (0, -1, 0)))
    RayHit(distance=5.0, point=vec3( 1, 0, 1 ), normal=vec3( 0, 1, 0 ), triangle=0, material=0)
    >>> mesh.closest_point((-3, 4, 1))
    ClosestPoint(point=vec3( 0, 0, 1 ), distance=5.0, triangle=0, material=0)
    >>> mesh.contacts([(1, -0.5, 1, 1), (1, 9, 1, 1)]).penetration
    array([[ 0. , -0.5,  0. ]])
    >>> bridge = TriangleMesh(
    ...     mesh.vertices, mesh.faces, materials=["wood", "rail"], material_names=["wood", "rail"]
    ... )
    >>> bridge.raycast(Ray((3, 5, 3), (0, -1, 0))).material_name
    'rail'
    >>> rock = TriangleMesh.box((2, 2, 2))
    >>> rock.contains((0, 0.5, 0)), rock.signed_distance((0, 0.5, 0))
    (True, -0.5)
    """

    __slots__ = ("_storage",)

    _storage: MeshStorage

    def __init__(
        self,
        vertices: ArrayLike,
        faces: ArrayLike,
        *,
        materials: ArrayLike | None = None,
        material_names: Sequence[str] | None = None,
        solid: bool = False,
        axes: AnyAxes = "y-up",
    ) -> None:
        checks.refuse_path("vertices", vertices, "TriangleMesh.load")
        places = checked_vertices(vertices, axes)
        rows = checked_faces(faces, len(places))
        made_of, names = checked_materials(materials, material_names, len(rows))
        is_solid = checked_solid(solid, places, rows)
        self._adopt(
            MeshStorage(places, rows, materials=made_of, material_names=names, solid=is_solid)
        )

    def _adopt(self, storage: MeshStorage) -> None:
        self._storage, self._queries = storage, Queries(storage)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        axes: AnyAxes = "y-up",
        solid: bool = False,
        materials: ArrayLike | None = None,
        material_names: Sequence[str] | None = None,
    ) -> Self:
        """Return a mesh that `save` wrote, to the last bit, or the triangles of a model.

        Parameters
        ----------
        path : path
            A ``.ground`` file; or a model that trimesh reads: ``.glb``, ``.gltf``, ``.obj``,
            ``.ply``, ``.stl`` or ``.off``. All meshes of a model are taken, each where its scene
            has it, and no textures, colors, lines, points, skins and animations. Units stay as they
            are: glTF has meters, others do not say. `transformed` scales.
        axes : {"y-up", "z-up", "y-up-left"}, default "y-up"
            Those of a model, as for `TriangleMesh`: glTF has +Y up, and many ``.stl`` and ``.ply``
            files +Z.
        solid : bool, default False
            Whether a model is solid, as for `TriangleMesh`; a saved mesh is if it was.
        materials, material_names
            Those of a model, as for `TriangleMesh`; a saved mesh has its own.

        Returns
        -------
        TriangleMesh

        Raises
        ------
        FileNotFoundError, ValueError
            If there is none, if it is damaged or holds something else, a model without triangles
            for example, and for more than 2 GiB unpacked, before that is read; the message names
            the file.
        ImportError
            For a model, if trimesh is missing.
        """
        if is_model(path):
            options: dict[str, Any] = {"materials": materials, "material_names": material_names}
            return cls._of_model(path, axes, solid=solid, **options)
        for rule, given, is_given in (
            ("axes are those of models", axes, axes != "y-up"),
            ("solid is for models", solid, solid),
            ("materials are for models", materials, materials is not None),
            ("material_names are for models", material_names, material_names is not None),
        ):
            if is_given:
                told = f"{rule}, and must be left out for a saved mesh"
                raise ValueError(f"{file_name(path)}: {told}, got {checks.shorten(given)}")
        (part,), _ = load_parts(path, KIND)
        with damaged_otherwise(path):
            storage = loaded_mesh(part)._storage  # noqa: SLF001 of its own kind
        mesh = cls.__new__(cls)
        mesh._adopt(storage)  # noqa: SLF001
        return mesh

    @classmethod
    def _of_model(cls, path: str | os.PathLike[str], axes: AnyAxes, **options: Any) -> Self:
        frame_of(axes)
        vertices, faces = model_triangles(path)
        try:
            return cls(vertices, faces, axes=axes, **options)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{file_name(path)}: {error}") from error

    # Constructors

    @classmethod
    def box(
        cls,
        extents: Any,
        *,
        position: Any = None,
        transform: Any = None,
        materials: ArrayLike | None = None,
        material_names: Sequence[str] | None = None,
        solid: bool = True,
    ) -> Self:
        """Return a box around the origin: 12 faces, 8 vertices, closed, fronts outside.

        Parameters
        ----------
        extents : three numbers
            The whole edge lengths along x, y and z in meters, each > 0.
        position : three numbers, optional
            Where its origin goes, in meters.
        transform : glm.mat4 or array_like, shape (4, 4), optional
            Where to put it instead, as for `transformed`.
        materials, material_names
            As for `TriangleMesh`: one material for all faces, or one for each.
        solid : bool, default True
            False makes a skin, such as a room to walk in; see `TriangleMesh`.

        Returns
        -------
        TriangleMesh

        Raises
        ------
        TypeError, ValueError
            For other extents, and as for `transformed`.

        Examples
        --------
        >>> crate = TriangleMesh.box((2, 1, 2), position=(10, 0.5, 10))
        >>> crate, crate.height_at(10, 10)
        (<TriangleMesh: 12 faces, 8 vertices, solid>, 1.0)
        >>> plank = TriangleMesh.box((4, 0.1, 1), materials="wood", material_names=["wood"])
        >>> from terrain_physics import Ray
        >>> plank.raycast(Ray((0.5, 9, 0.2), (0, -1, 0))).material_name
        'wood'
        """
        return cls._placed(
            solids.box(extents), position, transform, materials, material_names, solid=solid
        )

    @classmethod
    def cylinder(
        cls,
        radius: float,
        height: float,
        *,
        sections: int = 32,
        position: Any = None,
        transform: Any = None,
        materials: ArrayLike | None = None,
        material_names: Sequence[str] | None = None,
        solid: bool = True,
    ) -> Self:
        """Return a cylinder around +Y, its middle the origin: closed, fronts outside.

        Its corners are on the circle, the first at +x, so its flat sides are within. The axis is
        +Y here, not +Z as in trimesh.

        Parameters
        ----------
        radius, height : float
            In meters, > 0.
        sections : int, default 32
            How many sides it has, 3 to 100,000.
        position : three numbers, optional
            Where its origin goes, in meters.
        transform : glm.mat4 or array_like, shape (4, 4), optional
            Where to put it instead, as for `transformed`.
        materials, material_names
            As for `TriangleMesh`: one material for all faces, or one for each.
        solid : bool, default True
            False makes a skin, such as a room to walk in; see `TriangleMesh`.

        Returns
        -------
        TriangleMesh

        Raises
        ------
        TypeError, ValueError
            For other sizes and sections, and as for `transformed`.

        Examples
        --------
        >>> pillar = TriangleMesh.cylinder(0.5, 3, sections=12)
        >>> pillar, pillar.height_at(0.5, 0)
        (<TriangleMesh: 44 faces, 24 vertices, solid>, 1.5)
        """
        return cls._placed(
            solids.cylinder(radius, height, sections),
            position,
            transform,
            materials,
            material_names,
            solid=solid,
        )

    @classmethod
    def sphere(
        cls,
        radius: float,
        *,
        subdivisions: int = 3,
        position: Any = None,
        transform: Any = None,
        materials: ArrayLike | None = None,
        material_names: Sequence[str] | None = None,
        solid: bool = True,
    ) -> Self:
        """Return a sphere around the origin: closed, fronts outside.

        It is an icosahedron, each face of which is divided in four again and again: triangles of
        nearly one size. All vertices are on the sphere, so its flat faces are within. From one
        division on, six of the vertices are on the axes.

        Parameters
        ----------
        radius : float
            In meters, > 0.
        subdivisions : int, default 3
            How many times faces are divided, 0 to 8: there are ``20 * 4**subdivisions`` faces.
        position : three numbers, optional
            Where its origin goes, in meters.
        transform : glm.mat4 or array_like, shape (4, 4), optional
            Where to put it instead, as for `transformed`.
        materials, material_names
            As for `TriangleMesh`: one material for all faces, or one for each.
        solid : bool, default True
            False makes a skin, such as a room to walk in; see `TriangleMesh`.

        Returns
        -------
        TriangleMesh

        Raises
        ------
        TypeError, ValueError
            For other sizes and subdivisions, and as for `transformed`.

        Examples
        --------
        >>> boulder = TriangleMesh.sphere(2, position=(10, 1, 10))
        >>> boulder, boulder.height_at(10, 10)
        (<TriangleMesh: 1280 faces, 642 vertices, solid>, 3.0)
        """
        ball = solids.sphere(radius, subdivisions)
        return cls._placed(ball, position, transform, materials, material_names, solid=solid)

    @classmethod
    def stairs(
        cls,
        width: float,
        rise: float,
        tread: float,
        steps: int,
        *,
        position: Any = None,
        transform: Any = None,
        materials: ArrayLike | None = None,
        material_names: Sequence[str] | None = None,
        solid: bool = True,
    ) -> Self:
        """Return a flight of stairs up along +x: closed, fronts outside.

        The first riser stands on the line x = y = 0, and step k (from 0) has its tread at the
        height ``(k + 1) * rise``, from ``k * tread`` to ``(k + 1) * tread`` along x. All is solid
        down to y = 0. The back is an upright wall at ``steps * tread``, as high as the last step.

        Parameters
        ----------
        width : float
            Along z, half of it on either side of z = 0; in meters, > 0.
        rise : float
            The height of each step in meters, > 0.
        tread : float
            The length of each step along x in meters, > 0.
        steps : int
            How many, 1 to 100,000.
        position : three numbers, optional
            Where its origin goes, in meters.
        transform : glm.mat4 or array_like, shape (4, 4), optional
            Where to put it instead, as for `transformed`.
        materials, material_names
            As for `TriangleMesh`: one material for all faces, or one for each.
        solid : bool, default True
            False makes a skin, such as a room to walk in; see `TriangleMesh`.

        Returns
        -------
        TriangleMesh

        Raises
        ------
        TypeError, ValueError
            For other sizes and steps, and as for `transformed`.

        Examples
        --------
        >>> flight = TriangleMesh.stairs(width=2, rise=0.25, tread=0.5, steps=4)
        >>> flight.bounds
        AABB(lower64=(0.0, 0.0, -1.0), upper64=(2.0, 1.0, 1.0))
        >>> flight.height_at(0.25, 0.5), flight.height_at(1.75, 0.5)
        (0.25, 1.0)
        """
        return cls._placed(
            solids.stairs(width, rise, tread, steps),
            position,
            transform,
            materials,
            material_names,
            solid=solid,
        )

    @classmethod
    def ramp(
        cls,
        width: float,
        height: float,
        length: float,
        *,
        position: Any = None,
        transform: Any = None,
        materials: ArrayLike | None = None,
        material_names: Sequence[str] | None = None,
        solid: bool = True,
    ) -> Self:
        """Return a wedge that rises along +x: 8 faces, 6 vertices, closed, fronts outside.

        It starts on the line x = y = 0 and is solid down to y = 0. The back is an upright wall at
        ``x = length``.

        Parameters
        ----------
        width : float
            Along z, half of it on either side of z = 0; in meters, > 0.
        height : float
            At the back, in meters, > 0.
        length : float
            Along x on the floor, in meters, > 0.
        position : three numbers, optional
            Where its origin goes, in meters.
        transform : glm.mat4 or array_like, shape (4, 4), optional
            Where to put it instead, as for `transformed`.
        materials, material_names
            As for `TriangleMesh`: one material for all faces, or one for each.
        solid : bool, default True
            False makes a skin, such as a room to walk in; see `TriangleMesh`.

        Returns
        -------
        TriangleMesh

        Raises
        ------
        TypeError, ValueError
            For other sizes, and as for `transformed`.

        Examples
        --------
        >>> TriangleMesh.ramp(width=2, height=1, length=4).height_at(3, 0)
        0.75
        """
        return cls._placed(
            solids.ramp(width, height, length),
            position,
            transform,
            materials,
            material_names,
            solid=solid,
        )

    @classmethod
    def from_trimesh(
        cls,
        mesh: Any,
        *,
        axes: AnyAxes = "y-up",
        materials: ArrayLike | None = None,
        material_names: Sequence[str] | None = None,
        solid: bool = False,
    ) -> Self:
        """Return a mesh of another library's, such as trimesh.

        Units stay as they are.

        Parameters
        ----------
        mesh : trimesh.Trimesh, or any object with ``vertices`` and ``faces``
            Both as for `TriangleMesh`; copied.
        axes : {"y-up", "z-up", "y-up-left"}, default "y-up"
            Those of ``vertices``, as for `TriangleMesh`: "z-up" for a model with +Z up.
        materials, material_names
            As for `TriangleMesh`: one material for all faces, or one for each.
        solid : bool, default False
            Whether the mesh is solid, and no skin; see `TriangleMesh`.

        Returns
        -------
        TriangleMesh

        Raises
        ------
        TypeError
            If it has no such attributes, as a trimesh.Scene: give ``scene.to_mesh()`` instead.
        TypeError, ValueError
            As for `TriangleMesh`.

        Examples
        --------
        >>> from types import SimpleNamespace
        >>> loaded = SimpleNamespace(vertices=[(0, 0, 2), (4, 0, 2), (0, 4, 2)], faces=[(0, 1, 2)])
        >>> TriangleMesh.from_trimesh(loaded, axes="z-up").height_at(1, -1)
        2.0
        """
        vertices, faces = vertices_and_faces(mesh)
        return cls(
            vertices,
            faces,
            axes=axes,
            materials=materials,
            material_names=material_names,
            solid=solid,
        )

    def to_mesh(
        self, *, flat: bool = False, relative_to: Any = (0, 0, 0), axes: AnyAxes = "y-up"
    ) -> MeshArrays:
        """Return the faces as arrays that renderers take, as `HeightMap.to_mesh` does.

        Parameters
        ----------
        flat : bool, default False
            Whether each face has three vertices of its own, with its normal: for boxes, stairs and
            other things with sharp edges. If not, faces share the vertices that they share here,
            and light goes smoothly over their edges.
        relative_to : three numbers, default (0, 0, 0)
            In meters, in the mesh's axes; subtracted in float64.
        axes : {"y-up", "z-up", "y-up-left"}, default "y-up"
            Those of the arrays: "z-up" for Panda3D, "y-up-left" for ursina. Triangles are
            counter-clockwise in all of them; some engines want them clockwise.

        Returns
        -------
        MeshArrays

        Raises
        ------
        TypeError, ValueError
            For other axes, and for ``relative_to`` that is not three numbers.

        Examples
        --------
        >>> crate = TriangleMesh.box((2, 2, 2))
        >>> len(crate.to_mesh().vertices), len(crate.to_mesh(flat=True).vertices)
        (8, 36)
        >>> crate.to_mesh(axes="z-up", flat=True).normals.tolist()[0] in crate.normals.tolist()
        True
        """
        origin = checks.vector("relative_to", relative_to)
        arrays = self._storage.arrays
        places, faces = arrays.vertices, arrays.faces.astype(np.int64)
        if flat:
            places, faces = places[faces.ravel()], np.arange(faces.size).reshape(-1, 3)
        return mesh_arrays_of(places, faces, origin, axes)

    def to_trimesh(self) -> Any:
        """Return the mesh as a trimesh.Trimesh, with the same vertices and faces.

        trimesh writes glTF, OBJ, PLY, STL and more: ``level.to_trimesh().export("level.glb")``.

        Returns
        -------
        trimesh.Trimesh

        Raises
        ------
        ImportError
            If trimesh is missing.
        """
        arrays = self._storage.arrays
        return made_trimesh(arrays.vertices.copy(), arrays.faces.astype(np.int64))

    @classmethod
    def merged(cls, meshes: Iterable["TriangleMesh"]) -> Self:
        """Return one mesh of several.

        Faces and vertices are those of the first mesh, then those of the second, and so on: face i
        of a mesh has the id i plus the number of faces before it. Nothing is cut where they cross.
        Equal names of materials become one. It is solid if all of them are; those that are inside
        out are turned then, by swapping the last two corners of each face.

        Parameters
        ----------
        meshes : sequence of TriangleMesh
            At least one. All have `material_names`, or none of them.

        Returns
        -------
        TriangleMesh

        Raises
        ------
        TypeError, ValueError
            For anything else; the message names the first.

        Examples
        --------
        >>> flight = TriangleMesh.stairs(width=2, rise=0.25, tread=0.5, steps=8)
        >>> landing = TriangleMesh.box((3, 2, 2), position=(5.5, 1, 0))
        >>> level = TriangleMesh.merged([flight, landing])
        >>> level.height_at(3.75, 0), level.height_at(5, 0)
        (2.0, 2.0)
        """
        try:
            given = list(meshes)
        except TypeError:
            raise TypeError(
                f"meshes must be a sequence of TriangleMesh, got {checks.shorten(meshes)}"
            ) from None
        if not given:
            raise ValueError("meshes must hold at least one TriangleMesh, got none")
        for index, mesh in enumerate(given):
            checks.instance(f"meshes[{index}]", mesh, TriangleMesh)
        names = [mesh.material_names for mesh in given]
        if None in names and any(names):
            raise ValueError(
                "meshes must all have material_names, or none of them, got none of "
                f"meshes[{names.index(None)}]"
            )
        solid = all(mesh.solid for mesh in given)
        materials = [(mesh._storage.materials, len(mesh)) for mesh in given]  # noqa: SLF001 its own
        return cls(
            *joined([(mesh.vertices, mesh._faces_to_join(solid=solid)) for mesh in given]),  # noqa: SLF001
            materials=joined_materials(materials, names),
            material_names=joined_names(names),
            solid=solid,
        )

    def _faces_to_join(self, *, solid: bool) -> NDArray[np.int32]:
        return self._storage.outward_faces if solid else self.faces

    @classmethod
    def _placed(
        cls, shape: Solid, position: Any, transform: Any, materials: Any, names: Any, *, solid: bool
    ) -> Self:
        places = placed(shape, position, transform)
        return cls(*places, materials=materials, material_names=names, solid=solid)

    def transformed(self, matrix: Any) -> Self:
        """Return a new mesh, moved, turned, stretched or sheared.

        Faces keep their ids, materials and fronts: a matrix that mirrors swaps the last two corners
        of each face, so that what was outside stays outside. A solid mesh stays
        solid. `refit` moves the mesh itself.

        Parameters
        ----------
        matrix : glm.mat4, glm.dmat4 or array_like, shape (4, 4)
            Arrays have the translation in their last column. glm.mat4 is float32.

        Returns
        -------
        TriangleMesh

        Raises
        ------
        TypeError
            If it is no 4 x 4 matrix of numbers.
        ValueError
            For another shape, if it is not finite, not affine (the last row is 0 0 0 1) or
            flattens, and for vertices that it moves to 1e38 m or farther.

        Examples
        --------
        >>> import numpy as np
        >>> from pyglm import glm
        >>> ramp = TriangleMesh.ramp(width=2, height=1, length=4)
        >>> ramp.transformed(glm.translate(glm.vec3(10, 0, 0))).height_at(12, 0)
        0.5
        >>> ramp.transformed(np.diag([-1, 1, 1, 1])).height_at(-2, 0)  # it rises along -x
        0.5
        """
        return type(self)(
            *moved("matrix", matrix, self.vertices, self.faces),
            materials=self._storage.materials,
            material_names=self.material_names,
            solid=self.solid,
        )

    # Properties

    @property
    def vertices(self) -> NDArray[np.float64]:
        """The vertices (v, 3) in meters; read-only."""
        return self._storage.arrays.vertices

    @property
    def faces(self) -> NDArray[np.int32]:
        """The rows of ``vertices`` of each face (n, 3); read-only."""
        return self._storage.arrays.faces

    @property
    def materials(self) -> NDArray[np.uint8]:
        """The materials of the faces (n,); read-only."""
        made_of = self._storage.materials
        return np.broadcast_to(np.uint8(0), len(self)) if made_of is None else made_of

    @property
    def material_names(self) -> tuple[str, ...] | None:
        """The names of materials 0, 1, ..., if they have any."""
        return self._storage.material_names

    @property
    def solid(self) -> bool:
        """Whether the mesh is solid, and no skin."""
        return self._storage.solid

    @property
    def normals(self) -> NDArray[np.float64]:
        """The unit normals (n, 3) of the faces' fronts, +Y without area; read-only."""
        return self._storage.normals

    @property
    def bounds(self) -> AABB:
        """The smallest box around all faces."""
        corners = self._storage.arrays.corners.reshape(-1, 3)
        return AABB(corners.min(axis=0), corners.max(axis=0))

    @property
    def bounding_sphere(self) -> Sphere:
        """The smallest sphere around all faces."""
        return self._storage.bounding_sphere

    @property
    def neighbors(self) -> Neighbors:
        """The faces across edges and the vertices around vertices; read-only, found on first use.

        The arrays ``welded``, ``across``, ``ring_offsets`` and ``ring``; vertices at one position
        count as one.
        """
        return self._storage.neighbors

    def __len__(self) -> int:
        return len(self.faces)

    def __repr__(self) -> str:
        kind = ", solid" if self.solid else ""
        faces, vertices = checks.counted(len(self), "face"), len(self.vertices)
        return f"<TriangleMesh: {faces}, {vertices} vertices{kind}>"

    def refit(self, vertices: ArrayLike, *, axes: AnyAxes = "y-up") -> None:
        """Move the vertices; faces stay. Not while another thread queries the mesh.

        Answers equal those of a new mesh. After a large change of shape a new mesh is faster to
        query.

        Parameters
        ----------
        vertices : array_like, shape (v, 3)
            All of them, in meters; copied.
        axes : {"y-up", "z-up", "y-up-left"}, default "y-up"
            Those of ``vertices``, as for `TriangleMesh`.

        Raises
        ------
        TypeError, ValueError
            As for `TriangleMesh`, for another number of vertices, and for a solid mesh that they
            would open: vertices at one position have to stay at one.
        """
        places = checked_vertices(vertices, axes)
        if len(places) != len(self.vertices):
            raise ValueError(
                f"vertices must have {len(self.vertices)} rows as before, got {len(places)}"
            )
        if self.solid:
            refuse_open("vertices must keep a solid mesh closed", places, self.faces)
        self._storage.refit(places)

    # Meshes that cross

    def intersecting_pairs(
        self,
        other: "TriangleMesh",
        *,
        threads: int | None = None,
        max_results: int = MOST_RESULTS,
    ) -> NDArray[np.int64]:
        """Return the pairs of triangles of this mesh and another that touch or cross.

        Parameters
        ----------
        other : TriangleMesh
            Its vertices are in the same coordinates.
        threads : int, optional
            How many threads; None: one for each processor. The results are the same.
        max_results : int, default 20 million
            More pairs than this are refused before memory is gone.

        Returns
        -------
        ndarray of int64, shape (m, 2)
            Faces of this mesh and of the other, sorted. Exact: every touching pair is listed, and
            no other.

        Raises
        ------
        TypeError
            If ``other`` is not a `TriangleMesh`.
        ValueError
            If ``threads`` is not at least 1, and for more pairs than ``max_results``.
        """
        checks.instance("other", other, TriangleMesh)
        most = checks.most_results(max_results)
        ours, theirs = self._storage.arrays, other._storage.arrays  # noqa: SLF001 of its own kind
        return _few(intersections.touching_pairs(Workers(threads).run, ours, theirs, most), most)

    def self_intersections(
        self, *, threads: int | None = None, max_results: int = MOST_RESULTS
    ) -> NDArray[np.int64]:
        """Return the pairs of triangles of the mesh that meet where they should not.

        Vertices at one position count as one, so that seams are no intersections. Faces i and j

        - without a common vertex meet if they touch;
        - with one common vertex, if the side of one face opposite to it touches the other face;
        - with two, if they lie in one plane and overlap: folded back onto each other;
        - with three, always: they are the same triangle.

        Parameters
        ----------
        threads : int, optional
            How many threads; None: one for each processor. The results are the same.
        max_results : int, default 20 million
            More pairs than this are refused before memory is gone.

        Returns
        -------
        ndarray of int64, shape (m, 2)
            Faces i < j, sorted. Exact: every such pair is listed, and no other.

        Raises
        ------
        ValueError
            If ``threads`` is not at least 1, and for more pairs than ``max_results``.
        """
        most = checks.most_results(max_results)
        arrays, welded = self._storage.arrays, self.neighbors.welded
        return _few(intersections.self_pairs(Workers(threads).run, arrays, welded, most), most)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to a file for `load`: vertices, faces, materials, names, version, solid.

        It is a zip archive of arrays and JSON, described in ``surface/ground_files.py``.

        Parameters
        ----------
        path : path
            An existing file is replaced only when the new one is complete.

        Raises
        ------
        TypeError, ValueError
            If ``path`` is not a path that the system takes, and for more than 2 GiB.
        OSError
            If the file cannot be written.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> mesh = TriangleMesh([(0, 0, 0), (0, 0, 4), (4, 0, 0)], [(0, 1, 2)], materials=7)
        >>> with tempfile.TemporaryDirectory() as name:
        ...     mesh.save(Path(name) / "plank.ground")
        ...     print(TriangleMesh.load(Path(name) / "plank.ground").materials)
        [7]
        """
        save_parts(path, KIND, [saved_mesh(self._storage)], {})

    def _new_keeper(self) -> Keeper:
        return StorageKeeper(self._storage, MeshEdit)

    def __getstate__(self) -> tuple[Any, ...]:
        storage, arrays = self._storage, self._storage.arrays
        tree = arrays.vertices, arrays.faces, self.version, arrays.order
        return *tree, storage.materials, storage.material_names, storage.solid

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        for values in state:
            if isinstance(values, np.ndarray):
                values.setflags(write=False)  # kernels know one type only
        *kept, solid = state
        self._adopt(MeshStorage(*kept, solid=solid))


def loaded_mesh(saved: SavedPart) -> TriangleMesh:
    """Return a mesh that was saved."""
    mesh = TriangleMesh.__new__(TriangleMesh)
    mesh.__setstate__(mesh_state(saved))
    return mesh


def _few(pairs: Int64s | None, most: int) -> Int64s:
    """Return pairs; refuse them if there are too many."""
    if pairs is None:
        raise checks.too_many("pairs", most)
    return pairs
