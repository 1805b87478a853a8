// Draws the picture after every change, one drawing at a time; the latest request replaces earlier ones.

import type { Pictures } from "../gpu/pictures.ts";
import type { Picture, View } from "../machine/pool.ts";
import { DEPTH, type Bits4, type Loaded, type Source } from "../machine/protocol.ts";
import { h, message } from "../app/dom.ts";
import { count } from "../app/numbers.ts";
import { instructions, LIMITS } from "../machine/limit.ts";
import type { Stage } from "./stage.ts";
import type { LiveTextures } from "./live.ts";
import type { Transport } from "./transport.ts";

export class Player {
  private source: Source | undefined;
  private loading: Promise<unknown> = Promise.resolve();
  private readonly tried = new Map<number, Bits4>();
  private due = false;
  private drawing: Promise<void> | undefined;
  private picture: Picture | undefined;
  private broken = false;
  private inputs: ReadonlySet<string> = new Set();
  /** Number of pictures drawn of the program. */
  private frames = 0;
  private lastTick: number | undefined;
  private readonly ends: number[] = [];
  /** Called after each picture. */
  onpicture: (picture: Picture) => void = () => {};
  /** Called if there is no picture. */
  onfailed: () => void = () => {};

  constructor(
    private readonly pictures: Pictures,
    private readonly transport: Transport,
    private readonly stage: Stage,
    private readonly live: LiveTextures,
  ) {
    for (const signal of [transport.time, transport.size, transport.target, transport.look]) {
      signal.watch(() => this.again());
    }
    instructions.watch(() => this.again());
    transport.restarted.watch(() => {
      live.restart();
      this.again();
    });
    pictures.onchange = () => this.again();
    stage.mouse.watch(() => this.inputs.has("mouse") && this.again());
    transport.playing.watch((playing) => {
      this.lastTick = undefined;
      if (playing) this.draw();
      else if (this.picture?.bitmap !== undefined) this.again();
      else this.tell();
    });
  }

  /** The shown picture, if it belongs to the program. */
  get shown(): Picture | undefined {
    return this.broken ? undefined : this.picture;
  }

  /** The view of the shown picture, or the view that would be shown if it could be drawn. */
  get wanted(): View | undefined {
    return this.source === undefined ? undefined : (this.shown?.view ?? this.view());
  }

  /** The view of the first picture of a program of this size, if it begins as it is. */
  first(own: Loaded["size"]): View {
    return this.view(this.transport.pixelsOf(own));
  }

  /** Shows the first picture of a program that is about to be loaded. */
  early(picture: Picture): void {
    if (this.source !== undefined) return;
    performance.mark("first picture");
    this.stage.show(picture);
  }

  private view(size = this.transport.pixels): View {
    const { transport } = this;
    return {
      size,
      time: transport.time.value,
      constants: new Map(this.tried),
      target: transport.target.value,
      look: transport.look.value,
      mouse: this.inputs.has("mouse") ? this.stage.mouse.value : null,
      frame: this.live.any ? this.live.frame : this.inputs.has("frame") ? this.frames : 0,
      live: this.live.texels(size),
    };
  }

  /** The program that is drawn. */
  get program(): Source | undefined {
    return this.source;
  }

  /** Forgets the picture and the tried constants of the previous program. */
  forget(): void {
    this.tried.clear();
    this.picture = undefined;
    instructions.value = LIMITS[0];
  }

  /** Loads a program. `inputs` are the uniforms that are set here. */
  load(source: Source, inputs: readonly string[]): void {
    this.inputs = new Set(inputs);
    this.frames = 0;
    this.source = source;
    this.tried.clear();
    this.broken = false;
    this.lastTick = undefined;
    const loading = this.pictures.load(source);
    this.loading = loading;
    loading.then(
      (loaded) => {
        if (this.source !== source) return;
        this.live.load(loaded.live);
        this.draw();
      },
      (error: unknown) => this.source === source && this.fail(error),
    );
  }

  tryConstant(constant: number, value: Bits4): void {
    this.tried.set(constant, value);
    this.again();
  }

