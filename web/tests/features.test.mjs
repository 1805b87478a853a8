// Comparison, help, inputs, animations, links with the view, services of the language.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { drop, quiet, settled, start, type, visit } from "./page.mjs";

let at;
before(async () => (at = await start()));
after(async () => await at?.stop());

const HALF = `SIZE 16 16 ;
src0.rgb = temp[0], src1.rgb = 0.5 : temp[1].rgb = MAX src0.rgb src1.rgb ;
OUT LAST src0.rgb = temp[1] : out[0].rgb = MAX src0.rgb src0.rgb, out[0].a = MAX src0.1 src0.1 ;
`;
const text = (page) => page.evaluate(() => r500.editor.text);

test("two programs are compared: pictures, the first pixel, the instruction where they part", async () => {
  const { page, context, complaints } = await visit(at);
  await type(page, HALF.replace("MAX src0.rgb src1", "MIN src0.rgb src1"));
  await page.waitForFunction(() => Object.keys(localStorage).some((key) => key.startsWith("r500.draft.")));
  await page.evaluate((text) => r500.open({ name: "half", text, files: [] }), HALF);
  await settled(page);
  await page.getByRole("button", { name: "Compare" }).click();
  const found = page.locator("#compare .found");
  await page.waitForFunction(() => /pixels differ/.test(document.querySelector("#compare .found").textContent));
  const said = await found.textContent();
  assert.match(said, /256 of 256 pixels differ/);
  assert.match(said, /First at pixel 0, 0: out\[0\]: A writes \(0\.5, 0\.5, 0\.5, 1\), B \(0\.03125, 0\.03125, 0, 1\)/);
  assert.match(said, /A at @0, step 1: .*MAX/);
  assert.match(said, /B at @0, step 1: .*MIN/);
  assert.deepEqual(await page.locator("#compare mark").allTextContents(), [HALF, HALF.replace("MAX src0.rgb src1", "MIN src0.rgb src1")].map((one) => one.split("\n")[1]));
  const pixels = () => page.evaluate(() => [...document.querySelectorAll("#compare canvas")].map((canvas) => [...canvas.getContext("2d").getImageData(0, 15, 1, 1).data].slice(0, 3)));
  const [a, b, difference] = await pixels();
  assert.deepEqual([a, b], [[128, 128, 128], [8, 8, 0]]);
  assert.ok(difference.some((byte) => byte > 0));
  await page.getByLabel("Tolerance").fill("1");
  await page.getByLabel("Tolerance").press("Enter");
  await page.waitForFunction(() => /All 256 pixels are equal/.test(document.querySelector("#compare .found").textContent));
  await page.getByLabel("Tolerance").fill("");
  await page.getByLabel("Tolerance").press("Tab");
  await page.getByRole("button", { name: "Step through it" }).click();
  await page.waitForFunction(() => r500.stepper.moment.value !== undefined);
  assert.deepEqual(await page.evaluate(() => [r500.session.pixel.value, r500.stepper.moment.value.position]), [[0, 0], 0]);
  assert.deepEqual(complaints, []);
  await context.close();
});

test("help shows the lessons, the language and the keys", async () => {
  const { page, context, complaints } = await visit(at);
  await page.getByRole("button", { name: "Help" }).click();
  assert.match(await page.locator("#help").textContent(), /1 {2}Red.*presubtract.*breakpoint in this line/s);
  assert.deepEqual(complaints, []);
  await context.close();
});

test("mouse, resolution and frame come into the constants that are named so", async () => {
  const { page, context } = await visit(at);
  await type(page, `SIZE 32 16 ;
UNIFORM "resolution" = const[0].rg ;
UNIFORM "mouse" = const[1].rgb ;
UNIFORM "frame" = const[2].r ;
const[1] = (0.125, 0.125, 0, 0) ;
OUT LAST src0.rgb = const[1], src0.a = const[0], src1.rgb = const[0] : out[0].rg = MAX src0.rgb src0.rgb, out[0].b = MAX src0.bbb src0.bbb, out[0].a = MAX src0.1 src0.1 ;
`.replace(", out[0].b = MAX src0.bbb src0.bbb", ""));
  const first = () => page.evaluate(async () => [...(await r500.values(0)).slice(0, 2)]);
  assert.deepEqual(await first(), [0.125, 0.125], "what the source says until the pointer is there");
  const box = await page.locator(".layer canvas").first().boundingBox();
  await page.mouse.move(box.x + box.width * 0.75, box.y + box.height * 0.25);
  await settled(page);
  const [x, y] = await first();
  assert.ok(Math.abs(x - 0.75) < 0.02 && Math.abs(y - 0.75) < 0.02, `${x}, ${y}`);
  await type(page, 'SIZE 32 16 ;\nUNIFORM "resolution" = const[0].rg ;\nOUT LAST src0.rgb = const[0] : out[0].rgb = MAX src0.rgb src0.rgb ;\n');
  assert.deepEqual(await first(), [32, 16]);
  assert.equal(await page.locator("#pane-constants fieldset", { hasText: "resolution" }).count(), 0, "what the page fills in has no control");
  await context.close();
});

