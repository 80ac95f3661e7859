"""Problems for the counter as text: numbers read piece by piece, also from gzip; counts written.

A reader holds one piece of the text at a time, so that memory does not grow with its length, and
can still name the line of an error.
"""

import math
import os
import re
import stat
import sys
import zlib
from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate, chain, islice
from typing import Any, BinaryIO, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.counter import numbers
from terrain_physics._support.threads import Workers

_PIECE = 1 << 23  # bytes of text read at once; no token may be longer
_BYTE_COST, _PART_COST = 1, 1_000_000  # nanoseconds on one thread, roughly
_LEAST_ROOM = 1 << 20  # numbers, where nothing tells how many follow

_TOKEN = re.compile(rb"\S+")
_SPACE = re.compile(rb"\s")
_COUNT = re.compile(rb"[0-9]+")
_NUMBER = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_SPACES = b"\n", b" ", b"\r", b"\t", b"\v", b"\f"
_SPACE_BYTES = b"".join(_SPACES)
_GZIP_MAGIC = b"\x1f\x8b"
_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = b"\xff\xfe", b"\xfe\xff"  # UTF-32 has them too


class TextError(ValueError):
    """Input that is not in the format; the message starts with its name and line.

    Attributes
    ----------
    name : str
        Of the file.
    line : int or None
        None where there are no lines.
    message : str
        The reason.
    is_end : bool
        Whether the input ends too early.
    """

    def __init__(self, name: str, line: int | None, message: str, is_end: bool = False) -> None:  # noqa: FBT001, FBT002 a pickle passes them by position
        super().__init__(name, line, message, is_end)
        self.name, self.line, self.message, self.is_end = name, line, message, is_end

    def __str__(self) -> str:
        place = self.name if self.line is None else f"{self.name}:{self.line}"
        return f"{place}: {self.message}"


class _Mistake(NamedTuple):
    """An error in a piece, and the byte where it starts."""

    position: int
    message: str


class _Rejoined:
    """A stream whose first bytes were already read and are read again."""

    def __init__(self, head: bytes, stream: BinaryIO) -> None:
        self._head = head
        self._stream = stream

    def read(self, size: int) -> bytes:
        """Return up to ``size`` bytes."""
        head, self._head = self._head[:size], self._head[size:]
        return head or self._stream.read(size)


