// The editor of GLSL.

import { autocompletion, completeAnyWord } from "@codemirror/autocomplete";
import type { EditorState } from "@codemirror/state";
import { EditorView, lineNumbers } from "@codemirror/view";

import { glsl } from "../editor/glsl.ts";
import { linked } from "../editor/links.ts";
import { TextEditor } from "../editor/text-editor.ts";
import { costGutter } from "./costs.ts";

export interface ShaderEditorEvents {
  changed(): void;
  /** The cursor moved to a position. */
  moved(at: number): void;
  /** The pointer is over a position. */
  pointed(at: number | undefined): void;
}

export class ShaderEditor extends TextEditor {
  constructor(events: ShaderEditorEvents) {
    super({
      label: "Shader in GLSL",
      gutters: [lineNumbers(), costGutter()],
      language: [autocompletion({ override: [completeAnyWord], icons: false, activateOnTyping: false }), glsl(), linked((at) => events.pointed(at))],
      last: EditorView.updateListener.of((update) => {
        if (update.docChanged) events.changed();
        if (update.selectionSet) events.moved(update.state.selection.main.head);
      }),
    });
  }

  /** Shows another shader, with an empty undo history, or one that was shown before. Returns the state before. */
  replace(shader: string | EditorState): EditorState {
    const before = this.view.state;
    this.set(typeof shader === "string" ? this.fresh(shader) : shader);
    return before;
  }
}
