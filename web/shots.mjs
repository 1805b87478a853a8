// Screenshots of the built page on the screens that its layout is made for, light and dark, for review before a release:
// node shots.mjs FOLDER [SCENE | WIDTHxHEIGHT]…

import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { quiet, settled, start, type, visit } from "./tests/page.mjs";

const folder = process.argv[2] ?? "shots";
mkdirSync(folder, { recursive: true });

const SCREENS = [[1024, 768], [1280, 720], [1366, 768], [1440, 900], [1920, 1080], [390, 844]];

const open = async (page, name) => {
  await page.getByRole("button", { name: "Examples" }).click();
  await page.getByRole("button", { name: new RegExp(`^${name}`) }).click();
  await page.waitForFunction((name) => r500.analysis.value?.name === name, name);
  await settled(page);
};

const openShader = async (page, name) => {
  await page.getByRole("button", { name: "Examples" }).click();
  await page.locator(".card", { has: page.getByText(name, { exact: true }) }).click();
  await page.waitForFunction((name) => r500.shader.text !== undefined && r500.source().name === name, name);
  await settled(page);
};

/** What is shown, by name: each begins with a first visit. */
const SCENES = {
  first: async () => {},
  lesson: async (page) => {
    await page.getByRole("button", { name: "Lesson 1", exact: true }).click();
    await page.waitForFunction(() => r500.analysis.value?.instructions.length === 1);
    await page.waitForFunction(() => /^Not solved/.test(document.querySelector("#lesson .verdict").textContent));
  },
  solved: async (page) => {
    await page.getByRole("button", { name: "Help" }).click();
    await page.getByRole("button", { name: /A loop that pixels leave/ }).click();
    await page.getByRole("button", { name: "Show a solution" }).click();
    await page.locator("#lesson.solved").waitFor();
    await page.locator(".frame").click();
    await page.waitForFunction(() => r500.stepper.moment.value !== undefined);
    await page.evaluate(() => r500.stepper.go({ how: "seek", position: 4 }));
  },
  error: async (page) => {
    const text = await page.evaluate(() => r500.editor.text);
    await type(page, text.replace("RSQ", "RSX").replace("FRC", "FCR"));
  },
  loop: async (page) => {
    await open(page, "march");
    await page.evaluate(async () => {
      const [width, height] = r500.transport.pixels;
      await r500.stepThrough([width >> 1, height >> 1]);
      r500.breakpoints.toggleAt(r500.stepper.run.value.addresses[30]);
      await r500.stepper.go({ how: "seek", position: 30 });
    });
  },
  compare: async (page) => {
    const text = await page.evaluate(() => r500.editor.text);
    await type(page, text.replace("SIN src0.b", "COS src0.b"));
    await page.getByRole("button", { name: "Compare" }).click();
    await page.locator("#compare select").selectOption({ label: "example: plasma" });
    await page.waitForFunction(() => document.querySelector("#compare .found").textContent !== "Comparing…");
  },
  shorter: async (page) => {
    await open(page, "saturn");
    await page.getByRole("button", { name: "Shorter" }).click();
    await page.waitForFunction(() => document.querySelector("#shorter .verdict").textContent !== "Searching…");
  },
  zoom: async (page) => {
    await page.locator(".frame").focus();
    for (let n = 0; n < 7; n++) await page.keyboard.press("+");
    await page.keyboard.press("ArrowRight");
  },
  glsl: async (page) => {
    await openShader(page, "sphere");
    await page.evaluate(() => r500.shader.editor.goTo(r500.shader.editor.text.indexOf("vec3 n = normal")));
  },
  "glsl-error": async (page) => {
    await openShader(page, "bricks");
    await page.evaluate(() => {
      const { view, text } = r500.shader.editor;
      const from = text.indexOf("smoothstep");
      view.dispatch({ changes: { from, to: from + 10, insert: "smoothstp" }, selection: { anchor: from + 4 }, scrollIntoView: true, userEvent: "input.type" });
    });
  },
  "glsl-step": async (page) => {
    await openShader(page, "sphere");
    await page.evaluate(() => r500.stepThrough([120, 120], 12));
  },
  step: async (page) => page.evaluate(() => r500.stepThrough([127, 127], 5)),
  help: async (page) => page.getByRole("button", { name: "Help" }).click(),
  gallery: async (page) => page.getByRole("button", { name: "Examples" }).click(),
  constants: async (page) => {
    await open(page, "saturn");
    await page.getByRole("tab", { name: "Constants" }).click();
  },
  encoding: async (page) => {
    await page.getByRole("tab", { name: "Encoding" }).click();
    await page.evaluate(() => r500.editor.goTo(r500.editor.text.indexOf("OUT"), false));
  },
};

const only = process.argv.slice(3);
const at = await start();
for (const [width, height] of SCREENS) {
  for (const colorScheme of ["light", "dark"]) {
    for (const [name, show] of Object.entries(SCENES)) {
      if (only.length > 0 && !only.includes(name) && !only.includes(`${width}x${height}`)) continue;
      const { page, context } = await visit(at, { viewport: { width, height }, colorScheme });
      await settled(page);
      await show(page);
      await quiet(page);
      await page.screenshot({ path: join(folder, `${name}-${width}x${height}-${colorScheme}.png`) });
      await context.close();
    }
  }
}
await at.stop();
