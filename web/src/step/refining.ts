// Progressive refinement of per-pixel numbers: a grid that becomes finer, in which each known cell stands for the unknown cells around it.

import type { Area } from "../machine/protocol.ts";

/**
 * Side of a cell: a multiple of the side of a pixel group. A group runs as a whole, so a cell that divides a group would make it run
 * several times.
 */
const CELL = 4;
/** Distance between the cells that are queried first, in cells. */
const COARSEST = 16;
const WHOLE = 0;

export class Refining {
  /** The numbers of each pixel, known or extrapolated, the lowest row first: `parts` numbers per pixel. */
  readonly numbers: Uint32Array;
  /** The areas to query, in the best order. */
  readonly areas: Area[] = [];
  /** Number of pixels with known numbers. */
  known = 0;
  /** The distance, in cells, of the known cell from which each cell's shown value was copied; 0 for a known cell. */
  private readonly coarse: Uint8Array;
  private readonly columns: number;
  private readonly rows: number;

  constructor(
    readonly width: number,
    readonly height: number,
    readonly parts: number,
  ) {
    this.numbers = new Uint32Array(width * height * parts);
    this.columns = Math.ceil(width / CELL);
    this.rows = Math.ceil(height / CELL);
    this.coarse = new Uint8Array(this.columns * this.rows).fill(255);
    for (let step = COARSEST; step >= 1; step /= 2) {
      for (let y = 0; y < this.rows; y += step) {
        for (let x = 0; x < this.columns; x += step) {
          const before = step < COARSEST && x % (2 * step) === 0 && y % (2 * step) === 0;
          if (!before) this.areas.push(this.area(x, y));
        }
      }
    }
  }

  get done(): boolean {
    return this.known === this.width * this.height;
  }

  /** The fraction of pixels that are known. */
  get share(): number {
    return this.known / (this.width * this.height);
  }

  /** Stores the numbers of areas, which are concatenated. */
  take(areas: readonly Area[], numbers: Uint32Array): void {
    let at = 0;
    for (const area of areas) {
      const count = area[2] * area[3] * this.parts;
      this.one(area, numbers.subarray(at, at + count));
      at += count;
    }
  }

  /** Calls `look` for each known pixel with the index of its first number. */
  each(look: (x: number, y: number, at: number) => void): void {
    for (let y = 0; y < this.height; y++) {
      const row = Math.floor(y / CELL) * this.columns;
      for (let x = 0; x < this.width; x++) {
        if (this.coarse[row + Math.floor(x / CELL)] === WHOLE) look(x, y, (y * this.width + x) * this.parts);
      }
    }
  }

  private one([left, bottom, width, height]: Area, numbers: Uint32Array): void {
    const [column, row] = [left / CELL, bottom / CELL];
    const { parts } = this;
    for (let y = 0; y < height; y++) {
      const line = numbers.subarray(y * width * parts, (y + 1) * width * parts);
      this.numbers.set(line, ((bottom + y) * this.width + left) * parts);
    }
    this.known += width * height;
    this.coarse[row * this.columns + column] = WHOLE;
    // Surrounding cells without a nearer known cell take the value of this cell's middle.
    const step = this.step(column, row);
    const middle = ((height >> 1) * width + (width >> 1)) * parts;
    const sample = numbers.subarray(middle, middle + parts);
    for (let y = row; y < Math.min(row + step, this.rows); y++) {
      for (let x = column; x < Math.min(column + step, this.columns); x++) {
        const cell = y * this.columns + x;
        if ((this.coarse[cell] ?? WHOLE) <= step) continue;
        this.coarse[cell] = step;
        this.fill(this.area(x, y), sample);
      }
    }
  }

  /** Returns the distance to the next cell of the same refinement level. */
  private step(column: number, row: number): number {
    let step = COARSEST;
    while (step > 1 && (column % step !== 0 || row % step !== 0)) step /= 2;
    return step;
  }

  private area(column: number, row: number): Area {
    const [left, bottom] = [column * CELL, row * CELL];
    return [left, bottom, Math.min(CELL, this.width - left), Math.min(CELL, this.height - bottom)];
  }

  private fill([left, bottom, width, height]: Area, sample: Uint32Array): void {
    for (let y = bottom; y < bottom + height; y++) {
      for (let x = left; x < left + width; x++) this.numbers.set(sample, (y * this.width + x) * this.parts);
    }
  }
}
