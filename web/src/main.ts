// The page: what is typed goes to the language worker and to the workers that draw.

import { byId, settled } from "./app/dom.ts";
import { Signal } from "./app/signal.ts";
import { theme } from "./app/theme.ts";
import type { Mark } from "./editor/breaks.ts";
import { Editor } from "./editor/editor.ts";
import { Problems } from "./editor/problems.ts";
import { services } from "./editor/services.ts";
import { isPicture, takeFiles } from "./files/drop.ts";
import { first, Gallery } from "./files/gallery.ts";
import { pack, unpack } from "./files/permalink.ts";
import { Programs } from "./files/programs.ts";
import { Save } from "./files/save.ts";
import { Client } from "./machine/client.ts";
import { Pool } from "./machine/pool.ts";
import { sourceRequest, type Analysis, type Bits4, type Instruction, type NamedFile, type Range, type Source } from "./machine/protocol.ts";
import { Constants } from "./panes/constants.ts";
import { EncodingPane } from "./panes/encoding.ts";
import { FlowPane } from "./panes/flow.ts";
import { NumbersPane } from "./panes/numbers.ts";
import { Tabs } from "./panes/tabs.ts";
import { TexturesPane } from "./panes/textures.ts";
import { splitter } from "./app/splitter.ts";
import { Player } from "./picture/player.ts";
import { Stage } from "./picture/stage.ts";
import { Transport } from "./picture/transport.ts";
import { StepPane } from "./step/pane.ts";
import { Stepper } from "./step/stepper.ts";
import { Survey } from "./step/survey.ts";

/** Milliseconds without a key before the program is looked at anew. */
const SETTLED = 120;

const module = WebAssembly.compileStreaming(fetch("r500.wasm"));
const pool = new Pool(module, Math.min(Math.max(navigator.hardwareConcurrency || 2, 2), 8));
const language = new Client(module);

const analysis = new Signal<Analysis | undefined>(undefined);
let name = "";
let files: readonly NamedFile[] = [];

const source = (): Source => ({ name, text: editor.text, files });
const message = (error: unknown): string => (error instanceof Error ? error.message : String(error));

// --- Parts of the page --------------------------------------------------------------------------

theme();
splitter();
const transport = new Transport();
const stage: Stage = new Stage({
  values: (target) => player.values(target),
  chosen: (x, y) => void stepThrough([x, y]),
});
const player: Player = new Player(pool, transport, stage);
const stepper = new Stepper(module);
const survey = new Survey(pool, stage, {
  view: async () => {
    // A picture that moves would be another before the first pixel is known.
    transport.playing.value = false;
    await player.settled();
    return player.shown?.view;
  },
  found: (pixel, position) => void stepThrough(pixel, position),
});

const editor: Editor = new Editor(
  byId("editor", HTMLDivElement),
  {
    changed: () => {
      draft();
      soon();
    },
    moved: () => follow(),
    breakpoint: toggleBreak,
    tokens: async (from, to) => (shownText === editor.text ? language.ask("tokens", { from, to }) : undefined),
  },
  services({
    hover: async (at) => {
      await current();
      return language.ask("hover", { at });
    },
    complete: async (at) => {
      await current();
      return language.ask("complete", { at });
    },
  }),
);
const problems = new Problems(byId("problems", HTMLElement), editor, {
  explain: (code) => language.ask("page", { code }),
});

const constants = new Constants({
  trying: (constant, value) => player.tryConstant(constant, value),
  changed: (constant, value) => void changeConstant(constant, value),
});
const encoding = new EncodingPane({
  edit: async (index, word, field, code) => {
    await current();
    editor.apply(await language.ask("editField", { index, word, field, code }));
    now();
  },
});
const flow = new FlowPane();
const numbers = new NumbersPane();
const textures = new TexturesPane({ bind: (unit, what) => void bindTexture(unit, what), take: (unit, file) => void takeTexture(file, unit) });
const step = new StepPane(
  stepper,
  {
    instruction: (address) => instructionOf(address)?.text ?? "",
    reveal: (address) => {
      const range = instructionOf(address)?.range;
      if (range) editor.goTo(range.from);
    },
    choose: (pixel) => void stepThrough(pixel, stepper.moment.value?.position ?? 0),
    atCursor: () => {
      const instruction = instructionAt(editor.cursor);
      return instruction === undefined ? undefined : instruction.index + (analysis.value?.offset ?? 0);
    },
  },
  survey.root,
);
const tabs = new Tabs(byId("panes", HTMLElement), [
  { id: "constants", title: "Constants", root: constants.root },
  { id: "textures", title: "Textures", root: textures.root },
  { id: "encoding", title: "Encoding", root: encoding.root },
  { id: "step", title: "Step", root: step.root },
  { id: "flow", title: "Flow", root: flow.root },
  { id: "numbers", title: "Numbers", root: numbers.root },
]);
const programs = new Programs();
const gallery = new Gallery((example) => {
  programs.hide();
  open(example);
});
byId("examples", HTMLButtonElement).addEventListener("click", () => gallery.show());
byId("link", HTMLButtonElement).addEventListener("click", () => void copyLink());
takeFiles((taken) => void takeAll(taken));
new Save(
  [
    { title: "Assembly", about: ".r5", extension: ".r5", type: "text/plain", bytes: async () => editor.text },
    { title: "Binary", about: ".bin, six dwords an instruction", extension: ".bin", type: "application/octet-stream", bytes: () => written("raw") },
    { title: "C array", about: ".inc, for a driver's source", extension: ".inc", type: "text/plain", bytes: () => written("c-array") },
    { title: "Capture", about: ".json, with all state", extension: ".json", type: "application/json", bytes: () => written("json") },
    { title: "Picture", about: ".png, as it is shown", extension: ".png", type: "image/png", bytes: async () => (await stage.png()) ?? "" },
  ],
  () => name || "program",
  say,
);

