"""The page in a browser: it loads, moves, is steered, and draws what is there where it is."""

import io
import math
import shutil
from itertools import product

import numpy as np
import pytest
from PIL import Image

from terrain_physics import (
    BoxCollider,
    CapsuleCollider,
    CharacterGroup,
    CharacterMovement,
    Ground,
    HeightMap,
    Recording,
    SphereCollider,
    TriangleMesh,
)
from tests.helpers import axe_core
from tests.helpers.extras import library

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


def lone():
    """Return the recording of 6 s of a hero who goes around a corner on land of two materials."""
    heights = np.zeros((65, 65))
    heights[:, 30:] = 6
    land = HeightMap(heights, material_names=["grass", "sand", "snow"])
    land.materials[:, 26:] = "sand"
    hero = CharacterMovement(
        land, CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0)), position=(10, 0, 10)
    )
    recording = Recording(hero)
    for frame in range(360):
        hero.walk(*((4, 0) if frame < 180 else (0, 4)))
        recording.update(1 / 60)
    return recording


@pytest.fixture(scope="module")
def lone_address(tmp_path_factory):
    file = tmp_path_factory.mktemp("page") / "lone hero.html"
    lone().save_html(file, title="a <b>lone</b> hero")
    return file.as_uri()


@pytest.fixture(scope="module")
def chromium():
    playwright = library("playwright.sync_api", "browser")
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


MOVING = {"reduced_motion": "no-preference"}


def play_to(page, time):
    """Play in frames of 1/60 s up to a time, faster than a clock would."""
    page.run(
        f"""{{
            viewer.renderer.setAnimationLoop(null);
            const draw = viewer.draw;
            viewer.draw = () => {{}};
            if (!viewer.isPlaying) viewer.play();
            viewer.last = 0;
            for (let now = 0; viewer.isPlaying && viewer.time < {time}; now += 1000 / 60) {{
                viewer.frame(now);
            }}
            viewer.draw = draw;
            viewer.draw();
        }}"""
    )


def away(page):
    """Return where the camera is, seen from what it looks at."""
    return page.run("viewer.camera.position.clone().sub(viewer.controls.target).toArray()")


def drag(page, by):
    """Drag the land sideways, and wait until it has come to rest."""
    page.page.mouse.move(450, 200)
    page.page.mouse.down()
    page.page.mouse.move(450 + by, 200, steps=4)
    page.page.mouse.up()
    for _ in range(200):
        page.run("viewer.frame(viewer.last + 16)")


def test_a_lone_body_is_followed_from_behind_and_above(chromium, lone_address):
    with Opened(chromium, lone_address, **MOVING) as page:
        assert page.page.inner_text("#followed") == "body 0"
        assert page.page.is_checked("#behind")
        play_to(page, 2.8)  # it walks towards +x
        x, y, z = away(page)
        assert x < -8
        assert y > 3
        assert abs(z) < 1
        assert page.run("viewer.project('0')") == pytest.approx([450, 300], abs=40)
        play_to(page, 5.9)  # and towards +z
        x, y, z = away(page)
        assert z < -8
        assert abs(x) < 3
        assert page.told == []


def test_the_camera_turns_and_rises_softly_and_is_never_in_the_land(chromium, lone_address):
    with Opened(chromium, lone_address, **MOVING) as page:
        steps = page.run(
            """(() => {
                viewer.renderer.setAnimationLoop(null);
                viewer.draw = () => {};
                viewer.seek(0);
                viewer.play();
                const steps = [];
                viewer.last = 0;
                for (let now = 0; viewer.isPlaying; now += 1000 / 60) {
                    const before = { ...viewer.chase.look() };
                    viewer.frame(now);
                    const { azimuth } = viewer.chase.look();
                    const { x, y, z } = viewer.camera.position;
                    steps.push([azimuth - before.azimuth, y - viewer.heightAt(x, z)]);
                }
                return steps;
            })()"""
        )
        turned, free = np.array(steps).T
        assert len(steps) >= 360
        assert np.abs(turned).max() < 0.03  # 2 rad a second
        assert free[np.isfinite(free)].min() > 0.1


