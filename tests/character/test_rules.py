"""The rules of a character: one table, from which values, properties and keywords follow."""

import ast
import copy
import inspect
import json
import math
import pickle
import re
import threading
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import pytest

from terrain_physics import (
    CharacterGroup,
    CharacterMovement,
    CharacterRules,
    CharacterView,
    HeightMap,
    Recording,
    SphereCollider,
    replay,
)
from terrain_physics._kernels.character.state import layout
from terrain_physics._kernels.character.state.columns import FLAG, Column
from terrain_physics.character.rule import RULES, Rule
from terrain_physics.character.rules import Default, RuleKeywords
from tests.helpers.characters import FLOOR, FRAME

BALL = SphereCollider(0.5)
NAMES = [*RULES, "material_rules"]
ICE = {"ice": {"friction": 0.1, "speed": 1.0}}

# A value of each rule that is not its default.
OTHERS: dict[str, Any] = {
    "gravity": 3.0,
    "gravity_scale": -0.5,
    "slope_limit": 1.0,
    "ground_rule": "sum",
    "ground_friction": 5.0,
    "max_rounds": 7,
    "resolver": "simultaneous",
    "snap_distance": 0.1,
    "step_offset": 0.2,
    "slope_speed": "surface",
    "mask": 3,
    "leave": "none",
    "turn_with_ground": True,
    "mass": math.inf,
    "layers": 6,
    "keep_off_ledges": True,
    "material_rules": ICE,
}
GOAT = CharacterRules(**OTHERS)

DEFAULTS: dict[str, Any] = {
    "gravity": 9.81,
    "gravity_scale": 1.0,
    "slope_limit": math.radians(30),
    "ground_rule": "contact",
    "ground_friction": 20.0,
    "max_rounds": 16,
    "resolver": "shuffled",
    "snap_distance": 0.3,
    "step_offset": 0.3,
    "slope_speed": "horizontal",
    "mask": 2**32 - 1,
    "leave": "velocity",
    "turn_with_ground": False,
    "mass": 80.0,
    "layers": 1,
    "keep_off_ledges": False,
    "material_rules": {},
}


def made(**rules) -> CharacterMovement:
    return CharacterMovement(FLOOR, BALL, position=(1, 0.5, 1), **rules)


def herd(**rules) -> CharacterGroup:
    group = CharacterGroup(FLOOR, BALL, **rules)
    group.add("ada", (1, 0.5, 1))
    return group


class TestTable:
    def test_rules_are_columns_of_the_table(self):
        marked = [column.name for column in layout.RULES.columns if column.is_rule]
        assert list(RULES) == marked
        assert OTHERS.keys() == set(NAMES)
        assert all(isinstance(getattr(CharacterView, name), Rule) for name in RULES)

    def test_a_column_is_all_that_a_rule_needs(self):
        """Flags, words, whole and real numbers: the check follows from the column."""
        from terrain_physics.character import rule as module

        numbers = layout.RULES.defaults()
        span = layout.RULES.columns[0].allowed
        for column, good, bad, message in (
            (Column("layers", "", allowed=FLAG), True, 1, "layers must be True or False"),
            (Column("leave", "", words=("a", "b")), "b", "c", "leave must be one of 'a', 'b'"),
            (Column("kind", "", allowed=span), 1, 3, "kind must be from 0 to 2, got 3"),
            (Column("offset", ""), -2.5, math.nan, "offset must be finite"),
        ):
            rule = module._made(column)
            rule.write(numbers, good)
            assert rule.read(numbers) == good
            assert rule.read_all(numbers[np.newaxis]).tolist() == [good]
            with pytest.raises((TypeError, ValueError), match=message):
                rule.write(numbers, bad)

    def test_words_stand_for_the_numbers_of_kernels(self):
        assert layout.SIMULTANEOUS == RULES["resolver"].column.words.index("simultaneous")
        assert (layout.KEEPS_UPWARD, layout.KEEPS_NONE, layout.RULE_SUM) == (1, 2, 1)
        described = layout.RULES.described()
        assert "at once: 0 shuffled, 1 simultaneous" in described
        assert "surface" in described

    @pytest.mark.parametrize("name", ["resolver", "leave", "ground_rule", "slope_speed"])
    def test_numbers_without_a_word_are_refused_in_states(self, name):
        state = made().state()
        rules = list(state.rules)
        rules[layout.RULES.place(name)] = float(len(RULES[name].column.words))
        bad = type(state)(state.values, tuple(rules), state.linear, 0, state.collider)
        most = len(RULES[name].column.words) - 1
        with pytest.raises(ValueError, match=f"{name} must be whole and from 0 to {most}, got"):
            made().restore(bad)


