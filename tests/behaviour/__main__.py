"""Print the table of behaviour: ``python -m tests.behaviour [--smoke | --pictures] [NAME ...]``."""

import argparse
import math
import sys
import textwrap

from terrain_physics import HeightMap
from tests.behaviour import (
    blocks,
    cliffs,
    crowds,
    doors,
    fuzz,
    gullies,
    hard,
    lands,
    levels,
    mesh_levels,
    one_ways,
    peer,
    places,
    rides,
    rough,
    slopes,
    stairs,
    stops,
    throngs,
    walks,
    writes,
)
from tests.behaviour.drive import COLLIDERS, RESOLVERS, worst
from tests.behaviour.test_blocks import LEAST_SPEED, MOST_DEPTH, MOST_FALL, MOST_WAY
from tests.behaviour.test_doors import is_let_go, is_safe
from tests.behaviour.test_flights import CASES
from tests.behaviour.test_one_ways import drops, is_let_through
from tests.behaviour.test_rides import BELTS, GENTLE, RIDDEN, roundabout
from tests.behaviour.test_stairs import BODIES
from tests.character.test_saved_walks import walk_twice

PAIRS = [(shape, resolver) for shape in COLLIDERS for resolver in RESOLVERS]


def row(scenario, wanted, measured, by_peer=None):
    """Print one row; ``by_peer`` is called where the peer is installed."""
    other = "not measured"
    if by_peer is not None:
        other = "not run" if peer.rapier3d is None else by_peer()
    lines = [f"\n{scenario}"]
    for name, text in (("wanted", wanted), ("measured", measured), ("rapier3d", other)):
        lines.append(textwrap.fill(f"  {name:<9}{text}", 110, subsequent_indent=" " * 11))
    sys.stdout.write("\n".join(lines) + "\n")


def _line(walk):
    return (
        f"speed >= {walk.slowest:.4%}, ripple {walk.ripple:.1e} m/s, side {walk.side:.1e} m, "
        f"height {walk.height:.1e} m, in air {walk.in_air}"
    )


def show_walks(*, smoke):
    count, seconds = (4, 2.0) if smoke else (16, 20.0)
    wanted = "speed >= 99.99 %, side and height < 1e-6 m, always grounded"
    found = [walks.flat_walk(*pair, count=count, seconds=seconds) for pair in PAIRS]
    row(
        f"flat cells, {count} directions, {seconds:.0f} s, 3 shapes, 2 resolvers",
        wanted,
        _line(worst(found)),
        lambda: peer.walk(0.0, count=count, seconds=min(seconds, 8.0)),
    )
    for name, surface in (("horizontal", False), ("surface", True)):
        found = [
            walks.tilted_walk(*pair, angles, surface=surface, count=count, seconds=seconds)
            for pair in PAIRS
            for angles in ((walks.TWENTY, 0.0), (walks.EXACT, 0.25))
        ]
        row(
            f"the same on cells tilted by 20 degrees and more, slope_speed={name!r}",
            wanted + ", ripple < 1e-4 m/s",
            _line(worst(found)),
            lambda: peer.walk(walks.TWENTY, count=count, seconds=min(seconds, 8.0)),
        )
    floors = [make(seed) for seed in range(1 if smoke else 4) for make in _FLOORS]
    found = [
        walks.mesh_walk(floor, *pair, count=count, seconds=min(seconds, 4.0))
        for pair in PAIRS
        for floor in floors
    ]
    row("flat meshes of random triangles", wanted, _line(worst(found)))
    apart, noise = 0.0, 0.0
    for shape in COLLIDERS:
        near = walks.path_from(0.0, shape)
        for distance in (1e4, 1e5, 1e6):
            path = walks.path_from(distance, shape)
            apart = max(apart, float(abs(path - near).max()))
            noise = max(noise, abs(walks.noise(path) / walks.noise(near) - 1))
    row(
        "the same walk at 0, 1e4, 1e5, 1e6 m",
        "same path within 1e-4 m, same acceleration noise",
        f"within {apart:.1e} m, noise within {noise:.1e} of itself",
    )


