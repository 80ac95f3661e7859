"""The demo's renderers: pictures, and what has to be seen in them."""

import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.helpers.extras import library

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
pygame = library("pygame", "demo")

from demo.camera_rig import CameraRig
from demo.picture import camera as cameras
from demo.picture.frame import Camera, Frame, Mesh, Pills
from demo.renderers import open_renderer
from demo.renderers.enlarge import enlarge, find_taps
from demo.renderers.hero import outline
from demo.renderers.overlays import draw_tints
from demo.renderers.raster import fill_faces, see_points
from demo.renderers.software import SoftwareRenderer, pairs_of
from demo.scenery.inputs import STEP
from demo.scenery.names import VIEW_NAMES
from demo.scenery.scenes import make_scene
from demo.scenery.views import fill_views
from terrain_physics import HeightMap
from tests.demo.frames import bodies_on, hills, island, stairs, with_overlays

SIZE = (320, 180)
GOLDEN = Path(__file__).parents[1] / "golden"
# Compilers and processors round differently: a few pixels along edges may change their side.
MEAN_TOLERANCE = 0.8
FAR_TOLERANCE, FAR_SHARE = 40, 0.004


@cache
def driver() -> str:
    """Why OpenGL cannot be used, or nothing."""
    try:
        open_gl().close()
    except Exception as error:
        return str(error) or type(error).__name__
    return ""


def open_gl():
    from demo.renderers.gl import GLRenderer

    return GLRenderer(SIZE, visible=False)


@pytest.fixture(params=["software", "gl"], scope="module")
def renderer(request):
    if request.param == "gl" and driver():
        pytest.skip(f"no OpenGL driver: {driver()}")
    opened = (
        SoftwareRenderer(SIZE, visible=False, threads=2)
        if request.param == "software"
        else open_gl()
    )
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def land():
    return hills()


def picture(renderer, frame):
    renderer.draw(frame)
    return renderer.read().astype(int)


def changed_share(a, b):
    """The share of pixels that differ visibly."""
    return float((np.abs(a - b).max(axis=2) > 12).mean())


def golden_frame(name):
    if name == "hills":
        ground = hills()
        return bodies_on(ground, 60.0, 64.0)
    if name == "island":
        return island()[1]
    ground = hills()
    frame = with_overlays(bodies_on(ground, 60.0, 64.0), 60.0, 64.0)
    frame.grid, frame.labels = True, []  # fonts are pygame's matter
    return frame


@pytest.mark.parametrize("name", ["hills", "island", "overlays"])
def test_software_draws_the_golden_pictures(name):
    drawn = SoftwareRenderer(SIZE, visible=False, threads=2)
    seen = picture(drawn, golden_frame(name))
    drawn.close()
    file = GOLDEN / f"{name}.png"
    if os.environ.get("WRITE_GOLDEN"):
        GOLDEN.mkdir(exist_ok=True)
        Image.fromarray(seen.astype(np.uint8)).save(file, optimize=True)
    with Image.open(file) as image:
        expected = np.asarray(image.convert("RGB")).astype(int)
    apart = np.abs(seen - expected)
    assert apart.mean() <= MEAN_TOLERANCE
    assert (apart.max(axis=2) > FAR_TOLERANCE).mean() <= FAR_SHARE


def test_any_number_of_threads_draws_the_same_pixels(land):
    frame = with_overlays(bodies_on(land, 60.0, 64.0), 60.0, 64.0)
    frame.grid = True
    pictures = []
    for threads in (1, 2, 5):
        drawn = SoftwareRenderer((331, 187), visible=False, threads=threads)
        pictures.append(picture(drawn, frame))
        drawn.close()
    np.testing.assert_array_equal(pictures[0], pictures[1])
    np.testing.assert_array_equal(pictures[0], pictures[2])


def test_drawing_again_gives_the_same_pixels(renderer, land):
    frame = bodies_on(land, 60.0, 64.0)
    first = picture(renderer, frame)
    picture(renderer, Frame(Camera((3.0, 60.0, 3.0), 1.0, -0.5), land))
    np.testing.assert_array_equal(picture(renderer, frame), first)


