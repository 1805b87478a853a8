// A worker with its own module, which answers requests one after the other.

import { Module, Trap } from "./module.ts";

/** The first message contains the compiled module; every other one is a request. */
export type Message =
  | { module: WebAssembly.Module }
  | { id: number; request: object; attached: readonly Uint8Array[] };

export interface Reply {
  id: number;
  answer?: unknown;
  error?: string;
  /** Whether the module is broken, so that the worker can no longer be used. */
  broken?: boolean;
}

let module: Promise<Module>;

self.onmessage = async ({ data }: MessageEvent<Message>) => {
  if ("module" in data) {
    module = Module.of(data.module);
    return;
  }
  const { id, request, attached } = data;
  try {
    const answer = (await module).ask(request, attached);
    self.postMessage({ id, answer } satisfies Reply, { transfer: buffers(answer) });
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    self.postMessage({ id, error: text, broken: error instanceof Trap } satisfies Reply);
  }
};

/** Returns the buffers of all bytes in an answer, which are transferred, not copied. */
function buffers(answer: unknown): ArrayBuffer[] {
  if (answer instanceof Uint8Array) return [answer.buffer as ArrayBuffer];
  if (Array.isArray(answer)) return answer.length < 4096 ? answer.flatMap(buffers) : [];
  if (typeof answer === "object" && answer !== null) return Object.values(answer).flatMap(buffers);
  return [];
}