class TestWrittenOut:
    """The blocks that editors and readers see say the same as the table, in its order."""

    def test_the_keywords_of_the_constructor(self):
        parameters = inspect.signature(CharacterMovement).parameters
        written = {n: p for n, p in parameters.items() if isinstance(p.default, Default)}
        assert list(written) == NAMES
        for name, rule in RULES.items():
            assert written[name].default.value == rule.default
            assert repr(written[name].default) == repr(rule.default)
        assert written["material_rules"].default.value == {}

    def test_the_types_of_the_keywords(self):
        hints = get_type_hints(RuleKeywords)
        assert list(hints) == NAMES
        own = get_type_hints(CharacterMovement.__init__)
        shown = get_type_hints(CharacterView)
        for name, rule in RULES.items():
            column, kind = rule.column, hints[name]
            read: Any = Rule
            assert own[name] == kind
            assert shown[name] == read[kind]
            if column.words:
                assert get_origin(kind) is Literal
                assert get_args(kind) == column.words
            else:
                whole = bool if column.allowed == FLAG else int
                assert kind is (whole if column.allowed.is_whole else float)

    def test_the_signature_of_the_value(self):
        parameters = inspect.signature(CharacterRules).parameters
        assert list(parameters) == NAMES
        defaults = {name: parameter.default for name, parameter in parameters.items()}
        assert CharacterRules(**defaults) == CharacterRules()

    def test_the_documented_defaults(self):
        text = inspect.getdoc(CharacterMovement) or ""
        told = re.findall(r"^(\w+) : .*, (?:default (.+)|optional)$", text, re.MULTILINE)
        assert [name for name, _ in told if name in NAMES] == NAMES
        defaults = {name: default for name, default in told if name in RULES}
        assert defaults.pop("slope_limit") == "30 degrees"
        assert RULES["slope_limit"].default == math.radians(30)
        for name, default in defaults.items():
            assert ast.literal_eval(default) == RULES[name].default


class TestValue:
    def test_it_has_the_rules(self):
        for name, other in OTHERS.items():
            assert getattr(GOAT, name) == other
            assert getattr(CharacterRules(), name) != other
            assert CharacterRules(**{name: other}).to_dict()[name] == other  # type: ignore[literal-required]

    def test_defaults_are_those_of_a_character(self):
        assert CharacterRules().to_dict() == DEFAULTS
        assert made().rules == CharacterRules() == herd()["ada"].rules

    def test_equal_where_all_rules_are(self):
        assert CharacterRules(**OTHERS) == GOAT
        assert hash(CharacterRules(**OTHERS)) == hash(GOAT)
        values = {CharacterRules(), *(CharacterRules(**{name: OTHERS[name]}) for name in NAMES)}
        assert len(values) == len(NAMES) + 1
        assert CharacterRules() != dict(CharacterRules().to_dict())
        assert CharacterRules(gravity_scale=0.0) == CharacterRules(gravity_scale=-0.0)

    def test_equal_whatever_the_body_is(self):
        small = CharacterMovement(FLOOR, SphereCollider(0.2), rules=GOAT)
        assert small.rules == made(rules=GOAT).rules == GOAT
        assert hash(small.rules) == hash(GOAT)

    def test_round_trips(self):
        assert CharacterRules(**GOAT.to_dict()) == GOAT
        assert list(GOAT.to_dict()) == NAMES
        assert GOAT.to_dict() == OTHERS
        assert CharacterRules(**json.loads(json.dumps(GOAT.to_dict()))) == GOAT
        for again in (pickle.loads(pickle.dumps(GOAT)), copy.copy(GOAT), copy.deepcopy(GOAT)):
            assert again == GOAT
            assert again.mass == math.inf

    def test_the_repr_tells_what_is_not_the_default(self):
        assert repr(CharacterRules()) == "CharacterRules()"
        assert repr(CharacterRules(mass=3, mask=1)) == "CharacterRules(mask=1, mass=3.0)"

    def test_replace_leaves_the_others(self):
        lamb = GOAT.replace(mass=3, material_rules={})
        assert (lamb.mass, lamb.material_rules) == (3.0, {})
        assert lamb.replace(mass=math.inf, material_rules=ICE) == GOAT
        assert GOAT.mass == math.inf

    def test_how_long_updates_last_is_no_rule(self):
        with pytest.raises(TypeError, match=r"rules must be of .*, got 'max_delta'"):
            CharacterRules(max_delta=0.1)  # type: ignore[call-arg]

    def test_frozen(self):
        with pytest.raises(AttributeError, match=r"are frozen: replace\(mass=...\) returns others"):
            GOAT.mass = 3  # type: ignore[arg-type]
        with pytest.raises(AttributeError, match="are frozen: replace"):
            GOAT.wool = "white"
        with pytest.raises(AttributeError, match="are frozen, and keep their mass"):
            del GOAT.mass
        with pytest.raises(TypeError):
            GOAT.material_rules["ice"]["speed"] = 3  # type: ignore[index]
        content = GOAT.to_dict()
        content["material_rules"]["ice"]["friction"] = 9  # type: ignore[index]
        assert GOAT.to_dict() == OTHERS

    @pytest.mark.parametrize(
        ("rules", "error", "message"),
        [
            ({"slope_limit": 45}, ValueError, "slope_limit must be .* use math.radians"),
            (
                {"gravity": -1},
                ValueError,
                "gravity must be >= 0 m/s.2, downward, got -1.0; gravity",
            ),
            ({"mass": 0}, ValueError, "mass must be finite and > 0"),
            ({"leave": "down"}, ValueError, "leave must be one of 'velocity', 'up', 'none'"),
            ({"keep_off_ledges": 1}, TypeError, "keep_off_ledges must be True or False, got 1"),
            ({"max_rounds": 0}, ValueError, "max_rounds must be from 1 to 1000, got 0"),
            ({"material_rules": 3}, TypeError, "material_rules must be a mapping"),
            ({"gravity": None}, TypeError, "gravity must be a finite number, got None"),
            ({"gravty": 1}, TypeError, "rules must be of gravity, .*did you mean gravity"),
        ],
    )
    def test_bad_rules_are_refused_as_by_a_character(self, rules, error, message):
        with pytest.raises(error, match=message):
            CharacterRules(**rules)
        with pytest.raises(error, match=message):
            GOAT.replace(**rules)
        with pytest.raises(error, match=message):
            herd(**rules)


