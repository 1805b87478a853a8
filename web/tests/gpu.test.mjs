// The picture by WebGPU, on SwiftShader, against the r500 command; and the reasons why the workers draw.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import { settled, start, type, values, visit } from "./page.mjs";

const root = join(fileURLToPath(new URL(".", import.meta.url)), "../..");
const command = process.env.R500 ?? join(root, "target/debug/r500");
const folder = mkdtempSync(join(tmpdir(), "r500-gpu-"));
const examples = join(root, "examples");

let at;
before(async () => (at = await start({ gpu: true })));
after(async () => await at?.stop());

/** The raw values that the reference engine draws. */
function native(program, ...options) {
  const raw = join(folder, "native.f32");
  execFileSync(command, ["render", program, "-o", raw, "--engine", "reference", ...options]);
  return readFileSync(raw);
}

/** Visits a page; `change` is done to its WebGPU before. SwiftShader says that it is a GPU, because the page leaves software to the workers. */
const onGpu = (change = () => {}) =>
  visit(at, {
    before: async (context) => {
      await context.addInitScript(() => Object.defineProperty(GPUAdapterInfo.prototype, "isFallbackAdapter", { get: () => false }));
      await context.addInitScript(change);
    },
  });

/** Chooses an engine, and waits until it is known whether it draws. */
async function choose(page, engine) {
  await page.getByLabel("Engine of the picture").selectOption(engine);
  await ready(page);
}

async function ready(page) {
  await page.evaluate(async () => {
    await r500.current();
    await r500.player.settled();
    await r500.pictures.ready();
  });
  await settled(page);
}

const verdict = (page) => page.getByLabel("Who draws the picture").textContent();
const by = (page) => page.evaluate(() => ({ engine: r500.player.shown?.engine, submissions: r500.pictures.submissions, counts: r500.pictures.counts }));

/** Opens a program and waits for its picture. */
async function open(page, source) {
  await page.evaluate((source) => r500.open({ files: [], ...source }), source);
  await ready(page);
}

const assembly = readdirSync(examples).filter((name) => name.endsWith(".r5"));
const shaders = readdirSync(join(examples, "glsl")).filter((name) => name.endsWith(".frag"));
const sources = [
  ...assembly.map((name) => ({ name, text: readFileSync(join(examples, name), "utf8") })),
  ...shaders.map((name) => ({ name, text: "", glsl: readFileSync(join(examples, "glsl", name), "utf8") })),
  // The workers draw what reads earlier frames.
].filter(({ text, glsl }) => !/= previous /.test(text + (glsl ?? "")));

/** Writes the program that the page draws where the command finds it. */
async function file(page) {
  const path = join(folder, "program.r5");
  const text = await page.evaluate(() => r500.source().text);
  const { writeFileSync } = await import("node:fs");
  writeFileSync(path, text);
  return path;
}

/** Number of floats that differ by more than a limit after both are limited to 0 to 1, and of all. */
function beyond(got, wanted, limit = 2 / 255) {
  const floats = (bytes) => new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  const limited = (x) => (x > 0 ? Math.min(x, 1) : 0);
  const [a, b] = [floats(got), floats(wanted)];
  assert.equal(a.length, b.length);
  return [a.reduce((count, x, n) => count + Number(!(Math.abs(limited(x) - limited(b[n])) <= limit)), 0), a.length];
}