test("colour pickers are there for colours alone, and comments name controls", async () => {
  const { page, context } = await visit(at);
  await type(page, `SIZE 4 4 ;
const[0] = (1, 0.5, 0.25, 1) ; -- colour of the sky
const[1] = (1, 2, 3, 4) ; -- waves a unit
UNIFORM "tint" = const[2].rgb ;
OUT LAST src0.rgb = const[0], src1.rgb = const[1], src2.rgb = const[2] : out[0].rgb = MAD src0.rgb src1.rgb src2.rgb ;
`);
  const pickers = await page.locator("#pane-constants input[type=color]").evaluateAll((all) => all.map((one) => one.getAttribute("aria-label")));
  assert.deepEqual(pickers, ["colour of the sky (const[0]) as a colour", "tint (const[2]) as a colour"]);
  assert.match(await page.locator("#pane-constants").textContent(), /waves a unit/);
  await context.close();
});

test("a GIF file and a WebM recording are made", async () => {
  const { page, context } = await visit(at);
  await type(page, 'SIZE 16 16 ;\nUNIFORM "time" = const[0].r ;\nOUT LAST src0.rgb = const[0] : out[0].rgb = FRC src0.rrr ;\n');
  for (const [item, magic] of [["GIF", "GIF89a"], ["WebM", "\x1aE\xdf\xa3"]]) {
    await page.getByRole("button", { name: "Save" }).click();
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("menuitem", { name: item }).click()]);
    const chunks = [];
    for await (const chunk of await download.createReadStream()) chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    assert.equal(bytes.subarray(0, magic.length).toString("latin1"), magic, item);
    assert.ok(bytes.length > 500, `${bytes.length}`);
    // Frames differ: a graphic control extension for each of 80.
    if (item === "GIF") assert.equal(bytes.toString("latin1").split("\x21\xf9\x04").length - 1, 80);
  }
  await context.close();
});

test("a link carries pixel, step, breakpoints, time, target and display, and a long one is asked about", async () => {
  const { page, context } = await visit(at);
  await type(page, HALF.replace("SIZE 16 16 ;", 'SIZE 16 16 ;\nUNIFORM "time" = const[9].r ;'));
  await page.evaluate(async () => {
    await r500.stepThrough([5, 6]);
    await r500.stepper.go({ how: "seek", position: 1 });
    const rest = { address: null, condition: null, changes: null, hits: null, message: null };
    r500.breakpoints.toggle({ ...rest, address: 1, condition: "temp[1].r > 0.25 & pred" });
    r500.breakpoints.toggle({ ...rest, address: 0, hits: "% 2", message: "r is {temp[1].r}" });
    r500.breakpoints.toggle({ ...rest, changes: "temp[1]" });
    r500.transport.time.value = 1.5;
    r500.transport.look.value = { channels: 3, range: [-1, 2] };
  });
  await quiet(page);
  await page.getByRole("button", { name: "Copy link" }).click();
  await page.waitForFunction(() => location.hash.startsWith("#1."));
  const fragment = await page.evaluate(() => location.hash);
  const there = await visit(at, { fragment });
  await there.page.waitForFunction(() => r500.stepper.moment.value?.position === 1);
  const seen = await there.page.evaluate(() => ({
    pixel: r500.session.pixel.value,
    breaks: r500.breakpoints.all.value,
    time: r500.transport.time.value,
    look: r500.transport.look.value,
  }));
  assert.deepEqual(seen, {
    pixel: [5, 6],
    breaks: [
      { address: 1, condition: "temp[1].r > 0.25 & pred", changes: null, hits: null, message: null },
      { address: 0, condition: null, changes: null, hits: "% 2", message: "r is {temp[1].r}" },
      { address: null, condition: null, changes: "temp[1]", hits: null, message: null },
    ],
    time: 1.5,
    look: { channels: 3, range: [-1, 2] },
  });
  await there.context.close();
  // What makes no sense is left out.
  const odd = await visit(at, { fragment: `${fragment.split("&")[0]}&pixel=x&step=-1&time=later&target=9&show=99,1,1&break=?` });
  await quiet(odd.page);
  assert.equal(await odd.page.evaluate(() => r500.session.pixel.value), undefined);
  await odd.context.close();
  // Noise does not compress.
  const noise = Buffer.from(Array.from({ length: 240_000 }, (_, n) => (Math.imul(n * n + 7, 2654435761) >>> 13) & 255));
  await drop(page, "noise.png", Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), noise]));
  await page.waitForFunction(() => r500.source().files.length === 1);
  page.on("dialog", (dialog) => void dialog.dismiss());
  const [asked] = await Promise.all([page.waitForEvent("dialog"), page.getByRole("button", { name: "Copy link" }).click()]);
  assert.match(asked.message(), /many programs cut such links/);
  await context.close();
});

