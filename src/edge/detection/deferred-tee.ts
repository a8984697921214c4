import { afterSends, type DeferredTask } from "#kernel/process/tick-queue.ts";
import type { BodyTap } from "./body-tee.ts";

export interface DeferredTeeOptions {
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
export class DeferredTee implements DeferredTask {
  private readonly options: DeferredTeeOptions;
  private hasBegun = false;
  private tap: BodyTap | null = null;
  /** Of the pieces that wait; null where none does. */
  private buffer: Uint8Array | null = null;
  /** The last of them. */
  private start = 0;
  private end = 0;
  /** Begin and end of each before it: most bodies have none. */
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

  private copyTo(tap: BodyTap): void {
    const { buffer, earlier, isOver } = this;
    if (buffer === null) return isOver ? tap.end() : undefined;
    for (let at = 0; earlier !== null && at < earlier.length; at += 2) tap.chunk(buffer, earlier[at] as number, earlier[at + 1] as number);
    if (isOver) tap.last(buffer, this.start, this.end);
    else tap.chunk(buffer, this.start, this.end);
  }
}
