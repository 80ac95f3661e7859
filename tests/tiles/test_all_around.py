"""Land that a function makes on all sides of tile (0, 0), which has no size of its own."""

import pickle
from typing import Any

import numpy as np
import pytest

from terrain_physics import (
    AABB,
    CapsuleCollider,
    CharacterMovement,
    GeneratedTiles,
    HeightMap,
    Ray,
    Recording,
    Sphere,
    TiledGround,
    Walkability,
    World,
    replay,
)
from tests.helpers.digest import digest

SIDE, FAR = 256, 65_536
BODY = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0))
BY_HAND: dict[str, Any] = {
    "size": (512, 512),
    "first": (-256, -256),
    "origin": (-FAR, 0.0, -FAR),
}
WAYS = [(1, 0), (-1, 0), (0, 1), (0, -1)]


def height(x: Any, z: Any) -> Any:
    """Return the height of a sample: it differs on all sides of 0."""
    return (np.abs((x - 3) % 14 - 7) + np.abs((z + 2) % 10 - 5)) * 0.125 + 0.25 * (x < 0)


def made(row: int, column: int) -> Any:
    z, x = np.mgrid[: SIDE + 1, : SIDE + 1]
    return height(x + column * SIDE, z + row * SIDE)


def tiles(**options: Any) -> GeneratedTiles:
    return GeneratedTiles(made, heights=(0, 2), name="plains", **options)


def flat(**options: Any) -> GeneratedTiles:
    side = options.get("tile", SIDE) + 1
    options = {"heights": (0, 0), "name": "flat"} | options
    return GeneratedTiles(lambda _row, _column: np.zeros((side, side)), **options)


@pytest.fixture(scope="module")
def around() -> Any:
    with TiledGround.open(tiles()) as land:
        yield land


@pytest.fixture(scope="module")
def by_hand() -> Any:
    with TiledGround.open(tiles(**BY_HAND)) as land:
        yield land


def test_land_goes_on_on_all_sides_of_0(around: TiledGround) -> None:
    along = np.array([-FAR, -40_000, -1, 0, 1, 40_000, FAR])
    x, z = np.concatenate([(along, 0 * along), (0 * along, along), (along, -along)], axis=1)
    assert around.height_at(x, z).tolist() == height(x, z).tolist()
    assert around.bounds == AABB((-FAR, 0, -FAR), (FAR, 2, FAR))
    assert np.isnan(around.height_at([FAR + 1, -FAR - 1, 0, 0], [0, 0, FAR + 1, -FAR - 1])).all()


def test_it_is_the_map_of_the_same_samples_around_0(around: TiledGround) -> None:
    z, x = np.mgrid[-SIDE : SIDE + 1, -SIDE : SIDE + 1]
    one = HeightMap(height(x, z), origin=(-SIDE, 0, -SIDE), border="open")
    rng = np.random.default_rng(3)
    x, z = rng.uniform(-4, 4, (2, 300))
    np.testing.assert_allclose(around.height_at(x, z), one.height_at(x, z), atol=1e-9)
    for start, end in rng.uniform((-9, 0, -9), (9, 4, 9), (40, 2, 3)):
        ray, way = Ray(tuple(start), tuple(end - start)), tuple(end - start)
        hit, known = around.raycast(ray, 20.0), one.raycast(ray, 20.0)
        assert (hit is None) == (known is None)
        if hit is not None and known is not None:
            assert hit.distance == pytest.approx(known.distance, abs=1e-9)
        swept, wanted = (own.sweep(Sphere(tuple(start), 0.5), way) for own in (around, one))
        assert (swept is None) == (wanted is None)
        if swept is not None and wanted is not None:
            assert swept.distance == pytest.approx(wanted.distance, abs=1e-9)


def test_it_has_the_bits_of_one_with_all_numbers_given(
    around: TiledGround, by_hand: TiledGround
) -> None:
    assert tiles().digest == tiles(**BY_HAND).digest
    rng = np.random.default_rng(4)
    x, z = rng.uniform(-5, 5, (2, 300))
    starts, ways = rng.uniform((-5, 2, -5), (5, 4, 5), (99, 3)), rng.normal(size=(99, 3))
    answers = [
        digest([
            land.height_at(x, z), land.triangles_in(AABB((-2, 0, -2), (2, 2, 2))),
            land.raycast_many(starts, ways, 50.0), land.contacts(Sphere((0, 1, 0), 2.0)),
        ])
        for land in (around, by_hand)
    ]  # fmt: skip
    assert answers[0] == answers[1]


