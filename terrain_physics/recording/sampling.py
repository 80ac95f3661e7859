"""Replays a recording and samples what can be seen: bodies, what they touch, and the ground."""

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.character.state import layout as columns
from terrain_physics._kernels.surface.shapes import BOX, CAPSULE, SPHERE
from terrain_physics._kernels.types import Bytes, Floats, Int64s
from terrain_physics._support.angles import cosine
from terrain_physics._support.matrices import length, product
from terrain_physics.character.group_data import Key, packed_rows
from terrain_physics.character.results import MoveResult
from terrain_physics.character.rows import POSITION, Rows
from terrain_physics.ground.ground import parts_by_key, parts_of
from terrain_physics.group.results import GroupResult
from terrain_physics.heightmap.cells import Region, all_common
from terrain_physics.heightmap.heightmap import HeightMap
from terrain_physics.mesh.mesh import TriangleMesh
from terrain_physics.recording.file import RecordedFrame
from terrain_physics.recording.playback import Moment
from terrain_physics.recording.shown_land import SQUARE, ShownLand, land_near
from terrain_physics.tiles.tiled_ground import TILES, supply_of
from terrain_physics.viewer.clip import RATE, Clip, ClipBodies, ClipPart, ClipSurface, Edit

MOST_BODY_SAMPLES = 1 << 22
"""Limit of bodies times samples of a clip."""

MOST_TRIANGLES = 1 << 21
"""Limit for a ground: all parts, and the triangles that changes bring."""

MOST_PART_SAMPLES = 1 << 22
"""Limit of parts of the ground times samples of a clip."""

MOST_CELLS = 1 << 21
"""Limit of a rectangle of cells around all paths on a land of tiles; far from them it is empty."""

MARGIN = 32
"""Cells shown around the paths of bodies, of a map that is too large to be shown whole."""


class _BodyPaths(NamedTuple):
    """Where the bodies of a replay come to.

    Attributes
    ----------
    low, high : ndarray of float64, shape (2,)
        Lower and upper x and z in meters; the lower above the upper where there is no body.
    squares : set of (int, int)
        The squares of `SQUARE` meters that they come to: x and z.
    """

    low: Floats
    high: Floats
    squares: set[tuple[int, int]]


_KINDS = {SPHERE: "ball", BOX: "box", CAPSULE: "capsule"}

_PUT = 1.0  # meters that the game must put a body away for no path to lead there


class _TooManyTrianglesError(ValueError):
    """A ground has more than `MOST_TRIANGLES`."""


def sampled(play: Callable[[], Iterator[Moment]], title: str) -> Clip:
    """Return a clip of a replay, which ``play`` begins.

    ValueError for more than the limits above, and for a replay that goes another way than what was
    recorded.
    """
    try:
        return _sampled(play, title, None)
    except _TooManyTrianglesError:
        pass  # what was sampled is given up before the next attempt
    return _sampled(play, title, _paths(play()))


def _sampled(play: Callable[[], Iterator[Moment]], title: str, paths: _BodyPaths | None) -> Clip:
    """Return a clip with the maps around some paths, or whole maps."""
    bodies, parts = _BodySampler(), _PartSampler(paths)
    now = slope = 0.0
    for moment in play():
        _refuse_mismatch(moment)
        if moment.frame is None:
            slope = _slope_of(moment)
        else:
            now += moment.frame.delta_time
        if bodies.look(moment, now):
            parts.look(moment.grounds, bodies.count)
    if bodies.end(now):
        parts.look(moment.grounds, bodies.count)
    return Clip(title, bodies.times, bodies.made(), parts.parts, slope)


def _paths(moments: Iterator[Moment]) -> _BodyPaths:
    """Return where the characters of a replay come to."""
    low, high = np.full(2, np.inf), np.full(2, -np.inf)
    squares = set[tuple[int, int]]()
    for moment in moments:
        _refuse_mismatch(moment)
        places = Rows.unpacked(packed_rows(moment.state)).state[:, POSITION][:, [0, 2]]
        low = np.minimum(low, places.min(axis=0, initial=np.inf))
        high = np.maximum(high, places.max(axis=0, initial=-np.inf))
        own = np.floor(places / SQUARE).astype(np.int64).tolist()
        squares.update((x, z) for x, z in own)
    return _BodyPaths(low, high, squares)