_FLOORS = (lands.triangulated, lands.scattered)


def show_slopes(*, smoke):
    seconds = 2.0 if smoke else 60.0
    drift, lost, speed, wrong = 0.0, 0, 0.0, 0
    for pair in PAIRS:
        for degrees in (5, 20, 30, 40, 44, 45):
            idle = slopes.idle(pair[0], degrees, pair[1], seconds=seconds, friction=20.0)
            drift, lost = max(drift, idle.drift), lost + round(seconds * 60) - idle.grounded
        for degrees in (46, 50, 60, 70, 80):
            idle = slopes.idle(pair[0], degrees, pair[1])
            speed, wrong = max(speed, abs(idle.speed - 1)), wrong + idle.grounded
    row(
        f"idle {seconds:.0f} s on 5 to 45 degrees; 2 s on 46 to 80, friction 0",
        "drift 0, grounded in every frame; g sin(a) t within 1 %, never grounded",
        f"drift {drift} m, {lost} frames not grounded; within {speed:.1e}, {wrong} frames grounded",
        lambda: ", ".join(peer.idle(degrees, 10.0) for degrees in (5, 20, 44, 45, 60)),
    )
    gained, sunk = 0.0, math.inf
    for pair in PAIRS:
        for degrees in (46, 60, 80) if smoke else (46, 48, 50, 55, 60, 65, 70, 75, 80):
            for off in (0, 30, 60):
                for zigzag in (False, True):
                    case = pair[0], degrees, off, zigzag, pair[1]
                    uphill = slopes.push_uphill(*case)
                    climbed = slopes.climb(*case, seconds=2.0 if smoke else 10.0)
                    gained = max(gained, climbed, uphill.gained)
                    sunk = min(sunk, uphill.sunk)
    row(
        "walking into 46 to 80 degrees, straight, 30 and 60 degrees off, zigzag; and put on them",
        "no height gained; put on the slope and pushing uphill: slides down",
        f"gained {gained} m; slid down at least {sunk:.2f} m in a second",
        lambda: f"gained {max(peer.climb(d, o, 5.0) for d in (46, 60) for o in (0, 60)):.3f} m",
    )


def show_stairs(*, smoke):
    passed, stopped, ratio = [], [], 1.0
    for kind, make in (("map", lands.stairs_map), ("mesh", lands.stairs_mesh)):
        for rise in (0.1, 0.3, 0.31) if smoke else (0.1, 0.2, 0.25, 0.3, 0.31, 0.4):
            ground = make(rise, 0.3)
            for shape, (collider, stand) in BODIES.items():
                if kind == "map" and shape == "box" and smoke:
                    continue
                for degrees in (0, 35) if smoke else (0, 15, 35, 60, 70):
                    found = [
                        stairs.climb(ground, collider, stand, 0.3, rate, degrees)
                        for rate in stairs.RATES
                    ]
                    reached = [climb.up < math.inf and climb.down < math.inf for climb in found]
                    if rise > stairs.OFFSET:
                        stopped += [climb.up == math.inf for climb in found]
                        continue
                    passed += reached
                    if all(reached):
                        for times in zip(*((c.up, c.down) for c in found), strict=True):
                            ratio = max(ratio, max(times) / min(times))
    row(
        "stairs of 0.1 to 0.4 m, offset 0.3 m, 0 to 70 degrees off, 30, 60, 144 Hz, map and mesh",
        "passes all up to the offset, none above; time within 10 % across rates",
        f"passed {sum(passed)} of {len(passed)} up to the offset, stopped at {sum(stopped)} of "
        f"{len(stopped)} above; times within {ratio - 1:.1%}",
        lambda: ", ".join(f"{r} m {rate} Hz: {peer.stairs(r, rate)}" for r in (0.1, 0.3)
                          for rate in (30, 144)),
    )  # fmt: skip


