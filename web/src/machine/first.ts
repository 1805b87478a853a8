// The first picture of a program: a worker draws it as soon as it has loaded the program, whatever the page's thread does then.

import type { Drawing, Loaded } from "./protocol.ts";

/** The size of programs without one of their own. */
export const DEFAULT_SIZE: [number, number] = [256, 256];
/** Rows of a stripe. Workers draw alternating stripes, so that expensive regions are divided among them. */
const STRIPE = 16;

/** Returns the rows that a worker draws, of how many workers. */
export function bandsOf(height: number, worker: number, workers: number): Drawing["bands"] {
  const bands: Drawing["bands"] = [];
  for (let y = worker * STRIPE; y < height; y += workers * STRIPE) bands.push([y, Math.min(STRIPE, height - y)]);
  return bands;
}

/** A picture in the program's own size, and which share of it a worker draws. */
export interface First {
  drawing: Omit<Drawing, "size" | "bands">;
  worker: number;
  workers: number;
}

/** Returns the drawing of the program that was loaded; `undefined` if it needs more than the page has said. */
export function firstDrawing({ drawing, worker, workers }: First, loaded: Loaded): Drawing | undefined {
  if (loaded.live.length > 0) return undefined;
  const size = loaded.size ?? DEFAULT_SIZE;
  return { ...drawing, size, bands: bandsOf(size[1], worker, workers) };
}