def test_sky_above_and_ground_below(renderer, land):
    y = land.height_at(64.0, 64.0)
    seen = picture(renderer, Frame(Camera((64.0, y + 30.0, 64.0), 0.3, 0.0), land))
    assert seen.shape == (SIZE[1], SIZE[0], 3)
    top, bottom = seen[:40], seen[-40:]
    assert (top[..., 2] > top[..., 1]).mean() > 0.95
    assert (bottom[..., 1] > bottom[..., 2]).mean() > 0.8
    assert seen.std() > 20.0


def test_both_renderers_show_the_same(land):
    if driver():
        pytest.skip(f"no OpenGL driver: {driver()}")
    ours, theirs = SoftwareRenderer(SIZE, visible=False), open_gl()
    for frame in (bodies_on(land, 60.0, 64.0), island()[1]):
        apart = np.abs(picture(ours, frame) - picture(theirs, frame))
        assert apart.mean() < 6.0
        assert (apart.max(axis=2) > 60).mean() < 0.03
    ours.close()
    theirs.close()


@pytest.mark.parametrize("view", ["wireframe", "grid", "tints", "lines", "labels"])
def test_every_view_changes_the_picture(renderer, land, view):
    plain = bodies_on(land, 60.0, 64.0)
    other = bodies_on(land, 60.0, 64.0)
    if view in {"wireframe", "grid"}:
        setattr(other, view, True)
    else:
        setattr(other, view, getattr(with_overlays(bodies_on(land, 60, 64), 60.0, 64.0), view))
    assert changed_share(picture(renderer, plain), picture(renderer, other)) > 0.002


def test_tints_cover_what_is_before_the_camera_and_leave_no_marks():
    chance, lens, size = np.random.default_rng(3), np.array([40.0, 32.0, 24.0]), (48, 64)
    corners = np.empty((900, 4))
    around = chance.uniform(-2.0, 2.0, (900, 3)) * (1.0, 1.0, 0.4)  # many reach behind it
    see_points(around, np.zeros(3), np.eye(3), lens, corners)
    depth, scratch = np.zeros(size, np.float32), np.zeros(size, np.float32)
    for k in range(300):
        marks, pixels = np.zeros(size, np.uint32), np.zeros(size, np.uint32)
        face = np.array([[3 * k, 3 * k + 1, 3 * k + 2]])
        wanted, inverse = np.zeros(size, np.uint32), np.zeros(size, np.float32)
        fill_faces(corners, face, lens, 0, 1, 0, size[0], inverse, wanted)
        shade = np.array([[0.0, 0.0, 1.0, 1.0]])
        three = np.ascontiguousarray(corners[3 * k : 3 * k + 3])
        draw_tints(three, shade, lens, 0, 1, 0, size[0], depth, scratch, marks, pixels)
        assert not marks.any()
        assert not scratch.any()
        assert np.array_equal(pixels, wanted)


def test_a_mesh_is_drawn_where_it_is_in_each_frame(renderer, land):
    frame = bodies_on(land, 60.0, 64.0)
    up = np.array([0.0, land.height_at(60.0, 64.0), 0.0])
    pictures = []
    for x in (57.0, 63.0, 57.0):
        steps = stairs(x, 63.0)
        frame.meshes = [Mesh(steps.vertices + up, steps.faces, steps.color)]
        pictures.append(picture(renderer, frame))
    assert changed_share(pictures[0], pictures[1]) > 0.01
    assert changed_share(pictures[0], pictures[2]) == 0.0


@pytest.fixture(scope="module")
def played():
    """A scene after some seconds, and what is seen of it without any view."""
    scene = make_scene("stairs", 0, small=True)
    for _ in range(300):
        scene.step(STEP, scene.script())
    camera = CameraRig(scene).placed(scene, 1.0)
    frame = Frame(camera)
    scene.fill(frame, 1.0)
    return scene, frame


@pytest.fixture(scope="module")
def picture_without_views(renderer, played):
    return picture(renderer, played[1])


@pytest.mark.parametrize("name", VIEW_NAMES)
def test_every_debug_view_changes_the_picture(renderer, played, picture_without_views, name):
    scene, plain = played
    frame = Frame(plain.camera)
    scene.fill(frame, 1.0)
    fill_views(frame, scene, [name])
    assert changed_share(picture_without_views, picture(renderer, frame)) > 0.002


