import { afterSends, type LateTask } from "#wire/connections/turn-end.ts";
import type { BodyTap } from "./tap.ts";

export interface LateTapOptions {
  /** Whether the body is wanted at all, and where it goes: asked once, and as late as bodies are copied. */
  readonly begin: () => BodyTap | null;
  /** Hears what was thrown: that body is scanned no further. */
  readonly report: (error: unknown) => void;
}

/**
 * A tap that begins, and copies what passes, only once the visitor's share of the work is done: in a turn of the sockets' loop
 * that is when all answers of the turn have left. Elsewhere `settle` has to be called before the buffer of a piece, or of the
 * response's head, is used for anything else.
 */
export class LateTap implements LateTask {
  private readonly options: LateTapOptions;
  private hasBegun = false;
  private tap: BodyTap | null = null;
  /** Where the pieces that wait are: begin and end of each. */
  private buffer: Uint8Array | null = null;
  private readonly ranges: number[] = [];
  private isOver = false;
  private isDue = false;

  constructor(options: LateTapOptions) {
    this.options = options;
    this.isDue = afterSends(this);
  }

  chunk(buffer: Uint8Array, start: number, end: number): void {
    if (buffer !== this.buffer && this.buffer !== null) this.catchUp();
    this.buffer = buffer;
    this.ranges.push(start, end);
    this.isDue ||= afterSends(this);
  }

  settle(): void {
    if (!this.isDue) this.catchUp();
  }

  finish(): void {
    this.isOver = true;
    this.isDue ||= afterSends(this);
    this.settle();
  }

  abort(): void {
    this.catchUp();
    this.tap?.abort();
  }

  onAllSent(): void {
    this.isDue = false;
    this.catchUp();
  }

  private catchUp(): void {
    try {
      this.begin();
      if (this.tap !== null) this.copyTo(this.tap);
    } catch (error) {
      this.options.report(error);
      this.tap = null;
    }
    this.buffer = null;
    this.ranges.length = 0;
  }

  private begin(): void {
    if (this.hasBegun) return;
    this.hasBegun = true;
    this.tap = this.options.begin();
  }

  private copyTo(tap: BodyTap): void {
    const { buffer, ranges, isOver } = this;
    const last = ranges.length - 2;
    if (buffer !== null) {
      for (let at = 0; at <= last; at += 2) {
        const start = ranges[at] as number;
        const end = ranges[at + 1] as number;
        if (isOver && at === last) tap.last(buffer, start, end);
        else tap.chunk(buffer, start, end);
      }
    }
    if (isOver) tap.end();
  }
}
