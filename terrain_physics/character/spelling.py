"""Attributes that are misspelled: refused when they are set, where Python would take them."""

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, ClassVar

# How alike two names are that are taken for one, from 0 to 1: a letter too few, too many, wrong,
# or two exchanged, in a name of six letters or more.
_ALIKE = 0.8


class Spelled:
    """Something that takes no attribute with a name close to one that it has.

    The library's own classes take no attribute that they do not have. A subclass may have its own;
    one that looks like a slip must stand in the body of its class, which says that it is none.
    Names with a leading underscore are the author's own business.
    """

    # Names that were looked at and are good; each class has its own.
    _accepted: ClassVar[set[str]] = set()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls._accepted = set()

    if not TYPE_CHECKING:  # to a checker a class with this method has attributes of any name

        def __setattr__(self, name: str, value: Any) -> None:
            if name not in self._accepted:
                _accept(type(self), name)
            super().__setattr__(name, value)


def _accept(kind: type[Spelled], name: str) -> None:
    """Note that a name is good, or raise AttributeError with the one that was meant."""
    is_known = name.startswith("_") or any(name in vars(base) for base in kind.__mro__)
    if not is_known:
        meant = _meant(kind, name)
        is_own = kind.__module__ != __package__.partition(".")[0]
        if meant is not None:
            way_out = f" (or give {kind.__name__} an attribute {name} in its class)"
            raise AttributeError(
                f"{kind.__name__} has no attribute {name}: did you mean {meant}?"
                f"{way_out if is_own else ''}"
            )
        if not is_own:
            raise AttributeError(
                f"{kind.__name__} has no attribute {name}: only a subclass may have its own"
            )
    kind._accepted.add(name)  # noqa: SLF001


def _meant(kind: type, name: str) -> str | None:
    """Return the public name of the library that a name is a slip of, if it is one."""
    library = __package__.partition(".")[0]
    known = {
        known
        for base in kind.__mro__
        if base.__module__.partition(".")[0] == library
        for known in vars(base)
        if not known.startswith("_")
    }
    words = set(name.lower().split("_"))
    for close in get_close_matches(name.lower(), sorted(known), n=3, cutoff=_ALIKE):
        # A name with a word more, such as old_velocity, is a name and no slip.
        if not words > set(close.split("_")):
            return close
    return None
