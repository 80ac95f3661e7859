"""What characters have seen of their ground, without its count of changes.

Rows that are kept in files go on upon a ground that counts from elsewhere.
"""

from terrain_physics._kernels.character.sleep.wake import wake_near
from terrain_physics._kernels.character.state import layout as columns
from terrain_physics.character.rows import Rows
from terrain_physics.surface.queries import Queries


def look_around(rows: Rows, queries: Queries) -> None:
    """Wake characters (n, ...) near changes since they last looked, as their next update would.

    All of them have seen the ground then: it counts as their change 0.
    """
    now, log = queries.contents, queries.wake_log
    states, rules = rows.state.reshape(-1), rows.rules.reshape(-1)
    changes = log.rows, float(log.forgotten), queries.left
    wake_near(states, rules, *changes, float(now), 0, len(rows.state))
    rows.state[:, columns.GROUND_VERSION] = rows.state[:, columns.HITS] = 0.0


def have_seen(rows: Rows, queries: Queries) -> None:
    """Let characters (n, ...) that have seen a ground with the same contents know this one."""
    rows.state[:, columns.GROUND_VERSION] = queries.contents
