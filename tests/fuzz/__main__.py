"""Runs a campaign: `python -m tests.fuzz NAME --seconds N`."""

import argparse
import os
import sys
import time
from collections.abc import Sequence

from tests.fuzz.campaigns import CAMPAIGNS
from tests.fuzz.runner import run


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a campaign; return the exit status: 1 if a case failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("name", choices=CAMPAIGNS, help="the campaign")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long (60)")
    parser.add_argument("--seed", type=int, help="of the first case; the next ones count up")
    parser.add_argument("--cases", type=int, default=sys.maxsize, help="no more than so many")
    given = parser.parse_args(arguments)
    campaign = CAMPAIGNS[given.name]
    first = time.time_ns() % 10**9 if given.seed is None else given.seed
    sys.stdout.write(f"{given.name}: from seed {first}\n")
    sys.stdout.flush()
    tally = run(
        campaign.module,
        first,
        given.seconds,
        given.cases,
        longest=campaign.longest,
        environment={**os.environ, **campaign.environment},
    )
    for seed, reason in tally.failures:
        again = f"python -m tests.fuzz {given.name} --cases 1 --seed {seed}"
        sys.stdout.write(f"seed {seed} {reason}; again: {again}\n")
    sys.stdout.write(
        f"{given.name}: {tally.cases} cases from seed {first}, {tally.seconds:.0f} s, "
        f"{len(tally.failures)} failed\n"
    )
    return 1 if tally.failures else 0


if __name__ == "__main__":
    sys.exit(main())