@pytest.mark.parametrize("way", WAYS)
def test_a_walk_over_0(way: Any, around: TiledGround, by_hand: TiledGround) -> None:
    heroes = [
        CharacterMovement(land, BODY, position=(-way[0], 1.5, -way[1]), seed=1)
        for land in (around, by_hand)
    ]
    for _ in range(40):
        for hero in heroes:
            hero.walk(5 * way[0], 5 * way[1])
            hero.update(1 / 60)
    one, other = heroes
    assert one.state_hash() == other.state_hash()
    x, y, z = one.position64
    assert one.grounded
    assert x * way[0] + z * way[1] > 1.0
    assert y == pytest.approx(around.height_at(x, z), abs=0.3)


def test_where_it_ends_a_body_falls() -> None:
    with TiledGround.open(flat()) as land:
        hero = CharacterMovement(land, BODY, position=(FAR - 0.5, 0.1, FAR - 100))
        for _ in range(60):
            hero.walk(5, 0)
            hero.update(1 / 60)
        assert hero.position64[0] > FAR + 1
        assert hero.position64[1] < -1
        assert not hero.grounded


def test_ids_of_triangles_are_those_of_one_map(around: TiledGround) -> None:
    for x, z in ((-FAR, -FAR), (FAR - 1, -FAR), (0, 0), (-1, -1), (FAR - 1, FAR - 1)):
        hit = around.raycast(Ray((x + 0.75, 9, z + 0.25), (0, -1, 0)))
        assert hit is not None
        assert hit.triangle == 2 * ((z + FAR) * 2 * FAR + x + FAR) + 1
        assert hit.triangle < 1 << 40


def test_edits_in_tiles_below_0(tmp_path: Any) -> None:
    edits = tmp_path / "game.edits"
    with TiledGround.open(tiles(), edits=edits) as land:
        land.carve((0, 0), radius=3, depth=1)
        land.set_heights(FAR - 600, FAR - 700, np.full((5, 5), 1.75))
        near = land.height_at([0, -1, 1], [0, -1, 1]).tolist()
    with TiledGround.open(tiles(**BY_HAND), edits=edits) as land:
        assert land.edited == {(-1, -1), (-1, 0), (0, -1), (0, 0), (-3, -3)}
        assert land.height_at([0, -1, 1], [0, -1, 1]).tolist() == near
        assert near[0] == height(0, 0) - 1
        assert land.height_at(-698, -598) == 1.75
        assert land.height_at(-701, -598) == height(-701, -598)


def test_worlds_on_it_are_saved_and_recorded(tmp_path: Any) -> None:
    with TiledGround.open(tiles()) as land:
        world, hero = World(land), CharacterMovement(land, BODY, position=(2, 2.5, 2))
        world.add("hero", hero)
        recording = Recording(world)
        for frame in range(60):
            hero.walk(-4, -4)
            if frame == 30:
                land.carve((-1, -1), radius=2, depth=0.5)
            recording.update(1 / 60)
        assert max(hero.position64[::2]) < -1
        world.save(tmp_path / "day.world")
        recording.save(tmp_path / "day.rec")
    again: Any = World.load(tmp_path / "day.world", tiles=tiles(**BY_HAND))
    assert again.state_hash() == world.state_hash()
    played = Recording.load(tmp_path / "day.rec", tiles=tiles(**BY_HAND))
    scene: Any = played.make_scene()
    assert replay(played, lambda: scene) is None
    assert scene.state_hash() == world.state_hash()
    for one in (again, scene):
        one.ground.close()


def test_where_one_can_walk_on_both_sides_of_0(around: TiledGround) -> None:
    z, x = np.mgrid[-SIDE : SIDE + 1, -SIDE : SIDE + 1]
    one = HeightMap(height(x, z), origin=(-SIDE, 0, -SIDE), border="open")
    area = (-6, -6), (6, 6)
    paths, known = (Walkability(own, BODY, spacing=1.0, area=area) for own in (around, one))
    assert paths.update() == known.update() == 0
    np.testing.assert_allclose(paths.heights, known.heights, atol=1e-6)
    assert (paths.labels == known.labels).all()
    way, wanted = (own.path((-5, -5), (5, 5)) for own in (paths, known))
    assert way is not None
    assert wanted is not None
    assert way.length == pytest.approx(wanted.length)


