// The page: connects document, session and work with the editor, the picture and the panes.

import { isBusy } from "./app/activity.ts";
import { byId, message, settled } from "./app/dom.ts";
import { embed, embedded, embedding } from "./app/embed.ts";
import { say, unsay } from "./app/messages.ts";
import { patience } from "./app/patience.ts";
import { Signal } from "./app/signal.ts";
import { splitters } from "./app/splitter.ts";
import { lasting, ofTab } from "./app/storage.ts";
import { theme } from "./app/theme.ts";
import { Compare } from "./compare/compare.ts";
import { Editor } from "./editor/editor.ts";
import { Naming } from "./editor/naming.ts";
import { Problems } from "./editor/problems.ts";
import { Refactor } from "./editor/refactor.ts";
import { services } from "./editor/services.ts";
import { gif, SECONDS, webm } from "./files/animation.ts";
import { takeFiles } from "./files/drop.ts";
import { Files } from "./files/files.ts";
import { examples, first, Gallery, newShader } from "./files/gallery.ts";
import { pack, unpack } from "./files/permalink.ts";
import { Save } from "./files/save.ts";
import { Trail } from "./files/trail.ts";
import { join, split, type ViewState } from "./files/viewstate.ts";
import { Help } from "./help/help.ts";
import { Intro } from "./help/intro.ts";
import { Lessons } from "./lessons/lessons.ts";
import { Client, unlessStopped } from "./machine/client.ts";
import { engineChoice } from "./gpu/choice.ts";
import { Pictures } from "./gpu/pictures.ts";
import { load } from "./machine/load.ts";
import { isScene } from "./scene/kind.ts";
import { SceneDrawing } from "./scene/drawing.ts";
import { SceneLanguage } from "./scene/language.ts";
import { sceneMode } from "./scene/mode.ts";
import { drawers } from "./machine/early.ts";
import { Pool } from "./machine/pool.ts";
import { sourceRequest, type Analysis, type Bits4, type Judged, type Range, type Source, type TextEdit } from "./machine/protocol.ts";
import { Breakpoints } from "./model/breakpoints.ts";
import { Document, type Language } from "./model/document.ts";
import { Drafts, type Draft } from "./model/drafts.ts";
import { Follow } from "./model/follow.ts";
import { Judge } from "./model/judge.ts";
import { Marks } from "./model/marks.ts";
import { Session } from "./model/session.ts";
import { TextureFiles } from "./model/textures.ts";
import { Work } from "./model/work.ts";
import { Constants } from "./panes/constants.ts";
import { EncodingPane } from "./panes/encoding.ts";
import { FlowPane } from "./panes/flow.ts";
import { NumbersPane } from "./panes/numbers.ts";
import { Tabs } from "./panes/tabs.ts";
import { TexturesPane } from "./panes/textures.ts";
import { Shorter } from "./optimize/shorter.ts";
import { pasting } from "./shader/paste.ts";
import { ShaderSettings } from "./shader/settings.ts";
import { ShaderView } from "./shader/view.ts";
import { HostTextures, takeKeys } from "./picture/host-textures.ts";
import { LiveTextures } from "./picture/live.ts";
import { Player } from "./picture/player.ts";
import { Stage } from "./picture/stage.ts";
import { Thumbnails } from "./picture/thumbnails.ts";
import { Transport } from "./picture/transport.ts";
import { StepPane } from "./step/pane.ts";
import { Stepper } from "./step/stepper.ts";
import { AreaPane } from "./step/area.ts";

/** The layout of small screens, as in style/layout.css. */
const NARROW = matchMedia("(max-width: 860px)");

/** Milliseconds that an answer about the text may take. */
const PATIENCE = 5_000;

