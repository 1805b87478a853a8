// A shader that is pasted in place of the whole program opens as GLSL.

import { EditorView } from "@codemirror/view";
import type { Extension } from "@codemirror/state";

import { isShader } from "../editor/glsl.ts";
import { isScene } from "../scene/kind.ts";

export function pasting(open: (text: string) => void): Extension {
  return EditorView.domEventHandlers({
    paste: (event, view) => {
      const text = event.clipboardData?.getData("text/plain") ?? "";
      const { from, to } = view.state.selection.main;
      const rest = view.state.sliceDoc(0, from) + view.state.sliceDoc(to);
      if (rest.trim() !== "" || isScene(text) || !isShader(text)) return false;
      event.preventDefault();
      open(text);
      return true;
    },
  });
}
