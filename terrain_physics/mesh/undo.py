"""What a refit of a mesh has replaced, to be put back."""

from typing import Any, Self

from terrain_physics._kernels.mesh.tree import Mesh
from terrain_physics.mesh.storage import MeshStorage


class MeshEdit:
    """The arrays that a refit has replaced; see `terrain_physics.surface.history.KeptEdit`."""

    __slots__ = ("_held", "storage")

    def __init__(self, storage: MeshStorage, what: str) -> None:  # noqa: ARG002 of all edits
        # One value, so that Ctrl-C never leaves half of it: the arrays, whether they were swapped,
        # and those that it will hold after a swap that has begun.
        self._held: tuple[Mesh, bool, Mesh | None] = storage.arrays, False, None
        self.storage = storage

    @property
    def is_swapped(self) -> bool:
        """Whether it was swapped an odd number of times."""
        return self._held[1]

    @property
    def is_begun(self) -> bool:
        """Whether a swap was interrupted; the next one ends it."""
        return self._held[2] is not None

    @property
    def arrays(self) -> Mesh:
        """What `swap` would put back."""
        return self._held[0]

    @property
    def nbytes(self) -> int:
        """How much memory it takes that the mesh itself does not need."""
        return self.storage.nbytes

    def swap(self) -> None:
        """Put back what was there, and keep what is there now."""
        arrays, swapped, begun = self._held
        now = begun or self.storage.arrays
        self._held = arrays, swapped, now
        self.storage.put_back(arrays)
        self._held = now, not swapped, None

    def joined(self, later: list[Any]) -> Self:  # noqa: ARG002 each has replaced all
        """Return this edit, since it has replaced all that later ones have."""
        return self
