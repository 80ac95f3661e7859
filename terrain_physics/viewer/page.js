// Shows a clip, which `packing.py` describes: unpacks it, and draws it with three.js. The files before
// this one are of the same module: ground, path, camera, address.

// How bodies stand, in the order of their numbers: name, and a color that stays apart from the
// others even where few colors are seen.
const STATES = [
  ["in the air", "#3d8bfd"],
  ["sliding", "#f5871f"],
  ["wedged", "#e3c234"],
  ["grounded", "#1fa971"],
  ["on a head", "#a66bd4"],
];
const BLOCKED = "#e5304f";
const MOST_FITTED = 1 << 17; // places that a view of everything is made to fit
const THEMES = {
  light: { sky: "#dce7f0", sun: 2.4, ambient: 1.9, line: "#1b2733", ground: "#8d7f70" },
  dark: { sky: "#10161e", sun: 1.8, ambient: 1.5, line: "#f2f6fa", ground: "#2a2622" },
};

// Return what stands for a body on the page: a number alone would say nothing.
const wordFor = (name) => (/^-?\d+$/.test(name) ? `body ${name}` : name);

const element = (id) => document.getElementById(id);

// Unpacking

async function unpack(text) {
  const packed = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const content = new Uint8Array(await new Response(stream).arrayBuffer());
  const size = new DataView(content.buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(content.subarray(4, 4 + size)));
  const streams = new Map();
  let end = 4 + size;
  for (const [name, width, rows, count] of header.streams) {
    const length = width * rows * count;
    streams.set(name, rowsOf(content.subarray(end, end + length), width, rows, count));
    end += length;
  }
  return { header, streams };
}

// Rows of whole numbers: planes of bytes, folded, of differences.
function rowsOf(bytes, width, rows, count) {
  const size = rows * count;
  const numbers = new Int32Array(size);
  for (let plane = 0; plane < width; plane++) {
    for (let k = 0; k < size; k++) numbers[k] |= bytes[plane * size + k] << (8 * plane);
  }
  const shift = 32 - 8 * width;
  const found = [];
  for (let row = 0; row < rows; row++) {
    const values = numbers.subarray(row * count, (row + 1) * count);
    let last = 0;
    for (let k = 0; k < count; k++) {
      const unfolded = (values[k] >>> 1) ^ -(values[k] & 1);
      last = ((last + unfolded) << shift) >> shift; // as numbers of that width wrap
      values[k] = last;
    }
    found.push(values);
  }
  return found;
}

class Clip {
  constructor({ header, streams }) {
    Object.assign(this, header);
    const get = (name) => streams.get(name);
    this.stream = get;
    [this.time] = get("time").map((row) => Float64Array.from(row, (tick) => tick * header.tick));
    this.shape = get("shape");
    this.state = get("state");
    this.isPut = get("isPut");
    this.center = get("center");
    this.rotation = get("rotation");
    this.touchPoint = get("touchPoint");
    this.touchNormal = get("touchNormal");
    const [when, bodies] = get("blockedWhen");
    this.blocked = new Map(); // by sample: rows
    when.forEach((sample, row) => {
      if (!this.blocked.has(sample)) this.blocked.set(sample, []);
      this.blocked.get(sample).push({ body: bodies[row], row });
    });
    this.blockedPoint = get("blockedPoint");
    this.blockedNormal = get("blockedNormal");
  }

  get duration() {
    return this.time.at(-1);
  }