def test_a_hill_between_camera_and_body_is_looked_over(chromium, lone_address):
    with Opened(chromium, lone_address) as page:
        page.run("viewer.chase.turn(Math.PI, 0, 1)")  # the cliff is behind the camera now
        page.show(2.5)
        for _ in range(200):
            page.run("viewer.frame(viewer.last + 16)")
        x, y, z = page.run("viewer.camera.position.toArray()")
        assert y > page.run(f"viewer.heightAt({x}, {z})")
        assert page.run("viewer.chase.polar > viewer.chase.look().polar + 0.04")


def test_a_drag_keeps_following_and_ends_staying_behind(chromium, lone_address):
    with Opened(chromium, lone_address, **MOVING) as page:
        play_to(page, 1)
        before = away(page)
        drag(page, 200)
        assert math.dist(before, away(page)) > 2
        assert page.run("viewer.followed") == 0
        page.run("viewer.draw()")
        assert not page.page.is_checked("#behind")
        turned = away(page)
        play_to(page, 5)  # it goes another way by now
        x, _, z = away(page)
        assert math.atan2(x, z) == pytest.approx(math.atan2(turned[0], turned[2]), abs=1e-3)
        assert page.run("viewer.project('0')") == pytest.approx([450, 300], abs=40)
        before = page.run("viewer.camera.position.distanceTo(viewer.controls.target)")
        page.run(
            "void document.addEventListener('wheel', () => (viewer.wheeled = true), {once: true})"
        )
        page.page.mouse.wheel(0, -400)  # the page gets the event some time later
        page.page.wait_for_function("viewer.wheeled")
        for _ in range(100):
            page.run("viewer.frame(viewer.last + 16)")
        assert page.run("viewer.camera.position.distanceTo(viewer.controls.target)") < 0.9 * before
        assert page.run("viewer.followed") == 0


def test_a_lone_body_can_be_let_go(chromium, lone_address):
    with Opened(chromium, lone_address) as page:
        page.show(1)
        for let_go in (
            lambda: page.page.keyboard.press("Escape"),
            lambda: page.page.click("#leave"),
            lambda: page.page.click("#fit"),
        ):
            let_go()
            assert page.page.is_hidden("#card")
            still = page.run("viewer.controls.target.toArray()")
            page.show(3)
            assert page.run("viewer.controls.target.toArray()") == pytest.approx(still)
            page.page.select_option("#follow", label="body 0")
            page.page.focus("#view")
            page.show(3.5)
            assert page.run("viewer.project('0')") == pytest.approx([450, 300], abs=2)


def test_of_many_nobody_is_followed_at_first(opened):
    assert opened.run("viewer.followed") == -1
    assert opened.page.is_hidden("#card")
    places = [
        opened.run(f"viewer.project({name!r})") for name in ("walker", "ball", "box", "jumper")
    ]
    assert all(0 < x < 900 and 0 < y < 600 for x, y in places)


def test_who_wants_no_motion_gets_none(chromium, lone_address):
    with Opened(chromium, lone_address) as page:
        assert not page.run("viewer.isPlaying")
        assert not page.page.is_checked("#behind")
        x = away(page)[0]
        assert x < -8  # behind at once
        play_to(page, 5.9)
        assert away(page)[0] == pytest.approx(x, abs=1e-3)  # it does not turn


def test_the_path_is_strong_up_to_now_and_faint_from_there(chromium, lone_address):
    with Opened(chromium, lone_address) as page:
        parts = "viewer.way.mesh.geometry.groups.map((g) => [g.count / 6, g.materialIndex])"
        page.show(0)
        assert page.run(parts) == [[0, 0], [120, 1]]
        page.show(2)
        assert page.run(parts) == [[40, 0], [80, 1]]
        strong, faint = page.run("viewer.way.mesh.material.map((m) => m.opacity)")
        assert strong > 2 * faint
        page.run("viewer.fit(); viewer.seek(2)")
        page.page.click("#contacts")
        page.page.wait_for_timeout(300)
        page.run("viewer.chase.turn(0, -0.5, 0.6); viewer.draw()")
        on = page.picture()
        page.run("viewer.way.mesh.material.forEach((m) => { m.visible = false; }); viewer.draw()")
        changed = np.abs(on - page.picture()).max(axis=2) > 24
        assert 200 < changed.sum() < 0.1 * changed.size
        page.page.keyboard.press("Escape")
        page.show(2.05)
        assert not page.run("viewer.way.mesh.visible")


