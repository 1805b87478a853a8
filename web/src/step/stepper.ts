// The recorded run of a pixel, in a separate worker.

import { patience } from "../app/patience.ts";
import { Signal } from "../app/signal.ts";
import { Client } from "../machine/client.ts";
import { attachedTo, drawingOf, type View } from "../machine/pool.ts";
import { sourceRequest, type Going, type Moment, type Recorded, type Source } from "../machine/protocol.ts";
import { isScene } from "../scene/kind.ts";
import type { Breakpoints } from "../model/breakpoints.ts";

/** A recorded run. */
export interface Run {
  source: Source;
  pixel: [number, number];
  view: View;
  length: number;
  /** The reason why the run was not recorded to its end. */
  stopped: string | null;
  /** The address of each step. */
  addresses: Uint32Array;
  /** The draw of a scene that shades the pixel last. */
  draw: number | undefined;
}

/** A pending recording. */
export interface Recording {
  source: Source;
  view: View;
  position: number;
}

/** Default arguments of a movement. */
const STAY: Omit<Going, "how"> = { backward: false, position: 0, pixel: [0, 0], breaks: [] };

/** Milliseconds after which a request is abandoned. */
const PATIENCE = 15_000;

export class Stepper {
  readonly run = new Signal<Run | undefined>(undefined);
  readonly moment = new Signal<Moment | undefined>(undefined);
  /** The maximal number of recorded instructions. */
  readonly limit = new Signal(1_000_000);
  readonly failed = new Signal<string>("");
  /** Started when the first pixel is chosen, to keep the loading of the page short. */
  private worker: Client | undefined;
  private sceneWorker: Client | undefined;
  /** Whether the run is one of a scene. */
  private scene = false;
  private has: Source | undefined;
  private round = 0;
  private underway: Recording | undefined;

  constructor(
    private readonly module: Promise<WebAssembly.Module>,
    private readonly breakpoints: Breakpoints,
    /** The module that draws scenes, which is loaded on first use. */
    private readonly scenes: () => Promise<WebAssembly.Module>,
  ) {}

  private get client(): Client {
    return this.scene ? (this.sceneWorker ??= new Client(this.scenes())) : (this.worker ??= new Client(this.module));
  }

  /** The pending recording, which replaces the run when it is done. */
  get recording(): Recording | undefined {
    return this.underway;
  }

  /** Records a pixel of a picture, and moves to a position if one is given. */
  async record(source: Source, view: View, pixel: [number, number], position = 0): Promise<void> {
    const mine = ++this.round;
    this.scene = isScene(source.text);
    if (this.client.pending > 0) this.restart("another pixel came");
    this.underway = { source, view, position };
    try {
      await this.patiently(async () => {
        if (this.has !== source) {
          this.has = undefined;
          await this.client.ask(this.scene ? "loadScene" : "load", sourceRequest(source), source.files.map((file) => file.bytes));
          this.has = source;
        }
        const { draw, recorded } = await this.recorded(view, pixel);
        const { length, stopped, addresses, shown } = recorded;
        const at = Math.min(position, length);
        const moment = at > 0 ? await this.client.ask("go", { ...STAY, how: "seek", position: at }) : shown;
        if (mine !== this.round) return;
        this.failed.value = "";
        this.run.value = { source, pixel, view, length, stopped, addresses: new Uint32Array(addresses.buffer), draw };
        this.moment.value = moment;
      });
    } catch (error) {
      if (mine !== this.round) return;
      this.clear();
      this.failed.value = error instanceof Error ? error.message : String(error);
    } finally {
      if (mine === this.round) this.underway = undefined;
    }
  }

  private async recorded(view: View, pixel: [number, number]): Promise<{ recorded: Recorded; draw: number | undefined }> {
    const limit = this.limit.value;
    if (this.scene) return this.client.ask("recordScene", { time: view.time, pixel, limit });
    return { recorded: await this.client.ask("record", { drawing: drawingOf(view, limit), pixel }, attachedTo(view)), draw: undefined };
  }

  /** Moves to another position in the run. */
  async go(going: Partial<Going> & Pick<Going, "how">): Promise<void> {
    const mine = this.round;
    if (this.run.value === undefined) return;
    // Other movements pass breakpoints, whose messages are logged.
    const breaks = this.breakpoints.all.value.filter((one) => going.how === "run" || one.message !== null);
    try {
      const moment = await this.patiently(() => this.client.ask("go", { ...STAY, ...going, breaks }));
      if (mine !== this.round) return;
      this.failed.value = "";
      this.moment.value = moment;
    } catch (error) {
      if (mine === this.round) this.failed.value = error instanceof Error ? error.message : String(error);
    }
  }

  /** Removes the run. */
  clear(): void {
    this.round++;
    this.underway = undefined;
    this.run.value = undefined;
    this.moment.value = undefined;
    this.failed.value = "";
  }

  private async patiently<T>(ask: () => Promise<T>): Promise<T> {
    const limit = patience(PATIENCE);
    const timer = setTimeout(() => this.restart(`stopped: no answer after ${limit / 1000} seconds`), limit);
    try {
      return await ask();
    } finally {
      clearTimeout(timer);
    }
  }

  private restart(why: string): void {
    this.has = undefined;
    this.client.restart(why);
  }
}
