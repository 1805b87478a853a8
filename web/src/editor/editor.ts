// The editor: CodeMirror with this language, its diagnostics, and marks next to the lines.

import { StateEffect, StateField, Transaction, type Extension } from "@codemirror/state";
import { Decoration, EditorView, lineNumbers, type DecorationSet } from "@codemirror/view";

import type { Range } from "../machine/protocol.ts";
import { breaks, markedBreaks, showMarks, type Mark } from "./breaks.ts";
import { language } from "./language.ts";
import { reveal } from "./reveal.ts";
import { TextEditor } from "./text-editor.ts";
import { showVerdicts, verdicts, type Verdict } from "./verdicts.ts";
import { colour, colouring, type AskTokens } from "./words.ts";

export interface EditorEvents {
  changed(text: string): void;
  moved(at: number): void;
  /** Toggles a breakpoint at a position in a line. Returns whether the event was handled. */
  breakpoint(line: Range, at: number): boolean;
  /** Returns the kinds of words in a part of the text. */
  tokens: AskTokens;
}

const setMarks = StateEffect.define<{ range: Range; name: string }[]>();

/** Marked parts of the text, to which another part of the page refers. */
const marks = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(set, transaction) {
    set = set.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (!effect.is(setMarks)) continue;
      const length = transaction.newDoc.length;
      const inside = effect.value.filter(({ range }) => range.from < range.to && range.to <= length);
      set = Decoration.set(
        inside.map(({ range, name }) => Decoration.mark({ class: `cm-mark-${name}` }).range(range.from, range.to)),
        true,
      );
    }
    return set;
  },
  provide: (field) => EditorView.decorations.from(field),
});

export class Editor extends TextEditor {
  constructor(
    parent: HTMLElement,
    private readonly events: EditorEvents,
    extensions: Extension = [],
  ) {
    super({
      label: "Program in R500 assembly",
      gutters: [breaks((from, to, at) => events.breakpoint({ from, to }, at)), lineNumbers()],
      language: [verdicts, language(), colouring(events.tokens), marks],
      last: [
        EditorView.updateListener.of((update) => {
          if (update.docChanged) events.changed(update.state.doc.toString());
          if (update.selectionSet || update.docChanged) events.moved(update.state.selection.main.head);
        }),
        extensions,
      ],
      parent,
    });
  }

  get cursor(): number {
    return this.view.state.selection.main.head;
  }

  /** Shows another program, with an empty undo history. Returns a function that restores the previous program with its undo history. */
  replace(text: string): () => void {
    const before = this.view.state;
    this.set(this.fresh(text));
    return () => this.set(before);
  }

  /** Replaces the text by that of the next compilation: marks stay at lines that do not change, and there is nothing to undo. */
  put(text: string): void {
    const before = this.text;
    const shorter = Math.min(before.length, text.length);
    let from = 0;
    while (from < shorter && before[from] === text[from]) from++;
    let same = 0;
    while (same < shorter - from && before[before.length - 1 - same] === text[text.length - 1 - same]) same++;
    this.view.dispatch({ changes: { from, to: before.length - same, insert: text.slice(from, text.length - same) }, annotations: Transaction.addToHistory.of(false) });
  }

  /** Updates the colours of words, after their kinds have become known. */
  colour(): void {
    void colour(this.view, this.events.tokens);
  }

  mark(ranges: { range: Range; name: string }[]): void {
    this.view.dispatch({ effects: setMarks.of(ranges) });
  }

  /** Shows the verdicts on expectations at the ends of their lines. */
  judge(list: readonly Verdict[]): void {
    showVerdicts(this.view, list);
  }

  /** Shows marks next to lines. */
  beside(list: readonly Mark[]): void {
    showMarks(this.view, list);
  }

  /** The current positions of the shown breakpoints. */
  get breakpoints(): { at: number; address: number }[] {
    return markedBreaks(this.view);
  }

  /** Returns the first and last position of the line that contains a position. */
  lineAt(at: number): Range {
    const { from, to } = this.view.state.doc.lineAt(Math.min(at, this.view.state.doc.length));
    return { from, to };
  }

  /** Scrolls the editor, but nothing around it, until the position is visible. */
  reveal(at: number): void {
    reveal(this.view, at);
  }
}
