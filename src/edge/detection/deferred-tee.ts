import { afterSends, type DeferredTask } from "#kernel/process/tick-queue.ts";
import type { BodyCopy } from "./body-tee.ts";

export interface DeferredTeeOptions {
  /** Begins to copy the body; null if it is not wanted. Called once, just before the first copy. */
  readonly begin: () => BodyCopy | null;
  /** Gets exceptions; the body is then scanned no further. */
  readonly report: (error: unknown) => void;
}

/**
 * Delays a tee, and its copies, until the visitor has been served: in a tick, until all responses of
 * the tick have left. Elsewhere the caller must call `settle` before it reuses the buffer of a piece, or of the
 * response's head.
 */
export class DeferredTee implements DeferredTask {
  private readonly options: DeferredTeeOptions;
  private hasBegun = false;
  private tap: BodyCopy | null = null;
  /** The buffer of the waiting pieces; null if none wait. */
  private buffer: Uint8Array | null = null;
  /** The last waiting piece. */
  private start = 0;
  private end = 0;
  /** Start and end of each earlier piece: most bodies have none. */
  private earlier: number[] | null = null;
  private isOver = false;
  private isDue = false;

  constructor(options: DeferredTeeOptions) {
    this.options = options;
    this.isDue = afterSends(this);
  }

  chunk(buffer: Uint8Array, start: number, end: number): void {
    if (buffer === this.buffer) (this.earlier ??= []).push(this.start, this.end);
    else if (this.buffer !== null) this.catchUp();
    this.buffer = buffer;
    this.start = start;
    this.end = end;
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
    this.buffer = this.earlier = null;
  }

  private begin(): void {
    if (this.hasBegun) return;
    this.hasBegun = true;
    this.tap = this.options.begin();
  }

  private copyTo(tap: BodyCopy): void {
    const { buffer, earlier, isOver } = this;
    if (buffer === null) return isOver ? tap.end() : undefined;
    for (let at = 0; earlier !== null && at < earlier.length; at += 2) tap.chunk(buffer, earlier[at] as number, earlier[at + 1] as number);
    if (isOver) tap.last(buffer, this.start, this.end);
    else tap.chunk(buffer, this.start, this.end);
  }
}
