"""The start of a recording: characters and grounds, from which both are made anew."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, Self, get_args

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.character.state.layout import SAVED
from terrain_physics._kernels.types import UInt64s
from terrain_physics._support import checks
from terrain_physics.character.colliders import collider_from, described
from terrain_physics.character.group_data import GroupState, Key, packed_rows, state_of_rows
from terrain_physics.character.material_rules import saved_material_rules
from terrain_physics.character.movement import CharacterMovement
from terrain_physics.character.placement import AnyGround
from terrain_physics.character.rows import Rows
from terrain_physics.character.state import state_of
from terrain_physics.ground.ground import loaded_ground
from terrain_physics.group.group import CharacterGroup
from terrain_physics.surface.ground_files import SavedGround, SavedPart

Scene = CharacterGroup | CharacterMovement | Mapping[Key, CharacterMovement]

Kind = Literal["group", "character", "characters"]
Heads = Literal["slide", "stand"]

_KINDS: dict[str, Kind] = {kind: kind for kind in get_args(Kind)}
_HEADS: dict[str | None, Heads | None] = {None: None, "slide": "slide", "stand": "stand"}


class RecordedScene(NamedTuple):
    """A scene as it was before the first frame.

    Attributes
    ----------
    kind : {"group", "character", "characters"}
    state : GroupState
        Of all characters.
    on : list of int
        Which of the grounds each one is on; of a group, the first for all.
    heads : {"slide", "stand"} or None
        Of a group that collides; None: those of others do not.
    grounds : list of SavedGround
    """

    kind: Kind
    state: GroupState
    on: list[int]
    heads: Heads | None
    grounds: list[SavedGround]

    @classmethod
    def of(cls, scene: Scene, state: GroupState, grounds: list[SavedGround]) -> Self:
        """Return what is kept of a scene in a state, on grounds that were saved in its order."""
        if isinstance(scene, CharacterGroup):
            crowd = scene._crowd  # noqa: SLF001
            heads: Heads | None = (
                None if crowd is None else "stand" if crowd.stand_on_characters else "slide"
            )
            return cls("group", state, [0] * len(state.keys), heads, grounds)
        if isinstance(scene, CharacterMovement):
            return cls("character", state, [0], None, grounds)
        numbers: dict[int, int] = {}
        on = [numbers.setdefault(id(mover.ground), len(numbers)) for mover in scene.values()]
        return cls("characters", state, on, None, grounds)

    def made(self) -> Scene:
        """Return the scene anew, with grounds of its own."""
        grounds = [loaded_ground(saved) for saved in self.grounds]
        if self.kind == "group":
            collides = self.heads is not None
            group = CharacterGroup(grounds[0], collide=collides, heads=self.heads or "slide")
            group._data.take_over(self.state)  # noqa: SLF001
            return group
        movers = {
            key: self._made_one(number, grounds[self.on[number]])
            for number, key in enumerate(self.state.keys)
        }
        return movers[self.state.keys[0]] if self.kind == "character" else movers

    def _made_one(self, number: int, ground: AnyGround) -> CharacterMovement:
        key, collider = self.state.keys[number], self.state.colliders[number]
        mover = CharacterMovement(ground, collider)
        row = Rows.unpacked(packed_rows(self.state)[number : number + 1]).at(0)
        rules = dict(self.state.material_rules).get(key, ())
        mover._take_over(state_of(row, collider, rules))  # noqa: SLF001
        return mover

    def packed(self) -> tuple[dict[str, Any], UInt64s, NDArray[np.uint8]]:
        """Return it as JSON, the rows of the characters, and the bytes of the grounds."""
        numbers: dict[Any, int] = {}
        bodies = [numbers.setdefault(body, len(numbers)) for body in self.state.colliders]
        grounds, content = [], []
        for ground in self.grounds:
            about, arrays = zip(*(part.packed() for part in ground.parts), strict=True)
            sizes = [len(own) for own in arrays]
            grounds.append([ground.kind, ground.about, about, sizes])
            content += arrays
        about_scene = {
            "kind": self.kind,
            "seed": self.state.seed,
            "colliders": [described(body) for body in numbers],
            "bodies": bodies,
            "material_rules": self.state.material_rules,
            "on": self.on,
            "heads": self.heads,
            "grounds": grounds,
        }
        content_bytes = np.frombuffer(b"".join(content), np.uint8)
        return about_scene, packed_rows(self.state).ravel(), content_bytes

    @classmethod
    def unpacked(
        cls, about: Any, keys: Sequence[Key], rows: UInt64s, content: NDArray[np.uint8]
    ) -> Self:
        """Return what `packed` gave; raise any error where its parts do not fit each other."""
        known = [collider_from(parts) for parts in about["colliders"]]
        bodies = [known[checks.whole("body", k, 0, len(known) - 1)] for k in about["bodies"]]
        colliders = dict(zip(keys, bodies, strict=True))
        rules = {key: saved_material_rules(own) for key, own in about["material_rules"]}
        seed = checks.whole("seed", about["seed"], 0, 2**64 - 1)
        state = state_of_rows(seed, colliders, rules, rows.reshape(len(keys), SAVED.size))
        grounds, end = [], 0
        for kind, own, parts, sizes in about["grounds"]:
            saved = []
            for part, size in zip(parts, sizes, strict=True):
                first, end = end, end + checks.whole("size", size, 0, len(content) - end)
                saved.append(SavedPart.unpacked(part, content[first:end].tobytes()))
            grounds.append(SavedGround(kind, saved, own))
        if end != len(content):
            raise ValueError(end)
        on = [checks.whole("on", number, 0, len(grounds) - 1) for number in about["on"]]
        scene = cls(_KINDS[about["kind"]], state, on, _HEADS[about["heads"]], grounds)
        if len(on) != len(keys) or (scene.kind == "character" and len(keys) != 1):
            raise ValueError(len(on))
        if not grounds and scene.kind != "characters":  # a mapping may be empty
            raise ValueError(scene.kind)
        return scene