@pytest.mark.parametrize("kind", ["balls", "boxes", "capsules", "meshes"])
def test_every_kind_of_body_is_drawn_and_casts_a_shadow(renderer, kind):
    flat = hills(65, relief=1e-3)
    frame = bodies_on(flat, 30.0, 32.0, count=24, seed=4)
    frame.meshes = [stairs(24.0, 22.0)]
    frame.camera = cameras.looking_at((25.0, 15.0, 36.0), (25.0, 0.0, 22.0))
    bare = picture(renderer, Frame(frame.camera, flat))
    only = Frame(frame.camera, flat, **{kind: getattr(frame, kind)})
    seen = picture(renderer, only)
    assert changed_share(bare, seen) > 0.004
    darker = (seen.sum(axis=2) < 0.8 * bare.sum(axis=2)) & (seen[..., 1] >= seen[..., 0] - 8)
    assert darker.mean() > 0.0015


def test_holes_are_gaps(renderer):
    land, frame = island()
    middle = cameras.project(frame.camera, SIZE, [(14.0, land.height_at(9.9, 16.0), 16.5)])[0]
    column, row = int(middle[0]), int(middle[1])
    through = picture(renderer, frame)[row, column]
    land.holes[:] = False
    solid = picture(renderer, frame)[row, column]
    assert solid[1] > solid[2] + 20  # grass
    assert through[1] < through[2] + 20  # the sky below


def test_an_edit_is_seen_and_gives_the_picture_of_a_new_map(renderer):
    land = hills()
    frame = bodies_on(land, 60.0, 64.0)
    before = picture(renderer, frame)
    land.carve((60.0, 64.0), 6.0, 5.0)
    land.raise_((50.0, 70.0), 4.0, 3.0)
    land.holes[50:54, 60:66] = True
    after = picture(renderer, frame)
    assert changed_share(before, after) > 0.01
    from_file = hills(holes=np.asarray(land.holes))
    from_file[:, :] = land.heights
    frame.land = from_file
    assert np.abs(picture(renderer, frame) - after).mean() < 0.3


def test_the_sun_moves_shadows(renderer, land):
    frame = bodies_on(land, 60.0, 64.0)
    noon = picture(renderer, frame)
    frame.sun = (-0.9, 0.25, 0.1)
    assert changed_share(noon, picture(renderer, frame)) > 0.1


def test_shadows_of_hills_lie_behind_them():
    from concurrent.futures import ThreadPoolExecutor

    from demo.renderers.ground import LitGround

    heights = np.zeros((41, 41))
    heights[20, 20] = 5.0
    with ThreadPoolExecutor(1) as pool:
        for sun, dark, clear in (
            ((1.0, 1.0, 0.0), (20, 17), (20, 23)),
            ((0.0, 1.0, -1.0), (23, 20), (17, 20)),
            ((-0.4, 0.4, 0.4), (17, 23), (23, 17)),
        ):
            ground = LitGround(HeightMap(heights), sun, pool)
            assert ground.shadows[dark] > 0.5
            assert ground.shadows[clear] < 0.0


@pytest.mark.parametrize("origin", [(0.0, 0.0, 0.0), (2e5, 300.0, -1e5)])
def test_pictures_do_not_depend_on_where_the_map_lies(renderer, origin):
    land = hills(65, origin=origin)
    x, z = origin[0] + 30.0, origin[2] + 32.0
    seen = picture(renderer, bodies_on(land, x, z))
    assert (seen[-30:, :, 1] > seen[-30:, :, 2]).mean() > 0.7


def test_resizing_and_the_panel(renderer, land):
    frame = bodies_on(land, 60.0, 64.0)
    renderer.resize((200, 120))
    assert picture(renderer, frame).shape == (120, 200, 3)
    panel = pygame.Surface((200, 120), pygame.SRCALPHA)
    panel.fill((255, 0, 0, 255), (0, 0, 50, 30))
    panel.fill((0, 255, 0, 128), (150, 90, 50, 30))
    before = renderer.read().astype(int)
    renderer.overlay(panel)
    renderer.present()
    after = renderer.read().astype(int)
    assert (after[:30, :50] == [255, 0, 0]).all()
    np.testing.assert_array_equal(after[40:80], before[40:80])
    assert (after[95:115, 155:195, 1] > before[95:115, 155:195, 1]).all()
    renderer.resize(SIZE)
    assert picture(renderer, frame).shape == (SIZE[1], SIZE[0], 3)


