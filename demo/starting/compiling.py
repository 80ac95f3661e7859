"""Functions as numba compiles them: told one by one, in whatever thread."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_ROOT = __name__.split(".", maxsplit=1)[0]


@contextmanager
def told_of_functions(tell: Callable[[str], None]) -> Iterator[None]:
    """Tell each function once it is compiled, by module and name; none where nothing compiles."""
    if "numba" not in sys.modules:  # machine code came with the wheel
        yield
        return
    from numba.core.event import Event, Listener, install_listener

    class Compiled(Listener):  # type: ignore[misc] # numba is not typed
        def on_start(self, event: Event) -> None:
            """Wait for its end."""

        def on_end(self, event: Event) -> None:
            tell(_name(event.data["dispatcher"].py_func))

    with install_listener("numba:compile", Compiled()):
        yield


def _name(function: Any) -> str:
    """Return module and name, without the demo's own package: a wheel has it under another name."""
    return f"{function.__module__.removeprefix(f'{_ROOT}.')}.{function.__name__}"