const module = globalThis.r500Early?.module ?? load("r500.wasm");
performance.mark("main");
void module.then(() => performance.mark("module"), () => {});
let laterModule: Promise<WebAssembly.Module> | undefined;
/** The module with the optimiser, the compiler of GLSL and the virtual card, which is loaded on first use. */
const later = (): Promise<WebAssembly.Module> => (laterModule ??= load("optimizer.wasm"));
const sceneDrawing = new SceneDrawing(later);
const pool = new Pool(module, drawers(), sceneDrawing);
const assistant = new Client(module, patience(PATIENCE));
assistant.onrestart = () => program.forget();
const language = new SceneLanguage(assistant, () => {
  if (laterModule === undefined) {
    say("Loading the virtual card …");
    later().then(() => say("The virtual card is loaded"), () => {});
  }
  return onDemand();
});
const judge = new Judge(module, later);

theme();
splitters();

// --- The picture --------------------------------------------------------------------------------

const pixel = new Signal<[number, number] | undefined>(undefined);
const transport: Transport = new Transport(() => player.extent());
const stage: Stage = new Stage({ values: (target) => player.values(target), chosen: (x, y) => choose([x, y]) }, pixel);
const hostTextures = new HostTextures();
/** The client of the shaders for WebGPU, which is created where there is a GPU. */
let shaders: Client | undefined;
const pictures = new Pictures(pool, () => (shaders ??= new Client(module, patience(PATIENCE))));
const player: Player = new Player(pictures, transport, stage, new LiveTextures(hostTextures));

/** Whether there is something for the workers to do: a shader is compiled first. */
const isCompiled = ({ text, glsl }: Source): boolean => text !== "" || glsl === undefined;

// Workers assemble and draw the first program while the rest of the page is put together. A link also says what to show of its program.
const drafts = new Drafts(lasting, ofTab);
if (location.hash.length <= 1) {
  const source = (drafts.own() ?? drafts.recent()[0])?.source ?? first;
  if (isCompiled(source)) pool.prepareAndDraw(source, (own) => player.first(own), (picture) => player.early(picture));
  // Workers that have just started get their messages from this thread, which is busy with the page from here on.
  await new Promise((resolve) => setTimeout(resolve));
}

takeKeys(stage.focusable, hostTextures, () => transport.playing.value);
const thumbnails = new Thumbnails(pictures, transport);
engineChoice(pictures);

/** Steps through the pixel that was clicked. */
function choose(at: [number, number]): void {
  // The picture got the focus, and the program its keys.
  if (hostTextures.takesKeys && transport.playing.value) return;
  if (embedded !== undefined) return void openWhole(at);
  intro.dismiss();
  void session.stepThrough(at);
}

// --- The run of a pixel -------------------------------------------------------------------------

const breakpoints = new Breakpoints();
const stepper = new Stepper(module, breakpoints, later);
const session: Session = new Session(pixel, player, stepper, {
  chosen: () => {
    // The animation is stopped; otherwise the picture would change before the first pixel is known.
    transport.playing.value = false;
    tabs.shown.value = "step";
    // In the layout of small screens, the pane is scrolled into view.
    if (NARROW.matches) requestAnimationFrame(() => requestAnimationFrame(() => byId("panes", HTMLElement).scrollIntoView({ block: "start" })));
  },
  follows: () => !transport.playing.value && tabs.shown.value === "step",
});
const areaPane = new AreaPane(pool, stage, {
  view: async () => {
    transport.playing.value = false;
    await player.settled();
    return player.wanted;
  },
  found: (at, position) => void session.stepThrough(at, position),
});

// --- The program --------------------------------------------------------------------------------

