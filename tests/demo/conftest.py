"""A screen that nobody sees, for programs that open windows."""

import os
import shutil
import subprocess
from collections.abc import Iterator

import pytest


@pytest.fixture
def display() -> Iterator[str]:
    """Yield the name of a display of 1024 x 768 pixels."""
    if shutil.which("Xvfb") is None:
        pytest.skip("needs a virtual screen: apt-get install xvfb")
    read, write = os.pipe()
    screen = subprocess.Popen(
        ["Xvfb", "-displayfd", str(write), "-screen", "0", "1024x768x24", "-nolisten", "tcp"],
        pass_fds=(write,),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(write)
    try:
        name = ":" + os.read(read, 16).decode().strip()
        assert name != ":"
        yield name
    finally:
        os.close(read)
        screen.kill()
        screen.wait(timeout=600)
