// The pane that steps through a pixel.

import { h, update } from "../app/dom.ts";
import type { Going, Moment, Write } from "../machine/protocol.ts";
import type { Breakpoints } from "../model/breakpoints.ts";
import { BreakpointList } from "./breaklist.ts";
import { did, writes, type Reads } from "./did.ts";
import type { StepEvents } from "./events.ts";
import { lanes } from "./lanes.ts";
import type { Run, Stepper } from "./stepper.ts";
import { Timeline } from "./timeline.ts";
import { heading, row, swatch } from "./values.ts";

type Step = Partial<Going> & Pick<Going, "how">;

/** Selectable limits of instructions in a recording. */
const RECORDED = [10_000, 100_000, 1_000_000, 10_000_000];

const EMPTY = "Click a pixel of the picture, or go to it with the arrow keys and press Enter: its run appears here, instruction by instruction, in either direction.";

export class StepPane {
  readonly root = h("div", { class: "step" });
  private readonly timeline = new Timeline((position) => void this.stepper.go({ how: "seek", position }));
  private readonly head = h("div", { class: "step-head" });
  private readonly body = h("div", { class: "step-body" });
  private readonly said = h("p", { class: "error", role: "alert" });
  private readonly empty = h("p", { class: "empty" });
  private readonly full = h("div", { class: "full" });

  constructor(
    private readonly stepper: Stepper,
    breakpoints: Breakpoints,
    private readonly events: StepEvents,
    areas: HTMLElement,
  ) {
    this.full.append(h("div", { class: "step-bar" }, this.controls(), this.head), this.timeline.root, this.said, this.body);
    const list = new BreakpointList(breakpoints, stepper, events);
    this.root.append(this.empty, this.full, h("div", { class: "step-more" }, list.root, areas));
    stepper.moment.watch(() => this.show());
    stepper.failed.watch((why) => {
      this.said.textContent = why;
      this.show();
    });
    this.root.addEventListener("keydown", (event) => this.key(event));
    // Independent of the focus, and in the capture phase: the browser would reload the page or open
    // its menu.
    addEventListener("keydown", (event) => this.functionKey(event), true);
  }

