// A pool of workers, each of which draws a share of the picture's rows.

import { patience } from "../app/patience.ts";
import { Client, Stopped } from "./client.ts";
import { bandsOf } from "./first.ts";
import { isScene } from "../scene/kind.ts";
import type { SceneDrawing } from "../scene/drawing.ts";
import type { Left, LiveTexels } from "../picture/live.ts";
import { instructions } from "./limit.ts";
import { sourceRequest, type Area, type Band, type Breakpoint, type Bits4, type Drawing, type Drawn, type Loaded, type Look, type Mouse, type Source, type AreaResult } from "./protocol.ts";

/** The parameters of a picture. */
export interface View {
  size: [number, number];
  time: number;
  constants: ReadonlyMap<number, Bits4>;
  target: number;
  look: Look;
  mouse: Mouse | null;
  frame: number;
  /** Texels of textures that change. */
  live: readonly LiveTexels[];
}

/** Converts a view to the libraries' request. */
export const drawingOf = (view: View, limit: number, bands: Drawing["bands"] = []): Drawing => ({
  size: view.size,
  time: view.time,
  constants: [...view.constants],
  bands,
  target: view.target,
  look: view.look,
  mouse: view.mouse,
  frame: view.frame,
  limit,
  live: view.live.map(({ unit, size, bytes }) => ({ unit, size, length: bytes?.length ?? 0 })),
});

/** Returns a text that is equal for equal pictures of a program without textures that change. */
const askedFor = (view: View): string => JSON.stringify(drawingOf(view, instructions.value));

/** Returns the bytes that a drawing has attached. */
export const attachedTo = (view: View): Uint8Array[] => view.live.flatMap(({ bytes }) => bytes ?? []);

/** A drawn picture, the upper row first. */
export interface Picture {
  view: View;
  pixels: Uint8ClampedArray<ArrayBuffer>;
  /** The picture, if it has no pixels here. */
  bitmap?: ImageBitmap;
  engine: string;
  instead: string | null;
  instructions: number;
  killed: number;
  /** Milliseconds from the request to the last row. */
  took: number;
  /** How it was drawn, if the engine does not say all. */
  about?: string;
  /** The values that the next picture reads. */
  left: Left;
}

/** Milliseconds after which a picture is abandoned. */
const PATIENCE = 8_000;
/** Milliseconds that a new program waits for the previous program's picture. */
const COURTESY = 150;
/** Target duration of one area request in milliseconds. */
const MOMENT = 50;

export class Pool {
  private readonly clients: Client[];
  private source: Source | undefined;
  /** The source that each worker has loaded. */
  private readonly has: (Source | undefined)[];
  /** The source that each worker got last, and its answer. */
  private readonly giving: ({ source: Source; loaded: Promise<Loaded> } | undefined)[] = [];
  private drawn: { target: number; size: [number, number] } | undefined;
  /** The prepared source that is not loaded yet. */
  private prepared: { source: Source; loaded: Promise<Loaded> } | undefined;
  /** The picture of it that was begun before it was asked for. */
  private begun: { source: Source; asked: string; picture: Promise<Picture> } | undefined;

  constructor(
    module: Promise<WebAssembly.Module>,
    workers: number,
    /** What draws scenes. */
    private readonly scenes: SceneDrawing,
  ) {
    this.clients = Array.from({ length: workers }, () => new Client(module));
    this.has = this.clients.map(() => undefined);
  }

  get workers(): number {
    return this.clients.length;
  }

  /** Loads a program before its analysis. */
  prepare(source: Source): void {
    const loaded = this.load(source);
    // The analysis reports whether the program can be drawn.
    loaded.catch(() => {});
    this.prepared = { source, loaded };
  }

