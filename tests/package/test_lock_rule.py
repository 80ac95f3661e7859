"""Locks are taken and given back by C alone: a signal handler that raises leaves none held."""

import ast
import re
import threading
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import terrain_physics
from terrain_physics._locks import Entered, GuardedLock, LongCalls, NotYet, holding, lasting
from tests.helpers.programs import run

_ROOT = Path(terrain_physics.__file__).parent
_SOURCES = [
    path for path in sorted(_ROOT.rglob("*.py")) if "_build" not in path.relative_to(_ROOT).parts
]
_HOLDS = re.compile(r"(lock|updating|asked|swept|followed|editing|holding|changing|changed)$")
_BY_HAND = {"acquire", "release", "__enter__", "__exit__"}
_OF_PYTHON = {"Condition", "Semaphore", "BoundedSemaphore"}
"""Locks of `threading` whose own ``__enter__`` is one of Python; what they wrap may be held."""
_OF_C = {"Lock", "RLock", "allocate_lock"}
"""What makes locks that Python 3.14 may leave held by ``with``."""
_WORDS = [
    *(f".{name}(" for name in _BY_HAND),
    "enter_context",
    "def __enter__",
    *(f"{name}(" for name in _OF_PYTHON | _OF_C),
]


def _names(node: ast.AST) -> set[str]:
    found = {own.attr for own in ast.walk(node) if isinstance(own, ast.Attribute)}
    return found | {own.id for own in ast.walk(node) if isinstance(own, ast.Name)}


def _holds(node: ast.AST) -> bool:
    return any(map(_HOLDS.search, _names(node)))


