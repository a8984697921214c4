import { ProgressMeter, type Timers } from "#kernel/timers.ts";
import { timerOf } from "./client-states.ts";

/**
 * How to treat a connection that waited: leave it, answer and end, end in order, end at once, or end at once with a line
 * in the log.
 */
export type Verdict = "fine" | "refuse" | "close" | "destroy" | "stalled";

export interface ClientDeadlineLimits {
  /** From the start of a connection, or the first byte of a head, to the end of the head. */
  readonly headTimeoutMs: number;
  /** Between two requests. */
  readonly idleTimeoutMs: number;
  /** A reader that is behind must take `progressBytesMin` in every window. */
  readonly progressWindowMs: number;
  readonly progressBytesMin: number;
  /** A request body must bring `bodyBytesMin` in every window, and be complete within the timeout. */
  readonly bodyWindowMs: number;
  readonly bodyBytesMin: number;
  readonly bodyTimeoutMs: number;
  /** Without a byte either way on an upgraded connection. */
  readonly tunnelIdleTimeoutMs: number;
  /** After a response that ends the connection, so that it arrives before the connection is reset. */
  readonly lingerMs: number;
}

/** The state of a connection at each check. Bytes are running totals, null where nothing has to move. */
export interface Waiting {
  readonly isMidHead: boolean;
  readonly hasServed: boolean;
  /** Bytes of responses that the client has taken. */
  readonly bytesTaken: number | null;
  /** Bytes of a request body that the client has sent, if the plane reads it. */
  readonly bytesSent: number | null;
  /** Bytes both ways. */
  readonly bytesMoved: number;
}

/**
 * An exchange that waits for an origin or a provider ends by that one's timeout, which is always shorter. So if neither
 * side moves for this long, such a timeout has failed.
 */
const SILENT_EXCHANGE_MS = 7_200_000;

/** How long a client's connection may wait in each state (http-edge.md, "Slow attacks"). */
export class ClientDeadlines {
  private readonly limits: ClientDeadlineLimits;
  private readonly timers: Timers;
  private readonly uploadMeter = new ProgressMeter();
  private readonly readerMeter = new ProgressMeter();
  /** When the connection began to wait for what it waits for. */
  sinceMs: number;
  /** Time of the last check that saw bytes move in an exchange. */
  private movedMs = 0;
  private bytesMoved = -1;

  constructor(limits: ClientDeadlineLimits, timers: Timers) {
    this.limits = limits;
    this.timers = timers;
    this.sinceMs = timers.nowMs;
  }

  /** Starts the time again: the connection waits for something new. */
  restart(): void {
    this.sinceMs = this.timers.nowMs;
    this.bytesMoved = -1;
    this.uploadMeter.stop();
    this.readerMeter.stop();
  }

  /** `state`: a number of `client-states.ts`. */
  judge(state: number, nowMs: number, waiting: Waiting): Verdict {
    const { bytesTaken, bytesSent } = waiting;
    switch (timerOf(state)) {
      case "request":
        return this.awaiting(nowMs, waiting.isMidHead, waiting.hasServed);
      case "exchange":
        if (this.isSilent(nowMs, waiting.bytesMoved)) return "stalled";
        return this.exchanging(nowMs, bytesTaken, bytesSent);
      case "body":
        // The client has its response, so no refusal is sent.
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

  /** Between requests. A client that sent nothing needs no response. */
  awaiting(nowMs: number, isMidHead: boolean, hasServed: boolean): Verdict {
    const waitedMs = nowMs - this.sinceMs;
    if (isMidHead) return waitedMs > this.limits.headTimeoutMs ? "refuse" : "fine";
    return waitedMs > (hasServed ? this.limits.idleTimeoutMs : this.limits.headTimeoutMs) ? "close" : "fine";
  }

  /** Ends exchanges whose sender or reader does not move. */
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

  /** The last response is sent for as long as the client takes it; afterwards the other side has `lingerMs` to close. */
  closing(nowMs: number, bytesTaken: number | null): Verdict {
    if (bytesTaken === null) return this.lingering(nowMs, this.limits.lingerMs);
    this.sinceMs = nowMs;
    return this.takes(nowMs, bytesTaken) ? "fine" : "destroy";
  }

  /** Ends connections without a byte either way. */
  lingering(nowMs: number, limitMs: number): Verdict {
    return nowMs - this.sinceMs > limitMs ? "destroy" : "fine";
  }

  private isSilent(nowMs: number, bytesMoved: number): boolean {
    if (bytesMoved === this.bytesMoved) return nowMs - this.movedMs > SILENT_EXCHANGE_MS;
    this.bytesMoved = bytesMoved;
    this.movedMs = nowMs;
    return false;
  }

  /** True if the reader takes the bytes that wait for it, or none wait. */
  private takes(nowMs: number, bytesTaken: number | null): boolean {
    const { progressWindowMs, progressBytesMin } = this.limits;
    if (bytesTaken !== null) return this.readerMeter.isMoving(bytesTaken, nowMs, progressWindowMs, progressBytesMin);
    this.readerMeter.stop();
    return true;
  }
}
