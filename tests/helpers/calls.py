"""How many calls a function makes, or lines it runs: costs that are the same on every machine."""

import gc
import sys
import threading
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import Any


def calls_of(function: Callable[[], object]) -> int:
    """Return how many functions of Python and of C are called within a call of a function."""
    count = 0

    def noted(_frame: object, event: str, _what: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    gc.collect()
    gc.disable()  # it calls finalizers of what other tests have left
    sys.setprofile(noted)
    try:
        function()
    finally:
        sys.setprofile(None)
        gc.enable()
    return count


def lines_of(module: ModuleType, function: Callable[[], object]) -> int:
    """Return how many lines of a module run within a call of a function, on any new thread too."""
    count = 0

    def noted(_frame: FrameType, event: str, _what: object) -> Any:
        nonlocal count
        count += event == "line"
        return noted

    def begun(frame: FrameType, _event: str, _what: object) -> Any:
        return noted if frame.f_code.co_filename == module.__file__ else None

    before = sys.gettrace()
    threading.settrace(begun)
    sys.settrace(begun)
    try:
        function()
    finally:
        sys.settrace(before)
        threading.settrace(before)
    return count
