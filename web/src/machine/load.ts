// Loading of the compiled module, also from hosts that do not know the type of `.wasm`.

export async function load(url: string): Promise<WebAssembly.Module> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} cannot be fetched (${response.status})`);
  const type = response.headers.get("content-type") ?? "";
  // Streaming compilation requires the right type.
  if (type.startsWith("application/wasm")) return WebAssembly.compileStreaming(response);
  return WebAssembly.compile(await response.arrayBuffer());
}
