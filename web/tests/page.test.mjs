// The page in a browser, against the r500 command: node --test tests/*.test.mjs, with R500 the command.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import { drop, settled, start, type, values, visit } from "./page.mjs";

const root = join(fileURLToPath(new URL(".", import.meta.url)), "../..");
const command = process.env.R500 ?? join(root, "target/debug/r500");
const folder = mkdtempSync(join(tmpdir(), "r500-page-"));
const corpus = join(root, "tests/corpus/mesa");

let at;
before(async () => (at = await start()));
after(async () => await at?.stop());

/** The raw values that the native engine draws. */
function native(program, ...options) {
  const raw = join(folder, "native.f32");
  execFileSync(command, ["render", program, "-o", raw, "--force", ...options].filter((option) => option !== "--force"));
  return readFileSync(raw);
}

const PROGRAM = `-- A ring that the reference engine need not help with, at a size that no band divides.
SIZE 71 53 ;
const[0] = (0.25, 0.75, 3, 1) ;
src0.rgb = temp[0], src1.rgb = const[0] : temp[1].rg = MAD src0.rg0 src1.bb0 -src1.gg0 ;
src0.rgb = temp[1] : D2A.rgb src0.rg0 src0.rg0 src0.000, temp[1].a = DP ;
src0.a = temp[1] : temp[2].a = RSQ src0.a ;
OUT TEX_SEM_WAIT LAST src0.rgb = temp[1], src0.a = temp[2] :
    out[0].rgb = MAD src0.rgb src0.aaa src0.000, out[0].a = SIN src0.a ;
`;

test("workers draw the first picture without being asked again, and draw it alike when they are", async () => {
  const watch = () => {
    const ahead = new Set();
    globalThis.ahead = [];
    const post = Worker.prototype.postMessage;
    Worker.prototype.postMessage = function (message, ...rest) {
      if (message.then !== undefined) {
        ahead.add(message.then.id);
        this.addEventListener("message", ({ data }) => ahead.has(data.id) && data.answer?.bands !== undefined && globalThis.ahead.push(data.answer.bands));
      }
      return post.call(this, message, ...rest);
    };
  };
  const { page, context } = await visit(at, { before: (context) => context.addInitScript(watch) });
  await settled(page);
  const [first, again] = await page.evaluate(async () => {
    const rows = globalThis.ahead.flat().map(({ y, rows, bytes }) => [y, rows, bytes]);
    const [width, height] = r500.player.shown.view.size;
    const first = new Uint8ClampedArray(width * height * 4);
    for (const [y, count, bytes] of rows) first.set(bytes, (height - y - count) * width * 4);
    r500.transport.time.value = 0.5;
    await r500.player.settled();
    r500.transport.time.value = 0;
    const { pixels } = await r500.player.settled();
    return [[...first], [...pixels]];
  });
  assert.ok(first.some((byte) => byte > 0));
  assert.deepEqual(first, again);
  await context.close();
});

test("the page loads without complaints, and asks no other host for anything", async () => {
  const { page, context, complaints, requests } = await visit(at);
  await settled(page);
  assert.equal(await page.locator("#title").textContent(), "plasma");
  for (const tab of ["Textures", "Encoding", "Flow", "Numbers", "Constants"]) {
    await page.getByRole("tab", { name: tab }).click();
  }
  await page.getByRole("button", { name: "Examples" }).click();
  await page.getByRole("button", { name: /^saturn/ }).click();
  await page.waitForFunction(() => r500.analysis.value?.name === "saturn");
  await settled(page);
  await page.waitForLoadState("networkidle");
  assert.deepEqual(complaints, []);
  const foreign = requests.filter((url) => !url.startsWith(at.address) && !/^(blob|data):/.test(url));
  assert.deepEqual(foreign, []);
  await context.close();
});

test("a program typed in draws the native engine's bits", async () => {
  const { page, context } = await visit(at);
  await type(page, PROGRAM);
  const file = join(folder, "typed.r5");
  writeFileSync(file, PROGRAM);
  const wanted = native(file);
  const got = await values(page);
  assert.equal(wanted.length, 71 * 53 * 16);
  assert.ok(wanted.some((byte) => byte !== 0));
  assert.deepEqual(got, wanted);
  await context.close();
});