  // Return the last sample at or before a time, and the share of the way to the next one.
  at(time) {
    let low = 0;
    let high = this.time.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.time[middle] <= time + 1e-6) low = middle;
      else high = middle - 1;
    }
    const next = Math.min(low + 1, this.time.length - 1);
    const span = this.time[next] - this.time[low];
    return { sample: low, share: span > 0 ? Math.min(Math.max((time - this.time[low]) / span, 0), 1) : 0 };
  }

  vector(rows, first, sample, scale, out) {
    return out.set(
      rows[first][sample] * scale, rows[first + 1][sample] * scale, rows[first + 2][sample] * scale,
    );
  }

  // Whether a straight way leads from a sample to the next one.
  goesOn(body, sample) {
    const next = sample + 1;
    return next < this.time.length && this.shape[body][next] >= 0 && !this.isPut[body][next];
  }

  placeOf(body, sample, share, out) {
    this.vector(this.center, 3 * body, sample, this.step, out);
    if (share > 0 && this.goesOn(body, sample)) {
      out.lerp(this.vector(this.center, 3 * body, sample + 1, this.step, this.spare ??= out.clone()), share);
    }
    return out;
  }

  turnOf(rows, first, sample, share, goesOn, out, spare) {
    const read = (turn, when) => turn.set(
      rows[first][when], rows[first + 1][when], rows[first + 2][when], rows[first + 3][when],
    ).normalize();
    read(out, sample);
    return share > 0 && goesOn ? out.slerp(read(spare, sample + 1), share) : out;
  }
}

// Bodies, of which those of one shape are drawn together

class Bodies {
  constructor(clip, scene) {
    this.clip = clip;
    this.colors = STATES.map(([, color]) => new THREE.Color(color));
    this.meshes = clip.shapes.map(([kind, extents], shape) => {
      const most = mostAtOnce(clip, shape);
      const material = new THREE.MeshStandardMaterial({ roughness: 0.45, metalness: 0.05 });
      const mesh = new THREE.InstancedMesh(GEOMETRIES[kind](extents), material, most);
      mesh.castShadow = mesh.receiveShadow = true;
      mesh.frustumCulled = false;
      mesh.userData.bodies = [];
      mesh.setColorAt(0, this.colors[0]);
      scene.add(mesh);
      return mesh;
    });
    this.at = new THREE.Vector3();
    this.turn = new THREE.Quaternion();
    this.spare = new THREE.Quaternion();
    this.matrix = new THREE.Matrix4();
    this.unit = new THREE.Vector3(1, 1, 1);
    this.color = new THREE.Color();
  }

  show(sample, share, followed) {
    const { clip } = this;
    for (const mesh of this.meshes) mesh.count = 0;
    clip.names.forEach((_, body) => {
      const shape = clip.shape[body][sample];
      if (shape < 0) return;
      const mesh = this.meshes[shape];
      clip.placeOf(body, sample, share, this.at);
      clip.turnOf(clip.rotation, 4 * body, sample, share, clip.goesOn(body, sample), this.turn, this.spare);
      mesh.setMatrixAt(mesh.count, this.matrix.compose(this.at, this.turn, this.unit));
      this.color.copy(this.colors[clip.state[body][sample]]);
      if (followed >= 0 && followed !== body) this.color.lerp(GRAY, 0.35);
      mesh.setColorAt(mesh.count, this.color);
      mesh.userData.bodies[mesh.count] = body;
      mesh.count += 1;
    });
    for (const mesh of this.meshes) {
      mesh.instanceMatrix.needsUpdate = true;
      mesh.instanceColor.needsUpdate = true;
      mesh.boundingSphere = null; // picking finds it anew
    }
  }
}

const GRAY = new THREE.Color("#8a949e");

function mostAtOnce(clip, shape) {
  let most = 1;
  for (let sample = 0; sample < clip.time.length; sample++) {
    let count = 0;
    for (const row of clip.shape) if (row[sample] === shape) count += 1;
    most = Math.max(most, count);
  }
  return most;
}

const GEOMETRIES = {
  ball: ([x]) => new THREE.SphereGeometry(x, 32, 20),
  box: ([x, y, z]) => new THREE.BoxGeometry(2 * x, 2 * y, 2 * z),
  capsule: ([x, y]) => new THREE.CapsuleGeometry(x, 2 * y, 10, 28),
};

// The contacts of bodies: a dot, and a line along the normal

