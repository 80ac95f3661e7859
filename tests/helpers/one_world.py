"""Recipes of the cookbook together in one world, as in a game that is made of several of them.

Each recipe is a program of its own, with its own names. All their maps and meshes are parts of one
ground, and all their characters are on it. The programs take turns: each goes on until its next
update, so that their loops run frame by frame, side by side.
"""

import builtins
import contextlib
import contextvars
import io
import threading
import traceback
from collections.abc import Sequence
from typing import Any

import terrain_physics
from terrain_physics import CharacterGroup, CharacterMovement, Ground, Recording, TriangleMesh
from tests.helpers.pages import Recipe

_NOW: contextvars.ContextVar["Program | None"] = contextvars.ContextVar("program", default=None)


class _Stop(BaseException):
    """The end of a program whose time is over."""


class Program:
    """A recipe in a thread that waits for its turns.

    Attributes
    ----------
    name : str
    trouble : str
        What it has raised, and where; "" if it has not.
    is_over : bool
    has_hero : bool
        Whether it has made a character.
    keys, names : dict
        The keys of its own parts in the common ground: by those that it knows, and by names.
    """

    def __init__(self, recipe: Recipe) -> None:
        self.name, self.trouble, self.is_over = recipe.name, "", False
        self.has_hero = False
        self.keys: dict[int, int] = {}
        self.names: dict[str, int] = {}
        self._recipe, self._page, self._is_stopped = recipe, recipe.page, False
        self._turn, self._others_turn = threading.Semaphore(0), threading.Semaphore(0)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def go_on(self) -> None:
        """Run until the next update, or to the end."""
        if not self.is_over:
            self._turn.release()
            self._others_turn.acquire()

    def stop(self) -> None:
        """End the program where it is."""
        self._is_stopped = True
        self.go_on()
        self._thread.join()

    def wait(self) -> None:
        """Let the others go on before an update, unless a thread of its own makes that."""
        if threading.current_thread() is self._thread:
            self._others_turn.release()
            self._turn.acquire()
            if self._is_stopped:
                raise _Stop

    def _run(self) -> None:
        _NOW.set(self)
        self._turn.acquire()
        try:
            if not self._is_stopped:
                self._run_blocks()
        except (_Stop, SystemExit):  # or what it needs is not installed
            pass
        except BaseException as error:
            frames = traceback.extract_tb(error.__traceback__)
            lines = [frame.lineno for frame in frames if frame.filename == str(self._page)]
            is_own = frames[-1].filename == str(self._page)
            if not (is_own and _WORLD.has_one_hero):  # what it measures is not its hero's way alone
                self.trouble = f"{self._page.name}:{lines[-1]}: {type(error).__name__}: {error}"
        self.is_over = True
        self._others_turn.release()

    def _run_blocks(self) -> None:
        names: dict[str, Any] = {"__name__": self.name, "__builtins__": _BUILTINS}
        for block in self._recipe.code():
            program = "\n" * (block.line - 1) + block.code
            exec(compile(program, str(self._page), "exec"), names)  # noqa: S102


class _World:
    """What all programs share.

    Attributes
    ----------
    ground : Ground or None
        None before the first has made a part.
    hero : CharacterMovement or None
        The first character of each program, if they share one.
    has_one_hero : bool
        Whether they do, where the body is the same.
    """

    def __init__(self) -> None:
        self.begin(has_one_hero=False)

    def begin(self, *, has_one_hero: bool) -> None:
        """Begin anew."""
        self.ground: Ground | None = None
        self.hero: _Movement | None = None
        self.has_one_hero = has_one_hero

    def hero_for(self, body: Any, options: dict[str, Any]) -> "_Movement | None":
        """Return the hero if the first character of a program is to be it."""
        program = _program()
        is_first, program.has_hero = not program.has_hero, True
        is_same = self.hero is not None and self.hero.collider == body and "owner" not in options
        return self.hero if self.has_one_hero and is_first and is_same else None

    def with_parts(
        self, parts: Sequence[Any], layers: Any = 1, names: Sequence[str | None] | None = None
    ) -> Ground:
        """Return the ground with these parts, too."""
        each = [layers] * len(parts) if isinstance(layers, int) else layers
        called = [None] * len(parts) if names is None else names
        for index, (part, on, name) in enumerate(zip(parts, each, called, strict=True)):
            if self.ground is None:
                self.ground = _SharedGround(_FIRST, [part], layers=on)
                key = 0
            elif all(part is not own for own in self.ground.parts.values()):
                key = Ground.add(self.ground, part, layers=on)
            else:
                continue
            program = _program()
            program.keys[index] = key
            if name is not None:
                program.names[name] = key
        assert self.ground is not None
        return self.ground

    def join(self, ground: Any) -> Any:
        """Return the common ground with a map or a mesh; a ground that was loaded stays alone."""
        return ground if isinstance(ground, Ground) else self.with_parts([ground])


