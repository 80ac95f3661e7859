"""Records calls of kernels: arguments, memory before and after, results.

An array is given to a kernel as an address, and tables hold addresses of more arrays. What is
recorded can be put elsewhere: where an address stands, it names a block of memory and a place in
it. A kernel that is called by C only is called by Python here.
"""

import ctypes
import gc
import struct
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import types

from terrain_physics._build import signatures
from terrain_physics._build.packages import LIBRARY
from terrain_physics._kernels import _native

FIRST_CALLS = 4
"""Of each kernel so many are recorded, and then those whose number is a power of two."""
MOST_CALLS = 4096
MOST_BYTES, MOST_BYTES_EVER = 600_000, 12_000_000
"""What a call that is recorded may read and write at most."""

NUMBER, FLOAT64, FLOAT32, ADDRESS, NOTHING = range(5)
"""What a word of a call's arguments is."""

_LEAST_ADDRESS = 1 << 32

Span = tuple[int, int]
"""First and last address of memory, the last one outside."""


class _Version(NamedTuple):
    """A kernel for one list of types: its number in ``signatures.txt``."""

    number: int
    arguments: tuple[Any, ...]


class Recorder:
    """Stands between Python and the machine code of kernels."""

    def __init__(self) -> None:
        self.calls: dict[int, list[bytes]] = {}
        """What was recorded, by the number of the kernel."""
        self.takes_large = False
        """Whether a call with much memory is recorded if the kernel has none."""
        self._counts: dict[int, int] = {}
        self._lock = threading.RLock()
        self._versions: dict[tuple[str, str], list[_Version]] = {}

    def start(self) -> None:
        """Record what modules call that are imported from now on."""
        load = _native.load
        _native.load = lambda *given: _Recorded(load(*given), self)

    def read_list(self) -> None:
        """Learn which kernels there are, with which types."""
        for number, line in enumerate(signatures.read()):
            kernel, place, name = _named(line)
            found = signatures.types_of(line[len(kernel) + 1 : -1])
            self._versions.setdefault((place, name), []).append(_Version(number, found))

    def call(self, where: tuple[str, str], kernel: Callable[..., Any], values: Any) -> Any:
        """Call a kernel, and record that if it is wanted."""
        with self._lock:  # other threads write to the same memory
            number = self._number(where, values)
            count = self._counts[number] = self._counts.get(number, 0) + 1
            if count > FIRST_CALLS and (count & (count - 1) or count > MOST_CALLS):
                return kernel(*values)
            given = [value for value in _flat(values) if isinstance(value, np.ndarray)]
            is_large_taken = self.takes_large and number not in self.calls
            most = MOST_BYTES_EVER if is_large_taken else MOST_BYTES
            is_small = sum(array.nbytes for array in given) <= most
            if not is_small or (blocks := _Blocks(given)).size > most:
                self._counts[number] -= 1
                return kernel(*values)
            before = blocks.contents()
            result = kernel(*values)
            recorded = [struct.pack("<qq", number, len(before))]
            after = blocks.contents_after(before)
            for old, new in zip(before, after, strict=True):
                recorded += [struct.pack("<q", len(old)), old, new]
            recorded += [blocks.addresses_in(before), blocks.addresses_in(after)]
            recorded += [_packed(_words(values, blocks)), _with_length(b"".join(_parts(result)))]
            self.calls.setdefault(number, []).append(b"".join(recorded))
            return result

    def _number(self, where: tuple[str, str], values: Any) -> int:
        if not self._versions:
            self.read_list()
        return next(
            version.number
            for exactly in (True, False)
            for version in self._versions[where]
            if len(values) == len(version.arguments)
            and all(_fits(*one, exactly) for one in zip(values, version.arguments, strict=True))
        )

    def not_called(self) -> list[str]:
        """Return the lines of ``signatures.txt`` of which no call was recorded."""
        lines = signatures.read()
        return [line for number, line in enumerate(lines) if number not in self.calls]


def _named(line: str) -> tuple[str, str, str]:
    kernel = line.partition("(")[0]
    module, _, name = kernel.rpartition(".")
    return kernel, module, name


