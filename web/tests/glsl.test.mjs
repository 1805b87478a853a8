// Shaders in GLSL: the two editors and their links, costs, errors, links and drafts; and what is dropped.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import { drop, quiet, settled, start, values, visit } from "./page.mjs";

const root = join(fileURLToPath(new URL(".", import.meta.url)), "../..");
const example = (name) => readFileSync(join(root, "examples/glsl", `${name}.frag`), "utf8");
const TOY = "void mainImage(out vec4 c, in vec2 p) {\n    vec2 uv = p / iResolution.xy;\n    c = vec4(uv, 0.25, 1.0);\n}\n";

let at;
before(async () => (at = await start()));
after(async () => await at?.stop());

/** Opens a shader, and waits for its picture. */
async function open(page, glsl, name = "shader") {
  await page.evaluate((source) => r500.open(source), { name, text: "", glsl, files: [] });
  await page.waitForFunction((glsl) => r500.shader.text === glsl, glsl);
  await settled(page);
}

/** Replaces the shader by typing. */
async function write(page, glsl) {
  await page.locator("#shader .cm-content").click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(glsl);
  await settled(page);
}

/** The numbers of the lines that are marked in an editor. */
const marked = (page, editor) => page.evaluate((editor) => [...document.querySelectorAll(`${editor} .cm-line`)].flatMap((line, n) => (line.classList.contains("cm-link-on") ? [n + 1] : [])), editor);

/** Pastes a text in place of everything, or of what is selected. */
const paste = (page, text, all = true) =>
  page.evaluate(
    ([text, all]) => {
      const { view } = r500.editor;
      view.dispatch({ selection: { anchor: 0, head: all ? view.state.doc.length : 3 } });
      const clipboardData = new DataTransfer();
      clipboardData.setData("text/plain", text);
      view.contentDOM.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
    },
    [text, all],
  );

test("a shader of the gallery is shown with its program, costs and limits, and the compiler is loaded then", async () => {
  const { page, context, requests, complaints } = await visit(at);
  await settled(page);
  const loaded = () => requests.some((url) => url.endsWith("optimizer.wasm"));
  assert.equal(loaded(), false);
  await page.getByRole("button", { name: "Examples" }).click();
  await page.locator(".card", { has: page.getByText("sphere", { exact: true }) }).click();
  await page.waitForFunction((text) => r500.shader.text === text, example("sphere"));
  await settled(page);
  assert.ok(loaded());
  assert.equal(await page.locator("#said").textContent(), "The compiler of GLSL is loaded");
  const { instructions } = await page.evaluate(() => ({ instructions: r500.analysis.value.instructions.length }));
  assert.equal(await page.getByRole("meter", { name: "slots" }).getAttribute("aria-valuenow"), String(instructions));
  for (const name of ["temporaries", "constants", "texture units"]) assert.ok(await page.getByRole("meter", { name }).isVisible(), name);
  const slots = await page.evaluate(() => [...document.querySelectorAll("#shader .cost i")].map((cell) => Number(cell.textContent)));
  // Of the lines that are in view, and of the cell that gives the gutter its width.
  assert.ok(slots.length > 5 && slots.every((one) => one > 0), slots.join());
  const picture = await values(page);
  assert.ok(new Set(new Float32Array(picture.buffer, picture.byteOffset, picture.length / 4)).size > 100);
  assert.equal(await page.getByRole("button", { name: "GLSL" }).getAttribute("aria-pressed"), "true");
  assert.deepEqual(complaints, []);
  await context.close();
});

