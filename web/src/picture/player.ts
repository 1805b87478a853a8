// Draws the picture whenever something about it changed, one drawing at a time, the latest wish first.

import type { Picture, Pool } from "../machine/pool.ts";
import type { Bits4, Source } from "../machine/protocol.ts";
import type { Stage } from "./stage.ts";
import type { Transport } from "./transport.ts";

export class Player {
  private source: Source | undefined;
  private loading: Promise<unknown> = Promise.resolve();
  private readonly tried = new Map<number, Bits4>();
  private wanted = false;
  private drawing: Promise<void> | undefined;
  private picture: Picture | undefined;
  private broken = false;
  private lastTick: number | undefined;
  private readonly ends: number[] = [];
  /** Calls after each picture. */
  onpicture: (picture: Picture) => void = () => {};

  constructor(
    private readonly pool: Pool,
    private readonly transport: Transport,
    private readonly stage: Stage,
  ) {
    for (const signal of [transport.time, transport.size, transport.target]) {
      signal.watch(() => this.again());
    }
    transport.playing.watch((playing) => {
      this.lastTick = undefined;
      if (playing) this.draw();
      else this.tell();
    });
  }

  /** The picture that is shown, if it is of the program. */
  get shown(): Picture | undefined {
    return this.broken ? undefined : this.picture;
  }

  /** The program that is drawn. */
  get program(): Source | undefined {
    return this.source;
  }

  /** Nothing of the program before counts any more. */
  forget(): void {
    this.tried.clear();
    this.picture = undefined;
  }

  load(source: Source): void {
    this.source = source;
    this.tried.clear();
    this.broken = false;
    this.lastTick = undefined;
    const loading = this.pool.load(source);
    this.loading = loading;
    loading.then(
      () => this.source === source && this.draw(),
      (error: unknown) => this.source === source && this.fail(error),
    );
  }

  tryConstant(constant: number, value: Bits4): void {
    this.tried.set(constant, value);
    this.again();
  }

  /** Draws even if that failed before: something is different now. */
  private again(): void {
    this.broken = false;
    this.draw();
  }

  /** The raw values of the picture as it is now. */
  async values(target: number): Promise<Float32Array | undefined> {
    if (!this.transport.playing.value) await this.settled();
    return this.pool.values(target);
  }

  /** Waits until the picture is what was asked for. */
  async settled(): Promise<Picture | undefined> {
    await this.loading.catch(() => {});
    while (this.drawing !== undefined) await this.drawing;
    return this.picture;
  }

  draw(): void {
    if (this.source === undefined || this.broken) return;
    this.wanted = true;
    this.drawing ??= this.work().finally(() => (this.drawing = undefined));
  }

  private async work(): Promise<void> {
    while (this.wanted) {
      this.wanted = false;
      const { source } = this;
      try {
        await this.loading;
        const { pixels: size } = this.transport;
        const view = { size, time: this.transport.time.value, constants: new Map(this.tried), target: this.transport.target.value };
        const picture = await this.pool.draw(view);
        if (source !== this.source) continue;
        if (this.picture === undefined) performance.mark("first picture");
        this.picture = picture;
        this.stage.show(picture);
        this.count();
        this.tell();
        this.onpicture(picture);
      } catch (error) {
        if (source === this.source) this.fail(error);
        continue;
      }
      if (this.transport.playing.value) await this.tick();
    }
  }

  /** The time goes on by what went by. */
  private async tick(): Promise<void> {
    await new Promise(requestAnimationFrame);
    const now = performance.now();
    if (this.lastTick !== undefined && this.transport.playing.value) {
      this.transport.time.value = Math.fround(this.transport.time.value + (now - this.lastTick) / 1000);
    }
    this.lastTick = now;
    this.wanted ||= this.transport.playing.value;
  }

  private fail(error: unknown): void {
    // What failed once would fail again, fast: it waits for another program.
    this.broken = true;
    this.wanted = false;
    this.transport.playing.value = false;
    const text = error instanceof Error ? error.message : String(error);
    this.stage.stale(text.charAt(0).toUpperCase() + text.slice(1));
    this.transport.told("", "");
  }

  private count(): void {
    this.ends.push(performance.now());
    while (this.ends.length > 40) this.ends.shift();
  }

  private tell(): void {
    const { picture } = this;
    if (picture === undefined) return;
    const [from, to] = [this.ends.at(0) ?? 0, this.ends.at(-1) ?? 0];
    const rate = ((this.ends.length - 1) / Math.max(to - from, 1)) * 1000;
    const took = `${picture.took < 10 ? picture.took.toFixed(1) : Math.round(picture.took)} ms`;
    const slow = picture.engine === "reference" ? " · reference engine" : "";
    const text = this.transport.playing.value ? `${Math.round(rate)} frames/s · ${took}` : took;
    const instructions = picture.instructions.toLocaleString("en");
    this.transport.told(
      text + slow,
      `Drawn by the ${picture.engine} engine in ${this.pool.workers} workers${picture.instead === null ? "" : `: ${picture.instead}`}; ${instructions} instructions, ${picture.killed} pixels killed`,
    );
  }
}
