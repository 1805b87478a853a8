// Who has no pointer, or does not see the page: names, the order of the keyboard, narrow screens.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import axe from "axe-core";

import { quiet, settled, start, visit } from "./page.mjs";
import { STATES, reach } from "./states.mjs";

let at;
before(async () => (at = await start()));
after(async () => await at?.stop());

const TABS = ["Constants", "Textures", "Encoding", "Step", "Flow", "Numbers"];

/** Controls that are shown and have no name that a screen reader could read. */
const nameless = (page) =>
  page.evaluate(() => {
    const controls = document.querySelectorAll("button, input, select, a[href], [role=button], [role=tab], [tabindex='0']");
    return [...controls]
      .filter((one) => one.checkVisibility() && !one.closest(".cm-editor"))
      .filter((one) => {
        const label = one.getAttribute("aria-label") ?? "";
        const by = document.getElementById(one.getAttribute("aria-labelledby") ?? "")?.textContent ?? "";
        const own = one.matches("input, select") ? [...(one.labels ?? [])].map((of) => of.textContent).join("") : (one.textContent ?? "");
        return `${label}${by}${own}`.trim() === "";
      })
      .map((one) => one.outerHTML.slice(0, 120));
  });

test("every control has a name", async () => {
  const { page, context } = await visit(at);
  await settled(page);
  await page.locator(".frame").click();
  await page.waitForFunction(() => r500.stepper.moment.value !== undefined);
  await page.evaluate(() => r500.editor.goTo(r500.editor.text.indexOf("RSQ"), false));
  for (const name of TABS) {
    await page.getByRole("tab", { name }).click();
    await quiet(page);
    assert.deepEqual(await nameless(page), [], name);
  }
  await context.close();
});

/** What axe finds on a page, a line for each rule that is broken. */
async function violations(page) {
  await page.evaluate(axe.source);
  const { violations, passes } = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
  assert.ok(passes.length > 10, "axe looked");
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target, any }) => `${target.join(" ")} (${any[0]?.message ?? ""})`).join(", ")}`);
}

/** What axe is shown: width of the page, and colours. */
const LOOKS = [[1280, "light"], [1280, "dark"], [390, "light"], [390, "dark"]];

/** Checks a page with each look. */
async function checkLooks(page, where) {
  for (const [width, colorScheme] of LOOKS) {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme });
    await quiet(page);
    assert.deepEqual(await violations(page), [], `${where}: ${colorScheme}, ${width} pixels wide`);
  }
}

for (const [name, { show: _, ...options }] of Object.entries(STATES)) {
  test(`axe finds no problems in the state "${name}", light and dark, wide and narrow`, async () => {
    const { page, context } = await visit(at, options);
    await reach(page, name);
    await checkLooks(page, name);
    await context.close();
  });
}

test("axe finds no problems in any tab while a pixel is stepped, with a breakpoint", async () => {
  const { page, context } = await visit(at);
  await reach(page, "step");
  await page.evaluate(() => r500.editor.goTo(r500.editor.text.indexOf("RSQ"), false));
  await page.keyboard.press("F9");
  for (const name of TABS) {
    await page.getByRole("tab", { name }).click();
    await checkLooks(page, name);
  }
  await context.close();
});

test("the keyboard alone reaches everything and steps through a pixel", async () => {
  const { page, context } = await visit(at);
  await settled(page);
  const reached = new Set();
  for (let n = 0; n < 80; n++) {
    await page.keyboard.press("Tab");
    const where = await page.evaluate(() => {
      const { activeElement } = document;
      // The editor keeps Tab for itself; Escape and Tab leave it, as it says.
      if (activeElement.closest(".cm-content")) return "editor";
      return activeElement.id || activeElement.getAttribute("aria-label") || activeElement.className || activeElement.textContent;
    });
    reached.add(where);
    if (where === "editor") await page.keyboard.press("Escape");
  }
  for (const wanted of ["examples", "open", "save", "compare-button", "shorter-button", "link", "help-button", "theme", "editor", "splitter", "splitter-rows", "Red channel", "Full screen", "Play", "Time in seconds", "Size of the picture", "tab-constants", "pane-constants"]) {
    assert.ok(reached.has(wanted), `${wanted} among ${[...reached].join(" | ")}`);
  }
  await page.locator(".frame").focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Shift+ArrowUp");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => r500.stepper.moment.value !== undefined);
  assert.deepEqual(await page.evaluate(() => r500.stepper.moment.value.pixel), [129, 136]);
  await page.locator("#tab-step").focus();
  await page.keyboard.press("Tab");
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => r500.stepper.moment.value.position === 1);
  await page.locator("#tab-step").focus();
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.evaluate(() => r500.tabs.shown.value), "flow");
  await page.locator("#save").focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("ArrowDown");
  assert.match(await page.evaluate(() => document.activeElement.textContent), /^Binary/);
  await page.keyboard.press("Escape");
  assert.equal(await page.evaluate(() => document.activeElement.id), "save");
  await context.close();
});

test("on a phone nothing is wider than the screen", async () => {
  const { page, context } = await visit(at, { viewport: { width: 360, height: 740 } });
  await settled(page);
  await page.locator(".frame").click();
  await page.waitForFunction(() => r500.stepper.moment.value !== undefined);
  for (const name of TABS) {
    await page.getByRole("tab", { name }).click();
    await quiet(page);
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= 360, `${name}: ${width}`);
  }
  await context.close();
});
