// The path of the body that is followed, in the colors of its states: a ribbon of the same width
// wherever it is, strong up to now and faint from there on.

const WAY_REACH = 1 << 14; // samples before and after now that are drawn, a quarter of an hour each

const WAY_VERTEX = `
  vec4 mvPosition = modelViewMatrix * vec4(transformed, 1.0);
  vec4 next = modelViewMatrix * vec4(wayOther, 1.0);
  mvPosition.xyz *= 0.994; // a little nearer than the ground that it lies on
  next.xyz *= 0.994;
  vec4 own = projectionMatrix * mvPosition;
  vec4 other = projectionMatrix * next;
  const float least = 0.01; // what is behind the camera has no place on the screen
  if (own.w < least && other.w < least) own = vec4(2.0, 2.0, 2.0, 1.0);
  else if (own.w < least) own = mix(own, other, (least - own.w) / (other.w - own.w));
  else if (other.w < least) other = mix(other, own, (least - other.w) / (own.w - other.w));
  vec2 along = (other.xy / other.w - own.xy / own.w) * uWayScreen;
  along = dot(along, along) > 1e-9 ? normalize(along) : vec2(1.0, 0.0);
  vWaySide = waySide;
  own.xy += vec2(-along.y, along.x) * vWaySide * wayTurn * uWayWidth / uWayScreen * own.w;
  gl_Position = own;
`;
const WAY_COLOR = `
  diffuseColor.rgb = mix(diffuseColor.rgb, uWayEdge, smoothstep(0.4, 0.7, abs(vWaySide)));
`;

function wayMaterial(uniforms, width, opacity) {
  const material = new THREE.MeshBasicMaterial({
    vertexColors: true, transparent: true, opacity, depthWrite: false, side: THREE.DoubleSide, toneMapped: false,
  });
  material.onBeforeCompile = (shader) => {
    Object.assign(shader.uniforms, uniforms, { uWayWidth: { value: width } });
    shader.vertexShader = `
      attribute vec3 wayOther; attribute float waySide; attribute float wayTurn; varying float vWaySide;
      uniform vec2 uWayScreen; uniform float uWayWidth;\n${shader.vertexShader}`
      .replace("#include <project_vertex>", WAY_VERTEX);
    shader.fragmentShader = `varying float vWaySide; uniform vec3 uWayEdge;\n${shader.fragmentShader}`
      .replace("#include <color_fragment>", `#include <color_fragment>\n${WAY_COLOR}`);
  };
  return material;
}

class Way {
  constructor(clip, scene) {
    this.clip = clip;
    this.body = -1;
    this.middle = 0; // the sample around which it is made
    this.starts = []; // samples at which its pieces begin
    this.uniforms = { uWayScreen: { value: new THREE.Vector2(1, 1) }, uWayEdge: { value: new THREE.Color() } };
    // Half widths in pixels.
    this.mesh = new THREE.Mesh(new THREE.BufferGeometry(), [
      wayMaterial(this.uniforms, 3.4, 0.95), wayMaterial(this.uniforms, 2, 0.4),
    ]);
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = 1;
    scene.add(this.mesh);
  }

  resize(width, height) {
    this.uniforms.uWayScreen.value.set(0.5 * width, 0.5 * height);
  }

  show(body, sample) {
    const isFar = Math.abs(sample - this.middle) > 0.5 * WAY_REACH;
    if (body !== this.body || isFar) this.rebuild(body, sample);
    let past = 0; // pieces up to now
    let end = this.starts.length;
    while (past < end) {
      const half = (past + end) >> 1;
      if (this.starts[half] < sample) past = half + 1;
      else end = half;
    }
    const { geometry } = this.mesh;
    geometry.clearGroups();
    geometry.addGroup(0, 6 * past, 0);
    geometry.addGroup(6 * past, 6 * (this.starts.length - past), 1);
  }

  rebuild(body, sample) {
    const { clip } = this;
    this.body = body;
    this.middle = sample;
    this.starts = [];
    const last = Math.min(sample + WAY_REACH, clip.time.length - 1);
    for (let start = Math.max(sample - WAY_REACH, 0); body >= 0 && start < last; start++) {
      if (clip.shape[body][start] >= 0 && clip.goesOn(body, start)) this.starts.push(start);
    }
    this.mesh.geometry.dispose();
    this.mesh.geometry = this.ribbon();
    this.mesh.visible = this.starts.length > 0;
  }

  // Two triangles for each piece; each corner knows the other end, across which it is moved aside.
  ribbon() {
    const count = this.starts.length;
    const own = new Float32Array(12 * count);
    const other = new Float32Array(12 * count);
    const colors = new Float32Array(12 * count);
    const sides = new Float32Array(4 * count);
    const turns = new Float32Array(4 * count); // the ends see each other in opposite directions
    const index = new Uint32Array(6 * count);
    const shades = STATES.map(([, color]) => new THREE.Color(color));
    const ends = [new THREE.Vector3(), new THREE.Vector3()];
    this.starts.forEach((start, piece) => {
      ends.forEach((end, k) => this.footOf(start + k, end));
      for (let corner = 0; corner < 4; corner++) {
        const at = 12 * piece + 3 * corner;
        const end = corner >> 1;
        ends[end].toArray(own, at);
        ends[1 - end].toArray(other, at);
        shades[this.clip.state[this.body][start]].toArray(colors, at);
        sides[4 * piece + corner] = corner & 1 ? -1 : 1;
        turns[4 * piece + corner] = end ? -1 : 1;
      }
      index.set([0, 1, 2, 1, 3, 2].map((corner) => 4 * piece + corner), 6 * piece);
    });
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(own, 3));
    geometry.setAttribute("wayOther", new THREE.BufferAttribute(other, 3));
    geometry.setAttribute("waySide", new THREE.BufferAttribute(sides, 1));
    geometry.setAttribute("wayTurn", new THREE.BufferAttribute(turns, 1));
    geometry.setAttribute("color", new THREE.BufferAttribute(colors, 3));
    geometry.setIndex(new THREE.BufferAttribute(index, 1));
    return geometry;
  }

  // The lowest place of the body, not of its turned shape.
  footOf(sample, out) {
    const { clip, body } = this;
    const [kind, [x, y]] = clip.shapes[clip.shape[body][sample]];
    clip.vector(clip.center, 3 * body, sample, clip.step, out);
    out.y -= kind === "capsule" ? x + y : y;
  }
}
