"""Inputs of `count`, good and damaged: right answers, or one line that says where, and status 2.

What is right is said by a reader and a counter that share nothing with the library.
"""

import gzip
import random
import re

import numpy as np
import pytest

from terrain_physics.counter import counter
from tests.counter import data_sets
from tests.counter.command import count
from tests.counter.test_streaming import messy, tokens_of
from tests.heightmap.test_files_damaged import mutated
from tests.oracles import counter as oracle

_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_SPACE = rb"[ \t\n\r\v\f]+"
_WORDS = (
    "x",
    "nan",
    "inf",
    "1_0",
    "0x1",
    "--1",
    "1e",
    "1e999",
    "-0",
    "1e-999",
    ".",
    "+.5",
    "9" * 40,
)

LARGEST_EXACT = 1e9
"""Meters; longer triangles are so thin that they may count as segments (see `touches`)."""


def case(seed: int) -> None:
    """Count one input."""
    chance = random.Random(seed)  # noqa: S311
    content: bytes | None = _content(chance)
    packed = chance.random() < 0.3
    given = gzip.compress(content or b"") if packed else content or b""
    if packed and chance.random() < 0.5:
        given, content = mutated(given, chance), None
    with pytest.MonkeyPatch.context() as patch:
        if chance.random() < 0.5:
            patch.setattr("terrain_physics.counter.text._PIECE", chance.choice((64, 100, 1000)))
            patch.setattr("terrain_physics.counter.text._LEAST_ROOM", 5)
            patch.setattr(counter, "SPHERES_AT_ONCE", 7)
            if content is not None and longest_word(content) > 40:
                content = None  # refused or not, as it lies in the pieces
        status, out, err = count(stdin=given)
    assert status in {0, 2}
    if status == 2:
        assert out == ""
        assert re.fullmatch(r"stdin(:\d+)?: [^\n]+\n", err), err
    else:
        assert err == ""
    if content is not None:
        expected = answers(content)
        assert status == (2 if expected is None else 0), err
        if expected is not None and largest_number(content) < LARGEST_EXACT:
            assert out == "".join(f"{number}\n" for number in expected)


def _content(chance: random.Random) -> bytes:
    """Return the text of a small problem, more often than not with a mistake."""
    rng = np.random.default_rng(chance.getrandbits(32))
    make = data_sets.SMALL[chance.choice(list(data_sets.SMALL))]
    triangles, spheres = make(rng, 9, 9)
    tokens = tokens_of(triangles[: chance.randrange(10)], spheres[: chance.randrange(10)])
    kind = chance.randrange(5)
    place = chance.randrange(len(tokens))
    if kind == 1:
        tokens[place] = chance.choice(_WORDS)
    elif kind == 2:
        del tokens[place]
    elif kind == 3:
        tokens.insert(place, chance.choice(tokens))
    text = messy(tokens, chance.getrandbits(32))[0].encode()
    return mutated(text, chance) if kind == 4 else text


def largest_number(content: bytes) -> float:
    return max(abs(float(word)) for word in re.split(_SPACE, content) if word)


def longest_word(content: bytes) -> int:
    return max(map(len, re.split(_SPACE, content)))


def answers(content: bytes) -> list[int] | None:
    """Return the counts, None for what has to be refused."""
    words = [word for word in re.split(_SPACE, content) if word]
    if not all(_NUMBER.fullmatch(word) for word in words):
        return None
    numbers = [float(word) for word in words]
    if not np.isfinite(numbers).all() or len(words) < 2:
        return None
    if not all(re.fullmatch(rb"\+?\d+", word) for word in words[:2]):
        return None
    triangles, spheres = int(words[0]), int(words[1])
    if len(numbers) != 2 + 9 * triangles + 4 * spheres:
        return None
    corners = np.reshape(numbers[2 : 2 + 9 * triangles], (-1, 9))
    balls = np.reshape(numbers[2 + 9 * triangles :], (-1, 4))
    if (balls[:, 0] < 0).any():
        return None
    return oracle.count(corners.tolist(), balls.tolist())
