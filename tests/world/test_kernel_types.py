"""Worlds that go back twice hand kernels the types of arrays that wheels have machine code for."""

from typing import Any

import pytest

from terrain_physics import Rewind, TiledGround
from tests.helpers import machine_code
from tests.helpers.draws import Draws
from tests.tiles.twins import LIFT, edit, one_map, play, tiles_in, world_on


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return tiles_in(tmp_path_factory.mktemp("tiles"))


def step(world: Any, frame: int) -> None:
    """Move the lift with all on it, refit it, and edit the land."""
    play(world, frame)
    edit(world.ground, Draws(frame))
    lift = world.ground.parts[LIFT]
    lift.refit(lift.vertices * 1.01)


@pytest.mark.parametrize("is_tiled", [False, True])
def test_no_kernel_gets_other_types_after_a_restore(file, is_tiled):
    before = machine_code.gaps()
    with machine_code.looked_at_each_call(), TiledGround.open(file) as land:
        world = world_on(land if is_tiled else one_map(land))
        rewind = Rewind(world)
        states = []
        for frame in range(2):
            rewind.save(frame)
            states.append(world.state())
            step(world, frame)
        for restore in (rewind.restore, lambda frame: world.restore(states[frame])):
            for frame in (1, 1, 0, 0):
                restore(frame)
            step(world, 0)
    assert machine_code.gaps() == before
