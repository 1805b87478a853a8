// A shader with its textures and uniform buffer, and the targets that it draws.

import type { GpuShader, GpuTexture } from "../machine/protocol.ts";
import { FLOATS, type Pipeline } from "./pipeline.ts";

/** What a shader reads besides its uniform buffer; as long as the program stays loaded. */
export class Bound {
  private readonly entries: GPUBindGroupEntry[] = [];
  private readonly textures: GPUTexture[] = [];
  private readonly buffer: GPUBuffer | undefined;
  private readonly groups = new WeakMap<GPUBindGroupLayout, GPUBindGroup>();

  constructor(
    private readonly device: GPUDevice,
    readonly shader: GpuShader,
  ) {
    if (shader.uniforms !== null) {
      this.buffer = device.createBuffer({ size: shader.uniforms, usage: GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST });
      this.entries.push({ binding: 0, resource: { buffer: this.buffer } });
    }
    for (const texture of shader.textures) this.bind(texture);
  }

  private bind({ binding, view, levels, sampler, sampler_binding }: GpuTexture): void {
    const { device } = this;
    const dimension = view as GPUTextureViewDimension;
    const [width = 1, height = 1, depthOrArrayLayers = 1] = levels[0]?.size ?? [];
    const texture = device.createTexture({
      size: { width, height, depthOrArrayLayers },
      mipLevelCount: levels.length,
      dimension: dimension === "3d" ? "3d" : "2d",
      format: FLOATS,
      usage: GPUTextureUsage.TEXTURE_BINDING | GPUTextureUsage.COPY_DST,
    });
    levels.forEach(({ size: [width, height, depthOrArrayLayers], texels }, mipLevel) => {
      device.queue.writeTexture({ texture, mipLevel }, texels, { bytesPerRow: width * 16, rowsPerImage: height }, { width, height, depthOrArrayLayers });
    });
    this.textures.push(texture);
    this.entries.push({ binding, resource: texture.createView({ dimension }) });
    if (sampler === null || sampler_binding === null) return;
    const [addressModeU, addressModeV, addressModeW] = sampler.address;
    const [lodMinClamp, lodMaxClamp] = sampler.lod;
    const isLinear = [sampler.mag, sampler.min, sampler.mip].every((filter) => filter === "linear");
    const resource = device.createSampler({
      addressModeU,
      addressModeV,
      addressModeW,
      magFilter: sampler.mag,
      minFilter: sampler.min,
      mipmapFilter: sampler.mip,
      lodMinClamp,
      lodMaxClamp,
      // WebGPU has it with linear filters only.
      maxAnisotropy: isLinear ? sampler.anisotropy : 1,
    });
    this.entries.push({ binding: sampler_binding, resource });
  }

  set(uniforms: Uint8Array<ArrayBuffer>): void {
    if (this.buffer !== undefined) this.device.queue.writeBuffer(this.buffer, 0, uniforms);
  }

  group(layout: GPUBindGroupLayout): GPUBindGroup {
    const group = this.groups.get(layout) ?? this.device.createBindGroup({ layout, entries: this.entries });
    this.groups.set(layout, group);
    return group;
  }

  destroy(): void {
    this.buffer?.destroy();
    this.textures.forEach((texture) => texture.destroy());
  }
}

/** The targets of a picture of a size, which are kept for the next picture. */
export class Targets {
  readonly color: GPUTexture;
  private readonly depth: GPUTexture | undefined;
  private reading: GPUBuffer | undefined;

  constructor(
    private readonly device: GPUDevice,
    readonly size: readonly [number, number],
    readonly hasDepth: boolean,
    readonly format = FLOATS,
  ) {
    this.color = this.target(format, GPUTextureUsage.COPY_SRC | GPUTextureUsage.TEXTURE_BINDING);
    if (hasDepth) this.depth = this.target("depth32float", 0);
  }

  private target(format: GPUTextureFormat, usage: GPUTextureUsageFlags): GPUTexture {
    return this.device.createTexture({ size: [...this.size], format, usage: GPUTextureUsage.RENDER_ATTACHMENT | usage });
  }

  /** Records a draw of one target of a shader. Pixels that the program kills keep the initial value, 0. */
  record(encoder: GPUCommandEncoder, { pipeline, layout }: Pipeline, bound: Bound, target: number): void {
    const attachment: GPURenderPassColorAttachment = { view: this.color.createView(), loadOp: "clear", clearValue: [0, 0, 0, 0], storeOp: "store" };
    const pass = encoder.beginRenderPass({
      colorAttachments: Array.from({ length: target + 1 }, (_, n) => (n === target ? attachment : null)),
      ...(this.depth === undefined ? {} : { depthStencilAttachment: { view: this.depth.createView(), depthLoadOp: "clear" as const, depthClearValue: 0, depthStoreOp: "discard" as const } }),
    });
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, bound.group(layout));
    pass.draw(3);
    pass.end();
  }

  /** Records the copy that `read` returns. */
  copy(encoder: GPUCommandEncoder): void {
    const [width, height] = this.size;
    this.reading ??= this.device.createBuffer({ size: this.pitch() * height, usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ });
    encoder.copyTextureToBuffer({ texture: this.color }, { buffer: this.reading, bytesPerRow: this.pitch() }, [width, height]);
  }

  /** Returns the bytes of the colours that were copied, row 0 first. */
  async read(): Promise<Uint8Array<ArrayBuffer>> {
    const buffer = this.reading;
    if (buffer === undefined) throw new Error("nothing was copied");
    await buffer.mapAsync(GPUMapMode.READ);
    const mapped = new Uint8Array(buffer.getMappedRange());
    const [row, height] = [this.row(), this.size[1]];
    const bytes = new Uint8Array(row * height);
    for (let y = 0; y < height; y++) bytes.set(mapped.subarray(y * this.pitch(), y * this.pitch() + row), y * row);
    buffer.unmap();
    return bytes;
  }

  private row(): number {
    return this.size[0] * (this.format === FLOATS ? 16 : 4);
  }

  /** Rows of a copy begin at multiples of 256 bytes. */
  private pitch(): number {
    return Math.ceil(this.row() / 256) * 256;
  }

  destroy(): void {
    this.color.destroy();
    this.depth?.destroy();
    this.reading?.destroy();
  }
}
