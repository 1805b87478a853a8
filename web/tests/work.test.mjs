// What one works on survives: drafts, links, the way back; files and programs of all sorts get sensible answers.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { build } from "esbuild";

import { drop, settled, start, type, visit } from "./page.mjs";

let at;
before(async () => (at = await start()));
after(async () => await at?.stop());

const RED = "SIZE 8 8 ;\nOUT : out[0].rgb = MAX src0.100 src0.100, out[0].a = MAX src0.1 src0.1 ;\n";
const text = (page) => page.evaluate(() => r500.editor.text);
const ready = (page) => page.waitForFunction(() => globalThis.r500?.analysis.value !== undefined);
/** Waits until the draft holds the text. */
const drafted = (page) =>
  page.waitForFunction(() => Object.entries(localStorage).some(([key, value]) => key.startsWith("r500.draft.") && JSON.parse(value).text === r500.editor.text));

test("edits after a link was copied survive a reload", async () => {
  const { page, context } = await visit(at);
  await type(page, RED);
  await page.getByRole("button", { name: "Copy link" }).click();
  await page.waitForFunction(() => location.hash.startsWith("#1."));
  await type(page, `${RED}-- edited\n`);
  assert.equal(await page.evaluate(() => location.hash), "");
  await drafted(page);
  await page.reload();
  await ready(page);
  assert.equal(await text(page), `${RED}-- edited\n`);
  await context.close();
});

test("two tabs keep their own drafts", async () => {
  const { page, context } = await visit(at);
  await type(page, `${RED}-- one\n`);
  await drafted(page);
  const other = await context.newPage();
  await other.goto(at.address);
  await ready(other);
  await type(other, `${RED}-- two\n`);
  await drafted(other);
  for (const [one, mark] of [[page, "one"], [other, "two"]]) {
    await one.reload();
    await ready(one);
    assert.equal(await text(one), `${RED}-- ${mark}\n`);
  }
  await page.getByRole("button", { name: "Examples" }).click();
  assert.equal(await page.locator(".drafts button").count(), 2);
  await context.close();
});

test("an example replaces nothing for good: one goes back to the program with its undo history, breakpoints and textures", async () => {
  const { page, context } = await visit(at);
  await type(page, RED);
  await page.evaluate(() => r500.editor.goTo(r500.editor.text.indexOf("OUT")));
  await page.keyboard.press("F9");
  await page.waitForFunction(() => r500.breakpoints.all.value.length === 1);
  await page.getByRole("button", { name: "Examples" }).click();
  await page.getByRole("button", { name: /^saturn/ }).click();
  await page.waitForFunction(() => r500.analysis.value?.name === "saturn");
  // Undoing in the example does not bring the other program under its name.
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+z");
  assert.match(await text(page), /NAME "saturn"/);
  await page.getByRole("button", { name: /^‹ Back to/ }).click();
  await settled(page);
  assert.equal(await text(page), RED);
  await page.waitForFunction(() => r500.breakpoints.all.value.map((one) => one.address).join() === "0");
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+z");
  assert.notEqual(await text(page), RED);
  await context.close();
});