def show_rough(*, smoke):
    count = 6 if smoke else 170
    drops = [
        rough.drop(*pair, speed, count, level=level, every=4)
        for pair in PAIRS
        for speed in (0.0, 50.0, 200.0, 1000.0)
        for level in (True, False)
    ]
    row(
        f"{6 * count} bodies dropped 50 m on rough land at 0, 50, 200, 1000 m/s, down and aslant",
        "none below, penetration < 1 mm, at rest within 5 s where the slope allows",
        f"penetration {max(d.deepest for d in drops):.1e} m; at rest "
        f"{sum(d.rested for d in drops)}, restless on walkable ground "
        f"{sum(d.restless for d in drops)}, thrown aside by steep ground "
        f"{sum(d.thrown for d in drops)}",
    )
    for steepness in (1.0, 3.0):
        found = [
            rough.wander(*pair, steepness, 6 if smoke else 170, 4.0 if smoke else 60.0, every=10)
            for pair in PAIRS
        ]
        frames = sum(w.frames for w in found)
        flickers = sum(w.flickers * w.frames for w in found) / frames
        row(
            f"walking about on rough land x {steepness:.0f}, {frames:,} frames",
            "penetration p99 < 0.01 mm, max < 1 mm; gap p99 < 2 mm; < 1 flicker in 10,000 frames",
            f"penetration p99 {max(w.deep_99 for w in found):.1e}, max "
            f"{max(w.deepest for w in found):.1e}; gap p99 {max(w.gap_99 for w in found):.1e}, max "
            f"{max(w.gap for w in found):.1e} m; {flickers:.2f} flickers",
        )


def show_places(*, smoke):
    nooks = places.nooks()
    moved = {
        name: max(places.rest_in(ground, shape, at, resolver)[0] for shape, resolver in PAIRS)
        for name, (ground, at) in nooks.items()
    }
    row(
        ", ".join(nooks),
        "bit-identical position after 2 s",
        ", ".join(f"{name} moved {way}" for name, way in moved.items() if way)
        or "bit-identical in all, both resolvers",
    )
    count = 10 if smoke else 350
    text = []
    for below in (0.3, 2.0, 10.0):
        found = [
            places.rescue(shape, below, walking, count)
            for shape in COLLIDERS
            for walking in (False, True)
        ]
        frames = "not all" if any(r.frames < 0 for r in found) else max(r.frames for r in found)
        text.append(f"{below} m: {frames} frames, {max(r.fastest for r in found):.2f} m a frame")
    row(
        f"feet 0.3, 2, 10 m under the surface, idle and walking, {count} starts each",
        "all come up, 0.3 m in at most 2 frames, deeper at a bounded speed",
        "; ".join(text),
        lambda: ", ".join(f"{b} m: {'up' if peer.rescue(b) else 'never'}" for b in (0.3, 2, 10)),
    )
    out = max(
        places.thrown(shape, (x + 0.13, y - 0.07, z + 0.21), resolver=resolver)
        for shape, resolver in PAIRS
        for x in (-1, 0, 1)
        for y in (-1, 0, 1)
        for z in (-1, 0, 1)
    )
    row("thrown at 1000 m/s at 30 Hz in a room of a mesh", "stays inside", f"{out:.1e} m outside")
    jumps = [places.jump_below(2.2, *pair)[0] for pair in PAIRS]
    row("a jump under a ceiling", "the ceiling stops it", f"overlap {max(jumps):.1e} m")
    count = 20 if smoke else 2000
    sides = [places.into_side(seed) for seed in range(count)]
    row(
        f"{count:,} walks and jumps into the side of a map of 0.3 to 30 m, 20 to 360 Hz",
        "stopped, none lifted",
        f"{max(found.inside for found in sides):.1e} m inside, "
        f"{max(found.lifted for found in sides):.1e} m lifted",
    )
    walks = [cliffs.among(seed) for seed in range(count)]
    row(
        f"{count:,} walks and jumps among cliffs, holes and thin maps, 20 to 360 Hz",
        "no body in the ground by 1 mm, none lifted",
        f"{max(found.overlap for found in walks):.1e} m deeper, "
        f"{max(found.lifted for found in walks):.1e} m lifted",
    )


