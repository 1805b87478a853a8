// What the page can show, by name: its screenshots and the search for problems of accessibility go through all of it.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { drop, quiet, settled, type } from "./page.mjs";

const root = join(fileURLToPath(new URL(".", import.meta.url)), "../..");
const file = (path) => readFileSync(join(root, path));

const button = (page, name) => page.getByRole("button", { name, exact: true });

/** Opens an example that is assembly. */
const openExample = async (page, name) => {
  await button(page, "Examples").click();
  await page.getByRole("button", { name: new RegExp(`^${name}`) }).click();
  await page.waitForFunction((name) => r500.analysis.value?.name === name, name);
  await settled(page);
};

/** Opens an example in GLSL. */
const openShader = async (page, name) => {
  await button(page, "Examples").click();
  await page.locator(".card", { has: page.getByText(name, { exact: true }) }).click();
  await page.waitForFunction((name) => r500.shader.text !== undefined && r500.source().name === name, name);
  await settled(page);
};

/** Opens a scene, edited if a change is given. */
const openScene = async (page, change = (text) => text) => {
  const text = change(file("examples/scenes/cube.r5").toString());
  await page.evaluate((text) => r500.open({ name: "cube", text, files: [] }), text);
  await page.waitForFunction(() => r500.source().name === "cube" && r500.analysis.value !== undefined);
  await settled(page);
};

/** Changes a word of a shader as if it was typed. */
const typeShader = (page, word, other) =>
  page.evaluate(
    ([word, other]) => {
      const { view, text } = r500.shader.editor;
      const from = text.indexOf(word);
      view.dispatch({ changes: { from, to: from + word.length, insert: other }, selection: { anchor: from + 4 }, scrollIntoView: true, userEvent: "input.type" });
    },
    [word, other],
  );

const step = (page, pixel, position) => page.evaluate(([pixel, position]) => r500.stepThrough(pixel, position), [pixel, position]);
const tab = async (page, name) => page.getByRole("tab", { name }).click();
const said = (page, pattern) => page.waitForFunction((source) => new RegExp(source).test(document.getElementById("said").textContent), pattern);

