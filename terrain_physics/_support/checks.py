"""Checks of input: what a caller passes becomes floats and float64 arrays, or a clear error.

Messages about bad input have one form: name, rule, value. Vectors are recognized by what they
can do (``.x .y .z`` or three numbers), so that this module needs no vector library.

Arrays are copied first, and the copy is checked: another thread or process may write to the
caller's array at any time, and what kernels read must be what was checked.
"""

import math
import operator
import os
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels.math.rotations import put_orthonormal
from terrain_physics._kernels.math.rows import put_units
from terrain_physics._support.lazy import refuse_lazy

_Checked = TypeVar("_Checked")

_PUT_UNITS = CachedDispatch(put_units)

Floats3 = tuple[float, float, float]
Floats9 = tuple[float, float, float, float, float, float, float, float, float]
Rows = dict[str, NDArray[np.float64]]
"""Checked arrays by the names of the arguments they came from."""

MOST_RESULTS = 20_000_000
"""Limit of one query unless it says otherwise: contacts take 88 bytes each, 2 GB in all."""

# Largest error of a unit length or a dot product of axes. glm.quat and glm.mat3 hold float32: a
# product of a few thousand rotations stays within this.
ROTATION_TOLERANCE = 1e-4

_FLOAT64 = np.dtype(np.float64)

_ANY_REACH = np.array([math.inf])
_ANY_REACH.setflags(write=False)

# So many numbers are checked one by one: NumPy takes a microsecond to look at any.
_FEW = 32


def shorten(value: object) -> str:
    """Return the value as text for an error message, at most 80 characters on one line."""
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # an int of more than 4300 digits
        text = f"{type(value).__name__} too long to show"
    return text if len(text) <= 80 else text[:77] + "..."


def counted(count: int, noun: str, nouns: str | None = None) -> str:
    """Return a number with its noun, in words: 1 mesh, 2 meshes."""
    return f"{count} {noun if count == 1 else nouns or noun + 's'}"


_NOT_A_NUMBER = (str, bytes, bytearray, complex, np.complexfloating)


def _number(name: str, rule: str, value: Any) -> float:
    if isinstance(value, float):
        return float(value)
    if type(value) is not int:
        # float() would also accept the string "1.0", an array of one element, a NumPy complex
        # number without its imaginary part, and a lazy number, which it would compute.
        if isinstance(value, _NOT_A_NUMBER) or getattr(value, "ndim", 0) != 0:
            raise TypeError(f"{name} must be {rule}, got {shorten(value)}")
        refuse_lazy(name, value)
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be {rule}, got {shorten(value)}") from None
    except OverflowError:
        raise ValueError(f"{name} must be {rule}, got {shorten(value)}") from None


def finite(name: str, value: Any) -> float:
    """Return a finite number as float."""
    if type(value) is float and -math.inf < value < math.inf:  # called every frame
        return value
    number = _number(name, "a finite number", value)
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite, got {number}")
    return number


def non_negative(name: str, value: Any, unit: str = "") -> float:
    """Return a finite number >= 0 as float; messages name its unit, given with a space before."""
    if type(value) is float and 0.0 <= value < math.inf:
        return value
    number = _number(name, f"a number, finite and >= 0{unit}", value)
    if not (0.0 <= number < math.inf):
        raise ValueError(f"{name} must be finite and >= 0{unit}, got {number}")
    return number


def positive(name: str, value: Any) -> float:
    """Return a finite number > 0 as float."""
    if type(value) is float and 0.0 < value < math.inf:
        return value
    number = _number(name, "a number, finite and > 0", value)
    if not (0.0 < number < math.inf):
        raise ValueError(f"{name} must be finite and > 0, got {number}")
    return number


def between(name: str, value: Any, low: float, high: float) -> float:
    """Return a number within a closed interval as float."""
    if type(value) is float and low <= value <= high:  # called every frame
        return value
    number = _number(name, f"a number from {low:g} to {high:g}", value)
    if not (low <= number <= high):
        raise ValueError(f"{name} must be from {low:g} to {high:g}, got {number}")
    return number


