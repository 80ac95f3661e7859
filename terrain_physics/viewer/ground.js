// The ground: its parts with all that becomes of them, colored by material and slope.

// Materials by name; of a longer name, as "wet sand", its last word counts.
const LAND = {
  grass: "#acb88e", dirt: "#b3936c", earth: "#b3936c", soil: "#b3936c", mud: "#7b6047", rock: "#a59d92",
  stone: "#b3aca2", gravel: "#bdb5a6", concrete: "#b9b9b6", sand: "#e3cf9c", snow: "#f4f8fc", ice: "#b4dcee",
  water: "#6aa5c9", wood: "#bb9060", lava: "#d9652f", metal: "#9aa6b2", road: "#77787e", asphalt: "#77787e",
};
const NUMBERED = ["#acb88e", "#c9a26b", "#8fa7bd", "#b98a7a", "#d9cf9f", "#7fae9b", "#a58fb5", "#c7c7c7"];
const MESH = "#c4beb3"; // meshes whose material 0 has no name
const ROCK = "#857a70"; // maps where they are too steep to walk
const STEEP = "#897158"; // the same of meshes, whose faces are darker by it

// Return the word for a material of a part, and its color.
function materialOf(about, number) {
  const name = about.materialNames?.[number];
  const byNumber = NUMBERED[number % NUMBERED.length];
  if (name !== undefined) return [name, LAND[name.toLowerCase().split(/[^a-z]+/).at(-1)] ?? byNumber];
  if (number > 0) return [`material ${number}`, byNumber];
  return about.kind === "map" ? ["land", NUMBERED[0]] : ["mesh", MESH];
}

const GROUND_VERTEX = `
  vPart = position;
  vWorld = (modelMatrix * vec4(position, 1.0)).xyz;
`;
const GROUND_COLOR = `
  vec3 face = normalize(cross(dFdx(vWorld), dFdy(vWorld)));
  float walkable = smoothstep(uSlope - 0.02, uSlope + 0.02, abs(face.y));
  vec3 steep = diffuseColor.rgb * vec3(0.70, 0.58, 0.50);
  if (uCell.x > 0.0) { // a map: drier towards rock, and rock in layers
    float rises = 1.0 - smoothstep(0.15, 0.75, (abs(face.y) - uSlope) / (1.0 - uSlope + 1e-4));
    diffuseColor.rgb *= mix(vec3(1.0), vec3(1.0, 0.91, 0.76), rises);
    float layer = vWorld.y / uCell.y;
    float thin = fwidth(layer);
    float edge = (1.0 - smoothstep(0.0, 0.04 + thin, abs(fract(layer) - 0.5))) * clamp(1.0 - 1.5 * thin, 0.0, 1.0);
    steep = mix(steep, uRock, 0.8) * (1.0 - 0.22 * edge);
  }
  diffuseColor.rgb = mix(steep, diffuseColor.rgb, walkable);
  if (uCell.x > 0.0) {
    vec2 place = vPart.xz / uCell;
    vec2 width = fwidth(place);
    vec2 fine = (1.0 - smoothstep(vec2(0.0), 1.4 * width, abs(fract(place - 0.5) - 0.5))) * clamp(1.0 - 2.5 * width, 0.0, 1.0);
    vec2 rough = (1.0 - smoothstep(vec2(0.0), 0.14 * width, abs(fract(place / 10.0 - 0.5) - 0.5))) * clamp(1.0 - 0.5 * width, 0.0, 1.0);
    diffuseColor.rgb *= 1.0 - 0.16 * max(fine.x, fine.y) - 0.14 * max(rough.x, rough.y);
  }
`;

function groundMaterial(slopeCosine, cell, options) {
  const material = new THREE.MeshStandardMaterial({
    vertexColors: true, roughness: 0.95, metalness: 0, shadowSide: THREE.DoubleSide, ...options,
  });
  material.onBeforeCompile = (shader) => {
    shader.uniforms.uSlope = { value: slopeCosine };
    shader.uniforms.uRock = { value: new THREE.Color(ROCK) };
    shader.uniforms.uCell = { value: new THREE.Vector2(...cell) };
    shader.vertexShader = `varying vec3 vPart; varying vec3 vWorld;\n${shader.vertexShader}`
      .replace("#include <begin_vertex>", `#include <begin_vertex>\n${GROUND_VERTEX}`);
    shader.fragmentShader = `varying vec3 vPart; varying vec3 vWorld; uniform float uSlope; uniform vec3 uRock; uniform vec2 uCell;\n${shader.fragmentShader}`
      .replace("#include <color_fragment>", `#include <color_fragment>\n${GROUND_COLOR}`);
  };
  return material;
}

