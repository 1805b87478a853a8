// What the libraries are asked and answer: crates/r500-web, as TypeScript sees it.

/** A part of the text, in UTF-16 units. */
export interface Range {
  from: number;
  to: number;
}

export interface TextEdit extends Range {
  text: string;
}

export interface Fix {
  title: string;
  edits: TextEdit[];
}

export type Severity = "error" | "warning" | "note";

export interface Diagnostic extends Range {
  severity: Severity;
  code: string;
  message: string;
  help: string[];
  fixes: Fix[];
}

export interface Instruction {
  range: Range | null;
  address: number;
  kind: "alu" | "out" | "tex" | "fc";
  words: number[];
  text: string;
}

export interface Constant {
  number: number;
  /** Its four channels, as bits. */
  value: Bits4;
  name: string | null;
  uniforms: { name: string; channel: number; channels: number }[];
}

export type Bits4 = [number, number, number, number];

export interface TextureInfo {
  unit: number;
  size: [number, number, number];
  levels: number;
  file: string | null;
}

export interface Analysis {
  ok: boolean;
  name: string;
  size: [number, number] | null;
  time: number;
  /** Constant and channel that take the time. */
  clock: [number, number] | null;
  targets: boolean[];
  depth: boolean;
  diagnostics: Diagnostic[];
  instructions: Instruction[];
  constants: Constant[];
  textures: TextureInfo[];
  stats: { title: string; meaning: string; value: number; cost: boolean }[];
  notes: string[];
}

export interface Opened {
  name: string;
  format: string;
  text: string;
}

export interface EncodingField {
  name: string;
  hi: number;
  lo: number;
  code: number;
  reading: string;
  meaning: string;
  now: string;
  kind: "flag" | "number" | "signed" | "choice";
  reserved: boolean;
  values: { code: number; name: string; meaning: string }[];
}

export interface EncodingWord {
  bits: number;
  register: string | null;
  meaning: string;
  unnamed: number;
  fields: EncodingField[];
}

export interface Encoding {
  index: number;
  text: string;
  words: EncodingWord[];
}

export interface Loaded {
  size: [number, number] | null;
  targets: boolean[];
  depth: boolean;
  moves: boolean;
}

export interface Band {
  y: number;
  rows: number;
  bytes: Uint8Array<ArrayBuffer>;
}

export interface Drawn {
  bands: Band[];
  engine: string;
  instead: string | null;
  instructions: number;
  killed: number;
}

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

export interface Drawing {
  size: [number, number];
  time: number;
  constants: [number, Bits4][];
  bands: [number, number][];
  target: number;
  limit: number;
}

/** A request and the type of its answer. */
export interface Requests {
  open: { ask: { name: string; length: number }; answer: Opened[] };
  analyse: { ask: SourceRequest; answer: Analysis };
  load: { ask: SourceRequest; answer: Loaded };
  draw: { ask: Drawing; answer: Drawn };
  values: { ask: { target: number }; answer: Band[] };
  encoding: { ask: { index: number }; answer: Encoding };
  editField: { ask: { index: number; word: number; field: string; code: number }; answer: TextEdit[] };
  editConstant: { ask: { constant: number; value: Bits4 }; answer: TextEdit[] };
  flow: { ask: object; answer: string };
  write: { ask: { format: string }; answer: Uint8Array<ArrayBuffer> };
  page: { ask: { code: string }; answer: string | null };
}

export interface SourceRequest {
  name: string;
  text: string;
  files: { name: string; length: number }[];
}

export const sourceRequest = (source: Source): SourceRequest => ({
  name: source.name,
  text: source.text,
  files: source.files.map((file) => ({ name: file.name, length: file.bytes.length })),
});

/** A target as the picture shows it: 0 to 3 for A to D, 4 for depth. */
export const DEPTH = 4;
export const TARGET_NAMES = ["A", "B", "C", "D", "depth"] as const;
