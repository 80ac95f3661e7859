"""What a ground holds at a moment, and what keeps it and puts it back."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, NoReturn, TypeVar
from weakref import ref

import numpy as np

from terrain_physics._kernels.types import Floats
from terrain_physics._locks import LongCalls, holding, in_order, lasting
from terrain_physics._public import public
from terrain_physics._support import checks
from terrain_physics.surface.changes import ChangeLog, KeptLog
from terrain_physics.surface.history import History, KeptEdit, Mark

_T = TypeVar("_T")

# No version was left yet.
NOTHING_LEFT = np.empty((0, 2))
NOTHING_LEFT.setflags(write=False)

# Stretches of versions that were left, as far as they are told apart: rollbacks on the way here.
_MOST_LEFT = 16


class KeptGround(NamedTuple):
    """What a `GroundState` holds.

    Attributes
    ----------
    keeper : Keeper
        Of its ground.
    version, contents, waits : int
        Of the ground; the number of its contents; and as `GroundState.waits`.
    mark : Mark
    rest : object
        What the ground holds beside the arrays of its storages.
    left : ndarray of float64, shape (k, 2)
        As of the keeper.
    log : KeptLog
    """

    keeper: "Keeper"
    version: int
    contents: int
    waits: int
    mark: Mark
    rest: Any
    left: Floats
    log: KeptLog

    @property
    def seen(self) -> tuple[Floats, int, Floats, int]:
        """By what characters wake there: changes, those forgotten, left, contents."""
        return *self.log, self.left, self.contents


@public
class GroundState:
    """What a ground holds at a moment: `Surface.state` returns it, and `Surface.restore` takes it.

    It belongs to its ground, and is gone with the process: to keep a ground in a file, save it.
    """

    __slots__ = ("__weakref__", "_kept")

    _kept: KeptGround

    def __init__(self) -> None:
        raise TypeError("GroundState must be made by the state() of a ground")

    @property
    def nbytes(self) -> int:
        """About how much memory it takes: its numbers, and the edits since the state before."""
        return int(getattr(self._kept.rest, "nbytes", 0)) + self._kept.mark.nbytes

    @property
    def waits(self) -> int:
        """How often characters had waited for a tile of a `TiledGround`; 0 of other grounds.

        Which tiles are loaded is no part of a state. Who has waited is elsewhere than with another
        choice of tiles, and by this number it shows.
        """
        return self._kept.waits

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "GroundState must stay in its process: pickle the ground, save it with ground.save, or "
            "send a World with WorldState.to_bytes"
        )

    def __copy__(self) -> "GroundState":
        return self

    def __deepcopy__(self, memo: Any) -> "GroundState":
        return self

    def __repr__(self) -> str:
        return f"<GroundState of version {self._kept.version}>"


def kept_of(state: GroundState) -> KeptGround:
    """Return what a state holds."""
    return state._kept  # noqa: SLF001 the one door


def keeper_of(ground: Any) -> Any:
    """Return what keeps the states of a ground."""
    return ground._kept()  # noqa: SLF001 the one door


class Keeper:
    """Keeps the states of one ground, and puts them back.

    Attributes
    ----------
    history : History
        The edits between states.
    left : ndarray of float64, shape (k, 2)
        The versions that did not lead to the present contents, as `wake_near` takes them.
    restored : tuple of (int, int)
        The version of the ground after the latest restore, and the number of its contents.
    """

    __slots__ = ("_latest", "_updating", "history", "left", "restored")

    def __init__(self) -> None:
        self.history, self.left = History(), NOTHING_LEFT
        self.restored = -1, -1
        self._latest: ref[GroundState] | None = None
        self._updating = LongCalls()

    def contents(self, version: int) -> int:
        """Return the number of the contents at a version, which comes back with them."""
        restored_at, contents = self.restored
        return contents if version == restored_at else version

    def state(self) -> GroundState:
        """Return the present state; the same one as long as nothing changes."""
        self.refuse_inside()
        return self._state()

    def _state(self) -> GroundState:
        with self._unchanged():
            version, waits = self._version(), self._waits()
            latest = None if self._latest is None else self._latest()
            if latest is not None:
                known = kept_of(latest)
                if (known.version, known.waits) == (version, waits):
                    return latest
            state = GroundState.__new__(GroundState)
            state._kept = KeptGround(  # noqa: SLF001 it is made here alone
                self, version, self.contents(version), waits,
                self.history.mark(), self._rest(), self.left, self._kept_log(),
            )  # fmt: skip
            self._latest = ref(state)
            return state

    def restore(self, state: Any) -> None:
        """Go back, or forward, to a state."""
        if not isinstance(state, GroundState):
            raise TypeError(f"state must be a GroundState, got {checks.shorten(state)}")
        kept = kept_of(state)
        if kept.keeper is not self:
            raise ValueError("state must be of this ground, got one of another ground")
        self.refuse_inside()
        if not self._is_at(kept):
            self._changing(lambda: self.history.storages_to(kept.mark), lambda: self._go_to(kept))

    def _is_at(self, kept: KeptGround) -> bool:
        """Tell whether nothing is to be put back; go on from how often characters had waited."""
        with self._unchanged():
            is_same = kept.version == self._version()
            if is_same:
                self._put_waits(kept.waits)
            return is_same

    def _go_to(self, kept: KeptGround) -> None:
        if self._is_at(kept):
            return
        before = kept_of(self._state())
        try:
            self._put_back(kept)
        except BaseException:  # such as Ctrl-C
            self._put_back(before)
            raise

    def _put_back(self, kept: KeptGround) -> None:
        self._refuse_way(self.history.edits_to(kept.mark))
        self.history.go_to(kept.mark)
        self._put_rest(kept.rest)
        self._put_waits(kept.waits)
        version = self._version()
        self._put_log(kept.log)  # what led here; a restore itself is no change
        self.left = _with_left(kept.left, kept.contents, version)
        self.restored = version, kept.contents

    def looking(
        self, state: GroundState, storages: list[Any], look: Callable[[list[Any], Any], _T]
    ) -> _T:
        """Look at what leads to a state, edits in order, and the rest of it.

        Nobody changes it meanwhile, nor edits these storages.
        """
        kept = kept_of(state)
        return self._changing(
            lambda: [*storages, *self.history.storages_to(kept.mark)],
            lambda: look(self.history.edits_to(kept.mark), kept.rest),
        )

    def imagined(self, storages: list[Any], change: Callable[[], None]) -> GroundState:
        """Return the state that a change of these storages leads to; all is as before then.

        The change may also lay out the parts of a ground anew.
        """
        self.refuse_inside()
        return self._changing(lambda: storages, lambda: self._imagined(change))

    def _imagined(self, change: Callable[[], None]) -> GroundState:
        before = kept_of(self._state())
        try:
            change()
            return self._state()
        finally:
            self._go_to(before)

    def _changing(self, find: Callable[[], list[Any]], change: Callable[[], _T]) -> _T:
        """Hold the locks of all storages that ``find`` gives, with those of all grounds."""

        def locks() -> list[AbstractContextManager[Any]]:
            return in_order({lock for own in find() for lock in _locks_of(own)})

        return holding(locks, lambda: self._change(change))

    # Differences between grounds

    def refuse_inside(self) -> None:
        """Refuse a state and a restore inside a change of the ground, or an update on it."""
        if self._updating.has_thread:
            raise RuntimeError(
                "state and restore must not be called inside an update on the ground, such as by a "
                "signal handler or the owner of a character"
            )

    def updating(self) -> AbstractContextManager[None]:
        """Refuse states and restores of this thread, which updates several things one by one."""
        return lasting(self._updating.add)

    def _change(self, make: Callable[[], _T]) -> _T:
        """Hold the lock within which one thread changes the ground."""
        with self._unchanged():
            return make()

    def _unchanged(self) -> AbstractContextManager[Any]:
        """Hold the lock within which nobody changes the ground."""
        raise NotImplementedError

    def _version(self) -> int:
        """Return the version of the ground."""
        raise NotImplementedError

    def _rest(self) -> Any:
        """Return what a ground holds beside the arrays of its storages."""
        return None

    def _put_rest(self, rest: Any) -> None:
        """Put it back."""

    def _refuse_way(self, edits: list[KeptEdit]) -> None:
        """Refuse edits that cannot be kept, before any of them is made."""

    def _waits(self) -> int:
        """Return how often characters have waited for ground that was not there yet."""
        return 0

    def _put_waits(self, waits: int) -> None:
        """Count on from there."""

    def wake_log(self, changes: ChangeLog) -> ChangeLog:
        """Return the changes by which characters wake, from those of the ground."""
        return changes

    def _kept_log(self) -> KeptLog:
        """Return the changes by which characters wake, as they are now."""
        raise NotImplementedError

    def _put_log(self, kept: KeptLog) -> None:
        """Put them back."""
        raise NotImplementedError


def _with_left(left: Floats, contents: int, version: int) -> Floats:
    """Return the versions that were left, when contents of an earlier version are put back."""
    rows = [(after, until) for after, until in left.tolist() if after < contents]
    rows.append((contents, version))
    if len(rows) > _MOST_LEFT:  # who has not looked for so long shall look again
        rows[:2] = [(-1.0, rows[1][1])]
    found = np.array(rows, dtype=np.float64)
    found.setflags(write=False)
    return found


def _locks_of(storage: Any) -> list[AbstractContextManager[Any]]:
    """Return the locks that an edit of a storage holds; a refit of a mesh holds none."""
    return getattr(storage, "locks", [])


class StorageKeeper(Keeper):
    """Keeps the states of a map or a mesh by itself.

    Its changes are also those of a ground that it is a part of. So what is put back is a log of its
    own, which follows them.
    """

    __slots__ = ("_log", "_seen", "_storage")

    def __init__(self, storage: Any, make: Callable[..., KeptEdit]) -> None:
        """Watch a storage; ``make`` returns what an edit is about to replace."""
        super().__init__()
        self._storage = storage
        self._log: ChangeLog | None = None
        self._seen = 0
        self.history.watch(storage, make)

    def _unchanged(self) -> AbstractContextManager[Any]:
        lock: AbstractContextManager[Any] = getattr(self._storage, "lock", self.history.lock)
        return lock

    def _version(self) -> int:
        return int(self._storage.version)

    def wake_log(self, changes: ChangeLog) -> ChangeLog:
        """Return the changes by which characters wake, from those of the ground."""
        if self._log is None:
            return changes
        with self._unchanged():
            self._seen = self._log.follow(self._version(), changes, self._seen)
            return self._log

    def _kept_log(self) -> KeptLog:
        return self.wake_log(self._storage.changes).kept()

    def _put_log(self, kept: KeptLog) -> None:
        if self._log is None:
            self._log = ChangeLog(0)
        self._log.put_back(kept)
        self._seen = self._version()
