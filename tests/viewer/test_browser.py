"""The page in a browser: it loads, moves, is steered, and draws what is there where it is."""

import io
import math
import shutil

import numpy as np
import pytest
from PIL import Image

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

pytestmark = pytest.mark.browser

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)
_PATIENCE = 900_000  # milliseconds, only against a hang
GROUNDED, IN_THE_AIR = "#1fa971", "#3d8bfd"


def level():
    """Return the recording of 4 s on flat land with a lift: a walker, a ball, a box, a jumper."""
    land = HeightMap(np.zeros((33, 33)))
    ground = Ground([land, TriangleMesh.box((3, 0.5, 3))])
    ground.move(1, ((24, 0.25, 24), np.eye(3)))
    group = CharacterGroup(ground, CapsuleCollider(0.4, 1.8))
    group.add("walker", (6, 0.9, 16))
    group.add("ball", (12, 0.5, 10), collider=SphereCollider(0.5))
    group.add("box", (24, 0.9, 24), collider=BoxCollider((0.5, 0.4, 0.5)))
    group.add("jumper", (20, 0.9, 8))
    recording = Recording(group)
    for frame in range(240):
        group["walker"].velocity.x = 4
        if frame == 60:
            land.carve((8, 24), radius=4, depth=2)
        if frame == 120:
            group["jumper"].velocity.y = 9
        if frame == 180:
            group.remove("ball")
        ground.move(1, ((24, 0.25 + frame / 60, 24), np.eye(3)), 1 / 60)
        recording.update(1 / 60)
    return recording


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    file = tmp_path_factory.mktemp("page") / "level.html"
    level().save_html(file, title="a level")
    return file.as_uri()


@pytest.fixture(scope="module")
def chromium():
    playwright = pytest.importorskip("playwright.sync_api", reason="needs the extra browser")
    if not CHROMIUM:
        pytest.skip("needs Chromium")
    options = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-sandbox"]
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=options, timeout=_PATIENCE)
        yield browser
        browser.close()


