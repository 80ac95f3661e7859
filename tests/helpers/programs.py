"""Programs that run in a Python of their own, as they may hang or end it."""

import subprocess
import sys

SECONDS = 1800  # only against a hang


def run(program: str, seconds: float = SECONDS) -> None:
    """Run a program; fail if it fails, or does not end."""
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", program],
        timeout=seconds,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"status {done.returncode}: {done.stderr}"