def test_a_path_leads_up_with_a_lift_and_not_over_a_jump_of_the_game(opened):
    opened.run("viewer.follow(viewer.clip.names.indexOf('box'))")
    opened.show(3.5)
    places = "[...viewer.way.mesh.geometry.attributes.position.array]"
    found = opened.run(places)[1::3]
    assert max(found) - min(found) == pytest.approx(4, abs=0.3)


def test_the_path_of_a_long_recording_is_made_around_now(chromium, lone_address):
    with Opened(chromium, lone_address) as page:
        made = page.run(
            """(() => {
                const count = 200000;
                const row = (value) => Int32Array.from({ length: count }, (_, k) => value(k));
                const way = viewer.way;
                way.clip = Object.assign(Object.create(viewer.clip), {
                    time: Float64Array.from({ length: count }, (_, k) => k / 20),
                    shape: [row(() => 0)], state: [row(() => 3)],
                    isPut: [row((k) => (k === 101000 ? 1 : 0))],
                    center: [row((k) => k), row(() => 0), row(() => 0)],
                });
                way.body = -1;
                const seen = [];
                for (const sample of [0, 100000, 100010, 101500, 199999]) {
                    way.show(0, sample);
                    const [past] = way.mesh.geometry.groups;
                    seen.push([way.starts.length, way.starts[0], past.count / 6]);
                }
                return seen;
            })()"""
        )
        reach = 1 << 14
        assert made == [
            [reach, 0, 0],
            [2 * reach - 1, 100000 - reach, reach],
            [2 * reach - 1, 100000 - reach, reach + 10],
            [2 * reach - 1, 100000 - reach, reach + 1499],
            [reach, 199999 - reach, reach],
        ]


def test_land_is_colored_by_material_and_slope(chromium, lone_address):
    with Opened(chromium, lone_address) as page:
        page.show(0)
        legend = page.page.inner_text("#land").split("\n")
        assert [line.strip() for line in legend] == [
            "grass",
            "sand",
            "too steep to walk (over 30°)",
        ]
        page.page.keyboard.press("Escape")
        page.page.click("#contacts")
        page.run(
            "viewer.controls.target.set(0, 0, 0);"
            "viewer.chase.put({ distance: 70, polar: 0.9, azimuth: -1.2 })"
        )
        page.show(0.5)
        picture = page.picture()

        def seen(x, y, z):
            spot = page.run(
                "(() => { const [a, b, c] = viewer.clip.origin;"
                f"return new viewer.at.constructor({x} - a, {y} - b, {z} - c)"
                ".project(viewer.camera).toArray(); })()"
            )
            column, row = round(450 * (spot[0] + 1)), round(300 * (1 - spot[1]))
            return picture[row - 3 : row + 4, column - 3 : column + 4].mean(axis=(0, 1))

        grass, sand, rock = seen(20, 0, 20), seen(28, 0, 20), seen(29.5, 3, 20)
        assert grass[1] > grass[0] > grass[2]  # green
        assert sand[0] > sand[1] > sand[2]  # yellow
        assert rock.max() < 0.8 * min(grass.max(), sand.max())  # darker than both, whatever the hue


def test_the_legend_can_be_folded(opened):
    assert opened.page.is_visible("#legend")
    assert opened.page.is_visible("#land")
    opened.page.click("summary")
    assert opened.page.is_hidden("#legend")
    opened.page.focus("summary")
    opened.page.keyboard.press("Space")
    assert opened.page.is_visible("#legend")
    assert not opened.run("viewer.isPlaying")


def drawn_at(page, time):
    page.page.wait_for_function(
        f"() => Math.abs(document.documentElement.dataset.drawn - {time}) < 1e-6"
    )