/** Each begins with a first visit, whose picture is there, in a page of its own: `show` leads to the state, the other fields are options of the visit. */
export const STATES = {
  first: { show: async () => {} },
  lesson: {
    show: async (page) => {
      await button(page, "Lesson 1").click();
      await page.waitForFunction(() => r500.analysis.value?.instructions.length === 1);
      await page.waitForFunction(() => /^Not solved/.test(document.querySelector("#lesson .verdict").textContent));
    },
  },
  solved: {
    show: async (page) => {
      await button(page, "Help").click();
      await page.getByRole("button", { name: /A loop that pixels leave/ }).click();
      await button(page, "Show a solution").click();
      await page.locator("#lesson.solved").waitFor();
      await page.locator(".frame").click();
      await page.waitForFunction(() => r500.stepper.moment.value !== undefined);
      await page.evaluate(() => r500.stepper.go({ how: "seek", position: 4 }));
    },
  },
  error: {
    show: async (page) => {
      const text = await page.evaluate(() => r500.editor.text);
      await type(page, text.replace("RSQ", "RSX").replace("FRC", "FCR"));
      await page.locator("#problems .code").first().click();
    },
  },
  warning: {
    show: async (page) => {
      await type(page, "-- What is not waited for, and no output.\nsrc0.rgb = temp[0] : temp[1].rgb = MAD src0.rgb src0.111 src0.000 ;\n");
      await page.locator("#problems .code").first().click();
    },
  },
  empty: { show: async (page) => type(page, "") },
  endless: {
    show: async (page) => {
      await page.evaluate(() => void (r500.stepper.limit.value = 10_000));
      await type(page, "SIZE 8 8 ;\n@again : temp[1].rgb = MAX src0.111 src0.111 ;\nFC JUMP JUMP_FUNC(0xff) -> @again ;\nOUT LAST : out[0].rgb = MAX src0.111 src0.111 ;\n");
      await page.waitForSelector("#stage.stale");
      await page.locator(".frame").click();
      await page.waitForFunction(() => r500.stepper.moment.value !== undefined);
    },
  },
  step: { show: async (page) => step(page, [127, 127], 5) },
  loop: {
    show: async (page) => {
      await openExample(page, "march");
      await page.evaluate(async () => {
        const [width, height] = r500.transport.pixels;
        await r500.stepThrough([width >> 1, height >> 1]);
        r500.breakpoints.toggleAt(r500.stepper.run.value.addresses[30]);
        await r500.stepper.go({ how: "seek", position: 30 });
      });
    },
  },
  breakpoints: {
    show: async (page) => {
      await step(page, [127, 127], 3);
      await page.getByLabel("Kind of breakpoint").selectOption("log");
      await page.getByLabel("Message of a breakpoint").fill("step {step}");
      await button(page, "Add").click();
      await page.waitForFunction(() => r500.breakpoints.all.value.length === 1);
      await page.getByLabel("Kind of breakpoint").selectOption("at");
      await page.getByLabel("Which of its hits count").fill("often");
      await button(page, "Add").click();
      await page.waitForFunction(() => /is not a hit count/.test(document.querySelector("#condition-wrong").textContent));
      await page.evaluate(() => r500.stepper.go({ how: "run", backward: false }));
    },
  },
  heat: {
    show: async (page) => {
      await openExample(page, "mandelbrot");
      await page.locator(".frame").click();
      await page.waitForFunction(() => r500.stepper.moment.value !== undefined);
      await page.getByLabel("Heat map").selectOption("0");
    },
  },
  compare: {
    show: async (page) => {
      const text = await page.evaluate(() => r500.editor.text);
      await type(page, text.replace("SIN src0.b", "COS src0.b"));
      await button(page, "Compare").click();
      await page.locator("#compare select").selectOption({ label: "example: plasma" });
      await page.waitForFunction(() => document.querySelector("#compare .found").textContent !== "Comparing…");
    },
  },
  shorter: {
    show: async (page) => {
      await openExample(page, "saturn");
      await button(page, "Shorter").click();
      await page.waitForFunction(() => document.querySelector("#shorter .verdict").textContent !== "Searching…");
    },
  },
  zoom: {
    show: async (page) => {
      await page.locator(".frame").focus();
      for (let n = 0; n < 7; n++) await page.keyboard.press("+");
      await page.keyboard.press("ArrowRight");
    },
  },
  glsl: {
    show: async (page) => {
      await openShader(page, "sphere");
      await page.evaluate(() => r500.shader.editor.goTo(r500.shader.editor.text.indexOf("vec3 n = normal")));
    },
  },
  "glsl-error": {
    show: async (page) => {
      await openShader(page, "bricks");
      await typeShader(page, "smoothstep", "smoothstp");
    },
  },
  "glsl-step": {
    show: async (page) => {
      await openShader(page, "sphere");
      await step(page, [120, 120], 12);
    },
  },
  scene: { show: async (page) => openScene(page) },
  "scene-step": {
    show: async (page) => {
      await openScene(page);
      await step(page, [160, 120]);
    },
  },
  "scene-error": { show: async (page) => openScene(page, (text) => text.replace("VE_ADD", "VE_ADDD").replace("VE_DOT", "VE_DOTT")) },
  capture: {
    show: async (page) => {
      await drop(page, "scenes.r5cs", file("tests/captures/scenes.r5cs"));
      await page.waitForFunction(() => r500.source().name.startsWith("draw 0: "));
      await settled(page);
    },
  },
  dropped: {
    show: async (page) => {
      await drop(page, "language.md", file("docs/src/language.md"));
      await said(page, "^language.md: this is Markdown, not a program");
    },
  },
  textures: {
    show: async (page) => {
      await openExample(page, "dissolve");
      await tab(page, "Textures");
    },
  },
  feedback: {
    show: async (page) => {
      const text = [
        "SIZE 64 64 ;",
        "TEXTURE tex[0] = camera ;",
        "TEXTURE tex[1] = video ;",
        "TEXTURE tex[2] = keyboard ;",
        "TEXTURE tex[3] = previous out[0] ;",
        "TEX TEX_SEM_WAIT TEX_SEM_ACQUIRE temp[1].rgba = LD tex[0].rgba temp[0].rgrg ;",
        "OUT LAST TEX_SEM_WAIT src0.rgb = temp[1] : out[0].rgb = MAX src0.rgb src0.rgb ;",
      ].join("\n");
      await page.evaluate((text) => void r500.open({ name: "feedback", text, files: [] }), text);
      await page.waitForFunction(() => r500.source().name === "feedback" && r500.analysis.value?.ok);
      await tab(page, "Textures");
    },
  },
  help: { show: async (page) => button(page, "Help").click() },
  gallery: { show: async (page) => button(page, "Examples").click() },
  menu: { show: async (page) => button(page, "Save").click() },
  size: {
    show: async (page) => {
      await page.getByRole("combobox", { name: "Size of the picture" }).selectOption("other");
      await page.getByRole("dialog", { name: "Size of the picture" }).getByRole("spinbutton", { name: "Width" }).fill("0");
      await page.keyboard.press("Enter");
    },
  },
  constants: {
    show: async (page) => {
      await openExample(page, "saturn");
      await tab(page, "Constants");
    },
  },
  encoding: {
    show: async (page) => {
      await tab(page, "Encoding");
      await page.evaluate(() => r500.editor.goTo(r500.editor.text.indexOf("OUT"), false));
    },
  },
  flow: {
    show: async (page) => {
      await openExample(page, "march");
      await tab(page, "Flow");
    },
  },
  numbers: { show: async (page) => tab(page, "Numbers") },
  embed: { fragment: "&embed", show: async () => {} },
  "embed-code": { fragment: "&embed=code", show: async () => {} },
};

/** Leads a first visit to a state. */
export async function reach(page, name) {
  await settled(page);
  await STATES[name].show(page);
  await quiet(page);
}
