"""Print the benchmark tables: ``python -m tests.benchmarks [--smoke] [NAME ...]``."""

import argparse
from importlib import import_module

from tests.benchmarks import startup

TABLES = {
    "game": "game",
    "counter": "counter",
    "cluster": "cluster",
    "pairs": "pairs",
    "paths": "paths",
    "leading": "leading",
    "triangles": "triangle_pairs",
    "rays": "rays",
    "contacts": "terrain",
    "ground": "terrain_rays",
    "parts": "ground_parts",
    "village": "many_parts",
    "tiles": "tiles",
    "peers": "terrain_peers",
    "limit": "terrain_limit",
    "crowd": "crowd",
    "table": "table",
    "gym": "gym",
    "waking": "waking",
    "walkability": "walkability",
    "world": "world",
    "files": "files",
    "making": "making",
    "memory": "memory",
    "single": "single",
    "mesh": "mesh",
    "octree": "octree",
    "spheres": "bounding",
    "demo": "demo",
    "threads": "threads",
}
"""Modules of this folder by the names of their tables."""

NAMES = ("startup", *TABLES)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="small sizes: does it run at all?")
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"{', '.join(NAMES)}; default: all"
    )
    options = parser.parse_args()
    if unknown := [name for name in options.names if name not in NAMES]:
        parser.error(f"NAME must be one of {', '.join(NAMES)}, got {unknown[0]}")
    names = options.names or NAMES
    for name in names:
        if name == "startup":
            startup.main()
        else:
            import_module(f"tests.benchmarks.{TABLES[name]}").main(smoke=options.smoke)
    if options.smoke:
        print(f"\n{len(names)} passed: {', '.join(names)}")


if __name__ == "__main__":
    main()
