"""The lists of compiled kernels: those that Python calls, and the types that it calls them with.

``signatures.txt`` has one line for each of the library's, ``signatures_of_demo.txt`` for each of
the demo's renderer, such as ``math.rows.all_within(float64[:, ::1], int64)``. They are written by
``python -m terrain_physics._build.record``, which runs the suite.
"""

import importlib
import re
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import numba
from numba import types

from terrain_physics._build.packages import LIBRARY, KernelPackage, package_of

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


def named(package: KernelPackage, where: str, *parts: Any) -> Any:
    """Return the type of a named tuple of the kernels, such as "counter.tree.Tree"."""
    module, _, name = where.rpartition(".")
    kind = getattr(importlib.import_module(f"{package.name}.{module}"), name)
    return types.BaseTuple.from_types([*map(_as_type, parts)], pyclass=kind)


_NAMES: dict[str, Any] = _SCALARS | {"readonly": readonly, "none": types.none}


def text_of(kind: Any) -> str:
    """Write a type of numba as an expression of Python."""
    if isinstance(kind, types.Array) and kind.layout in {"A", "C"} and kind.aligned:
        last = "::1" if kind.layout == "C" else ":"
        dimensions = ", ".join([":"] * (kind.ndim - 1) + [last])
        text = f"{text_of(kind.dtype)}[{dimensions}]"
        return text if kind.mutable else f"readonly({text})"
    if isinstance(kind, types.BaseNamedTuple):
        parts = ", ".join(map(text_of, kind.types))
        return f'named("{_name_of(kind.instance_class)}", {parts})'
    if isinstance(kind, types.BaseTuple):
        return f"({''.join(f'{text_of(part)}, ' for part in kind.types).rstrip(' ')})"
    if isinstance(kind, types.NoneType):
        return "none"
    if _SCALARS.get(str(kind)) == kind:
        return str(kind)
    raise TypeError(f"no kernel is compiled ahead of time for {kind}")


def types_of(text: str, package: KernelPackage = LIBRARY) -> tuple[Any, ...]:
    """Read the types between the brackets of a line."""
    names = _NAMES | {"named": partial(named, package)}
    values = eval(f"({text},)" if text else "()", {"__builtins__": {}}, names)  # noqa: S307
    return tuple(map(_as_type, values))


def _as_type(value: Any) -> Any:
    return types.Tuple([*map(_as_type, value)]) if isinstance(value, tuple) else value


def _name_of(thing: Any) -> str:
    """Return the name of a kernel, or of a class, within its package of kernels."""
    package = package_of(thing.__module__)
    module = thing.__module__ if package is None else package.within(thing.__module__)
    return f"{module}.{thing.__qualname__}"


def line_of(kernel: Any, signature: Iterable[Any]) -> str:
    """Write a kernel and the types of one call."""
    return f"{_name_of(kernel)}({', '.join(map(text_of, signature))})"


def read(package: KernelPackage = LIBRARY) -> list[str]:
    """Return the lines of a package's list."""
    return package.listed.read_text(encoding="utf-8").splitlines()


def write(lines: Iterable[str], package: KernelPackage) -> None:
    """Write the list of a package anew."""
    text = "".join(f"{line}\n" for line in sorted(set(lines)))
    package.listed.write_text(text, encoding="utf-8", newline="\n")


def load(line: str, package: KernelPackage = LIBRARY) -> tuple[Any, tuple[Any, ...]]:
    """Return the kernel of a package that a line names, and the types."""
    found = _LINE.fullmatch(line)
    if found is None:
        raise ValueError(f"not a kernel and its types: {line!r}")
    module, _, name = found["kernel"].rpartition(".")
    return kernel_named(f"{package.name}.{module}", name), types_of(found["types"], package)


def kernel_named(module: str, name: str) -> Any:
    """Return a kernel, which its module has compiled or will."""
    return getattr(importlib.import_module(module), name)


def met(modules: Iterable[Any], package: KernelPackage) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """Yield kernels of a package, with types that Python has called them with here."""
    for module in modules:
        name = getattr(module, "__name__", "")
        if name.startswith(f"{package.name}."):
            for value in list(vars(module).values()):
                if isinstance(value, numba.core.dispatcher.Dispatcher) and value.__module__ == name:
                    yield from ((value, signature) for signature in value.overloads)
