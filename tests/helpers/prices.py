"""What test functions cost: the CPU time of a process and of its children, a sum for each function.

``tests/prices.json`` holds the sum of the default tier as it was last recorded, and the functions
that may cost more than `ALLOWED`, with the reason. A whole run of that tier lists the other such
functions, and those whose cost rose. Seconds are those of the machine of the record: a run finds
out how slow its own is by what the recorded functions cost. No run fails for its seconds, which a
busy machine may double.

``python -m pytest -n auto --record-prices`` writes the file anew; the reasons stay, and a test
fails until each new function has its own.
"""

import json
import os
import statistics
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FILE = Path(__file__).parent.parent / "prices.json"

ALLOWED = 0.5
"""Seconds of CPU time that a function may cost over all its parameters, without a reason."""


class Prices:
    """Seconds of CPU time by test function."""

    def __init__(self) -> None:
        self.spent: defaultdict[str, float] = defaultdict(float)
        self.of_others = 0.0
        """What processes spent that are no children of this one, and nobody has counted yet."""

    @contextmanager
    def paid_by(self, test: str) -> Iterator[None]:
        """Add what is spent in the block to the function of a test."""
        before = _spent()
        try:
            yield
        finally:
            self.spent[test.partition("[")[0]] += _spent() - before + self.of_others
            self.of_others = 0.0

    def add(self, spent: Mapping[str, float]) -> None:
        """Add what a worker has spent."""
        for function, seconds in spent.items():
            self.spent[function] += seconds

    def report(self, *, is_whole: bool) -> Iterator[str]:
        """Say what cost more than it did, and of the whole default tier what all cost."""
        known = recorded()
        slower = slowness(self.spent)
        for function, seconds in sorted(unrecorded(self.spent).items(), key=lambda one: -one[1]):
            yield f"{seconds:6.2f} s (not recorded)  {function}"
        for function, one in known["costly"].items():
            rise = self.spent.get(function, 0.0) / slower - one["seconds"]
            if rise > max(RISE * one["seconds"], LEAST_RISE):
                yield f"{one['seconds'] + rise:6.2f} s ({one['seconds']} recorded)  {function}"
        if is_whole:
            total = sum(self.spent.values())
            yield (
                f"{total:6.1f} s of CPU time in tests, {total / slower:.1f} s on the machine of "
                f"the record; {known['sum']:.1f} s when last recorded"
            )


RISE, LEAST_RISE = 0.1, 0.1
"""Rises of no more than this share, or of so few seconds as chance may make, are not told."""


def slowness(spent: Mapping[str, float]) -> float:
    """Return how many seconds here are one of the record: the median of what is in both."""
    known = recorded()["costly"].items()
    ratios = [spent[function] / one["seconds"] for function, one in known if spent.get(function)]
    return statistics.median(ratios) if ratios else 1.0


def unrecorded(spent: Mapping[str, float]) -> dict[str, float]:
    """Return the functions that cost more than is allowed, in seconds of the record."""
    known, slower = recorded()["costly"], slowness(spent)
    return {
        function: seconds / slower
        for function, seconds in spent.items()
        if seconds / slower > ALLOWED and function not in known
    }


def recorded() -> dict[str, Any]:
    """Return the sum, and by function the seconds and the reason of those that cost more."""
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def record(spent: Mapping[str, float]) -> None:
    """Write the file anew; a function that is new in it has no reason yet, and a test says so."""
    whys = {function: one["why"] for function, one in recorded()["costly"].items()}
    slower = slowness(spent)
    costly = {
        function: {"seconds": round(seconds / slower, 2), "why": whys.get(function, "")}
        for function, seconds in sorted(spent.items())
        if round(seconds / slower, 2) > ALLOWED
    }
    text = json.dumps({"sum": round(sum(spent.values()) / slower, 1), "costly": costly}, indent=2)
    FILE.write_text(text + "\n", encoding="utf-8", newline="\n")


def _spent() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
