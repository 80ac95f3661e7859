"""Maps that share border lines answer every question as the one map they were cut from."""

import copy
import gc
import pickle
import threading
import time
import tracemalloc
from typing import Any

import numpy as np
import pytest

from terrain_physics import (
    CharacterGroup,
    CharacterMovement,
    Ground,
    HeightMap,
    SphereCollider,
    TriangleMesh,
)
from terrain_physics._kernels.surface.ground_arrays import ALL_LAYERS
from terrain_physics._kernels.types import read_only
from terrain_physics._locks import lasting
from terrain_physics.heightmap.cells import Region
from terrain_physics.heightmap.edits import set_heights
from terrain_physics.heightmap.solid.sides import Sides
from terrain_physics.heightmap.solid.solid_map import SolidMap
from terrain_physics.surface.answers.hits import surface_over
from tests.helpers.examples import rest_is_full, times
from tests.helpers.grounds import (
    Cut,
    bits,
    cut,
    everything,
    ground_of,
    questions,
    rough,
)

ROWS, COLUMNS = 24, 40


def tables(seed: int, *, holes: float = 0.0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    cells = {
        "diagonal": rng.random((ROWS, COLUMNS)) < 0.5,
        "materials": rng.integers(0, 9, (ROWS, COLUMNS)),
    }
    if holes:
        cells["holes"] = rng.random((ROWS, COLUMNS)) < holes
    return cells


def holed() -> Any:
    heights = rough()
    heights[np.random.default_rng(8).random(heights.shape) < 0.02] = np.nan
    return heights


FOUR = (0, 11, ROWS), (0, 17, COLUMNS)
CASES = {
    "two": cut(rough(), (0, ROWS), (0, 17, COLUMNS)),
    "two, reversed": cut(rough(), (0, 11, ROWS), (0, COLUMNS), reverse=True),
    "four, shortest": cut(rough(seed=4), *FOUR, diagonal="shortest"),
    "four, alternating": cut(rough(), (0, 10, ROWS), (0, 16, COLUMNS), diagonal="alternating"),
    "four, each cell": cut(
        rough(), *FOUR, reverse=True, cells=tables(1), cell_size=(0.75, 0.5), height_scale=-0.5
    ),
    "four, holes": cut(holed(), *FOUR, reverse=True, cells=tables(2, holes=0.05)),
    "nine, far": cut(
        rough(),
        (0, 5, 11, ROWS),
        (0, 17, 18, COLUMNS),
        cells=tables(3),
        origin=(1e6 / 3, -20, 1e5 / 7),
        cell_size=0.3,
        height_scale=0.25,
    ),
    "steps": cut(np.round(rough()), *FOUR, reverse=True),  # many ties
}


ALL = sorted(CASES, key=lambda name: name not in {"four, each cell", "four, holes", "nine, far"})
"""The names of all cases, those in which most comes together first."""


def translated(case: Cut, ids: Any) -> Any:
    """Return the ground's ids of the whole map's."""
    return np.where(ids < 0, -1, (case.owner[ids] << 40) + case.own[ids])


def as_ground(case: Cut, answer: Any) -> Any:
    """Return an answer of the whole map with the ground's ids, and in their order."""
    if isinstance(answer, np.ndarray):
        return bits(answer)
    if hasattr(answer, "penetration"):
        ids = translated(case, answer.triangle)
        order = np.array(sorted(range(len(ids)), key=lambda k: (answer.query[k], ids[k])), int)
        columns = (answer.query, ids, answer.penetration, answer.normal, answer.point)
        return bits(tuple(values[order] for values in (*columns, answer.material)))
    if hasattr(answer, "vertices"):
        ids = translated(case, answer.ids)
        order = np.argsort(ids)
        return bits((answer.vertices[order], answer.normals[order], ids[order]))
    if hasattr(answer, "distance"):
        return bits(answer._replace(triangle=translated(case, answer.triangle)))
    queries, ids = answer[0], translated(case, answer[1])
    order = np.lexsort((ids, queries))
    return bits((queries[order], ids[order]))


def asked_of(case: Cut, count: int = 300, seed: int = 1) -> Any:
    x, y, z = case.whole.origin64
    cell_x, cell_z = case.whole.cell_size
    heights = case.whole.height_scale * np.array([-3.0, 3.0])
    corner = np.array([x - cell_x, y + heights.min() - 1, z - cell_z])
    size = ((COLUMNS + 2) * cell_x, np.ptp(heights) + 3, (ROWS + 2) * cell_z)
    asked = questions(corner, corner + size, count, seed)
    # Many of them just where four maps meet, and along a seam.
    seam = slice(10, count // 3)
    for rows in (asked.centers, asked.balls, asked.capsules):
        rows[seam, 0] = x + 17 * cell_x
        rows[10:40, 2] = z + 11 * cell_z
    asked.x[seam], asked.z[10:40] = x + 17 * cell_x, z + 11 * cell_z
    asked.directions[10:25, ::2] = 0.0
    return asked


def assert_same(case: Cut, ground: Ground, asked: Any, threads: int | None = None) -> None:
    expected = everything(case.whole, asked)
    found = everything(ground, asked, threads)
    for name, answer in expected.items():
        assert bits(found[name]) == as_ground(case, answer), name


@pytest.mark.parametrize("name", CASES)
def test_every_answer_is_that_of_the_one_map_to_the_last_bit(name):
    case = CASES[name]
    asked = asked_of(case)
    expected = everything(case.whole, asked)
    assert len(expected["balls, all"]) > 500
    assert np.isfinite(expected["ball sweeps"].distance).sum() > 50
    assert len(expected["box"]) > 20 or name == "nine, far"
    assert_same(case, ground_of(case), asked)


def test_a_ball_that_rolls_over_the_seam_is_not_stopped():
    flat = cut(np.zeros((25, 41)), *FOUR)
    ground = ground_of(flat)
    for z in (3.3, 11.0, 11.25):
        hits = ground.sweep_many([(x, 0.5, z, 0.5) for x in (3, 16.5, 17.0)], [(6, 0, 0.5)])
        assert np.isnan(hits.fraction).all()
    assert (ground.normal_at([16.999, 17, 17.001], 11) == (0, 1, 0)).all()


def test_edits_of_a_part_show_in_the_next_answers():
    case = cut(rough(), *FOUR, cells=tables(5))
    ground, asked = ground_of(case), asked_of(case)
    assert_same(case, ground, asked)
    case.whole[3:9, 2:17] += 1.5
    case.tiles[0][3:9, 2:17] += 1.5
    assert_same(case, ground, asked)
    case.whole.holes[12:15, 20:30] = True
    case.tiles[3].holes[1:4, 3:13] = True
    assert_same(case, ground, asked)
    case.whole.materials[0:4, 17:20] = 77
    case.tiles[1].materials[0:4, 0:3] = 77
    case.whole.carve((21, 5), 3.5, 2)
    case.tiles[1].carve((21, 5), 3.5, 2)
    assert_same(case, ground, asked)
    for k in range(300):  # more edits than a map remembers
        case.whole[2 + k % 3, 4] = case.tiles[0][2 + k % 3, 4] = k / 100
    assert_same(case, ground, asked)


def test_a_sample_on_the_seam_that_one_map_moved_is_moved():
    case = cut(rough(), (0, ROWS), (0, 16, COLUMNS))  # the seam is a border of blocks
    ground, asked = ground_of(case), asked_of(case)
    assert_same(case, ground, asked)
    case.whole[5, 16] = case.tiles[0][5, 16] = 9.0
    assert_same(case, ground, asked)
    rays = np.array([(16.05, 8.0, 7), (16.1, 7.0, 3)]), np.array([(0, 0.01, -1.0), (0, 0.01, 1.0)])
    hits = ground.raycast_many(*rays)
    assert np.array_equal(hits.distance, case.whole.raycast_many(*rays).distance)
    assert np.isfinite(hits.distance).all()


def test_materials_given_to_one_map_later():
    case = cut(rough(), *FOUR)
    ground, asked = ground_of(case), asked_of(case)
    case.tiles[2].materials[:] = 6
    case.whole.materials[11:, :17] = 6
    assert_same(case, ground, asked)


def test_maps_of_unlike_thickness_are_one_with_the_least():
    tiles = cut(rough(), (0, ROWS), (0, 17, COLUMNS)).tiles
    tiles[1].thickness = 3.0
    ground = Ground(tiles)
    tiles[0].holes[2, 3] = True  # from now on 2 m thick
    (united,) = followed(ground)
    assert isinstance(united.source, SolidMap)
    assert united.source.storage.thickness == 2.0


def test_each_map_ends_at_its_border_where_there_are_several():
    tiles = CASES["two"].tiles
    assert tiles[0].border == "extend"
    ground = Ground(tiles)
    assert np.isnan(ground.height_at(-3.0, 5.0))
    assert np.isnan(ground.normal_at(-3.0, 5.0).x)
    assert np.isnan(ground.height_at([-3.0, 50], 5)).all()
    alone = Ground(tiles[:1])
    assert alone.height_at(-3.0, 5.0) == tiles[0].height_at(-3.0, 5.0)


def test_a_part_within_the_gap_of_others_and_maps_that_do_not_touch():
    heights = rough()
    case = cut(heights, *FOUR)
    raised = HeightMap(heights[:5, :5] + 20, origin=(3, 0, 3))
    ground = Ground([case.tiles[0], raised, *case.tiles[1:]])
    other = HeightMap(heights[:5, :5] + 20, origin=(3, 0, 3), border="open")
    rng = np.random.default_rng(2)
    rays = rng.uniform((-3, -3, -3), (13, 26, 13), (600, 3)), rng.normal(size=(600, 3))
    found, low, up = (land.raycast_many(*rays) for land in (ground, case.whole, other))
    nearer = ~(low.distance <= up.distance) & ~np.isnan(up.distance)
    # The lower ground covers the raised map's sides as far up as it goes.
    x, y, z = np.nan_to_num(up.point).T.copy()
    is_covered = y < case.whole.height_at(x, z)
    assert (nearer & is_covered).any()
    nearer &= ~is_covered
    assert nearer.sum() > 50
    expected = np.where(nearer, up.distance, low.distance)
    is_side = nearer & (up.triangle >= 2 * 4 * 4)  # they are shorter: their planes are rounded
    np.testing.assert_array_equal(found.distance[~is_side], expected[~is_side])
    np.testing.assert_allclose(found.distance[is_side], expected[is_side], rtol=1e-13)
    part, own = ground.part_of(found.triangle)
    assert (part[nearer] == 1).all()
    assert np.array_equal(own[nearer], up.triangle[nearer])
    assert ground.height_at(5.0, 5.0) == other.height_at(5.0, 5.0)


@pytest.mark.alone
def test_an_edit_while_others_ask_is_seen_whole_or_not_at_all():
    tiles = [HeightMap(np.zeros((65, 65)), origin=(64 * k, 0, 0)) for k in range(2)]
    ground = Ground(tiles)
    assert len(followed(ground)) == 1
    origins = np.random.default_rng(1).uniform((66, 9, 2), (126, 9, 62), (20_000, 3))
    x, z = origins[:, 0].copy(), origins[:, 2].copy()
    stop = threading.Event()

    def edit():
        level = 0.0
        while not stop.is_set():
            level = 5.0 - level
            tiles[1][1:64, 1:64] = level

    def ask(results):
        for _ in range(times(30)):
            results.append(np.unique(ground.raycast_many(origins, [(0, -1, 0)]).distance))
            results.append(np.unique(ground.height_at(x, z)))
            results.append(np.unique(ground.normal_at(x, z)[:, 1]))

    seen: list[Any] = []
    editor = threading.Thread(target=edit)
    askers = [threading.Thread(target=ask, args=(seen,)) for _ in range(2)]
    for thread in (editor, *askers):
        thread.start()
    for thread in askers:
        thread.join()
    stop.set()
    editor.join()
    assert len(seen) == 6 * times(30)
    assert {tuple(values) for values in seen} <= {(9.0,), (4.0,), (0.0,), (5.0,), (1.0,)}


def followed(ground: Ground) -> list[Any]:
    """Return the maps of a ground as they are united, once they have followed each other."""
    with ground._held.followed:
        return list(ground._held.maps.members)


def samples_of(source: Any) -> Any:
    rows, columns = source.storage.sample_count
    return source.storage.samples(np.s_[0:rows, 0:columns])


def pair(size: int = 33) -> list[HeightMap]:
    return [HeightMap(np.zeros((size, size)), origin=((size - 1) * k, 0, 0)) for k in range(2)]


def assert_one_map(ground: Ground, whole: HeightMap) -> None:
    """Check that a ground, its parts, its copies and a new ground of its parts are one map."""
    state = pickle.dumps(ground)  # before any question
    for other in (
        ground,
        copy.deepcopy(ground),
        pickle.loads(state),
        Ground(list(ground.parts.values())),
    ):
        (source,) = followed(other)
        assert isinstance(source.source, SolidMap)
        assert np.array_equal(samples_of(source.source), whole.heights, equal_nan=True)
        x0, _, z0 = whole.origin64
        size_x, size_z = whole.cell_size
        for part in other.parts.values():
            assert isinstance(part, HeightMap)
            x, _, z = part.origin64
            row, column = round((z - z0) / size_z), round((x - x0) / size_x)
            rows, columns = part.sample_count
            own = whole.heights[row : row + rows, column : column + columns]
            assert np.array_equal(part.heights, own, equal_nan=True)


def test_a_pit_dug_in_one_map_at_the_border_is_in_both():
    tiles = pair()
    ground = Ground(tiles)
    tiles[0].carve((31, 16), 4, 2)
    deep = ground.height_at(32.0, 16.0)
    assert deep == pytest.approx(-1.758, abs=1e-3)
    assert tiles[1].height_at(32.0, 16.0) == deep
    for other in (copy.deepcopy(ground), pickle.loads(pickle.dumps(ground)), Ground(tiles)):
        assert len(followed(other)) == 1
        assert other.height_at(32.0, 16.0) == deep
    tiles[1].carve((34, 19), 3, 0.1)
    assert ground.height_at(32.0, 16.0) == deep
    assert tiles[0].height_at(32.0, 18.0) == tiles[1].height_at(32.0, 18.0) < 0.0


def test_what_is_handed_on_is_an_edit_of_the_other_map_and_comes_once():
    tiles = pair()
    ground = Ground(tiles)
    tiles[0][7, 32] = 3.0
    assert tiles[1].version == 0
    version = ground.version
    assert [tile.version for tile in tiles] == [1, 1]
    assert tiles[1].changes_since(0) == [Region(6, 8, 0, 1)]
    for _ in range(3):
        ground.height_at(3.0, 3.0)
        assert ground.version == version
    tiles[0][7, 5] = 3.0  # on no border
    ground.height_at(3.0, 3.0)
    assert [tile.version for tile in tiles] == [2, 1]


@pytest.mark.parametrize("first", [0, 1])
def test_of_two_changes_of_a_sample_the_later_part_wins_and_others_stay(first):
    tiles = pair()
    ground = Ground(tiles)
    for k in (first, 1 - first):  # whoever was edited first
        tiles[k][5, 32 * (1 - k)] = 1.0 + k
        tiles[k][9 + k, 32 * (1 - k)] = 3.0 + k
    tiles[0][4, 31] = 7.0  # an edit beside a sample that the other map changed
    whole = HeightMap(np.zeros((33, 65)), border="open")
    whole[5, 32], whole[9, 32], whole[10, 32], whole[4, 31] = 2.0, 3.0, 4.0, 7.0
    assert_one_map(ground, whole)


def test_a_hole_in_one_map_at_the_border_is_in_both():
    tiles = pair()
    ground = Ground(tiles)
    tiles[1][3, 0] = np.nan
    assert np.isnan(ground.height_at(32.0, 3.0))
    assert np.isnan(tiles[0].height_at(32.0, 3.0))
    assert tiles[0].thickness == tiles[1].thickness == 2.0
    tiles[0][3, 32] = 1.0
    assert ground.height_at(32.0, 3.0) == tiles[1].height_at(32.0, 3.0) == 1.0


@pytest.mark.parametrize("name", ["four, shortest", "four, holes", "nine, far", "steps"])
def test_random_edits_of_any_part_are_those_of_the_one_map(name):
    """Where tiles meet at corners too; between questions, no sample is changed by two parts."""
    old = CASES[name]
    options: dict[str, Any] = {"diagonal": "shortest"} if "shortest" in name else {}
    rows, columns = ((0, 5, 11, ROWS), (0, 17, 18, COLUMNS)) if "nine" in name else FOUR
    case = cut(old.whole.heights.copy(), rows, columns, **options)
    ground, asked, rng = ground_of(case), asked_of(case, 60), np.random.default_rng(5)
    for turn in range(12):
        taken = np.zeros(case.whole.sample_count, dtype=bool)
        for _ in range(4):
            tile = case.tiles[rng.integers(len(case.tiles))]
            x, _, z = tile.origin64
            row, column = int(z), int(x)
            high, wide = tile.sample_count
            r, c = int(rng.integers(high)), int(rng.integers(wide))
            r, c = (high - 1 if r > high - 4 else r), (wide - 1 if c > wide - 4 else c)
            r, c = (0 if r < 3 else r), (0 if c < 3 else c)
            place = np.s_[r : r + rng.integers(1, 4), c : c + rng.integers(1, 4)]
            values = rng.normal(size=tile.heights[place].shape)
            of_whole = np.s_[
                row + r : row + r + values.shape[0], column + c : column + c + values.shape[1]
            ]
            if not taken[of_whole].any():
                taken[of_whole] = True
                tile[place] = case.whole[of_whole] = values
        if turn % 4 == 3:
            assert_same(case, ground, asked)
            assert_one_map(ground, case.whole)


@pytest.mark.parametrize("name", rest_is_full(ALL, 3))
def test_carve_and_raise_are_those_of_the_one_map_to_the_last_bit(name):
    case = CASES[name]
    case = copy.deepcopy(case)
    ground, asked = ground_of(case), asked_of(case, 100)
    x, _, z = case.whole.origin64
    cell_x, cell_z = case.whole.cell_size
    seam = x + 17 * cell_x, z + 11 * cell_z
    case.whole.carve(seam, 5.3 * cell_x, 1.7)
    ground.carve(seam, 5.3 * cell_x, 1.7)
    case.whole.raise_((x, 3, z + 11 * cell_z), 30 * cell_z, 0.3)
    ground.raise_((x, 3, z + 11 * cell_z), 30 * cell_z, 0.3)
    case.whole.carve((x - 100 * cell_x, z), cell_z, 1)
    ground.carve((x - 100 * cell_x, z), cell_z, 1)
    assert_one_map(ground, case.whole)
    assert_same(case, ground, asked)


@pytest.mark.parametrize("name", rest_is_full(ALL, 3))
@pytest.mark.parametrize("seed", rest_is_full([1, 2]))
def test_brushes_are_those_of_the_one_map_to_the_last_bit(name, seed):
    case = copy.deepcopy(CASES[name])
    ground, asked, rng = ground_of(case), asked_of(case, 60), np.random.default_rng(seed)
    x0, y, z0 = case.whole.origin64
    cell_x, cell_z = case.whole.cell_size
    for turn in range(24):
        column, row = rng.uniform((-4, -4), (COLUMNS + 4, ROWS + 4))
        if turn % 2:  # at the seams
            column, row = 17 + rng.integers(-1, 2), 11 + rng.integers(-1, 2)
        center = float(x0 + column * cell_x), float(z0 + row * cell_z)
        radius = float(10.0 ** rng.uniform(-1, 1.3)) * cell_x
        on_ground = np.isfinite(case.whole.height_at(*center))
        for each in (case.whole, ground):
            kind = turn % 4
            if kind == 0:
                each.flatten(center, radius, y + 0.3, flat=0.4 * radius, strength=0.7)
            elif kind == 1 and on_ground:
                each.flatten(center, radius, flat=0.4 * radius)
            elif kind == 2:
                each.smooth(center, radius, 0.9)
            else:
                each.paint(center, radius, turn)
                each.smooth(center, radius)
    assert_one_map(ground, case.whole)
    materials = np.zeros(case.whole.cell_count, dtype=int)
    for tile in case.tiles:
        x, _, z = tile.origin64
        row, column = round((z - z0) / cell_z), round((x - x0) / cell_x)
        rows, columns = tile.cell_count
        materials[row : row + rows, column : column + columns] = tile.materials
    assert np.array_equal(materials, case.whole.materials)
    assert_same(case, ground, asked)


def test_a_name_is_the_number_that_each_map_has_for_it():
    names = ("mud", "rock"), ("rock", "snow"), ("rock",)
    tiles = [
        HeightMap(np.zeros((9, 9)), origin=(8 * k, 0, 0), material_names=own)
        for k, own in enumerate(names)
    ]
    far = HeightMap(np.zeros((9, 9)), origin=(90, 0, 0))
    ground = Ground([*tiles, far])
    for tile in tiles[1:]:
        tile.materials[:, 0] = 0
    versions = [tile.version for tile in tiles]
    ground.paint((8, 4), 2, "rock")
    assert set(np.unique(tiles[0].materials[3:5, 6:])) == {1}
    assert not tiles[1].materials[:].any()
    assert [tile.version for tile in tiles] == [versions[0] + 1, versions[1] + 1, versions[2]]
    assert tiles[0].changes_since(versions[0]) == [Region(2, 6, 6, 8)]
    refused: list[tuple[Any, Any, type[Exception], str]] = [
        ((8, 4), "snow", ValueError, "material must be one of 'mud', 'rock', got 'snow'"),
        ((16, 4), "snow", ValueError, "material must be one of 'rock', got 'snow'"),
        ((16, 4), 2, ValueError, "material must be one of 'rock', got 'snow'"),
        ((16, 4), 3, ValueError, "material must be below 3 on maps with material_names, got 3"),
        ((94, 4), "rock", ValueError, "known to every map that is painted, got 'rock' on one"),
        ((94, 4), 1, ValueError, "known to every map that is painted, got 'rock' on one"),
        ((50, 4), "lava", ValueError, "material must be one of 'mud', 'rock', 'snow', got 'lava'"),
        ((50, 4), 256, ValueError, "material must be from 0 to 255, got 256"),
        ((50, 4), 0.5, TypeError, "material must be a whole number"),
    ]
    for center, material, error, message in refused:
        before = [tile.version for tile in (*tiles, far)]
        with pytest.raises(error, match=message):
            ground.paint(center, 2, material)
        assert [tile.version for tile in (*tiles, far)] == before
    ground.paint((50, 4), 2, "snow")  # on no map
    ground.paint((94, 4), 2, 3 + 9)  # after the three names
    assert far.materials.at(94, 4) == 9


def test_maps_that_are_not_united_are_flattened_to_one_level():
    coarse = HeightMap(np.full((5, 5), 3.0), cell_size=2)
    fine = HeightMap(np.zeros((9, 9)), origin=(8, 0, 0))
    roof = TriangleMesh([(0, 9, 0), (0, 9, 8), (8, 9, 0)], [(0, 1, 2)])
    ground = Ground([fine, roof, coarse])
    ground.flatten((7, 4), 6, flat=4)
    assert coarse.height_at(7, 4) == fine.height_at(9, 4) == 3.0
    assert ground.height_at(1.0, 1.0) == 9.0
    assert [fine.version, coarse.version] == [1, 1]
    fine.holes[4, 4] = True
    for center in ((12.5, 4.5), (8, -1)):
        with pytest.raises(ValueError, match="height must be given where there is no ground"):
            ground.flatten(center, 3)
    ground.flatten((500, 4), 3)
    assert [fine.version, coarse.version] == [2, 1]
    assert fine.holes.at(12.5, 4.5)


def test_carve_changes_every_map_once_and_no_mesh():
    tiles = pair()
    above = HeightMap(np.full((5, 5), 9.0), origin=(30, 0, 14))
    roof = TriangleMesh([(30, 20, 14), (30, 20, 18), (34, 20, 14)], [(0, 1, 2)])
    ground = Ground([roof, tiles[1], above, tiles[0]])
    ground.carve((32, 16), 1.5, 2)
    assert above.height_at(32.0, 16.0) == 7.0
    assert tiles[0].height_at(32.0, 16.0) == tiles[1].height_at(32.0, 16.0) == -2.0
    assert ground.height_at(30.5, 14.5) == 20.0
    alone = Ground([above, roof])
    alone.raise_((32, 16), 1.5, 2)
    assert above.height_at(32.0, 16.0) == 9.0


def test_a_refused_carve_changes_nothing():
    tiles = pair()
    small = HeightMap(np.zeros((33, 33)), origin=(0, -9, 0), height_scale=1e-30)
    ground = Ground([*tiles, small])
    for call, error in (
        (lambda: ground.carve((32, 16), 0, 1), "radius must be finite and > 0"),
        (lambda: ground.carve((32, np.nan), 1, 1), r"center\[1\] must be finite"),
        (lambda: ground.carve((32, 16), 1, np.inf), "depth must be finite"),
        (lambda: ground.raise_((32, 16), 1, np.nan), "height must be finite"),
        (lambda: ground.raise_((31, 16), 4, 1e20), "heights"),  # too high for the small unit
        (lambda: ground.flatten((31, 16), 4, 1e20), "heights"),
        (lambda: ground.flatten((31, 16), 4, flat=5), "flat must be from 0 to 4, got 5"),
        (lambda: ground.smooth((31, 16), 4, -0.5), "strength must be from 0 to 1, got -0.5"),
        (lambda: ground.paint((31, 16), 4, -1), "material must be from 0 to 255, got -1"),
    ):
        with pytest.raises(ValueError, match=error):
            call()
        assert [part.version for part in ground.parts.values()] == [0, 0, 0]
    roof = TriangleMesh([(0, 0, 0), (0, 0, 1), (1, 0, 0)], [(0, 1, 2)])
    for name, numbers in (("carve", (1,)), ("flatten", ()), ("smooth", ()), ("paint", (1,))):
        with pytest.raises(ValueError, match="parts must hold a HeightMap to be edited"):
            getattr(Ground([roof]), name)((0, 0), 1, *numbers)


def test_maps_a_cliff_apart_are_not_united_by_their_neighbors():
    """Three seams of four agree; and corners that meet without any side in common."""
    heights = [np.zeros((5, 5)) for _ in range(4)]
    heights[1][1:, 0] = 3.0
    heights[1][4] = heights[3][0] = 3.0
    heights[3][0, 0] = heights[2][0, 4] = heights[1][4, 0] = 0.0
    tiles = [
        HeightMap(values, origin=(4 * (k % 2), 0, 4 * (k // 2))) for k, values in enumerate(heights)
    ]
    ground = Ground(tiles)
    assert len(followed(ground)) == 4
    assert ground.height_at(4.0, 2.0) == 3.0
    tiles[0][2, 4] = 1.0
    assert ground.height_at(3.5, 2.0) == 0.5


def test_grounds_that_share_parts_agree():
    tiles = pair()
    grounds = Ground(tiles), Ground(tiles[::-1])
    tiles[0][5, 32], tiles[1][5, 0] = 1.0, 2.0
    assert [ground.height_at(32.0, 5.0) for ground in grounds] == [2.0, 2.0]
    assert [tile.height_at(32.0, 5.0) for tile in tiles] == [2.0, 2.0]
    versions = [tile.version for tile in tiles]
    assert [ground.height_at(32.0, 5.0) for ground in grounds] == [2.0, 2.0]
    assert versions == [tile.version for tile in tiles]


@pytest.mark.alone
@pytest.mark.parametrize("count", [1, 2])
def test_edits_of_neighbors_while_others_ask_end_in_one_map(count):
    """Threads neither wait for each other for ever nor, with one ground, lose an edit."""
    tiles = [
        HeightMap(np.zeros((9, 9)), origin=(8 * column, 0, 8 * row))
        for row in range(2)
        for column in range(2)
    ]
    grounds = [Ground(tiles), Ground(tiles[::-1])][:count]
    stop = threading.Event()

    def edit(k):
        border = (8, 0)[k // 2]
        for turn in range(times(200)):
            tiles[k][border, 1 + k % 2 :: 3] = turn + k / 8  # as the map beyond the border does
            tiles[k][3, 3] = turn

    def ask(ground):
        walker = CharacterMovement(ground, SphereCollider(0.5), position=(8, 300, 8))
        while not stop.is_set():
            ground.height_at([8.0, 4.0], [4.0, 8.0])
            ground.height_at(8.0, 8.0)
            walker.update(0.01)

    editors = [threading.Thread(target=edit, args=(k,)) for k in range(4)]
    askers = [threading.Thread(target=ask, args=(ground,)) for ground in grounds * (3 - count)]
    for thread in (*editors, *askers):
        thread.start()
    for thread in editors:
        thread.join(900)
    stop.set()
    for thread in askers:
        thread.join(900)
    assert not any(thread.is_alive() for thread in (*editors, *askers))
    for ground in [*grounds, grounds[0]]:
        ground.height_at(1.0, 1.0)
    united = followed(grounds[0])[0].source
    assert isinstance(united, SolidMap)
    assert_one_map(grounds[0], HeightMap(samples_of(united)))
    for k, tile in enumerate(tiles):
        assert tile.heights[3, 3] == times(200) - 1
        if k < 2 and count == 1:
            assert tile.heights[8, 1 + k % 2] - times(200) in (k / 8 - 1, (k + 2) / 8 - 1)


@pytest.mark.alone
def test_a_pit_across_a_border_is_seen_whole_or_not_at_all():
    tiles = pair()
    ground = Ground(tiles)
    stop = threading.Event()

    pairs = []

    def ask():
        while not stop.is_set():
            pairs.append(ground.height_at([31.0, 33.0], 16.0))

    asker = threading.Thread(target=ask)
    asker.start()
    for _ in range(times(300)):
        ground.carve((32, 16), 6, 4)
        ground.raise_((32, 16), 6, 3)
        ground.smooth((32, 16), 5)
    stop.set()
    asker.join()
    pairs.append(ground.height_at([31.0, 33.0], 16.0))
    assert pairs[-1][0] < -times(300) / 7.5
    assert all(left == right for left, right in pairs)


def test_a_group_of_characters_stands_on_what_was_just_edited():
    tiles = pair()
    group = CharacterGroup(Ground(tiles), SphereCollider(0.5))
    group.add("ball", position=(32, 0.5, 16))
    group.update(0.01)
    for tile in tiles:
        tile[:] = 0.25
    group.update(0.01)
    assert group.positions[0, 1] > 0.6  # not a frame later


@pytest.mark.alone
def test_an_edit_of_a_tile_meanwhile_is_not_lost(monkeypatch):
    tiles = [HeightMap(np.zeros((9, 9)), origin=(x, 0, 0)) for x in (0, 8)]
    ground = Ground(tiles)
    threads: list[threading.Thread] = []

    def edited_meanwhile(*arguments):
        threads.append(threading.Thread(target=tiles[0].raise_, args=((4, 4), 3, 1)))
        threads[-1].start()
        threads[-1].join(0.1)
        set_heights(*arguments)

    monkeypatch.setattr("terrain_physics.ground.edits.set_heights", edited_meanwhile)
    ground.raise_((4, 4), 3, 1)
    for thread in threads:
        thread.join()
    assert len(threads) == 1
    assert ground.height_at(4, 4) == 2.0


@pytest.mark.alone
def test_two_grounds_with_the_same_tiles_are_edited_by_two_threads():
    tiles = [HeightMap(np.zeros((9, 9)), origin=(x, 0, 0)) for x in (0, 8, 16)]
    grounds = [Ground(tiles), Ground(tiles[::-1])]

    def work(ground):
        for _ in range(50):
            ground.raise_((8, 4), 3, 1)

    threads = [threading.Thread(target=work, args=(ground,)) for ground in grounds]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(900.0)
        assert not thread.is_alive()
    assert [ground.height_at(8, 4) for ground in grounds] == [100.0, 100.0]


WALK = 240


def walk(on: Any, start: tuple[float, float, float], way: Any) -> list[bytes]:
    """Return where a ball is on its way, step by step."""
    mover = CharacterMovement(on, SphereCollider(0.3), position=start, seed=4)
    places = []
    for x, z in way:
        mover.velocity = (x, mover.velocity.y, z)
        mover.update(1 / 60)
        places.append(np.array([*mover.position, *mover.velocity]).tobytes())
    return places


def comings_and_goings(case: Cut, seed: int) -> tuple[Cut, Ground]:
    """Return a ground to which tiles came in any order, some of them more than once."""
    rng = np.random.default_rng(seed)
    first, *others = rng.permutation(len(case.tiles)).tolist()
    ground, keys = Ground([case.tiles[first]]), {first: 0}
    for k in others:
        keys[k] = ground.add(case.tiles[k])
        gone = int(rng.choice(list(keys)))
        if rng.random() < 0.4 and len(keys) > 1:
            ground.remove(keys[gone])
            ground.height_at(1.0, 1.0)
            keys[gone] = ground.add(case.tiles[gone])
    numbers = np.array([keys[k] for k in range(len(case.tiles))])
    return case._replace(owner=numbers[case.owner]), ground


@pytest.mark.parametrize("name", rest_is_full(ALL, 3))
@pytest.mark.parametrize("seed", rest_is_full(range(2)))
def test_tiles_that_came_in_any_order_answer_as_the_one_map(name, seed):
    case, ground = comings_and_goings(CASES[name], seed)
    assert_same(case, ground, asked_of(case, 120))
    x, y, z = case.whole.origin64
    way = 2.0 * np.random.default_rng(seed).normal(size=(WALK, 2)).cumsum(axis=0) / 9
    start = x + COLUMNS * case.whole.cell_size[0] / 2, y + 3, z + ROWS * case.whole.cell_size[1] / 2
    assert walk(ground, start, way) == walk(case.whole, start, way)


def test_many_tiles_whose_blocks_are_in_line():
    """Levels of blocks are copied, shifted or made anew; rays and balls tell if one is wrong."""
    rng = np.random.default_rng(6)
    heights = rng.normal(size=(129, 193)).cumsum(axis=0).astype(np.float32)
    edges = range(0, 129, 16), range(0, 193, 24)
    case = cut(heights, *map(tuple, edges))
    case, ground = comings_and_goings(case, 1)
    asked = questions((-4, heights.min(), -4), (196, heights.max(), 132), 400, 2)
    assert_same(case, ground, asked)
    for _ in range(6):
        row, column = int(rng.integers(0, 110)), int(rng.integers(0, 170))
        ground.raise_((column, row), 9, 4)
        case.whole.raise_((column, row), 9, 4)
        assert_same(case, ground, asked)


@pytest.mark.parametrize("has_sides", [False, True])
def test_united_maps_hold_no_copy_of_samples(monkeypatch, has_sides):
    if not has_sides:
        monkeypatch.setattr(Sides, "now", lambda _: None)
    tiles = [HeightMap(np.zeros((257, 257), np.float32), origin=(256 * k, 0, 0)) for k in range(4)]

    def walk() -> CharacterMovement:
        mover = CharacterMovement(Ground(tiles), SphereCollider(0.5), position=(256, 0.5, 99))
        mover.update(1 / 60)
        return mover

    walk()  # what is made once is made
    gc.collect()
    tracemalloc.start()
    assert walk().grounded
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    most = 0.2 * 4 * tiles[0].heights.nbytes
    # Sides take memory for each cell at the border.
    assert used < most + 1000 * 2 * (256 + 4 * 256) * has_sides


def test_a_long_query_sees_the_tiles_as_they_were_when_it_began():
    tiles = pair()
    ground = Ground(tiles)
    source = followed(ground)[0].source
    xs, zs = read_only(np.array([1.0, 40.0, 32.0]), np.full(3, 5.0))
    with lasting(source.begin_asking) as arrays:
        for level in (9.0, 7.0):
            for tile in tiles:
                tile[:] = level
            assert ground.height_at(33.0, 5.0) == level
        assert (surface_over(arrays, ALL_LAYERS, xs, zs, 1)[0] == 0.0).all()
    assert (ground.height_at(xs, zs) == 7.0).all()


@pytest.mark.alone
def test_a_tile_in_two_grounds_is_edited_while_both_are_asked():
    tiles = pair(9)
    grounds = Ground(tiles), Ground(tiles[::-1])
    over = threading.Event()

    def ask(ground):
        while not over.is_set():
            ground.height_at([8.0, 7.5, 8.5], 4.0)
            ground.height_at(8.0, 4.0)
            time.sleep(1e-5)  # a lock is not fair: it would starve who waits for it

    threads = [threading.Thread(target=ask, args=(ground,)) for ground in grounds]
    for thread in threads:
        thread.start()
    for turn in range(times(200)):
        tiles[turn % 2].raise_((8, 4), 3, 0.5)
        grounds[turn % 2].carve((8, 4), 3, 0.5)
    over.set()
    for thread in threads:
        thread.join(900)
        assert not thread.is_alive()
    assert tiles[0].height_at(8, 4) == tiles[1].height_at(8, 4)
