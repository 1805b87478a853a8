// Workers that start while the page's script is still loading.

import type { Message } from "./worker.ts";

/** What boot.ts has started: the module, and workers that get it. */
export interface Early {
  module: Promise<WebAssembly.Module>;
  workers: Worker[];
}

export const newWorker = (): Worker => new Worker(new URL("worker.js", document.baseURI), { type: "module" });

/** Number of workers that draw a picture. */
export const drawers = (): number => Math.min(Math.max(navigator.hardwareConcurrency || 2, 2), 8);

/** Starts the workers that the page begins with: those that draw, and the one that analyses. */
export function startEarly(module: Promise<WebAssembly.Module>): Early {
  const workers = Array.from({ length: drawers() + 1 }, newWorker);
  // The page reports errors of the module.
  module.then((module) => workers.forEach((worker) => worker.postMessage({ module } satisfies Message)), () => {});
  return { module, workers: [...workers] };
}

/** Takes a worker that was started for this module; `undefined` if none is left. */
export function adopt(module: Promise<WebAssembly.Module>): Worker | undefined {
  const early = globalThis.r500Early;
  return early?.module === module ? early.workers.shift() : undefined;
}
