"""Any public function with any arguments: it answers, or refuses by ValueError or TypeError.

What is refused has changed nothing. Every warning is an error, and so is an index out of bounds:
`python -m tests.fuzz api` runs kernels that check each one.
"""

import copy
import inspect
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import terrain_physics as tp
from tests.fuzz.hostile import Source, sensible, spoiled
from tests.helpers import drawn_grounds
from tests.helpers.draws import Draws

CALLS = 25
SPOILED = 0.12
"""The part of all arguments that are spoiled."""
LONGEST = 300.0
"""Seconds of processor time that no call takes, even one that compiles with checks."""

_MAKERS = (*drawn_grounds.MAPS, *drawn_grounds.MESHES, *drawn_grounds.GROUNDS)
_MODULES = (tp, tp.rows)
_LEFT_OUT = {
    "load", "save", "save_obj",  # files: a campaign of their own
    "from_dataarray", "to_trimesh",  # objects of other libraries
    "replay", "warm_up", "placed",
    "ordered",  # for the library's own use
    "restore", "Recording", "CharacterState", "GroupState",  # states: see `tests.fuzz.sequences`
    "Contacts", "Triangles", "GroupMember", "GroupResult", "MoveResult", "MoveHits",  # results
    "GroundReport", "MapCells",
    "CharacterView", "Surface",  # abstract
}  # fmt: skip


def case(seed: int) -> None:
    """Ask things of one ground, and call functions of the package."""
    rng = np.random.default_rng(seed)
    draws = Draws(seed)
    things = _things(rng, draws)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "Warning: converting a masked element")  # NumPy's
        for _ in range(CALLS):
            thing = things[rng.integers(len(things))]
            source = Source(rng, *drawn_grounds.box_of(things[0]))
            if thing not in _MODULES and rng.random() < 0.15:
                _set(source, thing)
            else:
                name, function = _one_of(rng, list(_functions(thing)))
                _call(source, thing, name, function)


def _things(rng: np.random.Generator, draws: Draws) -> list[Any]:
    ground = draws.one_of(_MAKERS)(draws)
    low, high = drawn_grounds.box_of(ground)
    mover = tp.CharacterMovement(ground, tp.SphereCollider(0.4), position=(low + high) / 2)
    group = tp.CharacterGroup(ground, tp.CapsuleCollider(0.3, 1.8), threads=2)
    for key in ("ada", 3):
        group.add(key, rng.uniform(low, high))
    tree = tp.Octree(rng.uniform(low, high, (9, 3)), rng.uniform(0, 2, 9))
    counter = tp.TouchCounter(rng.uniform(-5, 5, (30, 9)))
    return [ground, ground, ground, tp, tp.rows, mover, group, tree, counter, tp.FixedStep(1 / 60)]


def _functions(thing: Any) -> Iterator[tuple[str, Callable[..., Any]]]:
    is_module = thing in _MODULES
    names = thing.__all__ if is_module else [name for name in dir(thing) if name[0] != "_"]
    for name in names:
        if name in _LEFT_OUT:
            continue
        function = None if is_module else inspect.getattr_static(type(thing), name, None)
        if is_module or inspect.isfunction(function) or isinstance(function, classmethod):
            value = getattr(thing, name)
            if callable(value) and (not is_module or not hasattr(value, "_fields")):
                yield name, value


def _one_of(rng: np.random.Generator, values: list[Any]) -> Any:
    return values[rng.integers(len(values))]


