// Statistics of the program.

import { h, update } from "../app/dom.ts";
import type { Analysis } from "../machine/protocol.ts";

export class NumbersPane {
  readonly root = h("div", { class: "numbers" });

  show(analysis: Analysis): void {
    const rows = analysis.stats.map(({ title, meaning, value, cost }) =>
      h(
        "tr",
        { class: value === 0 ? "none" : cost ? "cost" : "" },
        h("td", { class: "value" }, value.toLocaleString("en")),
        h("th", { scope: "row" }, title),
        h("td", { class: "meaning" }, meaning),
      ),
    );
    const notes = analysis.notes.map((note) => h("p", { class: "note" }, note));
    const none = h("p", { class: "empty" }, "Numbers follow when the program assembles.");
    update(this.root, ...notes, rows.length > 0 ? h("table", {}, h("tbody", {}, ...rows)) : none);
  }
}
