"""What a refit of a mesh has replaced, to be put back."""

from typing import Any, Self

from terrain_physics._kernels.mesh.tree import Mesh
from terrain_physics.mesh.storage import MeshStorage


class MeshEdit:
    """The arrays that a refit has replaced; see `terrain_physics.surface.history.KeptEdit`."""

    __slots__ = ("held", "storage")

    def __init__(self, storage: MeshStorage, what: str) -> None:  # noqa: ARG002 of all edits
        self.held: Mesh = storage.arrays
        self.storage = storage

    @property
    def nbytes(self) -> int:
        """How much memory it takes that the mesh itself does not need."""
        return self.storage.nbytes

    def swap(self) -> None:
        """Put back what was there, and keep what is there now."""
        arrays, self.held = self.held, self.storage.arrays
        self.storage.put_back(arrays)

    def swap_back(self, held: Mesh) -> None:
        """Undo a swap, whole or in part, of an edit that held this before; else do nothing."""
        if self.held is not held:
            self.storage.put_back(self.held)
            self.held = held

    def joined(self, later: list[Any]) -> Self:  # noqa: ARG002 each has replaced all
        """Return this edit, since it has replaced all that later ones have."""
        return self
