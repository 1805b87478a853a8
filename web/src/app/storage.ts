// The browser's storage; in memory where it is refused, as in frames of other pages, and in embedded pages, which leave the visitor's
// drafts alone.

import { embedded } from "./embed.ts";

/** The part of the browser's storage interface that is used. */
export type Store = Pick<Storage, "getItem" | "setItem" | "removeItem" | "key" | "length">;

function inMemory(): Store {
  const all = new Map<string, string>();
  return {
    getItem: (key) => all.get(key) ?? null,
    setItem: (key, value) => void all.set(key, value),
    removeItem: (key) => void all.delete(key),
    key: (n) => [...all.keys()][n] ?? null,
    get length() {
      return all.size;
    },
  };
}

function stored(get: () => Storage): Store {
  if (embedded !== undefined) return inMemory();
  try {
    return get();
  } catch {
    return inMemory();
  }
}

/** What lives longer than the tab. */
export const lasting = stored(() => localStorage);
/** What lives as long as the tab. */
export const ofTab = stored(() => sessionStorage);
