"""Draw the pictures of the site's concepts: ``python -m demo.making.concept_pictures [NAME ...]``.

What they show is computed by the library: states, paths and ids are its own.
"""

import argparse
import math
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from pyglm import glm

from terrain_physics import (
    AABB,
    CapsuleCollider,
    CharacterGroup,
    CharacterMovement,
    Ground,
    HeightMap,
    SphereCollider,
    TriangleMesh,
    Walkability,
)

from ..picture import colors
from ..picture.camera import looking_at
from ..picture.colors import Color
from ..picture.frame import Balls, Camera, Frame, Label, Lines, Mesh, Pills, Tint
from ..renderers import open_renderer
from ..scenery.map_view import KINDS
from . import ASSETS

OUT = ASSETS / "concepts"
SIZE = (800, 450)
BODY = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0))

Place = tuple[float, float, float]
Floats = NDArray[np.float64]


def seen_from(eye: Place, target: Place) -> Camera:
    """Return a camera at a place that looks at another one, without much perspective."""
    return looking_at(eye, target, field_of_view=0.8)


def shifted(places: Iterable[Place] | Floats, up: float, ahead: float = 0.0) -> Floats:
    """Return places moved up, and along +Z."""
    return np.array(list(places), dtype=np.float64) + np.array((0.0, up, ahead))


def balls(centers: Iterable[Place] | Floats, radius: float, color: Color) -> Balls:
    """Return balls of one size and color."""
    rows = np.array(list(centers), dtype=np.float64)
    turns = np.tile(np.eye(3), (len(rows), 1, 1))
    return Balls(rows, np.full(len(rows), radius), turns, colors.rows(color, len(rows)))


def people(feet: Iterable[Place] | Floats, color: Color) -> Pills:
    """Return upright capsules with their feet at places."""
    rows = np.array(list(feet), dtype=np.float64)
    radii = np.full(len(rows), BODY.radius)
    return Pills(shifted(rows, 0.4), shifted(rows, 1.4), radii, colors.rows(color, len(rows)))


def lines(ends: Iterable[tuple[Place, Place]] | Floats, color: Color) -> Lines:
    """Return lines of one color."""
    rows = np.array(list(ends), dtype=np.float64)
    return Lines(rows, colors.rows(color, len(rows)))


def path(places: Floats, color: Color) -> Lines:
    """Return the line through places."""
    return lines(np.stack([places[:-1], places[1:]], axis=1), color)


def solid(mesh: TriangleMesh, color: Color) -> Mesh:
    """Return a mesh to be drawn."""
    return Mesh(mesh.vertices, mesh.faces.astype(np.int64), color)


def at(x: float, y: float, z: float) -> glm.mat4:
    return glm.translate(glm.vec3(x, y, z))


def axes_and_ids() -> Frame:
    """Samples, cells, triangles and their ids."""
    rows, columns = np.mgrid[:4, :5]
    land = HeightMap(
        0.35 * np.sin(1.3 * columns) * np.cos(0.9 * rows), border="open", thickness=0.3
    )
    frame = Frame(seen_from((2.1, 4.2, 4.6), (2.1, 0.0, 1.55)), land)
    found = land.triangles_in(AABB((0, -5, 0), (4, 5, 3)))
    for number, corners in zip(found.ids.tolist(), found.vertices, strict=True):
        x, y, z = corners.mean(axis=0).tolist()
        frame.labels.append(Label(str(number), (x, y + 0.06, z)))
        frame.lines.append(path(shifted(corners[[0, 1, 2, 0]], 0.02), colors.DARK))
    corner = land.height_at(0, 0) + 0.03
    for name, end, color in (
        ("+X, columns", (4.5, corner, 0.0), colors.RED),
        ("+Y, up", (0.0, corner + 0.8, 0.0), colors.GREEN),
        ("+Z, rows", (0.0, corner, 3.4), colors.BLUE),
    ):
        frame.lines.append(lines([((0.0, corner, 0.0), end)], color))
        frame.labels.append(Label(name, end))
    frame.balls.append(balls([(0.0, corner, 0.0)], 0.08, colors.GOLD))
    place = (3.0, land.height_at(3, 2), 2.0)
    frame.balls.append(balls([place], 0.08, colors.GOLD))
    aside = (3.0, place[1] - 0.25, 3.4)
    frame.lines.append(lines([(place, aside)], colors.GOLD))
    frame.labels.append(Label("heights[2, 3]", aside))
    picked = found.vertices[found.ids == 2 * (1 * 4 + 1) + 1]  # row 1, column 1, half 1
    frame.tints.append(Tint(picked, colors.rows(colors.ORANGE, len(picked)), 0.6))
    return frame