test("lines and their instructions are linked both ways", async () => {
  const { page, context } = await visit(at, { viewport: { width: 1440, height: 900 } });
  await open(page, TOY);
  // The pointer over a line.
  await page.locator("#shader .cm-line").nth(2).hover();
  await page.waitForFunction(() => document.querySelector("#editor .cm-link-on") !== null);
  assert.deepEqual(await marked(page, "#shader"), [3]);
  const instructions = await marked(page, "#editor");
  // The pointer over one of its instructions.
  await page.locator("#editor .cm-line").nth(instructions[0] - 1).hover();
  await page.waitForFunction(() => document.querySelectorAll("#editor .cm-link-on").length > 0);
  assert.ok((await marked(page, "#shader")).includes(3));
  // The same colour in front of both.
  const color = (editor, line) => page.evaluate(([editor, line]) => document.querySelectorAll(`${editor} .cm-line`)[line - 1].style.getPropertyValue("--link"), [editor, line]);
  const [own] = /--link-\d/.exec(await color("#shader", 3));
  assert.ok((await color("#editor", instructions[0])).includes(own));
  // The cursor.
  await page.mouse.move(0, 0);
  await page.locator("#shader .cm-content").focus();
  await page.evaluate(() => r500.shader.editor.goTo(r500.shader.editor.text.indexOf("c = vec4")));
  assert.deepEqual(await marked(page, "#shader"), [3]);
  // The step of a pixel.
  await page.evaluate(() => r500.stepThrough([10, 10]));
  await quiet(page);
  assert.ok((await marked(page, "#shader")).length > 0);
  await context.close();
});

test("errors are underlined while typing, with the fix, and each change is drawn", async () => {
  const { page, context } = await visit(at);
  await open(page, TOY);
  const before = await values(page);
  await write(page, TOY.replace("0.25", "0.75"));
  assert.notDeepEqual(await values(page), before);
  await write(page, TOY.replace("vec4(uv", "vec4(smoothstp(0.0, 1.0, uv)"));
  assert.equal(await page.locator("#shader .cm-lintRange-error").textContent(), "smoothstp");
  assert.match(await page.locator("#problems .shader .message").textContent(), /there is no function `smoothstp`/);
  assert.ok(await page.locator(".limits").evaluate((list) => list.classList.contains("stale")));
  await page.locator("#problems .shader").getByRole("button", { name: "did you mean `smoothstep`?" }).click();
  await settled(page);
  assert.equal(await page.locator("#shader .cm-lintRange-error").count(), 0);
  assert.match(await page.locator("#problems .shader .summary").textContent(), /^\d+ instructions, no problems$/);
  // The program itself is not edited there.
  const program = await page.evaluate(() => r500.editor.text);
  await page.locator("#editor .cm-content").click();
  await page.keyboard.type("x");
  assert.equal(await page.evaluate(() => r500.editor.text), program);
  assert.match(await page.locator("#said").textContent(), /Continue in assembly/);
  await context.close();
});

test("Tab leaves the editor of a shader after Esc, as the page says", async () => {
  const { page, context } = await visit(at);
  await open(page, TOY, "toy");
  assert.match(await page.locator("#problems .shader .leave").textContent(), /Esc, then Tab leaves/);
  await page.locator("#shader .cm-content").focus();
  const inside = () => page.evaluate(() => document.activeElement.closest("#shader .cm-content") !== null);
  await page.keyboard.press("Escape");
  assert.equal(await inside(), true);
  await page.keyboard.press("Tab");
  assert.equal(await inside(), false);
  assert.equal(await page.evaluate(() => r500.shader.text), TOY);
  await context.close();
});

test("uniforms have controls, which write to the shader", async () => {
  const { page, context } = await visit(at);
  await open(page, example("ripple"), "ripple");
  const shown = await page.locator(".constants legend b").allTextContents();
  assert.deepEqual(shown, ["waves", "tint"]);
  const before = await values(page);
  await page.locator(".constants input[type=number]:not(.reach)").first().fill("5");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => /^\/\/@ uniform1f waves 5\.0$/m.test(r500.shader.text));
  await settled(page);
  assert.notDeepEqual(await values(page), before);
  await context.close();
});

