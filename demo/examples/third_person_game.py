"""A third-person game: what a jump, a camera and a fall need to feel right.

Coyote time and a jump buffer, a camera arm that no wall comes between, footsteps by material, fall
damage, gems that are taken by a ray, a tunnel to crouch through, a door, a lift, a bridge that
falls. Left alone, it plays itself through and ends; ``--play`` opens a window: WASD, mouse, Space,
Ctrl to crouch, E to take, Esc. ``--picture OUT.png`` draws a moment of it. Both need the extra
``demo``.
"""

import argparse
import math
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pyglm import glm

from terrain_physics import CapsuleCollider, CharacterMovement, FixedStep, Ray, Sphere, raycast

from ..picture import colors
from ..picture.camera import looking_at
from ..picture.frame import Balls, Camera, Frame, Label, Pills
from ..scenery.inputs import looking, strides
from ._drawing import SIZE, frame_of, import_pygame, save_frame
from ._third_person_level import DAIS, LIFT, TOP, TUNNEL, Level

STEP = 1 / 120
SPEED, CROUCHED_SPEED = 5.0, 2.5  # m/s
JUMP = 1.2  # m high
COYOTE = 0.12  # seconds after a ledge in which a jump still counts
BUFFER = 0.12  # seconds before landing in which a jump counts already
STRIDE = 0.9  # meters from one footstep to the next
HARMLESS, DAMAGE = 8.0, 12.0  # m/s of a landing that hurts nobody; health for each above
STANDING = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0))  # the position is at the feet
CROUCHING = CapsuleCollider(0.4, 1.0, offset=(0, 0.5, 0))
ARM, LENS = 5.5, 0.3  # how far the camera is behind, and the ball that it needs around it; meters
REACH, GEM = 3.0, 0.3  # meters
GEMS = [(6.0, 0.8, 1.5), (33.0, 0.8, 1.0), (48.0, 6.8, 1.2), (70.0, 0.8, -1.0)]
START, END = (2.0, 0.0, 0.0), 72.0
EAST = -math.pi / 2  # the yaw that looks along +X


@dataclass
class Wish:
    """What the player wants of one step."""

    ahead: float = 0.0  # -1 to 1, of the speed
    right: float = 0.0
    yaw: float = EAST
    pitch: float = -0.25
    jump: bool = False  # pressed in this step
    crouch: bool = False  # held
    take: bool = False


class Game:
    """The rules."""

    def __init__(self) -> None:
        self.level = Level()
        self.ground = self.level.ground
        self.body = STANDING
        self.hero = CharacterMovement(self.ground, self.body, position=START)
        self.gems = [Sphere(place, GEM) for place in GEMS]
        self.health, self.steps_heard = 100.0, Counter[str]()
        self.happened: list[str] = []  # for sounds, words on the screen and tests
        self.wish = Wish()
        self._since_pressed, self._since_footstep = math.inf, 0.0
        self._may_jump = False

    def update(self, wish: Wish) -> None:
        """Advance by one step."""
        self.wish = wish
        self.level.update(self.hero.position, self.hero.ground_report().part, STEP)
        self._crouch()
        self._walk()
        self._jump()
        result = self.hero.update(STEP)
        if result.just_landed:
            self._land()
        if result.grounded:
            self._hear_footsteps()
        if wish.take:
            self._take()

    @property
    def eye(self) -> glm.vec3:
        """Where the hero looks from, and the camera looks at."""
        return self.hero.position + glm.vec3(0, 0.85 * self.body.height, 0)

    def camera(self) -> Camera:
        """Return the camera at the end of an arm: a ball, swept back until it meets something."""
        yaw, pitch = self.wish.yaw, self.wish.pitch
        back = -ARM * glm.vec3(looking(yaw, pitch))
        hit = self.ground.sweep(Sphere(self.eye, LENS), back)
        x, y, z = self.eye + back * (hit.fraction if hit else 1)
        return Camera((x, y, z), yaw, pitch)

    def _crouch(self) -> None:
        """Crouch, and stand up when there is room: `resize` says whether."""
        wanted = CROUCHING if self.wish.crouch else STANDING
        if self.body != wanted and self.hero.resize(wanted):
            self.body = wanted
            self.happened.append("crouches" if self.wish.crouch else "stands up")

    def _walk(self) -> None:
        speed = CROUCHED_SPEED if self.body == CROUCHING else SPEED
        sin, cos = math.sin(self.wish.yaw), math.cos(self.wish.yaw)
        way = glm.vec2(
            self.wish.right * cos - self.wish.ahead * sin,
            -self.wish.right * sin - self.wish.ahead * cos,
        )
        way *= speed / max(glm.length(way), 1)
        self.hero.velocity.x, self.hero.velocity.z = way

    def _jump(self) -> None:
        """Jump if that was asked for a little early, or a little late."""
        self._since_pressed = 0.0 if self.wish.jump else self._since_pressed + STEP
        air_time = self.hero.ground_report().air_time
        if self.hero.grounded:
            self._may_jump = True
        if self._since_pressed < BUFFER and self._may_jump and air_time < COYOTE:
            kind = "late" if air_time else "early" if self._since_pressed else "in time"
            self.happened.append(f"jumps, pressed {kind}")
            self.hero.velocity.y = math.sqrt(2 * self.hero.gravity * JUMP)
            self._since_pressed, self._may_jump = math.inf, False

    def _land(self) -> None:
        speed = self.hero.ground_report().landing_speed
        if speed > HARMLESS:
            self.health -= DAMAGE * (speed - HARMLESS)
            self.happened.append(f"falls at {speed:.1f} m/s: health {self.health:.0f}")
        if self.health <= 0:
            self.health = 100.0
            self.hero.reset(START)
            self.happened.append("begins again")

    def _hear_footsteps(self) -> None:
        velocity = self.hero.velocity  # relative to what it stands on: on a lift nobody walks
        self._since_footstep += math.hypot(velocity.x, velocity.z) * STEP
        if self._since_footstep > STRIDE:
            self._since_footstep = 0.0
            heard = self.hero.ground_report().material_name or "something"  # without a name
            self.steps_heard[heard] += 1  # play a sound here

    def _take(self) -> None:
        """Take the gem that is looked at, unless something is before it."""
        ray = Ray(self.eye, looking(self.wish.yaw, self.wish.pitch))
        wall = self.ground.raycast(ray, REACH)
        for gem in self.gems:
            distance = raycast(ray, gem)
            if distance is not None and distance <= (wall.distance if wall else REACH):
                self.gems.remove(gem)
                self.happened.append("takes a gem")
                return


