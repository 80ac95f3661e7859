"""The list of compiled kernels: those that Python calls, and the types that it calls them with.

``signatures.txt`` has one line for each, such as ``math.rows.all_within(float64[:, ::1], int64)``.
It is written by ``python -m terrain_physics._build.record``, which runs the suite.
"""

import importlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numba
from numba import types

from terrain_physics import _kernels

FILE = Path(__file__).with_name("signatures.txt")

_LINE = re.compile(r"(?P<kernel>[\w.]+)\((?P<types>.*)\)")
_SCALARS = {
    kind.name: kind
    for kind in (
        *(types.boolean, types.float32, types.float64),
        *(types.int8, types.int16, types.int32, types.int64),
        *(types.uint8, types.uint16, types.uint32, types.uint64),
    )
}


def readonly(array: Any) -> Any:
    """Return the type of arrays like this one that cannot be written to."""
    return array.copy(readonly=True)


def named(where: str, *parts: Any) -> Any:
    """Return the type of a named tuple of the kernels, such as "counter.tree.Tree"."""
    module, _, name = where.rpartition(".")
    kind = getattr(importlib.import_module(f"{_kernels.__name__}.{module}"), name)
    return types.BaseTuple.from_types([*map(_as_type, parts)], pyclass=kind)


_NAMES: dict[str, Any] = _SCALARS | {"readonly": readonly, "named": named, "none": types.none}


def text_of(kind: Any) -> str:
    """Write a type of numba as an expression of Python."""
    if isinstance(kind, types.Array) and kind.layout == "C" and kind.aligned:
        dimensions = ", ".join([":"] * (kind.ndim - 1) + ["::1"])
        text = f"{text_of(kind.dtype)}[{dimensions}]"
        return text if kind.mutable else f"readonly({text})"
    if isinstance(kind, types.BaseNamedTuple):
        parts = ", ".join(map(text_of, kind.types))
        return f'named("{_within(kind.instance_class)}", {parts})'
    if isinstance(kind, types.BaseTuple):
        return f"({''.join(f'{text_of(part)}, ' for part in kind.types).rstrip(' ')})"
    if isinstance(kind, types.NoneType):
        return "none"
    if _SCALARS.get(str(kind)) == kind:
        return str(kind)
    raise TypeError(f"no kernel is compiled ahead of time for {kind}")


def types_of(text: str) -> tuple[Any, ...]:
    """Read the types between the brackets of a line."""
    values = eval(f"({text},)" if text else "()", {"__builtins__": {}}, _NAMES)  # noqa: S307
    return tuple(map(_as_type, values))


def _as_type(value: Any) -> Any:
    return types.Tuple([*map(_as_type, value)]) if isinstance(value, tuple) else value


def _within(thing: Any) -> str:
    """Return the name of a kernel, or of a class, below the package of kernels."""
    return f"{thing.__module__.removeprefix(f'{_kernels.__name__}.')}.{thing.__qualname__}"


def line_of(kernel: Any, signature: Iterable[Any]) -> str:
    """Write a kernel and the types of one call."""
    return f"{_within(kernel)}({', '.join(map(text_of, signature))})"


def read(file: Path = FILE) -> list[str]:
    """Return the lines of the list."""
    return file.read_text(encoding="utf-8").splitlines()


def write(lines: Iterable[str], file: Path = FILE) -> None:
    """Write the list anew."""
    text = "".join(f"{line}\n" for line in sorted(set(lines)))
    file.write_text(text, encoding="utf-8", newline="\n")


def load(line: str) -> tuple[Any, tuple[Any, ...]]:
    """Return the kernel that a line names, and the types."""
    found = _LINE.fullmatch(line)
    if found is None:
        raise ValueError(f"not a kernel and its types: {line!r}")
    module, _, name = found["kernel"].rpartition(".")
    return kernel_named(f"{_kernels.__name__}.{module}", name), types_of(found["types"])


def kernel_named(module: str, name: str) -> Any:
    """Return a kernel, which its module has compiled or will."""
    return getattr(importlib.import_module(module), name)


def met(modules: Iterable[Any]) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """Yield kernels of these modules, with types that Python has called them with here."""
    for module in modules:
        name = getattr(module, "__name__", "")
        if name.startswith(f"{_kernels.__name__}."):
            for value in list(vars(module).values()):
                if isinstance(value, numba.core.dispatcher.Dispatcher) and value.__module__ == name:
                    yield from ((value, signature) for signature in value.overloads)
