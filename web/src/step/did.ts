// Display of an instruction's effect on the pixel: operands in words, results, decisions.

import { h } from "../app/dom.ts";
import { exact, floatOf, short } from "../app/numbers.ts";
import type { Did, HalfInWords, OperandInWords } from "../machine/protocol.ts";
import { heading, letters, number, swatch } from "./values.ts";

/** The effect on an ALU. */
type Alu = Extract<Did, { kind: "alu" }>;

/** Temporaries that an operand reads: number, and channels by bit. */
export type Reads = OperandInWords["reads"];

/** `pointed` gets the temporaries of the operand that the pointer is over. */
export function did(step: Did, halves: readonly HalfInWords[], pointed: (reads: Reads) => void): HTMLElement {
  switch (step.kind) {
    case "skipped":
      return h("p", { class: "inactive" }, "The pixel is inactive: it executes nothing.");
    case "alu":
      return h(
        "div",
        { class: "words" },
        ...halves.map((half) => (half.idle ? idle(half) : inWords(step, half, pointed))),
        step.enabled !== 15 && h("p", { class: "soft" }, `The predicate lets ${letters(step.enabled)} through.`),
      );
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
        h("b", {}, step.taken ? `jumps to @${step.next}` : `continues at @${step.next}`),
        ".",
      );
    }
  }
}

const TITLES: Record<HalfInWords["half"], string> = { rgb: "RGB", alpha: "alpha" };

/** Returns a half without effect, in a line. */
function idle({ half, operation, operands }: HalfInWords): HTMLElement {
  const text = [operation, ...operands.map((operand) => operand.text)].join(" ");
  return h("p", { class: "half idle", "data-key": half, title: "Its result is neither written nor forwarded" }, h("b", {}, TITLES[half]), ` idle: ${text}`);
}

/** Returns a half: its operands with their registers and values, its result and where that is written. */
function inWords(step: Alu, { half, operation, operands }: HalfInWords, pointed: (reads: Reads) => void): HTMLElement {
  const isAlpha = half === "alpha";
  const of = (bits: readonly number[]): number[] => (isAlpha ? bits.slice(3) : bits.slice(0, 3));
  const values = (bits: readonly number[]): string => bits.map((one) => brief(floatOf(one))).join(", ");
  const all = (bits: readonly number[]): string => bits.map((one) => exact(floatOf(one))).join(", ");
  const [raw, result] = [of(step.raw), of(step.result)];
  const finished = result.some((bits, n) => bits !== raw[n]);
  const to = written(step, isAlpha ? 8 : 7);
  return h(
    "div",
    { class: "half", "data-key": half },
    h("p", {}, h("b", {}, TITLES[half]), " ", h("code", {}, operation)),
    ...operands.map((operand) => {
      const bits = isAlpha ? [step.alpha[operand.slot] ?? 0] : (step.rgb[operand.slot] ?? []);
      return h(
        "p",
        {
          class: "operand",
          "data-reads": operand.reads.map(([temp]) => `temp[${temp}]`).join(" "),
          onmouseenter: () => pointed(operand.reads),
          onmouseleave: () => pointed([]),
        },
        h("b", {}, "ABC"[operand.slot] ?? ""),
        " = ",
        h("span", { class: "source" }, operand.text),
        // A number has no register: `src0.h` is `1/2`.
        operand.register !== operand.text && h("span", {}, " = ", h("span", { class: "register" }, operand.register)),
        " = ",
        h("span", { class: "value", title: all(bits) }, values(bits)),
        " ",
        !isAlpha && swatch(bits),
      );
    }),
    h(
      "p",
      { class: "outcome" },
      h("b", {}, to === "" ? "result" : to),
      " = ",
      finished && `${values(raw)} → `,
      h("span", { class: "value", title: all(result) }, values(result)),
      " ",
      !isAlpha && swatch(result),
    ),
  );
}

/** Returns a float with four significant digits. */
const brief = (value: number): string => (Number.isFinite(value) && value !== 0 ? short(Number(value.toPrecision(4))) : short(value));

/** Returns where channels of the result are written. */
function written(step: Alu, channels: number): string {
  const parts = step.writes.flatMap((write) => {
    if (!("mask" in write) || (write.mask & channels) === 0) return [];
    const mask = letters(write.mask & channels);
    return write.to === "temp" ? [`temp[${write.number}].${mask}`] : write.to === "output" ? [`out[${write.number}].${mask}`] : [`pred.${mask}`];
  });
  return parts.join(", ");
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
