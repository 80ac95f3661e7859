"""Make the page of a crowd that the site shows first: `python -m demo.making.crowd_page FILE`."""

import argparse
from pathlib import Path

from terrain_physics import Recording

from ..playground.doorway import Doorway

SECONDS, FRAMES_A_SECOND = 13, 60


def make(page: Path) -> None:
    """Write a page on which 300 go through a door, to turn and to scrub."""
    scene = Doorway()
    recording = Recording(scene.group)
    for _ in range(SECONDS * FRAMES_A_SECOND):
        scene.lead()
        recording.update(1 / FRAMES_A_SECOND)
        scene.steps += 2  # of the demo, which has 120 a second
    recording.save_html(page, title="300 go through one door")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=Path, metavar="FILE")
    make(parser.parse_args().page)
