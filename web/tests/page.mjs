// What the page's tests share: a server, a browser, and pages that must not complain.

import { chromium } from "playwright-core";

import { serve } from "../serve.mjs";

const ARGUMENTS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** A server of the built page and a browser. */
export async function start() {
  const server = await serve();
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  const browser = await chromium.launch({ executablePath, args: ARGUMENTS });
  const address = `http://127.0.0.1:${server.address().port}/`;
  return { browser, address, stop: async () => (await browser.close(), server.close()) };
}

/** A page with a visitor of its own. What the console and the network show is kept. */
export async function visit({ browser, address }, { fragment = "", before = undefined, ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce", ...options });
  await before?.(context);
  const page = await context.newPage();
  const complaints = [];
  const requests = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  context.on("request", (request) => requests.push(request.url()));
  await page.goto(address + fragment);
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
export async function drop(page, name, bytes, onto = ".cm-content") {
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
