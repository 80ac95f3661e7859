"""Recipes are pasted into one game: each pair of them goes together, in either order.

Together they have one ground, and all their characters on it or one hero, and their loops run side
by side. What they print then is nobody's promise, but none of them raises: with one hero, nothing
of the library does.
"""

from pathlib import Path

import pytest

from tests.docs.test_pages import RECIPES
from tests.helpers.examples import times
from tests.helpers.one_world import has_a_world, troubles
from tests.helpers.pages import Recipe, recipes_of

TOGETHER = [recipe for recipe in RECIPES if has_a_world(recipe)]
# Beside the hills of that land, the others would all stand on these.
ON_FLAT_LAND = [
    recipe for recipe in TOGETHER if not any("land.png" in block.code for block in recipe.code())
]

# Recipes that cannot go with others as they stand, and what they say then.
ALONE = {
    # They make their level twice, or save and load it: in a game that is the whole level.
    "save: Save and load a game": ("AttributeError: '_GameWorld' object has no attribute 'save'",),
    "save: Multiplayer: rollback": ("TypeError: world must be",),
    "save: Record and replay": (
        "ValueError: make_scene must give the ground as it was when the recording began",
        # Its hero is another one's, on a land in tiles, without the lift.
        "KeyError: 'key must be that of a part",
    ),
    "click_to_move: Click to move": (
        # Its hero may stand where another one has put a block, or on a slope to slide down.
        "ValueError: start must be",
        # The other one makes a hill, and the click is on its far side, where no way leads.
        "AttributeError: 'NoneType' object has no attribute 'length'",
        # The other one makes the hero crouch, drop through platforms, or keep off ledges.
        "ValueError: collider must be as large as the map's",
        "ValueError: mask must be the map's",
        "ValueError: keep_off_ledges must be the map's",
        # The hero is another one's, on a land in tiles.
        "ValueError: ground must be the map's own",
    ),
    # Their goals are on a slope to slide down.
    "horde: Build a house where people walk": ("ValueError: goals must be at most 1 m",),
    "horde: Stairs to a roof": ("ValueError: goals[0] must be at most 1 m",),
}

FRAMES, ALL_FRAMES = 30, 300


def wrong(found: dict[str, str]) -> dict[str, str]:
    """Return what recipes must not raise."""
    return {
        name: text
        for name, text in found.items()
        if not any(words in text for words in ALONE.get(name, ()))
    }


def test_most_recipes_have_a_world() -> None:
    names = {recipe.name for recipe in TOGETHER}
    assert len(names) > 40
    assert {
        "landing: Footsteps",
        "moving_platforms: A lift",
        "crowd: Round a post",
        "tiles: A land in a file",
        *ALONE,
    } <= names


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("recipes", "has_one_hero"),
    [
        pytest.param(TOGETHER, False, id="all"),
        pytest.param(ON_FLAT_LAND, False, id="flat", marks=pytest.mark.full),
        pytest.param(ON_FLAT_LAND[::-1], True, id="one_hero", marks=pytest.mark.full),
    ],
)
def test_all_together(recipes: list[Recipe], *, has_one_hero: bool) -> None:
    assert wrong(troubles(recipes, times(FRAMES), has_one_hero=has_one_hero)) == {}


@pytest.mark.full
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("has_one_hero", [False, True], ids=["heroes", "one_hero"])
@pytest.mark.parametrize("first", TOGETHER, ids=lambda recipe: recipe.name)
def test_each_pair(first: Recipe, *, has_one_hero: bool) -> None:
    found = [
        f"{first.name} and {second.name}: {text}"
        for second in TOGETHER
        if second != first
        for text in wrong(troubles([first, second], ALL_FRAMES, has_one_hero=has_one_hero)).values()
    ]
    assert found == []


MACHINE = """
from terrain_physics import Ground, HeightMap, TriangleMesh
ground = Ground([HeightMap([[0, 0], [0, 0]], cell_size=9), TriangleMesh.box((1, 1, 1))])
"""
STEPS = """
from terrain_physics import CharacterMovement, Ground, HeightMap, SphereCollider, TriangleMesh
names = ["grass"]
land = HeightMap([[0, 0], [0, 0]], cell_size=9, material_names=names)
hero = CharacterMovement(land, SphereCollider(0.5), position=(5, 0.5, 5))
hero.update(1 / 60)
print(names[hero.ground_report().material])
"""
DOOR = """
from pyglm import glm
from terrain_physics import Ground, HeightMap, TriangleMesh
ground = Ground([HeightMap([[0, 0], [0, 0]]), TriangleMesh.box((1, 2, 1))], names=["land", "door"])
for key in (1, "door"):
    ground.move(key, ((3, 0, 3), glm.quat()))
    print(1 / (ground.height_at(3, 3) == 1.0))
"""


def recipe(folder: Path, name: str, code: str) -> Recipe:
    file = folder / f"{name}.md"
    file.write_text(f"```python{code}```\n", encoding="utf-8")
    (found,) = recipes_of(file)
    return found


def test_what_goes_wrong_is_found(tmp_path: Path) -> None:
    machine, steps = recipe(tmp_path, "machine", MACHINE), recipe(tmp_path, "steps", STEPS)
    named = STEPS.replace("names[hero.ground_report().material]", "hero.ground_report().part")
    assert troubles([steps], 9) == {}
    assert troubles([machine, steps], 9) == {
        "steps": "steps.md:7: IndexError: list index out of range"
    }
    assert troubles([machine, recipe(tmp_path, "named", named)], 9) == {}


def test_each_has_keys_and_names_of_its_own(tmp_path: Path) -> None:
    doors = [recipe(tmp_path, name, DOOR) for name in ("one", "other")]
    assert troubles([recipe(tmp_path, "machine", MACHINE), *doors], 9) == {}


def test_a_program_that_goes_on_is_ended(tmp_path: Path) -> None:
    endless = STEPS.replace("hero.update", "while True: hero.update")
    assert troubles([recipe(tmp_path, "endless", endless)] * 2, 9) == {}
