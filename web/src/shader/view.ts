// The view of a program in GLSL: the editor of the shader next to the compiled program, whose lines are linked, costs and limits.
// Each change is compiled; the program in the other editor is the result, which all other parts of the page show.

import { EditorState, Transaction, type Extension } from "@codemirror/state";
import type { EditorView } from "@codemirror/view";

import { begin } from "../app/activity.ts";
import { byId, h, message } from "../app/dom.ts";
import { say } from "../app/messages.ts";
import { COLORS, linked, showLinks, showSelected } from "../editor/links.ts";
import { Problems } from "../editor/problems.ts";
import { reveal } from "../editor/reveal.ts";
import type { Analysis, CompiledShader, Diagnostic, Range } from "../machine/protocol.ts";
import { showCosts } from "./costs.ts";
import { ShaderEditor } from "./editor.ts";
import { Limits } from "./limits.ts";

export interface ShaderEvents {
  /** Compiles a shader; a draft is not optimised, and has no costs. */
  compile(text: string, draft: boolean, name?: string): Promise<CompiledShader>;
  /** Called after an edit of the shader. */
  edited(text: string): void;
  /** Called with a program that draws the picture of the shader, but is not the final one. */
  drafted(program: string): void;
  /** Called with the program of the shader. */
  compiled(program: string): void;
  /** Opens the program as assembly. */
  toAssembly(): void;
  /** Opens a shader instead of the program in assembly. */
  toShader(): void;
  /** Returns the number of the instruction at a position of the program. */
  instructionAt(at: number): number | undefined;
}

/** A selected line of the shader (from 1), or a selected instruction. */
type Choice = { line: number } | { instruction: number };

/** Where choices come from; the first one that there is counts. */
type Chooser = "pointer" | "step" | "cursor";

/** Milliseconds without a key before the program is optimised. */
const PAUSE = 80;

const READ_ONLY = "This is what the compiler makes of the shader; “Continue in assembly” makes it a program that can be edited";

export class ShaderView {
  /** The editor and its problems, from the first shader on. */
  private made: { editor: ShaderEditor; problems: Problems } | undefined;
  /** The text that was compiled last, and the answer. */
  private known: { text: string; result: CompiledShader } | undefined;
  private active = false;
  /** Whether the program was not shown since the shader was opened. */
  private fresh = false;
  private compiling: Promise<void> | undefined;
  /** Places of the instructions in the program. */
  private ranges: readonly (Range | null)[] = [];
  private readonly choices: Partial<Record<Chooser, Choice | undefined>> = {};
  /** The editor's state of the last shader that was left. */
  private left: EditorState | undefined;
  private readonly limits = new Limits();
  private readonly root = byId("shader", HTMLDivElement);
  private readonly buttons: Record<"glsl" | "assembly", HTMLButtonElement>;
  private readonly proceed: HTMLButtonElement;
  /** What the assembler reports on the program, such as a texture that is missing. */
  private assembled: readonly Diagnostic[] = [];

  constructor(
    private readonly program: () => EditorView,
    private readonly events: ShaderEvents,
  ) {
    const button = (title: string, about: string, choose: () => void): HTMLButtonElement => h("button", { type: "button", title: about, onclick: choose }, title);
    this.buttons = {
      glsl: button("GLSL", "Write a shader in GLSL, and see what it is compiled to", () => !this.active && events.toShader()),
      assembly: button("Assembly", "Write the program in assembly", () => this.active && events.toAssembly()),
    };
    this.proceed = h("button", { type: "button", class: "proceed", title: "Make the compiled program an ordinary program in assembly", onclick: () => events.toAssembly() }, "Continue in assembly");
    byId("languages", HTMLDivElement).append(h("div", { class: "switch", role: "group", "aria-label": "Language" }, this.buttons.glsl, this.buttons.assembly), this.proceed, this.limits.root);
    this.switched();
  }

  get editor(): ShaderEditor {
    return this.parts.editor;
  }

  private get parts(): { editor: ShaderEditor; problems: Problems } {
    if (this.made !== undefined) return this.made;
    const editor = new ShaderEditor({
      changed: () => this.changed(),
      moved: (at) => this.choose("cursor", { line: editor.lineOf(at) }),
      pointed: (at) => this.choose("pointer", at === undefined ? undefined : { line: editor.lineOf(at) }),
    });
    const problems = h("div", { class: "shader" });
    byId("problems", HTMLElement).append(problems);
    this.made = { editor, problems: new Problems(problems, editor, { explain: async () => null }) };
    return this.made;
  }

