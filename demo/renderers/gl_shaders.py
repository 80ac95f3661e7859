"""Shaders of the OpenGL renderer: the look of `demo.renderers.shade`, in GLSL 3.30.

Places are relative to the camera, so that precision does not depend on where the map lies.
"""

from . import look
from .patches import SIDE

_DETAIL_FAR = 70.0


def _vec3(color: tuple[float, ...], scale: float = 1.0) -> str:
    return "vec3(" + ", ".join(f"{value * scale:.6f}" for value in color) + ")"


_COMMON = f"""
#version 330
uniform vec3 to_sun;
uniform float far;
uniform mat4 to_map;          // place -> texels of the shadow map, depth in it
uniform sampler2DShadow casters;
const vec3 HORIZON = {_vec3(look.HORIZON, 1 / 255)};
const vec3 ZENITH = {_vec3(look.ZENITH, 1 / 255)};
const vec3 SUN_GLOW = {_vec3(look.SUN_GLOW, 1 / 255)};
const vec3 BELOW = {_vec3(look.BELOW, 1 / 255)};
const vec3 BEYOND = {_vec3(look.BEYOND, 1 / 255)};
const vec3 GRID_LINE = {_vec3(look.GRID_LINE, 1 / 255)};
const vec3 WIRE = {_vec3(look.WIRE, 1 / 255)};
const vec3 WIRE_GROUND = {_vec3(look.WIRE_GROUND, 1 / 255)};

float fog_after(float distance) {{
    float t = 3.2 * distance * distance / (far * far);
    return 1.0 - 1.0 / (1.0 + t + 0.5 * t * t + 0.33 * t * t * t);
}}

vec3 fogged(vec3 color, vec3 place) {{
    float distance = length(place);
    float glow = max(0.0, dot(place.xz, to_sun.xz) / max(distance, 1e-6));
    vec3 haze = mix(HORIZON, SUN_GLOW, 0.35 * glow * glow * glow);
    return mix(color, haze, fog_after(distance));
}}

float shadow_share(vec3 place) {{
    vec3 at = (to_map * vec4(place, 1.0)).xyz;
    if (any(lessThan(at, vec3(0.002))) || any(greaterThan(at, vec3(0.998)))) return 0.0;
    vec2 texel = 0.75 / vec2(textureSize(casters, 0));
    float light = 0.0;
    for (int i = 0; i < 4; i++)
        light += texture(casters, vec3(at.xy + texel * vec2(i & 1, i >> 1) - 0.5 * texel, at.z));
    return 1.0 - 0.25 * light;
}}
"""

SKY_VERTEX = """
#version 330
uniform mat3 view;
uniform vec2 slopes;
out vec3 ray;
void main() {
    vec2 corner = vec2(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0);
    ray = transpose(view) * vec3(corner * slopes, 1.0);
    gl_Position = vec4(corner, 1.0, 1.0);
}
"""
SKY_FRAGMENT = (
    _COMMON
    + f"""
uniform sampler2D clouds;
uniform float drop;
uniform bool ends;
in vec3 ray;
out vec4 color;
void main() {{
    vec3 d = normalize(ray);
    vec3 sky = ends ? BEYOND : BELOW;
    if (d.y >= 0.0) {{
        float t = (1.0 - d.y) * (1.0 - d.y);
        sky = mix(ZENITH, HORIZON, t * t * (0.55 + 0.45 * t));
        vec2 at = (d.xz * 30.0 / (d.y + 0.06) + vec2(40.0, 300.0)) / {look.NOISE_SIZE}.0;
        float cover = textureLod(clouds, at, 0.0).r * clamp(4.0 * (d.y - 0.02), 0.0, 1.0);
        sky = mix(sky, vec3(0.99, 0.98, 0.975), cover);
        float toward = max(dot(d, to_sun), 0.0);
        sky = mix(sky, SUN_GLOW, min(1.0, 0.32 * pow(toward, 8.0) + 1.3 * pow(toward, 768.0)));
    }} else {{
        sky = fogged(sky, d * (drop / -d.y));
    }}
    color = vec4(sky, 1.0);
}}
"""
)

