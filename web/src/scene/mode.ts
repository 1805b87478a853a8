// What the page shows of a scene: the controls that are for one program are hidden.

import { byId } from "../app/dom.ts";
import type { Tabs } from "../panes/tabs.ts";
import type { Transport } from "../picture/transport.ts";

/** Panes that scenes have: the others are about one program. */
const PANES: ReadonlySet<string> = new Set(["step", "numbers"]);

/** Shows the page for a scene, or for a program. */
export function sceneMode(scene: boolean, tabs: Tabs, transport: Transport): void {
  document.body.classList.toggle("scene", scene);
  tabs.offer(scene ? PANES : undefined);
  transport.fixSize(scene);
  for (const id of ["compare-button", "shorter-button"]) byId(id, HTMLButtonElement).disabled = scene;
}
