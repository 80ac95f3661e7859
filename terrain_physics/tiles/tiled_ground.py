"""Ground without end: a map in tiles that are loaded as they are needed, and meshes on it."""

import os
from collections.abc import Callable
from typing import Any, Literal, Self, cast

import numpy as np
from numpy.typing import ArrayLike

from terrain_physics._kernels.heightmap import grid
from terrain_physics._public import public
from terrain_physics._support import checks
from terrain_physics._support.files import file_name
from terrain_physics.geometry.shapes import AABB
from terrain_physics.ground.ground import Ground
from terrain_physics.ground.keeper import GroundKeeper
from terrain_physics.ground.kept_parts import PartSource
from terrain_physics.ground.movers import NONE_SAVED
from terrain_physics.ground.parts import GroundParts
from terrain_physics.ground.saved import state_of_saved
from terrain_physics.heightmap.brushes import Disc
from terrain_physics.heightmap.cells import Ranges
from terrain_physics.heightmap.checks import checked_samples, hole_cells
from terrain_physics.heightmap.heightmap import HeightMap
from terrain_physics.heightmap.solid.solid_map import SolidMap
from terrain_physics.lattice.lattice_map import LatticeMap
from terrain_physics.surface.changes import ChangeLog
from terrain_physics.surface.ground_files import (
    SavedGround,
    SavedPart,
    damaged_otherwise,
    load_parts,
)
from terrain_physics.surface.materials import material_rows
from terrain_physics.tiles.edit_records import LostEdit
from terrain_physics.tiles.edits import EditStore
from terrain_physics.tiles.loading.callbacks import Callback
from terrain_physics.tiles.loading.edited_tiles import EditedTiles
from terrain_physics.tiles.loading.supply import NEAR, TileSupply
from terrain_physics.tiles.making import make_tiles
from terrain_physics.tiles.questions.tiled_queries import TiledQueries
from terrain_physics.tiles.samples import Tile
from terrain_physics.tiles.saving.land_content import GROUND_KIND, POLICIES, LandContent
from terrain_physics.tiles.saving.reference import TilesReference
from terrain_physics.tiles.stored import StoredTiles
from terrain_physics.tiles.tile_file import TileFile

TILES = 0
"""The key of all tiles: the first part of the ground."""

_MEGABYTE = 1 << 20

# A brush over more samples would take gigabytes.
_MOST_SAMPLES = 1 << 26