def test_nothing_at_all_is_drawn_as_sky(renderer):
    seen = picture(renderer, Frame(Camera((0.0, 5.0, 0.0), 0.0, 0.0)))
    assert (seen[..., 2] >= seen[..., 0]).all()


def test_a_hidden_label_is_not_written(renderer, land):
    frame = Frame(Camera((64.0, land.height_at(64, 64) + 2.0, 64.0), 0.0, 0.0), land)
    bare = picture(renderer, frame)
    frame.labels = with_overlays(bodies_on(land, 60, 64), 60.0, 64.0).labels
    frame.labels[0].place = (64.0, land.height_at(64.0, 30.0) - 5.0, 30.0)
    np.testing.assert_array_equal(picture(renderer, frame), bare)


def test_without_a_driver_one_line_tells_and_software_draws(monkeypatch, capsys):
    import demo.renderers.gl as gl

    def fails(size, *, visible):
        raise RuntimeError("no\ndriver")

    monkeypatch.setattr(gl, "GLRenderer", fails)
    for kind in ("auto", "gl"):
        opened = open_renderer(kind, SIZE, visible=False)
        assert opened.name == "software"
        assert capsys.readouterr().err == "no OpenGL (no driver): drawing in software\n"
        opened.close()


def test_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="kind must be one of auto, gl, software, got 'metal'"):
        open_renderer("metal", SIZE, visible=False)


def test_what_is_made_ready_elsewhere_changes_no_picture(renderer, land) -> None:
    frame = bodies_on(land, 60.0, 64.0)
    other = with_overlays(bodies_on(land, 40.0, 44.0), 40.0, 44.0)
    before = picture(renderer, frame)
    with ThreadPoolExecutor(1) as elsewhere:
        elsewhere.submit(renderer.prepare, other).result()
    assert (renderer.read() == before).all()


# Pictures that are drawn smaller, and enlarged


@pytest.fixture
def scaled(renderer):
    """The renderer, and full resolution afterwards."""
    yield renderer
    renderer.scale = 1.0


@pytest.mark.parametrize("scale", [0.5, 0.6, 0.7, 0.85])
def test_a_picture_drawn_smaller_looks_like_the_full_one(scaled, land, scale):
    frame = with_overlays(bodies_on(land, 60.0, 64.0), 60.0, 64.0)
    frame.labels = []
    full = picture(scaled, frame)
    scaled.scale = scale
    seen = picture(scaled, frame)
    assert seen.shape == full.shape
    apart = np.abs(seen - full).mean(axis=2)
    assert 0.5 < apart.mean() < 9.0
    for shift in (-2, 2):  # it is where the full one is
        for axis in (0, 1):
            assert np.abs(np.roll(seen, shift, axis) - full).mean() > 1.2 * apart.mean()
    scaled.scale = 1.0
    np.testing.assert_array_equal(picture(scaled, frame), full)


def test_labels_and_panels_keep_the_windows_resolution(scaled, land):
    frame = bodies_on(land, 60.0, 64.0)
    frame.labels = with_overlays(bodies_on(land, 60.0, 64.0), 60.0, 64.0).labels
    panel = pygame.Surface(SIZE, pygame.SRCALPHA)
    panel.fill((255, 0, 0, 255), (3, 5, 11, 7))
    pictures = []
    for scale in (1.0, 0.5):
        scaled.scale = scale
        scaled.draw(frame)
        scaled.overlay(panel)
        pictures.append(scaled.read().astype(int))
    full, seen = pictures
    letters = (full == 255).all(axis=2)
    assert letters.sum() > 10
    assert (seen[letters] == 255).all()
    np.testing.assert_array_equal(seen[5:12, 3:14], full[5:12, 3:14])
    assert (seen[5:12, 14] != [255, 0, 0]).any()


@pytest.mark.parametrize("size", [(331, 187), (40, 17)])
def test_any_number_of_threads_enlarges_the_same_pixels(land, size):
    frame = with_overlays(bodies_on(land, 60.0, 64.0), 60.0, 64.0)
    pictures = []
    for threads in (1, 3):
        drawn = SoftwareRenderer(size, visible=False, threads=threads)
        drawn.scale = 0.6
        pictures.append(picture(drawn, frame))
        drawn.close()
    np.testing.assert_array_equal(*pictures)


