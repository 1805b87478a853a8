// Sliders and pickers for the program's constants.

import { h, update } from "../app/dom.ts";
import { bitsOf, exact, floatOf } from "../app/numbers.ts";
import type { Analysis, Bits4, Constant, IntConstant } from "../machine/protocol.ts";

export interface ConstantEvents {
  /** Called while a constant is being changed: only the picture is updated. */
  trying(constant: number, value: Bits4): void;
  /** Called when a constant has its new value: the source is updated. */
  changed(constant: number, value: Bits4): void;
  /** Called when an integer constant has a new value. */
  changedInt(number: number, value: IntConstant["value"]): void;
}

/** Channels that are changed together. */
interface Row {
  constant: Constant;
  name: string;
  channel: number;
  channels: number;
  /** Whether the row is a colour. */
  color: boolean;
}

const LETTERS = "rgba";

export class Constants {
  readonly root = h("div", { class: "constants" });
  private shape = "";
  /** The ranges that were set, by the keys of rows: sliders reach from `-range` to `range`. */
  private readonly ranges = new Map<string, number>();
  private readonly inputs = new Map<string, (constant: Constant) => void>();
  private readonly floats = h("div", { class: "floats" });
  private readonly ints = h("div", { class: "ints" });

  constructor(private readonly events: ConstantEvents) {
    this.root.append(this.floats, this.ints);
  }

  /** Shows the constants; of a shader, only those that are uniforms: the others are numbers in its text. */
  show(analysis: Analysis, ofShader: boolean): void {
    const rows = analysis.constants.flatMap((constant) => rowsOf(constant)).filter(({ name, constant }) => !ofShader || constant.uniforms.some((one) => one.name === name));
    const ints = ofShader ? [] : analysis.ints;
    update(this.ints, ...ints.map((int) => this.intRow(int)));
    const shape = JSON.stringify([ofShader, rows.map((row) => [row.constant.number, row.name, row.channel, row.channels, row.color, row.constant.made_up])]);
    if (shape !== this.shape) {
      this.shape = shape;
      this.inputs.clear();
      this.floats.replaceChildren(
        ...(rows.length > 0 || ints.length > 0
          ? rows.map((row) => this.row(row))
          : ofShader
            ? [h("p", { class: "empty" }, "The shader has no uniforms that can be set. ", h("code", {}, "uniform float speed;"), " declares one.")]
            : [h("p", { class: "empty" }, "The program gives no constants. ", h("code", {}, "const[0] = (0.5, 1, 0, 1) ;"), " gives one, and ", h("code", {}, 'UNIFORM "speed" = const[0].r ;'), " names it.")]),
      );
    }
    // Existing rows keep their controls, so that a slider can continue moving.
    for (const row of rows) this.inputs.get(key(row))?.(row.constant);
  }

  private row(row: Row): HTMLElement {
    const { number } = row.constant;
    let value: Bits4 = [...row.constant.value];
    const channels = Array.from({ length: row.channels }, (_, n) => row.channel + n);
    const set = (changes: [number, number][], final: boolean): void => {
      value = [...value];
      for (const [channel, to] of changes) value[channel] = bitsOf(to);
      if (final) this.events.changed(number, value);
      else this.events.trying(number, value);
    };
    const updates: ((constant: Constant) => void)[] = [];
    const reach = h("input", { type: "number", class: "reach", min: "0", step: "any", "aria-label": `Range of the sliders of ${row.name}`, title: "The sliders reach from minus this number to this number" });
    let showRange = (): void => {};
    reach.addEventListener("change", () => {
      const to = Math.fround(Number(reach.value));
      if (to > 0 && Number.isFinite(to)) this.ranges.set(key(row), to);
      else this.ranges.delete(key(row));
      showRange();
    });
    const label = `${row.name} (const[${number}])`;
    const controls = channels.map((channel) => {
      const name = `${label} ${LETTERS[channel] ?? ""}`;
      const slider = h("input", { type: "range", step: "any", "aria-label": name });
      const field = h("input", { type: "number", step: "any", "aria-label": `${name}, exactly` });
      const at = (): number => floatOf(value[channel] ?? 0);
      slider.addEventListener("input", () => {
        const to = Number(Number(slider.value).toPrecision(3));
        field.value = exact(Math.fround(to));
        set([[channel, to]], false);
      });
      slider.addEventListener("change", () => set([[channel, Number(Number(slider.value).toPrecision(3))]], true));
      field.addEventListener("change", () => field.value !== "" && set([[channel, Number(field.value)]], true));
      updates.push((constant) => {
        value = [...constant.value];
        slider.value = String(at());
        if (document.activeElement !== field) field.value = exact(at());
      });
      return { slider, element: h("div", { class: `channel ${LETTERS[channel] ?? ""}` }, h("i", {}, LETTERS[channel] ?? ""), slider, field) };
    });
    showRange = () => {
      const values = channels.map((channel) => floatOf(value[channel] ?? 0));
      const range = reachOf(values, this.ranges.get(key(row)));
      if (document.activeElement !== reach) reach.value = String(range);
      controls.forEach(({ slider }, n) => {
        [slider.min, slider.max] = [String(-range), String(range)];
        slider.value = String(values[n] ?? 0);
      });
    };
    // Before the values are set, which the old range would limit. A slider that is being moved keeps its range.
    updates.unshift((constant) => {
      value = [...constant.value];
      if (!controls.some(({ slider }) => slider === document.activeElement)) showRange();
    });
    const picker = row.color && row.channels >= 3 ? this.picker(label, row.channel, () => value, set, updates) : undefined;
    this.inputs.set(key(row), (constant) => updates.forEach((update) => update(constant)));
    return h(
      "fieldset",
      {},
      h("legend", {}, h("b", { title: row.name }, row.name), h("span", {}, row.name.startsWith("const[") ? "" : `const[${number}]`), row.constant.made_up && madeUp(), h("label", { class: "range" }, "±", reach), picker),
      ...controls.map(({ element }) => element),
    );
  }