class Part {
  constructor(clip, about, number, lines) {
    const get = (name) => clip.stream(`part${number}.${name}`);
    this.clip = clip;
    this.about = about;
    this.get = get;
    this.isMap = about.kind === "map";
    this.position = get("position");
    this.rotation = get("rotation");
    [this.isSolid] = get("isSolid");
    this.base = meters(get("vertices"), clip.step);
    this.vertices = this.base.slice();
    this.columns = this.isMap ? columnsOf(this.vertices) : 0;
    // The far side of a hill would show through along its crest if maps had two sides.
    const look = { flatShading: !this.isMap, side: this.isMap ? THREE.FrontSide : THREE.DoubleSide };
    this.solid = groundMaterial(clip.slopeCosine, about.cell, look);
    this.ghost = groundMaterial(clip.slopeCosine, about.cell, {
      ...look, transparent: true, opacity: 0.22, depthWrite: false,
    });
    this.mesh = new THREE.Mesh(new THREE.BufferGeometry(), this.solid);
    this.mesh.receiveShadow = true;
    this.around = about.around[0] > 0 ? new THREE.Mesh(undefined, this.ghost) : null;
    if (this.around) this.mesh.add(this.around);
    this.edges = this.isMap ? null : new THREE.LineSegments(undefined, lines);
    if (this.edges) this.mesh.add(this.edges);
    this.surface = this.edited = -1; // what is shown
    this.spare = new THREE.Quaternion();
    this.spareAt = new THREE.Vector3();
    this.show(about.first, 0);
  }

  show(sample, share) {
    const own = sample - this.about.first;
    const count = this.position[0].length;
    this.mesh.visible = own >= 0 && own < count;
    if (!this.mesh.visible) return;
    const { clip } = this;
    clip.vector(this.position, 0, own, clip.step, this.mesh.position);
    const goesOn = own + 1 < count;
    if (goesOn && share > 0) {
      this.mesh.position.lerp(clip.vector(this.position, 0, own + 1, clip.step, this.spareAt), share);
    }
    clip.turnOf(this.rotation, 0, own, share, goesOn, this.mesh.quaternion, this.spare);
    const isSolid = this.isSolid[own] !== 0;
    this.mesh.material = isSolid ? this.solid : this.ghost;
    this.mesh.castShadow = isSolid;
    this.showEdits(sample);
  }

  showEdits(sample) {
    const surface = lastUpTo(this.about.surfaces, sample);
    const edited = lastUpTo(this.about.edits, sample);
    if (surface === this.surface && edited === this.edited) return;
    if (edited < this.edited) {
      this.vertices.set(this.base);
      this.edited = -1;
    }
    while (this.edited < edited) {
      this.edited += 1;
      const values = this.get(`edit${this.edited}`);
      this.get(`rows${this.edited}`)[0].forEach((row, k) => {
        for (let axis = 0; axis < 3; axis++) {
          this.vertices[3 * row + axis] = values[axis][k] * this.clip.step;
        }
      });
    }
    this.surface = surface;
    this.rebuild();
  }

  // Return how high a map is at a place that is shown, holes filled; -Infinity elsewhere.
  heightAt(x, z) {
    if (!this.isMap || !this.mesh.visible) return -Infinity;
    const { vertices, columns, about: { cell }, mesh: { position } } = this;
    const rows = vertices.length / 3 / columns;
    const column = (x - position.x - vertices[0]) / cell[0];
    const row = (z - position.z - vertices[2]) / cell[1];
    if (!(column >= 0 && row >= 0 && column <= columns - 1 && row <= rows - 1)) return -Infinity;
    const j = Math.min(Math.floor(column), columns - 2);
    const i = Math.min(Math.floor(row), rows - 2);
    const height = (k, l) => vertices[3 * ((i + k) * columns + j + l) + 1];
    const along = (k) => height(k, 0) + (column - j) * (height(k, 1) - height(k, 0));
    return position.y + along(0) + (row - i) * (along(1) - along(0));
  }

  rebuild() {
    const faces = this.get(`faces${this.surface}`);
    const [materials] = this.get(`materials${this.surface}`);
    const palette = new Map(numbersIn(materials).map((number) => {
      const [, color] = materialOf(this.about, number);
      return [number, new THREE.Color(color)];
    }));
    const colorOf = (face) => palette.get(materials[face] & 255);
    this.mesh.geometry.dispose();
    const geometry = this.isMap
      ? smooth(this.vertices, faces, colorOf) : faceted(this.vertices, faces, colorOf);
    this.mesh.geometry = geometry;
    if (this.around) {
      this.around.geometry.dispose();
      this.around.geometry = outward(this.vertices, this.about.around, geometry.attributes.color.array);
    }
    if (this.edges) {
      this.edges.geometry.dispose();
      this.edges.geometry = new THREE.EdgesGeometry(geometry, 15);
    }
  }
}