def autopilot(game: Game) -> Wish:
    """Return what somebody wants who knows the way, and presses keys a little late or early."""
    hero, (x, y, z) = game.hero, game.hero.position
    wish = Wish(yaw=EAST + 0.45, pitch=-0.3)
    near = [gem for gem in game.gems if glm.distance(gem.center, game.eye) < REACH - GEM]
    if near:
        dx, dy, dz = near[0].center - game.eye
        wish.yaw, wish.pitch = math.atan2(-dx, -dz), math.atan2(dy, math.hypot(dx, dz))
        wish.take = True

    is_waiting = hero.ground_report().part == game.level.lift and y < TOP and x > LIFT - 0.5
    if not is_waiting and x < END:
        wish.ahead, wish.right = strides(wish.yaw, 1.0, max(-1.0, min(-z, 1.0)))
    falls_on = hero.velocity.y < 0 and not hero.grounded
    wish.jump = falls_on and (DAIS[1] < x < DAIS[1] + 0.8 or (DAIS[2] < x < DAIS[3] and y < 1.35))
    wish.crouch = TUNNEL[0] - 1 < x < TUNNEL[1]  # too early to stand up: the tunnel says no
    return wish


def draw(game: Game, camera: Camera) -> Frame:
    """Return the picture of a moment."""
    frame = frame_of(game.ground, game.level.colors, camera)
    radius, height = game.body.radius, game.body.height
    x, y, z = game.hero.position64
    low, high = np.array([[x, y + radius, z]]), np.array([[x, y + height - radius, z]])
    frame.capsules.append(Pills(low, high, np.array([radius]), colors.rows(colors.ORANGE, 1)))
    count = len(game.gems)
    frame.balls.append(
        Balls(
            np.array([gem.center for gem in game.gems], dtype=np.float64).reshape(-1, 3),
            np.full(count, GEM),
            np.tile(np.eye(3), (count, 1, 1)),
            colors.rows(colors.TEAL, count),
        )
    )
    words = [f"health {game.health:.0f}", f"gems {len(GEMS) - count}", *game.happened[-1:]]
    frame.labels.append(Label(", ".join(words), (x, y + height + 0.4, z)))
    return frame


def play() -> None:
    """Open a window, and let the player play."""
    pygame = import_pygame()
    from ..renderers import open_renderer

    pygame.init()
    renderer = open_renderer("auto", SIZE, visible=True)
    pygame.event.set_grab(True)
    pygame.mouse.set_visible(False)
    game, clock, steps, wish = Game(), pygame.time.Clock(), FixedStep(STEP), Wish()
    while True:
        for event in pygame.event.get():
            if event.type == pygame.QUIT:
                return
            if event.type == pygame.MOUSEMOTION:
                wish.yaw -= 0.004 * event.rel[0]
                wish.pitch = max(-1.2, min(wish.pitch - 0.004 * event.rel[1], 0.8))
            if event.type == pygame.KEYDOWN:
                if event.key == pygame.K_ESCAPE:
                    return
                wish.jump |= event.key == pygame.K_SPACE
                wish.take |= event.key == pygame.K_e
        held = pygame.key.get_pressed()
        wish.ahead = held[pygame.K_w] - held[pygame.K_s]
        wish.right = held[pygame.K_d] - held[pygame.K_a]
        wish.crouch = held[pygame.K_LCTRL]
        for _ in steps.steps(clock.tick(60) / 1000):
            game.update(wish)
            wish.jump = wish.take = False  # each press counts once
        renderer.draw(draw(game, game.camera()))
        renderer.present()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--play", action="store_true", help="open a window")
    parser.add_argument("--picture", type=Path, metavar="OUT.png", help="draw the falling bridge")
    options = parser.parse_args()
    if options.play:
        play()
        return
    game, moment = Game(), None
    for _ in range(round(60 / STEP)):  # a minute at most
        game.update(autopilot(game))
        if game.hero.position.x > 58 and moment is None:
            moment = draw(game, looking_at((69, 11, 12), (52, 3, 0)))
        if game.hero.position.x >= END:
            break
    print(*game.happened, sep="\n")
    print("footsteps:", ", ".join(f"{n} on {name}" for name, n in game.steps_heard.items()))
    print(f"at {game.hero.position.x:.0f} m, health {game.health:.0f}, gems left {len(game.gems)}")
    if options.picture and moment:
        save_frame(moment, options.picture)


if __name__ == "__main__":
    main()
