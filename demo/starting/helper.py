"""A process that compiles for the demo."""

import subprocess
import threading
from collections.abc import Callable
from contextlib import nullcontext

from terrain_physics._support.helper_process import start_helper

from .rehearsal import DONE

_PACKAGE = __name__.split(".", maxsplit=1)[0]


class Helper:
    """A process that does a part of the rehearsal; a thread hears what it tells.

    One that cannot be started has failed at once.
    """

    def __init__(
        self,
        part: str,
        name: str,
        kind: str,
        hear: Callable[[str], None],
        *,
        gives_way: bool = False,
    ) -> None:
        self.failure = ""
        self._hear, self._last = hear, "it ended"
        self._is_ended = False
        call = f"rehearsal.main({part!r}, {name!r}, {kind!r})"
        code = f"from {_PACKAGE}.starting import rehearsal; {call}"
        self._process: subprocess.Popen[str] | None = None
        self._thread: threading.Thread | None = None
        try:
            process = start_helper(code, gives_way=gives_way, errors=subprocess.STDOUT)
        except OSError as error:  # no room, or not allowed
            self.failure = str(error)
            return
        self._process = process
        self._thread = threading.Thread(
            target=self._listen, args=(process,), name=f"helper {part}", daemon=True
        )
        self._thread.start()

    def _listen(self, process: subprocess.Popen[str]) -> None:
        with process.stdout or nullcontext() as lines:
            for line in lines or ():
                self._last = line.strip() or self._last
                if self._last != DONE:
                    self._hear(self._last)
        if process.wait() and not self._is_ended:
            self.failure = self._last

    @property
    def is_working(self) -> bool:
        """Whether it has more to do."""
        return self._thread is not None and self._thread.is_alive()

    def wait(self) -> None:
        """Wait until it is done, or has failed."""
        if self._thread is not None:
            self._thread.join()

    def end(self) -> None:
        """Stop it, whatever it does."""
        self._is_ended = True
        if self._process is not None:
            self._process.kill()
            self._process.wait()
