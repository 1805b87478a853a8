// Edits and navigation that the libraries provide: format, fix all, rename, definition, uses.

import type { Extension } from "@codemirror/state";
import { keymap } from "@codemirror/view";

import { message } from "../app/dom.ts";
import { say } from "../app/messages.ts";
import type { Document, Language } from "../model/document.ts";
import type { Editor } from "./editor.ts";

export class Refactor {
  constructor(
    private readonly document: Pick<Document, "current">,
    private readonly language: Language,
    private readonly editor: () => Editor,
    /** Asks for a new name. */
    private readonly ask: (name: string) => Promise<string | undefined>,
  ) {}

  format(): Promise<void> {
    return this.change("The program is formatted as it should be", () => this.language.ask("format", {}));
  }

  fixAll(): Promise<void> {
    return this.change("There is nothing that can be fixed safely", () => this.language.ask("fixAll", {}));
  }

  async rename(): Promise<void> {
    await this.doing(async () => {
      const at = this.editor().cursor;
      const found = await this.language.ask("renamable", { at });
      if (found === null) return say("Only labels and names that the program defines can be renamed");
      const name = await this.ask(found.name);
      if (name === undefined || name === found.name) return;
      this.editor().apply(await this.language.ask("rename", { at, name }));
    });
  }

  async definition(): Promise<void> {
    await this.doing(async () => {
      const place = await this.language.ask("definition", { at: this.editor().cursor });
      if (place === null) say("Nothing that is defined in the program stands here");
      else this.editor().goTo(place.from);
    });
  }

  /** Moves from one use to the next. */
  async references(): Promise<void> {
    await this.doing(async () => {
      const editor = this.editor();
      const places = await this.language.ask("references", { at: editor.cursor });
      if (places.length === 0) return say("Nothing that is defined in the program stands here");
      const next = places.findIndex((place) => place.from > editor.cursor);
      const to = places[Math.max(next, 0)] ?? places[0];
      if (to !== undefined) editor.goTo(to.from);
      say(`Place ${Math.max(next, 0) + 1} of ${places.length}`);
    });
  }

  keys(): Extension {
    const key = (name: string, run: () => Promise<void>) => ({
      key: name,
      run: () => {
        void run();
        return true;
      },
    });
    return keymap.of([
      key("Shift-Alt-f", () => this.format()),
      key("F2", () => this.rename()),
      key("F12", () => this.definition()),
      key("Shift-F12", () => this.references()),
    ]);
  }

  private async change(nothing: string, ask: () => Promise<readonly { from: number; to: number; text: string }[]>): Promise<void> {
    await this.doing(async () => {
      const edits = await ask();
      if (edits.length === 0) say(nothing);
      else this.editor().apply(edits);
    });
  }

  private async doing(run: () => Promise<void>): Promise<void> {
    try {
      await this.document.current();
      await run();
    } catch (error) {
      say(message(error));
    }
  }
}