  /** Returns what the editor of the program needs: links, and that it is not edited while a shader is shown. */
  extension(): Extension {
    return [
      linked((at) => {
        const instruction = at === undefined || !this.active ? undefined : this.events.instructionAt(at);
        this.choose("pointer", instruction === undefined ? undefined : { instruction });
      }),
      EditorState.transactionFilter.of((transaction) => {
        if (!this.active || !transaction.docChanged || transaction.annotation(Transaction.userEvent) === undefined) return transaction;
        say(READ_ONLY);
        return [];
      }),
    ];
  }

  /** The shader that is shown; `undefined` in assembly. */
  get text(): string | undefined {
    return this.active ? this.editor.text : undefined;
  }

  /** The samplers of the texture units. */
  get samplers(): readonly string[] {
    return this.known?.result.samplers ?? [];
  }

  /** Returns the program of a shader, which is empty if it has errors. */
  async programOf(text: string, name: string): Promise<string> {
    const result = await this.events.compile(text, false, name);
    this.known = { text, result };
    return result.text ?? "";
  }

  /** Shows a shader, or with `undefined` assembly alone. */
  show(text: string | undefined): void {
    if (this.active) this.left = this.editor.view.state;
    this.fresh = true;
    this.active = text !== undefined;
    this.choices.cursor = this.choices.pointer = undefined;
    this.switched();
    if (text === undefined) {
      this.ranges = [];
      return;
    }
    const left = this.left?.doc.toString() === text ? this.left : undefined;
    this.editor.replace(left ?? text);
    if (this.known?.text === text) this.answered();
    else this.compile();
  }

  private switched(): void {
    document.body.classList.toggle("glsl", this.active);
    this.root.hidden = !this.active;
    if (this.active) this.root.append(this.editor.view.dom);
    else this.made?.editor.view.dom.remove();
    this.proceed.hidden = !this.active;
    this.limits.root.hidden = !this.active;
    this.buttons.glsl.setAttribute("aria-pressed", String(this.active));
    this.buttons.assembly.setAttribute("aria-pressed", String(!this.active));
  }

  /** Waits until the shader is compiled. */
  async settled(): Promise<void> {
    while (this.compiling !== undefined) await this.compiling;
  }

  private changed(): void {
    if (!this.active) return;
    // The pointer rests while one types.
    this.choices.pointer = undefined;
    this.events.edited(this.editor.text);
    this.compile();
  }

  /** Compiles the text; while a compilation is running, the next one waits for it. */
  private compile(): void {
    this.compiling ??= this.work().finally(() => (this.compiling = undefined));
  }

  private async work(): Promise<void> {
    const end = begin();
    try {
      while (this.active && this.known?.text !== this.editor.text) {
        const { text } = this.editor;
        const isOld = (): boolean => !this.active || this.editor.text !== text;
        // The optimiser takes most of the time: the picture follows each key, the program when one pauses.
        const draft = await this.events.compile(text, true);
        if (isOld()) continue;
        if (draft.text === null) {
          this.known = { text, result: draft };
          this.answered();
          continue;
        }
        this.events.drafted(draft.text);
        for (let waited = 0; waited < PAUSE && !isOld(); waited += 10) await new Promise((resolve) => setTimeout(resolve, 10));
        if (isOld()) continue;
        const result = await this.events.compile(text, false);
        if (isOld()) continue;
        this.known = { text, result };
        this.answered();
        if (result.text !== null) this.events.compiled(result.text);
      }
    } catch (error) {
      if (this.active) this.failed(message(error));
    } finally {
      end();
    }
  }

  private failed(why: string): void {
    const { length } = this.editor.text;
    this.tell([{ from: 0, to: Math.min(1, length), severity: "error", code: "", message: `the compiler gave no answer: ${why}`, help: [], fixes: [] }]);
  }

