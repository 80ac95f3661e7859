"""The history of a ground: the edits that lead from one kept state to another, and back.

Kept states form a tree. An edit on the way from one to the next is kept as what it replaced. To
swap it puts that back, and leaves in its place what was there: so the same edit leads both ways.
"""

from collections.abc import Callable
from threading import get_ident
from typing import Any, Protocol
from weakref import WeakSet, ref

from terrain_physics._locks import Rank, new_lock

# Edits of a storage are joined if they take so many times its memory: joined ones take 1.25 times.
_MOST_COPIES = 2.5


class KeptEdit(Protocol):
    """What an edit of a storage has replaced."""

    @property
    def storage(self) -> Any:
        """The storage that was edited."""

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""

    @property
    def held(self) -> Any:
        """What `swap` would put back."""

    def swap(self) -> None:
        """Put back what was there, and keep what is there now."""

    def swap_back(self, held: Any) -> None:
        """Undo a swap, whole or in part, of an edit that held this before; else do nothing."""

    def joined(self, later: "list[Any]") -> "KeptEdit":
        """Return this edit and later ones of the same storage, not to be swapped again, as one."""


class _Node:
    """The contents of a ground in a kept state.

    Attributes
    ----------
    parent : _Node or None
        The contents before.
    edits : list of KeptEdit
        Those that lead here from the parent, in order; they hold what the farther end has.
    depth : int
        More than that of the parent.
    """

    __slots__ = ("__weakref__", "_mark", "children", "depth", "edits", "parent")

    def __init__(self, parent: "_Node | None", edits: list[KeptEdit]) -> None:
        self.parent, self.edits = parent, edits
        self.children: WeakSet[_Node] = WeakSet()
        self._mark: ref[Mark] | None = None
        self.depth = 0
        if parent is not None:
            parent.children.add(self)
            self.depth = parent.depth + 1

    def mark(self) -> "Mark":
        """Return the mark of these contents."""
        known = self.marked
        if known is None:
            known = Mark(self)
            self._mark = ref(known)
        return known

    @property
    def marked(self) -> "Mark | None":
        """The mark, while anybody holds it."""
        return None if self._mark is None else self._mark()


class Mark:
    """Contents to go back to: edits are kept as long as a mark needs them."""

    __slots__ = ("__weakref__", "node")

    def __init__(self, node: _Node) -> None:
        self.node = node

    @property
    def nbytes(self) -> int:
        """How much memory the edits take that lead to this mark from the one before."""
        return sum(edit.nbytes for edit in self.node.edits)