class TestTaken:
    def test_equal_rules_give_equal_hashes_whatever_the_sign_of_a_zero(self):
        hashes = {
            CharacterMovement(
                FLOOR, SphereCollider(0.5), rules=CharacterRules(ground_friction=zero)
            ).state_hash()
            for zero in (0.0, -0.0)
        }
        assert len(hashes) == 1

    """By characters and groups, where a keyword beats the object."""

    def test_by_a_character(self):
        assert made(rules=GOAT).rules == GOAT
        assert made(rules=GOAT).state_hash() == made(**OTHERS).state_hash()

    @pytest.mark.parametrize("name", NAMES)
    def test_a_keyword_beats_the_object_even_by_the_default(self, name):
        usual = CharacterRules().to_dict()[name]  # type: ignore[literal-required]
        expected = GOAT.replace(**{name: usual})
        assert made(rules=GOAT, **{name: usual}).rules == expected
        assert herd(rules=GOAT, **{name: usual})["ada"].rules == expected
        group = herd(rules=CharacterRules())
        group.add("bob", (2, 1, 2), rules=GOAT, **{name: usual})
        group.add_many(["eve"], [(3, 1, 3)], rules=GOAT, **{name: usual})
        group.add("dan", (4, 1, 4))
        group.set_rules(GOAT, keys=["dan"], **{name: usual})
        assert [group[key].rules for key in ("bob", "eve", "dan")] == [expected] * 3
        assert group["ada"].rules == CharacterRules()

    def test_newcomers_have_the_groups_rules_but_for_some(self):
        group = herd(rules=GOAT)
        group.add("bob", (2, 1, 2), mass=3)
        group.add_many([1, 2], [(3, 1, 3), (4, 1, 4)], mass=[1, 2])
        group.add("eve", (5, 1, 5), rules=CharacterRules())
        assert group["bob"].rules == GOAT.replace(mass=3)
        assert [group[key].rules for key in (1, 2)] == [GOAT.replace(mass=1), GOAT.replace(mass=2)]
        assert group["eve"].rules == CharacterRules()
        assert group["eve"].material_rules == {}

    def test_set_rules_without_a_value_leaves_the_others(self):
        group = herd(rules=GOAT)
        group.add("bob", (2, 1, 2), rules=GOAT.replace(gravity=1))
        group.set_rules(mass=3)
        assert group["ada"].rules == GOAT.replace(mass=3)
        assert group["bob"].rules == GOAT.replace(mass=3, gravity=1)

    @pytest.mark.parametrize("bad", [{}, OTHERS, "goat", 3, CharacterRules])
    def test_all_else_is_refused(self, bad):
        group, mover = herd(), made()
        before = group.state_hash(), mover.state_hash()
        for attempt in (
            lambda: made(rules=bad),
            lambda: herd(rules=bad),
            lambda: group.add("bob", (2, 1, 2), rules=bad),
            lambda: group.add_many(["bob"], [(2, 1, 2)], rules=bad),
            lambda: group.set_rules(bad),
            lambda: setattr(mover, "rules", bad),
            lambda: setattr(group["ada"], "rules", bad),
        ):
            with pytest.raises(TypeError, match="rules must be a CharacterRules, got"):
                attempt()
        assert (group.state_hash(), mover.state_hash()) == before
        assert len(group) == 1

    def test_an_adopted_member_keeps_its_own(self):
        group, hero = herd(rules=GOAT), made(mass=7)
        with pytest.raises(TypeError, match="'hero': rules must be left to the movement"):
            group.add("hero", movement=hero, rules=GOAT)
        group.add("hero", movement=hero)
        assert hero.rules == group["hero"].rules == CharacterRules(mass=7)
        hero.rules = GOAT
        assert group["hero"].rules == GOAT
        group["hero"].rules = GOAT.replace(mass=3)
        group.remove("hero")
        assert hero.rules == GOAT.replace(mass=3)
        assert group["ada"].rules == GOAT

    def test_a_state_brings_its_rules(self):
        mover, state = made(rules=GOAT), made(mass=7).state()
        mover.restore(state)
        assert mover.rules == CharacterRules(mass=7)
        mover.rules = GOAT
        mover.reset((1, 0.5, 1))
        assert mover.rules == GOAT
        group = herd()
        saved = group.state()
        group.set_rules(GOAT)
        group.restore(saved)
        assert group["ada"].rules == CharacterRules()


