"""Path: a way from one place to another, along which it leads one character."""

import numpy as np

from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels.types import Bytes, Floats, read_only
from terrain_physics._kernels.walkability.layout import DROP, STEP, WALK
from terrain_physics._kernels.walkability.lead_path import (
    ARRIVED,
    LOST,
    PATIENCE,
    Route,
    lead_path,
)
from terrain_physics._public import public, quick
from terrain_physics._support import checks
from terrain_physics.character.attribute_guard import AttributeGuard
from terrain_physics.character.view import CharacterView
from terrain_physics.walkability.leading import Leading
from terrain_physics.walkability.line import line_on_ground
from terrain_physics.walkability.places import Places
from terrain_physics.walkability.terms import ONE_ROW, Terms, other_ground, other_than

_LEAD = CachedDispatch(lead_path)

_WORDS = {WALK: "walk", STEP: "step", DROP: "drop"}


@public
class Path(Leading, AttributeGuard):
    """A way that a character can walk, from `Walkability.path`. It leads one character along.

    Parameters
    ----------
    places : Places
        The places of the map.
    terms : Terms
        What the map was made for.
    points : ndarray of float64, shape (n, 3)
        Positions of the character at the start, at the corners and at the goal, in meters.
    kinds : ndarray of uint8, shape (n - 1,)
        The kinds of the pieces between them, as kernels know them.

    Notes
    -----
    `lead` sees only where the character is and how far it has come: a game that saves and restores
    both, `progress` and `stalled` with the state of the character, goes on with the same bits. In a
    pickle, or a deep copy, a path belongs to the ground and the hero that come with it.

    Examples
    --------
    A hero walks around the end of a wall:

    >>> from terrain_physics import CapsuleCollider, CharacterMovement, Ground, HeightMap
    >>> from terrain_physics import TriangleMesh, Walkability
    >>> floor = HeightMap([[0, 0], [0, 0]], cell_size=12)
    >>> ground = Ground([floor, TriangleMesh.box((0.5, 3, 8), position=(6, 1.5, 4))])
    >>> body = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0))
    >>> paths = Walkability(ground, body)
    >>> paths.update()
    0
    >>> hero = CharacterMovement(ground, body, position=(3, 0, 2))
    >>> path = paths.path(hero, (9, 2))
    >>> while path.lead(hero, speed=4) == "on the way":
    ...     result = hero.update(1 / 60)
    >>> round(hero.position.x), round(hero.position.z), hero.velocity.x
    (9, 2, 0.0)
    """

    _share = 0.125

    def __init__(self, places: Places, terms: Terms, points: Floats, kinds: Bytes) -> None:
        super().__init__(places, terms)
        self._points, self._kinds = points.copy(), kinds.copy()
        pieces = np.sqrt(np.square(np.diff(self._points, axis=0)).sum(axis=1))
        self._lengths = np.concatenate([[0.0], np.cumsum(pieces)])
        self._way = self._as_way()
        self._progress = self._stalled = 0.0

    def _as_way(self) -> Route:
        """Return the path for kernels; a path of one point goes there and stays."""
        if len(self._kinds) > 0:
            return Route(self._points, self._kinds, self._lengths)
        stay = np.full(1, WALK, dtype=np.uint8)
        return Route(self._points.repeat(2, axis=0), stay, self._lengths.repeat(2))

    @property
    def points(self) -> Floats:
        """The positions (n, 3) of a character at the start, the corners and the goal; read-only."""
        (points,) = read_only(self._points)
        return points

    @property
    def kinds(self) -> tuple[str, ...]:
        """For each of the n - 1 straight pieces between the points "walk", "step" or "drop"."""
        return tuple(_WORDS[kind] for kind in self._kinds.tolist())

    @property
    def length(self) -> float:
        """The length in meters, up and down included."""
        return float(self._lengths[-1])

    @property
    def progress(self) -> float:
        """How far the character has come, in meters along the path; 0 at the start.

        Setting it lets the character go on from there, also when it was stuck. Raises ValueError
        for a number below 0 or above `length`.
        """
        return self._progress

    @progress.setter
    def progress(self, progress: float) -> None:
        self._progress = checks.between("progress", progress, 0.0, self.length)
        self._stalled = 0.0

    @property
    def stalled(self) -> float:
        """For how many seconds the character has hardly come on; at 2 it is stuck.

        It falls again, three times as fast, when the character comes on, and at a corner to 0. From
        0.6 on the character goes back to the last corner, from 1.2 on it tries again from there.
        Set it after `progress` where a state is restored. Raises ValueError for a number below 0 or
        above 2.
        """
        return self._stalled

    @stalled.setter
    def stalled(self, stalled: float) -> None:
        self._stalled = checks.between("stalled", stalled, 0.0, PATIENCE)

    def on_ground(self, spacing: float = 0.5) -> Floats:
        """Return the path as a line on the ground, to be drawn: straight pieces hang above hills.

        Parameters
        ----------
        spacing : float, default 0.5
            How far neighboring points are apart at most, in meters on the level; > 0.

        Returns
        -------
        ndarray of float64, shape (m, 3)
            Points on the ground as it is now, from below the start to below the goal; each corner
            is among them. Over gaps that the body goes across the line goes across, too.

        Raises
        ------
        TypeError, ValueError
            For anything but a length, and for one that would take more than a million points.

        Notes
        -----
        The ground is found by rays from a little above the last height, as far as the character
        may step: what is above the path does not count, as a bridge that it leads under.

        Examples
        --------
        >>> from terrain_physics import CapsuleCollider, HeightMap, Walkability
        >>> hill = HeightMap([[0, 1, 2, 1, 0]] * 5, cell_size=3)
        >>> paths = Walkability(hill, CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0)))
        >>> _ = paths.update()
        >>> path = paths.path((1, 6), (11, 6))
        >>> len(path.points), path.on_ground(2)[:, 1].round(2).tolist()
        (2, [0.33, 1.0, 1.67, 1.67, 1.0, 0.33])
        """
        known = checks.positive("spacing", spacing)
        return line_on_ground(self._points, self._kinds, self._terms, known)

    @quick
    def lead(self, hero: CharacterView, speed: float | None = None) -> str:
        """Set the walk of a character for its next update, so that it follows the path.

        Call it before each update, with the same character. It slows down at sharp corners and
        before the end, so that it leaves the path by no more than an eighth of its radius in frames
        of up to a twentieth of a second, or as long as the last one was. It climbs steps head on.
        Where the path drops, it goes straight over the edge, and in the air it stops above the
        place below. Along an edge it may slide as far aside as the walker that proved it, half the
        spacing, such as along the frame of a door. Pushed off, it goes to the nearest point ahead
        if a straight way over open ground leads there, else back to where it left the path.

        Parameters
        ----------
        hero : CharacterMovement or GroupMember
            On the map's ground, with the map's collider and rules. Of the rules, `slope_limit`,
            `ground_rule`, `snap_distance`, `step_offset`, `slope_speed`, `mask` and
            `keep_off_ledges` matter. Gravity and `material_rules` may differ, as games change them
            for a while: what is led stops in the air above a place, however fast it falls, and
            takes its time on mud.
        speed : float, optional
            In m/s, > 0; default: the map's.

        Returns
        -------
        str
            "on the way"; "arrived": it is at the goal, to a sixteenth of its radius, and stands
            still; or "stuck": it stands still, and the game asks the map for another path. A
            character is stuck when it has not come on for two seconds of its updates, on the ground
            or on what is too steep: when it had less than a quarter of the speed that it was told,
            as before a wall that was not there, or below a bridge that is gone. In that time it
            goes back to the last corner once, and tries again from there, along an edge straight on
            as the walker that proved it. It is stuck at once if it is farther than three spacings
            from the path, and no straight way leads back. It stays stuck until `progress` is set.

        Raises
        ------
        TypeError
            For anything but a character.
        ValueError
            For another ground, another collider and other rules than the map's, naming the first
            that differs, and for a bad speed. Nothing has changed then.
        """
        if not isinstance(hero, CharacterView):
            raise TypeError(
                "hero must be a CharacterMovement or a GroupMember, as group[key], "
                f"got {checks.shorten(hero)}"
            )
        self._refuse_other(hero)
        seconds = hero._frame_time().last  # noqa: SLF001
        pace = self._pace(speed, seconds)
        if self._stalled >= PATIENCE:
            _tell(hero, 0.0, 0.0)
            return "stuck"
        row = hero._row()  # noqa: SLF001
        known = self._places.arrays(), self._way, self._progress, self._stalled
        told = _LEAD.call(*known, seconds, row.state, row.rules, pace)
        vx, vz, self._progress, word, stalled = told
        self._stalled = PATIENCE if word == LOST else min(stalled, PATIENCE)
        if self._stalled >= PATIENCE:
            _tell(hero, 0.0, 0.0)
            return "stuck"
        _tell(hero, vx, vz)
        return "arrived" if word == ARRIVED else "on the way"

    def _refuse_other(self, hero: CharacterView) -> None:
        """Refuse a character that the map was not made for."""
        problem = other_ground(self._terms, hero.ground)
        if problem is not None:
            raise ValueError(problem)
        other = other_than(self._terms, hero._row().rules, ONE_ROW)  # noqa: SLF001
        if other is not None:
            raise ValueError(other.problem)

    def __repr__(self) -> str:
        return f"<Path of {self.length:.4g} m, {len(self._points)} points>"


def _tell(hero: CharacterView, vx: float, vz: float) -> None:
    """Set the walk of a character; one that stands, and shall, may go on sleeping."""
    if vx != 0.0 or vz != 0.0 or hero.velocity.x != 0.0 or hero.velocity.z != 0.0:
        hero.walk(vx, vz)
