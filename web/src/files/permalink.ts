// Permalinks: a program in the URL's fragment, "1." and the packed program. Nothing is sent to any
// server.

import type { NamedFile, Source } from "../machine/protocol.ts";

/** The prefix of the fragment; its number is the version of the packing format. The second one has shaders. */
const VERSION = "1.";
const WITH_SHADER = "2.";

/** The maximal size of a link's JSON after decompression: a small link can decompress to many spaces. */
const MOST_BYTES = 32 << 20;
/** The maximal number of files in a link, and the maximal length of names. */
const MOST_FILES = 64;
const MOST_NAME = 1024;

/** The packed data: texts and bytes under short names, as deflated JSON. */
interface Packed {
  n: string;
  t: string;
  /** The shader, in place of the program. */
  g?: string;
  f?: [string, string][];
}

/** An invalid link; the message has the reason. */
export class BadLink extends Error {}

const DAMAGED = "this link is damaged: part of it is missing or changed";
const FOREIGN = "this link holds no program";
const TOO_LARGE = `this link holds more than ${MOST_BYTES >> 20} MiB: it is not opened`;

export async function pack(source: Source): Promise<string> {
  const packed: Packed = source.glsl === undefined ? { n: source.name, t: source.text } : { n: source.name, t: "", g: source.glsl };
  if (source.files.length > 0) packed.f = source.files.map((file) => [file.name, base64(file.bytes)]);
  const bytes = new TextEncoder().encode(JSON.stringify(packed));
  if (bytes.length > MOST_BYTES) throw new BadLink(`the program is too large for a link: more than ${MOST_BYTES >> 20} MiB with its files`);
  return (source.glsl === undefined ? VERSION : WITH_SHADER) + base64(await through(bytes, new CompressionStream("deflate-raw"), Infinity));
}

/** Returns the program of a fragment; `undefined` if it contains none. Throws `BadLink` if it is malformed. */
export async function unpack(fragment: string): Promise<Source | undefined> {
  const text = fragment.replace(/^#/, "");
  if (!/^\d+\./.test(text)) return undefined;
  const version = [VERSION, WITH_SHADER].find((one) => text.startsWith(one));
  if (version === undefined) throw new BadLink("this link was made by a newer version of this page");
  let value: unknown;
  try {
    const bytes = await through(unbase64(text.slice(version.length)), new DecompressionStream("deflate-raw"), MOST_BYTES);
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch (error) {
    throw error instanceof BadLink ? error : new BadLink(DAMAGED);
  }
  return program(value);
}

/** Validates a packed program. */
function program(value: unknown): Source {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new BadLink(FOREIGN);
  const { n: name, t: text, g: glsl, f: files = [] } = value as Record<string, unknown>;
  if (typeof name !== "string" || typeof text !== "string" || name.length > MOST_NAME) throw new BadLink(FOREIGN);
  if (glsl !== undefined && typeof glsl !== "string") throw new BadLink(FOREIGN);
  if (!Array.isArray(files) || files.length > MOST_FILES) throw new BadLink(FOREIGN);
  return { name, text, files: files.map(file), glsl };
}

function file(value: unknown): NamedFile {
  if (!Array.isArray(value) || value.length !== 2) throw new BadLink(FOREIGN);
  const [name, bytes] = value as unknown[];
  if (typeof name !== "string" || typeof bytes !== "string" || name.length > MOST_NAME) throw new BadLink(FOREIGN);
  try {
    return { name, bytes: unbase64(bytes) };
  } catch {
    throw new BadLink(DAMAGED);
  }
}

/** Passes bytes through a stream, and fails if the output exceeds `most` bytes. */
async function through(bytes: Uint8Array, stream: CompressionStream | DecompressionStream, most: number): Promise<Uint8Array> {
  const reader = new Blob([bytes as BlobPart]).stream().pipeThrough(stream).getReader();
  const parts: Uint8Array[] = [];
  let length = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    length += part.value.length;
    if (length > most) {
      await reader.cancel();
      throw new BadLink(TOO_LARGE);
    }
    parts.push(part.value);
  }
  const all = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Encodes bytes in base64 with characters that fragments allow. */
function base64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function unbase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
}
