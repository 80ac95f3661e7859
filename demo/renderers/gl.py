"""The renderer on the graphics card: OpenGL 3.3 through moderngl, into a window or unseen."""

import contextlib
import platform
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import moderngl
import numpy as np
import pygame
from numpy.typing import NDArray

from ..picture import camera as cameras
from ..picture.frame import Frame
from ..picture.scaling import LEAST_PIXELS, checked_scale, scaled
from . import gl_shaders as shaders
from . import hero, look
from .bodies import COLOR, KIND, SIZE, TURN, WIDTH, pack_bodies
from .faces import Faces, FrameFaces
from .gl_clock import CardClock
from .gl_ground import CAST, CLOUDS, PANEL, GLGround, set_uniforms
from .gl_shapes import SHAPES
from .ground import LitGround
from .labels import draw_labels
from .outlines import frame_lines
from .patches import visible_patches
from .sun import shadow_frame

Floats = NDArray[np.float64]

SAMPLES = 4
MAP_SIZE = 2048
SUN_DEPTH = 400.0
"""How far along the sun's direction the shadow map reaches, in meters."""
LINE_WIDTH = 1.6
EMULATORS = ("llvmpipe", "softpipe", "swiftshader", "software rasterizer")
"""Drivers without a graphics card, slower than `demo.renderers.software`."""
_BODY = "3f 9f 3f 3f 1f/i"
_BODY_NAMES = ("center", "turn", "size", "tone", "hills")


