// Nothing lies over anything else: the Step pane on every screen, in every example, step by step.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import { settled, start, visit } from "./page.mjs";

const folder = join(fileURLToPath(new URL(".", import.meta.url)), "../../examples");
const EXAMPLES = readdirSync(folder).filter((name) => name.endsWith(".r5"));
const SCREENS = [[1280, 720], [1366, 768], [1440, 900], [1920, 1080], [390, 844]];
const STEPS = 20;

let at;
before(async () => (at = await start()));
after(async () => await at?.stop());

/** Steps through the run that is recorded; reports which parts of the pane overlap, and where. */
const overlaps = (page, steps) =>
  page.evaluate(async (steps) => {
    const found = new Set();
    /** What an element covers: itself, and what sticks out of it. */
    const extent = (element) => {
      const { left, top, right, bottom } = element.getBoundingClientRect();
      const own = [left, top, right, bottom];
      if (getComputedStyle(element).overflow !== "visible" || element instanceof SVGElement) return own;
      return [...element.children].filter((child) => child.checkVisibility()).map(extent).reduce((a, b) => [Math.min(a[0], b[0]), Math.min(a[1], b[1]), Math.max(a[2], b[2]), Math.max(a[3], b[3])], own);
    };
    const name = (element) => `${element.tagName.toLowerCase()}${element.className ? `.${String(element.className).replaceAll(" ", ".")}` : ""}`;
    const compare = (parent, step) => {
      // What lies over something by intent says so by its position; words of a line that wraps have one box around all of it.
      const counts = (child) => child.checkVisibility() && !["absolute", "fixed"].includes(getComputedStyle(child).position) && getComputedStyle(child).display !== "inline";
      const children = [...parent.children].filter(counts);
      const extents = children.map(extent);
      extents.forEach((a, n) =>
        extents.slice(n + 1).forEach((b, m) => {
          const [wide, high] = [Math.min(a[2], b[2]) - Math.max(a[0], b[0]), Math.min(a[3], b[3]) - Math.max(a[1], b[1])];
          if (wide > 1 && high > 1) found.add(`step ${step}: ${name(children[n])} over ${name(children[n + 1 + m])} by ${wide.toFixed(0)}x${high.toFixed(0)}`);
        }),
      );
      children.filter((child) => !(child instanceof HTMLTableElement)).forEach((child) => compare(child, step));
    };
    const pane = document.getElementById("pane-step");
    for (let step = 0; step <= steps; step++) {
      pane.scrollTop = 0;
      compare(pane, step);
      if (pane.scrollWidth > pane.clientWidth) found.add(`step ${step}: wider than the pane by ${pane.scrollWidth - pane.clientWidth}`);
      await r500.stepper.go({ how: "step" });
    }
    return [...found];
  }, steps);

for (const [width, height] of SCREENS) {
  test(`the parts of the Step pane do not overlap at ${width}x${height}`, async () => {
    const { page, context } = await visit(at, { viewport: { width, height } });
    const found = {};
    for (const name of EXAMPLES) {
      await page.evaluate((source) => r500.open(source), { name, text: readFileSync(join(folder, name), "utf8"), files: [] });
      await settled(page);
      await page.evaluate(() => {
        const [width, height] = r500.transport.pixels;
        return r500.stepThrough([width >> 1, height >> 1]);
      });
      await page.waitForFunction((text) => r500.stepper.run.value?.source.text === text, readFileSync(join(folder, name), "utf8"));
      const overlapping = await overlaps(page, STEPS);
      if (overlapping.length > 0) found[name] = overlapping.slice(0, 6);
    }
    assert.deepEqual(found, {});
    await context.close();
  });
}

test("a part of the Step pane that is pushed over its neighbour is found", async () => {
  const { page, context } = await visit(at);
  await page.evaluate(() => r500.stepThrough([9, 9]));
  await page.waitForFunction(() => r500.stepper.moment.value !== undefined);
  assert.deepEqual(await overlaps(page, 0), []);
  await page.addStyleTag({ content: ".step .now { position: relative; top: 300px }" });
  assert.notDeepEqual(await overlaps(page, 0), []);
  await context.close();
});