// --- The program --------------------------------------------------------------------------------

/** The analysis that is under way: what asks about places in the text waits for it. */
let analysing: Promise<void> = Promise.resolve();
let round = 0;

const soon = settled(SETTLED, () => {
  // A program that was opened is known already.
  if (asked?.text !== editor.text || asked.files !== files) now();
});
/** The program that was looked at last. */
let asked: Source | undefined;

/** Looks at the program as it is now. */
function now(): void {
  const mine = ++round;
  const taken = source();
  asked = taken;
  analysing = (async () => {
    let found: Analysis;
    try {
      found = await language.ask("analyse", sourceRequest(taken), taken.files.map((file) => file.bytes));
    } catch (error) {
      say(message(error));
      return;
    }
    // Of another text than what stands there by now, places would be wrong; its own comes soon.
    if (mine === round && taken.text === editor.text) show(found, taken);
  })();
}

/** Waits until the language worker knows the text as it is. */
async function current(): Promise<void> {
  if (analysis.value === undefined || shownText !== editor.text) now();
  await analysing;
}

let shownText: string | undefined;

function show(found: Analysis, taken: Source): void {
  shownText = taken.text;
  if (found.ok) moveBreaks(found);
  analysis.value = found;
  editor.colour();
  editor.show(found.diagnostics);
  problems.show(found.diagnostics, found.instructions.length);
  if (found.ok) {
    transport.offer(found.size, found.clock !== null, found.targets, found.depth);
    player.load(taken);
  } else stage.stale("The picture is of the last program that assembled");
  constants.show(found);
  numbers.show(found);
  textures.show(found, files);
  byId("title", HTMLParagraphElement).textContent = found.name || name;
  document.title = `${found.name || name || "program"} · r500`;
  follow();
  void showFlow();
  markStep(stepper.moment.value?.address ?? undefined);
}

/** Another program. */
function open(program: Source): void {
  ({ name, files } = program);
  shownText = undefined;
  player.forget();
  stage.chosen.value = undefined;
  stepper.clear();
  stepper.breaks.value = [];
  survey.stale();
  pendingReset = true;
  editor.replace(program.text);
  now();
  void analysing.then(() => {
    if (!pendingReset) return;
    pendingReset = false;
    const found = analysis.value;
    transport.reset(found?.time ?? 0);
    if (found !== undefined) transport.offer(found.size, found.clock !== null, found.targets, found.depth);
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    transport.playing.value = found?.clock != null && !calm;
    stage.fit();
  });
}
let pendingReset = false;

// --- What follows the cursor --------------------------------------------------------------------

function instructionAt(at: number): Instruction | undefined {
  const all = analysis.value?.instructions ?? [];
  return all.find(({ range }) => range !== null && range.from <= at && at <= range.to);
}

let encoded = -1;
let encodedText: string | undefined;
const follow = settled(30, async () => {
  if (tabs.shown.value !== "encoding" || analysis.value === undefined || shownText !== editor.text) return;
  const instruction = instructionAt(editor.cursor);
  if (instruction === undefined) {
    if (encoded >= 0 && analysis.value.instructions.length > encoded) return;
    encoded = -1;
    encoding.show(undefined);
    return;
  }
  if (instruction.index === encoded && encodedText === shownText) return;
  [encoded, encodedText] = [instruction.index, shownText];
  try {
    encoding.show(await language.ask("encoding", { index: instruction.index }));
  } catch (error) {
    say(message(error));
  }
});

let flowText: string | undefined;
async function showFlow(): Promise<void> {
  const found = analysis.value;
  if (tabs.shown.value !== "flow" || found === undefined || flowText === shownText) return;
  flowText = shownText;
  if (!found.ok) return flow.fail("The graph follows when the program assembles.");
  try {
    flow.show(await language.ask("flow", {}));
  } catch (error) {
    flow.fail(message(error));
  }
}

