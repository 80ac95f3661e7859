"""How far some work is, and how long it takes yet: from measured shares and its pace here."""

from collections.abc import Sequence
from typing import NamedTuple

# The pace of this computer counts like the measured one once so many seconds have been seen.
_TRUST = 5.0


class Milestone(NamedTuple):
    """Something that happens on the way, and the share of the work that is done then."""

    name: str
    share: float


class Course:
    """Work that passes milestones; times are seconds of one clock."""

    def __init__(self, seconds: float, milestones: Sequence[Milestone], now: float) -> None:
        self.seconds = seconds
        self._milestones = [*milestones, Milestone("", 1.0)]
        self._next = 0
        self._passed, self._passed_at = 0.0, now
        self._expected = self._spent = _TRUST
        self.done = False

    def reach(self, name: str, now: float) -> None:
        """Take down that a milestone is passed.

        The way to it tells the pace only if none was left out: work that was done before, perhaps
        at another start, takes no time.
        """
        for place in range(self._next, len(self._milestones) - 1):
            if self._milestones[place].name == name:
                share = self._milestones[place].share
                if place == self._next:
                    self._expected += (share - self._passed) * self.seconds
                    self._spent += now - self._passed_at
                self._next = place + 1
                self._passed, self._passed_at = share, now
                return

    def finish(self) -> None:
        """Take down that all is done."""
        self.done = True

    @property
    def _way(self) -> float:
        """The share from the last milestone to the next."""
        return self._milestones[self._next].share - self._passed

    def _pace(self, now: float) -> float:
        """Return how many seconds here are one where the shares were measured.

        It is at most so fast that the next milestone is passed now.
        """
        waited = now - self._passed_at
        slowest = (self._spent + waited) / (self._expected + self._way * self.seconds)
        return max(self._spent / self._expected, slowest)

    def share(self, now: float) -> float:
        """Return how much is done, 0 to 1; it stops short of the next milestone."""
        if self.done:
            return 1.0
        way = (now - self._passed_at) / (self._pace(now) * self.seconds)
        return self._passed + min(way, 0.95 * self._way)

    def left(self, now: float) -> float:
        """Return how many seconds it takes yet."""
        return (1.0 - self.share(now)) * self.seconds * self._pace(now)


def in_words(seconds: float) -> str:
    """Return a time that is left as people say it: no more exact than it is known."""
    if seconds < 8.0:
        return "a few seconds left"
    if seconds < 90.0:
        return f"about {5 * round(seconds / 5)} seconds left"
    minutes = seconds / 60.0
    return "about 2 minutes left" if minutes < 2.5 else f"about {round(minutes)} minutes left"
