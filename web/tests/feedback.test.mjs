// Textures that change: the frame before, keys, a camera, a video.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import { chromium } from "playwright-core";

import { serve } from "../serve.mjs";
import { quiet, settled, start, values, visit } from "./page.mjs";

const examples = join(fileURLToPath(new URL(".", import.meta.url)), "../../examples/glsl");
const R500 = process.env.R500 ?? "r500";

let at;
before(async () => (at = await start()));
after(async () => await at?.stop());

/** Writes its texture plus 1/8 to out[0], and the texture to out[1]. */
const COUNTER = `SIZE 6 5 ;
TEXTURE tex[0] = previous out[0] ;
TEX TEX_SEM_WAIT TEX_SEM_ACQUIRE temp[1].rgba = LD tex[0].rgba temp[0].rgrg ;
OUT TEX_SEM_WAIT src0.rgb = temp[1], src0.a = temp[1] : out[1].rgb = MAX src0.rgb src0.rgb, out[1].a = MAX src0.a src0.a ;
OUT LAST src0.rgb = temp[1], src1.rgb = 0.125 : out[0].rgb = MAD src0.rgb src0.111 src1.rgb, out[0].a = MAX src0.1 src0.1 ;
`;
const open = async (page, text, name = "feedback") => {
  await page.evaluate(([name, text]) => void r500.open({ name, text, files: [] }), [name, text]);
  await page.waitForFunction((name) => r500.source().name === name && r500.analysis.value?.ok, name);
  await settled(page);
};
const floats = async (page, target = 0) => [...new Float32Array(Uint8Array.from(await values(page, target)).buffer)];
/** Plays until a frame was drawn, and pauses. Returns the number of frames before the shown one. */
const playTo = async (page, frame) => {
  await page.evaluate(() => (r500.transport.playing.value = true));
  await page.waitForFunction((frame) => r500.player.shown?.view.frame >= frame, frame);
  await page.evaluate(() => (r500.transport.playing.value = false));
  await settled(page);
  return page.evaluate(() => r500.player.shown.view.frame);
};

test("each frame follows from the one before; standing still, it stays; the beginning is 0", async () => {
  const { page, context, complaints } = await visit(at);
  await open(page, COUNTER);
  assert.equal(await page.locator(".moving").isVisible(), true, "it can be played, though nothing takes the time");
  assert.equal((await floats(page))[0], 1 / 8);
  assert.equal((await floats(page, 1))[0], 0, "the first frame reads 0");
  const frame = await playTo(page, 3);
  assert.deepEqual(new Set((await floats(page)).filter((_, n) => n % 4 !== 3)), new Set([(frame + 1) / 8]));
  assert.equal((await floats(page, 1))[0], frame / 8);
  // A picture that is drawn again is the same one.
  await page.evaluate(() => r500.player.draw());
  await settled(page);
  assert.equal((await floats(page))[0], (frame + 1) / 8);
  // So is the run of its pixel.
  await page.evaluate(() => r500.stepThrough([2, 3]));
  await page.evaluate(() => r500.stepper.go({ how: "seek", position: 1 }));
  const texel = await page.evaluate(() => new Float32Array(new Uint32Array(r500.stepper.moment.value.temps.find(([n]) => n === 1)[2]).buffer)[0]);
  assert.equal(texel, frame / 8);
  await page.getByRole("button", { name: "To the beginning" }).click();
  await settled(page);
  assert.equal((await floats(page))[0], 1 / 8);
  // Another size begins anew.
  await playTo(page, 2);
  await page.getByRole("combobox", { name: "Size of the picture" }).selectOption("64x64");
  await settled(page);
  assert.equal((await floats(page))[0], 1 / 8);
  assert.deepEqual(complaints, []);
  await context.close();
});

