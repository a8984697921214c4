import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { Checked, Timers } from "#kernel/timers.ts";

/** A byte of content in a record of its own takes so many at the most, padding left out (RFC 8446 §5.2, RFC 5246 §6.2.3). */
const BYTES_PER_BYTE = 32;
/** Between two checks. More than a record and one read, of which nothing is known while the connection is paused. */
const VAIN_BYTES_MAX = 131_072;

/**
 * Ends a connection of Node's TLS on which much comes and next to nothing is said: who changes keys over and over makes work
 * for the thread (RFC 8446 §4.6.3), and Node tells of none of it. Our own loop counts such records (ADR 0032); here half a second may pass.
 */
export class VainBytes implements Checked {
  private readonly below: Socket;
  private readonly above: TLSSocket;
  private received: number;
  private said: number;

  /** `below` is what `above` reads from. */
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
