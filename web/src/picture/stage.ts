// The stage: the zoomed picture, and the values of the pixel under the pointer.

import { byId, h, update } from "../app/dom.ts";
import { css, exact, short } from "../app/numbers.ts";
import { Signal } from "../app/signal.ts";
import type { Picture } from "../machine/pool.ts";
import { DEPTH, type Mouse } from "../machine/protocol.ts";

export interface StageEvents {
  /** Returns the raw values of the shown picture. */
  values(target: number): Promise<Float32Array | undefined>;
  /** Called when a pixel was chosen. */
  chosen(x: number, y: number): void;
}

/** Zoom, in screen pixels per pixel, from which on values are written into pixels. */
const WRITTEN = 72;

export class Stage {
  /** The pixel under the pointer; y counts upward. */
  readonly pointed = new Signal<[number, number] | undefined>(undefined);
  private readonly root = byId("stage", HTMLDivElement);
  /** What has the focus while the picture is used with keys. */
  readonly focusable: HTMLElement;
  private readonly canvas = h("canvas", { width: 256, height: 256 });
  private readonly overlay = h("canvas", { class: "overlay" });
  private readonly heat = h("canvas", { class: "heat", hidden: true });
  private readonly layer = h("div", { class: "layer" }, this.canvas, this.heat);
  private readonly readout = h("output", { class: "readout" });
  private readonly badge = h("p", { class: "badge", hidden: true, role: "status" });
  private readonly zoomed = h("span", { class: "zoomed" });
  private picture: Picture | undefined;
  private values: Promise<Float32Array | undefined> | undefined;
  /** Screen pixels per pixel; if `undefined`, the picture fits the stage. */
  private zoom: number | undefined;
  /** The pixel in the middle, counted from the upper left. */
  private centre: [number, number] = [0, 0];

  /** Number of overlay drawings. A drawing stops if another one began while it waited for values. */
  private overlays = 0;
  /** The pointer as programs receive it; `null` while it is outside. */
  readonly mouse = new Signal<Mouse | null>(null);

  constructor(
    private readonly events: StageEvents,
    /** The pixel that is stepped through. */
    readonly chosen: Signal<[number, number] | undefined>,
  ) {
    const buttons = h(
      "div",
      { class: "zoom", role: "group", "aria-label": "Zoom" },
      h("button", { type: "button", title: "Smaller (-)", "aria-label": "Zoom out", onclick: () => this.zoomBy(0.5) }, "−"),
      h("button", { type: "button", class: "fit", title: "Fit (0)", onclick: () => this.fit() }, this.zoomed),
      h("button", { type: "button", title: "Larger (+)", "aria-label": "Zoom in", onclick: () => this.zoomBy(2) }, "+"),
      h("button", { type: "button", class: "full", title: "Full screen (f)", "aria-label": "Full screen", onclick: () => this.fullScreen() }, "⤢"),
    );
    const frame = h(
      "div",
      {
        class: "frame",
        tabindex: "0",
        role: "application",
        "aria-label": "Picture. Arrow keys move to a pixel, Enter steps through it, plus and minus zoom",
      },
      this.layer,
      this.overlay,
    );
    this.focusable = frame;
    this.root.append(frame, this.badge, buttons, this.readout);
    this.listen(frame);
    new ResizeObserver(() => this.place()).observe(frame);
    this.chosen.watch(() => this.place());
  }

  /** Shows a picture. */
  show(picture: Picture): void {
    const [width, height] = picture.view.size;
    if (this.canvas.width !== width || this.canvas.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
      this.centre = [width / 2, height / 2];
      this.zoom = undefined;
    }
    const context = this.canvas.getContext("2d");
    if (picture.bitmap === undefined) context?.putImageData(new ImageData(picture.pixels, width, height), 0, 0);
    else {
      if (context !== null) context.globalCompositeOperation = "copy";
      context?.drawImage(picture.bitmap, 0, 0);
      picture.bitmap.close();
    }
    this.picture = picture;
    this.values = undefined;
    this.root.classList.remove("stale");
    this.badge.hidden = true;
    this.place();
    void this.read();
  }

  /** Shows an empty picture for a program that cannot be drawn. */
  blank([width, height]: [number, number]): void {
    if (this.canvas.width === width && this.canvas.height === height && this.picture === undefined) return;
    [this.canvas.width, this.canvas.height] = [width, height];
    this.picture = undefined;
    this.values = undefined;
    this.fit();
  }

