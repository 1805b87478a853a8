// The line between program and picture, which can be moved.

import { byId } from "./dom.ts";

const KEY = "r500.split";

export function splitter(): void {
  const line = byId("splitter", HTMLDivElement);
  const main = line.parentElement as HTMLElement;
  const set = (share: number): void => {
    const limited = Math.min(Math.max(share, 0.2), 0.8);
    main.style.setProperty("--split", `${limited * 100}%`);
    line.setAttribute("aria-valuenow", String(Math.round(limited * 100)));
    localStorage.setItem(KEY, String(limited));
  };
  line.setAttribute("aria-valuemin", "20");
  line.setAttribute("aria-valuemax", "80");
  const stored = Number(localStorage.getItem(KEY));
  set(stored > 0 ? stored : 0.54);
  line.addEventListener("pointerdown", (event) => line.setPointerCapture(event.pointerId));
  line.addEventListener("pointermove", (event) => {
    if (!line.hasPointerCapture(event.pointerId)) return;
    const { left, width } = main.getBoundingClientRect();
    set((event.clientX - left) / width);
  });
  line.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -0.02, ArrowRight: 0.02 }[event.key];
    if (step === undefined) return;
    set(Number(line.getAttribute("aria-valuenow")) / 100 + step);
    event.preventDefault();
  });
}
