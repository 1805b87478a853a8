// The editor of GLSL.

import { closeBrackets, closeBracketsKeymap, autocompletion, completeAnyWord, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, indentUnit } from "@codemirror/language";
import { forceLinting, linter, lintGutter, lintKeymap } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorSelection, EditorState, type Extension } from "@codemirror/state";
import { drawSelection, dropCursor, EditorView, highlightActiveLine, highlightActiveLineGutter, highlightSpecialChars, keymap, lineNumbers } from "@codemirror/view";

import { shownDiagnostic } from "../editor/diagnostics.ts";
import { glsl } from "../editor/glsl.ts";
import { linked } from "../editor/links.ts";
import type { Diagnostic, TextEdit } from "../machine/protocol.ts";
import { costGutter } from "./costs.ts";

export interface ShaderEditorEvents {
  changed(): void;
  /** The cursor moved to a position. */
  moved(at: number): void;
  /** The pointer is over a position. */
  pointed(at: number | undefined): void;
}

export class ShaderEditor {
  readonly view: EditorView;
  private diagnostics: readonly Diagnostic[] = [];
  private readonly extensions: Extension;

  constructor(events: ShaderEditorEvents) {
    this.extensions = [
      lineNumbers(),
      costGutter(),
      lintGutter(),
      highlightActiveLineGutter(),
      highlightSpecialChars(),
      history(),
      drawSelection(),
      dropCursor(),
      indentUnit.of("    "),
      EditorState.allowMultipleSelections.of(true),
      bracketMatching(),
      closeBrackets(),
      autocompletion({ override: [completeAnyWord], icons: false, activateOnTyping: false }),
      highlightActiveLine(),
      highlightSelectionMatches(),
      search({ top: true }),
      glsl(),
      linked((at) => events.pointed(at)),
      linter(() => this.diagnostics.map((one) => shownDiagnostic(one, this.view.state.doc.length, (edits) => this.apply(edits))), { delay: 1e9, hideOn: () => null }),
      keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap, indentWithTab]),
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ "aria-label": "Shader in GLSL", spellcheck: "false", tabindex: "0" }),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) events.changed();
        if (update.selectionSet) events.moved(update.state.selection.main.head);
      }),
    ];
    this.view = new EditorView({ state: this.fresh("") });
  }

  private fresh(text: string): EditorState {
    return EditorState.create({ doc: text, extensions: this.extensions });
  }

  get text(): string {
    return this.view.state.doc.toString();
  }

  /** Shows another shader, with an empty undo history, or one that was shown before. Returns the state before. */
  replace(shader: string | EditorState): EditorState {
    const before = this.view.state;
    this.diagnostics = [];
    this.view.setState(typeof shader === "string" ? this.fresh(shader) : shader);
    this.view.scrollDOM.scrollTop = 0;
    return before;
  }

  /** Applies edits of the text, which can be undone. */
  apply(edits: readonly TextEdit[]): void {
    this.view.dispatch({ changes: edits.map(({ from, to, text }) => ({ from, to, insert: text })), userEvent: "input.fix" });
  }

  show(diagnostics: readonly Diagnostic[]): void {
    this.diagnostics = diagnostics;
    forceLinting(this.view);
  }

  /** Moves the cursor and the focus to a position. */
  goTo(at: number): void {
    const place = Math.min(at, this.view.state.doc.length);
    this.view.dispatch({ selection: EditorSelection.cursor(place), effects: EditorView.scrollIntoView(place, { y: "center" }) });
    this.view.focus();
  }

  lineOf(at: number): number {
    return this.view.state.doc.lineAt(Math.min(at, this.view.state.doc.length)).number;
  }
}
