// The address of the page tells a moment, and a body to follow: `#t=1.35&body=hero`.

// Return the time and the number of the body that an address tells; what it does not, or tells
// badly, is left out.
function momentOf(hash, clip) {
  const told = new URLSearchParams(hash.replace(/^#/, ""));
  const moment = {};
  const time = told.get("t") ?? "";
  if (/^\d{1,9}(\.\d{1,9})?$/.test(time)) moment.time = Math.min(Number(time), clip.duration);
  const body = clip.names.indexOf(told.get("body"));
  if (body >= 0) moment.body = body;
  return moment;
}

class Address {
  constructor(clip) {
    this.clip = clip;
  }

  // Write a moment, once nothing more has come for a while: browsers refuse many in a row.
  note(time, body) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.write(time, body), 250);
  }

  write(time, body) {
    const told = new URLSearchParams({ t: String(Number(time.toFixed(3))) });
    if (body >= 0) told.set("body", this.clip.names[body]);
    const [page] = window.location.href.split("#");
    window.history.replaceState(null, "", `${page}#${told}`);
  }
}
