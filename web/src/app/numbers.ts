// Human-readable floats, and conversion between floats and bits.

const cell = new DataView(new ArrayBuffer(4));

export function bitsOf(value: number): number {
  cell.setFloat32(0, value);
  return cell.getUint32(0);
}

export function floatOf(bits: number): number {
  cell.setUint32(0, bits);
  return cell.getFloat32(0);
}

/** Returns a float as short text, with six significant digits. */
export function short(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  if (Object.is(value, -0)) return "-0";
  const text = value.toPrecision(6);
  return text.includes("e") ? Number(text).toExponential().replace("e+", "e") : String(Number(text));
}

/** Returns the shortest decimal that denotes this float. */
export function exact(value: number): string {
  if (!Number.isFinite(value)) return short(value);
  for (let digits = 1; digits <= 9; digits++) {
    const text = value.toPrecision(digits);
    if (Math.fround(Number(text)) === value) return Object.is(value, -0) ? "-0" : String(Number(text));
  }
  return String(value);
}

export const hex = (bits: number): string => `0x${(bits >>> 0).toString(16).padStart(8, "0")}`;

/** Returns the 8-bit value of a number from 0 to 1, for swatches. */
export const eightBit = (value: number): number => (value > 0 ? Math.round(Math.min(value, 1) * 255) : 0);

export const css = ([r, g, b]: readonly [number, number, number]): string =>
  `rgb(${eightBit(r)} ${eightBit(g)} ${eightBit(b)})`;

/** Returns a number with the noun that it counts: `1 line`, `2 lines`. */
export const count = (n: number, noun: string): string => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
