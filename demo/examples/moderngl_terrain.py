"""A terrain for moderngl: `to_mesh` gives what buffers take, and edits go up region by region.

It draws off the screen, digs a crater, sends only what changed, draws again, and ends.
``--picture OUT.png`` keeps the second picture (extra ``demo``).
"""

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyglm import glm

from terrain_physics import HeightMap, MeshArrays, Region

from ..scenery.scenes import load_land
from ._drawing import SIZE, save_pixels

try:
    import moderngl
except ImportError:
    raise SystemExit("this needs moderngl: pip install 'terrain-physics[demo]'") from None

SAMPLES = 4  # of a pixel, for smooth edges
EYE, TARGET = glm.vec3(120, 70, 190), glm.vec3(190, 8, 100)
SUN = glm.normalize(glm.vec3(0.5, 0.6, 0.4))
CRATER = (168.0, 140.0)  # x and z

VERTEX = """
#version 330
uniform mat4 clip;
in vec3 position;
in vec3 normal;
out vec3 place;
out vec3 facing;
void main() {
    place = position;
    facing = normal;
    gl_Position = clip * vec4(position, 1.0);
}
"""
FRAGMENT = """
#version 330
uniform vec3 eye;
uniform vec3 sun;
in vec3 place;
in vec3 facing;
out vec3 color;
void main() {
    vec3 n = normalize(facing);
    float high = smoothstep(2.0, 40.0, place.y);
    vec3 grass = mix(vec3(0.10, 0.19, 0.04), vec3(0.26, 0.24, 0.08), high);
    vec3 ground = mix(vec3(0.24, 0.21, 0.18), grass, smoothstep(0.75, 0.9, n.y));
    vec3 light = 1.7 * max(dot(n, sun), 0.0) * vec3(1.0, 0.93, 0.8)
        + mix(vec3(0.2, 0.18, 0.12), vec3(0.35, 0.45, 0.6), 0.5 + 0.5 * n.y);
    float haze = 1.0 - exp(-length(place - eye) / 1500.0);
    color = sqrt(mix(ground * light, vec3(0.5, 0.62, 0.78), haze));
}
"""


class Terrain:
    """A height map without holes in buffers of the graphics card, a vertex for each sample."""

    def __init__(self, context: Any, land: HeightMap) -> None:
        self.land, self.version = land, land.version
        mesh = land.to_mesh()
        self.vertices = context.buffer(rows_of(mesh).tobytes())
        self.program = context.program(VERTEX, FRAGMENT)
        self.array = context.vertex_array(
            self.program,
            [(self.vertices, "3f 3f", "position", "normal")],
            index_buffer=context.buffer(mesh.indices.tobytes()),
        )

    def draw(self, clip: glm.mat4) -> None:
        """Draw it, as the land is now."""
        self.follow()
        self.program["clip"].write(clip.to_bytes())
        self.program["eye"], self.program["sun"] = tuple(EYE), tuple(SUN)
        self.array.render()

    def follow(self) -> int:
        """Send what changed since the last time; return how many bytes that were."""
        sent = 0
        for region in self.land.changes_since(self.version):
            sent += self._send(region)
        self.version = self.land.version
        return sent

    def _send(self, region: Region) -> int:
        """Send the corners of some cells, row by row of the buffer.

        The mesh is a cell wider: normals of corners come from the cells around them.
        """
        samples = self.land.sample_count
        r0, r1, c0, c1 = region
        wide = Region(
            max(r0 - 1, 0), min(r1 + 1, samples[0] - 1), max(c0 - 1, 0), min(c1 + 1, samples[1] - 1)
        )
        across = wide.column_stop - wide.column_start + 1
        grid = rows_of(self.land.to_mesh(wide)).reshape(-1, across, 6)
        top, left = r0 - wide.row_start, c0 - wide.column_start
        grid = grid[top : top + r1 - r0 + 1, left : left + c1 - c0 + 1]
        for row, values in enumerate(grid, start=r0):
            first = (row * samples[1] + c0) * values[0].nbytes
            self.vertices.write(values.tobytes(), offset=first)
        return grid.nbytes


def rows_of(mesh: MeshArrays) -> NDArray[np.float32]:
    """Return a row for each vertex: x, y, z and the normal."""
    return np.hstack([mesh.vertices, mesh.normals])


def open_context() -> Any:
    """Return a context without a window, or end with the reason why there is none."""
    settings: dict[str, Any] = {"backend": "egl"} if sys.platform == "linux" else {}
    try:
        return moderngl.create_context(standalone=True, require=330, **settings)
    except Exception as error:  # moderngl raises plain ones
        print(f"skipped, as there is no OpenGL driver here: {error}")
        raise SystemExit from None


def render(context: Any, terrain: Terrain) -> NDArray[np.uint8]:
    """Return a picture (height, width, 3)."""
    width, height = SIZE
    smooth = context.framebuffer(
        context.renderbuffer(SIZE, 3, samples=SAMPLES),
        context.depth_renderbuffer(SIZE, samples=SAMPLES),
    )
    plain = context.simple_framebuffer(SIZE, 3)
    context.enable_only(moderngl.DEPTH_TEST | moderngl.CULL_FACE)  # fronts are counter-clockwise
    smooth.use()
    smooth.clear(0.71, 0.79, 0.88, depth=1.0)
    lens = glm.perspective(glm.radians(50.0), width / height, 0.5, 2000.0)
    view = glm.lookAt(EYE, TARGET, glm.vec3(0, 1, 0))
    terrain.draw(glm.mat4(lens * view))
    context.copy_framebuffer(plain, smooth)
    rows = np.frombuffer(plain.read(components=3, alignment=1), np.uint8)
    return rows.reshape(height, width, 3)[::-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--picture", type=Path, metavar="OUT.png", help="keep the picture")
    options = parser.parse_args()

    context, land = open_context(), load_land()
    terrain = Terrain(context, land)
    print(f"{context.info['GL_RENDERER']}: {terrain.array.vertices // 3:,} triangles")
    before = render(context, terrain)
    land.carve((CRATER[0], land.height_at(*CRATER), CRATER[1]), radius=14, depth=7)
    sent = terrain.follow()
    after = render(context, terrain)
    changed = (before != after).any(axis=2).mean()
    print(
        f"a crater: {sent:,} of {terrain.vertices.size:,} bytes sent, {changed:.0%} of the picture"
    )
    if options.picture:
        save_pixels(after, options.picture)


if __name__ == "__main__":
    main()
