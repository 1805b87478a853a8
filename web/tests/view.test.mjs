// What is seen of pictures and runs: gutter marks, channels, ranges, targets, layout, keys.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { drop, quiet, settled, start, type, visit } from "./page.mjs";

let at;
before(async () => (at = await start()));
after(async () => await at?.stop());

const LOOP = `SIZE 16 16 ;
FULL_FC_EN ;
int[0] = (3, 0, 1) ;
src0.rgb = temp[0] : temp[1].rgb = MAX src0.rgb src0.rgb ;
LOOP int[0] ALU_WAIT ;
    src0.rgb = temp[1] :
        temp[1].rgb = MAD src0.rgb src0.hhh src0.000 ;
ENDLOOP ALU_WAIT ;
OUT TEX_SEM_WAIT LAST src0.rgb = temp[1] : out[0].rgb = MAX src0.rgb src0.rgb, out[0].a = MAX src0.1 src0.1 ;
`;

/** The colour of the canvas at the upper left. */
const corner = (page) =>
  page.evaluate(() => [...document.querySelector(".layer canvas").getContext("2d").getImageData(0, 0, 1, 1).data]);

test("a breakpoint and the step arrow are seen next to an indented line", async () => {
  const { page, context } = await visit(at);
  await type(page, LOOP);
  await page.evaluate(() => r500.stepThrough([3, 3]));
  await page.waitForFunction(() => r500.stepper.moment.value !== undefined);
  await page.evaluate(async () => {
    r500.breakpoints.toggleAt(2);
    await r500.stepper.go({ how: "seek", position: 2 });
  });
  for (const mark of [".break", ".step"]) {
    const sign = page.locator(`.cm-breaks ${mark}`).last();
    await sign.waitFor({ state: "visible" });
    const [box, line] = [await sign.boundingBox(), await page.locator(".cm-line", { hasText: "src0.rgb = temp[1] :" }).first().boundingBox()];
    assert.ok(box.y >= line.y - 2 && box.y < line.y + line.height, `${mark} at ${box.y}, its line at ${line.y}`);
  }
  await context.close();
});

test("a picture whose alpha is 0 is seen; channels, transparency and a range can be chosen", async () => {
  const { page, context } = await visit(at);
  await type(page, "SIZE 4 4 ;\nconst[0] = (2, 0.5, 0, 0) ;\nOUT LAST src0.rgb = const[0] : out[0].rgb = MAX src0.rgb src0.rgb ;\n");
  assert.deepEqual(await corner(page), [255, 128, 0, 255]);
  const toggle = async (name) => {
    await page.getByRole("button", { name: `${name} channel` }).click();
    await settled(page);
  };
  await toggle("Alpha");
  assert.equal((await corner(page))[3], 0, "transparent on demand");
  await toggle("Alpha");
  await toggle("Red");
  assert.deepEqual(await corner(page), [0, 128, 0, 255]);
  await toggle("Blue");
  assert.deepEqual(await corner(page), [128, 128, 128, 255], "one channel is grey");
  await toggle("Red");
  await toggle("Blue");
  await page.getByRole("button", { name: "auto" }).click();
  await page.waitForFunction(() => r500.transport.look.value.range[1] === 2);
  await settled(page);
  assert.deepEqual(await corner(page), [255, 64, 0, 255]);
  await page.getByRole("button", { name: "Values from 0 to 1" }).click();
  await settled(page);
  assert.deepEqual(await corner(page), [255, 128, 0, 255]);
  await context.close();
});

test("all targets are there as thumbnails", async () => {
  const { page, context } = await visit(at);
  await page.getByRole("button", { name: "Examples" }).click();
  await page.getByRole("button", { name: /^gbuffer/ }).click();
  await page.waitForFunction(() => r500.analysis.value?.name === "gbuffer");
  await settled(page);
  const small = page.locator(".thumbnails button");
  assert.equal(await small.count(), 3);
  await page.waitForFunction(() =>
    [...document.querySelectorAll(".thumbnails canvas")].every((canvas) => canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some((byte, n) => n % 4 < 3 && byte > 60)),
  );
  await small.nth(2).click();
  await settled(page);
  assert.equal(await page.evaluate(() => r500.player.shown.view.target), 2);
  assert.equal(await small.nth(2).getAttribute("aria-pressed"), "true");
  await context.close();
});

test("values in zoomed pixels are those of the last picture alone", async () => {
  const { page, context } = await visit(at);
  await type(page, "SIZE 2 2 ;\nconst[0] = (0.25, 0, 0, 1) ;\nOUT LAST src0.rgb = const[0] : out[0].rgb = MAX src0.rgb src0.rgb ;\n");
  await quiet(page);
  const ink = () => page.evaluate(() => {
    const overlay = document.querySelector(".overlay");
    return overlay.toDataURL();
  });
  const once = await ink();
  // Many drawings at once, while values are on their way.
  await page.evaluate(async () => {
    for (let n = 0; n < 12; n++) {
      r500.player.tryConstant(0, [0x3f000000 + n * 4096, 0, 0, 0x3f800000]);
      await new Promise((resolve) => setTimeout(resolve, 3));
    }
    r500.player.tryConstant(0, [0x3e800000, 0, 0, 0x3f800000]);
    await r500.player.settled();
  });
  await quiet(page);
  assert.equal(await ink(), once);
  await context.close();
});

