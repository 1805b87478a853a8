// The gutter of breakpoints: a click or F9 sets or removes one; marks move with the text.

import { RangeSet, StateEffect, StateField, type Extension, type Range, type Text } from "@codemirror/state";
import { gutter, GutterMarker, keymap, type EditorView } from "@codemirror/view";

import { h } from "../app/dom.ts";

/** A mark next to a line. */
export interface Mark {
  /** A position in the line. */
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

interface Marks {
  /** The marks at their statements. */
  places: RangeSet<Sign>;
  /** The marks at the beginnings of lines, as the gutter requires. */
  lines: RangeSet<Sign>;
}

const marks = StateField.define<Marks>({
  create: () => ({ places: RangeSet.empty, lines: RangeSet.empty }),
  update(value, transaction) {
    let { places } = value;
    if (transaction.docChanged) places = places.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (!effect.is(setMarks)) continue;
      const { length } = transaction.newDoc;
      const inside = effect.value.filter(({ at }) => at <= length);
      places = RangeSet.of(inside.map(({ at, kind, address }) => new Sign(kind, address).range(at)), true);
    }
    return places === value.places ? value : { places, lines: atLines(places, transaction.newDoc) };
  },
});

function atLines(places: RangeSet<Sign>, doc: Text): RangeSet<Sign> {
  const moved: Range<Sign>[] = [];
  for (let cursor = places.iter(); cursor.value !== null; cursor.next()) moved.push(cursor.value.range(doc.lineAt(cursor.from).from));
  return RangeSet.of(moved, true);
}

/**
 * Returns the gutter. `toggle` gets a line's first and last position and the selected position in it; it returns
 * whether it handled the event.
 */
export function breaks(toggle: (from: number, to: number, at: number) => boolean): Extension {
  return [
    marks,
    gutter({
      class: "cm-breaks",
      renderEmptyElements: true,
      markers: (view) => view.state.field(marks).lines,
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

/** Returns the current positions of the breakpoints' marks, after edits. */
export function markedBreaks(view: EditorView): { at: number; address: number }[] {
  const found: { at: number; address: number }[] = [];
  for (let cursor = view.state.field(marks).places.iter(); cursor.value !== null; cursor.next()) {
    if (cursor.value.kind !== "step") found.push({ at: cursor.from, address: cursor.value.address });
  }
  return found;
}
