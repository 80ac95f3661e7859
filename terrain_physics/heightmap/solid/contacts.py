"""The contacts of shapes with a height map as solid ground."""

import numpy as np

from terrain_physics._kernels.types import Bools, Bytes, Floats, Int64s, read_only
from terrain_physics._support import checks
from terrain_physics.heightmap.queries import MapQueries, are_inside
from terrain_physics.heightmap.solid.beside import Beside, from_behind, taken
from terrain_physics.surface.contact_room import ContactRoom
from terrain_physics.surface.results import Contacts, with_queries
from terrain_physics.surface.shapes import centers_of

# More contacts than there is memory for.
_NO_LIMIT = 2**40


class SolidContacts:
    """Shapes whose contacts with a surface are known, and those with what is beside it wanted.

    A shape with its center beside the ground, or below it, does not see the surface from behind:
    the sides or the underside are in between.
    """

    __slots__ = ("_beside", "_is_outside", "_kind", "_near", "_rows", "_surface", "_threads")

    def __init__(
        self,
        surface: MapQueries,
        beside: tuple[Beside, ...],
        kind: int,
        rows: Floats,
        near: Bytes,
        threads: int | None,
    ) -> None:
        """Take over shapes; ``near`` (n,) is what `Reach` tells of them."""
        self._surface, self._beside, self._threads = surface, beside, threads
        self._kind, self._rows = kind, rows
        self._near = [np.flatnonzero(near & own.bit) for own in beside]
        self._is_outside = np.zeros(len(rows), dtype=np.bool_)
        asked = np.flatnonzero(near)
        if len(asked):
            levels, y = self._levels(asked)
            is_above = levels - surface.storage.thickness < y
            self._is_outside[asked] = ~is_above  # also where is no ground

    def _levels(self, rows: Int64s) -> tuple[Floats, Floats]:
        """Return the heights of the surface at the centers of shapes, and of the centers."""
        centers = centers_of(self._kind, self._rows[rows])
        xs, y, zs = np.ascontiguousarray(centers.T)
        xs, zs = read_only(xs, zs)
        return self._surface.heights(xs, zs, self._threads), y

    def _of_some(self, rows: Int64s) -> Contacts:
        """Return all contacts of some shapes with the surface."""
        (some,) = read_only(self._rows[rows])
        found = self._surface.contacts(
            self._kind, some, "all", self._threads, _NO_LIMIT, ContactRoom()
        )
        return with_queries(found, rows[found.query])

    def _seen(self, contacts: Contacts) -> Bools:
        """Tell which contacts with the surface are not from behind."""
        behind = from_behind(contacts, centers_of(self._kind, self._rows))
        return np.asarray(~(behind & self._is_outside[contacts.query]))

    def _with_beside(self, most: int) -> list[Contacts]:
        """Return the contacts with the sides and the underside, without those that have none."""
        found = []
        for own, near in zip(self._beside, self._near, strict=True):
            if len(near):
                (some,) = read_only(self._rows[near])
                contacts = own.contacts(self._kind, some, self._threads, most)
                if len(contacts):
                    found.append(with_queries(contacts, near[contacts.query]))
        return found

    def joined(self, found: Contacts, keep: str, most: int, room: ContactRoom) -> Contacts:
        """Return the contacts with all of the ground; ``found`` are those with the surface.

        They are written to ``room``, where ``found`` may be.
        """
        outside = np.flatnonzero(self._is_outside)
        if len(outside):
            if keep == "deepest":
                again = self._of_some(outside)
                rest = taken(found, np.flatnonzero(~self._is_outside[found.query]))
                answers = [rest, taken(again, np.flatnonzero(self._seen(again)))]
            else:
                answers = [taken(found, np.flatnonzero(self._seen(found)))]
        else:
            answers = [found]
        more = self._with_beside(most if keep == "all" else _NO_LIMIT)
        if answers == [found] and not more:
            return found
        return self._in_order([*answers, *more], sum(map(len, answers)), keep, most, room)

    def _in_order(
        self, answers: list[Contacts], surface_count: int, keep: str, most: int, room: ContactRoom
    ) -> Contacts:
        """Return several answers as one, by query; or only the deepest of each query.

        The first ``surface_count`` contacts are those with the surface.
        """
        query, triangle, penetration, normal, point, material = (
            np.concatenate([getattr(answer, name) for answer in answers])
            for name in ("query", "triangle", "penetration", "normal", "point", "material")
        )
        # Sides and undersides come behind the surface, by their ids.
        behind = np.where(np.arange(len(query)) < surface_count, -1, triangle)
        order = np.lexsort([behind, query])
        if keep == "deepest":
            depth = np.concatenate([answer.depth for answer in answers])
            # Who is in the ground is led up, out of it.
            depth[: len(answers[0])][self._leads_out(answers[0])] = np.inf
            order = np.lexsort([-depth, query])
            is_first = np.ones(len(order), dtype=np.bool_)
            is_first[1:] = query[order][1:] != query[order][:-1]
            order = order[is_first]
        checks.refuse_more("contacts", len(order), most)
        room.reserve(len(order))
        ints, floats = room.first(len(order))
        ints[0], ints[1] = query[order], triangle[order]
        floats[0], floats[1], floats[2] = penetration[order], normal[order], point[order]
        return Contacts(ints, floats, material[order])

    def _leads_out(self, found: Contacts) -> Bools:
        """Tell which contacts lead a shape up whose center is in the ground."""
        levels, y = self._levels(found.query)
        inside = are_inside(levels, y, self._surface.storage.thickness)
        return np.asarray(inside & (found.normal[:, 1] > 0.0))

    def recount(self, counts: Int64s) -> None:
        """Correct the numbers of contacts (n,) with the surface."""
        outside = np.flatnonzero(self._is_outside)
        if len(outside):
            again = self._of_some(outside)
            unseen = again.query[~self._seen(again)]
            counts -= np.bincount(unseen, minlength=len(counts))
        for more in self._with_beside(_NO_LIMIT):
            counts += np.bincount(more.query, minlength=len(counts))
