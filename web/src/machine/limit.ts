// The limit of instructions that a group of pixels may execute in a picture, a comparison or a query.

import { Signal } from "../app/signal.ts";

/** Selectable limits; the first is that of every program that is opened. */
export const LIMITS = [1_000_000, 10_000_000, 100_000_000] as const;

export const instructions = new Signal<number>(LIMITS[0]);
