// Comparison of two programs: sources, pictures, their difference, and the instruction where the
// runs diverge.

import { patience } from "../app/patience.ts";
import { byId, h, message, update } from "../app/dom.ts";
import { Client } from "../machine/client.ts";
import { instructions } from "../machine/limit.ts";
import { sourceRequest, type Compared, type Range, type Source } from "../machine/protocol.ts";

/** Milliseconds after which a comparison is abandoned. */
const PATIENCE = 20_000;

/** Title of the third picture. */
const DIFFERENCE = "Difference × 8";

export interface CompareEvents {
  /** The open program, A, and how it is drawn. */
  own(): { source: Source; size: [number, number]; time: number };
  /** Programs to compare with, by title. */
  others(): [string, Source][];
  /** Steps through a pixel of A. */
  step(pixel: [number, number], position: number): void;
}

/** What the comparison says, in one sentence. */
function verdict(found: Compared): string {
  const pixels = found.pixels.toLocaleString("en");
  if (found.undecided !== null) return `Undecided: ${found.undecided}`;
  return found.differing === 0 ? `All ${pixels} pixels are equal` : `${found.differing.toLocaleString("en")} of ${pixels} pixels differ`;
}

export class Compare {
  private readonly dialog = byId("compare", HTMLDialogElement);
  private worker: Client | undefined;
  private others: [string, Source][] = [];
  private readonly list = h("select", { "aria-label": "Program to compare with", onchange: () => void this.run() });
  private readonly tolerance = h("input", { type: "number", min: "0", step: "any", placeholder: "exact", "aria-label": "Tolerance", onchange: () => void this.run() });
  private readonly said = h("div", { class: "found", role: "status" });
  private readonly pictures = ["A", "B", "Difference"].map((name) => ({ name, canvas: h("canvas", { width: 1, height: 1, role: "img", "aria-label": `Picture: ${name}` }) }));
  private readonly sources = ["A", "B"].map((name) => h("pre", { tabindex: "0", role: "region", "aria-label": `Source of ${name}` }));
  private round = 0;

  constructor(
    private readonly module: Promise<WebAssembly.Module>,
    private readonly events: CompareEvents,
  ) {
    byId("compare-button", HTMLButtonElement).addEventListener("click", () => this.show());
    this.dialog.addEventListener("click", (event) => event.target === this.dialog && this.dialog.close());
    this.dialog.append(
      h(
        "header",
        {},
        h("h2", { id: "compare-title" }, "Compare"),
        h("label", {}, "with ", this.list),
        h("label", {}, "tolerance ", this.tolerance),
        h("button", { type: "button", class: "quiet", "aria-label": "Close", onclick: () => this.dialog.close() }, "×"),
      ),
      this.said,
      h("div", { class: "pictures" }, ...this.pictures.map(({ name, canvas }) => h("figure", {}, canvas, h("figcaption", {}, name === "Difference" ? DIFFERENCE : name)))),
      h("div", { class: "sources" }, ...this.sources),
    );
  }

  /** Shows the comparison with one of the other programs. */
  show(): void {
    this.others = this.events.others();
    update(this.list, ...this.others.map(([title], n) => h("option", { value: String(n) }, title)));
    this.dialog.showModal();
    void this.run();
  }

  private async run(): Promise<void> {
    const mine = ++this.round;
    const { source, size, time } = this.events.own();
    const other = this.others[Number(this.list.value)]?.[1];
    if (other === undefined) return this.say("There is no other program to compare with: open one, then come back to this one.");
    this.say("Comparing…");
    this.listings(source, other, undefined);
    const client = (this.worker ??= new Client(this.module));
    if (client.pending > 0) client.restart("another comparison came");
    const timer = setTimeout(() => client.restart("stopped: it takes too long"), patience(PATIENCE));
    const text = this.tolerance.value.trim();
    try {
      await client.ask("load", sourceRequest(source), source.files.map((file) => file.bytes));
      const options = { size, time, tolerance: text === "" ? null : Number(text), limit: instructions.value };
      const found = await client.ask("compare", { other: sourceRequest(other), options }, other.files.map((file) => file.bytes));
      if (mine !== this.round) return;
      this.result(found);
      this.pictures.forEach(({ canvas }, n) => draw(canvas, found.pictures[n], size));
      this.listings(source, other, found);
    } catch (error) {
      if (mine === this.round) this.say(message(error));
    } finally {
      clearTimeout(timer);
    }
  }

  private say(text: string): void {
    update(this.said, h("p", {}, text));
  }

  private result(found: Compared): void {
    const { first, parting } = found;
    const place = (n: 0 | 1): string => {
      const at = parting[n];
      return at === null ? `${"AB"[n] ?? ""} has nothing that the other lacks` : `${"AB"[n] ?? ""} at @${at.address}, step ${at.step}: ${at.text}`;
    };
    update(
      this.said,
      h("p", { class: found.undecided === null && found.differing === 0 ? "same" : "differs" }, verdict(found)),
      ...found.notes.map((note) => h("p", {}, note)),
      first !== null &&
        h(
          "p",
          {},
          `First at pixel ${first.join(", ")}: ${found.text.join("; ")} `,
          h(
            "button",
            {
              type: "button",
              onclick: () => {
                this.dialog.close();
                this.events.step(first, (parting[0]?.step ?? 1) - 1);
              },
            },
            "Step through it",
          ),
        ),
      first !== null && h("p", {}, place(0)),
      first !== null && h("p", {}, place(1)),
    );
  }

  private listings(a: Source, b: Source, found: Compared | undefined): void {
    [a, b].forEach((source, n) => {
      const pre = this.sources[n];
      if (pre === undefined) return;
      const range: Range | null | undefined = found?.parting[n]?.range;
      const marked = range ? [source.text.slice(0, range.from), h("mark", {}, source.text.slice(range.from, range.to)), source.text.slice(range.to)] : [source.text];
      pre.replaceChildren(...marked);
      const mark = pre.querySelector("mark");
      // Only the listing is scrolled, not the dialog, and only vertically.
      if (mark !== null) pre.scrollTop += mark.getBoundingClientRect().top - pre.getBoundingClientRect().top - (pre.clientHeight - mark.offsetHeight) / 2;
      pre.scrollLeft = 0;
    });
  }
}

function draw(canvas: HTMLCanvasElement, bytes: Uint8Array<ArrayBuffer> | undefined, [width, height]: [number, number]): void {
  if (bytes === undefined) return;
  [canvas.width, canvas.height] = [width, height];
  canvas.getContext("2d")?.putImageData(new ImageData(new Uint8ClampedArray(bytes.buffer), width, height), 0, 0);
}