test("a shader continues in assembly, and is there again", async () => {
  const { page, context } = await visit(at);
  await open(page, TOY, "toy");
  const program = await page.evaluate(() => r500.editor.text);
  const picture = await values(page);
  await page.getByRole("button", { name: "Continue in assembly" }).click();
  await page.waitForFunction(() => r500.shader.text === undefined);
  await settled(page);
  assert.equal(await page.evaluate(() => r500.editor.text), program);
  assert.match(program, /UNIFORM "resolution"/);
  assert.deepEqual(await values(page), picture);
  assert.ok(await page.locator("#shader").isHidden());
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+Home");
  await page.keyboard.insertText("-- mine\n");
  assert.ok((await page.evaluate(() => r500.editor.text)).startsWith("-- mine"));
  await page.getByRole("button", { name: "GLSL" }).click();
  await page.waitForFunction((glsl) => r500.shader.text === glsl, TOY);
  await page.locator("#back").click();
  await page.waitForFunction(() => r500.editor.text.startsWith("-- mine") && r500.shader.text === undefined);
  await context.close();
});

test("a link holds the shader, and a draft keeps it", async () => {
  const { page, context } = await visit(at);
  await open(page, TOY, "toy");
  await write(page, TOY.replace("0.25", "0.5"));
  const picture = await values(page);
  await page.locator("#link").click();
  await page.waitForFunction(() => location.hash.startsWith("#2."));
  const hash = await page.evaluate(() => location.hash);
  await quiet(page);
  await page.evaluate(() => history.replaceState(null, "", location.pathname + location.search));
  await page.reload();
  await page.waitForFunction(() => r500.shader?.text?.includes("0.5"));
  await settled(page);
  assert.deepEqual(await values(page), picture);
  await context.close();
  const other = await visit(at, { fragment: hash });
  await other.page.waitForFunction(() => r500.shader.text !== undefined);
  await settled(other.page);
  assert.equal(await other.page.evaluate(() => r500.shader.text), TOY.replace("0.25", "0.5"));
  assert.deepEqual(await values(other.page), picture);
  await other.context.close();
});

test("a pasted mainImage opens as GLSL and is drawn", async () => {
  const { page, context } = await visit(at);
  await settled(page);
  await paste(page, TOY, false);
  assert.equal(await page.evaluate(() => r500.shader.text), undefined);
  await paste(page, TOY);
  await page.waitForFunction((glsl) => r500.shader.text === glsl, TOY);
  await settled(page);
  const picture = await values(page);
  const floats = new Float32Array(picture.buffer, picture.byteOffset, picture.length / 4);
  assert.equal(floats[2], 0.25);
  await context.close();
});

test("what is dropped is answered in its own terms", async () => {
  const { page, context } = await visit(at);
  await settled(page);
  const text = await page.evaluate(() => r500.editor.text);
  const told = (pattern) => page.waitForFunction((source) => new RegExp(source).test(document.getElementById("said").textContent), pattern);
  await drop(page, "language.md", readFileSync(join(root, "docs/src/language.md")));
  await told("^language.md: this is Markdown, not a program");
  await drop(page, "note.txt", Buffer.from("Only a note.\n"));
  await told("^note.txt: this is text, not a program");
  await drop(page, "a.vert", Buffer.from("attribute vec4 p; void main() { gl_Position = p; }"));
  await told("^a.vert: this is a vertex shader");
  assert.equal(await page.evaluate(() => r500.editor.text), text);
  // A shader, also with errors.
  await drop(page, "waves.frag", Buffer.from(TOY));
  await page.waitForFunction((glsl) => r500.shader.text === glsl && r500.source().name === "waves", TOY);
  await drop(page, "wrong.frag", Buffer.from("void main() { gl_FragColor = vec4(colour, 1.0); }"), "#shader .cm-content");
  await page.waitForFunction(() => /`colour` is not declared/.test(document.querySelector("#problems .shader").textContent));
  // A capture: the list of its draws.
  await drop(page, "scenes.r5cs", readFileSync(join(root, "tests/captures/scenes.r5cs")), "#shader .cm-content");
  await page.waitForFunction(() => r500.source().name.startsWith("draw 0: "));
  const draws = await page.locator(".programs option").count();
  assert.ok(draws > 1, `${draws} draws`);
  await page.getByRole("combobox", { name: "Program of the file" }).selectOption("1");
  await page.waitForFunction(() => r500.source().name.startsWith("draw 1: ") && r500.shader.text === undefined);
  await settled(page);
  await context.close();
});

