// Registers and operands as numbers and colours.

import { h } from "../app/dom.ts";
import { css, exact, floatOf, hex, short } from "../app/numbers.ts";

const LETTERS = ["r", "g", "b", "a"];

/** Returns a cell with a number; its title has the bits and the exact value. */
export function number(bits: number, look = ""): HTMLElement {
  const value = floatOf(bits);
  const odd = Number.isNaN(value) || !Number.isFinite(value);
  return h("td", { class: `${look}${odd ? " odd" : ""}`, title: `${exact(value)}  ${hex(bits)}` }, short(value));
}

export function swatch(bits: readonly number[]): HTMLElement {
  const [r = 0, g = 0, b = 0] = bits.map(floatOf);
  return h("span", { class: "swatch", style: `background: ${css([r, g, b])}`, "aria-hidden": "true" });
}

/**
 * Returns the row of a register: its name, channels and colour. Channels of `changed`, and those of `read` by the next instruction, are
 * marked; channels that were never written are dimmed.
 */
export function row(name: string, bits: readonly number[], written: number, changed: number, read = 0): HTMLElement {
  const cells = bits.map((one, channel) => {
    const was = (written >> channel) & 1;
    const now = (changed >> channel) & 1;
    const reads = (read >> channel) & 1;
    return number(one, `${was === 0 ? "never" : ""}${now === 1 ? " changed" : ""}${reads === 1 ? " read" : ""}`);
  });
  return h("tr", { "data-key": name }, h("th", { scope: "row" }, name), ...cells, h("td", {}, swatch(bits)));
}

/** Returns the channels of a mask as letters. */
export const letters = (mask: number): string => LETTERS.filter((_, n) => (mask >> n) & 1).join("") || "none";

export const heading = (first: string): HTMLElement =>
  h("thead", {}, h("tr", {}, h("th", {}, first), ...LETTERS.map((letter) => h("th", { scope: "col" }, letter)), h("td", {})));
