"""Writes the C module through which Python calls machine code."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import count, groupby
from pathlib import Path
from typing import Any

from numba import types

from terrain_physics._build.lowered import Entry
from terrain_physics._kernels import _quick

_HERE = Path(__file__).parent
RUNTIME = tuple(_HERE / name for name in ("memory.c", "runtime.c"))

_C_TYPES = {
    "bool": "uint8_t",
    "float64": "double",
    "float32": "float",
    **{f"{sign}int{bits}": f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}
_READERS = {name: name for name in _C_TYPES} | {"bool": "boolean"}
_LLVM_TYPES = {"uint8_t": "i8", "double": "double", "float": "float"} | {
    f"{sign}int{bits}_t": f"i{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}


def module_source(entries: Sequence[Entry]) -> str:
    """Return the C source of a module with these entries, and with `quick/` for single calls."""
    parts = [file.read_text(encoding="utf-8") for file in RUNTIME]
    parts += [_Wrapper(entry).source() for entry in entries]
    table = []
    by_kernel = groupby(sorted(entries, key=_key), key=_key)
    for number, ((module, name), versions) in enumerate(by_kernel):
        parts.append(_function(number, [entry.symbol for entry in versions]))
        method = f'"{name}", (PyCFunction)(void (*)(void))function_{number}, METH_FASTCALL, NULL'
        table.append(f'  {{"{module}", {{{method}}}}},')
    parts += ["static Kernel KERNELS[] = {", *table, "  {NULL, {NULL}}};", ""]
    if any(entry.module.startswith("character.") for entry in entries):
        parts += [f'#define QUICK "{_quick.digest()}"', _quick.source()]
    else:
        parts.append("static int add_quick(PyObject *module) { return module ? 0 : -1; }\n")
    return "\n".join(parts)


def _key(entry: Entry) -> tuple[str, str]:
    return entry.module, entry.name


def _function(number: int, symbols: Iterable[str]) -> str:
    """Return a function that tries the versions of a kernel one after another."""
    tries = "\n".join(
        f"  if ((state = call_{symbol}(values, count, &result))) goto end;" for symbol in symbols
    )
    return f"""
