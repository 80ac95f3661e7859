"""Print the benchmark tables: ``python -m tests.benchmarks [--smoke] [NAME ...]``."""

import argparse

from tests.benchmarks import counter, game, startup


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="small sizes: does it run at all?")
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="startup, game, counter; default: all"
    )
    options = parser.parse_args()
    known = {
        "startup": startup.main,
        "game": lambda: game.main(smoke=options.smoke),
        "counter": lambda: counter.main(smoke=options.smoke),
    }
    if unknown := [name for name in options.names if name not in known]:
        parser.error(f"NAME must be one of {', '.join(known)}, got {unknown[0]}")
    for name in options.names or known:
        known[name]()


if __name__ == "__main__":
    main()
