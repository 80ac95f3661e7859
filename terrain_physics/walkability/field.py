"""Field: the ways of all places to the nearest goal, along which it leads crowds."""

from collections.abc import Iterable

import numpy as np

from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels.types import Floats, Int32s, read_only
from terrain_physics._kernels.walkability.headings import Headings
from terrain_physics._kernels.walkability.lanes import put_lanes
from terrain_physics._kernels.walkability.lead_members import (
    Steering,
    lead_members,
    put_ways,
)
from terrain_physics._public import public, quick
from terrain_physics._support import checks
from terrain_physics.character.attribute_guard import AttributeGuard
from terrain_physics.character.group_data import Key, checked_keys
from terrain_physics.group.group import CharacterGroup
from terrain_physics.walkability.leading import Leading
from terrain_physics.walkability.places import Places
from terrain_physics.walkability.terms import Terms, other_ground, other_than

_LEAD = CachedDispatch(lead_members)

# How far from walls on their other side those are led who keep to a side, in least half extents.
_REACH = 7.5

# The size of the squares in which headings are kept, in least half extents: streams that meet must
# leave each other room before they do.
_SIGHT = 40.0

_NOBODY = np.empty(0, dtype=np.int64)
_NO_HEADINGS = Headings(0.0, 0.0, 1.0, np.empty((1, 1), dtype=np.uint8))


