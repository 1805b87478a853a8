// The list of breakpoints, and the form that adds one.

import { h, message, update } from "../app/dom.ts";
import type { Breakpoint } from "../machine/protocol.ts";
import { when, type Breakpoints } from "../model/breakpoints.ts";
import type { StepEvents } from "./events.ts";
import type { Stepper } from "./stepper.ts";

export class BreakpointList {
  readonly root: HTMLElement;
  private readonly rows = h("ul");
  private readonly none = h("p", { class: "soft" }, "None. Click next to a line of the program, or press F9 in it.");
  private readonly condition = h("input", { type: "text", placeholder: "temp[2].r is nan", spellcheck: false, "aria-label": "Condition of a breakpoint" });
  private readonly wrong = h("p", { class: "error", role: "alert", id: "condition-wrong" });
  private readonly kind = h(
    "select",
    { "aria-label": "Kind of breakpoint" },
    h("option", { value: "if" }, "when"),
    h("option", { value: "changes" }, "when this changes"),
    h("option", { value: "at" }, "here, when"),
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
        h("button", { type: "submit" }, "Add"),
      ),
      this.wrong,
    );
    this.condition.addEventListener("input", () => this.refuse(""));
    this.kind.addEventListener("change", () => this.refuse(""));
    breakpoints.all.watch(() => this.show());
    stepper.moment.watch(() => this.show());
  }

  private addAtCursor(): void {
    const address = this.events.atCursor() ?? this.stepper.moment.value?.address ?? null;
    if (address !== null) this.breakpoints.toggle({ address, condition: null, changes: null });
  }

  private async add(): Promise<void> {
    const text = this.condition.value.trim();
    const address = this.kind.value === "at" ? (this.stepper.moment.value?.address ?? this.events.atCursor() ?? null) : null;
    const changes = this.kind.value === "changes";
    if (text === "") return this.condition.focus();
    try {
      await this.events.check(text, changes);
    } catch (error) {
      this.refuse(message(error));
      return this.condition.focus();
    }
    this.breakpoints.toggle({ address, condition: changes ? null : text, changes: changes ? text : null });
    this.condition.value = "";
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
    const hit = moment?.stop === "break" ? moment.breakpoint : null;
    const all = this.breakpoints.all.value;
    update(this.rows, ...all.map((one, n) => this.row(one, hit === n)));
    this.none.hidden = all.length > 0;
  }

  private row(one: Breakpoint, hit: boolean): HTMLElement {
    const { address } = one;
    const plain = one.condition === null && one.changes === null;
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
