// The pane that steps through a pixel.

import { h } from "../app/dom.ts";
import type { Breakpoint, Going, Moment, Write } from "../machine/protocol.ts";
import { did, writes } from "./did.ts";
import { lanes } from "./lanes.ts";
import type { Run, Stepper } from "./stepper.ts";
import { Timeline } from "./timeline.ts";
import { heading, letters, row, swatch } from "./values.ts";

export interface StepEvents {
  /** The instruction at an address, as it prints. */
  instruction(address: number): string;
  /** To the instruction in the text. */
  reveal(address: number): void;
  /** Another pixel. */
  choose(pixel: [number, number]): void;
  /** The address of the instruction at the editor's cursor. */
  atCursor(): number | undefined;
}

export class StepPane {
  readonly root = h("div", { class: "step" });
  private readonly timeline = new Timeline((position) => void this.stepper.go({ how: "seek", position }));
  private readonly head = h("div", { class: "step-head" });
  private readonly body = h("div", { class: "step-body" });
  private readonly said = h("p", { class: "error", role: "alert" });
  private readonly breakRows = h("ul");
  private readonly noBreaks = h("p", { class: "soft" }, "None. Click next to a line of the program, or press F9 in it.");
  private readonly empty = h(
    "p",
    { class: "empty" },
    "Click a pixel of the picture, or go to it with the arrow keys and press Enter: its run appears here, instruction by instruction, in either direction.",
  );
  private readonly full = h("div", { class: "full" });

  constructor(
    private readonly stepper: Stepper,
    private readonly events: StepEvents,
    survey: HTMLElement,
  ) {
    this.full.append(this.head, this.controls(), this.timeline.root, this.said, this.body);
    this.root.append(this.empty, this.full, this.breakpoints(), survey);
    stepper.moment.watch(() => this.show());
    stepper.failed.watch((why) => {
      this.said.textContent = why;
      this.show();
    });
    stepper.breaks.watch(() => this.showBreaks());
    stepper.moment.watch(() => this.markHit());
    this.root.addEventListener("keydown", (event) => this.key(event));
  }

  private controls(): HTMLElement {
    const button = (sign: string, title: string, going: Going): HTMLElement =>
      h("button", { type: "button", title, "aria-label": title, onclick: () => void this.stepper.go(going) }, sign);
    return h(
      "div",
      { class: "step-controls", role: "toolbar", "aria-label": "Stepping" },
      button("⇤", "To the start (Home)", { how: "seek", position: 0 }),
      button("◀●", "Back to the last breakpoint (Shift F5)", { how: "run", backward: true }),
      button("◀◀", "Back over a loop or call (Shift F10)", { how: "over", backward: true }),
      button("◀", "Back one instruction (←)", { how: "step", backward: true }),
      button("▶", "Forward one instruction (→)", { how: "step" }),
      button("▶▶", "Over a loop or call (F10)", { how: "over" }),
      button("↥", "Out of a loop or call (F11)", { how: "out" }),
      button("▶●", "On to the next breakpoint (F5)", { how: "run" }),
      button("⇥", "To the end (End)", { how: "seek", position: 0xffffffff }),
    );
  }

