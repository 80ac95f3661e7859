"""How many calls a function makes: a cost that is the same on every machine."""

import gc
import sys
from collections.abc import Callable


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
