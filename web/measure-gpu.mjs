// Measures the picture by WebGPU against the workers, in the built page on SwiftShader: node measure-gpu.mjs [SECONDS [SIZE]].
//
// Frames a second of 512x512, from the request to the picture. Both draw on this machine's processors, the workers with two of them.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { settled, start, visit } from "./tests/page.mjs";

const seconds = Number(process.argv[2] ?? 1);
const size = (process.argv[3] ?? "512x512").split("x").map(Number);
const folder = join(fileURLToPath(new URL(".", import.meta.url)), "..", "examples");
const all = (path, ending) => readdirSync(join(folder, path)).filter((name) => name.endsWith(ending)).map((name) => [name, readFileSync(join(folder, path, name), "utf8")]);
const sources = [
  ...all(".", ".r5").map(([name, text]) => ({ name, text, files: [] })),
  ...all("glsl", ".frag").map(([name, glsl]) => ({ name, text: "", glsl, files: [] })),
];

const at = await start({ gpu: true });
const { page } = await visit(at);
await page.evaluate(() => r500.pool.clients.splice(2));
console.log(`${size.join("x")}, frames/s    workers, two       fast      exact`);
for (const source of sources) {
  await page.evaluate((source) => r500.open(source), source);
  await settled(page);
  const rates = await page.evaluate(
    async ([seconds, size]) => {
      const look = { channels: 7, range: [0, 1] };
      const rates = [];
      for (const engine of ["workers", "fast", "exact"]) {
        r500.pictures.engine.value = engine;
        await r500.pictures.ready();
        const frames = async (ms) => {
          const from = performance.now();
          let count = 0;
          while (performance.now() - from < ms) {
            const picture = await r500.pictures.draw({ size, time: count++ / 30, constants: new Map(), target: 0, look, mouse: null, frame: 0 }, true);
            picture.bitmap?.close();
            if ((picture.engine === "WebGPU") !== (engine !== "workers")) throw new Error(`${engine}: ${picture.engine}`);
          }
          await r500.pictures.device?.queue.onSubmittedWorkDone();
          return (count * 1000) / (performance.now() - from);
        };
        await frames(seconds * 1000);
        rates.push(await frames(seconds * 1000));
      }
      return rates;
    },
    [seconds, size],
  );
  console.log(`${source.name.padEnd(20)} ${rates.map((rate) => rate.toFixed(1).padStart(12)).join("")}`);
}
await at.stop();