class _Recorded:
    """The extension module of the library's kernels, whose calls are recorded."""

    QUICK = ""  # no entries in C: they call kernels by themselves

    def __init__(self, module: Any, recorder: Recorder) -> None:
        self._module = module
        self._recorder = recorder

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)

    def kernel(self, within: str, name: str, fallback: Any, module: str) -> Any:
        """Return a kernel as the extension module does, None without one."""
        found = self._module.kernel(within, name, fallback, module)
        if found is None or not module.startswith(f"{LIBRARY.name}."):
            return found

        def call(*values: Any) -> Any:
            return self._recorder.call((within, name), found, values)

        call.__name__ = name
        return call


def _fits(value: Any, kind: Any, exactly: bool) -> bool:
    """Tell whether machine code for a type takes a value, as the wrapper in C does.

    Exactly: read-only arrays alone are of the types of those.
    """
    if isinstance(kind, types.Array):
        return (
            isinstance(value, np.ndarray)
            and value.dtype == np.dtype(str(kind.dtype))
            and value.ndim == kind.ndim
            and (kind.layout == "A" or value.flags.c_contiguous)
            and (kind.mutable == value.flags.writeable or not (exactly or kind.mutable))
        )
    if isinstance(kind, types.NoneType):
        return value is None
    if isinstance(kind, types.BaseTuple):
        is_one = type(value) is tuple or isinstance(kind, types.BaseNamedTuple)
        is_one = is_one and isinstance(value, tuple) and len(value) == len(kind.types)
        return is_one and all(_fits(*one, exactly) for one in zip(value, kind.types, strict=True))
    if isinstance(kind, types.Boolean):
        return isinstance(value, bool | np.bool_)
    if isinstance(value, float):
        return bool(kind == types.float64)
    if type(value) is int:
        return bool(kind == (types.int64 if value < 1 << 63 else types.uint64))
    return isinstance(value, np.generic) and str(value.dtype) == str(kind)


