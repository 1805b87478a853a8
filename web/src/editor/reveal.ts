// Scrolling of an editor, but of nothing around it.

import type { EditorView } from "@codemirror/view";

/** Scrolls until a position is visible. */
export function reveal(view: EditorView, at: number): void {
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