def _program() -> Program:
    program = _NOW.get()
    assert program is not None
    return program


_FIRST = object()
_WORLD = _World()


class _SharedGround(Ground):
    """The one ground; a program that makes one adds its parts to it, and has keys of its own."""

    def __new__(cls, *given: Any, **options: Any) -> Any:
        if not given or given[0] is _FIRST:  # a copy, one that is loaded, or the one
            return super().__new__(cls)
        return _WORLD.with_parts(*given, **options)

    def __init__(self, *given: Any, **options: Any) -> None:
        if given[0] is _FIRST:
            super().__init__(*given[1:], **options)

    def add(
        self, part: Any, transform: Any = None, *, layers: int = 1, name: str | None = None
    ) -> int:
        key = super().add(part, transform=transform, layers=layers)
        if name is not None:  # several programs may have a lift
            _program().names[name] = key
        return key

    def key_of(self, name: str) -> int:
        return _program().names[name]

    def _checked_key(self, key: Any) -> int:
        program = _program()
        own = program.names if isinstance(key, str) else program.keys
        return super()._checked_key(own.get(key, key))


class _Movement(CharacterMovement):
    def __new__(cls, *given: Any, **options: Any) -> Any:
        hero = _WORLD.hero_for(given[1], options) if len(given) > 1 else None
        return super().__new__(cls) if hero is None else hero

    def __init__(self, ground: Any, *given: Any, **options: Any) -> None:
        common = _WORLD.join(ground)
        if self is not _WORLD.hero:
            super().__init__(common, *given, **options)
            _WORLD.hero = _WORLD.hero or self
            return
        self.teleport(options.pop("position", (0, 0, 0)))
        for name, value in options.items():
            setattr(self, name, value)

    def update(self, *given: Any) -> Any:
        _program().wait()
        try:
            return super().update(*given)
        except RuntimeError as error:
            if "left to the group" not in str(error):
                raise
            return self.move_result()  # the group of another program has made it


class _Group(CharacterGroup):
    def __init__(self, ground: Any, *given: Any, **options: Any) -> None:
        super().__init__(_WORLD.join(ground), *given, **options)

    def update(self, *given: Any) -> Any:
        _program().wait()
        return super().update(*given)


class _Recording(Recording):
    def update(self, *given: Any) -> Any:
        _program().wait()
        return super().update(*given)


class _GameWorld(dict[Any, Any]):
    """A world of a program, which only puts back what is its own: the game of all goes on."""

    def __init__(self, ground: Any) -> None:
        super().__init__()
        self.ground = _WORLD.join(ground)

    def add(self, key: Any, thing: Any) -> Any:
        self[key] = thing
        return thing

    def update(self, delta_time: float) -> dict[Any, Any]:  # type: ignore[override]
        return {key: thing.update(delta_time) for key, thing in self.items()}

    def state(self) -> Any:
        keys = [*_program().keys.values(), *_program().names.values()]
        meshes = [key for key in keys if isinstance(self.ground.parts[key], TriangleMesh)]
        moved = {key: self.ground.transform(key) for key in meshes}
        return {key: thing.state() for key, thing in self.items()}, moved

    def restore(self, state: Any) -> None:
        for key, transform in state[1].items():
            self.ground.move(key, transform)
        for key, own in state[0].items():
            self[key].restore(own)


_SHARED: dict[str, Any] = {
    "Ground": _SharedGround,
    "CharacterMovement": _Movement,
    "CharacterGroup": _Group,
    "Recording": _Recording,
    "World": _GameWorld,
}


class _Library:
    """The package as programs import it; others that they import have the package itself."""

    def __getattr__(self, name: str) -> Any:
        return _SHARED.get(name) or getattr(terrain_physics, name)


def _imported(name: str, *given: Any) -> Any:
    return _LIBRARY if name == "terrain_physics" else __import__(name, *given)


_LIBRARY = _Library()
_BUILTINS = vars(builtins) | {"__import__": _imported}


def has_a_world(recipe: Recipe) -> bool:
    """Return whether a recipe makes characters or a ground of parts."""
    code = "".join(block.code for block in recipe.code())
    return any(f"{name}(" in code for name in _SHARED)


def troubles(
    recipes: Sequence[Recipe], frames: int, *, has_one_hero: bool = False
) -> dict[str, str]:
    """Run recipes in one world, in this order, for so many updates of each; return what they raise.

    By their names, in a folder where they find what pages read. With one hero, the loops of all
    drive the same one; then only what the library raises counts, as a recipe may measure the way
    of its hero.
    """
    _WORLD.begin(has_one_hero=has_one_hero)
    with contextlib.redirect_stdout(io.StringIO()):
        programs = [Program(recipe) for recipe in recipes]
        for _ in range(frames):
            for program in programs:
                program.go_on()
        for program in programs:
            program.stop()
    return {program.name: program.trouble for program in programs if program.trouble}
