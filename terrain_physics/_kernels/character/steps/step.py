"""One step of an update: along the ground or through the air."""

from terrain_physics._kernels._intrinsics import replaced
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.contacts.scene import Scene
from terrain_physics._kernels.character.flight.flight import fly, follow, land, strays, take_aim
from terrain_physics._kernels.character.flight.time_of_impact import stop_at_impact
from terrain_physics._kernels.character.reports.hits import HitLog
from terrain_physics._kernels.character.state.motion import Motion, MovementRules
from terrain_physics._kernels.character.state.substeps import Pace
from terrain_physics._kernels.character.walk.step import walk_step
from terrain_physics._kernels.ground.table import GroundTable


@kernel(noinline=True)
def fly_step(
    movement: MovementRules,
    motion: Motion,
    pace: Pace,
    scene: Scene,
    ground: GroundTable,
    log: HitLog,
) -> tuple[Scene, Motion, Pace]:
    """Move a body by one step through the air. Returns the scene with its contacts then.

    Who is stuck on a long way out of the ground does nothing else in this update.
    """
    aim = take_aim(movement, motion, pace, scene)
    has_impact, stopped, rest = stop_at_impact(movement, motion, pace, scene, aim, log)
    if has_impact:
        return scene, stopped, rest
    flight = fly(movement, motion, scene, aim)
    if strays(flight, pace):
        scene, flight = follow(movement, motion, pace, scene, ground, flight)
        if flight.stuck and flight.origin != motion.origin:
            pace = replaced(pace, steps=0)
    return scene, land(movement, motion, pace, scene, flight, log), pace


@kernel(inline=True)
def take_step(
    movement: MovementRules,
    motion: Motion,
    pace: Pace,
    scene: Scene,
    ground: GroundTable,
    log: HitLog,
) -> tuple[Scene, Motion, Pace]:
    """Move a body by one step. Returns the scene with its contacts then, motion and pace."""
    if motion.footing.walking:  # the most common step, which needs no other scene
        motion, pace = walk_step(movement, motion, pace, scene, ground, log)
        return scene, motion, pace
    return fly_step(movement, motion, pace, scene, ground, log)