def show_crowds(*, smoke):
    count, alone = (12, 6) if smoke else (1000, 1000)
    differing = crowds.differing(count, alone)
    row(
        f"{count:,} walks of 10 s as a group on one thread, against: {', '.join(differing)}",
        "equal bits in all",
        ", ".join(f"{name}: {missed} differ" for name, missed in differing.items()),
    )


def show_throngs(*, smoke):
    found = throngs.chase(20 if smoke else 200, 11.0 if smoke else 14.0)
    row(
        f"{20 if smoke else 200} chase a point for 10 s, then stand",
        "overlap <= 5 mm, none moves 1 mm a frame from then on, all asleep 1 s after",
        f"overlap {max(found.overlap, 0.0):.1e} m, {1e3 * found.moved:.1e} mm, {found.awake} awake",
    )
    for rate in (20, 60, 200):
        overlap, through = throngs.doorway(*((20, 5.0) if smoke else (300, 60.0)), frame=1 / rate)
        row(
            f"{20 if smoke else 300} through a door of 1.2 m, {rate} Hz",
            "flows for 60 s",
            f"{through.min()} to {through.max()} in each 5 s, overlap {max(overlap, 0.0):.1e} m",
        )
    overlap, through = throngs.corridor(*((10, 5.0) if smoke else (60, 30.0)))
    row(
        "60 through a corridor of 3 m with a bend",
        "all in 30 s",
        f"{through}, overlap {overlap:.1e} m",
    )
    for name, scene in (("a ring of 24", throngs.ring), ("two streams of 60", throngs.streams)):
        found = scene(seconds=2.0 if smoke else 30.0)
        row(
            f"{name}, each to the other side",
            "no overlap, all asleep 1 s after",
            f"overlap {max(found.overlap, 0.0):.1e} m, {found.awake} awake, {found.there} there",
        )


def _held(found):
    return f"penetration {found.deepest:.1e} m, {found.stuck} not converged, {found.below} below"


def show_hard(*, smoke):
    count = 1 if smoke else 6
    wanted = "penetration < 1 mm, all converged, none below"
    maps = (HeightMap([[0.0] * 41] * 41), hard.rough_map(0.6))
    meshes = [lands.triangulated(3, rough=rough) for rough in (0.5, 1.5)]
    for name, bodies, grounds in (
        ("thin plates on flat and rough maps", hard.PLATES, maps),
        ("thin plates on rough meshes", hard.PLATES, meshes),
        ("boxes on rough meshes", hard.BOXES, meshes),
    ):
        found = hard.worst(
            [
                hard.on_ground(body, ground, resolver, turned=turned, count=count)
                for body in bodies.values()
                for ground in grounds
                for resolver in RESOLVERS
                for turned in (False, True)
            ]
        )
        row(f"{name}, falling and walking, {found.frames:,} frames", wanted, _held(found))
    shapes = ("sphere", "box") if smoke else ("sphere", "capsule", "box", "board", "lying plate")
    found = hard.worst(
        [
            hard.wedged(nook, hard.ALL[shape], resolver, count=count)
            for nook in hard.nooks().values()
            for shape in shapes
            for resolver in RESOLVERS
        ]
    )
    row(
        f"walking and jumping between a map and a mesh over it, {found.frames:,} frames",
        wanted + ", no way through the mesh",
        f"{_held(found)}; at most {found.jump:.2f} m in a frame",
    )
    thrown = [
        hard.thrown_at_sheet(collider, resolver, count=6 if smoke else 40)
        for collider in hard.ALL.values()
        for resolver in RESOLVERS
    ]
    row(
        "thrown at 1000 m/s at 30 Hz at a wall of a mesh without thickness",
        "none gets through",
        f"{sum(passed for passed, _ in thrown)} through, "
        f"penetration {max(0.0, *(depth for _, depth in thrown)):.1e} m",
    )


