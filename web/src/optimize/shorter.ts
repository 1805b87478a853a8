// The optimiser's result next to the program: changes linked to lines, costs, and the evidence.

import { byId, h, message, update } from "../app/dom.ts";
import { Stopped } from "../machine/client.ts";
import type { Change, Cost, Optimized, Range, Source } from "../machine/protocol.ts";
import { Listing } from "./listing.ts";

export interface ShorterEvents {
  /** Returns the open program, the ranges of its instructions, and the address of the first. */
  own(): { source: Source; ranges: readonly (Range | null)[]; offset: number };
  optimize(): Promise<Optimized>;
  /** Opens the result in place of the program. */
  open(source: Source): void;
}

const COSTS: [keyof Cost, string][] = [
  ["cycles", "issue cycles"],
  ["slots", "slots"],
  ["temporaries", "temporaries"],
  ["nops", "NOPs"],
];

export class Shorter {
  private readonly dialog = byId("shorter", HTMLDialogElement);
  private readonly said = h("p", { class: "verdict", role: "status" });
  private readonly costs = h("div", { class: "costs" });
  private readonly changes = h("ol", { class: "changes", tabindex: "0", "aria-label": "Changes" });
  private readonly take = h("button", { type: "button", class: "main", hidden: true, onclick: () => this.open() }, "Open the result");
  private readonly listings = [new Listing("Program", (n) => this.chosen(0, n)), new Listing("Result", (n) => this.chosen(1, n))] as const;
  private readonly sources = h("div", { class: "sources" });
  private found: Optimized | undefined;
  private source: Source | undefined;
  private offset = 0;
  private round = 0;

  constructor(private readonly events: ShorterEvents) {
    byId("shorter-button", HTMLButtonElement).addEventListener("click", () => void this.show());
    this.dialog.addEventListener("click", (event) => event.target === this.dialog && this.dialog.close());
    this.dialog.append(
      h(
        "header",
        {},
        h("h2", { id: "shorter-title" }, "Shorter"),
        h("span", { class: "actions" }, this.take, h("button", { type: "button", class: "quiet", "aria-label": "Close", onclick: () => this.dialog.close() }, "×")),
      ),
      this.said,
      h("div", { class: "summary" }, this.costs, this.changes),
      this.sources,
    );
    this.sources.append(
      ...["Program", "Result"].map((name, n) => h("section", { "aria-label": name }, h("h3", {}, name), this.listings[n as 0 | 1].root)),
    );
  }

  private async show(): Promise<void> {
    const mine = ++this.round;
    this.found = undefined;
    this.take.hidden = true;
    this.listings.forEach((listing) => listing.clear());
    this.sources.hidden = true;
    update(this.costs);
    update(this.changes);
    this.say("Searching…", "");
    if (!this.dialog.open) this.dialog.showModal();
    try {
      const found = await this.events.optimize();
      if (mine === this.round) this.result(found);
    } catch (error) {
      if (mine !== this.round) return;
      const more = error instanceof Stopped ? "; the command takes its time: r500 opt" : "";
      this.say(`${message(error)}${more}`, "refused");
    }
  }

  private say(text: string, verdict: string): void {
    this.said.className = `verdict ${verdict}`;
    update(this.said, text);
  }

  private result(found: Optimized): void {
    const { source, ranges, offset } = this.events.own();
    [this.found, this.source, this.offset] = [found, source, offset];
    const better = found.verdict === "proved" || found.verdict === "equal";
    this.take.hidden = !better;
    this.say(found.evidence, found.verdict);
    update(this.costs, costTable(found.cost));
    update(this.changes, ...found.changes.map((change) => this.change(change)));
    this.changes.hidden = found.changes.length === 0;
    const changed = [found.changes.flatMap((change) => change.before), found.changes.flatMap((change) => change.after)].map((list) => new Set(list));
    this.listings[0].show(source.text, ranges, changed[0] ?? new Set());
    this.listings[1].show(found.text, found.ranges, changed[1] ?? new Set());
    this.sources.hidden = !better;
    const [first] = found.changes;
    if (first !== undefined) this.mark(first);
  }

  private change(change: Change): HTMLElement {
    const { before, after, cost, what, why, pass } = change;
    const gained = COSTS.filter(([key]) => cost[0][key] !== cost[1][key]).map(([key, name]) => `${name} ${cost[0][key]} → ${cost[1][key]}`);
    return h(
      "li",
      {},
      h(
        "button",
        {
          type: "button",
          onclick: () => this.mark(change),
        },
        h("b", {}, pass),
        ` ${addresses(before, this.offset)} → ${addresses(after, this.offset)}`,
        h("span", { class: "gain" }, gained.join(", ")),
      ),
      h("p", {}, `${what}; ${why}.`),
    );
  }

  private mark({ before, after }: Change): void {
    this.listings[0].mark(before);
    this.listings[1].mark(after);
  }

  /** Marks the chosen instruction of one side and the corresponding instructions of the other. */
  private chosen(side: 0 | 1, instruction: number): void {
    const origins = this.found?.origins ?? [];
    const results = side === 0 ? origins.flatMap((from, n) => (from.includes(instruction) ? [n] : [])) : [instruction];
    const originals = side === 0 ? [instruction] : [...(origins[instruction] ?? [])].sort((a, b) => a - b);
    this.listings[0].mark(originals);
    this.listings[1].mark(results);
  }

  private open(): void {
    if (this.found === undefined || this.source === undefined) return;
    this.dialog.close();
    const { name, files } = this.source;
    this.events.open({ name: name.endsWith(" shorter") ? name : `${name || "program"} shorter`, text: this.found.text, files });
  }
}

function costTable([before, after]: [Cost, Cost]): HTMLElement {
  const row = ([key, name]: [keyof Cost, string]): HTMLElement => {
    const [from, to] = [before[key], after[key]];
    const share = from === 0 || from === to ? "" : `${to < from ? "−" : "+"}${Math.abs((to / from - 1) * 100).toFixed(0)} %`;
    return h("tr", { class: to < from ? "better" : "" }, h("th", { scope: "row" }, name), ...[from, to].map((n) => h("td", {}, n.toLocaleString("en"))), h("td", {}, share));
  };
  const head = ["Cost", "before", "after", "change"].map((title) => h("th", { scope: "col" }, title));
  return h("table", {}, h("thead", {}, h("tr", {}, ...head)), h("tbody", {}, ...COSTS.map(row)));
}

/** Returns a list of addresses with ranges: `@1–3, @7`. */
function addresses(list: readonly number[], offset: number): string {
  const ranges: [number, number][] = [];
  for (const at of list) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] + 1 === at) last[1] = at;
    else ranges.push([at, at]);
  }
  const texts = ranges.map(([from, to]) => (from === to ? `@${from + offset}` : `@${from + offset}–${to + offset}`));
  return texts.length === 0 ? "nothing" : texts.join(", ");
}
