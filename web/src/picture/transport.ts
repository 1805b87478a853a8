// Time, size and target of the picture.

import { byId, h } from "../app/dom.ts";
import { Signal } from "../app/signal.ts";
import { TARGET_NAMES } from "../machine/protocol.ts";
import { SizeDialog } from "./size.ts";

const SIZES = ["", "64x64", "128x128", "256x256", "512x512", "640x360", "1024x1024", "1280x720"];

export class Transport {
  readonly playing = new Signal(false);
  readonly time = new Signal(0);
  /** The size to draw at; the program's own if not given. */
  readonly size = new Signal<[number, number] | undefined>(undefined);
  readonly target = new Signal(0);
  private readonly play = h("button", { type: "button", class: "play", onclick: () => this.toggle() });
  private readonly clock = h("input", {
    type: "number",
    step: "0.1",
    value: "0",
    class: "clock",
    "aria-label": "Time in seconds",
    onchange: () => this.seek(Number(this.clock.value)),
  });
  private readonly back = h("button", { type: "button", title: "To the beginning", "aria-label": "To the beginning", onclick: () => this.seek(0) }, "⇤");
  private readonly rate = h("output", { class: "rate", "aria-label": "Speed" });
  private readonly sizes = h("select", { "aria-label": "Size of the picture", onchange: () => void this.chooseSize() });
  private readonly dialog = new SizeDialog();
  private readonly targets = h("select", { "aria-label": "Render target", onchange: () => (this.target.value = Number(this.targets.value)) });
  private readonly moving = h("span", { class: "moving" }, this.play, this.back, this.clock, h("span", { class: "unit" }, "s"));
  private own: [number, number] = [256, 256];

  constructor() {
    byId("transport", HTMLDivElement).append(this.moving, this.rate, h("span", { class: "grow" }), this.targets, this.sizes);
    this.playing.watch((playing) => {
      this.play.textContent = playing ? "⏸" : "▶";
      this.play.title = playing ? "Pause" : "Play";
      this.play.setAttribute("aria-label", this.play.title);
    });
    this.time.watch((time) => {
      if (document.activeElement !== this.clock) this.clock.value = time.toFixed(2);
    });
  }

  /** What the program lets one choose. */
  offer(own: [number, number] | null, moves: boolean, targets: readonly boolean[], depth: boolean): void {
    this.own = own ?? [256, 256];
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

  get pixels(): [number, number] {
    return this.size.value ?? this.own;
  }

  toggle(): void {
    this.playing.value = !this.playing.value;
  }

  seek(time: number): void {
    this.time.value = Number.isFinite(time) ? time : 0;
  }

  /** Back to what a program says. */
  reset(time: number): void {
    this.sizes.value = "";
    this.size.value = undefined;
    this.target.value = 0;
    this.time.value = time;
  }

  told(text: string, title: string): void {
    this.rate.textContent = text;
    this.rate.title = title;
  }

  private async chooseSize(): Promise<void> {
    if (this.sizes.value !== "other") return this.take(this.sizes.value);
    // Until one is chosen, the size is what it was.
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
