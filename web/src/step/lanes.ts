// The lanes of the group, the pixels that share the program counter.

import { h } from "../app/dom.ts";
import type { Lane, Moment } from "../machine/protocol.ts";

const WORDS: Record<Lane["state"], string> = {
  active: "active",
  branch: "off by a branch",
  break: "left the loop, waits",
  continue: "waits for the pass's end",
  killed: "killed",
  uncovered: "not covered",
  outside: "outside of the picture",
};

const SIGNS: Record<Lane["state"], string> = {
  active: "",
  branch: "if",
  break: "br",
  continue: "co",
  killed: "×",
  uncovered: "·",
  outside: "",
};

/** Returns the group as squares, the upper row first; quads are visually separated. */
export function lanes(moment: Moment, choose: (pixel: [number, number]) => void): HTMLElement {
  const [left, bottom, columns, rows] = moment.group;
  const squares: HTMLElement[] = [];
  for (let y = bottom + rows - 1; y >= bottom; y--) {
    for (let x = left; x < left + columns; x++) {
      const lane = moment.lanes.find((one) => one.x === x && one.y === y);
      if (lane === undefined) continue;
      const here = x === moment.pixel[0] && y === moment.pixel[1];
      const levels = lane.levels > 0 ? `, ${lane.levels} level${lane.levels === 1 ? "" : "s"}` : "";
      const entered = lane.entered === null || lane.state === "outside" ? "" : lane.entered ? ", entered the loop" : ", not in the loop";
      const told = `Pixel ${x}, ${y}: ${lane.executes && lane.state !== "active" ? `executes, ${WORDS[lane.state]}` : WORDS[lane.state]}${levels}${entered}`;
      squares.push(
        h(
          "button",
          {
            type: "button",
            "data-key": `${x} ${y}`,
            class: `lane ${looks(lane)}${here ? " here" : ""}${x % 2 === 1 ? " odd-x" : ""}${y % 2 === 1 ? " odd-y" : ""}`,
            title: told,
            "aria-label": told,
            "aria-pressed": String(here),
            disabled: lane.state === "outside",
            onclick: () => choose([x, y]),
          },
          SIGNS[lane.state],
        ),
      );
    }
  }
  return h(
    "div",
    { class: "lanes" },
    h("div", { class: "mask", style: `grid-template-columns: repeat(${columns}, auto)`, role: "group", "aria-label": "Pixels that share the program counter" }, ...squares),
    legend(moment.lanes.filter((lane) => lane.state !== "outside")),
  );
}

const looks = (lane: Lane): string => `${lane.state}${lane.executes ? " executes" : ""}${lane.entered === true ? " entered" : ""}`;

/** Returns the legend of the occurring squares, with their numbers. */
function legend(all: readonly Lane[]): HTMLElement {
  const row = (look: string, sign: string, word: string, count: number): HTMLElement =>
    h("li", {}, h("span", { class: `lane ${look}`, "aria-hidden": "true" }, sign), h("b", {}, String(count)), ` ${word}`);
  const rows = [row("active executes", "", "active", all.filter((lane) => lane.executes).length)];
  for (const state of ["active", "branch", "continue", "break", "killed", "uncovered"] as const) {
    const count = all.filter((lane) => !lane.executes && lane.state === state).length;
    const word = state === "active" ? "stopped" : WORDS[state];
    if (count > 0) rows.push(row(state, SIGNS[state], word, count));
  }
  if (all.some((lane) => lane.entered !== null)) {
    rows.push(row("uncovered entered", "", "entered the loop", all.filter((lane) => lane.entered === true).length));
  }
  return h("ul", { class: "legend" }, ...rows);
}
