// The project's examples.

import { byId, h, update } from "../app/dom.ts";
import { count } from "../app/numbers.ts";
import type { Source } from "../machine/protocol.ts";
import type { Draft } from "../model/drafts.ts";
import all from "virtual:examples";

export interface Example {
  name: string;
  /** One-line description. */
  about: string;
  text: string;
  /** Whether the text is GLSL. */
  glsl?: boolean;
  /** Whether it is a scene. */
  scene?: boolean;
  /** Files that it names: name and text. */
  files?: [string, string][];
  /** How much of the machine one must know: an index of `LEVELS`. */
  level: number;
  /** Who made it, if the file says so. */
  author?: string;
}

/** What the examples of a level are called. */
const LEVELS = ["Easy", "For those who know the basics", "Advanced"];

export const first: Source = asSource(all.find((example) => example.name === "plasma") ?? all[0]);

/** Returns the examples in assembly, by title. */
export const examples = (): [string, Source][] => all.filter(({ glsl, scene }) => glsl !== true && scene !== true).map((example) => [`example: ${example.name}`, asSource(example)]);

export interface GalleryEvents {
  open(source: Source, draft?: Draft): void;
  /** Returns the edited programs, the latest first. */
  recent(): Draft[];
}

export class Gallery {
  private readonly dialog = byId("gallery", HTMLDialogElement);
  private readonly drafts = h("section", { class: "drafts", "aria-label": "Your programs" });

  constructor(private readonly events: GalleryEvents) {}

  show(): void {
    if (this.dialog.childElementCount === 0) this.fill();
    const drafts = this.events.recent();
    this.drafts.hidden = drafts.length === 0;
    update(this.drafts, h("h3", {}, "Your programs"), ...drafts.map((draft) => this.draft(draft)));
    this.dialog.showModal();
  }

  private draft(draft: Draft): HTMLElement {
    const { name, text } = draft.source;
    const lines = text.replace(/\n$/, "").split("\n").length;
    const when = new Date(draft.when).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
    return h(
      "button",
      {
        type: "button",
        "data-key": draft.id,
        onclick: () => {
          this.dialog.close();
          this.events.open(draft.source, draft);
        },
      },
      h("b", {}, name || "program"),
      h("span", {}, `${when}, ${count(lines, "line")}`),
    );
  }

  private fill(): void {
    const card = (example: Example): HTMLElement =>
      h(
        "button",
        { type: "button", class: "card", onclick: () => this.choose(example) },
        h("img", { src: `examples/${example.name}.png`, alt: "", width: 160, height: 160, loading: "lazy" }),
        h("b", {}, example.name),
        example.scene === true && h("i", { class: "tag" }, "Scene"),
        example.glsl === true && h("i", { class: "tag" }, "GLSL"),
        h("span", {}, example.about),
        example.author !== undefined && h("small", {}, `by ${example.author}`),
      );
    const levels = LEVELS.map((title, level) => ({ title, cards: all.filter((example) => example.level === level).map(card) }));
    const sections = levels.filter(({ cards }) => cards.length > 0).map(({ title, cards }) => h("section", { class: "level", "aria-label": title }, h("h3", {}, title), h("div", { class: "cards" }, ...cards)));
    const empty: Example = { name: "new", about: "temp[0] is (u, v, 0, 1); this draws it.", text: EMPTY, level: 0 };
    const fresh = h(
      "button",
      { type: "button", class: "card new", onclick: () => this.choose(empty) },
      h("span", { class: "blank", "aria-hidden": "true" }, "+"),
      h("b", {}, "A new program"),
      h("span", {}, empty.about),
    );
    const freshShader = h(
      "button",
      {
        type: "button",
        class: "card new",
        onclick: () => {
          this.dialog.close();
          this.events.open(newShader);
        },
      },
      h("span", { class: "blank", "aria-hidden": "true" }, "+"),
      h("b", {}, "A new shader"),
      h("span", {}, "In GLSL, with mainImage as ShaderToy has it."),
    );
    this.dialog.append(
      h(
        "header",
        {},
        h("h2", { id: "gallery-title" }, "Examples"),
        h("button", { type: "button", class: "quiet", "aria-label": "Close", onclick: () => this.dialog.close() }, "×"),
      ),
      this.drafts,
      ...sections,
      h("section", { class: "level", "aria-label": "New" }, h("h3", {}, "New"), h("div", { class: "cards" }, fresh, freshShader)),
    );
    this.dialog.addEventListener("click", (event) => event.target === this.dialog && this.dialog.close());
  }

  private choose(example: Example): void {
    this.dialog.close();
    this.events.open(asSource(example));
  }
}

const EMPTY = `-- Red grows to the right, green upward.
SIZE 256 256 ;

OUT TEX_SEM_WAIT LAST src0.rgb = temp[0] :
    out[0].rgb = MAD src0.rgb src0.111 src0.000, out[0].a = MAD src0.1 src0.1 src0.0 ;
`;

/** A shader to begin with. */
export const newShader: Source = {
  name: "shader",
  text: "",
  files: [],
  glsl: `// iTime: seconds. iResolution.xy: the size of the picture in pixels.
void mainImage(out vec4 color, in vec2 place) {
    vec2 uv = place / iResolution.xy;
    color = vec4(uv, 0.5 + 0.5 * sin(iTime), 1.0);
}
`,
};

function asSource(example: Example | undefined): Source {
  const { name, text, glsl, files = [] }: Pick<Example, "name" | "text" | "glsl" | "files"> = example ?? { name: "new", text: EMPTY };
  if (glsl === true) return { name, text: "", glsl: text, files: [] };
  return { name, text, files: files.map(([name, text]) => ({ name, bytes: new TextEncoder().encode(text) })) };
}
