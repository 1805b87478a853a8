// What a program uses of the chip, as bars.

import { h, update } from "../app/dom.ts";
import type { Limit } from "../machine/protocol.ts";

export class Limits {
  readonly root = h("ul", { class: "limits", "aria-label": "What the program uses of the chip" });

  show(limits: readonly Limit[], current: boolean): void {
    this.root.classList.toggle("stale", !current);
    update(this.root, ...limits.map(row));
  }
}

/** Shorter names, so that all fit into a line. */
const SHORT: Record<string, string> = { temporaries: "temps", constants: "consts", "texture units": "units" };

function row({ name, meaning, used, most }: Limit): HTMLElement {
  const title = most === null ? `${name}: ${meaning} The chip has no limit.` : `${name}: ${meaning} The chip has ${most}.`;
  const share = most === null ? 0 : used / most;
  return h(
    "li",
    { title, "data-key": name },
    h("span", {}, SHORT[name] ?? name),
    most !== null &&
      h(
        "span",
        { class: share > 0.85 ? "meter near" : "meter", role: "meter", "aria-label": name, "aria-valuenow": String(used), "aria-valuemin": "0", "aria-valuemax": String(most) },
        h("span", { style: `width: ${Math.min(share, 1) * 100}%` }),
      ),
    h("b", {}, String(used)),
    most !== null && h("span", { class: "of" }, `/ ${most}`),
  );
}
