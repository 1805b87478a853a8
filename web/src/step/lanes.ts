// The pixels that share the program counter, as a mask.

import { h } from "../app/dom.ts";
import type { Lane, Moment } from "../machine/protocol.ts";

const WORDS: Record<Lane["state"], string> = {
  active: "active",
  branch: "switched off by a branch",
  break: "left a loop",
  continue: "waits for the end of the pass",
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

/** The group as squares, the upper row first; quads are set apart. */
export function lanes(moment: Moment, choose: (pixel: [number, number]) => void): HTMLElement {
  const [left, bottom, columns, rows] = moment.group;
  const squares: HTMLElement[] = [];
  for (let y = bottom + rows - 1; y >= bottom; y--) {
    for (let x = left; x < left + columns; x++) {
      const lane = moment.lanes.find((one) => one.x === x && one.y === y);
      if (lane === undefined) continue;
      const here = x === moment.pixel[0] && y === moment.pixel[1];
      const levels = lane.levels > 0 ? `, ${lane.levels} level${lane.levels === 1 ? "" : "s"}` : "";
      const told = `Pixel ${x}, ${y}: ${lane.executes && lane.state !== "active" ? `executes, ${WORDS[lane.state]}` : WORDS[lane.state]}${levels}`;
      squares.push(
        h(
          "button",
          {
            type: "button",
            class: `lane ${lane.state}${lane.executes ? " executes" : ""}${here ? " here" : ""}${x % 2 === 1 ? " odd-x" : ""}${y % 2 === 1 ? " odd-y" : ""}`,
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
  const active = moment.lanes.filter((lane) => lane.executes).length;
  return h(
    "div",
    { class: "lanes" },
    h("div", { class: "mask", style: `grid-template-columns: repeat(${columns}, 22px)`, role: "group", "aria-label": "Pixels that share the program counter" }, ...squares),
    h("p", {}, `${active} of ${moment.lanes.length} active`),
  );
}
