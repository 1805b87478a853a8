// Hover and completion, provided by the libraries.

import { autocompletion, snippet, type Completion as Shown, type CompletionResult } from "@codemirror/autocomplete";
import { Prec, StateEffect, StateField, type Extension } from "@codemirror/state";
import { hoverTooltip, keymap, showTooltip, type EditorView, type Tooltip } from "@codemirror/view";


import { h } from "../app/dom.ts";
import { markdown } from "../app/markdown.ts";
import type { Completion, Hover } from "../machine/protocol.ts";

/** Requests about the current text. */
export interface Services {
  hover(at: number): Promise<Hover | null>;
  complete(at: number): Promise<Completion[]>;
}

export function services(ask: Services): Extension {
  return [
    hoverTooltip(
      async (view, at) => {
        const hover = await ask.hover(at).catch(() => null);
        return hover !== null && hover.to <= view.state.doc.length ? tooltip(hover) : null;
      },
      { hoverTime: 350 },
    ),
    autocompletion({
      icons: false,
      override: [
        async (context): Promise<CompletionResult | null> => {
          const word = context.matchBefore(/[\w@]+/);
          const asked = context.explicit || word !== null || context.matchBefore(/[.[(]/) !== null;
          if (!asked) return null;
          const all = await ask.complete(context.pos).catch(() => []);
          const first = all[0];
          if (first === undefined) return null;
          return { from: first.from, options: all.map(shown), validFor: /^[\w@]*$/ };
        },
      ],
    }),
    // The same from the keyboard: the description of the word at the cursor.
    asked,
    Prec.high(keymap.of([
      {
        key: "Mod-i",
        run: (view) => {
          const at = view.state.selection.main.head;
          void ask.hover(at).then((hover) => hover !== null && view.dispatch({ effects: setAsked.of(tooltip(hover)) }));
          return true;
        },
      },
      { key: "Escape", run: close },
    ])),
  ];
}

const setAsked = StateEffect.define<Tooltip | null>();

const asked = StateField.define<Tooltip | null>({
  create: () => null,
  update(tooltip, transaction) {
    for (const effect of transaction.effects) if (effect.is(setAsked)) return effect.value;
    const moved = !transaction.state.selection.eq(transaction.startState.selection);
    return transaction.docChanged || moved ? null : tooltip;
  },
  provide: (field) => showTooltip.from(field),
});

function close(view: EditorView): boolean {
  if (view.state.field(asked) === null) return false;
  view.dispatch({ effects: setAsked.of(null) });
  return true;
}

const tooltip = (hover: Hover): Tooltip => ({
  pos: hover.from,
  end: hover.to,
  above: true,
  create: () => ({ dom: h("div", { class: "hover", role: "tooltip" }, ...markdown(hover.text)) }),
});

function shown(completion: Completion): Shown {
  const info = completion.text === "" ? {} : { info: () => h("div", { class: "hover" }, ...markdown(completion.text)) };
  return {
    label: completion.label,
    detail: completion.detail,
    type: completion.kind,
    ...info,
    apply: (view, shown, from, to) => {
      // An existing space is not inserted again.
      const spaced = /\s/.test(view.state.sliceDoc(to, to + 1));
      const text = spaced ? completion.insert.replace(/ (\$0)?$/, "$1") : completion.insert;
      snippet(template(text))(view, shown, from, to);
    },
  };
}

/** Converts a snippet to the editor's syntax. */
const template = (text: string): string =>
  text.replace(/\$(\d)/g, (_, n: string) => (n === "0" ? "${}" : `\${${n}}`)).replaceAll("${0", "${9");
