"""The start of a recording: characters and grounds, from which both are made anew."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Self, get_args

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.character.state.layout import SAVED
from terrain_physics._kernels.types import UInt64s
from terrain_physics._support import checks
from terrain_physics._support.archives import Pieces
from terrain_physics.character.fixed_step import FixedStep
from terrain_physics.character.frame_time import MaxDelta
from terrain_physics.character.group_data import GroupState, Key, packed_rows
from terrain_physics.character.movement import CharacterMovement
from terrain_physics.character.placement import AnyGround
from terrain_physics.group.crowd import CrowdOptions
from terrain_physics.group.group import CharacterGroup
from terrain_physics.recording.worlds import checked_name, lay_out, put_things
from terrain_physics.surface.ground_files import SavedGround, SavedPart
from terrain_physics.tiles.saving.land_content import reference_in
from terrain_physics.tiles.saving.reference import TilesReference
from terrain_physics.tiles.stored import StoredTiles
from terrain_physics.world.ground.found import loaded_on
from terrain_physics.world.saved import Bodies, members_in, state_of_members, told_members
from terrain_physics.world.world import World, contents_of

Scene = CharacterGroup | CharacterMovement | World | Mapping[Key, CharacterMovement]

FindTiles = Callable[[TilesReference | None], StoredTiles | None]

Kind = Literal["group", "character", "characters", "world"]

_KINDS: dict[str, Kind] = {kind: kind for kind in get_args(Kind)}


class RecordedScene(NamedTuple):
    """A scene as it was before the first frame.

    Attributes
    ----------
    kind : {"group", "character", "characters", "world"}
    state : GroupState
        Of all characters.
    on : list of int
        Which of the grounds each one is on; of a group, the first for all.
    crowd : CrowdOptions or None
        Of a group that collides; None: others do not.
    grounds : list of SavedGround
    world : list, or None
        Of a world the step of its clock, the most steps in a frame, and its things.
    """

    kind: Kind
    state: GroupState
    on: list[int]
    crowd: CrowdOptions | None
    grounds: list[SavedGround]
    world: Any = None

    def tiles(self, find: FindTiles) -> list[StoredTiles | None]:
        """Return the tiles that each of the grounds stands on; None of others."""
        return [find(reference_in(saved)) for saved in self.grounds]

    def made(self, tiles: Sequence[StoredTiles | None]) -> Scene:
        """Return the scene anew, with grounds of its own, on the tiles that they stand on."""
        grounds = list(map(loaded_on, self.grounds, tiles))
        if self.kind == "world":
            return self._made_world(grounds[0])
        things: dict[Any, Any]
        if self.kind == "group":
            options: Any = {} if self.crowd is None else self.crowd._asdict()
            options |= {"seed": self.state.seed, "collide": self.crowd is not None}
            things = {None: CharacterGroup(grounds[0], **options)}
        else:
            own = zip(self.state.keys, self.on, self.state.colliders, strict=True)
            things = {key: CharacterMovement(grounds[on], body) for key, on, body in own}
        put_things(things.items(), self.state, (), things)
        return things if self.kind == "characters" else next(iter(things.values()))

    def _made_world(self, ground: AnyGround) -> World:
        seconds, max_steps, things = self.world
        world = World(ground, clock=FixedStep(seconds, max_steps=max_steps))
        made = lay_out(world, things, dict(zip(self.state.keys, self.state.colliders, strict=True)))
        for thing in world.values():
            thing.max_delta = MaxDelta.default
        put_things(contents_of(world).turn, self.state, (), made)
        return world

    def packed(self) -> tuple[dict[str, Any], UInt64s, NDArray[np.uint8]]:
        """Return it as JSON, the rows of the characters, and the bytes of the grounds."""
        bodies = Bodies()
        members = told_members(self.state, bodies)
        grounds, content = [], []
        for ground in self.grounds:
            about, arrays = zip(*(part.packed() for part in ground.parts), strict=True)
            sizes = [len(own) for own in arrays]
            grounds.append([ground.kind, ground.about, about, sizes])
            content += arrays
        about_scene = {
            "kind": self.kind,
            **members,
            "colliders": bodies.saved(),
            "on": self.on,
            "crowd": self.crowd,
            "world": self.world,
            "grounds": grounds,
        }
        content_bytes = np.frombuffer(b"".join(content), np.uint8)
        return about_scene, packed_rows(self.state).ravel(), content_bytes

    @classmethod
    def unpacked(
        cls, about: Any, keys: Sequence[Key], rows: UInt64s, content: NDArray[np.uint8]
    ) -> Self:
        """Return what `packed` gave; raise any error where its parts do not fit each other."""
        members = members_in(about, keys, Bodies(about["colliders"]), checked_name)
        state = state_of_members(members, rows.reshape(len(keys), SAVED.size))
        grounds, pieces = [], Pieces(content.tobytes())
        for kind, own, parts, sizes in about["grounds"]:
            saved = [
                SavedPart.unpacked(part, pieces.take(size))
                for part, size in zip(parts, sizes, strict=True)
            ]
            grounds.append(SavedGround(kind, saved, own))
        pieces.end()
        on = [checks.whole("on", number, 0, len(grounds) - 1) for number in about["on"]]
        crowd = None if about["crowd"] is None else CrowdOptions.checked(*about["crowd"])
        scene = cls(_KINDS[about["kind"]], state, on, crowd, grounds, about["world"])
        if len(on) != len(keys) or (scene.kind == "character" and len(keys) != 1):
            raise ValueError(len(on))
        if not grounds and scene.kind != "characters":  # a mapping may be empty
            raise ValueError(scene.kind)
        return scene
