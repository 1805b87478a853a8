// What a newcomer meets on the way: history, ranges of sliders, refused breakpoints, messages that end, lists that say where they stop.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { quiet, settled, start, type, visit } from "./page.mjs";

let at;
before(async () => (at = await start()));
after(async () => await at?.stop());

const PROGRAM = "SIZE 8 8 ;\nconst[0] = (0.25, -3, 0, 1) ;\nOUT LAST src0.rgb = const[0] : out[0].rgb = MAX src0.rgb src0.rgb ;\n";
const OTHER = "SIZE 4 4 ;\nOUT LAST src0.rgb = temp[0] : out[0].rgb = MAD src0.rgb src0.111 src0.000 ;\n";
const text = (page) => page.evaluate(() => r500.editor.text);
const holds = (page, wanted) => page.waitForFunction((wanted) => r500.editor.text === wanted, wanted);
const said = (page) => page.locator("#said").textContent();

test("Back in the browser returns to the program before, with its edits, and Forward to the next", async () => {
  const { page, context, complaints } = await visit(at);
  const plasma = await text(page);
  await page.evaluate((text) => void r500.open({ name: "one", text, files: [] }), PROGRAM);
  await holds(page, PROGRAM);
  await settled(page);
  const edited = `${PROGRAM}-- an edit\n`;
  await type(page, edited);
  await page.evaluate((text) => void r500.open({ name: "two", text, files: [] }), OTHER);
  await holds(page, OTHER);
  await page.goBack();
  await holds(page, edited);
  assert.equal(await page.evaluate(() => r500.source().name), "one");
  await page.goBack();
  await holds(page, plasma);
  await page.goForward();
  await holds(page, edited);
  await page.goForward();
  await holds(page, OTHER);
  // A link is a program, too; after a reload, the entries are still there.
  await page.getByRole("button", { name: "Copy link" }).click();
  await page.waitForFunction(() => location.hash.startsWith("#1."));
  await page.reload();
  await page.waitForFunction(() => globalThis.r500?.analysis.value !== undefined);
  await holds(page, OTHER);
  await page.goBack();
  await holds(page, edited);
  assert.equal(await page.evaluate(() => location.hash), "");
  assert.deepEqual(complaints, []);
  await context.close();
});

test("sliders reach as far below 0 as above, by a range that is shown and can be set", async () => {
  const { page, context } = await visit(at);
  await type(page, PROGRAM);
  const sliders = page.locator("#pane-constants input[type=range]");
  const ends = () => sliders.evaluateAll((all) => all.map(({ min, max, value }) => [Number(min), Number(max), Number(value)]));
  assert.deepEqual(await ends(), [[-8, 8, 0.25], [-8, 8, -3], [-8, 8, 0], [-8, 8, 1]]);
  const range = page.getByLabel("Range of the sliders of const[0]");
  assert.equal(await range.inputValue(), "8");
  await range.fill("20");
  await range.press("Tab");
  assert.deepEqual((await ends())[1], [-20, 20, -3]);
  // A value outside of the range widens it.
  const field = page.getByLabel("const[0] (const[0]) g, exactly");
  await field.fill("-50");
  await field.press("Enter");
  await page.waitForFunction(() => r500.editor.text.includes("-50"));
  await quiet(page);
  assert.deepEqual((await ends())[1], [-128, 128, -50]);
  await context.close();
});

test("a breakpoint whose condition is wrong is refused when it is added, with the nearest name", async () => {
  const { page, context } = await visit(at);
  await type(page, PROGRAM);
  await page.getByRole("tab", { name: "Step" }).click();
  const condition = page.getByLabel("Condition of a breakpoint");
  const count = () => page.evaluate(() => r500.breakpoints.all.value.length);
  await condition.fill("tmp[2].r is nan");
  await condition.press("Enter");
  await page.waitForFunction(() => /did you mean `temp`\?/.test(document.querySelector(".breaks .error").textContent));
  assert.equal(await count(), 0);
  assert.equal(await condition.inputValue(), "tmp[2].r is nan");
  await condition.fill("temp[2].r is nan");
  assert.equal(await page.locator(".breaks .error").textContent(), "");
  await condition.press("Enter");
  await page.waitForFunction(() => r500.breakpoints.all.value.length === 1);
  // A value alone is refused as a condition, but its changes can stop.
  await condition.fill("temp[1]");
  await condition.press("Enter");
  await page.waitForFunction(() => /compare it/.test(document.querySelector(".breaks .error").textContent));
  await page.getByLabel("Kind of breakpoint").selectOption("changes");
  await condition.press("Enter");
  await page.waitForFunction(() => r500.breakpoints.all.value.length === 2);
  await context.close();
});

