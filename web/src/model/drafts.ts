// Drafts: edited programs, each in a separate entry of the browser's storage, so that tabs do not overwrite each other.

import type { Store } from "../app/storage.ts";
import type { Source } from "../machine/protocol.ts";

const PREFIX = "r500.draft.";
const OWN = "r500.work";
/** Number of drafts that are kept: the attempts at all lessons, and some more. */
const MOST = 30;
/** Maximal size of a draft's files in bytes; larger drafts are not kept. */
const MOST_BYTES = 400_000;

export interface Draft {
  id: string;
  /** Time of the last save, in milliseconds. */
  when: number;
  source: Source;
}

interface Stored {
  when: number;
  name: string;
  text: string;
  files: [string, number[]][];
  glsl?: string | undefined;
}

export class Drafts {
  private id: string;

  /** `tab` lives as long as the tab, `all` longer. */
  constructor(
    private readonly all: Store,
    private readonly tab: Store,
    fresh: () => string = () => crypto.randomUUID(),
  ) {
    this.fresh = fresh;
    this.id = tab.getItem(OWN) ?? this.renew();
  }

  private readonly fresh: () => string;

  /** The draft of this tab. */
  get current(): string {
    return this.id;
  }

  /** Begins a new draft; the previous one is kept. */
  renew(): string {
    this.id = this.fresh();
    this.tab.setItem(OWN, this.id);
    return this.id;
  }

  /** Continues a draft: edits are saved to it. */
  resume(draft: Draft): void {
    this.id = draft.id;
    this.tab.setItem(OWN, this.id);
  }

  /** Saves the program of this tab. Returns whether it was stored. */
  save(source: Source, when = Date.now()): boolean {
    const bytes = source.files.reduce((sum, file) => sum + file.bytes.length, 0);
    if (bytes > MOST_BYTES) return false;
    const stored: Stored = { when, name: source.name, text: source.text, glsl: source.glsl, files: source.files.map((file) => [file.name, [...file.bytes]]) };
    for (const old of this.recent().slice(MOST - 1)) if (old.id !== this.id) this.all.removeItem(PREFIX + old.id);
    try {
      this.all.setItem(PREFIX + this.id, JSON.stringify(stored));
      return true;
    } catch {
      // The storage is full or not accessible.
      return false;
    }
  }

  /** Returns the draft of this tab. */
  own(): Draft | undefined {
    return this.read(this.id);
  }

  /** Returns a draft by its id. */
  find(id: string): Draft | undefined {
    return this.read(id);
  }

  /** Returns all drafts, the latest first. */
  recent(): Draft[] {
    const ids = Array.from({ length: this.all.length }, (_, n) => this.all.key(n) ?? "");
    const drafts = ids.filter((key) => key.startsWith(PREFIX)).map((key) => this.read(key.slice(PREFIX.length)));
    return drafts.filter((draft) => draft !== undefined).sort((a, b) => b.when - a.when);
  }

  private read(id: string): Draft | undefined {
    try {
      const stored = JSON.parse(this.all.getItem(PREFIX + id) ?? "null") as Partial<Stored> | null;
      if (stored === null || typeof stored.text !== "string" || typeof stored.when !== "number") return undefined;
      const files = (stored.files ?? []).map(([name, bytes]) => ({ name: String(name), bytes: Uint8Array.from(bytes) }));
      return { id, when: stored.when, source: { name: String(stored.name ?? ""), text: stored.text, files, glsl: typeof stored.glsl === "string" ? stored.glsl : undefined } };
    } catch {
      return undefined;
    }
  }
}
