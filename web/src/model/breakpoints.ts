// The breakpoint store: addresses and conditions, which follow their instructions when the program changes.

import { Signal } from "../app/signal.ts";
import type { Breakpoint } from "../machine/protocol.ts";

export class Breakpoints {
  readonly all = new Signal<readonly Breakpoint[]>([]);

  /** Adds a breakpoint, or removes an equal one. Returns whether it exists now. */
  toggle(breakpoint: Breakpoint): boolean {
    const rest = this.all.value.filter((other) => !same(other, breakpoint));
    const added = rest.length === this.all.value.length;
    this.all.value = added ? [...rest, breakpoint] : rest;
    return added;
  }

  /** Removes all breakpoints of an address, or adds a plain one if there is none. Returns whether there is one now. */
  toggleAt(address: number): boolean {
    const rest = this.all.value.filter((one) => one.address !== address);
    if (rest.length < this.all.value.length) {
      this.all.value = rest;
      return false;
    }
    return this.toggle({ address, condition: null, changes: null });
  }

  clear(): void {
    this.all.value = [];
  }

  /**
   * Changes addresses of breakpoints: those in `moved` get their new address, or are removed if it is `undefined`;
   * others are unchanged.
   */
  move(moved: ReadonlyMap<number, number | undefined>): void {
    const next = this.all.value.flatMap((one): Breakpoint[] => {
      if (one.address === null || !moved.has(one.address)) return [one];
      const address = moved.get(one.address);
      return address === undefined ? [] : [{ ...one, address }];
    });
    const unique = next.filter((one, n) => next.findIndex((other) => same(one, other)) === n);
    const before = this.all.value;
    const differs = unique.length !== before.length || unique.some((one, n) => !same(one, before[n]));
    if (differs) this.all.value = unique;
  }
}

const same = (a: Breakpoint | undefined, b: Breakpoint | undefined): boolean =>
  a?.address === b?.address && a?.condition === b?.condition && a?.changes === b?.changes;

/** Returns in words when a breakpoint stops; empty if it always does. */
export function when(one: Breakpoint): string {
  if (one.changes !== null) return `when ${one.changes} changes`;
  return one.condition === null ? "" : `when ${one.condition}`;
}
