"""Which reader is for which file, by suffix.

Read are .npy, .npz, .r16/.raw, .r32, .hgt, .hgt.gz, .asc, .txt, .csv, .dds, .png, .bmp, .exr and
.tif/.tiff.
Only the last two need other libraries (extras ``exr`` and ``images``), which are imported when
such a file is opened.
"""

from collections.abc import Callable

from terrain_physics.heightmap.formats.bmp import read_bmp
from terrain_physics.heightmap.formats.dds import read_dds
from terrain_physics.heightmap.formats.exr import read_exr
from terrain_physics.heightmap.formats.number_tables import read_table
from terrain_physics.heightmap.formats.numpy_files import read_npy, read_npz
from terrain_physics.heightmap.formats.png import read_png
from terrain_physics.heightmap.formats.raw import (
    read_hgt,
    read_packed_hgt,
    read_raw,
    read_raw_floats,
)
from terrain_physics.heightmap.formats.source import Loaded, Source
from terrain_physics.heightmap.formats.text_grids import read_asc
from terrain_physics.heightmap.formats.tiff import read_tiff

RAW = (".r16", ".raw")
"""Suffixes of files that hold unsigned 16-bit integers and nothing else."""

HEADERLESS = (*RAW, ".r32")
"""Suffixes of files that hold numbers of either byte order, and nothing else."""

WITHOUT_SIZE = (*HEADERLESS, ".hgt", ".hgt.gz")
"""Suffixes of files that do not say how large they are."""

TILES = (".png", ".bmp")
"""Suffixes of pictures of integers: their numbers may be meters in an encoding, or in a range."""

PICTURES = (*TILES, ".exr")
"""Suffixes of pictures that may have several channels."""

READERS: dict[str, Callable[[Source], Loaded]] = {
    ".npy": read_npy,
    ".npz": read_npz,
    **dict.fromkeys(RAW, read_raw),
    ".r32": read_raw_floats,
    ".hgt": read_hgt,
    ".hgt.gz": read_packed_hgt,
    ".asc": read_asc,
    ".txt": read_table,
    ".csv": read_table,
    ".dds": read_dds,
    ".png": read_png,
    ".bmp": read_bmp,
    ".exr": read_exr,
    ".tif": read_tiff,
    ".tiff": read_tiff,
}
