// Textures that the browser gives: keys, a camera, a video. A camera is asked for on a click alone.

import { Signal } from "../app/signal.ts";
import type { LiveUnit } from "../machine/protocol.ts";

export type HostSource = Exclude<LiveUnit["source"], "previous">;

/** Width and height of the texture of keys. */
const KEYS: [number, number] = [256, 3];
/** The longer side of pictures of cameras and videos. */
const LONGEST = 512;

interface Texels {
  size: [number, number];
  bytes: Uint8Array | undefined;
}

const NONE: Texels = { size: [1, 1], bytes: undefined };

/** Moving pictures: a camera, or a video. */
class Moving {
  private readonly video = document.createElement("video");
  private readonly canvas = new OffscreenCanvas(1, 1);
  /** What is playing; empty if nothing is. */
  what = "";

  constructor() {
    Object.assign(this.video, { muted: true, loop: true, playsInline: true });
  }

  async play(source: MediaStream | File, what: string): Promise<void> {
    this.stop();
    if (source instanceof File) this.video.src = URL.createObjectURL(source);
    else this.video.srcObject = source;
    await this.video.play();
    this.what = what;
  }

  stop(): void {
    if (this.video.srcObject instanceof MediaStream) for (const track of this.video.srcObject.getTracks()) track.stop();
    if (this.video.src !== "") URL.revokeObjectURL(this.video.src);
    this.video.srcObject = null;
    this.video.removeAttribute("src");
    this.what = "";
  }

  /** Returns the current picture, the lowest row first, as textures of files have it. */
  texels(): Texels {
    const { videoWidth, videoHeight } = this.video;
    if (this.what === "" || videoWidth === 0) return NONE;
    const scale = Math.min(1, LONGEST / Math.max(videoWidth, videoHeight));
    const [width, height] = [Math.max(Math.round(videoWidth * scale), 1), Math.max(Math.round(videoHeight * scale), 1)];
    if (this.canvas.width !== width || this.canvas.height !== height) [this.canvas.width, this.canvas.height] = [width, height];
    const context = this.canvas.getContext("2d", { willReadFrequently: true });
    if (context === null) return NONE;
    context.setTransform(1, 0, 0, -1, 0, height);
    context.drawImage(this.video, 0, 0, width, height);
    return { size: [width, height], bytes: new Uint8Array(context.getImageData(0, 0, width, height).data.buffer) };
  }
}

export class HostTextures {
  /** Called when a camera or a video began or ended. */
  readonly changed = new Signal(0);
  private used: ReadonlySet<string> = new Set();
  private readonly camera = new Moving();
  private readonly video = new Moving();
  private readonly down = new Set<number>();
  private readonly pressed = new Set<number>();
  private readonly toggled = new Set<number>();

  /** Called with what the open program reads. A camera that it does not read is turned off. */
  use(sources: ReadonlySet<string>): void {
    this.used = sources;
    if (!sources.has("camera") && this.camera.what !== "") this.stopCamera();
    if (!sources.has("keyboard")) for (const keys of [this.down, this.pressed, this.toggled]) keys.clear();
  }

  /** Whether the program reads keys. */
  get takesKeys(): boolean {
    return this.used.has("keyboard");
  }

  /** What is playing. */
  playing(source: "camera" | "video"): string {
    return this[source].what;
  }

  /** Asks for the camera. Rejects if there is none, or it is not allowed. */
  async startCamera(): Promise<void> {
    const { mediaDevices } = navigator as { mediaDevices?: MediaDevices };
    if (mediaDevices === undefined) throw new Error("this browser gives no camera here: it takes a page of https, or of this machine");
    const stream = await mediaDevices.getUserMedia({ video: { width: { ideal: LONGEST } } });
    await this.camera.play(stream, stream.getVideoTracks()[0]?.label ?? "camera");
    this.changed.value++;
  }

  stopCamera(): void {
    this.camera.stop();
    this.changed.value++;
  }

  async playVideo(file: File): Promise<void> {
    try {
      await this.video.play(file, file.name);
    } catch {
      this.video.stop();
      throw new Error(`${file.name}: this browser cannot play it`);
    } finally {
      this.changed.value++;
    }
  }

  /** Takes a key that went down or up, by its `keyCode`, as ShaderToy numbers keys. */
  key(code: number, isDown: boolean): void {
    if (code < 0 || code >= KEYS[0]) return;
    if (!isDown) return void this.down.delete(code);
    if (this.down.has(code)) return;
    this.down.add(code);
    this.pressed.add(code);
    if (!this.toggled.delete(code)) this.toggled.add(code);
  }

  /** Called when no key is down any more, because the picture lost the focus. */
  releaseKeys(): void {
    this.down.clear();
  }

  /** Called when a picture follows another. */
  advanced(): void {
    this.pressed.clear();
  }

  /** Returns the texels of a source. */
  texels(source: HostSource): Texels {
    if (source !== "keyboard") return this[source].texels();
    const [width, height] = KEYS;
    const bytes = new Uint8Array(width * height * 4);
    [this.down, this.pressed, this.toggled].forEach((keys, row) => {
      for (const code of keys) bytes[(row * width + code) * 4] = 255;
    });
    return { size: KEYS, bytes };
  }
}

/** Gives keys to programs that read them: while the picture has the focus and plays. Escape and Tab stay the page's. */
export function takeKeys(frame: HTMLElement, host: HostTextures, playing: () => boolean): void {
  const take = (event: KeyboardEvent): void => {
    if (!host.takesKeys || !playing() || event.ctrlKey || event.metaKey || event.altKey || event.key === "Tab" || event.key === "Escape") return;
    // ShaderToy's programs know keys by these numbers.
    host.key(event.keyCode, event.type === "keydown");
    event.preventDefault();
    event.stopPropagation();
  };
  frame.addEventListener("keydown", take, true);
  frame.addEventListener("keyup", take, true);
  frame.addEventListener("blur", () => host.releaseKeys());
}
