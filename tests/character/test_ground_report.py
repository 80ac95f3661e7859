"""Reports of a character about its ground, and changing its body where it stands."""

import math
import pickle

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import (
    BoxCollider,
    CharacterMovement,
    Ground,
    HeightMap,
    Ray,
    Sphere,
    SphereCollider,
    TriangleMesh,
    intersect,
)
from terrain_physics.character.colliders import CapsuleCollider
from terrain_physics.character.results import GroundReport
from terrain_physics.group.group import CharacterGroup
from tests.helpers.meshes import grid

FRAME = 1 / 60
FLOOR = HeightMap(np.zeros((40, 40)))
TALL = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0))
LOW = CapsuleCollider(0.4, 1.0, offset=(0, 0.5, 0))


def slope(degrees, shape=(40, 40)):
    return np.tile(np.arange(shape[1]) * math.tan(math.radians(degrees)), (shape[0], 1))


def run(mover, frames):
    for _ in range(frames):
        result = mover.update(FRAME)
    return result


class TestReport:
    def test_before_the_first_update_and_in_the_air(self):
        mover = CharacterMovement(FLOOR, SphereCollider(0.5), position=(10, 9, 10))
        match mover.ground_report():
            case GroundReport("airborne", None, None, -1, 0, None, 0.0, 0.0):
                pass
            case report:
                pytest.fail(repr(report))
        run(mover, 6)
        report = mover.ground_report()
        assert report.air_time == pytest.approx(0.1)
        assert (report.state, report.normal, report.point) == ("airborne", None, None)
        assert (report.triangle, report.material, report.slope) == (-1, 0, None)

    @pytest.mark.parametrize(
        "collider", [SphereCollider(0.5), BoxCollider((0.5, 0.5, 0.5)), CapsuleCollider(0.3, 1.0)]
    )
    def test_landed(self, collider):
        materials = np.zeros((39, 39), dtype=np.uint8)
        materials[10, 12] = 7
        ground = HeightMap(np.zeros((40, 40)), materials=materials)
        mover = CharacterMovement(ground, collider, position=(12.3, 2.5, 10.2))
        while not mover.update(FRAME).grounded:
            pass
        report = mover.ground_report()
        assert report.state == "grounded"
        assert report.normal == glm.vec3(0, 1, 0)
        assert report.point is not None
        assert glm.length(report.point - glm.vec3(12.3, 0, 10.2)) < 1e-5
        assert (report.slope, report.air_time) == (0.0, 0.0)
        assert report.landing_speed == pytest.approx(math.sqrt(2 * 9.81 * 2.0), rel=1e-5)
        if not isinstance(collider, BoxCollider):
            assert report.triangle == 2 * (10 * 39 + 12) + 1
            assert report.material == 7
        run(mover, 60)
        assert mover.ground_report() == report
        assert pickle.loads(pickle.dumps(report)) == report

    @pytest.mark.parametrize("degrees", [10, 29, 35, 60])
    def test_slope(self, degrees):
        heights = slope(degrees)
        for ground in (HeightMap(heights), TriangleMesh(*grid(heights))):
            x, z = 20.3, 20.4
            mover = CharacterMovement(
                ground, SphereCollider(0.5), position=(x, ground.height_at(x, z) + 1.2, z)
            )
            run(mover, 40)
            report = mover.ground_report()
            assert report.state == ("grounded" if degrees < 30 else "steep")
            assert report.slope == pytest.approx(math.radians(degrees), abs=1e-6)
            assert (report.air_time == 0) == (degrees < 30)
            assert report.point is not None
            point = report.point
            assert point.y == pytest.approx(ground.height_at(point.x, point.z), abs=1e-4)

    @pytest.mark.parametrize("degrees", [0, 20, 29, 40])
    @pytest.mark.parametrize(
        "collider",
        [
            SphereCollider(0.5),
            CapsuleCollider(0.4, 1.8),
            BoxCollider((0.4, 0.9, 0.3)),
            BoxCollider((0.3, 0.4, 0.5), rotation=glm.angleAxis(0.5, glm.vec3(0, 1, 0))),
        ],
    )
    def test_the_point_is_one_of_the_body(self, degrees, collider):
        """On the ground and of the body, not only in the plane that holds it."""
        heights = slope(degrees)
        for ground in (HeightMap(heights), TriangleMesh(*grid(heights))):
            mover = CharacterMovement(
                ground, collider, position=(20.3, ground.height_at(20.3, 20.4) + 2.2, 20.4)
            )
            run(mover, 60)
            point = mover.ground_report().point
            assert point is not None
            assert point.y == pytest.approx(ground.height_at(point.x, point.z), abs=2e-4)
            shape = collider.transformed(glm.translate(mover.position))
            assert intersect(shape, Sphere(point, 2e-4)) is not None

    def test_wedged(self):
        steep = math.tan(math.radians(70))
        groove = HeightMap(np.tile(np.abs(np.arange(40) - 20.0) * steep, (40, 1)))
        mover = CharacterMovement(groove, SphereCollider(0.5), position=(20.1, 3, 20.3))
        run(mover, 120)
        report = mover.ground_report()
        assert report.state == "wedged"
        assert mover.grounded

    def test_the_triangle_of_a_mesh_is_its_face(self):
        vertices, faces = grid(np.random.default_rng(3).uniform(0, 0.4, (20, 20)))
        mesh = TriangleMesh(vertices, faces)
        seen = set()
        for i in range(12):
            mover = CharacterMovement(mesh, SphereCollider(0.3), position=(4.2 + i, 1.5, 7.3))
            run(mover, 60)
            report = mover.ground_report()
            a, b, c = vertices[faces[report.triangle]]
            assert report.state == "grounded"
            assert report.point is not None
            normal = np.cross(b - a, c - a)
            off = np.dot(normal / np.linalg.norm(normal), np.array(report.point) - a)
            assert abs(off) < 1e-4
            seen.add(report.triangle)
        assert len(seen) > 8

    def test_outside_a_map_the_material_is_that_of_the_nearest_cell(self):
        materials = np.arange(1, 21).reshape(4, 5)
        land = HeightMap(np.zeros((5, 6)), materials=materials, cell_size=2.0, origin=(-3, 0, 4))
        mesh = TriangleMesh([(0, -90, 0), (0, -90, 9), (9, -90, 0)], [(0, 1, 2)])
        places = [
            (x, 0.4, z) for x in (-90.5, -3.5, 0.5, 6.2, 7.4, 99.0) for z in (-50.0, 3.5, 7.5, 77.0)
        ]
        for ground in (land, Ground([mesh, land])):
            group = CharacterGroup(ground, SphereCollider(0.5))
            for place in places:
                group.add(len(group), place)
            for _ in range(3):
                group.update(FRAME)
            for key, (x, y, z) in enumerate(places):
                mover = CharacterMovement(ground, SphereCollider(0.5), position=(x, y, z))
                run(mover, 3)
                report = mover.ground_report()
                row, column = min(max(int(z - 4) // 2, 0), 3), min(max(int(x + 3) // 2, 0), 4)
                hit = ground.raycast(Ray((x, 5, z), (0, -1, 0)))
                assert hit is not None
                assert report.state == "grounded"
                assert report.material == materials[row, column] == hit.material
                assert report.triangle == hit.triangle
                assert group[key].ground_report() == report
        assert report.triangle == -1

    def test_on_other_ground_than_the_state_came_from(self):
        mover = CharacterMovement(FLOOR, SphereCollider(0.5), position=(30, 0.6, 30))
        run(mover, 20)
        mesh = TriangleMesh([(0, 0, 0), (0, 0, 9), (9, 0, 0)], [(0, 1, 2)])
        other = CharacterMovement(mesh, SphereCollider(0.5))
        other.restore(mover.state())
        assert other.ground_report().triangle == -1


def room(height):
    """Return a floor with a ceiling over x < 10, as a mesh."""
    corners = [(-20, 0, -20), (-20, 0, 20), (20, 0, 20), (20, 0, -20)]
    roof = [(-20, height, -20), (-20, height, 20), (10, height, 20), (10, height, -20)]
    faces = [(0, 1, 2), (0, 2, 3), (4, 5, 6), (4, 6, 7)]
    return TriangleMesh(corners + roof, faces)


class TestResize:
    @pytest.mark.parametrize(("height", "fits"), [(1.79, False), (1.8001, True), (2.5, True)])
    def test_standing_up_needs_head_room(self, height, fits):
        mover = CharacterMovement(room(height), LOW, position=(0, 0, 0))
        run(mover, 5)
        before = mover.state()
        assert mover.resize(TALL) == fits
        if not fits:
            assert mover.state() == before
            assert mover.state().collider == LOW
            mover.position = (15, 0, 0)  # out from under the roof
            assert mover.resize(TALL)
        else:
            assert mover.position64 == pytest.approx((0, 0, 0), abs=1e-12)
        assert mover.state().collider == TALL
        result = run(mover, 5)
        assert result.grounded
        assert result.converged

    def test_a_wall_is_in_the_way_of_a_wider_body(self):
        vertices = [(0.6, 0, -9), (0.6, 0, 9), (0.6, 5, 0), (-9, 0, -9), (-9, 0, 9), (9, 0, 0)]
        mesh = TriangleMesh(vertices, [(0, 1, 2), (3, 4, 5)])
        mover = CharacterMovement(mesh, TALL)
        run(mover, 5)
        assert not mover.resize(CapsuleCollider(0.7, 1.8, offset=(0, 0.9, 0)))
        assert mover.resize(CapsuleCollider(0.59, 1.8, offset=(0, 0.9, 0)))

    def test_feet_stay_where_bodies_are_centered(self):
        mover = CharacterMovement(FLOOR, CapsuleCollider(0.4, 1.8), position=(10, 0.9, 10))
        run(mover, 5)
        assert mover.resize(CapsuleCollider(0.4, 1.0))
        assert mover.position64 == pytest.approx((10, 0.5, 10), abs=1e-12)
        assert mover.position.y == pytest.approx(0.5)
        assert run(mover, 1).grounded
        assert mover.resize(CapsuleCollider(0.4, 1.8))
        assert mover.position64 == pytest.approx((10, 0.9, 10), abs=1e-12)

    @pytest.mark.parametrize("degrees", [0, 15, 28])
    @pytest.mark.parametrize(
        ("small", "large"),
        [
            (CapsuleCollider(0.3, 1.0), CapsuleCollider(0.6, 1.9)),
            (SphereCollider(0.3), SphereCollider(0.8)),
            (BoxCollider((0.3, 0.5, 0.3)), BoxCollider((0.6, 0.9, 0.5))),
        ],
    )
    def test_wider_feet_rise_on_a_walkable_slope(self, degrees, small, large):
        ground = HeightMap(slope(degrees))
        mover = CharacterMovement(
            ground, small, position=(20.2, ground.height_at(20.2, 20.3) + 1.2, 20.3)
        )
        run(mover, 60)
        assert mover.resize(large)
        height = mover.position64[1]
        result = run(mover, 1)
        assert result.grounded
        assert result.converged
        assert mover.position64[1] == pytest.approx(height, abs=1e-3)
        assert mover.resize(small)
        assert run(mover, 2).grounded

    def test_crouching_does_not_end_a_walk_downhill(self):
        ground = HeightMap(slope(-20))
        mover = CharacterMovement(
            ground, TALL, position=(5.2, ground.height_at(5.2, 20.0) + 0.2, 20)
        )
        run(mover, 30)
        for frame in range(60):
            mover.velocity.x = 3
            if frame % 10 == 0:
                assert mover.resize(LOW if frame % 20 == 0 else TALL)
            assert mover.update(FRAME).grounded

    def test_what_the_game_wrote_counts(self):
        class Hero:
            position = glm.vec3(0, 0, 0)
            scale = 1.0

        hero = Hero()
        mover = CharacterMovement(room(1.5), LOW, owner=hero)
        run(mover, 3)
        hero.position = glm.vec3(15, 0, 0)
        assert mover.resize(TALL)
        assert hero.position == glm.vec3(15, 0, 0)

    def test_restore_brings_the_body_back(self):
        mover = CharacterMovement(FLOOR, TALL, position=(10, 0, 10))
        run(mover, 3)
        saved = pickle.loads(pickle.dumps(mover.state()))
        assert mover.resize(LOW)
        assert mover.state_hash() != CharacterMovement(FLOOR, TALL).state_hash()
        mover.restore(saved)
        mover.rotation = glm.quat(glm.vec3(0, 1, 0))
        assert mover.state().collider == TALL
        assert mover.state().rules[:4] == saved.rules[:4]

    def test_bad_input(self):
        mover = CharacterMovement(FLOOR, TALL)
        group = CharacterGroup(FLOOR, TALL)
        group.add("x", (1, 0, 1))
        for one in (mover, group["x"]):
            before = one.state()
            with pytest.raises(TypeError, match="collider must be a CapsuleCollider as before"):
                one.resize(SphereCollider(0.5))
            with pytest.raises(ValueError, match="collider and scale must cover at most"):
                one.resize(CapsuleCollider(1e6, 2e6))
            assert one.state() == before


def bumpy(seed: int, offset: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> TriangleMesh:
    land = HeightMap(np.random.default_rng(seed).normal(size=(12, 12)) * 0.2)
    mesh = land.to_mesh()
    return TriangleMesh(mesh.vertices + np.array(offset), mesh.indices.reshape(-1, 3))


def test_the_triangle_of_a_mesh_stays_when_a_tree_is_built_anew():
    first, other = bumpy(1), bumpy(2, (20.0, 0.0, 0.0))
    ground = Ground([other, first])
    mover = CharacterMovement(ground, SphereCollider(0.5), position=(5, 3, 5))
    for _ in range(60):
        mover.update(1 / 60)
    report = mover.ground_report()
    part, face = ground.part_of(report.triangle)
    assert part == 1
    corners = first.vertices[first.faces[face]]
    assert np.linalg.norm(corners - mover.position64, axis=1).min() < 1.5
    other.refit(np.add(other.vertices[:, [2, 1, 0]], (0.0, 0.0, 40.0)))  # quite another tree
    assert mover.ground_report().triangle == report.triangle
    assert pickle.loads(pickle.dumps(mover)).ground_report().triangle == report.triangle


def test_a_refitted_mesh_is_a_new_mesh_to_who_rests_on_it():
    turned, straight = bumpy(3), bumpy(4)
    turned.refit(straight.vertices)
    seen = []
    for mesh in (turned, straight):
        mover = CharacterMovement(
            mesh, SphereCollider(0.5), position=(5, 3, 5), resolver="simultaneous"
        )
        for _ in range(120):
            mover.update(1 / 60)
        seen.append((mover.position64, tuple(mover.velocity), mover.ground_report()))
    assert seen[0] == seen[1]
