// Lines that are linked by colour with lines of another editor: a bar in front of each, a background for those that are selected there.

import { StateEffect, StateField, type Extension, type Text } from "@codemirror/state";
import { Decoration, EditorView, type DecorationSet } from "@codemirror/view";

/** Number of colours, as in style/shader.css. */
export const COLORS = 8;

/** Lines with the colours of what they are linked with. */
export interface Linked {
  /** Positions in the first and the last line. */
  from: number;
  to: number;
  colors: readonly number[];
}

/** A selected part: positions in its first and last line. */
export type Part = Pick<Linked, "from" | "to">;

const setLinks = StateEffect.define<readonly Linked[]>();
const setSelected = StateEffect.define<readonly Part[]>();

/** Calls a function with the begin of each line of a part that is inside of the text. */
function eachLine(doc: Text, { from, to }: Part, call: (begin: number) => void): void {
  if (from > doc.length) return;
  const last = doc.lineAt(Math.min(to, doc.length)).number;
  for (let line = doc.lineAt(from).number; line <= last; line++) call(doc.line(line).from);
}

/** A field of decorations, one for each line, which an effect replaces. */
function field<T extends Part>(effect: ReturnType<typeof StateEffect.define<readonly T[]>>, decoration: (part: T) => Decoration): StateField<DecorationSet> {
  return StateField.define<DecorationSet>({
    create: () => Decoration.none,
    update(set, transaction) {
      set = set.map(transaction.changes);
      for (const one of transaction.effects) {
        if (!one.is(effect)) continue;
        const lines = new Map<number, Decoration>();
        for (const part of one.value) eachLine(transaction.newDoc, part, (begin) => lines.set(begin, decoration(part)));
        set = Decoration.set([...lines].map(([begin, shown]) => shown.range(begin)), true);
      }
      return set;
    },
    provide: (own) => EditorView.decorations.from(own),
  });
}

/** Returns the bar of a line: its colours, one below the other. */
function bar(colors: readonly number[]): string {
  const shown = colors.slice(0, 4);
  const stops = shown.map((color, n) => `var(--link-${color}) ${(n / shown.length) * 100}% ${((n + 1) / shown.length) * 100}%`);
  return `--link: linear-gradient(${stops.join(", ")})`;
}

const links = field(setLinks, ({ colors }) => Decoration.line({ class: "cm-link", attributes: { style: bar(colors) } }));
const selected = field(setSelected, () => Decoration.line({ class: "cm-link-on" }));

/** `pointed` gets the position that the pointer is over; `undefined` when it has left. */
export function linked(pointed: (at: number | undefined) => void): Extension {
  return [
    links,
    selected,
    EditorView.domEventHandlers({
      mousemove: (event, view) => pointed(view.posAtCoords({ x: event.clientX, y: event.clientY }) ?? undefined),
      mouseleave: () => pointed(undefined),
    }),
  ];
}

export function showLinks(view: EditorView, list: readonly Linked[]): void {
  view.dispatch({ effects: setLinks.of(list) });
}

export function showSelected(view: EditorView, list: readonly Part[]): void {
  view.dispatch({ effects: setSelected.of(list) });
}