@public
class Field(Leading, AttributeGuard):
    """The ways of all places to the nearest goal, from `Walkability.field`. It leads crowds along.

    It goes by the map as that was when the field was made: after an edit the game asks for another
    one.

    Parameters
    ----------
    places : Places
        The places of the map.
    terms : Terms
        What the map was made for.
    distances : ndarray of float64, shape (n,)
        Of each place to the nearest goal, in meters; infinite: no way.
    nexts : ndarray of int32, shape (n,)
        The next place on the way; -1: none.
    directions : ndarray of float64, shape (n, 2)
        Unit vectors, x and z, in which the places lead; zeros: none.

    Examples
    --------
    >>> from terrain_physics import CapsuleCollider, CharacterGroup, HeightMap, Walkability
    >>> floor = HeightMap([[0, 0], [0, 0]], cell_size=12)
    >>> body = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0))
    >>> paths = Walkability(floor, body)
    >>> paths.update()
    0
    >>> field = paths.field([(10, 10)])
    >>> float(field.distance[0, 10, 2]), field.direction[0, 10, 2]
    (8.0, array([1., 0.]))
    >>> crowd = CharacterGroup(floor, body, collide=True)
    >>> crowd.add_many(range(3), [(2, 0, 2), (2, 0, 10), (6, 0, 3)])
    >>> for frame in range(300):
    ...     left = field.lead(crowd, speed=3)
    ...     result = crowd.update(1 / 60)
    >>> bool((left < 2).all())
    True
    """

    # Members that come to a corner from two sides would else wait there for each other.
    _share = 0.375

    def __init__(
        self, places: Places, terms: Terms, distances: Floats, nexts: Int32s, directions: Floats
    ) -> None:
        super().__init__(places.copy(), terms)
        self._distances, self._nexts, self._directions = distances, nexts, directions
        self._made: dict[float, Steering] = {}  # by the side that a crowd keeps to

    @property
    def distance(self) -> Floats:
        """How far it is from each place to the nearest goal, in meters; infinite: there is no way.

        In the shape of the map, read-only. Materials that cost more count as longer ways.
        """
        (distances,) = read_only(self._distances.reshape(self._places.shape))
        return distances

    @property
    def direction(self) -> Floats:
        """The direction in which each place leads: x and z of a unit vector; read-only.

        In the shape of the map, and 2. Zeros at goals and where there is no way. On open ground it
        leads straight to the next corner of the way, elsewhere to the next place.
        """
        (directions,) = read_only(self._directions.reshape(*self._places.shape, 2))
        return directions

    @quick
    def lead(
        self, crowd: CharacterGroup, speed: float | None = None, keys: Iterable[Key] | None = None
    ) -> Floats:
        """Set the walks of members of a group for their next update, so that they go to the goals.

        Call it before each update. It sees only where the members are, and which ways others go. On
        open ground, between places that are all joined by edges that are walked, they go in
        directions interpolated between the places, else along the edges of the map, from place to
        place. Where these drop, they go straight over the edge, and in the air they stop above the
        place below. How they give way to each other is the group's own business. But where only
        some of a crowd are led, others may come against them, from up to 40 to 80 radii off: if it
        keeps to the right, those are led off walls on their left, by up to 7.5 radii, where there
        is room. A member that stands, and shall stand, may sleep.

        Parameters
        ----------
        crowd : CharacterGroup
            On the map's ground; the members led have the map's collider and rules, as for
            `Path.lead`.
        speed : float, optional
            In m/s, > 0; default: the map's.
        keys : iterable of str or int, optional
            The members that are led; default: all, in order. The others are left alone.

        Returns
        -------
        ndarray of float64, shape (n,)
            How far it is for each one, in meters, as `distance`; 0: it is at a goal, to a quarter
            of the spacing, and stands still. Infinite: it is where no way begins, and stands still.

        Raises
        ------
        KeyError
            For a key that no member has.
        TypeError
            For anything but a group.
        ValueError
            For another ground, another collider and other rules than the map's, naming the first
            member and what differs, and for a bad speed. Nothing has changed then.
        """
        checks.instance("crowd", crowd, CharacterGroup)
        problem = other_ground(self._terms, crowd.ground)
        if problem is not None:
            raise ValueError(problem)
        data = crowd._data  # noqa: SLF001
        all_rows = data.rows()  # closes gaps, so that the places stay
        rows = np.arange(len(crowd)) if keys is None else data.places(checked_keys(keys))
        other = other_than(self._terms, all_rows.rules.reshape(-1), rows)
        if other is not None:
            key = tuple(crowd)[rows[other.number]]
            raise ValueError(f"{key!r}: {other.problem}")
        pace = self._pace(speed, crowd._frame_time().last)  # noqa: SLF001
        states, rules = all_rows.state.reshape(-1), all_rows.rules.reshape(-1)
        left, places = np.empty(len(rows)), self._places.arrays()
        field = lanes = self._arrays(0.0)
        others, headings = _NOBODY, _NO_HEADINGS
        side = crowd._side() if len(rows) < len(crowd) else 0.0  # noqa: SLF001
        if side != 0.0:
            is_other = np.ones(len(crowd), dtype=np.bool_)
            is_other[rows] = False
            lanes, others = self._arrays(side), np.flatnonzero(is_other)
            headings = self._headings()
        _LEAD.call(places, field, lanes, headings, states, rules, rows, others, pace, left)
        return left

    def _headings(self) -> Headings:
        """Return squares over the map for the headings of others, without any yet."""
        size, places = _SIGHT * self._least_extent, self._places
        wide = places.spacing / size
        rows, columns = 1 + int(wide * places.rows), 1 + int(wide * places.columns)
        octants = np.zeros((rows, columns), dtype=np.uint8)
        return Headings(places.lower_x, places.lower_z, size, octants)

    def _arrays(self, side: float) -> Steering:
        """Return the field for kernels, made when it is needed first.

        ``side`` is that to which those who are led keep: 1: right, -1: left, 0: none.
        """
        made = self._made.get(side)
        if made is None:
            count, places, directions = len(self._nexts), self._places.arrays(), self._directions
            is_open, ways = np.empty(count, dtype=np.uint8), np.empty(count, dtype=np.uint8)
            is_turned = np.zeros(count, dtype=np.uint8)
            made = Steering(self._distances, self._nexts, ways, directions, is_open, is_turned)
            put_ways(places, made)
            if side != 0.0:
                reach = _REACH * self._least_extent
                made = made._replace(directions=np.empty_like(directions))
                put_lanes(places, made, directions, side, reach)
            self._made[side] = made
        return made

    def __repr__(self) -> str:
        ways = np.count_nonzero(np.isfinite(self._distances))
        return f"<Field of {len(self._nexts)} places, {ways} with a way>"
