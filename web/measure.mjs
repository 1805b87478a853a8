// Measures the built page on this machine: node measure.mjs [SECONDS]. Nothing else should be running.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";

import { settled, start, visit } from "./tests/page.mjs";

const seconds = Number(process.argv[2] ?? 2);
const here = import.meta.dirname;
const examples = join(here, "..", "examples");
const at = await start();

const wasm = readFileSync(join(here, "dist/r500.wasm"));
console.log(`module: ${wasm.length} bytes, ${brotliCompressSync(wasm).length} after brotli`);

const opened = [];
for (let n = 0; n < 5; n++) {
  const { page, context } = await visit(at);
  await settled(page);
  opened.push(await page.evaluate(() => performance.getEntriesByName("first picture")[0].startTime));
  await context.close();
}
console.log(`first picture after ${opened.map((ms) => Math.round(ms)).join(", ")} ms`);

const { page } = await visit(at, { reducedMotion: "reduce" });
// As on a machine with two processors.
await page.evaluate(() => r500.pool.clients.splice(2));
console.log(`512x512, two workers, frames a second over ${seconds} s`);
for (const file of readdirSync(examples).filter((name) => name.endsWith(".r5"))) {
  const program = { name: file, text: readFileSync(join(examples, file), "utf8"), files: [] };
  await page.evaluate((program) => r500.open(program), program);
  await settled(page);
  const rate = await page.evaluate(async (seconds) => {
    const { pool } = r500;
    const view = (time) => ({ size: [512, 512], time, constants: new Map(), target: 0 });
    const frames = async (ms) => {
      const from = performance.now();
      let count = 0;
      while (performance.now() - from < ms) await pool.draw(view(count++ / 30));
      return (count * 1000) / (performance.now() - from);
    };
    // Chromium replaces code that runs often.
    await frames(1000);
    return frames(seconds * 1000);
  }, seconds);
  console.log(`${file.padEnd(16)} ${rate.toFixed(1).padStart(7)}`);
}
await at.stop();
