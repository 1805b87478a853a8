// The list of problems below the text.

import { h, update } from "../app/dom.ts";
import { markdown } from "../app/markdown.ts";
import type { Diagnostic, TextEdit } from "../machine/protocol.ts";
import type { EditorView } from "@codemirror/view";

/** The editor of the text. */
export interface ProblemEditor {
  readonly view: EditorView;
  goTo(at: number): void;
  apply(edits: readonly TextEdit[]): void;
  lineOf(at: number): number;
}

export interface ProblemActions {
  /** Returns the explanation of a code. */
  explain(code: string): Promise<string | null>;
  /** Formats the text, in languages that have a format. */
  format?(): void;
  fixAll?(): void;
}

export class Problems {
  private readonly list = h("ol");
  private readonly summary = h("p", { class: "summary", "aria-live": "polite" });

  constructor(
    root: HTMLElement,
    private readonly editor: ProblemEditor,
    private readonly actions: ProblemActions,
  ) {
    const { format: toFormat, fixAll: toFix } = actions;
    const fixAll = toFix && h("button", { type: "button", class: "quiet", title: "Apply all safe fixes of the checker", onclick: () => toFix() }, "Fix all");
    const format = toFormat && h("button", { type: "button", class: "quiet", title: "Format the program (Shift Alt F)", onclick: () => toFormat() }, "Format");
    root.append(h("div", { class: "bar" }, this.summary, fixAll, format), this.list);
  }

  /** `instructions` is `undefined` if there is no program. */
  show(diagnostics: readonly Diagnostic[], instructions: number | undefined): void {
    const count = (severity: string) => diagnostics.filter((one) => one.severity === severity).length;
    const told = (n: number, what: string) => (n === 0 ? [] : [`${n} ${what}${n === 1 ? "" : "s"}`]);
    const parts = [...told(count("error"), "error"), ...told(count("warning"), "warning"), ...told(count("note"), "note")];
    const size = instructions === undefined ? "not compiled" : `${instructions} instruction${instructions === 1 ? "" : "s"}`;
    this.summary.textContent = `${size}, ${parts.length === 0 ? "no problems" : parts.join(", ")}`;
    const focused = this.list.contains(document.activeElement);
    update(this.list, ...diagnostics.slice(0, 200).map((one) => this.row(one)));
    this.list.hidden = diagnostics.length === 0;
    // An applied fix disappears with its problem, so the focus moves to the next fix, or to the
    // program.
    if (focused && !this.list.contains(document.activeElement)) (this.list.querySelector<HTMLElement>("button") ?? this.editor.view.contentDOM).focus();
  }

  private row(diagnostic: Diagnostic): HTMLElement {
    const line = this.editor.lineOf(diagnostic.from);
    // A fix says itself what it does.
    const help = diagnostic.help.filter((text) => text !== "" && !diagnostic.fixes.some((fix) => fix.title === text));
    const explain = h(
      "button",
      {
        type: "button",
        class: "code",
        title: `What ${diagnostic.code} means`,
        "aria-expanded": "false",
        onclick: async (event) => {
          const button = event.currentTarget as HTMLButtonElement;
          const page = button.parentElement?.querySelector<HTMLElement>(".page");
          if (!page) return;
          if (page.childElementCount === 0) page.append(...markdown((await this.actions.explain(diagnostic.code)) ?? ""));
          page.hidden = !page.hidden;
          button.setAttribute("aria-expanded", String(!page.hidden));
        },
      },
      diagnostic.code,
    );
    const go = h(
      "button",
      { type: "button", class: "go", onclick: () => this.editor.goTo(diagnostic.from) },
      h("span", { class: "unseen" }, `${diagnostic.severity} on line `),
      h("span", { class: "line" }, `${line}`),
      h("span", { class: "message" }, diagnostic.message),
    );
    const fixes = diagnostic.fixes.map((fix) =>
      h("button", { type: "button", class: fix.resolves ? "fix" : "allow", onclick: () => this.editor.apply(fix.edits) }, fix.title),
    );
    return h(
      "li",
      { class: diagnostic.severity, "data-key": `${diagnostic.code} ${diagnostic.message}` },
      go,
      diagnostic.code !== "" && explain,
      ...fixes,
      help.length > 0 && h("p", { class: "help" }, help.join(" · ")),
      h("div", { class: "page", hidden: true, "data-keep": "" }),
    );
  }
}
