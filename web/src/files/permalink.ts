// A program in the URL's fragment: "1." and the packed program. Nothing is sent to any server.

import type { Source } from "../machine/protocol.ts";

/** What the fragment begins with; another number would be another way to pack. */
const VERSION = "1.";

/** What is packed: texts and bytes under short names, as JSON, deflated. */
interface Packed {
  n: string;
  t: string;
  f?: [string, string][];
}

export async function pack(source: Source): Promise<string> {
  const packed: Packed = { n: source.name, t: source.text };
  if (source.files.length > 0) packed.f = source.files.map((file) => [file.name, base64(file.bytes)]);
  const bytes = new TextEncoder().encode(JSON.stringify(packed));
  return VERSION + base64(await through(bytes, new CompressionStream("deflate-raw")));
}

/** The program of a fragment; nothing if it holds none. */
export async function unpack(fragment: string): Promise<Source | undefined> {
  const text = fragment.replace(/^#/, "");
  if (!/^\d+\./.test(text)) return undefined;
  if (!text.startsWith(VERSION)) throw new Error("this link was made by a newer version of this page");
  let packed: Packed;
  try {
    const bytes = await through(unbase64(text.slice(VERSION.length)), new DecompressionStream("deflate-raw"));
    packed = JSON.parse(new TextDecoder().decode(bytes)) as Packed;
  } catch {
    throw new Error("this link is damaged: part of it is missing or changed");
  }
  const files = (packed.f ?? []).map(([name, bytes]) => ({ name, bytes: unbase64(bytes) }));
  return { name: String(packed.n), text: String(packed.t), files };
}

async function through(bytes: Uint8Array, stream: CompressionStream | DecompressionStream): Promise<Uint8Array> {
  const piped = new Blob([bytes as BlobPart]).stream().pipeThrough(stream);
  return new Uint8Array(await new Response(piped).arrayBuffer());
}

/** Letters that fragments take as they are. */
function base64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function unbase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
}