// Return the words for the materials of parts that are ever seen, and their colors.
function materialsOf(parts) {
  const found = new Map();
  for (const part of parts) {
    part.about.surfaces.forEach((_, surface) => {
      for (const number of numbersIn(part.get(`materials${surface}`)[0])) found.set(...materialOf(part.about, number));
    });
  }
  return found;
}

// Return the numbers of the materials that faces have, from the lowest on.
function numbersIn(materials) {
  const isThere = new Uint8Array(256);
  for (let face = 0; face < materials.length; face++) isThere[materials[face] & 255] = 1;
  return [...isThere.keys()].filter((number) => isThere[number]);
}

function lastUpTo(samples, sample) {
  let last = -1;
  while (last + 1 < samples.length && samples[last + 1] <= sample) last += 1;
  return last;
}

function meters(rows, step) {
  const count = rows[0].length;
  const values = new Float32Array(3 * count);
  for (let axis = 0; axis < 3; axis++) {
    for (let k = 0; k < count; k++) values[3 * k + axis] = rows[axis][k] * step;
  }
  return values;
}

// Return how many vertices of a map are in a row.
function columnsOf(vertices) {
  let count = 1;
  while (3 * count < vertices.length && vertices[3 * count + 2] === vertices[2]) count += 1;
  return count;
}

// Vertices are shared by their faces, whose materials blend there.
function smooth(vertices, faces, colorOf) {
  const count = faces[0].length;
  const index = new Uint32Array(3 * count);
  const colors = new Float32Array(vertices.length);
  const times = new Float32Array(vertices.length / 3);
  for (let face = 0; face < count; face++) {
    const color = colorOf(face);
    for (let corner = 0; corner < 3; corner++) {
      const row = faces[corner][face];
      index[3 * face + corner] = row;
      colors[3 * row] += color.r;
      colors[3 * row + 1] += color.g;
      colors[3 * row + 2] += color.b;
      times[row] += 1;
    }
  }
  const land = new THREE.Color(NUMBERED[0]);
  for (let row = 0; row < times.length; row++) {
    if (times[row] === 0) land.toArray(colors, 3 * row);
    else for (let k = 3 * row; k < 3 * row + 3; k++) colors[k] /= times[row];
  }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(vertices.slice(), 3));
  geometry.setAttribute("color", new THREE.BufferAttribute(colors, 3));
  geometry.setIndex(new THREE.BufferAttribute(index, 1));
  geometry.computeVertexNormals();
  return geometry;
}

// The border of a map, which goes on outward at its heights: as far as the map is wide.
function outward(vertices, [rows, columns], colorsInside) {
  const wide = Math.max(vertices.at(-1) - vertices[2], vertices.at(-3) - vertices[0]);
  const places = [];
  const colors = [];
  const index = [];
  const inside = (k, count) => Math.min(Math.max(k, 0), count - 1);
  const beyond = (k, count) => (k < 0 ? -wide : k >= count ? wide : 0);
  const isEdge = (k, count) => k < 0 || k === count - 1;
  for (let row = -1; row <= rows; row++) {
    for (let column = -1; column <= columns; column++) {
      const from = 3 * (inside(row, rows) * columns + inside(column, columns));
      places.push(vertices[from] + beyond(column, columns), vertices[from + 1], vertices[from + 2] + beyond(row, rows));
      colors.push(colorsInside[from], colorsInside[from + 1], colorsInside[from + 2]);
      if (row === rows || column === columns || !(isEdge(row, rows) || isEdge(column, columns))) continue;
      const d = (row + 1) * (columns + 2) + column + 1;
      const a = d + columns + 2;
      index.push(a, a + 1, d + 1, a, d + 1, d);
    }
  }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(places, 3));
  geometry.setAttribute("color", new THREE.Float32BufferAttribute(colors, 3));
  geometry.setIndex(index);
  geometry.computeVertexNormals();
  return geometry;
}

function faceted(vertices, faces, colorOf) {
  const count = faces[0].length;
  const places = new Float32Array(9 * count);
  const colors = new Float32Array(9 * count);
  for (let face = 0; face < count; face++) {
    const color = colorOf(face);
    for (let corner = 0; corner < 3; corner++) {
      const row = faces[corner][face];
      places.set(vertices.subarray(3 * row, 3 * row + 3), 9 * face + 3 * corner);
      color.toArray(colors, 9 * face + 3 * corner);
    }
  }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(places, 3));
  geometry.setAttribute("color", new THREE.BufferAttribute(colors, 3));
  geometry.computeVertexNormals();
  return geometry;
}