class GLRenderer:
    """Draws with OpenGL; raises what the driver raises if there is none."""

    name = "gl"

    def __init__(self, size: tuple[int, int], *, visible: bool) -> None:
        self.visible = visible
        self.context = _open_context(size) if visible else _open_unseen()
        self.driver = str(self.context.info["GL_RENDERER"])
        self.is_emulated = bool(_emulated(self.driver))
        self._pool = ThreadPoolExecutor(2)
        program = self.context.program
        self._sky = program(shaders.SKY_VERTEX, shaders.SKY_FRAGMENT)
        self._land = program(shaders.GROUND_VERTEX, shaders.GROUND_FRAGMENT)
        self._body = program(shaders.BODY_VERTEX, shaders.BODY_FRAGMENT)
        self._body_depth = program(shaders.BODY_VERTEX, shaders.DEPTH_FRAGMENT)
        self._face = program(shaders.FACE_VERTEX, shaders.FACE_FRAGMENT)
        self._face_depth = program(shaders.FACE_VERTEX, shaders.DEPTH_FRAGMENT)
        self._line = program(shaders.LINE_VERTEX, shaders.LINE_FRAGMENT)
        self._tint = program(shaders.TINT_VERTEX, shaders.TINT_FRAGMENT)
        self._panel = program(shaders.PANEL_VERTEX, shaders.PANEL_FRAGMENT)
        self._enlarging = program(shaders.PANEL_VERTEX, shaders.ENLARGE_FRAGMENT)
        self._sky_array = self.context.vertex_array(self._sky, [])
        self._panel_array = self.context.vertex_array(self._panel, [])
        self._enlarging_array = self.context.vertex_array(self._enlarging, [])
        self._shapes = [self.context.buffer(shape().astype("f4").tobytes()) for shape in SHAPES]
        self._cast = self.context.depth_texture((MAP_SIZE, MAP_SIZE))
        self._cast.compare_func = "<="
        self._cast.repeat_x = self._cast.repeat_y = False
        self._cast_target = self.context.framebuffer(depth_attachment=self._cast)
        self._ground = GLGround(
            self.context,
            self._land,
            self._pool,
            anisotropy=1.0 if self.is_emulated else 8.0,
            waits=not visible,
        )
        self._frame_faces = FrameFaces()
        self._faces: Faces | None = None
        self._face_buffer = self.context.buffer(reserve=28)
        self._anchor = np.zeros(3)
        self.size: tuple[int, int] = (0, 0)
        self._targets: list[Any] = []
        self._overlaid: tuple[pygame.Surface, int, moderngl.Texture] | None = None
        self._scale = 1.0
        self._make_targets(size)
        self._clock = CardClock(self.context)

    @property
    def scale(self) -> float:
        """The share of the picture's width and height that is drawn, then enlarged: 0.5 to 1."""
        return self._scale

    @scale.setter
    def scale(self, share: float) -> None:
        if share != self._scale:
            self._scale = checked_scale(share)
            self._make_targets(self.size)

    @property
    def card_seconds(self) -> float:
        """What a picture just before took the graphics card."""
        return self._clock.seconds

    def resize(self, size: tuple[int, int]) -> None:
        """Draw at another size from now on."""
        if self.visible:
            # SDL keeps the context of a window that only changes its size.
            pygame.display.set_mode(size, _WINDOW)
        self._make_targets(size)

    def prepare(self, frame: Frame) -> None:
        """Compile what drawing such a frame needs; in any thread, nothing is drawn."""
        if frame.land is not None:  # all else is compiled by the driver
            ground = LitGround(frame.land, frame.sun, self._pool)
            visible_patches(ground, frame.camera, self.size)

    def draw(self, frame: Frame) -> None:
        """Draw a frame; nothing is shown yet."""
        with self._clock.timed():
            self._draw_scene(frame)
        if frame.labels:
            picture = pygame.Surface(self.size, pygame.SRCALPHA)
            draw_labels(picture, frame)
            self.overlay(picture)

    def _draw_scene(self, frame: Frame) -> None:
        """Draw all but the labels."""
        ground = self._ground.follow(frame)
        meshes = self._frame_faces.follow(frame, ground)
        bodies = pack_bodies(frame)
        if frame.wireframe:
            bodies = bodies[:0]
        eye, to_sun = (
            np.array(frame.camera.position, dtype=np.float64),
            np.array(look.unit(frame.sun)),
        )
        self._hold_faces(meshes)
        packed = self._pack(bodies, eye)
        to_map = self._cast_shadows(packed, meshes, bodies, to_sun, eye)
        far = ground.far if ground else look.view_distance(200.0)
        clip = _relative_clip(frame, self._drawn, far)
        common = {
            "clip": _columns(clip), "to_sun": tuple(to_sun), "far": far, "casters": CAST,
            "to_map": _columns(to_map), "anchor": tuple(self._anchor - eye),
        }  # fmt: skip
        for program in (self._sky, self._land, self._body, self._face, self._line, self._tint):
            set_uniforms(program, common)
        self._smooth.use()
        self.context.viewport = (0, 0, *self._drawn)
        self.context.clear(depth=1.0)
        self._cast.use(CAST)
        self.context.enable_only(moderngl.DEPTH_TEST)
        self._ground.draw(frame, self._drawn, eye)
        self._draw_bodies(self._body, packed)
        if len(meshes.faces):
            set_uniforms(self._face, {"dull": frame.wireframe})
            self._draw_faces(self._face)
        self._draw_sky(frame, eye)
        self._draw_overlays(frame, meshes, eye)
        self._finish()

    def _finish(self) -> None:
        """Bring what was drawn to the picture, enlarged if it was drawn smaller."""
        if self._small is None:
            self.context.copy_framebuffer(self._plain, self._smooth)
            return
        self.context.copy_framebuffer(self._small, self._smooth)
        self._plain.use()
        self.context.viewport = (0, 0, *self.size)
        self.context.enable_only(moderngl.NOTHING)
        self._small_texture.use(PANEL)
        set_uniforms(self._enlarging, {"small": PANEL})
        self._enlarging_array.render(moderngl.TRIANGLE_STRIP, vertices=4)

    def overlay(
        self,
        panel: pygame.Surface,
        boxes: Sequence[pygame.Rect] | None = None,  # noqa: ARG002 one texture holds them all
        version: int | None = None,
    ) -> None:
        """Lay a picture with transparency over what was drawn, from the upper left corner."""
        width, height = panel.get_size()
        texture = self._texture_of(panel, version)
        self._plain.use()
        self.context.viewport = (0, self.size[1] - height, width, height)
        self.context.enable_only(moderngl.BLEND)
        self.context.blend_func = moderngl.SRC_ALPHA, moderngl.ONE_MINUS_SRC_ALPHA
        texture.use(PANEL)
        set_uniforms(self._panel, {"panel": PANEL})
        self._panel_array.render(moderngl.TRIANGLE_STRIP, vertices=4)
        if version is None:
            texture.release()

    def _texture_of(self, panel: pygame.Surface, version: int | None) -> moderngl.Texture:
        """Return a picture on the card; one with a version stays there until there is another."""
        kept = self._overlaid
        if kept is not None and version is not None and kept[:2] == (panel, version):
            return kept[2]
        texture = self.context.texture(panel.get_size(), 4, pygame.image.tobytes(panel, "RGBA"))
        texture.filter = (moderngl.NEAREST, moderngl.NEAREST)
        if version is not None:
            if kept is not None:
                kept[2].release()
            self._overlaid = panel, version, texture
        return texture

    def present(self) -> None:
        """Show what was drawn, if there is a window."""
        if self.visible:
            self.context.copy_framebuffer(self.context.screen, self._plain)
            pygame.display.flip()

    def read(self) -> NDArray[np.uint8]:
        """Return what was drawn, (height, width, 3)."""
        width, height = self.size
        rows = np.frombuffer(self._plain.read(components=3, alignment=1), dtype=np.uint8)
        return np.ascontiguousarray(rows.reshape(height, width, 3)[::-1])

    def close(self) -> None:
        """Give everything back."""
        self._ground.close()
        self._pool.shutdown()
        self.context.release()
        if self.visible:
            _forget_window()

    def _make_targets(self, size: tuple[int, int]) -> None:
        for target in self._targets:
            target.release()
        self.size = max(int(size[0]), LEAST_PIXELS), max(int(size[1]), LEAST_PIXELS)
        self._drawn = scaled(self.size, self._scale)
        samples = min(SAMPLES, int(self.context.max_samples))
        color = self.context.renderbuffer(self._drawn, 4, samples=samples)
        depth = self.context.depth_renderbuffer(self._drawn, samples=samples)
        plain = self.context.renderbuffer(self.size, 4)
        self._smooth = self.context.framebuffer(color, depth)
        self._plain = self.context.framebuffer(plain)
        self._small: moderngl.Framebuffer | None = None
        self._targets = [self._smooth, self._plain, color, depth, plain]
        if self._drawn != self.size:
            self._small_texture = self.context.texture(self._drawn, 4)
            self._small = self.context.framebuffer(self._small_texture)
            self._targets += [self._small, self._small_texture]

    def _pack(self, bodies: Floats, eye: Floats) -> list[tuple[int, bytes, int]]:
        """Return for each kind of body its rows as the shaders read them, and their number."""
        found = []
        for kind in range(3):
            rows = bodies[bodies[:, KIND] == kind]
            if not len(rows):
                continue
            packed = np.ones((len(rows), WIDTH - 1), dtype="f4")
            packed[:, :3] = rows[:, 1:4] - eye
            packed[:, 3:12] = rows[:, TURN : TURN + 9]
            packed[:, 12:15] = rows[:, SIZE : SIZE + 3]
            packed[:, 15:18] = rows[:, COLOR : COLOR + 3]
            if self._ground.look is not None:
                packed[:, 18] = self._ground.look.hill_light(rows[:, 1:4])
            found.append((kind, np.ascontiguousarray(packed[:, :19]).tobytes(), len(rows)))
        return found

    def _draw_bodies(self, program: moderngl.Program, packed: list[tuple[int, bytes, int]]) -> None:
        for kind, rows, count in packed:
            shape, instances = self._shapes[kind], self.context.buffer(rows)
            array = self.context.vertex_array(
                program,
                [(shape, "3f 3f", "at", "side"), (instances, _BODY, *_BODY_NAMES)],
                skip_errors=True,
            )
            set_uniforms(program, {"kind": kind})
            array.render(moderngl.TRIANGLES, vertices=shape.size // 24, instances=count)
            array.release()
            instances.release()

    def _hold_faces(self, meshes: Faces) -> None:
        """Bring the faces to the card, if they are others than before."""
        if meshes is self._faces:
            return
        self._faces = meshes
        triangles = meshes.vertices[meshes.faces]
        self._anchor = triangles[0, 0] if len(triangles) else np.zeros(3)
        packed = np.empty((len(triangles), 3, 7), dtype="f4")
        packed[:, :, :3] = triangles - self._anchor
        packed[:, :, 3:] = (meshes.lit / 255.0)[:, np.newaxis]
        self._face_buffer.release()
        self._face_buffer = self.context.buffer(packed.tobytes() or bytes(28))

    def _draw_faces(self, program: moderngl.Program) -> None:
        array = self.context.vertex_array(
            program, [(self._face_buffer, "3f 4f", "at", "lit")], skip_errors=True
        )
        array.render(moderngl.TRIANGLES)
        array.release()

    def _cast_shadows(
        self,
        packed: list[tuple[int, bytes, int]],
        meshes: Faces,
        bodies: Floats,
        to_sun: Floats,
        eye: Floats,
    ) -> Floats:
        """Draw the shadow map; return the matrix from places to it."""
        sun, count = shadow_frame(bodies, meshes.vertices, to_sun, eye)
        axes, corner = sun[:9].reshape(3, 3), sun[9:11]
        texels = sun[11] / max(count, 1)
        matrix = np.eye(4)
        matrix[:2, :3] = axes[:2] * texels
        matrix[:2, 3] = (axes[:2] @ eye - corner) * texels
        matrix[2, :3], matrix[2, 3] = -axes[2] / SUN_DEPTH, 0.5
        if count == 1:
            matrix[:2, 3] = -1.0  # nothing casts: beside the map
        halves = np.diag([2.0, 2.0, 2.0, 1.0])
        halves[:3, 3] = -1.0
        self._cast_target.use()
        self.context.viewport = (0, 0, MAP_SIZE, MAP_SIZE)
        self.context.enable_only(moderngl.DEPTH_TEST)
        self._cast_target.clear(depth=1.0)
        shared = {"clip": _columns(halves @ matrix), "anchor": tuple(self._anchor - eye)}
        set_uniforms(self._body_depth, shared)
        set_uniforms(self._face_depth, shared)
        self._draw_bodies(self._body_depth, packed)
        if len(meshes.faces):
            self._draw_faces(self._face_depth)
        return matrix

    def _draw_sky(self, frame: Frame, eye: Floats) -> None:
        focal = cameras.focal_length(frame.camera, self._drawn)
        ground = self._ground.look
        values = {
            "view": _columns(cameras.basis(frame.camera)),
            "slopes": (0.5 * self._drawn[0] / focal, 0.5 * self._drawn[1] / focal),
            "drop": float(eye[1] - (ground.lowest if ground else 0.0) + 2.0),
            "ends": ground is None or not ground.extends,
            "clouds": CLOUDS,
        }
        set_uniforms(self._sky, values)
        self.context.depth_func = "<="
        self._sky_array.render(moderngl.TRIANGLES, vertices=3)
        self.context.depth_func = "<"

    def _draw_overlays(self, frame: Frame, meshes: Faces, eye: Floats) -> None:
        """Draw tints and lines, softly blended and hidden by what is nearer."""
        self.context.enable_only(moderngl.DEPTH_TEST | moderngl.BLEND)
        self.context.blend_func = moderngl.SRC_ALPHA, moderngl.ONE_MINUS_SRC_ALPHA
        self._smooth.depth_mask = False
        rows = []
        for tint in frame.tints:
            part = np.empty((len(tint.corners), 3, 7), dtype="f4")
            part[:, :, :3] = tint.corners - eye
            part[:, :, 3:6] = (np.asarray(tint.colors) / 255.0)[:, np.newaxis]
            part[:, :, 6] = tint.opacity
            rows.append(part)
        if rows and sum(map(len, rows)):
            corners = self.context.buffer(np.concatenate(rows).tobytes())
            array = self.context.vertex_array(self._tint, [(corners, "3f 4f", "at", "tone")])
            array.render(moderngl.TRIANGLES)
            array.release()
            corners.release()
        self._draw_lines(*frame_lines(frame, meshes), eye, LINE_WIDTH)
        ring = hero.outline(frame).reshape(-1, 6)
        self.context.depth_func = ">"
        self._draw_lines(ring, np.tile(hero.COLOR, (len(ring), 1)), eye, hero.WIDTH)
        self.context.depth_func = "<"
        self._smooth.depth_mask = True

    def _draw_lines(self, ends: Floats, colors: Floats, eye: Floats, thick: float) -> None:
        """Draw lines, (n, 6), so many pixels of the window wide."""
        if not len(ends):
            return
        lines = np.column_stack([ends - np.tile(eye, 2), colors / 255.0]).astype("f4")
        width = thick * self._drawn[1] / self.size[1]
        set_uniforms(self._line, {"pixels": self._drawn, "width": width})
        held = self.context.buffer(lines.tobytes())
        array = self.context.vertex_array(self._line, [(held, "3f 3f 3f/i", "from", "to", "tone")])
        array.render(moderngl.TRIANGLES, vertices=6, instances=len(lines))
        array.release()
        held.release()


_WINDOW = pygame.OPENGL | pygame.DOUBLEBUF | pygame.RESIZABLE


def _open_context(size: tuple[int, int]) -> moderngl.Context:
    """Open a window with OpenGL 3.3 in it; leave none behind if that fails."""
    set_attribute = pygame.display.gl_set_attribute
    set_attribute(pygame.GL_CONTEXT_MAJOR_VERSION, 3)
    set_attribute(pygame.GL_CONTEXT_MINOR_VERSION, 3)
    set_attribute(pygame.GL_CONTEXT_PROFILE_MASK, pygame.GL_CONTEXT_PROFILE_CORE)
    try:
        pygame.display.set_mode(size, _WINDOW)
        return moderngl.create_context(require=330)
    except Exception:
        _forget_window()
        raise


def _forget_window() -> None:
    """Close the window: SDL does not draw into one that had OpenGL in it."""
    with contextlib.suppress(pygame.error):
        pygame.display.quit()
        pygame.display.init()


def emulated_driver() -> str:
    """Return the driver of this screen if it emulates a graphics card, nothing if it has one."""
    context = moderngl.create_context(require=330, standalone=True)  # of the kind that windows have
    try:
        return _emulated(str(context.info["GL_RENDERER"]))
    finally:
        context.release()


def _emulated(driver: str) -> str:
    return driver if any(name in driver.lower() for name in EMULATORS) else ""


def _open_unseen() -> moderngl.Context:
    settings: dict[str, Any] = {"backend": "egl"} if platform.system() == "Linux" else {}
    return moderngl.create_context(require=330, standalone=True, **settings)


def _relative_clip(frame: Frame, size: tuple[int, int], far: float) -> Floats:
    """Return the matrix from places about the camera to clip space."""
    turn = np.eye(4)
    turn[:3, :3] = cameras.view_matrix(frame.camera)[:3, :3]
    return cameras.projection_matrix(frame.camera, size, 2.0 * far) @ turn


def _columns(matrix: Floats) -> tuple[float, ...]:
    """Return a matrix as OpenGL takes it."""
    return tuple(matrix.T.ravel().tolist())
