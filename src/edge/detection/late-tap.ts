import type { BodyTap } from "./tap.ts";

/**
 * A tap that copies what passes only once the visitor's share of the work is done. The buffer of a piece has to stay as it is
 * until `settle`, which is called before whoever handed the piece over returns.
 */
export class LateTap {
  private readonly tap: BodyTap;
  private buffer: Uint8Array | null = null;
  private start = 0;
  private end = 0;

  constructor(tap: BodyTap) {
    this.tap = tap;
  }

  chunk(buffer: Uint8Array, start: number, end: number): void {
    this.settle();
    this.buffer = buffer;
    this.start = start;
    this.end = end;
  }

  settle(): void {
    const { buffer } = this;
    if (buffer === null) return;
    this.buffer = null;
    this.tap.chunk(buffer, this.start, this.end);
  }

  finish(): void {
    const { buffer } = this;
    if (buffer === null) return this.tap.end();
    this.buffer = null;
    this.tap.last(buffer, this.start, this.end);
  }

  abort(): void {
    this.settle();
    this.tap.abort();
  }
}
