"""Examples that hand a terrain on: to a map of the visible area, and to OpenGL."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from demo.examples import geodata
from demo.scenery.scenes import load_land
from terrain_physics import HeightMap, Ray
from tests.helpers.extras import library


@pytest.fixture(scope="module")
def mountains(tmp_path_factory: pytest.TempPathFactory) -> HeightMap:
    return geodata.read(geodata.write_sample(tmp_path_factory.mktemp("geodata")))


def test_the_sample_is_in_meters(mountains: HeightMap) -> None:
    assert mountains.cell_size == (geodata.CELL, geodata.CELL)
    assert mountains.sample_count == (288, 512)
    assert not any(mountains.origin64)
    raw = load_land().height_at(*np.meshgrid(np.arange(512.0), np.arange(180.0, 468.0)))
    assert np.abs(mountains.heights[:] - geodata.CELL * raw).max() < 0.006  # of an ASCII grid


def test_a_viewshed_is_what_rays_say(mountains: HeightMap) -> None:
    x, y, z = geodata.heights_of(mountains)
    row, column = divmod(int(np.argmax(y)), y.shape[1])
    seen = geodata.viewshed(mountains, row, column)
    assert seen[row, column]
    assert 0.05 < seen.mean() < 0.5
    eye = np.array([x[row, column], y[row, column] + geodata.EYES, z[row, column]])
    rng = np.random.default_rng(1)
    for r, c in zip(rng.integers(288, size=300), rng.integers(512, size=300), strict=True):
        way = (x[r, c], y[r, c] + geodata.EYES, z[r, c]) - eye
        hit = mountains.raycast(Ray(eye, way), float(np.linalg.norm(way)))
        assert (hit is None) == seen[r, c]


def test_map_and_obj_are_written(
    mountains: HeightMap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library("pygame", "demo")
    file = geodata.write_sample(tmp_path)
    arguments = ["geodata", str(file)]
    arguments += ["--picture", str(tmp_path / "map.png"), "--obj", str(tmp_path / "land.obj")]
    monkeypatch.setattr("sys.argv", arguments)
    geodata.main()
    with Image.open(tmp_path / "map.png") as picture:
        assert picture.size == (960, 540)
        red, _, blue = np.asarray(picture.convert("RGB"), dtype=float).transpose(2, 0, 1)
    assert 0.05 < (red > 1.5 * blue).mean() < 0.5  # gold is what is seen
    lines = (tmp_path / "land.obj").read_text().splitlines()
    assert sum(line.startswith("v ") for line in lines) == 288 * 512
    assert sum(line.startswith("f ") for line in lines) == 2 * 287 * 511


@pytest.mark.parametrize("nodata", [-9999, None])
def test_degrees_become_meters(tmp_path: Path, nodata: int | None) -> None:
    rasterio = library("rasterio", "data")
    degrees = 1 / 3600
    heights = np.full((40, 60), 100.0, np.float32)
    with rasterio.open(
        tmp_path / "alps.tif", "w", width=60, height=40, count=1, dtype="float32", nodata=nodata,
        crs="EPSG:4326", transform=rasterio.Affine(degrees, 0, 11.0, 0, -degrees, 46.0),
    ) as raster:  # fmt: skip
        raster.write(heights, 1)
    land = geodata.read(tmp_path / "alps.tif")
    (rows, columns), (cell_x, cell_z) = land.sample_count, land.cell_size
    assert columns * cell_x == pytest.approx(60 * 30.92 * np.cos(np.radians(46)), rel=0.05)
    assert rows * cell_z == pytest.approx(40 * 30.87, rel=0.05)
    known = land.heights[:][~np.isnan(land.heights[:])]
    assert (known == 100).all()
    assert 0 < len(known) < land.heights.size  # turned a little: corners are empty


@pytest.fixture
def context() -> Any:
    library("moderngl", "demo")
    from demo.examples import moderngl_terrain

    try:
        return moderngl_terrain.open_context()
    except SystemExit:
        pytest.skip("no OpenGL driver")


def test_an_edit_sends_what_changed(context: Any) -> None:
    from demo.examples.moderngl_terrain import Terrain, render, rows_of

    land = load_land()
    terrain = Terrain(context, land)
    before = render(context, terrain)
    assert len(np.unique(before.reshape(-1, 3), axis=0)) > 1_000
    for x, z in ((168.0, 140.0), (0.0, 0.0), (512.0, 300.0), (250.0, 512.0)):  # edges too
        land.carve((x, land.height_at(x, z), z), radius=9, depth=3)
        assert 0 < terrain.follow() < 0.01 * terrain.vertices.size
        assert terrain.vertices.read() == rows_of(land.to_mesh()).tobytes()
    assert terrain.follow() == 0
    assert 0.005 < (render(context, terrain) != before).any(axis=2).mean() < 0.2
