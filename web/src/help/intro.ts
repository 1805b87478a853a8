// What the page is, on the first visit: until it is dismissed, or a pixel was chosen.

import { byId, h } from "../app/dom.ts";
import { lasting } from "../app/storage.ts";

/** Set in the browser's storage when the introduction was seen. */
const SEEN = "r500.seen";

export interface IntroEvents {
  /** Steps through a pixel of the picture. */
  step(): void;
  /** Begins the first lesson. */
  learn(): void;
}

export class Intro {
  private readonly root = byId("intro", HTMLElement);
  /** The note on the picture. */
  private readonly note = h("p", { class: "invitation", "aria-hidden": "true" }, "Click a pixel to step through its run");

  constructor(private readonly events: IntroEvents) {
    if (lasting.getItem(SEEN) !== null) return;
    this.root.append(
      h(
        "p",
        {},
        h("b", {}, "Shaders of a 2005 graphics card, the Radeon R500, run here."),
        " Edit the program, or click any pixel to step through its run.",
      ),
      h(
        "span",
        { class: "actions" },
        h("button", { type: "button", class: "main", onclick: () => this.act(() => this.events.step()) }, "Step through a pixel"),
        h("button", { type: "button", onclick: () => this.act(() => this.events.learn()) }, "Lesson 1"),
        h("button", { type: "button", class: "quiet", "aria-label": "Close the introduction", onclick: () => this.dismiss() }, "×"),
      ),
    );
    byId("stage", HTMLDivElement).querySelector(".frame")?.append(this.note);
    this.root.hidden = false;
  }

  /** Removes the note on the picture: a pixel is stepped through. */
  accepted(): void {
    this.note.remove();
  }

  /** Hides the introduction for good. */
  dismiss(): void {
    lasting.setItem(SEEN, "1");
    this.root.hidden = true;
    this.note.remove();
  }

  private act(run: () => void): void {
    this.dismiss();
    run();
  }
}