/** Waits for the analysis of the current text, and returns the client. */
const current = async (): Promise<Language> => {
  await program.current();
  return language;
};
const naming = new Naming();
const refactor: Refactor = new Refactor(
  {
    current: () => program.current(),
  },
  language,
  () => editor,
  (name) => naming.ask(name),
);
const shader: ShaderView = new ShaderView(() => editor.view, {
  compile: (text, draft, name) => onDemand().ask("compile", { text, name: name ?? program.name, draft }),
  edited: (text) => {
    program.glsl = text;
    work.touched();
    saveSoon();
  },
  drafted: (text) => {
    player.load({ ...program.source, text }, program.analysis.value?.builtin ?? []);
  },
  compiled: (text) => {
    editor.put(text);
    pool.prepare(program.source);
    void program.now();
  },
  toAssembly: () => {
    origin = program.source;
    void open({ ...origin, glsl: undefined });
  },
  toShader: () => void open(origin?.name === program.name ? origin : newShader),
  instructionAt: (at) => program.instructionIn(editor.lineAt(at), at)?.index,
});
/** The shader of which the program in assembly was made last. */
let origin: Source | undefined;
const settings = new ShaderSettings(shader, () => onDemand());
const editor: Editor = new Editor(
  byId("editor", HTMLDivElement),
  {
    changed: () => {
      unsay();
      work.touched();
      program.soon();
    },
    moved: (at) => {
      follow.moved();
      shader.moved(at);
    },
    breakpoint: (line, at) => {
      void marks.toggle(line, at);
      return true;
    },
    tokens: async (from, to) => (program.isCurrent ? unlessStopped(language.ask("tokens", { from, to })) : undefined),
  },
  [
    pasting((text) => void open({ name: "shader", text: "", files: [], glsl: text })),
    shader.extension(),
    refactor.keys(),
    services({
      hover: async (at) => (await unlessStopped((await current()).ask("hover", { at }))) ?? null,
      complete: async (at) => (await unlessStopped((await current()).ask("complete", { at }))) ?? [],
    }),
  ],
);
const program: Document = new Document(language, () => editor.text, { analysed: show, failed: say });
const problems = new Problems(byId("problems", HTMLElement), editor, {
  explain: (code) => language.ask("page", { code }),
  format: () => void refactor.format(),
  fixAll: () => void refactor.fixAll(),
});
const marks: Marks = new Marks(program, editor, breakpoints, () => (tabs.shown.value === "step" ? (stepper.moment.value?.address ?? undefined) : undefined));
const work: Work = new Work(program, editor, breakpoints, drafts, {
  opening: ({ glsl }) => {
    // What is said before the first program is about the link that brought the visitor.
    if (program.analysis.value !== undefined) unsay();
    shader.show(glsl);
    player.forget();
    session.clear();
    areaPane.stale();
  },
  opened: () => {
    const found = program.analysis.value;
    transport.reset(found?.time ?? 0);
    if (found !== undefined) transport.offer(found.size, found.moves, found.targets, found.depth);
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    transport.playing.value = found?.moves === true && !calm;
    stage.fit();
    lessons.opened(program.name);
    // These verdicts were known before the lesson was.
    if (found !== undefined && !(found.ok && found.expects)) lessons.judged(found.ok ? [] : undefined);
  },
}, () => trail);
/** Back in the browser returns to the program before; with its draft, if it was edited. */
const trail: Trail = new Trail({
  now: () => ({ draft: drafts.current, source: program.source }),
  find: (draft) => drafts.find(draft)?.source,
  show: ({ draft, source }) => {
    files.programs.hide();
    void work.open(source, drafts.find(draft));
  },
  lost: () => say("That program is too large for the browser's history; Examples lists the edited ones"),
});
const textureFiles = new TextureFiles(program, editor, language, (unit, what) => (shader.text === undefined ? undefined : settings.bind(unit, what)), (unit) => (shader.text === undefined ? undefined : shader.samplers[unit]));
/** The client of the optimiser and the compiler of GLSL, which is created on first use, because it has a separate module. */
let optimizer: Client | undefined;
const onDemand = (): Client => (optimizer ??= new Client(later(), patience(PATIENCE * 4)));
const files = new Files(
  language,
  onDemand,
  textureFiles,
  (source) => void open(source),
  (name, text) => void open({ name, text: "", files: [], glsl: text }),
  (file) => giveToScene(file),
);

/** Adds a file that the open scene names, and that it lacks. Returns whether it is one. */
async function giveToScene(file: File): Promise<boolean> {
  const { text, files: known } = program.source;
  if (!isScene(text) || !text.includes(`"${file.name}"`)) return false;
  program.files = [...known.filter(({ name }) => name !== file.name), { name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) }];
  await program.now();
  say(`${file.name} is a file of the scene`);
  return true;
}