  /** Shows the answer of the compiler. */
  private answered(): void {
    const { result } = this.known ?? {};
    if (result === undefined) return;
    this.tell(result.diagnostics);
    this.limits.show(result.text === null ? this.shownLimits : result.limits, result.text !== null);
    if (result.text === null) return;
    this.shownLimits = result.limits;
    showCosts(this.editor.view, result.costs);
    const colors = this.colors;
    const { doc } = this.editor.view.state;
    showLinks(this.editor.view, result.costs.map(({ line }) => ({ from: doc.line(line).from, to: doc.line(line).from, colors: [colors.get(line) ?? 0] })));
  }

  private shownLimits: CompiledShader["limits"] = [];

  /** The colour of each line with a cost. */
  private get colors(): Map<number, number> {
    return new Map(this.known?.result.costs.map(({ line }, n) => [line, n % COLORS]));
  }

  private tell(diagnostics: readonly Diagnostic[]): void {
    const all = [...diagnostics, ...this.assembled];
    this.editor.show(diagnostics);
    const { result } = this.known ?? {};
    this.parts.problems.show(all, result === undefined || result.text === null ? undefined : result.lines.length, false);
  }

  /** Called with the analysis of the program: links its instructions with the lines of the shader. */
  analysed(found: Analysis, program: string): void {
    const { result } = this.known ?? {};
    if (!this.active || result === undefined || result.text !== program) return;
    const errors = found.diagnostics.filter(({ severity }) => severity === "error");
    this.assembled = errors.map((one) => ({ ...one, from: 0, to: 0, fixes: [], message: `in the program: ${one.message}` }));
    if (this.assembled.length > 0) this.tell(result.diagnostics);
    this.ranges = found.instructions.map(({ range }) => range);
    const colors = this.colors;
    const links = this.ranges.flatMap((range, n) => (range === null ? [] : [{ ...range, colors: (result.lines[n] ?? []).map((line) => colors.get(line) ?? 0) }]));
    showLinks(this.program(), links.filter((link) => link.colors.length > 0));
    this.begin();
    this.select();
  }

  /** Shows the first instruction of a shader that was just opened: the declarations before it are many. */
  private begin(): void {
    const first = this.ranges.find((range) => range !== null);
    if (!this.fresh || first === undefined || first === null) return;
    this.fresh = false;
    const view = this.program();
    view.requestMeasure({
      read: () => view.lineBlockAt(Math.min(first.from, view.state.doc.length)).top,
      write: (top) => (view.scrollDOM.scrollTop = top),
    });
  }

  /** Selects the instruction of the run that comes next. */
  stepped(instruction: number | undefined): void {
    this.choose("step", instruction === undefined ? undefined : { instruction });
  }

  /** Selects the instruction at the cursor of the program. */
  moved(at: number): void {
    if (!this.active || !this.program().hasFocus) return;
    const instruction = this.events.instructionAt(at);
    this.choose("cursor", instruction === undefined ? undefined : { instruction });
  }

  private choose(by: Chooser, choice: Choice | undefined): void {
    if (JSON.stringify(choice) === JSON.stringify(this.choices[by])) return;
    this.choices[by] = choice;
    if (this.active) this.select(by);
  }

  /** Marks what is selected in both editors, and shows the counterpart of what was selected last. */
  private select(by?: Chooser): void {
    const { pointer, step, cursor } = this.choices;
    const choice = pointer ?? step ?? cursor;
    const lines = this.known?.result.lines ?? [];
    const { doc } = this.editor.view.state;
    const isOf = (n: number): boolean => choice !== undefined && ("line" in choice ? (lines[n] ?? []).includes(choice.line) : n === choice.instruction);
    const instructions = this.ranges.filter((range, n): range is Range => range !== null && isOf(n));
    const chosen = choice === undefined ? [] : "line" in choice ? (instructions.length > 0 ? [choice.line] : []) : (lines[choice.instruction] ?? []);
    const places = chosen.filter((line) => line <= doc.lines).map((line) => doc.line(line).from);
    showSelected(this.editor.view, places.map((at) => ({ from: at, to: at })));
    showSelected(this.program(), instructions);
    if (by === undefined || choice === undefined) return;
    const [first] = instructions;
    if ("line" in choice && first !== undefined) reveal(this.program(), first.from);
    if ("instruction" in choice && places[0] !== undefined) reveal(this.editor.view, places[0]);
  }
}