class Contacts {
  constructor(clip, scene, size) {
    this.clip = clip;
    this.size = size;
    const side = 0.26 * size;
    const kinds = [
      ["#ffffff", new THREE.SphereGeometry(0.16 * size, 12, 8)],
      [BLOCKED, new THREE.BoxGeometry(side, side, side)],
    ];
    this.kinds = kinds.map(([color, shape]) => {
      const dots = new THREE.InstancedMesh(
        shape,
        new THREE.MeshBasicMaterial({ color, depthTest: false, transparent: true, opacity: 0.9, toneMapped: false }),
        4 * clip.names.length + 1,
      );
      const lines = new THREE.LineSegments(
        new THREE.BufferGeometry(),
        new THREE.LineBasicMaterial({ color, depthTest: false, transparent: true, opacity: 0.9, toneMapped: false }),
      );
      lines.geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(24 * clip.names.length + 6), 3));
      for (const drawn of [dots, lines]) {
        drawn.frustumCulled = false;
        drawn.renderOrder = 2;
        scene.add(drawn);
      }
      return { dots, lines };
    });
    this.at = new THREE.Vector3();
    this.point = new THREE.Vector3();
    this.normal = new THREE.Vector3();
    this.matrix = new THREE.Matrix4();
  }

  show(sample, share, isOn) {
    const { clip } = this;
    for (const { dots, lines } of this.kinds) {
      dots.count = 0;
      dots.visible = lines.visible = isOn;
    }
    if (isOn) {
      clip.names.forEach((_, body) => {
        if (clip.shape[body][sample] < 0 || clip.state[body][sample] === 0) return;
        clip.vector(clip.touchPoint, 3 * body, sample, clip.step, this.point);
        clip.vector(clip.touchNormal, 3 * body, sample, 1 / 127, this.normal);
        this.put(this.kinds[0], body, sample, share);
      });
      for (const { body, row } of clip.blocked.get(sample) ?? []) {
        clip.vector(clip.blockedPoint, 0, row, clip.step, this.point);
        clip.vector(clip.blockedNormal, 0, row, 1 / 127, this.normal);
        this.put(this.kinds[1], body, sample, share);
      }
    }
    for (const { dots, lines } of this.kinds) {
      dots.instanceMatrix.needsUpdate = true;
      lines.geometry.attributes.position.needsUpdate = true;
      lines.geometry.setDrawRange(0, 2 * dots.count);
    }
  }

  put({ dots, lines }, body, sample, share) {
    this.point.add(this.clip.placeOf(body, sample, share, this.at));
    dots.setMatrixAt(dots.count, this.matrix.makeTranslation(this.point.x, this.point.y, this.point.z));
    const places = lines.geometry.attributes.position;
    places.setXYZ(2 * dots.count, this.point.x, this.point.y, this.point.z);
    this.point.addScaledVector(this.normal, 1.6 * this.size);
    places.setXYZ(2 * dots.count + 1, this.point.x, this.point.y, this.point.z);
    dots.count += 1;
  }
}

// All of it

