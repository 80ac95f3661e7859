"""Recording what a game does to characters and ground, and finding where a replay differs."""

import math
import os
from collections.abc import Callable
from typing import Any, Self

from terrain_physics._kernels.types import Floats
from terrain_physics._public import PublicType, hinted, public
from terrain_physics._support import checks
from terrain_physics._support.files import file_name, written_whole
from terrain_physics.character.frame_time import LONGEST_STEP, FrameTime
from terrain_physics.character.group_data import GroupState, Key
from terrain_physics.character.results import MoveResult
from terrain_physics.group.results import GroupResult
from terrain_physics.recording.file import (
    RecordedFrame,
    Start,
    frame_between,
    load_frames,
    save_frames,
)
from terrain_physics.recording.journal import Event, Journal
from terrain_physics.recording.playback import played, scene_after
from terrain_physics.recording.scenes import (
    Played,
    checked_scene,
    hashes_of,
    lived,
    looked_around,
    restores_of,
    settled,
)
from terrain_physics.recording.snapshots import Snapshot, Snapshots
from terrain_physics.recording.start import Scene
from terrain_physics.recording.waiting import Waits, tiles_without_file, watched
from terrain_physics.tiles.saving.reference import TilesReference
from terrain_physics.tiles.stored import StoredTiles
from terrain_physics.world.compare import Mismatch
from terrain_physics.world.ground.found import tiles_for

_MOST_SHOWN_UPDATES = 1_000_000
"""Limit of characters times frames: a notebook waits some twenty seconds for them."""


