"""How long the graphics card takes for pictures, without waiting for it."""

from collections.abc import Iterator
from contextlib import contextmanager

import moderngl


class CardClock:
    """Times pictures in turn by two queries: each is asked two pictures later, when it is done."""

    def __init__(self, context: moderngl.Context) -> None:
        self._queries = [context.query(time=True) for _ in range(2)]
        self._pictures = 0
        self.seconds = 0.0

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Time what is drawn within."""
        query = self._queries[self._pictures % 2]
        if self._pictures >= 2:
            self.seconds = 1e-9 * query.elapsed
        with query:
            yield
        self._pictures += 1