class Viewer {
  constructor(clip) {
    this.clip = clip;
    this.time = 0;
    this.speed = 1;
    this.isPlaying = false;
    this.followed = -1;
    this.isDirty = true;
    this.view = element("view");
    this.renderer = new THREE.WebGLRenderer({ canvas: this.view, antialias: true });
    this.renderer.shadowMap.enabled = true;
    this.renderer.toneMapping = THREE.NeutralToneMapping;
    this.scene = new THREE.Scene();
    this.scene.fog = new THREE.Fog(0, 1, 2);
    this.camera = new THREE.PerspectiveCamera(45, 1, 0.1, 1000);
    this.controls = new THREE.OrbitControls(this.camera, this.view);
    this.controls.enableDamping = true;
    this.controls.maxPolarAngle = 0.53 * Math.PI;
    this.controls.zoomToCursor = true;
    this.controls.addEventListener("change", () => { this.isDirty = true; });
    this.addLights();
    this.lineMaterial = new THREE.LineBasicMaterial({ transparent: true, opacity: 0.35 });
    this.parts = clip.parts.map((about, number) => new Part(clip, about, number, this.lineMaterial));
    this.maps = this.parts.filter((part) => part.isMap);
    for (const part of this.parts) this.scene.add(part.mesh);
    const sizes = clip.shapes.map(([, [x, , z]]) => Math.max(x, z)).sort((a, b) => a - b);
    this.size = sizes[sizes.length >> 1] ?? 0.5;
    this.bodies = new Bodies(clip, this.scene);
    this.contacts = new Contacts(clip, this.scene, this.size);
    this.way = new Way(clip, this.scene);
    this.chase = new FollowCamera(clip, this.camera, this.controls, this.size, (x, z) => this.heightAt(x, z));
    this.address = new Address(clip);
    this.isStill = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.at = new THREE.Vector3();
    this.pointer = new THREE.Vector2();
    this.raycaster = new THREE.Raycaster();
    this.addPanels();
    this.setTheme(window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener(
      "change", (change) => this.setTheme(change.matches ? "dark" : "light"),
    );
    new ResizeObserver(() => this.resize()).observe(document.documentElement);
    this.resize();
    this.fit();
    this.begin();
  }

  // Show the moment that the address tells, or play from the start; follow a lone body from behind.
  begin() {
    const moment = momentOf(window.location.hash, this.clip);
    this.seek(moment.time ?? 0);
    const isLone = this.clip.names.length === 1;
    this.chase.isBehind = isLone && !this.isStill;
    this.follow(moment.body ?? (isLone ? 0 : -1), isLone);
    if (moment.time === undefined && !this.isStill) this.play();
    window.addEventListener("hashchange", () => this.goToAddress());
  }

  // Another moment was typed, or a link to it was used.
  goToAddress() {
    const moment = momentOf(window.location.hash, this.clip);
    if (moment.time !== undefined) {
      this.pause();
      this.seek(moment.time);
    }
    if (moment.body !== undefined) this.follow(moment.body);
  }

  // Keep the moment in the address, once a user has stopped at it.
  noteMoment() {
    if (!this.isPlaying) this.address.note(this.time, this.followed);
  }

  heightAt(x, z) {
    return Math.max(...this.maps.map((part) => part.heightAt(x, z)));
  }

  addLights() {
    this.sky = new THREE.HemisphereLight("#ffffff", "#000000", 1);
    this.sun = new THREE.DirectionalLight("#fff4e2", 1);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.bias = -0.0006;
    this.sun.shadow.normalBias = 0.04;
    this.scene.add(this.sky, this.sun, this.sun.target);
  }

  setTheme(name) {
    const theme = THEMES[name];
    this.theme = name;
    document.documentElement.dataset.theme = name;
    this.scene.background = new THREE.Color(theme.sky);
    this.scene.fog.color.set(theme.sky);
    this.sun.intensity = theme.sun;
    this.sky.intensity = theme.ambient;
    this.sky.groundColor.set(theme.ground);
    this.lineMaterial.color.set(theme.line);
    this.way.uniforms.uWayEdge.value.set(theme.line);
    element("theme").setAttribute("aria-pressed", String(name === "dark"));
    this.drawStrip();
    this.isDirty = true;
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = document.documentElement;
    if (width === 0 || height === 0) return;
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    this.renderer.setSize(width, height, false);
    this.way.resize(width, height);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.drawStrip();
    this.isDirty = true;
  }

  // Look at the places that bodies come to, but for a few: one may have fallen off the world.
  fit() {
    const places = [[], [], []];
    const { clip } = this;
    const every = Math.ceil((clip.names.length * clip.time.length) / MOST_FITTED);
    clip.names.forEach((_, body) => {
      for (let sample = 0; sample < clip.time.length; sample += every) {
        if (clip.shape[body][sample] < 0) continue;
        places.forEach((own, axis) => own.push(clip.center[3 * body + axis][sample] * clip.step));
      }
    });
    const box = new THREE.Box3();
    if (places[0].length > 0) {
      const sorted = places.map((own) => Float64Array.from(own).sort());
      for (const share of [0.05, 0.95]) {
        box.expandByPoint(this.at.set(...sorted.map((own) => own[Math.round(share * (own.length - 1))])));
      }
    } else for (const part of this.parts) box.expandByObject(part.mesh);
    const center = box.getCenter(new THREE.Vector3());
    const radius = Math.max(0.5 * box.getSize(new THREE.Vector3()).length(), 8 * this.size);
    const narrow = Math.min(1, this.camera.aspect);
    const distance = (1.05 * radius) / Math.sin((Math.PI / 180) * 0.5 * this.camera.fov) / narrow ** 0.75;
    this.controls.target.copy(center);
    this.camera.position.copy(center).add(new THREE.Vector3(0.45, 0.55, 0.75).normalize().multiplyScalar(distance));
    this.controls.maxDistance = 6 * distance;
    this.controls.minDistance = 2 * this.size;
    this.controls.update();
    this.isDirty = true;
  }

  // Panels

  addPanels() {
    this.legend = STATES.map(([name, color]) => {
      const item = document.createElement("li");
      const dot = document.createElement("span");
      const count = document.createElement("b");
      dot.className = "dot";
      dot.style.background = color;
      item.append(dot, count, name);
      element("legend").append(item);
      return { item, count };
    });
    this.addLand();
    element("note").hidden = !this.clip.parts.some((part) => part.isCut);
    const follow = element("follow");
    follow.append(new Option("nobody", "-1"), ...this.clip.names.map((name, body) => new Option(wordFor(name), String(body))));
    follow.addEventListener("change", () => this.choose(Number(follow.value)));
    element("leave").addEventListener("click", () => this.letGo());
    element("behind").addEventListener("change", (event) => {
      this.chase.isBehind = event.target.checked;
      this.isDirty = true;
    });
    element("scrub").max = String(this.clip.duration);
    element("scrub").addEventListener("input", (event) => this.goTo(Number(event.target.value)));
    element("play").addEventListener("click", () => this.toggle());
    element("speed").addEventListener("change", (event) => { this.speed = Number(event.target.value); });
    element("contacts").addEventListener("change", () => { this.isDirty = true; });
    element("fit").addEventListener("click", () => this.showAll());
    element("theme").addEventListener("click", () => this.setTheme(this.theme === "dark" ? "light" : "dark"));
    element("help").addEventListener("click", () => element("keys").showModal());
    window.addEventListener("keydown", (event) => this.press(event));
    let down = null;
    this.view.addEventListener("pointerdown", (event) => { down = event; });
    this.view.addEventListener("pointerup", (event) => {
      const isClick = down && Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) < 5;
      if (isClick) this.pick(event);
    });
  }

