// What the parts of the Step pane ask of the page.

export interface StepEvents {
  /** Returns the text of the instruction at an address. */
  instruction(address: number): string;
  /** Shows the instruction in the program's text. */
  reveal(address: number): void;
  /** Selects another pixel. */
  choose(pixel: [number, number]): void;
  /** Returns the address of the instruction at the editor's cursor. */
  atCursor(): number | undefined;
  /** Checks the expression of a breakpoint, a condition or a value whose changes stop. Rejects with what is wrong. */
  check(text: string, changes: boolean): Promise<unknown>;
  /** Records again with another limit. */
  recordTo(limit: number): void;
  /** Selects a pixel to step through, if none is selected. */
  begin(): void;
}
