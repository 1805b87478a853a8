// The encoding of the instruction at the cursor, bit by bit, in the layout of the register
// documents.

import { h, message, update } from "../app/dom.ts";
import { hex } from "../app/numbers.ts";
import type { Encoding, EncodingField, EncodingWord } from "../machine/protocol.ts";

export interface EncodingEvents {
  edit(index: number, word: number, field: string, code: number): Promise<void>;
}

export class EncodingPane {
  readonly root = h("div", { class: "encoding" });
  private selected: { word: number; field: string } | undefined;
  private shown: Encoding | undefined;

  constructor(private readonly events: EncodingEvents) {}

  show(encoding: Encoding | undefined): void {
    this.shown = encoding;
    if (encoding === undefined) {
      update(this.root, h("p", { class: "empty" }, "Put the cursor into an instruction to see its bits."));
      return;
    }
    update(
      this.root,
      h("p", { class: "head" }, h("b", {}, `@${encoding.index}`), " ", h("code", {}, encoding.text)),
      ...encoding.words.map((word, n) => this.word(encoding, word, n)),
    );
  }

  private word(encoding: Encoding, word: EncodingWord, number: number): HTMLElement {
    const name = word.register ?? "unused";
    const head = h(
      "header",
      {},
      h("b", {}, `${number}`),
      h("span", { class: "register", title: word.meaning }, name),
      h("code", {}, hex(word.bits)),
      word.unnamed !== 0 && word.register !== null && h("span", { class: "unnamed" }, `${hex(word.unnamed)} has no name`),
    );
    const selected = word.fields.find((field) => this.selected?.word === number && this.selected.field === field.name);
    return h(
      "section",
      { class: word.register === null ? "word unused" : "word", "aria-label": `Dword ${number}, ${name}` },
      head,
      this.bits(word, number),
      selected !== undefined && this.editor(encoding, selected, number),
    );
  }

  /** Returns 32 cells; a field is one cell as wide as its bits. */
  private bits(word: EncodingWord, number: number): HTMLElement {
    const cells: HTMLElement[] = [];
    let bit = 31;
    const gap = (to: number): void => {
      if (bit <= to) return;
      const width = bit - to;
      cells.push(h("span", { class: "gap", style: `grid-column: span ${width}` }, digits(word.bits, bit, to + 1)));
      bit = to;
    };
    for (const field of word.fields) {
      gap(field.hi);
      const width = field.hi - field.lo + 1;
      const chosen = this.selected?.word === number && this.selected.field === field.name;
      const where = field.hi === field.lo ? `bit ${field.hi}` : `bits ${field.hi} to ${field.lo}`;
      cells.push(
        h(
          "button",
          {
            type: "button",
            class: `field${field.code !== 0 ? " set" : ""}${field.reserved ? " reserved" : ""}`,
            style: `grid-column: span ${width}`,
            title: `${field.name} (${where}): ${field.reading}\n${field.meaning}`,
            "aria-label": `${field.name}, ${where}: ${field.reading}`,
            "aria-expanded": String(chosen),
            "data-field": `${number} ${field.name}`,
            onclick: () => {
              this.selected = chosen ? undefined : { word: number, field: field.name };
              this.show(this.shown);
            },
          },
          h("span", { class: "digits", "data-digits": digits(word.bits, field.hi, field.lo) }),
          h("span", { class: "name" }, field.name),
        ),
      );
      bit = field.lo - 1;
    }
    gap(-1);
    return h("div", { class: "bits" }, ...cells);
  }

  private editor(encoding: Encoding, field: EncodingField, word: number): HTMLElement {
    const set = async (code: number): Promise<void> => {
      // Looks up the field editor again, because editing rebuilds the pane.
      const say = (text: string): void => {
        const said = this.root.querySelector(".field-editor .error");
        if (said !== null) said.textContent = text;
      };
      say("");
      try {
        await this.events.edit(encoding.index, word, field.name, code);
      } catch (error) {
        say(message(error));
      }
    };
    const most = 2 ** (field.hi - field.lo + 1) - 1;
    const id = `${word} ${field.name} code`;
    const number = h("input", {
      type: "number",
      min: "0",
      max: String(most),
      value: String(field.code),
      "aria-label": `${field.name}, code`,
      "data-field": id,
      onchange: (event) => void set(Math.min(Math.max(Math.trunc(Number((event.currentTarget as HTMLInputElement).value)), 0), most)),
    });
    const named = field.values.filter((value) => value.name !== "");
    const choice =
      field.kind === "flag"
        ? h("input", { type: "checkbox", checked: field.code === 1, "aria-label": field.name, "data-field": `${id} flag`, onchange: () => void set(field.code === 1 ? 0 : 1) })
        : named.length > 0
          ? h(
              "select",
              { "aria-label": `${field.name}, value`, "data-field": `${id} name`, onchange: (event) => void set(Number((event.currentTarget as HTMLSelectElement).value)) },
              ...named.map((value) => h("option", { value: String(value.code), selected: value.code === field.code }, `${value.code}  ${value.name}`)),
              named.every((value) => value.code !== field.code) && h("option", { value: String(field.code), selected: true }, `${field.code}  reserved`),
            )
          : null;
    return h(
      "div",
      { class: "field-editor" },
      h("p", {}, h("b", {}, field.name), " ", h("span", { class: "place" }, field.hi === field.lo ? `${field.hi}` : `${field.hi}:${field.lo}`), " ", field.meaning),
      h("p", { class: "controls" }, choice, field.kind !== "flag" && number, h("span", { class: "now" }, field.now !== field.meaning ? `${field.reading}: ${field.now}` : field.reading)),
      h("p", { class: "error", role: "alert" }),
    );
  }
}

function digits(bits: number, hi: number, lo: number): string {
  let text = "";
  for (let bit = hi; bit >= lo; bit--) text += (bits >>> bit) & 1;
  return text;
}
