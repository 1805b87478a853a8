// Tabs: panes of which one is shown.

import { h } from "../app/dom.ts";
import { Signal } from "../app/signal.ts";

export interface Pane {
  id: string;
  title: string;
  root: HTMLElement;
}

export class Tabs {
  /** The pane that is shown. */
  readonly shown: Signal<string>;
  /** Offers some of the panes; all without ids. */
  readonly offer: (ids: ReadonlySet<string> | undefined) => void;
  private readonly tabs = new Map<string, HTMLButtonElement>();

  constructor(root: HTMLElement, panes: readonly Pane[]) {
    this.shown = new Signal(panes[0]?.id ?? "");
    const list = h("div", { class: "tabs", role: "tablist", "aria-label": "About the program" });
    for (const { id, title, root: pane } of panes) {
      const tab = h(
        "button",
        { type: "button", role: "tab", id: `tab-${id}`, "aria-controls": `pane-${id}`, onclick: () => (this.shown.value = id) },
        title,
      );
      pane.id = `pane-${id}`;
      pane.classList.add("pane");
      pane.tabIndex = 0;
      pane.setAttribute("role", "tabpanel");
      pane.setAttribute("aria-labelledby", tab.id);
      this.tabs.set(id, tab);
      list.append(tab);
    }
    list.addEventListener("keydown", (event) => {
      const ids = [...this.tabs].filter(([, tab]) => !tab.hidden).map(([id]) => id);
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (step === undefined) return;
      const next = ids[(ids.indexOf(this.shown.value) + step + ids.length) % ids.length];
      if (next === undefined) return;
      this.shown.value = next;
      this.tabs.get(next)?.focus();
      event.preventDefault();
    });
    this.offer = (ids) => {
      for (const [id, tab] of this.tabs) tab.hidden = ids?.has(id) === false;
      const [first = ""] = ids ?? [];
      if (ids?.has(this.shown.value) === false) this.shown.value = first;
    };
    root.append(list, ...panes.map((pane) => pane.root));
    this.shown.watch((shown) => {
      for (const { id, root: pane } of panes) {
        const selected = id === shown;
        const tab = this.tabs.get(id);
        tab?.setAttribute("aria-selected", String(selected));
        if (tab !== undefined) tab.tabIndex = selected ? 0 : -1;
        pane.hidden = !selected;
      }
    });
  }
}
