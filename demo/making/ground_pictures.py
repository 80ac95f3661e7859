"""Draw what a height map can be: ``python -m demo.making.ground_pictures``.

Holes, materials and an edit, on land of the demo, drawn by the demo's software renderer.
"""

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from terrain_physics import CharacterMovement, HeightMap, SphereCollider

from ..picture.frame import Balls, Camera, Frame, Label
from ..renderers import open_renderer
from . import ASSETS

OUT = ASSETS
SIZE = (640, 400)
RED = (200, 50, 40)


def rolling(**options: object) -> HeightMap:
    """Return 64 x 64 cells of 1 m of gentle land."""
    z, x = np.mgrid[:65, :65]
    heights = 2.0 + 1.4 * np.sin(x / 9.0) * np.cos(z / 11.0) + 0.5 * np.sin(z / 4.0 + x / 7.0)
    return HeightMap(heights, thickness=1.0, **options)  # type: ignore[arg-type]


def balls(centers: NDArray[np.float64], radius: float, color: tuple[int, int, int]) -> Balls:
    """Return balls of one size and color."""
    count = len(centers)
    turns = np.tile(np.eye(3), (count, 1, 1))
    return Balls(
        centers, np.full(count, radius), turns, np.tile(np.array(color, np.uint8), (count, 1))
    )


def dropped(land: HeightMap, places: list[tuple[float, float]], seconds: float) -> Balls:
    """Return balls dropped from a height of 7 m, after some seconds."""
    movers = [CharacterMovement(land, SphereCollider(0.6), position=(x, 7.0, z)) for x, z in places]
    for _ in range(round(60 * seconds)):
        for mover in movers:
            mover.update(1 / 60)
    return balls(np.array([mover.position64 for mover in movers]), 0.6, RED)


def holes() -> Frame:
    """Return land with a round hole and a trench: some of the balls fall through."""
    land = rolling()
    z, x = np.mgrid[:64, :64] + 0.5
    land.holes[np.hypot(x - 26, z - 36) < 5.0] = True
    land.holes[20:46, 40:43] = True
    places = [(26 + 8 * np.cos(a), 36 + 8 * np.sin(a)) for a in np.arange(10) * 0.63]
    fallen = dropped(land, [*places, (24, 35), (28, 38), (41.5, 30), (41.5, 40)], 1.0)
    return Frame(Camera((33, 17, 62), yaw=0.08, pitch=-0.52), land, [fallen])


def materials() -> Frame:
    """Return land painted by height and place, and what contacts say of it."""
    names = ("grass", "rock", "sand", "snow")
    land = rolling(material_names=names)
    z, x = np.mgrid[:64, :64] + 0.5
    level = land.height_at(x, z)
    land.materials[level < 1.4] = names.index("sand")
    land.materials[level > 3.2] = names.index("rock")
    land.materials[level > 3.7] = names.index("snow")
    places = []
    for kind in range(4):  # a ball where there is most of each
        cells = np.argwhere(land.materials[26:52, 8:56] == kind) + np.array((26.5, 8.5))
        row, column = cells[np.argmin(np.linalg.norm(cells - cells.mean(axis=0), axis=1))]
        places.append((float(column), float(row)))
    fallen = dropped(land, places, 2.0)
    found = land.contacts(np.column_stack([fallen.centers, fallen.radii + 0.01]), keep="deepest")
    labels = [
        Label(names[material], (place[0], place[1] + 1.3, place[2]))
        for place, material in zip(fallen.centers[found.query], found.material, strict=True)
    ]
    return Frame(Camera((30, 15, 60), yaw=0.15, pitch=-0.5), land, [fallen], labels=labels)


def edit() -> Frame:
    """Return land with a pit dug, a hill raised and a road leveled."""
    names = ("grass", "earth", "gravel")
    land = rolling(material_names=names)
    z, x = np.mgrid[:64, :64] + 0.5
    land[:, 30:34] = land.heights[:, 32:33]
    land.materials[:, 30:33] = names.index("gravel")
    for center, change in (((20, 38), land.carve), ((44, 40), land.raise_)):
        place = (center[0], land.height_at(*center), center[1])
        change(place, 7.0, 3.0)
        near = np.hypot(x - center[0], z - center[1]) < 7.0
        land.materials[near] = names.index("earth")
    fallen = dropped(land, [(20, 38), (18, 40), (22, 37), (40, 36), (31.5, 44), (48, 43)], 2.0)
    return Frame(Camera((32, 17, 64), yaw=0.0, pitch=-0.5), land, [fallen], grid=True)


def bits() -> Frame:
    """Return gentle land as a file of 16 bits has it, and on the right as one of 8 bits."""
    z, x = np.mgrid[:129, :129]
    gentle = 3.0 + 2.0 * np.sin(x / 16.0) + 2.0 * np.cos(z / 14.0)
    coarse = np.round(gentle / 0.4) * 0.4  # 256 heights over 100 m
    land = HeightMap(np.where(x < 64, gentle, coarse), material_names=("sand",))
    return Frame(Camera((66, 26, 88), pitch=-0.75), land, sun=(0.75, 0.22, -0.35))


def main() -> None:
    renderer = open_renderer("software", (2 * SIZE[0], 2 * SIZE[1]), visible=False)
    for make in (holes, materials, edit, bits):
        renderer.draw(make())
        picture = Image.fromarray(renderer.read()).resize(SIZE, Image.Resampling.LANCZOS)
        picture.save(OUT / f"land_{make.__name__}.webp", quality=84, method=6)
    renderer.close()


if __name__ == "__main__":
    main()
