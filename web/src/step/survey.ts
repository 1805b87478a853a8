// Over the whole picture: how much its pixels do, and which one first makes a condition true.

import { h } from "../app/dom.ts";
import type { Pool, View } from "../machine/pool.ts";
import type { Stage } from "../picture/stage.ts";

export interface SurveyEvents {
  /** The picture that is shown. */
  view(): View | undefined;
  /** A pixel was found: to the position in its run. */
  found(pixel: [number, number], position: number): void;
}

export class Survey {
  readonly root: HTMLElement;
  private readonly heat = h(
    "select",
    { "aria-label": "Heat map", onchange: () => void this.show() },
    h("option", { value: "" }, "no heat map"),
    h("option", { value: "0" }, "instructions a pixel executes"),
    h("option", { value: "1" }, "instructions it waits for others"),
  );
  private readonly condition = h("input", { type: "text", placeholder: "out[0].r > 1", spellcheck: false, "aria-label": "Condition that a pixel is searched for" });
  private readonly said = h("output", { class: "soft" });
  private kept: { view: View; numbers: Uint32Array } | undefined;
  private round = 0;

  constructor(
    private readonly pool: Pool,
    private readonly stage: Stage,
    private readonly events: SurveyEvents,
  ) {
    this.root = h(
      "section",
      { class: "survey", "aria-label": "All pixels" },
      h("h3", {}, "All pixels"),
      h(
        "form",
        {
          onsubmit: (event: Event) => {
            event.preventDefault();
            void this.search();
          },
        },
        h("label", {}, "Which pixel first has ", this.condition),
        h("button", { type: "submit" }, "Find"),
        this.heat,
      ),
      this.said,
    );
  }

  /** The picture changed: what is known of another one is of no use. */
  stale(): void {
    this.kept = undefined;
    if (this.heat.value === "") return;
    this.heat.value = "";
    this.stage.showHeat(undefined);
    this.said.textContent = "";
  }

  private async show(): Promise<void> {
    const view = this.events.view();
    const part = this.heat.value;
    if (part === "" || view === undefined) {
      this.stage.showHeat(undefined);
      this.said.textContent = "";
      return;
    }
    const numbers = this.kept?.view === view ? this.kept.numbers : await this.survey(view, undefined);
    if (numbers === undefined) return;
    this.kept = { view, numbers };
    const [width, height] = view.size;
    const values = new Uint32Array(width * height);
    let [most, sum] = [0, 0];
    for (let at = 0; at < values.length; at++) {
      const value = numbers[at * 2 + Number(part)] ?? 0;
      values[at] = value;
      most = Math.max(most, value);
      sum += value;
    }
    if (this.heat.value !== part) return;
    this.stage.showHeat({ width, height, values, most });
    const mean = (sum / values.length).toLocaleString("en", { maximumFractionDigits: 1 });
    this.said.textContent = `black is 0, white ${most.toLocaleString("en")}; ${mean} on average`;
  }

  private async search(): Promise<void> {
    const view = this.events.view();
    const condition = this.condition.value.trim();
    if (view === undefined || condition === "") return;
    const numbers = await this.survey(view, condition);
    if (numbers === undefined) return;
    const [width] = view.size;
    let [first, count] = [-1, 0];
    numbers.forEach((position, at) => {
      if (position === 0) return;
      count++;
      if (first < 0 || position < (numbers[first] ?? 0)) first = at;
    });
    if (first < 0) {
      this.said.textContent = "no pixel ever";
      return;
    }
    const pixel: [number, number] = [first % width, Math.floor(first / width)];
    const position = (numbers[first] ?? 1) - 1;
    this.said.textContent = `${count.toLocaleString("en")} pixels do; first ${pixel.join(", ")}, after ${position} instructions`;
    this.events.found(pixel, position);
  }

  private async survey(view: View, condition: string | undefined): Promise<Uint32Array | undefined> {
    const mine = ++this.round;
    this.said.textContent = "asking all pixels…";
    try {
      const numbers = await this.pool.survey(view, condition, (share) => {
        if (mine === this.round) this.said.textContent = `asking all pixels… ${Math.round(share * 100)}%`;
      });
      return mine === this.round ? numbers : undefined;
    } catch (error) {
      if (mine === this.round) this.said.textContent = error instanceof Error ? error.message : String(error);
      return undefined;
    }
  }
}