  /** Returns a row for a loop's iterations, first value and step. */
  private intRow(int: IntConstant): HTMLElement {
    const fields = ["iterations", "first aL", "step of aL"].map((name, n) =>
      h(
        "label",
        {},
        h("span", {}, name),
        h("input", {
          type: "number",
          step: "1",
          value: String(int.value[n] ?? 0),
          "aria-label": `int[${int.number}], ${name}`,
          onchange: (event) => {
            const value: IntConstant["value"] = [...int.value];
            value[n] = Math.trunc(Number((event.currentTarget as HTMLInputElement).value));
            this.events.changedInt(int.number, value);
          },
        }),
      ),
    );
    return h("fieldset", { "data-key": String(int.number) }, h("legend", {}, h("b", {}, `int[${int.number}]`), h("span", {}, "a loop"), int.made_up && madeUp()), ...fields);
  }

  private picker(
    label: string,
    first: number,
    value: () => Bits4,
    set: (changes: [number, number][], final: boolean) => void,
    updates: ((constant: Constant) => void)[],
  ): HTMLElement {
    const input = h("input", { type: "color", "aria-label": `${label} as a colour`, title: "As a colour" });
    const changes = (): [number, number][] =>
      [0, 1, 2].map((n) => [first + n, parseInt(input.value.slice(1 + 2 * n, 3 + 2 * n), 16) / 255]);
    input.addEventListener("input", () => set(changes(), false));
    input.addEventListener("change", () => set(changes(), true));
    updates.push(() => {
      const part = (n: number): string =>
        Math.round(Math.min(Math.max(floatOf(value()[first + n] ?? 0) || 0, 0), 1) * 255).toString(16).padStart(2, "0");
      input.value = `#${part(0)}${part(1)}${part(2)}`;
    });
    return input;
  }
}

/** Returns a note that no value is given. */
export const madeUp = (): HTMLElement => h("span", { class: "made-up", title: "The program reads it and nothing gives it: changing it writes it into the program" }, "made up");

/** Returns the range of sliders: the one that was set, or the power of two with some room around the values, but always all values. */
function reachOf(values: readonly number[], set: number | undefined): number {
  const largest = values.reduce((most, value) => (Number.isFinite(value) ? Math.max(most, Math.abs(value)) : most), 0);
  if (set !== undefined && set >= largest) return set;
  return Math.max(1, 2 ** Math.ceil(Math.log2(Math.max(largest, 1e-3) * 1.5)));
}

const key = (row: Row): string => `${row.constant.number} ${row.channel} ${row.name}`;

/** Returns a row for each named part of a constant, and one for unnamed channels; none for what the page sets. */
function rowsOf(constant: Constant): Row[] {
  const named = constant.uniforms
    .filter(({ builtin }) => !builtin)
    .map(({ name, channel, channels, color }) => ({ constant, name, channel, channels, color }));
  const taken = new Set(constant.uniforms.flatMap(({ channel, channels }) => Array.from({ length: channels }, (_, n) => channel + n)));
  const called = constant.name ?? constant.comment;
  const rest: Row[] = [];
  for (let channel = 0; channel < 4; channel++) {
    if (taken.has(channel)) continue;
    let channels = 1;
    while (channel + channels < 4 && !taken.has(channel + channels)) channels++;
    const letters = channels === 4 ? "" : `.${LETTERS.slice(channel, channel + channels)}`;
    const name = called !== null ? `${called}${constant.name === null ? "" : letters}` : `const[${constant.number}]${letters}`;
    rest.push({ constant, name, channel, channels, color: constant.color });
    channel += channels;
  }
  return [...named, ...rest];
}
