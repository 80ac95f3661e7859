"""Ask terrain libraries the same questions, and draw how long they take to answer.

`python -m demo.making.terrain_plot` needs the extra `bench`, and writes `terrain_peers.png` and
`terrain_peers.md` beside itself.
"""

import os
import platform

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import terrain_physics
from tests.benchmarks.terrain_peers import PEERS, QUESTIONS, Ours, Row, measure

from . import ASSETS

COLORS = dict(
    zip(
        [Ours.name, *(peer.name for peer in PEERS)],
        ["#d1495b", "#30638e", "#66a182", "#edae49", "#8d96a3", "#5f4b8b"],
        strict=True,
    )
)


def draw(rows: list[Row]) -> None:
    figure, axes = plt.subplots(figsize=(7.6, 5.2), dpi=120)
    place, ticks = 0.0, []
    for question in QUESTIONS:
        answers = [row for row in rows if row[0] == question]
        ticks.append(place + (len(answers) - 1) / 2)
        for _, name, seconds, _ in answers:
            axes.barh(place, 1e6 * seconds, color=COLORS[name], height=0.9)
            axes.text(1.1e6 * seconds, place, f"{1e6 * seconds:.3g}", va="center", fontsize=7)
            place += 1.0
        place += 1.0
    axes.set_yticks(ticks, [question.replace(", ", ",\n") for question in QUESTIONS])
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel("microseconds for each answer, one thread, called from Python (less is better)")
    handles = [plt.Rectangle((0, 0), 1, 1, color=color) for color in COLORS.values()]
    axes.legend(handles, COLORS, fontsize=8, loc="lower right")
    axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(ASSETS / "terrain_peers.png", metadata={"Software": None})


def table(rows: list[Row], versions: dict[str, str]) -> str:
    lines = [
        "# Terrain queries beside other libraries",
        "",
        "Microseconds for each answer on one thread, called from Python, on `land.png` (513 x 513",
        "samples); in brackets how often the answer agrees with ours to 5 cm. Medians, all in one",
        "run, by `python -m demo.making.terrain_plot`. Many: 100,000 questions in one call where",
        "the library has such a call, else 1,000 calls.",
        "",
        "| | " + " | ".join(COLORS) + " |",
        "|---" * (len(COLORS) + 1) + "|",
    ]
    for question in QUESTIONS:
        mine = [row for row in rows if row[0] == question]
        cells = {name: f"{1e6 * each:.3g} ({same:.1%})" for _, name, each, same in mine}
        columns = [question, *(cells.get(name, "") for name in COLORS)]
        lines.append("| " + " | ".join(columns) + " |")
    packages = {Ours.name: terrain_physics.__version__} | versions | {"numpy": np.__version__}
    lines += [
        "",
        "PyBullet splits cells along the other diagonal; all but MuJoCo and ours use float32.",
        "",
        "Versions: " + ", ".join(f"{name} {version}" for name, version in packages.items()) + ".",
        f"Python {platform.python_version()}, {platform.system()}, {os.cpu_count()} cores.",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    rows, versions = measure(100_000, 7)
    draw(rows)
    (ASSETS / "terrain_peers.md").write_text(table(rows, versions), encoding="utf-8")


if __name__ == "__main__":
    main()
