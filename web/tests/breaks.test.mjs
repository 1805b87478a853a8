// Breakpoints in the editor, the size of the picture, heat maps that refine.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { settled, start, type, visit } from "./page.mjs";

let at;
before(async () => (at = await start()));
after(async () => await at?.stop());

/** A loop of three passes, then an output: addresses are counted by hand. */
const PROGRAM = `-- A loop of three passes.
SIZE 16 16 ;
FULL_FC_EN ;
int[0] = (3, 0, 1) ;
src0.rgb = temp[0] : temp[1].rgb = MAX src0.rgb src0.rgb ;
LOOP int[0] ALU_WAIT ;
    src0.rgb = temp[1] :
        temp[1].rgb = MAD src0.rgb src0.hhh src0.000 ;
ENDLOOP ALU_WAIT ;
OUT TEX_SEM_WAIT LAST src0.rgb = temp[1] : out[0].rgb = MAX src0.rgb src0.rgb, out[0].a = MAX src0.1 src0.1 ;
`;
const breaks = (page) => page.evaluate(() => r500.breakpoints.all.value.map((one) => one.address));
const line = (page, n) => page.locator(".cm-breaks .cm-gutterElement").nth(n);
/** The breakpoints that are marked: their lines, from 1. */
const marked = (page) =>
  page.evaluate(() => r500.editor.breakpoints.map(({ at }) => r500.editor.lineOf(at)));

test("a click next to a line sets a breakpoint there, which both directions stop at", async () => {
  const { page, context, complaints } = await visit(at);
  await type(page, PROGRAM);
  await page.locator(".frame").click();
  await page.waitForFunction(() => r500.stepper.moment.value !== undefined);
  // Line 8 continues with the instruction of line 7, which has address 2.
  await line(page, 8).click();
  await page.waitForFunction(() => r500.breakpoints.all.value.length === 1);
  assert.deepEqual(await breaks(page), [2]);
  assert.deepEqual(await marked(page), [7]);
  assert.match(await page.locator(".breaks li").textContent(), /@2.*MAD/);
  const run = (key) =>
    page.evaluate(async (backward) => (await r500.stepper.go({ how: "run", backward }), r500.stepper.moment.value), key === "Shift+F5");
  // MAX, LOOP, then MAD and ENDLOOP three times: MAD is to come after 2, 4 and 6 instructions.
  assert.deepEqual([(await run("F5")).position, (await run("F5")).position], [2, 4]);
  assert.equal((await run("F5")).position, 6);
  assert.equal((await run("Shift+F5")).position, 4);
  assert.equal(await page.locator(".breaks li.hit").count(), 1);
  await line(page, 7).click();
  await page.waitForFunction(() => r500.breakpoints.all.value.length === 0);
  // Where no instruction is there can be none.
  await line(page, 2).click();
  await page.waitForFunction(() => /no instruction/.test(document.querySelector("#said").textContent));
  assert.deepEqual(await breaks(page), []);
  assert.deepEqual(complaints, []);
  await context.close();
});

test("a breakpoint counts its hits and logs values on the way, in both directions", async () => {
  const { page, context, complaints } = await visit(at);
  await type(page, PROGRAM);
  await page.locator(".frame").click();
  await page.waitForFunction(() => r500.stepper.moment.value !== undefined);
  // MAD is to come after 2, 4 and 6 instructions.
  await page.evaluate(() => r500.stepper.go({ how: "seek", position: 2 }));
  await page.getByLabel("Kind of breakpoint").selectOption("at");
  await page.getByLabel("Which of its hits count").fill("often");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.waitForFunction(() => /is not a hit count/.test(document.querySelector("#condition-wrong").textContent));
  await page.getByLabel("Which of its hits count").fill("3");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.waitForFunction(() => r500.breakpoints.all.value.length === 1);
  assert.match(await page.locator(".breaks li.conditional").textContent(), /@2.*hits 3/);
  await page.getByLabel("Kind of breakpoint").selectOption("log");
  await page.getByLabel("Message of a breakpoint").fill("pass at step {step}, {temp[1].r} of {temp[1].r * 2}");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.waitForFunction(() => r500.breakpoints.all.value.length === 2);
  const run = (backward) =>
    page.evaluate(async (backward) => (await r500.stepper.go({ how: "run", backward }), r500.stepper.moment.value), backward);
  await page.evaluate(() => r500.stepper.go({ how: "seek", position: 0 }));
  const there = await run(false);
  assert.deepEqual([there.position, there.stop, there.breakpoints], [6, "break", [0]]);
  const u = await page.evaluate(() => (r500.stepper.run.value.pixel[0] + 0.5) / 16);
  // The picture is 16 pixels wide: u and its halves are short decimals.
  const line = (step, value) => `pass at step ${step}, ${value} of ${2 * value}`;
  const lines = [line(2, u), line(4, u / 2), line(6, u / 4)];
  assert.deepEqual(there.log, lines);
  assert.deepEqual(await page.locator(".breaks .log li").allTextContents(), lines);
  const back = await run(true);
  assert.deepEqual([back.position, back.stop, back.log], [0, "start", [lines[1], lines[0]]]);
  // A step passes messages, too; another pixel's run has its own values.
  await page.evaluate(() => r500.stepper.go({ how: "seek", position: 1 }));
  const step = await page.evaluate(async () => (await r500.stepper.go({ how: "step" }), r500.stepper.moment.value.log));
  assert.deepEqual(step, [lines[0]]);
  assert.deepEqual(complaints, []);
  await context.close();
});

