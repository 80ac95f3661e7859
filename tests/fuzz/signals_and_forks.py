"""Signal handlers that ask and edit at any moment, and children forked while threads work.

Everybody gets an answer; nobody hangs.
"""

import os
import signal
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import terrain_physics as tp
from tests.helpers import drawn_grounds
from tests.helpers.draws import Draws
from tests.helpers.grounds import everything, one_by_one, questions

SECONDS = 0.4
"""Seconds for which signals come, and children are forked, in a case."""
_ALARM = 600
"""Seconds after which a child that hangs is ended."""


class _World:
    """A ground, and what can be done with it at any moment."""

    def __init__(self, seed: int) -> None:
        draws = Draws(seed)
        self.seed = seed
        self.ground = draws.one_of(drawn_grounds.MAPS + drawn_grounds.GROUNDS)(draws)
        low, high = drawn_grounds.box_of(self.ground)
        self.asked = questions(low, high, 20, seed % 1000)
        self.place = high
        self.mover = tp.CharacterMovement(self.ground, tp.SphereCollider(0.4), position=high)
        self.group = tp.CharacterGroup(self.ground, tp.CapsuleCollider(0.3, 1.8), threads=2)
        for key in range(5):
            self.group.add(key, draws.uniform(low, high, 3))

    def ask(self) -> None:
        one_by_one(self.ground, self.asked, 2)

    def ask_many(self) -> None:
        everything(self.ground, self.asked, 2)

    def edit(self) -> None:
        # Random numbers of its own: a child would wait for ever for those another thread draws.
        self.seed += 1
        drawn_grounds.edit(Draws(self.seed), self.ground)

    def make_and_move(self) -> None:
        body = tp.CharacterMovement(self.ground, tp.SphereCollider(0.5), position=self.place)
        body.update(0.1)

    def update(self) -> None:
        self.mover.update(0.01)
        self.group.update(0.01)


def case(seed: int) -> None:
    """Interrupt, or fork."""
    world = _World(seed)
    for _ in range(8):  # what edits lead to is asked, too: numba lets nobody in while it loads
        for operation in (world.ask, world.ask_many, world.edit, world.make_and_move, world.update):
            operation()
    if not hasattr(os, "fork"):
        return
    (_interrupt if seed % 2 else _fork)(world)


def _interrupt(world: _World) -> None:
    """Let a handler ask and edit while the thread that it interrupts does the same."""
    draws = Draws(world.seed)
    handled = draws.one_of((world.ask, world.ask_many, world.edit, world.make_and_move))
    errors: list[BaseException] = []
    is_over = False

    def handle(*_: object) -> None:
        try:
            handled()
        except BaseException as error:  # told when the signals are over
            errors.append(error)
        else:
            if not is_over:
                signal.setitimer(signal.ITIMER_REAL, draws.uniform(1e-4, 2e-3))

    before = signal.signal(signal.SIGALRM, handle)
    signal.setitimer(signal.ITIMER_REAL, 1e-3)
    try:
        _go_on(lambda: draws.one_of((world.ask, world.ask_many, world.edit, world.update)))
    finally:
        is_over = True  # a handler may still come, which must not set off another one
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    if errors:
        raise errors[0]


def _go_on(choose: Callable[[], Callable[[], Any]]) -> None:
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        choose()()


def _fork(world: _World) -> None:
    """Fork children while threads ask, edit and move; each child does the same."""
    over = threading.Event()
    errors: list[BaseException] = []

    def work(operation: Callable[[], Any]) -> None:
        try:
            while not over.is_set():
                operation()
        except BaseException as error:  # told by the main thread
            errors.append(error)

    operations = (world.ask_many, world.edit, world.update)
    threads = [threading.Thread(target=work, args=(one,), daemon=True) for one in operations]
    for thread in threads:
        thread.start()
    children: list[int] = []
    end = time.monotonic() + SECONDS
    try:
        while time.monotonic() < end:
            children.append(_child(world))
    finally:
        over.set()
        statuses = [os.waitpid(child, 0)[1] for child in children]
        for thread in threads:
            thread.join(_ALARM)
    assert not any(statuses), statuses
    assert not any(thread.is_alive() for thread in threads), "threads hang"
    if errors:
        raise errors[0]


def _child(world: _World) -> int:
    """Fork a child; return its number."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # that is what is tried
        child = os.fork()
    if child == 0:
        status = 1
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(_ALARM)
            world.edit()
            world.ask_many()
            world.make_and_move()
            x, z = np.random.default_rng(0).uniform(1, 9, (2, 50))
            status = 0 if len(world.ground.height_at(x, z, threads=2)) == 50 else 2
        finally:
            os._exit(status)
    return child
