"""A thread that reads tiles ahead of their need, the most urgent first."""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable

from terrain_physics._locks import Rank, hold_at_fork, plain_lock
from terrain_physics.tiles.loading.edited_tiles import ReadTile

# After so many seconds a tile that could not be read is tried again.
RETRY_SECONDS = 1.0


class TileLoader:
    """Reads tiles on a thread of its own, and keeps a few of them until they are taken.

    The thread begins with the first tile that is wanted, and in a forked child anew. It ends with
    `close`, and holds nothing but this object.

    Parameters
    ----------
    read : callable
        Reads the tile of a number; it raises what cannot be read.
    end : callable
        Called once, when nothing is read any more.
    most : int
        How many tiles wait at most to be taken.
    """

    def __init__(self, read: Callable[[int], ReadTile], end: Callable[[], None], most: int) -> None:
        self._read, self._end, self._most = read, end, most
        self._lock = plain_lock()
        hold_at_fork(self._lock, Rank.FILES)
        self._changed = threading.Condition(self._lock)
        self._thread: threading.Thread | None = None
        self._is_closed = self._ends_alone = self._is_finished = False
        self._wanted: deque[int] = deque()
        self._urgent: dict[int, None] = {}  # a set in order
        self._reading: int | None = None
        self._is_unwanted = False  # the tile that is being read
        self._ready: dict[int, ReadTile] = {}
        self._failed: dict[int, float] = {}  # when each may be tried again
        self._errors: list[Exception] = []

    def want(self, numbers: Iterable[int]) -> None:
        """Read these tiles in this order, and no others but urgent ones."""
        with self._lock:
            listed = list(numbers)
            if not self._is_alive():
                self._reading = None  # by a thread that a fork has left behind
            begun = {*self._ready, self._reading}
            self._wanted = deque(number for number in listed if number not in begun)
            if len(begun) > 1 or self._reading is not None:
                wanted = {*listed, *self._urgent}
                self._is_unwanted = self._reading not in wanted
                for number in [own for own in self._ready if own not in wanted]:
                    del self._ready[number]
            self._go_on()

    def urge(self, numbers: Iterable[int]) -> None:
        """Read these tiles before all others."""
        with self._lock:
            self._urgent.update(dict.fromkeys(numbers))
            self._go_on()

    def take(self) -> ReadTile | None:
        """Return a tile that is ready, an urgent one first; None if there is none."""
        with self._lock:
            if not self._ready:
                return None
            number = next((own for own in self._urgent if own in self._ready), None)
            return self._taken(next(iter(self._ready)) if number is None else number)

    def take_this(self, number: int) -> ReadTile | None:
        """Return the tile of a number if it is ready; else let the caller read it."""
        with self._lock:
            if number in self._wanted:
                self._wanted.remove(number)
            return self._taken(number)

    def _taken(self, number: int) -> ReadTile | None:
        self._urgent.pop(number, None)
        self._changed.notify_all()  # there is room for another one
        return self._ready.pop(number, None)

    def error(self) -> Exception | None:
        """Return an error of the thread that was not told yet; None if there is none."""
        with self._lock:
            return self._errors.pop(0) if self._errors else None

    @property
    def is_busy(self) -> bool:
        """Whether a tile is being read, or waits to be read or taken."""
        with self._lock:
            is_reading = self._reading is not None and self._is_alive()
            return bool(is_reading or self._ready) or self._next() is not None

    def close(self, *, wait: bool = False) -> None:
        """Read no more, and call ``end``; ``wait`` for that, and raise what it raises."""
        with self._lock:
            thread = self._thread if self._is_alive() else None
            is_own = thread is threading.current_thread()
            self._is_closed, self._ends_alone = True, thread is not None and (is_own or not wait)
            self._changed.notify_all()
        if self._ends_alone:
            return
        if thread is not None:
            thread.join()
        self._finish()

    def _finish(self) -> None:
        """Call ``end``, once."""
        with self._lock:
            is_first, self._is_finished = not self._is_finished, True
        if is_first:
            self._end()

    def _is_alive(self) -> bool:
        """Tell whether there is a thread; a forked child has none."""
        return self._thread is not None and self._thread.is_alive()

    def _go_on(self) -> None:
        """Let the thread see what has changed; begin it if there is none. Holds the lock."""
        if self._is_closed or not (self._wanted or self._urgent):
            return
        if self._is_alive():
            self._changed.notify_all()
            return
        self._reading = None
        name = "terrain_physics tiles"
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def _work(self) -> None:
        """Read until it is closed."""
        while (number := self._begun()) is not None:
            try:
                found = self._read(number)
            except Exception as error:
                self._note(number, error)
            else:
                self._put(number, found)
        if self._ends_alone:
            self._finish()

    def _begun(self) -> int | None:
        """Return the tile to read next, once there is one; None if it is closed."""
        with self._lock:
            self._reading = None
            while not self._is_closed:
                number = self._next()
                if number is not None:
                    self._reading, self._is_unwanted = number, False
                    if number not in self._urgent:
                        self._wanted.popleft()
                    return number
                self._changed.wait()
        return None

    def _next(self) -> int | None:
        """Return the most urgent tile that may be read now; None if there is none."""
        now = time.monotonic()
        for number in self._urgent:
            if self._is_open(number, now):
                return number
        while self._wanted and len(self._ready) < self._most:
            if self._is_open(self._wanted[0], now):
                return self._wanted[0]
            self._wanted.popleft()
        return None

    def _is_open(self, number: int, now: float) -> bool:
        """Tell whether a tile is neither read nor ready, and has not failed a moment ago."""
        is_begun = number in self._ready or number == self._reading
        return not is_begun and self._failed.get(number, now) <= now

    def _put(self, number: int, found: ReadTile) -> None:
        with self._lock:
            self._failed.pop(number, None)
            if not self._is_unwanted:
                self._ready[number] = found

    def _note(self, number: int, error: Exception) -> None:
        """Keep an error to be told, the first time that the tile fails, and try it again later."""
        with self._lock:
            if number not in self._failed:
                self._errors.append(error)
            self._failed[number] = time.monotonic() + RETRY_SECONDS
            self._urgent.pop(number, None)