test("exact pictures of all examples have the reference engine's bits", async () => {
  const { page, context, complaints } = await visit(at);
  await choose(page, "exact");
  assert.deepEqual(await page.evaluate(() => r500.pictures.failures), [], "SwiftShader passes the test");
  let targets = 0;
  for (const source of sources) {
    await open(page, source);
    assert.equal(await verdict(page), "WebGPU: exact", source.name);
    const program = await file(page);
    const written = await page.evaluate(() => r500.analysis.value.targets.flatMap((there, n) => (there ? [n] : [])));
    for (const target of written) {
      await page.evaluate((target) => (r500.transport.target.value = target), target);
      await settled(page);
      const { engine, submissions } = await by(page);
      assert.equal(engine, "WebGPU", `${source.name}, target ${target}`);
      const time = await page.evaluate(() => r500.transport.time.value);
      const [width, height] = await page.evaluate(() => r500.transport.pixels);
      const wanted = native(program, "--time", String(time), "--target", "ABCD"[target], "--size", `${width}x${height}`);
      assert.ok((await values(page, target)).equals(wanted), `${source.name}, target ${target}`);
      assert.ok((await by(page)).submissions > submissions, "the values are the GPU's");
      targets++;
    }
  }
  assert.ok(targets > sources.length, `${targets} pictures`);
  assert.deepEqual(complaints, []);
  await context.close();
});

test("fast pictures of all examples are those of the reference engine, but for what amplifies", async (t) => {
  const { page, context } = await visit(at);
  await choose(page, "fast");
  for (const source of sources) {
    await open(page, source);
    assert.match(await verdict(page), /^WebGPU: fast/, source.name);
    const { engine, submissions } = await by(page);
    assert.equal(engine, "WebGPU", source.name);
    const program = await file(page);
    const time = await page.evaluate(() => r500.transport.time.value);
    const [got, wanted] = [await values(page), native(program, "--time", String(time))];
    const [differ, all] = beyond(got, wanted);
    // Samplers weigh texels by eight bits, which a relief of differences of texels shows.
    const [far] = beyond(got, wanted, 24 / 255);
    assert.ok((await by(page)).submissions > submissions);
    const amplifies = (await page.getByLabel("Who draws the picture").getAttribute("title")).includes("makes such differences larger");
    t.diagnostic(`${source.name}: ${differ} of ${all} channels differ by more than 2/255, ${far} by more than 24/255${amplifies ? "; it amplifies" : ""}`);
    if (!amplifies) assert.equal(differ, 0, source.name);
    assert.ok(far < all / 100, `${source.name}: ${far} of ${all}`);
  }
  await context.close();
});

test("a playing picture is shown as the workers show it, with every display transform", async () => {
  const { page, context } = await visit(at);
  await choose(page, "exact");
  // Values from below 0 to beyond 1, in all channels.
  await type(page, `SIZE 64 32 ; src0.rgb = temp[0] : temp[0].rgb = MAD src0.rgr src0.111 -src0.hh0, temp[0].a = MAD src0.r src0.1 src0.0 ;
OUT LAST src0.rgb = temp[0], src0.a = temp[0] : out[0].rgb = MAD src0.rgb src0.111 src0.rgb, out[0].a = MAX src0.a src0.a ;`);
  await ready(page);
  const looks = [
    { channels: 7, range: [0, 1] },
    { channels: 15, range: [0, 1] },
    { channels: 6, range: [-0.5, 0.25] },
    { channels: 1, range: [0, 1] },
    { channels: 8, range: [0, 1] },
    { channels: 7, range: [1, -1] },
  ];
  for (const look of looks) {
    const [drawn, different, most, differing] = await page.evaluate(async (look) => {
      const view = { ...r500.player.wanted, look };
      const { bitmap, engine } = await r500.pictures.draw(view, true);
      const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
      const context = canvas.getContext("2d");
      context.drawImage(bitmap, 0, 0);
      const shown = context.getImageData(0, 0, canvas.width, canvas.height).data;
      const { pixels } = await r500.pool.draw(view);
      // Canvases multiply by alpha: colours of transparent pixels have fewer bits.
      const step = (n) => (n % 4 === 3 ? 1 : 1 + 255 / Math.max(pixels[n | 3], 1));
      const differing = [...pixels.keys()].filter((n) => Math.abs(pixels[n] - shown[n]) > step(n));
      return [engine, new Set(pixels).size, differing.length, differing.slice(0, 4).map((n) => [n, pixels[n], shown[n]])];
    }, look);
    assert.equal(drawn, "WebGPU");
    assert.ok(different > 20, `${different} different bytes`);
    assert.equal(most, 0, `${JSON.stringify(look)}: ${JSON.stringify(differing)}`);
  }
  await context.close();
});

