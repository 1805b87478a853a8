import { start, visit, settled } from "./tests/page.mjs";
const which = process.argv.slice(2);
const at = await start();
for (const [size, viewport] of [["d", { width: 1440, height: 900 }], ["p", { width: 390, height: 844 }]]) {
  for (const colorScheme of ["light", "dark"]) {
    const { page, context, complaints } = await visit(at, { viewport, colorScheme, deviceScaleFactor: 1 });
    await settled(page);
    const shot = async (name, full = false) => { if (which.length === 0 || which.includes(name)) await page.screenshot({ path: `/tmp/shots/${name}-${size}-${colorScheme}.png`, fullPage: full }); };
    await page.waitForTimeout(300);
    await shot("home");
    await page.getByRole("combobox", { name: "Size of the picture" }).selectOption("other");
    await page.waitForSelector("dialog.small[open]");
    await page.getByRole("spinbutton", { name: "Width" }).fill("0");
    await page.getByRole("button", { name: "Draw" }).click();
    await shot("size");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Examples" }).click();
    await page.waitForTimeout(400);
    await shot("gallery");
    await page.getByRole("button", { name: /^mandelbrot/ }).click();
    await page.waitForFunction(() => r500.analysis.value?.name === "mandelbrot");
    await settled(page);
    await page.locator(".frame").click({ position: { x: viewport.width > 900 ? 250 : 150, y: 150 } });
    await page.waitForFunction(() => r500.stepper.moment.value !== undefined);
    await page.evaluate(async () => { await r500.stepper.go({ how: "seek", position: 60 }); });
    await page.evaluate(() => { const t = r500.editor.text; const at = t.search(/ENDLOOP|ENDREP/); r500.editor.goTo(at, true); });
    await page.keyboard.press("F9");
    await page.waitForTimeout(300);
    await page.evaluate(() => r500.stepper.go({ how: "run" }));
    await page.waitForTimeout(200);
    await shot("step", true);
    await page.getByLabel("Heat map").selectOption("0");
    await page.waitForTimeout(500);
    await page.locator(".survey").scrollIntoViewIfNeeded();
    await shot("heat", true);
    await page.evaluate(() => document.querySelector(".survey button[type=button]")?.click());
    for (const tab of ["Constants", "Textures", "Encoding", "Flow", "Numbers"]) {
      await page.getByRole("tab", { name: tab }).click();
      await page.waitForTimeout(150);
      await shot(tab.toLowerCase(), size === "p");
    }
    await page.evaluate(() => r500.open({ name: "wrong", text: "SIZE 64 64 ;\nsrc0.rgb = temp[0] : temp[1].rgb = MDA src0.rgb src0.111 src0.000 ;\nTEX temp[1].rgba = LD tex[0].rgba temp[0].rgba ;\nOUT LAST src0.rgb = temp[1] : out[0].rgb = MAX src0.rgb src0.rgb ;\n", files: [] }));
    await page.waitForTimeout(600);
    await shot("error");
    if (complaints.length) console.log(size, colorScheme, complaints);
    await context.close();
  }
}
await at.stop();
