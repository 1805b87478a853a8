// Compiled shaders, kept by their text: programs that come again are not compiled again.

import type { GpuShader } from "../machine/protocol.ts";
import { firstLine, scoped, type Device } from "./device.ts";

export interface Pipeline {
  pipeline: GPURenderPipeline;
  layout: GPUBindGroupLayout;
}

/** The format of targets that keeps what the program computes. */
export const FLOATS: GPUTextureFormat = "rgba32float";
const DEPTH: GPUTextureFormat = "depth32float";

/** A triangle over the picture. */
const VERTICES = `
@vertex
fn main(@builtin(vertex_index) n: u32) -> @builtin(position) vec4<f32> {
    return vec4<f32>(f32(n & 1u) * 4.0 - 1.0, f32(n >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}
`;

/** The number of pipelines that are kept. */
const MOST = 64;

export class Pipelines {
  private readonly kept = new Map<string, Promise<Pipeline>>();
  private readonly vertices: GPUShaderModule;
  /** Number of compilations, and of pipelines that were found. */
  compiled = 0;
  found = 0;

  constructor(private readonly host: Device) {
    this.vertices = host.device.createShaderModule({ code: VERTICES });
  }

  /** Returns the pipeline that draws one target of a shader. Rejects with what the browser says against it. */
  pipeline(shader: GpuShader, target: number, format = FLOATS): Promise<Pipeline> {
    const key = `${target} ${format} ${shader.code}`;
    let pipeline = this.kept.get(key);
    if (pipeline === undefined) {
      this.compiled++;
      pipeline = this.compile(shader, target, format);
    } else this.found++;
    // The last ones are kept.
    this.kept.delete(key);
    this.kept.set(key, pipeline);
    const [oldest] = this.kept.keys();
    if (this.kept.size > MOST && oldest !== undefined) this.kept.delete(oldest);
    return pipeline;
  }

  private async compile(shader: GpuShader, target: number, format: GPUTextureFormat): Promise<Pipeline> {
    const { device } = this.host;
    device.pushErrorScope("validation");
    const module = device.createShaderModule({ code: shader.code });
    const refused = device.popErrorScope();
    const { messages } = await module.getCompilationInfo();
    const error = messages.find(({ type }) => type === "error");
    if (error !== undefined) throw new Error(`line ${error.lineNum}: ${firstLine(error.message)}`);
    const other = await refused;
    if (other !== null) throw new Error(firstLine(other.message));
    const layout = await scoped(device, () => device.createBindGroupLayout({ entries: entries(shader, this.host.filtersFloats) }));
    const pipeline = await device.createRenderPipelineAsync({
      layout: device.createPipelineLayout({ bindGroupLayouts: [layout] }),
      vertex: { module: this.vertices, entryPoint: "main" },
      fragment: { module, entryPoint: "main", targets: Array.from({ length: target + 1 }, (_, n) => (n === target ? { format } : null)) },
      ...(shader.depth ? { depthStencil: { format: DEPTH, depthWriteEnabled: true, depthCompare: "always" as const } } : {}),
    });
    return { pipeline, layout };
  }
}

function entries(shader: GpuShader, filtersFloats: boolean): GPUBindGroupLayoutEntry[] {
  const visibility = GPUShaderStage.FRAGMENT;
  const buffer: GPUBindGroupLayoutEntry[] = shader.uniforms === null ? [] : [{ binding: 0, visibility, buffer: {} }];
  const textures = shader.textures.flatMap(({ binding, view, sampler_binding: sampler }): GPUBindGroupLayoutEntry[] => {
    const filtered = sampler !== null && filtersFloats;
    const texture = { binding, visibility, texture: { sampleType: filtered ? ("float" as const) : ("unfilterable-float" as const), viewDimension: view as GPUTextureViewDimension } };
    return sampler === null ? [texture] : [texture, { binding: sampler, visibility, sampler: { type: "filtering" } }];
  });
  return [...buffer, ...textures];
}