def _refuse_mismatch(moment: Moment) -> None:
    """Refuse to show what did not happen."""
    found = moment.mismatch
    if found is not None:
        raise ValueError(
            f"the replay must go the way that was recorded, got another state of "
            f"{found.key!r} after frame {found.frame}: the scene is not as it was"
        )


def _slope_of(moment: Moment) -> float:
    """Return the cosine of the steepest slope that the first character walks."""
    rules = Rows.unpacked(packed_rows(moment.state)).rules
    found = rules[:1, columns.SLOPE_COSINE].tolist() or [cosine(math.radians(30.0))]
    return float(found[0])


class _BodySampler:
    """Samples bodies, at the first frame that is due."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self._numbers: dict[Key, int] = {}  # of all bodies that there ever were
        self._shapes: dict[tuple[float, ...], int] = {}
        self._samples: list[dict[str, Any]] = []
        self._blocked: list[Floats] = []
        self._last: dict[str, Any] | None = None
        self._put: set[Key] = set()  # since the last sample
        self._shown: set[Key] = set()  # in the last sample

    @property
    def count(self) -> int:
        """How many samples there are."""
        return len(self.times)

    def look(self, moment: Moment, now: float) -> bool:
        """See how all are after a frame; tell whether it became a sample."""
        seen = self._seen(moment)
        if self._last is not None:
            self._put |= _put_by_game(moment.frame, self._last, seen)
        self._last = seen
        # Sums of frames are off by roundings.
        is_due = math.floor(now * RATE + 1e-3) > (
            math.floor(self.times[-1] * RATE + 1e-3) if self.times else -1
        )
        if is_due:
            self._take(seen, now)
        return is_due

    def end(self, now: float) -> bool:
        """Sample the last frame, so that a clip ends where the recording does; tell if it was."""
        if self._last is None or self.times[-1] == now:
            return False
        self._take(self._last, now)
        return True

    def _seen(self, moment: Moment) -> dict[str, Any]:
        """Return the visible state of all characters after a frame."""
        rows = Rows.unpacked(packed_rows(moment.state))
        state, rules = rows.state, rows.rules
        offset = rules[:, columns.OFFSET : columns.OFFSET + 3]
        turns = rules[:, columns.ROTATION : columns.ROTATION + 9].reshape(-1, 3, 3)
        point = columns.GROUND_POINT
        normal = columns.GROUND_NORMAL
        return {
            "keys": moment.state.keys,
            "places": {key: number for number, key in enumerate(moment.state.keys)},
            "rules": rules,
            "center": state[:, POSITION] + offset,
            "rotation": quaternions(turns),
            "state": state[:, columns.GROUND_KIND].astype(np.uint8),
            "touch": np.hstack([state[:, point : point + 3], state[:, normal : normal + 3]]),
            "result": moment.result,
        }

    def _shapes_of(self, rules: Floats) -> Int64s:
        """Return which of all shapes each row has."""
        extents = rules[:, columns.EXTENTS : columns.EXTENTS + 3]
        rows = np.column_stack([rules[:, columns.KIND], extents]).tolist()
        known = self._shapes
        return np.array([known.setdefault(tuple(row), len(known)) for row in rows], dtype=np.int64)

    def _take(self, seen: dict[str, Any], now: float) -> None:
        """Keep how all are as a sample."""
        keys: tuple[Key, ...] = seen["keys"]
        numbers = [self._numbers.setdefault(key, len(self._numbers)) for key in keys]
        if (self.count + 1) * len(self._numbers) > MOST_BODY_SAMPLES:
            raise ValueError(
                f"a page must show at most {MOST_BODY_SAMPLES} bodies times moments, {RATE:g} a "
                f"second, got {len(self._numbers)} bodies for more than {now:.0f} s"
            )
        sample = {name: seen[name] for name in ("center", "rotation", "state", "touch")}
        sample["shape"] = self._shapes_of(seen["rules"])
        sample["numbers"] = np.array(numbers, dtype=np.int64)
        sample["is_put"] = np.array(
            [key in self._put and key in self._shown for key in keys], dtype=np.bool_
        )
        self._samples.append(sample)
        self._blocked.append(_blockers(seen["result"], self.count, sample["numbers"]))
        self._put, self._shown = set(), set(keys)
        self.times.append(now)

    def made(self) -> ClipBodies:
        """Return all samples as arrays."""
        size = len(self._samples), len(self._numbers)
        rotation = np.zeros((*size, 4))
        rotation[..., 3] = 1.0
        bodies = ClipBodies(
            names=[str(key) for key in self._numbers],
            shapes=[(_KINDS[int(kind)], (x, y, z)) for kind, x, y, z in self._shapes],
            shape=np.full(size, -1),
            center=np.zeros((*size, 3)),
            rotation=rotation,
            state=np.zeros(size, dtype=np.uint8),
            is_put=np.zeros(size, dtype=np.bool_),
            touch=np.zeros((*size, 6)),
            blocked=np.concatenate([np.zeros((0, 8)), *self._blocked]),
        )
        for number, sample in enumerate(self._samples):
            numbers = sample.pop("numbers")
            for name, values in sample.items():
                getattr(bodies, name)[number, numbers] = values
        return bodies


def _put_by_game(
    frame: RecordedFrame | None, last: dict[str, Any], seen: dict[str, Any]
) -> set[Key]:
    """Return the keys of bodies that the game put elsewhere or added: they have no path."""
    if frame is None:
        return set()
    written = np.unique(frame.rows[(frame.places < 3)]).tolist()
    found: set[Key] = seen["places"].keys() - last["places"].keys()
    for row in written:
        key = frame.keys[row]
        before = last["places"].get(key)
        if before is None:
            continue
        displacement = seen["center"][seen["places"][key]] - last["center"][before]
        if length(displacement.tolist()) > _PUT:
            found.add(key)
    return found


def _blockers(result: Any, sample: int, bodies: Int64s) -> Floats:
    """Return the hits that blocked bodies in an update, as rows of `ClipBodies.blocked`."""
    if isinstance(result, GroupResult):
        hits = result.blocked_by
        rows = np.flatnonzero(result.blocked)
        found = np.hstack([hits.point[rows], hits.normal[rows]])
    else:
        results = [result] if isinstance(result, MoveResult) else [*(result or {}).values()]
        if any(isinstance(own, GroupResult) for own in results):  # of a world
            return _blockers_of_all(results, sample, bodies)
        blocked = [(row, own.blocked_by) for row, own in enumerate(results) if own.blocked]
        rows = np.array([row for row, _ in blocked], dtype=np.int64)
        numbers = [[*hit.point, *hit.normal] for _, hit in blocked if hit is not None]
        found = np.array(numbers).reshape(-1, 6)
    return np.column_stack([np.full(len(rows), float(sample)), bodies[rows], found])


def _blockers_of_all(results: list[Any], sample: int, bodies: Int64s) -> Floats:
    """Return the same of several results, whose characters follow each other."""
    found, end = [], 0
    for own in results:
        first, end = end, end + (len(own.blocked) if isinstance(own, GroupResult) else 1)
        found.append(_blockers(own, sample, bodies[first:end]))
    return np.concatenate(found)


def quaternions(turns: Floats) -> Floats:
    """Return unit quaternions x, y, z, w (n, 4) of rotations (n, 3, 3), with w >= 0.

    By the largest of four diagonal sums (Shepperd, 1978).
    """
    m = turns
    trace = m[:, 0, 0] + m[:, 1, 1] + m[:, 2, 2]
    # Columns: 4 times x, y, z and w, each times one of them.
    table = np.empty((len(m), 4, 4))
    for axis in range(3):
        table[:, axis, axis] = 1.0 + 2.0 * m[:, axis, axis] - trace
        j, k = (axis + 1) % 3, (axis + 2) % 3
        table[:, axis, 3] = table[:, 3, axis] = m[:, k, j] - m[:, j, k]
        table[:, j, k] = table[:, k, j] = m[:, j, k] + m[:, k, j]
    table[:, 3, 3] = 1.0 + trace
    best = np.argmax(np.diagonal(table, axis1=1, axis2=2), axis=1)
    found = table[np.arange(len(m)), best]
    found /= np.sqrt((found * found).sum(axis=1, keepdims=True))
    return np.asarray(np.where(found[:, 3:] < 0.0, -found, found))


class _PartSampler:
    """Samples the parts of grounds, and notes their changes."""

    def __init__(self, paths: _BodyPaths | None) -> None:
        self.parts: list[ClipPart] = []
        self._paths = paths
        self._lands: dict[int, ShownLand] = {}  # of the grounds that have one
        self._known: dict[tuple[int, int], _SampledPart] = {}
        self._triangles = 0
        self._samples = 0

    def look(self, grounds: list[Any], count: int) -> None:
        """Note the parts as they are, for samples up to ``count``, that one left out."""
        there = {
            (index, key): (ground, part)
            for index, ground in enumerate(grounds)
            for key, part in (self._land_of(index, ground) | parts_by_key(ground)).items()
        }
        self._samples += len(there)
        if self._samples > MOST_PART_SAMPLES:
            raise ValueError(
                f"a page must show at most {MOST_PART_SAMPLES} parts of the ground times moments, "
                f"{RATE:g} a second, got {len(there)} parts at moment {count}"
            )
        for gone in self._known.keys() - there.keys():
            del self._known[gone]
        for name, (ground, part) in there.items():
            known = self._known.get(name)
            if known is None or known.part is not part:
                region = self._region_of(name, part)
                self._count_in(self._triangles_of(name, part, region))
                known = _SampledPart(
                    part, region, count - 1, _scale_of(ground, name[1]), goes_on=_goes_on(ground)
                )
                self._known[name] = known
                self.parts.append(known.shown)
            self._count_in(known.follow(ground, name[1], count))

    def _land_of(self, index: int, ground: Any) -> dict[int, HeightMap]:
        """Return the land of a ground of tiles as it is now, by its key."""
        supply = supply_of(ground)
        if supply is None:
            return {}
        if index in self._lands:
            self._lands[index].follow()
        else:
            squares = set[tuple[int, int]]() if self._paths is None else self._paths.squares
            land = None if self._paths is None else land_near(supply, squares, MARGIN, MOST_CELLS)
            if land is None:  # it is never shown whole
                raise _TooManyTrianglesError(
                    f"a page must show at most {MOST_CELLS} cells of a rectangle around the paths "
                    "of all bodies on a TiledGround, got more"
                )
            self._lands[index] = land
        return {TILES: self._lands[index].terrain}

    def _region_of(self, name: tuple[int, int], part: HeightMap | TriangleMesh) -> Region | None:
        """Return the cells of a part that are shown; None: all of it."""
        if self._paths is None or isinstance(part, TriangleMesh):
            return None
        if name[0] in self._lands:
            return _all_of(part)
        return _region_near(part, self._paths)

    def _triangles_of(
        self, name: tuple[int, int], part: HeightMap | TriangleMesh, region: Region | None
    ) -> int:
        """Return how many triangles are shown of a part, before any are made."""
        if name[0] in self._lands and isinstance(part, HeightMap):
            return 2 * self._lands[name[0]].cell_count
        return _triangle_count(part, region)

    def _count_in(self, triangles: int) -> None:
        self._triangles += triangles
        if self._triangles > MOST_TRIANGLES:
            raise _TooManyTrianglesError(
                f"a page must show at most {MOST_TRIANGLES} triangles of the ground, those that "
                f"edits bring included, got {self._triangles}"
            )


def _all_of(part: HeightMap) -> Region:
    """Return all cells of a map."""
    rows, columns_ = part.cell_count
    return Region(0, rows, 0, columns_)


def _triangle_count(part: HeightMap | TriangleMesh, region: Region | None = None) -> int:
    """Return how many triangles a part has, or cells of it, before any are made."""
    if isinstance(part, TriangleMesh):
        return len(part)
    row_0, row_1, column_0, column_1 = region or _all_of(part)
    return 2 * (row_1 - row_0) * (column_1 - column_0)


def _region_near(part: HeightMap, paths: _BodyPaths) -> Region:
    """Return the cells of a map near paths, at least one."""
    ends = []
    for axis in (1, 0):  # rows go along z
        start, size = part.origin64[2 * axis], part.cell_size[axis]
        count = part.cell_count[1 - axis]
        low, high = ((float(end[axis]) - start) / size for end in paths[:2])
        first = math.floor(min(max(low - MARGIN, 0.0), count - 1.0))
        ends += [first, math.ceil(min(max(high + MARGIN, first + 1.0), count))]
    return Region(*ends)


def _scale_of(ground: Any, key: int) -> float:
    """Return the scale of a part, which it keeps."""
    parts = parts_of(ground)
    return 1.0 if parts is None else float(parts.meshes.scales.get(key, 1.0))


def _goes_on(ground: Any) -> bool:
    """Tell whether maps of a ground go on beyond their borders, if they would alone."""
    maps = [part for part in parts_by_key(ground).values() if isinstance(part, HeightMap)]
    return len(maps) == 1 and maps[0].border == "extend"


class _SampledPart:
    """A part of a ground, and its triangles that are shown."""

    def __init__(
        self,
        part: HeightMap | TriangleMesh,
        region: Region | None,
        first: int,
        scale: float,
        *,
        goes_on: bool,
    ) -> None:
        self.part, self._version, self._scale = part, part.version, scale
        self._region = region
        # Its own frame is shifted, so that numbers are small wherever on earth it is.
        around = (0, 0)
        self._matrix: Floats | None = None
        self._width = 0  # of a map: cells of a row that are shown
        if isinstance(part, HeightMap):
            self._width = part.cell_count[1] if region is None else region[3] - region[2]
            around = part.sample_count if goes_on and region is None else around
            kind, cell, self._origin = "map", part.cell_size, np.array(part.origin64)
        else:
            low, high = part.vertices.min(axis=0) * scale, part.vertices.max(axis=0) * scale
            kind, cell, self._origin = "mesh", (0.0, 0.0), 0.5 * (low + high)
        self._vertices, faces, materials = self._triangles(region)
        shown = self._vertices.copy()
        self.shown = ClipPart(
            kind, cell, around, region is not None, first, shown, [], part.material_names
        )
        self._add(ClipSurface(first, faces, materials))

    def _triangles(self, region: Region | None) -> tuple[Floats, NDArray[np.int32], Bytes]:
        """Return vertices in the shifted frame, faces and their materials, as they are now."""
        part = self.part
        if isinstance(part, TriangleMesh):
            return (
                part.vertices * self._scale - self._origin,
                part.faces.copy(),
                part.materials.copy(),
            )
        vertices, _, indices = part.to_mesh(region, relative_to=self._origin)
        faces = indices.astype(np.int32).reshape(-1, 3)
        row, row_end, column, column_end = region or _all_of(part)
        rows, columns_ = _cells_of(faces, column_end - column)
        return (
            vertices.astype(np.float64),
            faces,
            part.materials[row:row_end, column:column_end][rows, columns_],
        )

    def follow(self, ground: Any, key: int, count: int) -> int:
        """Note the part for samples up to ``count``; return how many triangles came."""
        came = 0
        if self.part.version != self._version:
            since, self._version = self._version, self.part.version
            came = self._note_edit(count - 1, since)
        in_ground = parts_of(ground) is not None
        self._note_place(ground.transform(key) if in_ground else np.eye(4))
        self.shown.is_solid.append(not in_ground or ground.layers_of(key) != 0)
        return came

    def _note_place(self, matrix: Floats) -> None:
        """Note where the part is; one that stays shares its numbers with the sample before."""
        shown = self.shown
        if self._matrix is not None and np.array_equal(matrix, self._matrix):
            shown.position.append(shown.position[-1])
            shown.rotation.append(shown.rotation[-1])
            return
        self._matrix, turn = matrix, matrix[:3, :3] / self._scale
        shown.position.append(product(turn, self._origin[:, np.newaxis])[:, 0] + matrix[:3, 3])
        shown.rotation.append(quaternions(turn[np.newaxis])[0])

    def _note_edit(self, sample: int, since: int) -> int:
        """Note edits since a version, before a sample; return how many triangles changed."""
        edit = None if isinstance(self.part, TriangleMesh) else self._moved_of(self.part, since)
        if edit is not None:
            rows, vertices = edit
            self._vertices[rows] = vertices
            if len(rows):
                self.shown.edits.append(Edit(sample, rows, vertices))
            return len(rows)
        vertices, faces, materials = self._triangles(self._region)
        rows = np.flatnonzero((vertices != self._vertices).any(axis=1))
        if len(rows):
            self.shown.edits.append(Edit(sample, rows, vertices[rows]))
        self._vertices = vertices
        last = self.shown.surfaces[-1]
        if np.array_equal(last.faces, faces) and np.array_equal(last.materials, materials):
            return len(rows)
        self._add(ClipSurface(sample, faces, materials))
        return len(rows) + len(faces)

    def _add(self, surface: ClipSurface) -> None:
        """Show other triangles from now on."""
        self.shown.surfaces.append(surface)
        if self._width:
            row, column = _cells_of(surface.faces, self._width)
            self._cells = row * self._width + column

    def _moved_of(self, part: HeightMap, since: int) -> tuple[Int64s, Floats] | None:
        """Return rows of vertices that edits since a version moved, and the vertices.

        None if they changed more than that. Only what was edited is looked at.
        """
        shown = self._region or _all_of(part)
        found: dict[int, Floats] = {}
        for region in all_common(part.changes_since(since), shown):
            vertices, faces, materials = self._triangles(region)
            rows = np.arange(region.row_start, region.row_stop + 1) - shown.row_start
            columns_ = np.arange(region.column_start, region.column_stop + 1) - shown.column_start
            numbers = np.add.outer(rows * (self._width + 1), columns_).ravel()
            first, stop = columns_[0], columns_[-1]
            own = self._rows_of_faces(rows[:-1], first, stop)
            last = self.shown.surfaces[-1]
            if not np.array_equal(last.faces[own], numbers[faces]):
                return None
            if not np.array_equal(last.materials[own], materials):
                return None
            moved = (vertices != self._vertices[numbers]).any(axis=1)
            found |= dict(zip(numbers[moved].tolist(), vertices[moved], strict=True))
        rows = np.array(sorted(found), dtype=np.int64)
        return rows, np.array([found[row] for row in rows.tolist()]).reshape(-1, 3)

    def _rows_of_faces(self, rows: Int64s, first: int, stop: int) -> Int64s:
        """Return which of the last faces are in cells of some rows, from a column to another."""
        starts = np.searchsorted(self._cells, rows * self._width + first)
        stops = np.searchsorted(self._cells, rows * self._width + stop)
        return np.concatenate([np.arange(a, b) for a, b in zip(starts, stops, strict=True)])


def _cells_of(faces: NDArray[np.int32], width: int) -> tuple[Int64s, Int64s]:
    """Return rows and columns of the cells that faces are in, of so many cells a row."""
    rows, columns_ = np.divmod(faces.astype(np.int64), width + 1)
    return rows.sum(axis=1) // 3, columns_.sum(axis=1) // 3  # of the middles
