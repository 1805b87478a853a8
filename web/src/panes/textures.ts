// The program's textures: the bound ones, and the available ones.

import { h, update } from "../app/dom.ts";
import type { Analysis, LiveUnit, NamedFile } from "../machine/protocol.ts";
import { madeUp } from "./constants.ts";

export interface TextureEvents {
  /** Binds a texture: the text after `TEXTURE tex[n] =`. */
  bind(unit: number, what: string): void;
  /** Takes a picture file for a unit. */
  take(unit: number, file: File): void;
  /** Asks for the camera, or turns it off. */
  camera(on: boolean): void;
  /** Plays a video. */
  video(file: File): void;
  /** Returns what a camera or a video shows; empty if it is off. */
  playing(source: "camera" | "video"): string;
}

/** Textures that need no file. */
const BUILT_IN: [string, string][] = [
  ["checker(64, 64, 8) nearest wrap", "Chessboard"],
  ["gradient(64, 64) linear clamp", "Gradient"],
  ["noise(64, 64, 1) linear wrap", "Noise"],
  ["noise(8, 8, 5) linear wrap", "Coarse noise"],
  ["previous out[0] nearest clamp", "The frame before"],
  ["keyboard nearest clamp", "Keyboard"],
  ["camera linear clamp", "Camera"],
  ["video linear clamp", "Video"],
];

export class TexturesPane {
  readonly root = h("div", { class: "textures" });
  /** Object URLs of the shown pictures, by file. */
  private readonly urls = new Map<NamedFile, string>();

  constructor(private readonly events: TextureEvents) {}

  show(analysis: Analysis, files: readonly NamedFile[]): void {
    for (const [file, url] of this.urls) {
      if (files.includes(file)) continue;
      URL.revokeObjectURL(url);
      this.urls.delete(file);
    }
    const free = Array.from({ length: 16 }, (_, unit) => unit).find((unit) => !analysis.textures.some((one) => one.unit === unit));
    update(
      this.root,
      ...analysis.textures.map((texture) => {
        const file = files.find((one) => one.name === texture.file);
        const missing = texture.file !== null && file === undefined;
        const [width, height] = texture.size;
        const what =
          texture.live !== null
            ? this.liveText(texture.live)
            : texture.file === null
            ? `${width} × ${height}${texture.levels > 1 ? `, ${texture.levels} levels` : ""}`
            : missing
              ? `${texture.file}: drop this file here`
              : texture.file;
        return this.row(texture.unit, what, missing, texture.made_up, file, texture.live);
      }),
      ...(free === undefined ? [] : [this.row(free, "not bound", false, false, undefined)]),
      h("p", { class: "empty" }, "A picture (PNG, JPEG, WebP, DDS, KTX2) dropped onto a unit becomes its texture; its bytes stay in this page and go into the link."),
    );
  }

  private liveText({ source, target }: LiveUnit): string {
    if (source === "previous") return `out[${target}] of the frame before`;
    if (source === "keyboard") return "keys: play, click the picture and press";
    return this.events.playing(source) || `${source}: off`;
  }

  /** Returns the control of a camera or a video. */
  private control(unit: number, source: "camera" | "video"): HTMLElement {
    if (source === "camera") {
      const on = this.events.playing("camera") !== "";
      return h("button", { type: "button", class: "live", onclick: () => this.events.camera(!on) }, on ? "Stop the camera" : "Use the camera");
    }
    const input = h("input", {
      type: "file",
      accept: "video/*",
      hidden: true,
      tabindex: "-1",
      "aria-label": `Video for tex[${unit}]`,
      onchange: (event) => {
        // The shown element, which an update keeps.
        const field = event.currentTarget as HTMLInputElement;
        const [picked] = field.files ?? [];
        // The same file can be chosen again.
        field.value = "";
        if (picked !== undefined) this.events.video(picked);
      },
    });
    return h("span", { class: "live" }, h("button", { type: "button", onclick: (event) => ((event.currentTarget as HTMLElement).nextElementSibling as HTMLInputElement).click() }, "Choose a video…"), input);
  }

  private row(unit: number, what: string, missing: boolean, made: boolean, file: NamedFile | undefined, live: LiveUnit | null = null): HTMLElement {
    const input = h("input", {
      type: "file",
      accept: "image/*,.dds,.ktx2",
      hidden: true,
      tabindex: "-1",
      "aria-label": `File for tex[${unit}]`,
      onchange: (event) => {
        const [picked] = (event.currentTarget as HTMLInputElement).files ?? [];
        if (picked !== undefined) this.events.take(unit, picked);
      },
    });
    const select = h(
      "select",
      {
        "aria-label": `Texture for tex[${unit}]`,
        onchange: (event) => {
          const list = event.currentTarget as HTMLSelectElement;
          if (list.value === "file") (list.nextElementSibling as HTMLInputElement).click();
          else if (list.value !== "") this.events.bind(unit, list.value);
          list.value = "";
        },
      },
      h("option", { value: "" }, "choose…"),
      ...BUILT_IN.map(([source, title]) => h("option", { value: source }, title)),
      h("option", { value: "file" }, "A file…"),
    );
    const shown = file !== undefined && isPng(file.bytes) ? h("img", { alt: "", width: 40, height: 40, src: this.url(file) }) : null;
    return h("div", { class: missing ? "unit missing" : "unit", "data-key": String(unit), "data-unit": String(unit) }, h("b", {}, `tex[${unit}]`), shown, h("span", {}, what), made && madeUp(), (live?.source === "camera" || live?.source === "video") && this.control(unit, live.source), select, input);
  }

  private url(file: NamedFile): string {
    const url = this.urls.get(file) ?? URL.createObjectURL(new Blob([file.bytes as BlobPart], { type: "image/png" }));
    this.urls.set(file, url);
    return url;
  }
}

const isPng = (bytes: Uint8Array): boolean => bytes[0] === 0x89 && bytes[1] === 0x50;
