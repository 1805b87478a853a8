// The compiled module, from any host: also from those that do not know what `.wasm` is.

export async function load(url: string): Promise<WebAssembly.Module> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} cannot be fetched (${response.status})`);
  const type = response.headers.get("content-type") ?? "";
  // Compiling while it arrives takes the right type.
  if (type.startsWith("application/wasm")) return WebAssembly.compileStreaming(response);
  return WebAssembly.compile(await response.arrayBuffer());
}