class _Blocks:
    """The memory that a call may read or write: that of its arrays, and what their tables name."""

    def __init__(self, given: Sequence[Any]) -> None:
        known = _merged(map(_span, (*given, *_arrays_behind(given))))
        self._starts = np.array([first for first, _ in known], np.int64)
        self._ends = np.array([last for _, last in known], np.int64)
        used, new = set[int](), {self._holding(_span(array)[0]) for array in given if array.size}
        while new:
            used |= new
            new = {block for one in new for block in self._named_in(known[one])} - used
        self._spans = [known[block] for block in sorted(used)]
        self._starts = np.array([first for first, _ in self._spans], np.int64)
        self._ends = np.array([last for _, last in self._spans], np.int64)
        self.size = sum(last - first for first, last in self._spans)
        writable = [array for array in given if array.size and array.flags.writeable]
        self._written = {self._holding(_span(array)[0]) for array in writable}

    def _holding(self, address: int) -> int:
        return int(np.searchsorted(self._starts, address, "right")) - 1

    def _named_in(self, span: Span) -> set[int]:
        if span[1] - span[0] > MOST_BYTES_EVER:
            return set()
        return {self._holding(address) for _, address, _ in self._found(_content(span))}

    def contents(self) -> list[bytes]:
        """Return what stands in the blocks."""
        return [_content(span) for span in self._spans]

    def contents_after(self, before: list[bytes]) -> list[bytes]:
        """Return what a kernel has left.

        It writes to no array that is read-only. The samples of several maps are one of these, with
        memory of others in between, which may have changed.
        """
        return [
            _content(span) if block in self._written else before[block]
            for block, span in enumerate(self._spans)
        ]

    def place(self, address: int) -> tuple[int, int]:
        """Return the block that holds an address, and the place in it."""
        block = self._holding(address)
        return block, address - self._spans[block][0]

    def _found(self, content: bytes) -> Iterator[tuple[int, int, bool]]:
        """Yield where an address stands, the address, and whether it is written as a float."""
        whole = content[: len(content) // 8 * 8]
        for is_float, kind in enumerate((np.int64, np.float64)):
            values = np.frombuffer(whole, kind)
            with np.errstate(invalid="ignore"):
                near = (values >= self._starts[0]) & (values < self._ends[-1])
            for number in np.flatnonzero(near):
                address, block = int(values[number]), self._holding(int(values[number]))
                if address < self._ends[block] and address == values[number]:
                    yield 8 * int(number), address, bool(is_float)

    def addresses_in(self, contents: Iterable[bytes]) -> bytes:
        """Return where addresses stand, and the blocks and places that they name."""
        found = [
            (block, place, *self.place(address), int(is_float))
            for block, content in enumerate(contents)
            for place, address, is_float in self._found(content)
        ]
        return _packed(found)


def _packed(rows: Iterable[tuple[int, ...]]) -> bytes:
    rows = list(rows)
    return struct.pack("<q", len(rows)) + b"".join(struct.pack(f"<{len(r)}q", *r) for r in rows)


def _with_length(content: bytes) -> bytes:
    return struct.pack("<q", len(content)) + content


def _span(array: Any) -> Span:
    return np.lib.array_utils.byte_bounds(array)


def _content(span: Span) -> bytes:
    return ctypes.string_at(span[0], span[1] - span[0])


def _merged(spans: Iterable[Span]) -> list[Span]:
    """Return memory in order, what overlaps as one."""
    merged: list[Span] = []
    for first, last in sorted(span for span in spans if span[0] < span[1]):
        if merged and first < merged[-1][1]:
            merged[-1] = merged[-1][0], max(merged[-1][1], last)
        else:
            merged.append((first, last))
    return merged


def _flat(values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, tuple):
            yield from _flat(value)
        else:
            yield value


def _arrays_behind(given: Sequence[Any]) -> Iterator[Any]:
    """Yield the arrays that are kept alive by others, or by what a table belongs to."""
    seen, waiting = set[int](), [array.base for array in given]
    whole = [array for array in given if array.dtype == np.int64 and array.base is None]
    if tables := [array for array in whole if (array > _LEAST_ADDRESS).any()]:
        waiting += gc.get_referrers(*tables)
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        if isinstance(thing, np.ndarray):
            yield thing
            waiting.append(thing.base)
        elif isinstance(thing, tuple | list) or type(thing).__module__.startswith(
            "terrain_physics."
        ):
            waiting += gc.get_referents(thing)


def _words(values: Iterable[Any], blocks: _Blocks) -> Iterator[tuple[int, int, int]]:
    """Yield what machine code is given: see `_hand_on_array` of the wrapper's writer."""
    for value in _flat(values):
        if isinstance(value, np.ndarray):
            yield from ((NOTHING, 0, 0), (NOTHING, 0, 0))
            yield from ((NUMBER, value.size, 0), (NUMBER, value.itemsize, 0))
            address = value.__array_interface__["data"][0]
            yield (ADDRESS, *blocks.place(address)) if value.size else (NOTHING, 0, 0)
            yield from ((NUMBER, length, 0) for length in (*value.shape, *value.strides))
        elif value is None:
            yield NOTHING, 0, 0
        elif isinstance(value, float | np.float32):
            is_single = isinstance(value, np.float32)
            bits = struct.unpack("<q", struct.pack("<d", float(value)))[0]
            yield FLOAT32 if is_single else FLOAT64, bits, 0
        else:
            yield NUMBER, (int(value) + (1 << 63)) % (1 << 64) - (1 << 63), 0


def _parts(result: Any) -> Iterator[bytes]:
    """Yield what a kernel returns, numbers as eight bytes."""
    for value in _flat((result,)):
        if isinstance(value, np.ndarray):
            yield value.tobytes()
            yield struct.pack(f"<{value.ndim}q", *value.shape)
        elif isinstance(value, float):
            yield struct.pack("<d", value)
        elif value is not None:
            yield struct.pack("<q", (int(value) + (1 << 63)) % (1 << 64) - (1 << 63))
