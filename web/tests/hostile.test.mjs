// Hostile links and programs without an answer: node --test tests/hostile.test.mjs.

import assert from "node:assert/strict";
import { mkdtempSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { deflateRawSync } from "node:zlib";

import { build } from "esbuild";

import { serve } from "../serve.mjs";
import { start, type, visit } from "./page.mjs";

let at;
before(async () => (at = await start()));
after(async () => await at?.stop());

const PROGRAM = "SIZE 8 8 ;\nOUT LAST src0.rgb = temp[0] : out[0].rgb = MAX src0.rgb src0.rgb ;\n";
const OTHER = "SIZE 4 4 ;\nOUT LAST src0.rgb = temp[0] : out[0].rgb = MAD src0.rgb src0.111 src0.000 ;\n";

/** The fragment that holds a value, whatever it is. */
const link = (value) => `#1.${deflateRawSync(typeof value === "string" ? value : JSON.stringify(value), { level: 9 }).toString("base64url")}`;
const text = (page) => page.evaluate(() => r500.editor.text);
const said = (page) => page.locator("#said").textContent();
const drafts = (page) => page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith("r500.draft.")).length);
const saved = (page, count = 1) => page.waitForFunction((count) => Object.keys(localStorage).filter((key) => key.startsWith("r500.draft.")).length === count, count);
/** Waits for the program after the page was loaded again. */
const reloaded = (page) => page.waitForFunction(() => globalThis.r500?.analysis.value !== undefined);

/** Visits the page again, without a link. */
const again = async (page) => {
  await page.goto("about:blank");
  await page.goto(at.address);
  await reloaded(page);
};

/** Links, and what is said of them. */
const MALFORMED = [
  [null, /no program/],
  [{}, /no program/],
  [[], /no program/],
  ["7", /no program/],
  [{ n: "x", t: 1 }, /no program/],
  [{ n: "x", t: "", f: 1 }, /no program/],
  [{ n: "x", t: "", f: [[{}, "AAAA"]] }, /no program/],
  [{ f: [[{}, "AAAA"]] }, /no program/],
  [{ n: "x", t: "", f: [["a", 5]] }, /no program/],
  [{ n: "x", t: "", f: [["a", "*"]] }, /damaged/],
  [{ n: "x".repeat(2000), t: "" }, /no program/],
  [{ n: "x", t: "", f: Array(100).fill(["a", "AAAA"]) }, /no program/],
  ["{", /damaged/],
];

test("malformed links are answered in words, and the page continues", async () => {
  for (const [value, wanted] of MALFORMED) {
    const { page, context, complaints } = await visit(at, { fragment: link(value) });
    await page.waitForFunction(() => document.querySelector("#said").textContent !== "");
    assert.match(await said(page), wanted, JSON.stringify(value).slice(0, 60));
    assert.equal(await page.locator("#title").textContent(), "plasma");
    // The same by a click on a link of this page.
    await page.evaluate(() => {
      location.hash = "";
      document.querySelector("#said").textContent = "";
    });
    await page.evaluate((fragment) => (location.hash = fragment), link(value));
    await page.waitForFunction((wanted) => new RegExp(wanted).test(document.querySelector("#said").textContent), wanted.source);
    assert.equal(await drafts(page), 0);
    await again(page);
    assert.equal(await page.locator("#title").textContent(), "plasma");
    assert.equal(await page.locator("#problems li.error").count(), 0);
    assert.deepEqual(complaints, []);
    await context.close();
  }
});

test("a link that unpacks to hundreds of megabytes is not opened", async () => {
  const fragment = link(`{"n":"x","t":"${" ".repeat(300 << 20)}"}`);
  assert.ok(fragment.length < 500_000);
  const { page, context } = await visit(at, { fragment });
  await page.waitForFunction(() => /32 MiB/.test(document.querySelector("#said").textContent));
  await type(page, PROGRAM);
  assert.equal(await page.locator("#problems li.error").count(), 0);
  await saved(page);
  await again(page);
  assert.equal(await text(page), PROGRAM);
  await context.close();
});

