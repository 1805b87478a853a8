// Requests about the text: those about a scene go to the module that has the virtual card.

import type { Answers, Ask, RequestName } from "../machine/protocol.ts";
import type { Language } from "../model/document.ts";
import { isScene } from "./kind.ts";

/** Answers about scenes, where the services of the editor know programs only. */
const NOTHING: Partial<{ [K in RequestName]: Answers[K] }> = { hover: null, complete: [], definition: null, references: [], renamable: null };

/** Requests that change or show one program. */
const OF_PROGRAMS: ReadonlySet<RequestName> = new Set(["rename", "format", "fixAll", "encoding", "editField", "editConstant", "editInt", "editTexture", "flow", "write"] as const);

/** Length of a text above which the words of a scene have no colours. */
const MOST_COLOURED = 100_000;

export class SceneLanguage implements Language {
  private scene = false;

  constructor(
    private readonly programs: Language,
    /** The module with the virtual card, which is loaded on first use. */
    private readonly scenes: () => Language,
  ) {}

  async ask<K extends RequestName>(what: K, request: Ask<K>, attached: readonly Uint8Array[] = []): Promise<Answers[K]> {
    if (what === "analyse") {
      const source = request as unknown as Ask<"analyse">;
      this.scene = isScene(source.text);
      if (this.scene) {
        // The words of the languages in a scene are those of programs; this is for their colours alone.
        if (source.text.length < MOST_COLOURED) void this.programs.ask("analyse", source, attached).catch(() => {});
        return (await this.scenes().ask("analyseScene", source, attached)) as Answers[K];
      }
    } else if (this.scene) {
      const nothing = NOTHING[what];
      if (nothing !== undefined) return nothing as Answers[K];
      if (OF_PROGRAMS.has(what)) throw new Error("this is for programs; a scene has several");
    }
    return this.programs.ask(what, request, attached);
  }
}
