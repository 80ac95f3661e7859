"""100 balls and 25 turned boxes fall on the land."""

from terrain_physics import BoxCollider, SphereCollider

from ..picture import colors
from ..picture.frame import Camera
from ..scenery.bodies import Body
from ..scenery.scene import Scene
from ..scenery.scenes import load_land, reference


class Reference(Scene):
    name = "reference"
    title = "Balls and boxes fall on the land"
    task = "A check, not a game: with the same seed it ends in the same state, bit for bit."
    takes_land = True
    view_distance = 40.0

    def build(self) -> None:
        self.land = load_land() if self.given_land is None else self.given_land
        movers = reference(self.land, seed=self.seed, drop_from=26.0)
        for index, mover in enumerate(movers[::20] if self.small else movers):
            ball = index < len(movers) * 4 // 5 if not self.small else index < 5
            collider = SphereCollider(1.0) if ball else BoxCollider((1.0, 1.0, 1.0))
            color = colors.BALLS[index * 7 % len(colors.BALLS)] if ball else colors.GOLD
            self.bodies.add(Body(mover, collider, color))
        self.sun = (-0.7, 0.75, 0.15)
        self.home = Camera((-20.0, 15.5, -23.0), yaw=-2.36, pitch=-0.21, field_of_view=0.75)

    def menu(self) -> list[str]:
        resting = sum(body.result.grounded for body in self.bodies)
        return [
            "A check, not a game: the same seed ends in the same state, bit for bit.",
            "Boxes rest on corners: bodies stand and slide, but nothing makes them turn.",
            f"{len(self.bodies)} bodies, {resting} grounded",
        ]
