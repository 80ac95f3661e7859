"""Calls that a signal handler ends by raising, as Ctrl-C does; for a program of its own."""

import _thread
import signal
import sys
import threading
import time
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any


class _Alarm:
    """What interrupts the main thread, once after it was set.

    By `signal.setitimer`, and where that is not, as on Windows, by a thread.
    """

    def __init__(self) -> None:
        self.is_set = False
        self._asked: SimpleQueue[float] = SimpleQueue()
        self._has_timers = hasattr(signal, "setitimer")
        if self._has_timers:
            signal.signal(signal.SIGALRM, self._stop)
        else:
            signal.signal(signal.SIGINT, self._stop)
            sys.setswitchinterval(1e-6)  # the thread would come too late
            threading.Thread(target=self._interrupt, daemon=True).start()

    def _stop(self, *_: Any) -> None:
        if self.is_set:
            self.is_set = False
            raise KeyboardInterrupt

    def _interrupt(self) -> None:
        while True:
            time.sleep(self._asked.get())
            _thread.interrupt_main()

    def set(self, seconds: float) -> None:
        self.is_set = True
        if self._has_timers:
            signal.setitimer(signal.ITIMER_REAL, seconds)
        else:
            self._asked.put(seconds)


_alarms: list[_Alarm] = []


def _go_on(alarm: _Alarm, call: Callable[[], object], *, again: bool) -> None:
    call()
    while alarm.is_set:
        if again:
            call()
        else:
            time.sleep(1e-4)  # looks for signals anew, should one have been overlooked


def interrupt(call: Callable[[], object], seconds: float, *, again: bool = False) -> None:
    """Make a call, and end it by KeyboardInterrupt after some seconds, should it last that long.

    It is made ``again`` and again until then.
    """
    if not _alarms:
        _alarms.append(_Alarm())
    (alarm,) = _alarms
    try:
        alarm.set(seconds)
        _go_on(alarm, call, again=again)
    except KeyboardInterrupt:
        pass
    alarm.is_set = False
