// Pictures of the loaded program, by WebGPU where it serves, else by the workers; and why.

import { Signal } from "../app/signal.ts";
import { message } from "../app/dom.ts";
import { isScene } from "../scene/kind.ts";
import type { Client } from "../machine/client.ts";
import { instructions } from "../machine/limit.ts";
import type { Picture, Pool, View } from "../machine/pool.ts";
import { DEPTH, type GpuShader, type Loaded, type Look, type Source } from "../machine/protocol.ts";
import { openDevice } from "./device.ts";
import { Painter } from "./painter.ts";

/** Who is to draw. `auto`: a fast shader while the picture plays, an exact one while it stands still, if the device is exact. */
export const ENGINES = ["auto", "exact", "fast", "workers"] as const;
export type Engine = (typeof ENGINES)[number];

/** Who draws, and why. */
export interface Verdict {
  /** In a few words, as `WebGPU: exact`. */
  text: string;
  /** More of it. */
  title: string;
}

/** What draws a picture: the workers, if it is a reason. */
type Kind = { painter: Painter; exact: boolean; shader: GpuShader } | string;

export class Pictures {
  readonly engine = new Signal<Engine>("auto");
  readonly verdict = new Signal<Verdict>({ text: "workers", title: "" });
  private painter: Painter | undefined;
  private opening: Promise<void> | undefined;
  /** Why there is no painter. */
  private missing = "WebGPU is starting";
  private source: Source | undefined;
  /** What is known of the loaded program: fast, exact. */
  private known: (GpuShader | string | undefined)[] = [];
  private last: { view: View; exact: boolean } | undefined;
  /** Called when a picture would now be drawn by another engine. */
  onchange: () => void = () => {};

  constructor(
    private readonly pool: Pool,
    private readonly client: () => Client,
  ) {
    this.engine.watch((engine) => {
      // A lost device is asked for again.
      if (engine !== "workers" && this.painter === undefined) this.opening = undefined;
      this.onchange();
    });
  }

  get workers(): number {
    return this.pool.workers;
  }

  /** Number of draws that were submitted to the GPU. */
  get submissions(): number {
    return this.painter?.submissions ?? 0;
  }

  /** What the device does otherwise than exact shaders need. */
  get failures(): readonly string[] | undefined {
    return this.painter?.failures;
  }

  /** The device, for tests. */
  get device(): GPUDevice | undefined {
    return this.painter?.host.device;
  }

  get counts(): Painter["counts"] | undefined {
    return this.painter?.counts;
  }

  /** Waits until it is known whether WebGPU draws the loaded program. */
  async ready(): Promise<void> {
    for (;;) {
      const { source } = this;
      if (this.engine.value !== "workers") this.open();
      await this.opening;
      await Promise.all([false, true].map((exact) => this.learn(exact)));
      if (source === this.source) return;
    }
  }

  load(source: Source): Promise<Loaded> {
    this.source = source;
    this.known = [];
    this.last = undefined;
    return this.pool.load(source);
  }

  /** Draws a picture; `moving` while it plays. */
  async draw(view: View, moving: boolean): Promise<Picture> {
    const kind = this.kind(view, moving);
    if (typeof kind === "string") return this.byWorkers(view, kind);
    const { source } = this;
    try {
      const picture = await this.byGpu(kind, source as Source, view, moving);
      if (source === this.source) this.last = { view, exact: kind.exact };
      this.tell(kind, moving);
      return picture;
    } catch (error) {
      if (source === this.source) this.known[Number(kind.exact)] = message(error);
      return this.byWorkers(view, message(error));
    }
  }

  private async byGpu({ painter, exact }: Exclude<Kind, string>, source: Source, view: View, moving: boolean): Promise<Picture> {
    const start = performance.now();
    const drawn = { view, engine: "WebGPU", instead: null, instructions: 0, killed: 0, left: new Map<number, Uint8Array>() };
    if (moving) {
      const { bitmap, done } = await painter.show(source, exact, view);
      const picture: Picture = { ...drawn, pixels: new Uint8ClampedArray(0), bitmap, took: performance.now() - start };
      void done.then(() => (picture.took = performance.now() - start), () => {});
      return picture;
    }
    const values = await painter.values(source, exact, view);
    const pixels = await this.client().ask("shown", { width: view.size[0], length: values.length, look: view.look }, [values]);
    return { ...drawn, pixels: new Uint8ClampedArray(pixels.buffer), took: performance.now() - start };
  }

  private byWorkers(view: View, why: string): Promise<Picture> {
    this.last = undefined;
    this.verdict.value = { text: `workers: ${why}`, title: `The workers draw, exactly, with the processor. Why: ${why}` };
    return this.pool.draw(view);
  }

