// Colours of the language's words. The libraries return the kinds of the visible words.

import { StateEffect, StateField, type Extension } from "@codemirror/state";
import { Decoration, EditorView, ViewPlugin, type DecorationSet } from "@codemirror/view";

import { settled } from "../app/dom.ts";
import type { Token } from "../machine/protocol.ts";

/**
 * A request for the kinds of words in the last analysed text; `undefined` if the text has changed
 * since.
 */
export type AskTokens = (from: number, to: number) => Promise<Token[] | undefined>;

const setWords = StateEffect.define<readonly Token[]>();

const words = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(set, transaction) {
    set = set.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (!effect.is(setWords)) continue;
      const { length } = transaction.newDoc;
      const inside = effect.value.filter(([from, to]) => from < to && to <= length);
      set = Decoration.set(inside.map(([from, to, kind]) => Decoration.mark({ class: `word-${kind}` }).range(from, to)));
    }
    return set;
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** Updates the colours of the visible words. */
export async function colour(view: EditorView, ask: AskTokens): Promise<void> {
  const { state, viewport } = view;
  const tokens = await ask(viewport.from, viewport.to).catch(() => undefined);
  if (tokens !== undefined && view.state.doc === state.doc) view.dispatch({ effects: setWords.of(tokens) });
}

export function colouring(ask: AskTokens): Extension {
  const moved = settled(30, (view: EditorView) => void colour(view, ask));
  const plugin = ViewPlugin.define(() => ({
    update: ({ view, viewportChanged, docChanged }) => {
      if (viewportChanged && !docChanged) moved(view);
    },
  }));
  return [words, plugin];
}
