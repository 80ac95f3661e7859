"""Programs that run in a Python of their own, as they may hang or end it."""

import subprocess
import sys

SECONDS = 120  # that none takes, even on a busy machine


def run(program: str) -> None:
    """Run a program; fail if it fails, or does not end."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        timeout=SECONDS,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