GROUND_VERTEX = f"""
#version 330
uniform mat4 clip;
uniform sampler2D heights;
uniform usampler2D cells;
uniform vec3 corner;          // sample (0, 0) at height 0, from the camera
uniform vec2 cell;
uniform bool extends;
in vec3 patch_place;          // row, column, step
out vec3 place;
out vec2 grid;                // column, row
flat out float flipped;
const ivec2 SPLIT[12] = ivec2[12](
    ivec2(0, 1), ivec2(1, 1), ivec2(1, 0), ivec2(0, 1), ivec2(1, 0), ivec2(0, 0),
    ivec2(0, 1), ivec2(1, 1), ivec2(0, 0), ivec2(1, 1), ivec2(1, 0), ivec2(0, 0)
);
void main() {{
    int quad = gl_VertexID / 6;
    ivec2 at = ivec2(quad % {SIDE - 1}, quad / {SIDE - 1});
    ivec2 base = ivec2(patch_place.yx), last = textureSize(heights, 0) - 1;
    int step = int(patch_place.z);
    ivec2 own = clamp(base + clamp(at - 1, 0, {SIDE - 4}), ivec2(0), textureSize(cells, 0) - 1);
    bool turned = step == 1 && (texelFetch(cells, own, 0).r & 2u) != 0u;
    flipped = float((texelFetch(cells, own, 0).r & 2u) / 2u);
    ivec2 vertex = at + SPLIT[gl_VertexID % 6 + (turned ? 6 : 0)];
    ivec2 knot = base + clamp(vertex - 1, 0, {SIDE - 3}) * step;
    ivec2 known = clamp(knot, ivec2(0), last);
    grid = vec2(extends ? knot : known);
    bool skirt = any(equal(vertex, ivec2(0))) || any(equal(vertex, ivec2({SIDE - 1})));
    // An open border has a wall of its own.
    bool inner = all(greaterThan(knot, ivec2(0))) && all(lessThan(knot, last));
    skirt = skirt && (extends || inner);
    float y = texelFetch(heights, known, 0).r - (skirt ? step * max(cell.x, cell.y) : 0.0);
    place = corner + vec3(grid.x * cell.x, y, grid.y * cell.y);
    gl_Position = clip * vec4(place, 1.0);
}}
"""
GROUND_FRAGMENT = (
    _COMMON
    + f"""
uniform usampler2D cells;
uniform sampler2D lit;
uniform sampler2D detail;
uniform float texels_per_cell;
uniform vec3 detail_corner;
uniform vec2 cell;
uniform vec3 corner;
uniform int lines;
in vec3 place;
in vec2 grid;
out vec4 color;
float line(float u) {{
    float span = fwidth(u);
    float cover = clamp(1.1 - abs(u - floor(u + 0.5)) / max(span, 1e-9), 0.0, 1.0);
    return span > 0.6 ? 0.0 : cover * min(1.0, (0.6 - span) * 4.0);
}}
// The fine noise, seen along the axis that the ground faces most.
float grain() {{
    vec3 at = (place + detail_corner) / {look.DETAIL_METERS};
    vec3 right = dFdx(at), up = dFdy(at);
    vec3 facing = abs(cross(right, up));
    if (max(facing.x, facing.z) <= facing.y) return textureGrad(detail, at.xz, right.xz, up.xz).r;
    if (facing.x > facing.z) return textureGrad(detail, at.zy, right.zy, up.zy).r;
    return textureGrad(detail, at.xy, right.xy, up.xy).r;
}}
void main() {{
    float fine = grain();
    float across = line(grid.x), along = line(grid.y);
    float rising = line(grid.x + grid.y), falling = line(grid.x - grid.y);
    // Outside the map, colors run on as streaks: blur them.
    vec2 most = vec2(textureSize(lit, 0)), uv = grid * texels_per_cell;
    vec2 past = max(-uv, uv - most + 1.0);
    float blur = log2(1.0 + 0.4 * max(0.0, max(past.x, past.y)));
    vec4 texel = texture(lit, (uv + 0.5) / most, blur);
    ivec2 own = ivec2(floor(grid));
    ivec2 inside = clamp(own, ivec2(0), textureSize(cells, 0) - 1);
    uint state = texelFetch(cells, inside, 0).r;
    if (own == inside && (state & 1u) == 0u) discard;
    float fade = clamp(1.0 - length(place) / {_DETAIL_FAR}, 0.0, 1.0);
    vec3 ground = texel.rgb * (1.0 + 0.68 * (fine - 0.502) * fade);
    float taken = texel.a * shadow_share(place + 0.02 * to_sun);
    ground *= 1.0 - taken * vec3(1.06, 1.0, 0.86);
    if (lines == 1) ground = mix(ground, GRID_LINE, 0.62 * max(across, along));
    if (lines == 2) {{
        float third = (state & 2u) != 0u ? falling : rising;
        ground = WIRE_GROUND * (0.35 + 0.5 * dot(ground, vec3(1.0 / 3.0)));
        ground = mix(ground, WIRE, 0.85 * max(max(across, along), third));
    }}
    color = vec4(fogged(ground, place), 1.0);
}}
"""
)

