// Files that come in: dropped, chosen, or pasted as files.

import { byId } from "../app/dom.ts";

export function takeFiles(take: (files: File[]) => void): void {
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
      take([...(event.dataTransfer?.files ?? [])]);
    },
    true,
  );
}

/** Whether a file is a picture, which becomes a texture. */
export const isPicture = (bytes: Uint8Array): boolean => {
  const head = String.fromCharCode(...bytes.subarray(0, 8));
  return head.startsWith("\x89PNG") || head.startsWith("DDS ") || head.startsWith("\xabKTX 20");
};
