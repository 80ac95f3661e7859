"""Contacts of many shapes with a ground of several parts, and the triangles in boxes."""

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.types import Floats
from terrain_physics.geometry.shapes import AABB
from terrain_physics.ground.answers import joined_contacts, joined_lists, joined_triangles, order_of
from terrain_physics.ground.parts import GroundData
from terrain_physics.heightmap.heightmap import MOST_TRIANGLES
from terrain_physics.surface.contacts import Shape, ShapeContacts
from terrain_physics.surface.results import Contacts, Triangles


class GroundContacts(ShapeContacts, GroundData):
    """What `terrain_physics.Ground` answers about contacts, and triangles in boxes.

    Contacts of a shape are ordered by part, and within a part as the part orders them: by id, where
    it is not -1. Of contacts equally deep that of the first part is the deepest; within maps that
    are one, the first by row, column and half of the one map.
    """

    __slots__ = ()

    def triangles_in(self, aabb: AABB, *, margin: float = 0.1) -> Triangles:
        """Return the triangles within a box.

        Parameters
        ----------
        aabb : AABB
            In meters.
        margin : float, default 0.1
            The box is widened by this much on every side, in meters; >= 0.

        Returns
        -------
        Triangles
            By the rules of each part, part after part.

        Raises
        ------
        ValueError
            For more than 20 million triangles, and for a box over more than 100 million cells of a
            map.

        Examples
        --------
        >>> from terrain_physics import Ground, HeightMap
        >>> tiles = [HeightMap([[0, 0], [0, 0]], origin=(x, 0, 0)) for x in (0, 1)]
        >>> Ground(tiles).triangles_in(AABB((1.5, 0, 0), (2, 0, 1))).ids
        array([2, 3])
        """
        surfaces = self._current()
        answers = [surface.asked.triangles_in(aabb, margin=margin) for surface in surfaces]
        if sum(len(answer) for answer in answers) > MOST_TRIANGLES:
            raise ValueError(f"aabb must hold at most {MOST_TRIANGLES} triangles, got {aabb}")
        owners = [s.owners(answer.ids) for s, answer in zip(surfaces, answers, strict=True)]
        return joined_triangles(answers, owners)

    def triangles_in_rows(self, boxes: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the offsets and ids of boxes: lower and upper corners, flat."""
        surfaces = self._current()
        answers = [surface.asked.triangles_in_rows(boxes) for surface in surfaces]
        owners = [s.owners(ids) for s, (_, ids) in zip(surfaces, answers, strict=True)]
        return joined_lists([offsets for offsets, _ in answers], owners, len(self._parts))

    def counts_of_rows(self, kind: int, bodies: Floats, threads: int | None) -> NDArray[np.int64]:
        """Return how many triangles each row touches."""
        counts = [s.asked.counts_of_rows(kind, bodies, threads) for s in self._current()]
        return np.asarray(np.sum(counts, axis=0))

    def contacts_of_rows(
        self, kind: int, bodies: Floats, keep: str, threads: int | None
    ) -> Contacts:
        """Return the contacts of rows of one kind, all or the deepest of each."""
        return self._joined(
            [s.asked.contacts_of_rows(kind, bodies, keep, threads) for s in self._current()],
            deepest=keep == "deepest",
        )

    def contacts_of_one(self, shape: Shape, keep: str) -> Contacts:
        """Return the contacts of one shape, all or the deepest."""
        answers = [surface.asked.contacts(shape, keep=keep) for surface in self._current()]
        touched = [k for k, answer in enumerate(answers) if len(answer)]
        if len(touched) > 1:
            return self._joined(answers, deepest=keep == "deepest")
        if not touched:
            return answers[0]
        surface, answer = self._surfaces[touched[0]], answers[touched[0]]
        ids, parts = surface.ids(answer.triangle)
        answer = answer.with_triangles(ids)
        # At a seam the cells of a row are one part's and then another's.
        return answer if parts is None else answer.ordered(order_of(parts))

    def _joined(self, answers: list[Contacts], *, deepest: bool) -> Contacts:
        found = [one for one in zip(self._surfaces, answers, strict=True) if len(one[1])]
        if len(self._parts) == 1 or not found:  # a single part's ids are the ground's
            return answers[0]
        owners = [surface.owners(answer.triangle) for surface, answer in found]
        return joined_contacts(
            [answer for _, answer in found], owners, len(self._parts), deepest=deepest
        )
