// Panes that follow the cursor and the analysis: the encoding of an instruction, the flow graph. They are updated only while they are
// shown.

import { message, settled } from "../app/dom.ts";
import { say } from "../app/messages.ts";
import type { Editor } from "../editor/editor.ts";
import type { EncodingPane } from "../panes/encoding.ts";
import type { FlowPane } from "../panes/flow.ts";
import type { Tabs } from "../panes/tabs.ts";
import type { Document, Language } from "./document.ts";

export class Follow {
  private encoded: { index: number; text: string | undefined } | undefined;
  private drawn: string | undefined;
  /** Called when the cursor moved, or another pane is shown. */
  readonly moved = settled(30, () => void this.encode());

  constructor(
    private readonly document: Document,
    private readonly editor: Editor,
    private readonly language: Language,
    private readonly tabs: Tabs,
    private readonly encoding: EncodingPane,
    private readonly flow: FlowPane,
  ) {}

  /** Called when there is a new analysis, or another pane is shown. */
  changed(): void {
    this.moved();
    void this.graph();
  }

  private async encode(): Promise<void> {
    const { document } = this;
    if (this.tabs.shown.value !== "encoding" || !document.isCurrent) return;
    const instruction = document.instructionAt(this.editor.cursor);
    if (instruction === undefined) {
      if (this.encoded !== undefined && (document.analysis.value?.instructions.length ?? 0) > this.encoded.index) return;
      this.encoded = undefined;
      return this.encoding.show(undefined);
    }
    if (instruction.index === this.encoded?.index && this.encoded.text === document.known) return;
    this.encoded = { index: instruction.index, text: document.known };
    try {
      this.encoding.show(await this.language.ask("encoding", { index: instruction.index }));
    } catch (error) {
      say(message(error));
    }
  }

  private async graph(): Promise<void> {
    const found = this.document.analysis.value;
    if (this.tabs.shown.value !== "flow" || found === undefined || this.drawn === this.document.known) return;
    this.drawn = this.document.known;
    if (!found.ok) return this.flow.fail("The graph follows when the program assembles.");
    try {
      this.flow.show(await this.language.ask("flow", {}));
    } catch (error) {
      this.flow.fail(message(error));
    }
  }
}
