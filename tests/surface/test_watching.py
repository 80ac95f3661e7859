"""Watchers: who is told, in which order, and that dead ones do not pile up."""

from typing import Any

from terrain_physics.surface.watching import Watch, Watchers


class Heard:
    """A watcher that writes down what it is told."""

    def __init__(self):
        self.told = []

    def tell(self, number, what, *details):
        self.told.append((number, what, *details))


def test_each_number_is_told_once_in_the_order_of_coming():
    watchers, order = Watchers(), []

    class Named(Heard):
        def tell(self, number, what, *details):
            order.append((self, number, what, *details))

    one, other = Named(), Named()
    for watch, number in ((one, 3), (other, 1), (one, 2), (one, 3)):
        watchers.add(watch, number)
    watchers.tell("moved", 0.5)
    assert order == [(own, n, "moved", 0.5) for own, n in ((one, 3), (other, 1), (one, 2))]
    watchers.remove(one, 3)
    watchers.remove(other, 3)  # it is none
    order.clear()
    watchers.tell("gone")
    assert order == [(other, 1, "gone"), (one, 2, "gone")]


def test_dead_watchers_do_not_pile_up():
    watchers, living = Watchers(), Heard()
    watchers.add(living, 7)
    for number in range(10_000):
        watchers.add(Watch(), number)  # gone at once
    assert len(watchers._watching) < 50
    watchers.tell("edited")
    assert living.told == [(7, "edited")]


def test_ten_thousand_places_of_one_mesh_are_looked_at_rarely():
    looks = 0

    class Counted(dict[Any, None]):
        def __iter__(self):
            nonlocal looks
            looks += len(self)
            return super().__iter__()

    watchers, own = Watchers(), Heard()
    watchers._watching = Counted()
    for number in range(10_000):
        watchers.add(own, number)
    assert len(watchers._watching) == 10_000
    assert looks < 30_000