def what_is_solid() -> Frame:
    """Whoever is below the ground rises; a hole is open; a mesh is a skin."""
    z, x = np.mgrid[:25, :33]
    land = HeightMap(1.0 + 0.5 * np.sin(x / 4.0) * np.cos(z / 5.0), thickness=1.0)
    land.holes[9:14, 14:19] = True
    crate = TriangleMesh.box((4, 2, 4), transform=at(26, land.height_at(26, 12) + 1, 12))
    ground = Ground([land, crate])
    frame = Frame(seen_from((16.5, 12.0, 31.0), (16.5, 1.6, 12.0)), land)
    frame.meshes.append(solid(crate, colors.WOOD))
    below = CharacterMovement(ground, SphereCollider(0.8), position=(7, 0.4, 12))
    way = [below.position64]
    for _ in range(120):
        below.update(1 / 60)
        way.append(below.position64)
    frame.balls.append(balls([below.position64], 0.8, colors.RED))
    frame.labels.append(Label("began in the ground: rises", (8.0, 3.6, 12.0)))
    faller = CharacterMovement(ground, SphereCollider(0.8), position=(16.5, 6, 11.5))
    fallen = []
    for frame_number in range(75):
        faller.update(1 / 60)
        if frame_number % 12 == 2:
            fallen.append(faller.position64)
    frame.balls.append(balls(fallen, 0.8, colors.YELLOW))
    frame.labels.append(Label("a hole: falls through", (16.5, 7.6, 11.5)))
    on_top = CharacterMovement(ground, SphereCollider(0.8), position=(26, 6, 12))
    for _ in range(90):
        on_top.update(1 / 60)
    frame.balls.append(balls([on_top.position64], 0.8, colors.TEAL))
    frame.labels.append(Label("a mesh: stands on its skin", (25.0, 6.2, 12.0)))
    return frame


def ground_rules() -> Frame:
    """What a ground report says on a plain, on slopes and between them."""
    profile = np.interp(
        np.arange(0, 44.5, 0.5),
        [0, 6, 14, 18, 22, 24, 26, 32, 34, 44],
        [0, 0, 4, 4, 0, 0, 0, 0, 0, 0],
    )
    profile += np.interp(np.arange(0, 44.5, 0.5), [0, 29, 31, 33, 44], [0, 0, -3.4, 0, 0])
    land = HeightMap(np.tile(profile, (25, 1)), cell_size=0.5)
    frame = Frame(seen_from((20.0, 9.5, 30.0), (20.0, 0.5, 6.0)), land)
    for x in (3.0, 10.0, 20.0, 31.0):
        mover = CharacterMovement(
            land,
            SphereCollider(0.8),
            position=(x, land.height_at(x, 6) + 1.2, 6),
            slope_limit=math.radians(40),
        )
        for _ in range(14 if x == 20.0 else 90):
            mover.update(1 / 60)
        report = mover.ground_report()
        steep = report.state == "steep"
        frame.balls.append(balls([mover.position64], 0.8, colors.RED if steep else colors.TEAL))
        px, py, pz = mover.position64
        text = (
            f"{report.state}, {math.degrees(report.slope):.0f} degrees"
            if report.slope
            else report.state
        )
        frame.labels.append(Label(text, (px, py + 1.5, pz)))
    return frame


def steps_and_snap() -> Frame:
    """A walk over stairs, up by ``step_offset`` and down by ``snap_distance``."""
    up = TriangleMesh.stairs(width=3, rise=0.25, tread=0.6, steps=6, transform=at(4, 0, 4))
    top = TriangleMesh.box((3, 1.5, 3), transform=at(9.1, 0.75, 4))
    turned = glm.rotate(math.pi, glm.vec3(0, 1, 0))
    down = TriangleMesh.stairs(
        width=3, rise=0.25, tread=0.6, steps=6, transform=at(14.2, 0, 4) * turned
    )
    kerb = TriangleMesh.box((1, 0.6, 3), transform=at(18.5, 0.3, 4))
    land = HeightMap(np.zeros((10, 24)))
    parts = [up, top, down, kerb]
    hero = CharacterMovement(Ground([land, *parts]), BODY, position=(2, 0, 4))
    way = []
    for _ in range(240):
        hero.walk(4, 0)
        hero.update(1 / 60)
        way.append(hero.position64)
    frame = Frame(seen_from((10.5, 5.5, 16.5), (10.5, 0.9, 4.0)), land)
    frame.meshes += [solid(part, colors.STONE) for part in parts]
    frame.capsules.append(people(way[::24], colors.ORANGE))
    frame.lines.append(path(shifted(way, 0.02, 0.42), colors.RED))
    frame.labels += [
        Label("up: step_offset", (5.0, 3.4, 4.0)),
        Label("down: snap_distance", (13.0, 3.4, 4.0)),
        Label("0.6 m: a wall", (18.5, 2.4, 4.0)),
    ]
    return frame


