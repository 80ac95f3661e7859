"""Print the benchmark tables: ``python -m tests.benchmarks [--smoke] [NAME ...]``."""

import argparse

from tests.benchmarks import (
    bounding,
    cluster,
    counter,
    crowd,
    demo,
    files,
    game,
    ground_parts,
    gym,
    leading,
    making,
    many_parts,
    memory,
    mesh,
    octree,
    pairs,
    paths,
    rays,
    single,
    startup,
    table,
    terrain,
    terrain_limit,
    terrain_peers,
    terrain_rays,
    threads,
    tiles,
    triangle_pairs,
    waking,
    walkability,
)

_TABLES = {
    "game": game.main,
    "counter": counter.main,
    "cluster": cluster.main,
    "pairs": pairs.main,
    "paths": paths.main,
    "leading": leading.main,
    "triangles": triangle_pairs.main,
    "rays": rays.main,
    "contacts": terrain.main,
    "ground": terrain_rays.main,
    "parts": ground_parts.main,
    "village": many_parts.main,
    "tiles": tiles.main,
    "peers": terrain_peers.main,
    "limit": terrain_limit.main,
    "crowd": crowd.main,
    "table": table.main,
    "gym": gym.main,
    "waking": waking.main,
    "walkability": walkability.main,
    "files": files.main,
    "making": making.main,
    "memory": memory.main,
    "single": single.main,
    "mesh": mesh.main,
    "octree": octree.main,
    "spheres": bounding.main,
    "demo": demo.main,
    "threads": threads.main,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="small sizes: does it run at all?")
    known = ["startup", *_TABLES]
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"{', '.join(known)}; default: all"
    )
    options = parser.parse_args()
    if unknown := [name for name in options.names if name not in known]:
        parser.error(f"NAME must be one of {', '.join(known)}, got {unknown[0]}")
    for name in options.names or known:
        if name == "startup":
            startup.main()
        else:
            _TABLES[name](smoke=options.smoke)


if __name__ == "__main__":
    main()
