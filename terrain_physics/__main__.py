"""Command line: count touched triangles, show recordings, make files of tiles, compile, the demo.

python -m terrain_physics count < problem.in
python -m terrain_physics view walk.recording -o walk.html
python -m terrain_physics tiles land.npy land.tiles
python -m terrain_physics warm-up
python -m terrain_physics info
python -m terrain_physics demo
"""

import argparse
import errno
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from typing import Any, NoReturn, TypeAlias

from terrain_physics._version import __version__

_COUNT_HELP = """\
Prints for each sphere how many triangles its surface touches, one number a line.

Each FILE (standard input without one, or for '-') holds a problem: n and q, then n
triangles of nine numbers (ax ay az bx by bz cx cy cz), then q spheres of four (r x y z),
with any white space between. Several files are answered in order.

With --triangles and --spheres a problem is spread over files that hold rows of nine, or of
four, numbers and no n or q. Counts add up over the files of triangles, which are in
memory one at a time.

With --scheduler a cluster of Dask counts: local[:WORKERS] processes of this machine, or the
workers of a scheduler's ADDRESS, as tcp://HOST:8786. Files of --triangles and --spheres are
read by the workers, so they must be where the workers are. They may be patterns in quotes,
folders of Parquet, and Parquet with the columns ax ay az bx by bz cx cy cz, or r x y z. Files of
a pattern or a folder are in the order of the numbers in their names: part.2 before part.10.
Text is shared among workers at line ends: each line holds whole rows. Both sides may be larger
than the memory of one machine; spheres that are near each other should follow each other. A
worker holds what it reads at once: 32 MB of text, but a whole row group of Parquet, and all of a
file that is packed by gzip. A worker that is silent is removed from its scheduler, for all users
of that scheduler, and ends when it wakes up.

A file may be compressed by gzip. Answers appear once all is read. Bad input: file and line on
standard error, exit 2, no answers. If the output cannot be written, or memory ends: one line,
exit 1."""

_COUNT_EXAMPLE = """\
memory: 150 MB, 130 bytes a triangle, 4 bytes a sphere (8 with several --triangles), and
100 MB for the spheres at work; so 10 million spheres need as much as one million, and 40 MB.

examples:
  echo '1 2  0 0 0  4 0 0  0 0 4   1  1 1 1   1  1 9 1' | python -m terrain_physics count
prints 1 and 0.
  python -m terrain_physics count --stats --verify 10 big.in.gz > big.out
  python -m terrain_physics count --triangles east.txt west.txt --spheres spheres.txt
  python -m terrain_physics count --scheduler local:2 --triangles 't/*.txt' --spheres s.parquet"""

_VIEW_HELP = """\
Makes one HTML file of a recording that Recording.save wrote: a web page you can rotate, scrub
and follow, in any browser, without a network. Drag to rotate, pinch or roll to come near, click
a body to follow it; a lone one is followed from the start. Colors tell which body is grounded,
slides or flies.

Prints the <iframe> that shows the page within another one: copy it. Add #t=1.35 to an address
to open the page at that second, and &body=NAME to follow one.

The recording is replayed, which takes about as long as its updates took. Bad input: why on
standard error, exit 2, no page; one that was there before is left as it is. On a full disk, or
without memory: exit 1."""

_TILES_HELP = """\
Makes a file of tiles, which TiledGround.open opens, of a height file of any kind that
HeightMap.load reads. Files of .npy, .r16, .raw and .r32 may be larger than memory: they are
read a row of tiles at a time. All heights are those of HeightMap.load with the same options.

Bad input: why on standard error, exit 2; a file that was there before is left as it is. On a
full disk, or without memory: exit 1."""

FAILED = 1  # a disk is full, or memory

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_UNWRITABLE = _FULL | {errno.EIO, errno.EBADF}

BAD_INPUT = 2

INTERRUPTED = 130  # as shells report a process ended by Ctrl-C
PIPE_CLOSED = 141  # the same for a closed pipe
TERMINATED = 143  # the same for SIGTERM


class _Parser(argparse.ArgumentParser):
    """A parser whose errors of writing are told, as those of commands are."""

    def _print_message(self, message: str, file: Any = None) -> None:
        """Write help or an error; argparse itself would pass over a full disk."""
        stream = file or sys.stderr
        if stream is not None:
            stream.write(message)


