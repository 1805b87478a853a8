// The page in other pages: what is left of it, the way to the whole page, the frame that Save makes; and the gallery's order.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";

import { settled, start, values, visit } from "./page.mjs";

let at;
before(async () => (at = await start()));
after(async () => await at?.stop());

const shown = (page, selector) => page.locator(selector).first().isVisible();

test("an embedded page is the picture with its controls, and opens the whole page with the program", async () => {
  const { page, context, complaints } = await visit(at, { fragment: "&embed" });
  await settled(page);
  assert.deepEqual(
    await Promise.all(["body > header", "#program", "#panes", "#intro", "#stage canvas", "#transport"].map((part) => shown(page, part))),
    [false, false, false, false, true, true],
  );
  assert.equal((await values(page)).length > 0, true);
  // Nothing scrolls, however small the frame is, and most of it is the picture.
  for (const size of [{ width: 640, height: 480 }, { width: 320, height: 240 }]) {
    await page.setViewportSize(size);
    const overflow = await page.evaluate(() => [document.documentElement.scrollWidth - innerWidth, document.documentElement.scrollHeight - innerHeight]);
    assert.deepEqual(overflow.map((pixels) => Math.max(pixels, 0)), [0, 0]);
    const box = await page.locator("#stage").boundingBox();
    assert.equal(box.width === size.width && box.height > 0.7 * size.height, true, JSON.stringify(box));
  }
  const [whole] = await Promise.all([context.waitForEvent("page"), page.getByRole("button", { name: "Open in r500" }).click()]);
  await whole.waitForFunction(() => globalThis.r500?.analysis.value !== undefined);
  assert.equal(await whole.evaluate(() => r500.editor.text), await page.evaluate(() => r500.editor.text));
  assert.equal(await shown(whole, "body > header"), true);
  assert.equal(new URL(whole.url()).search, "");
  assert.deepEqual(complaints, []);
  await context.close();
});

test("a pixel of an embedded page is stepped through in the whole page", async () => {
  const { page, context } = await visit(at, { fragment: "&embed" });
  await settled(page);
  const [whole] = await Promise.all([context.waitForEvent("page"), page.locator("#stage canvas").first().click()]);
  await whole.waitForFunction(() => globalThis.r500?.stepper?.moment.value !== undefined);
  assert.equal(await whole.evaluate(() => r500.tabs.shown.value), "step");
  await context.close();
});

test("with the program next to the picture, which can be edited, and no draft is left", async () => {
  const { page, context } = await visit(at, { fragment: "&embed=code" });
  assert.deepEqual(await Promise.all(["body > header", "#editor", "#stage canvas", "#problems"].map((part) => shown(page, part))), [false, true, true, false]);
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText("SIZE 4 4 ;\nOUT LAST src0.rgb = temp[0] : out[0].rgb = MAX src0.rgb src0.rgb ;\n");
  await settled(page);
  await page.evaluate(() => dispatchEvent(new Event("pagehide")));
  assert.equal(await page.evaluate(() => localStorage.length), 0);
  await context.close();
});

test("the page runs where the browser refuses storage", async () => {
  const refuse = (context) =>
    context.addInitScript(() => {
      for (const name of ["localStorage", "sessionStorage"]) {
        Object.defineProperty(globalThis, name, {
          get() {
            throw new DOMException("refused", "SecurityError");
          },
        });
      }
    });
  const { page, context, complaints } = await visit(at, { before: refuse });
  await settled(page);
  assert.equal(await shown(page, "#intro"), true);
  await page.getByRole("button", { name: "Close the introduction" }).click();
  assert.deepEqual(complaints, []);
  await context.close();
});

test("Save makes a frame for other pages, which shows the program", async () => {
  const { page, context } = await visit(at);
  await settled(page);
  await page.getByRole("button", { name: "Save" }).click();
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("menuitem", { name: "Embedding" }).click()]);
  const html = await readFile(await download.path(), "utf8");
  const source = /<iframe src="([^"]*)"/.exec(html)?.[1].replaceAll("&amp;", "&");
  assert.equal(source?.includes("?embed#1."), true, html);
  const other = await context.newPage();
  await other.goto(source);
  await other.waitForFunction(() => globalThis.r500?.analysis.value !== undefined);
  assert.equal(await other.evaluate(() => r500.source().name), await page.evaluate(() => r500.source().name));
  await context.close();
});

test("the gallery begins with what is easy", async () => {
  const { page, context } = await visit(at);
  await page.getByRole("button", { name: "Examples" }).click();
  const titles = await page.locator("#gallery section:not(.drafts) h3").allTextContents();
  assert.deepEqual(titles, ["Easy", "For those who know the basics", "Advanced", "New"]);
  const easy = await page.locator("#gallery section[aria-label=Easy] .card b").allTextContents();
  assert.deepEqual(easy, ["dissolve", "mandelbrot", "plasma", "ripple", "trails", "triangle"]);
  await context.close();
});