  /** Returns what draws a picture. */
  private kind(view: View, moving: boolean): Kind {
    const engine = this.engine.value;
    if (engine === "workers") return "chosen";
    this.open();
    const { painter } = this;
    if (painter === undefined) return this.missing;
    if (engine === "auto" && painter.host.isSoftware) return "this browser's WebGPU draws on the processor, too, and slower than they do";
    if (this.source !== undefined && isScene(this.source.text)) return "the virtual card draws scenes";
    if (view.live.length > 0) return "textures that change are drawn by the workers";
    if (view.target === DEPTH) return "WebGPU keeps no depth beyond 0 to 1";
    const wanted = engine === "auto" ? (moving ? [false, true] : [true]) : [engine === "exact"];
    let reason = "";
    for (const exact of wanted) {
      if (exact && !painter.isExact && engine === "auto") {
        reason ||= `the arithmetic of this GPU is not exact (${painter.failures[0] ?? ""})`;
        continue;
      }
      const shader = this.known[Number(exact)];
      if (shader === undefined) {
        void this.learn(exact);
        return "the shader is being compiled";
      }
      if (typeof shader === "string") reason ||= shader;
      else if (shader.instructions > instructions.value) reason ||= `the program may execute ${shader.instructions.toLocaleString("en")} instructions a pixel, more than the limit`;
      else if (!shader.colors.includes(view.target)) reason ||= "the program does not write this target";
      else return { painter, exact, shader };
    }
    return reason;
  }

  private tell({ painter, exact, shader }: Exclude<Kind, string>, moving: boolean): void {
    const { name } = painter.host;
    const failure = painter.failures[0];
    const note = failure === undefined ? "" : "; this GPU is not exact";
    const isDoubtful = exact && failure !== undefined;
    const text = isDoubtful ? "WebGPU: exact arithmetic, but this GPU is not exact" : exact ? "WebGPU: exact" : `WebGPU: fast${note}`;
    const small = "Fast: last bits may differ from the workers'";
    const amplified = shader.amplifiers.length === 0 ? "" : `, and the program makes such differences larger: ${shader.amplifiers.join("; ")}`;
    const stands = moving && this.engine.value === "auto" ? ` The standing picture is drawn ${failure === undefined ? "exactly" : "by the workers"}.` : "";
    const tested = failure === undefined ? "" : ` The test of the GPU fails: ${painter.failures.join("; ")}.`;
    const title = exact ? "The bits of the workers" : `${small}${amplified}`;
    this.verdict.value = { text, title: `${name} by WebGPU. ${isDoubtful ? "" : `${title}.`}${stands}${tested}` };
  }

  /** Finds out whether the loaded program can be drawn. */
  private async learn(exact: boolean): Promise<void> {
    const { source, painter } = this;
    if (source === undefined || painter === undefined) return;
    const found = await painter.prepare(source, exact).catch((error: unknown) => message(error));
    if (source !== this.source || painter !== this.painter || this.known[Number(exact)] !== undefined) return;
    this.known[Number(exact)] = found;
    this.onchange();
  }

  /** Opens the device, once. */
  private open(): void {
    this.opening ??= (async () => {
      try {
        const host = await openDevice();
        if (typeof host === "string") this.missing = host;
        else {
          const painter = await Painter.of(host, this.client(), (why) => this.lost(why));
          this.known = [];
          this.painter = painter;
        }
      } catch (error) {
        this.missing = `WebGPU does not start: ${message(error)}`;
      }
      this.onchange();
    })();
  }

  private lost(why: string): void {
    this.painter = undefined;
    this.known = [];
    this.last = undefined;
    this.missing = why;
    this.onchange();
  }

  /** Returns the raw values of the last picture, the lowest row first: four per pixel, or one for depth. */
  async values(target: number): Promise<Float32Array | undefined> {
    const { last, painter, source } = this;
    if (last === undefined || painter === undefined || source === undefined) return this.pool.values(target);
    const shader = this.known[Number(last.exact)];
    if (typeof shader !== "object" || !shader.colors.includes(target)) {
      await this.pool.draw({ ...last.view, target });
      return this.pool.values(target);
    }
    const bytes = await painter.values(source, last.exact, { ...last.view, target });
    return new Float32Array(bytes.buffer);
  }

  /** Returns the last picture with another target, the upper row first. */
  async show(target: number, look: Look): Promise<ImageData | undefined> {
    const { last } = this;
    if (last !== undefined) await this.pool.draw({ ...last.view, target, look });
    return this.pool.show(target, look);
  }
}
