"""GroupMember: one character of a group, which reads from and writes to the group."""

from terrain_physics._kernels.types import Floats
from terrain_physics._public import public
from terrain_physics.character.colliders import Collider
from terrain_physics.character.frame_time import FrameTime
from terrain_physics.character.group_data import GroupData, Key, seed_of
from terrain_physics.character.live import LiveVec3
from terrain_physics.character.material_rules import MaterialRules
from terrain_physics.character.placement import AnyGround
from terrain_physics.character.rows import VELOCITY, Rows
from terrain_physics.character.state import CellSizes
from terrain_physics.character.view import CharacterView


@public
class GroupMember(CharacterView):
    """One character of a `CharacterGroup`, from ``group[key]``.

    A value written to it, or to a component of its vectors, is written to the group at once. A
    vector shows the values at the time when it was read. Once the character is removed, everything
    but `key` and ``repr`` raises KeyError.

    Parameters
    ----------
    data : GroupData
        The data of the group.
    key : str or int
        The key of an existing character.

    Examples
    --------
    >>> from terrain_physics import CharacterGroup, HeightMap, SphereCollider
    >>> group = CharacterGroup(HeightMap([[0, 0], [0, 0]]), SphereCollider(0.5))
    >>> group.add("ada", (0.5, 2, 0.5))
    >>> ada = group["ada"]
    >>> ada.velocity.x, ada.slope_limit = 3, 0.7
    >>> result = group.update(1 / 60)
    >>> ada
    <GroupMember 'ada' at (0.550, 1.999, 0.500), in the air>
    """

    def __init__(self, data: GroupData, key: Key) -> None:
        self._data, self._key = data, key

    @property
    def key(self) -> Key:
        """The key it was added by."""
        return self._key

    @property
    def ground(self) -> AnyGround:
        """The ground of its group."""
        self._data.place(self._key)
        return self._data.ground

    @property
    def max_delta(self) -> float:
        """The longest time step one update of its group simulates, in s; set it on the group."""
        self._data.place(self._key)
        return self._data.time.max_delta

    @property
    def collider(self) -> Collider:
        """The body before it was placed; see `resize`."""
        return self._data.collider(self._key)

    def __repr__(self) -> str:
        where = self._where() if self._key in self._data else "removed"
        comma = "" if self._key in self._data else ","
        return f"<GroupMember {self._key!r}{comma} {where}>"

    # Differences from a character alone

    def _row(self) -> Rows:
        return self._data.row(self._key)

    def _state(self) -> Floats:
        return self._data.state_row(self._key)

    def _fit(self) -> CellSizes:
        return self._data.cell_sizes

    def _forget_fit(self) -> None:
        self._data.cell_sizes = None

    def _seed(self) -> int:
        return seed_of(self._data.seed, self._key)

    def _frame_time(self) -> FrameTime:
        return self._data.time

    def _live_position(self) -> LiveVec3:
        return LiveVec3.written_through(self.position64, self._put_position)

    def _live_velocity(self) -> LiveVec3:
        x, y, z = self._state()[VELOCITY].tolist()
        return LiveVec3.written_through((x, y, z), self._put_velocity)

    def _keep_collider(self, collider: Collider) -> None:
        self._data.keep_collider(self._key, collider)

    def _material_rules(self) -> MaterialRules:
        return self._data.material_rules(self._key)

    def _keep_material_rules(self, rules: MaterialRules) -> None:
        self._data.keep_material_rules(self._key, rules)
