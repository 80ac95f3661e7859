"""Changes that are merged two by two, by an oracle that takes them one by one."""

import numpy as np
import pytest

from terrain_physics._kernels.surface.changes import (
    CHANGE_LOWER,
    CHANGE_SIZE,
    CHANGE_SPAN,
    CHANGE_UPPER,
    CHANGE_VERSION,
    put_merged,
)
from terrain_physics._kernels.types import read_only


def halved(rows):
    """Return one row for two: those of one version first, else those that follow each other."""
    versions = [row[CHANGE_VERSION] for row in rows]
    if len({*versions}) == len(versions):
        groups = [rows[k : k + 2] for k in range(0, len(rows), 2)]
    else:
        groups = []
        for version in dict.fromkeys(versions):
            own = [row for row in rows if row[CHANGE_VERSION] == version]
            groups += [own[k : k + 2] for k in range(0, len(own), 2)]
    merged = []
    for own in groups:
        row = own[-1].copy()
        for axis in range(3):
            row[CHANGE_LOWER + axis] = min(one[CHANGE_LOWER + axis] for one in own)
            row[CHANGE_UPPER + axis] = max(one[CHANGE_UPPER + axis] for one in own)
        merged.append(row)
    return merged


@pytest.mark.parametrize("versions", [1, 2, 7, 40, 600])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 17, 300])
def test_merged_changes_are_those_of_the_oracle(count, versions):
    draws = np.random.default_rng(count + 1000 * versions)
    rows = np.zeros((count, CHANGE_SIZE))
    rows[:, CHANGE_VERSION] = np.sort(draws.integers(0, versions, count))
    corners = np.sort(draws.normal(0, 9, (count, 2, 3)), axis=1)
    rows[:, CHANGE_LOWER:CHANGE_SPAN] = corners.reshape(count, 6)
    latest = rows[count // 2 :]
    spans = np.zeros((2, CHANGE_SIZE))
    spans[:, CHANGE_SPAN] = 9.0  # they are left out
    (given,) = read_only(np.insert(rows, [0, count], spans, axis=0))
    for most in (1, 2, 5, 64, 256):
        for kept in (0, len(latest)):
            room, wanted = np.full_like(given, np.nan), [*rows[: count - kept]]
            found = room[: put_merged(given, kept, most, room)]
            while len(wanted) > most:
                wanted = halved(wanted)
            wanted += [*rows[count - kept :]]
            assert found.tobytes() == np.array(wanted).reshape(-1, CHANGE_SIZE).tobytes()
