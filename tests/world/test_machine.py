"""Worlds that go back and forth beside a twin that never does: equal to the last bit."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import terrain_physics as tp
from tests.helpers.draws import Draws
from tests.helpers.examples import examples, rest_is_full
from tests.helpers.world_scenes import DEEDS, Deed, Owner, Scene, Seen, differences, has_owner

RING = 8

Place = tuple[int, int]
"""A branch of what happens, and the frame that comes next; branch 0 is that of the twin."""

Journey = Sequence[tuple[str, int]]


class Story(NamedTuple):
    """A scene, what is done in each frame, and how a world goes back and forth in these frames."""

    scene: int
    frames: Sequence[Sequence[Deed]]
    journey: Journey


def tell(story: Story) -> None:
    """Let a twin go through all frames, then a world by its own way; compare at each frame."""
    twin = Scene(story.scene)
    seen, came = [twin.seen()], []
    for frame, deeds in enumerate(story.frames):
        came.append(twin.step(frame, deeds, by_hand=True))
        seen.append(twin.seen())
    traveller = Traveller(story, seen, came)
    for kind, number in story.journey:
        getattr(traveller, kind)(number)
    traveller.come_home()


class Traveller:
    """A world that goes back and forth.

    Attributes
    ----------
    at : Place
    """

    def __init__(self, story: Story, seen: list[Seen], came: list[str]) -> None:
        self.scene, self.at = Scene(story.scene), (0, 0)
        self.branches = [list(story.frames)]
        self.rewind = tp.Rewind(self.scene.world, frames=RING)
        self.kept = [((0, 0), self.scene.world.state())]
        self._fresh: set[Place] = set()  # from a file, before the first update that takes time
        self._ring: dict[int, Place] = {}  # what the ring holds, by frames
        self._seen = {(0, frame): each for frame, each in enumerate(seen)}
        self._came = {(0, frame + 1): each for frame, each in enumerate(came)}
        self._look()

    def on(self, count: int) -> None:
        """Go on by some frames."""
        for _ in range(count):
            branch, frame = self.at
            if frame == len(self.branches[branch]):
                return
            self._save(frame)
            came = self.scene.step(frame, self.branches[branch][frame])
            self.at = branch, frame + 1
            if (branch, frame) in self._fresh and self.scene.seconds == 0.0:
                self._fresh.add(self.at)
            assert came == self._came.setdefault(self.at, came), self.at
            self._look()

    def keep(self, number: int) -> None:
        """Keep a state, for ever or until others need its room."""
        if len(self.kept) > 4:
            del self.kept[1 + number % 4]
        self.kept.append((self.at, self.scene.world.state()))

    def to(self, number: int) -> None:
        """Go to a state that was kept, back or forward."""
        self.at, state = self.kept[number % len(self.kept)]
        self.scene.world.restore(state)
        self._look()

    def back(self, number: int) -> None:
        """Go to a frame that is in the ring."""
        frames = sorted(self._ring)
        if frames:
            frame = frames[-1 - number % len(frames)]
            self.rewind.restore(frame)
            self.at = self._ring[frame]
            self._look()

    def astray(self, seed: int) -> None:
        """Go on otherwise than the twin."""
        self._branch_off(seed)
        self.on(1 + seed % 5)

    def again(self, number: int) -> None:
        """Play the frames since one in the ring again, with what has become known since."""
        branch, now = self.at
        frames = [frame for frame, (own, _) in self._ring.items() if own == branch and frame < now]
        whole = [frame for frame in frames if set(range(frame, now)) <= set(frames)]
        if not whole:
            return
        frame = whole[number % len(whole)]
        self.at = branch, frame
        if number % 2:
            self._branch_off(number)
        own = self.at[0]
        self.rewind.replay(frame, now, lambda again: self._replayed(own, again))
        for again in range(frame, now):
            self._note(again, (own, again))
        self.at = own, now
        self._look()

    def leave(self, number: int) -> None:
        """Go on with what was saved to a file, now and then; all that was kept stays behind."""
        if self.at[0] == 0 and number % 3 == 0:
            self.scene.go_on_with(_saved(self.scene.world))
            self.rewind, self._ring = tp.Rewind(self.scene.world, frames=RING), {}
            self.kept = [(self.at, self.scene.world.state())]
            # What characters have not seen yet of the ground may have been looked at already.
            self._fresh.add(self.at)
            self._look()

    def come_home(self) -> None:
        """Go to the end of what the twin went through."""
        if self.at[0] != 0:
            self.to(0)
        self.on(len(self.branches[0]))

    def _replayed(self, branch: int, frame: int) -> None:
        came = self.scene.step(frame, self.branches[branch][frame])
        assert came == self._came.setdefault((branch, frame + 1), came)

    def _branch_off(self, seed: int) -> None:
        branch, frame = self.at
        draws = Draws(seed)
        known = self.branches[branch]
        other = [_deeds(draws) for _ in known[frame:]]
        self.branches.append([*known[:frame], *other])
        self.at = len(self.branches) - 1, frame
        if (branch, frame) in self._fresh:
            self._fresh.add(self.at)
        for place in [
            (own, number) for own, number in self._seen if (own, number) == (branch, frame)
        ]:
            self._seen[self.at] = self._seen[place]

    def _save(self, frame: int) -> None:
        self.rewind.save(frame)
        self._note(frame, self.at)

    def _note(self, frame: int, place: Place) -> None:
        self._ring = {known: own for known, own in self._ring.items() if known < frame}
        self._ring[frame] = place
        while len(self._ring) > RING:
            del self._ring[min(self._ring)]
        assert sorted(self.rewind.frames) == sorted(self._ring) or self.at[1] < max(
            self.rewind.frames
        )

    def _look(self) -> None:
        """Compare with the twin, or with what was there when this place was seen first."""
        seen = self.scene.seen()
        expected = self._seen.setdefault(self.at, seen)
        if self.at in self._fresh:
            names = [name for name in seen if not name.endswith(": state")]
            seen, expected = ({name: each.get(name) for name in names} for each in (seen, expected))
        found = differences(expected, seen)
        assert not found, (self.at, found[:8])


def _saved(world: tp.World) -> tp.World:
    """Return a world from a file; its owners are new."""
    owners = {key: Owner((0, 0, 0)) for key, thing in world.items() if has_owner(thing)}
    with tempfile.TemporaryDirectory() as folder:
        world.save(Path(folder) / "world")
        return tp.World.load(Path(folder) / "world", owners=owners)


def _deeds(draws: Draws) -> list[Deed]:
    count = draws.one_of((0, 0, 0, 1, 1, 2))
    return [(draws.below(len(DEEDS)), draws.below(2**16)) for _ in range(count)]


def drawn_story(seed: int) -> Story:
    """Return a story of up to 60 frames."""
    draws = Draws(seed)
    frames = [_deeds(draws) for _ in range(draws.whole(8, 60))]
    journey: list[tuple[str, int]] = [("on", draws.whole(1, 20))]
    for _ in range(draws.whole(4, 24)):
        kind = draws.one_of(KINDS)
        journey.append((kind, draws.whole(1, 12 if kind == "on" else 1000)))
    return Story(draws.below(2**16), frames, journey)


KINDS = ("on", "on", "on", "keep", "keep", "to", "to", "back", "back", "astray", "again", "leave")
_DEED = st.tuples(st.integers(0, len(DEEDS) - 1), st.integers(0, 2**16 - 1))
_STORIES = st.builds(
    Story,
    st.integers(0, 2**16 - 1),
    st.lists(st.lists(_DEED, max_size=2), min_size=1, max_size=24),
    st.lists(st.tuples(st.sampled_from(KINDS[2:]), st.integers(1, 20)), max_size=12),
)


@examples(20)
@given(_STORIES)
def test_a_world_that_goes_back_and_forth_is_its_twin(story: Story) -> None:
    tell(story)


@pytest.mark.parametrize("seed", rest_is_full(range(12), 3))
def test_drawn_stories(seed: int) -> None:
    tell(drawn_story(seed))


@pytest.mark.long
@pytest.mark.parametrize("block", range(10))
def test_many_drawn_stories(block: int) -> None:
    for seed in range(1000 * (block + 1), 1000 * (block + 2)):
        try:
            tell(drawn_story(seed))
        except BaseException as error:
            error.add_note(f"seed {seed}: {_repeat(seed)}")
            raise


def _repeat(seed: int) -> str:
    return f"tests.world.test_machine.tell(tests.world.test_machine.drawn_story({seed}))"
