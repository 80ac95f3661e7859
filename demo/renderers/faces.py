"""Faces: the frame's meshes, and the sides of ground that is cut open."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..picture.frame import Frame, Mesh
from . import look
from .ground import LitGround

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Places = NDArray[np.int64]

CRUST = 2.0
"""How deep the sides of endlessly deep ground are drawn, in meters."""


class Faces(NamedTuple):
    """Vertices (v, 3), corner numbers (m, 3), edges without doubles (e, 2), lit colors (m, 4).

    Colors are 0..255; the fourth column is how much darker a face is in a shadow, 0..255. Edges are
    only those of meshes, and only of frames that show wires.
    """

    vertices: Floats
    faces: Places
    edges: Places
    lit: Singles

    def colors(self, *, wireframe: bool) -> Singles:
        """Return the colors to draw with."""
        if not wireframe:
            return self.lit
        dull = np.empty_like(self.lit)
        share = 0.35 + 0.5 * self.lit[:, :3].mean(axis=1) / 255.0
        dull[:, :3], dull[:, 3] = np.array(look.WIRE_GROUND) * share[:, np.newaxis], 0.0
        return dull


class FrameFaces:
    """The faces of one frame after another; made again only when they change."""

    def __init__(self) -> None:
        self._of: tuple[object, ...] = ()
        self._held: list[Mesh] = []
        self.faces = Faces(
            np.empty((0, 3)),
            np.empty((0, 3), np.int64),
            np.empty((0, 2), np.int64),
            np.empty((0, 4), np.float32),
        )

    def follow(self, frame: Frame, ground: LitGround | None) -> Faces:
        """Return the faces of a frame."""
        land = None if ground is None else (id(ground), ground.version)
        of = (tuple(map(id, frame.meshes)), land, frame.sun, frame.wireframe)
        if of != self._of:
            self._of, self._held = of, list(frame.meshes)
            self.faces = _gathered(frame, ground)
        return self.faces


def _gathered(frame: Frame, ground: LitGround | None) -> Faces:
    vertices, faces, edges, albedo = [np.empty((0, 3))], [], [], []
    count = 0
    for mesh in frame.meshes:
        corners = np.asarray(mesh.faces, dtype=np.int64).reshape(-1, 3)
        vertices.append(np.asarray(mesh.vertices, dtype=np.float64).reshape(-1, 3))
        faces.append(corners + count)
        if frame.wireframe:
            edges.append(_edges(corners) + count)
        albedo.append(np.tile(look.linear(np.array(mesh.color)), (len(corners), 1)))
        count += len(vertices[-1])
    if ground is not None:
        sides = _sides(ground)
        vertices.append(sides.reshape(-1, 3))
        quads = count + 4 * np.arange(len(sides))[:, np.newaxis]
        faces.append(np.concatenate([quads + np.array([0, 1, 2]), quads + np.array([0, 2, 3])]))
        albedo.append(np.tile(look.linear(np.array(look.EARTH)), (2 * len(sides), 1)))
    places = np.concatenate(vertices)
    corners = np.concatenate(faces) if faces else np.empty((0, 3), dtype=np.int64)
    lines = np.concatenate(edges) if edges else np.empty((0, 2), dtype=np.int64)
    colors = np.concatenate(albedo) if albedo else np.empty((0, 3))
    return Faces(places, corners, lines, _lit(places[corners], colors, frame, ground))


def _edges(corners: Places) -> Places:
    pairs = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]])
    return np.unique(np.sort(pairs), axis=0)


def _lit(triangles: Floats, albedo: Floats, frame: Frame, ground: LitGround | None) -> Singles:
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1), 1e-30)[:, np.newaxis]
    lambert = np.maximum(normals @ np.array(look.unit(frame.sun)), 0.0)
    if ground is not None:
        lambert *= ground.hill_light(triangles.mean(axis=1))
    up = (0.5 + 0.5 * normals[:, 1])[:, np.newaxis]
    soft = np.array(look.SKY_LIGHT) * up + np.array(look.BOUNCED_LIGHT) * (1.0 - up)
    hard = np.array(look.SUN_LIGHT) * lambert[:, np.newaxis]
    lit = np.empty((len(triangles), 4), dtype=np.float32)
    lit[:, :3] = np.minimum(255.0 * np.sqrt(albedo * (soft + hard)), 255.0)
    share = soft.sum(axis=1) / np.maximum((soft + hard).sum(axis=1), 1e-30)
    lit[:, 3] = 255.0 * (1.0 - np.sqrt(share))
    return lit


def _sides(ground: LitGround) -> Floats:
    """Return the walls between ground and no ground, (n, 4, 3): two corners above, two below."""
    solid = ground.solid.astype(bool)
    around = np.pad(solid, 1, mode="edge" if ground.extends else "constant")
    deep = min(ground.land.thickness, CRUST)
    quads = []
    # The beginning and end of each side, as seen from the gap: from the left to the right.
    for (dr, dc), start, end in (
        ((-1, 0), (0, 1), (0, 0)),
        ((1, 0), (1, 0), (1, 1)),
        ((0, -1), (0, 0), (1, 0)),
        ((0, 1), (1, 1), (0, 1)),
    ):
        rows, columns = solid.shape
        beside = around[1 + dr : 1 + dr + rows, 1 + dc : 1 + dc + columns]
        row, column = np.nonzero(solid & ~beside)
        tops = []
        for r, c in (start, end):
            y = ground.heights[row + r, column + c].astype(np.float64)
            x = ground.x0 + (column + c) * ground.cell_x
            tops.append(np.stack([x, y, ground.z0 + (row + r) * ground.cell_z], axis=1))
        down = np.array([0.0, deep, 0.0])
        quads.append(np.stack([tops[0], tops[0] - down, tops[1] - down, tops[1]], axis=1))
    return np.concatenate(quads)
