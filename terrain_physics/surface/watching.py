"""Who is told that a part has changed, so that nobody needs to ask thousands of parts."""

from weakref import WeakKeyDictionary


class Watch:
    """What has changed of the parts that someone watches.

    Attributes
    ----------
    changed : set of int
        Their numbers, until the watcher takes them out.
    """

    __slots__ = ("__weakref__", "changed")

    def __init__(self) -> None:
        self.changed: set[int] = set()


class Watchers:
    """The watchers of one part, and the number by which each knows it; those that are gone drop."""

    __slots__ = ("_numbers",)

    def __init__(self) -> None:
        self._numbers: WeakKeyDictionary[Watch, int] = WeakKeyDictionary()

    def add(self, watch: Watch, number: int) -> None:
        """Tell a watcher from now on."""
        self._numbers[watch] = number

    def remove(self, watch: Watch) -> None:
        """Tell a watcher no longer."""
        self._numbers.pop(watch, None)

    def tell(self) -> None:
        """Tell all that the part has changed."""
        for watch, number in list(self._numbers.items()):
            watch.changed.add(number)