let opening = 0;
/** Opens a program. A shader that is not compiled yet is compiled first. */
async function open(source: Source, draft?: Draft): Promise<void> {
  const mine = ++opening;
  if (source.glsl === undefined || source.text !== "") return work.open(source, draft);
  const loading = optimizer === undefined;
  if (loading) say("Loading the compiler of GLSL …");
  try {
    const text = await shader.programOf(source.glsl, source.name);
    if (mine === opening) await work.open({ ...source, text }, draft);
    // After the opening, which clears what was said before.
    if (loading) say("The compiler of GLSL is loaded");
  } catch (error) {
    say(`${source.name}: ${message(error)}`);
  }
}

/** Shows the program of the draw that shades the pixel, and says which it is. */
function showDraw(draw: number): void {
  program.showDraw(draw);
  const found = program.analysis.value;
  if (found === undefined) return;
  numbers.show(found);
  if (found.draws.length > 1) say(`Draw ${draw} shades this pixel last (draws 0 to ${found.draws.length - 1})`);
}

/** Selects the lines of the shader that the next instruction of the run computes. */
function followShader(): void {
  const address = tabs.shown.value === "step" ? (stepper.moment.value?.address ?? undefined) : undefined;
  shader.stepped(address === undefined ? undefined : program.instruction(address)?.index);
}

function show(found: Analysis, source: Source): void {
  performance.mark("analysed");
  sceneMode(isScene(source.text), tabs, transport);
  if (found.ok) marks.follow();
  editor.colour();
  editor.show(found.diagnostics);
  problems.show(found.diagnostics, found.instructions.length, found.ok);
  if (found.ok) {
    transport.offer(found.size, found.moves, found.targets, found.depth);
    thumbnails.offer(found.targets, found.depth);
    player.load(source, found.builtin);
    void expectations(found, source);
  } else if (found.instructions.length === 0 && found.diagnostics.length === 0) stage.stale(shader.text === undefined ? "The program is empty" : "The picture follows when the shader compiles");
  else stage.stale("The picture is of the last program that assembled");
  if (!found.ok) verdicts(undefined);
  shader.analysed(found, source.text);
  constants.show(found, shader.text !== undefined);
  numbers.show(found);
  texturesPane.show(found, source.files);
  const title = found.name || source.name;
  byId("title", HTMLParagraphElement).textContent = title;
  document.title = `${title || "program"} · r500`;
  follow.changed();
  marks.show();
  saveSoon();
}

async function expectations(found: Analysis, source: Source): Promise<void> {
  const judged = found.expects ? await judge.judge(source) : [];
  if (judged !== undefined && editor.text === source.text) verdicts(judged);
}

/** Shows the verdicts on `EXPECT` lines; there are none of a program that does not assemble. */
function verdicts(judged: readonly Judged[] | undefined): void {
  editor.judge((judged ?? []).map(({ to, passes, text }) => ({ at: to, passes, text })));
  lessons.judged(judged);
}

/** Applies edits from the libraries to the program. */
async function edit(ask: (client: Language) => Promise<readonly TextEdit[]>): Promise<void> {
  try {
    editor.apply(await ask(await current()));
  } catch (error) {
    say(message(error));
  }
  void program.now();
}

// --- Panes --------------------------------------------------------------------------------------

