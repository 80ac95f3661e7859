"""What is seen from the highest peak of a digital elevation model: ``... geodata [DEM.tif]``.

Without a file it makes mountains. With rasterio any raster is read, in meters or degrees; without,
what `HeightMap.load` reads in meters. ``--picture OUT.png`` draws a map of what is seen (extra
``demo``), ``--obj OUT.obj`` writes the land for Blender and others.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from terrain_physics import HeightMap

from ..picture.colors import RED
from ..scenery.scenes import load_land
from ._drawing import save_pixels

try:
    import rasterio
    from rasterio.vrt import WarpedVRT
except ImportError:
    rasterio = WarpedVRT = None

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

CELL = 10.0  # meters, of the sample
EYES = 1.7  # meters above the ground, of who looks and of who is seen
SEEN, HIDDEN = (240, 196, 92), (112, 126, 132)


def read(file: Path) -> HeightMap:
    """Return a land in meters, with +X east, +Z south and its north-western corner at x = z = 0."""
    if rasterio is None or WarpedVRT is None:
        return HeightMap.load(file, origin=(0, 0, 0), border="open")
    with rasterio.open(file) as raster:
        crs = raster.crs
        if crs is None:
            raise SystemExit(f"{file} does not say where on earth it lies")
        if crs.is_geographic:  # degrees: to the meters of the UTM zone
            longitude, latitude = raster.lnglat()
            crs = f"EPSG:{32601 + int((longitude + 180) // 6) + (100 if latitude < 0 else 0)}"
        # What has no height becomes NaN, and so no ground.
        with WarpedVRT(raster, crs=crs, dtype="float64", nodata=np.nan) as meters:
            heights = meters.read(1)
            cell_x, cell_z = meters.res
    return HeightMap(heights, cell_size=(cell_x, cell_z), border="open")


def write_sample(folder: Path) -> Path:
    """Write mountains as a GeoTIFF if there is rasterio, else as an ASCII grid."""
    land = load_land(steepness=CELL)  # the demo's, as many times as large
    heights = (land.height_scale * land.heights[180:468, :512]).astype(np.float32)
    rows, columns = heights.shape
    if rasterio is None:
        file = folder / "mountains.asc"
        header = f"ncols {columns}\nnrows {rows}\nxllcorner 0\nyllcorner 0\ncellsize {CELL:g}"
        np.savetxt(file, heights, "%.2f", header=header, comments="")
        return file
    file = folder / "mountains.tif"
    with rasterio.open(
        file,
        "w",
        width=columns,
        height=rows,
        count=1,
        dtype="float32",
        crs="EPSG:32628",
        transform=rasterio.Affine(CELL, 0, 300_000, 0, -CELL, 4_400_000),
    ) as raster:
        raster.write(heights, 1)
    return file


def heights_of(land: HeightMap) -> tuple[Floats, Floats, Floats]:
    """Return x, height and z of all samples, in meters."""
    rows, columns = land.sample_count
    cell_x, cell_z = land.cell_size
    along_x, along_z = np.arange(columns, dtype=np.float64), np.arange(rows, dtype=np.float64)
    x, z = np.meshgrid(along_x * cell_x, along_z * cell_z)
    return x, np.asarray(land.heights[:], dtype=np.float64), z


def viewshed(land: HeightMap, row: int, column: int) -> Flags:
    """Return which samples are seen from one of them: rays that end at each are not stopped."""
    x, y, z = heights_of(land)
    targets = np.stack([x, y + EYES, z], axis=-1)
    ways = targets - targets[row, column]
    far = np.linalg.norm(ways, axis=-1)
    asked = np.isfinite(far) & (far > 0)
    hits = land.raycast_many([targets[row, column]], ways[asked], max_distance=far[asked])
    seen = far == 0
    seen[asked] = np.isnan(hits.distance)
    return np.asarray(seen)


def draw(land: HeightMap, seen: Flags, peak: tuple[int, int], file: Path) -> None:
    """Draw a map, north up: light from the north-west, what is seen from the peak in gold."""
    _, y, _ = heights_of(land)
    cell_x, cell_z = land.cell_size
    slope_z, slope_x = np.gradient(np.nan_to_num(y), cell_z, cell_x)
    light = (0.7 + 0.5 * slope_x + 0.5 * slope_z) / np.sqrt(1 + slope_x**2 + slope_z**2)
    colors = np.where(seen[..., np.newaxis], SEEN, HIDDEN)
    colors = colors * np.clip(0.3 + light, 0.15, 1.3)[..., np.newaxis]
    row, column = peak
    colors[max(row - 1, 0) : row + 2, max(column - 1, 0) : column + 2] = RED
    save_pixels(np.clip(colors, 0, 255).astype(np.uint8), file)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, nargs="?", help="an elevation model; default: mountains")
    parser.add_argument("--picture", type=Path, metavar="OUT.png", help="draw what is seen")
    parser.add_argument("--obj", type=Path, metavar="OUT.obj", help="write the land")
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        land = read(options.file or write_sample(Path(folder)))
    _, heights, _ = heights_of(land)
    row, column = divmod(int(np.nanargmax(heights)), heights.shape[1])
    seen = viewshed(land, row, column)
    share = seen[np.isfinite(heights)].mean()
    print(f"{heights.shape[1]} x {heights.shape[0]} samples, one each {land.cell_size[0]:g} m")
    print(f"from the peak, {heights[row, column]:.0f} m, one sees {share:.0%} of it")
    if options.picture:
        draw(land, seen, (row, column), options.picture)
    if options.obj:
        land.save_obj(options.obj)
        print(f"written to {options.obj}")


if __name__ == "__main__":
    main()
