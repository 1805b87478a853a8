// A GPU that draws programs: the device, the test of its arithmetic, and pictures of one program at a time.

import type { Client } from "../machine/client.ts";
import { instructions } from "../machine/limit.ts";
import { drawingOf, type View } from "../machine/pool.ts";
import { sourceRequest, type GpuShader, type Source } from "../machine/protocol.ts";
import type { Device } from "./device.ts";
import { scoped } from "./device.ts";
import { Bound, Targets } from "./drawing.ts";
import { Pipelines, type Pipeline } from "./pipeline.ts";
import { Screen } from "./screen.ts";

/** A program as a shader of one kind. */
interface Program {
  source: Source;
  exact: boolean;
  bound: Bound;
}

/** The loaded source: loading, its fast and its exact shader. */
interface Loaded {
  source: Source;
  loading: Promise<unknown>;
  kinds: (Promise<Program> | undefined)[];
}

/** Pictures that may be under way: the next one waits for the last but one. */
const UNDER_WAY = 2;

export class Painter {
  private readonly pipelines: Pipelines;
  private programs: Loaded | undefined;
  private targets: Targets | undefined;
  private screen: Promise<Screen> | undefined;
  private readonly underWay: Promise<unknown>[] = [];
  private failed: ((why: string) => void) | undefined;
  /** Number of command buffers with a draw of a program that were submitted. */
  submissions = 0;

  private constructor(
    readonly host: Device,
    private readonly client: Client,
    /** The rules that the device breaks; if there is none, exact shaders are exact. */
    readonly failures: readonly string[],
  ) {
    this.pipelines = new Pipelines(host);
  }

  get isExact(): boolean {
    return this.failures.length === 0;
  }

  /** Number of shaders that were compiled, and that were found because they had been. */
  get counts(): { compiled: number; found: number } {
    const { compiled, found } = this.pipelines;
    return { compiled, found };
  }

  /** Tests the device. `failed` is called once with the reason if it draws no longer. */
  static async of(host: Device, client: Client, failed: (why: string) => void): Promise<Painter> {
    const { device } = host;
    const test = await client.ask("gpuTest", {});
    const pipeline = await new Pipelines(host).pipeline(test.shader, 0, "rgba8unorm");
    const [targets, bound] = await scoped(device, () => {
      const bound = new Bound(device, test.shader);
      bound.set(test.values);
      const targets = new Targets(device, test.size, false, "rgba8unorm");
      const encoder = device.createCommandEncoder();
      targets.record(encoder, pipeline, bound, 0);
      targets.copy(encoder);
      device.queue.submit([encoder.finish()]);
      return [targets, bound] as const;
    });
    const pixels = await targets.read();
    targets.destroy();
    bound.destroy();
    const failures = await client.ask("gpuFailures", { length: pixels.length }, [pixels]);
    const painter = new Painter(host, client, failures);
    painter.failed = failed;
    void device.lost.then(({ message }) => painter.fail(`the GPU was lost${message === "" ? "" : `: ${message}`}`));
    device.addEventListener("uncapturederror", ({ error }) => painter.fail(`the GPU reports an error: ${error.message}`));
    client.onrestart = () => (painter.programs = undefined);
    return painter;
  }

  /** Prepares a program. Rejects with the reason why it cannot be drawn. */
  async prepare(source: Source, exact: boolean): Promise<GpuShader> {
    return (await this.program(source, exact)).bound.shader;
  }

  private program(source: Source, exact: boolean): Promise<Program> {
    const { programs } = this;
    const loaded = programs?.source === source ? programs : this.load(source);
    return (loaded.kinds[Number(exact)] ??= this.compile(loaded, exact));
  }

  private load(source: Source): Loaded {
    for (const program of this.programs?.kinds ?? []) void program?.then(({ bound }) => bound.destroy(), () => {});
    const loading = this.client.ask("load", sourceRequest(source), source.files.map((file) => file.bytes));
    return (this.programs = { source, loading, kinds: [] });
  }

  private async compile({ source, loading }: Loaded, exact: boolean): Promise<Program> {
    const { device, filtersFloats } = this.host;
    await loading;
    const shader = await this.client.ask("shader", { exact }).catch((error: Error) => {
      throw new Error(`the program cannot be emitted because ${error.message}`);
    });
    if (shader.textures.some(({ sampler }) => sampler !== null) && !filtersFloats) throw new Error("this GPU filters no textures of floats");
    const bound = await scoped(device, () => new Bound(device, shader));
    // Colours that are not written need no pipeline.
    await Promise.all(shader.colors.slice(0, 1).map((target) => this.pipelines.pipeline(shader, target))).catch((error: Error) => {
      throw new Error(`WebGPU refuses the shader: ${error.message}`);
    });
    return { source, exact, bound };
  }

  /** Returns the values of a target, the lowest row first. Rejects with the reason why there are none. */
  async values(source: Source, exact: boolean, view: View): Promise<Uint8Array<ArrayBuffer>> {
    const { device } = this.host;
    const program = await this.program(source, exact);
    const pipeline = await this.set(program, view);
    // Targets of its own: others may be drawn while these are read.
    const targets = await scoped(device, () => {
      const targets = new Targets(device, view.size, program.bound.shader.depth);
      const encoder = device.createCommandEncoder();
      targets.record(encoder, pipeline, program.bound, view.target);
      targets.copy(encoder);
      this.submit(encoder);
      return targets;
    });
    return targets.read().finally(() => targets.destroy());
  }

  /** Returns the picture for the screen, with the milliseconds that pictures take. Rejects with the reason why there is none. */
  async show(source: Source, exact: boolean, view: View): Promise<{ bitmap: ImageBitmap; done: Promise<unknown> }> {
    const { device } = this.host;
    const program = await this.program(source, exact);
    const screen = await (this.screen ??= Screen.of(device));
    if (this.underWay.length >= UNDER_WAY) await this.underWay.shift();
    const pipeline = await this.set(program, view);
    const targets = this.targetsOf(view.size, program.bound.shader.depth);
    const encoder = device.createCommandEncoder();
    targets.record(encoder, pipeline, program.bound, view.target);
    screen.record(encoder, targets.color, view.look);
    this.submit(encoder);
    const done = device.queue.onSubmittedWorkDone();
    this.underWay.push(done.catch(() => {}));
    return { bitmap: screen.bitmap(), done };
  }

  private targetsOf(size: [number, number], hasDepth: boolean): Targets {
    const { targets } = this;
    if (targets !== undefined && targets.size.join() === size.join() && targets.hasDepth === hasDepth) return targets;
    targets?.destroy();
    return (this.targets = new Targets(this.host.device, size, hasDepth));
  }

  /** Sets the uniform buffer, for a draw that is recorded at once. */
  private async set({ bound, exact }: Program, view: View): Promise<Pipeline> {
    const pipeline = await this.pipelines.pipeline(bound.shader, view.target);
    if (bound.shader.uniforms !== null) bound.set(await this.client.ask("uniforms", { exact, drawing: drawingOf(view, instructions.value) }));
    return pipeline;
  }

  private submit(encoder: GPUCommandEncoder): void {
    this.host.device.queue.submit([encoder.finish()]);
    this.submissions++;
  }

  private fail(why: string): void {
    this.failed?.(why);
    this.failed = undefined;
  }
}
