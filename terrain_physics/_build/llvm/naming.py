"""Names of functions that are the same in each build, whatever else it lowers, and in which order.

numba tells functions of one name apart by a running number. So one function would have other names
in other builds, and what one build has kept could stand for another function in the next.
"""

import hashlib
import sys
from types import CodeType
from typing import Any

from numba import types
from numba.core import serialize
from numba.core.bytecode import FunctionIdentity

_identified_by_numba = FunctionIdentity.from_function.__func__


def make_lasting() -> None:
    """Have numba name functions so in this process, from now on."""
    FunctionIdentity.from_function = classmethod(_identified)


def _identified(kind: Any, function: Any) -> Any:
    made = _identified_by_numba(kind, function)
    made.unique_id = number_of(made.func)
    made.unique_name = f"{made.func_qualname}${made.unique_id}"
    return made


def number_of(function: Any) -> int:
    """Return 0 for the function that its module has under its name, else a hash of what it does."""
    named = getattr(sys.modules.get(function.__module__), function.__qualname__, None)
    if getattr(named, "py_func", named) is function:
        return 0
    digest = hashlib.sha256(repr(_described(function)).encode())
    return int(digest.hexdigest()[:12], 16)


def _described(value: Any) -> Any:
    """Return what tells a part of a function from others, without addresses."""
    if isinstance(value, CodeType):
        parts = (value.co_firstlineno, value.co_code, value.co_names, value.co_consts)
        return value.co_name, *map(_described, parts)
    if isinstance(value, tuple):
        return tuple(map(_described, value))
    if isinstance(value, frozenset):
        return sorted(map(_described, value), key=repr)
    if value is None or isinstance(value, str | bytes | int | float | complex):
        return type(value).__name__, repr(value)
    if isinstance(value, types.Type):
        return str(value)
    function = getattr(value, "py_func", value)
    if (code := getattr(function, "__code__", None)) is not None:
        closure = tuple(cell.cell_contents for cell in function.__closure__ or ())
        return function.__module__, function.__qualname__, *map(_described, (code, closure))
    if (name := getattr(value, "__qualname__", None)) is not None:
        return value.__module__, name
    return type(value).__qualname__, serialize.dumps(value)
