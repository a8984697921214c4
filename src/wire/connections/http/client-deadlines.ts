import { ProgressMeter, type Timers } from "#kernel/timers.ts";
import { timerOf } from "./client-states.ts";

/** What becomes of a connection that waited: an answer and the end, the end in order, the end at once, or that and a line in the log. */
export type Verdict = "fine" | "refuse" | "close" | "destroy" | "stalled";

export interface ClientDeadlineLimits {
  /** From a connection's start or a head's first byte to its end. */
  readonly headTimeoutMs: number;
  /** Between two requests. */
  readonly idleTimeoutMs: number;
  /** A reader who is behind must take so many bytes in every window. */
  readonly progressWindowMs: number;
  readonly progressBytesMin: number;
  /** Request bodies must come with this many bytes in every window, and whole within the timeout. */
  readonly bodyWindowMs: number;
  readonly bodyBytesMin: number;
  readonly bodyTimeoutMs: number;
  /** Without a byte either way on an upgraded connection. */
  readonly tunnelIdleTimeoutMs: number;
  /** After an answer that ends the connection, so that it arrives before the connection is reset. */
  readonly lingerMs: number;
}

/** What a connection tells at each check. Bytes are running totals, null where nothing has to move. */
export interface Waiting {
  readonly isMidHead: boolean;
  readonly hasServed: boolean;
  /** Of answers, by the client. */
  readonly bytesTaken: number | null;
  /** Of a request's body that somebody takes, by the client. */
  readonly bytesSent: number | null;
  /** Both ways. */
  readonly bytesMoved: number;
}

/**
 * An exchange that waits for somebody else than its client ends by that one's own time: no origin's or provider's is as long.
 * Where neither side moves for so long, that time was not kept.
 */
const SILENT_EXCHANGE_MS = 7_200_000;

/** How long a client's connection may wait for what (http-edge.md, "Slow attacks"). */
export class ClientDeadlines {
  private readonly limits: ClientDeadlineLimits;
  private readonly timers: Timers;
  private readonly uploadMeter = new ProgressMeter();
  private readonly readerMeter = new ProgressMeter();
  private sinceMs: number;
  /** When something moved last in an exchange, as far as checks have seen. */
  private movedMs = 0;
  private bytesMoved = -1;

  constructor(limits: ClientDeadlineLimits, timers: Timers) {
    this.limits = limits;
    this.timers = timers;
    this.sinceMs = timers.nowMs;
  }

  /** Something new is waited for. */
  restart(): void {
    this.sinceMs = this.timers.nowMs;
    this.bytesMoved = -1;
    this.uploadMeter.stop();
    this.readerMeter.stop();
  }

  /** Of a connection in a state of `client-states.ts`. */
  judge(state: number, nowMs: number, waiting: Waiting): Verdict {
    const { bytesTaken, bytesSent } = waiting;
    switch (timerOf(state)) {
      case "request":
        return this.awaiting(nowMs, waiting.isMidHead, waiting.hasServed);
      case "exchange":
        if (this.isSilent(nowMs, waiting.bytesMoved)) return "stalled";
        return this.exchanging(nowMs, bytesTaken, bytesSent);
      case "body":
        // It has its answer.
        return this.exchanging(nowMs, bytesTaken, bytesSent ?? 0) === "fine" ? "fine" : "close";
      case "reader":
        return this.exchanging(nowMs, bytesTaken ?? 0, null);
      case "tunnel":
        return this.lingering(nowMs, this.limits.tunnelIdleTimeoutMs);
      case "linger":
        return this.closing(nowMs, bytesTaken);
      case "none":
        return "fine";
    }
  }

  /** Between requests. Who sent nothing at all needs no answer. */
  awaiting(nowMs: number, isMidHead: boolean, hasServed: boolean): Verdict {
    const waitedMs = nowMs - this.sinceMs;
    if (isMidHead) return waitedMs > this.limits.headTimeoutMs ? "refuse" : "fine";
    return waitedMs > (hasServed ? this.limits.idleTimeoutMs : this.limits.headTimeoutMs) ? "close" : "fine";
  }

  /** Senders and readers who hold a place without moving lose it. */
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

  private isSilent(nowMs: number, bytesMoved: number): boolean {
    if (bytesMoved === this.bytesMoved) return nowMs - this.movedMs > SILENT_EXCHANGE_MS;
    this.bytesMoved = bytesMoved;
    this.movedMs = nowMs;
    return false;
  }

  /** Whether a reader, where there is something for it, takes it. */
  private takes(nowMs: number, bytesTaken: number | null): boolean {
    const { progressWindowMs, progressBytesMin } = this.limits;
    if (bytesTaken !== null) return this.readerMeter.isMoving(bytesTaken, nowMs, progressWindowMs, progressBytesMin);
    this.readerMeter.stop();
    return true;
  }
}