test("the page and the command draw the same frames of the game of life, whose shader holds the binding", async () => {
  const { page, context, complaints } = await visit(at);
  await page.getByRole("button", { name: "Examples" }).click();
  await page.locator("#gallery .card", { has: page.locator("b", { hasText: /^life$/ }) }).click();
  await page.waitForFunction(() => r500.source().name === "life" && r500.analysis.value?.ok);
  await settled(page);
  await page.getByRole("combobox", { name: "Size of the picture" }).selectOption("64x64");
  const frame = await playTo(page, 4);
  const folder = mkdtempSync(join(tmpdir(), "r500-life-"));
  execFileSync(R500, ["render", join(examples, "life.frag"), "-o", join(folder, "f####.f32"), "--frames", `${frame}..${frame + 1}`, "--size", "64x64"]);
  const wanted = readFileSync(join(folder, `f${String(frame).padStart(4, "0")}.f32`));
  assert.ok((await values(page)).equals(wanted), `frame ${frame}`);
  const lives = [...new Float32Array(wanted.buffer.slice(wanted.byteOffset, wanted.byteOffset + wanted.length))].filter((value, n) => n % 4 === 0 && value === 1).length;
  assert.ok(lives > 100, `${lives} cells live`);
  // A link has it, too.
  await page.getByRole("button", { name: "Copy link" }).click();
  await page.waitForFunction(() => location.hash.length > 100);
  const other = await visit(at, { fragment: await page.evaluate(() => location.hash) });
  await other.page.waitForFunction(() => r500.analysis.value?.textures[0]?.live?.source === "previous");
  await other.context.close();
  assert.deepEqual(complaints, []);
  await context.close();
});

test("the list of a unit binds the frame before, and the program says so", async () => {
  const { page, context } = await visit(at);
  await open(page, COUNTER.replace(/^TEXTURE.*\n/m, ""));
  await page.getByRole("tab", { name: "Textures" }).click();
  await page.getByRole("combobox", { name: "Texture for tex[0]" }).selectOption("The frame before");
  await page.waitForFunction(() => r500.analysis.value?.textures[0]?.live?.source === "previous");
  assert.match(await page.evaluate(() => r500.editor.text), /TEXTURE tex\[0\] = previous out\[0\] nearest clamp ;/);
  assert.match(await page.locator('.unit[data-unit="0"]').textContent(), /out\[0\] of the frame before/);
  await context.close();
});

/** Row 0, 1 and 2 of key 65 (A) as red, green and blue. */
const KEYS = `SIZE 4 4 ;
TEXTURE tex[0] = keyboard ;
const[0] = (0.255859375, 0.16, 0.5, 0.84) ;
TEX temp[1].rgba = LD tex[0].rgba temp[0].rgrg ;
src0.rgb = const[0] : temp[2].rg = MAX src0.rgb src0.rgb ;
src0.rgb = const[0] : temp[3].rg = MAX src0.rbb src0.rbb ;
src0.rgb = const[0], src0.a = const[0] : temp[4].rg = MAX src0.raa src0.raa ;
TEX temp[2].rgba = LD tex[0].rgba temp[2].rgrg ;
TEX temp[3].rgba = LD tex[0].rgba temp[3].rgrg ;
TEX TEX_SEM_WAIT TEX_SEM_ACQUIRE temp[4].rgba = LD tex[0].rgba temp[4].rgrg ;
TEX_SEM_WAIT src0.rgb = temp[2] : temp[5].r = MAX src0.rrr src0.rrr ;
src0.rgb = temp[3] : temp[5].g = MAX src0.rrr src0.rrr ;
src0.rgb = temp[4] : temp[5].b = MAX src0.rrr src0.rrr ;
OUT LAST src0.rgb = temp[5] : out[0].rgb = MAX src0.rgb src0.rgb, out[0].a = MAX src0.1 src0.1 ;
`;

test("keys: down, pressed in this picture, toggled; while it plays and has the focus", async () => {
  const { page, context, complaints } = await visit(at);
  await open(page, KEYS);
  assert.deepEqual((await floats(page)).slice(0, 3), [0, 0, 0]);
  const is = (wanted) => page.waitForFunction(async (wanted) => [...(await r500.values(0)).slice(0, 3)].join() === wanted.join(), wanted);
  await page.evaluate(() => (r500.transport.playing.value = true));
  // A click gives the focus, and does not step.
  await page.locator(".frame").click();
  assert.equal(await page.evaluate(() => r500.transport.playing.value), true);
  await page.keyboard.down("a");
  await is([1, 0, 1]);
  await page.keyboard.up("a");
  await is([0, 0, 1]);
  await page.keyboard.press("a");
  await is([0, 0, 0]);
  // The row of keys that went down is 1 in one picture.
  await page.evaluate(() => (r500.transport.playing.value = false));
  await settled(page);
  await page.evaluate(() => {
    r500.transport.playing.value = true;
    const frame = document.querySelector(".frame");
    frame.dispatchEvent(new KeyboardEvent("keydown", { key: "a", keyCode: 65 }));
    r500.transport.playing.value = false;
    r500.player.draw();
  });
  await settled(page);
  assert.deepEqual((await floats(page)).slice(0, 3), [1, 1, 1]);
  assert.deepEqual(complaints, []);
  await context.close();
});