const constants = new Constants({
  trying: (constant, value) => player.tryConstant(constant, value),
  changed: (constant: number, value: Bits4) => {
    player.tryConstant(constant, value);
    if (shader.text !== undefined) return void settings.setConstant(program.analysis.value, constant, value);
    void edit((client) => client.ask("editConstant", { constant, value }));
  },
  changedInt: (number, value) => void edit((client) => client.ask("editInt", { number, value })),
});
const encoding = new EncodingPane({
  edit: async (index, word, field, code) => {
    editor.apply(await (await current()).ask("editField", { index, word, field, code }));
    void program.now();
  },
});
const flow = new FlowPane();
const numbers = new NumbersPane();
const texturesPane = new TexturesPane({
  bind: (unit, what) => void textureFiles.bind(unit, what),
  take: (unit, file) => void files.take([file], unit),
  camera: (on) => {
    if (on) hostTextures.startCamera().catch((error: unknown) => say(`The camera is not used: ${message(error)}`));
    else hostTextures.stopCamera();
  },
  video: (file) => void hostTextures.playVideo(file).catch((error: unknown) => say(message(error))),
  playing: (source) => hostTextures.playing(source),
});
/** Steps through the chosen pixel, else through the one in the middle. */
function stepSomewhere(): void {
  const [width, height] = player.wanted?.size ?? [0, 0];
  if (width > 0) void session.stepThrough(pixel.value ?? [width >> 1, height >> 1]);
}
const step = new StepPane(
  stepper,
  breakpoints,
  {
    instruction: (address) => program.instruction(address)?.text ?? "",
    reveal: (address) => {
      const range: Range | null | undefined = program.instruction(address)?.range;
      if (range) editor.goTo(range.from);
    },
    choose: (at) => void session.stepThrough(at, stepper.moment.value?.position ?? 0),
    atCursor: () => {
      const instruction = program.instructionAt(editor.cursor);
      return instruction === undefined ? undefined : program.addressOf(instruction);
    },
    check: (breakpoint) => pool.check(breakpoint),
    recordTo: (limit) => void session.recordTo(limit),
    begin: stepSomewhere,
  },
  areaPane.root,
);
const tabs = new Tabs(byId("panes", HTMLElement), [
  { id: "constants", title: "Constants", root: constants.root },
  { id: "textures", title: "Textures", root: texturesPane.root },
  { id: "encoding", title: "Encoding", root: encoding.root },
  { id: "step", title: "Step", root: step.root },
  { id: "flow", title: "Flow", root: flow.root },
  { id: "numbers", title: "Numbers", root: numbers.root },
]);
const follow: Follow = new Follow(program, editor, language, tabs, encoding, flow);

player.onpicture = () => {
  areaPane.stale();
  session.again();
  thumbnails.changed();
};
player.onfailed = () => session.again();
hostTextures.changed.watch(() => {
  const found = program.analysis.value;
  if (found !== undefined) texturesPane.show(found, program.files);
  player.draw();
});
stepper.run.watch((run) => {
  if (run?.draw !== undefined) showDraw(run.draw);
});
transport.playing.watch(() => session.again());
stepper.moment.watch(() => {
  marks.show();
  followShader();
});
breakpoints.all.watch(() => marks.show());
tabs.shown.watch((shown) => {
  document.body.classList.toggle("stepping", shown === "step" && pixel.value !== undefined);
  marks.show();
  session.again();
  follow.changed();
  followShader();
});
pixel.watch((at) => document.body.classList.toggle("stepping", tabs.shown.value === "step" && at !== undefined));

// --- Files, links, drafts -----------------------------------------------------------------------

