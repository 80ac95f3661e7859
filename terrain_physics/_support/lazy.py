"""Lazy arrays, which are Dask's: known without importing Dask, and refused by name."""

import sys


def is_lazy(value: object) -> bool:
    """Tell whether a value is a collection of Dask, of which there is none before its import."""
    if not hasattr(value, "__dask_graph__") or "dask" not in sys.modules:
        return False
    from dask.base import is_dask_collection

    return bool(is_dask_collection(value))  # labeled arrays may hold numbers or lazy ones


def refuse_lazy(
    name: str, value: object, instead: str = "ask block by block with dask.array.map_blocks"
) -> None:
    """Refuse a lazy array, by its name."""
    if is_lazy(value):
        raise TypeError(
            f"{name} must be in memory, got a collection of Dask: compute it, or {instead}"
        )