@public
class TiledGround(Ground):
    """A ground without end: height samples in tiles, of which those near to somebody are loaded.

    `make` writes the tiles to a file, once; `open` reads its header and index only. The tiles are
    one map: rows, columns, ids of triangles and all answers are those of a `HeightMap` of the same
    samples with an open border, whatever is loaded. Where there is no tile, the map ends. Meshes
    are added to it as to any `Ground`; their keys begin with 1, and 0 is the key of the tiles.

    Call `keep_near` and `load_some` in each frame: a thread reads the tiles around players ahead of
    their need. What happens where a tile is needed that is not loaded yet is decided by
    ``missing``. With "load" it is read there and then, on the caller's thread, so all goes on as if
    everything were loaded. With "wait" nothing waits for a file: a character there is left out of
    the update, solid and unmoved, until the tile has come, see `MoveResult.waiting`.

    With "load", a question reads what it needs: a ray the tiles along its way whose boxes it comes
    to, up to its hit. What needs more than 128 MiB of tiles at once is refused. Of what questions
    and updates have read, the latest 256 MiB stay, and what `keep_near` keeps.

    Edits, such as `carve`, `paint` or `set_heights`, stay when their tile is unloaded. They are
    kept in memory, or in the file ``edits``; the file of tiles is never written to.

    Copies and pickles open the same file of tiles. They have the edits, which are in memory from
    then on, the meshes, and no callbacks; what they need they load again.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from pathlib import Path
    >>> from terrain_physics import AABB, CharacterMovement, SphereCollider, TiledGround
    >>> rows, columns = np.mgrid[:1025, :1025]
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name) / "alps.tiles"
    >>> TiledGround.make(path, 20 * np.sin(rows / 50) * np.cos(columns / 70), tile=128)
    >>> land = TiledGround.open(path)
    >>> land, len(land.loaded)
    (<TiledGround: 64 tiles, 0 loaded, 0 meshes>, 0)
    >>> hero = CharacterMovement(land, SphereCollider(0.5), position=(500, 21, 500))
    >>> for frame in range(60):
    ...     land.keep_near([hero], radius=200)
    ...     count = land.load_some()
    ...     hero.walk(5, 0)
    ...     result = hero.update(1 / 60)
    >>> (3, 3) in land.loaded
    True

    Edits stay:

    >>> land.carve((500, 500), radius=20, depth=5)
    >>> before = land.height_at(500, 500)
    >>> for frame in range(200):
    ...     land.keep_near([(0, 0, 0)], radius=10)
    ...     count = land.load_some()
    >>> (3, 3) in land.loaded
    False
    >>> land.load_now(AABB((500, 0, 500), (500, 0, 500)))
    >>> land.height_at(500, 500) == before
    True
    >>> land.close()
    >>> folder.cleanup()
    """

    __slots__ = ("_supply",)

    _supply: TileSupply

    make = staticmethod(make_tiles)

    def __init__(self, *_: Any, **_options: Any) -> None:
        raise TypeError(
            "TiledGround must be opened: TiledGround.open(path), with a file that "
            "TiledGround.make(path, heights) wrote"
        )

    @classmethod
    def open(
        cls,
        source: str | os.PathLike[str] | StoredTiles,
        *,
        missing: Literal["load", "wait"] = "load",
        edits: str | os.PathLike[str] | None = None,
        damaged: Literal["refuse", "skip"] = "refuse",
    ) -> Self:
        """Return the ground of a file of tiles; none of them is read yet.

        Parameters
        ----------
        source : path or GeneratedTiles
            A file that `make` wrote; it must not change while it is open. Or tiles that a function
            makes, by default on all sides of tile (0, 0).
        missing : "load" or "wait", default "load"
            What happens where a tile is needed that is not loaded. "load": it is read there.
            "wait": characters wait for it, rays and sweeps tell that they end at what is
            `RayHit.unknown`, other questions find no ground there, and edits are refused.
        edits : path, optional
            The file of the edits, made if there is none. By default edits are kept in memory.
        damaged : "refuse" or "skip", default "refuse"
            What happens to a file of edits that is damaged before the last `sync`. "refuse": it is
            an error. "skip": what is whole is kept, and `lost_edits` tells what is not.

        Raises
        ------
        FileNotFoundError, OSError
            If there is no such file, or if it cannot be read.
        TypeError, ValueError
            For a file that is damaged or something else, for edits of other tiles, and for another
            word. The message names the file and the rule.
        """
        policy = cast("Any", checks.choice("missing", missing, POLICIES))
        skips = checks.choice("damaged", damaged, ("refuse", "skip")) == "skip"
        if isinstance(source, str | os.PathLike):
            stored: StoredTiles = TileFile.open(source)
        elif hasattr(source, "read") and hasattr(source, "shape"):
            stored = source
        else:
            raise TypeError(
                f"source must be a path or GeneratedTiles, got {checks.shorten(source)}"
            )
        try:
            tiles = EditedTiles(stored, EditStore.open(edits, stored, skips=skips))
        except BaseException:
            stored.close()
            raise
        ground = cls.__new__(cls)
        ground._begin(TileSupply(tiles, policy))  # noqa: SLF001 its own
        return ground

    def _begin(self, supply: TileSupply, state: tuple[Any, ...] | None = None) -> None:
        """Be the ground of tiles, with the meshes and counts of a state, see `Ground`."""
        self._supply = supply
        self._adopt(*(({}, [1], 1, 0, {}, NONE_SAVED, {}, {}) if state is None else state))

    def _sources_with(self, parts: Any) -> dict[int, PartSource]:
        return {TILES: SolidMap(self._supply.land), **super()._sources_with(parts)}

    def _queries_over(self, held: GroundParts) -> TiledQueries:
        return TiledQueries(held, self._supply)

    @property
    def _land(self) -> LatticeMap:
        return self._supply.land

    # Facts

    @property
    def path(self) -> str | None:
        """The file of tiles; None if they are made as they are needed."""
        return self._supply.tiles.stored.path

    @property
    def missing(self) -> str:
        """What happens where a tile is needed that is not loaded: "load" or "wait"."""
        return self._supply.missing

    @property
    def tile_size(self) -> int:
        """Cells along the side of a tile."""
        return self._land.shape.side

    @property
    def tile_count(self) -> int:
        """How many tiles there are, loaded or not."""
        return int(np.count_nonzero(self._land.exists))

    @property
    def cell_count(self) -> tuple[int, int]:
        """The number of cells, rows by columns, those without a tile included."""
        return self._land.cell_count

    @property
    def sample_count(self) -> tuple[int, int]:
        """The number of samples, rows by columns, those without a tile included."""
        return self._land.sample_count

    @property
    def cell_size(self) -> tuple[float, float]:
        """The size of a cell in meters, along x and z."""
        return self._land.cell_size

    @property
    def origin(self) -> tuple[float, float, float]:
        """Where the first sample of the first tile lies at height 0, in meters: a corner."""
        return self._land.origin

    @property
    def height_scale(self) -> float:
        """Meters per unit of height."""
        return self._land.height_scale

    @property
    def thickness(self) -> float:
        """How deep below its surface the ground is solid, in meters; it never changes."""
        return self._land.thickness

    @property
    def loaded(self) -> frozenset[tuple[int, int]]:
        """The tiles in memory, (row, column) each, as they are now."""
        return frozenset(map(self._supply.tiles.place, list(self._land.loaded)))

    @property
    def edited(self) -> frozenset[tuple[int, int]]:
        """The tiles that were ever edited, (row, column) each, loaded or not."""
        return frozenset(map(self._supply.tiles.place, self._supply.tiles.edits.edited))

    @property
    def lost_edits(self) -> tuple[LostEdit, ...]:
        """What was damaged in the file of edits and is left out, see `open`.

        Where an edit is lost, earlier edits of the place are there, or the land as it was made. The
        bytes stay in the file, and `open` refuses it again, until `compact` writes it anew.
        """
        return self._supply.tiles.edits.lost

    @property
    def waits(self) -> int:
        """How often a character has waited for an update, all of them together."""
        return self._supply.waits

    @property
    def is_loading(self) -> bool:
        """Whether tiles are being read ahead, or wait for `load_some`."""
        return self._supply.is_busy

    @property
    def on_load(self) -> Callback | None:
        """Called with row, column and bounds of each tile that has come; None: nobody is told.

        It is called in `load_some` and `load_now`, on their thread, also for tiles that updates,
        questions and edits have loaded meanwhile. It may change the ground. If it raises, the
        others are called next time.

        Examples
        --------
        Trees that come and go with their tile::

            trees = {}

            def plant(row, column, bounds):
                places = forest[row, column]
                trees[row, column] = [land.add(tree, transform=place) for place in places]

            def fell(row, column, bounds):
                for key in trees.pop((row, column)):
                    land.remove(key)

            land.on_load, land.on_unload = plant, fell
        """
        return self._supply.callbacks.on_load

    @on_load.setter
    def on_load(self, callback: Callback | None) -> None:
        self._supply.callbacks.on_load = _checked_callback("on_load", callback)

    @property
    def on_unload(self) -> Callback | None:
        """Called with row, column and bounds of each tile that has gone, as `on_load`."""
        return self._supply.callbacks.on_unload

    @on_unload.setter
    def on_unload(self, callback: Callback | None) -> None:
        self._supply.callbacks.on_unload = _checked_callback("on_unload", callback)

    # Loading

    def keep_near(self, places: Any, radius: float, unload: float | None = None) -> None:
        """Read the tiles around places ahead of their need, and let go those that are far away.

        Call it in each frame, before `load_some`: it gives the thread that reads tiles its orders
        and reads nothing itself. Tiles that are reached first, at the present velocities, are read
        first; tiles that are no longer wanted are not read. A tile that an update, a question, an
        edit or `load_now` has asked for stays for 120 calls at least, however far away it is.

        Parameters
        ----------
        places : positions, characters, groups, or a sequence of them
            A position is three numbers in meters, many are an array (n, 3). Of a group all members
            count. Anything with a ``position``, and perhaps a ``velocity``, will do. If there are
            none, all tiles are let go.
        radius : float
            Tiles within this distance, in meters, are loaded. At least the reach of a body.
        unload : float, optional
            Tiles farther away than this are let go. At least ``radius``; by default 1.5 times it.

        Raises
        ------
        TypeError, ValueError
            For anything else. Nothing has changed then.

        Examples
        --------
        ::

            land.keep_near([hero, horde, (0, 0, 0)], radius=600, unload=900)
            land.load_some()
        """
        near = checks.positive("radius", radius)
        far = 1.5 * near if unload is None else checks.finite("unload", unload)
        if far < near:
            raise ValueError(f"unload must be at least radius, {near}, got {far}")
        self._supply.keep_near(places, near, far)

    def load_some(self, ms: float = 1.0, max_bytes: int = 8 * _MEGABYTE) -> int:
        """Put tiles into the ground that the thread has read, within a budget; let others go.

        Then `on_load` and `on_unload` are called. Call it once in each frame.

        Parameters
        ----------
        ms : float, default 1.0
            Stop after so many milliseconds. If any tile is ready, one is put in all the same.
        max_bytes : int, default 8 MiB
            Stop after so many bytes of tiles.

        Returns
        -------
        int
            How many tiles it has put in.

        Raises
        ------
        ValueError, OSError, RuntimeError
            If a tile could not be read; the message names it. Each is told once: the thread tries
            it again a second later, as long as it is wanted, and tells of it again only if it was
            read in between. All else is done then.
        """
        seconds = checks.non_negative("ms", ms) / 1000.0
        count = self._supply.load_some(seconds, checks.whole("max_bytes", max_bytes, 1, 2**62))
        self._supply.callbacks.tell()
        self._supply.raise_error()
        return count

    def ready(self, aabb: AABB) -> bool:
        """Tell whether all tiles below and above a box are loaded.

        Parameters
        ----------
        aabb : AABB
            In meters; only x and z count. A tile whose border it touches is one of them.

        Raises
        ------
        TypeError
            If it is not an `AABB`.
        """
        return not self._missing_at(aabb)

    def load_now(self, aabb: AABB) -> None:
        """Load all tiles below and above a box now, on this thread.

        Then `on_load` and `on_unload` are called, as by `load_some`.

        Parameters
        ----------
        aabb : AABB
            In meters; only x and z count. A tile whose border it touches is one of them.

        Raises
        ------
        TypeError
            If it is not an `AABB`.
        ValueError, OSError, RuntimeError
            If a tile cannot be read; the message names it.
        """
        self._supply.load(self._missing_at(aabb))
        self._supply.callbacks.tell()

    def _missing_at(self, aabb: Any) -> list[int]:
        """Return the tiles at a box that are not loaded."""
        checks.instance("aabb", aabb, AABB)
        (x0, _, z0), (x1, _, z1) = aabb.lower64, aabb.upper64
        near_x, near_z = (NEAR * self.tile_size * size for size in self.cell_size)
        box = x0 - near_x, z0 - near_z, x1 + near_x, z1 + near_z
        return self._land.missing_in(np.array([box]))[1]

    def tile_bounds(self, row: int, column: int) -> AABB:
        """Return a box around a tile, its edits included, without loading it.

        Parameters
        ----------
        row, column : int
            Of a tile that there is.

        Raises
        ------
        TypeError, ValueError
            For anything else.
        """
        return self._supply.bounds_of(self._number_of(row, column))

    def tile(self, row: int, column: int) -> Tile | None:
        """Return a copy of what a tile holds now, edits included; None if it is not loaded.

        Parameters
        ----------
        row, column : int
            Of a tile that there is.

        Raises
        ------
        TypeError, ValueError
            For anything else.
        """
        number = self._number_of(row, column)
        with self._land.lock:
            loaded = self._land.loaded.get(number)
            if loaded is None:
                return None
            heights, cells, materials = loaded.heights.copy(), loaded.cells, loaded.materials
            holes = None if cells is None else cells & grid.CELL_HOLE != 0
            flipped = None if cells is None else cells & grid.CELL_FLIPPED != 0
            made_of = None if materials is None else materials.copy()
        return Tile(heights, holes, flipped, made_of)

    def _number_of(self, row: int, column: int) -> int:
        """Return the number of a tile."""
        (first_row, first_column), shape = self._supply.tiles.stored.first, self._land.shape
        down = checks.whole("row", row, first_row, first_row + shape.rows - 1) - first_row
        across = checks.whole("column", column, first_column, first_column + shape.columns - 1)
        across -= first_column
        if not self._land.exists[down, across]:
            raise ValueError(f"row and column must be those of a tile, got ({row}, {column})")
        return down * shape.columns + across

    # Edits

    def set_heights(self, row: int, column: int, heights: ArrayLike) -> None:
        """Set the samples of a rectangle, across the borders of tiles.

        Parameters
        ----------
        row, column : int
            Of the first sample, as of one map of all tiles: row 0 is at `origin`, also where the
            first tile has another number.
        heights : array_like, shape (rows, columns)
            As for `HeightMap`: in units of `height_scale`; NaN is a hole. Where there is no tile,
            nothing is set.

        Raises
        ------
        TypeError, ValueError
            For other numbers, for a rectangle that is not on the map, for heights of 1e38 m and
            more, and with "wait" if a tile there is not loaded. Nothing changes then.
        OSError
            If the edit cannot be written to the file of edits. Nothing changes then.

        Examples
        --------
        ::

            land.set_heights(4000, 2000, np.zeros((30, 20)))  # a pool of 30 x 20 samples
        """
        wide = np.array(checks.real_numbers("heights", checks.masked_as_nan(heights)))
        place = _rectangle(row, column, wide.shape, "heights", self.sample_count)
        new = checked_samples(wide, self._land.frame[:6].tolist())
        self._land.edit("heights", place, new)

    def set_holes(self, row: int, column: int, holes: ArrayLike) -> None:
        """Mark the cells of a rectangle as holes or as ground.

        Parameters
        ----------
        row, column : int
            Of the first cell, as of one map of all tiles.
        holes : array_like of bool, shape (rows, columns)
            True is a hole. Where there is no tile, nothing is set.

        Raises
        ------
        TypeError, ValueError, OSError
            As `set_heights`. Nothing changes then.
        """
        shape = np.shape(checks.copied("holes", holes))
        place = _rectangle(row, column, shape, "holes", self.cell_count)
        new = hole_cells(holes, shape)
        self._land.edit("holes", place, new)

    def set_materials(self, row: int, column: int, materials: ArrayLike) -> None:
        """Set the materials of the cells of a rectangle.

        Parameters
        ----------
        row, column : int
            Of the first cell, as of one map of all tiles.
        materials : array_like, shape (rows, columns)
            Numbers from 0 to 255, or names. Where there is no tile, nothing is set.

        Raises
        ------
        TypeError, ValueError, OSError
            As `set_heights`, and for a name that the tiles do not have. Nothing changes then.
        """
        shape = np.shape(checks.copied("materials", materials))
        place = _rectangle(row, column, shape, "materials", self.cell_count)
        new = material_rows(materials, shape, names=self._land.material_names)
        self._land.edit("materials", place, new)

    def _editing(self, disc: Disc, edit: Callable[[list[SolidMap]], None]) -> None:
        # Read here what the brush reads, with one sample around: no other thread waits for that.
        spans = zip(disc.around(self._land), self.sample_count, strict=True)
        rows, columns = (slice(max(s.start - 1, 0), min(s.stop + 1, most)) for s, most in spans)
        if (rows.stop - rows.start) * (columns.stop - columns.start) > _MOST_SAMPLES:
            raise ValueError(
                f"radius must reach at most {_MOST_SAMPLES} samples, got {disc.radius:g} m"
            )
        self._supply.need(self._land.missing_of((rows, columns), 1), "a brush that reaches tiles")
        super()._editing(disc, edit)

    def sync(self) -> None:
        """Wait until all edits so far are on the disk: a power cut loses none of them.

        Without it, they outlive the end of the program, however it comes.

        Raises
        ------
        OSError
            If they cannot be written.
        """
        self._supply.tiles.edits.sync()

    def compact(self) -> None:
        """Write the file of edits anew, without those that later ones have replaced.

        Raises
        ------
        OSError
            If it cannot be written; the former file stays then.
        """
        self._supply.tiles.edits.compact()

    def close(self) -> None:
        """Put all edits on the disk, and let go of the files.

        The loaded tiles still answer; none can be read or edited any more.

        Raises
        ------
        OSError
            If edits cannot be put on the disk. The files are let go all the same.
        """
        self._supply.close()

    # Files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file for `load`: the edits, the meshes, and where the file of tiles is.

        The file is small: it does not hold the tiles, and they must be there when it is loaded. It
        is a zip archive of arrays and JSON, described in ``surface/ground_files.py``.

        Parameters
        ----------
        path : path
            An existing file is replaced only when the new one is complete.

        Raises
        ------
        TypeError, ValueError
            If ``path`` is not a path that the system takes, and for more than 2 GiB or 10,000
            parts.
        OSError
            If the file cannot be written.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from terrain_physics import TiledGround
        >>> with tempfile.TemporaryDirectory() as name:
        ...     folder = Path(name)
        ...     TiledGround.make(folder / "alps.tiles", [[0] * 65] * 65, tile=64)
        ...     with TiledGround.open(folder / "alps.tiles") as land:
        ...         land.carve((20, 20), radius=8, depth=1)
        ...         land.save(folder / "day2.ground")
        ...     with TiledGround.load(folder / "day2.ground") as again:
        ...         again.edited
        frozenset({(0, 0)})
        """
        super().save(path)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        tiles: str | os.PathLike[str] | StoredTiles | None = None,
        edits: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Return a ground that `save` wrote: equal answers, to the last bit.

        Parameters
        ----------
        path : path
            The file.
        tiles : path or GeneratedTiles, optional
            The file of tiles, if it is elsewhere than when the ground was saved: else it is looked
            for where it was, and beside the file. Tiles that a function makes must be given.
        edits : path, optional
            The file that edits are kept in from now on. It then holds those of the saved ground:
            others that it held are replaced. By default edits are kept in memory.

        Raises
        ------
        FileNotFoundError
            If there is no such file, or no file of tiles: the message names all places.
        TypeError, ValueError
            If it is damaged or holds something else, for more than 2 GiB unpacked, before that is
            read, for tiles that are not those of then, and for edits of others.
        OSError
            If the file of edits cannot be written.
        """
        saved = SavedGround(GROUND_KIND, *load_parts(path, GROUND_KIND))
        name = file_name(path)
        with damaged_otherwise(name):
            wanted = TilesReference.of_land(saved.parts[0])
        stored = wanted.find(name, tiles)
        with damaged_otherwise(name):
            ground = cls._of_land(saved, stored)
        if edits is not None:
            ground._keep_edits_in(edits)  # noqa: SLF001 its own
        return ground

    @classmethod
    def _of_land(cls, saved: SavedGround, stored: StoredTiles) -> Self:
        """Return the ground of a saved form, on these tiles, which are closed if it is damaged."""
        try:
            land, *meshes = saved.parts
            content = LandContent.of_saved(land)
            state = state_of_saved(meshes, saved.about, others=[TILES])
            ground = cls.__new__(cls)
            ground._take_over(stored, content, state)  # noqa: SLF001 its own
        except BaseException:
            stored.close()
            raise
        return ground

    def _take_over(self, stored: StoredTiles, content: LandContent, state: tuple[Any, ...]) -> None:
        """Be the ground of tiles with some content, and with the meshes and counts of a state."""
        store = EditStore.open(None, stored)
        store.replace(content.edits)
        supply = TileSupply(EditedTiles(stored, store), content.missing)
        supply.waits = content.waits
        supply.land.version, supply.land.changes = content.version, ChangeLog(content.version)
        self._begin(supply, state)

    def _keep_edits_in(self, path: str | os.PathLike[str]) -> None:
        """Keep the edits in a file from now on, which then holds no others."""
        tiles = self._supply.tiles
        store = EditStore.open(path, tiles.stored)
        try:
            store.replace(tiles.edits.contents())
        except BaseException:
            store.close()
            raise
        tiles.edits.close()
        tiles.edits = store

    def _saved(self) -> SavedGround:
        return super()._saved()._replace(kind=GROUND_KIND)

    def _saved_part(self, storage: Any) -> SavedPart:
        if storage is not self._land:
            return super()._saved_part(storage)
        reference = TilesReference.of(self._supply.tiles.stored)
        return LandContent.of(self._supply).saved(reference)

    # As a ground

    def _new_keeper(self) -> GroundKeeper:
        return GroundKeeper(self._held, self._parts, self._supply)

    @property
    def bounds(self) -> AABB:
        """The box around all tiles, loaded or not, with their edits, and all meshes.

        Beyond it there is nothing to stand on: a body falls off the end of the land.
        """
        return super().bounds

    def _box_of_map(self, key: int) -> tuple[Any, Any] | None:
        return self._supply.corners if key == TILES else super()._box_of_map(key)

    def _refuse_again(self, part: HeightMap) -> None:
        raise TypeError(
            f"part must be a TriangleMesh on a TiledGround, got {checks.shorten(part)}; add its "
            "to_mesh(), or give its samples to set_heights"
        )

    def _mesh_key(self, key: Any) -> int:
        if self._checked_key(key) == TILES:
            raise TypeError(f"key must be that of a TriangleMesh, got {key!r} of the tiles")
        return super()._mesh_key(key)

    def _removable(self, key: Any) -> int:
        number = self._checked_key(key)
        if number == TILES:
            raise ValueError(f"key must be that of a mesh, got {key!r} of the tiles, which stay")
        return number

    def __repr__(self) -> str:
        tiles, loaded = checks.counted(self.tile_count, "tile"), len(self._land.loaded)
        meshes = checks.counted(len(self._parts), "mesh", "meshes")
        return f"<TiledGround: {tiles}, {loaded} loaded, {meshes}>"

    def __getstate__(self) -> tuple[Any, ...]:
        supply, stored = self._supply, self._supply.tiles.stored

        def saved() -> tuple[Any, ...]:
            source = stored if stored.path is None else TilesReference.of(stored)
            return source, LandContent.of(supply), super(TiledGround, self).__getstate__()

        return self._held.editing(lambda _: saved())  # all of one moment

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        source, content, rest = state
        stored = source.find("copy") if isinstance(source, TilesReference) else source
        self._take_over(stored, content, rest)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def supply_of(ground: Any) -> TileSupply | None:
    """Return what brings the tiles of a ground; None of others."""
    return ground._supply if isinstance(ground, TiledGround) else None  # noqa: SLF001 the one door


def _checked_callback(name: str, callback: Any) -> Callback | None:
    if callback is not None and not callable(callback):
        raise TypeError(f"{name} must be callable or None, got {checks.shorten(callback)}")
    return cast("Callback | None", callback)


def _rectangle(
    row: Any, column: Any, shape: tuple[int, ...], name: str, counts: tuple[int, int]
) -> Ranges:
    """Return the ranges of a rectangle of values that begins at a row and column."""
    if len(shape) != 2 or 0 in shape:
        raise ValueError(f"{name} must have shape (rows, columns), at least (1, 1), got {shape}")
    down, across = (
        checks.whole(what, start, 0, count - 1)
        for what, start, count in zip(("row", "column"), (row, column), counts, strict=True)
    )
    if down + shape[0] > counts[0] or across + shape[1] > counts[1]:
        raise ValueError(
            f"{name} must lie on the map of {counts[0]} x {counts[1]}, got shape {shape} from "
            f"({down}, {across}) on"
        )
    return slice(down, down + shape[0]), slice(across, across + shape[1])