def layers() -> Frame:
    """Three who meet other parts of a ground."""
    land = HeightMap(np.zeros((13, 25)))
    wall = TriangleMesh.box((0.3, 2.6, 9))
    parts = [wall.transformed(at(9, 1.3, 6)), wall.transformed(at(16, 1.3, 6))]
    ground = Ground([land, *parts], layers=[1, 4, 2])
    frame = Frame(seen_from((12.0, 10.0, 19.5), (12.0, 0.3, 6.0)), land)
    frame.meshes += [solid(parts[0], colors.VIOLET), solid(parts[1], colors.TEAL)]
    frame.labels += [Label("layers=4", (9.0, 3.3, 2.0)), Label("layers=2", (16.0, 3.3, 2.0))]
    for z, mask, color in ((3.5, 7, colors.RED), (6.0, 3, colors.YELLOW), (8.5, 1, colors.WHITE)):
        walker = CharacterMovement(ground, BODY, position=(3, 0, z), mask=mask)
        way = [walker.position64]
        for _ in range(270):
            walker.walk(4, 0)
            walker.update(1 / 60)
            way.append(walker.position64)
        frame.capsules.append(people([way[-1]], color))
        frame.lines.append(path(shifted(way, 0.05, 0), color))
        x, y, _ = way[-1]
        frame.labels.append(Label(f"mask={mask}", (x, y + 2.2, z)))
    return frame


def moving_parts() -> Frame:
    """A rider on a lift that turns as it rises, and the way of the rider."""
    land = HeightMap(np.zeros((15, 25)))
    deck = TriangleMesh.box((6, 0.4, 6))
    ground = Ground([land])
    key = ground.add(deck)
    ground.move(key, (glm.vec3(12, 0.2, 7), glm.quat()))
    rider = CharacterMovement(ground, BODY, position=(14.4, 0.4, 9.4))
    frame = Frame(seen_from((12.0, 7.5, 23.0), (12.0, 2.6, 7.0)), land)
    way = []
    for number in range(1, 301):
        share = number / 300
        turn = glm.angleAxis(2 * math.pi * share, glm.vec3(0, 1, 0))
        ground.move(key, (glm.vec3(12, 0.2 + 4.5 * share, 7), turn), 1 / 60)
        rider.update(1 / 60)
        way.append(rider.position64)
        if number % 75 == 0:
            pose = ground.transform(key)
            corners = deck.vertices @ pose[:3, :3].T + pose[:3, 3]
            if number == 300:
                frame.meshes.append(Mesh(corners, deck.faces.astype(np.int64), colors.WOOD))
                frame.capsules.append(people([rider.position64], colors.ORANGE))
    frame.lines.append(path(shifted(way, 0.05, 0), colors.RED))
    x, y, z = way[-1]
    frame.labels.append(Label("rides along, turned by 360 degrees", (x - 2, y + 2.4, z)))
    return frame


def determinism() -> Frame:
    """Where the balls of a group went, and the hash of where they ended."""
    land = HeightMap.load(ASSETS / "land.png", height_range=(0, 80))
    rng = np.random.default_rng(5)
    starts = np.column_stack([rng.uniform(30, 62, 24), np.full(24, 15.0), rng.uniform(30, 58, 24)])
    group = CharacterGroup(land, SphereCollider(0.6), threads=4, ground_friction=2.0)
    group.add_many(range(24), starts, velocities=rng.uniform((-7, 0, -7), (7, 3, 7), (24, 3)))
    ways = [group.positions]
    for _ in range(240):
        group.update(1 / 60)
        ways.append(group.positions)
    frame = Frame(seen_from((46.0, 30.0, 82.0), (46.0, 6.0, 44.0)), land)
    for index, color in zip(range(24), colors.PEOPLE * 4, strict=False):
        frame.lines.append(path(np.array([places[index] for places in ways]), color))
        frame.balls.append(balls([tuple(ways[-1][index].tolist())], 0.6, color))
    frame.labels.append(Label(f"state_hash {group.state_hash()[:8]}", (46.0, 19.0, 44.0)))
    return frame