class TestSet:
    """All at once, on a character that lives."""

    @pytest.mark.parametrize("name", NAMES)
    def test_as_one_by_one(self, name):
        """A resting character takes as much notice as where the one rule is set."""
        movers = [made(), made()]
        for _ in range(120):
            for mover in movers:
                mover.update(FRAME)
        one, two = movers
        setattr(one, name, OTHERS[name])
        two.rules = two.rules.replace(**{name: OTHERS[name]})
        assert one.state() == two.state()
        assert one._row().packed().tolist() == two._row().packed().tolist()
        for _ in range(20):
            one.update(FRAME)
            two.update(FRAME)
        assert one.state_hash() == two.state_hash()

    def test_members_as_one_alone(self):
        mover, group = made(seed=3), CharacterGroup(FLOOR, BALL)
        group.add("ada", (1, 0.5, 1), seed=3)
        for frame in range(60):
            if frame == 20:
                mover.rules = group["ada"].rules = GOAT
            if frame == 40:
                mover.rules = CharacterRules()
                group.set_rules(CharacterRules())
            mover.update(FRAME)
            group.update(FRAME)
        assert mover.state_hash() == group["ada"].state_hash()

    def test_the_same_rules_leave_a_sleeper_asleep(self):
        mover = made(rules=GOAT.replace(gravity_scale=1))
        for _ in range(60):
            mover.update(FRAME)
        before = mover._row().packed().tolist()
        mover.rules = mover.rules
        assert mover._row().packed().tolist() == before

    def test_what_was_read_stays(self):
        mover = made()
        before = mover.rules
        mover.gravity, mover.material_rules = 3, ICE
        assert before == CharacterRules()
        assert mover.rules == CharacterRules(gravity=3, material_rules=ICE)

    def test_a_recording_keeps_them(self):
        group = herd()
        recording = Recording(group)
        for frame in range(30):
            if frame == 10:
                group["ada"].rules = GOAT
            if frame == 20:
                group.set_rules(CharacterRules(gravity_scale=0.5))
                group.add("bob", (3, 2, 3), rules=GOAT)
            recording.update(FRAME)
        again = herd()
        assert replay(recording, lambda: again) is None
        assert again["ada"].rules == CharacterRules(gravity_scale=0.5)
        assert again["bob"].rules == GOAT

    def test_one_value_for_characters_in_several_threads(self):
        land = HeightMap(np.zeros((9, 9)))
        hashes = []

        def play() -> None:
            mover = CharacterMovement(land, BALL, position=(4, 2, 4), rules=GOAT)
            for frame in range(60):
                mover.rules = GOAT.replace(gravity_scale=1 + frame % 3)
                mover.update(FRAME)
            hashes.append(mover.state_hash())

        threads = [threading.Thread(target=play) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(hashes) == 4
        assert len(set(hashes)) == 1
