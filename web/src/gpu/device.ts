// The device of WebGPU, and why there is none.

/** A device that draws. */
export interface Device {
  device: GPUDevice;
  /** Its name for people. */
  name: string;
  /** Whether samplers filter floats, which fast shaders with textures need. */
  filtersFloats: boolean;
  /** Whether it is a program on the processor, which the workers surpass. */
  isSoftware: boolean;
}

/** Returns the device, or the reason why there is none. */
export async function openDevice(): Promise<Device | string> {
  const gpu = navigator.gpu as GPU | undefined;
  if (gpu === undefined) return isSecureContext ? "this browser has no WebGPU" : "WebGPU needs an address with https";
  try {
    const adapter = await gpu.requestAdapter({ powerPreference: "high-performance" });
    if (adapter === null) return "this browser has no GPU for WebGPU";
    const features: GPUFeatureName = "float32-filterable";
    const filtersFloats = adapter.features.has(features);
    const device = await adapter.requestDevice({ requiredFeatures: filtersFloats ? [features] : [] });
    const { vendor, architecture, description, isFallbackAdapter: isSoftware } = adapter.info;
    const name = description || [vendor, architecture].filter((word) => word !== "").join(" ") || "unknown GPU";
    return { device, name, filtersFloats, isSoftware };
  } catch (error) {
    return `the GPU cannot be used: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Runs what creates or submits something, at once. Rejects with what the device refuses of it. */
export async function scoped<T>(device: GPUDevice, f: () => T): Promise<T> {
  device.pushErrorScope("out-of-memory");
  device.pushErrorScope("validation");
  let result: { value: T } | { error: unknown };
  try {
    result = { value: f() };
  } catch (error) {
    result = { error };
  }
  // Popped before anything else is pushed, and awaited afterwards.
  const refused = (await Promise.all([device.popErrorScope(), device.popErrorScope()])).find((error) => error !== null);
  if (refused) throw new Error(firstLine(refused.message));
  if ("error" in result) throw result.error;
  return result.value;
}

/** Messages of WebGPU end with lines about the calls that led to them. */
export const firstLine = (text: string): string => text.split("\n").find((line) => line.trim() !== "") ?? text;
