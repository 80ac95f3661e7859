"""First guesses: what users of other libraries type first works, or the error says what to type."""

import copy
import inspect
import pickle
import pydoc
import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import pytest

import terrain_physics
from terrain_physics import (
    AABB,
    OBB,
    CapsuleCollider,
    CharacterGroup,
    CharacterMovement,
    Field,
    FixedStep,
    Ground,
    HeightMap,
    MapCells,
    Octree,
    Ray,
    Recording,
    Rewind,
    Sphere,
    SphereCollider,
    TriangleMesh,
    Walkability,
    World,
    intersect_sphere_sphere,
    raycast,
    smallest_enclosing_sphere,
)
from terrain_physics._guesses import WAYS, Signpost, names_and_ways
from tests.helpers.extras import library

CLASSES = [
    kind
    for name in terrain_physics.__all__
    if inspect.isclass(kind := getattr(terrain_physics, name))
]

# What works at once.
WORKS = (
    "Ground(land)",
    "Ground(mesh)",
    "land.bounds",
    "land.size",
    "ground.bounds",
    "TriangleMesh.sphere(1)",
    "TriangleMesh.sphere(radius=2, position=(0, 5, 0))",
    "TriangleMesh.box((1, 1, 1), position=(1, 2, 3))",
    "ground.move(1, (1, 2, 3))",
    "ground.move(1, glm.vec3(1, 2, 3), 1 / 60)",
    "hero.jump(1.2)",
    "land.raycast((0, 9, 0), (0, -1, 0), max_distance=9)",
    "land.raycast(origin=(0, 9, 0), direction=(0, -1, 0))",
    "land.sweep(Sphere((0, 9, 0), 1), (0, -1, 0), max_distance=9)",
    "land.touches(Sphere((0, 0, 0), 1))",
    "group['ada'].jump(height=1.2)",
)

