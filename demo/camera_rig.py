"""The camera a player steers: behind the player, in its eyes, around a point, or free."""

from dataclasses import replace

from terrain_physics import HeightMap

from .picture.camera import clear_of, first_person, forward, moved, orbit, third_person, turned
from .picture.frame import Camera
from .scenery.inputs import Controls, Floats3
from .scenery.pick import ground_hit
from .scenery.player import EYES
from .scenery.scene import Scene

MODES = ("third person", "first person", "orbit", "free")
FLYING, FLYING_FAST = 12.0, 40.0  # m/s
NEAREST, FARTHEST = 2.0, 250.0
WALL_CLEARANCE = 0.3


class CameraRig:
    """Where the picture is taken from, and how that changes."""

    def __init__(self, scene: Scene) -> None:
        self.camera = scene.home
        self.go_home(scene)

    def go_home(self, scene: Scene) -> None:
        """Look as the scene begins."""
        self.camera = replace(scene.home)
        self.distance = scene.view_distance
        self.mode = "orbit" if scene.player is None else "third person"
        ahead = forward(scene.home)
        x, y, z = (scene.home.position[axis] + ahead[axis] * self.distance for axis in range(3))
        self._pivot: Floats3 = (x, y, z)

    def next_mode(self, scene: Scene) -> None:
        """Change to the next way of looking that this scene has."""
        modes = MODES if scene.player is not None else MODES[2:]
        self.mode = modes[(modes.index(self.mode) + 1) % len(modes)]

    @property
    def steers_player(self) -> bool:
        """Whether the keys of movement are the player's."""
        return self.mode != "free"

    def turn(self, left: float, upward: float) -> None:
        """Turn the look, in radians."""
        self.camera = turned(self.camera, left, upward)

    def look(self, yaw: float, pitch: float) -> None:
        """Look a given way."""
        self.camera = replace(self.camera, yaw=yaw, pitch=pitch)

    def zoom(self, notches: float) -> None:
        """Come nearer, or go away."""
        self.distance = min(max(self.distance * 0.88**notches, NEAREST), FARTHEST)

    def fly(self, seconds: float, wish: Controls, up: float, scene: Scene) -> None:
        """Move a camera that is not bound to a player."""
        if self.steers_player and scene.player is not None:
            return
        way = (FLYING_FAST if wish.run else FLYING) * seconds
        if self.mode == "free":
            self.camera = moved(self.camera, wish.right * way, up * way, wish.forward * way)
        else:
            level = replace(self.camera, position=self._pivot, pitch=0.0)
            self._pivot = moved(level, wish.right * way, up * way, wish.forward * way).position

    def placed(self, scene: Scene, alpha: float) -> Camera:
        """Return the camera of this frame; never under the ground."""
        target = self._target(scene, alpha)
        if self.mode == "third person":
            camera = third_person(self.camera, target, self._free_way(scene, target), scene.land)
        elif self.mode == "first person":
            camera = first_person(self.camera, target)
        elif self.mode == "orbit":
            camera = orbit(self.camera, target, self.distance)
        else:
            camera = self.camera
        self.camera = clear_of(camera, scene.land)
        return self.camera

    def _free_way(self, scene: Scene, target: Floats3) -> float:
        """Return how far behind the target the camera can be before a wall comes between."""
        if isinstance(scene.ground, HeightMap):
            return self.distance
        x, y, z = forward(self.camera)
        hit = ground_hit(target, (-x, -y, -z), scene.ground, mask=scene.opaque)
        if hit is None or hit.distance > self.distance + WALL_CLEARANCE:
            return self.distance
        return max(hit.distance - WALL_CLEARANCE, 0.5)

    def _target(self, scene: Scene, alpha: float) -> Floats3:
        if scene.player is None:
            return self._pivot
        body = scene.player.body
        x, y, z = (
            before + (now - before) * alpha
            for before, now in zip(body.before, body.place, strict=True)
        )
        return x, y + (EYES if self.mode == "first person" else 1.3), z