test("an error of the Step pane ends with the program that it was about", async () => {
  const { page, context } = await visit(at);
  await type(page, PROGRAM);
  await page.getByRole("tab", { name: "Step" }).click();
  await page.evaluate(() => (r500.stepper.failed.value = "stopped: no answer after 15 seconds"));
  assert.equal(await page.locator(".step > .empty").textContent(), "stopped: no answer after 15 seconds");
  await page.evaluate((text) => r500.open({ name: "other", text, files: [] }), OTHER);
  await page.waitForFunction(() => /^Click a pixel/.test(document.querySelector(".step > .empty").textContent));
  await context.close();
});

test("what is said ends when the text changes, or another program is opened", async () => {
  const { page, context } = await visit(at);
  await type(page, OTHER);
  for (const end of [() => page.keyboard.insertText("-- x\n"), () => page.evaluate((text) => r500.open({ name: "x", text, files: [] }), PROGRAM)]) {
    await page.getByRole("button", { name: "Copy link" }).click();
    await page.waitForFunction(() => /link/.test(document.querySelector("#said.shown")?.textContent ?? ""));
    await page.locator(".cm-content").focus();
    await end();
    await page.waitForFunction(() => document.querySelector("#said.shown") === null);
    assert.equal(await said(page), "");
  }
  await context.close();
});

test("Fix all is there if something can be fixed; a long list says how much it leaves out", async () => {
  const { page, context } = await visit(at);
  await settled(page);
  const fixAll = page.getByRole("button", { name: "Fix all" });
  assert.equal(await fixAll.isVisible(), false);
  await type(page, "TEXTURE tex[0] = checker(8, 8, 2) ;\nTEX temp[1].rgba = LD tex[0].rgba temp[0].rgba ;\nOUT LAST src0.rgb = temp[1] : out[0].rgb = MAX src0.rgb src0.rgb, out[0].a = MAX src0.1 src0.1 ;\n");
  await quiet(page);
  assert.equal(await fixAll.isVisible(), true);
  await fixAll.click();
  await quiet(page);
  assert.equal(await fixAll.isVisible(), false);
  await type(page, "src0.rgb = nothing : ;\n".repeat(203));
  await quiet(page);
  const total = await page.evaluate(() => r500.analysis.value.diagnostics.length);
  assert.ok(total > 201);
  assert.equal(await page.locator("#problems li").count(), 200);
  assert.match(await page.locator("#problems .more").last().textContent(), new RegExp(`^${total - 200} more problems are not listed`));
  await page.getByRole("button", { name: "List all" }).click();
  assert.equal(await page.locator("#problems li").count(), total);
  assert.equal(await page.locator("#problems .more").last().isVisible(), false);
  // A row is as high as its text: the style of the help dialog is not for it.
  const height = await page.locator("#problems li").first().evaluate((row) => row.getBoundingClientRect().height);
  assert.ok(height < 60, `${height}`);
  await context.close();
});

test("Tab leaves the editor after Esc, however long ago, and the page says so", async () => {
  const { page, context } = await visit(at);
  await type(page, OTHER);
  assert.match(await page.locator("#problems .leave").last().textContent(), /Esc, then Tab leaves/);
  assert.match(await page.locator(".cm-content").getAttribute("aria-description"), /Esc, then Tab leaves/);
  await page.keyboard.press("Tab");
  assert.equal(await text(page), `${OTHER}    `);
  const inside = () => page.evaluate(() => document.activeElement.closest(".cm-content") !== null);
  assert.equal(await inside(), true);
  await page.keyboard.press("Escape");
  await page.waitForTimeout(2500);
  await page.keyboard.press("Tab");
  assert.equal(await inside(), false);
  assert.equal(await text(page), `${OTHER}    `);
  // Typing ends it.
  await page.locator(".cm-content").focus();
  await page.keyboard.press("Escape");
  await page.keyboard.insertText("x");
  await page.keyboard.press("Tab");
  assert.equal(await inside(), true);
  await context.close();
});