def _call(source: Source, thing: Any, name: str, function: Callable[..., Any]) -> None:
    values: list[Any] = []
    options: dict[str, Any] = {}
    parameters = inspect.signature(function).parameters
    many = thing is tp.rows or name.endswith(("_many", "_counts")) or name in {"contacts", "Boxes"}
    for parameter in parameters.values():
        has_default = parameter.default is not parameter.empty
        if parameter.kind is parameter.VAR_KEYWORD or (has_default and source.rng.random() < 0.6):
            continue
        if parameter.name in {"ground", "parts"}:
            value: Any = drawn_grounds.plain(Draws(0))
            value = [value] if parameter.name == "parts" else value
        else:
            value = sensible(source, parameter.name, many=many)
        if source.rng.random() < SPOILED:
            value = spoiled(source, value)
        if parameter.kind is parameter.KEYWORD_ONLY:
            options[parameter.name] = value
        else:
            values.append(value)

    def text() -> str:
        given = ", ".join([*map(repr, values), *(f"{key}={options[key]!r}" for key in options)])
        return f"{type(thing).__name__}.{name}({given})"

    _attempt(thing, text, function.__doc__ or "", lambda: function(*values, **options))


def _set(source: Source, thing: Any) -> None:
    """Set an attribute, or some elements."""
    kind = type(thing)
    names = [
        name
        for name in dir(kind)
        if name[0] != "_"
        and hasattr(member := inspect.getattr_static(kind, name), "__set__")
        and (not isinstance(member, property) or member.fset is not None)
    ]
    if isinstance(thing, tp.HeightMap):
        places = (
            np.s_[1, 2],
            np.s_[1:4, 2:5],
            np.s_[:],
            np.s_[-1],
            np.s_[99, 0],
            np.s_[::2, 0],
            "a",
        )
        index = source.one_of(places)
        target = source.one_of((thing, thing.holes, thing.materials))
        value = spoiled(source, source.one_of((1.0, np.ones((3, 3)), True, 3)))
        _attempt(
            thing,
            lambda: f"{target!r}[{index!r}] = {value!r}",
            "IndexError",
            lambda: target.__setitem__(index, value),
        )
    elif names:
        name = source.one_of(names)
        value = sensible(source, name, many=False)
        if source.rng.random() < 0.5:
            value = spoiled(source, value)
        _attempt(
            thing,
            lambda: f"{kind.__name__}.{name} = {value!r}",
            "AttributeError",
            lambda: setattr(thing, name, value),
        )


def _attempt(thing: Any, text: Callable[[], str], document: str, call: Callable[[], Any]) -> None:
    """Call; what is raised must be a refusal, and have changed nothing.

    ``document`` names the errors that are refusals besides ValueError and TypeError.
    """
    before = _state(thing)
    begun = time.thread_time()
    try:
        _look_at(call())
    except (TypeError, ValueError):
        refused = True
    except (AttributeError, IndexError, KeyError, OverflowError) as error:
        if type(error).__name__ not in document or "out of bounds" in str(error):
            raise AssertionError(text()) from error
        refused = True
    except BaseException as error:
        raise AssertionError(text()) from error
    else:
        refused = False
    assert time.thread_time() - begun < LONGEST, text()
    if refused:
        assert _state(thing) == before, text()


def _state(thing: Any) -> Any:
    """Return what a call may change in a ground or a character."""
    if isinstance(thing, tp.HeightMap):
        samples, materials = np.asarray(thing).tobytes(), np.asarray(thing.materials[:]).tobytes()
        return thing.version, thing.thickness, samples, materials
    if isinstance(thing, tp.TriangleMesh):
        return thing.version, thing.vertices.tobytes()
    if isinstance(thing, tp.Ground):
        return [_state(part) for part in thing.parts.values()]
    if isinstance(thing, (tp.CharacterMovement, tp.CharacterGroup)):
        return thing.state_hash()
    return None


def _look_at(result: Any) -> None:
    """Use a result as a game would."""
    if isinstance(result, tp.Contacts):
        assert np.isfinite(result.penetration).all()
        assert np.isfinite(result.normal).all()
        assert (result.depth >= 0.0).all()
    elif isinstance(result, (tp.RayHits, tp.SweepHits)):
        assert not (result.distance < 0.0).any()
    elif inspect.isgenerator(result):
        list(result)
    copy.copy(result)
    repr(result)
