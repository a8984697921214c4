import type { Checked, Timers } from "#kernel/timers.ts";
import type { LoopSocket } from "#wire/connections/epoll/loop-socket.ts";
import type { Agreed, SecureChannel } from "#wire/connections/epoll/secure-channel.ts";
import type { TransportHandler } from "#wire/connections/transport/transport.ts";

export interface PendingEpollSocketOwner {
  /** Called with all bytes so far, until the connection is ended or made secure. */
  onHello(arrival: PendingEpollSocket, bytes: Buffer): void;
  onSecure(agreed: Agreed): void;
  /** It closed before it was secure. */
  onGone(isAmidHandshake: boolean): void;
}

const LOOKING = 0;
const SHAKING = 1;
const SECURE = 2;
const ENDING = 3;

/** A connection in the epoll loop that is not secure yet. */
export class PendingEpollSocket implements Checked, TransportHandler {
  readonly socket: LoopSocket;
  private readonly timers: Timers;
  private readonly owner: PendingEpollSocketOwner;
  private state = LOOKING;
  private bytes: Buffer | null = null;
  private channel: SecureChannel | null = null;
  /** The server name of the hello, as sent. */
  private sentName = "";
  private untilMs: number;

  constructor(socket: LoopSocket, timers: Timers, timeoutMs: number, owner: PendingEpollSocketOwner) {
    this.socket = socket;
    this.timers = timers;
    this.owner = owner;
    this.untilMs = timers.nowMs + timeoutMs;
    timers.add(this);
    socket.attach(this);
  }

  check(nowMs: number): void {
    if (nowMs > this.untilMs) this.socket.destroy();
  }

  secure(channel: SecureChannel, sentName: string, timeoutMs: number): void {
    this.state = SHAKING;
    this.channel = channel;
    this.bytes = null;
    this.sentName = sentName;
    this.untilMs = this.timers.nowMs + timeoutMs;
    this.socket.secure(channel);
  }

  /** Sends the last bytes, and gives the other side a moment to take them. */
  end(last: Buffer, lingerMs: number): void {
    this.state = ENDING;
    this.untilMs = this.timers.nowMs + lingerMs;
    this.socket.sendKept("", last, 0, last.length);
    this.socket.end();
  }

  onBytes(buffer: Buffer, length: number): void {
    if (this.state !== LOOKING) return;
    const read = buffer.subarray(0, length);
    // few: a hello of 16 KB, in pieces of a network
    this.bytes = this.bytes === null ? Buffer.from(read) : Buffer.concat([this.bytes, read]);
    this.owner.onHello(this, this.bytes);
  }

  onSecured(): void {
    const { channel } = this;
    // A second hello of the same handshake must not name another server.
    if (channel === null || channel.serverName() !== this.sentName) return this.socket.destroy();
    this.state = SECURE;
    this.timers.remove(this);
    this.owner.onSecure(channel.agreed());
  }

  onDrain(): void {}

  onEnd(): void {
    this.socket.destroy();
  }

  onClosed(): void {
    this.timers.remove(this);
    this.owner.onGone(this.state === SHAKING);
  }
}
