"""Another process of Python, which has the modules of this one and compiles for it."""

import subprocess
import sys


def start_helper(
    code: str,
    *,
    gives_way: bool = False,
    output: int = subprocess.PIPE,
    errors: int = subprocess.DEVNULL,
) -> subprocess.Popen[str]:
    """Start a process that runs some code.

    One with ``gives_way`` leaves the processor to the frames of a game first.
    """
    # Windows takes the priority from the parent, the others from the process itself; and it opens
    # a console for what a program without one starts.
    flags: int = getattr(subprocess, "CREATE_NO_WINDOW", 0)
    if gives_way:
        flags |= getattr(subprocess, "BELOW_NORMAL_PRIORITY_CLASS", 0)
    lower = "import os; hasattr(os, 'nice') and os.nice(10); " if gives_way else ""
    return subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", f"{lower}import sys; sys.path[:] = {sys.path!r}; {code}"],
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=errors,
        creationflags=flags,
        text=True,
        errors="replace",  # a warning in whatever encoding must not stop who listens
    )