  /**
   * Loads a program before its analysis, and draws its first picture. `view`: what is shown of a program with this size of its own; `drawn` gets
   * the picture.
   */
  prepareAndDraw(source: Source, view: (own: Loaded["size"]) => View, drawn: (picture: Picture) => void): void {
    if (isScene(source.text)) return this.prepare(source);
    this.source = source;
    this.drawn = undefined;
    const { size: _, bands: __, ...drawing } = drawingOf(view(null), instructions.value);
    const parts: Promise<Drawn>[] = [];
    const all = this.clients.map((client, n) => {
      const first = { drawing, worker: n, workers: this.clients.length };
      const [loaded, part] = client.loadAndDraw(sourceRequest(source), source.files.map((file) => file.bytes), first);
      part.catch(() => {});
      parts.push(part);
      return this.given(n, source, loaded);
    });
    const loaded = Promise.all(all).then(([loaded]) => loaded as Loaded);
    this.prepared = { source, loaded };
    loaded.then(
      ({ size, live }) => {
        if (this.source !== source || live.length > 0) return;
        const wanted = view(size);
        const picture = this.collect(wanted, (_, n) => parts[n]);
        picture.then((picture) => this.source === source && drawn(picture), () => {});
        this.begun = { source, asked: askedFor(wanted), picture };
      },
      () => {},
    );
  }

  /** Loads a program. A drawing of another program that takes too long is abandoned. */
  async load(source: Source): Promise<Loaded> {
    const { prepared } = this;
    this.prepared = undefined;
    if (prepared !== undefined && alike(prepared.source, source)) return prepared.loaded;
    this.source = source;
    this.drawn = undefined;
    if (isScene(source.text)) return this.scenes.load(source);
    const busy = this.clients.filter((client) => client.pending > 0);
    if (busy.length > 0) {
      const limit = new Promise((resolve) => setTimeout(resolve, COURTESY));
      await Promise.race([limit, Promise.all(busy.map((client) => client.idle()))]);
      busy.filter((client) => client.pending > 0).forEach((client) => this.stop(client, "another program came"));
    }
    const loaded = await Promise.all(this.clients.map((_, n) => this.give(n, source)));
    return loaded[0] as Loaded;
  }

  /** Whether the source is a scene. */
  private get isScene(): boolean {
    return this.source !== undefined && isScene(this.source.text);
  }

  async draw(view: View): Promise<Picture> {
    if (this.isScene) return this.scenes.draw(view);
    const { begun } = this;
    this.begun = undefined;
    if (begun !== undefined && begun.source === this.source && begun.asked === askedFor(view)) return begun.picture;
    const [, height] = view.size;
    return this.collect(view, async (client, n) => {
      const bands = bandsOf(height, n, this.clients.length);
      if (bands.length === 0) return undefined;
      if (this.source !== undefined && this.has[n] !== this.source) await this.give(n, this.source);
      return client.ask("draw", drawingOf(view, instructions.value, bands), attachedTo(view));
    });
  }

  /** Puts a picture together from the parts of the workers. */
  private async collect(view: View, part: (client: Client, n: number) => Promise<Drawn | undefined> | undefined): Promise<Picture> {
    const start = performance.now();
    const [width, height] = view.size;
    const pixels = new Uint8ClampedArray(width * height * 4);
    const limit = patience(PATIENCE);
    const watch = setTimeout(() => {
      for (const client of this.clients) {
        if (client.pending > 0) this.stop(client, `stopped: no picture after ${limit / 1000} seconds`);
      }
    }, limit);
    try {
      const parts = await Promise.all(this.clients.map(part));
      const all = parts.filter((part) => part !== undefined);
      for (const band of all.flatMap((part) => part.bands)) {
        pixels.set(band.bytes, (height - band.y - band.rows) * width * 4);
      }
      this.drawn = { target: view.target, size: view.size };
      const targets = new Set(view.live.flatMap(({ target }) => target ?? []));
      const left = new Map<number, Uint8Array>();
      for (const target of targets) {
        const values = await this.values(target);
        if (values !== undefined) left.set(target, new Uint8Array(values.buffer));
      }
      return {
        view,
        pixels,
        engine: all[0]?.engine ?? "",
        instead: all[0]?.instead ?? null,
        instructions: all.reduce((sum, part) => sum + part.instructions, 0),
        killed: all.reduce((sum, part) => sum + part.killed, 0),
        took: performance.now() - start,
        left,
      };
    } finally {
      clearTimeout(watch);
    }
  }

  /** Returns the last picture with another target, the upper row first. */
  async show(target: number, look: Look): Promise<ImageData | undefined> {
    if (this.isScene) return this.scenes.show(look);
    if (this.drawn === undefined) return undefined;
    const [width, height] = this.drawn.size;
    const parts = await Promise.all(this.clients.map((client) => client.ask("show", { target, look })));
    const image = new ImageData(width, height);
    for (const band of parts.flat()) image.data.set(band.bytes, (height - band.y - band.rows) * width * 4);
    return image;
  }

