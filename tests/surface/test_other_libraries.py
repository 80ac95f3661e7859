"""Data in and out of xarray, rasterio, trimesh, pandas and pyarrow themselves (extra ``data``)."""

from typing import Any

import numpy as np
import pytest

from terrain_physics import CharacterGroup, HeightMap, SphereCollider, TriangleMesh
from tests.helpers.extras import library

HEIGHTS = np.random.default_rng(4).uniform(0, 90, (6, 9)).astype(np.float32)

# They may do what they will change; our own warnings are UserWarnings.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
]


def rasters(folder, *, driver="GTiff", crs: str | None = "EPSG:32632", step=(30, 20)):
    """Write a raster by rasterio and open it."""
    rasterio = library("rasterio", "data")
    path = folder / f"a.{'tif' if driver == 'GTiff' else 'asc'}"
    transform = rasterio.transform.from_origin(500, 460, *step)
    shape = {"height": HEIGHTS.shape[0], "width": HEIGHTS.shape[1], "count": 1}
    options: dict[str, Any] = {"dtype": "float32", "crs": crs, "transform": transform}
    with rasterio.open(path, "w", driver=driver, nodata=-9999, **shape, **options) as file:
        file.write(HEIGHTS, 1)
    return path, rasterio.open(path)


@pytest.mark.parametrize("driver", ["GTiff", "AAIGrid"])
def test_a_raster_lies_where_rasterio_says(tmp_path, driver):
    path, raster = rasters(
        tmp_path, driver=driver, crs=None if driver == "AAIGrid" else "EPSG:32632"
    )
    land = HeightMap.load(path)
    with raster:
        for (row, column), height in np.ndenumerate(raster.read(1)):
            east, north = raster.xy(row, column)
            assert land.height_at(east, -north) == pytest.approx(height, rel=1e-6)


def test_a_raster_in_degrees_is_not_taken_for_meters(tmp_path):
    path, raster = rasters(tmp_path, crs="EPSG:4326", step=(1 / 3600, 1 / 3600))
    raster.close()
    with pytest.warns(UserWarning, match="these are degrees, not meters"):
        assert HeightMap.load(path).cell_size == (1, 1)


@pytest.mark.parametrize("steps", [(1, 1), (-1, 1), (1, -1), (-1, -1)])
@pytest.mark.parametrize("turned", [False, True])
def test_a_dataarray(steps, turned):
    xarray = library("xarray", "data")
    rows, columns = HEIGHTS.shape
    coords = {"y": 460.0 - 20 * np.arange(rows), "x": 500.0 + 30 * np.arange(columns)}
    given = xarray.DataArray(HEIGHTS, coords, dims=("y", "x"))
    given = given.isel(y=slice(None, None, steps[0]), x=slice(None, None, steps[1]))
    given = given.expand_dims("band")
    land = HeightMap.from_dataarray(given.transpose("x", "band", "y") if turned else given)
    assert (land.cell_size, land.origin64) == ((30, 20), (500, 0, -460))
    np.testing.assert_array_equal(land.heights, HEIGHTS)
    with pytest.raises(TypeError, match="array must have dims, coords and values"):
        HeightMap.from_dataarray(given.to_dataset(name="heights"))


def test_gltf_through_trimesh(tmp_path):
    trimesh = library("trimesh", "data")
    land = HeightMap(HEIGHTS, cell_size=5)
    for number, made in enumerate((land.to_trimesh(), TriangleMesh.box((1, 2, 3)).to_trimesh())):
        made.export(tmp_path / f"{number}.glb")
        again = TriangleMesh.from_trimesh(trimesh.load(tmp_path / f"{number}.glb").to_mesh())
        np.testing.assert_array_equal(again.faces, made.faces)
        np.testing.assert_allclose(again.vertices, made.vertices, rtol=1e-6)
    np.testing.assert_array_equal(TriangleMesh.from_trimesh(made).vertices, made.vertices)


def results():
    land = HeightMap(HEIGHTS, border="open")
    group = CharacterGroup(land, SphereCollider(0.4))
    group.add_many(["a", "b"], [(2, 95, 2), (4, 60, 4)])
    result = group.update(1 / 60)
    return [
        land.raycast_many([(1, 200, 1), (99, 9, 99)], [(0, -1, 0)]),
        land.contacts([(2, 50, 2, 40)]),
        TriangleMesh.box((1, 1, 1)).contacts([(0, 0, 0, 1)]),
        land.closest_points([(1, 2, 3)]),
        group.raycast([(0, 0, 0), (1, 0, 0)], [(0, -1, 0)]),
        result,
        result.blocked_by,
    ]


def test_columns_for_pandas():
    pandas = library("pandas", "data")
    for result in results():
        columns = result.columns()
        table = pandas.DataFrame(columns)
        assert list(table.columns) == list(columns)
        for name, values in columns.items():
            np.testing.assert_array_equal(table[name].to_numpy(), values)


def test_columns_for_pyarrow():
    pyarrow = library("pyarrow", "data")
    for result in results():
        columns = result.columns()
        table = pyarrow.table(columns)
        assert table.column_names == list(columns)
        for name, values in columns.items():
            np.testing.assert_array_equal(table[name].to_numpy(), values)
