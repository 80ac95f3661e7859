"""Write the contest problems and their answers: `python -m demo.making.contest [FOLDER]`.

The answers come from exact fractions (tests/oracles/counter.py), which share no code with the
library.
"""

import sys
from pathlib import Path

import numpy as np

from tests.counter import data_sets
from tests.oracles import counter as oracle

from . import ASSETS

SAMPLE = """\
4 6
0 0 0  4 0 0  0 0 4
0 2 0  4 2 0  0 2 4
10 0 10  10 0 10  10 0 10
20 0 0  24 0 0  22 0 0

1  1 1 1
2  1 1 1
0.5  1 1 1
100  1 1 1
3  10 3 10
.5e1  22 +3 4.
"""


def number(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))


def problem(name: str, n: int, q: int, seed: int) -> str:
    triangles, spheres = data_sets.SMALL[name](np.random.default_rng(seed), n, q)
    rows = [" ".join(map(number, row)) for table in (triangles, spheres) for row in table.tolist()]
    return "\n".join([f"{n} {q}", *rows]) + "\n"


def joined(*names: str, n: int, q: int, seed: int) -> str:
    """Return one problem that holds the triangles and the spheres of several."""
    parts = [problem(name, n, q, seed + k).splitlines()[1:] for k, name in enumerate(names)]
    triangles = [row for part in parts for row in part[:n]]
    spheres = [row for part in parts for row in part[n:]]
    return "\n".join([f"{len(triangles)} {len(spheres)}", *triangles, *spheres]) + "\n"


PROBLEMS = {
    "sample": SAMPLE,
    "ties": joined("integer_ties", "pythagorean_ties", "rounded_ties", n=40, q=30, seed=1),
    "decimal_ties": joined("decimal_ties", "decimal_ties", "decimal_ties", n=30, q=25, seed=2),
    "degenerate": joined("degenerate", "needles", n=60, q=40, seed=3),
    "nested": problem("nested", 60, 80, 4),
    "duplicates": joined("duplicated", "all_the_same", n=60, q=40, seed=5),
    "clustered": problem("clustered", 300, 60, 6),
    "uniform": problem("uniform", 300, 60, 7),
    "far": joined("far_from_origin", "far_spheres", "wide", n=40, q=30, seed=8),
    "no_triangles": "0 3\n0 0 0 0\n1 2 3 4\n1e300 0 0 0\n",
    "no_spheres": "1 0\n0 0 0 4 0 0 0 0 4\n",
    "empty": "0 0\n",
}


def answer(text: str) -> str:
    tokens = text.split()
    n, numbers = int(tokens[0]), np.array(tokens[2:], np.float64)
    counts = oracle.count(numbers[: 9 * n].reshape(-1, 9), numbers[9 * n :].reshape(-1, 4))
    return "".join(f"{count}\n" for count in counts)


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in PROBLEMS.items():
        (folder / f"{name}.in").write_text(text, newline="\n")
        (folder / f"{name}.out").write_text(answer(text), newline="\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ASSETS / "contest")
