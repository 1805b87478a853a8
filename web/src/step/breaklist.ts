// The list of breakpoints, and the form that adds one.

import { h, message, update } from "../app/dom.ts";
import type { Breakpoint } from "../machine/protocol.ts";
import { breakpoint, isPlain, when, type Breakpoints } from "../model/breakpoints.ts";
import type { StepEvents } from "./events.ts";
import type { Stepper } from "./stepper.ts";

const CONDITION = "temp[2].r is nan";
const MESSAGE = "r is {temp[1].r}";

export class BreakpointList {
  readonly root: HTMLElement;
  private readonly rows = h("ul");
  private readonly none = h("p", { class: "soft" }, "None. Click next to a line of the program, or press F9 in it.");
  private readonly condition = h("input", { type: "text", placeholder: CONDITION, spellcheck: false, "aria-label": "Condition of a breakpoint" });
  private readonly hits = h("input", { type: "text", class: "hits", placeholder: "all, 3, % 2", spellcheck: false, "aria-label": "Which of its hits count" });
  private readonly log = h("ol", { class: "log", "aria-label": "Messages of breakpoints" });
  private readonly wrong = h("p", { class: "error", role: "alert", id: "condition-wrong" });
  private readonly kind = h(
    "select",
    { "aria-label": "Kind of breakpoint" },
    h("option", { value: "if" }, "when"),
    h("option", { value: "changes" }, "when this changes"),
    h("option", { value: "at" }, "here, when"),
    h("option", { value: "log" }, "here, log"),
  );

  constructor(
    private readonly breakpoints: Breakpoints,
    private readonly stepper: Stepper,
    private readonly events: StepEvents,
  ) {
    this.root = h(
      "section",
      { class: "breaks", "aria-label": "Breakpoints" },
      h("h2", {}, "Breakpoints"),
      this.rows,
      this.none,
      h(
        "form",
        {
          onsubmit: (event) => {
            event.preventDefault();
            void this.add();
          },
        },
        h("button", { type: "button", onclick: () => this.addAtCursor() }, "At the cursor"),
        h("label", {}, "or ", this.kind),
        this.condition,
        h("label", { class: "hits" }, "hits ", this.hits),
        h("button", { type: "submit" }, "Add"),
      ),
      this.wrong,
      this.log,
    );
    this.condition.addEventListener("input", () => this.refuse(""));
    this.hits.addEventListener("input", () => this.refuse(""));
    this.kind.addEventListener("change", () => {
      const logs = this.kind.value === "log";
      this.condition.placeholder = logs ? MESSAGE : CONDITION;
      this.condition.setAttribute("aria-label", logs ? "Message of a breakpoint" : "Condition of a breakpoint");
      this.refuse("");
    });
    breakpoints.all.watch(() => this.show());
    stepper.moment.watch(() => this.show());
  }

  private addAtCursor(): void {
    const address = this.events.atCursor() ?? this.stepper.moment.value?.address ?? null;
    if (address !== null) this.breakpoints.toggle(breakpoint({ address }));
  }

  private async add(): Promise<void> {
    const text = this.condition.value.trim();
    const hits = this.hits.value.trim();
    const kind = this.kind.value;
    const here = kind === "at" || kind === "log";
    // A place with a hit count needs no condition.
    if (text === "" && !(kind === "at" && hits !== "")) return this.condition.focus();
    const one = breakpoint({
      address: here ? (this.stepper.moment.value?.address ?? this.events.atCursor() ?? null) : null,
      condition: (kind === "if" || kind === "at") && text !== "" ? text : null,
      changes: kind === "changes" ? text : null,
      message: kind === "log" ? text : null,
      hits: hits === "" ? null : hits,
    });
    try {
      await this.events.check(one);
    } catch (error) {
      this.refuse(message(error));
      return this.condition.focus();
    }
    this.breakpoints.toggle(one);
    this.condition.value = "";
    this.hits.value = "";
    this.refuse("");
  }

  /** Shows what is wrong with the condition; nothing if the text is empty. */
  private refuse(why: string): void {
    this.wrong.textContent = why;
    this.condition.setAttribute("aria-invalid", String(why !== ""));
    if (why === "") this.condition.removeAttribute("aria-describedby");
    else this.condition.setAttribute("aria-describedby", this.wrong.id);
  }

  private show(): void {
    const moment = this.stepper.moment.value;
    const hit = moment?.stop === "break" ? moment.breakpoints : [];
    const all = this.breakpoints.all.value;
    update(this.rows, ...all.map((one, n) => this.row(one, hit.includes(n))));
    this.none.hidden = all.length > 0;
    this.log.replaceChildren(...(moment?.log ?? []).map((line) => h("li", {}, line)));
    this.log.hidden = this.log.childElementCount === 0;
  }

  private row(one: Breakpoint, hit: boolean): HTMLElement {
    const { address } = one;
    const plain = isPlain(one);
    const place =
      address !== null &&
      h(
        "button",
        { type: "button", class: "place", title: "Show it in the program", onclick: () => this.events.reveal(address) },
        h("b", {}, `@${address}`),
        " ",
        h("code", {}, this.events.instruction(address)),
      );
    const told = [address === null ? "" : `at @${address}`, when(one)].filter((part) => part !== "").join(", ");
    return h(
      "li",
      { class: `${plain ? "" : "conditional"}${hit ? " hit" : ""}`, "data-key": told },
      h("span", { class: "sign", "aria-hidden": "true" }, plain ? "●" : "◆"),
      place,
      h("span", { class: "when" }, when(one)),
      h("button", { type: "button", class: "quiet", "aria-label": `Remove: ${told}`, title: "Remove", onclick: () => this.breakpoints.toggle(one) }, "×"),
    );
  }
}
