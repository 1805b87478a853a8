// The program's textures: what is bound, and what can be.

import { h } from "../app/dom.ts";
import type { Analysis, NamedFile } from "../machine/protocol.ts";

export interface TextureEvents {
  /** Binds a texture: what stands behind `TEXTURE tex[n] =`. */
  bind(unit: number, what: string): void;
  /** Takes a picture file for a unit. */
  take(unit: number, file: File): void;
}

/** What can be had without a file. */
const BUILT_IN: [string, string][] = [
  ["checker(64, 64, 8) nearest wrap", "Chessboard"],
  ["gradient(64, 64) linear clamp", "Gradient"],
  ["noise(64, 64, 1) linear wrap", "Noise"],
  ["noise(8, 8, 5) linear wrap", "Coarse noise"],
];

export class TexturesPane {
  readonly root = h("div", { class: "textures" });

  constructor(private readonly events: TextureEvents) {}

  show(analysis: Analysis, files: readonly NamedFile[]): void {
    const free = Array.from({ length: 16 }, (_, unit) => unit).find((unit) => !analysis.textures.some((one) => one.unit === unit));
    this.root.replaceChildren(
      ...analysis.textures.map((texture) => {
        const file = files.find((one) => one.name === texture.file);
        const missing = texture.file !== null && file === undefined;
        const [width, height] = texture.size;
        const what =
          texture.file === null
            ? `${width} × ${height}${texture.levels > 1 ? `, ${texture.levels} levels` : ""}`
            : missing
              ? `${texture.file}: drop this file onto the page`
              : texture.file;
        return this.row(texture.unit, what, missing, file);
      }),
      ...(free === undefined ? [] : [this.row(free, "not bound", false, undefined)]),
      h("p", { class: "empty" }, "A PNG, DDS or KTX2 file dropped onto the page becomes a texture; its bytes stay in this page and go into the link."),
    );
  }

  private row(unit: number, what: string, missing: boolean, file: NamedFile | undefined): HTMLElement {
    const input = h("input", { type: "file", accept: ".png,.dds,.ktx2,image/png", hidden: true, tabindex: "-1", "aria-label": `File for tex[${unit}]` });
    input.addEventListener("change", () => input.files?.[0] && this.events.take(unit, input.files[0]));
    const select = h(
      "select",
      { "aria-label": `Texture for tex[${unit}]` },
      h("option", { value: "" }, "choose…"),
      ...BUILT_IN.map(([source, title]) => h("option", { value: source }, title)),
      h("option", { value: "file" }, "A file…"),
    );
    select.addEventListener("change", () => {
      if (select.value === "file") input.click();
      else if (select.value !== "") this.events.bind(unit, select.value);
      select.value = "";
    });
    const shown =
      file !== undefined && isPng(file.bytes)
        ? h("img", { alt: "", width: 40, height: 40, src: URL.createObjectURL(new Blob([file.bytes as BlobPart], { type: "image/png" })) })
        : null;
    return h("div", { class: missing ? "unit missing" : "unit" }, h("b", {}, `tex[${unit}]`), shown, h("span", {}, what), select, input);
  }
}

const isPng = (bytes: Uint8Array): boolean => bytes[0] === 0x89 && bytes[1] === 0x50;