BODY_VERTEX = """
#version 330
uniform mat4 clip;
uniform int kind;             // 0 ball, 1 box, 2 capsule
in vec3 at;
in vec3 side;
in vec3 center;
in mat3 turn;                 // by rows
in vec3 size;
in vec3 tone;
in float hills;
out vec3 place;
out vec3 local;
out vec3 face;
flat out vec3 half_size;
flat out vec3 own;
flat out mat3 axes;
flat out float sunny;
void main() {
    local = kind == 1 ? at * size : at * size.x;
    if (kind == 2) local.z += side.z * size.y;
    face = side;
    half_size = size;
    own = tone;
    axes = turn;
    sunny = hills;
    place = center + local * turn;
    gl_Position = clip * vec4(place, 1.0);
}
"""
BODY_FRAGMENT = (
    _COMMON
    + f"""
uniform int kind;
in vec3 place;
in vec3 local;
in vec3 face;
flat in vec3 half_size;
flat in vec3 own;
flat in mat3 axes;
flat in float sunny;
out vec4 color;
void main() {{
    vec3 n = local / half_size.x;
    float bright = 1.0;
    if (kind == 0) {{
        bright = abs(n.y) < 0.16 ? 2.0 : (n.x > 0.0) == (n.z > 0.0) ? 1.0 : 0.66;
    }} else if (kind == 1) {{
        n = face;
        vec3 gap = half_size - abs(local) + abs(face) * 1e6;
        float rim = 0.09 * min(half_size.x, min(half_size.y, half_size.z));
        bright = min(gap.x, min(gap.y, gap.z)) < rim ? 1.3 : 1.0;
    }} else {{
        n.z = (local.z - clamp(local.z, -half_size.y, half_size.y)) / half_size.x;
        bright = abs(local.z) < 0.12 * half_size.x ? 0.78 : 1.0;
    }}
    n = normalize(n) * axes;
    float white = 0.5 * max(bright - 1.0, 0.0);
    vec3 tone = mix(own * min(bright, 1.0), vec3(1.0), white);
    float light = sunny * (1.0 - shadow_share(place + 0.06 * n));
    float lambert = light * max(dot(n, to_sun), 0.0);
    float up = 0.5 + 0.5 * n.y;
    float shine = pow(max(dot(n, normalize(to_sun - normalize(place))), 0.0), 32.0);
    vec3 sky = {_vec3(look.SKY_LIGHT)} * up + {_vec3(look.BOUNCED_LIGHT)} * (1.0 - up);
    vec3 sun = {_vec3(look.SUN_LIGHT)} * lambert;
    color = vec4(fogged(sqrt(tone * (sky + sun) + 0.16 * shine * sun), place), 1.0);
}}
"""
)

FACE_VERTEX = """
#version 330
uniform mat4 clip;
uniform vec3 anchor;
in vec3 at;
in vec4 lit;
out vec3 place;
out vec4 shade;
void main() {
    place = at + anchor;
    shade = lit;
    gl_Position = clip * vec4(place, 1.0);
}
"""
FACE_FRAGMENT = (
    _COMMON
    + """
in vec3 place;
in vec4 shade;
uniform bool dull;
out vec4 color;
void main() {
    float taken = shade.a * shadow_share(place + 0.05 * to_sun);
    vec3 tone = shade.rgb * (1.0 - taken * vec3(1.06, 1.0, 0.86));
    if (dull) tone = WIRE_GROUND * (0.35 + 0.5 * dot(shade.rgb, vec3(1.0 / 3.0)));
    color = vec4(fogged(tone, place), 1.0);
}
"""
)

