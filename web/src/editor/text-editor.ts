// What the editors of both languages are: CodeMirror with diagnostics, and keys that also lead out of it.

import { closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, indentUnit } from "@codemirror/language";
import { forceLinting, linter, lintGutter, lintKeymap } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorSelection, EditorState, type Extension } from "@codemirror/state";
import { drawSelection, dropCursor, EditorView, highlightActiveLine, highlightActiveLineGutter, highlightSpecialChars, keymap } from "@codemirror/view";

import type { Diagnostic, TextEdit } from "../machine/protocol.ts";
import { shownDiagnostic } from "./diagnostics.ts";

/** What an editor has of its own. */
export interface Own {
  /** What assistive technology calls it. */
  label: string;
  /** The gutters before that of the diagnostics, with the line numbers. */
  gutters: Extension;
  /** The language, and marks in the text. */
  language: Extension;
  /** What has the lowest precedence. */
  last: Extension;
  parent?: HTMLElement;
}

/** After Escape, Tab moves the focus instead of indenting, until something else happens to the editor. */
const leaving: Extension = [
  keymap.of([{ key: "Escape", run: (view) => (view.setTabFocusMode(true), false) }]),
  EditorView.domEventHandlers({
    focus: (_, view) => view.setTabFocusMode(false),
    mousedown: (_, view) => view.setTabFocusMode(false),
  }),
  EditorView.updateListener.of((update) => update.docChanged && update.view.setTabFocusMode(false)),
];

export class TextEditor {
  readonly view: EditorView;
  private diagnostics: readonly Diagnostic[] = [];
  private readonly extensions: Extension;

  constructor({ label, gutters, language, last, parent }: Own) {
    this.extensions = [
      gutters,
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
      closeBrackets(),
      highlightActiveLine(),
      highlightSelectionMatches(),
      search({ top: true }),
      language,
      linter(() => this.diagnostics.map((one) => shownDiagnostic(one, this.view.state.doc.length, (edits) => this.apply(edits))), { delay: 1e9, hideOn: () => null }),
      keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap, indentWithTab]),
      leaving,
      EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false", tabindex: "0" }),
      last,
    ];
    this.view = new EditorView({ state: this.fresh(""), ...(parent && { parent }) });
  }

  /** Returns the state of a text with an empty undo history. */
  protected fresh(text: string): EditorState {
    return EditorState.create({ doc: text, extensions: this.extensions });
  }

  /** Shows another text, from its upper left on. */
  protected set(state: EditorState): void {
    this.diagnostics = [];
    this.view.setState(state);
    this.view.scrollDOM.scrollTo(0, 0);
  }

  get text(): string {
    return this.view.state.doc.toString();
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

  /** Moves the cursor to a position, and optionally the focus. */
  goTo(at: number, focus = true): void {
    const place = Math.min(at, this.view.state.doc.length);
    this.view.dispatch({
      selection: EditorSelection.cursor(place),
      effects: EditorView.scrollIntoView(place, { y: "center" }),
    });
    if (focus) this.view.focus();
  }

  lineOf(at: number): number {
    return this.view.state.doc.lineAt(Math.min(at, this.view.state.doc.length)).number;
  }
}