static PyObject *function_{number}(PyObject *self, PyObject *const *values, Py_ssize_t count) {{
  PyObject *result = NULL;
  int state;
{tries}
  return call_fallback(self, values, count);
end:
  return state == DONE ? result : NULL;
}}"""


class _Wrapper:
    """The C function that calls one version of a kernel, if the types of the values are its own."""

    def __init__(self, entry: Entry) -> None:
        self._entry = entry
        self._numbers = count()
        self._structs: list[str] = []
        self._variables: list[str] = []
        self._tests: list[str] = []
        self._types: list[str] = []
        self._values: list[str] = []

    def source(self) -> str:
        entry = self._entry
        for place, kind in enumerate(entry.arguments):
            self._take(kind, f"values[{place}]")
        result = self._c_type(entry.result)
        self._check()
        symbol = entry.symbol
        call = f"  status = {symbol}({', '.join(['&result', '&raised', *self._values])});"
        if not entry.keeps_lock:
            call = f"  Py_BEGIN_ALLOW_THREADS\n{call}\n  Py_END_ALLOW_THREADS"
        tests = " &&\n      ".join([f"count == {len(entry.arguments)}", *self._tests])
        lines = [
            *self._structs,
            f"int32_t {symbol}({', '.join([f'{result} *', 'Raised **', *self._types])});",
            f"static int call_{symbol}",
            "(PyObject *const *values, Py_ssize_t count, PyObject **out) {",
            *(f"  {variable};" for variable in self._variables),
            f"  if (!({tests})) return NO_MATCH;",
            f"  {result} result = {{0}};",
            "  Raised *raised = NULL;",
            "  int32_t status;",
            call,
            "  if (status) return failed(status, raised);",
            f"  *out = {self._boxed(entry.result, 'result')};",
            "  return *out ? DONE : FAILED;",
            "}",
        ]
        return "\n".join(lines)

    def _take(self, kind: Any, value: str) -> None:
        """Note how a value is tested and handed on."""
        if isinstance(kind, types.Array):
            flags = " | ".join(_flags_needed(kind)) or "0"
            self._tests.append(f"array({value}, {_numpy_type(kind)}, {kind.ndim}, {flags})")
            self._hand_on_array(f"((PyArrayObject *){value})", value, kind)
        elif isinstance(kind, types.NoneType):
            self._tests.append(f"{value} == Py_None")
            self._hand_on("void *", "NULL")
        elif isinstance(kind, types.BaseTuple):
            is_named = isinstance(kind, types.BaseNamedTuple)
            test = "named_tuple" if is_named else "tuple"
            self._tests.append(f"{test}({value}, {len(kind.types)})")
            for place, part in enumerate(kind.types):
                self._take(part, f"PyTuple_GetItem({value}, {place})")
        else:
            c_type, name = _C_TYPES[str(kind)], f"v{next(self._numbers)}"
            self._variables.append(f"{c_type} {name}")
            self._tests.append(f"{_READERS[str(kind)]}({value}, &{name})")
            self._hand_on(c_type, name)

    def _hand_on(self, c_type: str, value: str) -> None:
        self._types.append(c_type)
        self._values.append(value)

    def _hand_on_array(self, array: str, owner: str, kind: Any) -> None:
        """Hand on an array as numba does: memory (not counted: the caller keeps it) to strides."""
        lengths = [f"PyArray_DIM({array}, {axis})" for axis in range(kind.ndim)]
        self._hand_on("Memory *", "NULL")
        self._hand_on("PyObject *", owner)
        self._hand_on("int64_t", " * ".join(lengths) or "1")
        self._hand_on("int64_t", f"sizeof({_C_TYPES[str(kind.dtype)]})")
        self._hand_on("void *", f"PyArray_DATA({array})")
        for length in lengths:
            self._hand_on("int64_t", length)
        for axis in range(kind.ndim):
            self._hand_on("int64_t", f"PyArray_STRIDE({array}, {axis})")

    def _check(self) -> None:
        """Refuse a kernel with machine code that takes other values than the wrapper hands on."""
        expected = ["ptr", "ptr", *(_LLVM_TYPES.get(c_type, "ptr") for c_type in self._types)]
        if expected != list(self._entry.parameters):
            raise TypeError(
                f"{self._entry.module}.{self._entry.name} takes {self._entry.parameters}, "
                f"and would be given {expected}"
            )

    def _c_type(self, kind: Any) -> str:
        """Return the C type of a result."""
        if isinstance(kind, types.NoneType):
            return "void *"
        if (scalar := _C_TYPES.get(str(kind))) is not None:
            return scalar
        name = f"Result{next(self._numbers)}_{self._entry.symbol}"
        if isinstance(kind, types.Array):
            fields = f"Array array; int64_t lengths[{2 * kind.ndim}];"
        elif isinstance(kind, types.BaseTuple) and not isinstance(kind, types.BaseNamedTuple):
            parts = [self._c_type(part) for part in kind.types]
            fields = " ".join(f"{part} m{place};" for place, part in enumerate(parts))
        else:
            raise TypeError(f"{self._entry.module}.{self._entry.name} returns {kind}")
        self._structs.append(f"typedef struct {{ {fields} }} {name};")
        return name

    def _boxed(self, kind: Any, value: str) -> str:
        if isinstance(kind, types.NoneType):
            return "Py_NewRef(Py_None)"
        if isinstance(kind, types.Array):
            flags = "NPY_ARRAY_WRITEABLE" if kind.mutable else "0"
            return f"from_array(&{value}.array, {kind.ndim}, {_numpy_type(kind)}, {flags})"
        if isinstance(kind, types.BaseTuple):
            parts = [self._boxed(part, f"{value}.m{n}") for n, part in enumerate(kind.types)]
            return f"from_tuple({', '.join([str(len(parts)), *parts])})"
        if isinstance(kind, types.Boolean):
            return f"PyBool_FromLong({value})"
        if isinstance(kind, types.Float):
            return f"PyFloat_FromDouble({value})"
        is_signed = kind.signed
        return f"PyLong_From{'' if is_signed else 'Unsigned'}LongLong({value})"


def _flags_needed(array: Any) -> Iterator[str]:
    """Yield NumPy's flags of the arrays that machine code takes."""
    if array.layout == "C":  # else any strides will do
        yield "IN_ORDER"
    if array.mutable:
        yield "NPY_ARRAY_WRITEABLE"


def _numpy_type(array: Any) -> str:
    return f"NPY_{array.dtype}".upper()
