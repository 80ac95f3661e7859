"""Nothing runs beside a test of the lane `alone`; others run beside each other."""

import threading

import pytest

from tests.helpers import lanes

pytest.importorskip("fcntl")


@pytest.fixture(autouse=True)
def _own_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(lanes._FILE, raising=False)


def test_one_alone_waits_for_all_and_all_wait_for_it() -> None:
    lanes.begin()
    inside: list[str] = []
    seen: list[set[str]] = []

    def go(name: str, *, alone: bool) -> None:
        with lanes.lane(alone=alone):
            inside.append(name)
            seen.append(set(inside))
            inside.remove(name)

    names = [f"beside {k}" if k % 3 else f"alone {k}" for k in range(30)]
    tests = [
        threading.Thread(target=go, args=(name,), kwargs={"alone": name.startswith("alone")})
        for name in names
    ]
    with lanes.lane(alone=True):
        for test in tests:
            test.start()
        assert not seen
    for test in tests:
        test.join()
    lanes.end()
    assert len(seen) == len(names)
    assert all(len(some) == 1 for some in seen if any(name.startswith("alone") for name in some))


def test_two_that_are_not_alone_meet() -> None:
    lanes.begin()
    both = threading.Barrier(2)

    def go() -> None:
        with lanes.lane(alone=False):
            both.wait(timeout=600)  # only against a hang

    tests = [threading.Thread(target=go) for _ in range(2)]
    for test in tests:
        test.start()
    for test in tests:
        test.join()
    lanes.end()
    assert not both.broken


def test_without_workers_nothing_waits() -> None:
    with lanes.lane(alone=True), lanes.lane(alone=True):
        pass