  private fullScreen(): void {
    if (document.fullscreenElement !== null) void document.exitFullscreen();
    else void this.root.requestFullscreen().catch(() => {});
  }

  /** The canvas of the picture, for recordings. */
  get picturePixels(): HTMLCanvasElement {
    return this.canvas;
  }

  /** Marks the shown picture as outdated, with the control that the reason calls for. */
  stale(why: string, control?: HTMLElement): void {
    this.root.classList.toggle("stale", true);
    this.badge.replaceChildren(why, ...(control === undefined ? [] : [control]));
    this.badge.hidden = why === "";
  }

  /** Returns the picture as a PNG file. */
  png(): Promise<Blob | null> {
    return new Promise((resolve) => this.canvas.toBlob(resolve, "image/png"));
  }

  /** Shows one number per pixel over the picture, from 0 to `most`, the lowest row first; `undefined` hides it. */
  showHeat(heat: { width: number; height: number; values: ArrayLike<number>; most: number } | undefined): void {
    this.heat.hidden = heat === undefined;
    if (heat === undefined) return;
    const { width, height, values, most } = heat;
    this.heat.width = width;
    this.heat.height = height;
    const image = new ImageData(width, height);
    const words = new Uint32Array(image.data.buffer);
    const steps = 255 / Math.max(most, 1);
    for (let y = 0; y < height; y++) {
      const row = (height - 1 - y) * width;
      for (let x = 0; x < width; x++) words[row + x] = WARM[Math.round((values[y * width + x] ?? 0) * steps)] ?? 0;
    }
    this.heat.getContext("2d")?.putImageData(image, 0, 0);
    this.place();
  }

  fit(): void {
    this.zoom = undefined;
    this.centre = [this.canvas.width / 2, this.canvas.height / 2];
    this.place();
  }

  private zoomBy(factor: number, at?: [number, number]): void {
    const old = this.scale();
    const next = Math.min(Math.max(old * factor, 0.125), 256);
    if (at !== undefined) {
      // The pixel under the pointer keeps its position.
      const before = this.pixelAt(at);
      this.zoom = next;
      this.place();
      const after = this.pixelAt(at);
      this.centre = [this.centre[0] + before[0] - after[0], this.centre[1] + before[1] - after[1]];
    } else {
      const pointed = this.pointed.value;
      if (pointed !== undefined && this.zoom === undefined) {
        this.centre = [pointed[0] + 0.5, this.canvas.height - pointed[1] - 0.5];
      }
    }
    this.zoom = next;
    this.place();
  }

  private frame(): DOMRect {
    return (this.layer.parentElement as HTMLElement).getBoundingClientRect();
  }

  private scale(): number {
    if (this.zoom !== undefined) return this.zoom;
    const { width, height } = this.frame();
    const fits = Math.min(width / this.canvas.width, height / this.canvas.height);
    // Discrete zoom steps of a quarter if the picture is smaller than the stage, so that all pixels
    // are squares of one size.
    return fits >= 1 ? Math.floor(fits * 4) / 4 : fits;
  }

  private corner(): [number, number] {
    const { width, height } = this.frame();
    const scale = this.scale();
    const [x, y] = this.zoom === undefined ? [this.canvas.width / 2, this.canvas.height / 2] : this.centre;
    return [Math.round(width / 2 - x * scale), Math.round(height / 2 - y * scale)];
  }

  /** Returns the position in the picture, from its upper left, at a position on the screen. */
  private pixelAt([clientX, clientY]: [number, number]): [number, number] {
    const frame = this.frame();
    const [left, top] = this.corner();
    const scale = this.scale();
    return [(clientX - frame.left - left) / scale, (clientY - frame.top - top) / scale];
  }

  private place(): void {
    const scale = this.scale();
    const [left, top] = this.corner();
    this.layer.style.transform = `translate(${left}px, ${top}px)`;
    for (const canvas of [this.canvas, this.heat]) {
      canvas.style.width = `${this.canvas.width * scale}px`;
      canvas.style.height = `${this.canvas.height * scale}px`;
    }
    this.layer.classList.toggle("pixelated", scale >= 2);
    this.zoomed.textContent = scale >= 1 ? `${Math.round(scale * 100) / 100}×` : `${Math.round(scale * 100)}%`;
    this.zoomed.parentElement?.setAttribute("aria-label", `${this.zoomed.textContent}, zoom to fit`);
    void this.drawOverlay();
  }

