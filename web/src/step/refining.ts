// Numbers of a picture's pixels that arrive coarse first: a grid that becomes finer, each cell standing for those
// around it until they have come.

import type { Area } from "../machine/protocol.ts";

/**
 * Side of a cell: a multiple of the side of a group of pixels. A group runs as a whole, so cells that cut it would have it
 * run several times.
 */
const CELL = 4;
/** Cells between two of the first that are asked. */
const COARSEST = 16;
const WHOLE = 0;

export class Refining {
  /** What is known of each pixel, the lowest row first: `parts` numbers a pixel. */
  readonly numbers: Uint32Array;
  /** The areas to ask about, in the order in which that is best done. */
  readonly areas: Area[] = [];
  /** How many pixels are known themselves. */
  known = 0;
  /** How coarse what is shown of each cell is: the distance of the cell it was taken from; 0 for its own. */
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

  /** The share of all pixels that is known. */
  get share(): number {
    return this.known / (this.width * this.height);
  }

  /** Takes numbers of areas, one behind the other. */
  take(areas: readonly Area[], numbers: Uint32Array): void {
    let at = 0;
    for (const area of areas) {
      const count = area[2] * area[3] * this.parts;
      this.one(area, numbers.subarray(at, at + count));
      at += count;
    }
  }

  /** Each pixel that is known itself, and where its first number is. */
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
    // The cells around that nothing nearer is known of look like its middle.
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

  /** How far from the next cell of its level one is. */
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
