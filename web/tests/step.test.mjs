// Stepping through a pixel, against `r500 trace`: node --test tests/*.test.mjs, with R500 the command.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import { settled, start, type, values, visit } from "./page.mjs";

const root = join(fileURLToPath(new URL(".", import.meta.url)), "../..");
const command = process.env.R500 ?? join(root, "target/debug/r500");
const LOOP = join(root, "tests/corpus/mesa/loop_mandelbrot.json");
// In its group pixels leave the loop in different passes, so this one sleeps at times.
const PIXEL = [16, 40];

let at;
before(async () => (at = await start()));
after(async () => await at?.stop());

/** What the command tells of each instruction. */
function traced() {
  const lines = execFileSync(command, ["trace", LOOP, "--pixel", PIXEL.join(","), "--format", "json"], { maxBuffer: 1 << 28 });
  return lines.toString().trim().split("\n").map((line) => JSON.parse(line)).filter((line) => line.address !== undefined && line.step !== undefined);
}

/** A page that shows the first instruction of the pixel. */
async function stepping() {
  const visited = await visit(at);
  const { page } = visited;
  await page.locator("#file").setInputFiles(LOOP);
  await page.waitForFunction(() => r500.analysis.value?.name === "loop_mandelbrot");
  await settled(page);
  const frame = await page.locator(".frame").boundingBox();
  const canvas = await page.locator(".layer canvas").first().boundingBox();
  const [width, height] = [64, 64];
  await page.locator(".frame").click({
    position: {
      x: canvas.x - frame.x + ((PIXEL[0] + 0.5) / width) * canvas.width,
      y: canvas.y - frame.y + ((height - 1 - PIXEL[1] + 0.5) / height) * canvas.height,
    },
  });
  await page.waitForFunction(() => r500.stepper.moment.value !== undefined);
  return visited;
}

const float = (bits) => new Float32Array(new Uint32Array([bits]).buffer)[0];
/** Numbers as the command writes them; what JSON has no number for is a string there. */
const same = (bits, told) => {
  if (typeof told === "string") return Number.isNaN(float(bits)) ? /nan/i.test(told) : float(bits) === Number(told.replace("inf", "Infinity"));
  return Object.is(float(bits), Math.fround(told)) || (float(bits) === 0 && told === 0);
};

/** The page's moment shows what the command told of the instruction to come. */
function agrees(moment, line) {
  const where = `step ${line.step}`;
  assert.equal(moment.position, line.step - 1, where);
  assert.equal(moment.address, line.address, where);
  assert.equal(moment.active, line.active, where);
  assert.equal(moment.al, line.al, where);
  const { coming } = moment;
  if (line.kind === "alu" && line.active) {
    assert.equal(coming.kind, "alu", where);
    line.rgb.forEach((operand, n) => operand.forEach((value, c) => assert.ok(same(coming.rgb[n][c], value), `${where} operand ${n}`)));
    line.alpha.forEach((value, n) => assert.ok(same(coming.alpha[n], value), `${where} alpha ${n}`));
    line.result.forEach((value, c) => assert.ok(same(coming.result[c], value), `${where} result`));
  }
  if (line.kind === "flow") {
    assert.equal(coming.taken, line.taken, where);
    assert.deepEqual([coming.voters, coming.favour, coming.wants, coming.voted], [line.voters, line.in_favour, line.wants, line.voted], where);
    assert.equal(coming.next, line.next, where);
  }
  const temps = line.writes.filter((write) => write.temp !== undefined);
  const written = coming.writes.filter((write) => write.to === "temp");
  assert.equal(written.length, temps.length, where);
  temps.forEach((write, n) => {
    assert.equal(written[n].number, write.temp, where);
    write.value.forEach((value, c) => assert.ok(same(written[n].value[c], value), `${where} temp[${write.temp}]`));
  });
}

test("stepping back and forth over a divergent loop shows the values of r500 trace", async () => {
  const { page, context } = await stepping();
  const lines = traced();
  assert.equal(await page.evaluate(() => r500.stepper.run.value.length), lines.length);
  assert.ok(lines.some((line) => !line.active), "the pixel sleeps at times");
  const moment = () => page.evaluate(() => r500.stepper.moment.value);
  const go = (going) => page.evaluate(async (going) => (await r500.stepper.go(going), r500.stepper.moment.value), going);
  agrees(await moment(), lines[0]);
  // By the keyboard, as people do.
  await page.locator("#pane-step").focus();
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => r500.stepper.moment.value.position === 1);
  agrees(await moment(), lines[1]);
  await page.keyboard.press("ArrowLeft");
  await page.waitForFunction(() => r500.stepper.moment.value.position === 0);
  for (const line of lines.slice(1, 80)) agrees(await go({ how: "step" }), line);
  for (const line of lines.slice(20, 79).reverse()) agrees(await go({ how: "step", backward: true }), line);
  for (const position of [lines.length - 1, 3, Math.floor(lines.length / 2)]) {
    agrees(await go({ how: "seek", position }), lines[position]);
  }
  await context.close();
});

