"""The way between kept states of a ground, when a swap on it fails or is interrupted."""

from typing import Any, Self

import pytest

from terrain_physics.surface.history import History


class Land:
    """A storage of one number whose writes can fail."""

    nbytes = 8

    def __init__(self, history: History, value: int) -> None:
        self.value, self.watchers, self.fails_at = value, self, set[int]()
        self.writes, self.history = 0, history
        history.watch(self, LandEdit)

    def add(self, watcher: object, number: int) -> None:
        assert watcher is self.history
        self.number = number

    def edit(self, value: int) -> None:
        self.history.prepare(self.number, "heights")
        self.value = value

    def write(self, value: int) -> None:
        self.writes += 1
        if self.writes in self.fails_at:
            self.value = -1  # half of it
            raise KeyboardInterrupt
        self.value = value


class LandEdit:
    """See `terrain_physics.surface.history.KeptEdit`."""

    nbytes = 8

    def __init__(self, storage: Land, what: str) -> None:
        assert what == "heights"
        self.storage, self.held = storage, storage.value

    def swap(self) -> None:
        value, self.held = self.held, self.storage.value
        self.storage.write(value)

    def swap_back(self, held: int) -> None:
        if self.held != held:
            self.storage.write(self.held)
            self.held = held

    def joined(self, later: list[Any]) -> Self:
        assert later
        return self


@pytest.mark.parametrize(
    ("first_fails", "second_fails"),
    [({1}, set()), ({2}, set()), (set(), {1}), ({1, 2}, set()), ({2, 3, 4}, {2}), ({2}, {1, 2, 3})],
)
def test_swaps_that_fail_are_undone_and_so_is_an_undoing_that_fails(first_fails, second_fails):
    history = History()
    lands = [Land(history, 1), Land(history, 2)]
    first = history.mark()
    lands[0].edit(10)
    lands[1].edit(20)
    lands[0].edit(100)
    second = history.mark()
    history.go_to(first)
    assert [land.value for land in lands] == [1, 2]
    lands[0].fails_at, lands[1].fails_at = first_fails, second_fails
    lands[0].writes = lands[1].writes = failed = 0
    while True:
        try:
            history.go_to(second)
        except KeyboardInterrupt:
            failed += 1
            continue
        break
    assert failed
    assert [land.value for land in lands] == [100, 20]
    history.go_to(first)
    assert [land.value for land in lands] == [1, 2]
    history.go_to(second)
    assert [land.value for land in lands] == [100, 20]
