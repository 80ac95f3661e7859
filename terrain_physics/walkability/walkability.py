"""Walkability: where a character can walk on a ground, as a map made from its own walks."""

import os
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from typing import Any, Self, TypeVar, Unpack
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray
from pyglm import glm

from terrain_physics._kernels.character.contacts.resize import SHAPE_SIZE
from terrain_physics._kernels.character.state import layout as columns
from terrain_physics._kernels.types import (
    Bools,
    Bytes,
    Float32s,
    Floats,
    Int32s,
    read_only,
)
from terrain_physics._kernels.walkability.layout import DIRECTIONS
from terrain_physics._kernels.walkability.ways.lengths import Lengths
from terrain_physics._locks import Entered, NotYet, is_held, is_ours, plain_lock
from terrain_physics._public import public
from terrain_physics._support import checks
from terrain_physics._support.pictures import png, shaded
from terrain_physics._support.threads import Workers
from terrain_physics.character.attribute_guard import AttributeGuard
from terrain_physics.character.colliders import Collider
from terrain_physics.character.placement import (
    UPRIGHT,
    AnyGround,
    checked_collider,
    checked_ground,
    placed_shape,
)
from terrain_physics.character.rules import (
    CharacterRules,
    RuleKeywords,
    checked_rules,
    put_rules,
    refuse_unknown,
)
from terrain_physics.surface.queries import Queries
from terrain_physics.surface.surface import queries_of
from terrain_physics.walkability.changes import Changes
from terrain_physics.walkability.field import Field
from terrain_physics.walkability.grid import (
    checked_rates,
    checked_spacing,
    checked_speed,
    levels_on,
    places_over,
    refuse_more_places,
)
from terrain_physics.walkability.making import Maker, reach_of
from terrain_physics.walkability.path import Path
from terrain_physics.walkability.places import Places
from terrain_physics.walkability.still_ground import parts_of, reading_still, refuse_missing
from terrain_physics.walkability.terms import Terms
from terrain_physics.walkability.update import Circle, Timing, Update, left_in, windows
from terrain_physics.walkability.walkers import Walker
from terrain_physics.walkability.ways.field import field_of
from terrain_physics.walkability.ways.graph import WalkGraph, graph_of
from terrain_physics.walkability.ways.labels import nearest_to, reachable_from
from terrain_physics.walkability.ways.lengths import costly_lengths, factors_of, plain_lengths
from terrain_physics.walkability.ways.pull import pulled, way_between
from terrain_physics.walkability.ways.questions import (
    Kept,
    goal_of,
    goals_of,
    materials_under,
    position_of,
    start_of,
)

_Value = TypeVar("_Value", bound=np.generic)

# Arguments of a map beside rules by name.
_ARGUMENTS = ("spacing", "speed", "max_drop", "rates", "area", "threads")

# Half of the color of places that the largest part does not reach, in pictures.
_APART = 126, 66, 12

_living: "WeakSet[Walkability]" = WeakSet()


