"""Attribute guard: refuses misspelled attributes, which Python would accept in silence."""

import inspect
from difflib import get_close_matches
from types import FunctionType
from typing import TYPE_CHECKING, Any, ClassVar

from terrain_physics._guesses import Signpost, hint, signpost_of
from terrain_physics._public import PublicType

# Least similarity, from 0 to 1, at which a name counts as a misspelling of another one: one letter
# missing, added, wrong, or two exchanged, in a name of six letters or more.
_ALIKE = 0.8


class AttributeGuard(metaclass=PublicType):
    """Base of classes that refuse an attribute with a name close to one that they have.

    The library's own classes refuse each attribute that they do not have. A subclass may have its
    own attributes; a name that looks misspelled must be declared in the body of its class, at least
    as an annotation. A subclass may override a method of the library, but an object may not replace
    one. Names with a leading underscore are not checked.
    """

    # Names that have passed the check; each class has its own set.
    _accepted: ClassVar[set[str]] = set()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls._accepted = set()

    if not TYPE_CHECKING:  # with this method, a type checker would allow attributes of any name

        def __setattr__(self, name: str, value: Any) -> None:
            if name not in self._accepted:
                _accept(type(self), name)
            super().__setattr__(name, value)


def _accept(kind: type[AttributeGuard], name: str) -> None:
    """Accept a name, or raise AttributeError with the likely one."""
    home = next((base for base in kind.__mro__ if _declares(base, name)), None)
    if home is None and not name.startswith("_"):
        _refuse_unknown(kind, name)
    if home is not None and _is_ours(home) and isinstance(vars(home).get(name), FunctionType):
        raise AttributeError(f"{name} is a method of {home.__name__}: call it")
    kind._accepted.add(name)  # noqa: SLF001


def _refuse_unknown(kind: type[AttributeGuard], name: str) -> None:
    """Raise AttributeError for an attribute that no class has, unless a subclass may have it."""
    meant, is_own = _meant(kind, name), not _is_ours(kind)
    if meant is not None:
        way_out = f" (or give {kind.__name__} an attribute {name} in its class)" if is_own else ""
        raise AttributeError(
            f"{kind.__name__} has no attribute {name}: did you mean {meant}?{way_out}"
        )
    if not is_own:
        signpost = signpost_of(kind, name)
        way = "" if signpost is None else f"; {hint(signpost.way)}"
        raise AttributeError(
            f"{kind.__name__} has no attribute {name}: only a subclass may have its own{way}"
        )


def _declares(base: type, name: str) -> bool:
    """Tell whether a name is declared in the body of a class."""
    if name in vars(base):
        return not isinstance(vars(base)[name], Signpost)
    return not _is_ours(base) and name in inspect.get_annotations(base)


def _is_ours(base: type) -> bool:
    """Tell whether a class is the library's."""
    library = __package__.partition(".")[0]
    return base.__module__.partition(".")[0] == library


def _meant(kind: type, name: str) -> str | None:
    """Return the public name of the library of which a name is a misspelling, or None.

    Games do not set methods, so the names of methods are left out.
    """
    known = {
        known
        for base in kind.__mro__
        if _is_ours(base)
        for known, value in vars(base).items()
        if not (known.startswith("_") or isinstance(value, (FunctionType, Signpost)))
    }
    words = name.lower().split("_")
    for close in get_close_matches(name.lower(), sorted(known), n=3, cutoff=_ALIKE):
        meant = close.split("_")
        # A name with a word more, or with another word, such as old_velocity, is not misspelled.
        has_more = set(words) > set(meant)
        has_other = len(words) == len(meant) and any(
            abs(len(own) - len(other)) > 1 for own, other in zip(words, meant, strict=True)
        )
        if not has_more and not has_other:
            return close
    return None
