// The breakpoint store: addresses and conditions, which follow their instructions when the program changes.

import { Signal } from "../app/signal.ts";
import type { Breakpoint } from "../machine/protocol.ts";

/** Returns a breakpoint with nothing but what is given. */
export const breakpoint = (given: Partial<Breakpoint>): Breakpoint => ({ address: null, condition: null, changes: null, hits: null, message: null, ...given });

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
    return this.toggle(breakpoint({ address }));
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
  a?.address === b?.address && a?.condition === b?.condition && a?.changes === b?.changes && a?.hits === b?.hits && a?.message === b?.message;

/** Returns whether a breakpoint stops whenever its instruction is reached. */
export const isPlain = (one: Breakpoint): boolean => one.condition === null && one.changes === null && one.hits === null && one.message === null;

/** Returns in words when a breakpoint stops and what it logs; empty if it always stops. */
export function when(one: Breakpoint): string {
  const parts = [
    one.changes === null ? "" : `when ${one.changes} changes`,
    one.condition === null ? "" : `when ${one.condition}`,
    one.hits === null ? "" : `hits ${one.hits}`,
    one.message === null ? "" : `logs ${one.message}`,
  ];
  return parts.filter((part) => part !== "").join(", ");
}
