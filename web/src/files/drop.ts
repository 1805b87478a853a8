// Files that come in: dropped, chosen, or pasted as files.

import { byId } from "../app/dom.ts";

/** `take` gets files and, where they were dropped onto a texture unit, that. */
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
  // Before the editor sees it: it would take the file's text where it was dropped.
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