# What does not, and words of the error.
NAMED = (
    ("HeightMap('a.png')", "HeightMap.load"),
    ("HeightMap(Path('a.png'))", "HeightMap.load"),
    ("HeightMap.from_file('a.png')", "did you mean load"),
    ("HeightMap.from_array(land)", "did you mean HeightMap(heights)"),
    ("HeightMap([[0, 0], [0, 0]], scale=2)", "did you mean cell_size or height_scale"),
    ("HeightMap([[0, 0], [0, 0]], pos=(1, 2, 3))", "did you mean origin"),
    ("HeightMap(data=[[0, 0], [0, 0]])", "did you mean heights"),
    ("HeightMap()", "HeightMap(heights, *, cell_size"),
    ("land.height_at(1, 9, 1)", "by (x, z), without a height"),
    ("land.normal_at(1, 9, 1)", "by (x, z), without a height"),
    ("land.height_at((1, 1))", "height_at(x, z"),
    ("land.height_at(x=1, y=2)", "height_at(x, z"),
    ("land.get_height(1, 1)", "did you mean height_at(x, z)"),
    ("land.height(1, 1)", "did you mean height_at(x, z)"),
    ("land.width", "did you mean size"),
    ("land.shape", "did you mean sample_count"),
    ("land.aabb", "did you mean bounds"),
    ("land.position", "did you mean origin"),
    ("land.dig((1, 0, 1), 1, 1)", "did you mean carve"),
    ("land.set_height(1, 1, 5)", "did you mean land[row, column] = height"),
    ("land.ray_cast((0, 9, 0), (0, -1, 0))", "did you mean raycast(origin, direction)"),
    ("land.raycast((0, 9, 0))", "raycast(origin, direction)"),
    ("land.raycast(ray, 9, 1)", "mask must be given by name: mask=1"),
    ("land.collide(Sphere((0, 0, 0), 1))", "did you mean contacts(shape)"),
    ("land.sphere_cast(Sphere((0, 0, 0), 1))", "did you mean sweep(shape, motion)"),
    ("TriangleMesh.cube((1, 1, 1))", "did you mean box(extents)"),
    ("TriangleMesh.icosphere(1)", "did you mean sphere(radius)"),
    ("TriangleMesh.from_obj('a.obj')", "did you mean load(path), or from_trimesh"),
    ("TriangleMesh('a.obj')", "TriangleMesh.load"),
    ("TriangleMesh.box(size=(1, 1, 1))", "did you mean extents"),
    ("TriangleMesh.sphere(1, segments=9)", "did you mean subdivisions"),
    ("TriangleMesh.box(1, 2, 3)", "give extents as one, (1, 2, 3)"),
    ("mesh.translate((1, 2, 3))", "transformed(matrix)"),
    ("mesh.triangles", "did you mean vertices[faces]"),
    ("Ground('level.ground')", "Ground.load"),
    ("Ground(land, mesh)", "give the parts as one list, [first, second]"),
    ("Ground()", "Ground(parts, *, "),
    ("ground.add_mesh(mesh)", "did you mean add(part)"),
    ("ground.attachRigidBody(mesh)", "did you mean add(part)"),
    ("ground.add(mesh, layer=2)", "did you mean layers"),
    ("ground.set_position(1, (1, 2, 3))", "did you mean move(key, transform, delta_time)"),
    ("ground.update(1 / 60)", "call update(delta_time) of each character or group"),
    ("hero.pos", "did you mean position"),
    ("setattr(hero, 'pos', (1, 2, 3))", "did you mean position"),
    ("hero.on_floor", "did you mean grounded"),
    ("hero.is_on_floor()", "did you mean grounded"),
    ("hero.isGrounded", "did you mean grounded"),
    ("hero.move_and_slide()", "walk(vx, vz), then update(delta_time)"),
    ("hero.move((1, 0, 0))", "walk(vx, vz), then update(delta_time)"),
    ("hero.knock_back((3, 4, 0), stun=0.4)", "add it to velocity"),
    ("hero.apply_impulse((3, 4, 0))", "add it to velocity"),
    ("hero.update(dt=1 / 60)", "update(delta_time)"),
    ("hero.update()", "update(delta_time)"),
    ("hero.walk(3)", "walk(vx, vz)"),
    ("hero.set_position((1, 2, 3))", "did you mean position"),
    ("hero.teleport(pos=(1, 2, 3))", "did you mean position"),
    ("hero.teleport(1, 2, 3)", "give position as one, (1, 2, 3)"),
    ("land.carve(1, 2, 3, 4)", "give center as one, (1, 2)"),
    ("land.carve(1, 2, 3, 4, 5)", "give center as one, (1, 2, 3)"),
    ("land.carve((1, 2), 3, 4, 5)", "too many positional arguments"),
    ("hero.slopeLimit", "did you mean slope_limit, in radians"),
    ("hero.set_destination((5, 5))", "make Walkability(ground, collider), ask it for a path"),
    ("land.find_path((1, 1), (5, 5))", "make Walkability(ground, collider)"),
    ("paths.find_path((1, 1), (5, 5))", "did you mean path(start, goal)"),
    ("paths.bake()", "did you mean update()"),
    ("paths.flow_field((5, 5))", "did you mean field(goals)"),
    ("paths.path(begin=(1, 1), end=(5, 5))", "did you mean"),
    ("paths.path((1, 1), (5, 5)).waypoints", "did you mean points"),
    ("paths.field((5, 5)).directions", "did you mean direction"),
    ("CharacterMovement(land, SphereCollider(0.5), pos=(0, 1, 0))", "did you mean position"),
    ("CharacterMovement(land)", "CharacterMovement(ground, collider"),
    ("CharacterMovement(land, radius=0.5)", "has no argument radius: did you mean collider"),
    ("CharacterMovement(land, SphereCollider(0.5), 1, 2, 3)", "give position as one, (1, 2, 3)"),
    ("CharacterMovement(land, SphereCollider(0.5), speed=6)", "did you mean velocity, or walk("),
    ("CharacterMovement(land, SphereCollider(0.5), jump_height=1)", "did you mean jump(height)"),
    ("CharacterMovement(land, SphereCollider(0.5), autostep=1)", "did you mean step_offset"),
    ("CharacterMovement(land, SphereCollider(0.5), snap_to_ground=1)", "mean snap_distance"),
    ("CharacterMovement(land, SphereCollider(0.5), max_slope=1)", "did you mean slope_limit"),
    ("CapsuleCollider(r=0.4, height=1.8)", "did you mean radius"),
    ("group.spawn('bob', (1, 2, 3))", "did you mean add(key, position)"),
    ("group.add('bob', pos=(1, 2, 3))", "did you mean position"),
    ("group.step(1 / 60)", "did you mean update(delta_time)"),
    ("group.jump(1)", "group[key].jump(height) of a member"),
    ("group.walk_to((1, 0, 1))", "field(goal).lead(group)"),
    ("group.asleep", "they rest and wake by themselves"),
    ("result.on_ground", "did you mean grounded"),
    ("result.position", "the character has its position"),
    ("hit.position", "did you mean point"),
    ("hit.t", "did you mean distance"),
    ("hero.ground_report().angle", "did you mean slope"),
    ("Sphere(r=1)", "Sphere(center, radius)"),
    ("Sphere((0, 0, 0), 1).pos", "did you mean center"),
    ("AABB(min=(0, 0, 0), max=(1, 1, 1))", "AABB(lower, upper)"),
    ("AABB((0, 0, 0), (1, 1, 1)).min", "did you mean lower"),
    ("OBB((0, 0, 0), size=(1, 1, 1))", "OBB(center, half_extents, rotation)"),
    ("Ray((0, 0, 0), (1, 0, 0)).at(3)", "did you mean origin + distance * direction"),
    ("octree.query_pairs()", "did you mean overlapping_pairs()"),
    ("FixedStep(dt=1 / 60)", "did you mean seconds"),
    ("FixedStep(1 / 60).tick(0.016)", "did you mean steps(frame_seconds)"),
    ("recording.start()", "it records from when it was made"),
    ("World(land).step(1 / 60)", "did you mean update(delta_time)"),
    ("World(land).rollback(3)", "Rewind(world) keeps frames"),
    ("Rewind(World(land)).rollback(3, 8, print)", "did you mean replay(frame, now, step)"),
    ("rows.raycast_sphere(origin=[(0, 0, 0)])", "did you mean origins"),
    ("smallest_enclosing_sphere(vertices=[(0, 0, 0)])", "did you mean points"),
    ("terrain_physics.Heightmap", "did you mean HeightMap"),
    ("terrain_physics.CharacterController", "did you mean CharacterMovement"),
    ("terrain_physics.Terrain", "did you mean HeightMap"),
    ("terrain_physics.Box", "did you mean AABB or OBB"),
    ("terrain_physics.Scene", "did you mean World"),
    ("terrain_physics.Lift", "did you mean Ground.move(key, transform, delta_time)"),
    ("terrain_physics.RigidBody", "no attribute 'RigidBody': there are no bodies that tumble"),
    ("terrain_physics.Difference", "did you mean Mismatch"),
    ("terrain_physics.Mismatch(1, 'ada', None, '', None).replayed", "did you mean theirs"),
    ("terrain_physics.NavMesh", "did you mean Walkability"),
    ("terrain_physics.find_path", "did you mean Walkability"),
)


