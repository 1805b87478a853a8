// Thumbnails of all targets of a picture, to choose one.

import { byId, h, settled, update } from "../app/dom.ts";
import type { Pictures } from "../gpu/pictures.ts";
import { DEPTH, TARGET_NAMES } from "../machine/protocol.ts";
import type { Transport } from "./transport.ts";

/** Side of a thumbnail in pixels. */
const SIDE = 56;

export class Thumbnails {
  private readonly root = h("div", { class: "thumbnails", role: "group", "aria-label": "Render targets", hidden: true });
  private readonly canvases = new Map<number, HTMLCanvasElement>();
  private targets: number[] = [];
  private readonly soon = settled(150, () => void this.draw());

  constructor(
    private readonly pictures: Pictures,
    private readonly transport: Transport,
  ) {
    byId("stage", HTMLDivElement).append(this.root);
    transport.target.watch(() => this.list());
    transport.look.watch(() => this.soon());
  }

  /** Sets the available targets. */
  offer(targets: readonly boolean[], depth: boolean): void {
    const there = [...targets.slice(0, 4), depth];
    this.targets = TARGET_NAMES.flatMap((_, n) => (there[n] === true ? [n] : []));
    this.root.hidden = this.targets.length < 2;
    this.list();
  }

  /** Called when there is a new picture. */
  changed(): void {
    if (!this.root.hidden) this.soon();
  }

  private list(): void {
    update(
      this.root,
      ...this.targets.map((target) => {
        const name = target === DEPTH ? "Depth" : `Target ${TARGET_NAMES[target] ?? ""}`;
        return h(
          "button",
          {
            type: "button",
            "data-key": String(target),
            title: name,
            "aria-label": name,
            "aria-pressed": String(this.transport.target.value === target),
            onclick: () => (this.transport.target.value = target),
          },
          this.canvas(target),
          h("span", { "aria-hidden": "true" }, target === DEPTH ? "z" : (TARGET_NAMES[target] ?? "")),
        );
      }),
    );
  }

  private canvas(target: number): HTMLCanvasElement {
    const there = this.canvases.get(target) ?? h("canvas", { width: SIDE, height: SIDE, "data-keep": "" });
    this.canvases.set(target, there);
    return there;
  }

  private async draw(): Promise<void> {
    if (this.root.hidden) return;
    const look = this.transport.look.value;
    for (const target of this.targets) {
      const image = await this.pictures.show(target, look).catch(() => undefined);
      if (image === undefined) return;
      const whole = new OffscreenCanvas(image.width, image.height);
      whole.getContext("2d")?.putImageData(image, 0, 0);
      const canvas = this.canvas(target);
      const context = canvas.getContext("2d");
      const scale = Math.min(SIDE / image.width, SIDE / image.height);
      canvas.width = Math.max(Math.round(image.width * scale), 1);
      canvas.height = Math.max(Math.round(image.height * scale), 1);
      context?.drawImage(whole, 0, 0, canvas.width, canvas.height);
    }
  }
}