_Commands: TypeAlias = "argparse._SubParsersAction[_Parser]"  # noqa: SLF001 no other name


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="terrain-physics", description="Terrain collision for Python games.")
    parser.add_argument("--version", action="version", version=f"terrain_physics {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_count(commands)
    _add_view(commands)
    _add_tiles(commands)
    warm_up = commands.add_parser(
        "warm-up", help="compile what a game needs now, so that no later start has to wait"
    )
    warm_up.add_argument(
        "--processes", type=_at_least(1), default=1, metavar="N", help="that compile at once"
    )
    commands.add_parser(
        "info", help="print versions, processors and where compiled functions are kept"
    )
    demo = commands.add_parser(
        "demo",
        help="open the demo, which has options of its own: demo --help",
        add_help=False,
        prefix_chars="\0",  # whatever follows is for the demo's own parser
    )
    demo.add_argument("options", nargs="*", metavar="OPTION")
    demo.set_defaults(parser=parser)
    return parser


def _command(commands: _Commands, name: str, brief: str, **texts: Any) -> _Parser:
    """Add a command with texts that stand as they are."""
    kind = argparse.RawDescriptionHelpFormatter
    command = commands.add_parser(name, help=brief, formatter_class=kind, **texts)
    command.set_defaults(parser=command)
    return command


def _add_count(commands: _Commands) -> None:
    brief = "count the triangles that the surface of each sphere touches"
    count = _command(commands, "count", brief, description=_COUNT_HELP, epilog=_COUNT_EXAMPLE)
    count.add_argument(
        "files", nargs="*", metavar="FILE", help="problem to solve; '-' is standard input"
    )
    for name, option in _COUNT_OPTIONS.items():
        count.add_argument(name, **option)


def _add_view(commands: _Commands) -> None:
    brief = "make a web page of a recording that you can rotate, scrub and follow"
    view = _command(commands, "view", brief, description=_VIEW_HELP)
    view.add_argument("file", metavar="FILE", help="what Recording.save wrote")
    view.add_argument(
        "-o", "--output", required=True, metavar="PAGE", help="HTML file to write, or to replace"
    )
    view.add_argument("--title", metavar="TEXT", help="of the page; default: the name of PAGE")


def _add_tiles(commands: _Commands) -> None:
    brief = "make a file of tiles for TiledGround, of a height file"
    tiles = _command(commands, "tiles", brief, description=_TILES_HELP)
    tiles.add_argument("file", metavar="IN", help="height file to read")
    tiles.add_argument("output", metavar="OUT", help="file of tiles to write, or to replace")
    for name, option in (_READING_OPTIONS | _TILES_OPTIONS).items():
        tiles.add_argument(name, **option)


def _at_least(least: int) -> Callable[[str], int]:
    def integer(text: str) -> int:
        if not text.isascii() or not text.isdigit() or len(text) > 9 or int(text) < least:
            raise argparse.ArgumentTypeError(f"must be an integer >= {least}, got {text!r}")
        return int(text)

    return integer


def _scheduler(text: str) -> str:
    kind, _, workers = text.partition(":")
    if kind == "local" and (text == kind or (workers.isascii() and workers.isdigit())):
        if text == kind or 1 <= int(workers[:9]) <= 1024:
            return text
    elif "://" in text:
        return text
    raise argparse.ArgumentTypeError(
        "must be local, local:WORKERS with 1 to 1024 workers, or an address as "
        f"tcp://HOST:8786, got {text!r}"
    )


_COUNT_OPTIONS: dict[str, dict[str, Any]] = {
    "--triangles": {
        "nargs": "+",
        "default": (),
        "metavar": "F",
        "help": "files of triangles, nine numbers each",
    },
    "--spheres": {
        "nargs": "+",
        "default": (),
        "metavar": "F",
        "help": "file of spheres, four numbers each; with --scheduler, one or more",
    },
    "--scheduler": {
        "type": _scheduler,
        "metavar": "WHERE",
        "help": "local, local:WORKERS or the address of a scheduler of Dask, whose workers count",
    },
    "--worker-timeout": {
        "type": _at_least(1),
        "metavar": "S",
        "help": "with --scheduler: give up a worker that is silent for S seconds; default: 60",
    },
    "--out": {
        "metavar": "FOLDER",
        "help": "with --scheduler: the workers write the counts there, as Parquet; a new folder",
    },
    "--threads": {
        "type": _at_least(1),
        "metavar": "N",
        "help": "default: one for each processor",
    },
    "--stats": {
        "action": "store_true",
        "help": "tell n, q, pairs touched, pairs tested and times on standard error",
    },
    "--json": {
        "action": "store_true",
        "help": "with --stats: tell them as JSON, a line a problem",
    },
    "--verify": {
        "type": _at_least(0),
        "default": 0,
        "metavar": "K",
        "help": "recount K random spheres by brute force; exit 1, no answers, if one differs",
    },
}

# Options of HeightMap.load.
_READING_OPTIONS: dict[str, dict[str, Any]] = {
    "--height-range": {
        "nargs": 2,
        "type": float,
        "metavar": ("LOW", "HIGH"),
        "help": "heights in meters of the lowest and the highest number of 8 or 16 bits",
    },
    "--shape": {
        "nargs": 2,
        "type": int,
        "metavar": ("ROWS", "COLUMNS"),
        "help": "of a file without a header that is not square",
    },
    "--byte-order": {"choices": ("little", "big"), "help": "of a file without a header"},
    "--no-data": {"type": float, "metavar": "NUMBER", "help": 'the number of "no data": a hole'},
    "--flip": {"choices": ("rows", "columns", "both"), "help": "what to reverse"},
    "--channel": {"metavar": "NAME", "help": "of a picture, the one that holds the heights"},
    "--encoding": {"choices": ("terrarium", "mapbox"), "help": "of an elevation tile"},
    "--key": {"metavar": "NAME", "help": "which array of an .npz file"},
}

# Options of TiledGround.make.
_TILES_OPTIONS: dict[str, dict[str, Any]] = {
    "--tile": {
        "type": int,
        "metavar": "CELLS",
        "help": "along the side of a tile, a multiple of 64; default: 256",
    },
    "--cell-size": {
        "type": float,
        "metavar": "METERS",
        "help": "default: that of a GeoTIFF or an .asc file in meters; else 1",
    },
    "--height-scale": {"type": float, "metavar": "METERS", "help": "of a unit of height"},
    "--origin": {
        "nargs": 3,
        "type": float,
        "metavar": ("X", "Y", "Z"),
        "help": "of the first sample; default: as the file says; else 0 0 0",
    },
    "--thickness": {
        "type": float,
        "metavar": "METERS",
        "help": "how deep the ground is solid; default: unlimited, 2 with holes",
    },
    "--diagonal": {
        "choices": ("a-c", "b-d", "alternating", "shortest"),
        "help": "how cells are split; default: a-c",
    },
    "--dtype": {
        "choices": ("int16", "float32"),
        "help": "how heights are stored; default: int16 for int16 and 8 bits, else float32",
    },
}

# In this order; the first that is true of the options is the error.
_COUNT_ERRORS: dict[str, Callable[[argparse.Namespace], bool]] = {
    "--triangles and --spheres go together": lambda chosen: (
        bool(chosen.triangles) != bool(chosen.spheres)
    ),
    "a FILE is a whole problem and cannot go with --triangles and --spheres": lambda chosen: bool(
        chosen.files and chosen.triangles
    ),
    "--json goes with --stats": lambda chosen: chosen.json and not chosen.stats,
    "standard input can be read only once": lambda chosen: (
        [*chosen.files, *chosen.triangles, *chosen.spheres].count("-") > 1
    ),
    "--out and --worker-timeout go with --scheduler": lambda chosen: (
        not chosen.scheduler and (chosen.out, chosen.worker_timeout) != (None, None)
    ),
    "several files of --spheres go with --scheduler": lambda chosen: (
        not chosen.scheduler and len(chosen.spheres) > 1
    ),
    "--scheduler goes with --triangles and --spheres": lambda chosen: (
        chosen.scheduler and not chosen.triangles
    ),
    "--scheduler cannot read standard input: workers read files": lambda chosen: (
        chosen.scheduler and "-" in {*chosen.triangles, *chosen.spheres}
    ),
    "--threads and --verify do not go with --scheduler": lambda chosen: (
        chosen.scheduler and bool(chosen.threads or chosen.verify)
    ),
}


def _count(chosen: argparse.Namespace) -> int:
    for error, is_so in _COUNT_ERRORS.items():
        if is_so(chosen):
            chosen.parser.error(error)
    for file in (*chosen.triangles, *chosen.spheres) if chosen.out else ():
        if os.path.realpath(file) == os.path.realpath(chosen.out):
            chosen.parser.error(f"--out must be another file than {file}, which it would replace")

    from terrain_physics.counter import command

    stats: command.Stats = ("json" if chosen.json else "text") if chosen.stats else None
    if chosen.scheduler:
        return command.run_on_cluster(
            chosen.scheduler,
            chosen.triangles,
            chosen.spheres,
            patience=chosen.worker_timeout or 60,
            out=chosen.out,
            stats=stats,
        )
    return command.run(
        chosen.files,
        chosen.triangles,
        chosen.spheres[0] if chosen.spheres else None,
        threads=chosen.threads,
        stats=stats,
        verify=chosen.verify,
    )


class _TerminatedError(BaseException):
    """SIGTERM has come."""


@contextmanager
def _unwinding_when_terminated() -> Iterator[None]:
    """Let SIGTERM end this block by an error, so that what was begun is removed; a second kills."""
    if threading.current_thread() is not threading.main_thread():  # others cannot handle signals
        yield
        return

    def end(*_: object) -> NoReturn:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        raise _TerminatedError

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL if before is None else before)


