// Diagnostics of the libraries as the editors show them.

import type { Diagnostic as Shown } from "@codemirror/lint";

import type { Diagnostic, TextEdit } from "../machine/protocol.ts";

/** Returns a diagnostic for a text of `length` units; `apply` applies the edits of a fix. */
export function shownDiagnostic(diagnostic: Diagnostic, length: number, apply: (edits: readonly TextEdit[]) => void): Shown {
  const from = Math.min(diagnostic.from, length);
  const to = Math.min(Math.max(diagnostic.to, from), length);
  return {
    from,
    to,
    severity: diagnostic.severity === "note" ? "info" : diagnostic.severity,
    source: diagnostic.code,
    // A fix says itself what it does.
    message: [diagnostic.message, ...diagnostic.help.filter((text) => !diagnostic.fixes.some((fix) => fix.title === text))].join("\n"),
    actions: diagnostic.fixes.map((fix) => ({ name: fix.title, apply: () => apply(fix.edits) })),
  };
}
