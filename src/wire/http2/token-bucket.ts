/** Allows a burst of so many, and so many more per second. */
export class TokenBucket {
  private readonly max: number;
  private readonly perMs: number;
  private left: number;
  private sinceMs: number;

  constructor(max: number, perSecond: number, nowMs: number) {
    this.max = max;
    this.perMs = perSecond / 1000;
    this.left = max;
    this.sinceMs = nowMs;
  }

  /** Returns false if none is left. */
  take(nowMs: number): boolean {
    this.left = Math.min(this.max, this.left + (nowMs - this.sinceMs) * this.perMs);
    this.sinceMs = nowMs;
    return --this.left >= 0;
  }
}