def _view(chosen: argparse.Namespace) -> int:
    from terrain_physics.recording.recording import Recording
    from terrain_physics.viewer.page import embedding, title_of

    if not chosen.output:
        chosen.parser.error("PAGE must be the name of a file, got none")
    if os.path.realpath(chosen.file) == os.path.realpath(chosen.output):
        chosen.parser.error("PAGE must be another file than FILE, which it would replace")
    handled = chosen.file
    try:
        recording = Recording.load(chosen.file)
        handled = chosen.output
        recording.save_html(chosen.output, title=chosen.title)
    except (OSError, ValueError) as error:
        return _refused_for(error, chosen.file, handled)
    print(embedding(chosen.output, title_of(chosen.output, chosen.title)))
    return 0


def _refused_for(error: Exception, file: str, handled: str) -> int:
    """Tell why there is no result of a file; ``handled`` is what an error without a name is of."""
    from terrain_physics._kernels import _memory

    if _memory.lacks_memory(error) or getattr(error, "errno", None) in _FULL:
        raise error  # the file may be well
    if isinstance(error, OSError):
        _tell(f"{error.filename or handled}: {error.strerror or error}")
    else:
        reason, start = str(error), f"{file}: "
        _tell(reason if reason.startswith(start) else start + reason)
    return BAD_INPUT