test("examples draw the native engine's bits, moved in time and with all targets", async () => {
  const { page, context } = await visit(at);
  for (const [name, time, target, index] of [
    ["plasma", 1.375, "A", 0],
    ["mandelbrot", 0, "A", 0],
    ["dissolve", 1.5, "A", 0],
    ["gbuffer", 0, "C", 2],
    ["saturn", 0, "depth", 4],
  ]) {
    const path = join(root, "examples", `${name}.r5`);
    await page.evaluate(({ name, text }) => r500.open({ name, text, files: [] }), { name, text: readFileSync(path, "utf8") });
    await settled(page);
    await page.evaluate(([time, target]) => {
      r500.transport.time.value = time;
      r500.transport.target.value = target;
    }, [time, index]);
    await settled(page);
    const wanted = native(path, "--time", String(time), "--target", target);
    assert.deepEqual(await values(page, index), wanted, `${name} at ${time}, target ${target}`);
  }
  await context.close();
});

/** Who drew the picture. */
const engine = (page) => page.evaluate(() => r500.player.picture.engine);

test("code made in the browser draws every example as the native engine does; without any, the picture is the same", async () => {
  const makes = await visit(at);
  const refuses = await visit(at, {
    before: (context) =>
      context.route("**/worker.js", async (route) => {
        const body = await (await route.fetch()).text();
        const refusal = "WebAssembly.Instance = class { constructor() { throw new WebAssembly.CompileError('no'); } };\n";
        await route.fulfill({ contentType: "text/javascript", body: refusal + body });
      }),
  });
  const names = readdirSync(join(root, "examples")).filter((name) => name.endsWith(".r5"));
  assert.ok(names.length > 8);
  for (const name of names) {
    const path = join(root, "examples", name);
    const source = { name, text: readFileSync(path, "utf8"), files: [] };
    const wanted = native(path, "--time", "0.75", "--engine", "reference", "--size", "96x80");
    for (const [{ page }, by] of [[makes, "jit"], [refuses, "fast"]]) {
      await page.evaluate((source) => r500.open(source), source);
      await settled(page);
      await page.evaluate(() => {
        r500.transport.time.value = 0.75;
        r500.transport.size.value = [96, 80];
      });
      await settled(page);
      assert.deepEqual(await values(page), wanted, `${name} by ${by}`);
      assert.equal(await engine(page), by, name);
    }
  }
  for (const { complaints, context } of [makes, refuses]) {
    assert.deepEqual(complaints, []);
    await context.close();
  }
});

test("a dropped capture draws its reference picture", async () => {
  const { page, context } = await visit(at);
  const capture = join(corpus, "tex_mips.json");
  await drop(page, "tex_mips.json", readFileSync(capture));
  await page.waitForFunction(() => r500.analysis.value?.name === "tex_mips");
  await settled(page);
  const text = join(folder, "saved.r5");
  // The native engine's bits of the capture itself, and the picture that an independent renderer made.
  assert.deepEqual(await values(page), native(capture));
  const png = await page.evaluate(async () => {
    const bytes = new Uint8Array(await (await r500.stage.png()).arrayBuffer());
    return btoa(String.fromCharCode(...bytes));
  });
  writeFileSync(join(folder, "page.png"), Buffer.from(png, "base64"));
  writeFileSync(text, await page.evaluate(() => r500.source().text));
  execFileSync(command, ["render", text, "--compare", join(corpus, "tex_mips.png"), "--tolerance", "0.02"]);
  await context.close();
});

