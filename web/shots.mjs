// Screenshots of the built page on the screens that its layout is made for, light and dark, for review before a release:
// node shots.mjs FOLDER [STATE | WIDTHxHEIGHT]…

import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { start, visit } from "./tests/page.mjs";
import { STATES, reach } from "./tests/states.mjs";

const folder = process.argv[2] ?? "shots";
mkdirSync(folder, { recursive: true });

const SCREENS = [[1024, 768], [1280, 720], [1366, 768], [1440, 900], [1920, 1080], [390, 844]];

const only = process.argv.slice(3);
const at = await start();
for (const [width, height] of SCREENS) {
  for (const colorScheme of ["light", "dark"]) {
    for (const [name, { show: _, ...options }] of Object.entries(STATES)) {
      if (only.length > 0 && !only.includes(name) && !only.includes(`${width}x${height}`)) continue;
      const { page, context } = await visit(at, { ...options, viewport: { width, height }, colorScheme });
      await reach(page, name);
      await page.screenshot({ path: join(folder, `${name}-${width}x${height}-${colorScheme}.png`) });
      await context.close();
    }
  }
}
await at.stop();