def test_an_address_opens_at_its_second(chromium, address):
    with Opened(chromium, f"{address}#t=1.35&body=jumper", **MOVING) as page:
        assert page.run("[viewer.time, viewer.isPlaying]") == [1.35, False]
        assert page.page.inner_text("#followed") == "jumper"
        drawn_at(page, 1.35)
        page.run("window.location.hash = '#t=2.5&body=box'")
        drawn_at(page, 2.5)
        assert page.page.inner_text("#followed") == "box"
        page.run("window.location.hash = '#t=99'")
        drawn_at(page, 4)
        assert page.page.inner_text("#followed") == "box"
        assert page.told == []


def test_bad_addresses_are_ignored(chromium, address):
    with Opened(chromium, f"{address}#t=-1&body=9") as page:
        assert page.run("[viewer.time, viewer.followed]") == [0, -1]
        page.show(1)
        bad = (
            "t=",
            "t=x",
            "t=NaN",
            "t=1e9",
            "t=Infinity",
            "t=1.2.3",
            "s=1",
            "body=9",
            "%",
            "t",
            "",
        )
        for text in bad:
            page.run(f"window.location.hash = '#{text}'")
            page.page.wait_for_timeout(50)
            assert page.run("[viewer.time, viewer.followed]") == [1, -1], text
        page.run("window.location.hash = '#body=%62ox&t=2'")  # it has listened all the time
        drawn_at(page, 2)
        assert page.page.inner_text("#followed") == "box"
        assert page.told == []


def test_an_address_follows_who_stops_at_a_moment_and_history_does_not(chromium, address):
    with Opened(chromium, address) as page:
        before = page.run("history.length")
        assert page.run("location.hash") == ""
        page.page.focus("#scrub")
        for _ in range(30):
            page.page.keyboard.press("ArrowRight")
        page.page.wait_for_function("() => location.hash !== ''")
        time = page.run("viewer.time")
        assert page.run("location.hash") == f"#t={round(time, 3):g}"
        page.page.focus("#view")
        page.page.keyboard.press("Home")
        page.page.keyboard.press("ArrowRight")
        page.page.keyboard.press("n")
        page.page.wait_for_function("() => location.hash === '#t=0.05&body=walker'")
        page.run("viewer.play()")
        page.page.wait_for_timeout(400)
        assert page.run("location.hash") == "#t=0.05&body=walker"
        page.page.click("#play")
        page.page.wait_for_function("() => location.hash !== '#t=0.05&body=walker'")
        assert page.run("location.hash").startswith("#t=")
        assert page.run("history.length") == before
        page.page.reload()
        page.page.wait_for_selector("html[data-state]", state="attached")
        assert page.run("viewer.time") == pytest.approx(
            float(page.run("location.hash")[3:].split("&")[0])
        )
        assert page.told == []


def test_few_addresses_are_written_while_a_user_scrubs(opened):
    opened.run(
        "() => { window.written = 0; const own = history.replaceState.bind(history);"
        "history.replaceState = (...given) => { written += 1; own(...given); }; }"
    )
    opened.run("for (let k = 0; k < 500; k++) viewer.goTo(k / 200)")
    opened.page.wait_for_function("() => location.hash === '#t=2.495'")
    assert opened.run("written") == 1


def test_everything_can_be_done_by_keys(chromium, address):
    with Opened(chromium, address) as page:
        reached = []
        for _ in range(20):
            page.page.keyboard.press("Tab")
            reached.append(page.run("document.activeElement.id || document.activeElement.tagName"))
            outline = page.run("getComputedStyle(document.activeElement).outlineWidth")
            assert reached[-1] == "BODY" or float(outline.removesuffix("px")) >= 2, reached[-1]
        wanted = {
            "view",
            "help",
            "theme",
            "SUMMARY",
            "play",
            "scrub",
            "speed",
            "follow",
            "contacts",
            "fit",
        }
        assert wanted <= set(reached)
        page.page.focus("#view")
        page.page.keyboard.press("n")
        assert page.page.inner_text("#followed") == "walker"
        before = away(page)
        for key in ("a", "a", "w", "+"):
            page.page.keyboard.press(key)
        after = away(page)
        assert math.hypot(*after) == pytest.approx(math.hypot(*before) / 1.1)
        assert after[1] / math.hypot(*after) > before[1] / math.hypot(*before)
        assert math.atan2(after[0], after[2]) == pytest.approx(
            math.atan2(before[0], before[2]) - 0.16
        )
        page.page.keyboard.press("b")
        assert page.page.is_checked("#behind")
        page.page.keyboard.press("?")
        assert page.page.is_visible("#keys")
        page.page.keyboard.press("Escape")
        assert page.page.is_hidden("#keys")
        assert page.page.inner_text("#followed") == "walker"  # Escape closed the help alone
        page.page.keyboard.press("f")
        assert page.page.is_hidden("#card")
        assert page.told == []


