"""Bytes that only grow, in memory or elsewhere: the edits of a land."""

import io
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import BinaryIO

Read = Callable[[int, int], bytes]
"""Returns bytes, at a place and of a length."""


class Log(ABC):
    """Bytes that grow at their end.

    Attributes
    ----------
    name : str
        For messages.
    size : int
        How many bytes there are.
    begun : object
        Another one once all bytes were replaced.
    """

    name: str
    size: int
    begun: object

    @abstractmethod
    def append(self, content: bytes) -> int:
        """Add bytes, all or none of them, and return where they begin."""

    @abstractmethod
    def room(self) -> float:
        """Return how many bytes more there is room for."""

    @abstractmethod
    def cut(self, size: int) -> None:
        """Remove all bytes from there on."""

    @abstractmethod
    def reading(self) -> AbstractContextManager[Read]:
        """Hold the bytes as they are now, and yield what reads them, at a place, of a length.

        Within it other threads may append and replace.
        """

    @abstractmethod
    def reader(self) -> BinaryIO:
        """Return a file to read all bytes from."""

    @abstractmethod
    def replace(self, content: bytes) -> None:
        """Put these bytes in place of all, whole or not at all."""

    @abstractmethod
    def sync(self) -> None:
        """Return when all bytes are on the disk."""

    @abstractmethod
    def close(self) -> None:
        """Let go of what is open."""


class MemoryLog(Log):
    """Bytes in memory."""

    name = "edits in memory"

    def __init__(self, content: bytes) -> None:
        self.replace(content)

    def append(self, content: bytes) -> int:
        place = self.size
        self._content += content
        self.size += len(content)
        return place

    def room(self) -> float:
        return math.inf

    def cut(self, size: int) -> None:
        del self._content[size:]
        self.size = size

    @contextmanager
    def reading(self) -> Iterator[Read]:
        content = self._content
        yield lambda place, length: bytes(content[place : place + length])

    def reader(self) -> BinaryIO:
        return io.BytesIO(self._content)

    def replace(self, content: bytes) -> None:
        new, size, begun = bytearray(content), len(content), object()
        self._content, self.size, self.begun = new, size, begun  # no handler comes in between

    def sync(self) -> None:
        pass

    def close(self) -> None:
        pass
