// Help: lessons, the guide, a language summary, keys.

import { byId, h } from "../app/dom.ts";
import type { Lessons } from "../lessons/lessons.ts";
import guide from "virtual:guide";

const LANGUAGE: [string, string][] = [
  ["src0.rgb = temp[1], src0.a = const[2] :", "sources: three addresses for colours, three for alpha; inline numbers such as 0.5"],
  ["temp[2].rgb = MAD src0.rgb src1.gga -src2.000", "the RGB half: A·B + C; letters pick channels, 0, 1 and h are numbers, - and |…| change signs"],
  [", temp[2].a = RSQ src0.a ;", "the alpha half of the same instruction: RCP, RSQ, SIN, COS, EX2, LN2, MAX, MIN …"],
  ["srcp.rgb = sub", "presubtract: add, sub, neg, neg2 of src0 and src1"],
  ["2.0 * MAD …, clamp MAD …", "the result scaled, or limited to 0…1"],
  ["OUT … : out[0].rgb = …, out[0].a = …", "an output instruction: a colour of render targets A to D"],
  ["TEX temp[1].rgba = LD tex[0].rgba temp[0].rgba ;", "a texture fetch; TEX_SEM_ACQUIRE there and TEX_SEM_WAIT where it is used"],
  ["IF alu ALU_WAIT ; … ELSE ; … ENDIF ;", "branches, by the ALU result that alu[lt].r = … sets"],
  ["LOOP int[0] ; … BREAK IF alu ; … ENDLOOP ;", "loops: int[0] = (iterations, first aL, step) ;"],
  ["pred[ge].rgb = …", "predicate bits, which later instructions test"],
  ["SIZE 256 256 ; NAME \"x\" ;", "the picture"],
  ["const[0] = (1, 0.5, 0, 1) ; -- sky colour", "a constant; the comment names its control"],
  ['UNIFORM "time" = const[0].a ;', "a name for channels; time, resolution, mouse and frame are filled in"],
  ["INPUT temp[0] = (plane(-1, 2, 0), plane(-1, 0, 2), 0, 1) ;", "what the rasteriser writes; without it temp[0] = (u, v, 0, 1)"],
  ["TEXTURE tex[0] = checker(64, 64, 8) ;", "a texture: checker, gradient, noise, file \"x.png\""],
  ["EXPECT out[0] at (0, 0) = (1, 0, 0, 1) ;", "a test: whether it holds stands next to it"],
];

const KEYS: [string, string][] = [
  ["Ctrl Space, Ctrl I", "what may stand here, what this means"],
  ["Shift Alt F", "format"],
  ["F2, F12, Shift F12", "rename, go to the definition, list uses"],
  ["F9", "breakpoint in this line"],
  ["F5, F10, F11", "on to a breakpoint, over, out; with Shift back"],
  ["← → Home End", "step, in the Step pane"],
  ["arrows, Enter, + − 0, f", "in the picture: a pixel, step through it, zoom, full screen"],
];

export class Help {
  private readonly dialog = byId("help", HTMLDialogElement);

  constructor(private readonly lessons: Lessons) {
    byId("help-button", HTMLButtonElement).addEventListener("click", () => this.show());
    this.dialog.addEventListener("click", (event) => event.target === this.dialog && this.dialog.close());
  }

  private show(): void {
    this.dialog.replaceChildren();
    this.fill();
    this.dialog.showModal();
  }

  private fill(): void {
    const table = (rows: [string, string][]): HTMLElement =>
      h("table", {}, h("tbody", {}, ...rows.map(([what, means]) => h("tr", {}, h("td", {}, h("code", {}, what)), h("td", {}, means)))));
    this.dialog.append(
      h(
        "header",
        {},
        h("h2", { id: "help-title" }, "Help"),
        h("button", { type: "button", class: "quiet", "aria-label": "Close", onclick: () => this.dialog.close() }, "×"),
      ),
      h(
        "div",
        { class: "help", tabindex: "0", role: "region", "aria-label": "Help text" },
        h("h3", {}, "Learn it step by step"),
        this.lessons.list(() => this.dialog.close()),
        guide && h("p", {}, h("a", { href: "guide/index.html", target: "_blank", rel: "noopener" }, "The guide"), ": the whole language, what a program does, every word."),
        h("h3", {}, "The language"),
        table(LANGUAGE),
        h("h3", {}, "Keys"),
        table(KEYS),
      ),
    );
  }
}