test("a program that plays is drawn by fast shaders, and exactly where it stops", async () => {
  const { page, context } = await onGpu();
  await ready(page);
  assert.equal(await verdict(page), "WebGPU: exact");
  const before = await by(page);
  await page.evaluate(() => (r500.transport.playing.value = true));
  await page.waitForFunction((from) => r500.pictures.submissions > from + 20 && r500.pictures.verdict.value.text === "WebGPU: fast", before.submissions);
  // Time is in the uniform buffer: no further shader is compiled.
  assert.equal((await by(page)).counts.compiled, before.counts.compiled);
  await page.evaluate(() => (r500.transport.playing.value = false));
  await settled(page);
  assert.equal(await verdict(page), "WebGPU: exact");
  const time = await page.evaluate(() => r500.player.shown.view.time);
  assert.ok(time > 0);
  const shown = await page.evaluate(() => [...r500.stage.picturePixels.getContext("2d").getImageData(100, 100, 2, 1).data]);
  assert.notDeepEqual(shown, [0, 0, 0, 0, 0, 0, 0, 0]);
  assert.ok((await values(page)).equals(native(await file(page), "--time", String(time))));
  // A program that comes again is found.
  const { text } = sources.find(({ name }) => name === "mandelbrot.r5");
  const plasma = await page.evaluate(() => r500.source());
  await open(page, { name: "mandelbrot", text });
  const { compiled } = (await by(page)).counts;
  await open(page, plasma);
  const again = await by(page);
  assert.equal(again.engine, "WebGPU");
  assert.equal(again.counts.compiled, compiled);
  await context.close();
});

test("WebGPU on the processor is left to the workers, unless it is chosen", async () => {
  const { page, context } = await visit(at);
  await ready(page);
  assert.equal(await verdict(page), "workers: this browser's WebGPU draws on the processor, too, and slower than they do");
  assert.deepEqual(await page.evaluate(() => [r500.player.shown.engine === "WebGPU", r500.pictures.submissions]), [false, 0]);
  await choose(page, "fast");
  assert.equal((await by(page)).engine, "WebGPU");
  await context.close();
});

test("the switch leads to the workers, and back", async () => {
  const { page, context } = await onGpu();
  await ready(page);
  const { submissions } = await by(page);
  assert.ok(submissions > 0);
  await choose(page, "workers");
  assert.equal(await verdict(page), "workers: chosen");
  assert.notEqual((await by(page)).engine, "WebGPU");
  assert.equal((await by(page)).submissions, submissions);
  const wanted = await values(page);
  await choose(page, "exact");
  assert.equal((await by(page)).engine, "WebGPU");
  assert.ok((await values(page)).equals(wanted));
  await context.close();
});

