// A listing: the lines of a source, where lines of instructions can be chosen and marked.

import { h, update } from "../app/dom.ts";
import type { Range } from "../machine/protocol.ts";

export class Listing {
  readonly root: HTMLElement;
  private lines: HTMLElement[] = [];
  /** The first and last line of each instruction. */
  private places: [number, number][] = [];
  private at = -1;

  constructor(
    private readonly name: string,
    /** Called when an instruction was chosen, with its number. */
    private readonly chosen: (instruction: number) => void,
  ) {
    this.root = h("div", { class: "listing", role: "listbox", tabindex: "0", "aria-label": name, onkeydown: (event) => this.key(event) });
  }

  /** Shows a source; `changed` are the numbers of instructions that the other source lacks. */
  show(text: string, ranges: readonly (Range | null)[], changed: ReadonlySet<number>): void {
    const starts = [0];
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
    const lineOf = (place: number): number => {
      let line = starts.length - 1;
      while ((starts[line] ?? 0) > place) line--;
      return line;
    };
    this.places = ranges.map((range) => (range === null ? [-1, -2] : [lineOf(range.from), lineOf(Math.max(range.from, range.to - 1))]));
    const instructionAt = new Map<number, number>();
    this.places.forEach(([from, to], n) => {
      for (let line = from; line <= to; line++) if (!instructionAt.has(line)) instructionAt.set(line, n);
    });
    this.lines = text
      .replace(/\n$/, "")
      .split("\n")
      .map((line, n) => {
        const instruction = instructionAt.get(n);
        const id = `${this.name.toLowerCase()}-line-${n}`;
        if (instruction === undefined) return h("div", { id, role: "option", "aria-selected": "false", "aria-label": line.trim() === "" ? "empty line" : undefined }, line || " ");
        return h("div", { id, role: "option", "aria-selected": "false", class: changed.has(instruction) ? "instruction changed" : "instruction", onclick: () => this.choose(instruction) }, line);
      });
    this.at = -1;
    this.root.removeAttribute("aria-activedescendant");
    this.root.replaceChildren(...this.lines);
    this.root.scrollTop = 0;
  }

  clear(): void {
    this.lines = [];
    this.places = [];
    update(this.root);
  }

  /** Marks instructions, and scrolls to the first of them. */
  mark(instructions: readonly number[]): void {
    for (const line of this.lines) {
      line.classList.remove("marked");
      line.ariaSelected = "false";
    }
    let first: HTMLElement | undefined;
    for (const n of instructions) {
      const [from, to] = this.places[n] ?? [0, -1];
      for (const line of this.lines.slice(from, to + 1)) {
        first ??= line;
        line.classList.add("marked");
        line.ariaSelected = "true";
      }
    }
    if (first !== undefined) this.reveal(first);
  }

  /** Scrolls the listing only, not the dialog. */
  private reveal(line: HTMLElement): void {
    const top = line.offsetTop - this.root.offsetTop;
    const { scrollTop, clientHeight } = this.root;
    if (top < scrollTop || top + line.offsetHeight > scrollTop + clientHeight) this.root.scrollTop = top - (clientHeight - line.offsetHeight) / 2;
  }

  private choose(instruction: number): void {
    this.at = instruction;
    this.chosen(instruction);
    const line = this.lines[this.places[instruction]?.[0] ?? -1];
    if (line === undefined) return;
    this.root.setAttribute("aria-activedescendant", line.id);
    this.reveal(line);
  }

  private key(event: KeyboardEvent): void {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step === 0 || this.places.length === 0) return;
    event.preventDefault();
    this.choose(Math.min(Math.max(this.at + step, 0), this.places.length - 1));
  }
}
