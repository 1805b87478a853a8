// The gutter of breakpoints: a click or F9 sets or removes one, marks move with the text.

import { RangeSet, StateEffect, StateField, type Extension } from "@codemirror/state";
import { gutter, GutterMarker, keymap, type EditorView } from "@codemirror/view";

import { h } from "../app/dom.ts";

/** Something to be marked beside a line. */
export interface Mark {
  /** A place in that line. */
  at: number;
  kind: "break" | "conditional" | "step";
  /** The address of the instruction. */
  address: number;
}

class Sign extends GutterMarker {
  override readonly elementClass: string;

  constructor(
    readonly kind: Mark["kind"],
    readonly address: number,
  ) {
    super();
    this.elementClass = `cm-${kind}`;
  }

  override eq(other: Sign): boolean {
    return other.kind === this.kind && other.address === this.address;
  }

  override toDOM(): Node {
    return h("span", { class: this.kind, "aria-hidden": "true" });
  }
}

const setMarks = StateEffect.define<readonly Mark[]>();

const marks = StateField.define<RangeSet<Sign>>({
  create: () => RangeSet.empty,
  update(set, transaction) {
    set = set.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (!effect.is(setMarks)) continue;
      const { length } = transaction.newDoc;
      const inside = effect.value.filter(({ at }) => at <= length);
      set = RangeSet.of(inside.map(({ at, kind, address }) => new Sign(kind, address).range(at)), true);
    }
    return set;
  },
});

/** The gutter. `toggle` gets a line's first and last place and where in it one is meant; whether it took that. */
export function breaks(toggle: (from: number, to: number, at: number) => boolean): Extension {
  return [
    marks,
    gutter({
      class: "cm-breaks",
      renderEmptyElements: true,
      markers: (view) => view.state.field(marks),
      initialSpacer: () => new Sign("break", 0),
      domEventHandlers: {
        mousedown: (_, line, event) => (event as MouseEvent).button === 0 && toggle(line.from, line.to, line.from),
      },
    }),
    keymap.of([
      {
        key: "F9",
        run: (view) => {
          const { head } = view.state.selection.main;
          const { from, to } = view.state.doc.lineAt(head);
          toggle(from, to, head);
          return true;
        },
      },
    ]),
  ];
}

export function showMarks(view: EditorView, list: readonly Mark[]): void {
  view.dispatch({ effects: setMarks.of(list) });
}

/** Where the breakpoints' marks are now, after whatever was typed. */
export function markedBreaks(view: EditorView): { at: number; address: number }[] {
  const found: { at: number; address: number }[] = [];
  for (let cursor = view.state.field(marks).iter(); cursor.value !== null; cursor.next()) {
    if (cursor.value.kind !== "step") found.push({ at: cursor.from, address: cursor.value.address });
  }
  return found;
}
