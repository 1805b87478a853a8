// Measures the built page on this machine: node measure.mjs [SECONDS].
//
// What Chromium draws depends on what else runs here; the processor's time a frame, taken under Node in
// one thread, hardly does.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync } from "node:zlib";

import { made } from "./src/machine/made.mjs";
import { settled, start, visit } from "./tests/page.mjs";

const seconds = Number(process.argv[2] ?? 1);
const here = fileURLToPath(new URL(".", import.meta.url));
const folder = join(here, "..", "examples");
const examples = readdirSync(folder).filter((name) => name.endsWith(".r5"));
const source = (name) => readFileSync(join(folder, name), "utf8");

const wasm = readFileSync(join(here, "dist/r500.wasm"));
console.log(`module: ${wasm.length} bytes, ${brotliCompressSync(wasm).length} after brotli`);

/** Seconds that the processor worked for this thread. */
const worked = () => Number(readFileSync("/proc/self/schedstat", "latin1").split(" ")[0]) / 1e9;

/** Processor time of a 512x512 frame in one thread, in milliseconds. */
async function frameTime(text) {
  const { imports, begin } = made();
  const { exports } = (await WebAssembly.instantiate(wasm, imports)).instance;
  begin(exports);
  const ask = (request) => {
    const bytes = Buffer.from(`${JSON.stringify(request)}\n`);
    const at = exports.room(bytes.length) >>> 0;
    new Uint8Array(exports.memory.buffer).set(bytes, at);
    const got = exports.answer();
    if (got < 0) throw new Error(Buffer.from(exports.memory.buffer, exports.text() >>> 0, -got).toString());
  };
  ask({ do: "load", text, name: "", files: [] });
  const bands = Array.from({ length: 32 }, (_, n) => [n * 16, 16]);
  const frames = (seconds) => {
    const from = worked();
    let count = 0;
    while (worked() - from < seconds) ask({ do: "draw", size: [512, 512], time: count++ / 30, bands, limit: 1e6 });
    return ((worked() - from) / count) * 1000;
  };
  // Code that runs often is replaced by better code.
  frames(seconds);
  return frames(seconds);
}

const at = await start();
const opened = [];
for (let n = 0; n < 5; n++) {
  const { page, context } = await visit(at);
  await settled(page);
  opened.push(await page.evaluate(() => performance.getEntriesByName("first picture")[0].startTime));
  await context.close();
}
console.log(`first picture after ${opened.map((ms) => Math.round(ms)).join(", ")} ms`);

/** Milliseconds from a change of a number in a shader to its picture, ascending. */
const keyToPicture = (page) =>
  page.evaluate(async () => {
    const { view } = r500.shader.editor;
    const { player } = r500;
    const shown = player.onpicture;
    const times = [];
    for (let n = 0; n < 24; n++) {
      const text = view.state.doc.toString();
      const body = text.indexOf("{", text.lastIndexOf("void main"));
      const from = body + /\d\.\d/.exec(text.slice(body)).index + 2;
      const before = player.program.text;
      const begin = performance.now();
      await new Promise((resolve) => {
        player.onpicture = (picture) => {
          shown(picture);
          if (player.program.text !== before) resolve();
        };
        view.dispatch({ changes: { from, to: from + 1, insert: String((Number(text[from]) % 9) + 1) }, userEvent: "input.type" });
      });
      times.push(performance.now() - begin);
      player.onpicture = shown;
      await r500.current();
      await new Promise((resolve) => setTimeout(resolve, 150));
    }
    return times.sort((a, b) => a - b);
  });

console.log("GLSL, 256x256     from a key to the picture: median, least");
const all = [];
for (const name of readdirSync(join(folder, "glsl")).filter((name) => name.endsWith(".frag"))) {
  const { page, context } = await visit(at);
  const glsl = readFileSync(join(folder, "glsl", name), "utf8");
  await page.evaluate((source) => r500.open(source), { name, text: "", glsl, files: [] });
  await page.waitForFunction((glsl) => r500.shader.text === glsl, glsl);
  await settled(page);
  const times = await keyToPicture(page);
  all.push(...times);
  console.log(`${name.padEnd(16)} ${times[12].toFixed(0).padStart(10)} ms ${times[0].toFixed(0).padStart(10)} ms`);
  await context.close();
}
console.log(`all              ${all.sort((a, b) => a - b)[all.length >> 1].toFixed(0).padStart(10)} ms`);

const { page } = await visit(at);
// As on a machine with two processors.
await page.evaluate(() => r500.pool.clients.splice(2));
console.log("512x512           one thread, processor time a frame    Chromium, two workers");
for (const name of examples) {
  await page.evaluate((program) => r500.open(program), { name, text: source(name), files: [] });
  await settled(page);
  const rate = await page.evaluate(async (seconds) => {
    const frames = async (ms) => {
      const from = performance.now();
      let count = 0;
      while (performance.now() - from < ms) {
        await r500.pool.draw({ ...r500.player.wanted, size: [512, 512], time: count++ / 30 });
      }
      return (count * 1000) / (performance.now() - from);
    };
    await frames(seconds * 1000);
    return frames(seconds * 1000);
  }, seconds);
  const ms = await frameTime(source(name));
  console.log(`${name.padEnd(16)} ${ms.toFixed(1).padStart(10)} ms ${rate.toFixed(1).padStart(30)} frames/s`);
}
await at.stop();