def made(land: HeightMap) -> Walkability:
    paths = Walkability(land, SphereCollider(0.5), spacing=3)
    paths.update()
    return paths


def names() -> dict[str, Any]:
    land, mesh = HeightMap([[0, 0], [0, 0]], cell_size=9), TriangleMesh.box((1, 1, 1))
    hero = CharacterMovement(land, SphereCollider(0.5), position=(1, 0.5, 1))
    group = CharacterGroup(land, SphereCollider(0.5))
    group.add("ada", (2, 0.5, 2))
    ray = Ray((1, 9, 1), (0, -1, 0))
    from pyglm import glm

    things = {
        "land": land,
        "mesh": mesh,
        "ground": Ground([HeightMap([[0, 0], [0, 0]]), TriangleMesh.box((1, 1, 1))]),
        "hero": hero,
        "group": group,
        "ray": ray,
        "hit": land.raycast(ray),
        "result": hero.update(1 / 60),
        "octree": Octree([(0, 0, 0)], 1),
        "recording": Recording(group),
        "paths": made(land),
    }
    kinds: tuple[type, ...] = (
        AABB,
        OBB,
        CapsuleCollider,
        CharacterMovement,
        FixedStep,
        Ground,
        HeightMap,
        Ray,
        Rewind,
    )
    kinds += (Sphere, SphereCollider, TriangleMesh, Walkability, World)
    known = {kind.__name__: kind for kind in kinds}
    others = {"rows": terrain_physics.rows, "glm": glm, "Path": Path}
    others |= {"smallest_enclosing_sphere": smallest_enclosing_sphere}
    return things | known | others | {"terrain_physics": terrain_physics}


