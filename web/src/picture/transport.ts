// Time, size and target of the picture.

import { byId, h } from "../app/dom.ts";
import { Signal } from "../app/signal.ts";
import { DEPTH, TARGET_NAMES, type Look } from "../machine/protocol.ts";
import { DEFAULT_SIZE } from "../machine/first.ts";
import { SizeDialog } from "./size.ts";

const SIZES = ["", "64x64", "128x128", "256x256", "512x512", "640x360", "1024x1024", "1280x720"];

/** Red, green and blue from 0 to 1, opaque. */
const PLAIN: Look = { channels: 0b0111, range: [0, 1] };

export class Transport {
  readonly playing = new Signal(false);
  readonly time = new Signal(0);
  /** The size of the drawing; the program's own size if `undefined`. */
  readonly size = new Signal<[number, number] | undefined>(undefined);
  /** Counts how often the beginning was asked for. */
  readonly restarted = new Signal(0);
  readonly target = new Signal(0);
  /** The display transform. */
  readonly look = new Signal<Look>(PLAIN);
  private readonly play = h("button", { type: "button", class: "play", onclick: () => this.toggle() });
  private readonly clock = h("input", {
    type: "number",
    step: "0.1",
    value: "0",
    class: "clock",
    "aria-label": "Time in seconds",
    onchange: () => this.seek(Number(this.clock.value)),
  });
  private readonly back = h("button", { type: "button", title: "To the beginning", "aria-label": "To the beginning", onclick: () => this.restart() }, "⇤");
  private readonly rate = h("output", { class: "rate", "aria-label": "Speed" });
  private readonly sizes = h("select", { "aria-label": "Size of the picture", onchange: () => void this.chooseSize() });
  private readonly dialog = new SizeDialog();
  private readonly targets = h("select", { "aria-label": "Render target", onchange: () => (this.target.value = Number(this.targets.value)) });
  private readonly sizing = h("label", {}, "size", this.sizes);
  private readonly moving = h("span", { class: "moving" }, this.play, this.back, h("label", {}, "time", this.clock, "s"));
  private own: [number, number] = DEFAULT_SIZE;
  private readonly channels = ["Red", "Green", "Blue", "Alpha"].map((name, n) =>
    h("button", { type: "button", class: `channel ${name.toLowerCase()}`, title: n === 3 ? "Alpha: show what is transparent" : `${name}; one alone is grey`, "aria-label": `${name} channel`, onclick: () => this.toggleChannel(n) }, name[0]),
  );
  private readonly least = this.end("The value that is shown black", () => this.setRange(Number(this.least.value), this.look.value.range[1]));
  private readonly greatest = this.end("The value that is shown white", () => this.setRange(this.look.value.range[0], Number(this.greatest.value)));
  private readonly looks = h(
    "div",
    { class: "looks", role: "group", "aria-label": "How values are shown" },
    ...this.channels,
    h(
      "span",
      { class: "range" },
      h("label", {}, "black", this.least),
      h("label", {}, "white", this.greatest),
      h("button", { type: "button", title: "From the least to the greatest value of the picture", onclick: () => void this.fitRange() }, "auto"),
      h("button", { type: "button", class: "plain", title: "Values from 0 to 1", "aria-label": "Values from 0 to 1", onclick: () => this.setRange(0, 1) }, "0–1"),
    ),
  );

  private end(label: string, changed: () => void): HTMLInputElement {
    return h("input", { type: "number", step: "any", title: label, "aria-label": label, onchange: changed });
  }

  constructor(
    /** Returns the least and the greatest value of the picture. */
    private readonly extent: () => Promise<[number, number] | undefined>,
  ) {
    byId("transport", HTMLDivElement).append(this.moving, this.rate, h("span", { class: "grow" }), this.targets, this.sizing);
    byId("stage", HTMLDivElement).append(this.looks);
    this.look.watch((look) => this.showLook(look));
    this.target.watch(() => this.showLook(this.look.value));
    this.playing.watch((playing) => {
      this.play.textContent = playing ? "⏸" : "▶";
      this.play.title = playing ? "Pause" : "Play";
      this.play.setAttribute("aria-label", this.play.title);
    });
    this.time.watch((time) => {
      if (document.activeElement !== this.clock) this.clock.value = time.toFixed(2);
    });
  }