  // What the ground is made of, and where it is too steep.
  addLand() {
    const degrees = Math.round((180 / Math.PI) * Math.acos(this.clip.slopeCosine));
    const words = [...materialsOf(this.parts)].slice(0, 12);
    const rock = this.maps.length > 0 ? ROCK : STEEP;
    if (words.length > 0) words.push([`too steep to walk (over ${degrees}°)`, rock]);
    for (const [word, color] of words) {
      const item = document.createElement("li");
      const square = document.createElement("span");
      square.className = "square";
      square.style.background = color;
      item.append(square, word);
      element("land").append(item);
    }
  }

  press(event) {
    if (element("keys").open) return;
    if (event.target.matches("select, input") && event.key !== "Escape") return;
    if (event.ctrlKey || event.metaKey || event.altKey) return; // the browser's own
    const { sample } = this.clip.at(this.time);
    const step = (by) => {
      this.pause();
      this.goTo(this.clip.time[Math.min(Math.max(sample + by, 0), this.clip.time.length - 1)]);
    };
    const turn = (...by) => {
      this.chase.turn(...by);
      this.isDirty = true;
    };
    const actions = {
      " ": () => this.toggle(),
      ArrowLeft: () => step(-1),
      ArrowRight: () => step(1),
      Home: () => this.goTo(0),
      End: () => this.goTo(this.clip.duration),
      Escape: () => this.letGo(),
      f: () => this.showAll(),
      b: () => this.followed >= 0 && element("behind").click(),
      n: () => this.choose((this.followed + 1) % Math.max(this.clip.names.length, 1)),
      a: () => turn(-0.08, 0, 1),
      d: () => turn(0.08, 0, 1),
      w: () => turn(0, -0.06, 1),
      s: () => turn(0, 0.06, 1),
      "+": () => turn(0, 0, 1 / 1.1),
      "-": () => turn(0, 0, 1.1),
      "?": () => element("keys").showModal(),
    };
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (!Object.hasOwn(actions, key) || (key === " " && event.target.matches("button, summary"))) return;
    event.preventDefault();
    actions[key]();
  }

