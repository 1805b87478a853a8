// The question which texture a dropped picture replaces.

import { h } from "../app/dom.ts";
import type { Analysis } from "../machine/protocol.ts";

type Texture = Analysis["textures"][number];

/** Asks for a unit; `undefined` if the dialog is closed without an answer. `name` returns the name of a unit's sampler, if it has one. */
export function whichUnit(file: string, textures: readonly Texture[], name: (unit: number) => string | undefined): Promise<number | undefined> {
  return new Promise((resolve) => {
    let answer: number | undefined;
    const choice = (texture: Texture): HTMLElement => {
      const [width, height] = texture.size;
      const what = texture.file ?? `${width} × ${height}${texture.made_up ? ", made up" : ""}`;
      const choose = (): void => {
        answer = texture.unit;
        dialog.close();
      };
      return h("button", { type: "button", onclick: choose }, h("b", {}, name(texture.unit) ?? `tex[${texture.unit}]`), h("span", {}, what));
    };
    const dialog = h(
      "dialog",
      { class: "small which-unit", "aria-labelledby": "which-unit-title" },
      h(
        "form",
        { method: "dialog" },
        h("h2", { id: "which-unit-title" }, `Which texture is ${file}?`),
        h("div", { class: "units" }, ...textures.map(choice)),
        h("footer", {}, h("button", { type: "submit" }, "Cancel")),
      ),
    );
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(answer);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