class History:
    """The edits of storages between marks.

    Attributes
    ----------
    lock : context manager
        Held by whatever reads or changes the tree; the innermost of all.
    """

    __slots__ = (
        "__weakref__",
        "_kept",
        "_later",
        "_made",
        "_marks",
        "_now",
        "_open",
        "_swapper",
        "_watched",
        "lock",
    )

    def __init__(self) -> None:
        self.lock = new_lock(Rank.TREES)
        self._watched: dict[int, tuple[ref[Any], Callable[..., KeptEdit]]] = {}
        self._forget()
        self._swapper: int | None = None  # the thread that swaps edits now
        # What to put back of swaps that have begun: edits, what they held, and where this was.
        self._open: tuple[list[tuple[KeptEdit, Any]], _Node, list[KeptEdit]] | None = None

    def _forget(self) -> None:
        """Begin anew, with the present contents."""
        self._marks: WeakSet[Mark] = WeakSet()
        self._now, self._later = _Node(None, []), list[KeptEdit]()
        self._made, self._kept = 0, 0  # marks since then; how many were left of them when tidied

    def watch(self, storage: Any, make: Callable[..., KeptEdit]) -> None:
        """Keep edits of a storage; ``make(storage, ...)`` returns what one is about to replace."""
        number, watched = id(storage), self._watched
        if number not in watched:
            # A part that came and went lives as long as a state that has it.
            watched[number] = ref(storage, lambda _: watched.pop(number, None)), make
            storage.watchers.add(self, number)

    def tell(self, number: int, what: str, *details: Any) -> None:
        """See `Watcher`: an edit that was made is none of its concern."""

    def prepare(self, number: int, what: str, *details: Any) -> None:
        """Keep what an edit is about to replace."""
        with self.lock:
            if self._swapper == get_ident():
                return
            if not self._marks:
                self._forget()
                return
            known, make = self._watched[number]
            storage = known()
            self._later.append(make(storage, what, *details))
            self._join(self._later, storage)

    def _join(self, edits: list[KeptEdit], storage: Any) -> None:
        """Join the edits of a storage if they are larger than the storage itself."""
        own = [edit for edit in edits if edit.storage is storage]
        if len(own) > 1 and sum(edit.nbytes for edit in own) > _MOST_COPIES * storage.nbytes:
            place = edits.index(own[0])
            edits[:] = [edit for edit in edits if edit.storage is not storage]
            edits.insert(place, own[0].joined(own[1:]))

    def mark(self) -> Mark:
        """Mark the present contents. The caller sees to it that nobody edits meanwhile."""
        with self.lock:
            if self._later:
                self._now, self._later = _Node(self._now, self._later), []
                # Each walk costs as much as there are marks: so only after some of them have gone.
                if self._made - len(self._marks) > self._kept // 8:
                    self._tidy()
            mark = self._now.mark()
            if mark not in self._marks:
                self._marks.add(mark)
                self._made += 1
            return mark

    def _tidy(self) -> None:
        """Forget contents on the way here that nobody can go back to any more."""
        self._made = self._kept = len(self._marks)
        node = self._now
        while node.parent is not None:
            parent = node.parent
            if parent.marked is not None or len(parent.children) > 1:
                node = parent
            elif parent.parent is None:
                node.parent, node.edits = None, []
            else:
                node.edits = parent.edits + node.edits
                node.parent = parent.parent
                node.parent.children.add(node)
                for storage in {id(edit.storage): edit.storage for edit in node.edits}.values():
                    self._join(node.edits, storage)

    def storages_to(self, mark: Mark) -> list[Any]:
        """Return the storages that a way to a mark edits."""
        with self.lock:
            edits = self.edits_to(mark)
            return list({id(edit.storage): edit.storage for edit in edits}.values())

    def edits_to(self, mark: Mark) -> list[KeptEdit]:
        """Return the edits that `go_to` would swap, in that order."""
        with self.lock:
            leaving, entering = self._way(mark)
            return [
                *reversed(self._later),
                *(edit for node in leaving for edit in reversed(node.edits)),
                *(edit for node in entering for edit in node.edits),
            ]

    def _way(self, mark: Mark) -> tuple[list[_Node], list[_Node]]:
        """Return the nodes to leave backwards, and those to enter, in order."""
        leaving, entering = list[_Node](), list[_Node]()
        here: _Node | None = self._now
        there: _Node | None = mark.node
        while here is not None and there is not None and here is not there:
            is_deeper, is_less_deep = here.depth > there.depth, here.depth < there.depth
            if not is_less_deep:
                leaving.append(here)
                here = here.parent
            if not is_deeper:
                entering.append(there)
                there = there.parent
        return leaving, entering[::-1]

    def go_to(self, mark: Mark) -> None:
        """Swap all edits on the way to a mark, or none if that is interrupted, as by Ctrl-C.

        The caller holds the locks of the storages.
        """
        self._put_back()
        with self.lock:
            edits = self.edits_to(mark)
            self._open = [(edit, edit.held) for edit in edits], self._now, self._later
        try:
            with self.lock:
                self._now, self._later = mark.node, []
            self._swapper = get_ident()  # without the lock: other histories take theirs
            for edit in edits:
                edit.swap()
        except BaseException:
            self._put_back()
            raise
        finally:
            self._swapper = None
        self._open = None

    def _put_back(self) -> None:
        """Undo swaps that were interrupted, and whose undoing was, too."""
        if self._open is None:
            return
        edits, now, later = self._open
        self._swapper = get_ident()
        try:
            for edit, held in reversed(edits):
                edit.swap_back(held)
        finally:
            self._swapper = None
        self._now, self._later, self._open = now, later, None