test("a new program begins at its upper left", async () => {
  const { page, context } = await visit(at);
  await page.addStyleTag({ content: ".cm-content { min-width: 4000px }" });
  await page.evaluate((text) => r500.open({ name: "long", text, files: [] }), `${OTHER}\n`.repeat(60));
  await page.evaluate(() => document.querySelector(".cm-scroller").scrollTo(900, 500));
  assert.ok(await page.evaluate(() => document.querySelector(".cm-scroller").scrollLeft > 0));
  await page.evaluate((text) => r500.open({ name: "other", text, files: [] }), OTHER);
  assert.deepEqual(await page.evaluate(() => [document.querySelector(".cm-scroller").scrollLeft, document.querySelector(".cm-scroller").scrollTop]), [0, 0]);
  await context.close();
});

test("a program that reaches the instruction limit has a control of it in the message", async () => {
  const { page, context } = await visit(at);
  // 255 x 255 x 20 iterations of a few instructions.
  await type(page, "SIZE 4 4 ;\nFULL_FC_EN ;\nint[0] = (255, 0, 1) ;\nint[1] = (20, 0, 1) ;\n: temp[1].rgb = MAD src0.000 src0.000 src0.000 ;\nLOOP int[1] ;\nLOOP int[0] ;\nLOOP int[0] ;\n: temp[1].rgb = MAD src0.111 src0.111 src0.000 ;\nENDLOOP ;\nENDLOOP ;\nENDLOOP ;\nOUT LAST src0.rgb = temp[1] : out[0].rgb = MAX src0.rgb src0.rgb ;\n");
  const limit = page.getByLabel("Instruction limit");
  await limit.waitFor();
  assert.match(await page.locator(".badge").textContent(), /raise the instruction limit/);
  await limit.selectOption("10000000");
  await page.waitForFunction(() => document.querySelector("#stage.stale") === null);
  assert.equal(await page.evaluate(async () => (await r500.values(0))[0]), 1);
  // The next program has the usual limit.
  await page.evaluate((text) => r500.open({ name: "endless", text, files: [] }), "SIZE 4 4 ;\n@again FC JUMP JUMP_FUNC(0xff) -> @again ;\nOUT LAST : out[0].rgb = MAX src0.111 src0.111 ;\n");
  await limit.waitFor();
  assert.equal(await limit.inputValue(), "1000000");
  await context.close();
});

for (const [width, height] of [[1440, 900], [1280, 720], [1024, 768], [390, 844]]) {
  test(`nothing lies over the picture, no tab is cut, and the header does not touch, at ${width}x${height}`, async () => {
    const { page, context } = await visit(at, { viewport: { width, height } });
    await page.getByRole("button", { name: "Close the introduction" }).click();
    await type(page, OTHER);
    await page.evaluate((text) => r500.open({ name: "a program with a name that is long", text, files: [] }), PROGRAM);
    await settled(page);
    const wrong = await page.evaluate(() => {
      const found = [];
      const box = (selector) => document.querySelector(selector).getBoundingClientRect();
      const apart = (a, b) => a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
      const frame = box(".frame");
      for (const control of document.querySelectorAll("#stage button, #stage input, #stage output")) {
        if (control.checkVisibility() && !control.closest(".frame") && !apart(control.getBoundingClientRect(), frame)) found.push(`over the picture: ${control.outerHTML.slice(0, 60)}`);
      }
      const panes = box("#panes");
      for (const tab of document.querySelectorAll("[role=tab]")) {
        const { left, right } = tab.getBoundingClientRect();
        if (left < panes.left || right > panes.right) found.push(`cut: ${tab.textContent}`);
      }
      const header = [...document.querySelectorAll("body > header > *")].filter((one) => one.checkVisibility());
      header.forEach((a, n) => header.slice(n + 1).forEach((b) => {
        const [one, two] = [a.getBoundingClientRect(), b.getBoundingClientRect()];
        if (!apart({ left: one.left - 4, right: one.right + 4, top: one.top, bottom: one.bottom }, two)) found.push(`${a.id || a.tagName} touches ${b.id || b.tagName}`);
      }));
      return found;
    });
    assert.deepEqual(wrong, []);
    const unlabelled = await page.evaluate(() =>
      [...document.querySelectorAll("#stage input, #transport input, #transport select, .area-query input, .area-query select, .breaks select")]
        .filter((one) => one.checkVisibility() && (one.closest("label")?.textContent.trim() ?? "") === "")
        .map((one) => one.outerHTML.slice(0, 80)),
    );
    assert.deepEqual(unlabelled, [], "boxes have visible labels");
    await context.close();
  });
}