// --- Stepping -----------------------------------------------------------------------------------

/** Addresses whose breakpoints were given a mark. */
let shownBreaks: ReadonlySet<number> = new Set();

const instructionOf = (address: number): Instruction | undefined =>
  analysis.value?.instructions[address - analysis.value.offset];

/** Records a pixel of the picture that is shown. */
async function stepThrough(pixel: [number, number], position = 0): Promise<void> {
  transport.playing.value = false;
  stage.chosen.value = pixel;
  tabs.shown.value = "step";
  await player.settled();
  const { shown } = player;
  if (shown === undefined || player.program === undefined) return;
  await stepper.record(player.program, shown.view, pixel, position);
}

/** The picture changed: what is recorded of the old one would not fit it. */
const again = settled(80, () => {
  const pixel = stage.chosen.value;
  if (pixel === undefined || transport.playing.value || tabs.shown.value !== "step") return;
  const { shown } = player;
  if (shown === undefined || player.program === undefined || stepper.run.value?.view === shown.view) return;
  const [width, height] = shown.view.size;
  if (pixel[0] >= width || pixel[1] >= height) {
    stage.chosen.value = undefined;
    stepper.clear();
  } else void stepper.record(player.program, shown.view, pixel, stepper.moment.value?.position ?? 0);
});
player.onpicture = () => {
  survey.stale();
  again();
};
transport.playing.watch(() => again());
stepper.moment.watch((moment) => markStep(moment?.address ?? undefined));
stepper.breaks.watch(() => markStep(stepper.moment.value?.address ?? undefined));

function markStep(address: number | undefined): void {
  // Addresses are those of the last program that assembled; until another does, marks stay where the text takes them.
  const now = new Map(editor.breakpoints.map(({ at, address }) => [address, at]));
  const place = (address: number): number | undefined =>
    analysis.value?.ok === false ? now.get(address) : instructionOf(address)?.range?.from;
  const beside = stepper.breaks.value.flatMap((one): Mark[] => {
    const at = one.address === null ? undefined : place(one.address);
    return at !== undefined && one.address !== null ? [{ at, kind: one.condition === null ? "break" : "conditional", address: one.address }] : [];
  });
  const range = address === undefined || tabs.shown.value !== "step" ? undefined : instructionOf(address)?.range;
  if (range && address !== undefined) beside.push({ at: range.from, kind: "step", address });
  shownBreaks = new Set(beside.filter(({ kind }) => kind !== "step").map(({ address }) => address));
  editor.beside(beside);
  editor.mark(range ? [{ range, name: "step" }] : []);
  if (range) editor.reveal(range.from);
}

/** The instruction that is meant by a place in a line: the one there, else the first of the line. */
function instructionIn(line: Range, at: number, found = analysis.value): Instruction | undefined {
  const all = found?.instructions.filter(({ range }) => range !== null && range.from <= line.to && line.from <= range.to) ?? [];
  const begins = all.find(({ range }) => range !== null && range.from >= line.from);
  return all.find(({ range }) => range !== null && range.from <= at && at < range.to) ?? begins ?? all[0];
}

/** Sets or removes the breakpoint of a line. */
function toggleBreak(line: Range, at: number): boolean {
  if (shownText !== editor.text) now();
  void analysing.then(() => {
    if (analysis.value?.ok === false) return say("Breakpoints can be set when the program assembles");
    const instruction = instructionIn(line, at);
    if (instruction === undefined) return say("There is no instruction in this line");
    const address = instruction.index + (analysis.value?.offset ?? 0);
    const there = stepper.breaks.value.filter((one) => one.address === address);
    if (there.length > 0) there.forEach((one) => stepper.toggle(one));
    else stepper.toggle({ address, condition: null, changes: null });
    // Who sees the mark needs no words.
    byId("status", HTMLDivElement).textContent = there.length > 0 ? `No breakpoint at @${address} any more` : `Breakpoint at @${address}: ${instruction.text}`;
  });
  return true;
}

/** Breakpoints stay with their lines when the program changes: they get the addresses that these have now. */
function moveBreaks(found: Analysis): void {
  const moved = new Map<number, number | undefined>();
  for (const { address } of stepper.breaks.value) {
    // Instructions of included files have no line here, and no mark.
    if (address !== null && shownBreaks.has(address)) moved.set(address, undefined);
  }
  for (const { at, address } of editor.breakpoints) {
    const instruction = instructionIn(editor.lineAt(at), at, found);
    if (instruction !== undefined) moved.set(address, instruction.index + found.offset);
  }
  const breaks = stepper.breaks.value.flatMap((one) => {
    if (one.address === null || !moved.has(one.address)) return [one];
    const address = moved.get(one.address);
    return address === undefined ? [] : [{ ...one, address }];
  });
  const differs = breaks.length !== stepper.breaks.value.length || breaks.some((one, n) => one.address !== stepper.breaks.value[n]?.address);
  if (differs) stepper.breaks.value = breaks;
}