@pytest.mark.parametrize(("small", "large"), [((16, 18), (16, 31)), ((21, 17), (35, 34))])
def test_enlarging_is_catmull_and_roms_cubic(small, large):
    random = np.random.default_rng(5)
    colors = random.integers(0, 256, (*small[::-1], 3))
    words = (colors @ np.array([1 << 16, 1 << 8, 1])).astype(np.uint32)
    across, down = find_taps(small[0], large[0]), find_taps(small[1], large[1])
    out = np.zeros(large[::-1], dtype=np.uint32)
    middle = large[1] // 2
    for first, last in ((0, middle), (middle, large[1])):
        enlarge(pairs_of(words), small[0], across, down, first, last, out)

    def weights(count, taps):
        rows = np.zeros((len(taps[0]), count))
        for k in range(4):
            np.add.at(rows, (np.arange(len(rows)), taps[0] + k), taps[1][k])
        return rows

    wide, high = weights(small[0], across), weights(small[1], down)
    for rows in (wide, high):
        np.testing.assert_allclose(rows.sum(axis=1), 1.0, atol=1e-6)
        if rows.shape[0] == rows.shape[1]:
            np.testing.assert_allclose(rows, np.eye(len(rows)), atol=1e-6)
        places = np.arange(rows.shape[1]) @ rows.T
        wanted = (np.arange(len(rows)) + 0.5) * rows.shape[1] / rows.shape[0] - 0.5
        inner = (wanted > 1.0) & (wanted < rows.shape[1] - 2.0)
        np.testing.assert_allclose(places[inner], wanted[inner], atol=1e-5)
    expected = np.einsum("ia,jb,abc->ijc", high, wide, colors.astype(float))
    expected = np.clip(expected, 0.0, 255.0)
    seen = np.stack([out >> 16, (out >> 8) & 255, out & 255], axis=2).astype(float)
    assert np.abs(seen - expected).max() <= 0.51
    assert (out >> 24 == 0).all()


@pytest.mark.parametrize("scale", [0.49, 1.01, float("nan")])
def test_a_scale_that_cannot_be_is_refused(scaled, scale):
    with pytest.raises(ValueError, match=r"scale must be from 0\.5 to 1, got"):
        scaled.scale = scale
    assert scaled.scale == 1.0


def test_what_a_graphics_card_takes_is_known_later(renderer, land):
    if renderer.name == "software":
        assert renderer.card_seconds is None
        return
    for _ in range(3):
        picture(renderer, bodies_on(land, 60.0, 64.0))
    assert 0.0 < renderer.card_seconds < 10.0


def test_the_hero_is_outlined_where_something_hides_it(renderer):
    flat = hills(65, relief=1e-3)
    frame = Frame(cameras.looking_at((30.0, 4.0, 44.0), (30.0, 1.0, 32.0)), flat)
    low, high = np.array([[30.0, 0.4, 32.0]]), np.array([[30.0, 1.4, 32.0]])
    hero = Pills(low, high, np.array([0.4]), np.array([[240, 140, 40]], dtype=np.uint8))
    for before in ([], [hero]):
        frame.capsules, frame.hero = before, None
        bare = picture(renderer, frame)
        frame.hero = hero
        assert (picture(renderer, frame) == bare).all()  # nothing is in front of it
    wall = stairs(28.0, 35.0, steps=8)
    frame.meshes, frame.hero = [wall], None
    bare = picture(renderer, frame)
    frame.hero = hero
    outlined = picture(renderer, frame)
    changed = np.argwhere(np.abs(outlined - bare).max(axis=2) > 12)
    corners = outline(frame).reshape(-1, 3)
    places = cameras.project(frame.camera, SIZE, corners)[:, 1::-1]
    assert len(changed) > 60
    apart = np.linalg.norm(changed[:, np.newaxis] + 0.5 - places, axis=2).min(axis=1)
    assert apart.max() < 12.0
    inside = cameras.project(frame.camera, SIZE, 0.5 * (low + high))[0, 1::-1].astype(int)
    assert (outlined[tuple(inside)] == bare[tuple(inside)]).all()  # an outline, not a figure
    frame.camera = Camera((30.0, 1.2, 32.0), 0.0, 0.0)  # out of its own eyes
    assert len(outline(frame)) == 0