test("a GPU that is not exact gets a note, and the workers draw what stands", async () => {
  const { page, context } = await onGpu(() => {
    const create = GPUDevice.prototype.createShaderModule;
    // Every rounded result is one bit too large.
    GPUDevice.prototype.createShaderModule = function (descriptor) {
      const code = descriptor.code.replace("bitcast<u32>(x) | bitcast<u32>(uniforms.hidden.x)", "bitcast<u32>(x) + 1u");
      return create.call(this, { ...descriptor, code });
    };
  });
  await ready(page);
  assert.notEqual((await page.evaluate(() => r500.pictures.failures)).length, 0);
  assert.match(await verdict(page), /^workers: the arithmetic of this GPU is not exact \(.*cases differ/);
  assert.notEqual((await by(page)).engine, "WebGPU");
  assert.ok((await values(page)).equals(native(join(examples, "plasma.r5"))));
  await page.evaluate(() => (r500.transport.playing.value = true));
  await page.waitForFunction(() => r500.pictures.verdict.value.text === "WebGPU: fast; this GPU is not exact");
  await page.evaluate(() => (r500.transport.playing.value = false));
  await choose(page, "exact");
  assert.equal(await verdict(page), "WebGPU: exact arithmetic, but this GPU is not exact");
  await context.close();
});

test("without a GPU, or with one that refuses, the workers draw, and the page says why", async () => {
  const cases = [
    [() => Object.defineProperty(Navigator.prototype, "gpu", { get: () => undefined }), /^workers: this browser has no WebGPU$/],
    [() => (GPU.prototype.requestAdapter = async () => null), /^workers: this browser has no GPU for WebGPU$/],
    [() => (GPUAdapter.prototype.requestDevice = async () => Promise.reject(new Error("not today"))), /^workers: the GPU cannot be used: not today$/],
    [
      () => {
        const create = GPUDevice.prototype.createShaderModule;
        GPUDevice.prototype.createShaderModule = function ({ code }) {
          return create.call(this, { code: code.includes("along_x") ? `${code}\nfn` : code });
        };
      },
      /^workers: WebGPU refuses the shader: line \d+: /,
    ],
    [
      () => {
        const create = GPUDevice.prototype.createRenderPipelineAsync;
        GPUDevice.prototype.createRenderPipelineAsync = function (descriptor) {
          const targets = descriptor.fragment.targets.map((target) => target && { ...target, format: target.format === "rgba32float" ? "rgba8snorm" : target.format, blend: target.format === "rgba32float" ? { color: {}, alpha: { operation: "min", srcFactor: "zero" } } : undefined });
          return create.call(this, { ...descriptor, fragment: { ...descriptor.fragment, targets } });
        };
      },
      /^workers: WebGPU refuses the shader: /,
    ],
  ];
  const wanted = native(join(examples, "plasma.r5"));
  for (const [change, reason] of cases) {
    const { page, context } = await onGpu(change);
    await ready(page);
    await page.waitForFunction(() => !/starting|compiled/.test(r500.pictures.verdict.value.text));
    await settled(page);
    assert.match(await verdict(page), reason);
    assert.notEqual((await by(page)).engine, "WebGPU");
    assert.ok((await values(page)).equals(wanted));
    await context.close();
  }
});

test("programs that no shader draws as the workers do are named", async () => {
  const { page, context } = await visit(at);
  const textured = (filter) => `TEXTURE tex[0] = noise(8, 8, 3) ${filter} ;
TEX TEX_SEM_ACQUIRE temp[0].rgba = LD tex[0].rgba temp[0].rgrr ;
OUT LAST TEX_SEM_WAIT src0.rgb = temp[0] : out[0].rgb = MAX src0.rgb src0.rgb ;`;
  await choose(page, "fast");
  await open(page, { name: "border", text: textured("linear border") });
  assert.equal(await verdict(page), 'workers: the program cannot be emitted because texture 0: hosts have no address mode "border"');
  assert.notEqual((await by(page)).engine, "WebGPU");
  await choose(page, "exact");
  assert.equal(await verdict(page), "WebGPU: exact");
  assert.ok((await values(page)).equals(native(await file(page))));
  await choose(page, "fast");
  await open(page, { name: "wrap", text: textured("linear wrap") });
  assert.equal(await verdict(page), "WebGPU: fast");
  const [differ] = beyond(await values(page), native(await file(page)));
  assert.equal(differ, 0);
  await context.close();
});

test("where the GPU is lost, the workers continue; the switch asks for it again", async () => {
  const { page, context } = await onGpu();
  await ready(page);
  assert.equal((await by(page)).engine, "WebGPU");
  await page.evaluate(() => r500.pictures.device.destroy());
  await page.waitForFunction(() => r500.pictures.verdict.value.text.startsWith("workers: the GPU was lost"));
  await settled(page);
  assert.notEqual((await by(page)).engine, "WebGPU");
  assert.ok((await values(page)).equals(native(join(examples, "plasma.r5"))));
  await choose(page, "exact");
  await page.waitForFunction(() => r500.pictures.verdict.value.text === "WebGPU: exact");
  await settled(page);
  assert.equal((await by(page)).engine, "WebGPU");
  await context.close();
});
