// Scenes on the page: whole draws on the virtual card, as the command draws them.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import { drop, quiet, settled, start, type, values, visit } from "./page.mjs";

const examples = join(fileURLToPath(new URL(".", import.meta.url)), "../../examples/scenes");
const R500 = process.env.R500 ?? "r500";

let at;
before(async () => (at = await start()));
after(async () => await at?.stop());

/** A picture as the page shows it, in 8 bits, the upper row first. */
const shown = async (page) => Buffer.from(await page.evaluate(() => [...r500.player.shown.pixels]));

/** A picture of the command, decoded by the browser: a PNG file. */
async function drawn(page, name, time) {
  const out = join(mkdtempSync(join(tmpdir(), "r500-scene-")), "a.png");
  execFileSync(R500, ["render", join(examples, name), "-o", out, "--time", String(time)]);
  const text = readFileSync(out).toString("base64");
  const pixels = await page.evaluate(async (text) => {
    const bitmap = await createImageBitmap(new Blob([Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))], { type: "image/png" }), { premultiplyAlpha: "none", colorSpaceConversion: "none" });
    const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
    context.drawImage(bitmap, 0, 0);
    return [...context.getImageData(0, 0, bitmap.width, bitmap.height).data];
  }, text);
  return Buffer.from(pixels);
}

const opened = (page, name) => page.waitForFunction((name) => r500.source().name === name && r500.analysis.value?.ok, name);

test("each scene of the gallery draws the picture of the command, plays and pauses", async () => {
  const { page, context, complaints } = await visit(at);
  for (const name of ["triangle", "cube", "mirror", "shaders"]) {
    await page.getByRole("button", { name: "Examples" }).click();
    await page.locator("#gallery .card", { has: page.locator("b", { hasText: new RegExp(`^${name}$`) }) }).click();
    await opened(page, name);
    await settled(page);
    assert.equal(await page.locator("#gallery").isVisible(), false);
    if (name !== "triangle") {
      await page.getByRole("button", { name: "Play" }).click();
      await page.waitForFunction(() => r500.transport.time.value > 0.2);
      await page.getByRole("button", { name: "Pause" }).click();
      await page.evaluate(() => r500.transport.seek(0.75));
    }
    assert.equal(await page.locator(".moving").isVisible(), name !== "triangle");
    await settled(page);
    const time = name === "triangle" ? 0 : 0.75;
    const [own, wanted] = [await shown(page), await drawn(page, `${name}.r5`, time)];
    assert.equal(own.length, 320 * 240 * 4);
    assert.ok(own.equals(wanted), name);
    assert.match(await page.locator("output.rate").getAttribute("title"), /virtual card: \d draws?, /);
  }
  assert.deepEqual(complaints, []);
  await context.close();
});

const SCENE = `SCENE 8x4 ;
DRAW quads {
    VERTICES position 2 { -1 -1  1 -1  1 1  -1 1 }
    VERTEX PROGRAM { out[0].xyzw = VE_ADD input[0].xyzw input[0].0000 ; }
    FRAGMENT const[0] = (1, 0, 0, 1) ;
    FRAGMENT PROGRAM { OUT LAST src0.rgb = const[0] : out[0].rgb = MAX src0.rgb src0.rgb, out[0].a = MAX src0.1 src0.1 ; }
}
DRAW quads {
    VERTICES position 2, color 2 { 0 -1  0 0   1 -1  1 0   1 1  1 1   0 1  0 1 }
    VERTEX PROGRAM {
        out[0].xyzw = VE_ADD input[0].xyzw input[0].0000 ;
        out[1].xyzw = VE_ADD input[1].xyzw input[1].0000 ;
    }
    FRAGMENT PROGRAM {
        TEX_SEM_WAIT src0.rgb = temp[0] : temp[1].rgb = MAX src0.rgb src0.rgb ;
        OUT LAST src0.rgb = temp[1] : out[0].rgb = MAX src0.rgb src0.rgb, out[0].a = MAX src0.1 src0.1 ;
    }
}
EXPECT out[0] at (0, 0) = (1, 0, 0, 1) ;
EXPECT out[0] at (7, 3) = (1, 1, 1, 1) ;
`;

