// A worker with its own module, which answers requests one after the other.

import { firstDrawing, type First } from "./first.ts";
import { Module, Trap } from "./module.ts";
import type { Loaded } from "./protocol.ts";

/** One message contains the compiled module; every other one is a request, which waits for it. */
export type Message =
  | { module: WebAssembly.Module }
  | { id: number; request: object; attached: readonly Uint8Array[]; then?: { id: number; first: First } };

export interface Reply {
  id: number;
  answer?: unknown;
  error?: string;
  /** Whether the module is broken, so that the worker can no longer be used. */
  broken?: boolean;
}

let give: (module: Promise<Module>) => void;
const module = new Promise<Module>((resolve) => (give = resolve));

self.onmessage = async ({ data }: MessageEvent<Message>) => {
  if ("module" in data) {
    give(Module.of(data.module));
    return;
  }
  const { id, request, attached, then } = data;
  const loaded = await answer(id, request, attached);
  if (then === undefined) return;
  const drawing = loaded === undefined ? undefined : firstDrawing(then.first, loaded as Loaded);
  if (drawing === undefined) self.postMessage({ id: then.id, error: "nothing is drawn" } satisfies Reply);
  else await answer(then.id, { do: "draw", ...drawing }, []);
};

/** Answers a request. Returns the answer, too; `undefined` if there is an error. */
async function answer(id: number, request: object, attached: readonly Uint8Array[]): Promise<unknown> {
  try {
    const answer = (await module).ask(request, attached);
    self.postMessage({ id, answer } satisfies Reply, { transfer: buffers(answer) });
    return answer;
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    self.postMessage({ id, error: text, broken: error instanceof Trap } satisfies Reply);
    return undefined;
  }
}

/** Returns the buffers of all bytes in an answer, which are transferred, not copied. */
function buffers(answer: unknown): ArrayBuffer[] {
  if (answer instanceof Uint8Array) return [answer.buffer as ArrayBuffer];
  if (Array.isArray(answer)) return answer.length < 4096 ? answer.flatMap(buffers) : [];
  if (typeof answer === "object" && answer !== null) return Object.values(answer).flatMap(buffers);
  return [];
}
