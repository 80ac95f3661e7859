"""Command line: count touched triangles, compile ahead of time, tell what is installed.

python -m terrain_physics count < problem.in
python -m terrain_physics warm-up
python -m terrain_physics info
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from terrain_physics._version import __version__

_COUNT_HELP = """\
Each FILE (standard input without one, or for '-') holds a problem: n and q, then n
triangles of nine numbers (ax ay az bx by bz cx cy cz), then q spheres of four (r x y z),
with any white space between. Prints for each sphere how many triangles its surface
touches, one number a line; several files are answered in order, once all are read.
Bad input: file and line on standard error, exit 2."""

_COUNT_EXAMPLE = """\
example:
  echo '1 2  0 0 0  4 0 0  0 0 4   1  1 1 1   1  1 9 1' | python -m terrain_physics count
prints 1 and 0."""

BAD_INPUT = 2
INTERRUPTED = 130  # as shells report a process ended by Ctrl-C
PIPE_CLOSED = 141  # the same for a closed pipe


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="terrain-physics", description="Terrain collision for Python games."
    )
    parser.add_argument("--version", action="version", version=f"terrain_physics {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    count = commands.add_parser(
        "count",
        help="count the triangles that the surface of each sphere touches",
        description=_COUNT_HELP,
        epilog=_COUNT_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    count.add_argument(
        "files", nargs="*", metavar="FILE", help="problem to solve; '-' is standard input"
    )
    commands.add_parser(
        "warm-up", help="compile every function now, so that no later start has to wait"
    )
    commands.add_parser("info", help="print versions and where compiled functions are kept")
    return parser


def _count(files: Sequence[str]) -> int:
    from terrain_physics import contest
    from terrain_physics._kernels import _jit, touch_count

    kernel = touch_count.count_chunks
    is_plain_python = not hasattr(kernel, "py_func")
    if sys.stderr.isatty() and not is_plain_python and not _jit.is_cached(kernel):
        print("terrain_physics: compiling once for this machine, some seconds", file=sys.stderr)
    answers = []
    try:
        with contest.Workers() as workers:
            for file in files or ["-"]:
                name, text = _read(file)
                triangles, spheres = contest.read_problem(workers, text, name)
                del text  # as large as everything else together
                tree = contest.build_tree(workers, triangles)
                answers.append(contest.write_counts(contest.count_with(workers, tree, spheres)))
    except contest.ContestError as error:
        print(error, file=sys.stderr)
        return BAD_INPUT
    except OSError as error:
        print(f"terrain-physics: cannot read {error.filename}: {error.strerror}", file=sys.stderr)
        return BAD_INPUT
    return _write(answers)


def _read(file: str) -> tuple[str, bytes]:
    """Return the name for messages and the bytes of a file or of standard input."""
    if file != "-":
        return file, Path(file).read_bytes()
    try:
        return "stdin", sys.stdin.buffer.read()
    except OSError as error:
        raise OSError(error.errno, error.strerror, "stdin") from error


def _write(answers: Sequence[bytes]) -> int:
    try:
        for answer in answers:
            sys.stdout.buffer.write(answer)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        return PIPE_CLOSED
    except OSError as error:
        print(f"terrain-physics: cannot write the answers: {error.strerror}", file=sys.stderr)
        return BAD_INPUT
    return 0


def _warm_up() -> int:
    from terrain_physics import warmup

    warmup.warm_up()
    return 0


def _info() -> int:
    import platform
    from importlib.metadata import PackageNotFoundError, version

    from terrain_physics._kernels import _jit, touch_count

    print(f"terrain_physics {__version__}")
    print(f"Python {platform.python_version()}")
    for package in ("numpy", "numba", "llvmlite", "pyglm", "pygame", "pygame-ce", "Pillow"):
        try:
            print(f"{package} {version(package)}")
        except PackageNotFoundError:
            print(f"{package} is not installed")
    print(f"compiled functions: {_jit.cache_folder() or 'not kept'}")
    print(f"counter compiled: {'yes' if _jit.is_cached(touch_count.count_chunks) else 'no'}")
    return 0


def run(arguments: Sequence[str]) -> int:
    """Run one command and return the exit status: 0, 2 for bad input, 130 after Ctrl-C."""
    try:
        chosen = _parser().parse_args(arguments)
        if chosen.command == "count":
            return _count(chosen.files)
        return _warm_up() if chosen.command == "warm-up" else _info()
    except KeyboardInterrupt:
        return INTERRUPTED


def main() -> NoReturn:
    """Run the command of ``sys.argv`` and end the process.

    It ends at once: an orderly end of the interpreter takes a tenth of a small job, and after
    Ctrl-C it would wait for threads still counting.
    """
    status = run(sys.argv[1:])
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):  # a closed pipe
            status = status or PIPE_CLOSED
    os._exit(status)


if __name__ == "__main__":
    main()
