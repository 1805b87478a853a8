// Picture files that become textures of the program.

import { say } from "../app/messages.ts";
import type { Editor } from "../editor/editor.ts";
import { asTexture } from "../files/import.ts";
import { message } from "../app/dom.ts";
import { whichUnit } from "../panes/whichunit.ts";
import type { Document, Language } from "./document.ts";

export class TextureFiles {
  constructor(
    private readonly document: Document,
    private readonly editor: Editor,
    private readonly language: Language,
    /** Binds a texture to a unit of a shader; `undefined` in assembly. */
    private readonly toShader: (unit: number, what: string) => Promise<boolean> | undefined,
    /** Returns the name of the sampler of a unit, in a shader. */
    private readonly sampler: (unit: number) => string | undefined,
  ) {}

  /** Binds the text after `TEXTURE tex[n] =` to a unit. */
  async bind(unit: number, what: string): Promise<boolean> {
    const bound = this.toShader(unit, what);
    if (bound !== undefined) return bound;
    try {
      await this.document.current();
      this.editor.apply(await this.language.ask("editTexture", { unit, what }));
      return true;
    } catch (error) {
      say(message(error));
      return false;
    } finally {
      void this.document.now();
    }
  }

  /** Takes a picture for the unit onto which it was dropped, else for the texture that needs it, else for the one that the user chooses. */
  async take(file: File, unit?: number): Promise<void> {
    const taken = await asTexture(file.name, new Uint8Array(await file.arrayBuffer()));
    await this.document.current();
    const bound = this.document.analysis.value?.textures ?? [];
    const waits = unit === undefined && bound.some((texture) => texture.file === taken.name);
    const to = unit ?? this.meant(file.name) ?? (waits ? 0 : bound.length > 1 ? await whichUnit(file.name, bound, this.sampler) : (bound[0]?.unit ?? 0));
    if (to === undefined) return;
    this.document.files = [...this.document.files.filter((other) => other.name !== taken.name), taken];
    if (waits) {
      await this.document.now();
      return;
    }
    // The language worker gets the file first.
    await this.document.now();
    if (await this.bind(to, `file "${taken.name}" linear wrap`)) say(`${file.name} is the texture of tex[${to}]`);
  }

  /** Returns the unit that a file name mentions (`tex3.png`), else the only one that the program reads without a texture. */
  private meant(name: string): number | undefined {
    const named = /tex(?:ture)?[ _-]?(\d{1,2})/i.exec(name)?.[1];
    if (named !== undefined && Number(named) < 16) return Number(named);
    const made = (this.document.analysis.value?.textures ?? []).filter((one) => one.made_up);
    return made.length === 1 ? made[0]?.unit : undefined;
  }
}