  /** Returns the raw values of the last picture, the lowest row first: four per pixel, or one for depth. */
  async values(target: number): Promise<Float32Array | undefined> {
    if (this.isScene) return this.scenes.values();
    if (this.drawn === undefined) return undefined;
    const [width, height] = this.drawn.size;
    const bands: Band[][] = await Promise.all(this.clients.map((client) => client.ask("values", { target })));
    const channels = target === 4 ? 1 : 4;
    const all = bands.flat();
    if (all.length === 0) return undefined;
    const values = new Float32Array(width * height * channels);
    for (const { y, bytes } of all) {
      values.set(new Float32Array(bytes.buffer), y * width * channels);
    }
    return values;
  }

  /** Checks the texts of a breakpoint, with the names of the loaded program. Rejects with what is wrong. */
  async check(breakpoint: Breakpoint): Promise<void> {
    const [client] = this.clients;
    if (client === undefined || this.source === undefined) throw new Error("there is no program");
    // The names in a condition are those of the draw, which is known when a pixel is recorded.
    if (this.isScene) return;
    if (this.has[0] !== this.source) await this.give(0, this.source);
    await client.ask("checkBreakpoint", { breakpoint });
  }

  /**
   * Queries areas of a picture in small batches, so that pictures can be drawn in between; `found` gets each answer.
   * Rejects with `Stopped` if the signal is aborted.
   */
  async queryAreas(view: View, condition: string | undefined, areas: readonly Area[], found: (areas: Area[], answer: AreaResult) => void, signal: AbortSignal): Promise<void> {
    const { source } = this;
    if (source === undefined) throw new Error("there is no program");
    if (this.isScene) throw new Error("areas are for programs; of a scene, a pixel can be stepped through");
    const drawing = drawingOf(view, instructions.value);
    const busy = new Set<Client>();
    const stopped = (): void => {
      // Requests that do not finish soon are abandoned.
      setTimeout(() => busy.forEach((client) => this.stop(client, "stopped")), COURTESY);
    };
    signal.addEventListener("abort", stopped);
    let next = 0;
    try {
      await Promise.all(
        this.clients.map(async (client, n) => {
          let count = 4;
          while (next < areas.length) {
            if (signal.aborted) throw new Stopped("stopped");
            if (this.source !== source) throw new Stopped("another program came");
            if (this.has[n] !== source) await this.give(n, source);
            const share = areas.slice(next, next + count);
            next += share.length;
            if (share.length === 0) return;
            const from = performance.now();
            busy.add(client);
            const answer = await client.ask("area", { drawing, areas: share, condition: condition ?? null }, attachedTo(view)).finally(() => busy.delete(client));
            const took = Math.max(performance.now() - from, 1);
            count = Math.round(Math.min(Math.max((share.length * MOMENT) / took, 1), share.length * 4, 1024));
            if (!signal.aborted) found(share, answer);
          }
        }),
      );
    } finally {
      signal.removeEventListener("abort", stopped);
      // If one worker fails, the others stop, too.
      next = areas.length;
    }
    if (signal.aborted) throw new Stopped("stopped");
  }

  /** Loads a program in a worker, unless it has it or is about to have it. */
  private async give(n: number, source: Source): Promise<Loaded | undefined> {
    const client = this.clients[n];
    if (client === undefined) return undefined;
    const known = this.giving[n];
    if (known?.source === source) return known.loaded;
    return this.given(n, source, client.ask("load", sourceRequest(source), source.files.map((file) => file.bytes)));
  }

  /** Notes that a worker is about to have a program. */
  private async given(n: number, source: Source, loaded: Promise<Loaded>): Promise<Loaded> {
    this.has[n] = undefined;
    this.giving[n] = { source, loaded };
    try {
      const answer = await loaded;
      if (this.giving[n]?.source === source) this.has[n] = source;
      return answer;
    } catch (error) {
      if (this.giving[n]?.source === source) this.giving[n] = undefined;
      throw error;
    }
  }

  private stop(client: Client, why: string): void {
    this.has[this.clients.indexOf(client)] = undefined;
    this.giving[this.clients.indexOf(client)] = undefined;
    client.restart(why);
  }
}

const alike = (a: Source, b: Source): boolean => a.name === b.name && a.text === b.text && a.files === b.files;

export { Stopped };