test("a scene is typed; its errors are at their places; EXPECT lines are judged", async () => {
  const { page, context, complaints } = await visit(at);
  await type(page, SCENE);
  await page.waitForFunction(() => document.querySelectorAll(".cm-verdict").length === 2);
  assert.deepEqual(await page.locator(".cm-verdict").evaluateAll((all) => all.map((one) => one.classList.contains("fails"))), [false, true]);
  // The right half is from 0 to 1: the centres of its four columns are at eighths, of its rows as well.
  const floats = new Float32Array(Uint8Array.from(await values(page)).buffer);
  const pixel = (x, y) => [...floats.subarray((y * 8 + x) * 4, (y * 8 + x) * 4 + 4)].map((value) => Math.round(value * 255));
  assert.deepEqual(pixel(0, 0), [255, 0, 0, 255]);
  assert.deepEqual(pixel(4, 0), [32, 32, 0, 255]);
  assert.deepEqual(pixel(7, 3), [223, 223, 0, 255]);

  // In the vertex program and the fragment program of the second draw, and in a statement; all at once.
  const wrong = SCENE.replace("VE_ADD input[1].xyzw", "VE_ADDD input[1].xyzw").replace("temp[1].rgb = MAX", "temp[1].rgb = MXA").replace("(7, 3)", "(8, 3)");
  await type(page, wrong);
  const found = await page.evaluate(() => r500.analysis.value.diagnostics.map(({ from, to, message }) => [r500.editor.text.slice(from, to), message]));
  assert.equal(found.length, 3, JSON.stringify(found));
  assert.match(found[0][0], /VE_ADDD/);
  assert.match(found[1][0], /MXA/);
  assert.equal(found[2][0], "8");
  assert.equal(await page.locator("#problems li").count(), 3);
  assert.match(await page.locator(".badge").textContent(), /last program that assembled/);
  // What only the card knows is at the draw.
  await type(page, SCENE.replace("out[1].xyzw", "out[3].xyzw"));
  const [gap] = await page.evaluate(() => r500.analysis.value.diagnostics.map(({ from, to, message }) => [r500.editor.text.slice(from, to), message]));
  assert.equal(gap[0], "quads");
  assert.match(gap[1], /without a gap/);
  assert.deepEqual(complaints, []);
  await context.close();
});

test("a pixel is stepped in the draw that shades it last, forward and backward, with breakpoints", async () => {
  const { page, context, complaints } = await visit(at);
  await page.evaluate((text) => r500.open({ name: "two", text, files: [] }), SCENE);
  await opened(page, "two");
  await settled(page);
  await page.evaluate(() => r500.stepThrough([1, 2]));
  const state = () =>
    page.evaluate(() => {
      const { run, moment } = r500.stepper;
      const { address, pixel, group, temps, delivered, position } = moment.value;
      const range = r500.analysis.value.instructions[address]?.range;
      return { draw: run.value.draw, length: run.value.length, address, pixel, group, position, temps, delivered: delivered[0], at: range ? r500.editor.text.slice(range.from, range.to) : null };
    });
  const first = await state();
  assert.deepEqual([first.draw, first.length, first.pixel], [0, 1, [1, 2]]);
  assert.match(first.at, /const\[0\]/);
  await page.evaluate(() => r500.stepThrough([6, 1]));
  const second = await state();
  assert.deepEqual([second.draw, second.length, second.pixel], [1, 2, [6, 1]]);
  assert.match(second.at, /temp\[1\]\.rgb = MAX/);
  // Column 6 is the third of four: (2 + 1/2) / 4; row 1 the second from below: (1 + 1/2) / 4. By the rasteriser, not by the page.
  const floats = new Float32Array(new Uint32Array(second.temps[0][2]).buffer);
  assert.deepEqual([floats[0], floats[1]], [0.625, 0.375]);
  const [left, bottom, width, height] = second.group;
  assert.ok(left <= 6 && 6 < left + width && bottom <= 1 && 1 < bottom + height, JSON.stringify(second.group));
  assert.match(await page.locator("#said").textContent(), /Draw 1 shades this pixel last/);
  assert.equal(await page.locator(".cm-step").count(), 1);
  // A breakpoint at the second instruction, and back.
  await page.evaluate(() => r500.breakpoints.toggle({ address: 1, condition: "temp[1].r > 0.5", changes: null }));
  await page.evaluate(() => r500.stepper.go({ how: "run" }));
  const there = await state();
  assert.equal(there.position, 1);
  assert.match(there.at, /OUT LAST src0\.rgb = temp\[1\]/);
  await page.evaluate(() => r500.stepper.go({ how: "step", backward: true }));
  assert.equal((await state()).position, 0);
  // Another pixel of the group, in the picture's own coordinates.
  await page.evaluate(() => r500.stepper.go({ how: "watch", pixel: [7, 0] }));
  assert.deepEqual((await state()).pixel, [7, 0]);
  assert.deepEqual(complaints, []);
  await context.close();
});

