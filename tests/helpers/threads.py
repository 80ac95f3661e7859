"""Work cut into small ranges, so that little of it is shared among threads."""

import pytest

from terrain_physics import _threads


def cut_finely(monkeypatch: pytest.MonkeyPatch, indices: int) -> None:
    """Let each range have so many indices, and any work be shared."""
    monkeypatch.setattr(_threads, "_step", lambda _count, _cost, _threads: indices)
    monkeypatch.setattr(_threads, "_SHORTEST_TASK", 0)