test("dropped GLSL is compiled and drawn; its errors say the line and what to do", async () => {
  const { page, context } = await visit(at);
  const shader = "precision highp float;\nvarying vec2 uv;\nuniform float time;\nvoid main() { gl_FragColor = vec4(fract(uv * 3.0), 0.25, 1.0); }\n";
  await drop(page, "tiles.frag", Buffer.from(shader));
  await page.waitForFunction(() => r500.source().name === "tiles");
  await settled(page);
  assert.match(await page.evaluate(() => r500.source().text), /FRC/);
  const file = join(folder, "tiles.frag");
  writeFileSync(file, shader);
  const text = execFileSync(command, ["compile", file, "--with", "r500", "--to", "asm"]).toString();
  writeFileSync(join(folder, "tiles.r5"), text);
  assert.deepEqual(await values(page), native(join(folder, "tiles.r5")));
  await drop(page, "wrong.frag", Buffer.from(shader.replace("fract(", "frcat(")), "#shader .cm-content");
  await page.getByRole("button", { name: "did you mean `fract`?" }).waitFor();
  await context.close();
});

test("of a file with many programs one can choose", async () => {
  const { page, context } = await visit(at);
  const file = join(folder, "two.json");
  const jobs = ["scene_plasma", "tex_mips"].map((name) => JSON.parse(readFileSync(join(corpus, `${name}.json`))));
  writeFileSync(file, jobs.map((job) => JSON.stringify(job)).join("\n"));
  await page.locator("#file").setInputFiles(file);
  await page.waitForFunction(() => r500.analysis.value?.name === "scene_plasma");
  await page.getByRole("button", { name: "Next program" }).click();
  await page.waitForFunction(() => r500.analysis.value?.name === "tex_mips");
  assert.deepEqual(await values(page), native(join(corpus, "tex_mips.json")));
  await context.close();
});

test("a driver's log and a C array are read", async () => {
  const { page, context } = await visit(at);
  const log = join(root, "tests/corpus/logs/scene_plasma.log");
  await page.locator("#file").setInputFiles(log);
  await page.waitForFunction(() => r500.analysis.value?.instructions.length > 5 && r500.analysis.value.name !== "plasma");
  assert.equal(await page.locator("#problems li.error").count(), 0);
  await drop(page, "red.inc", Buffer.from("0x00078101, 0x00000000, 0x00000080, 0x00db0220, 0x00c18003, 0x00490000,"));
  await page.waitForFunction(() => r500.analysis.value?.instructions.length === 1);
  const bits = await values(page);
  // temp[0] = (u, v, 0, 1): the lower left pixel of 256x256 is at 1/512.
  assert.deepEqual([0, 4, 8, 12].map((at) => bits.readFloatLE(at)), [1 / 512, 1 / 512, 0, 1]);
  await context.close();
});

test("words have the colours of what they are where they stand", async () => {
  const { page, context } = await visit(at);
  await type(page, `OUT : out[0].rgb = MAX src0.111 src0.000 ;\nDEF eye = tex[0] ;\nTEX NOP temp[1].rgba = LD eye.rgba temp[0].rgba ;\n`);
  await page.waitForFunction(() => document.querySelectorAll(".word-operation").length === 2);
  const words = (kind) => page.locator(`.word-${kind}`).allTextContents();
  assert.deepEqual(await words("operation"), ["MAX", "LD"]);
  assert.deepEqual(await words("tag"), ["OUT", "NOP"]);
  assert.deepEqual(await words("name"), ["eye", "eye"]);
  assert.deepEqual(await words("register"), ["out", "src0", "src0", "tex", "temp", "temp"]);
  await context.close();
});

test("a mistake is underlined at its place with its message, and the fix applies", async () => {
  const { page, context } = await visit(at);
  await type(page, PROGRAM.replace("RSQ", "RSX"));
  const mark = page.locator(".cm-lintRange-error").first();
  assert.match(await mark.textContent(), /RSX/);
  const problem = page.locator("#problems li.error").first();
  assert.match(await problem.textContent(), /RSX/);
  assert.match(await problem.locator(".line").textContent(), /^6$/);
  assert.equal(await page.locator("#stage.stale").count(), 1);
  await problem.locator(".fix").click();
  await settled(page);
  assert.equal(await page.evaluate(() => r500.editor.text), PROGRAM);
  assert.equal(await page.locator("#problems li.error").count(), 0);
  await context.close();
});

