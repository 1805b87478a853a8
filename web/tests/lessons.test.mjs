// The first visit, and the lessons: what is shown once, what turns green, what fits.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import { lessons } from "../lessons.mjs";
import { quiet, settled, start, visit } from "./page.mjs";

const examples = join(fileURLToPath(new URL(".", import.meta.url)), "../../examples");

let at;
before(async () => (at = await start()));
after(async () => await at?.stop());

const intro = (page) => page.locator("#intro");
const begin = async (page, n) => {
  await page.getByRole("button", { name: "Help" }).click();
  await page.locator(".lessons button").nth(n).click();
  await page.waitForFunction((name) => r500.source().name === name && r500.analysis.value?.expects, lessons()[n].name);
};
/** Waits for a verdict that contains a text. */
const verdict = (page, text) => page.waitForFunction((text) => document.querySelector("#lesson .verdict").textContent.includes(text), text);

test("the first visit says what this is and that pixels can be clicked, once", async () => {
  const { page, context } = await visit(at);
  assert.match(await intro(page).textContent(), /Radeon R500.*click any pixel to step through its run/);
  assert.equal(await page.locator(".invitation").count(), 1);
  await page.reload();
  await page.waitForFunction(() => globalThis.r500?.analysis.value !== undefined);
  assert.equal(await intro(page).isVisible(), true, "until it was dismissed");
  await page.getByRole("button", { name: "Close the introduction" }).click();
  assert.equal(await intro(page).isVisible(), false);
  await page.reload();
  await page.waitForFunction(() => globalThis.r500?.analysis.value !== undefined);
  assert.equal(await intro(page).isVisible(), false);
  assert.equal(await page.locator(".invitation").count(), 0);
  await context.close();
});

test("a click on a pixel ends the introduction for good; its buttons step and begin the first lesson", async () => {
  const { page, context } = await visit(at);
  await settled(page);
  await page.locator(".frame").click();
  await page.waitForFunction(() => r500.stepper.moment.value !== undefined);
  assert.equal(await intro(page).isVisible(), false);
  await page.reload();
  await page.waitForFunction(() => globalThis.r500?.analysis.value !== undefined);
  assert.equal(await intro(page).isVisible(), false);
  await context.close();
  const other = await visit(at);
  await settled(other.page);
  await other.page.getByRole("button", { name: "Step through a pixel" }).click();
  await other.page.waitForFunction(() => r500.stepper.moment.value !== undefined);
  await other.context.close();
  const third = await visit(at);
  await third.page.getByRole("button", { name: "Lesson 1", exact: true }).click();
  await third.page.waitForFunction(() => r500.source().name === "lesson-red");
  assert.equal(await intro(third.page).isVisible(), false);
  await third.context.close();
});

test("the note on the picture goes when a pixel is chosen without a click", async () => {
  const { page, context } = await visit(at);
  await settled(page);
  await page.evaluate(() => r500.stepThrough([10, 20]));
  await page.waitForFunction(() => r500.stepper.moment.value !== undefined);
  assert.equal(await page.locator(".invitation").count(), 0);
  assert.equal(await intro(page).isVisible(), true, "it was not dismissed");
  await context.close();
});

test("no line of an example is cut: the editor wraps", async () => {
  for (const [width, height] of [[1280, 720], [390, 844]]) {
    const { page, context } = await visit(at, { viewport: { width, height } });
    for (const name of readdirSync(examples).filter((name) => name.endsWith(".r5"))) {
      await page.evaluate((text) => void r500.open({ name: "example", text, files: [] }), readFileSync(join(examples, name), "utf8"));
      const [wide, room] = await page.evaluate(async () => {
        await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
        const { scrollWidth, clientWidth } = document.querySelector(".cm-scroller");
        return [scrollWidth, clientWidth];
      });
      assert.ok(wide <= room, `${name} at ${width}: ${wide} in ${room}`);
    }
    await context.close();
  }
});

test("at 1280x720 nothing of the first lesson is cut", async () => {
  const { page, context } = await visit(at, { viewport: { width: 1280, height: 720 } });
  await begin(page, 0);
  await verdict(page, "Not solved yet: 0 of 1");
  await quiet(page);
  const cut = await page.evaluate(() => {
    const found = [];
    for (const selector of ["#lesson", "#lesson .text", "#lesson header", "#lesson footer", ".cm-scroller", "#problems", "#pane-constants", ".tabs", "#transport", ".looks", "body"]) {
      const element = document.querySelector(selector);
      const { scrollWidth, clientWidth, scrollHeight, clientHeight } = element;
      // Below the last line, the editor has room to scroll.
      if (scrollWidth > clientWidth || (selector !== ".cm-scroller" && scrollHeight > clientHeight)) found.push(`${selector}: ${scrollWidth}x${scrollHeight} in ${clientWidth}x${clientHeight}`);
    }
    const last = [...document.querySelectorAll(".cm-line")].at(-1).getBoundingClientRect();
    const editor = document.querySelector("#editor").getBoundingClientRect();
    if (last.bottom > editor.bottom) found.push("the last line");
    return found;
  });
  assert.deepEqual(cut, []);
  await context.close();
});

