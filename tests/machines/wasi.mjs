// Runs a program of WebAssembly that reads its input and prints: node wasi.mjs PROGRAM < INPUT
import { readFileSync, readSync, writeSync } from "node:fs";

const module = new WebAssembly.Module(readFileSync(process.argv[2]));
const [SUCCESS, BAD_FILE] = [0, 8];
let memory;

// Hand each of the pieces of memory that a list names to a function; put the sum of what it returns.
function each(list, count, sum, take) {
  const view = new DataView(memory.buffer);
  let done = 0;
  for (let k = 0; k < count; k++) {
    const [start, size] = [0, 4].map((part) => view.getUint32(list + 8 * k + part, true));
    if (size) done += take(new Uint8Array(memory.buffer, start, size));
  }
  view.setUint32(sum, done, true);
  return SUCCESS;
}

// Read until a piece is full: a pipe gives less at a time.
function fill(piece) {
  let done = 0;
  for (let got = -1; got && done < piece.length; done += got)
    got = readSync(0, piece, done, piece.length - done);
  return done;
}

// All that programs of C ask for, as WASI names it. There is no file but the three that are open.
const system = {
  args_sizes_get: (count, size) => {
    new Uint32Array(memory.buffer)[count / 4] = new Uint32Array(memory.buffer)[size / 4] = 0;
    return SUCCESS;
  },
  args_get: () => SUCCESS,
  fd_read: (file, list, count, sum) => each(list, count, sum, fill),
  fd_write: (file, list, count, sum) => each(list, count, sum, (piece) => writeSync(1, piece)),
  proc_exit: (status) => process.exit(status),
};
const wanted = WebAssembly.Module.imports(module).map(({ name }) => name);
const others = Object.fromEntries(wanted.map((name) => [name, () => BAD_FILE]));
const instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: { ...others, ...system } });
memory = instance.exports.memory;
instance.exports._start();
