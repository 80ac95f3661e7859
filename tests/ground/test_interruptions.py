"""Parts of a ground, and its maps, while signal handlers raise."""

import pytest

from tests.helpers.programs import run

_PARTS = """
import random, tempfile, threading
from pathlib import Path
import numpy as np
from terrain_physics import Ground, HeightMap, TriangleMesh
from tests.helpers.interruptions import interrupt
def tile(x):
    return HeightMap(np.zeros((9, 9)), origin=(x, 0, 0))
ground = Ground([tile(0), tile(8)])
box, bar = TriangleMesh.box((1, 1, 1)), TriangleMesh.box((1, 2, 1))
def change():
    mesh, more = ground.add(box, transform=(3, 1, 3)), ground.add(tile(16))
    ground.replace(mesh, bar)
    ground.move(mesh, (4, 1, 3), 0.1)
    ground.set_layers(more, 3)
    with_both = ground.state()
    ground.remove(mesh)
    ground.restore(with_both)
    ground.remove(mesh)
    ground.remove(more)
change()
path = Path(tempfile.mkdtemp()) / "level.ground"
rng = random.Random(1)
xs, zs = np.meshgrid(np.arange(0.0, 24.5, 0.5), np.arange(0.0, 8.5, 0.5))
for number in range(COUNT):
    interrupt(change, rng.uniform(1e-5, 4e-3), again=True)
    other = threading.Thread(target=ground.carve, args=((8, 4), 2, 0.01), daemon=True)
    other.start()
    other.join(600)
    assert not other.is_alive()
    ground.save(path)
    again = Ground.load(path)
    assert list(ground.parts) == list(again.parts)
    shown = ground.height_at(xs, zs)
    assert np.array_equal(shown, again.height_at(xs, zs), equal_nan=True)
    for key in list(ground.parts)[2:]:
        ground.remove(key)
    assert np.isnan(ground.height_at(20, 4)) and ground.height_at(3, 3) == 0.0
"""


@pytest.mark.alone
@pytest.mark.parametrize("interruptions", [40, pytest.param(3_000, marks=pytest.mark.full)])
def test_parts_are_there_or_not_after_an_interrupted_change(interruptions):
    run(_PARTS.replace("COUNT", str(interruptions)))


_EDITS = """
import random
import numpy as np
from terrain_physics import Ground, HeightMap, SphereCollider, TriangleMesh, Walkability
from tests.helpers.interruptions import interrupt
def tile(x):
    return HeightMap(np.zeros((9, 9)), origin=(x, 0, 0))
maps = tile(0), tile(8)
ground = Ground(maps)
box = ground.add(TriangleMesh.box((1, 0.2, 1)), transform=(4, 0.1, 4))
paths = Walkability(ground, SphereCollider(0.4), spacing=1.0)
rays = np.linspace((0, 0.4, 3), (1, 0.4, 5), 9), [[1.0, 0, 0]] * 9
calls = (
    lambda: ground.raise_((8, 4), 3, 0.8), lambda: ground.paint((8, 4), 2, 3),
    lambda: maps[0].holes.__setitem__((5, 5), True),
    lambda: (ground.remove(box), ground.raise_((3, 3), 2, 1)),
)
def look():
    paths.update()
    return [
        *(part.tobytes() for own in maps for part in (own.heights, own.materials[:], own.holes[:])),
        paths.heights.tobytes(), paths.edges.tobytes(), list(ground.parts),
        ground.raycast_many(*rays).distance.tobytes(),
    ]
start = ground.state()
before = look()
def known(call):
    call()
    found = look()
    ground.restore(start)
    assert look() == before != found
    return found
after = [known(call) for call in calls]
partly = known(lambda: ground.remove(box))
rng = random.Random(1)
for number in range(COUNT):
    chosen = number % len(calls)
    interrupt(calls[chosen], rng.uniform(1e-5, 2e-3))
    assert look() in (before, after[chosen], *[partly] * (chosen == 3)), chosen
    ground.restore(start)
assert look() == before
"""


@pytest.mark.alone
@pytest.mark.parametrize("interruptions", [40, pytest.param(10_000, marks=pytest.mark.full)])
def test_an_interrupted_edit_is_made_on_all_maps_or_on_none_and_is_told(interruptions):
    run(_EDITS.replace("COUNT", str(interruptions)))