class NumberReader:
    """The numbers of a text, in order, read exactly as ``float()`` reads them.

    Memory is reserved for the numbers that are there, never for those that n and q promise. The
    first error is raised as a `TextError`, ``name:line: what is wrong``.

    Parameters
    ----------
    workers : Workers
        The threads that parse.
    stream : BinaryIO
        The text, plain or compressed by gzip.
    name : str
        Its name in messages.
    """

    def __init__(self, workers: Workers, stream: BinaryIO, name: str) -> None:
        self._workers = workers
        self._name = name
        self._text = bytearray(_PIECE)
        self._data = np.frombuffer(self._text, np.uint8)
        self._position = 0  # of the first byte that is not parsed yet
        self._whole = 0  # up to here the piece holds whole tokens only
        self._end = 0  # of the bytes read
        self._line = self._last_line = 1  # where the piece starts; of the last token before it
        self._finished = False
        self._taken = 0
        self._promised: int | None = None
        self._stream: Any = stream
        head = stream.read(len(_GZIP_MAGIC))
        if head == _GZIP_MAGIC:
            import gzip

            self._most_numbers = None
            self._stream = gzip.GzipFile(fileobj=cast("BinaryIO", _Rejoined(head, stream)))
        else:
            self._most_numbers = _most_numbers(stream)
            self._text[: len(head)] = head
            self._end = len(head)
        self._load()
        self._pass_mark()

    def _pass_mark(self) -> None:
        """Pass over the mark that some editors put before UTF-8; refuse other encodings."""
        start = self._text[: min(self._end, 4)]  # of UTF-16 without a mark, every other byte is 0
        if start.startswith(_UTF8_MARK):
            self._text[: len(_UTF8_MARK)] = b" " * len(_UTF8_MARK)
        elif start.startswith(_UTF16_MARKS) or b"\0" in start:
            raise self._error(_Mistake(0, "text must be ASCII or UTF-8, got UTF-16 or UTF-32"))

    def counts(self) -> tuple[int, int]:
        """Return n and q, with which the text of a whole problem starts."""
        n = self._count("n, the number of triangles,")
        q = self._count("q, the number of spheres,")
        self._promised = 9 * n + 4 * q
        return n, q

    def _count(self, what: str) -> int:
        rule = f"{what} must be a plain integer >= 0"
        match = _TOKEN.search(self._text, self._position, self._whole)
        while match is None:
            if not self._load():
                raise self._ends(f"{rule}, got the end of the input")
            match = _TOKEN.search(self._text, self._position, self._whole)
        token = match.group()
        if not _COUNT.fullmatch(token):
            raise self._error(_Mistake(match.start(), f"{rule}, got {_told(token)}"))
        self._position = match.end()
        # 19 digits are enough: no input has so many rows. int() refuses thousands of digits.
        return int(token.lstrip(b"0")[:19] or b"0")

    def triangles(self, count: int | None = None) -> NDArray[np.float64]:
        """Return the next ``count`` triangles (n, 9), or all that are left."""
        wanted = sys.maxsize if count is None else 9 * count
        values = np.empty(min(wanted, self._most_numbers or _LEAST_ROOM))
        found = self._fill(values)
        while found == len(values) < wanted:
            larger = np.empty(min(wanted, 2 * found + _LEAST_ROOM))
            larger[:found] = values
            values = larger
            found += self._fill(values[found:])
        if found < wanted and (count is not None or found % 9):
            raise self._too_few(9)
        return values[:found].reshape(-1, 9)

    def spheres(self, count: int | None, at_once: int) -> Iterator[NDArray[np.float64]]:
        """Yield the next ``count`` spheres (q, 4), or all that are left, in blocks.

        Each block has ``at_once`` rows, except for the last one, which may have fewer. The input
        must end after these spheres.
        """
        left = sys.maxsize if count is None else count
        while left:
            rows = min(left, at_once, (self._most_numbers or sys.maxsize) // 4 + 1)
            values = np.empty(4 * rows)
            found = self._fill(values, radii=True)
            if found < len(values) and (count is not None or found % 4):
                raise self._too_few(4)
            if found:
                yield values[:found].reshape(-1, 4)
            if found < len(values):
                return
            left -= rows
        self._refuse_more()

    def _fill(self, values: NDArray[np.float64], *, radii: bool = False) -> int:
        """Set ``values`` to the next numbers; return how many, fewer only at the end of the input.

        With ``radii`` every fourth number, starting with the first, must be >= 0.
        """
        done = 0
        while done < len(values):
            start = self._position
            found, position, problem = self._parse(values[done:])
            if radii:
                first = done + -done % 4
                negative = np.flatnonzero(values[first : done + found : 4] < 0.0)
                if len(negative):
                    match = self._token(start, first - done + 4 * int(negative[0]))
                    problem = _Mistake(
                        match.start(), f"a radius must be >= 0, got {_shown(match.group())}"
                    )
            if problem is not None:
                raise self._error(problem)
            self._position = position
            done += found
            if done < len(values) and not self._load():
                break
        self._taken += done
        return done

    def _refuse_more(self) -> None:
        while (match := _TOKEN.search(self._text, self._position, self._whole)) is None:
            if not self._load():
                return
        message = (
            f"nothing may follow the 9 n + 4 q = {self._promised} numbers after n and q, "
            f"got {_shown(match.group())}"
        )
        raise self._error(_Mistake(match.start(), message))

    def _load(self) -> bool:
        """Read the next piece; return False at the end of the input."""
        if self._finished:
            return False
        self._line, self._last_line = self._lines()
        left = self._end - self._whole
        self._text[:left] = self._text[self._whole : self._end]
        self._position, self._whole, self._end = 0, 0, left
        with memoryview(self._text) as room:
            while self._end < len(room):
                try:
                    read = self._stream.readinto(room[self._end :])
                except (EOFError, zlib.error, OSError) as error:
                    if isinstance(error, OSError) and error.errno is not None:
                        raise
                    message = f"the packed file is damaged: {error}"
                    raise self._error(_Mistake(self._end, message)) from error
                self._end += read
                if not read:
                    self._finished = True
                    self._whole = self._end
                    return True
        self._whole = _last_space(self._text)
        if self._whole == 0:
            start = int(self._text[0] in _SPACE_BYTES)
            shown = _shown(self._text[start : start + 41])
            message = f"a number must have less than {len(self._text)} bytes, got {shown}"
            raise self._error(_Mistake(start, message))
        return True

    def _parse(self, values: NDArray[np.float64]) -> tuple[int, int, _Mistake | None]:
        """Parse the numbers of the piece, as many as there is room for.

        Returns how many were parsed, the position behind them, and the error there, if any.
        """
        body = self._position

        # Ranges are cut at any byte, then moved to the next white space.
        def cut(place: int) -> int:
            match = _SPACE.search(self._text, place, self._whole)
            return match.start() if match else self._whole

        def count(first: int, last: int) -> tuple[int, int, int]:
            start, end = cut(body + first) if first else body, cut(body + last)
            return start, end, numbers.count_tokens(self._data, start, end)

        parts = self._workers.run(count, self._whole - body, _BYTE_COST)
        starts = list(accumulate((tokens for _, _, tokens in parts), initial=0))
        used = bisect_left(starts, len(values), hi=len(parts))

        def parse(first: int, last: int) -> list[tuple[int, int, _Mistake | None]]:
            return [
                self._parse_part(parts[i][0], parts[i][1], values[starts[i] :])
                for i in range(first, last)
            ]

        position = body
        for i, (found, position, problem) in enumerate(
            chain(*self._workers.run(parse, used, _PART_COST))
        ):
            if problem is not None:
                return starts[i] + found, position, problem
        return min(starts[-1], len(values)), position, None

    def _parse_part(
        self, first: int, last: int, values: NDArray[np.float64]
    ) -> tuple[int, int, _Mistake | None]:
        """Parse the tokens of one part; return what `_parse` returns."""
        found = 0
        while True:
            outcome, parsed, first = numbers.parse_numbers(self._data, first, last, values[found:])
            found += parsed
            if outcome == numbers.PARSED:
                return found, first, None
            match = _TOKEN.match(self._text, first, last)
            token = match.group() if match else b""
            if not _NUMBER.fullmatch(token):
                message = f"expected a number, got {_told(token)}"
                return found, first, _Mistake(first, message)
            values[found] = float(token)
            if math.isinf(values[found]):
                message = f"a number must be finite in float64, got {_shown(token)}"
                return found, first, _Mistake(first, message)
            found += 1
            first += len(token)

    def _token(self, start: int, index: int) -> re.Match[bytes]:
        """Return the token with this index, counted from a position in this piece."""
        return next(islice(_TOKEN.finditer(self._text, start, self._whole), index, None))

    def _lines(self) -> tuple[int, int]:
        """Return the line where the next piece starts, and that of the last token before it."""
        end = self._whole
        line = self._line + self._text.count(b"\n", 0, end)
        end = _end_of_tokens(self._text, end)
        if end == 0:
            return line, self._last_line
        return line, line - self._text.count(b"\n", end, self._whole)

    def _too_few(self, columns: int) -> TextError:
        if self._promised is None:
            return self._ends(
                f"the input ends after {self._taken % columns} of the {columns} numbers of a row"
            )
        return self._ends(
            f"the input ends after {self._taken} of the 9 n + 4 q = {self._promised} numbers "
            "that follow n and q"
        )

    def _ends(self, message: str) -> TextError:
        return TextError(self._name, self._lines()[1], message, is_end=True)

    def _error(self, problem: _Mistake) -> TextError:
        line = self._line + self._text.count(b"\n", 0, problem.position)
        return TextError(self._name, line, problem.message)


def _most_numbers(stream: BinaryIO) -> int | None:
    """Return an upper bound of how many numbers a plain file holds; None for other streams."""
    try:
        status = os.fstat(stream.fileno())
    except (OSError, AttributeError):
        return None
    return status.st_size // 2 + 1 if stat.S_ISREG(status.st_mode) else None


def _end_of_tokens(text: bytearray, end: int) -> int:
    """Return the position behind the last token before ``end``, 0 if there is none."""
    while end > 0:
        first = max(end - 4096, 0)  # piece by piece: the whole would be copied
        if token_bytes := len(text[first:end].rstrip(_SPACE_BYTES)):
            return first + token_bytes
        end = first
    return 0


def _last_space(text: bytearray) -> int:
    """Return the position of the last white space, 0 if there is none."""
    for first in (max(0, len(text) - 4096), 0):
        place = max(text.rfind(space, first) for space in _SPACES)
        if place > 0:
            return place
    return 0


def _shown(token: bytes | bytearray) -> str:
    text = repr(bytes(token[:41]))[1:]
    return text if len(token) <= 40 else f"{repr(bytes(token[:37]))[1:-1]}...'"


def _told(token: bytes) -> str:
    """Return a token that is no number, and what it may be."""
    comment = " (comments, such as the header that np.savetxt writes, are not read)"
    return _shown(token) + (comment if token.startswith(b"#") else "")


def write_counts(counts: NDArray[np.integer[Any]]) -> bytes:
    """Return one line for each count."""
    if len(counts) == 0:
        return b""
    text = np.empty(len(counts) * (len(str(counts.max())) + 1), np.uint8)
    return text[: numbers.print_integers(counts.astype(np.int64), text)].tobytes()