test("a dropped picture replaces the texture that is chosen", async () => {
  const { page, context } = await visit(at);
  await open(page, "uniform sampler2D bricks; uniform sampler2D moss; varying vec2 uv;\nvoid main() { gl_FragColor = texture2D(bricks, uv) * texture2D(moss, uv); }\n");
  const png = readFileSync(join(root, "examples/plasma.png"));
  await drop(page, "wall.png", png, "#shader .cm-content");
  const dialog = page.getByRole("dialog", { name: "Which texture is wall.png?" });
  await dialog.getByRole("button", { name: "moss" }).click();
  await page.waitForFunction(() => r500.shader.text.includes('//@ texture moss = file "wall.png"'));
  await settled(page);
  assert.match(await page.evaluate(() => r500.editor.text), /TEXTURE tex\[1\] = file "wall\.png"/);
  // The only one that has none gets the next picture.
  await drop(page, "other.png", png, "#shader .cm-content");
  await page.waitForFunction(() => r500.shader.text.includes('//@ texture bricks = file "other.png"'));
  await settled(page);
  assert.equal(await page.evaluate(() => r500.analysis.value.ok), true);
  // Both have one: it asks again, and Escape changes nothing.
  await drop(page, "third.png", png, "#shader .cm-content");
  await page.getByRole("dialog", { name: "Which texture is third.png?" }).waitFor();
  await page.keyboard.press("Escape");
  await quiet(page);
  assert.equal(await page.evaluate(() => r500.shader.text.includes("third.png") || r500.source().files.some(({ name }) => name === "third.png")), false);
  await context.close();
});

test("the step pane says in words what the instruction does, with mask and registers in view", async () => {
  const { page, context } = await visit(at, { viewport: { width: 1440, height: 900 } });
  await settled(page);
  await page.evaluate(() => r500.stepThrough([127, 127], 5));
  await quiet(page);
  const words = await page.locator(".words .operand").allTextContents();
  const [r, g] = await page.evaluate(() => r500.stepper.moment.value.coming.rgb[0]);
  assert.equal(words.length, 2, words.join());
  assert.match(words[0], /^A = src0\.rg0 = temp\[2\]\.rg0 = -?[\d.e-]+, -?[\d.e-]+, 0/);
  assert.notEqual(r, g);
  // `DP` of alpha forwards the dot product of RGB: neither is idle. `RSQ` next has no RGB half.
  assert.equal(await page.locator(".words .idle").count(), 0);
  await page.evaluate(() => r500.stepper.go({ how: "step" }));
  await page.waitForFunction(() => r500.stepper.moment.value.position === 6);
  assert.equal(await page.locator(".words .idle").count(), 1);
  assert.match(await page.locator(".words .operand").first().textContent(), /^A = src0\.a = temp\[2\]\.a = [\d.]+/);
  // An operand marks its register, a register its operands.
  await page.locator(".words .operand").first().hover();
  assert.equal(await page.locator(".registers td.pointed").count(), 1);
  await page.locator('.registers tr[data-key="temp[2]"] th').hover();
  assert.equal(await page.locator(".words .operand.pointed").count(), 1);
  for (let step = 0; step < 12; step++) {
    const outside = await page.evaluate(() => {
      const pane = document.getElementById("pane-step").getBoundingClientRect();
      return [".words", ".registers", ".mask"].filter((part) => {
        const box = document.querySelector(`#pane-step ${part}`)?.getBoundingClientRect();
        return box !== undefined && (box.bottom > pane.bottom + 1 || box.top < pane.top - 1 || box.right > pane.right + 1);
      }).concat([...document.querySelectorAll("#pane-step .registers, #pane-step .now")].filter((part) => part.scrollWidth > part.clientWidth).map((part) => `${part.className} is cut`));
    });
    assert.deepEqual(outside, [], `step ${step}`);
    await page.evaluate(() => r500.stepper.go({ how: "step" }));
  }
  await context.close();
});

for (const width of [360, 390]) {
  test(`on a screen of ${width} pixels nothing of a shader is wider`, async () => {
    const { page, context } = await visit(at, { viewport: { width, height: 844 } });
    await open(page, example("sphere"), "sphere");
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= width, `${wide}`);
    await context.close();
  });
}