test("each lesson is red as it begins and green when it is solved, one after the other", async () => {
  const all = lessons();
  assert.ok(all.length >= 10);
  const { page, context, complaints } = await visit(at);
  await begin(page, 0);
  for (const [n, { name, title, solution }] of all.entries()) {
    await page.waitForFunction((name) => r500.source().name === name, name);
    // A scene is shown when the virtual card is loaded.
    await page.waitForFunction((title) => document.querySelector("#lesson h2").textContent === title, `Lesson ${n + 1} of ${all.length}: ${title}`);
    await verdict(page, "Not solved yet");
    // The editor has the lines in view only.
    const fails = page.locator(".cm-verdict.fails");
    if ((await fails.count()) === 0) await page.evaluate(() => (document.querySelector("#editor .cm-scroller, .cm-scroller").scrollTop = 1e6));
    await fails.first().waitFor({ state: "attached" });
    assert.deepEqual(await page.locator("#problems li").allTextContents(), [], title);
    await page.getByRole("button", { name: "Show a solution" }).click();
    assert.equal(await page.evaluate(() => r500.editor.text), solution);
    await verdict(page, "✓ Solved");
    assert.equal(await page.locator(".cm-verdict.fails").count(), 0, title);
    assert.deepEqual(await page.locator("#problems li").allTextContents(), [], title);
    const next = page.getByRole("button", { name: "Next ›" });
    assert.equal(await next.isDisabled(), n === all.length - 1);
    if (n < all.length - 1) await next.click();
  }
  await page.getByRole("button", { name: "Help" }).click();
  assert.equal(await page.locator(".lessons button.solved").count(), all.length);
  assert.deepEqual(complaints, []);
  await context.close();
});

test("a lesson keeps the attempt, begins again, goes back, and says what is in the way", async () => {
  const { page, context } = await visit(at);
  const [first, second] = lessons();
  await begin(page, 1);
  await verdict(page, "Not solved yet: 0 of 2");
  await page.evaluate(() => {
    const from = r500.editor.text.indexOf("EXPECT");
    r500.editor.apply([{ from, to: r500.editor.text.indexOf("\n", from), text: "-- mine" }]);
  });
  await verdict(page, "An EXPECT line is missing");
  await page.evaluate(() => r500.editor.apply([{ from: 0, to: 4, text: "SIEZ" }]));
  await verdict(page, "does not assemble");
  await page.getByRole("button", { name: "‹ Back", exact: true }).click();
  await page.waitForFunction((name) => r500.source().name === name, first.name);
  assert.equal(await page.getByRole("button", { name: "‹ Back", exact: true }).isDisabled(), true);
  await page.getByRole("button", { name: "Next ›" }).click();
  await page.waitForFunction(() => /-- mine/.test(r500.editor.text));
  await verdict(page, "does not assemble");
  await page.getByRole("button", { name: "Start again" }).click();
  assert.equal(await page.evaluate(() => r500.editor.text), second.program);
  await page.getByRole("button", { name: "Close the lesson" }).click();
  assert.equal(await page.locator("#lesson").isVisible(), false);
  // Another program has no lesson.
  await begin(page, 0);
  await page.evaluate(() => r500.open({ name: "other", text: "SIZE 4 4 ;\nOUT : out[0].rgb = MAX src0.111 src0.111 ;\n", files: [] }));
  assert.equal(await page.locator("#lesson").isVisible(), false);
  await context.close();
});

test("the lesson from GLSL compiles its shader, which draws what the task wants", async () => {
  const { page, context } = await visit(at);
  const n = lessons().findIndex(({ glsl }) => glsl !== null);
  await begin(page, n);
  await page.getByRole("button", { name: "Compile this GLSL" }).click();
  await page.waitForFunction(() => r500.source().name !== "lesson-glsl" && r500.analysis.value?.ok);
  await settled(page);
  const corner = await page.evaluate(async () => {
    const [width] = r500.transport.pixels;
    return [...(await r500.values(0)).slice((width - 1) * 4, width * 4)];
  });
  const u = 1 - 0.5 / (await page.evaluate(() => r500.transport.pixels[0]));
  assert.deepEqual(corner, [u, u / 2, 0, 1]);
  await context.close();
});