  private key(event: KeyboardEvent): void {
    if (event.target instanceof HTMLInputElement && event.target.type !== "range") return;
    const back = event.shiftKey;
    const keys: Record<string, Going> = {
      ArrowLeft: { how: "step", backward: true },
      ArrowRight: { how: "step" },
      Home: { how: "seek", position: 0 },
      End: { how: "seek", position: 0xffffffff },
      F5: { how: "run", backward: back },
      F10: { how: "over", backward: back },
      F11: { how: "out", backward: back },
    };
    const going = keys[event.key];
    if (going === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    void this.stepper.go(going);
    event.preventDefault();
  }

  private show(): void {
    const run = this.stepper.run.value;
    const moment = this.stepper.moment.value;
    this.full.hidden = run === undefined || moment === undefined;
    this.empty.hidden = !this.full.hidden;
    if (this.stepper.failed.value !== "" && run === undefined) this.empty.textContent = this.stepper.failed.value;
    if (run === undefined || moment === undefined) return;
    this.timeline.show(run, moment.position);
    this.head.replaceChildren(...this.heading(run, moment));
    this.body.replaceChildren(this.now(run, moment), this.machine(moment), this.registers(moment));
  }

  private heading(run: Run, moment: Moment): (HTMLElement | string)[] {
    const delivered = moment.delivered[0];
    return [
      h("b", {}, `Pixel ${moment.pixel.join(", ")}`),
      h("span", { class: "delivered", title: "What the picture holds at the pixel" }, swatch(delivered)),
      h("span", { class: "soft" }, `${moment.position.toLocaleString("en")} of ${run.length.toLocaleString("en")} instructions executed`),
      ...(run.stopped === null ? [] : [h("span", { class: "warn" }, run.stopped)]),
    ];
  }

  /** The instruction to come, and what the last one did. */
  private now(run: Run, moment: Moment): HTMLElement {
    const { address, coming, done } = moment;
    const end = run.stopped === null ? "The program has ended." : "The recording ends here.";
    const title =
      address === null
        ? h("p", { class: "instruction" }, end)
        : h(
            "button",
            { type: "button", class: "instruction", title: "Show it in the program", onclick: () => this.events.reveal(address) },
            h("b", {}, `@${address}`),
            " ",
            h("code", {}, this.events.instruction(address)),
          );
    const before =
      done === null ? null : h("p", { class: "soft before" }, `Before: @${done.address} ${done.writes.length > 0 ? `wrote ${writes(done)}` : done.kind === "skipped" ? "slept" : "wrote nothing"}`);
    return h(
      "section",
      { class: "now", "aria-label": "Instruction to come", "aria-live": "polite" },
      title,
      coming !== null && did(coming),
      coming !== null && coming.writes.length > 0 && h("p", { class: "soft" }, `writes ${writes(coming)}`),
      before,
    );
  }

  /** What the group holds: lanes, predicate, ALU result, loops, calls. */
  private machine(moment: Moment): HTMLElement {
    const bit = (on: boolean, set: boolean): string => (!set ? "–" : on ? "1" : "0");
    const predicate = [0, 1, 2, 3]
      .map((n) => `${"rgba"[n] ?? ""} ${bit(((moment.predicate >> n) & 1) === 1, ((moment.predicate_set >> n) & 1) === 1)}`)
      .join("  ");
    const rows: [string, string][] = [
      ["predicate", predicate],
      ["ALU result", bit(moment.alu_result, moment.alu_result_set)],
      ["aL", String(moment.al)],
      ["loops", moment.loops.length === 0 ? "none" : moment.loops.map((one) => `${one.count} left (aL ${one.al})`).join(" › ")],
      ["calls", moment.calls.length === 0 ? "none" : moment.calls.map((at) => `@${at}`).join(" › ")],
    ];
    return h(
      "section",
      { class: "machine", "aria-label": "State of the group" },
      lanes(moment, (pixel) => this.events.choose(pixel)),
      h("dl", {}, ...rows.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
    );
  }

  private registers(moment: Moment): HTMLElement {
    const changed = (to: Write["to"], number: number): number =>
      (moment.done?.writes ?? []).reduce((mask, write) => ("number" in write && write.to === to && write.number === number ? mask | write.mask : mask), 0);
    const temps = moment.temps.map(([number, written, value]) => row(`temp[${number}]`, value, written, changed("temp", number)));
    const outputs = moment.outputs.flatMap(([written, value], number) =>
      written !== 0 ? [row(`out[${number}]`, value, written, changed("output", number))] : [],
    );
    const picture = moment.delivered.flatMap((value, number) =>
      number === 0 || (moment.outputs[number]?.[0] ?? 0) !== 0 ? [row(number === 0 ? "picture" : `picture ${"ABCD"[number] ?? ""}`, value, 15, 0)] : [],
    );
    const depth = moment.depth === null ? [] : [row("depth", [moment.depth], 1, 0)];
    return h(
      "section",
      { class: "registers", "aria-label": "Registers" },
      h("table", { class: "values" }, heading("register"), h("tbody", {}, ...temps, ...outputs, ...depth), h("tbody", { class: "picture", title: "What the picture holds at the pixel when the program has ended" }, ...picture)),
    );
  }

  private showBreaks(): void {
    const rows = this.stepper.breaks.value.map((one) => {
      const { address } = one;
      const place = address === null ? null : h(
        "button",
        { type: "button", class: "place", title: "Show it in the program", onclick: () => this.events.reveal(address) },
        h("b", {}, `@${address}`),
        " ",
        h("code", {}, this.events.instruction(address)),
      );
      return h(
        "li",
        { class: one.condition === null && one.changes === null ? "" : "conditional" },
        h("span", { class: "sign", "aria-hidden": "true" }, one.condition === null && one.changes === null ? "●" : "◆"),
        place,
        h("span", { class: "when" }, when(one)),
        h("button", { type: "button", class: "quiet", "aria-label": `Remove: ${told(one)}`, title: "Remove", onclick: () => this.stepper.toggle(one) }, "×"),
      );
    });
    this.breakRows.replaceChildren(...rows);
    this.noBreaks.hidden = rows.length > 0;
    this.markHit();
  }

  /** Marks the breakpoint at which the run stands. */
  private markHit(): void {
    const moment = this.stepper.moment.value;
    [...this.breakRows.children].forEach((row, n) => row.classList.toggle("hit", moment?.stop === "break" && moment.breakpoint === n));
  }

  private breakpoints(): HTMLElement {
    const condition = h("input", { type: "text", placeholder: "temp[2].r is nan", spellcheck: false, "aria-label": "Condition of a breakpoint" });
    const kind = h(
      "select",
      { "aria-label": "Kind of breakpoint" },
      h("option", { value: "if" }, "when"),
      h("option", { value: "changes" }, "when this changes"),
      h("option", { value: "at" }, "here, when"),
    );
    const add = (): void => {
      const text = condition.value.trim();
      const address = kind.value === "at" ? (this.stepper.moment.value?.address ?? this.events.atCursor() ?? null) : null;
      if (text === "") return condition.focus();
      this.stepper.toggle({ address, condition: kind.value === "changes" ? null : text, changes: kind.value === "changes" ? text : null });
      condition.value = "";
    };
    return h(
      "section",
      { class: "breaks", "aria-label": "Breakpoints" },
      h("h2", {}, "Breakpoints"),
      this.breakRows,
      this.noBreaks,
      h(
        "form",
        {
          onsubmit: (event: Event) => {
            event.preventDefault();
            add();
          },
        },
        h(
          "button",
          {
            type: "button",
            onclick: () => {
              const address = this.events.atCursor() ?? this.stepper.moment.value?.address ?? null;
              if (address !== null) this.stepper.toggle({ address, condition: null, changes: null });
            },
          },
          "At the cursor",
        ),
        kind,
        condition,
        h("button", { type: "submit" }, "Add"),
      ),
    );
  }
}

function when(one: Breakpoint): string {
  if (one.changes !== null) return `when ${one.changes} changes`;
  return one.condition === null ? "" : `when ${one.condition}`;
}

function told(one: Breakpoint): string {
  const place = one.address === null ? "" : `at @${one.address}`;
  return [place, when(one)].filter((part) => part !== "").join(", ");
}

export { letters };