def _tell(message: object) -> None:
    """Write a line to standard error."""
    if sys.stderr is not None:  # None stands for standard output
        print(f"terrain-physics: {message}", file=sys.stderr)


def _tiles(chosen: argparse.Namespace) -> int:
    import warnings

    from terrain_physics.tiles.of_file import tiles_of_file
    from terrain_physics.tiles.tile_file import TileFile

    if os.path.realpath(chosen.file) == os.path.realpath(chosen.output):
        chosen.parser.error("OUT must be another file than IN, which it would replace")
    reading: Any = _given(chosen, _READING_OPTIONS)
    making = _given(chosen, _TILES_OPTIONS)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            tiles_of_file(chosen.file, chosen.output, reading, progress=True, **making)
        except (OSError, ValueError, ImportError) as error:
            return _refused_for(error, chosen.file, chosen.output)
    for warning in told:
        _tell(warning.message)
    made = TileFile.open(chosen.output)
    side, rows, columns = made.shape[:3]
    print(
        f"{chosen.output}: {rows} x {columns} tiles of {side} x {side} cells, "
        f"{os.path.getsize(chosen.output):,} bytes"  # noqa: PTH202
    )
    return 0


def _given(chosen: argparse.Namespace, options: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the values of those options that were given, by the names of arguments."""
    names = [name.removeprefix("--").replace("-", "_") for name in options]
    return {name: value for name in names if (value := getattr(chosen, name)) is not None}


def _warm_up(processes: int) -> int:
    import tqdm

    from terrain_physics import warmup
    from terrain_physics._kernels import _notices

    with tqdm.tqdm(disable=None, file=sys.stderr, bar_format="{n}/{total} {bar} {desc}") as bar:
        _notices.audience.sees_progress = not bar.disable

        def show(name: str, done: int, count: int) -> None:
            bar.total, bar.n = count, done
            bar.set_description_str(name)

        warmup.warm_up(show, processes=processes)
    return 0


def _info() -> int:
    import platform
    from importlib.metadata import PackageNotFoundError, version

    from terrain_physics._kernels import _jit
    from terrain_physics._kernels.counter.count import count_chunks
    from terrain_physics._support.threads import processors

    print(f"terrain_physics {__version__}")
    print(f"Python {platform.python_version()}")
    print(f"processor: {_processor()}; threads: {processors()}")
    for package in ("numpy", "numba", "llvmlite", "pyglm", "pygame", "pygame-ce", "Pillow"):
        try:
            print(f"{package} {version(package)}")
        except PackageNotFoundError:
            print(f"{package} is not installed")
    if _jit.native is not None:
        level = _jit.native.__name__.rpartition("_")[2]
        print(f"machine code: {platform.machine()}, level {level}, by {_jit.native.COMPILED_BY}")
        print(f"its module: {_jit.native.__file__}")
        print(f"machine code of the demo: {'as well' if _demo_has_module(level) else 'none'}")
        return 0
    from terrain_physics._kernels import _cache

    print(f"machine code: none; {'numba compiles' if _jit.HAS_NUMBA else 'runs as plain Python'}")
    print(f"compiled functions: {_cache.cache_folder() or 'not kept'}")
    if reason := _cache.why_refused():
        print(f"not used, since loading runs what is there: {reason}")
    print(f"counter compiled: {'yes' if _jit.is_cached(count_chunks) else 'no'}")
    return 0


def _demo_has_module(level: str) -> bool:
    """Tell whether the demo of the wheel, or of this checkout, has machine code of a level."""
    from pathlib import Path

    beside = Path(__file__).parents[1]
    return any(
        list((beside / package / "renderers").glob(f"_native_{level}.*"))
        for package in ("terrain_physics_demo", "demo")
    )


def _open_demo(chosen: argparse.Namespace) -> int:
    """Run the demo of the wheel, or of the checkout that this package lies in."""
    from importlib import import_module
    from importlib.util import find_spec
    from pathlib import Path

    package, checkout = "terrain_physics_demo", Path(__file__).resolve().parents[1]
    if find_spec(package) is None:
        if not (checkout / "demo" / "__main__.py").is_file():
            chosen.parser.error("the demo is not beside this package; wheels and checkouts have it")
        sys.path.insert(0, str(checkout))
        package = "demo"
    status: int = import_module(f"{package}.running.command_line").main(
        chosen.options, prog="terrain-physics demo"
    )
    return status


def _processor() -> str:
    """Return the kind of the processor, and its name where the system tells it."""
    import platform

    return " ".join({platform.machine(): None, platform.processor(): None}).strip()


def run(arguments: Sequence[str]) -> int:
    """Run one command and return the exit status.

    0; 1 if ``--verify`` finds a wrong count, without memory, and if the output cannot be written
    (of a standard output that was closed before, only ``count`` tells); 2 for bad input; 130 after
    Ctrl-C; 141 if nobody reads on; 143 after SIGTERM, where something is left to clear away.
    """
    try:
        try:
            return _done(_parser().parse_args(arguments))
        finally:  # Python would tell an error in its own words, at its end
            for stream in (sys.stdout, sys.stderr):
                if stream is not None and not stream.closed:
                    stream.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except _TerminatedError:
        return TERMINATED
    except Exception as error:
        if _is_pipe_closed(error):
            return PIPE_CLOSED
        reason = _reason(error)
        if reason is None:
            raise
        return _failed(reason)


def _done(chosen: argparse.Namespace) -> int:
    """Run a command and return its exit status."""
    match chosen.command:
        case "count":
            with _unwinding_when_terminated() if chosen.scheduler else nullcontext():
                return _count(chosen)
        case "view":
            return _view(chosen)
        case "tiles":
            with _unwinding_when_terminated():
                return _tiles(chosen)
        case "warm-up":
            return _warm_up(chosen.processes)
        case "demo":
            return _open_demo(chosen)
    return _info()


def _reason(error: Exception) -> str | None:
    """Return why the system let a command down, None for what is a mistake of ours."""
    from terrain_physics._kernels import _memory

    if _memory.lacks_memory(error):
        return "not enough memory"
    if not isinstance(error, OSError) or error.errno is None:
        return None
    if error.filename:
        return f"{error.filename}: {error.strerror}"
    what = "cannot write the output: " if error.errno in _UNWRITABLE else ""
    return f"{what}{error.strerror}"


def _is_pipe_closed(error: Exception) -> bool:
    """Tell whether nobody reads the output on; Windows has another error for it."""
    if isinstance(error, BrokenPipeError):
        return True
    is_of_stream = isinstance(error, OSError) and error.filename is None
    return is_of_stream and sys.platform == "win32" and error.errno == errno.EINVAL


def _failed(reason: str) -> int:
    """Tell why the command could not go on, if that can be told."""
    with suppress(OSError):
        _tell(reason)
    return FAILED


def main() -> NoReturn:
    """Run the command of ``sys.argv`` and end the process.

    It ends at once: the interpreter's normal exit takes a tenth of the time of a small job, and
    after Ctrl-C it would wait for threads that are still counting.
    """
    from terrain_physics._kernels import _notices

    _notices.audience.runs_our_command = True
    os._exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
