// Animations as files: GIF, drawn frame by frame, and WebM, recorded from the canvas.

import { following } from "../picture/live.ts";
import type { Client } from "../machine/client.ts";
import type { Pool, View } from "../machine/pool.ts";

/** Duration of an animation in seconds. */
export const SECONDS = 4;
const FPS = 20;
/** The maximal number of pixels per frame of a GIF file. */
const MOST = 512 * 512;

/** Returns the picture from a given time on as a GIF file. */
export async function gif(pool: Pool, language: Client, view: View, progress: (share: number) => void): Promise<Uint8Array<ArrayBuffer>> {
  const [width, height] = view.size;
  if (width * height > MOST) throw new Error("a GIF file takes pictures of at most 512 x 512 pixels: choose a smaller size");
  const frames: Uint8Array[] = [];
  let { live } = view;
  for (let n = 0; n < SECONDS * FPS; n++) {
    const { pixels, left } = await pool.draw({ ...view, live, time: Math.fround(view.time + n / FPS), frame: view.frame + n });
    live = following(live, left);
    frames.push(new Uint8Array(pixels.buffer));
    progress(n / (SECONDS * FPS));
  }
  return language.ask("gif", { size: view.size, frames: frames.length, fps: FPS }, frames);
}

/** Records a canvas for some seconds as a WebM file. */
export function webm(canvas: HTMLCanvasElement): Promise<Blob> {
  const type = ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm"].find((one) => MediaRecorder.isTypeSupported(one));
  if (type === undefined) throw new Error("this browser records no WebM; a GIF file always works");
  return new Promise((resolve, reject) => {
    const stream = canvas.captureStream(30);
    const recorder = new MediaRecorder(stream, { mimeType: type, videoBitsPerSecond: 8_000_000 });
    const parts: Blob[] = [];
    recorder.ondataavailable = ({ data }) => parts.push(data);
    recorder.onerror = () => reject(new Error("the recording failed"));
    recorder.onstop = () => {
      stream.getTracks().forEach((track) => track.stop());
      resolve(new Blob(parts, { type: "video/webm" }));
    };
    recorder.start(250);
    setTimeout(() => recorder.stop(), SECONDS * 1000);
  });
}
