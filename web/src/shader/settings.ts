// Values of uniforms and textures of samplers, which are comments of the shader.

import { message } from "../app/dom.ts";
import { say } from "../app/messages.ts";
import { floatOf } from "../app/numbers.ts";
import type { Analysis, Bits4, Setting } from "../machine/protocol.ts";
import type { Language } from "../model/document.ts";
import type { ShaderView } from "./view.ts";

export class ShaderSettings {
  constructor(
    private readonly view: ShaderView,
    private readonly compiler: () => Language,
  ) {}

  /** Gives the uniforms of a constant its value. */
  async setConstant(analysis: Analysis | undefined, number: number, value: Bits4): Promise<void> {
    const named = analysis?.constants.find((constant) => constant.number === number)?.uniforms.filter(({ builtin }) => !builtin) ?? [];
    for (const { name, channel, channels } of named) await this.set(name, { uniform: value.slice(channel, channel + channels).map(floatOf) });
  }

  /** Binds the text after `TEXTURE tex[n] =` to the sampler of a unit. */
  async bind(unit: number, what: string): Promise<boolean> {
    const sampler = this.view.samplers[unit];
    if (sampler === undefined) {
      say(`The shader has no sampler for tex[${unit}]`);
      return false;
    }
    return this.set(sampler, { texture: what });
  }

  private async set(name: string, setting: Setting): Promise<boolean> {
    const { text } = this.view.editor;
    try {
      const edits = await this.compiler().ask("editShader", { text, name, setting });
      if (text !== this.view.editor.text) return false;
      this.view.editor.apply(edits);
      return true;
    } catch (error) {
      say(message(error));
      return false;
    }
  }
}
