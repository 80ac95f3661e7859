"""What characters have seen of their ground, without its count of changes.

Rows that are kept in files go on upon a ground that counts from elsewhere.
"""

import numpy as np

from terrain_physics._kernels.character.sleep.wake import wake_near
from terrain_physics._kernels.character.state import layout as columns
from terrain_physics._kernels.types import Floats
from terrain_physics.character.rows import Rows
from terrain_physics.surface.queries import Queries


def look_around(rows: Rows, queries: Queries) -> None:
    """Wake characters (n, ...) near changes since they last looked, as their next update would.

    All of them have seen the ground then: it counts as their change 0.
    """
    now, log = queries.contents, queries.wake_log
    look_around_then(rows, log.rows, log.forgotten, queries.left, now)


def look_around_then(
    rows: Rows, changes: Floats, forgotten: int, left: Floats, contents: int
) -> None:
    """Do the same on the ground in a state, see `KeptGround.seen`."""
    states, rules = rows.state.reshape(-1), rows.rules.reshape(-1)
    known = changes, float(forgotten), left, float(contents)
    wake_near(states, rules, *known, 0, len(rows.state))
    rows.state[:, columns.GROUND_VERSION] = rows.state[:, columns.HITS] = 0.0


def have_seen(rows: Rows, queries: Queries) -> None:
    """Let characters (n, ...) that have seen a ground with the same contents know this one."""
    rows.state[:, columns.GROUND_VERSION] = queries.contents


def see_again(rows: Rows, contents: int, queries: Queries) -> None:
    """Let characters (..., STATE_SIZE) that have seen some contents know a copy of the ground."""
    seen = rows.state[..., columns.GROUND_VERSION]
    rows.state[..., columns.GROUND_VERSION] = np.where(seen == contents, queries.contents, seen)
