"""Where a character can walk on land in tiles: the map is that of one map of the same samples."""

import pickle

import numpy as np
import pytest

from terrain_physics import AABB, CapsuleCollider, TiledGround, Walkability
from tests.helpers.digest import digest
from tests.helpers.tiled_lands import SIDE, TilesOfArrays, waves

BODY = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0))
AREA = (50, 40), (80, 75)  # where four tiles meet


def opened(source, missing):
    return TiledGround.open(source, missing=missing)


def answers(paths):
    way = paths.path((51, 41), (79, 74), nearest=True)
    return digest([paths.heights, paths.edges, paths.labels, way])


def tiles():
    return TilesOfArrays(waves(2, 3))


def test_an_update_and_a_path_bring_what_they_need():
    source = tiles()
    land, oracle = opened(source, "load"), source.one_map()
    paths, known = (Walkability(own, BODY, spacing=2.0, area=AREA) for own in (land, oracle))
    assert paths.shape == known.shape
    assert paths.update() == known.update() == 0
    assert land.loaded == {(0, 0), (0, 1), (1, 0), (1, 1)}
    assert answers(paths) == answers(known)
    land._supply.land.take(list(land._supply.land.loaded))
    assert answers(paths) == answers(known)  # what is loaded is no state


def test_edits_are_made_anew():
    source = tiles()
    land, oracle = opened(source, "load"), source.one_map()
    paths, known = (Walkability(own, BODY, spacing=2.0, area=AREA) for own in (land, oracle))
    for ground, own in ((land, paths), (oracle, known)):
        own.update()
        ground.carve((64, 64), radius=5, depth=6)
        assert own.update(around=(60, 60), radius=3) == 0
        assert own.update() == 0
    assert answers(paths) == answers(known)


def test_land_that_waits_must_be_loaded():
    source = tiles()
    land, oracle = opened(source, "wait"), source.one_map()
    paths, known = (Walkability(own, BODY, spacing=2.0, area=AREA) for own in (land, oracle))
    known.update()
    with pytest.raises(ValueError, match=r"ground must be loaded from \(4.*load_now\(aabb\)"):
        paths.update()
    assert not paths.standing.any()
    land.load_now(AABB((45, 0, 35), (60, 0, 60)))  # one of four
    assert paths.update(around=(54, 44), radius=3) == 0
    assert paths.standing.any()
    with pytest.raises(ValueError, match="ground must be loaded"):
        paths.update()
    land.load_now(AABB((40, 0, 30), (90, 0, 90)))
    assert paths.update() == 0
    assert answers(paths) == answers(known)


def test_a_large_land_needs_an_area():
    exists = np.zeros((160, 160), np.bool_)
    exists[0, 0] = exists[-1, -1] = True
    source = TilesOfArrays(np.broadcast_to(np.float32(0), (160 * SIDE + 1,) * 2), exists)
    with pytest.raises(
        ValueError, match=r"places must be at most 64000000, got 104878081: .* area"
    ):
        Walkability(opened(source, "load"), BODY)


def test_a_copy_has_the_places():
    paths = Walkability(opened(tiles(), "load"), BODY, spacing=2.0, area=AREA)
    paths.update()
    copy = pickle.loads(pickle.dumps(paths))
    assert isinstance(copy.ground, TiledGround)
    assert copy.update() == 0
    assert answers(copy) == answers(paths)