  private async drawOverlay(): Promise<void> {
    const mine = ++this.overlays;
    const written = this.scale() >= WRITTEN ? await this.raw() : undefined;
    // Pictures and positions change while values are pending; only the latest drawing continues.
    if (mine !== this.overlays) return;
    const { width, height } = this.frame();
    const ratio = devicePixelRatio || 1;
    this.overlay.width = Math.round(width * ratio);
    this.overlay.height = Math.round(height * ratio);
    const context = this.overlay.getContext("2d");
    if (context === null) return;
    context.scale(ratio, ratio);
    const scale = this.scale();
    const [left, top] = this.corner();
    const box = (pixel: [number, number] | undefined, outer: string, inner: string): void => {
      if (pixel === undefined) return;
      const size = Math.max(scale, 5);
      const x = left + (pixel[0] + 0.5) * scale - size / 2;
      const y = top + (this.canvas.height - pixel[1] - 0.5) * scale - size / 2;
      context.strokeStyle = outer;
      context.lineWidth = 3;
      context.strokeRect(x - 0.5, y - 0.5, size + 1, size + 1);
      context.strokeStyle = inner;
      context.lineWidth = 1;
      context.strokeRect(x - 0.5, y - 0.5, size + 1, size + 1);
    };
    if (written !== undefined) this.write(context, written, scale, left, top);
    box(this.pointed.value, "rgb(0 0 0 / 0.5)", "#fff");
    box(this.chosen.value, "#fff", "#d1281e");
  }

  /** Writes values into the visible pixels. */
  private write(context: CanvasRenderingContext2D, values: Float32Array, scale: number, left: number, top: number): void {
    if (this.picture === undefined) return;
    const channels = this.picture.view.target === DEPTH ? 1 : 4;
    const { width, height } = this.frame();
    const [columns, rows] = [this.canvas.width, this.canvas.height];
    const size = Math.min(scale / 7, 13);
    context.font = `${size}px ui-monospace, monospace`;
    context.textBaseline = "middle";
    for (let row = Math.max(0, Math.floor(-top / scale)); row < Math.min(rows, (height - top) / scale); row++) {
      for (let x = Math.max(0, Math.floor(-left / scale)); x < Math.min(columns, (width - left) / scale); x++) {
        const at = ((rows - 1 - row) * columns + x) * channels;
        const pixel = [...values.subarray(at, at + channels)];
        const light = channels === 1 ? (pixel[0] ?? 0) : 0.3 * (pixel[0] ?? 0) + 0.6 * (pixel[1] ?? 0) + 0.1 * (pixel[2] ?? 0);
        context.fillStyle = light > 0.5 ? "rgb(0 0 0 / 0.85)" : "rgb(255 255 255 / 0.9)";
        pixel.forEach((value, n) => {
          const y = top + row * scale + scale / 2 + (n - (pixel.length - 1) / 2) * size * 1.3;
          context.fillText(short(value).slice(0, 9), left + x * scale + scale * 0.1, y);
        });
      }
    }
  }

