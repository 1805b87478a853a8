// The timeline of a run: the address of each step, and the current position.

import { h } from "../app/dom.ts";
import type { Run } from "./stepper.ts";

/** Height of the timeline in pixels. */
const HEIGHT = 26;

export class Timeline {
  readonly root = h("div", { class: "timeline" });
  private readonly canvas = h("canvas", { height: HEIGHT, "aria-hidden": "true" });
  private readonly slider = h("input", { type: "range", min: "0", step: "1", "aria-label": "Position in the run" });
  private run: Run | undefined;
  private position = 0;

  constructor(seek: (position: number) => void) {
    this.root.append(this.canvas, this.slider);
    this.slider.addEventListener("input", () => seek(Number(this.slider.value)));
    this.canvas.addEventListener("pointerdown", (event) => {
      const { left, width } = this.canvas.getBoundingClientRect();
      seek(Math.round(((event.clientX - left) / width) * (this.run?.length ?? 0)));
    });
    new ResizeObserver(() => this.draw()).observe(this.root);
  }

  show(run: Run, position: number): void {
    this.run = run;
    this.position = position;
    this.slider.max = String(run.length);
    this.slider.value = String(position);
    this.slider.setAttribute("aria-valuetext", `${position} of ${run.length} instructions executed`);
    this.draw();
  }

  private draw(): void {
    const { run, canvas } = this;
    const context = canvas.getContext("2d");
    if (run === undefined || context === null) return;
    const ratio = devicePixelRatio || 1;
    const width = this.root.clientWidth;
    const height = HEIGHT;
    canvas.width = Math.max(Math.round(width * ratio), 1);
    canvas.height = Math.round(height * ratio);
    context.scale(ratio, ratio);
    const style = getComputedStyle(canvas);
    const { addresses, length } = run;
    let [least, most] = [Infinity, 0];
    for (const address of addresses) [least, most] = [Math.min(least, address), Math.max(most, address)];
    const step = width / Math.max(length, 1);
    const row = (height - 8) / Math.max(most - least + 1, 1);
    context.fillStyle = style.color;
    // One mark per step, or one per `stride` steps if there are many steps per column.
    const stride = Math.max(1, Math.floor(length / (width * 4)));
    for (let at = 0; at < length; at += stride) {
      const address = (addresses[at] ?? 0) - least;
      context.fillRect(at * step, 4 + address * row, Math.max(step - (step > 4 ? 1 : 0), 1), Math.max(row, 1.5));
    }
    context.fillStyle = style.caretColor;
    context.fillRect(Math.min(this.position * step, width - 2), 0, 2, height);
  }
}
