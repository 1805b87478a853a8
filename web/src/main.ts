// The page: what is typed goes to the language worker and to the workers that draw.

import { byId, settled } from "./app/dom.ts";
import { Signal } from "./app/signal.ts";
import { theme } from "./app/theme.ts";
import { Editor } from "./editor/editor.ts";
import { Problems } from "./editor/problems.ts";
import { isPicture, takeFiles } from "./files/drop.ts";
import { first, Gallery } from "./files/gallery.ts";
import { pack, unpack } from "./files/permalink.ts";
import { Save } from "./files/save.ts";
import { Client } from "./machine/client.ts";
import { Pool } from "./machine/pool.ts";
import { sourceRequest, type Analysis, type Bits4, type Instruction, type NamedFile, type Source } from "./machine/protocol.ts";
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
  chosen: () => {},
});
const player: Player = new Player(pool, transport, stage);

const editor = new Editor(byId("editor", HTMLDivElement), {
  changed: () => {
    draft();
    soon();
  },
  moved: () => follow(),
});
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
const textures = new TexturesPane({ bind: bindTexture, take: (unit, file) => void takeTexture(file, unit) });
const tabs = new Tabs(byId("panes", HTMLElement), [
  { id: "constants", title: "Constants", root: constants.root },
  { id: "textures", title: "Textures", root: textures.root },
  { id: "encoding", title: "Encoding", root: encoding.root },
  { id: "flow", title: "Flow", root: flow.root },
  { id: "numbers", title: "Numbers", root: numbers.root },
]);
const gallery = new Gallery((example) => open(example));
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

const soon = settled(SETTLED, () => now());

/** Looks at the program as it is now. */
function now(): void {
  const mine = ++round;
  const taken = source();
  analysing = (async () => {
    let found: Analysis;
    try {
      found = await language.ask("analyse", sourceRequest(taken), taken.files.map((file) => file.bytes));
    } catch (error) {
      say(message(error));
      return;
    }
    if (mine === round) show(found, taken);
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
  analysis.value = found;
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
  showFlow();
}

/** Another program. */
function open(program: Source): void {
  ({ name, files } = program);
  shownText = undefined;
  player.forget();
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
  if (instruction.address === encoded && encodedText === shownText) return;
  [encoded, encodedText] = [instruction.address, shownText];
  try {
    encoding.show(await language.ask("encoding", { index: instruction.address }));
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
tabs.shown.watch(() => {
  follow();
  void showFlow();
});

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

function bindTexture(unit: number, what: string): void {
  const statement = new RegExp(String.raw`^([ \t]*)TEXTURE\s+tex\s*\[\s*${unit}\s*\]\s*=[^;]*;`, "im");
  const line = `TEXTURE tex[${unit}] = ${what} ;`;
  const match = statement.exec(editor.text);
  if (match !== null) editor.apply([{ from: match.index + (match[1]?.length ?? 0), to: match.index + match[0].length, text: line }]);
  else {
    // Before the first instruction, or at the end.
    const at = analysis.value?.instructions[0]?.range?.from ?? editor.text.length;
    const start = editor.text.lastIndexOf("\n", at - 1) + 1;
    editor.apply([{ from: start, to: start, text: `${line}\n` }]);
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
    bindTexture(to, `file "${safe}" linear wrap`);
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
      const programs = await language.ask("open", { name: file.name, length: bytes.length }, [bytes]);
      const program = programs[0];
      if (program === undefined) throw new Error("there is no program in it");
      open({ name: program.name, text: program.text, files: [] });
      say(programs.length === 1 ? `${file.name}: ${program.format}` : `${file.name}: the first of ${programs.length} programs`);
    } catch (error) {
      say(`${file.name}: ${message(error)}`);
    }
  }
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
  open,
  source,
  current,
  /** A target's raw values, the lowest row first. */
  values: (target: number) => player.values(target),
};
Object.assign(globalThis, { r500: handle });
