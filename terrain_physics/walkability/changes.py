"""Changes of a ground, and the columns of places that each of them touches."""

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

from terrain_physics._kernels.types import Bools
from terrain_physics._locks import Rank, new_lock
from terrain_physics.ground.parts import GroundParts
from terrain_physics.heightmap.framed import LiveMap
from terrain_physics.heightmap.storage import MapStorage
from terrain_physics.surface.changes import EVERYWHERE
from terrain_physics.surface.queries import Queries
from terrain_physics.walkability.making import PlaceReach
from terrain_physics.walkability.marks import Marks
from terrain_physics.walkability.places import Places
from terrain_physics.walkability.still_ground import parts_of

Box = tuple[tuple[float, float, float], tuple[float, float, float]]

Marked = tuple[slice, slice, Bools]
"""Rows and columns of a rectangle of columns of places, and which of them are meant."""

# The number under which the ground itself is watched; parts have theirs.
_GROUND = -1


class _Seen(NamedTuple):
    """A part that walkers meet, as the map knows it: where it is, and what else matters of it."""

    storage: Any
    box: Box
    content: tuple[Any, ...]

    @property
    def is_map(self) -> bool:
        return isinstance(self.storage, LiveMap)


class Changes:
    """The columns of places that are to be made anew, as the ground changes.

    A map tells of each edit at once, with its region. Of a part that comes, goes or changes in
    another way only the number is noted, until `look`: what counts is the box around it then and
    before. A part that walkers do not meet, as it moves or is on other layers, is none.

    Parameters
    ----------
    queries : Queries
        Of the ground.
    mask : int
        The layers that walkers meet.
    places : Places
        Those whose columns are marked. At first, all are.
    reach : PlaceReach
    materials_matter : bool
        Whether walkers have rules for materials.

    Attributes
    ----------
    heights, edges : Marks
        The columns whose heights and whose edges are to be made.
    repaints : int
        How often materials may have changed.
    """

    __slots__ = (
        "__weakref__", "_changed", "_depths", "_lock", "_looked_at", "_mask", "_materials_matter",
        "_places", "_queries", "_reach", "_seen", "_solid", "_taken", "edges", "heights",
        "repaints",
    )  # fmt: skip

    heights: Marks
    edges: Marks

    def __init__(
        self,
        queries: Queries,
        mask: int,
        places: Places,
        reach: PlaceReach,
        *,
        materials_matter: bool,
    ) -> None:
        self._queries, self._mask, self._reach = queries, mask, reach
        self._materials_matter = materials_matter
        self._lock = new_lock(Rank.TREES)  # for marks alone: nobody takes another one meanwhile
        self._taken: tuple[Marked, Marked] | None = None  # the marks that an update has taken off
        self._seen: dict[int, _Seen] = {}
        self._solid: dict[int, Any] = {}  # how deep watched maps are solid
        self._depths: dict[int, float] = {}  # the same of the maps of a ground, as united
        self.repaints = 0
        self.begin(places)
        self._changed, self._looked_at = {_GROUND}, set[int]()
        parts = parts_of(queries)
        if parts is not None:
            parts.watchers.add(self, _GROUND)
        self.look()

    def begin(self, places: Places) -> None:
        """Mark all columns of places."""
        self._places = places
        self.heights = Marks(places.rows, places.columns)
        self.edges = Marks(places.rows, places.columns)

    # Told by others, in any thread

    def tell(self, number: int, what: str, *details: Any) -> None:
        """Hear of a change of the ground or of a part of it."""
        if number == _GROUND:
            self._changed.update(details[0] or [_GROUND])
        elif what == "vertices":
            self._changed.add(number)
        else:
            self._hear_of_edit(number, what, *details)

    def _hear_of_edit(self, number: int, what: str, region: Any) -> None:
        """Mark what an edit of a map touches; the map's lock is held."""
        seen = self._seen.get(number)
        if seen is None:
            return  # it has gone
        if what == "materials":
            self.repaints += 1
            if not self._materials_matter:
                return
        solid = seen.storage.solid_depth
        if solid != self._solid.get(number):  # a hole may end it, and united maps follow
            self._solid[number] = solid
            self._mark(*EVERYWHERE)
        else:
            self._mark(*seen.storage.box_of(region))

    # What has changed meanwhile: the caller is the only one that looks

    def look(self) -> None:
        """Mark what parts touch that have come, gone or changed since the last look."""
        _ = self._queries.version  # maps hand on samples that they share
        changed = self._looked_at  # not empty: a signal handler ended the last look
        changed.update(list(self._changed))
        self._changed.difference_update(changed)  # others may add meanwhile
        if not changed:
            return
        parts = parts_of(self._queries)
        if parts is None:
            self._take_over({0: self._alone()}, [0])
        else:
            with parts.followed:
                numbers = [*parts.sources, *self._seen] if _GROUND in changed else [*changed]
                self._take_over(self._parts_now(parts, numbers), numbers)
                self._compare_maps(parts)
        changed.clear()

    def _alone(self) -> _Seen:
        """Return a map or a mesh that is the ground by itself."""
        queries: Any = self._queries
        storage = queries.storage
        if isinstance(storage, MapStorage):
            return _Seen(storage, storage.box_of(storage.whole), ())
        version = storage.version  # or later, then it is told again
        return _Seen(storage, storage.table.bounds(0), (version,))

    def _parts_now(self, parts: GroundParts, numbers: Iterable[int]) -> dict[int, _Seen]:
        """Return those of some parts that walkers meet, by their numbers."""
        found, moving = {}, set(parts.meshes.movers.moving)
        for number in numbers:
            layers = parts.layers.get(number, 0) & self._mask
            if layers == 0 or number in moving:
                continue
            storage: Any = parts.sources[number].storage
            if isinstance(storage, LiveMap):
                box = storage.box_of(storage.whole)
                found[number] = _Seen(storage, box, (parts.layers[number],))
            else:
                found[number] = _Seen(storage, *parts.look_of_mesh(number))
        return found

    def _take_over(self, now: dict[int, _Seen], numbers: Iterable[int]) -> None:
        """Compare some parts with what was known of them; mark where they differ."""
        for number in set(numbers):
            before, after = self._seen.get(number), now.get(number)
            if before == after:
                continue
            self.repaints += 1
            # First: if a signal handler raises, all of this is done again.
            for seen in (before, after):
                if seen is not None:
                    self._mark(*seen.box)
            if before is not None:
                del self._seen[number]
                before.storage.watchers.remove(self, number)
            if after is not None:
                if after.is_map:
                    self._solid[number] = after.storage.solid_depth
                after.storage.watchers.add(self, number)
                self._seen[number] = after
                if not after.is_map and after.storage.version != after.content[0]:
                    self._changed.add(number)  # refitted before this watched it

    def _compare_maps(self, parts: GroundParts) -> None:
        """Mark everything if other maps than those that came or went are other ground now.

        United maps are as thick as the thinnest, and a single map may go on at its border.
        """
        before, now = self._depths, parts.maps.depths()
        if before and before != now:
            is_same = before.items() <= now.items() or now.items() <= before.items()
            if not is_same or 1 in {len(before), len(now)}:
                self._mark(*EVERYWHERE)
        self._depths = now

    # Marks

    def _mark(self, lower: Any, upper: Any) -> None:
        """Mark the columns that ground within a box matters to."""
        with self._lock:
            # An update that goes on may find the first place aside.
            may_be_aside = len(self._places.asides) or self._taken is not None
            more = self._reach.aside if may_be_aside else 0.0
            self.heights.mark(*self._columns_near(lower, upper, self._reach.heights + more))
            self.edges.mark(*self._columns_near(lower, upper, self._reach.edges + more))

    def _columns_near(self, lower: Any, upper: Any, reach: float) -> tuple[slice, slice]:
        """Return the rows and columns within a distance of a box, along x and z."""
        places = self._places
        return (
            places_within(
                places.lower_z, places.spacing, places.rows, lower[2] - reach, upper[2] + reach
            ),
            places_within(
                places.lower_x, places.spacing, places.columns, lower[0] - reach, upper[0] + reach
            ),
        )

    def take_off(self, edges: Marked, heights: Marked) -> None:
        """Take the marks off some columns, which are about to be made."""
        with self._lock:
            self._taken = edges, heights
            self.edges.clear(*edges)
            self.heights.clear(*heights)

    def put_back(self) -> None:
        """Mark those of them again that were not made; an interrupted update has left them."""
        with self._lock:
            self._put_taken(self.heights, self.edges)
            self._taken = None

    def _put_taken(self, heights: Marks, edges: Marks) -> None:
        """Mark what an update has taken off and not made."""
        if self._taken is not None:
            edges.put(*self._taken[0])
            heights.put(*self._taken[1])

    def kept(self) -> tuple[Marks, Marks]:
        """Return the marks, for `put_kept` of another one; an update may go on meanwhile."""
        with self._lock:
            heights, edges = self.heights.copy(), self.edges.copy()
            self._put_taken(heights, edges)
            return heights, edges

    def put_kept(self, kept: tuple[Marks, Marks]) -> None:
        """Take over marks of columns of the same places."""
        with self._lock:
            self.heights, self.edges = kept


def places_within(start: float, spacing: float, count: int, lower: float, upper: float) -> slice:
    """Return those of ``count`` places of an axis, from a start on, within lower..upper."""
    first = math.ceil(min(max((lower - start) / spacing, 0.0), count))
    end = math.floor(max(min((upper - start) / spacing, count - 1.0), -1.0)) + 1
    return slice(first, max(first, end))