test("the output shown is the picture's pixel", async () => {
  const { page, context } = await stepping();
  const bits = await values(page);
  const at = (PIXEL[1] * 64 + PIXEL[0]) * 16;
  const wanted = [0, 4, 8, 12].map((channel) => bits.readUInt32LE(at + channel));
  const shown = () => page.evaluate(() => r500.stepper.moment.value.delivered[0]);
  assert.deepEqual(await shown(), wanted);
  await page.keyboard.press("End");
  await page.evaluate(() => r500.stepper.go({ how: "seek", position: 1e9 }));
  const moment = await page.evaluate(() => r500.stepper.moment.value);
  assert.equal(moment.address, null);
  assert.deepEqual(moment.outputs[0][1], wanted);
  await context.close();
});

test("breakpoints on instructions and conditions stop in both directions", async () => {
  const { page, context } = await stepping();
  const lines = traced();
  // Every third visit of an instruction of the loop, found without the recording.
  const address = lines.map((line) => line.address).find((one, n, all) => all.indexOf(one) !== n);
  const visits = lines.filter((line) => line.address === address).map((line) => line.step - 1);
  await page.evaluate((address) => r500.breakpoints.toggle({ address, condition: null, changes: null }), address);
  const run = (backward) => page.evaluate(async (backward) => (await r500.stepper.go({ how: "run", backward }), r500.stepper.moment.value.position), backward);
  assert.equal(await run(false), visits[0]);
  assert.equal(await run(false), visits[1]);
  assert.equal(await run(true), visits[0]);
  await page.evaluate(() => (r500.breakpoints.all.value = []));
  await page.evaluate(() => r500.stepper.go({ how: "seek", position: 0 }));
  await page.getByLabel("Condition of a breakpoint").fill("not active");
  await page.getByRole("button", { name: "Add" }).click();
  assert.equal(await run(false), lines.findIndex((line) => !line.active));
  await context.close();
});

test("the heat map counts what the command counts, and a search finds the first pixel", async () => {
  const { page, context } = await visit(at);
  // Left of the middle a loop runs three times, so that waiting can be counted by hand.
  await type(page, `SIZE 8 8 ;
FULL_FC_EN ;
int[0] = (3, 0, 1) ;
src0.rgb = temp[0], src1.rgb = 0.5 : alu[lt].r = MAD src0.rrr src0.111 -src1.rrr ;
IF alu ALU_WAIT ;
    LOOP int[0] ; : temp[1].rgb = MAD src0.111 src0.111 src0.000 ; ENDLOOP ;
ENDIF ;
OUT TEX_SEM_WAIT LAST src0.rgb = temp[1] : out[0].rgb = MAX src0.rgb src0.rgb, out[0].a = MAX src0.1 src0.1 ;
`);
  await page.getByRole("tab", { name: "Step" }).click();
  const heat = await page.evaluate(async () => {
    // One request for all of the picture.
    const { view } = r500.player.shown;
    let numbers;
    await r500.pool.queryAreas(view, undefined, [[0, 0, 8, 8]], (_, answer) => (numbers = answer.numbers), new AbortController().signal);
    return [...new Uint32Array(numbers.buffer)];
  });
  const pixel = (x, y) => [heat[(y * 8 + x) * 2], heat[(y * 8 + x) * 2 + 1]];
  const [left, right] = [pixel(1, 1), pixel(6, 1)];
  // Compare, IF, LOOP, three times MAD and ENDLOOP, ENDIF, OUT: 11. On the right IF jumps after
  // ENDIF.
  assert.deepEqual(left, [11, 0]);
  assert.deepEqual(right, [3, 0]);
  await page.getByLabel("Heat map").selectOption("0");
  await page.waitForSelector(".heat:not([hidden])");
  await page.getByLabel("Condition that a pixel is searched for").fill("temp[1].r > 0.5");
  await page.getByRole("button", { name: "Find" }).click();
  await page.waitForFunction(() => r500.stepper.moment.value !== undefined);
  const moment = await page.evaluate(() => r500.stepper.moment.value);
  assert.deepEqual(moment.pixel, [0, 0]);
  const [, , value] = moment.temps.find(([number]) => number === 1);
  assert.equal(float(value[0]), 1);
  await context.close();
});

test("a recording that is under way is not begun anew when the pane appears", async () => {
  const { page, context } = await visit(at, {
    // Workers whose answers come late: the page looks for changes of the picture before.
    before: (context) =>
      context.route("**/worker.js", async (route) => {
        const late = "const post = self.postMessage.bind(self); self.postMessage = (...message) => setTimeout(() => post(...message), 250);\n";
        await route.fulfill({ contentType: "text/javascript", body: late + (await (await route.fetch()).text()) });
      }),
  });
  await type(page, "SIZE 8 8 ;\nsrc0.rgb = 0.5 : temp[0].rgb = MAX src0.rgb src0.rgb ;\nOUT LAST src0.rgb = temp[0] : out[0].rgb = MAX src0.rgb src0.rgb ;\n");
  const position = await page.evaluate(async () => {
    await r500.stepThrough([5, 6]);
    await r500.stepper.go({ how: "seek", position: 1 });
    return r500.stepper.moment.value?.position;
  });
  assert.equal(position, 1);
  await context.close();
});