@pytest.fixture(scope="module")
def axe():
    try:
        return axe_core.loaded()
    except axe_core.NotToBeHadError as error:
        pytest.skip(f"needs axe-core: {error}")


def test_nothing_on_the_page_keeps_anybody_out(chromium, lone_address, axe):
    with Opened(chromium, lone_address) as page:
        page.show(1)
        page.run(axe)
        page.run("viewer.view.style.visibility = 'hidden'")
        page.page.add_style_tag(content=".panel { backdrop-filter: none !important }")
        # What is drawn may be anything behind the panels: the brightest and the darkest are tried.
        for width, theme, backdrop in product((1440, 390), ("light", "dark"), ("white", "black")):
            page.page.set_viewport_size({"width": width, "height": 844})
            page.run(f"viewer.setTheme({theme!r}); document.body.style.background = {backdrop!r}")
            for is_help in (False, True):
                if is_help:
                    page.page.click("#help")
                found = page.run(_AXE)
                assert found["violations"] == [], (width, theme, backdrop)
                assert found["passes"] > 15
                if is_help:
                    page.page.keyboard.press("Escape")


_AXE = """
    axe.run(document, { runOnly: TAGS }).then(({ violations, passes }) => ({
      violations: violations.map(({ id, impact, nodes }) => [id, impact, nodes[0].html]),
      passes: passes.length,
    }))
""".replace("TAGS", str(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]))


def test_a_finger_meets_each_control_of_a_phone(chromium, lone_address):
    with Opened(
        chromium, lone_address, viewport={"width": 390, "height": 844}, has_touch=True
    ) as phone:
        phone.show(1)
        for name in ("help", "theme", "leave", "play", "scrub", "speed", "follow", "fit"):
            box = phone.page.locator(f"#{name}").bounding_box()
            assert box["height"] >= 44, name
            assert box["width"] >= 40, name
        for label in phone.page.locator("label.toggle").all():
            assert label.bounding_box()["height"] >= 44


def test_in_a_small_frame_the_scene_comes_first(chromium, address):
    size = {"width": 348, "height": 435}  # on the first page of the site, on a phone
    with Opened(chromium, address, viewport=size) as page:
        page.show(1)
        boxes = [panel.bounding_box() for panel in page.page.locator(".panel:visible").all()]
        covered = sum(box["width"] * box["height"] for box in boxes)
        assert covered < 0.25 * size["width"] * size["height"]
        assert page.page.is_visible("#play")


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
    context.set_default_timeout(_PATIENCE)
    page = context.new_page()
    told = []
    page.on("console", lambda message: told.append(message.text))
    page.goto(file.as_uri())
    page.frame_locator("iframe").locator("html[data-state=ready]").wait_for(state="attached")
    frame = page.frames[1]
    frame.evaluate("viewer.goTo(1)")  # no address can be written here
    frame.wait_for_function(
        "() => Math.abs(document.documentElement.dataset.drawn - 1) < 1e-6", polling=50
    )
    page.wait_for_timeout(400)
    context.close()
    assert told == []


def test_what_is_damaged_says_so(chromium, address, tmp_path):
    text = level()._page(level().make_scene, "broken")
    start = text.index('type="text/plain">') + 100
    file = tmp_path / "broken.html"
    file.write_text(text[:start] + "AAAA" + text[start + 4 :], encoding="utf-8")
    with Opened(chromium, file.as_uri()) as broken:
        assert "cannot be shown" in broken.page.inner_text("#message")
