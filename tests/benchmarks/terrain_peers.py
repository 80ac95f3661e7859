"""Terrain queries beside libraries that a user can install: the same land, the same questions.

Peers take part where they are installed (extra ``bench``). All but MuJoCo compute in float32, and
PyBullet splits cells along the other diagonal: answers are compared to 5 cm.
"""

import importlib.metadata
import math
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from demo.scenery.scenes import load_land
from terrain_physics import HeightMap, Ray, Sphere
from tests.benchmarks import single_peers
from tests.benchmarks.terrain_rays import rays_over
from tests.benchmarks.timing import median_seconds, print_table

Floats = NDArray[np.float64]
Row = tuple[str, str, float, float]
"""Question, library, seconds for each answer, share of answers that agree with ours."""

FARTHEST, RADIUS, WAY = 300.0, 0.5, (1.0, -2.0, 0.5)


class Questions(NamedTuple):
    """Questions: rays (n, 3) and unit directions (n, 3), middles of balls (n, 3)."""

    origins: Floats
    directions: Floats
    balls: Floats


class Peer:
    """Questions that a library can answer; it leaves out the methods that it has no answer for.

    Distances are those along the ray, infinite where it misses.
    """

    name = ""
    slow = False
    """Whether many questions are a loop in Python: then fewer are asked."""

    one_ray: Callable[[Floats, Floats], float]
    rays: Callable[[Floats, Floats], Floats]
    touches: Callable[[Floats], NDArray[np.bool_]]
    sweep: Callable[[Floats], float]

    def __init__(self, land: HeightMap) -> None:
        raise NotImplementedError

    def version(self) -> str:
        return importlib.metadata.version(self.name)


class Ours(Peer):
    """This library, on one thread."""

    name = "terrain_physics"

    def __init__(self, land: HeightMap) -> None:
        self.land = land
        self.ball = Sphere((0, 0, 0), RADIUS)

    def one_ray(self, origin: Floats, direction: Floats) -> float:
        hit = self.land.raycast(Ray(origin, direction), FARTHEST)
        return hit.distance if hit else math.inf

    def rays(self, origins: Floats, directions: Floats) -> Floats:
        hits = self.land.raycast_many(origins, directions, FARTHEST, threads=1)
        return np.nan_to_num(hits.distance, nan=math.inf)

    def touches(self, balls: Floats) -> NDArray[np.bool_]:
        rows = np.column_stack([balls, np.full(len(balls), RADIUS)])
        return self.land.contact_counts(rows, threads=1) > 0

    def sweep(self, ball: Floats) -> float:
        stop = self.land.sweep(Sphere(ball, RADIUS), WAY)
        return stop.distance if stop else math.inf


class Rapier(Peer):
    """The Python package of Rapier (Rust): a height field, one question a call."""

    name = "rapier3d"
    slow = True

    def __init__(self, land: HeightMap) -> None:
        rapier: Any = importlib.import_module("rapier3d")
        rows, columns = land.cell_count
        self.rapier, self.world = rapier, rapier.PhysicsWorld()
        field = rapier.Collider.heightfield(land.heights, (columns, 1.0, rows))
        self.world.add_collider(field.translation((columns / 2, 0.0, rows / 2)).build())
        self.world.step()
        self.world.update_query_pipeline()
        self.pipeline = self.world.query_pipeline
        self.ball = rapier.SharedShape.ball(RADIUS)
        self.options = rapier.ShapeCastOptions().with_max_time_of_impact(1.0)

    def one_ray(self, origin: Floats, direction: Floats) -> float:
        ray = self.rapier.Ray(tuple(origin), tuple(direction))
        found = self.pipeline.cast_ray_and_get_normal(ray, FARTHEST, True)
        return found[1].time_of_impact if found else math.inf

    def rays(self, origins: Floats, directions: Floats) -> Floats:
        pairs = zip(origins.tolist(), directions.tolist(), strict=True)
        return np.array([self.one_ray(*pair) for pair in pairs])

    def touches(self, balls: Floats) -> NDArray[np.bool_]:
        found: list[bool] = []
        for ball in balls.tolist():
            place = self.rapier.Isometry3.from_translation(*ball)
            touched: list[Any] = []
            self.pipeline.intersect_shape(place, self.ball, touched.append)
            found.append(bool(touched))
        return np.array(found)

    def sweep(self, ball: Floats) -> float:
        place = self.rapier.Isometry3.from_translation(*ball)
        found = self.pipeline.cast_shape(place, WAY, self.ball, self.options)
        return found[1].time_of_impact * math.hypot(*WAY) if found else math.inf


