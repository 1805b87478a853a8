// The selection of a program in a file that contains several.

import { byId, h } from "../app/dom.ts";

export class Programs {
  private readonly root = h("span", { class: "programs", hidden: true });

  constructor() {
    byId("title", HTMLParagraphElement).parentElement?.after(this.root);
  }

  show(names: readonly string[], picked: number, choose: (pick: number) => void): void {
    this.root.hidden = names.length < 2;
    const go = (to: number): void => choose((to + names.length) % names.length);
    const list = h(
      "select",
      { "aria-label": "Program of the file", onchange: () => choose(Number(list.value)) },
      ...names.map((name, n) => h("option", { value: String(n), selected: n === picked }, `${n + 1}  ${name}`)),
    );
    this.root.replaceChildren(
      h("button", { type: "button", class: "quiet", "aria-label": "Program before", onclick: () => go(picked - 1) }, "‹"),
      list,
      h("button", { type: "button", class: "quiet", "aria-label": "Next program", onclick: () => go(picked + 1) }, "›"),
    );
  }

  hide(): void {
    this.root.hidden = true;
  }
}
