// Display of an instruction's effect on the pixel: operands, results, decisions.

import { h } from "../app/dom.ts";
import type { Did } from "../machine/protocol.ts";
import { heading, letters, number, swatch } from "./values.ts";

export function did(step: Did): HTMLElement {
  switch (step.kind) {
    case "skipped":
      return h("p", { class: "inactive" }, "The pixel is inactive: it executes nothing.");
    case "alu": {
      const operand = (n: number): HTMLElement =>
        h("tr", {}, h("th", { scope: "row" }, "ABC"[n] ?? ""), ...(step.rgb[n] ?? []).map((bits) => number(bits)), number(step.alpha[n] ?? 0), h("td", {}, swatch(step.rgb[n] ?? [])));
      const finished = step.result.some((bits, n) => bits !== step.raw[n]);
      return h(
        "table",
        { class: "values" },
        heading("operand"),
        h(
          "tbody",
          {},
          operand(0),
          operand(1),
          operand(2),
          finished && h("tr", {}, h("th", { scope: "row" }, "raw"), ...step.raw.map((bits) => number(bits)), h("td", {})),
          h("tr", { class: "result" }, h("th", { scope: "row" }, "result"), ...step.result.map((bits) => number(bits)), h("td", {}, swatch(step.result))),
          step.enabled !== 15 && h("tr", {}, h("th", { scope: "row" }, "predicate"), h("td", { colspan: "5" }, `lets ${letters(step.enabled)} through`)),
        ),
      );
    }
    case "tex":
      return h(
        "table",
        { class: "values" },
        heading("texture"),
        h(
          "tbody",
          {},
          h("tr", {}, h("th", { scope: "row" }, "S T R Q"), ...step.coord.map((bits) => number(bits)), h("td", {})),
          step.texel !== null && h("tr", { class: "result" }, h("th", { scope: "row" }, "texel"), ...step.texel.map((bits) => number(bits)), h("td", {}, swatch(step.texel))),
          step.killed && h("tr", {}, h("th", { scope: "row" }, "killed"), h("td", { colspan: "5" }, "the pixel is gone")),
        ),
      );
    case "flow": {
      const wants = step.wants ? "wants to jump" : "does not want to jump";
      const voice = step.voted ? wants : `has no say (it ${wants})`;
      return h(
        "p",
        { class: "decision" },
        `The pixel ${voice}; ${step.favour} of ${step.voters} voters do. The group `,
        h("b", {}, step.taken ? `jumps to @${step.next}` : `goes on to @${step.next}`),
        ".",
      );
    }
  }
}

/** Returns the writes in words. */
export function writes(step: Did): string {
  return step.writes
    .map((write) => {
      switch (write.to) {
        case "temp":
          return `temp[${write.number}].${letters(write.mask)}`;
        case "output":
          return `out[${write.number}].${letters(write.mask)}`;
        case "depth":
          return "depth";
        case "predicate":
          return `pred.${letters(write.mask)}`;
        case "aluResult":
          return `ALU result: ${write.value ? "true" : "false"}`;
      }
    })
    .join(", ");
}
