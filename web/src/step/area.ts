// Queries over the whole picture: the work of its pixels, and the pixel that first makes a
// condition true.

import { h } from "../app/dom.ts";
import { count } from "../app/numbers.ts";
import { instructions } from "../machine/limit.ts";
import { Stopped, type Pool, type View } from "../machine/pool.ts";
import type { Stage } from "../picture/stage.ts";
import { Refining } from "./refining.ts";

export interface AreaEvents {
  /** Returns the view of the shown picture, after the animation has stopped. */
  view(): Promise<View | undefined>;
  /** Called when a pixel was found, with the position in its run. */
  found(pixel: [number, number], position: number): void;
}

/** Milliseconds between two updates with partial results. */
const LOOK = 100;

const number = (n: number): string => n.toLocaleString("en", { maximumFractionDigits: 1 });

export class AreaPane {
  readonly root: HTMLElement;
  private readonly heat = h(
    "select",
    { "aria-label": "Heat map", onchange: () => void this.show() },
    h("option", { value: "" }, "none"),
    h("option", { value: "0" }, "instructions a pixel executes"),
    h("option", { value: "1" }, "instructions it waits for others"),
  );
  private readonly condition = h("input", { type: "text", placeholder: "out[0].r > 1", spellcheck: false, "aria-label": "Condition that a pixel is searched for" });
  private readonly said = h("output", { class: "soft" });
  private readonly scale = h("span", { class: "scale", "aria-hidden": "true", hidden: true });
  private readonly share = h("progress", { max: 1, value: 0, "aria-label": "Pixels asked" });
  private readonly going = h(
    "div",
    { class: "going", hidden: true },
    this.share,
    h("button", { type: "button", onclick: () => this.stop() }, "Stop"),
  );
  /** The known counts of the pixels' work. */
  private kept: { view: View; counts: Refining } | undefined;
  private asking: AbortController | undefined;
  /** Number of pixel groups that did not end. */
  private stopped = 0;