// --- Constants and textures ---------------------------------------------------------------------

async function changeConstant(constant: number, value: Bits4): Promise<void> {
  player.tryConstant(constant, value);
  try {
    await current();
    editor.apply(await language.ask("editConstant", { constant, value }));
  } catch (error) {
    say(message(error));
  }
  now();
}

async function bindTexture(unit: number, what: string): Promise<void> {
  try {
    await current();
    editor.apply(await language.ask("editTexture", { unit, what }));
  } catch (error) {
    say(message(error));
  }
  now();
}

async function takeTexture(file: File, unit?: number): Promise<void> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const safe = file.name.replace(/["\\\n\r]/g, "_");
  files = [...files.filter((other) => other.name !== safe), { name: safe, bytes }];
  await current();
  const bound = analysis.value?.textures ?? [];
  // A file that the program waits for, the unit that was chosen, or the first.
  if (bound.some((texture) => texture.file === safe) && unit === undefined) now();
  else {
    const to = unit ?? bound[0]?.unit ?? 0;
    // The language worker learns of the file first.
    now();
    await bindTexture(to, `file "${safe}" linear wrap`);
    say(`${safe} is the texture of tex[${to}]`);
  }
}

// --- Files and links ----------------------------------------------------------------------------

async function takeAll(taken: File[]): Promise<void> {
  for (const file of taken) {
    try {
      const bytes = new Uint8Array(await file.arrayBuffer());
      if (isPicture(bytes)) {
        await takeTexture(file);
        continue;
      }
      await openFile(file.name, bytes);
    } catch (error) {
      say(`${file.name}: ${message(error)}`);
    }
  }
}

/** Opens a program of a file; where there are several one can choose another. */
async function openFile(file: string, bytes: Uint8Array, pick = 0): Promise<void> {
  const opened = await language.ask("open", { name: file, length: bytes.length, pick }, [bytes]);
  const { format, names, text } = opened;
  open({ name: names[pick] ?? file, text, files: [] });
  say(names.length === 1 ? `${file}: ${format}` : `${file}: ${format}, program ${pick + 1} of ${names.length}`);
  programs.show(names, pick, (other) => void openFile(file, bytes, other).catch((error: unknown) => say(message(error))));
}

async function written(format: string): Promise<BlobPart> {
  await current();
  return language.ask("write", { format });
}

async function copyLink(): Promise<void> {
  const fragment = await pack(source());
  history.replaceState(null, "", `#${fragment}`);
  try {
    await navigator.clipboard.writeText(location.href);
    say("The link is copied: it holds the whole program");
  } catch {
    say("The link is in the address bar: it holds the whole program");
  }
}

/** What was typed last, for the next visit. */
const draft = settled(1000, () => {
  const small = files.every((file) => file.bytes.length < 200_000);
  if (small) void pack(source()).then((packed) => localStorage.setItem("r500.draft", packed)).catch(() => {});
});

async function begin(): Promise<void> {
  let program: Source | undefined;
  try {
    const stored = location.hash.length > 1 ? location.hash : (localStorage.getItem("r500.draft") ?? "");
    program = await unpack(stored);
  } catch (error) {
    say(message(error));
  }
  open(program ?? first);
}
addEventListener("hashchange", () => {
  void unpack(location.hash).then(
    (program) => program !== undefined && open(program),
    (error: unknown) => say(message(error)),
  );
});

tabs.shown.watch(() => {
  markStep(stepper.moment.value?.address ?? undefined);
  again();
  follow();
  void showFlow();
});

// --- What is said -------------------------------------------------------------------------------

let silence: number | undefined;
function say(text: string): void {
  const said = byId("said", HTMLDivElement);
  said.textContent = text;
  said.classList.add("shown");
  clearTimeout(silence);
  silence = setTimeout(() => said.classList.remove("shown"), 6000);
}

module.catch((error: unknown) => stage.stale(`The machine does not start here: ${message(error)}`));
void begin();

if ("serviceWorker" in navigator && isSecureContext) {
  addEventListener("load", () => void navigator.serviceWorker.register("offline.js").catch(() => {}));
}

/** For the console, and for tests: the picture's raw values as the page has them. */
const handle = {
  editor,
  pool,
  player,
  transport,
  analysis,
  stage,
  stepper,
  tabs,
  open,
  stepThrough,
  source,
  current,
  /** A target's raw values, the lowest row first. */
  values: (target: number) => player.values(target),
};
Object.assign(globalThis, { r500: handle });
