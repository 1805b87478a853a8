// Textures that change from picture to picture: what the program drew before, keys, a camera, a video.

import type { LiveUnit } from "../machine/protocol.ts";
import type { HostTextures } from "./host-textures.ts";

/** Texels of a texture that changes; without bytes all are 0. */
export interface LiveTexels {
  unit: number;
  size: [number, number];
  bytes: Uint8Array | undefined;
  /** The output whose values in the picture before these are. */
  target: number | undefined;
}

/** The values that a picture leaves for the next one, by output. */
export type Left = ReadonlyMap<number, Uint8Array>;

const NOTHING: Left = new Map();

/** Returns texels for the picture that follows one that left values. */
export const following = (live: readonly LiveTexels[], left: Left): LiveTexels[] =>
  live.map((one) => (one.target === undefined ? one : { ...one, bytes: left.get(one.target) }));

export class LiveTextures {
  private units: readonly LiveUnit[] = [];
  private before = NOTHING;
  private after = NOTHING;
  private size = "";
  private number = 0;

  constructor(private readonly host: HostTextures) {}

  get any(): boolean {
    return this.units.length > 0;
  }

  /** Number of pictures before the next one. */
  get frame(): number {
    return this.number;
  }

  /** Begins with the first picture of a program. */
  load(units: readonly LiveUnit[]): void {
    this.units = units;
    this.host.use(new Set(units.map(({ source }) => source)));
    this.restart();
  }

  /** Begins anew: what was drawn before is 0. */
  restart(): void {
    this.before = this.after = NOTHING;
    this.number = 0;
  }

  /** Keeps what a picture leaves. */
  drew(left: Left): void {
    this.after = left;
  }

  /** The next picture follows the last one. */
  advance(): void {
    this.before = this.after;
    this.number++;
    this.host.advanced();
  }

  /** Returns the texels for a picture of a size; one of another size begins anew. */
  texels(size: [number, number]): LiveTexels[] {
    if (this.size !== size.join()) this.restart();
    this.size = size.join();
    return this.units.map(({ unit, source, target }) => {
      if (source === "previous") return { unit, size, bytes: this.before.get(target), target };
      return { unit, ...this.host.texels(source), target: undefined };
    });
  }
}