  pick({ clientX, clientY }) {
    const { left, top, width, height } = this.view.getBoundingClientRect();
    this.pointer.set((2 * (clientX - left)) / width - 1, 1 - (2 * (clientY - top)) / height);
    this.raycaster.setFromCamera(this.pointer, this.camera);
    const [hit] = this.raycaster.intersectObjects(this.bodies.meshes);
    if (hit) this.choose(hit.object.userData.bodies[hit.instanceId]);
  }

  // A line of time: how the body that is followed stands, or which share of all.
  drawStrip() {
    const strip = element("strip");
    const width = Math.max(Math.round(strip.clientWidth * window.devicePixelRatio), 1);
    const height = Math.max(Math.round(strip.clientHeight * window.devicePixelRatio), 1);
    Object.assign(strip, { width, height });
    const context = strip.getContext("2d");
    const { clip } = this;
    const rows = this.followed >= 0 ? [this.followed] : clip.names.map((_, body) => body);
    for (let x = 0; x < width; x++) {
      const { sample } = clip.at((x / Math.max(width - 1, 1)) * clip.duration);
      const counts = new Array(STATES.length).fill(0);
      let all = 0;
      for (const body of rows) {
        if (clip.shape[body][sample] < 0) continue;
        counts[clip.state[body][sample]] += 1;
        all += 1;
      }
      let y = height;
      for (const state of [3, 4, 2, 1, 0]) {
        const part = all ? (counts[state] / all) * height : 0;
        context.fillStyle = STATES[state][1];
        context.fillRect(x, y - part, 1, part);
        y -= part;
      }
    }
  }

  // Time

  seek(time) {
    this.time = Math.min(Math.max(time, 0), this.clip.duration);
    this.isDirty = true;
  }

  play() {
    if (this.time >= this.clip.duration) this.time = 0;
    this.isPlaying = this.clip.duration > 0;
    this.showPlaying();
  }

  pause() {
    this.isPlaying = false;
    this.showPlaying();
  }

  toggle() {
    if (this.isPlaying) this.pause();
    else this.play();
    this.noteMoment();
  }

  // Show a moment that a user has chosen.
  goTo(time) {
    this.seek(time);
    this.noteMoment();
  }

  // Follow a body that a user has chosen.
  choose(body) {
    if (body >= this.clip.names.length) return;
    this.follow(body);
    this.noteMoment();
  }

  letGo() {
    this.choose(-1);
  }

  showAll() {
    this.letGo();
    this.fit();
  }

  showPlaying() {
    element("play").classList.toggle("on", this.isPlaying);
    element("play").setAttribute("aria-label", this.isPlaying ? "Pause" : "Play");
  }

  follow(body, isFromBehind = false) {
    if (body === this.followed) return;
    const comesNear = this.followed < 0;
    this.followed = body;
    this.controls.zoomToCursor = this.controls.enablePan = body < 0;
    element("follow").value = String(body);
    element("card").hidden = body < 0;
    this.drawStrip();
    if (body >= 0) {
      element("followed").textContent = wordFor(this.clip.names[body]);
      this.chase.start(body, this.time, { comesNear, isFromBehind });
    }
    this.isDirty = true;
  }

  // Drawing

  frame(now) {
    const seconds = Math.min((now - (this.last ?? now)) / 1000, 0.25);
    this.last = now;
    if (this.isPlaying) {
      this.seek(this.time + seconds * this.speed);
      if (this.time >= this.clip.duration) this.pause();
    }
    this.moveCamera(seconds);
    if (!this.isDirty) return;
    this.isDirty = false;
    this.draw();
  }

  moveCamera(seconds) {
    if (this.followed < 0) {
      this.controls.update();
      return;
    }
    const moved = this.chase.update(this.followed, this.time, seconds * Math.max(this.speed, 1), this.isPlaying);
    if (moved) this.isDirty = true;
    element("behind").checked = this.chase.isBehind;
  }

  draw() {
    const { sample, share } = this.clip.at(this.time);
    this.way.show(this.followed, sample);
    for (const part of this.parts) part.show(sample, share);
    this.bodies.show(sample, share, this.followed);
    this.contacts.show(sample, share, element("contacts").checked);
    this.placeLights();
    this.renderer.render(this.scene, this.camera);
    this.showNumbers(sample);
    document.documentElement.dataset.drawn = String(this.time);
  }

