"""Calls that no signal handler interrupts."""

import threading
from collections.abc import Callable
from typing import TypeVar

_T = TypeVar("_T")


def undisturbed(call: Callable[[], _T]) -> _T:
    """Make a call that a signal handler does not interrupt, though it may raise here.

    Handlers run in the main thread alone, so the call is made in another one. It goes on to its
    end even if a handler raises meanwhile. numba needs that: a kernel whose loading was interrupted
    can never be loaded again in that process.
    """
    if threading.current_thread() is not threading.main_thread():
        return call()
    results: list[_T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(call())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, name="terrain_physics loads")
    try:
        thread.start()
    except RuntimeError:  # no more threads are to be had, or Python is ending
        return call()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]
