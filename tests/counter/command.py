"""The command `count`, run within this process."""

import io
import sys
from typing import NamedTuple
from unittest import mock

from terrain_physics import __main__ as command_line


class Outcome(NamedTuple):
    status: int
    out: str
    err: str


class Terminal(io.TextIOWrapper):
    def isatty(self):
        return True


def count(*arguments, stdin=b"", terminal=False):
    """Return the exit status, and what was written to standard output and standard error."""
    out, err = io.BytesIO(), io.BytesIO()
    out_stream = io.TextIOWrapper(out)
    error_stream = (Terminal if terminal else io.TextIOWrapper)(err, write_through=True)
    with (
        mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin))),
        mock.patch.object(sys, "stdout", out_stream),
        mock.patch.object(sys, "stderr", error_stream),
    ):
        status = command_line.run(["count", *map(str, arguments)])
    return Outcome(status, out.getvalue().decode(), err.getvalue().decode())