  placeLights() {
    const { target } = this.controls;
    const distance = this.camera.position.distanceTo(target);
    const reach = Math.max(0.75 * distance, 12 * this.size);
    this.camera.near = Math.max(0.01 * distance, 0.05 * this.size);
    this.camera.far = 12 * distance + 400 * this.size;
    this.camera.updateProjectionMatrix();
    this.scene.fog.near = 2.5 * distance;
    this.scene.fog.far = 9 * distance;
    const { camera } = this.sun.shadow;
    Object.assign(camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: 0, far: 6 * reach });
    camera.updateProjectionMatrix();
    this.sun.target.position.copy(target);
    this.sun.position.set(-0.55, 1, 0.35).normalize().multiplyScalar(3 * reach).add(target);
  }

  showNumbers(sample) {
    const { clip } = this;
    const counts = new Array(STATES.length).fill(0);
    clip.names.forEach((_, body) => {
      if (clip.shape[body][sample] >= 0) counts[clip.state[body][sample]] += 1;
    });
    const always = new Set([0, 1, 3]);
    this.legend.forEach(({ item, count }, state) => {
      count.textContent = String(counts[state]);
      item.className = counts[state] || always.has(state) ? "" : "none";
    });
    element("scrub").value = String(this.time);
    element("scrub").setAttribute("aria-valuetext", `${this.time.toFixed(2)} of ${clip.duration.toFixed(2)} seconds`);
    element("now").textContent = this.time.toFixed(2);
    element("duration").textContent = ` / ${clip.duration.toFixed(2)} s`;
    if (this.followed >= 0) this.showCard(this.followed, sample);
  }

  showCard(body, sample) {
    const { clip } = this;
    const isThere = clip.shape[body][sample] >= 0;
    const [name, color] = STATES[clip.state[body][sample]];
    const dot = document.createElement("span");
    dot.className = "dot";
    dot.style.background = isThere ? color : "transparent";
    element("state").replaceChildren(dot, isThere ? ` ${name}` : "not there");
    const at = clip.vector(clip.center, 3 * body, sample, clip.step, new THREE.Vector3());
    let speed = 0;
    if (isThere && clip.goesOn(body, sample)) {
      const next = clip.vector(clip.center, 3 * body, sample + 1, clip.step, new THREE.Vector3());
      speed = next.distanceTo(at) / Math.max(clip.time[sample + 1] - clip.time[sample], 1e-6);
    }
    const touches = isThere && clip.state[body][sample] > 0;
    const up = clip.touchNormal[3 * body + 1][sample] / 127;
    const places = at.toArray().map((value, axis) => (value + clip.origin[axis]).toFixed(1));
    element("speed-shown").textContent = isThere ? `${speed.toFixed(1)} m/s` : "–";
    element("place").textContent = isThere ? places.join(", ") : "–";
    element("slope").textContent = touches ? `${((180 / Math.PI) * Math.acos(Math.min(up, 1))).toFixed(0)}°` : "–";
  }

  // Return where a body is on the page, in pixels from its upper left corner.
  project(name) {
    const { sample, share } = this.clip.at(this.time);
    const body = this.clip.names.indexOf(name);
    const place = this.clip.placeOf(body, sample, share, new THREE.Vector3()).project(this.camera);
    const { width, height } = this.view.getBoundingClientRect();
    return [0.5 * (place.x + 1) * width, 0.5 * (1 - place.y) * height];
  }
}

function fail(error) {
  element("message").hidden = false;
  element("message").textContent = `The recording cannot be shown: ${error.message}`;
  document.documentElement.dataset.state = "failed";
}

try {
  if (!("DecompressionStream" in window)) throw new Error("this browser is too old");
  const viewer = new Viewer(new Clip(await unpack(element("clip").textContent)));
  window.viewer = viewer;
  viewer.renderer.setAnimationLoop((now) => viewer.frame(now));
  document.documentElement.dataset.state = "ready";
} catch (error) {
  fail(error);
  throw error;
}