class Opened:
    """The page in a window, and what went wrong there."""

    def __init__(self, chromium, address, **options):
        given = {"viewport": {"width": 900, "height": 600}, "reduced_motion": "reduce"}
        self.context = chromium.new_context(**given | options)
        self.context.set_default_timeout(_PATIENCE)
        self.page = self.context.new_page()
        self.told: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.told.append(message.text))
        self.page.on("pageerror", lambda error: self.told.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(address)
        self.page.wait_for_selector("html[data-state]", state="attached")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.context.close()

    def run(self, code):
        return self.page.evaluate(code)

    def show(self, time):
        self.run(f"viewer.pause(); viewer.seek({time})")
        self.page.wait_for_selector(f'html[data-drawn="{time}"]', state="attached")

    def picture(self):
        """Return colors (h, w, 3) of what is drawn, without the panels."""
        self.run("document.querySelectorAll('.panel').forEach((p) => { p.style.opacity = 0; })")
        content = self.page.screenshot()
        self.run("document.querySelectorAll('.panel').forEach((p) => { p.style.opacity = 1; })")
        return np.asarray(Image.open(io.BytesIO(content)).convert("RGB")).astype(int)

    def color_of(self, name, picture):
        x, y = self.run(f"viewer.project({name!r})")
        return picture[round(y) - 1 : round(y) + 2, round(x) - 1 : round(x) + 2].mean(axis=(0, 1))


@pytest.fixture
def opened(chromium, address):
    with Opened(chromium, address) as found:
        yield found


def hue(color):
    """Return the hue of a color in degrees: lit or in shade, it stays."""
    red, green, blue = (float(part) for part in color)
    return math.degrees(math.atan2(math.sqrt(3) * (green - blue), 2 * red - green - blue)) % 360


def hue_of(text):
    return hue([int(text[k : k + 2], 16) for k in (1, 3, 5)])


def test_it_loads_and_asks_nobody_and_nothing_goes_wrong(opened, address):
    assert opened.page.title() == "a level"
    assert opened.run("document.documentElement.dataset.state") == "ready"
    opened.show(2)
    assert opened.told == []
    assert [url for url in opened.asked if url.split(":")[0] not in {"data", "blob"}] == [address]


def test_bodies_are_drawn_where_they_are_in_the_colors_of_their_states(opened):
    opened.run("document.getElementById('contacts').click()")
    opened.show(2.5)
    picture = opened.picture()
    for name in ("walker", "ball", "box"):
        assert abs(hue(opened.color_of(name, picture)) - hue_of(GROUNDED)) < 20, name
    assert abs(hue(opened.color_of("jumper", picture)) - hue_of(IN_THE_AIR)) < 20
    legend = opened.page.inner_text("#legend").split()
    assert legend[:1] == ["1"]
    assert legend[-2:] == ["3", "grounded"]


def test_land_is_lit_and_the_sky_is_above_it(opened):
    opened.show(0)
    picture = opened.picture()
    assert np.abs(picture[4, 4] - [0xDC, 0xE7, 0xF0]).max() <= 3
    middle = picture[250:350, 400:500].reshape(-1, 3)
    assert (middle[:, 1] > middle[:, 2]).mean() > 0.8  # greener than blue
    assert 60 < middle[:, 1].mean() < 235


def test_the_picture_follows_the_recording(opened):
    opened.show(0.5)
    first = opened.run("viewer.project('walker')")
    before = opened.picture()
    opened.show(3)
    assert math.dist(first, opened.run("viewer.project('walker')")) > 40
    after = opened.picture()
    x, y = (round(number) for number in first)
    patch = np.s_[y - 4 : y + 5, x - 4 : x + 5]
    assert np.abs(after[patch] - before[patch]).max() > 25  # it has left
    opened.show(0.5)
    assert np.abs(opened.picture() - before).max() <= 3  # back in time, as it was: pit and lift too


def test_the_ground_is_that_of_the_moment(opened):
    heights = "Math.min(...viewer.parts[0].vertices.filter((_, k) => k % 3 === 1))"
    opened.show(0.5)
    assert opened.run(heights) == 0
    opened.show(1.5)
    assert opened.run(heights) == pytest.approx(-2, abs=0.01)
    low = opened.run("viewer.parts[1].mesh.position.y")
    opened.show(3.5)
    assert opened.run("viewer.parts[1].mesh.position.y") - low == pytest.approx(2, abs=0.01)
    opened.show(0.5)
    assert opened.run(heights) == 0


def test_it_plays_and_stops_at_the_end(opened):
    opened.page.select_option("#speed", "4")
    opened.show(3)
    opened.page.click("#play")
    opened.page.wait_for_selector("#play.on")
    opened.page.wait_for_selector("#play:not(.on)")
    assert opened.run("viewer.time") == opened.run("viewer.clip.duration")
    opened.page.keyboard.press("Home")
    assert opened.run("viewer.time") == 0
    opened.page.keyboard.press("ArrowRight")
    assert opened.run("viewer.time") == pytest.approx(0.05, abs=1e-3)


def test_a_click_follows_a_body_and_a_drag_turns_the_land(opened):
    opened.show(2.5)
    x, y = opened.run("viewer.project('box')")
    opened.page.mouse.click(x, y)
    assert opened.page.inner_text("#followed") == "box"
    opened.page.wait_for_selector("#state:has-text('grounded')")
    opened.show(3)
    assert opened.run("viewer.project('box')") == pytest.approx([450, 300], abs=2)
    before = opened.run("viewer.camera.position.toArray()")
    opened.page.mouse.move(300, 250)
    opened.page.mouse.down()
    opened.page.mouse.move(500, 250, steps=4)
    opened.page.mouse.up()
    moved = "(b) => Math.hypot(...viewer.camera.position.toArray().map((v, k) => v - b[k])) > 1"
    opened.page.wait_for_function(moved, arg=before)
    opened.page.keyboard.press("Escape")
    assert opened.page.is_hidden("#card")
    assert opened.told == []


def test_keys_of_the_browser_are_left_to_it(opened):
    opened.run("viewer.follow(0)")
    opened.run("viewer.view.focus()")
    send = "document.getElementById('view').dispatchEvent(new KeyboardEvent('keydown', %s))"
    given = "{key: 'f', ctrlKey: %s, bubbles: true, cancelable: true}"
    assert opened.run(send % (given % "true"))  # nobody prevented what the browser does
    assert opened.run("viewer.followed") == 0
    assert not opened.run(send % (given.replace("'f'", "'F'") % "false"))
    assert opened.run("viewer.followed") == -1
    assert opened.told == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_has_all_controls_on_its_screen(chromium, address, scheme):
    size = {"width": 390, "height": 844}
    with Opened(chromium, address, viewport=size, has_touch=True, color_scheme=scheme) as phone:
        phone.show(2)
        x, y = phone.run("viewer.project('walker')")
        phone.page.touchscreen.tap(x, y)
        assert phone.page.inner_text("#followed") == "walker"
        boxes = {
            name: phone.page.locator(f"#{name}").bounding_box()
            for name in ("about", "card", "play", "scrub", "speed", "follow", "contacts", "fit")
        }
        for name, box in boxes.items():
            assert box["x"] >= 0, name
            assert box["y"] >= 0, name
            assert box["x"] + box["width"] <= 390, name
            assert box["y"] + box["height"] <= 844, name
        bar = phone.page.locator("#bar").bounding_box()
        assert boxes["card"]["y"] + boxes["card"]["height"] <= bar["y"]
        assert phone.run("document.documentElement.dataset.theme") == scheme
        assert phone.told == []


def test_a_notebook_shows_the_same_in_a_frame(chromium, tmp_path):
    file = tmp_path / "notebook.html"
    file.write_text(f"<!DOCTYPE html><title>n</title>{level()._repr_html_()}", encoding="utf-8")
    context = chromium.new_context(reduced_motion="reduce")
    page = context.new_page()
    told = []
    page.on("console", lambda message: told.append(message.text))
    page.goto(file.as_uri())
    page.frame_locator("iframe").locator("html[data-state=ready]").wait_for(
        state="attached", timeout=_PATIENCE
    )
    context.close()
    assert told == []


def test_what_is_damaged_says_so(chromium, address, tmp_path):
    text = level()._page(level().make_scene, "broken")
    start = text.index('type="text/plain">') + 100
    file = tmp_path / "broken.html"
    file.write_text(text[:start] + "AAAA" + text[start + 4 :], encoding="utf-8")
    with Opened(chromium, file.as_uri()) as broken:
        assert "cannot be shown" in broken.page.inner_text("#message")