  private listen(frame: HTMLElement): void {
    let drag: { at: [number, number]; centre: [number, number]; moved: boolean } | undefined;
    frame.addEventListener("pointermove", (event) => {
      if (drag !== undefined && this.zoom !== undefined) {
        const [dx, dy] = [event.clientX - drag.at[0], event.clientY - drag.at[1]];
        drag.moved ||= Math.hypot(dx, dy) > 4;
        if (drag.moved) {
          this.centre = [drag.centre[0] - dx / this.zoom, drag.centre[1] - dy / this.zoom];
          this.place();
        }
      }
      this.point(this.pixelAt([event.clientX, event.clientY]));
      this.track(event);
    });
    frame.addEventListener("pointerleave", () => this.point(undefined));
    frame.addEventListener("pointerdown", (event) => {
      drag = { at: [event.clientX, event.clientY], centre: [...this.centre], moved: false };
      frame.setPointerCapture(event.pointerId);
      this.track(event);
    });
    frame.addEventListener("pointerup", (event) => {
      const clicked = drag !== undefined && !drag.moved;
      drag = undefined;
      this.track(event);
      if (!clicked) return;
      this.point(this.pixelAt([event.clientX, event.clientY]));
      this.choose();
    });
    frame.addEventListener("pointercancel", () => (drag = undefined));
    frame.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        this.zoomBy(2 ** (-event.deltaY / 240), [event.clientX, event.clientY]);
      },
      { passive: false },
    );
    frame.addEventListener("keydown", (event) => {
      const step = event.shiftKey ? 8 : 1;
      const moves: Record<string, [number, number]> = {
        ArrowLeft: [-step, 0],
        ArrowRight: [step, 0],
        ArrowUp: [0, step],
        ArrowDown: [0, -step],
      };
      const move = moves[event.key];
      if (move !== undefined) {
        const [x, y] = this.pointed.value ?? this.chosen.value ?? [this.canvas.width >> 1, this.canvas.height >> 1];
        const next: [number, number] = [
          Math.min(Math.max(x + move[0], 0), this.canvas.width - 1),
          Math.min(Math.max(y + move[1], 0), this.canvas.height - 1),
        ];
        this.set(next);
        if (this.zoom !== undefined) {
          this.centre = [next[0] + 0.5, this.canvas.height - next[1] - 0.5];
          this.place();
        }
      } else if (event.key === "Enter" || event.key === " ") this.choose();
      else if (event.key === "+" || event.key === "=") this.zoomBy(2);
      else if (event.key === "-") this.zoomBy(0.5);
      else if (event.key === "0") this.fit();
      else if (event.key === "f") this.fullScreen();
      else return;
      event.preventDefault();
    });
  }

  private track(event: PointerEvent): void {
    const [x, y] = this.pixelAt([event.clientX, event.clientY]);
    const unit = (value: number): number => Math.fround(Math.min(Math.max(value, 0), 1));
    this.mouse.value = { x: unit(x / this.canvas.width), y: unit(1 - y / this.canvas.height), pressed: event.buttons % 2 === 1 };
  }

  private choose(): void {
    const pointed = this.pointed.value;
    if (pointed === undefined) return;
    this.chosen.value = pointed;
    this.events.chosen(...pointed);
  }

  private point(place: [number, number] | undefined): void {
    const inside =
      place !== undefined && place[0] >= 0 && place[1] >= 0 && place[0] < this.canvas.width && place[1] < this.canvas.height;
    this.set(inside ? [Math.floor(place[0]), this.canvas.height - 1 - Math.floor(place[1])] : undefined);
  }

  private set(pixel: [number, number] | undefined): void {
    const old = this.pointed.value;
    if (old?.[0] === pixel?.[0] && old?.[1] === pixel?.[1]) return;
    this.pointed.value = pixel;
    void this.drawOverlay();
    void this.read();
  }

  private raw(): Promise<Float32Array | undefined> {
    const target = this.picture?.view.target ?? 0;
    return (this.values ??= this.events.values(target).catch(() => undefined));
  }

  /** Reads the value of the pixel under the pointer. */
  private async read(): Promise<void> {
    const pixel = this.pointed.value;
    if (pixel === undefined || this.picture === undefined) {
      update(this.readout);
      return;
    }
    const { picture } = this;
    const values = await this.raw();
    if (values === undefined || this.picture !== picture || this.pointed.value !== pixel) return;
    const channels = picture.view.target === DEPTH ? 1 : 4;
    const at = (pixel[1] * this.canvas.width + pixel[0]) * channels;
    const color = [...values.subarray(at, at + channels)];
    const [r = 0, g = r, b = r] = channels === 1 ? [color[0] ?? 0] : color;
    update(
      this.readout,
      h("span", { class: "swatch", style: `background: ${css([r, g, b])}` }),
      h("span", { class: "place" }, `${pixel[0]}, ${pixel[1]}`),
      ...color.map((value, n) => h("span", { title: exact(value) }, h("i", {}, channels === 1 ? "z" : "rgba"[n] ?? ""), short(value))),
    );
  }
}

/** A colour map from black over red and yellow to white, as pixels. */
const WARM = Uint32Array.from({ length: 256 }, (_, n) => {
  const part = (from: number): number => Math.round(Math.min(Math.max((n / 255 - from) * 3, 0), 1) * 255);
  return new Uint32Array(Uint8Array.of(part(0), part(1 / 3), part(2 / 3), 255).buffer)[0] ?? 0;
});
