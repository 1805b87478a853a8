// The WebAssembly module: requests as bytes in its memory, answers as JSON.

import { made } from "./made.mjs";

interface Exports {
  memory: WebAssembly.Memory;
  room(length: number): number;
  answer(): number;
  text(): number;
  length(): number;
}

/** The module trapped and can no longer be used. */
export class Trap extends Error {}

export class Module {
  private constructor(private readonly exports: Exports) {}

  static async of(module: WebAssembly.Module): Promise<Module> {
    const { imports, begin } = made();
    const instance = await WebAssembly.instantiate(module, imports);
    begin(instance.exports);
    return new Module(instance.exports as unknown as Exports);
  }

  /**
   * Sends a request and returns its answer. Bytes to which the answer refers are copied from the
   * module's memory.
   */
  ask(request: object, attached: readonly Uint8Array[] = []): unknown {
    const line = new TextEncoder().encode(`${JSON.stringify(request)}\n`);
    const length = attached.reduce((sum, bytes) => sum + bytes.length, line.length);
    let at = this.exports.room(length) >>> 0;
    // Growing the memory replaces the buffer, so it is read again after every call.
    const memory = new Uint8Array(this.exports.memory.buffer);
    for (const bytes of [line, ...attached]) {
      memory.set(bytes, at);
      at += bytes.length;
    }
    let got: number;
    try {
      got = this.exports.answer();
    } catch (trap) {
      throw new Trap(this.text(this.exports.length()) || String(trap));
    }
    if (got < 0) throw new Error(this.text(-got));
    return JSON.parse(this.text(got), (_, value: unknown) => (isPlace(value) ? this.copy(value) : value));
  }

  private text(length: number): string {
    return new TextDecoder().decode(new Uint8Array(this.exports.memory.buffer, this.exports.text() >>> 0, length));
  }

  private copy(place: Place): Uint8Array {
    return new Uint8Array(this.exports.memory.buffer, place.at, place.length).slice();
  }
}

interface Place {
  at: number;
  length: number;
}

const isPlace = (value: unknown): value is Place =>
  typeof value === "object" && value !== null && !Array.isArray(value) && "at" in value && "length" in value && Object.keys(value).length === 2;
