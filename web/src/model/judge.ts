// The evaluation of `EXPECT` directives in a separate worker.

import { patience } from "../app/patience.ts";
import { Client } from "../machine/client.ts";
import { instructions } from "../machine/limit.ts";
import { isScene } from "../scene/kind.ts";
import { sourceRequest, type Judged, type Source } from "../machine/protocol.ts";

/** Milliseconds after which a picture is abandoned. */
const PATIENCE = 8_000;

export class Judge {
  private worker: Client | undefined;
  private sceneWorker: Client | undefined;
  private round = 0;

  constructor(
    private readonly module: Promise<WebAssembly.Module>,
    /** The module that draws scenes, which is loaded on first use. */
    private readonly scenes: () => Promise<WebAssembly.Module>,
  ) {}

  /**
   * Returns the verdicts on a program; `undefined` if there is no picture, or if another program was judged meanwhile.
   */
  async judge(source: Source): Promise<Judged[] | undefined> {
    const mine = ++this.round;
    const scene = isScene(source.text);
    const client = scene ? (this.sceneWorker ??= new Client(this.scenes())) : (this.worker ??= new Client(this.module));
    if (client.pending > 0) client.restart("another program came");
    const timer = setTimeout(() => client.restart("no picture"), patience(PATIENCE));
    try {
      await client.ask(scene ? "loadScene" : "load", sourceRequest(source), source.files.map((file) => file.bytes));
      const judged = await (scene ? client.ask("expectScene", {}) : client.ask("expect", { limit: instructions.value }));
      return mine === this.round ? judged : undefined;
    } catch {
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  }
}
