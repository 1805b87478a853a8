// The session: which pixel of the picture is stepped through, and its recording, kept in step with the picture.

import { settled } from "../app/dom.ts";
import type { Signal } from "../app/signal.ts";
import type { View } from "../machine/pool.ts";
import type { Source } from "../machine/protocol.ts";
import type { Stepper } from "../step/stepper.ts";

/** What is drawn. */
export interface Drawn {
  /** The program that is drawn. */
  readonly program: Source | undefined;
  /** The picture that is shown, or what it would be if it could be drawn. */
  readonly wanted: View | undefined;
  /** Waits until no picture is under way. */
  settled(): Promise<unknown>;
}

export interface SessionEvents {
  /** A pixel was chosen: the picture stands still, the pane is shown. */
  chosen(): void;
  /** Whether the recording follows the picture: the pane is shown, nothing moves. */
  follows(): boolean;
}

export class Session {
  /** The picture changed: what is recorded of the old one does not fit it. */
  readonly again = settled(80, () => this.refresh());

  constructor(
    /** The pixel that is stepped through; y counts upward. */
    readonly pixel: Signal<[number, number] | undefined>,
    private readonly drawn: Drawn,
    private readonly stepper: Stepper,
    private readonly events: SessionEvents,
  ) {}

  /** Records a pixel of the picture that is shown. */
  async stepThrough(pixel: [number, number], position = 0): Promise<void> {
    this.pixel.value = pixel;
    this.events.chosen();
    await this.drawn.settled();
    const { program, wanted } = this.drawn;
    if (program === undefined || wanted === undefined) return;
    await this.stepper.record(program, wanted, pixel, position);
  }

  /** Records the same pixel with another limit. */
  async recordTo(limit: number): Promise<void> {
    this.stepper.limit.value = limit;
    const pixel = this.pixel.value;
    if (pixel !== undefined) await this.stepThrough(pixel, this.stepper.moment.value?.position ?? 0);
  }

  clear(): void {
    this.pixel.value = undefined;
    this.stepper.clear();
  }

  private refresh(): void {
    const pixel = this.pixel.value;
    const { program, wanted } = this.drawn;
    if (pixel === undefined || !this.events.follows() || program === undefined || wanted === undefined) return;
    // A recording of this picture that is under way is not begun anew: who waits for it would wait in vain.
    const { recording } = this.stepper;
    const known = recording ?? this.stepper.run.value;
    if (known?.source === program && sameRun(known.view, wanted)) return;
    const [width, height] = wanted.size;
    if (pixel[0] >= width || pixel[1] >= height) this.clear();
    else void this.stepper.record(program, wanted, pixel, recording?.position ?? this.stepper.moment.value?.position ?? 0);
  }
}

/** Whether pixels run alike in two views: how they are shown makes no difference. */
const sameRun = (a: View, b: View): boolean =>
  a === b || (a.size.join() === b.size.join() && a.time === b.time && a.frame === b.frame && JSON.stringify(a.mouse) === JSON.stringify(b.mouse) && JSON.stringify([...a.constants]) === JSON.stringify([...b.constants]));
