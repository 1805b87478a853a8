// The stepping session: the selected pixel of the picture, and its recording, which is updated when the picture
// changes.

import { settled } from "../app/dom.ts";
import type { Signal } from "../app/signal.ts";
import type { View } from "../machine/pool.ts";
import type { Source } from "../machine/protocol.ts";
import type { Stepper } from "../step/stepper.ts";

/** The drawn picture. */
export interface Drawn {
  /** The program that is drawn. */
  readonly program: Source | undefined;
  /** The view of the shown picture, or the view that would be shown if it could be drawn. */
  readonly wanted: View | undefined;
  /** Waits until no drawing is pending. */
  settled(): Promise<unknown>;
}

export interface SessionEvents {
  /** Called when a pixel was chosen: stops the animation and shows the pane. */
  chosen(): void;
  /**
   * Returns whether the recording follows the picture: the pane is shown, and no animation is
   * running.
   */
  follows(): boolean;
}

export class Session {
  /** Records again after the picture changed. */
  readonly again = settled(80, () => this.refresh());

  constructor(
    /** The selected pixel; y counts upward. */
    readonly pixel: Signal<[number, number] | undefined>,
    private readonly drawn: Drawn,
    private readonly stepper: Stepper,
    private readonly events: SessionEvents,
  ) {}

  /** Records a pixel of the shown picture. */
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
    // A pending recording of this picture is not restarted: a caller that waits for it would wait in vain.
    const { recording } = this.stepper;
    const known = recording ?? this.stepper.run.value;
    if (known?.source === program && sameRun(known.view, wanted)) return;
    const [width, height] = wanted.size;
    if (pixel[0] >= width || pixel[1] >= height) this.clear();
    else void this.stepper.record(program, wanted, pixel, recording?.position ?? this.stepper.moment.value?.position ?? 0);
  }
}

/** Returns whether pixels run alike in two views, regardless of their display transforms. */
const sameRun = (a: View, b: View): boolean =>
  a === b || (a.size.join() === b.size.join() && a.time === b.time && a.frame === b.frame && a.live.every(({ bytes }, n) => bytes === b.live[n]?.bytes) && JSON.stringify(a.mouse) === JSON.stringify(b.mouse) && JSON.stringify([...a.constants]) === JSON.stringify([...b.constants]));