test("a breakpoint stays with its line when the program changes", async () => {
  const { page, context } = await visit(at);
  await type(page, PROGRAM);
  await page.evaluate(() => r500.editor.goTo(r500.editor.text.indexOf("ENDLOOP")));
  await page.keyboard.press("F9");
  await page.waitForFunction(() => r500.breakpoints.all.value.length === 1);
  assert.deepEqual(await breaks(page), [3]);
  assert.match(await page.locator("#status").textContent(), /Breakpoint at @3: .*ENDLOOP/);
  // An instruction more in front of it, a mistake for a while, and another line.
  await page.evaluate(() => r500.editor.goTo(r500.editor.text.indexOf("LOOP int")));
  await page.keyboard.insertText("src0.rgb = temp[1] : temp[1].rgb = MAX src0.rgb src0.111 ;\nSIZ");
  await settled(page);
  await page.keyboard.insertText("E 8 8 ;\n");
  await settled(page);
  await page.evaluate(() => r500.editor.apply([{ from: 27, to: 40, text: "" }]));
  await page.waitForFunction(() => r500.breakpoints.all.value[0]?.address === 4);
  assert.deepEqual(await marked(page), [10]);
  // With its instruction the breakpoint goes.
  await page.evaluate(() => {
    const from = r500.editor.text.indexOf("LOOP int");
    const to = r500.editor.text.indexOf("OUT TEX");
    r500.editor.apply([{ from, to, text: "" }]);
  });
  await page.waitForFunction(() => r500.breakpoints.all.value.length === 0);
  assert.deepEqual(await marked(page), []);
  // Another program has none of this one's.
  await page.keyboard.press("F9");
  await page.waitForFunction(() => r500.breakpoints.all.value.length === 1);
  await page.evaluate((text) => r500.open({ name: "other", text, files: [] }), PROGRAM);
  assert.deepEqual(await breaks(page), []);
  await context.close();
});

test("the mask of pixels tells who entered the loop", async () => {
  const { page, context } = await visit(at);
  // Only pixels left of the middle of a group enter; of these the lowest row leaves at once.
  await type(page, `SIZE 16 16 ;
FULL_FC_EN ;
INPUT temp[0] = position ;
int[0] = (3, 0, 1) ;
src0.rgb = temp[0], src1.rgb = 2.0 : alu[lt].r = MAD src0.rrr src0.111 -src1.rrr ;
IF alu ALU_WAIT ;
    LOOP int[0] ALU_WAIT ;
        src0.rgb = temp[0], src1.rgb = 1.0 : alu[lt].r = MAD src0.ggg src0.111 -src1.rrr ;
        BREAK IF alu ALU_WAIT ;
        : temp[1].rgb = MAX src0.111 src0.111 ;
    ENDLOOP ALU_WAIT ;
ENDIF ALU_WAIT ;
OUT TEX_SEM_WAIT LAST src0.rgb = temp[1] : out[0].rgb = MAX src0.rgb src0.rgb, out[0].a = MAX src0.1 src0.1 ;
`);
  await page.evaluate(() => r500.stepThrough([0, 1]));
  await page.waitForFunction(() => r500.stepper.moment.value !== undefined);
  // After BREAK: compare, IF, LOOP, compare, BREAK.
  const lanes = await page.evaluate(async () => (await r500.stepper.go({ how: "seek", position: 5 }), r500.stepper.moment.value.lanes));
  const group = lanes.filter(({ x, y }) => x < 4 && y < 4);
  const state = (x, y) => group.find((lane) => lane.x === x && lane.y === y);
  for (const { x, y, entered } of group) assert.equal(entered, x < 2, `${x}, ${y}`);
  assert.equal(state(0, 0).state, "break");
  assert.equal(state(0, 1).executes, true);
  assert.equal(state(3, 1).state, "branch");
  assert.equal(await page.locator(".mask .lane.entered").count(), 8);
  const legend = await page.locator(".legend li").allTextContents();
  assert.deepEqual(
    legend.map((text) => text.trim()),
    ["6 active", "if8 off by a branch", "br2 left the loop, waits", "8 entered the loop"],
  );
  await context.close();
});