def whole(name: str, value: Any, low: int, high: int) -> int:
    """Return a whole number within a closed interval as int."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be a whole number, got {shorten(value)}") from None
    if not (low <= number <= high):
        raise ValueError(f"{name} must be from {low} to {high}, got {shorten(number)}")
    return number


def most_results(max_results: Any) -> int:
    """Return how many results a query may have."""
    return whole("max_results", max_results, 0, 2**62)


def too_many(what: str, most: int) -> ValueError:
    """Return the error for more results than that."""
    return ValueError(f"{what} must be at most max_results = {most}, got more")


def refuse_more(what: str, count: int, most: int) -> None:
    """Refuse more results than that."""
    if count > most:
        raise too_many(what, most)


def choice(name: str, value: Any, known: tuple[str, ...]) -> str:
    """Return a string that is one of ``known``."""
    if not isinstance(value, str) or value not in known:
        raise ValueError(
            f"{name} must be one of {', '.join(map(repr, known))}, got {shorten(value)}"
        )
    return value


UNPACKED: set[type] = {tuple, list}
"""Types that are unpacked if they have three items; `geometry.shapes` adds the vectors of PyGLM."""


def vector(name: str, value: Any) -> Floats3:
    """Return three finite floats of a vec3, dvec3, tuple, list, array or object with .x .y .z."""
    if type(value) in UNPACKED and len(value) == 3:  # a missing attribute is slow
        x, y, z = value
    else:
        x, y, z = _three(name, value)
    if not (type(x) is type(y) is type(z) is float):  # PyGLM's vectors hold floats
        rule = "three numbers"
        x, y, z = _number(name, rule, x), _number(name, rule, y), _number(name, rule, z)
    # A sum of finite numbers may overflow, so the slow check decides.
    if not math.isfinite(x + y + z):
        for axis, number in zip("xyz", (x, y, z), strict=True):
            if not math.isfinite(number):
                raise ValueError(f"{name}.{axis} must be finite, got {number}")
    return x, y, z


def unit(name: str, value: Any) -> Floats3:
    """Return a vector of any length but zero, scaled to length 1."""
    x, y, z = vector(name, value)
    # Scaled by its largest component first, so that tiny and huge vectors keep their direction.
    largest = x if x >= 0.0 else -x  # three times as quick as max and abs
    largest = y if y > largest else max(largest, -y)
    largest = z if z > largest else max(largest, -z)
    if largest == 0.0:
        raise ValueError(f"{name} must not be zero, got {(x, y, z)}")
    x, y, z = x / largest, y / largest, z / largest
    length = math.sqrt(x * x + y * y + z * z)
    return x / length, y / length, z / length


def unit_or_zeros(name: str, value: Any) -> Floats3:
    """Return a vector that was scaled to length 1 before, with its bits, or zeros."""
    x, y, z = vector(name, value)
    if (x or y or z) and not abs(x * x + y * y + z * z - 1.0) < 1e-9:
        raise ValueError(f"{name} must have length 1 or be zeros, got {(x, y, z)}")
    return x, y, z


def vector_or_pair(name: str, value: Any) -> tuple[float, ...]:
    """Return what `vector` does, or two finite floats of what has no more, such as a vec2."""
    if type(value) not in UNPACKED:  # a missing attribute is slow
        if hasattr(value, "z"):
            return vector(name, value)
        if hasattr(value, "x") and hasattr(value, "y"):
            value = value.x, value.y
    if not isinstance(value, (tuple, list, np.ndarray)) or len(value) != 2:
        return vector(name, value)
    x, y = (finite(name, part) for part in value)
    return x, y


def listed(name: str, value: Any) -> tuple[Any, ...]:
    """Return what an iterable gives, or raise TypeError."""
    try:
        items = iter(value)
    except TypeError:
        raise TypeError(f"{name} must be iterable, got {shorten(value)}") from None
    return tuple(items)


def named_check(key: object, check: Callable[..., _Checked], *values: Any) -> _Checked:
    """Return what a check makes of values; its error names the key that they are of."""
    try:
        return check(*values)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{key!r}: {error}") from None


def _three(name: str, value: Any) -> tuple[Any, ...]:
    try:
        parts = value.x, value.y, value.z
    except AttributeError:
        return _sequence(name, value)
    if hasattr(value, "w"):
        raise ValueError(f"{name} must be three numbers, got four: {shorten(value)}")
    return parts


def _sequence(name: str, value: Any) -> tuple[Any, ...]:
    # A set has no order, and a dict would give its keys.
    if isinstance(value, (str, bytes, bytearray, set, frozenset, dict)):
        raise TypeError(f"{name} must be three numbers, got {shorten(value)}")
    try:
        parts = tuple(value)
    except TypeError:
        raise TypeError(f"{name} must be three numbers, got {shorten(value)}") from None
    if len(parts) != 3:
        raise ValueError(f"{name} must be three numbers, got {len(parts)}: {shorten(value)}")
    return parts


def rotation(name: str, value: Any) -> Floats9:
    """Return a rotation, given as a quaternion or a 3 x 3 matrix, as nine floats row by row.

    Matrices of PyGLM, and sequences of vectors, are columns, and so are those of pyrr and Panda3D,
    made for row vectors; other arrays and nested lists are rows. Small errors of float32 are
    removed: the result is orthonormal in float64.
    """
    if _is_quaternion(value):
        return _from_quaternion(name, value)
    matrix = _square(name, "a quaternion or a 3 x 3 matrix", value)
    if matrix.shape != (3, 3):
        hint = "; of four numbers make glm.quat(w, x, y, z)" if matrix.shape == (4,) else ""
        raise ValueError(
            f"{name} must be a quaternion or a 3 x 3 matrix, got shape {matrix.shape}{hint}"
        )
    refuse_non_finite(name, matrix)
    return floats9(orthonormal(name, matrix[np.newaxis])[0])


def floats9(matrix: NDArray[np.float64]) -> Floats9:
    """Return a 3 x 3 matrix row by row."""
    m = matrix.ravel().tolist()
    return (m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8])


def is_rotation(value: Any) -> bool:
    """Tell whether a value is of a kind that `rotation` reads."""
    return _is_quaternion(value) or shape_of(value) == (3, 3)


def _is_quaternion(value: Any) -> bool:
    return all(hasattr(value, part) for part in "wxyz")


def shape_of(value: Any) -> tuple[int, ...]:
    """Return the shape that an array of a value has; () if it makes none."""
    try:
        return np.asarray(value).shape
    except (TypeError, ValueError):
        return ()


def holds_columns(matrix: Any) -> bool:
    """Tell whether a matrix is given by its columns: PyGLM's, and sequences of vectors, are."""
    return not isinstance(matrix, np.ndarray) and all(hasattr(column, "x") for column in matrix)


