// The document: a program's name, text and files, and the analysis of its text.

import { message, settled } from "../app/dom.ts";
import { Signal } from "../app/signal.ts";
import { Stopped } from "../machine/client.ts";
import { sourceRequest, type Analysis, type Answers, type Ask, type Instruction, type NamedFile, type Range, type RequestName, type Source } from "../machine/protocol.ts";

/** Milliseconds without a key before the program is analysed anew. */
const SETTLED = 120;

/** Who answers questions about the text. */
export interface Language {
  ask<K extends RequestName>(what: K, request: Ask<K>, attached?: readonly Uint8Array[]): Promise<Answers[K]>;
}

export interface DocumentEvents {
  /** The text is analysed: of this source. */
  analysed(found: Analysis, source: Source): void;
  /** It could not be. */
  failed(why: string): void;
}

export class Document {
  readonly analysis = new Signal<Analysis | undefined>(undefined);
  name = "";
  files: readonly NamedFile[] = [];
  /** The analysis that is under way: what asks about places in the text waits for it. */
  private analysing: Promise<void> = Promise.resolve();
  private round = 0;
  private asked: Source | undefined;
  private knownText: string | undefined;
  /** A program whose analysis took too long: it is not tried again for questions about places in it. */
  private refused: Source | undefined;
  /** Analyses soon, unless that text is known already. */
  readonly soon = settled(SETTLED, () => {
    if (this.asked?.text !== this.text() || this.asked.files !== this.files) this.now();
  });

  constructor(
    private readonly language: Language,
    /** The text as it is in the editor. */
    private readonly text: () => string,
    private readonly events: DocumentEvents,
  ) {}

  get source(): Source {
    return { name: this.name, text: this.text(), files: this.files };
  }

  /** Whether the analysis is of the text as it is. */
  get isCurrent(): boolean {
    return this.knownText === this.text();
  }

  /** The text that the analysis is of. */
  get known(): string | undefined {
    return this.knownText;
  }

  /** Another program; its text is in the editor by now. */
  open(name: string, files: readonly NamedFile[]): Promise<void> {
    this.name = name;
    this.files = files;
    this.knownText = undefined;
    return this.now();
  }

  /** Analyses the program as it is now. */
  now(): Promise<void> {
    const mine = ++this.round;
    const taken = this.source;
    this.asked = taken;
    this.analysing = (async () => {
      try {
        const found = await this.language.ask("analyse", sourceRequest(taken), taken.files.map((file) => file.bytes));
        // Of another text than what stands there by now, places would be wrong; its own comes soon.
        if (mine !== this.round || taken.text !== this.text()) return;
        this.knownText = taken.text;
        this.refused = undefined;
        this.analysis.value = found;
        this.events.analysed(found, taken);
      } catch (error) {
        if (error instanceof Stopped) this.refused = taken;
        if (mine === this.round) this.events.failed(message(error));
      }
    })();
    return this.analysing;
  }

  /** Waits until the analysis is of the text as it is. */
  async current(): Promise<void> {
    const refused = this.refused?.text === this.text() && this.refused.files === this.files;
    if (!refused && (this.analysis.value === undefined || !this.isCurrent)) void this.now();
    await this.analysing;
  }

  /** The worker that knew the analysis is gone. */
  forget(): void {
    this.knownText = undefined;
  }

  // --- Instructions -------------------------------------------------------------------------------

  /** The instruction at an address. */
  instruction(address: number): Instruction | undefined {
    const found = this.analysis.value;
    return found?.instructions[address - found.offset];
  }

  addressOf(instruction: Instruction): number {
    return instruction.index + (this.analysis.value?.offset ?? 0);
  }

  /** The instruction that a place is in. */
  instructionAt(at: number): Instruction | undefined {
    const all = this.analysis.value?.instructions ?? [];
    return all.find(({ range }) => range !== null && range.from <= at && at <= range.to);
  }

  /** The instruction that is meant by a place in a line: the one there, else the first of the line. */
  instructionIn(line: Range, at: number): Instruction | undefined {
    const all = this.analysis.value?.instructions.filter(({ range }) => range !== null && range.from <= line.to && line.from <= range.to) ?? [];
    const begins = all.find(({ range }) => range !== null && range.from >= line.from);
    return all.find(({ range }) => range !== null && range.from <= at && at < range.to) ?? begins ?? all[0];
  }
}
