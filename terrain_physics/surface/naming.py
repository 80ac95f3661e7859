"""Names in answers: those of the materials and of the parts that numbers stand for."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.mesh.parts import ID_BITS
from terrain_physics._kernels.types import Bools, Bytes, Int64s
from terrain_physics.surface.materials import MOST_MATERIALS, Names

Objects = NDArray[np.object_]


class Naming(NamedTuple):
    """The names of a ground at one moment.

    Attributes
    ----------
    materials : tuple of str, or None
        The names of materials 0, 1, ...
    parts : mapping of int to str
        The names of parts by their keys; never written to.
    """

    materials: Names
    parts: Mapping[int, str]

    def material(self, number: int) -> str | None:
        """Return the name of a material; None if it has none."""
        names = self.materials
        return names[number] if names is not None and number < len(names) else None

    def part(self, triangle: int) -> str | None:
        """Return the name of the part that owns a triangle; None if it has none."""
        return self.parts.get(triangle >> ID_BITS)

    def all_materials(self, numbers: Bytes, known: Bools) -> Objects:
        """Return the names of materials of any shape; None where they are not ``known``."""
        names = self.materials or ()
        table = np.full(MOST_MATERIALS + 1, None)
        table[: len(names)] = names
        found: Objects = table[np.where(known, numbers.astype(np.int64), MOST_MATERIALS)]
        return found

    def all_parts(self, triangles: Int64s) -> Objects:
        """Return the names of the parts that own triangles of any shape."""
        keys, places = np.unique(triangles >> ID_BITS, return_inverse=True)
        table = np.full(len(keys), None)
        table[:] = [self.parts.get(key) for key in keys.tolist()]
        found: Objects = table[places].reshape(triangles.shape)
        return found


NO_NAMES = Naming(None, {})


def naming_of(materials: Names) -> Naming:
    """Return the naming of a map or a mesh, of the names of its materials."""
    return NO_NAMES if materials is None else Naming(materials, {})
