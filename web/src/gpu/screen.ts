// The picture for the screen: raw values in 8 bits, as the display transform asks, the upper row first.

import type { Look } from "../machine/protocol.ts";
import { scoped } from "./device.ts";

const CODE = `
struct Look {
    // What is subtracted, and what is multiplied.
    black: vec4<f32>,
    scale: vec4<f32>,
    // Red, green, blue and alpha of the screen from those of the value; then a constant.
    red: vec4<f32>,
    green: vec4<f32>,
    blue: vec4<f32>,
    alpha: vec4<f32>,
    constant: vec4<f32>,
}
@group(0) @binding(0) var<uniform> look: Look;
@group(0) @binding(1) var values: texture_2d<f32>;

@vertex
fn corners(@builtin(vertex_index) n: u32) -> @builtin(position) vec4<f32> {
    return vec4<f32>(f32(n & 1u) * 4.0 - 1.0, f32(n >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}

@fragment
fn show(@builtin(position) at: vec4<f32>) -> @location(0) vec4<f32> {
    let height = textureDimensions(values).y;
    let value = textureLoad(values, vec2<u32>(u32(at.x), height - 1u - u32(at.y)), 0);
    // A comparison with NaN is false, and NaN is shown as 0.
    let ranged = (value - look.black) * look.scale;
    let limited = select(vec4<f32>(0.0), min(ranged, vec4<f32>(1.0)), ranged > vec4<f32>(0.0));
    let shown = vec4<f32>(dot(look.red, limited), dot(look.green, limited), dot(look.blue, limited), dot(look.alpha, limited)) + look.constant;
    return vec4<f32>(shown.rgb * shown.a, shown.a);
}
`;

export class Screen {
  private readonly canvas = new OffscreenCanvas(1, 1);
  private readonly context: GPUCanvasContext;
  private readonly buffer: GPUBuffer;
  private look: Look | undefined;

  private constructor(
    private readonly device: GPUDevice,
    private readonly pipeline: GPURenderPipeline,
    format: GPUTextureFormat,
  ) {
    const context = this.canvas.getContext("webgpu");
    if (context === null) throw new Error("a canvas has no context of WebGPU");
    context.configure({ device, format, alphaMode: "premultiplied" });
    this.context = context;
    this.buffer = device.createBuffer({ size: 7 * 16, usage: GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST });
  }

  static async of(device: GPUDevice): Promise<Screen> {
    const format = navigator.gpu.getPreferredCanvasFormat();
    const module = await scoped(device, () => device.createShaderModule({ code: CODE }));
    const pipeline = await device.createRenderPipelineAsync({
      layout: "auto",
      vertex: { module, entryPoint: "corners" },
      fragment: { module, entryPoint: "show", targets: [{ format }] },
    });
    return scoped(device, () => new Screen(device, pipeline, format));
  }

  /** Records the transformation of a target. */
  record(encoder: GPUCommandEncoder, color: GPUTexture, look: Look): void {
    if (this.canvas.width !== color.width || this.canvas.height !== color.height) [this.canvas.width, this.canvas.height] = [color.width, color.height];
    if (this.look !== look) this.device.queue.writeBuffer(this.buffer, 0, numbers(look));
    this.look = look;
    const pass = encoder.beginRenderPass({
      colorAttachments: [{ view: this.context.getCurrentTexture().createView(), loadOp: "clear", storeOp: "store" }],
    });
    pass.setPipeline(this.pipeline);
    pass.setBindGroup(0, this.device.createBindGroup({
      layout: this.pipeline.getBindGroupLayout(0),
      entries: [{ binding: 0, resource: { buffer: this.buffer } }, { binding: 1, resource: color.createView() }],
    }));
    pass.draw(3);
    pass.end();
  }

  /** Returns what was submitted last. */
  bitmap(): ImageBitmap {
    return this.canvas.transferToImageBitmap();
  }
}

/** Returns the uniform buffer of a display transform, with the rules of r500-web's `look`. */
export function numbers({ channels, range: [from, to] }: Look): Float32Array<ArrayBuffer> {
  const scale = 1 / (to - from);
  const shows = (channel: number): number => (channels >> channel) & 1;
  const unit = (channel: number, weight = 1): number[] => [0, 1, 2, 3].map((n) => (n === channel ? weight : 0));
  const isGrey = [1, 2, 4, 8].includes(channels & 15);
  const only = Math.log2(channels & 15);
  const rows = isGrey
    ? [unit(only), unit(only), unit(only), unit(-1), [0, 0, 0, 1]]
    : [unit(0, shows(0)), unit(1, shows(1)), unit(2, shows(2)), unit(3, shows(3)), [0, 0, 0, 1 - shows(3)]];
  return new Float32Array([from, from, from, 0, scale, scale, scale, 1, ...rows.flat()]);
}
