// The editor: CodeMirror with this language, its diagnostics, and marks next to the lines.

import { closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, indentUnit } from "@codemirror/language";
import { forceLinting, linter, lintGutter, lintKeymap, type Diagnostic as Shown } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorSelection, EditorState, StateEffect, StateField, type Extension } from "@codemirror/state";
import {
  Decoration,
  drawSelection,
  dropCursor,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
  type DecorationSet,
} from "@codemirror/view";

import type { Diagnostic, Range, TextEdit } from "../machine/protocol.ts";
import { breaks, markedBreaks, showMarks, type Mark } from "./breaks.ts";
import { language } from "./language.ts";
import { showVerdicts, verdicts, type Verdict } from "./verdicts.ts";
import { colour, colouring, type AskTokens } from "./words.ts";

export interface EditorEvents {
  changed(text: string): void;
  moved(at: number): void;
  /** A breakpoint is wanted, or no longer, at a place in a line; whether there can be one. */
  breakpoint(line: Range, at: number): boolean;
  /** What the words of a part are. */
  tokens: AskTokens;
}

const setMarks = StateEffect.define<{ range: Range; name: string }[]>();

/** Parts of the text that something else on the page is about. */
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

export class Editor {
  readonly view: EditorView;
  private diagnostics: readonly Diagnostic[] = [];
  private readonly extensions: Extension;

  constructor(
    parent: HTMLElement,
    private readonly events: EditorEvents,
    extensions: Extension = [],
  ) {
    this.extensions = [
        breaks((from, to, at) => events.breakpoint({ from, to }, at)),
        lineNumbers(),
        lintGutter(),
        highlightActiveLineGutter(),
        highlightSpecialChars(),
        history(),
        drawSelection(),
        dropCursor(),
        indentUnit.of("    "),
        EditorState.allowMultipleSelections.of(true),
        bracketMatching(),
        verdicts,
        closeBrackets(),
        highlightActiveLine(),
        highlightSelectionMatches(),
        search({ top: true }),
        language(),
        colouring(events.tokens),
        marks,
        linter(() => this.diagnostics.map((one) => this.shown(one)), { delay: 1e9, hideOn: () => null }),
        keymap.of([
          ...closeBracketsKeymap,
          ...defaultKeymap,
          ...searchKeymap,
          ...historyKeymap,
          ...completionKeymap,
          ...lintKeymap,
          indentWithTab,
        ]),
        EditorView.contentAttributes.of({ "aria-label": "Program in R500 assembly", spellcheck: "false", tabindex: "0" }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) events.changed(update.state.doc.toString());
          if (update.selectionSet || update.docChanged) events.moved(update.state.selection.main.head);
        }),
        extensions,
      ];
    this.view = new EditorView({ state: EditorState.create({ extensions: this.extensions }), parent });
  }

  get text(): string {
    return this.view.state.doc.toString();
  }

  get cursor(): number {
    return this.view.state.selection.main.head;
  }

  /** Another program, which begins with nothing to undo. Returns how to have the one before back, its undo history included. */
  replace(text: string): () => void {
    const before = this.view.state;
    this.set(EditorState.create({ doc: text, extensions: this.extensions }));
    return () => this.set(before);
  }

  private set(state: EditorState): void {
    this.diagnostics = [];
    this.view.setState(state);
    this.view.scrollDOM.scrollTop = 0;
  }

  /** Changes of the text that can be undone. */
  apply(edits: readonly TextEdit[]): void {
    const changes = edits.map(({ from, to, text }) => ({ from, to, insert: text }));
    this.view.dispatch({ changes, userEvent: "input.fix" });
  }

  show(diagnostics: readonly Diagnostic[]): void {
    this.diagnostics = diagnostics;
    forceLinting(this.view);
  }

  /** Colours the words anew: what they are is known now. */
  colour(): void {
    void colour(this.view, this.events.tokens);
  }

  mark(ranges: { range: Range; name: string }[]): void {
    this.view.dispatch({ effects: setMarks.of(ranges) });
  }

  /** What became of expectations, at the ends of their lines. */
  judge(list: readonly Verdict[]): void {
    showVerdicts(this.view, list);
  }

  /** Marks beside the lines. */
  beside(list: readonly Mark[]): void {
    showMarks(this.view, list);
  }

  /** Where the breakpoints that were shown are now. */
  get breakpoints(): { at: number; address: number }[] {
    return markedBreaks(this.view);
  }

  /** The line of a place: its first and last place. */
  lineAt(at: number): Range {
    const { from, to } = this.view.state.doc.lineAt(Math.min(at, this.view.state.doc.length));
    return { from, to };
  }

  /** Moves the cursor there, and the focus if wanted. */
  goTo(at: number, focus = true): void {
    const place = Math.min(at, this.view.state.doc.length);
    this.view.dispatch({
      selection: EditorSelection.cursor(place),
      effects: EditorView.scrollIntoView(place, { y: "center" }),
    });
    if (focus) this.view.focus();
  }

  /** Scrolls the editor, and nothing around it, so far that the place can be seen. */
  reveal(at: number): void {
    const { view } = this;
    view.requestMeasure({
      read: () => {
        const { top, bottom } = view.lineBlockAt(Math.min(at, view.state.doc.length));
        const { scrollTop, clientHeight } = view.scrollDOM;
        const margin = Math.min(60, clientHeight / 4);
        if (top - margin < scrollTop) return top - margin;
        if (bottom + margin > scrollTop + clientHeight) return bottom + margin - clientHeight;
        return scrollTop;
      },
      write: (top) => (view.scrollDOM.scrollTop = top),
    });
  }

  lineOf(at: number): number {
    return this.view.state.doc.lineAt(Math.min(at, this.view.state.doc.length)).number;
  }

  private shown(diagnostic: Diagnostic): Shown {
    const { length } = this.view.state.doc;
    const from = Math.min(diagnostic.from, length);
    const to = Math.min(Math.max(diagnostic.to, from), length);
    return {
      from,
      to,
      severity: diagnostic.severity === "note" ? "info" : diagnostic.severity,
      source: diagnostic.code,
      message: [diagnostic.message, ...diagnostic.help].join("\n"),
      actions: diagnostic.fixes.map((fix) => ({ name: fix.title, apply: () => this.apply(fix.edits) })),
    };
  }
}
