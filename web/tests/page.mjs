// What the page's tests share: a server, a browser, and pages that must not complain.
//
// No test depends on how fast the machine is: tests wait for what they mean to see. R500_CPU_THROTTLE=4 makes each
// page's main thread four times as slow.

import { chromium } from "playwright-core";

import { serve } from "../serve.mjs";

const ARGUMENTS = [
  "--headless",
  "--no-sandbox",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** With these the browser has no WebGPU; or draws with SwiftShader, on the processor, also into canvases. */
const NO_GPU = ["--disable-gpu"];
const SWIFTSHADER = [
  "--enable-unsafe-webgpu",
  "--use-webgpu-adapter=swiftshader",
  "--use-angle=swiftshader",
  "--use-vulkan=swiftshader",
  "--enable-features=Vulkan",
  "--enable-unsafe-swiftshader",
  "--ignore-gpu-blocklist",
];

/** What Chromium says of itself where it has no adapter; the page says it, too. */
const NO_ADAPTER = "No available adapters.";

/** How many times slower pages run than the machine. */
const THROTTLE = Number(process.env.R500_CPU_THROTTLE ?? 1);

/** How many times longer than usual pages wait for their workers. */
const PATIENCE = 20;

/** Milliseconds after which a test that waits in vain fails; R500_TIMEOUT sets it. */
const TIMEOUT = Number(process.env.R500_TIMEOUT ?? 240_000);

/** A server of the built page and a browser, on request with WebGPU. */
export async function start({ gpu = false } = {}) {
  const server = await serve();
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  const browser = await chromium.launch({ executablePath, args: [...ARGUMENTS, ...(gpu ? SWIFTSHADER : NO_GPU)] });
  const address = `http://127.0.0.1:${server.address().port}/`;
  return { browser, address, stop: async () => (await browser.close(), server.close()) };
}

/** Makes a page as slow as is asked for. */
async function throttle(page) {
  if (THROTTLE <= 1) return;
  const session = await page.context().newCDPSession(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate: THROTTLE });
}

/**
 * A page with a visitor of its own. What the console and the network show is kept. `before` prepares the context; with a
 * `patience` of 1 the page waits for its workers as long as it does for everyone.
 */
export async function visit({ browser, address }, { fragment = "", before = undefined, patience = PATIENCE, ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce", ...options });
  context.setDefaultTimeout(TIMEOUT);
  await before?.(context);
  const page = await context.newPage();
  await throttle(page);
  const complaints = [];
  const requests = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && message.text() !== NO_ADAPTER && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  context.on("request", (request) => requests.push(request.url()));
  await page.goto(`${address}?patience=${patience}${fragment}`);
  await page.waitForFunction(() => globalThis.r500?.analysis.value !== undefined);
  return { page, context, complaints, requests };
}

/** Replaces the program by typing. */
export async function type(page, text) {
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(text);
  await settled(page);
}

/** Waits until the picture is that of the text. */
export const settled = (page) =>
  page.evaluate(async () => {
    await r500.current();
    await r500.player.settled();
  });

/**
 * Waits until nothing is under way: the text is analysed, the picture is that of the text, every request is answered, and the
 * page is painted. Only of a page whose picture stands still.
 */
export async function quiet(page) {
  await page.waitForFunction(async () => {
    await r500.current();
    await r500.player.settled();
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    return !r500.isBusy();
  });
}

/** Raw values of a target as the page has them, as bytes, the lowest row first. */
export async function values(page, target = 0) {
  const text = await page.evaluate(async (target) => {
    const values = await r500.values(target);
    if (values === undefined) return "";
    const bytes = new Uint8Array(values.buffer);
    let text = "";
    for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
    return btoa(text);
  }, target);
  return Buffer.from(text, "base64");
}

/** Drops a file onto a part of the page. */
export async function drop(page, name, bytes, onto = "#editor .cm-content") {
  const transfer = await page.evaluateHandle(
    ([name, text]) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))], name));
      return transfer;
    },
    [name, bytes.toString("base64")],
  );
  for (const event of ["dragenter", "dragover", "drop"]) {
    await page.locator(onto).dispatchEvent(event, { dataTransfer: transfer });
  }
}
