import type { EdgeLimits } from "./config.ts";
import { ProgressMeter, type Timers } from "#kernel/timers.ts";

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
    if (!this.takes(nowMs, bytesTaken)) return "destroy";
    if (bytesSent === null) {
      this.uploadMeter.stop();
      return "fine";
    }
    const { bodyTimeoutMs, bodyWindowMs, bodyBytesMin } = this.limits;
    const isFlowing = this.uploadMeter.isMoving(bytesSent, nowMs, bodyWindowMs, bodyBytesMin);
    return isFlowing && nowMs - this.sinceMs <= bodyTimeoutMs ? "fine" : "refuse";
  }

  /** The last answer is on its way, for as long as it is taken; then what remains is to wait for the other side to close. */
  closing(nowMs: number, bytesTaken: number | null): Verdict {
    if (bytesTaken === null) return this.lingering(nowMs, this.limits.lingerMs);
    this.sinceMs = nowMs;
    return this.takes(nowMs, bytesTaken) ? "fine" : "destroy";
  }

  /** Without a byte either way. */
  lingering(nowMs: number, limitMs: number): Verdict {
    return nowMs - this.sinceMs > limitMs ? "destroy" : "fine";
  }

  /** Whether a reader, where there is something for it, takes it. */
  private takes(nowMs: number, bytesTaken: number | null): boolean {
    const { progressWindowMs, progressBytesMin } = this.limits;
    if (bytesTaken !== null) return this.readerMeter.isMoving(bytesTaken, nowMs, progressWindowMs, progressBytesMin);
    this.readerMeter.stop();
    return true;
  }
}