def threads() -> Frame:
    """A crowd, colored by the ranges that threads take over."""
    land = HeightMap.load(ASSETS / "land.png", height_range=(0, 80))
    x, z = (a.ravel() for a in np.meshgrid(np.arange(30.0, 62.0), np.arange(28.0, 60.0)))
    y = land.height_at(x, z)
    frame = Frame(seen_from((46.0, 30.0, 82.0), (46.0, 6.0, 43.0)), land)
    ranges = np.array_split(np.arange(len(x)), 4)
    for number, (rows, color) in enumerate(
        zip(ranges, (colors.RED, colors.YELLOW, colors.TEAL, colors.BLUE), strict=True)
    ):
        frame.capsules.append(people(np.column_stack([x, y, z])[rows], color))
        middle = rows[len(rows) // 2]
        frame.labels.append(Label(f"range {number + 1}", (29.0, y[middle] + 3, z[middle])))
    return frame


def walkability() -> Frame:
    """Places and edges: each edge is a line half-way to where it leads."""
    z, x = np.mgrid[:25, :43] * 0.5
    table = (x >= 13) & (x <= 18) & (z >= 2) & (z <= 7)
    ramp = (x > 8) & (x < 13) & (z > 2.5) & (z < 6.5)
    heights = np.where(table, 1.5, np.where(ramp, 0.3 * (x - 8), 0.0))
    land = HeightMap(heights, cell_size=0.5)
    wall = TriangleMesh.box((0.3, 1.6, 5), transform=at(5.5, 0.8, 5.5))
    turned = glm.rotate(0.5 * math.pi, glm.vec3(0, 1, 0))
    stairs = TriangleMesh.stairs(
        width=2, rise=0.25, tread=0.5, steps=6, transform=at(16, 0, 10.1) * turned
    )
    kerb = TriangleMesh.box((3, 0.25, 2), transform=at(8.5, 0.12, 9))
    ground = Ground([land, wall, stairs, kerb])
    paths = Walkability(ground, BODY, slope_limit=math.radians(45), area=((2, 1), (20, 12)))
    paths.update()
    frame = Frame(seen_from((11.0, 9.0, 18.8), (11.0, 0.0, 6.6)), land)
    for mesh, color in ((wall, colors.STONE), (stairs, colors.STONE), (kerb, colors.STONE)):
        frame.meshes.append(solid(mesh, color))
    graph = paths.to_graph()
    starts = np.repeat(np.arange(len(graph.points)), np.diff(graph.indptr))
    places = shifted(graph.points, 0.07)
    middles = places[starts] + 0.46 * (places[graph.indices] - places[starts])
    for number, color in enumerate(KINDS.values(), start=1):
        chosen = graph.kinds == number
        halves = np.stack([places[starts], middles], axis=1)[chosen]
        frame.lines += [lines(shifted(halves, up), color) for up in (0.0, 0.015)]
    frame.balls.append(balls(places, 0.09, colors.BLUE))
    frame.labels += [
        Label("stairs: steps", (16.0, 2.4, 9.0)),
        Label("a ledge: drops, one way", (18.6, 2.6, 3.0)),
        Label("a wall: none", (5.5, 2.3, 5.5)),
        Label("a slope within the limit: walks", (10.6, 2.2, 4.0)),
        Label("a kerb: steps", (8.5, 1.0, 9.5)),
    ]
    return frame


PICTURES: dict[str, Callable[[], Frame]] = {
    make.__name__: make
    for make in (
        axes_and_ids, what_is_solid, ground_rules, steps_and_snap, layers, moving_parts,
        determinism, threads, walkability,
    )
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(PICTURES), help="default: all")
    OUT.mkdir(exist_ok=True)
    renderer = open_renderer("software", (2 * SIZE[0], 2 * SIZE[1]), visible=False)
    for name in parser.parse_args().names:
        renderer.draw(PICTURES[name]())
        picture = Image.fromarray(renderer.read()).resize(SIZE, Image.Resampling.LANCZOS)
        picture.save(OUT / f"{name}.webp", quality=80, method=6)
    renderer.close()


if __name__ == "__main__":
    main()