test("a warning of the checker has its fix", async () => {
  const { page, context } = await visit(at);
  const fetch = `TEXTURE tex[0] = checker(8, 8, 2) ;
TEX temp[1].rgba = LD tex[0].rgba temp[0].rgba ;
OUT LAST src0.rgb = temp[1] : out[0].rgb = MAX src0.rgb src0.rgb, out[0].a = MAX src0.1 src0.1 ;
`;
  await type(page, fetch);
  while ((await page.locator("#problems .fix").count()) > 0) {
    await page.locator("#problems .fix").first().click();
    await settled(page);
  }
  assert.match(await page.evaluate(() => r500.editor.text), /TEX TEX_SEM_ACQUIRE temp\[1\][^]*OUT TEX_SEM_WAIT LAST/);
  await context.close();
});

test("hover explains and completion offers what the libraries say", async () => {
  const { page, context } = await visit(at);
  await type(page, PROGRAM);
  await page.evaluate(() => r500.editor.goTo(r500.editor.text.indexOf("RSQ") + 1));
  await page.keyboard.press("Control+i");
  assert.match(await page.locator(".cm-tooltip.hover").textContent(), /RSQ A.*Instruction 2: [0-9a-f]{8}/s);
  await page.keyboard.press("Escape");
  await page.waitForSelector(".cm-tooltip.hover", { state: "detached" });
  await page.evaluate(() => r500.editor.goTo(r500.editor.text.indexOf("SIN") + 3));
  await page.keyboard.press("Backspace");
  await page.keyboard.press("Control+ ");
  await page.locator(".cm-tooltip-autocomplete li", { hasText: "SIN" }).click();
  await settled(page);
  assert.equal(await page.evaluate(() => r500.editor.text), PROGRAM);
  await context.close();
});

test("a permalink opens the same program and picture", async () => {
  const here = await visit(at);
  await type(here.page, `${PROGRAM}-- caf\u00e9 \u{1f600}\n`);
  await here.page.getByRole("button", { name: "Copy link" }).click();
  await here.page.waitForFunction(() => location.hash.startsWith("#1."));
  const fragment = await here.page.evaluate(() => location.hash);
  const [text, bits] = [await here.page.evaluate(() => r500.editor.text), await values(here.page)];
  const there = await visit(at, { fragment });
  await settled(there.page);
  assert.equal(await there.page.evaluate(() => r500.editor.text), text);
  assert.deepEqual(await values(there.page), bits);
  await here.context.close();
  await there.context.close();
  const damaged = await visit(at, { fragment: fragment.slice(0, -9) });
  assert.match(await damaged.page.locator("#said").textContent(), /damaged/);
  await damaged.context.close();
});

test("an endless program is stopped and said so, and the page stays alive", async () => {
  const { page, context } = await visit(at);
  // A loop that never ends, and the reference engine's pace for it.
  await type(page, "SIZE 64 64 ;\n@again FC JUMP JUMP_FUNC(0xff) -> @again ;\nOUT LAST : out[0].rgb = MAX src0.111 src0.111 ;\n");
  await page.waitForSelector("#stage.stale");
  assert.match(await page.locator(".badge").textContent(), /endless|stopped/i);
  await type(page, PROGRAM);
  await page.waitForFunction(() => document.querySelector("#stage.stale") === null);
  const file = join(folder, "after.r5");
  writeFileSync(file, PROGRAM);
  assert.deepEqual(await values(page), native(file));
  await context.close();
});

test("a constant's control changes the picture and the source", async () => {
  const { page, context } = await visit(at);
  await type(page, PROGRAM);
  const field = page.getByLabel("const[0] (const[0]) b, exactly");
  await field.fill("2.5");
  await field.press("Enter");
  await page.waitForFunction(() => r500.editor.text.includes("(0.25, 0.75, 2.5, 1)"));
  await settled(page);
  const file = join(folder, "constant.r5");
  writeFileSync(file, PROGRAM.replace("0.75, 3,", "0.75, 2.5,"));
  assert.deepEqual(await values(page), native(file));
  await context.close();
});

