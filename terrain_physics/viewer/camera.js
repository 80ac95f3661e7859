// The camera that follows a body: it goes with it, stays behind it if asked to, and above the land.
// Whoever turns it looks from there on; it follows all the same.

const EASE = { place: 0.12, turn: 0.8, rise: 0.06, sink: 0.6 }; // seconds in which most of a difference is gone
const AHEAD = 0.4; // seconds before and after now whose path tells where ahead is
const ABOVE = (65 * Math.PI) / 180; // from straight up, at first
const STEEPEST = (12 * Math.PI) / 180; // from straight up, to look over a hill
const SIGHTS = 24; // places between body and camera that must be above the land

const easing = (seconds, ease) => 1 - Math.exp(-seconds / ease);

class FollowCamera {
  constructor(clip, camera, controls, size, heightAt) {
    Object.assign(this, { clip, camera, controls, size, heightAt });
    this.isBehind = false;
    this.polar = ABOVE; // as the user wants it
    this.place = new THREE.Vector3();
    this.way = new THREE.Vector3();
    this.seen = { distance: 1, polar: ABOVE, azimuth: 0 };
  }

  // Read where the camera is around the place that it looks at.
  look() {
    const { x, y, z } = this.way.copy(this.camera.position).sub(this.controls.target);
    const distance = Math.max(Math.hypot(x, y, z), 1e-9);
    return Object.assign(this.seen, { distance, polar: Math.acos(y / distance), azimuth: Math.atan2(x, z) });
  }

  put({ distance, polar, azimuth }) {
    const out = distance * Math.sin(polar);
    this.camera.position.set(out * Math.sin(azimuth), distance * Math.cos(polar), out * Math.cos(azimuth));
    this.camera.position.add(this.controls.target);
    this.camera.lookAt(this.controls.target);
  }

  // Begin to follow a body, which may come later: from near, or also from behind.
  start(body, time, { comesNear, isFromBehind }) {
    const now = this.clip.at(time).sample;
    const isThere = (shape) => shape >= 0;
    const sample = isThere(this.clip.shape[body][now]) ? now : this.clip.shape[body].findIndex(isThere);
    const view = this.look();
    this.controls.target.copy(this.clip.placeOf(body, sample, 0, this.place));
    if (comesNear) view.distance = Math.min(view.distance, 30 * this.size);
    if (isFromBehind) {
      view.polar = ABOVE;
      view.azimuth = this.heading(body, sample) ?? this.firstHeading(body, sample) ?? view.azimuth;
    }
    this.polar = view.polar;
    view.polar = Math.min(view.polar, this.clearPolar(view));
    this.put(view);
    this.controls.update();
  }

  // Turn the camera around the place that it looks at, and bring it nearer, as keys do.
  turn(azimuth, polar, nearer) {
    const { maxPolarAngle, minDistance, maxDistance } = this.controls;
    const view = this.look();
    view.azimuth += azimuth;
    view.polar = Math.min(Math.max(view.polar + polar, 0.01), maxPolarAngle);
    view.distance = Math.min(Math.max(view.distance * nearer, minDistance), maxDistance);
    this.polar = view.polar;
    if (azimuth !== 0) this.isBehind = false;
    this.put(view);
  }

  // Go on for some seconds; tell whether anything has moved.
  update(body, time, seconds, isPlaying) {
    const before = { ...this.look() };
    this.controls.update();
    const view = this.look();
    if (Math.abs(view.polar - before.polar) > 1e-6) this.polar = view.polar; // by the user
    if (Math.abs(view.azimuth - before.azimuth) > 1e-6) this.isBehind = false;
    const { sample, share } = this.clip.at(time);
    if (this.clip.shape[body][sample] < 0) return false;
    const moved = this.goWith(this.clip.placeOf(body, sample, share, this.place), seconds, isPlaying);
    const turn = this.isBehind ? this.turnBehind(body, sample, view.azimuth) : 0;
    const clear = this.clearPolar(view);
    const rise = Math.min(this.polar, clear) - view.polar;
    if (!moved && Math.abs(turn) < 1e-3 && Math.abs(rise) < 1e-3) return false;
    view.azimuth += turn * easing(seconds, EASE.turn);
    const eased = view.polar + rise * easing(seconds, rise < 0 ? EASE.rise : EASE.sink);
    view.polar = Math.min(eased, clear + 0.02); // never into the land, however fast it turns
    this.put(view);
    return true;
  }

  // Move the place looked at: softly while time goes on, at once to another moment.
  goWith(place, seconds, isPlaying) {
    const { target } = this.controls;
    const away = place.distanceTo(target);
    if (away === 0) return false;
    const isSoft = isPlaying && away < 10 * this.size;
    target.lerp(place, isSoft ? easing(seconds, EASE.place) : 1);
    return true;
  }

  // Return how far it is around to behind a body; not more than can be turned without a whirl.
  turnBehind(body, sample, azimuth) {
    const heading = this.heading(body, sample) ?? azimuth;
    return Math.min(Math.max(wrapped(heading - azimuth), -1), 1);
  }

  // Return the azimuth behind a body that moves; null where it stands.
  heading(body, sample) {
    const { clip } = this;
    let first = sample;
    let last = sample;
    const isNear = (other) => Math.abs(clip.time[other] - clip.time[sample]) < AHEAD;
    while (first > 0 && isNear(first) && clip.shape[body][first - 1] >= 0 && clip.goesOn(body, first - 1)) first -= 1;
    while (isNear(last) && clip.goesOn(body, last)) last += 1;
    return this.azimuthBehind(body, first, last, 0.4 * this.size);
  }

  // Return the azimuth behind a body that has yet to set out.
  firstHeading(body, sample) {
    for (let last = sample; this.clip.goesOn(body, last); last++) {
      const found = this.azimuthBehind(body, sample, last + 1, 3 * this.size);
      if (found !== null) return found;
    }
    return null;
  }

  azimuthBehind(body, first, last, least) {
    const [x, , z] = [0, 1, 2].map((axis) => {
      const row = this.clip.center[3 * body + axis];
      return (row[last] - row[first]) * this.clip.step;
    });
    return Math.hypot(x, z) < least ? null : Math.atan2(-x, -z);
  }

  // Return how far from straight up the camera may be for no land to be between it and the body.
  clearPolar({ distance, azimuth }) {
    const { target } = this.controls;
    const [x, z] = [Math.sin(azimuth), Math.cos(azimuth)];
    const free = 1.5 * this.size; // above the land
    if (this.heightAt(target.x, target.z) > target.y + free) return Math.PI; // it is under the land
    let steepest = -Infinity;
    for (let k = 3; k <= SIGHTS; k++) {
      const away = (distance * k) / SIGHTS;
      const height = this.heightAt(target.x + away * x, target.z + away * z);
      steepest = Math.max(steepest, (height + free - target.y) / away);
    }
    return Math.max(0.5 * Math.PI - Math.atan(steepest), STEEPEST);
  }
}

// Return the same angle between -pi and pi.
function wrapped(angle) {
  return angle - 2 * Math.PI * Math.round(angle / (2 * Math.PI));
}