  private controls(): HTMLElement {
    const button = (sign: string, title: string, going: Step): HTMLElement =>
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
    const { target } = event;
    if (target instanceof HTMLInputElement && target.type !== "range") return;
    if (target instanceof HTMLSelectElement) return;
    const keys: Record<string, Step> = {
      ArrowLeft: { how: "step", backward: true },
      ArrowRight: { how: "step" },
      Home: { how: "seek", position: 0 },
      End: { how: "seek", position: 0xffffffff },
    };
    const going = keys[event.key];
    if (going === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    void this.stepper.go(going);
    event.preventDefault();
  }

  private functionKey(event: KeyboardEvent): void {
    const how = ({ F5: "run", F10: "over", F11: "out" } as const)[event.key];
    if (how === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    if (this.stepper.run.value === undefined) this.events.begin();
    else void this.stepper.go({ how, backward: event.shiftKey });
  }

  private show(): void {
    const run = this.stepper.run.value;
    const moment = this.stepper.moment.value;
    this.full.hidden = run === undefined || moment === undefined;
    this.empty.hidden = !this.full.hidden;
    this.empty.textContent = this.stepper.failed.value || EMPTY;
    if (run === undefined || moment === undefined) return;
    this.timeline.show(run, moment.position);
    update(this.head, ...this.heading(run, moment));
    update(this.body, this.now(run, moment), this.registers(moment), this.machine(moment));
  }

  private heading(run: Run, moment: Moment): (HTMLElement | string)[] {
    const delivered = moment.delivered[0];
    return [
      h("b", {}, `Pixel ${moment.pixel.join(", ")}`),
      h("span", { class: "delivered", title: "What the picture holds at the pixel" }, swatch(delivered)),
      h("span", { class: "soft", title: "Instructions executed, of those recorded" }, `${moment.position.toLocaleString("en")} of ${run.length.toLocaleString("en")}`),
      ...(run.stopped === null && this.stepper.limit.value === RECORDED[2] ? [] : this.limit(run)),
    ];
  }

  /** Returns the reason why the recording ends, and the choice of limits. */
  private limit(run: Run): HTMLElement[] {
    const limit = this.stepper.limit.value;
    return [
      h("span", { class: "warn" }, run.stopped === null ? "" : `The recording ends early: ${run.stopped}`),
      h(
        "label",
        { class: "limit" },
        "Record at most ",
        h(
          "select",
          { onchange: (event) => this.events.recordTo(Number((event.currentTarget as HTMLSelectElement).value)) },
          ...RECORDED.map((one) => h("option", { value: String(one), selected: one === limit }, one.toLocaleString("en"))),
        ),
        " instructions",
      ),
    ];
  }

  /** Returns the next instruction, and the effect of the last one. */
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
    // The words of the halves name what they write.
    const will = coming === null || coming.writes.length === 0 || coming.kind === "alu" ? "" : `writes ${writes(coming)}`;
    const last = done === null ? "" : `before, @${done.address} ${done.writes.length > 0 ? `wrote ${writes(done)}` : done.kind === "skipped" ? "was skipped" : "wrote nothing"}`;
    const told = [will, last].filter((part) => part !== "").join("; ");
    return h(
      "section",
      { class: "now", "aria-label": "Instruction to come", "aria-live": "polite" },
      title,
      coming !== null && did(coming, moment.halves, (reads) => this.point(reads)),
      told !== "" && h("p", { class: "soft before" }, told),
    );
  }

  /** Marks the channels of registers that an operand reads. */
  private point(reads: Reads): void {
    for (const cell of this.body.querySelectorAll(".registers .pointed")) cell.classList.remove("pointed");
    for (const [temp, channels] of reads) {
      const cells = this.body.querySelectorAll(`.registers tr[data-key="temp[${temp}]"] td`);
      [0, 1, 2, 3].filter((n) => ((channels >> n) & 1) === 1).forEach((n) => cells[n]?.classList.add("pointed"));
    }
  }

  /** Marks the operands that read a register. */
  private pointRegister(name: string | null | undefined): void {
    for (const operand of this.body.querySelectorAll<HTMLElement>(".operand")) operand.classList.toggle("pointed", name != null && (operand.dataset["reads"] ?? "").split(" ").includes(name));
  }

  /** Returns the state of the group: lanes, predicate, ALU result, loops, calls. */
  private machine(moment: Moment): HTMLElement {
    const bit = (on: boolean, set: boolean): string => (!set ? "–" : on ? "1" : "0");
    const predicate = [0, 1, 2, 3]
      .map((n) => `${"rgba"[n] ?? ""} ${bit(((moment.predicate >> n) & 1) === 1, ((moment.predicate_set >> n) & 1) === 1)}`)
      .join(" ");
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
    const read = (number: number): number => {
      const reads = moment.halves.filter(({ idle }) => !idle).flatMap(({ operands }) => operands.flatMap((operand) => operand.reads));
      return reads.reduce((mask, [temp, channels]) => (temp === number ? mask | channels : mask), 0);
    };
    const temps = moment.temps.map(([number, written, value]) => row(`temp[${number}]`, value, written, changed("temp", number), read(number)));
    const outputs = moment.outputs.flatMap(([written, value], number) =>
      written !== 0 ? [row(`out[${number}]`, value, written, changed("output", number))] : [],
    );
    const picture = moment.delivered.flatMap((value, number) =>
      number === 0 || (moment.outputs[number]?.[0] ?? 0) !== 0 ? [row(number === 0 ? "picture" : `picture ${"ABCD"[number] ?? ""}`, value, 15, 0)] : [],
    );
    const depth = moment.depth === null ? [] : [row("depth", [moment.depth], 1, 0)];
    return h(
      "section",
      {
        class: "registers",
        "aria-label": "Registers",
        onmouseover: (event) => this.pointRegister(event.target instanceof Element ? event.target.closest("tr")?.getAttribute("data-key") : undefined),
        onmouseleave: () => this.pointRegister(undefined),
      },
      h("table", { class: "values" }, heading("register"), h("tbody", {}, ...temps, ...outputs, ...depth), h("tbody", { class: "picture", title: "What the picture holds at the pixel when the program has ended" }, ...picture)),
    );
  }
}
