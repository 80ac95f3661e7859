"""Frames for the tests and the benchmark of the renderers: plain data from a seed."""

import numpy as np

from demo.picture import camera as cameras
from demo.picture.frame import Balls, Camera, Crates, Frame, Label, Lines, Mesh, Pills, Tint
from terrain_physics import AABB, HeightMap


def hills(samples: int = 129, *, seed: int = 3, relief: float = 24.0, **options) -> HeightMap:
    """Return rolling ground with cells of 1 m."""
    random = np.random.default_rng(seed)
    along = np.arange(samples)[:, np.newaxis]
    across = np.arange(samples)[np.newaxis, :]
    heights = np.zeros((samples, samples))
    for size in (5.0, 11.0, 23.0, 60.0):
        a, b, c, d = random.uniform(0.0, 2.0 * np.pi, 4)
        heights += size**1.1 * np.sin(along / size + a + np.sin(across / (2.0 * size) + b))
        heights += size**1.1 * np.sin(across / size + c + np.sin(along / (2.0 * size) + d))
    heights -= heights.min()
    return HeightMap(relief * heights / heights.max(), **options)


def turns(count: int, random: np.random.Generator) -> np.ndarray:
    """Return random rotations, (n, 3, 3)."""
    rotations, _ = np.linalg.qr(random.normal(size=(count, 3, 3)))
    signs = np.sign(np.linalg.det(rotations))
    return np.asarray(rotations * signs[:, np.newaxis, np.newaxis])


def color(*bytes_: int) -> np.ndarray:
    """Return a color as a row, (1, 3)."""
    return np.array([bytes_], dtype=np.uint8)


def look_over(land: HeightMap, x: float, z: float, *, away: float = 22.0) -> Camera:
    """Return a camera that looks at a place of the ground from the south, from above it."""
    y = land.height_at(x, z)
    camera = cameras.looking_at((x - 0.4 * away, y + 0.42 * away, z + away), (x, y + 1.0, z))
    return cameras.clear_of(camera, land)


def bodies_on(land: HeightMap, x: float, z: float, *, count: int = 12, seed: int = 0) -> Frame:
    """Return a frame with balls, boxes and capsules lying about a place."""
    random = np.random.default_rng(seed)

    def places(number: int, lift: float) -> np.ndarray:
        spots = random.uniform(-9.0, 9.0, (number, 2)) + np.array([x, z])
        return np.column_stack([
            spots[:, 0], land.height_at(spots[:, 0], spots[:, 1]) + lift, spots[:, 1]
        ])  # fmt: skip

    colors = np.array([[66, 135, 220], [222, 92, 62], [240, 180, 40]], dtype=np.uint8)
    balls = Balls(
        places(count, 0.8), np.full(count, 0.8), turns(count, random), colors[np.arange(count) % 3]
    )
    some = max(count // 3, 1)
    gold = np.tile(color(225, 170, 50), (some, 1))
    boxes = Crates(places(some, 0.9), np.full((some, 3), 0.8), turns(some, random), gold)
    feet = places(some, 0.4)
    red = np.tile(color(210, 70, 90), (some, 1))
    capsules = Pills(feet, feet + np.array([0.0, 1.1, 0.0]), np.full(some, 0.4), red)
    return Frame(look_over(land, x, z), land, [balls], [boxes], [capsules])


def island() -> tuple[HeightMap, Frame]:
    """Return ground with open borders, holes and materials, and stairs and a ball on it."""
    samples = np.arange(33)
    heights = 1.2 * np.sin(samples / 5.0)[:, np.newaxis] * np.cos(samples / 6.0)
    holes = np.zeros((32, 32), dtype=bool)
    holes[13:19, 10:18] = True
    materials = np.zeros((32, 32), dtype=int)
    materials[:, :8], materials[:8], materials[24:, 20:] = 1, 2, 3
    land = HeightMap(
        heights, border="open", holes=holes, materials=materials, diagonal="alternating",
        material_names=["grass", "sand", "rock", "ice"],
    )  # fmt: skip
    ball = Balls(
        np.array([[24.0, 2.4, 20.0]]), np.array([1.0]), np.eye(3)[np.newaxis],
        color(66, 135, 220),
    )  # fmt: skip
    camera = cameras.looking_at((8.0, 17.0, 40.0), (16.0, 0.0, 15.0))
    return land, Frame(camera, land, [ball], meshes=[stairs(21.0, 6.0)])


def stairs(x: float, z: float, *, steps: int = 8) -> Mesh:
    """Return stairs that rise along x, closed all around."""
    vertices: list[tuple[float, ...]] = []
    faces: list[tuple[int, ...]] = []
    quads = ((0, 1, 2, 3), (7, 6, 5, 4), (4, 5, 1, 0), (5, 6, 2, 1), (6, 7, 3, 2), (7, 4, 0, 3))
    for step in range(steps):
        x0, x1, top = x + 0.5 * step, x + 0.5 * steps, 1.0 + 0.3 * (step + 1)
        first = len(vertices)
        for y in (-1.0, top):
            vertices += [(x0, y, z), (x1, y, z), (x1, y, z + 3.0), (x0, y, z + 3.0)]
        for a, b, c, d in quads:
            faces += [(first + a, first + b, first + c), (first + a, first + c, first + d)]
    return Mesh(np.array(vertices), np.array(faces), (168, 160, 150))


def with_overlays(frame: Frame, x: float, z: float) -> Frame:
    """Add tinted triangles, their normals, a path and a label about a place."""
    land = frame.land
    assert land is not None
    y = land.height_at(x, z)
    found = land.triangles_in(AABB((x - 3, y - 50, z - 3), (x + 3, y + 50, z + 3)))
    colors = np.tile(np.array([[255, 170, 40], [255, 90, 60]], np.uint8), (len(found), 1))[
        : len(found)
    ]
    frame.tints = [Tint(found.vertices, colors, 0.6)]
    feet = found.vertices.mean(axis=1)
    cyan, yellow = color(60, 220, 255), color(255, 240, 90)
    turn = np.linspace(0.0, 6.0 * np.pi, 120)
    xs, zs = x + 0.4 * turn * np.cos(turn), z + 0.4 * turn * np.sin(turn)
    path = np.column_stack([xs, land.height_at(xs, zs) + 0.15, zs])
    frame.lines = [
        Lines(np.stack([feet, feet + found.normals], axis=1), np.repeat(cyan, len(feet), axis=0)),
        Lines(np.stack([path[:-1], path[1:]], axis=1), np.repeat(yellow, len(path) - 1, axis=0)),
    ]
    frame.labels = [Label("here", (x, y + 2.0, z))]
    return frame