test("a size is asked for in a dialog that says what is wrong", async () => {
  const { page, context } = await visit(at);
  await type(page, PROGRAM);
  const sizes = page.getByRole("combobox", { name: "Size of the picture" });
  await sizes.selectOption("other");
  const dialog = page.getByRole("dialog", { name: "Size of the picture" });
  const [width, height] = ["Width", "Height"].map((name) => dialog.getByRole("spinbutton", { name }));
  assert.equal(await width.inputValue(), "16");
  assert.equal(await width.evaluate((field) => field === document.activeElement), true);
  for (const wrong of ["0", "5000", "7.5", ""]) {
    await height.fill(wrong);
    await page.keyboard.press("Enter");
    assert.match(await dialog.getByRole("alert").textContent(), /The height must be a whole number from 1 to 4096/);
    assert.equal(await height.getAttribute("aria-invalid"), "true");
  }
  await page.keyboard.press("Escape");
  assert.equal(await dialog.isVisible(), false);
  assert.equal(await sizes.inputValue(), "");
  await sizes.selectOption("other");
  await width.fill("33");
  await height.fill("21");
  await page.keyboard.press("Enter");
  await settled(page);
  assert.deepEqual(await page.evaluate(() => r500.player.shown.view.size), [33, 21]);
  assert.equal(await sizes.inputValue(), "33x21");
  await context.close();
});

test("a heat map is there coarsely at once, can be stopped, and blocks nothing", async () => {
  const { page, context, complaints } = await visit(at);
  await page.getByRole("button", { name: "Examples" }).click();
  await page.getByRole("button", { name: /^mandelbrot/ }).click();
  await page.waitForFunction(() => r500.analysis.value?.name === "mandelbrot");
  await settled(page);
  await page.getByRole("tab", { name: "Step" }).click();
  await page.getByLabel("Heat map").selectOption("0");
  await page.waitForSelector(".heat:not([hidden])");
  assert.equal(await page.locator(".area-query .going").isVisible(), true);
  // A picture is drawn meanwhile: it waits for a moment of the query, not for all of it.
  const asked = await page.evaluate(async () => {
    const { view } = r500.player.shown;
    await r500.pool.draw({ ...view, size: [16, 16] });
    return document.querySelector(".area-query .going").checkVisibility();
  });
  assert.equal(asked, true);
  await page.getByRole("button", { name: "Stop" }).click();
  await page.waitForSelector(".area-query .going", { state: "hidden" });
  assert.match(await page.locator(".area-query .said").textContent(), /stopped, of \d+% of the pixels: black is 0/);
  assert.equal(await page.locator(".heat").isVisible(), true);
  assert.deepEqual(complaints, []);
  await context.close();
});

test("a heat map that is finished counts every pixel", async () => {
  const { page, context } = await visit(at);
  await type(page, PROGRAM.replace("SIZE 16 16", "SIZE 70 37"));
  await page.getByRole("tab", { name: "Step" }).click();
  await page.getByLabel("Heat map").selectOption("0");
  await page.waitForFunction(() => document.querySelector(".area-query .said").textContent.startsWith("black"));
  // MAX, LOOP, three times MAD and ENDLOOP, the output, alike everywhere.
  assert.match(await page.locator(".area-query .said").textContent(), /^black is 0, white 9; 9 on average$/);
  await page.getByLabel("Heat map").selectOption("1");
  await page.waitForFunction(() => /^black is 0, white 0; 0 on average$/.test(document.querySelector(".area-query .said").textContent));
  await context.close();
});
