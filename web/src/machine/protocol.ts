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
  /** Whether it resolves the problem rather than silencing it. */
  resolves: boolean;
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
  index: number;
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
  /** The address of the first instruction. */
  offset: number;
  instructions: Instruction[];
  constants: Constant[];
  textures: TextureInfo[];
  stats: { title: string; meaning: string; value: number; cost: boolean }[];
  notes: string[];
}

/** A file with programs, and one of them as a source. */
export interface Opened {
  format: string;
  names: string[];
  picked: number;
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

export interface Hover extends Range {
  /** Markdown. */
  text: string;
}

export interface Completion extends Range {
  label: string;
  kind: string;
  detail: string;
  /** Markdown. */
  text: string;
  /** A snippet. */
  insert: string;
}

export type Bits3 = [number, number, number];

export type Write =
  | { to: "temp" | "output"; number: number; mask: number; value: Bits4 }
  | { to: "depth"; value: number }
  | { to: "predicate"; mask: number; bits: number }
  | { to: "aluResult"; value: boolean };

/** What an instruction did, or will do, to the pixel. Numbers are bits of floats. */
export type Did = { address: number; active: boolean; writes: Write[] } & (
  | { kind: "skipped" }
  | { kind: "alu"; rgb: [Bits3, Bits3, Bits3]; alpha: Bits3; raw: Bits4; result: Bits4; enabled: number }
  | { kind: "tex"; coord: Bits4; texel: Bits4 | null; enabled: number; killed: boolean }
  | { kind: "flow"; wants: boolean; voted: boolean; voters: number; favour: number; taken: boolean; next: number }
);

export interface Lane {
  x: number;
  y: number;
  executes: boolean;
  state: "active" | "branch" | "break" | "continue" | "killed" | "uncovered" | "outside";
  levels: number;
  /** Whether it entered the innermost running loop; none outside of loops. */
  entered: boolean | null;
}

/** A moment of a pixel's run: `position` instructions were executed. */
export interface Moment {
  position: number;
  /** Address of the instruction to come; none at the end. */
  address: number | null;
  stop: "there" | "break" | "start" | "end";
  breakpoint: number | null;
  pixel: [number, number];
  /** Left, bottom, width, height. */
  group: [number, number, number, number];
  active: boolean;
  done: Did | null;
  coming: Did | null;
  lanes: Lane[];
  /** Number, channels ever written, value. */
  temps: [number, number, Bits4][];
  predicate: number;
  predicate_set: number;
  alu_result: boolean;
  alu_result_set: boolean;
  outputs: [number, Bits4][];
  depth: number | null;
  al: number;
  loops: { count: number; al: number }[];
  calls: number[];
  /** What the picture holds at the pixel. */
  delivered: [Bits4, Bits4, Bits4, Bits4];
  delivered_depth: number | null;
}

export interface Recorded {
  length: number;
  stopped: string | null;
  /** The address of each step, 32 bits each. */
  addresses: Uint8Array<ArrayBuffer>;
  shown: Moment;
}

export interface Breakpoint {
  address: number | null;
  condition: string | null;
  changes: string | null;
}

export interface Going {
  how: "step" | "active" | "over" | "out" | "run" | "seek" | "watch";
  backward?: boolean;
  position?: number;
  pixel?: [number, number];
  breaks?: Breakpoint[];
}

/** Left, bottom, width, height. */
export type Area = [number, number, number, number];

/** What was found out about areas: 32 bits each, area by area, row by row from the lowest. */
export interface Surveyed {
  stopped: number;
  numbers: Uint8Array<ArrayBuffer>;
}

/** From, to, and what it is. */
export type Token = [number, number, string];

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
  open: { ask: { name: string; length: number; pick: number }; answer: Opened };
  analyse: { ask: SourceRequest; answer: Analysis };
  load: { ask: SourceRequest; answer: Loaded };
  draw: { ask: Drawing; answer: Drawn };
  values: { ask: { target: number }; answer: Band[] };
  encoding: { ask: { index: number }; answer: Encoding };
  editField: { ask: { index: number; word: number; field: string; code: number }; answer: TextEdit[] };
  editConstant: { ask: { constant: number; value: Bits4 }; answer: TextEdit[] };
  editTexture: { ask: { unit: number; what: string }; answer: TextEdit[] };
  tokens: { ask: Range; answer: Token[] };
  flow: { ask: object; answer: string };
  write: { ask: { format: string }; answer: Uint8Array<ArrayBuffer> };
  hover: { ask: { at: number }; answer: Hover | null };
  complete: { ask: { at: number }; answer: Completion[] };
  record: { ask: { drawing: Drawing; pixel: [number, number] }; answer: Recorded };
  go: { ask: Going; answer: Moment };
  survey: { ask: { drawing: Drawing; areas: Area[]; condition: string | null }; answer: Surveyed };
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