@pytest.mark.parametrize("guess", WORKS)
def test_works(guess: str) -> None:
    eval(guess, names())  # noqa: S307 a guess of the list above


@pytest.mark.parametrize(("guess", "way"), NAMED)
def test_is_told_the_way(guess: str, way: str) -> None:
    with pytest.raises((AttributeError, TypeError, ValueError)) as caught:
        eval(guess, names())  # noqa: S307
    assert way in str(caught.value)


def test_a_name_with_several_ways_is_told_by_what_they_have_in_common() -> None:
    told = dict(names_and_ways("CharacterView"))
    assert told["groundReport"] == told["GroundReport"] == "ground_report"
    assert told["stepOffset"] == "step_offset"


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_signposts_hide_nothing(kind: type) -> None:
    """Each is where the table says, raises as a missing name does, and is not listed."""
    for name, _ in names_and_ways(kind.__name__):
        assert isinstance(vars(kind).get(name), Signpost), name
        assert not hasattr(kind, name)
    assert "__getattr__" not in vars(kind)


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_a_class_lists_real_names_alone(kind: type) -> None:
    """For editors that complete names, and for help."""
    assert [name for name in dir(kind) if not hasattr(kind, name)] == []
    assert not any(isinstance(value, Signpost) for _, value in inspect.getmembers(kind))
    members = pydoc.plain(pydoc.TextDoc().document(kind)).partition(" defined here:\n")[2]
    told = re.findall(r"^ \|  (\w+)(?=$| = |\()", members, re.MULTILINE)
    assert [name for name in told if not hasattr(kind, name)] == []
    assert {name for name in dir(kind) if not name.startswith("_")} <= set(told)


def test_objects_list_what_their_classes_do() -> None:
    for thing in names().values():
        if type(thing) in CLASSES:
            assert set(dir(type(thing))) <= {*dir(thing), "__abstractmethods__", "_abc_impl"}
            assert all(hasattr(thing, name) for name in dir(thing)), type(thing)


def test_classes_are_told_the_way_as_objects_are() -> None:
    for kind in CLASSES:
        for name, way in dict(names_and_ways(kind.__name__)).items():
            with pytest.raises(AttributeError, match=re.escape(way.removesuffix("."))):
                getattr(kind, name)


def test_a_subclass_may_be_abstract_and_a_mapping() -> None:
    class Part(HeightMap, ABC):
        @abstractmethod
        def sound(self) -> str: ...

    class Drawable(Protocol):
        def draw(self) -> str: ...

    @runtime_checkable
    class Loud(Protocol):
        def sound(self) -> str: ...

    class Grass(Part, Drawable):
        def draw(self) -> str:
            return "green"

        def sound(self) -> str:
            return "rustles"

    with pytest.raises(TypeError, match="abstract"):
        Part([[0, 0], [0, 0]])  # type: ignore[abstract]
    grass: Any = Grass([[0, 0], [0, 0]])
    assert isinstance(grass, Part)
    assert isinstance(grass, Loud)
    assert not isinstance(HeightMap([[0, 0], [0, 0]]), Loud)
    assert issubclass(Grass, HeightMap)
    assert not issubclass(Grass, Ground)
    assert isinstance(World(grass), Mapping)
    assert isinstance(Sphere((0, 0, 0), 1), Hashable)
    with pytest.raises(TypeError, match="Part has no virtual subclasses: derive"):
        Part.register(Sphere)


def test_hits_stay_tuples_of_their_class() -> None:
    hit: Any = names()["hit"]
    for again in (copy.copy(hit), copy.deepcopy(hit), pickle.loads(pickle.dumps(hit))):
        assert type(again) is type(hit)
        assert again == hit == tuple(hit)
    assert hit._replace(distance=3.0).distance == 3.0
    assert type(hit).__orig_bases__ == (NamedTuple,)