class Bullet(Peer):
    """PyBullet: a height field; rays in batches of 16,384 on one thread."""

    name = "pybullet"

    def __init__(self, land: HeightMap) -> None:
        bullet: Any = importlib.import_module("pybullet")
        self.bullet = bullet
        self.client = bullet.connect(bullet.DIRECT)
        heights = land.heights
        rows, columns = heights.shape
        # Its y is our -z; Bullet puts the middle of the heights' range at 0.
        shape = bullet.createCollisionShape(
            bullet.GEOM_HEIGHTFIELD,
            meshScale=[1, 1, 1],
            heightfieldData=np.flipud(heights).ravel().tolist(),
            numHeightfieldRows=columns,
            numHeightfieldColumns=rows,
        )
        middle = (float(heights.min()) + float(heights.max())) / 2
        self.middle = np.array([(columns - 1) / 2, -(rows - 1) / 2, 0.0])
        bullet.createMultiBody(0, shape, basePosition=[*self.middle[:2], middle])

    @staticmethod
    def _turned(rows: Floats) -> Floats:
        return np.stack([rows[..., 0], -rows[..., 2], rows[..., 1]], axis=-1)

    def one_ray(self, origin: Floats, direction: Floats) -> float:
        start, way = self._turned(np.array(origin)), self._turned(np.array(direction))
        hit = self.bullet.rayTest(start.tolist(), (start + FARTHEST * way).tolist())[0]
        return hit[2] * FARTHEST if hit[0] >= 0 else math.inf

    def rays(self, origins: Floats, directions: Floats) -> Floats:
        starts, ends = self._turned(origins), self._turned(origins + FARTHEST * directions)
        parts = []
        for first in range(0, len(starts), 16_000):
            some = slice(first, first + 16_000)
            hits = self.bullet.rayTestBatch(
                starts[some].tolist(), ends[some].tolist(), numThreads=1
            )
            parts += [hit[2] * FARTHEST if hit[0] >= 0 else math.inf for hit in hits]
        return np.array(parts)


class MuJoCo(Peer):
    """MuJoCo: a height field, one ray a call."""

    name = "mujoco"
    slow = True

    def __init__(self, land: HeightMap) -> None:
        mujoco: Any = importlib.import_module("mujoco")
        rows, columns = land.heights.shape
        low, high = float(land.heights.min()), float(land.heights.max())
        half_x, half_z = (columns - 1) / 2, (rows - 1) / 2
        # Its y is our -z, its z our y.
        self.model = mujoco.MjModel.from_xml_string(
            f"<mujoco><asset><hfield name='land' nrow='{rows}' ncol='{columns}'"
            f" size='{half_x} {half_z} {high - low} 1'/></asset><worldbody>"
            f"<geom type='hfield' hfield='land' pos='{half_x} {-half_z} {low}'/>"
            "</worldbody></mujoco>"
        )
        self.model.hfield_data[:] = ((np.flipud(land.heights) - low) / (high - low)).ravel()
        self.data, self.mujoco = mujoco.MjData(self.model), mujoco
        mujoco.mj_forward(self.model, self.data)
        self.geom = np.zeros(1, np.int32)

    def one_ray(self, origin: Floats, direction: Floats) -> float:
        start = np.array((origin[0], -origin[2], origin[1]))
        way = np.array((direction[0], -direction[2], direction[1]))
        distance = self.mujoco.mj_ray(self.model, self.data, start, way, None, True, -1, self.geom)
        return distance if 0.0 <= distance <= FARTHEST else math.inf

    def rays(self, origins: Floats, directions: Floats) -> Floats:
        return np.array([self.one_ray(*pair) for pair in zip(origins, directions, strict=True)])


class Embree(Peer):
    """embreex: Intel's Embree, rays against the triangles of the same land."""

    name = "embreex"

    def __init__(self, land: HeightMap) -> None:
        scenes: Any = importlib.import_module("embreex.rtcore_scene")
        meshes: Any = importlib.import_module("embreex.mesh_construction")
        mesh = land.to_mesh()
        self.scene = scenes.EmbreeScene()
        self.mesh = meshes.TriangleMesh(
            self.scene, mesh.vertices.astype(np.float32), mesh.indices.reshape(-1, 3)
        )

    def rays(self, origins: Floats, directions: Floats) -> Floats:
        starts, ways = origins.astype(np.float32), directions.astype(np.float32)
        found = self.scene.run(starts, ways, output=1)
        distance = found["tfar"].astype(np.float64)
        return np.where((found["primID"] >= 0) & (distance <= FARTHEST), distance, math.inf)