  private showLook({ channels, range }: Look): void {
    this.channels.forEach((button, n) => {
      button.setAttribute("aria-pressed", String(((channels >> n) & 1) === 1));
      button.hidden = this.target.value === DEPTH;
    });
    const ends = [this.least, this.greatest];
    ends.forEach((field, n) => document.activeElement !== field && (field.value = String(Number((range[n] ?? n).toPrecision(4)))));
    this.looks.classList.toggle("ranged", range[0] !== 0 || range[1] !== 1);
  }

  private toggleChannel(n: number): void {
    const { channels, range } = this.look.value;
    // The last channel cannot be hidden: without channels nothing is shown.
    const next = channels ^ (1 << n);
    if (next !== 0) this.look.value = { channels: next, range };
  }

  private setRange(from: number, to: number): void {
    const usable = Number.isFinite(from) && Number.isFinite(to) && from !== to;
    if (usable) this.look.value = { ...this.look.value, range: [Math.fround(from), Math.fround(to)] };
    else this.showLook(this.look.value);
  }

  private async fitRange(): Promise<void> {
    const extent = await this.extent();
    if (extent !== undefined) this.setRange(extent[0], extent[1] > extent[0] ? extent[1] : extent[0] + 1);
  }

  /** Sets the choices that the program offers. */
  offer(own: [number, number] | null, moves: boolean, targets: readonly boolean[], depth: boolean): void {
    this.own = own ?? DEFAULT_SIZE;
    this.moving.hidden = !moves;
    if (!moves) this.playing.value = false;
    const chosen = this.sizes.value;
    this.sizes.replaceChildren(
      ...SIZES.map((size) => h("option", { value: size }, size === "" ? `${this.own.join(" × ")}, its own` : size.replace("x", " × "))),
      ...(SIZES.includes(chosen) ? [] : [h("option", { value: chosen }, chosen.replace("x", " × "))]),
      h("option", { value: "other" }, "another…"),
    );
    this.sizes.value = chosen;
    const there = [...targets.slice(0, 4), depth];
    this.targets.replaceChildren(
      ...TARGET_NAMES.flatMap((name, n) =>
        there[n] === true || n === 0 ? [h("option", { value: String(n) }, n === 4 ? "Depth" : `Target ${name}`)] : [],
      ),
    );
    this.targets.hidden = this.targets.options.length < 2;
    if (there[this.target.value] !== true) this.target.value = 0;
    this.targets.value = String(this.target.value);
  }

  /** Hides the choice of a size, because the program has one alone. */
  fixSize(fixed: boolean): void {
    this.sizing.hidden = fixed;
  }

  get pixels(): [number, number] {
    return this.pixelsOf(this.own);
  }

  /** The size of the drawing of a program with this size of its own. */
  pixelsOf(own: [number, number] | null): [number, number] {
    return this.size.value ?? own ?? DEFAULT_SIZE;
  }

  toggle(): void {
    this.playing.value = !this.playing.value;
  }

  /** Returns to the first picture. */
  private restart(): void {
    this.seek(0);
    this.restarted.value++;
  }

  seek(time: number): void {
    this.time.value = Number.isFinite(time) ? time : 0;
  }

  /** Resets the controls to the program's defaults. */
  reset(time: number): void {
    this.sizes.value = "";
    this.size.value = undefined;
    this.target.value = 0;
    this.look.value = PLAIN;
    this.time.value = time;
  }

  told(text: string, title: string): void {
    this.rate.textContent = text;
    this.rate.title = title;
  }

  private async chooseSize(): Promise<void> {
    if (this.sizes.value !== "other") return this.take(this.sizes.value);
    // Until a size is chosen, the old one is kept.
    const before = this.size.value?.join("x") ?? "";
    this.sizes.value = before;
    const chosen = await this.dialog.ask(this.pixels);
    const text = chosen?.join("x") ?? before;
    if (![...this.sizes.options].some((option) => option.value === text)) {
      this.sizes.prepend(h("option", { value: text }, text.replace("x", " × ")));
    }
    this.sizes.value = text;
    this.take(text);
  }

  private take(text: string): void {
    const [width, height] = text.split("x").map(Number);
    const size = width !== undefined && height !== undefined ? ([width, height] as [number, number]) : undefined;
    if (size?.join() !== this.size.value?.join()) this.size.value = size;
  }
}
