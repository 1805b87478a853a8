// The requests and answers of the libraries. Their types are generated (requests.ts).

import type { Answers, FileLength, Range, Request, Source as SourceRequest } from "./requests.ts";

export type * from "./requests.ts";
export type { SourceRequest };

export type RequestName = keyof Answers;

/** The arguments of a request; fields with defaults may be omitted. */
export type Ask<K extends RequestName> = Omit<Extract<Request, { do: K }>, "do">;

/** Four floats as bits. */
export type Bits4 = [number, number, number, number];

/** Left, bottom, width, height. */
export type Area = [number, number, number, number];

/** From, to, and kind. */
export type Token = Answers["tokens"][number];

export interface NamedFile {
  name: string;
  bytes: Uint8Array;
}

/** A program's source, with the files that it may name. */
export interface Source {
  name: string;
  text: string;
  files: readonly NamedFile[];
  /** The shader of which the text is the compiled program; an empty text is not compiled yet. */
  glsl?: string | undefined;
}

const lengths = (files: readonly NamedFile[]): FileLength[] => files.map((file) => ({ name: file.name, length: file.bytes.length }));

export const sourceRequest = (source: Source): SourceRequest => ({ name: source.name, text: source.text, files: lengths(source.files) });

/** The number of the depth target; 0 to 3 are A to D. */
export const DEPTH = 4;
export const TARGET_NAMES = ["A", "B", "C", "D", "depth"] as const;

export const overlaps = (a: Range, b: Range): boolean => a.from <= b.to && b.from <= a.to;