test("what a program reads and does not carry has controls, is made up, and says so", async () => {
  const { page, context } = await visit(at);
  await type(page, `SIZE 16 16 ;
FULL_FC_EN ;
LOOP int[3] ALU_WAIT ; : temp[1].rgb = MAX src0.111 src0.111 ; ENDLOOP ALU_WAIT ;
TEX TEX_SEM_ACQUIRE temp[2].rgba = LD tex[5].rgba temp[0].rgba ;
OUT TEX_SEM_WAIT LAST src0.rgb = temp[2], src1.rgb = const[7] : out[0].rgb = MAD src0.rgb src1.rgb src0.000, out[0].a = MAX src0.1 src0.1 ;
`);
  const madeUp = page.locator("#pane-constants .made-up");
  assert.equal(await madeUp.count(), 2);
  const values = await page.evaluate(async () => [...(await r500.values(0))]);
  assert.ok(values.some((value, n) => n % 4 < 3 && value > 0.2), "there is something to see");
  const iterations = page.getByLabel("int[3], iterations");
  assert.equal(await iterations.inputValue(), "8");
  await iterations.fill("2");
  await iterations.press("Enter");
  await page.waitForFunction(() => r500.editor.text.includes("int[3] = (2, 0, 1) ;"));
  await settled(page);
  assert.equal(await madeUp.count(), 1);
  await page.getByRole("tab", { name: "Textures" }).click();
  assert.match(await page.locator('[data-unit="5"]').textContent(), /made up/);
  // A picture goes to the unit that it is dropped onto; a JPEG becomes a PNG.
  const jpeg = await page.evaluate(async () => {
    const canvas = new OffscreenCanvas(4, 4);
    canvas.getContext("2d").fillRect(0, 0, 4, 4);
    const bytes = new Uint8Array(await (await canvas.convertToBlob({ type: "image/jpeg" })).arrayBuffer());
    return btoa(String.fromCharCode(...bytes));
  });
  await drop(page, "black.jpg", Buffer.from(jpeg, "base64"), '[data-unit="5"]');
  await page.waitForFunction(() => r500.editor.text.includes('TEXTURE tex[5] = file "black.png"'));
  await settled(page);
  assert.ok((await page.evaluate(async () => [...(await r500.values(0))])).every((value, n) => n % 4 === 3 || value < 0.01));
  // Pictures that are shown give their memory back.
  const urls = await page.evaluate(async () => {
    const revoked = [];
    const revoke = URL.revokeObjectURL.bind(URL);
    URL.revokeObjectURL = (url) => (revoked.push(url), revoke(url));
    r500.open({ name: "x", text: "OUT : out[0].rgb = MAX src0.111 src0.111 ;", files: [] });
    await r500.current();
    return revoked.length;
  });
  assert.equal(urls, 1);
  await context.close();
});

test("an empty program, an unknown file, a word of a million letters and a module without its type are answered", async () => {
  const { page, context, complaints } = await visit(at, {
    before: (context) =>
      context.route("**/r500.wasm", async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, headers: { ...response.headers(), "content-type": "application/octet-stream" } });
      }),
  });
  await settled(page);
  assert.ok((await page.evaluate(async () => (await r500.values(0)).length)) > 0);
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Delete");
  await settled(page);
  assert.match(await page.locator(".badge").textContent(), /empty/i);
  await drop(page, "nothing.bin", Buffer.alloc(0));
  await page.waitForFunction(() => /nothing.bin is empty/.test(document.querySelector("#said").textContent));
  await page.evaluate(() => r500.open({ name: "long", text: "x".repeat(1_000_000), files: [] }));
  await page.waitForFunction(() => r500.analysis.value?.ok === false && r500.analysis.value.diagnostics.length > 0);
  await page.evaluate((text) => r500.open({ name: "red", text, files: [] }), RED);
  await settled(page);
  assert.equal(await page.locator("#stage.stale").count(), 0);
  assert.deepEqual(complaints, []);
  await context.close();
});

test("EXPECT lines say whether the picture is as they say", async () => {
  const { page, context } = await visit(at);
  await type(page, RED.replace("OUT", "EXPECT out[0] at (3, 3) = (1, 0, 0, 1) ;\nEXPECT out[0] at (0, 0) = (0, _, _, _) ;\nOUT"));
  await page.waitForFunction(() => document.querySelectorAll(".cm-verdict").length === 2);
  assert.deepEqual(await page.locator(".cm-verdict").allTextContents(), ["✓ as expected", "✗ pixel 0, 0 is (1, 0, 0, 1)"]);
  await context.close();
});

// --- The models by themselves --------------------------------------------------------------------