class Open3D(Peer):
    """Open3D's ray casting scene: Embree as well, with distances of points."""

    name = "open3d"

    def __init__(self, land: HeightMap) -> None:
        open3d: Any = importlib.import_module("open3d")
        mesh = land.to_mesh()
        self.tensor = open3d.core.Tensor
        self.scene = open3d.t.geometry.RaycastingScene(nthreads=1)
        self.scene.add_triangles(
            self.tensor(mesh.vertices.astype(np.float32)),
            self.tensor(mesh.indices.reshape(-1, 3).astype(np.uint32)),
        )

    def rays(self, origins: Floats, directions: Floats) -> Floats:
        rows = np.concatenate([origins, directions], axis=1).astype(np.float32)
        distance = self.scene.cast_rays(self.tensor(rows), 1)["t_hit"].numpy()
        return np.where(distance <= FARTHEST, distance, math.inf)

    def touches(self, balls: Floats) -> NDArray[np.bool_]:
        rows = self.tensor(balls.astype(np.float32))
        touched: NDArray[np.bool_] = self.scene.compute_distance(rows, 1).numpy() <= RADIUS
        return touched


PEERS: tuple[type[Peer], ...] = (Rapier, Bullet, MuJoCo, Embree, Open3D)


def agreement(ours: Any, theirs: Any) -> float:
    """Return the share of answers that agree: to 5 cm, or both none."""
    ours, theirs = np.atleast_1d(ours), np.atleast_1d(theirs)
    if ours.dtype == np.bool_:
        return float(np.mean(ours == theirs))
    with np.errstate(invalid="ignore"):
        return float(np.mean((ours == theirs) | (abs(ours - theirs) < 0.05)))


def measure(count: int, repeats: int) -> tuple[list[Row], dict[str, str]]:
    """Return the rows, and the versions of the peers; "not run" for those not installed."""
    land = HeightMap(load_land().heights, border="open")  # peers' land ends as well
    rng = np.random.default_rng(5)
    origins, directions = rays_over(land, count)
    balls = origins + 0.0
    balls[:, 1] = land.height_at(balls[:, 0], balls[:, 2]) + rng.uniform(-0.5, 0.9, count)
    asked = Questions(origins, directions, balls)
    versions = {peer.name: "not run" for peer in PEERS}
    answering: list[Peer] = [Ours(land)]
    for kind in PEERS:
        with suppress(ImportError):
            answering.append(kind(land))
            versions[kind.name] = answering[-1].version()
    rows: list[Row] = []
    for question, ask in QUESTIONS.items():
        calls = {peer: call for peer in answering if (call := ask(peer, asked)) is not None}
        answers = {peer: call() for peer, (call, _) in calls.items()}
        times = median_seconds({peer.name: call for peer, (call, _) in calls.items()}, repeats)
        ours = answers[answering[0]]
        for peer, (_, each) in calls.items():
            same = agreement(ours[: len(answers[peer])], answers[peer])
            rows.append((question, peer.name, times[peer.name] / each, same))
    return rows, versions


Call = tuple[Callable[[], Any], int]


def _singly(method: str, *parts: Callable[[Questions], Floats]) -> Any:
    """Return how to ask one at a time, for as many as are needed to time it."""

    def ask(peer: Peer, asked: Questions) -> Call | None:
        call = getattr(peer, method, None)
        if call is None:
            return None
        rows = ([tuple(row) for row in part(asked)[:1000].tolist()] for part in parts)
        arguments = list(zip(*rows, strict=True))
        return (lambda: np.array([call(*row) for row in arguments])), len(arguments)

    return ask


def _together(method: str, *parts: Callable[[Questions], Floats]) -> Any:
    """Return how to ask in one call."""

    def ask(peer: Peer, asked: Questions) -> Call | None:
        call = getattr(peer, method, None)
        if call is None:
            return None
        count = 1000 if peer.slow else len(asked.origins)
        arguments = [np.ascontiguousarray(part(asked)[:count]) for part in parts]
        return (lambda: call(*arguments)), len(arguments[0])

    return ask


def _down(asked: Questions) -> Floats:
    return np.tile((0.0, -1.0, 0.0), (len(asked.origins), 1))


QUESTIONS: dict[str, Callable[[Peer, Questions], Call | None]] = {
    "one ray, oblique": _singly("one_ray", lambda q: q.origins, lambda q: q.directions),
    "one ray, straight down": _singly("one_ray", lambda q: q.origins, _down),
    "one sweep of a ball, 2.3 m": _singly("sweep", lambda q: np.add(q.balls, (0.0, 1.5, 0.0))),
    "many rays, oblique": _together("rays", lambda q: q.origins, lambda q: q.directions),
    "many rays, straight down": _together("rays", lambda q: q.origins, _down),
    "many balls, touched or not": _together("touches", lambda q: q.balls),
}


def main(*, smoke: bool = False) -> None:
    rows, versions = measure(1000 if smoke else 100_000, 1 if smoke else 7)
    for question in QUESTIONS:
        mine = next(row for row in rows if row[:2] == (question, Ours.name))
        print_table(
            f"{question}, 513 x 513, one thread",
            [
                (name, f"{1e6 * each:9.3f} us   {each / mine[2]:7.1f} x   {same:7.2%} agree")
                for asked, name, each, same in rows
                if asked == question
            ],
        )
    print_table("Versions", list(versions.items()))
    single_peers.main(smoke=smoke)
