"""What a game sees of worlds that are put back, sent to others, or rewound and played again.

No state and no hash of one is among the bits: their forms change more often than what they hold.
"""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import terrain_physics as tp
from tests.helpers.draws import Draws
from tests.helpers.world_scenes import DEEDS, SIZE, Deed, Scene, add_thing, has_owner

Groups = dict[str, Callable[[], Iterator[Any]]]
Story = list[Sequence[Deed]]

FRAMES, RING = 30, 8
# Scenes of the three groups.
RESTORED, SENT, REWOUND = range(3), range(4, 6), range(6, 8)
# A peer must have the same characters and groups.
_OF_ONE_WORLD = DEEDS.index(add_thing)


class _Scene(Scene):
    """A scene whose slopes have the same cosines on every machine."""

    def _rules(self, draws: Draws) -> dict[str, Any]:
        return super()._rules(draws) | {"slope_limit": draws.one_of((0.5, 1.0))}


def _story(seed: int, *, is_shared: bool = False) -> Story:
    """Return what a game does in each frame, but for what peers have to do both."""
    draws = Draws(40_000 + seed)
    frames: Story = []
    for _ in range(FRAMES):
        deeds = [(draws.below(len(DEEDS)), draws.below(1 << 30)) for _ in range(draws.below(3))]
        frames.append([deed for deed in deeds if not (is_shared and deed[0] == _OF_ONE_WORLD)])
    return frames


def _play(scene: Scene, story: Story, frames: range) -> Iterator[Any]:
    """Play some frames of a story; give what came of each, and what is seen now and then."""
    for frame in frames:
        yield scene.step(frame, story[frame])
        if frame % 5 == 4:
            yield from _seen(scene)


def _seen(scene: Scene) -> Iterator[Any]:
    """Give all things of a world, and its ground."""
    world = scene.world
    yield list(world), world.clock.alpha, world.extra.hex()
    for thing in list[Any](world.values()):
        if isinstance(thing, tp.CharacterGroup):
            yield list(thing), thing.positions, thing.velocities
            for member in thing.values():
                yield from _character(member)
        else:
            yield from _character(thing)
            yield thing._owner.position() if has_owner(thing) else None
    yield from _ground(scene)


def _character(one: Any) -> Iterator[Any]:
    report = one.ground_report()
    yield one.position64, one.velocity, one.rotation.to_tuple(), report.state, report.normal
    yield report.point, report.triangle, report.material, report.air_time, one.mask, one.mass
    yield one.gravity_scale, one.snap_distance, one.leave, one.collider.offset64


def _ground(scene: Scene) -> Iterator[Any]:
    ground = scene.ground
    for key, part in ground.parts.items():
        yield key, ground.layers_of(key), ground.transform(key)
        if isinstance(part, tp.HeightMap):
            yield part.heights, part.holes[:], part.materials[:], part.thickness
        else:
            yield part.vertices
    x, y, z = scene.origin
    spread = 0.375 + 2.75 * np.arange(8.0)
    assert spread[-1] < SIZE
    yield ground.height_at(*np.meshgrid(x + spread, z + spread))
    down = np.column_stack([x + spread, np.full(8, y + 9.0), z + spread[::-1]])
    yield ground.raycast_many(down, [(0.25, -1.0, 0.125)], 30.0)


def _restored() -> Iterator[Any]:
    """Go back to states, forth again, and to a world from a file."""
    with tempfile.TemporaryDirectory() as folder:
        for seed in RESTORED:
            scene, story = _Scene(seed), _story(seed)
            yield from _play(scene, story, range(8))
            early = scene.world.state()
            yield from _play(scene, story, range(8, 18))
            late = scene.world.state()
            for state, frames in ((early, range(8, 14)), (late, range(18, 24))):
                scene.world.restore(state)
                yield from _seen(scene)
                yield from _play(scene, story, frames)
            file = Path(folder) / f"{seed}.world"
            scene.world.save(file)
            scene.go_on_with(tp.World.load(file))
            yield from _seen(scene)
            yield from _play(scene, story, range(24, 30))


def _sent() -> Iterator[Any]:
    """Send states to a world that began alike and went another way, and go on there."""
    for seed in SENT:
        here, there = _Scene(seed), _Scene(seed)
        story, other = (_story(own, is_shared=True) for own in (seed, seed + 500))
        yield from _play(here, other, range(8))
        yield from _play(there, story, range(8))
        early = there.world.state()
        yield from _play(there, story, range(8, 18))
        for state, frames in ((early, range(8, 14)), (there.world.state(), range(18, 23))):
            received = tp.WorldState.from_bytes(state.to_bytes(), here.world)
            here.world.restore(received)
            yield from _seen(here)
            yield from _play(here, story, frames)


def _rewound() -> Iterator[Any]:
    """Rewind by some frames now and then, and play them again, as before or otherwise."""
    for seed in REWOUND:
        scene, story, draws = _Scene(seed), _story(seed), Draws(50_000 + seed)
        rewind = tp.Rewind(scene.world, RING)
        for frame in range(FRAMES - 6):
            rewind.save(frame)
            yield scene.step(frame, story[frame])
            if frame % 8 != 7:
                continue
            first = frame - draws.whole(2, RING - 1)
            if draws.chance(0.5):
                story[first + 1] = [(draws.below(len(DEEDS)), draws.below(1 << 30))]
            came: list[str] = []
            rewind.replay(first, frame + 1, _step(scene, story, came))
            yield came
            yield from _seen(scene)
            for back in (draws.whole(first, frame + 1), frame):
                rewind.restore(back)
                yield from _seen(scene)
            yield scene.step(frame, story[frame])


def _step(scene: Scene, story: Story, came: list[str]) -> Callable[[int], None]:
    """Return what plays a frame again, and adds what comes of it to a list."""
    return lambda frame: came.append(scene.step(frame, story[frame]))


GROUPS: Groups = {
    "worlds restored": _restored,
    "worlds sent": _sent,
    "worlds rewound": _rewound,
}
