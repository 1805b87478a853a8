// Drawing of scenes on the virtual card, in a worker of its own.

import { patience } from "../app/patience.ts";
import { count } from "../app/numbers.ts";
import { Client } from "../machine/client.ts";
import type { Picture, View } from "../machine/pool.ts";
import { sourceRequest, type Loaded, type Look, type Source } from "../machine/protocol.ts";

/** Milliseconds after which a picture is abandoned. */
const PATIENCE = 8_000;
/** Milliseconds that a new scene waits for the previous scene's picture. */
const COURTESY = 150;

export class SceneDrawing {
  private worker: Client | undefined;
  /** The scene that the worker has, or is about to have. */
  private given: { source: Source; loaded: Promise<Loaded> } | undefined;
  private source: Source | undefined;
  private size: [number, number] = [0, 0];

  constructor(private readonly module: () => Promise<WebAssembly.Module>) {}

  private get client(): Client {
    return (this.worker ??= new Client(this.module()));
  }

  /** Loads a scene. A drawing of another one that takes too long is abandoned. */
  async load(source: Source): Promise<Loaded> {
    this.source = source;
    this.size = [0, 0];
    const { client } = this;
    if (client.pending > 0) {
      await Promise.race([new Promise((resolve) => setTimeout(resolve, COURTESY)), client.idle()]);
      if (client.pending > 0) this.stop("another scene came");
    }
    return this.give(source);
  }

  async draw(view: View): Promise<Picture> {
    const start = performance.now();
    const { source } = this;
    if (source === undefined) throw new Error("nothing is loaded");
    const limit = patience(PATIENCE);
    const watch = setTimeout(() => this.stop(`stopped: no picture after ${limit / 1000} seconds`), limit);
    try {
      const { size } = await this.give(source);
      const { bytes, draws, vertices, notes } = await this.client.ask("drawScene", { time: view.time, look: view.look });
      if (size !== null) this.size = size;
      const about = `Drawn by the virtual card: ${count(draws, "draw")}, ${vertices.toLocaleString("en")} ${vertices === 1 ? "vertex" : "vertices"}${notes.map((note) => `; ${note}`).join("")}`;
      const pixels = new Uint8ClampedArray(bytes.buffer as ArrayBuffer);
      return { view: { ...view, size: this.size }, pixels, engine: "card", instead: null, instructions: 0, killed: 0, took: performance.now() - start, about, left: new Map() };
    } finally {
      clearTimeout(watch);
    }
  }

  /** Returns the last picture, displayed in another way. */
  async show(look: Look): Promise<ImageData | undefined> {
    const [width, height] = this.size;
    if (width === 0) return undefined;
    const bytes = await this.client.ask("showScene", { look });
    return new ImageData(new Uint8ClampedArray(bytes.buffer as ArrayBuffer), width, height);
  }

  /** Returns the values of the last picture, four a pixel, the lowest row first. */
  async values(): Promise<Float32Array | undefined> {
    if (this.size[0] === 0) return undefined;
    const bytes = await this.client.ask("sceneValues", {});
    return new Float32Array(bytes.buffer as ArrayBuffer);
  }

  /** Returns a capture of the command stream that draws the scene. */
  async capture(time: number): Promise<Uint8Array<ArrayBuffer>> {
    if (this.source === undefined) throw new Error("nothing is loaded");
    await this.give(this.source);
    return (await this.client.ask("sceneCapture", { time })) as Uint8Array<ArrayBuffer>;
  }

  private give(source: Source): Promise<Loaded> {
    if (this.given?.source === source) return this.given.loaded;
    const loaded = this.client.ask("loadScene", sourceRequest(source), source.files.map((file) => file.bytes));
    const given = { source, loaded };
    this.given = given;
    loaded.catch(() => this.given === given && (this.given = undefined));
    return loaded;
  }

  private stop(why: string): void {
    this.given = undefined;
    this.client.restart(why);
  }
}