test("of shaders in GLSL the line is marked that the next instruction computes", async () => {
  const { page, context } = await visit(at);
  const text = readFileSync(join(examples, "shaders.r5"), "utf8");
  await page.evaluate((text) => r500.open({ name: "glsl", text, files: [] }), text);
  await opened(page, "glsl");
  await settled(page);
  await page.evaluate(() => r500.stepThrough([160, 120]));
  const inside = await page.evaluate(async () => {
    const begin = r500.editor.text.indexOf("FRAGMENT SHADER");
    const { length } = r500.stepper.run.value;
    const places = [];
    for (let position = 0; position < length; position++) {
      await r500.stepper.go({ how: "seek", position });
      const range = r500.analysis.value.instructions[r500.stepper.moment.value.address]?.range;
      if (range) places.push([range.from > begin, r500.editor.text.slice(range.from, range.to)]);
    }
    return places;
  });
  assert.ok(inside.length > 10 && inside.every(([is]) => is), JSON.stringify(inside));
  assert.ok(inside.some(([, place]) => /texture2D|pow|dot|normalize/.test(place)));
  await context.close();
});

test("a scene is dropped with its files, linked, and saved as a capture that the command draws alike", async () => {
  const { page, context } = await visit(at);
  // Under a name that says nothing.
  await drop(page, "note.txt", readFileSync(join(examples, "mirror.r5")));
  await page.waitForFunction(() => r500.source().name === "note" && r500.analysis.value !== undefined && !r500.analysis.value.ok);
  assert.match(await page.locator("#problems").textContent(), /transform\.vs\.asm/);
  await drop(page, "transform.vs.asm", readFileSync(join(examples, "transform.vs.asm")));
  await page.waitForFunction(() => r500.analysis.value?.ok);
  await page.evaluate(() => r500.transport.seek(0.5));
  await settled(page);
  const own = await shown(page);
  assert.ok(own.equals(await drawn(page, "mirror.r5", 0.5)));
  await page.getByRole("button", { name: "Copy link" }).click();
  await page.waitForFunction(() => location.hash.length > 100);
  const other = await visit(at, { fragment: await page.evaluate(() => location.hash) });
  await other.page.waitForFunction(() => r500.analysis.value?.ok);
  await settled(other.page);
  assert.deepEqual(await other.page.evaluate(() => r500.source().files.map(({ name }) => name)), ["transform.vs.asm"]);
  assert.ok((await shown(other.page)).equals(own));
  assert.deepEqual(other.complaints, []);
  await other.context.close();

  await page.getByRole("button", { name: "Save" }).click();
  assert.equal(await page.getByRole("menuitem", { name: /^Binary/ }).isVisible(), false);
  const saving = page.waitForEvent("download");
  await page.getByRole("menuitem", { name: /^Capture of the scene/ }).click();
  const capture = join(mkdtempSync(join(tmpdir(), "r500-scene-")), "a.r5cs");
  await (await saving).saveAs(capture);
  assert.match(execFileSync(R500, ["stream", capture, "--list"], { encoding: "utf8" }), /draw|triangle/);
  await context.close();
});

test("a program follows a scene and a scene a program, with the panes of each", async () => {
  const { page, context, complaints } = await visit(at);
  await page.evaluate((text) => r500.open({ name: "two", text, files: [] }), SCENE);
  await opened(page, "two");
  const tabs = () => page.getByRole("tab").allTextContents().then((all) => all.length);
  const visible = () => page.getByRole("tab").evaluateAll((all) => all.filter((one) => one.checkVisibility()).map((one) => one.textContent));
  assert.deepEqual(await visible(), ["Step", "Numbers"]);
  assert.equal(await page.getByRole("combobox", { name: "Size of the picture" }).isVisible(), false);
  assert.equal(await page.getByRole("button", { name: "Compare" }).isDisabled(), true);
  await type(page, "SIZE 4 2 ;\nOUT LAST src0.rgb = temp[0] : out[0].rgb = MAX src0.rgb src0.rgb, out[0].a = MAX src0.1 src0.1 ;\n");
  assert.equal((await visible()).length, await tabs());
  assert.equal(await page.getByRole("button", { name: "Compare" }).isDisabled(), false);
  assert.equal(new Float32Array(Uint8Array.from(await values(page)).buffer)[0], 0.125);
  await page.evaluate(() => r500.stepThrough([3, 1]));
  assert.equal(await page.evaluate(() => r500.stepper.run.value.draw), undefined);
  await type(page, SCENE);
  await page.waitForFunction(() => r500.analysis.value?.draws.length === 2);
  assert.deepEqual(complaints, []);
  await context.close();
});

test("a link to a scene is the first thing that a visit shows, also without its module yet", async () => {
  const { page, context } = await visit(at);
  await type(page, SCENE);
  await page.getByRole("button", { name: "Copy link" }).click();
  await page.waitForFunction(() => location.hash.length > 100);
  const hash = await page.evaluate(() => location.hash);
  await context.close();
  const other = await visit(at, { fragment: hash });
  await settled(other.page);
  assert.equal((await shown(other.page)).length, 8 * 4 * 4);
  assert.deepEqual(other.complaints, []);
  await other.context.close();
});