def show_fuzz(*, smoke):
    count, failed = 200 if smoke else 20_000, []
    for seed in range(count):
        try:
            fuzz.random_scene(seed)
        except AssertionError:
            failed.append(seed)
    row("random scenes", "nothing breaks, nothing gets below", f"{count:,} run, failed: {failed}")
    count = 20 if smoke else 2000
    hanging = [seed for seed in range(count) if fuzz.hangs(seed)]
    row(
        f"{count:,} small levels in which all changes",
        "who is grounded stands on something",
        f"failed: {hanging}",
    )


def show_levels(*, smoke):
    count = 20 if smoke else 2000
    ledges = [levels.ledge(levels.ledge_case(seed)) for seed in range(count)]
    row(
        f"pressing against {count:,} low ledges before walls, 30 to 144 Hz",
        "height within 1 cm, always grounded, speed along the wall within 2 %",
        f"{sum(not levels.is_calm(found) for found in ledges)} fail; heights within "
        f"{max(found.bob for found in ledges):.3f} m, {sum(found.blinks for found in ledges)} "
        f"frames not grounded",
    )
    kerbs = [levels.kerb(levels.kerb_case(seed)) for seed in range(count)]
    row(
        f"pressing against {count:,} kerbs, ledges and rails, 20 to 360 Hz, map and mesh",
        "height within 1 mm, always grounded",
        f"{sum(not levels.keeps_its_height(found) for found in kerbs)} fail; heights within "
        f"{max(found.bob for found in kerbs):.3f} m",
    )
    grazed = [levels.kerb(levels.grazing_kerb_case(seed)) for seed in range(count // 2)]
    row(
        f"walking along {len(grazed):,} such kerbs, 40 to 89 degrees from straight at them",
        "height within 1 mm, always grounded",
        f"{sum(not levels.keeps_its_height(found) for found in grazed)} fail; heights within "
        f"{max(found.bob for found in grazed):.3f} m",
    )
    for kind in levels.FALSE_STEPS:
        false = [levels.false_step(kind, seed) for seed in range(max(count // 5, 10))]
        row(
            f"{kind}: pressing against what is no step, {len(false)} times, 20 to 360 Hz",
            "not climbed, nor up and down and up again",
            f"{sum(not levels.is_no_step(found) for found in false)} fail, "
            f"{sum(found.bobs > 1 for found in false)} go up and down",
        )
    for up in (True, False):
        walked = [levels.walk_stairs(levels.stair_case(k), up=up) for k in range(count)]
        good = levels.goes_up_well if up else levels.goes_down_well
        row(
            f"{count:,} stairs {'up' if up else 'down'}, 2 to 6 m/s, 20 to 360 Hz, map and mesh",
            "never backwards, mean speed >= 95 %"
            if up
            else "no frame faster than 1.5 x, mean speed within 2 %, always grounded",
            f"{sum(not good(found) for found in walked)} fail; frames "
            f"{min(found.least for found in walked):.2f} to "
            f"{max(found.most for found in walked):.2f} x, mean "
            f"{min(found.mean for found in walked):.3f} to "
            f"{max(found.mean for found in walked):.3f} x",
        )
    ends = [levels.corner(seed) for seed in range(count)]
    row(
        f"{count:,} walks into corners of 30 to 150 degrees, 20 to 360 Hz",
        "as far as they go within 1 cm, never across",
        f"{sum(not levels.is_cornered(found) for found in ends)} fail; at most "
        f"{max(found.short for found in ends):.4f} m short",
    )


def show_blocks(*, smoke):
    count = 20 if smoke else 2000
    speeds = [blocks.slide(seed) for seed in range(count)]
    row(
        f"sliding along {count:,} walls of blocks, 20 to 360 Hz",
        f"at least {LEAST_SPEED:.0%} of the speed along a bare wall",
        f"{sum(speed < LEAST_SPEED for speed in speeds)} fail; at least {min(speeds):.3f} x",
    )
    ways = [blocks.walk_between(seed) for seed in range(count)]
    row(
        f"{count:,} walks between walls and blocks, 20 to 360 Hz",
        f"in no frame farther than {MOST_WAY} x the way asked",
        f"{sum(way > MOST_WAY for way in ways)} fail; at most {max(ways):.4f} x",
    )
    falls = [blocks.beside_parapet(seed) for seed in range(count)]
    row(
        f"up {count:,} stairs, pressed against a parapet of 0.6 to 3 m beside them",
        f"nobody falls by more than {MOST_FALL} m in a frame",
        f"{sum(fall > MOST_FALL for fall in falls)} fail; at most {max(falls):.3f} m",
    )
    crowds = [blocks.build(seed) for seed in range(count)]
    row(
        f"blocks built on, beside and under {count:,} crowds on maps and meshes, 20 to 360 Hz, "
        f"{sum(found.frames for found in crowds):,} updates of a character",
        "none in the ground, none stuck a second after all blocks are gone",
        f"{sum(found.below > MOST_DEPTH for found in crowds)} crowds with one in the ground, "
        f"{sum(found.stuck for found in crowds)} stuck",
    )


def show_gullies(*, smoke):
    count = 20 if smoke else 2000
    found = [gullies.press(gullies.gully_case(seed)) for seed in range(count)]
    row(
        f"{count:,} bodies pressed into valleys of 46 to 80 degrees, 20 to 360 Hz, map and mesh",
        "who is blocked changes its ground at most twice a second; none hangs, sways or climbs",
        f"{sum(not gullies.is_steady(pressed) for pressed in found)} fail; at most "
        f"{max(pressed.changes for pressed in found)} changes, {sum(p.flickers for p in found)} "
        f"flickers, {max(0.0, *(p.climbed for p in found)):.3f} m climbed",
    )


def show_mesh_levels(*, smoke):
    count = 20 if smoke else 2000
    shared = 2 if smoke else mesh_levels.LEVELS
    found = [mesh_levels.walk(mesh_levels.walk_case(seed, shared)) for seed in range(count)]
    bobs, idle, through, deep, below = (sum(map(bool, wrong)) for wrong in zip(*found, strict=True))
    row(
        f"{count:,} walks in {shared} mesh levels, 1 to 6 m/s, 20 to 360 Hz",
        "nobody up, down and up within 3 frames on the level floor, standing where the way along "
        "is free, below or through",
        f"{bobs} go up, down and up, {idle} stand, {through} through, {deep} in a triangle, "
        f"{below} below",
    )


def _figures(found):
    """Return the greatest of each figure, by name if it has one."""
    names = getattr(found[0], "_fields", None)
    if names is None:
        return f"{max(found):.1e} m"
    columns = zip(names, zip(*found, strict=True), strict=True)
    return ", ".join(f"{name} {max(column):.1e}" for name, column in columns)


def show_flights(*, smoke):
    count = 20 if smoke else 2000
    wanted = {
        "placed": "at most 1e-5 m in the first frame",
        "jump against a ceiling": "within half g t^2 of the closed form, a frame late at most",
        "stop": "way v^2 / (2 f) within 1 %, in the frame of v / f",
    }
    for kind, (play, is_good) in CASES.items():
        found = [play(seed) for seed in range(count)]
        row(
            f"{kind}, {count:,} times, slopes of 0 to 44 degrees, 20 to 360 Hz, also mixed",
            wanted.get(kind, "the parabola within 1e-6 m; lands in its frame, not pushed aside"),
            f"{sum(not is_good(figures) for figures in found)} fail; at most {_figures(found)}",
        )


def show_writes(*, smoke):
    count = 20 if smoke else 2000
    near = [writes.nudged(writes.write_case(seed, far=False)) for seed in range(count)]
    row(
        f"{count:,} walks on slopes to 44 degrees, the place written 0.1 to 10 mm aside each frame",
        "always grounded, the way within 1 mm",
        f"{sum(not writes.keeps_ground(found) for found in near)} fail; at most {_figures(near)}",
    )
    far = [writes.put_up(writes.write_case(seed, far=True)) for seed in range(count)]
    row(
        f"{count:,} walkers whose place is written into the air",
        "in the air at once, with the velocity written, on its parabola within 1e-6 m",
        f"{sum(not writes.flies(found) for found in far)} fail; at most {_figures(far)}",
    )


def show_saves(*, smoke):
    count = 20 if smoke else 10_000
    failed = []
    for seed in range(count):
        try:
            walk_twice(seed)
        except AssertionError:
            failed.append(seed)
    row(
        f"{count:,} walks saved and loaded now and then, on all grounds, with edits",
        "the bits of the same walk without saves",
        f"{len(failed)} differ{failed[:9] or ''}",
    )


def show_stops(*, smoke):
    count = 20 if smoke else 2000
    for reason in stops.REASONS:
        found = [stops.stop(stops.stop_case(reason, seed)) for seed in range(count)]
        row(
            f"{count:,} walks stopped by: {reason}, 20 to 360 Hz",
            "named in every frame, nothing else",
            f"{sum(not stops.is_told(stopped) for stopped in found)} fail; "
            f"{sum(stopped.others for stopped in found)} frames name something else, "
            f"{sum(stopped.untold for stopped in found)} nothing",
        )


def show_rides(*, smoke):
    seconds, paces = (0.5, rides.ALIKE[2:3]) if smoke else (10.0, rides.PACES)
    cases = [
        (motion, body, pace)
        for motion in rides.MOTIONS.values()
        for body in COLLIDERS
        for pace in paces
    ]
    idle = [rides.idle(motion, body, pace, seconds) for motion, body, pace in cases]
    row(
        f"standing {seconds} s on: {', '.join(rides.MOTIONS)}; 20 to 360 Hz, also moved at others",
        "stays at its point of the part within 1e-9 m, always grounded",
        _figures(idle),
    )
    walked = [rides.walk(motion, body, pace, seconds) for motion, body, pace in cases]
    row(
        "the same, walking about",
        "each update carries it, and then it walks v t, within 1e-9 m",
        _figures(walked),
    )
    jumps = [
        rides.jump(way, body, pace)
        for way in RIDDEN
        for body in COLLIDERS
        for pace in paces
        if pace in rides.ALIKE
    ]
    row(
        f"jumps on platforms at {', '.join(map(str, RIDDEN))} m/s",
        "the point where it lands on the platform as on one that stands within 1 mm, its frame "
        "within one",
        _figures(jumps),
    )
    belts = [
        rides.belt(body, pace, way, motion, 0.5) for way in BELTS for motion, body, pace in cases
    ]
    row("standing on conveyors that stand and move", "v t within 1e-9 m", _figures(belts))
    stops = [
        rides.stop(body, pace, 6.0, gentle, **rules)
        for gentle in GENTLE
        for rules in ({}, {"snap_distance": 0.0})
        for body in COLLIDERS
        for pace in paces
    ]
    row(
        f"on a lift that slows down from 6 m/s by {' and '.join(map(str, GENTLE))} m/s^2",
        "never in the air",
        _figures(stops),
    )
    count = 10 if smoke else 10_000
    ends = [rides.turns(body, roundabout, count) for body in COLLIDERS]
    row(f"{count:,} turns of a turntable", "the bits of the first turn", f"{max(ends)} m apart")


def _safe(found):
    bad = sum(not is_safe(met) for met in found)
    return (
        f"{bad} of {len(found)} fail; {sum(met.wrong for met in found)} frames behind, at most "
        f"{max(met.depth for met in found):.1e} m in what stands still, depth told within "
        f"{max(met.off for met in found):.1e} m, lifted {max(met.lifted for met in found):.1e} m"
    )


def show_doors(*, smoke):
    paces = rides.ALIKE[2:3] if smoke else rides.PACES
    wanted = (
        "nobody behind it or in what stands still, nor lifted; depth told within 1 mm; free when "
        "it leaves"
    )
    pairs = [(body, pace) for body in COLLIDERS for pace in paces]
    for name, play, cases in (
        ("a door pushes at 0.5 to 30 m/s against a wall, idle, hopping, walking", doors.slam, [
            {"speed": speed, "walking": walking, "hop": hop}
            for speed in (0.5, 4.0, 30.0)
            for walking, hop in ((0.0, False), (0.0, True), (-2.0, False), (3.0, False))
        ]),
        ("a door swings at 1 to 20 rad/s", doors.swing, [{"spin": s} for s in (1.0, 6.0, 20.0)]),
        ("a crusher at 0.5 to 20 m/s", doors.crush, [{"speed": s} for s in (0.5, 4.0, 20.0)]),
        (
            "a lift carries its rider against a ceiling",
            doors.against_ceiling,
            [{"speed": s} for s in (0.5, 1.0, 4.0)],
        ),
        ("a cabin's door closes on its rider", doors.doorway, [{"heave": h} for h in (0.0, 2.0)]),
        ("a platform goes into a wall", doors.into_wall, [{"speed": s} for s in (1.0, 6.0)]),
        ("a cabin shakes who stands, walks and hops in it", doors.cabin, [
            {"way": way, "walking": walking}
            for way in ((0, 3, 0), (3, 0, 1), (5, 2, 5))
            for walking in (0.0, 2.0)
        ]),
    ):  # fmt: skip
        row(name, wanted, _safe([play(*pair, **case) for case in cases for pair in pairs]))
    count = 10 if smoke else 2000
    pressed = [doors.press(doors.vise_case(seed)) for seed in range(count)]
    row(
        f"{count:,} lifts, slabs and doors that press on to 5 m deep, and go or vanish",
        "nobody in what stands still; depth told within 1 mm; then nobody hangs, and all walk",
        f"{sum(not is_let_go(found) for found in pressed)} fail; at most "
        f"{max(found.inside for found in pressed):.1e} m in what stands still, depth told within "
        f"{max(found.off for found in pressed):.1e} m",
    )


def show_one_ways(*, smoke):
    paces = rides.ALIKE[2:3] if smoke else rides.PACES
    for rising in (None, 0.0, 1.0, -0.5):
        found = [
            one_ways.jump_up(body, pace, rising=rising, slope=slope)
            for body in COLLIDERS
            for pace in paces
            for slope in (0.0, 20.0, -40.0)
        ]
        row(
            f"jumping up through one-way platforms, level and sloped, moved at {rising} m/s",
            "not stopped below, stands on it",
            f"{sum(not is_let_through(jump) for jump in found)} of {len(found)} fail; "
            f"{_figures(found)}",
        )
    count = 20 if smoke else 2400
    row(
        f"dropping through one-way platforms by one update with the key, or a few, {count}",
        "falls through, lands on the next one",
        f"{len(drops(range(count)))} fail",
    )


_PARTS = {
    "walks": show_walks,
    "slopes": show_slopes,
    "stairs": show_stairs,
    "rough": show_rough,
    "places": show_places,
    "levels": show_levels,
    "blocks": show_blocks,
    "gullies": show_gullies,
    "mesh levels": show_mesh_levels,
    "flights": show_flights,
    "writes": show_writes,
    "saves": show_saves,
    "stops": show_stops,
    "rides": show_rides,
    "doors": show_doors,
    "one ways": show_one_ways,
    "crowds": show_crowds,
    "throngs": show_throngs,
    "hard": show_hard,
    "fuzz": show_fuzz,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.behaviour", description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="small sizes: does it run at all?")
    parser.add_argument("--pictures", action="store_true", help="draw them into assets instead")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(_PARTS)}; all")
    options = parser.parse_args()
    if unknown := [name for name in options.names if name not in _PARTS]:
        parser.error(f"NAME must be one of {', '.join(_PARTS)}, got {unknown[0]}")
    if options.pictures:
        from tests.behaviour import pictures

        pictures.draw_edges()
        pictures.draw_resolvers()
        pictures.draw_crowds()
        return
    for name in options.names or _PARTS:
        _PARTS[name](smoke=options.smoke)


if __name__ == "__main__":
    main()