test("while stepping the focus stays, wherever it is, and function keys work everywhere", async () => {
  const { page, context } = await visit(at);
  await type(page, LOOP);
  let reloaded = false;
  page.on("framenavigated", () => (reloaded = true));
  // From the program: no pixel is chosen yet.
  await page.keyboard.press("F5");
  await page.waitForFunction(() => r500.stepper.moment.value !== undefined);
  const position = () => page.evaluate(() => r500.stepper.moment.value.position);
  const reach = (n) => page.waitForFunction((n) => r500.stepper.moment.value.position === n, n);
  assert.deepEqual(await page.evaluate(() => r500.session.pixel.value), [8, 8]);
  await page.keyboard.press("F10");
  await reach(1);
  await page.getByRole("button", { name: "Examples" }).focus();
  await page.keyboard.press("F10");
  await reach(8);
  await page.keyboard.press("Shift+F10");
  await reach(1);
  await page.keyboard.press("F5");
  await reach(9);
  assert.equal(reloaded, false);
  assert.equal(await page.evaluate(() => document.activeElement.id), "examples");
  // A lane that is chosen keeps the focus, and so does the instruction.
  const lane = page.locator(".mask .lane:not(.here)").first();
  await lane.focus();
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => r500.session.pixel.value.join() !== "8,8");
  await quiet(page);
  assert.match(await page.evaluate(() => document.activeElement.className), /lane.*here/);
  await page.keyboard.press("Home");
  await reach(0);
  await page.locator("button.instruction").focus();
  await page.keyboard.press("ArrowRight");
  await reach(1);
  await page.keyboard.press("ArrowRight");
  await reach(2);
  assert.match(await page.evaluate(() => document.activeElement.className), /instruction/);
  assert.equal(await position(), 2);
  await context.close();
});

test("a fix in the list leaves the focus in the list", async () => {
  const { page, context } = await visit(at);
  await type(page, LOOP.replace("MAD", "MDA").replace("MAX", "MXA"));
  await page.locator("#problems .fix").first().focus();
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelectorAll("#problems .fix").length === 1);
  assert.equal(await page.evaluate(() => document.querySelector("#problems").contains(document.activeElement)), true);
  await page.locator("#problems .fix").first().focus();
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => r500.analysis.value.ok);
  assert.notEqual(await page.evaluate(() => document.activeElement.tagName), "BODY");
  await context.close();
});

test("what is said covers no control", async () => {
  const { page, context } = await visit(at);
  await drop(page, "nothing.bin", Buffer.alloc(0));
  // It is shown for some seconds.
  const shown = await page.waitForFunction(() => {
    if (document.querySelector("#said.shown") === null) return undefined;
    const said = document.querySelector("#said").getBoundingClientRect();
    const covered = [...document.querySelectorAll("button, input, select, a")]
      .filter((one) => one.checkVisibility() && !one.closest(".skip") && one.getBoundingClientRect().left >= 0)
      .filter((one) => {
        const { left, right, top, bottom } = one.getBoundingClientRect();
        return left < said.right && said.left < right && top < said.bottom && said.top < bottom;
      }).length;
    return { covered, width: said.width };
  });
  const { covered, width } = await shown.jsonValue();
  assert.ok(width > 0);
  assert.equal(covered, 0);
  await context.close();
});

test("an endless program can be stepped through as far as the recording goes, and the heat map says why it is empty", async () => {
  const { page, context } = await visit(at);
  await page.evaluate(() => r500.stepper.limit.value = 10_000);
  await type(page, "SIZE 8 8 ;\n@again : temp[1].rgb = MAX src0.111 src0.111 ;\nFC JUMP JUMP_FUNC(0xff) -> @again ;\nOUT LAST : out[0].rgb = MAX src0.111 src0.111 ;\n");
  await page.waitForSelector("#stage.stale");
  await page.locator(".frame").click();
  await page.waitForFunction(() => r500.stepper.moment.value !== undefined);
  assert.equal(await page.evaluate(() => r500.stepper.run.value.length), 10_000);
  assert.match(await page.locator(".step-head .warn").textContent(), /recording ends early/);
  await page.locator(".limit select").selectOption("100000");
  await page.waitForFunction(() => r500.stepper.run.value.length === 100_000);
  await page.getByLabel("Heat map").selectOption("0");
  await page.waitForFunction(() => /do not end within 1,000,000 instructions/.test(document.querySelector(".area-query .said").textContent));
  await context.close();
});

/** Screens that the layout is made for. */
const SCREENS = [[1280, 720], [1366, 768], [1440, 900], [1920, 1080], [390, 844]];

test("on every screen the buttons, the instruction and the registers are in view while stepping", async () => {
  for (const [width, height] of SCREENS) {
    const { page, context } = await visit(at, { viewport: { width, height } });
    await type(page, LOOP);
    await page.locator(".frame").click();
    await page.waitForFunction(() => r500.stepper.moment.value !== undefined);
    await page.evaluate(() => r500.stepper.go({ how: "seek", position: 2 }));
    await quiet(page);
    for (const selector of [".step-controls", "button.instruction", ".registers tbody tr:first-child"]) {
      const { y, height: high } = await page.locator(selector).first().boundingBox();
      assert.ok(y >= 0 && y + high <= height, `${selector} from ${y} to ${y + high} at ${width}x${height}`);
    }
    await context.close();
  }
});

test("the picture and the panes are resized by the line between them, also with the keyboard", async () => {
  const { page, context } = await visit(at);
  const height = async () => (await page.locator("#seen").boundingBox()).height;
  const before = await height();
  const line = page.getByRole("separator", { name: "Height of the picture" });
  await line.focus();
  for (let n = 0; n < 5; n++) await page.keyboard.press("ArrowDown");
  assert.ok((await height()) > before + 30);
  const box = await line.boundingBox();
  await page.mouse.move(box.x + 50, box.y);
  await page.mouse.down();
  await page.mouse.move(box.x + 50, box.y - 100);
  await page.mouse.up();
  assert.ok((await height()) < before + 30);
  await context.close();
});
