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

/** After Escape, Tab moves the focus instead of indenting, until something else happens to the editor. */
const leaving: Extension = [
  keymap.of([{ key: "Escape", run: (view) => (view.setTabFocusMode(true), false) }]),
  EditorView.domEventHandlers({
    focus: (_, view) => view.setTabFocusMode(false),
    mousedown: (_, view) => view.setTabFocusMode(false),
  }),
  EditorView.updateListener.of((update) => update.docChanged && update.view.setTabFocusMode(false)),
];

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
        EditorView.lineWrapping,
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
        leaving,
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

  /** Shows another program, with an empty undo history. Returns a function that restores the previous program with its undo history. */
  replace(text: string): () => void {
    const before = this.view.state;
    this.set(EditorState.create({ doc: text, extensions: this.extensions }));
    return () => this.set(before);
  }

  private set(state: EditorState): void {
    this.diagnostics = [];
    this.view.setState(state);
    this.view.scrollDOM.scrollTo(0, 0);
  }

  /** Applies edits of the text, which can be undone. */
  apply(edits: readonly TextEdit[]): void {
    const changes = edits.map(({ from, to, text }) => ({ from, to, insert: text }));
    this.view.dispatch({ changes, userEvent: "input.fix" });
  }

  show(diagnostics: readonly Diagnostic[]): void {
    this.diagnostics = diagnostics;
    forceLinting(this.view);
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

  /** Moves the cursor to a position, and optionally the focus. */
  goTo(at: number, focus = true): void {
    const place = Math.min(at, this.view.state.doc.length);
    this.view.dispatch({
      selection: EditorSelection.cursor(place),
      effects: EditorView.scrollIntoView(place, { y: "center" }),
    });
    if (focus) this.view.focus();
  }

  /** Scrolls the editor, but nothing around it, until the position is visible. */
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
