// Movable lines between parts of the page: between program and picture, and between picture and
// panes.

import { byId } from "./dom.ts";
import { lasting } from "./storage.ts";

interface Line {
  id: string;
  /** The custom property with the position of the line. */
  property: string;
  vertical: boolean;
  least: number;
  most: number;
  usual: number;
}

const LINES: Line[] = [
  { id: "splitter", property: "--split", vertical: true, least: 0.2, most: 0.8, usual: 0.54 },
  { id: "splitter-rows", property: "--split-rows", vertical: false, least: 0.15, most: 0.85, usual: 0.44 },
];

export function splitters(): void {
  LINES.forEach(splitter);
}

function splitter({ id, property, vertical, least, most, usual }: Line): void {
  const line = byId(id, HTMLDivElement);
  const main = line.parentElement as HTMLElement;
  const key = `r500.${id}`;
  const set = (share: number): void => {
    const limited = Math.min(Math.max(share, least), most);
    main.style.setProperty(property, `${limited * 100}%`);
    line.setAttribute("aria-valuenow", String(Math.round(limited * 100)));
    lasting.setItem(key, String(limited));
  };
  line.setAttribute("aria-valuemin", String(least * 100));
  line.setAttribute("aria-valuemax", String(most * 100));
  const stored = Number(lasting.getItem(key));
  set(stored > 0 ? stored : usual);
  line.addEventListener("pointerdown", (event) => line.setPointerCapture(event.pointerId));
  line.addEventListener("pointermove", (event) => {
    if (!line.hasPointerCapture(event.pointerId)) return;
    const { left, top, width, height } = main.getBoundingClientRect();
    set(vertical ? (event.clientX - left) / width : (event.clientY - top) / height);
  });
  line.addEventListener("keydown", (event) => {
    const keys: Record<string, number> = vertical ? { ArrowLeft: -0.02, ArrowRight: 0.02 } : { ArrowUp: -0.02, ArrowDown: 0.02 };
    const step = keys[event.key];
    if (step === undefined) return;
    set(Number(line.getAttribute("aria-valuenow")) / 100 + step);
    event.preventDefault();
  });
  line.addEventListener("dblclick", () => set(usual));
}