const CAMERA = `SIZE 16 16 ;
TEXTURE tex[0] = camera ;
TEX TEX_SEM_WAIT TEX_SEM_ACQUIRE temp[1].rgba = LD tex[0].rgba temp[0].rgrg ;
OUT TEX_SEM_WAIT LAST src0.rgb = temp[1] : out[0].rgb = MAX src0.rgb src0.rgb, out[0].a = MAX src0.1 src0.1 ;
`;

test("a camera is asked for on a click alone, and turned off with the program", async () => {
  const server = await serve();
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  const browser = await chromium.launch({ executablePath, args: ["--headless", "--no-sandbox", "--disable-gpu", "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"] });
  const own = { browser, address: `http://127.0.0.1:${server.address().port}/` };
  const { page, context, complaints } = await visit(own, {
    before: (context) =>
      context.addInitScript(() => {
        globalThis.asked = 0;
        globalThis.streams = [];
        const ask = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
        navigator.mediaDevices.getUserMedia = async (what) => {
          globalThis.asked++;
          const stream = await ask(what);
          globalThis.streams.push(stream);
          return stream;
        };
      }),
  });
  await open(page, CAMERA);
  assert.deepEqual(new Set((await floats(page)).filter((_, n) => n % 4 !== 3)), new Set([0]), "off, it reads 0");
  await playTo(page, 2);
  assert.equal(await page.evaluate(() => globalThis.asked), 0);
  await page.getByRole("tab", { name: "Textures" }).click();
  await page.getByRole("button", { name: "Use the camera" }).click();
  await page.getByRole("button", { name: "Stop the camera" }).waitFor();
  await page.evaluate(() => (r500.transport.playing.value = true));
  // The fake device shows a picture that is not black.
  await page.waitForFunction(async () => [...(await r500.values(0))].some((value, n) => n % 4 !== 3 && value > 0.2));
  assert.equal(await page.evaluate(() => globalThis.asked), 1);
  await open(page, COUNTER, "other");
  assert.deepEqual(await page.evaluate(() => globalThis.streams.flatMap((stream) => stream.getTracks().map((track) => track.readyState))), ["ended"]);
  assert.deepEqual(complaints, []);
  await context.close();
  await browser.close();
  server.close();
});

test("a video file is a texture, upright: its lower half is that of the picture", async () => {
  const { page, context, complaints } = await visit(at);
  // The browser makes the video: red above, blue below.
  const video = await page.evaluate(async () => {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [64, 64];
    const context = canvas.getContext("2d");
    const recorder = new MediaRecorder(canvas.captureStream(25), { mimeType: "video/webm;codecs=vp8" });
    const parts = [];
    recorder.ondataavailable = ({ data }) => parts.push(data);
    const done = new Promise((resolve) => (recorder.onstop = resolve));
    recorder.start(100);
    for (let n = 0; n < 25; n++) {
      context.fillStyle = "#f00";
      context.fillRect(0, 0, 64, 32);
      context.fillStyle = "#00f";
      context.fillRect(0, 32, 64, 32);
      await new Promise((resolve) => setTimeout(resolve, 40));
    }
    recorder.stop();
    await done;
    const bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
    return btoa(String.fromCharCode(...bytes));
  });
  await open(page, CAMERA.replace("camera", "video"), "video");
  await page.getByRole("tab", { name: "Textures" }).click();
  const file = join(mkdtempSync(join(tmpdir(), "r500-video-")), "flag.webm");
  writeFileSync(file, Buffer.from(video, "base64"));
  await page.getByLabel("Video for tex[0]").setInputFiles(file);
  await page.getByText("flag.webm").first().waitFor();
  await page.evaluate(() => (r500.transport.playing.value = true));
  await page.waitForFunction(async () => {
    const values = await r500.values(0);
    const pixel = (x, y) => [...values.slice((y * 16 + x) * 4, (y * 16 + x) * 4 + 3)];
    const [below, above] = [pixel(8, 2), pixel(8, 13)];
    return below[2] > 0.7 && below[0] < 0.3 && above[0] > 0.7 && above[2] < 0.3;
  });
  // A file of another kind is refused in words.
  writeFileSync(file, "no video");
  await page.getByLabel("Video for tex[0]").setInputFiles(file);
  await page.waitForFunction(() => /cannot play it/.test(document.querySelector("#said").textContent));
  assert.deepEqual(complaints, []);
  await context.close();
});
