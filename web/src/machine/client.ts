// A promise-based client of a worker, which can be stopped and restarted.

import { begin } from "../app/activity.ts";
import type { Answers, Ask, RequestName } from "./protocol.ts";
import type { Message, Reply } from "./worker.ts";

/** A request was abandoned because the worker was stopped. */
export class Stopped extends Error {}

/** Returns an answer, or `undefined` if the worker was stopped before; for optional requests. */
export async function unlessStopped<T>(answer: Promise<T>): Promise<T | undefined> {
  return answer.catch((error: unknown) => {
    if (error instanceof Stopped) return undefined;
    throw error;
  });
}

interface Waiting {
  resolve(answer: unknown): void;
  reject(error: Error): void;
}

export class Client {
  private worker: Worker | undefined;
  private next = 0;
  /** Number of successive workers that failed without an answer in between. */
  private failures = 0;
  private readonly waiting = new Map<number, Waiting>();
  private idling: (() => void)[] = [];
  private watch: ReturnType<typeof setTimeout> | undefined;
  /** Called after a worker was stopped; the new worker has no state. */
  onrestart: (() => void) | undefined;

  /** Waits until every request has an answer. */
  async idle(): Promise<void> {
    if (this.waiting.size > 0) await new Promise<void>((resolve) => this.idling.push(resolve));
  }

  /** Number of requests without an answer. */
  get pending(): number {
    return this.waiting.size;
  }

  /** `patience`: milliseconds that one answer may take before the worker is stopped and replaced by a new one. */
  constructor(
    private readonly module: Promise<WebAssembly.Module>,
    private readonly patience = Infinity,
  ) {
    this.start();
  }

  async ask<K extends RequestName>(what: K, request: Ask<K>, attached: readonly Uint8Array[] = []): Promise<Answers[K]> {
    const end = begin();
    try {
      await this.module;
      const id = this.next++;
      return await new Promise((resolve, reject) => {
        this.waiting.set(id, { resolve: resolve as (answer: unknown) => void, reject });
        this.post({ id, request: { do: what, ...request }, attached });
        if (this.waiting.size === 1) this.await();
      });
    } finally {
      end();
    }
  }

  /** Terminates the worker in any state and starts a new one, which has no state. */
  restart(why: string): void {
    this.worker?.terminate();
    this.start();
    this.onrestart?.();
    this.giveUp(why);
  }

  /** Starts the time limit for the next answer. */
  private await(): void {
    clearTimeout(this.watch);
    if (this.waiting.size === 0) this.idling.splice(0).forEach((resolve) => resolve());
    if (this.waiting.size === 0 || this.patience === Infinity) return;
    this.watch = setTimeout(() => this.restart(`stopped: no answer after ${this.patience / 1000} seconds`), this.patience);
  }

  /** Rejects all pending requests. */
  private giveUp(why: string): void {
    clearTimeout(this.watch);
    const waiting = [...this.waiting.values()];
    this.waiting.clear();
    this.idling.splice(0).forEach((resolve) => resolve());
    for (const one of waiting) one.reject(new Stopped(why));
  }

  private start(): void {
    const worker = new Worker(new URL("worker.js", document.baseURI), { type: "module" });
    this.worker = worker;
    worker.onmessage = ({ data }: MessageEvent<Reply>) => {
      this.failures = 0;
      const waiting = this.waiting.get(data.id);
      this.waiting.delete(data.id);
      this.await();
      if (data.broken) this.restart(`the machine stopped: ${data.error ?? ""}`);
      if (data.error === undefined) waiting?.resolve(data.answer);
      else waiting?.reject(new Error(data.error));
    };
    worker.onerror = (event) => {
      this.failures++;
      const why = `the worker failed: ${event.message}`;
      // After four failures in a row, the worker is not restarted.
      if (this.failures < 4) this.restart(why);
      else this.giveUp(why);
    };
    // The module is sent first, because requests need it.
    void this.module.then((module) => this.worker === worker && worker.postMessage({ module } satisfies Message));
  }

  private post(message: Message): void {
    this.worker?.postMessage(message);
  }
}