def is_for_row_vectors(matrix: Any) -> bool:
    """Tell whether a matrix is multiplied by vectors from the left, as Panda3D's and pyrr's are."""
    return hasattr(matrix, "getRow") or (isinstance(matrix, np.ndarray) and hasattr(matrix, "m11"))


def _square(name: str, rule: str, value: Any) -> NDArray[np.float64]:
    """Return a matrix by rows."""
    try:
        if holds_columns(value):
            return real_array(name, [list(column) for column in value]).T
        matrix = real_array(name, value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be {rule}, got {shorten(value)}") from None
    return matrix.T if is_for_row_vectors(value) else matrix


_LAST = [0.0, 0.0, 0.0, 1.0]


def affine(
    name: str, value: Any, rule: str = "a 4 x 4 matrix"
) -> tuple[NDArray[np.float64], Floats3]:
    """Return the (3, 3) linear part and the translation of a 4 x 4 matrix, read as a `rotation`."""
    matrix = _square(name, rule, value)
    if matrix.shape != (4, 4):
        hint = "; of a place make glm.translate(glm.vec3(x, y, z))" if matrix.shape == (3,) else ""
        raise ValueError(f"{name} must be {rule}, got shape {matrix.shape}{hint}")
    refuse_non_finite(name, matrix)
    last = matrix[3].tolist()
    if last != _LAST and np.abs(matrix[3] - _LAST).max() > 1e-6:
        hint = (
            ": a translation belongs in the last column" if matrix[:, 3].tolist() == _LAST else ""
        )
        raise ValueError(f"{name} must be affine, got last row {last}{hint}")
    x, y, z = matrix[:3, 3].tolist()
    return np.ascontiguousarray(matrix[:3, :3]), (x, y, z)


def rotations(name: str, value: Any) -> NDArray[np.float64]:
    """Return rotation matrices (n, 3, 3), box axes as columns, orthonormal in float64."""
    return orthonormal(name, array(name, value, (None, 3, 3)))


def orthonormal(name: str, matrices: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the matrices without the small errors of float32; refuse others than rotations."""
    result = np.empty(matrices.shape)
    rows = np.require(matrices, None, ["C"]).reshape(-1).view()
    rows.setflags(write=False)
    row, mirrors = put_orthonormal(rows, ROTATION_TOLERANCE, result.reshape(-1))
    if row < len(matrices):
        where = name if len(matrices) == 1 else f"{name}[{row}]"
        rule = "not mirror" if mirrors else "be orthonormal"
        raise ValueError(f"{where} must {rule}, got {shorten(matrices[row].tolist())}")
    result.setflags(write=False)
    return result


def _from_quaternion(name: str, value: Any) -> Floats9:
    w, x, y, z = (finite(f"{name}.{part}", getattr(value, part)) for part in "wxyz")
    if hasattr(value, "getR"):  # Panda3D, where x, y, z and w are the first to the last
        w, x, y, z = x, y, z, w
    norm = math.sqrt(w * w + x * x + y * y + z * z)
    if not abs(norm - 1.0) <= ROTATION_TOLERANCE:  # a NaN must not pass
        raise ValueError(f"{name} must have unit length, got length {norm:.6g}")
    w, x, y, z = w / norm, x / norm, y / norm, z / norm
    return (
        1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
        2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
        2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y),
    )  # fmt: skip


def array(name: str, value: Any, *shapes: tuple[int | None, ...]) -> NDArray[np.float64]:
    """Return a new float64 array of one of the shapes (None: any length), all finite.

    It is read-only, since numba compiles separately for read-only and for writable arrays.
    """
    result = real_array(name, value)
    if result.shape == (0,) and shapes[0][0] is None:  # an empty list stands for no rows
        result = result.reshape([length or 0 for length in shapes[0]])
    result.setflags(write=False)
    have = result.shape
    are_rows = len(have) == 2 and shapes[0] == (None, have[1])  # most are, so asked first
    if not are_rows and not any(_fits(have, shape) for shape in shapes):
        wanted = " or ".join(_shape_text(shape) for shape in shapes)
        raise ValueError(f"{name} must have shape {wanted}, got {result.shape}")
    refuse_non_finite(name, result)
    return result


def _fits(have: tuple[int, ...], want: tuple[int | None, ...]) -> bool:
    if len(have) != len(want):
        return False
    for length, wanted in zip(have, want, strict=True):
        if wanted is not None and wanted != length:
            return False
    return True


def _shape_text(shape: tuple[int | None, ...]) -> str:
    """Return a shape as NumPy writes it, with n for any length."""
    lengths = ", ".join("n" if length is None else str(length) for length in shape)
    return f"({lengths},)" if len(shape) == 1 else f"({lengths})"


def copied(name: str, value: Any) -> NDArray[Any]:
    """Return a new array of anything that is one and in memory, of its own type."""
    refuse_lazy(name, value)
    return np.array(np.asarray(value))


def real_array(name: str, value: Any) -> NDArray[np.float64]:
    """Return real numbers as a new C-contiguous float64 array; a single number gets no axis."""
    if type(value) is np.ndarray and value.dtype is _FLOAT64:  # a microsecond less
        return value.copy()
    given = real_numbers(name, value)
    if given.dtype.itemsize <= 8:
        return np.array(given, np.float64, order="C")
    with np.errstate(over="ignore"):  # a long double may become infinite, which callers refuse
        return np.array(given, np.float64, order="C")


def real_numbers(name: str, value: Any) -> NDArray[Any]:
    """Return an array of real numbers as it is: perhaps the caller's, which must be copied yet."""
    refuse_lazy(name, value)
    refuse_masked(name, value)
    try:
        raw = np.asarray(value)
    except ValueError:
        raise ValueError(f"{name} must be an array of numbers with rows of one length") from None
    if raw.dtype.kind not in "biuf":
        if raw.size != 0 or raw.dtype.kind != "O":
            raise TypeError(f"{name} must hold real numbers, got dtype {raw.dtype}")
    return raw


def is_masked(value: Any) -> bool:
    """Tell whether it is a masked array."""
    # NumPy loads `numpy.ma` here, with the first ground. `np.unique` would in a thread, and a child
    # that is forked meanwhile would wait for the lock of the module for ever.
    return isinstance(value, np.ma.MaskedArray)


def masked_as_nan(value: Any) -> Any:
    """Return a masked array as float64 with NaN for what is masked, anything else as it is."""
    return np.ma.filled(value.astype(np.float64), np.nan) if is_masked(value) else value


def refuse_masked(name: str, value: Any) -> None:
    """Raise ValueError naming the first masked number of a masked array."""
    mask = np.ma.getmask(value)
    if mask is not np.ma.nomask and mask.any():  # NumPy would return the data below the mask
        raise ValueError(f"{name} must be unmasked, got a masked number{_place(mask)}")


def _place(bad: NDArray[np.bool_]) -> str:
    """Return the place of the first bad number, for a message; nothing for a single number."""
    place = np.argwhere(bad)[0].tolist()
    return f" at {place}" if place else ""


def refuse_non_finite(name: str, values: NDArray[np.float64]) -> None:
    """Raise ValueError naming the first NaN or infinity."""
    if values.size <= _FEW and all(map(math.isfinite, values.ravel().tolist())):
        return
    # The sum of finite values is finite unless it overflows: one fast pass for nearly all input.
    with np.errstate(over="ignore", invalid="ignore"):
        if math.isfinite(float(values.sum())):
            return
    bad = ~np.isfinite(values)
    if bad.any():
        raise ValueError(f"{name} must be finite, got {values[bad][0]}{_place(bad)}")


def broadcast(
    first_name: str, first: Any, second_name: str, second: Any
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return two finite arrays broadcast to one shape, C-contiguous and read-only."""
    one, two = real_array(first_name, first), real_array(second_name, second)
    refuse_non_finite(first_name, one)
    refuse_non_finite(second_name, two)
    if one.shape != two.shape:
        try:
            one, two = np.broadcast_arrays(one, two)
        except ValueError:
            raise ValueError(
                f"{first_name} and {second_name} must have shapes that fit, "
                f"got {one.shape} and {two.shape}"
            ) from None
        one, two = np.asarray(one, order="C").view(), np.asarray(two, order="C").view()
    for values in (one, two):
        values.setflags(write=False)  # see `array`
    return one, two


def refuse_path(name: str, value: object, reader: str) -> None:
    """Raise TypeError for the path of a file, which a function elsewhere reads."""
    if isinstance(value, (str, os.PathLike)):
        raise TypeError(f"{name} must not be a path, got {shorten(value)}: {reader} reads files")


def instance(name: str, value: object, kind: type) -> None:
    """Raise TypeError unless a value is of a class."""
    if not isinstance(value, kind):
        article = "an" if kind.__name__[0] in "AO" else "a"
        raise TypeError(f"{name} must be {article} {kind.__name__}, got {shorten(value)}")


def common_length(**arrays: NDArray[np.float64]) -> int:
    """Return the common number of rows; an array of one row serves for any number."""
    lengths = {name: len(values) for name, values in arrays.items() if len(values) != 1}
    if len(set(lengths.values())) > 1:
        stated = ", ".join(f"{name} has {n}" for name, n in lengths.items())
        raise ValueError(f"arrays must have the same number of rows or one, but {stated}")
    return next(iter(lengths.values()), 1)


def points(name: str, value: Any) -> NDArray[np.float64]:
    """Return points (n, 3)."""
    return array(name, value, (None, 3))


def spheres(name: str, value: Any) -> NDArray[np.float64]:
    """Return rows x, y, z, radius (n, 4), radii >= 0."""
    rows = array(name, value, (None, 4))
    refuse_negative("radius", name, rows[:, 3:])
    return rows


def triangles(name: str, value: Any) -> NDArray[np.float64]:
    """Return corners (n, 3, 3)."""
    return array(name, value, (None, 3, 3), (None, 9)).reshape(-1, 3, 3)


def refuse_negative(what: str, name: str, values: NDArray[np.float64]) -> None:
    """Raise ValueError naming the first row (n, k) that holds a negative number."""
    is_few = values.size <= _FEW
    if all(v >= 0.0 for v in values.ravel().tolist()) if is_few else values.min() >= 0.0:
        return
    for row, column in np.argwhere(values < 0.0)[:1].tolist():
        raise ValueError(f"{what} must be >= 0, got {values[row, column]} in {name}[{row}]")


def capsules(name: str, value: Any) -> NDArray[np.float64]:
    """Return rows of both ends and the radius (n, 7), radii >= 0."""
    rows = array(name, value, (None, 7))
    refuse_negative("radius", name, rows[:, 6:])
    return rows


def aabbs(
    low_name: str, lowers: Any, high_name: str, uppers: Any
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return lower and upper corners (n, 3), each of n rows or one."""
    low, high = points(low_name, lowers), points(high_name, uppers)
    common_length(**{low_name: low, high_name: high})
    for row, axis in np.argwhere(low > high)[:1].tolist():
        start, end = low[row % len(low), axis], high[row % len(high), axis]
        raise ValueError(f"{low_name} must be <= {high_name}, got {start} > {end} at {[row, axis]}")
    return low, high


def obbs(prefix: str, centers: Any, half_extents: Any, rotation_matrices: Any) -> Rows:
    """Return centers and half extents (n, 3) and rotations (n, 3, 3) by their arguments' names."""
    names = [f"{prefix}{name}" for name in ("centers", "half_extents", "rotations")]
    middles, half = points(names[0], centers), points(names[1], half_extents)
    refuse_negative("half extent", names[1], half)
    return {names[0]: middles, names[1]: half, names[2]: rotations(names[2], rotation_matrices)}


def ray_limits(name: str, value: Any) -> NDArray[np.float64]:
    """Return the largest distances of rays (n,), 0 to infinity; (1,) of one number for all."""
    if value is math.inf:
        return _ANY_REACH
    if not isinstance(value, (list, tuple)) and getattr(value, "ndim", 0) == 0:
        result = np.array([between(name, value, 0.0, math.inf)])
    else:
        result = real_array(name, value)
    if result.ndim != 1:
        raise ValueError(f"{name} must be a number or have shape (n,), got {result.shape}")
    bad = ~(result >= 0.0)  # NaN too
    if bad.any():
        raise ValueError(f"{name} must be from 0 to inf, got {result[bad][0]}{_place(bad)}")
    result.setflags(write=False)
    return result


def directions(name: str, value: Any) -> NDArray[np.float64]:
    """Return directions (n, 3), given with any length but zero, with length 1; read-only."""
    rows = points(name, value)
    result = np.empty(rows.shape)
    row = _PUT_UNITS.call(rows, result)
    if row >= 0:
        raise ValueError(f"{name}[{row}] must not be zero, got (0.0, 0.0, 0.0)")
    result.setflags(write=False)
    return result