DEPTH_FRAGMENT = """
#version 330
void main() {}
"""

LINE_VERTEX = """
#version 330
uniform mat4 clip;
uniform vec2 pixels;
uniform float width;
in vec3 from;
in vec3 to;
in vec3 tone;
out float beside;
flat out vec3 own;
void main() {
    vec4 a = clip * vec4(from / 1.004, 1.0), b = clip * vec4(to / 1.004, 1.0);
    const float NEAREST = 0.11;
    if (a.w < NEAREST && b.w < NEAREST) { gl_Position = vec4(2.0, 2.0, 2.0, 1.0); return; }
    if (a.w < NEAREST) a = mix(b, a, (b.w - NEAREST) / (b.w - a.w));
    if (b.w < NEAREST) b = mix(a, b, (a.w - NEAREST) / (a.w - b.w));
    vec2 way = (b.xy / b.w - a.xy / a.w) * pixels;
    vec2 along = dot(way, way) > 1e-12 ? normalize(way) : vec2(1.0, 0.0);
    int k = gl_VertexID;
    float side = (k == 0 || k == 2 || k == 3) ? -1.0 : 1.0;
    vec4 end = (k == 0 || k == 1 || k == 4) ? a : b;
    beside = side * (0.5 * width + 1.0);
    own = tone;
    gl_Position = end + vec4(vec2(-along.y, along.x) * beside * 2.0 / pixels * end.w, 0.0, 0.0);
}
"""
LINE_FRAGMENT = """
#version 330
uniform float width;
in float beside;
flat in vec3 own;
out vec4 color;
void main() { color = vec4(own, clamp(0.5 * width + 0.5 - abs(beside), 0.0, 1.0)); }
"""

TINT_VERTEX = """
#version 330
uniform mat4 clip;
in vec3 at;
in vec4 tone;
out vec4 own;
void main() {
    own = tone;
    gl_Position = clip * vec4(at / 1.004, 1.0);
}
"""
TINT_FRAGMENT = """
#version 330
in vec4 own;
out vec4 color;
void main() { color = own; }
"""

PANEL_VERTEX = """
#version 330
out vec2 at;
void main() {
    vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
    at = vec2(corner.x, 1.0 - corner.y);
    gl_Position = vec4(corner * 2.0 - 1.0, 0.0, 1.0);
}
"""
PANEL_FRAGMENT = """
#version 330
uniform sampler2D panel;
in vec2 at;
out vec4 color;
void main() { color = texture(panel, at); }
"""
ENLARGE_FRAGMENT = """
#version 330
uniform sampler2D small;
in vec2 at;
out vec4 color;
// The shares of four texels beside each other: Catmull and Rom's cubic.
vec4 shares(float t) {
    vec4 powers = vec4(1.0, t, t * t, t * t * t);
    return vec4(
        dot(powers, vec4(0.0, -0.5, 1.0, -0.5)), dot(powers, vec4(1.0, 0.0, -2.5, 1.5)),
        dot(powers, vec4(0.0, 0.5, 2.0, -1.5)), dot(powers, vec4(0.0, 0.0, -0.5, 0.5))
    );
}
void main() {
    ivec2 size = textureSize(small, 0);
    vec2 place = vec2(at.x, 1.0 - at.y) * vec2(size) - 0.5;
    ivec2 first = ivec2(floor(place)) - 1;
    vec4 across = shares(fract(place.x)), along = shares(fract(place.y));
    vec3 sum = vec3(0.0);
    for (int k = 0; k < 16; k++) {
        ivec2 texel = clamp(first + ivec2(k & 3, k >> 2), ivec2(0), size - 1);
        sum += across[k & 3] * along[k >> 2] * texelFetch(small, texel, 0).rgb;
    }
    color = vec4(sum, 1.0);
}
"""
