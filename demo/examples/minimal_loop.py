"""One character walks over a height map for ten seconds; it prints what it did."""

import math

from pyglm import glm

from terrain_physics import CharacterMovement, SphereCollider

from ..scenery.scenes import load_land

FRAME = 1 / 60


def main() -> None:
    land = load_land()
    start = glm.vec3(40, land.height_at(40, 40) + 3, 40)
    walker = CharacterMovement(
        land, SphereCollider(0.5), position=start, slope_limit=math.radians(45)
    )
    on_the_ground, walked = 0, 0.0
    for frame in range(600):
        heading = 0.004 * frame  # a wide curve
        walker.velocity.x = 4 * math.cos(heading)
        walker.velocity.z = 4 * math.sin(heading)
        before = glm.vec3(walker.position)
        result = walker.update(FRAME)
        on_the_ground += result.grounded
        walked += glm.distance(before, walker.position)
        if frame % 120 == 119:
            x, y, z = walker.position
            place = "in the air"
            if result.ground_normal is not None:
                place = (
                    f"on a slope of {math.degrees(math.acos(result.ground_normal.y)):.0f} degrees"
                )
            print(f"{(frame + 1) * FRAME:4.1f} s  at ({x:.1f}, {y:.1f}, {z:.1f}), {place}")
    print(f"walked {walked:.1f} m, {on_the_ground} of 600 frames on the ground")


if __name__ == "__main__":
    main()
