// The open program, the program before it, and the draft of the edits.

import { Signal } from "../app/signal.ts";
import type { Editor } from "../editor/editor.ts";
import type { Breakpoint, Source } from "../machine/protocol.ts";
import type { Breakpoints } from "./breakpoints.ts";
import type { Document } from "./document.ts";
import type { Draft, Drafts } from "./drafts.ts";

/** A program to which the user can return. */
interface Before {
  source: Source;
  /** Restores the editor with its undo history; if `undefined`, only the text is restored. */
  restore: (() => void) | undefined;
  draft: Draft | undefined;
  breakpoints: readonly Breakpoint[];
}

/** What the browser's history keeps of opened programs. */
export interface History {
  leaving(): void;
  opened(program: { draft: string; source: Source }): void;
}

export interface WorkEvents {
  /** Called before another program is shown. */
  opening(program: Source): void;
  /** Called after it was analysed. */
  opened(): void;
}

export class Work {
  /** The program to return to, if an edited program was left. */
  readonly before = new Signal<Before | undefined>(undefined);
  private edited = false;
  private round = 0;

  constructor(
    private readonly document: Document,
    private readonly editor: Editor,
    private readonly breakpoints: Breakpoints,
    private readonly drafts: Drafts,
    private readonly events: WorkEvents,
    private readonly history: () => History,
  ) {}

  /** Opens another program. Edits go to a new draft, or continue a given one. */
  open(program: Source, draft?: Draft): Promise<void> {
    const { source } = this.document;
    this.history().leaving();
    const kept = this.edited ? { source, draft: this.drafts.own(), breakpoints: this.breakpoints.all.value } : undefined;
    this.save();
    if (draft === undefined) this.drafts.renew();
    else this.drafts.resume(draft);
    const { result, opened } = this.show(program, (text) => this.editor.replace(text));
    this.edited = draft !== undefined;
    this.history().opened({ draft: this.drafts.current, source: program });
    if (kept !== undefined) this.before.value = { ...kept, restore: result };
    return opened;
  }

  /** Offers a draft of another visit. */
  offer(draft: Draft): void {
    this.before.value = { source: draft.source, restore: undefined, draft, breakpoints: [] };
  }

  /** Returns to the program that was edited before. */
  back(): void {
    const before = this.before.value;
    if (before === undefined) return;
    this.before.value = undefined;
    const { source, restore, draft, breakpoints } = before;
    if (restore === undefined) return void this.open(source, draft);
    this.history().leaving();
    if (draft === undefined) this.drafts.renew();
    else this.drafts.resume(draft);
    this.show(source, restore, breakpoints);
    this.edited = true;
    this.history().opened({ draft: this.drafts.current, source });
  }

  /**
   * Called when the program was edited: removes the link from the address, which no longer matches.
   */
  touched(): void {
    this.edited = true;
    if (location.hash.length > 1) history.replaceState(history.state, "", location.pathname + location.search);
  }

  /** Saves the edits, if the current text was analysed. */
  save(): boolean {
    return this.edited && this.document.isCurrent && this.drafts.save(this.document.source);
  }

  private show<T>(program: Source, set: (text: string) => T, breakpoints: readonly Breakpoint[] = []): { result: T; opened: Promise<void> } {
    const mine = ++this.round;
    this.events.opening(program);
    this.breakpoints.clear();
    const result = set(program.text);
    const opened = this.document.open(program).then(() => {
      if (mine !== this.round) return;
      // Addresses are meaningful only after the program was analysed.
      this.breakpoints.all.value = breakpoints;
      this.events.opened();
    });
    return { result, opened };
  }
}
