// A promise-based client of a worker, which can be stopped and restarted.

import { begin } from "../app/activity.ts";
import type { Answers, Ask, RequestName } from "./protocol.ts";
import { adopt, newWorker } from "./early.ts";
import type { First } from "./first.ts";
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
  /** Whether the module is there; or why there is none. */
  private state: "waits" | "ready" | Error = "waits";
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
    // Requests wait in the worker.
    module.then(
      () => {
        this.state = "ready";
        this.await();
      },
      (error: unknown) => {
        this.state = error instanceof Error ? error : new Error(String(error));
        this.giveUp(this.state);
      },
    );
    this.start();
  }

  async ask<K extends RequestName>(what: K, request: Ask<K>, attached: readonly Uint8Array[] = []): Promise<Answers[K]> {
    return this.send((id) => this.post({ id, request: { do: what, ...request }, attached }));
  }

  /** Loads a program and draws a picture of it, without a word from here in between. Returns the answers to both. */
  loadAndDraw(request: Ask<"load">, attached: readonly Uint8Array[], first: First): [Promise<Answers["load"]>, Promise<Answers["draw"]>] {
    const id = this.next++;
    const drawn = this.send<"draw">(() => {}, id);
    return [this.send<"load">((of) => this.post({ id: of, request: { do: "load", ...request }, attached, then: { id, first } })), drawn];
  }

  /** Posts a request and waits for its answer. */
  private async send<K extends RequestName>(post: (id: number) => void, id = this.next++): Promise<Answers[K]> {
    const end = begin();
    try {
      if (this.state instanceof Error) throw this.state;
      return await new Promise((resolve, reject) => {
        this.waiting.set(id, { resolve: resolve as (answer: unknown) => void, reject });
        post(id);
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
    this.giveUp(new Stopped(why));
  }

  /** Starts the time limit for the next answer. */
  private await(): void {
    clearTimeout(this.watch);
    if (this.waiting.size === 0) this.idling.splice(0).forEach((resolve) => resolve());
    if (this.waiting.size === 0 || this.patience === Infinity || this.state !== "ready") return;
    this.watch = setTimeout(() => this.restart(`stopped: no answer after ${this.patience / 1000} seconds`), this.patience);
  }

  /** Rejects all pending requests. */
  private giveUp(why: Error): void {
    clearTimeout(this.watch);
    const waiting = [...this.waiting.values()];
    this.waiting.clear();
    this.idling.splice(0).forEach((resolve) => resolve());
    for (const one of waiting) one.reject(why);
  }

  private start(): void {
    const early = adopt(this.module);
    const worker = early ?? newWorker();
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
      else this.giveUp(new Stopped(why));
    };
    // One that was started early gets the module early.
    if (early !== undefined) return;
    this.module.then(
      (module) => this.worker === worker && worker.postMessage({ module } satisfies Message),
      () => {},
    );
  }

  private post(message: Message): void {
    this.worker?.postMessage(message);
  }
}
