"""The command line: windows and runs without one.

Nothing heavy is imported before a window opens.
"""

import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from ..sound.audio_driver import AUDIO_DRIVER
from .options import PACKAGE, Options, Refused, parse

if TYPE_CHECKING:
    from ..panel.bindings import Bindings

_INTERRUPTED = 130  # the status that shells give to what Ctrl+C ended
_MODULES = {"pygame", "moderngl", "PIL", "numba"}


def main(arguments: Sequence[str] | None = None, prog: str = f"python -m {PACKAGE}") -> int:
    """Run the demo, which was started by the words ``prog``; return the exit status."""
    # Before pygame is imported: no greeting, and no search for a sound card.
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    AUDIO_DRIVER.silence()
    try:
        options = parse(sys.argv[1:] if arguments is None else arguments, prog=prog)
        return 0 if options is None else _run(options)
    except KeyboardInterrupt:
        return _INTERRUPTED
    except Refused as refused:
        print(f"demo: {refused}", file=sys.stderr)
        return 2
    except ModuleNotFoundError as missing:
        if missing.name not in _MODULES:
            raise
        how = _with_all(missing.name)
        print(
            f"demo: install its extra first: pip install {how} (needs {missing.name})",
            file=sys.stderr,
        )
        return 2


def _with_all(missing: str | None) -> str:
    """Return what to install where a module is missing."""
    if PACKAGE == "demo":
        return '-e ".[demo,jit]"'
    return f'"terrain-physics[{"demo,jit" if missing == "numba" else "demo"}]"'


def _run(options: Options) -> int:
    if options.headless:
        os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    import pygame  # noqa: F401 missing: told before anything is computed

    _refuse_plain_python()
    if options.headless:
        from .headless import run_headless

        return run_headless(options)
    from .window import run_in_window

    return run_in_window(options, _bindings())


def _refuse_plain_python() -> None:
    """Refuse to run where nothing is compiled: a picture would take minutes."""
    renderers = Path(__file__).parents[1] / "renderers"
    if find_spec("numba") is None and not list(renderers.glob("_native_*")):
        raise ModuleNotFoundError("nothing is compiled without numba", name="numba")


def _bindings() -> "Bindings":
    from ..panel import bindings

    try:
        return bindings.load(bindings.user_file())
    except ValueError as error:
        raise Refused(" ".join(str(error).split())) from None
