// Verdicts at the ends of `EXPECT` lines: whether the picture meets them.

import { StateEffect, StateField, type Range } from "@codemirror/state";
import { Decoration, EditorView, WidgetType, type DecorationSet } from "@codemirror/view";

import { h } from "../app/dom.ts";

export interface Verdict {
  /** A position in the last line of the expectation. */
  at: number;
  passes: boolean;
  /** The actual value, shown if the expectation is not met. */
  text: string;
}

class Sign extends WidgetType {
  constructor(private readonly verdict: Verdict) {
    super();
  }

  override eq(other: Sign): boolean {
    return other.verdict.passes === this.verdict.passes && other.verdict.text === this.verdict.text;
  }

  override toDOM(): HTMLElement {
    const { passes, text } = this.verdict;
    return h("span", { class: `cm-verdict ${passes ? "passes" : "fails"}` }, passes ? "✓ as expected" : `✗ ${text}`);
  }
}

const setVerdicts = StateEffect.define<readonly Verdict[]>();

export const verdicts = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(set, transaction) {
    set = set.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (!effect.is(setVerdicts)) continue;
      const { newDoc } = transaction;
      const signs = effect.value
        .filter(({ at }) => at <= newDoc.length)
        .map((verdict): Range<Decoration> => Decoration.widget({ widget: new Sign(verdict), side: 1 }).range(newDoc.lineAt(verdict.at).to));
      set = Decoration.set(signs, true);
    }
    return set;
  },
  provide: (field) => EditorView.decorations.from(field),
});

export function showVerdicts(view: EditorView, list: readonly Verdict[]): void {
  view.dispatch({ effects: setVerdicts.of(list) });
}