@public
class Recording(metaclass=PublicType):
    """Everything that a game does to its characters and their ground, and the hash of each state.

    Positions, velocities and rules that were set are kept as exact numbers; so are characters that
    came, left, were turned, resized or restored, and how long each update lasted. The recording
    notices changes of the ground by itself, in their order: edits, refits, and parts that are
    added, removed, moved, put on other layers or made conveyors or one-way. A replay makes them
    again, to a ground that holds what this one holds now; see `Ground.save`.

    Parameters
    ----------
    scene : World, CharacterGroup, CharacterMovement, or mapping of str or int to CharacterMovement
        The characters to record; a single one has the key 0, a mapping's are those there now, and a
        member of a group of a world has the keys of both. Call this recording's `update` instead of
        theirs. What a world's `restore` puts back is recorded like anything else that is done.

    Notes
    -----
    A change of the ground takes 64 bytes and what it led to: 104 for a move, 4 for each sample of
    the rectangle around an edit, 1 for each of its cells, 24 for each vertex of a mesh that is
    refitted, and all of a part that is added. At most 256 MiB are kept; then `update` refuses to go
    on. Grounds of at most 64 MiB are kept as they were at the start, for `make_scene`; of a
    `TiledGround` the edits, and where its file of tiles is. A change
    that another thread makes during an update counts as made after it. A recording hears of changes
    until it is dropped. To begin one, all of the ground is hashed, some ten milliseconds for each
    million samples.

    Examples
    --------
    >>> from terrain_physics import CharacterMovement, HeightMap, SphereCollider
    >>> def make_scene():
    ...     floor = HeightMap([[0, 0], [0, 0]])
    ...     return {"hero": CharacterMovement(floor, SphereCollider(0.5), position=(0, 2, 0))}
    >>> scene = make_scene()
    >>> recording = Recording(scene)
    >>> for frame in range(60):
    ...     scene["hero"].velocity.x = 3
    ...     if frame == 30:
    ...         scene["hero"].ground.carve((1, 0), radius=1, depth=0.5)
    ...     results = recording.update(1 / 60)
    >>> replay(recording, make_scene) is None
    True
    """

    def __init__(self, scene: Scene) -> None:
        known = checked_scene(scene)
        self._last, self._time = known.read(), FrameTime(LONGEST_STEP)
        journal = self._journal = Journal(known.grounds)
        saved = journal.saved
        begun = None if saved is None else known.recorded(self._last, saved)
        self._snapshots = Snapshots()
        self._saved_in, self._given_tiles = "recording", None
        self._without_file = tiles_without_file(known.grounds)
        self._things = known.things()
        self._restores: list[Floats] = []  # none yet: all characters look around at first
        self._hold(known, Start(hashes_of(self._last), journal.contents, begun), [])

    def __len__(self) -> int:
        return len(self._frames)

    def update(self, delta_time: float) -> GroupResult | MoveResult | dict[Key, Any]:
        """Record what the game set, then update all characters by one frame.

        Parameters
        ----------
        delta_time : float
            Seconds since the last update, >= 0; those beyond the scene's ``max_delta`` are left
            out, of a mapping those beyond the least of all.

        Returns
        -------
        GroupResult, MoveResult or dict of them
            As the update of the scene gives it; for a world or a mapping by key.

        Raises
        ------
        TypeError, ValueError
            As the scene's own update; if this recording was loaded; if a character is on another
            ground than at the start; and for more changes of the ground than are kept. Nothing is
            recorded then.
        """
        if self._scene is None:
            raise ValueError("recording must have a scene: one that was loaded cannot go on")
        seconds = lived(self._time, self._scene, delta_time)
        if self._frames:  # what an update has left that a signal handler ended
            self._journal.drop(self._frames[-1].events)
        events = self._events(self._scene)
        before, restores = self._settled(self._scene)
        result, waits = self._updated(self._scene, seconds)
        after = self._scene.read()
        things = self._scene.things()
        told = None if things == self._things else things
        hashes = hashes_of(after)
        frame = frame_between(self._last, before, events, seconds, hashes, told, waits)
        # Nothing is called in between, so no signal handler runs: the frame is recorded, or not.
        self._frames += [frame]
        self._last, self._things, self._restores = after, things, restores
        self._time.last = seconds
        self._journal.drop(events)
        if self._snapshots.is_due(seconds):
            self._take_snapshot(self._scene)
        return result

    def _settled(self, scene: Played) -> tuple[GroupState, list[Floats]]:
        """Return what the game has done to the characters, and the restores of grounds so far."""
        restores = restores_of(scene)
        are_same = [*map(id, restores)] == [*map(id, self._restores)]
        return settled(scene, self._last, scene.read(), all_anew=not are_same), restores

    @staticmethod
    def _updated(
        scene: Played, seconds: float
    ) -> tuple[GroupResult | MoveResult | dict[Key, Any], Waits | None]:
        """Return the result of an update, and who waited in it."""
        return watched(scene.grounds, lambda: scene.update(seconds))

    @property
    def waits(self) -> int:
        """How often a character waited for a tile of a `TiledGround`, in all frames together.

        Nobody waits with the policy "load". A replay lets the same characters wait in the same
        frames again, whatever is loaded there; a game that is played anew may go another way.
        """
        return sum(frame.waits.here for frame in self._frames if frame.waits is not None)

    def _take_snapshot(self, scene: Played) -> None:
        """Take a snapshot, unless another thread has changed the ground meanwhile."""
        motions = self._journal.motions()
        if motions is not None:
            rows = looked_around(scene, self._last)
            self._snapshots.add(Snapshot.of(len(self), rows, motions))

    def _events(self, scene: Played) -> list[Event]:
        """Return what has happened to the grounds since the last frame."""
        if not self._journal.is_of(scene.grounds):
            raise ValueError("ground must stay the one that it was when the recording began")
        return self._journal.events()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file, of a few bytes for each write and eight for each hash, and of all events.

        Parameters
        ----------
        path : path
            A NumPy archive is written there: a header in JSON with the version of the format, and
            arrays. An existing file is replaced at once, when all is written.

        Raises
        ------
        ValueError
            For a recording of more than 256 MiB, what happened to the ground included, or with more
            than 32 MiB of header, which `load` would refuse. Nothing is written then.
        """
        save_frames(path, self._start, self._frames, self._snapshots.taken)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, tiles: Any = None) -> Self:
        """Return a recording that was saved.

        Parameters
        ----------
        path : path
        tiles : path or GeneratedTiles, optional
            The file of tiles of a `TiledGround`, if it is elsewhere than when the recording began:
            else `make_scene` looks for it where it was, and beside the file of the recording.

        Returns
        -------
        Recording
            To be replayed; it cannot go on.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        ValueError
            If it is no recording, damaged, of another version, or larger unpacked than `save`
            writes; naming the file. It is measured before it is read.
        """
        recording = cls.__new__(cls)
        start, frames, taken = load_frames(path)
        recording._saved_in, recording._given_tiles = file_name(path), tiles  # noqa: SLF001
        recording._without_file = {}  # noqa: SLF001
        recording._hold(None, start, frames)  # noqa: SLF001
        recording._snapshots = Snapshots(taken)  # noqa: SLF001
        return recording

    def make_scene(self, frame: int = 0, *, first: Callable[[], Scene] | None = None) -> Scene:
        """Return what was recorded as it was before the first frame or later, made anew.

        Parameters
        ----------
        frame : int, default 0
            After how many updates. A recording has a snapshot each five seconds, so that at most
            five seconds are played again.
        first : callable, optional
            Makes the scene as it was before the first frame; default: from the recording.

        Returns
        -------
        World, CharacterGroup, CharacterMovement or dict of str or int to CharacterMovement
            As it was given, on grounds of its own, without owners: to be passed to `replay`, or to
            be looked at. A subclass comes back as the class of the library. A world has no `extra`.

        Raises
        ------
        TypeError, ValueError
            For a frame that is no number, or that the recording does not have. If the scene was not
            kept, and ``first`` is not given: grounds of more than 64 MiB are not. If it is damaged,
            in a file that somebody made. For a file of tiles that is not the one of then.
        FileNotFoundError
            If the file of tiles of a `TiledGround` is not there; the message names all places.

        Examples
        --------
        >>> from terrain_physics import CharacterMovement, HeightMap, SphereCollider
        >>> floor = HeightMap([[0, 0], [0, 0]])
        >>> hero = CharacterMovement(floor, SphereCollider(0.5), position=(0, 2, 0))
        >>> recording = Recording(hero)
        >>> hero.velocity.x = 3
        >>> result = recording.update(1 / 60)
        >>> recording.make_scene().position, replay(recording, recording.make_scene)
        (vec3( 0, 2, 0 ), None)
        >>> recording.make_scene(frame=1).position == hero.position
        True
        """
        number = checks.whole("frame", frame, 0, len(self))
        if first is None and self._start.scene is None:
            raise ValueError(
                "recording must hold its scene, got one of a ground above 64 MiB: give "
                f"{'first' if number else 'make_scene'}, which makes it anew"
            )
        if first is not None:
            return self._scene_after(number, first)
        tiles = self._tiles()
        try:
            if number == 0:
                return self._made(tiles)
            return self._scene_after(number, lambda: self._made(tiles))
        except MemoryError:
            raise
        except Exception as error:  # whatever damage leads to
            raise ValueError(f"recording must hold its scene, undamaged: {error}") from error

    def _tiles(self) -> list[StoredTiles | None]:
        """Return the tiles that the grounds of the scene stand on, found anew."""
        kept = self._start.scene
        if kept is None:
            raise ValueError("no scene is kept")

        def find(wanted: TilesReference | None) -> StoredTiles | None:
            given = self._given_tiles
            if wanted is not None and given is None:
                given = self._without_file.get(wanted.digest)
            return tiles_for(wanted, self._saved_in, given)

        return kept.tiles(find)

    def _made(self, tiles: list[StoredTiles | None]) -> Scene:
        """Return the scene that is kept, on these tiles."""
        kept = self._start.scene
        if kept is None:
            raise ValueError("no scene is kept")
        return kept.made(tiles)

    def _scene_after(self, number: int, first: Callable[[], Scene]) -> Scene:
        return scene_after(self._start, self._frames[:number], self._snapshots.taken, first)

    def save_html(
        self,
        path: str | os.PathLike[str],
        make_scene: Callable[[], Scene] | None = None,
        *,
        title: str | None = None,
    ) -> None:
        """Write the recording as a web page you can rotate, scrub and follow.

        It is one HTML file for a browser, which asks no host. The recording is replayed for it. The
        page shows bodies and ground at 20 moments a second, or at each frame where there are fewer;
        which bodies are grounded, slide or fly; what they touch and what is in their way. A lone
        body is followed from the start. ``#t=1.35`` after its address opens it at that second,
        and ``#t=1.35&body=hero`` follows a body there.

        Parameters
        ----------
        path : path
            An existing file is replaced only when the new one is complete.
        make_scene : callable, optional
            As of `replay`; default: this recording's own `make_scene`.
        title : str, optional
            Of the page; default: the name of the file, without its suffix.

        Raises
        ------
        TypeError, ValueError
            As `make_scene` and `replay`; if the replay goes another way than what was recorded; for
            more than 2^22 characters times moments shown, as many parts of the ground times
            moments, more than 2^21 triangles of the ground, those that edits bring included, more
            than 59 hours, and a page of more than 64 MiB. Nothing is written then.

        Notes
        -----
        Where a ground has too many triangles, maps are shown around the paths of the characters, 32
        cells farther than any of them comes; it is replayed up to three times then. Places are
        exact to 1/512 of the smallest half extent of a body, 0.5 mm for a person.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from terrain_physics import CharacterMovement, HeightMap, SphereCollider
        >>> floor = HeightMap([[0, 0], [0, 0]])
        >>> hero = CharacterMovement(floor, SphereCollider(0.5), position=(0, 2, 0))
        >>> recording = Recording(hero)
        >>> for frame in range(60):
        ...     result = recording.update(1 / 60)
        >>> with tempfile.TemporaryDirectory() as name:
        ...     recording.save_html(Path(name) / "fall.html")
        ...     (Path(name) / "fall.html").read_text(encoding="utf-8")[:15]
        '<!DOCTYPE html>'
        """
        from terrain_physics.viewer.page import title_of  # games do without

        name = file_name(path)
        if title is not None:
            checks.instance("title", title, str)
        with written_whole(name) as file:
            shown = title_of(name, title)
            file.write(self._page(make_scene or self.make_scene, shown).encode())

    def _page(self, make_scene: Callable[[], Scene], title: str) -> str:
        from terrain_physics.recording.sampling import sampled  # games do without
        from terrain_physics.viewer.page import page_of

        return page_of(sampled(lambda: played(self._start, self._frames, make_scene), title))

    def _repr_html_(self) -> str:
        """Return the page of `save_html` in a frame, for notebooks, or why there is none."""
        from terrain_physics.viewer.page import framed, refused

        updates = sum(len(frame.keys) for frame in self._frames)
        if updates > _MOST_SHOWN_UPDATES:
            return refused(
                f"{self!r} has {updates} updates of characters, and {_MOST_SHOWN_UPDATES} are "
                "replayed in a notebook: save_html shows more"
            )
        try:
            return framed(self._page(self.make_scene, "recording"))
        except ValueError as error:
            return refused(f"{self!r}: {error}")

    def __repr__(self) -> str:
        seconds = math.fsum(frame.delta_time for frame in self._frames)
        waits = f", {self.waits} waits" if self.waits else ""
        return f"<Recording: {len(self)} frames, {seconds:.2f} s{waits}>"

    def _hold(self, scene: Played | None, start: Start, frames: list[RecordedFrame]) -> None:
        self._scene, self._start, self._frames = scene, start, frames


@hinted
def replay(recording: Recording, make_scene: Callable[[], Scene]) -> Mismatch | None:
    """Play a recording to a new scene; return where that first goes another way.

    Parameters
    ----------
    recording : Recording
    make_scene : callable
        Makes the scene anew, with its ground, as both were when the recording began. Then the
        recorded changes of the ground are made to this one.

    Returns
    -------
    Mismatch or None
        Its frame is after how many updates, 0: before the first one; `mine` is the hash that was
        recorded, and `theirs` that of the replay; None where the character was not there. None:
        every character came to the recorded state in every frame, bit for bit.

    Raises
    ------
    TypeError, ValueError
        For what is no recording or no scene; for a ground that does not hold what the recorded one
        did, of which the message names the first such part; and for what no character and no
        ground takes, as in a file that somebody made.
    """
    checks.instance("recording", recording, Recording)
    moments = played(recording._start, recording._frames, make_scene)  # noqa: SLF001
    return next(filter(None, (moment.mismatch for moment in moments)), None)
