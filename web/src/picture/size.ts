// The dialog for the size of the picture.

import { h } from "../app/dom.ts";

/** The maximal number of columns or rows. */
export const MOST = 4096;

type Size = [number, number];

export class SizeDialog {
  private readonly width = this.field("width");
  private readonly height = this.field("height");
  private readonly wrong = h("p", { class: "error", role: "alert" });
  private readonly dialog: HTMLDialogElement;
  private answer: ((size: Size | undefined) => void) | undefined;

  constructor() {
    this.dialog = h(
      "dialog",
      { class: "small", "aria-labelledby": "size-title" },
      h(
        "form",
        {
          novalidate: true,
          onsubmit: (event) => {
            event.preventDefault();
            this.take();
          },
        },
        h("h2", { id: "size-title" }, "Size of the picture"),
        h("div", { class: "fields" }, h("label", {}, "Width", this.width), h("span", { "aria-hidden": "true" }, "×"), h("label", {}, "Height", this.height)),
        h("p", { class: "hint", id: "size-hint" }, `Pixels, 1 to ${MOST} each way. Large pictures take longer.`),
        this.wrong,
        h(
          "footer",
          {},
          h("button", { type: "button", onclick: () => this.dialog.close() }, "Cancel"),
          h("button", { type: "submit", class: "main" }, "Draw"),
        ),
      ),
    );
    // Called in all cases: Escape, a click outside, or a button.
    this.dialog.addEventListener("close", () => this.done(undefined));
    this.dialog.addEventListener("click", (event) => event.target === this.dialog && this.dialog.close());
    document.body.append(this.dialog);
  }

  /** Asks for a size. Returns the chosen size; `undefined` if it was cancelled. */
  ask(now: Size): Promise<Size | undefined> {
    [this.width.value, this.height.value] = [String(now[0]), String(now[1])];
    this.show("");
    this.dialog.showModal();
    this.width.select();
    return new Promise((resolve) => (this.answer = resolve));
  }

  private take(): void {
    const wrong = [this.width, this.height].find((field) => !fits(field));
    if (wrong === undefined) {
      this.done([Number(this.width.value), Number(this.height.value)]);
      this.dialog.close();
      return;
    }
    const name = wrong === this.width ? "The width" : "The height";
    this.show(`${name} must be a whole number from 1 to ${MOST}.`);
    wrong.focus();
    wrong.select();
  }

  private show(wrong: string): void {
    this.wrong.textContent = wrong;
    for (const field of [this.width, this.height]) field.setAttribute("aria-invalid", String(wrong !== "" && !fits(field)));
  }

  private done(size: Size | undefined): void {
    const { answer } = this;
    this.answer = undefined;
    answer?.(size);
  }

  private field(name: string): HTMLInputElement {
    const field = h("input", { type: "number", min: "1", max: String(MOST), step: "1", inputmode: "numeric", name, required: true, "aria-describedby": "size-hint" });
    field.addEventListener("input", () => this.wrong.textContent !== "" && fits(field) && this.show(""));
    return field;
  }
}

const fits = (field: HTMLInputElement): boolean => {
  const value = Number(field.value);
  return field.value.trim() !== "" && Number.isInteger(value) && value >= 1 && value <= MOST;
};
