// What the parts of the Step pane ask of the page.

import type { Breakpoint } from "../machine/protocol.ts";

export interface StepEvents {
  /** Returns the text of the instruction at an address. */
  instruction(address: number): string;
  /** Shows the instruction in the program's text. */
  reveal(address: number): void;
  /** Selects another pixel. */
  choose(pixel: [number, number]): void;
  /** Returns the address of the instruction at the editor's cursor. */
  atCursor(): number | undefined;
  /** Checks the texts of a breakpoint. Rejects with what is wrong. */
  check(breakpoint: Breakpoint): Promise<unknown>;
  /** Records again with another limit. */
  recordTo(limit: number): void;
  /** Selects a pixel to step through, if none is selected. */
  begin(): void;
}