def test_a_wrong_import_is_told_the_way() -> None:
    with pytest.raises(
        ImportError, match="'Heightmap' from 'terrain_physics': did you mean HeightMap"
    ):
        from terrain_physics import Heightmap  # type: ignore[attr-defined]  # noqa: F401
    with pytest.raises(ImportError, match=r"cannot import name 'Nothing' from 'terrain_physics'$"):
        from terrain_physics import Nothing  # type: ignore[attr-defined]  # noqa: F401
    assert not hasattr(terrain_physics, "Heightmap")


def test_the_table_is_of_public_classes() -> None:
    assert set(WAYS) <= {kind.__name__ for kind in CLASSES}


@pytest.mark.parametrize("kind", WAYS)
def test_what_it_says_is_there(kind: str) -> None:
    owner = getattr(terrain_physics, kind)
    owners: tuple[Any, ...] = (
        owner,
        CharacterMovement,
        CharacterGroup,
        Ground,
        HeightMap,
        MapCells,
        Field,
    )
    owners = (*owners, Rewind, Walkability, terrain_physics)
    for way in WAYS[kind]:
        if way.isidentifier():
            assert hasattr(owner, way) or way in inspect.get_annotations(owner), way
        for called in re.findall(r"(\w+)\(", way):
            assert any(hasattr(one, called) for one in owners), way


def test_wrong_names_are_not_there_for_python() -> None:
    land = names()["land"]
    assert not hasattr(land, "width")
    assert getattr(land, "width", 5) == 5
    assert "width" not in dir(land)
    assert "size" in dir(land)
    assert pickle.loads(pickle.dumps(land)).size == copy.copy(land).size == (9.0, 9.0)


def test_a_subclass_may_have_what_others_are_told_the_way_of() -> None:
    class Hero(CharacterMovement):
        stun: float

        def __init__(self) -> None:
            super().__init__(HeightMap([[0, 0], [0, 0]]), SphereCollider(0.5))
            self.speed, self.stun = 3.0, 0.5

        def push(self) -> str:
            return "pushes"

    hero = Hero()
    assert (hero.speed, hero.stun, hero.push()) == (3.0, 0.5, "pushes")
    assert "speed" in dir(hero)
    assert "pos" not in dir(hero)
    with pytest.raises(AttributeError, match="Hero has no attribute pos: did you mean position"):
        hero.pos  # type: ignore[attr-defined]  # noqa: B018


def test_errors_from_inside_stay_as_they_are() -> None:
    with pytest.raises(TypeError, match="extents must be three numbers, got 'big'") as caught:
        TriangleMesh.box("big")
    assert caught.value.__cause__ is None

    class Odd:
        def __iter__(self) -> Any:
            raise TypeError("odd")

    with pytest.raises(TypeError, match="parts must be a sequence"):
        Ground(Odd())  # type: ignore[arg-type]


def test_functions_keep_their_names_and_signatures() -> None:
    assert next(iter(inspect.signature(TriangleMesh.box).parameters)) == "extents"
    assert TriangleMesh.box.__name__ == "box"
    assert pickle.loads(pickle.dumps(intersect_sphere_sphere)) is intersect_sphere_sphere
    assert pickle.loads(pickle.dumps(raycast)) is raycast
    land = HeightMap([[0, 0], [0, 0]])
    asked = pickle.loads(pickle.dumps(land.height_at))
    assert asked(0.5, 0.5) == 0.0
    for question in (land.height_at, land.normal_at, land.raycast):
        parameters = inspect.signature(question).parameters
        assert parameters["mask"].kind is inspect.Parameter.KEYWORD_ONLY
        assert "_more" not in parameters


def test_warnings_name_the_line_of_the_game(tmp_path: Path) -> None:
    images = library("PIL.Image", "test")
    images.fromarray(np.full((3, 3), 700, np.uint16)).save(tmp_path / "a.png")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        HeightMap.load(tmp_path / "a.png")
    assert [Path(one.filename).name for one in caught] == [Path(__file__).name]