@pytest.mark.parametrize(
    ("tile", "count"),
    [(64, 1024), (128, 1024), (192, 682), (256, 512), (320, 408), (2752, 46), (4096, 32)],
)
def test_how_many_tiles_it_has(tile: int, count: int) -> None:
    made = flat(tile=tile)
    assert made.exists.shape == (count, count)
    assert made.first == (-count // 2, -count // 2)
    assert count % 2 == 0
    assert count * count <= 2**20
    assert count * tile <= 2**17
    assert (count + 2) ** 2 > 2**20 or (count + 2) * tile > 2**17
    with pytest.raises(ValueError, match="size must be"):
        flat(tile=tile, size=(count + 2, count + 2))


def test_sample_0_of_tile_0_lies_at_the_origin() -> None:
    def slope(row: int, column: int) -> Any:
        z, x = np.mgrid[:129, :129]
        return (x + 128 * column) * 0.5 + (z + 128 * row) * 2.0

    made = GeneratedTiles(
        slope, tile=128, cell_size=(0.1, 0.3), origin=(10, 5, -20), heights=(-2e5, 2e5), name="a"
    )
    with TiledGround.open(made) as land:
        assert land.height_at(10.0, -20.0) == pytest.approx(5.0, abs=1e-6)
        assert land.height_at(10.0 - 0.7, -20.0 - 3.6) == pytest.approx(5 - 3.5 - 24, abs=1e-6)
        assert land.loaded == {(-1, -1), (-1, 0), (0, -1), (0, 0)}
        assert land.origin == pytest.approx((10 - 6553.6, 5, -20 - 19660.8))
        assert land.bounds.upper64 == pytest.approx((10 + 6553.6, 2e5 + 5, -20 + 19660.8))


def test_tiles_are_made_by_their_own_rows_and_columns(around: TiledGround) -> None:
    asked = []

    def noted(row: int, column: int) -> Any:
        asked.append((row, column))
        return made(row, column)

    with TiledGround.open(GeneratedTiles(noted, heights=(0, 2), name="noted")) as land:
        land.load_now(AABB((-9, 0, -300), (-8, 0, -290)))
        assert asked == [(-2, -1)]
        assert land.loaded == {(-2, -1)}
        assert land.tile_bounds(-2, -1) == AABB((-SIDE, 0, -2 * SIDE), (0, 2, -SIDE))
        with pytest.raises(ValueError, match="row must be from -256 to 255, got 256"):
            land.tile_bounds(256, 0)


def test_a_copy_of_what_makes_it_takes_no_room() -> None:
    assert len(pickle.dumps(tiles(tile=64))) < 2000


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"first": (0, 0)}, r"first must be left out without size, got \(0, 0\)"),
        ({"first": 3}, "first must be left out without size, got 3"),
        ({"tile": 100}, "tile must be a multiple of 64 from 64 to 4096, got 100"),
        ({"tile": 1 << 20}, "tile must be a multiple of 64 from 64 to 4096, got 1048576"),
        ({"cell_size": -1}, "cell_size must be"),
        ({"cell_size": 1e34}, "cell_size and origin must keep samples apart and below"),
        ({"cell_size": 1e305}, "cell_size and origin must keep samples apart and below"),
        ({"origin": (1, 2)}, "origin must"),
        ({"origin": (1e15, 0, 0), "cell_size": 1e-3}, "cell_size and origin must keep"),
        ({"size": (4,)}, r"size must be \(rows, columns\) of tiles, got \(4,\)"),
    ],
)
def test_what_it_refuses(options: Any, error: str) -> None:
    with pytest.raises((TypeError, ValueError), match=error):
        flat(**options)


def test_a_file_of_tiles_needs_a_size(tmp_path: Any) -> None:
    with pytest.raises(
        ValueError, match=r"size must be \(rows, columns\) of tiles with a function, got None"
    ):
        TiledGround.make(tmp_path / "a.tiles", made)
    assert not list(tmp_path.iterdir())