test("format, rename, definition, uses and fix all are at hand", async () => {
  const { page, context } = await visit(at);
  await type(page, "SIZE 4 4 ;\nDEF eye = temp[1] ;\nsrc0.rgb = temp[0] :    eye.rgb = MAX src0.rgb src0.rgb ;\nOUT LAST src0.rgb = eye : out[0].rgb = MAX src0.rgb src0.rgb ;\n");
  const use = await page.evaluate(() => r500.editor.text.lastIndexOf("eye"));
  await page.evaluate((at) => r500.editor.goTo(at), use);
  await page.keyboard.press("F12");
  await page.waitForFunction(() => r500.editor.cursor === r500.editor.text.indexOf("eye"));
  await page.keyboard.press("Shift+F12");
  // The second place is the register in the definition, the third a use of the name.
  await page.waitForFunction(() => /Place 2 of 4/.test(document.querySelector("#said").textContent));
  await page.keyboard.press("Shift+F12");
  await page.waitForFunction(() => /Place 3 of 4/.test(document.querySelector("#said").textContent));
  await page.keyboard.press("F2");
  await page.getByRole("textbox", { name: "New name" }).fill("ray");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => r500.editor.text.split("ray").length === 4 && !r500.editor.text.includes("eye"));
  await page.locator(".cm-content").focus();
  await page.keyboard.press("Shift+Alt+f");
  await page.waitForFunction(() => r500.editor.text.includes(" : ray.rgb"));
  await type(page, "TEXTURE tex[0] = checker(8, 8, 2) ;\nTEX temp[1].rgba = LD tex[0].rgba temp[0].rgba ;\nOUT LAST src0.rgb = temp[1] : out[0].rgb = MAX src0.rgb src0.rgb, out[0].a = MAX src0.1 src0.1 ;\n");
  await page.getByRole("button", { name: "Fix all" }).click();
  await page.waitForFunction(() => /TEX TEX_SEM_ACQUIRE temp\[1\][^]*TEX_SEM_WAIT/.test(r500.editor.text));
  assert.match(await text(page), /TEX_SEM_WAIT/);
  await context.close();
});

const LONGER = `SIZE 16 16 ;
-- A copy, and what it is copied for.
src0.rgb = temp[0] : temp[2].rgb = MAX src0.rgb src0.rgb ;
src0.rgb = temp[2], src1.rgb = 0.5 : temp[1].rgb = MAD src0.rgb src1.rgb src0.000 ;
OUT LAST src0.rgb = temp[1] : out[0].rgb = MAX src0.rgb src0.rgb, out[0].a = MAX src0.1 src0.1 ; -- the end
`;

test("Shorter shows the result next to the program, links lines, names costs and evidence, and opens the result", async () => {
  const { page, context, complaints } = await visit(at);
  await type(page, LONGER);
  const pixels = () => page.evaluate(async () => [...(await r500.values(0))].join());
  const before = await pixels();
  await page.getByRole("button", { name: "Shorter" }).click();
  const verdict = page.locator("#shorter .verdict");
  await page.waitForFunction(() => document.querySelector("#shorter .verdict.proved") !== null);
  assert.match(await verdict.textContent(), /^Proved: equal in every bit/);
  const rows = await page.locator("#shorter tbody tr").allTextContents();
  assert.equal(rows.length, 4);
  assert.match(rows[1], /^slots3[12]−(33|67) %$/);
  assert.ok((await page.locator("#shorter .changes li").count()) > 0);
  const marked = (name) => page.getByRole("listbox", { name }).locator("[aria-selected=true]").allTextContents();
  // The copy is part of an instruction of the result.
  await page.getByRole("option", { name: /temp\[2\].rgb = MAX/ }).click();
  assert.match((await marked("Program")).join(), /temp\[2\].rgb = MAX/);
  await page.getByRole("listbox", { name: "Result" }).focus();
  await page.keyboard.press("ArrowDown");
  assert.equal((await marked("Result")).length, 1);
  assert.ok((await marked("Program")).length >= 1);
  await page.locator("#shorter .changes button").first().click();
  assert.ok((await marked("Program")).length >= 1);
  await page.getByRole("button", { name: "Open the result" }).click();
  await settled(page);
  const slots = await page.evaluate(() => r500.analysis.value.instructions.length);
  assert.equal(`slots3${slots}`, rows[1].slice(0, 7));
  assert.match(await text(page), /-- the end|^SIZE 16 16 ;/);
  assert.equal(await pixels(), before);
  // There is nothing left to gain, and a way back.
  await page.getByRole("button", { name: "Shorter" }).click();
  await page.waitForFunction(() => /Nothing is better/.test(document.querySelector("#shorter .verdict").textContent));
  assert.equal(await page.getByRole("button", { name: "Open the result" }).count(), 0);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: /Back to/ }).click();
  await settled(page);
  assert.equal(await text(page), LONGER);
  assert.deepEqual(complaints, []);
  await context.close();
});

