// What the libraries are asked and answer. The types of requests and answers are generated (requests.ts).

import type { Answers, FileLength, Range, Request, Source as SourceRequest } from "./requests.ts";

export type * from "./requests.ts";
export type { SourceRequest };

export type RequestName = keyof Answers;

/** What goes with a request; fields that have defaults may be left out. */
export type Ask<K extends RequestName> = Omit<Extract<Request, { do: K }>, "do">;

/** Four floats as bits. */
export type Bits4 = [number, number, number, number];

/** Left, bottom, width, height. */
export type Area = [number, number, number, number];

/** From, to, and what it is. */
export type Token = Answers["tokens"][number];

export interface NamedFile {
  name: string;
  bytes: Uint8Array;
}

/** A program as it is written, with the files that it may name. */
export interface Source {
  name: string;
  text: string;
  files: readonly NamedFile[];
}

const lengths = (files: readonly NamedFile[]): FileLength[] => files.map((file) => ({ name: file.name, length: file.bytes.length }));

export const sourceRequest = (source: Source): SourceRequest => ({ name: source.name, text: source.text, files: lengths(source.files) });

/** A target as the picture shows it: 0 to 3 for A to D, 4 for depth. */
export const DEPTH = 4;
export const TARGET_NAMES = ["A", "B", "C", "D", "depth"] as const;

export const overlaps = (a: Range, b: Range): boolean => a.from <= b.to && b.from <= a.to;