const lessons: Lessons = new Lessons({
  open: (source) => {
    intro.dismiss();
    // An earlier attempt is continued.
    const draft = drafts.recent().find((one) => one.source.name === source.name);
    void open(draft?.source ?? source, draft);
  },
  replace: (text) => editor.apply([{ from: 0, to: editor.text.length, text }]),
  compile: (name, glsl) => void files.take([new File([glsl], name)]),
});
new Help(lessons);
const intro: Intro = new Intro({ step: stepSomewhere, learn: () => lessons.begin(0) });
// A link or the keyboard chooses pixels, too.
pixel.watch((at) => {
  if (at !== undefined) intro.accepted();
});
new Compare(module, {
  own: () => ({ source: program.source, size: transport.pixels, time: transport.time.value }),
  others: () => {
    const before = work.before.value;
    const own = program.source;
    const kept = drafts.recent().map((draft): [string, Source] => [`draft: ${draft.source.name || "program"}, ${new Date(draft.when).toLocaleTimeString()}`, draft.source]);
    const left: [string, Source][] = before === undefined ? [] : [[`before: ${before.source.name || "program"}`, before.source]];
    return [...left, ...kept, ...examples()].filter(([, source]) => source.text !== own.text);
  },
  step: (at, position) => void session.stepThrough(at, position),
});
new Shorter({
  own: () => ({ source: program.source, ranges: program.analysis.value?.instructions.map(({ range }) => range) ?? [], offset: program.analysis.value?.offset ?? 0 }),
  optimize: async () => {
    const { source } = program;
    return onDemand().ask("optimize", sourceRequest(source), source.files.map((file) => file.bytes));
  },
  open: (source) => void open(source),
});
const gallery = new Gallery({
  open: (source, draft) => {
    files.programs.hide();
    void open(source, draft);
  },
  recent: () => drafts.recent(),
});
byId("examples", HTMLButtonElement).addEventListener("click", () => gallery.show());
byId("link", HTMLButtonElement).addEventListener("click", () => void copyLink());
const back = byId("back", HTMLButtonElement);
back.addEventListener("click", () => work.back());
work.before.watch((before) => {
  back.hidden = before === undefined;
  const name = before?.source.name ?? "";
  back.textContent = `‹ Back to ${name === "" || name === "new" ? "my program" : name}`;
});
takeFiles((taken, unit) => void files.take(taken, unit));
const written = async (format: string): Promise<BlobPart> => (await current()).ask("write", { format });
const ofScene = (): boolean => isScene(editor.text);
const ofProgram = (): boolean => !ofScene();
new Save(
  [
    { title: "GLSL", about: ".frag, the shader", extension: ".frag", type: "text/plain", bytes: async () => shader.text ?? "", offered: () => shader.text !== undefined },
    { title: "Assembly", about: ".r5", extension: ".r5", type: "text/plain", bytes: async () => editor.text },
    { title: "Capture of the scene", about: ".r5cs, the command stream with its buffers", extension: ".r5cs", type: "application/octet-stream", bytes: () => sceneDrawing.capture(transport.time.value), offered: ofScene },
    { title: "Binary", about: ".bin, six dwords an instruction", extension: ".bin", type: "application/octet-stream", bytes: () => written("raw"), offered: ofProgram },
    { title: "C array", about: ".inc, for a driver's source", extension: ".inc", type: "text/plain", bytes: () => written("c-array"), offered: ofProgram },
    { title: "Capture", about: ".json, with all state", extension: ".json", type: "application/json", bytes: () => written("json"), offered: ofProgram },
    { title: "Picture", about: ".png, as it is shown", extension: ".png", type: "image/png", bytes: async () => (await stage.png()) ?? "" },
    { title: "GIF", about: `.gif, ${SECONDS} seconds from now`, extension: ".gif", type: "image/gif", bytes: () => animation() },
    { title: "Embedding", about: ".html, a frame for other pages", extension: ".html", type: "text/html", bytes: async () => embedding(await address(), program.name || "program") },
    { title: "WebM", about: `.webm, ${SECONDS} seconds as they are shown`, extension: ".webm", type: "video/webm", bytes: () => recording() },
  ],
  () => program.name || "program",
  say,
);

async function animation(): Promise<BlobPart> {
  transport.playing.value = false;
  await player.settled();
  const view = player.shown?.view;
  if (view === undefined) throw new Error("there is no picture");
  return gif(pool, assistant, view, (share) => say(`GIF: ${Math.round(share * 100)}%`)).finally(unsay);
}

async function recording(): Promise<BlobPart> {
  transport.playing.value = program.analysis.value?.moves === true;
  say(`Recording ${SECONDS} seconds…`);
  return webm(stage.picturePixels).finally(unsay);
}

/** Length of a link above which many programs truncate or refuse it. */
const LONG = 250_000;

/** Returns the part of a link that holds the program and the view. */
async function packed(): Promise<string> {
  const state: ViewState = { breakpoints: [...breakpoints.all.value], time: transport.time.value, target: transport.target.value, look: transport.look.value };
  if (pixel.value !== undefined) Object.assign(state, { pixel: pixel.value, step: stepper.moment.value?.position ?? 0 });
  return (await pack(program.source)) + join(state);
}

/** Returns the address of the whole page with the program. */
async function address(): Promise<string> {
  const url = new URL(location.href);
  url.search = "";
  url.hash = await packed();
  return url.href;
}

