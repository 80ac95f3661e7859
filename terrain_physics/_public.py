"""The decorators of public classes and functions: their names, and answers to first guesses."""

import functools
import inspect
import os
import reprlib
from collections.abc import Callable, Sequence
from numbers import Real
from types import FunctionType
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeVar, cast

from terrain_physics._guesses import (
    ADDED,
    Signpost,
    argument_way,
    hint,
    names_and_ways,
    signpost_of,
)

_Kind = TypeVar("_Kind", bound=type)
_Function = TypeVar("_Function", bound=Callable[..., Any])

_LIBRARY = __package__.partition(".")[0]

# Arguments of two or three numbers.
_PLACES = frozenset({"position", "center", "extents"})

if TYPE_CHECKING:
    from abc import ABCMeta as _ProtocolType
else:
    _ProtocolType = type(Protocol)


class PublicType(_ProtocolType):
    """The metaclass of classes with signposts, which `dir` and `help` of a class leave out.

    It is made of that of protocols, and so of ABCMeta: a class of a game may have an abstract base
    or a protocol too. But it knows no virtual subclasses: with ABCMeta's own check, to learn that a
    value is no `Sphere` takes five times as long.
    """

    __instancecheck__ = type.__instancecheck__
    __subclasscheck__ = type.__subclasscheck__

    def register(cls, subclass: type[Any]) -> NoReturn:  # noqa: N805 this is a metaclass
        """Refuse a virtual subclass."""
        raise TypeError(f"{cls.__name__} has no virtual subclasses: derive {subclass!r} from it")

    def __dir__(cls) -> list[str]:  # noqa: N805
        """Return the names that the class has, without what ABCMeta adds."""
        names = set(super().__dir__()) - {"__abstractmethods__", "_abc_impl"}
        return [name for name in names if signpost_of(cls, name) is None]


def public(kind: _Kind) -> _Kind:
    """Name a class by the package: pickles and reprs survive when it moves to another module.

    `inspect.getsource` of such a class finds nothing, as it looks in the package's own file. The
    class's methods know where they are.

    Wrong names of its attributes, and wrong arguments of its methods, get errors that say the right
    ones.
    """
    for base in kind.__mro__:
        if base.__module__.partition(".")[0] == _LIBRARY:
            _check_arguments(base)
    ways = dict(names_and_ways(kind.__name__))
    if ways and not isinstance(kind, PublicType):
        if not issubclass(kind, tuple):
            raise TypeError(
                f"class {kind.__name__}: give it metaclass=PublicType, it has signposts"
            )
        kind = _with_metaclass(kind)
    for name, way in ways.items():
        if not hasattr(kind, name):
            setattr(kind, name, Signpost(name, way))
    if "__dir__" not in vars(kind):
        kind.__dir__ = _without_signposts  # type: ignore[method-assign, assignment]
    kind.__module__ = _LIBRARY
    return kind


def _with_metaclass(kind: _Kind) -> _Kind:
    """Make a class again that its body cannot give a metaclass: a NamedTuple."""
    return cast("_Kind", PublicType(kind.__name__, kind.__bases__, dict(vars(kind))))


def _without_signposts(self: object) -> list[str]:
    kind, own = type(self), getattr(self, "__dict__", {})
    return [name for name in object.__dir__(self) if name in own or signpost_of(kind, name) is None]


def _check_arguments(kind: type) -> None:
    """Give the methods of a class better errors for wrong arguments, where calls may take longer.

    Makers and methods with arguments are wrapped; those that have `quick` above them are not.
    """
    for name, value in list(vars(kind).items()):
        function = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
        is_public = name == "__init__" or not name.startswith("_")
        if not (is_public and isinstance(function, FunctionType)) or _is_done(function):
            continue
        if function.__code__.co_argcount + function.__code__.co_kwonlyargcount > 1:
            checked = hinted(function)
            setattr(kind, name, checked if function is value else type(value)(checked))


def _is_done(function: FunctionType) -> bool:
    return hasattr(function, "__wrapped__") or "(" in function.__qualname__


def quick(function: _Function) -> _Function:
    """Put what to type into the name of a method, with which Python's errors for wrong calls begin.

    That is for methods that games call often: `hinted` would cost a tenth of a microsecond.

    Arguments behind one called ``_more`` count as keyword-only. A further argument by position
    reaches ``_more``, which the method refuses; a real keyword-only argument would cost a tenth of
    a microsecond too.
    """
    shown: Any = function
    shown.__signature__ = _without_more(inspect.signature(function))
    name = _name(function).rpartition(".")[2]  # the class may be another: who inherits has it too
    shown.__qualname__ = f"did you mean {_title(function, name)}? {name}"
    return function