test("includes that fan out end with an error, at the next visit, too", async () => {
  const files = Array.from({ length: 40 }, (_, n) => [`${n}`, Buffer.from(n === 39 ? ": ;" : `#include "${n + 1}"\n`.repeat(2)).toString("base64url")]);
  const fragment = link({ n: "fan", t: '#include "0"\n#include "0"\n', f: files });
  const { page, context } = await visit(at, { fragment });
  assert.match(await page.locator("#problems li.error").first().textContent(), /too many files/);
  assert.equal(await drafts(page), 0);
  await again(page);
  assert.equal(await page.locator("#title").textContent(), "plasma");
  await context.close();
});

test("a link leaves the draft alone, and one goes back to it", async () => {
  const { page, context } = await visit(at);
  await type(page, PROGRAM);
  await saved(page);
  const kept = () => page.evaluate(() => Object.entries(localStorage).filter(([key]) => key.startsWith("r500.draft.")).map(([key, draft]) => `${key} ${JSON.parse(draft).text}`));
  const before = await kept();
  // A click on a link, of a program that is fine and of one that is not.
  for (const program of [OTHER, `${OTHER}#include "nothing"\n`]) {
    await page.evaluate((fragment) => (location.hash = fragment), link({ n: "other", t: program }));
    await page.waitForFunction((program) => r500.editor.text === program, program);
    await page.waitForTimeout(1500);
    assert.deepEqual(await kept(), before);
    await page.getByRole("button", { name: "‹ Back to" }).click();
    await page.waitForFunction((program) => r500.editor.text === program, PROGRAM);
    assert.deepEqual(await kept(), before);
  }
  await again(page);
  assert.equal(await text(page), PROGRAM);
  await context.close();
});

test("a language worker without an answer is stopped, and its program is not restored", async () => {
  const { page, context } = await visit(at, {
    patience: 1,
    // A worker that never answers about a text with this word.
    before: (context) =>
      context.route("**/worker.js", async (route) => {
        const body = await (await route.fetch()).text();
        const hang = "const decode = TextEncoder.prototype.encode; TextEncoder.prototype.encode = function (text) { if (text.includes('HANG')) for (;;); return decode.call(this, text); };\n";
        await route.fulfill({ contentType: "text/javascript", body: hang + body });
      }),
  });
  await type(page, PROGRAM);
  await saved(page);
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+Home");
  await page.keyboard.insertText("-- HANG\n");
  await page.waitForFunction(() => /no answer after 5 seconds/.test(document.querySelector("#said").textContent));
  // It continues with another text.
  await type(page, OTHER);
  await page.evaluate(() => (document.querySelector("#said").textContent = ""));
  // Its draft is written once nothing has been typed for a moment.
  await page.waitForFunction(() => Object.entries(localStorage).some(([key, draft]) => key.startsWith("r500.draft.") && draft.includes("SIZE 4 4 ;")));
  await page.keyboard.insertText("-- HANG\n");
  await page.waitForFunction(() => /no answer/.test(document.querySelector("#said").textContent));
  await page.reload();
  await reloaded(page);
  assert.equal(await text(page), OTHER);
  await context.close();
});