/** A module of the page, bundled. */
async function load(path) {
  const entry = new URL(`../src/${path}`, import.meta.url).pathname;
  const { outputFiles } = await build({ entryPoints: [entry], bundle: true, format: "esm", write: false, logLevel: "error" });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`);
}

test("the breakpoint store toggles, moves and merges", async () => {
  const { Breakpoints, breakpoint, when } = await load("model/breakpoints.ts");
  const store = new Breakpoints();
  const addresses = () => store.all.value.map((one) => one.address);
  const plain = (address) => breakpoint({ address });
  let changes = -1;
  store.all.watch(() => changes++);
  assert.equal(store.toggleAt(3), true);
  assert.equal(store.toggle(breakpoint({ address: 3, condition: "x > 1" })), true);
  assert.equal(store.toggle(plain(5)), true);
  store.move(new Map([[3, 4]]));
  assert.deepEqual(addresses(), [4, 4, 5]);
  const before = changes;
  store.move(new Map([[4, 4], [9, 1]]));
  assert.equal(changes, before, "a move that changes nothing is silent");
  store.move(new Map([[4, undefined], [5, 6]]));
  assert.deepEqual(addresses(), [6]);
  store.toggle(plain(7));
  store.move(new Map([[6, 7]]));
  assert.deepEqual(addresses(), [7], "two on one instruction are one");
  assert.equal(store.toggleAt(7), false);
  store.toggle(breakpoint({ changes: "temp[1]" }));
  assert.equal(when(store.all.value[0]), "when temp[1] changes");
  store.clear();
  assert.deepEqual(addresses(), []);
});

test("drafts are kept one a program, the latest first, and no more than fit", async () => {
  const { Drafts } = await load("model/drafts.ts");
  const store = () => {
    const items = new Map();
    return {
      getItem: (key) => items.get(key) ?? null,
      setItem: (key, value) => void items.set(key, value),
      removeItem: (key) => void items.delete(key),
      key: (n) => [...items.keys()][n] ?? null,
      get length() {
        return items.size;
      },
    };
  };
  const [all, tab] = [store(), store()];
  let next = 0;
  const drafts = new Drafts(all, tab, () => String(next++));
  const source = (text, bytes = 3) => ({ name: "x", text, files: [{ name: "a", bytes: Uint8Array.from({ length: bytes }, (_, n) => n) }] });
  for (let n = 0; n < 40; n++) {
    drafts.renew();
    assert.equal(drafts.save(source(`program ${n}`), n), true);
  }
  assert.equal(drafts.recent().length, 30);
  assert.equal(drafts.recent()[0].source.text, "program 39");
  assert.deepEqual([...drafts.own().source.files[0].bytes], [0, 1, 2]);
  assert.equal(drafts.save(source("large", 500_000)), false);
  assert.equal(new Drafts(all, tab).own().source.text, "program 39", "a reload finds its own");
  assert.equal(new Drafts(all, store(), () => "new").own(), undefined, "another tab begins anew");
  all.setItem("r500.draft.bad", '{"text": 3}');
  all.setItem("r500.draft.worse", "{");
  assert.equal(drafts.recent().length, 30);
});

test("the document's answers are of the text as it is, and late ones are dropped", async () => {
  const { Document } = await load("model/document.ts");
  const answers = [];
  const language = { ask: (what, request) => new Promise((resolve) => answers.push({ request, resolve })) };
  let text = "one";
  const analysed = [];
  const document = new Document(language, () => text, { analysed: (found) => analysed.push(found.name), failed: assert.fail });
  const analysis = (name) => ({ name, offset: 4, instructions: [{ index: 0, range: { from: 0, to: 3 } }, { index: 1, range: { from: 5, to: 9 } }] });
  const first = document.open({ name: "x", text: "", files: [] });
  text = "two";
  const second = document.now();
  answers[1].resolve(analysis("second"));
  answers[0].resolve(analysis("first"));
  await Promise.all([first, second]);
  assert.deepEqual(analysed, ["second"]);
  assert.equal(document.isCurrent, true);
  assert.equal(document.instruction(5).index, 1);
  assert.equal(document.addressOf(document.instructionAt(6)), 5);
  assert.equal(document.instructionIn({ from: 0, to: 4 }, 4).index, 0);
  text = "three";
  assert.equal(document.isCurrent, false);
  // Opening ends with the analysis that supersedes its own.
  let opened = false;
  const third = document.open({ name: "y", text: "", files: [] }).then(() => (opened = true));
  void document.now();
  answers[2].resolve(analysis("superseded"));
  await new Promise((resolve) => setTimeout(resolve));
  assert.equal(opened, false);
  // An analysis of the current text is not started twice.
  const current = document.current();
  assert.equal(answers.length, 4);
  answers[3].resolve(analysis("third"));
  await Promise.all([third, current]);
  assert.deepEqual(analysed, ["second", "third"]);
});
