// The browser's history: each opened program is an entry of it, so that Back returns to the program before.

import type { Source } from "../machine/protocol.ts";

/** The state of an entry: what it takes to show its program again, also after the page was reloaded. */
interface Entry {
  id: string;
  /** The draft to which the program's edits are saved. */
  draft: string;
  /** The program as it was opened; `null` if it is too large for the history. */
  source: Source | null;
}

/** A program that was left, with its edits. */
export interface Left {
  draft: string;
  source: Source;
}

export interface TrailEvents {
  /** Returns the open program, and the draft to which its edits go. */
  now(): Left;
  /** Returns the program of a draft. */
  find(draft: string): Source | undefined;
  /** Shows a program of an entry. */
  show(left: Left): void;
  /** Called if the program of an entry was too large to be kept. */
  lost(): void;
}

/** The maximal size of a program in the history, in bytes: browsers refuse large states. */
const MOST_BYTES = 200_000;

export class Trail {
  private current = "";
  /** The programs of the entries that were left in this visit. */
  private readonly left = new Map<string, Left>();
  private returning = false;

  constructor(private readonly events: TrailEvents) {
    addEventListener("popstate", ({ state }) => this.arrive(state as Partial<Entry> | null));
  }

  /** Returns whether the entry is one of this page, which shows its program by itself. */
  static isEntry(state: unknown): boolean {
    return typeof state === "object" && state !== null && "id" in state;
  }

  /** Called before another program is shown. */
  leaving(): void {
    if (this.current !== "" && !this.returning) this.left.set(this.current, this.events.now());
  }

  /** Called after another program was opened: adds an entry, unless the browser has made one, or goes to one. */
  opened({ draft, source }: Left): void {
    if (this.returning) return;
    const size = source.text.length + source.files.reduce((sum, file) => sum + file.bytes.length, 0);
    const entry: Entry = { id: crypto.randomUUID(), draft, source: size > MOST_BYTES ? null : source };
    // The first program of the visit, or a link.
    const there = this.current === "" || !Trail.isEntry(history.state);
    this.current = entry.id;
    if (there) history.replaceState(entry, "");
    else history.pushState(entry, "", location.pathname + location.search);
  }

  private arrive(state: Partial<Entry> | null): void {
    if (state === null || typeof state.id !== "string" || state.id === this.current) return;
    this.leaving();
    const draft = state.draft ?? "";
    const source = this.events.find(draft) ?? state.source;
    const known = this.left.get(state.id) ?? (source ? { draft, source } : undefined);
    this.current = state.id;
    if (known === undefined) return this.events.lost();
    this.returning = true;
    try {
      this.events.show(known);
    } finally {
      this.returning = false;
    }
  }
}