/** The unpacker, as the page has it, in Node. */
async function unpacker() {
  const here = fileURLToPath(new URL(".", import.meta.url));
  const { outputFiles } = await build({ entryPoints: [join(here, "../src/files/permalink.ts")], bundle: true, format: "esm", write: false });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`);
}

/** Numbers below a bound from a seed (xorshift). */
function random(seed) {
  let state = BigInt(seed) * 2654435769n + 1n;
  return (below) => {
    state ^= (state << 13n) & 0xffffffffffffffffn;
    state ^= state >> 7n;
    state ^= (state << 17n) & 0xffffffffffffffffn;
    return Number(state % BigInt(below));
  };
}

/** A value of JSON that is nearly a packed program. */
function nearly(next, depth = 0) {
  const leaf = [null, true, -1, 1e308, "", "AAAA", "*", "\u0000\u202e", "x".repeat(next(3000)), {}, []];
  const some = (n) => Array.from({ length: next(n) }, () => nearly(next, depth + 1));
  if (depth > 2 || next(3) === 0) return leaf[next(leaf.length)];
  if (next(2) === 0) return some(4);
  const files = next(2) === 0 ? Array.from({ length: next(70) }, () => (next(9) === 0 ? nearly(next, depth + 1) : ["name", "AAAA"])) : nearly(next, depth + 1);
  const value = { n: next(4) === 0 ? nearly(next, depth + 1) : "name", t: next(4) === 0 ? nearly(next, depth + 1) : ": ;", f: files };
  for (const key of Object.keys(value)) if (next(6) === 0) delete value[key];
  if (next(9) === 0) value.__proto__ = nearly(next, depth + 1);
  return value;
}

test("whatever a payload holds, it unpacks to a program or is refused in words", async () => {
  const { pack, unpack, BadLink } = await unpacker();
  // So many payloads, or for so many seconds.
  const { R500_FUZZ_SECONDS } = process.env;
  const [most, end] = R500_FUZZ_SECONDS === undefined ? [2000, Infinity] : [Infinity, Date.now() + Number(R500_FUZZ_SECONDS) * 1000];
  let opened = 0;
  let refused = 0;
  const from = Number(process.env.R500_FUZZ_SEED ?? 1);
  for (let seed = from; seed < from + most && Date.now() < end; seed++) {
    const next = random(seed);
    let bytes = Buffer.from(deflateRawSync(JSON.stringify(nearly(next)) ?? "null"));
    // Some with bits flipped, cut off, or with letters that are none.
    if (next(3) === 0) for (let n = next(4); n >= 0; n--) bytes[next(bytes.length)] ^= 1 << next(8);
    if (next(6) === 0) bytes = bytes.subarray(0, next(bytes.length));
    let fragment = `#1.${bytes.toString("base64url")}`;
    if (next(9) === 0) fragment = fragment.replace(/.$/, "\u00e9*=%"[next(4)]);
    try {
      const program = await unpack(fragment);
      // What does not begin as a link does is none.
      if (program === undefined) continue;
      const { name, text, files } = program;
      assert.equal(typeof name, "string");
      assert.equal(typeof text, "string");
      for (const file of files) assert.ok(typeof file.name === "string" && file.bytes instanceof Uint8Array);
      const again = await unpack(`#${await pack({ name, text, files })}`);
      assert.deepEqual([again.name, again.text, again.files], [name, text, files], `seed ${seed}`);
      opened++;
    } catch (error) {
      assert.ok(error instanceof BadLink && /^this link/.test(error.message), `seed ${seed}: ${error.stack}`);
      refused++;
    }
  }
  assert.ok(opened > 10 && refused > 10, `${opened} opened, ${refused} refused`);
});

test("the server of files survives broken requests and follows no link out of its folder", async () => {
  const folder = mkdtempSync(join(tmpdir(), "r500-serve-"));
  mkdirSync(join(folder, "dist"));
  writeFileSync(join(folder, "secret"), "secret");
  writeFileSync(join(folder, "dist", "index.html"), "page");
  symlinkSync(join(folder, "secret"), join(folder, "dist", "out"));
  symlinkSync("index.html", join(folder, "dist", "in"));
  const server = await serve(join(folder, "dist"));
  const { port } = server.address();
  /** The first line of the answer, and its last. */
  const ask = (path, method = "GET") =>
    new Promise((resolve, reject) => {
      let all = "";
      const socket = connect(port, "127.0.0.1", () => socket.write(`${method} ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`));
      socket.on("data", (data) => (all += data)).on("error", reject).on("close", () => resolve([Number(all.split(" ")[1]), all.split("\r\n").at(-1)]));
    });
  for (const path of ["/%", "//", "/%ff", "/%00", "/..%2fsecret", "/../secret", "/%2e%2e/secret", "/out", "http://[", "*", "//[", "/" + "a".repeat(5000), "/nothing"]) {
    const [status, body] = await ask(path);
    assert.ok([404, 400].includes(status) || (path === "//" && status === 200), `${path}: ${status}`);
    assert.ok(!body.includes("secret"), path);
  }
  assert.deepEqual(await ask("/"), [200, "page"]);
  assert.deepEqual(await ask("/index.html?x=%"), [200, "page"]);
  assert.deepEqual(await ask("/in"), [200, "page"]);
  assert.equal((await ask("/", "POST"))[0], 405);
  server.close();
});