def quick_or(other: str) -> Callable[[_Function], _Function]:
    """Return `quick` for a maker beside another one, which the errors name too."""

    def named(function: _Function) -> _Function:
        shown: Any = quick(function)
        shown.__qualname__ = shown.__qualname__.replace("? ", f" or {other}? ", 1)
        return function

    return named


def _without_more(signature: inspect.Signature) -> inspect.Signature:
    """Return a signature with keyword-only arguments in place of those behind ``_more``."""
    before: list[inspect.Parameter] = []
    for name, parameter in signature.parameters.items():
        if name == "_more":
            behind = list(signature.parameters.values())[len(before) + 1 :]
            keywords = [one.replace(kind=parameter.KEYWORD_ONLY) for one in behind]
            return signature.replace(parameters=[*before, *keywords])
        before.append(parameter)
    return signature


def hinted(function: _Function) -> _Function:
    """Wrap a function: the errors for wrong arguments say the right ones."""

    @functools.wraps(function)
    def checked(*arguments: Any, **options: Any) -> Any:
        try:
            return function(*arguments, **options)
        except TypeError as error:
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:
                raise  # it came from inside
        raise TypeError(_misuse(function, arguments, options))

    wrapped: Any = checked
    wrapped.__kwdefaults__ = getattr(function, "__kwdefaults__", None)  # for readers of defaults
    return cast("_Function", wrapped)


def _misuse(function: Callable[..., Any], arguments: Any, options: dict[str, Any]) -> str:
    """Return what is wrong with the arguments of a call that failed."""
    signature = inspect.signature(function)
    name = _name_of_call(function, arguments)
    if len(arguments) == 2 and not options and isinstance(arguments[1], (str, os.PathLike)):
        if hasattr(arguments[0], "load"):
            return f"{name} takes no path: {name}.load reads files"
    known = _names(signature)
    for option in options:
        if option not in signature.parameters:
            kind = type(arguments[0]) if function.__name__ == "__init__" else None
            way = argument_way(option, known, kind)
            told = hint(way) if way else f"it has {', '.join(known)}"
            return f"{name} has no argument {option}: {told}"
    title = _title(function, name)
    parameters = signature.parameters.values()
    by_place = [own for own in parameters if own.kind is own.POSITIONAL_OR_KEYWORD]
    by_name = [own.name for own in parameters if own.kind is own.KEYWORD_ONLY]
    left = [own for own in by_name if own not in options]
    if as_one := _as_one(by_place, arguments):
        return f"{title}: {as_one}"
    if left and len(arguments) > len(by_place):
        if name in ADDED:
            return f"{title}: {hint(ADDED[name])}"
        surplus = reprlib.repr(arguments[len(by_place)])
        return f"{title}: give {surplus} by name, such as {left[0]}={surplus}"
    try:
        signature.bind(*arguments, **options)
    except TypeError as error:
        return f"{title}: {error}"
    return f"{title} cannot be called so"


def _as_one(by_place: Sequence[inspect.Parameter], arguments: tuple[Any, ...]) -> str | None:
    """Return what to write where several arguments were given for one, or None."""
    if len(arguments) <= len(by_place):
        return None
    for index, own in enumerate(by_place):
        others = sum(one.default is one.empty for one in by_place if one is not own)
        given = arguments[index : index + len(arguments) - others]
        if own.name == "parts":
            return "give the parts as one list, [first, second]"
        if own.name in _PLACES and len(given) in (2, 3) and all(isinstance(n, Real) for n in given):
            return f"give {own.name} as one, {given}"
    return None


def _name(function: Callable[..., Any]) -> str:
    return function.__qualname__.removesuffix(".__init__")


def _name_of_call(function: Callable[..., Any], arguments: tuple[Any, ...]) -> str:
    """Return the name by which a function was called: that of the class that the caller knows."""
    name = _name(function)
    if arguments and "." in function.__qualname__:
        kind = arguments[0] if isinstance(arguments[0], type) else type(arguments[0])
        if hasattr(kind, function.__name__):
            return name.replace(name.partition(".")[0], kind.__name__, 1)
    return name


def _names(signature: inspect.Signature) -> list[str]:
    """Return the arguments that can be given by name."""
    return [
        name
        for name, parameter in signature.parameters.items()
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
        and name not in ("self", "cls")
    ]


def _title(function: Callable[..., Any], name: str) -> str:
    """Return a function's name with its arguments, as it is called."""
    shown, has_star = [], False
    for own, parameter in inspect.signature(function).parameters.items():
        if own in ("self", "cls"):
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not has_star:
            shown.append("*")
            has_star = True
        shown.append(own)
    return f"{name}({', '.join(shown)})"
