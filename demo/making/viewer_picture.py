"""Make the picture of the viewer's page: a crowd on the land of the demo, and a level of meshes.

`python -m demo.making.viewer_picture` needs the extra `browser` and Chromium.
`--page FILE` keeps the page too.
"""

import argparse
import io
import math
import shutil
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import ViewportSize, sync_playwright

from terrain_physics import (
    BoxCollider,
    CapsuleCollider,
    CharacterGroup,
    Ground,
    HeightMap,
    Recording,
    SphereCollider,
    TriangleMesh,
)

from . import ASSETS

SIZE = (1200, 675)
SIDE, COUNT, SECONDS = 129, 50, 20
BODIES = (CapsuleCollider(0.4, 1.8), SphereCollider(0.5), BoxCollider((0.5, 0.4, 0.6)))


def level() -> tuple[Ground, float]:
    """Return land with a lift and stairs, and how high it is in the middle."""
    whole = HeightMap.load(ASSETS / "land.png", height_range=(0, 80))
    land = HeightMap(whole[180 : 180 + SIDE, 180 : 180 + SIDE], border="open")
    middle = 0.5 * (SIDE - 1)
    land.flatten((middle, middle), radius=16, flat=9)
    base = land.height_at(middle, middle)
    stairs = TriangleMesh.stairs(width=4, rise=0.25, tread=0.5, steps=10)
    ground = Ground([land, TriangleMesh.box((5, 0.5, 5)), stairs])
    ground.move(2, ((middle + 1, base, middle - 4), np.eye(3)))
    return ground, base


def recorded() -> Recording:
    """Return a game of some seconds."""
    ground, base = level()
    middle, chance = 0.5 * (SIDE - 1), np.random.default_rng(5)
    land = ground.parts[0]
    group = CharacterGroup(ground, BODIES[0], slope_limit=math.radians(38), collide=True)
    places = middle + chance.uniform(-20, 20, (COUNT, 2))
    for key, (x, z) in enumerate(places):
        body = BODIES[key % len(BODIES)]
        group.add(f"unit {key}", (x, land.height_at(x, z) + 2.5, z), collider=body)
    group.add("hero", (middle - 7, base + 0.9, middle - 2))
    group.add("rider", (middle - 5, base + 1.6, middle + 5))
    recording = Recording(group)
    angles = chance.uniform(0, 2 * math.pi, COUNT)
    for frame in range(60 * SECONDS):
        angles += 0.05 * chance.normal(size=COUNT)
        for key, angle in enumerate(angles):
            group.walk(3 * math.cos(angle), 3 * math.sin(angle), keys=[f"unit {key}"])
        group.walk(2.5, 0, keys=["hero"])
        if frame % 90 == 60:
            group["hero"].velocity.y = 5
        height = base + 1.7 - 1.5 * math.cos(frame / 60)
        ground.move(1, ((middle - 5, height, middle + 5), np.eye(3)), 1 / 60)
        recording.update(1 / 60)
    return recording


def taken(page: Path) -> Image.Image:
    """Return what a browser shows of a page."""
    options = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-sandbox"]
    with sync_playwright() as driver:
        program = shutil.which("chromium") or shutil.which("google-chrome")
        browser = driver.chromium.launch(executable_path=program, args=options)
        size = ViewportSize(width=SIZE[0], height=SIZE[1])
        window = browser.new_context(viewport=size, reduced_motion="reduce").new_page()
        window.goto(page.resolve().as_uri())
        window.wait_for_selector("html[data-state=ready]", state="attached")
        window.evaluate("viewer.seek(2.6); viewer.follow(viewer.clip.names.indexOf('hero'))")
        window.evaluate(
            "viewer.camera.position.sub(viewer.controls.target).multiplyScalar(1.5)"
            ".add(viewer.controls.target)"
        )
        window.wait_for_timeout(2000)
        content = window.screenshot()
        browser.close()
    return Image.open(io.BytesIO(content)).convert("RGB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", type=Path, metavar="FILE")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        page = chosen.page or Path(name) / "viewer.html"
        recorded().save_html(page, title="A crowd on land, a lift and stairs")
        taken(page).save(ASSETS / "viewer.webp", quality=85, method=6)


if __name__ == "__main__":
    main()
