"""Programs in a process of their own, as they may hang or end it."""

from tests.helpers import forks


def run(program: str, *, own: bool = False) -> None:
    """Run a program; fail if it fails, or does not end."""
    forks.printed("-X", "faulthandler", "-c", program, own=own)
