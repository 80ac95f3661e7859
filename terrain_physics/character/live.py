"""Live vectors, which a character shows to the game and the game may write to."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from numpy.typing import NDArray
from pyglm import glm

from terrain_physics._support.checks import Floats3


class _Xyz(Protocol):
    """Any vector with components by name, such as a ``vec3``."""

    @property
    def x(self) -> float: ...
    @property
    def y(self) -> float: ...
    @property
    def z(self) -> float: ...


# Types that a game may set a vector or a rotation to. If these were Any, mypy would not know the
# type that is read after a write.
ThreeNumbers = _Xyz | Sequence[float] | NDArray[Any]
Rotation = glm.quat | glm.mat3 | Sequence[Any] | NDArray[Any]


def unsigned_zeros(values: Floats3) -> Floats3:
    """Return three numbers with unsigned zeros, as all numbers of a character are."""
    x, y, z = values
    return x + 0.0, y + 0.0, z + 0.0


def merged(exact: Floats3, shown: Floats3, written: Floats3) -> Floats3:
    """Return the components written since they were shown, and the exact float64 of the others."""
    (x, y, z), (a, b, c), (u, v, w) = exact, shown, written
    return u if u != a else x, v if v != b else y, w if w != c else z


_set_part, _set_item = glm.vec3.__setattr__, glm.vec3.__setitem__  # quicker than by `super()`


def numbers_of(vector: glm.vec3) -> Floats3:
    """Return the numbers of a vector. Its own `to_tuple` never frees them, as of PyGLM 2.8.3."""
    x, y, z = vector
    return x, y, z


class LiveVec3(glm.vec3):
    """A ``vec3`` that a game may write to, with the value shown and whether it was written."""

    # Its own data is in the instance's dict, as assignments go to the vector.
    shown: glm.vec3
    written: bool

    def __setattr__(self, name: str, value: Any) -> None:
        _set_part(self, name, value)
        known = self.__dict__
        known["written"] = True
        if "pass_on" in known:
            self._pass_on()

    def __setitem__(self, index: Any, value: Any) -> None:
        _set_item(self, index, value)
        known = self.__dict__
        known["written"] = True
        if "pass_on" in known:
            self._pass_on()

    def __repr__(self) -> str:
        return repr(glm.vec3(self))

    def __str__(self) -> str:
        return str(glm.vec3(self))

    def show(self, values: Floats3) -> None:
        """Take new values, rounded to float32."""
        shown = glm.vec3(*values) + 0.0  # a small number may have rounded to a negative zero
        glm.vec3.__init__(self, shown)  # three times as quick as setting x, y and z
        known = self.__dict__
        known["shown"], known["written"] = shown, False

    @classmethod
    def written_through(cls, exact: Floats3, pass_on: Callable[[Floats3], object]) -> "LiveVec3":
        """Return a vector that passes each write on at once, as three float64."""
        vector = LiveVec3()
        vector.show(exact)
        vector.__dict__.update(exact=exact, pass_on=pass_on)
        return vector

    def _pass_on(self) -> None:
        known = self.__dict__
        exact = merged(known["exact"], numbers_of(self.shown), numbers_of(self))
        known["pass_on"](exact)
        known.update(exact=exact, shown=glm.vec3(self))

    def parts(self) -> tuple[Floats3, Floats3, bool]:
        """Return everything as plain numbers: PyGLM's pickles need a module that is going away."""
        return numbers_of(self), numbers_of(self.shown), self.written

    @classmethod
    def from_parts(cls, values: Floats3, shown: Floats3, written: bool) -> "LiveVec3":  # noqa: FBT001
        """Return the vector that had these parts."""
        vector = LiveVec3(*values)
        vector.__dict__.update(shown=glm.vec3(*shown), written=written)
        return vector