def _faults(tree: ast.AST) -> list[int]:
    """Return the lines that take locks by hand, or keep them in a generator or a stack."""
    lines = [*_enters_of_python(tree), *_made_elsewhere(tree)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name = node.func.attr
            is_stack = name == "enter_context" and any(map(_holds, node.args))
            if is_stack or name in _BY_HAND:
                lines.append(node.lineno)
        elif isinstance(node, ast.With) and any(_holds(own.context_expr) for own in node.items):
            if any(isinstance(own, ast.Yield | ast.YieldFrom) for own in ast.walk(node)):
                lines.append(node.lineno)
    return lines


def _enters_of_python(tree: ast.AST) -> Iterator[int]:
    """Yield lines that hold a lock by an ``__enter__`` of Python, which may end after it has it."""
    made = {
        name
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and _names(node.value) & _OF_PYTHON
        for name in set().union(*map(_names, node.targets)) - {"self"}
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.With):
            used = set().union(*(_names(own.context_expr) for own in node.items))
            if used & (made | _OF_PYTHON):
                yield node.lineno
        elif isinstance(node, ast.FunctionDef) and node.name == "__enter__":
            if "".join(map(ast.unparse, node.body)) != "return self":
                yield node.lineno


def _made_elsewhere(tree: ast.AST) -> Iterator[int]:
    """Yield lines that make a lock of C, but for `Entered`, which is safe to hold."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    entered = {own for call in calls if Entered.__name__ in _names(call.func) for own in call.args}
    for call in calls:
        if call not in entered and _names(call.func) & _OF_C:
            yield call.lineno


def _without_guards(tree: ast.Module) -> ast.Module:
    """Leave out what takes locks within a ``try``, and makes them."""
    guards = {Entered.__name__, GuardedLock.__name__, lasting.__name__}
    tree.body = [node for node in tree.body if getattr(node, "name", "") not in guards]
    return tree


def test_no_source_takes_a_lock_by_hand_or_keeps_one_in_a_generator():
    texts = {path: path.read_text(encoding="utf-8") for path in _SOURCES}
    suspect = {
        path: text
        for path, text in texts.items()
        if ("with " in text and "yield" in text) or any(word in text for word in _WORDS)
    }
    faults = {path: _faults(_without_guards(ast.parse(text))) for path, text in suspect.items()}
    found = {str(path.relative_to(_ROOT)): own for path, own in faults.items() if own}
    assert found == {}


@pytest.mark.parametrize(
    "text",
    [
        "def f(self):\n    with self.lock:\n        yield 1",
        "def f(self):\n    self.lock.acquire()",
        "def __enter__(self):\n    self.lock.__enter__()",
        "def f(self, stack):\n    stack.enter_context(self._lock)",
        "def f(self):\n    self._turn = threading.Condition()\n    with self._turn:\n        pass",
        "slots = Semaphore(3)\nwith slots:\n    pass",
        "def __enter__(self):\n    self.begin()\n    return self",
        "def f(self):\n    self._lock = threading.RLock()",
        "mark = allocate_lock()\nwith mark:\n    pass",
    ],
)
def test_the_rule_sees_faults(text):
    assert _faults(ast.parse(text))


class TestEntered:
    def test_gives_what_the_call_returns_while_the_lock_is_held(self):
        lock: Any = threading.RLock()
        with Entered(lock, lock._is_owned) as was_held:
            assert was_held
            assert lock._is_owned()
        assert not lock._is_owned()

    def test_gives_the_lock_back_after_an_error(self):
        lock: Any = threading.RLock()
        with pytest.raises(ZeroDivisionError), Entered(lock, lambda: 1 // 0):
            pass
        assert not lock._is_owned()

    def test_does_first_what_is_to_be_done_without_the_lock(self):
        lock: Any = threading.RLock()
        done: list[bool] = []

        def begin() -> int:
            if not done:
                raise NotYet(lambda: done.append(lock._is_owned()))
            return 3

        with Entered(lock, begin) as value:
            assert (value, done) == (3, [False])

    def test_refuses_at_once(self):
        lent = Entered(threading.Lock(), lambda: 1, lambda: ValueError("used"))
        with lent, pytest.raises(ValueError, match="used"), lent:
            pass
        with lent as value:
            assert value == 1


def test_marks_know_the_calls_under_way_and_their_threads():
    marks, seen = LongCalls(), []
    assert not marks
    with lasting(marks.add):
        assert marks
        assert marks.has_thread
        thread = threading.Thread(target=lambda: seen.append((bool(marks), marks.has_thread)))
        thread.start()
        thread.join()
        marks.clear()
        assert not marks
    assert seen == [(True, False)]
    assert not marks.has_thread


def test_holding_takes_the_locks_that_are_still_asked_for():
    locks: list[Any] = [threading.RLock() for _ in range(3)]
    calls = count()

    def find() -> list[Any]:
        return locks[: 1 + (next(calls) > 0) * 2]

    assert holding(find, lambda: [lock._is_owned() for lock in locks]) == [True] * 3
    assert not any(lock._is_owned() for lock in locks)


def test_holding_waits_for_none_with_another_in_hand():
    locks: list[Any] = [threading.RLock() for _ in range(2)]
    held, over, free = threading.Event(), threading.Event(), list[bool]()

    def other() -> None:
        with locks[1]:
            held.set()
            over.wait(600)

    thread, waiting = (
        threading.Thread(target=other),
        threading.Thread(target=lambda: holding(lambda: locks, lambda: None)),
    )
    thread.start()
    held.wait(600)
    waiting.start()
    while not free:
        if locks[0].acquire(timeout=600):  # the one who waits has given it back
            free.append(True)
            locks[0].release()
    over.set()
    thread.join(600)
    waiting.join(600)
    assert not waiting.is_alive()


_INTERRUPTED = """
import random
from terrain_physics._locks import Entered, GuardedLock, LongCalls, holding, lasting, plain_lock
from tests.helpers.interruptions import interrupt
lock, several, marks = plain_lock(), [plain_lock() for _ in range(3)], LongCalls()
guarded = GuardedLock()
entered = Entered(lock, lambda: None)
def enter():
    with entered:
        pass
def hold():
    holding(lambda: several, lambda: None)
def last():
    with lasting(marks.add):
        pass
def guard():
    with guarded:
        pass
def plainly():
    with lock:
        pass
calls = enter, hold, last, guard, plainly
rng = random.Random(1)
for number in range(COUNT):
    interrupt(calls[number % len(calls)], rng.uniform(1e-5, 6e-5), again=True)
    assert not any(own._is_owned() for own in (lock, guarded, *several)) and not marks
"""


@pytest.mark.alone
@pytest.mark.parametrize("interruptions", [100, pytest.param(60_000, marks=pytest.mark.full)])
def test_a_handler_that_raises_leaves_no_lock_held(interruptions):
    run(_INTERRUPTED.replace("COUNT", str(interruptions)))
