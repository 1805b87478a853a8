// The list of problems below the text.

import { h, update } from "../app/dom.ts";
import { markdown } from "../app/markdown.ts";
import { count } from "../app/numbers.ts";
import type { Diagnostic } from "../machine/protocol.ts";
import type { TextEditor } from "./text-editor.ts";

export interface ProblemActions {
  /** Returns the explanation of a code. */
  explain(code: string): Promise<string | null>;
  /** Formats the text, in languages that have a format. */
  format?(): void;
  fixAll?(): void;
}

const LEAVE = "Esc, then Tab leaves the editor";

/** Number of problems that are listed until all are asked for: more take long to show. */
const LISTED = 200;

export class Problems {
  private readonly list = h("ol");
  private readonly more = h("p", { class: "more", hidden: true });
  private readonly fixAll: HTMLButtonElement | undefined;
  private readonly summary = h("p", { class: "summary", "aria-live": "polite" });

  constructor(
    root: HTMLElement,
    private readonly editor: TextEditor,
    private readonly actions: ProblemActions,
  ) {
    const { format: toFormat, fixAll: toFix } = actions;
    this.fixAll = toFix && h("button", { type: "button", class: "quiet", hidden: true, title: "Apply all safe fixes of the checker", onclick: () => toFix() }, "Fix all");
    const format = toFormat && h("button", { type: "button", class: "quiet", title: "Format the program (Shift Alt F)", onclick: () => toFormat() }, "Format");
    root.append(h("div", { class: "bar" }, this.summary, h("span", { class: "leave" }, LEAVE), this.fixAll, format), this.list, this.more);
    // Escape, then Tab leaves the editor, which keeps Tab for itself otherwise.
    const { contentDOM } = editor.view;
    contentDOM.setAttribute("aria-description", LEAVE);
  }

  /** Shows the problems of a program; those of one that assembles may have fixes of the checker. `instructions` is `undefined` if there is no program. */
  show(diagnostics: readonly Diagnostic[], instructions: number | undefined, assembles: boolean, listed = LISTED): void {
    const told = (severity: "error" | "warning" | "note"): string[] => {
      const n = diagnostics.filter((one) => one.severity === severity).length;
      return n === 0 ? [] : [count(n, severity)];
    };
    const parts = [...told("error"), ...told("warning"), ...told("note")];
    const size = instructions === undefined ? "not compiled" : count(instructions, "instruction");
    this.summary.textContent = `${size}, ${parts.length === 0 ? "no problems" : parts.join(", ")}`;
    if (this.fixAll !== undefined) this.fixAll.hidden = !assembles || !diagnostics.some(({ fixes }) => fixes.some(({ resolves }) => resolves));
    const rest = diagnostics.length - listed;
    this.more.hidden = rest <= 0;
    update(this.more, `${count(rest, "more problem")} ${rest === 1 ? "is" : "are"} not listed. `, h("button", { type: "button", onclick: () => this.show(diagnostics, instructions, assembles, Infinity) }, "List all"));
    const focused = this.list.contains(document.activeElement);
    update(this.list, ...diagnostics.slice(0, listed).map((one) => this.row(one)));
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
