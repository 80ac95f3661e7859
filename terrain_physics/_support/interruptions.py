"""Changes that a signal handler which raises, as on Ctrl-C, does not leave half made."""

from collections.abc import Callable


def carried_out(change: Callable[[], object]) -> None:
    """Make a change that may be made again; an interrupted one is made, and raises then."""
    try:
        change()
    except BaseException:
        change()
        raise
