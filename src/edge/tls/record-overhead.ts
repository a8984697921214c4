import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { Checked, Timers } from "#kernel/timers.ts";

/** The largest cost of a byte of content in a separate record, without padding (RFC 8446 §5.2, RFC 5246 §6.2.3). Bytes. */
const BYTES_PER_BYTE = 32;
/** Allowed between two checks. More than a record and one read, which may wait while the connection is paused. Bytes. */
const VAIN_BYTES_MAX = 131_072;

/**
 * Ends a TLS connection of Node.js that receives many bytes with almost no content: a client that changes keys over and
 * over makes work for the thread (RFC 8446 §4.6.3), and Node.js reports none of it. The epoll loop counts such records
 * (ADR 0032); here half a second may pass.
 */
export class RecordOverhead implements Checked {
  private readonly below: Socket;
  private readonly above: TLSSocket;
  private received: number;
  private said: number;

  /** `above` reads from `below`. */
  constructor(below: Socket, above: TLSSocket, timers: Timers) {
    this.below = below;
    this.above = above;
    this.received = below.bytesRead;
    this.said = above.bytesRead;
    timers.add(this);
    above.once("close", () => timers.remove(this));
  }

  check(): void {
    const { bytesRead: received } = this.below;
    const { bytesRead: said } = this.above;
    if (received - this.received > VAIN_BYTES_MAX + (said - this.said) * BYTES_PER_BYTE) this.above.destroy();
    this.received = received;
    this.said = said;
  }
}
