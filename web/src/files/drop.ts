// Incoming files: dropped, chosen, or pasted as files.

import { byId } from "../app/dom.ts";

/** Listens for files. `take` gets them and, if they were dropped onto a texture unit, the unit. */
export function takeFiles(take: (files: File[], unit?: number) => void): void {
  const veil = byId("drop", HTMLDivElement);
  const input = byId("file", HTMLInputElement);
  byId("open", HTMLButtonElement).addEventListener("click", () => input.click());
  input.addEventListener("change", () => {
    take([...(input.files ?? [])]);
    input.value = "";
  });
  const holds = (event: DragEvent): boolean => event.dataTransfer?.types.includes("Files") ?? false;
  let depth = 0;
  addEventListener("dragenter", (event) => {
    if (!holds(event)) return;
    depth++;
    veil.hidden = false;
  });
  addEventListener("dragleave", () => {
    depth = Math.max(depth - 1, 0);
    veil.hidden = depth === 0;
  });
  // In the capture phase, before the editor, which would insert the file's text.
  addEventListener("dragover", (event) => holds(event) && event.preventDefault(), true);
  addEventListener(
    "drop",
    (event) => {
      if (!holds(event)) return;
      event.preventDefault();
      event.stopPropagation();
      depth = 0;
      veil.hidden = true;
      const unit = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-unit]")?.dataset["unit"] : undefined;
      take([...(event.dataTransfer?.files ?? [])], unit === undefined ? undefined : Number(unit));
    },
    true,
  );
}