def test_the_outline_is_about_as_wide_in_both_renderers():
    if driver():
        pytest.skip(f"no OpenGL driver: {driver()}")
    frame = Frame(cameras.looking_at((30.0, 4.0, 44.0), (30.0, 1.0, 32.0)), hills(65, relief=1e-3))
    low, high = np.array([[30.0, 0.4, 32.0]]), np.array([[30.0, 1.4, 32.0]])
    frame.hero = Pills(low, high, np.array([0.4]), np.zeros((1, 3), dtype=np.uint8))
    frame.meshes = [stairs(28.0, 35.0)]
    sums = []
    for opened in (SoftwareRenderer(SIZE, visible=False), open_gl()):
        frame.hero, hero = None, frame.hero
        bare = picture(opened, frame)
        frame.hero = hero
        sums.append(np.abs(picture(opened, frame) - bare).sum())
        opened.close()
    assert 0.6 < sums[0] / sums[1] < 1.7


# Steep ground


def flank(axis, sign, names=None):
    """Return ground that rises by 70 degrees along an axis, and a camera before it."""
    rise = 2.75 * np.arange(41.0)[::sign]
    heights = np.tile(rise, (41, 1)) if axis == 0 else np.tile(rise[:, np.newaxis], (1, 41))
    land = HeightMap(heights, material_names=names)
    up = sign * np.eye(3)[2 * axis]
    middle = np.array([20.0, land.height_at(20.0, 20.0), 20.0])
    out = np.array([-2.75, 0.0, -2.75]) * np.abs(up) * sign + [0.0, 1.0, 0.0]
    camera = cameras.looking_at(tuple(middle + 5.0 * out / np.linalg.norm(out)), tuple(middle))
    return Frame(camera, land, sun=tuple(out + 0.1))


@pytest.mark.parametrize(("axis", "sign"), [(0, 1), (0, -1), (1, 1), (1, -1)])
def test_steep_ground_is_not_stretched(renderer, axis, sign):
    """A color changes as much up and down the flank as along it."""
    seen = picture(renderer, flank(axis, sign, ["ice"]))[40:-40, 60:-60].sum(axis=2)
    along, down = (np.abs(np.diff(seen, axis=at)).mean() for at in (1, 0))
    assert along > 3.0
    assert 0.75 < down / along < 1.33


def test_steep_sides_of_a_meadow_are_earth(renderer):
    steep = picture(renderer, flank(0, 1, ["grass"]))[40:-40, 60:-60].mean(axis=(0, 1))
    assert steep[0] > steep[1] > steep[2]
    level = HeightMap(np.zeros((41, 41)), material_names=["grass"])
    camera = cameras.looking_at((20.0, 6.0, 26.0), (20.0, 0.0, 20.0))
    grass = picture(renderer, Frame(camera, level))[60:].mean(axis=(0, 1))
    assert grass[1] > grass[0] > grass[2]


def test_the_land_before_is_drawn_until_the_next_part_is_ready() -> None:
    from demo.renderers.following import GroundLook

    with ThreadPoolExecutor(1) as pool:
        look = GroundLook(pool, waits=False)
        lands = [HeightMap(np.full((9, 9), height), origin=(height, 0, 0)) for height in (0, 8)]
        frames = [Frame(Camera(), land=land, land_moves=True, far=200.0) for land in lands]
        assert look.follow(frames[0]) is None
        first = look.ground
        assert first is not None
        assert first.far == 200.0
        assert look.follow(frames[0]) == []
        while (parts := look.follow(frames[1])) is not None:
            assert parts == []
            assert look.ground is first
        assert look.ground is not None
        assert look.ground.land is lands[1]
        other = HeightMap(np.zeros((9, 9)))
        assert look.follow(Frame(Camera(), land=other)) is None  # another scene's is made at once
        assert look.ground.land is other
        assert look.ground.far > 200.0
        look.close()


def test_ground_beside_holes_is_as_high_as_what_is_known() -> None:
    from demo.renderers.ground import LitGround

    heights = np.arange(81.0).reshape(9, 9)
    heights[3, 4] = heights[6:, :] = np.nan
    with ThreadPoolExecutor(1) as pool:
        ground = LitGround(HeightMap(heights), (0.5, 0.7, 0.4), pool)
    assert ground.heights[3, 4] == 31.0  # the mean of its neighbors
    np.testing.assert_allclose(ground.heights[6, 1:8], heights[5, 1:8])
    assert not ground.solid[6:].any()
    np.testing.assert_allclose(ground.heights[8], np.nanmean(heights), atol=1.0)