test("a program with an error has no shorter one, and the page says why", async () => {
  const { page, context } = await visit(at);
  await type(page, LONGER.replace("MAD", "MDA"));
  await page.getByRole("button", { name: "Shorter" }).click();
  await page.waitForFunction(() => /MDA/.test(document.querySelector("#shorter .verdict.refused")?.textContent ?? ""));
  await context.close();
});

test("most examples move", async () => {
  const { page, context } = await visit(at, { reducedMotion: "no-preference" });
  const moving = [];
  let programs = 0;
  await page.getByRole("button", { name: "Examples" }).click();
  const names = await page.locator(".card:not(.new) b").allTextContents();
  await page.keyboard.press("Escape");
  for (const [n] of names.entries()) {
    await page.getByRole("button", { name: "Examples" }).click();
    await page.locator(".card:not(.new)").nth(n).click();
    await page.waitForFunction((name) => r500.source().name === name, names[n]);
    // Scenes have tests of their own.
    if (await page.evaluate(() => /^SCENE /m.test(r500.source().text))) continue;
    programs++;
    await page.waitForFunction((name) => r500.analysis.value?.name === name, names[n]);
    // Every opening ends with a decision whether the picture plays.
    await page.waitForFunction((name) => r500.player.program?.name === name && r500.player.shown !== undefined, names[n]);
    if (!(await page.evaluate(() => r500.transport.playing.value))) continue;
    const moved = await page.evaluate(async () => {
      const { playing, time } = r500.transport;
      playing.value = false;
      const at = async (seconds) => {
        time.value = seconds;
        return r500.values(0);
      };
      const [begin, ...others] = [await at(0), await at(0.5), await at(1.25)];
      return others.some((values) => values.some((value, n) => !Object.is(value, begin[n])));
    });
    if (moved) moving.push(names[n]);
  }
  assert.ok(moving.length >= 7 && moving.length * 2 > programs, moving.join());
  // What plays moves by itself: frame by frame the time advances.
  await page.evaluate(() => (r500.transport.playing.value = true));
  const time = await page.evaluate(() => r500.transport.time.value);
  await page.waitForFunction((time) => r500.player.shown?.view.time > time, time);
  await context.close();
});

test("the guide opens from the help, in its own page", async (t) => {
  const { page, context, complaints } = await visit(at);
  await page.getByRole("button", { name: "Help" }).click();
  const link = page.getByRole("link", { name: "The guide" });
  if ((await link.count()) === 0) {
    await context.close();
    return t.skip("built without mdBook");
  }
  const [guide] = await Promise.all([context.waitForEvent("page"), link.click()]);
  await guide.waitForLoadState();
  assert.match(await guide.title(), /r500/);
  assert.ok((await guide.locator("main h1").first().textContent()).length > 0);
  const chapters = await guide.locator("#mdbook-sidebar a[href], #sidebar a[href]").evaluateAll((all) => all.map((one) => one.href).filter((href) => href.startsWith(location.origin)));
  assert.ok(chapters.length > 15, `${chapters.length} chapters`);
  // Without a network, too: every chapter.
  await page.evaluate(() => navigator.serviceWorker.ready);
  await context.setOffline(true);
  for (const chapter of [chapters[0], chapters.find((href) => href.endsWith("/optimiser.html")), chapters.at(-1)]) {
    await guide.goto(chapter);
    assert.ok((await guide.locator("main").textContent()).length > 500, chapter);
  }
  assert.deepEqual(complaints, []);
  await context.close();
});
