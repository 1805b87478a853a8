// The view state in a link, after the program: pixel, step, breakpoints, time, target, display.

import type { Breakpoint, Look } from "../machine/protocol.ts";
import { breakpoint } from "../model/breakpoints.ts";

export interface ViewState {
  pixel?: [number, number];
  step?: number;
  breakpoints?: Breakpoint[];
  time?: number;
  target?: number;
  look?: Look;
}

/** Splits a fragment into its program and the view state. Invalid parts are ignored. */
export function split(fragment: string): { program: string; state: ViewState } {
  const [program = "", ...rest] = fragment.split("&");
  const parameters = new URLSearchParams(rest.join("&"));
  const state: ViewState = {};
  const pixel = numbers(parameters.get("pixel"), 2);
  if (pixel?.every((n) => Number.isInteger(n) && n >= 0) === true) state.pixel = pixel as [number, number];
  const [step] = numbers(parameters.get("step"), 1) ?? [];
  if (step !== undefined && Number.isInteger(step) && step >= 0) state.step = step;
  const [time] = numbers(parameters.get("time"), 1) ?? [];
  if (time !== undefined) state.time = Math.fround(time);
  const [target] = numbers(parameters.get("target"), 1) ?? [];
  if (target !== undefined && [0, 1, 2, 3, 4].includes(target)) state.target = target;
  const look = numbers(parameters.get("show"), 3);
  const [channels = 0, from = 0, to = 1] = look ?? [];
  if (look !== undefined && channels >= 1 && channels <= 15 && from !== to) state.look = { channels: Math.trunc(channels), range: [from, to] };
  const breakpoints = parameters.getAll("break").flatMap((text): Breakpoint[] => {
    // Address, hit count in brackets, then a condition, a value that changes, or a message.
    const parts = /^(\d*)(?:\[([^\]]*)\])?(?:([:~!])(.*))?$/s.exec(text);
    if (parts === null) return [];
    const [, address = "", hits, kind, expression = ""] = parts;
    const one = breakpoint({
      address: address === "" ? null : Number(address),
      condition: kind === ":" ? expression : null,
      changes: kind === "~" ? expression : null,
      message: kind === "!" ? expression : null,
      hits: hits ?? null,
    });
    return one.address === null && (kind === undefined || kind === "!") ? [] : [one];
  });
  if (breakpoints.length > 0) state.breakpoints = breakpoints.slice(0, 100);
  return { program, state };
}

/** Returns the view state as the part of a link after the program. */
export function join({ pixel, step, breakpoints, time, target, look }: ViewState): string {
  const parameters = new URLSearchParams();
  if (pixel !== undefined) parameters.set("pixel", pixel.join(","));
  if (pixel !== undefined && step !== undefined && step > 0) parameters.set("step", String(step));
  if (time !== undefined && time !== 0) parameters.set("time", String(time));
  if (target !== undefined && target !== 0) parameters.set("target", String(target));
  if (look !== undefined && (look.channels !== 7 || look.range[0] !== 0 || look.range[1] !== 1)) parameters.set("show", [look.channels, ...look.range].join(","));
  for (const one of breakpoints ?? []) {
    const place = `${one.address ?? ""}${one.hits === null ? "" : `[${one.hits}]`}`;
    const kinds = [["~", one.changes], [":", one.condition], ["!", one.message]] as const;
    const [kind, text] = kinds.find(([, text]) => text !== null) ?? ["", ""];
    parameters.append("break", `${place}${kind}${text ?? ""}`);
  }
  const text = parameters.toString();
  return text === "" ? "" : `&${text}`;
}

function numbers(text: string | null, count: number): number[] | undefined {
  const all = (text ?? "").split(",").map((part) => (part.trim() === "" ? NaN : Number(part)));
  return all.length === count && all.every(Number.isFinite) ? all : undefined;
}
