import type { EdgeLimits } from "./config.ts";
import { ProgressMeter, type Timers } from "./timers.ts";

/** What becomes of a connection that waited: an answer and the end, the end in order, or the end at once. */
export type Verdict = "fine" | "refuse" | "close" | "destroy";

/** How long a visitor's connection may wait for what (http-edge.md, "Slow attacks"). */
export class ClientDeadlines {
  private readonly limits: EdgeLimits;
  private readonly timers: Timers;
  private readonly uploadMeter = new ProgressMeter();
  private readonly readerMeter = new ProgressMeter();
  private sinceMs: number;

  constructor(limits: EdgeLimits, timers: Timers) {
    this.limits = limits;
    this.timers = timers;
    this.sinceMs = timers.nowMs;
  }

  /** Something new is waited for. */
  restart(): void {
    this.sinceMs = this.timers.nowMs;
    this.uploadMeter.stop();
    this.readerMeter.stop();
  }

  /** Between requests. Who sent nothing at all needs no answer. */
  awaiting(nowMs: number, isMidHead: boolean, hasServed: boolean): Verdict {
    const waitedMs = nowMs - this.sinceMs;
    if (isMidHead) return waitedMs > this.limits.headTimeoutMs ? "refuse" : "fine";
    return waitedMs > (hasServed ? this.limits.idleTimeoutMs : this.limits.headTimeoutMs) ? "close" : "fine";
  }

  /** Senders and readers who hold a place without moving lose it. Null where nothing has to move. */
  exchanging(nowMs: number, bytesTaken: number | null, bytesSent: number | null): Verdict {
    if (!this.moves(this.readerMeter, bytesTaken, nowMs)) return "destroy";
    return this.moves(this.uploadMeter, bytesSent, nowMs) ? "fine" : "refuse";
  }

  /** Upgraded connections, and those that only wait for the other side to close. */
  lingering(nowMs: number, limitMs: number): Verdict {
    return nowMs - this.sinceMs > limitMs ? "destroy" : "fine";
  }

  private moves(meter: ProgressMeter, total: number | null, nowMs: number): boolean {
    if (total !== null) return meter.isMoving(total, nowMs, this.limits.progressWindowMs, this.limits.progressBytesMin);
    meter.stop();
    return true;
  }
}
