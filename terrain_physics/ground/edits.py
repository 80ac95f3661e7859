"""Digging in a ground of several parts as in one map."""

from typing import Any

from terrain_physics import _checks
from terrain_physics.ground.parts import GroundData
from terrain_physics.heightmap.heightmap import HeightMap


class GroundEdits(GroundData):
    """What changes a `terrain_physics.Ground`."""

    __slots__ = ()

    def carve(self, center: Any, radius: float, depth: float) -> None:
        """Dig a round pit in all maps, across their borders; meshes stay as they are.

        Maps that are one change as the one map would, to the last bit, and for questions from other
        threads at once.

        Parameters
        ----------
        center : three numbers, or two
            A point in meters, such as where a ray hit, of which only x and z count; or (x, z).
        radius : float
            In meters, > 0.
        depth : float
            How much deeper the ground is at the center, in meters; from there it rises smoothly to
            nothing at the radius.

        Raises
        ------
        ValueError, TypeError
            For other numbers, for heights that would overflow, and if no part is a map. Nothing has
            changed then.

        Examples
        --------
        >>> from terrain_physics import Ground, HeightMap
        >>> tiles = [HeightMap([[0] * 5] * 5, origin=(x, 0, 0)) for x in (0, 4)]
        >>> ground = Ground(tiles)
        >>> ground.carve((4, 2), radius=2, depth=1)
        >>> ground.height_at(4, 2), tiles[0].height_at(4, 2), tiles[1].height_at(4, 2)
        (-1.0, -1.0, -1.0)
        """
        self._add_bump(center, radius, -_checks.finite("depth", depth))

    def raise_(self, center: Any, radius: float, height: float) -> None:
        """Heap up a round hill on all maps, across their borders; meshes stay as they are.

        Maps that are one change as the one map would, to the last bit, and for questions from other
        threads at once.

        Parameters
        ----------
        center : three numbers, or two
            A point in meters, such as where a ray hit, of which only x and z count; or (x, z).
        radius : float
            In meters, > 0.
        height : float
            How much higher the ground is at the center, in meters; from there it falls smoothly to
            nothing at the radius.

        Raises
        ------
        ValueError, TypeError
            For other numbers, for heights that would overflow, and if no part is a map. Nothing has
            changed then.

        Examples
        --------
        >>> from terrain_physics import Ground, HeightMap
        >>> tiles = [HeightMap([[0] * 5] * 5, origin=(x, 0, 0)) for x in (0, 4)]
        >>> ground = Ground(tiles)
        >>> ground.raise_((4, 2), radius=2, height=1)
        >>> ground.height_at(4, 2), ground.height_at(5, 2)
        (1.0, 0.5625)
        """
        self._add_bump(center, radius, _checks.finite("height", height))

    def _add_bump(self, center: Any, radius: float, rise: float) -> None:
        # A map given twice is asked twice, and changes once.
        once = {
            id(self._parts[surface.part]): (surface.asked, surface.union)
            for surface in self._current()
            if isinstance(surface.asked, HeightMap)
        }
        if not once:
            raise ValueError("parts must hold a HeightMap for carve and raise_, got meshes only")
        for land, _ in once.values():  # refused by one map, refused by all
            land.with_bump(center, radius, rise)
        for land, union in once.values():
            if union is None:
                land.raise_(center, radius, rise)
            else:
                union.add_bump(center, radius, rise)