@public
class Walkability(AttributeGuard):
    """Where a character can walk on a ground: places it can stand at, and edges between them.

    Places are on a grid, up to three above each other. Where a body would lie on an edge that is
    too steep, as on the nosing of a tread that is narrower than itself, it slips when it is let go:
    the place is where it comes to stand, beside the point of the grid.

    From each place, edges lead in eight directions to the places beside it. An edge holds if the
    character itself would walk it: placed at rest on one place, its seed the number of the place,
    told to walk straight at `speed`, it stands within a quarter of the spacing of the other place
    in three times the time of the way, at each of the `rates`. So all its rules count, and those of
    the ground. Proofs decide most edges; walks decide the rest.

    A new map is empty: `update` makes the places, all or those near to a point, at once or a little
    in each frame. Later it makes anew what the ground's changes have touched.

    Parameters
    ----------
    ground : HeightMap, TriangleMesh or Ground
        The ground. Its parts that are moved in time are left out: see `moving_parts`.
    collider : SphereCollider, CapsuleCollider or BoxCollider
        The body of the character.
    rules : CharacterRules, optional
        The rules of the character, such as ``hero.rules``.
    spacing : float, default 1
        The distance of neighboring places along x and z in meters, at most 8 radii of the body.
        Places stand on multiples of it.
    speed : float, default 3
        The speed of the walks, in m/s, from 0.1 to 30 spacings a second.
    max_drop : float, default 2
        The deepest fall of an edge, in meters.
    rates : iterable of float, default (60,)
        How many updates a second characters may have, each from 5 to 1000, sorted: an edge holds if
        it is walked at each of them. More rates take longer to make.
    area : ((float, float), (float, float)), optional
        The corners (x, z) of the area with places; default: the bounds of the ground as it is now.
    threads : int, optional
        Number of threads of an update; None: one for each processor. The results are the same.
    **rules_by_name
        As for `CharacterMovement`, such as ``slope_limit``; they replace those of `rules`.

    Raises
    ------
    TypeError, ValueError
        For anything else, as for `CharacterGroup`; for an area without places, and for more than 64
        million of them.

    Notes
    -----
    A walker that is farther than half the spacing beside its way has lost it, and its edge does not
    hold. From and to a place beside the grid, it has arrived if it is near enough on the level, and
    no farther above than its step offset: one in front of a riser has not climbed it.

    A body that slips has to stand still within a second, within a quarter of the spacing, or half
    the radius if that is more, and never more than half a spacing; and no deeper than its step
    offset below where it lay, above a walkable face.

    Edges are of three kinds. "drop": the character falls by more than its step offset; where it
    would fly past the other place, it stops in the air above it. "step": it goes up or down more
    steeply than walkable slope. "walk": all others.

    On a `TiledGround`, an update reads the tiles that it needs; if that waits for tiles, they must
    be loaded. Places stay when the tiles go. Without `area`, a large land has too many places.

    An update, edits of the ground and questions to the map may be made by several threads at once.
    A pickle or a deep copy has a ground of its own.

    Examples
    --------
    >>> from terrain_physics import CapsuleCollider, HeightMap
    >>> land = HeightMap([[0, 0, 5], [0, 0, 5], [0, 0, 5]], cell_size=2)
    >>> paths = Walkability(land, CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0)))
    >>> paths.shape, paths.update()
    ((1, 5, 5), 0)
    >>> paths.standing[0, 2].tolist()
    [True, True, False, False, True]
    >>> paths.edges[0, 2, 0].tolist()
    [1, 1, 1, 0, 0, 0, 1, 1]
    """

    def __init__(
        self,
        ground: AnyGround,
        collider: Collider,
        *,
        rules: CharacterRules | None = None,
        spacing: float = 1.0,
        speed: float = 3.0,
        max_drop: float = 2.0,
        rates: Iterable[float] = (60,),
        area: Any = None,
        threads: int | None = None,
        **rules_by_name: Unpack[RuleKeywords],
    ) -> None:
        self._ground, self._collider = checked_ground(ground), checked_collider(collider)
        refuse_unknown(rules_by_name, _ARGUMENTS, Walkability)
        known = CharacterRules() if rules is None else checked_rules(rules)
        self._rules = known.replace(**rules_by_name)
        own_spacing = checked_spacing(spacing, collider)
        own_speed = checked_speed(speed, own_spacing)
        drop = checks.non_negative("max_drop", max_drop)
        self._rates = checked_rates(rates)
        Workers(threads)  # refuses a value that is no number of threads
        self._threads = threads
        row = columns.RULES.defaults()
        materials = put_rules(row, self._rules, {}, ())
        row[:SHAPE_SIZE] = placed_shape(ground, collider, UPRIGHT)
        self._walker = Walker(row, materials, own_speed, drop, self._rates[0])
        levels = levels_on(self._queries)
        self._places = places_over(ground, area, own_spacing, levels)
        self._begin()

    def _begin(self) -> None:
        """Begin to watch the ground."""
        self._walker.rules.setflags(write=False)  # kernels take no other, and a copy may be written
        self._make_locks()
        self._revision, self._timing = 0, Timing()
        self._kept = Kept()
        self._reach = reach_of(self._places.spacing, self._walker)
        self._changes = Changes(
            self._queries,
            self._rules.mask,
            self._places,
            self._reach,
            materials_matter=bool(self._walker.material_rules),
        )

    def _make_locks(self) -> None:
        """Make the locks, which nobody holds at a fork: threads help while they are held."""
        self._lock = plain_lock()  # held while places are read, or a few are made
        self._updating = plain_lock()  # held by an update until it ends
        _living.add(self)

    def _renew_in_child(self) -> None:
        """Go on in a forked child: empty, if it was forked inside an update."""
        was_updating = is_held(self._updating)
        self._make_locks()
        if was_updating:
            self._places.clear()
            self._changes.begin(self._places)
            self._revision += 1

    @property
    def _queries(self) -> Queries:
        return queries_of(self._ground)

    # What it is of

    @property
    def ground(self) -> AnyGround:
        """The ground."""
        return self._ground

    @property
    def collider(self) -> Collider:
        """The body of the character."""
        return self._collider

    @property
    def rules(self) -> CharacterRules:
        """The rules of the character."""
        return self._rules

    @property
    def spacing(self) -> float:
        """The distance of neighboring places along x and z, in meters."""
        return self._places.spacing

    @property
    def speed(self) -> float:
        """The speed of the walks, in m/s."""
        return self._walker.speed

    @property
    def max_drop(self) -> float:
        """The deepest fall of an edge, in meters."""
        return self._walker.max_drop

    @property
    def rates(self) -> tuple[float, ...]:
        """How many updates a second characters may have, for which edges hold."""
        return self._rates

    @property
    def threads(self) -> int | None:
        """Number of threads of an update; None: one for each processor."""
        return self._threads

    @property
    def moving_parts(self) -> tuple[int, ...]:
        """The keys of the parts of the ground that are left out, as they move in time.

        A part belongs to them from its first `Ground.move` with a time on. Conveyors and one-way
        parts that stand still do not.
        """
        parts = parts_of(self._queries)
        if parts is None:
            return ()
        with parts.followed:
            return tuple(parts.meshes.movers.moving)

    # Places

    @property
    def shape(self) -> tuple[int, int, int]:
        """Levels, rows and columns of places: rows run along z, columns along x.

        There is one level on height maps that do not overlap, and there are three once the ground
        has a mesh, or maps above each other. Level 0 has the lowest place of each row and column,
        so what is read of it is there on any ground.
        """
        return self._places.shape

    @property
    def heights(self) -> Float32s:
        """Y of the character's position at rest on each place, of `shape`; NaN: none can rest."""
        with self._lock:
            return _shaped(self._places, self._places.heights.copy())

    @property
    def standing(self) -> Bools:
        """Whether a character can rest on each place, of `shape`."""
        with self._lock:
            return _shaped(self._places, ~np.isnan(self._places.heights))

    @property
    def positions(self) -> Floats:
        """The position of a character at rest on each place, of `shape` and 3; NaN y: none can.

        On narrow treads it is beside the point of the grid.
        """
        with self._lock:
            places = self._places
            return _shaped(places, places.points(np.arange(len(places))), 3)

    @property
    def edges(self) -> Bytes:
        """The kinds of the edges from each place, of `shape` and 8: 0 none, 1 walk, 2 step, 3 drop.

        The first leads along +X; each next one is turned by 45 degrees towards +Z. An edge leads to
        the level of the other column that its walker comes to stand on.
        """
        shifts = 2 * np.arange(DIRECTIONS, dtype=np.uint16)
        with self._lock:
            kinds = self._places.kinds[:, np.newaxis] >> shifts & np.uint16(3)
            return _shaped(self._places, kinds.astype(np.uint8), DIRECTIONS)

    # Questions

    @property
    def labels(self) -> Int32s:
        """The part of the map that each place belongs to, of `shape`; 0: none can rest there.

        Between places of one part a character gets there and back. Parts are numbered from 1 by
        their first places. A place from which it only drops is a part of its own.
        """
        with self._lock:
            labels = self._kept.labels(self._places, (self._revision, len(self._places)))
            return _shaped(self._places, labels)

    def labels_at(self, x: float, z: float) -> Int32s:
        """Return the labels of the places above each other at a point: those nearest to it.

        Parameters
        ----------
        x, z : float
            The point in meters.

        Returns
        -------
        ndarray of int32, shape (levels,)
            From the lowest place up, as in `labels`; 0: none can rest there. All are 0 more than
            half a spacing outside of the area.

        Raises
        ------
        TypeError, ValueError
            For what is no finite number.

        Examples
        --------
        >>> from terrain_physics import HeightMap, SphereCollider
        >>> paths = Walkability(HeightMap([[0] * 5] * 5), SphereCollider(0.4))
        >>> _ = paths.update()
        >>> paths.labels_at(1.2, 3), paths.labels_at(1.2, 30)
        (array([1], dtype=int32), array([0], dtype=int32))
        """
        point = checks.finite("x", x), checks.finite("z", z)
        with self._lock:
            labels, column = self.labels, self._places.column_at(*point)
            return np.zeros_like(labels[:, 0, 0]) if column is None else labels[:, *column].copy()

    def nearest(self, position: Any) -> glm.vec3 | None:
        """Return the place nearest to a position where a character can stand.

        Parameters
        ----------
        position : two or three numbers, or an object with a position
            (x, z), for the distance on the level, or (x, y, z).

        Returns
        -------
        glm.vec3 or None
            The position of a character at rest there. Of places equally far, the lowest, then the
            first one. None if there is none.

        Raises
        ------
        TypeError, ValueError
            For what is no position.

        Examples
        --------
        >>> from terrain_physics import HeightMap, SphereCollider
        >>> paths = Walkability(HeightMap([[0] * 5] * 5), SphereCollider(0.5))
        >>> _ = paths.update()
        >>> paths.nearest((1.2, 7))
        vec3( 1, 0.5, 4 )
        """
        point = position_of("position", position)
        with self._lock:
            found = nearest_to(self._places, *point)
            return None if found is None else glm.vec3(*self._point(found))

    def reachable(self, start: Any) -> Bools:
        """Return which places a character gets to from a start, of `shape`; drops are included.

        Parameters
        ----------
        start : two or three numbers, or an object with a position
            It is taken to the nearest place where a character can stand, within 2 spacings.

        Returns
        -------
        ndarray of bool
            True for the start itself, too.

        Raises
        ------
        TypeError, ValueError
            For what is no position, and for one farther from all places.
        """
        position_of("start", start)
        with self._lock:
            return _shaped(
                self._places, reachable_from(self._places, start_of(self._places, start))
            )

    def path(
        self,
        start: Any,
        goal: Any,
        *,
        nearest: bool = False,
        cost: Mapping[Any, float] | None = None,
    ) -> Path | None:
        """Return a shortest way between two places, made straight where a proof says it holds.

        Parameters
        ----------
        start : two or three numbers, or an object with a position
            (x, z), or (x, y, z). It is taken to the nearest place where a character can stand,
            within 2 spacings.
        goal : two or three numbers, or an object with a position
            It is taken to the nearest place within one spacing.
        nearest : bool, default False
            Whether to take a goal to the nearest place, however far that is.
        cost : mapping of str or int to float, optional
            For materials, by name or number as in ``material_rules``: how much longer a way over
            them counts, from 1 to 1000. Default: all ground counts the same.

        Returns
        -------
        Path or None
            Of one point if both are on one place. None if there is no way.

        Raises
        ------
        TypeError, ValueError
            For what is no position; for a start or a goal where nothing stands, naming the nearest
            place; for an unknown material, and for a cost that is no such factor.

        Notes
        -----
        The length of an edge is that in space, between points of the grid, in whole multiples of
        2**-20 m, times the mean of the factors of its ends. No other way from place to place is
        shorter. The answer does not depend on earlier questions. Materials are those below the
        places, and are looked up when costs are first asked for, and where the map has changed
        since.

        Examples
        --------
        >>> from terrain_physics import CapsuleCollider, HeightMap
        >>> paths = Walkability(HeightMap([[0] * 9] * 9), CapsuleCollider(0.3, 1.8))
        >>> _ = paths.update()
        >>> path = paths.path((0, 0), (8, 6))
        >>> path.kinds, round(path.length, 3)
        (('walk',), 10.0)
        """
        checks.instance("nearest", nearest, bool)
        factors = self._factors(cost)
        position_of("start", start), position_of("goal", goal)
        with self._held(factors) as lengths:
            places = self._places
            ends = start_of(places, start), goal_of(places, "goal", goal, nearest=nearest)
            way = way_between(self._kept.searcher, places, *ends, lengths)
        if way is None:
            return None
        reach = self._reach.edges
        square = np.concatenate([way.points.min(0)[::2] - reach, way.points.max(0)[::2] + reach])
        with reading_still(self._queries, square) as ground:
            points, kinds = pulled(places, lengths, way, ground, self._walker, self._rates)
        return Path(places, self._terms(), points, kinds)

    def field(
        self,
        goals: Any,
        *,
        nearest: bool = False,
        cost: Mapping[Any, float] | None = None,
    ) -> Field:
        """Return the ways from all places to the nearest of some goals.

        Parameters
        ----------
        goals : a goal as for `path`, or several of them
            Each is taken to the nearest place within one spacing.
        nearest, cost
            As for `path`.

        Returns
        -------
        Field
            Distances are those of `path` before it is made straight.

        Raises
        ------
        TypeError, ValueError
            As for `path`; also for no goals.

        Examples
        --------
        >>> from terrain_physics import HeightMap, SphereCollider
        >>> paths = Walkability(HeightMap([[0] * 9] * 9), SphereCollider(0.4))
        >>> _ = paths.update()
        >>> field = paths.field([(4, 4)])
        >>> float(field.distance[0, 4, 1]), field.direction[0, 4, 1].tolist()
        (3.0, [1.0, 0.0])
        """
        checks.instance("nearest", nearest, bool)
        factors = self._factors(cost)
        with self._held(factors) as lengths:
            places = self._places
            ways = field_of(places, goals_of(places, goals, nearest=nearest), lengths)
            return Field(places, self._terms(), ways.distances, ways.next_places, ways.directions)

    def to_graph(self) -> WalkGraph:
        """Return all edges as a sparse matrix, for SciPy, networkx and others.

        Examples
        --------
        >>> from terrain_physics import HeightMap, SphereCollider
        >>> paths = Walkability(HeightMap([[0] * 5] * 5), SphereCollider(0.4))
        >>> _ = paths.update()
        >>> graph = paths.to_graph()
        >>> len(graph.points), len(graph.lengths)
        (25, 144)

        ``scipy.sparse.csr_array((graph.lengths, graph.indices, graph.indptr))`` is a matrix for
        ``scipy.sparse.csgraph``, and ``networkx.from_scipy_sparse_array`` takes it, too.
        """
        with self._lock:
            return graph_of(self._places)

    def _point(self, place: int) -> list[float]:
        """Return the position of a character at rest on a place."""
        point: list[float] = self._places.points(np.array([place]))[0].tolist()
        return point

    def _terms(self) -> Terms:
        """Return what a character has to be like that is led along the map."""
        return Terms(self._ground, self._collider, self._walker.rules, self._walker.speed)

    def _factors(self, cost: Any) -> Floats | None:
        """Return the factors of a cost; None if all ground counts the same."""
        if cost is None:
            return None
        factors = factors_of(cost, self._queries.naming.materials)
        return factors if (factors > 1.0).any() else None

    def _held(self, factors: Floats | None) -> AbstractContextManager[Lengths]:
        """Hold the map; give the lengths of its edges, by the materials of the ground if asked."""
        if factors is None:
            return Entered(self._lock, lambda: plain_lengths(self._places))
        found = [self._materials()]

        def lengths() -> Lengths:
            if len(found[-1]) != len(self._places):  # it has more levels than then
                raise NotYet(lambda: found.append(self._materials()))
            return costly_lengths(self._places, found[-1], factors)

        return Entered(self._lock, lengths)

    def _materials(self) -> Bytes:
        """Return the materials under places.

        The ground is asked while the map is not held: an update takes both in the other order.
        """
        with self._lock:
            places, version, repaints = self._places, self._revision, self._changes.repaints
            known = self._kept.materials(version, repaints)
            if known is not None:
                return known
            heights = places.heights.copy()
        queries, threads = self._queries, self._threads
        return self._kept.find_materials(
            places,
            heights,
            version,
            repaints,
            lambda points: materials_under(queries, points, threads),
        )

    # Updates

    def update(
        self, *, around: Any = None, radius: float | None = None, budget: float | None = None
    ) -> int:
        """Make the places that are new, and those that changes of the ground have touched.

        Parameters
        ----------
        around : two or three numbers, optional
            A point (x, z), or a position: only places near to it are made, the nearest first.
            Default: all.
        radius : float, optional
            How near, in meters on the level; comes with `around`.
        budget : float, optional
            For how many seconds to go on at most; a few places are made in any case. What is not
            made yet stays as it was: an edge leads to places where a character can rest, but it may
            hold no longer. Default: until all is done.

        Returns
        -------
        int
            How many columns of places of that region are still to be made; 0: it is done.

        Raises
        ------
        TypeError, ValueError
            For a value that is no point, radius or time, and one of `around` and `radius` without
            the other. Nothing has changed then. For places on tiles of a `TiledGround` that waits
            which are not loaded; those made before stay.
        RuntimeError
            Inside another update of this map, as from a signal handler.

        Examples
        --------
        >>> from terrain_physics import HeightMap, SphereCollider
        >>> land = HeightMap([[0] * 9] * 9)
        >>> paths = Walkability(land, SphereCollider(0.4))
        >>> paths.update(around=(4, 4), radius=2), int(paths.standing.sum())
        (0, 37)
        >>> while paths.update(budget=0.002) > 0:
        ...     pass  # the next frame of the game
        >>> int(paths.standing.sum())
        81
        >>> land[4, 4] = 3
        >>> paths.update(), bool(paths.edges[0, 4, 3].any())
        (0, False)
        """
        if (around is None) != (radius is None):
            raise ValueError(
                f"around must come with radius, got {checks.shorten(around)} and "
                f"{checks.shorten(radius)}"
            )
        circle = None
        if around is not None:
            point = checks.vector_or_pair("around", getattr(around, "position", around))
            circle = Circle(point[0], point[-1], checks.non_negative("radius", radius))
        seconds = None if budget is None else checks.non_negative("budget", budget, " s")
        self._refuse_inside()
        with self._updating:
            self._changes.put_back()
            self._timing.start(seconds)
            self._see_changes()
            for window, own in windows(self._places, self._changes, circle):
                update = Update(self._places, self._changes, window, own)
                if update.left > 0:
                    self._make(update)
                if self._timing.is_over:
                    break
            return left_in(self._places, self._changes, circle)

    def _refuse_inside(self) -> None:
        """Refuse an update inside another one; other threads wait for its end."""
        if is_ours(self._updating):
            raise RuntimeError(
                "update must not be called inside another one, such as by a signal handler"
            )

    def _see_changes(self) -> None:
        """Mark what changes of the ground have touched; make room for levels that it has now."""
        places, queries = self._places, self._queries
        levels = levels_on(queries)
        if levels > places.levels:
            refuse_more_places(places.rows, places.columns, levels, places.spacing)
            with self._lock:
                self._changes.begin(places)  # first: then a handler that raises leaves all marked
                places.grow(levels)
                self._revision += 1
        self._changes.look()

    def _make(self, update: Update) -> None:
        """Make places, a chunk after another, until all are made or the time is over."""
        square = update.square(self._reach.edges + self._reach.aside)
        try:
            update.begin()
            with reading_still(self._queries, square) as ground:
                refuse_missing(self._queries, square)
                maker = Maker(self._places, ground, self._walker, self._rates, self._threads)
                for chunk in update.chunks(self._timing):
                    with self._lock:
                        update.make(chunk, maker)
                        self._revision += 1
        finally:
            self._changes.put_back()  # if it is interrupted, the next update does so

    # Copies

    def __getstate__(self) -> dict[str, Any]:
        """Give all that a pickle or a deep copy takes over; it has a ground of its own.

        An update meanwhile makes no other columns than those that are marked now.
        """
        with self._updating, self._lock:
            self._see_changes()
            kept = ("_ground", "_collider", "_rules", "_rates", "_threads", "_walker")
            content = {name: self.__dict__[name] for name in kept}
            return content | {
                "_places": self._places,
                "_marks": self._changes.kept(),
                "_seen": self._queries.contents,
            }

    def __copy__(self) -> Self:
        """Return a map of the same ground, with places of its own."""
        other = type(self).__new__(type(self))
        with self._updating, self._lock:
            other.__setstate__(self.__getstate__() | {"_places": self._places.copy()})
        return other

    def __setstate__(self, content: dict[str, Any]) -> None:
        marks, seen = content.pop("_marks"), content.pop("_seen")
        self.__dict__.update(content)
        self._begin()
        if self._queries.contents == seen:  # else the ground was edited before it was copied
            self._changes.put_kept(marks)

    def __repr__(self) -> str:
        size = " x ".join(map(str, self.shape))
        return f"<Walkability: {size} places of {self.spacing:g} m on {self._ground!r}>"

    def _repr_png_(self) -> bytes:
        """Return what notebooks show: the lowest places from above, x to the right and z down.

        Where none can rest it is dark, and orange off the largest part.
        """
        with self._lock:
            heights, labels = self.heights[0], self.labels[0]
        picture = shaded(heights, self.spacing)
        largest = np.bincount(labels[labels > 0], minlength=2).argmax()
        apart = (labels > 0) & (labels != largest)
        picture[apart] = picture[apart] // 2 + np.array(_APART, np.uint8)
        return png(picture)


def _shaped(places: Places, values: NDArray[_Value], *more: int) -> NDArray[_Value]:
    """Return values of all places as users see them, read-only."""
    return read_only(values.reshape(*places.shape, *more))[0]


def _renew_all() -> None:
    for paths in list(_living):
        paths._renew_in_child()  # noqa: SLF001 its own


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)
