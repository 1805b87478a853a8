// The dialog for a new name.

import { h } from "../app/dom.ts";

export class Naming {
  private readonly field = h("input", { type: "text", spellcheck: false, required: true, "aria-label": "New name" });
  private readonly dialog: HTMLDialogElement;
  private answer: ((name: string | undefined) => void) | undefined;

  constructor() {
    this.dialog = h(
      "dialog",
      { class: "small", "aria-labelledby": "naming-title" },
      h(
        "form",
        {
          onsubmit: (event) => {
            event.preventDefault();
            this.done(this.field.value.trim());
            this.dialog.close();
          },
        },
        h("h2", { id: "naming-title" }, "Rename"),
        this.field,
        h("footer", {}, h("button", { type: "button", onclick: () => this.dialog.close() }, "Cancel"), h("button", { type: "submit", class: "main" }, "Rename")),
      ),
    );
    this.dialog.addEventListener("close", () => this.done(undefined));
    document.body.append(this.dialog);
  }

  ask(name: string): Promise<string | undefined> {
    this.field.value = name;
    this.dialog.showModal();
    this.field.select();
    return new Promise((resolve) => (this.answer = resolve));
  }

  private done(name: string | undefined): void {
    const { answer } = this;
    this.answer = undefined;
    answer?.(name);
  }
}
