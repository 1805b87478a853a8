// The gutter with the cost of each line of a shader: instructions, and their slots.

import { RangeSet, StateEffect, StateField, type Extension } from "@codemirror/state";
import { gutter, GutterMarker, type EditorView } from "@codemirror/view";

import { h } from "../app/dom.ts";
import { count } from "../app/numbers.ts";
import type { LineCost } from "../machine/protocol.ts";

class Sign extends GutterMarker {
  constructor(
    private readonly cost: LineCost,
    /** The part of the most expensive line's slots. */
    private readonly share: number,
  ) {
    super();
  }

  override eq(other: Sign): boolean {
    return other.cost.instructions === this.cost.instructions && other.cost.slots === this.cost.slots && other.share === this.share;
  }

  override toDOM(): Node {
    const { instructions, slots } = this.cost;
    const title = `${count(instructions, "instruction")}; ${short(slots)} slots, where instructions that compute several lines are shared among them`;
    return h("span", { class: "cost", title, style: `--share: ${Math.round(this.share * 100)}%` }, h("b", {}, String(instructions)), h("i", {}, short(slots)));
  }
}

const short = (slots: number): string => String(Math.round(slots * 10) / 10);

const setCosts = StateEffect.define<readonly LineCost[]>();

const costs = StateField.define<RangeSet<Sign>>({
  create: () => RangeSet.empty,
  update(set, transaction) {
    set = set.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (!effect.is(setCosts)) continue;
      const { newDoc } = transaction;
      const most = Math.max(...effect.value.map(({ slots }) => slots), 1);
      const inside = effect.value.filter(({ line }) => line <= newDoc.lines);
      set = RangeSet.of(inside.map((cost) => new Sign(cost, cost.slots / most).range(newDoc.line(cost.line).from)), true);
    }
    return set;
  },
});

export const costGutter = (): Extension => [
  costs,
  gutter({ class: "cm-costs", markers: (view) => view.state.field(costs), initialSpacer: () => new Sign({ line: 0, instructions: 88, slots: 88.8 }, 0) }),
];

export function showCosts(view: EditorView, list: readonly LineCost[]): void {
  view.dispatch({ effects: setCosts.of(list) });
}
