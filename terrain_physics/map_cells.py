"""Values of the cells of a map, to read and to write, and regions of cells."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray


class Region(NamedTuple):
    """Cells of a map that an edit changed: rows and columns from start to before stop."""

    row_start: int
    row_stop: int
    column_start: int
    column_stop: int


class MapCells:
    """One value for each cell of a map: reads and writes go to the map."""

    __slots__ = ("_get", "_kind", "_put", "_shape")

    def __init__(
        self,
        kind: str,
        shape: tuple[int, int],
        get: Callable[[], NDArray[Any]],
        put: Callable[[Any, ArrayLike], None],
    ) -> None:
        self._kind, self._shape, self._get, self._put = kind, shape, get, put

    @property
    def shape(self) -> tuple[int, int]:
        """The number of cells, rows by columns."""
        return self._shape

    def __len__(self) -> int:
        return self._shape[0]

    def __array__(
        self,
        dtype: Any = None,
        copy: bool | None = None,  # noqa: FBT001 NumPy calls it so
    ) -> NDArray[Any]:
        if copy is False:
            raise ValueError(f"{self._kind} must be copied to become an array")
        return np.array(self._get(), dtype=dtype)

    def __getitem__(self, index: Any) -> Any:
        return self._get()[index].copy()

    def __setitem__(self, index: Any, values: ArrayLike) -> None:
        self._put(index, values)

    def __repr__(self) -> str:
        return f"<{self._kind} of {self._shape[0]} x {self._shape[1]} cells>"
