// The menu of downloads.

import { byId, h } from "../app/dom.ts";

export interface Download {
  title: string;
  about: string;
  /** File name extension. */
  extension: string;
  type: string;
  bytes(): Promise<BlobPart>;
  /** Returns whether the program has this; without it, every program has. */
  offered?(): boolean;
}

export class Save {
  private readonly button = byId("save", HTMLButtonElement);
  private readonly menu: HTMLElement;

  constructor(
    private readonly downloads: readonly Download[],
    private readonly name: () => string,
    private readonly failed: (why: string) => void,
  ) {
    this.menu = h(
      "div",
      { class: "menu", role: "menu", hidden: true, "aria-label": "Save as" },
      ...downloads.map((download) =>
        h(
          "button",
          { type: "button", role: "menuitem", tabindex: "-1", onclick: () => void this.save(download) },
          h("b", {}, download.title),
          h("span", {}, download.about),
        ),
      ),
    );
    this.button.after(this.menu);
    this.button.addEventListener("click", () => this.toggle(this.menu.hidden));
    this.menu.addEventListener("keydown", (event) => {
      const items = ([...this.menu.children] as HTMLElement[]).filter((item) => !item.hidden);
      const at = items.indexOf(document.activeElement as HTMLElement);
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (event.key === "Escape") this.toggle(false);
      else if (step !== undefined) items[(at + step + items.length) % items.length]?.focus();
      else return;
      event.preventDefault();
    });
    document.addEventListener("pointerdown", (event) => {
      const { target } = event;
      if (target instanceof Node && !this.menu.contains(target) && !this.button.contains(target)) this.toggle(false, false);
    });
  }

  private toggle(open: boolean, focus = true): void {
    if (open) this.downloads.forEach(({ offered }, n) => ((this.menu.children[n] as HTMLElement).hidden = offered?.() === false));
    this.menu.hidden = !open;
    this.button.setAttribute("aria-expanded", String(open));
    if (!focus) return;
    if (open) this.menu.querySelector<HTMLElement>("button:not([hidden])")?.focus();
    else this.button.focus();
  }

  private async save(download: Download): Promise<void> {
    this.toggle(false);
    try {
      const blob = new Blob([await download.bytes()], { type: download.type });
      const link = h("a", { href: URL.createObjectURL(blob), download: `${this.name()}${download.extension}` });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    } catch (error) {
      this.failed(error instanceof Error ? error.message : String(error));
    }
  }
}