  constructor(
    private readonly pool: Pool,
    private readonly stage: Stage,
    private readonly events: AreaEvents,
  ) {
    this.root = h(
      "section",
      { class: "area-query", "aria-label": "All pixels" },
      h("h2", {}, "All pixels"),
      h(
        "form",
        {
          onsubmit: (event) => {
            event.preventDefault();
            void this.search();
          },
        },
        h("label", {}, "Which pixel first has ", this.condition),
        h("button", { type: "submit" }, "Find"),
        h("label", {}, "Heat map ", this.heat),
      ),
      this.going,
      h("p", { class: "said" }, this.scale, this.said),
    );
    this.root.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.asking !== undefined) this.stop();
    });
  }

  /** Discards all results after the picture changed. */
  stale(): void {
    this.asking?.abort();
    // Partial results of the pending query are discarded, too.
    this.asking = undefined;
    this.going.hidden = true;
    this.kept = undefined;
    this.said.textContent = "";
    if (this.heat.value === "") return;
    this.heat.value = "";
    this.draw();
  }

  private stop(): void {
    this.asking?.abort();
  }

  private async show(): Promise<void> {
    const part = this.heat.value;
    if (part === "") {
      this.stop();
      this.draw();
      this.said.textContent = "";
      return;
    }
    const view = await this.events.view();
    // Drawing the last picture may have reset the selection.
    this.heat.value = part;
    if (view === undefined) {
      this.said.textContent = "There is no heat map: the program does not assemble";
      return;
    }
    if (this.kept?.view !== view || (!this.kept.counts.done && this.asking === undefined)) {
      const [width, height] = view.size;
      const kept = { view, counts: new Refining(width, height, 2) };
      await this.query(view, undefined, kept.counts, (over) => {
        this.kept = kept;
        this.draw();
        this.summary(over);
      });
    }
    this.draw();
    if (this.asking === undefined) this.summary(true);
  }

  /** Shows the known values of the selected count. */
  private draw(): void {
    const part = this.heat.value;
    const counts = this.kept?.counts;
    this.scale.hidden = part === "" || counts === undefined;
    if (part === "" || counts === undefined) return this.stage.showHeat(undefined);
    const { width, height, numbers } = counts;
    const values = numbers.filter((_, at) => at % 2 === Number(part));
    this.stage.showHeat({ width, height, values, most: greatest(values) });
  }

  private summary(over: boolean): void {
    const counts = this.kept?.counts;
    if (this.heat.value === "" || counts === undefined) return;
    const values = counts.numbers.filter((_, at) => at % 2 === Number(this.heat.value));
    const sum = values.reduce((all, one) => all + one, 0);
    const told = `black is 0, white ${number(greatest(values))}; ${number(sum / values.length)} on average`;
    const part = !over ? "so far: " : counts.done ? "" : `stopped, of ${Math.round(counts.share * 100)}% of the pixels: `;
    const cut = this.stopped === 0 ? "" : `. ${count(this.stopped, "group")} of pixels ${this.stopped === 1 ? "does" : "do"} not end within ${number(instructions.value)} instructions`;
    const none = this.stopped > 0 && greatest(values) === 0 ? "There is nothing to show" : part + told;
    this.said.textContent = none + cut;
  }

  private async search(): Promise<void> {
    const condition = this.condition.value.trim();
    const view = await this.events.view();
    if (view === undefined || condition === "") return;
    const [width, height] = view.size;
    const seen = new Refining(width, height, 1);
    const hits = { count: 0, first: undefined as { pixel: [number, number]; position: number } | undefined };
    const asked = await this.query(view, condition, seen, (over) => {
      if (!over) this.said.textContent = `${number(seen.known)} of ${number(width * height)} pixels asked`;
    });
    if (!asked) return;
    // For an unfinished search, only queried pixels count, not extrapolated ones.
    seen.each((x, y, at) => {
      const position = seen.numbers[at] ?? 0;
      if (position === 0) return;
      hits.count++;
      const { first } = hits;
      const earlier = first === undefined || position - 1 < first.position;
      const same = first !== undefined && position - 1 === first.position;
      const lower = same && (y < first.pixel[1] || (y === first.pixel[1] && x < first.pixel[0]));
      if (earlier || lower) hits.first = { pixel: [x, y], position: position - 1 };
    });
    const of = seen.done ? "" : ` of the ${number(seen.known)} asked before it was stopped`;
    if (hits.first === undefined) {
      this.said.textContent = seen.done ? "no pixel ever" : `none${of}`;
      return;
    }
    const { pixel, position } = hits.first;
    this.said.textContent = `${number(hits.count)} pixel${hits.count === 1 ? " does" : "s do"}${of}; first ${pixel.join(", ")}, after ${count(position, "instruction")}`;
    this.events.found(pixel, position);
  }

  /**
   * Queries all pixels. Calls `look` with partial results from time to time and at the end. Returns whether the results
   * are usable.
   */
  private async query(view: View, condition: string | undefined, into: Refining, look: (over: boolean) => void): Promise<boolean> {
    this.asking?.abort();
    const asking = new AbortController();
    this.asking = asking;
    this.stopped = 0;
    this.share.value = 0;
    this.going.hidden = false;
    this.said.textContent = "";
    let looked = performance.now() - LOOK / 2;
    try {
      await this.pool.queryAreas(
        view,
        condition,
        into.areas,
        (areas, { numbers, stopped }) => {
          this.stopped += stopped;
          into.take(areas, new Uint32Array(numbers.buffer));
          if (performance.now() - looked < LOOK) return;
          this.share.value = into.share;
          look(false);
          looked = performance.now();
        },
        asking.signal,
      );
      if (this.asking === asking) this.asking = undefined;
      look(true);
      return true;
    } catch (error) {
      if (this.asking !== asking) return false;
      this.asking = undefined;
      if (!(error instanceof Stopped)) this.said.textContent = error instanceof Error ? error.message : String(error);
      const useful = error instanceof Stopped && into.known > 0;
      if (useful) look(true);
      return useful;
    } finally {
      if (this.asking === undefined) this.going.hidden = true;
    }
  }
}

const greatest = (values: Uint32Array): number => values.reduce((most, one) => Math.max(most, one), 0);
