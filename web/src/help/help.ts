// Help: lessons, the guide, a language summary, keys.

import { byId, h } from "../app/dom.ts";
import { inline } from "../app/markdown.ts";
import type { Lessons } from "../lessons/lessons.ts";
import glsl from "virtual:glsl";
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

  /** Scrolls to a part. The address stays: it may hold a program. */
  private jump(event: Event, title: string): void {
    event.preventDefault();
    const part = byId(idOf(title), HTMLHeadingElement);
    part.tabIndex = -1;
    part.scrollIntoView();
    part.focus();
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
        h("p", { class: "contents" }, ...["Lessons", "The language", "Keys", "From GLSL"].map((title) => h("a", { href: `#${idOf(title)}`, onclick: (event) => this.jump(event, title) }, title))),
        h("h3", { id: idOf("Lessons") }, "Lessons"),
        this.lessons.list(() => this.dialog.close()),
        this.guide(),
        h("h3", { id: idOf("The language") }, "The language"),
        table(LANGUAGE),
        h("h3", { id: idOf("Keys") }, "Keys"),
        table(KEYS),
        h("h3", { id: idOf("From GLSL") }, "From GLSL"),
        h("p", {}, "x, y, z are vec3 values in the colours of a temporary, s and t floats in the alpha of one; r is the result, m and n are temporaries."),
        ...glsl.map(({ title, rows }) =>
          h(
            "table",
            { class: "glsl" },
            h("thead", {}, h("tr", {}, h("th", { scope: "col" }, title), h("th", { scope: "col" }, "R500"), h("th", { scope: "col" }, "note"))),
            h("tbody", {}, ...rows.map((row) => h("tr", {}, h("td", {}, h("code", {}, row.glsl)), h("td", {}, h("code", {}, row.program)), h("td", {}, ...inline(row.note))))),
          ),
        ),
      ),
    );
  }

  /** Returns links to pages of the guide; what to do if the page was built without it. */
  private guide(): HTMLElement {
    if (!guide) return h("p", {}, "This page was built without the guide: it is the folder ", h("code", {}, "docs/src"), " of the project, and ", h("code", {}, "web/build --install"), " adds it.");
    const link = (page: string, title: string): HTMLElement => h("a", { href: `guide/${page}.html`, target: "_blank", rel: "noopener" }, title);
    return h("p", {}, link("index", "The guide"), ": ", link("language", "the whole language"), ", ", link("machine", "what a program does"), ", ", link("glsl-to-r500", "from GLSL to R500"), ", ", link("exercises", "exercises"), ", ", link("page", "this page"), ".");
  }
}

const idOf = (title: string): string => `help-${title.toLowerCase().replaceAll(" ", "-")}`;
