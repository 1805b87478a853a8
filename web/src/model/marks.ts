// Marks in the editor: breakpoints and the next instruction, which move with the text.

import { announce, say } from "../app/messages.ts";
import type { Mark } from "../editor/breaks.ts";
import type { Editor } from "../editor/editor.ts";
import type { Range } from "../machine/protocol.ts";
import { isPlain, type Breakpoints } from "./breakpoints.ts";
import type { Document } from "./document.ts";

export class Marks {
  /** Addresses whose breakpoints have a mark. */
  private marked: ReadonlySet<number> = new Set();

  constructor(
    private readonly document: Document,
    private readonly editor: Editor,
    private readonly breakpoints: Breakpoints,
    /** Returns the address of the next instruction, while the run is shown. */
    private readonly here: () => number | undefined,
  ) {}

  show(): void {
    const { editor, document } = this;
    // Addresses belong to the last program that assembled; until another one does, marks stay at their positions in the
    // text.
    const now = new Map(editor.breakpoints.map(({ at, address }) => [address, at]));
    const broken = document.analysis.value?.ok === false;
    const place = (address: number): number | undefined => (broken ? now.get(address) : document.instruction(address)?.range?.from);
    const marks = this.breakpoints.all.value.flatMap((one): Mark[] => {
      const at = one.address === null ? undefined : place(one.address);
      return at !== undefined && one.address !== null ? [{ at, kind: isPlain(one) ? "break" : "conditional", address: one.address }] : [];
    });
    this.marked = new Set(marks.map(({ address }) => address));
    const address = this.here();
    const range = address === undefined ? undefined : document.instruction(address)?.range;
    if (range && address !== undefined) marks.push({ at: range.from, kind: "step", address });
    editor.beside(marks);
    editor.mark(range ? [{ range, name: "step" }] : []);
    if (range) editor.reveal(range.from);
  }

  /** Updates the breakpoints' addresses after a change of the program, so that they stay with their lines. */
  follow(): void {
    const moved = new Map<number, number | undefined>();
    for (const { address } of this.breakpoints.all.value) {
      // Instructions of included files have no line here, and no mark.
      if (address !== null && this.marked.has(address)) moved.set(address, undefined);
    }
    for (const { at, address } of this.editor.breakpoints) {
      const instruction = this.document.instructionIn(this.editor.lineAt(at), at);
      if (instruction !== undefined) moved.set(address, this.document.addressOf(instruction));
    }
    this.breakpoints.move(moved);
  }

  /** Sets or removes the breakpoint of a line. */
  async toggle(line: Range, at: number): Promise<void> {
    await this.document.current();
    if (this.document.analysis.value?.ok === false) return say("Breakpoints can be set when the program assembles");
    const instruction = this.document.instructionIn(line, at);
    if (instruction === undefined) return say("There is no instruction in this line");
    const address = this.document.addressOf(instruction);
    const there = this.breakpoints.toggleAt(address);
    announce(there ? `Breakpoint at @${address}: ${instruction.text}` : `No breakpoint at @${address} any more`);
  }
}
