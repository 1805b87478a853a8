// Opened or dropped files: programs of any format, pictures, and texture files that a program needs.

import { message } from "../app/dom.ts";
import { say } from "../app/messages.ts";
import type { Source } from "../machine/protocol.ts";
import type { Language } from "../model/document.ts";
import type { TextureFiles } from "../model/textures.ts";
import { pictureKind } from "./import.ts";
import { Programs } from "./programs.ts";

export class Files {
  readonly programs = new Programs();

  constructor(
    private readonly language: Language,
    /** The module that compiles GLSL, which is loaded where it is needed. */
    private readonly compiler: () => Language,
    private readonly textures: TextureFiles,
    private readonly open: (source: Source) => void,
    /** Opens a shader in GLSL. */
    private readonly openShader: (name: string, text: string) => void,
    /** Takes a file that the open scene names; returns whether it is one. */
    private readonly ofScene: (file: File) => Promise<boolean>,
  ) {}

  async take(files: readonly File[], unit?: number): Promise<void> {
    for (const file of files) {
      try {
        const bytes = new Uint8Array(await file.arrayBuffer());
        if (unit === undefined && (await this.ofScene(file))) continue;
        if (bytes.length === 0) say(`${file.name} is empty`);
        else if (pictureKind(bytes) !== undefined) await this.textures.take(file, unit);
        else await this.program(file.name, bytes);
      } catch (error) {
        say(`${file.name}: ${message(error)}`);
      }
    }
  }

  /** Opens a program of a file; if there are several, another one can be chosen. */
  private async program(file: string, bytes: Uint8Array, pick = 0): Promise<void> {
    const what = { name: file, length: bytes.length, pick };
    let opened = await this.language.ask("open", what, [bytes]);
    if (opened.names.length === 0) {
      if (opened.format === "GLSL") {
        this.programs.hide();
        return this.openShader(stem(file), new TextDecoder().decode(bytes));
      }
      say(`${file}: ${opened.format} …`);
      opened = await this.compiler().ask("open", what, [bytes]);
    }
    const { format, names, text } = opened;
    this.open({ name: names[pick] ?? file, text, files: [] });
    say(names.length === 1 ? `${file}: ${format}` : `${file}: ${format}, program ${pick + 1} of ${names.length}`);
    this.programs.show(names, pick, (other) => void this.program(file, bytes, other).catch((error: unknown) => say(message(error))));
  }
}

/** Returns the name of a file without its ending. */
const stem = (name: string): string => name.replace(/\.[^.]*$/, "");