test("a field of the encoded instruction changes its line", async () => {
  const { page, context } = await visit(at);
  await type(page, PROGRAM);
  await page.getByRole("tab", { name: "Encoding" }).click();
  await page.evaluate(() => r500.editor.goTo(r500.editor.text.indexOf("RSQ")));
  await page.getByRole("button", { name: /^ALPHA_OP, bits 3 to 0: OP_RSQ/ }).click();
  await page.getByLabel("ALPHA_OP, value").selectOption({ label: "10  OP_RCP" });
  await page.waitForFunction(() => r500.editor.text.includes("RCP"));
  assert.equal(await page.evaluate(() => r500.editor.text), PROGRAM.replace("RSQ", "RCP"));
  await context.close();
});

test("a picture dropped onto the page becomes the texture", async () => {
  const { page, context } = await visit(at);
  await type(page, "SIZE 8 8 ;\nTEXTURE tex[0] = gradient(8, 8) ;\nTEX TEX_SEM_ACQUIRE temp[1].rgba = LD tex[0].rgba temp[0].rgba ;\nOUT TEX_SEM_WAIT LAST src0.rgb = temp[1] : out[0].rgb = MAX src0.rgb src0.rgb ;\n");
  await page.locator("#file").setInputFiles(join(root, "examples/plasma.png"));
  await page.waitForFunction(() => r500.editor.text.includes('file "plasma.png"'));
  await settled(page);
  const file = join(root, "examples", "page-test.r5");
  const text = await page.evaluate(() => r500.editor.text);
  try {
    writeFileSync(file, text);
    assert.deepEqual(await values(page), native(file));
  } finally {
    execFileSync("rm", [file]);
  }
  await context.close();
});

test("what is saved is the program", async () => {
  const { page, context } = await visit(at);
  await type(page, PROGRAM);
  for (const [item, extension] of [["Binary", "bin"], ["C array", "inc"], ["Assembly", "r5"], ["Capture", "json"]]) {
    await page.getByRole("button", { name: "Save" }).click();
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("menuitem", { name: item }).click()]);
    const path = join(folder, `saved.${extension}`);
    await download.saveAs(path);
    const dwords = execFileSync(command, ["convert", path, "--to", "raw", "-o", "-"]);
    writeFileSync(join(folder, "typed.r5"), PROGRAM);
    assert.deepEqual(dwords, execFileSync(command, ["convert", join(folder, "typed.r5"), "--to", "raw", "-o", "-"]), item);
  }
  await context.close();
});

test("without a network the page still works", async () => {
  const { page, context } = await visit(at);
  await page.evaluate(() => navigator.serviceWorker.ready);
  await page.waitForFunction(async () => (await caches.keys()).length === 1);
  await context.setOffline(true);
  await page.reload();
  await page.waitForFunction(() => globalThis.r500?.analysis.value !== undefined);
  await type(page, PROGRAM);
  assert.equal((await values(page)).length, 71 * 53 * 16);
  await context.close();
});

test("the optimiser's module is fetched by no first visit, and kept from the second one on", async () => {
  const { page, context, requests } = await visit(at);
  const kept = () => page.evaluate(async () => (await caches.match("optimizer.wasm")) !== undefined);
  await page.evaluate(() => navigator.serviceWorker.ready);
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  assert.equal(await kept(), false);
  assert.deepEqual(requests.filter((url) => url.endsWith("optimizer.wasm")), []);
  await page.reload();
  await page.waitForFunction(async () => (await caches.match("optimizer.wasm")) !== undefined);
  await context.setOffline(true);
  await page.reload();
  await page.waitForFunction(() => globalThis.r500?.analysis.value !== undefined);
  await type(page, PROGRAM);
  await page.getByRole("button", { name: "Shorter" }).click();
  await page.waitForFunction(() => /^(Proved|Nothing is better|Not proved, but run)/.test(document.querySelector("#shorter .verdict").textContent));
  await context.close();
});