/** Opens the whole page in another tab, with the program and a pixel to step through. */
async function openWhole(at?: [number, number]): Promise<void> {
  pixel.value = at;
  try {
    window.open(await address(), "_blank", "noopener");
  } catch (error) {
    stage.stale(message(error));
  }
}

async function copyLink(): Promise<void> {
  let fragment: string;
  try {
    fragment = await packed();
  } catch (error) {
    return say(message(error));
  }
  const asked = `The link has ${Math.round(fragment.length / 1000).toLocaleString("en")} kB: many programs cut such links or refuse them. Copy it anyway? (Save › Assembly keeps it as a file.)`;
  if (fragment.length > LONG && !confirm(asked)) return;
  history.replaceState(history.state, "", `#${fragment}`);
  try {
    await navigator.clipboard.writeText(location.href);
    say("The link is copied: it holds the whole program and the view");
  } catch {
    say("The link is in the address bar: it holds the whole program and the view");
  }
}

const saveSoon = settled(300, () => work.save());
addEventListener("pagehide", () => work.save());

/** Returns the contents of the link; reports errors. */
async function linked(): Promise<{ source: Source; state: ViewState } | undefined> {
  try {
    const { program: packed, state } = split(location.hash);
    const source = await unpack(packed);
    return source === undefined ? undefined : { source, state };
  } catch (error) {
    say(message(error));
    return undefined;
  }
}

/** Opens the contents of a link, with its view. */
async function openLink(link: { source: Source; state: ViewState }): Promise<void> {
  await open(link.source);
  const { state } = link;
  if (state.time !== undefined) {
    // A picture in another page plays, unless its link names a pixel.
    transport.playing.value &&= embedded !== undefined && state.pixel === undefined;
    transport.time.value = state.time;
  }
  if (state.target !== undefined) transport.target.value = state.target;
  if (state.look !== undefined) transport.look.value = state.look;
  breakpoints.all.value = state.breakpoints ?? [];
  if (state.pixel !== undefined) await session.stepThrough(state.pixel, state.step ?? 0);
}

async function begin(): Promise<void> {
  const link = location.hash.length > 1 ? await linked() : undefined;
  const [latest] = drafts.recent();
  const own = drafts.own();
  if (link !== undefined && isCompiled(link.source)) pool.prepare(link.source);
  if (link !== undefined) {
    void openLink(link);
    if (latest !== undefined) work.offer(latest);
  } else if (own !== undefined) void open(own.source, own);
  else void open(latest?.source ?? first);
}
// An entry of the history shows its program by itself.
addEventListener("hashchange", () => Trail.isEntry(history.state) || void linked().then((link) => link !== undefined && void openLink(link)));

embed(() => void openWhole());
module.catch((error: unknown) => stage.stale(`The machine does not start here: ${message(error)}`));
void begin();

if ("serviceWorker" in navigator && isSecureContext) {
  const { serviceWorker } = navigator;
  // After the first visit, the remaining files are cached, too, for use without a network.
  serviceWorker.controller?.postMessage("again");
  // It fetches all files, so it begins when the page has no other work.
  void quiet().then(() => serviceWorker.register("offline.js")).catch(() => {});
}

/** Waits until the first program is shown, with its picture if it has one. */
async function quiet(): Promise<void> {
  await new Promise<void>((resolve) => program.analysis.watch((found) => found !== undefined && resolve()));
  // By then the picture is asked for.
  await new Promise((resolve) => setTimeout(resolve));
  await player.settled();
}

/** The interface for the console and for tests. */
const handle = {
  editor,
  pool,
  pictures,
  player,
  transport,
  analysis: program.analysis,
  stage,
  stepper,
  breakpoints,
  session,
  tabs,
  shader,
  open: (source: Source) => open(source),
  stepThrough: (at: [number, number], position?: number) => session.stepThrough(at, position),
  source: () => program.source,
  /** Waits until the shader is compiled, and the program analysed. */
  current: async () => {
    await shader.settled();
    await program.current();
  },
  /** Returns whether requests are pending or about to be sent. */
  isBusy,
  /** Returns a target's raw values, the lowest row first. */
  values: (target: number) => player.values(target),
};
Object.assign(globalThis, { r500: handle });
