"""Requests of kernels to the compiler beyond Python: vectors, bits, memory, uncounted references.

Each is an instruction or a hint, and has a plain Python form for where nothing is compiled. One is
Python that numba lacks: `replaced`.
"""

import contextlib
import ctypes
import inspect
import math
from typing import Any, TypeVar

import numpy as np

from terrain_physics._kernels._jit import HAS_NUMBA

if HAS_NUMBA:
    import llvmlite
    import numba

T = TypeVar("T", bound=tuple[Any, ...])


def replaced(values: T, /, **fields: Any) -> T:
    """Return a NamedTuple with other values in some fields, each of the type that it had.

    As ``values._replace(**fields)``, which numba does not compile.
    """
    result: T = values._replace(**fields)  # type: ignore[attr-defined]
    return result


if HAS_NUMBA and not numba.config.DISABLE_JIT:
    from numba.core import cgutils
    from numba.core.imputils import impl_ret_borrowed
    from numba.core.typing.templates import AbstractTemplate, infer_global
    from numba.extending import intrinsic, lower_builtin

    @infer_global(replaced)
    class _Replaced(AbstractTemplate):  # type: ignore[misc]
        """The types of a call of `replaced`."""

        def generic(self, arguments: Any, fields: Any) -> Any:
            (values,) = arguments
            names = [inspect.Parameter("_", inspect.Parameter.POSITIONAL_ONLY)]
            kinds = [values]
            for name, given in fields.items():
                if name not in values.fields:
                    raise numba.TypingError(f"{values.instance_class.__name__} has no {name}")
                kind = values[values.fields.index(name)]
                if self.context.can_convert(given, kind) is None:
                    raise numba.TypingError(f"{name} must be {kind}, got {given}")
                names.append(inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD))
                kinds.append(kind)
            return values(*kinds).replace(pysig=inspect.Signature(names))

    @lower_builtin(replaced, numba.types.BaseNamedTuple, numba.types.VarArg(numba.types.Any))  # type: ignore[untyped-decorator]
    def _generate_replaced(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        result, *others = arguments
        _, *names = signature.pysig.parameters
        for name, other in zip(names, others, strict=True):
            place = signature.return_type.fields.index(name)
            result = builder.insert_value(result, other, place)
        return impl_ret_borrowed(context, builder, signature.return_type, result)

    @intrinsic  # type: ignore[untyped-decorator]
    def prefer_wide_vectors(_typing_context: Any) -> Any:
        """Let the loops of this function use vectors of 512 bits where the processor has them.

        By itself LLVM stops at 256 on most processors. To be called where the loop is written: a
        function is vectorized before it is inlined. Results are the same without.
        """

        def generate(context: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
            # `add` refuses what llvmlite does not know; LLVM ignores what it does not know.
            with contextlib.suppress(Exception):
                set.add(builder.function.attributes, '"prefer-vector-width"="512"')
            return context.get_dummy_value()

        return numba.types.none(), generate

    @intrinsic  # type: ignore[untyped-decorator]
    def count_trailing_zeros(_typing_context: Any, value: Any) -> Any:
        """Return the position of the lowest bit that is set; of 0, the width of the type."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            zero_is_defined = llvmlite.ir.Constant(llvmlite.ir.IntType(1), 0)
            count = builder.cttz(arguments[0], zero_is_defined)
            return context.cast(builder, count, signature.args[0], signature.return_type)

        return numba.types.int64(value), generate

    @intrinsic  # type: ignore[untyped-decorator]
    def put_eight(_typing_context: Any, values: Any, _place: Any, _start: Any, _step: Any) -> Any:
        """Write start, start + step, ... to eight places; all of the array's own type.

        A loop over eight is unrolled before it is vectorized, and stays eight stores.
        """

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            kind = context.get_value_type(values.dtype)
            wide = llvmlite.ir.VectorType(kind, 8)
            is_real = isinstance(values.dtype, numba.types.Float)
            add, multiply = (builder.fadd, builder.fmul) if is_real else (builder.add, builder.mul)
            first, by = (_splat(builder, wide, number) for number in arguments[2:])
            numbers = add(first, multiply(by, llvmlite.ir.Constant(wide, list(range(8)))))
            to = _eight_at(context, builder, signature.args[0], *arguments[:2])
            builder.store(numbers, to, align=values.dtype.bitwidth // 8)
            return context.get_dummy_value()

        return numba.types.none(values, numba.types.uint64, values.dtype, values.dtype), generate

    @intrinsic  # type: ignore[untyped-decorator]
    def copy_eight(_typing_context: Any, values: Any, _place: Any, others: Any, _start: Any) -> Any:
        """Copy eight numbers of another array of the same type."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            align = values.dtype.bitwidth // 8
            source = _eight_at(context, builder, signature.args[2], *arguments[2:])
            target = _eight_at(context, builder, signature.args[0], *arguments[:2])
            builder.store(builder.load(source, align=align), target, align=align)
            return context.get_dummy_value()

        return numba.types.none(values, numba.types.uint64, others, numba.types.uint64), generate

    def _splat(builder: Any, wide: Any, number: Any) -> Any:
        """Return a vector of eight times a number."""
        vector = llvmlite.ir.Constant(wide, llvmlite.ir.Undefined)
        for lane in range(8):
            place = llvmlite.ir.Constant(llvmlite.ir.IntType(32), lane)
            vector = builder.insert_element(vector, number, place)
        return vector

    def _eight_at(context: Any, builder: Any, kind: Any, values: Any, place: Any) -> Any:
        """Return the address of eight numbers of an array."""
        array = context.make_array(kind)(context, builder, values)
        if context.enable_boundscheck:  # as of each `values[place]` of the kernel that is compiled
            for index in (place, builder.add(place, place.type(7))):
                cgutils.do_boundscheck(context, builder, index, array.nitems)
        wide = llvmlite.ir.VectorType(context.get_value_type(kind.dtype), 8)
        return builder.bitcast(builder.gep(array.data, [place]), wide.as_pointer())

    @intrinsic  # type: ignore[untyped-decorator]
    def prefetch(_typing_context: Any, values: Any, place: Any) -> Any:
        """Ask memory for the element at a flat place of an array, and do not wait for it."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            ir, name = llvmlite.ir, "llvm.prefetch.p0"
            array = context.make_array(signature.args[0])(context, builder, arguments[0])
            byte = ir.IntType(8).as_pointer()
            address = builder.bitcast(builder.gep(array.data, [arguments[1]]), byte)
            options = [ir.Constant(ir.IntType(32), option) for option in (0, 3, 1)]  # read, keep
            kinds = ir.FunctionType(ir.VoidType(), [byte, *(option.type for option in options)])
            known = builder.module.globals.get(name)
            function = ir.Function(builder.module, kinds, name) if known is None else known
            builder.call(function, [address, *options])
            return context.get_dummy_value()

        return numba.types.none(values, place), generate

    @intrinsic  # type: ignore[untyped-decorator]
    def borrow(_typing_context: Any, values: Any) -> Any:
        """Return an array without reference counting; its owner must outlive it.

        Counting is an atomic operation for each array at each call. In kernels that hand many
        arrays to many small functions, it takes two thirds of the time. Arguments from Python live
        as long as the call; an array made in a kernel lives until `keep`.
        """

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            array = context.make_array(signature.args[0])(context, builder, arguments[0])
            array.meminfo = llvmlite.ir.Constant(array.meminfo.type, None)
            array.parent = llvmlite.ir.Constant(array.parent.type, None)
            return array._getvalue()  # noqa: SLF001

        return values(values), generate

    @intrinsic  # type: ignore[untyped-decorator]
    def array_at(_typing_context: Any, _address: Any, shape: Any, kind: Any) -> Any:
        """Return the C-contiguous array at an address, read-only; its owner must outlive it.

        `numba.carray` would return one that can be written to: for kernels, another type.
        """
        dimensions = len(shape)
        result = numba.types.Array(kind.dtype, dimensions, "C", readonly=True)

        def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            size = context.get_abi_sizeof(context.get_data_type(result.dtype))
            array = context.make_array(result)(context, builder)
            lengths = [builder.extract_value(arguments[1], k) for k in range(dimensions)]
            step = llvmlite.ir.Constant(lengths[0].type, size)
            array.itemsize, count = step, step.type(1)
            strides: list[Any] = []
            for length in reversed(lengths):
                strides.insert(0, builder.mul(count, step))
                count = builder.mul(count, length)
            array.data = builder.inttoptr(arguments[0], array.data.type)
            array.shape, array.nitems = arguments[1], count
            array.strides = context.make_tuple(
                builder, numba.types.UniTuple(numba.types.intp, dimensions), strides
            )
            array.meminfo = llvmlite.ir.Constant(array.meminfo.type, None)
            array.parent = llvmlite.ir.Constant(array.parent.type, None)
            return array._getvalue()  # noqa: SLF001

        whole = numba.types.UniTuple(numba.types.intp, dimensions)
        return result(numba.types.intp, whole, kind), generate

    @intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
    def on_stack(_typing_context: Any, rows: Any, columns: Any) -> Any:
        """Return an array (rows, columns) of float64 on the stack; not to be returned or kept.

        Both are constants. As quick as a variable: memory from elsewhere would be handed from
        caller to caller, or made anew at each call.
        """
        count, width = rows.literal_value, columns.literal_value
        result = numba.types.Array(numba.types.float64, 2, "C")

        def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            kind = context.get_value_type(numba.types.float64)
            length = llvmlite.ir.IntType(64)
            array = context.make_array(result)(context, builder)
            strides = (length(8 * width), length(8))
            context.populate_array(
                array,
                data=cgutils.alloca_once(builder, kind, size=count * width),
                shape=arguments,
                strides=strides,
                itemsize=strides[1],
                meminfo=None,
            )
            return array._getvalue()  # noqa: SLF001

        return result(rows, columns), generate

    @intrinsic  # type: ignore[untyped-decorator]
    def keep(_typing_context: Any, owner: Any) -> Any:
        """Use a value, so that it lives until here; see `borrow`."""

        def generate(context: Any, _builder: Any, _signature: Any, _arguments: Any) -> Any:
            return context.get_dummy_value()

        return numba.types.none(owner), generate

else:

    def prefer_wide_vectors() -> None:
        """Let the loops of this function use vectors of 512 bits where the processor has them."""

    def count_trailing_zeros(value: Any) -> int:
        """Return the position of the lowest bit that is set; of 0, the width of the type."""
        number = int(value)
        return (number & -number).bit_length() - 1 if number else 8 * value.itemsize

    def put_eight(values: Any, place: Any, start: Any, step: Any) -> None:
        """Write start, start + step, ... to eight places; all of the array's own type."""
        values[int(place) : int(place) + 8] = [
            start + step * values.dtype.type(k) for k in range(8)
        ]

    def copy_eight(values: Any, place: Any, others: Any, start: Any) -> None:
        """Copy eight numbers of another array of the same type."""
        values[int(place) : int(place) + 8] = others[int(start) : int(start) + 8]

    def prefetch(values: Any, place: int) -> None:
        """Ask memory for the element at a flat place of an array, and do not wait for it."""

    def borrow(values: Any) -> Any:
        """Return an array without reference counting; its owner must outlive it."""
        return values

    def array_at(address: int, shape: tuple[int, ...], kind: Any) -> Any:
        """Return the C-contiguous array at an address, read-only; its owner must outlive it."""
        size = math.prod(shape) * np.dtype(kind).itemsize
        memory: Any = b""
        if size != 0:
            memory = memoryview((ctypes.c_byte * int(size)).from_address(int(address)))
        values: Any = np.ndarray(shape, dtype=kind, buffer=memory)
        values.setflags(write=False)
        return values

    def on_stack(rows: int, columns: int) -> Any:
        """Return an array (rows, columns) of float64 on the stack; not to be returned or kept."""
        return np.empty((rows, columns))

    def keep(owner: Any) -> None:
        """Use a value, so that it lives until here; see `borrow`."""
