// The document: a program's name, text and files, and the analysis of its text.

import { message, settled } from "../app/dom.ts";
import { Signal } from "../app/signal.ts";
import { Stopped } from "../machine/client.ts";
import { sourceRequest, type Analysis, type Answers, type Ask, type Instruction, type NamedFile, type Range, type RequestName, type Source } from "../machine/protocol.ts";

/** Milliseconds after the last key before the program is analysed again. */
const SETTLED = 120;

/** The client that answers requests about the text. */
export interface Language {
  ask<K extends RequestName>(what: K, request: Ask<K>, attached?: readonly Uint8Array[]): Promise<Answers[K]>;
}

export interface DocumentEvents {
  /** Called with the analysis of a source. */
  analysed(found: Analysis, source: Source): void;
  /** Called if the analysis failed. */
  failed(why: string): void;
}

export class Document {
  readonly analysis = new Signal<Analysis | undefined>(undefined);
  name = "";
  files: readonly NamedFile[] = [];
  /** The shader of which the text is the compiled program. */
  glsl: string | undefined;
  /** The pending analysis; requests about positions in the text wait for it. */
  private analysing: Promise<void> = Promise.resolve();
  private round = 0;
  private asked: Source | undefined;
  /** Whether the analysis of `asked` is running. */
  private running = false;
  private knownText: string | undefined;
  /** A program whose analysis exceeded the time limit; it is not analysed again for requests about positions. */
  private refused: Source | undefined;
  /** Starts an analysis soon, unless the text is already known. */
  readonly soon = settled(SETTLED, () => {
    if (!this.isOf(this.asked)) void this.now();
  });

  constructor(
    private readonly language: Language,
    /** Returns the editor's current text. */
    private readonly text: () => string,
    private readonly events: DocumentEvents,
  ) {}

  get source(): Source {
    return { name: this.name, text: this.text(), files: this.files, glsl: this.glsl };
  }

  /** Whether the analysis is of the current text. */
  get isCurrent(): boolean {
    return this.knownText === this.text();
  }

  /** The text of the analysis. */
  get known(): string | undefined {
    return this.knownText;
  }

  /** Opens another program, whose text is already in the editor, and waits for its analysis. */
  open({ name, files, glsl }: Source): Promise<void> {
    this.name = name;
    this.files = files;
    this.glsl = glsl;
    this.knownText = undefined;
    void this.now();
    return this.analysed();
  }

  /** Analyses the current program. */
  now(): Promise<void> {
    const mine = ++this.round;
    const taken = this.source;
    this.asked = taken;
    this.running = true;
    this.analysing = (async () => {
      try {
        const found = await this.language.ask("analyse", sourceRequest(taken), taken.files.map((file) => file.bytes));
        // The positions of an outdated text would be wrong; the analysis of the current text follows.
        if (mine !== this.round || taken.text !== this.text()) return;
        this.knownText = taken.text;
        this.refused = undefined;
        this.analysis.value = found;
        this.events.analysed(found, taken);
      } catch (error) {
        if (error instanceof Stopped) this.refused = taken;
        if (mine === this.round) this.events.failed(message(error));
      } finally {
        if (mine === this.round) this.running = false;
      }
    })();
    return this.analysing;
  }

  /** Waits for the analysis of the current text. */
  async current(): Promise<void> {
    const pending = this.running && this.isOf(this.asked);
    if (!pending && !this.isOf(this.refused) && (this.analysis.value === undefined || !this.isCurrent)) void this.now();
    await this.analysed();
  }

  /** Waits for the latest analysis: a later one supersedes those that are running. */
  private async analysed(): Promise<void> {
    let awaited;
    do {
      awaited = this.analysing;
      await awaited;
    } while (awaited !== this.analysing);
  }

  /** Returns whether a source is the current one. */
  private isOf(source: Source | undefined): boolean {
    return source?.text === this.text() && source.files === this.files;
  }

  /** Forgets the analysis, because its worker was stopped. */
  forget(): void {
    this.knownText = undefined;
  }

  /** Shows the instructions of another draw of a scene. */
  showDraw(number: number): void {
    const found = this.analysis.value;
    const draw = found?.draws[number];
    if (found !== undefined && draw !== undefined && draw.instructions !== found.instructions) this.analysis.value = { ...found, ...draw };
  }

  // --- Instructions -------------------------------------------------------------------------------

  /** Returns the instruction at an address. */
  instruction(address: number): Instruction | undefined {
    const found = this.analysis.value;
    return found?.instructions[address - found.offset];
  }

  addressOf(instruction: Instruction): number {
    return instruction.index + (this.analysis.value?.offset ?? 0);
  }

  /** Returns the instruction that contains a position. */
  instructionAt(at: number): Instruction | undefined {
    const all = this.analysis.value?.instructions ?? [];
    return all.find(({ range }) => range !== null && range.from <= at && at <= range.to);
  }

  /** Returns the instruction that a position in a line selects: the one there, else the first of the line. */
  instructionIn(line: Range, at: number): Instruction | undefined {
    const all = this.analysis.value?.instructions.filter(({ range }) => range !== null && range.from <= line.to && line.from <= range.to) ?? [];
    const begins = all.find(({ range }) => range !== null && range.from >= line.from);
    return all.find(({ range }) => range !== null && range.from <= at && at < range.to) ?? begins ?? all[0];
  }
}