  /** Draws again, even after a failure, because the parameters have changed. */
  private again(): void {
    this.broken = false;
    this.draw();
  }

  /** Returns the raw values of the current picture. */
  async values(target: number): Promise<Float32Array | undefined> {
    if (!this.transport.playing.value) await this.settled();
    return this.pictures.values(target);
  }

  /** Waits until the requested picture is drawn. */
  async settled(): Promise<Picture | undefined> {
    await this.loading.catch(() => {});
    while (this.drawing !== undefined) await this.drawing;
    return this.picture;
  }

  draw(): void {
    if (this.source === undefined || this.broken) return;
    this.due = true;
    this.drawing ??= this.work().finally(() => (this.drawing = undefined));
  }

  private async work(): Promise<void> {
    while (this.due) {
      this.due = false;
      const { source } = this;
      try {
        await this.loading;
        if (this.picture === undefined) performance.mark("loaded");
        const picture = await this.pictures.draw(this.view(), this.transport.playing.value);
        if (source !== this.source) continue;
        if (this.picture === undefined) performance.mark("first picture");
        this.picture = picture;
        this.frames++;
        this.live.drew(picture.left);
        this.stage.show(picture);
        this.count();
        this.tell();
        this.onpicture(picture);
      } catch (error) {
        if (source === this.source) this.fail(error);
        continue;
      }
      if (!this.transport.playing.value) continue;
      await this.tick();
      if (this.due && this.source === source) this.live.advance();
    }
  }

  /** Advances the time by the elapsed time. */
  private async tick(): Promise<void> {
    await new Promise(requestAnimationFrame);
    const now = performance.now();
    if (this.lastTick !== undefined && this.transport.playing.value) {
      this.transport.time.value = Math.fround(this.transport.time.value + (now - this.lastTick) / 1000);
    }
    this.lastTick = now;
    this.due ||= this.transport.playing.value;
  }

  private fail(error: unknown): void {
    // Drawing would fail again, quickly, so it waits for another program.
    this.broken = true;
    this.due = false;
    this.transport.playing.value = false;
    const size = this.transport.pixels;
    if (this.picture?.view.size.join() !== size.join()) {
      this.picture = undefined;
      this.stage.blank(size);
    }
    const text = message(error);
    this.stage.stale(text.charAt(0).toUpperCase() + text.slice(1), text.includes("instruction limit") ? limitControl() : undefined);
    this.transport.told("", "");
    this.onfailed();
  }

  /** Returns the least and the greatest value of the picture; `undefined` if there is none. */
  async extent(): Promise<[number, number] | undefined> {
    const target = this.transport.target.value;
    const values = await this.values(target);
    if (values === undefined) return undefined;
    const { channels } = this.transport.look.value;
    let [least, greatest] = [Infinity, -Infinity];
    values.forEach((value, n) => {
      // Alpha counts only if it is shown.
      const counts = target === DEPTH || ((channels >> (n % 4)) & 1) === 1;
      if (!counts || !Number.isFinite(value)) return;
      least = Math.min(least, value);
      greatest = Math.max(greatest, value);
    });
    return least <= greatest ? [least, greatest] : undefined;
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
    this.transport.told(
      text + slow,
      picture.about ??
        (picture.engine === "WebGPU"
          ? this.pictures.verdict.value.title
          : `Drawn by the ${picture.engine} engine in ${this.pictures.workers} workers${picture.instead === null ? "" : `: ${picture.instead}`}; ${count(picture.instructions, "instruction")}, ${count(picture.killed, "pixel")} killed`),
    );
  }
}

/** Returns the control of the limit that the message about it mentions. */
function limitControl(): HTMLElement {
  const options = LIMITS.map((limit) => h("option", { value: String(limit), selected: limit === instructions.value }, limit.toLocaleString("en")));
  return h("label", {}, "Instruction limit ", h("select", { onchange: (event) => (instructions.value = Number((event.currentTarget as HTMLSelectElement).value)) }, ...options));
}
