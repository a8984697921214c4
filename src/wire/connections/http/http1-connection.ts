import type { Socket } from "node:net";
import type { Trailer } from "#wire/http/chunked.ts";
import type { Head } from "#wire/http/parsed-head.ts";
import { SocketWriter } from "#wire/connections/transport/socket-writer.ts";
import type { Transport, TransportHandler } from "#wire/connections/transport/transport.ts";
import { ClientDeadlines, type Waiting } from "./client-deadlines.ts";
import type { ClientOwner, OpenConnection } from "./client-owner.ts";
import {
  ANSWERED,
  ANSWERED_BEHIND,
  ANSWERED_EARLY,
  AWAITING,
  BEGUN,
  BEHIND,
  CAUGHT_UP,
  CLOSED,
  CLOSING,
  EXCHANGE,
  GONE,
  impossibleEvent,
  LAST,
  nextState,
  PASSING_OVER,
  StalledExchangeError,
  SWITCHED,
  TUNNEL,
} from "./client-states.ts";
import { Http1Reader, PADDING, type RequestHandler } from "./http1-reader.ts";
import type { RequestService } from "./request-service.ts";
import { IMPOSSIBLE } from "#wire/connections/transport/state-table.ts";

const REQUEST_TIMEOUT = 408;
const VERSION_NOT_SUPPORTED = 505;

/**
 * A client's HTTP/1.x connection. Reads its requests one after the other, each when the one before has its response, and
 * hands them to a service of its plane. States, timers and flow control are the same for all planes; the service writes
 * responses.
 */
export class Http1Connection implements RequestHandler, TransportHandler, OpenConnection, Waiting {
  readonly transport: Transport;
  readonly reader: Http1Reader;
  readonly writer: SocketWriter;
  hasServed = false;
  /** Bytes received from the client. */
  received = 0;
  private readonly owner: ClientOwner;
  private readonly deadlines: ClientDeadlines;
  private service!: RequestService;
  private state: number = AWAITING;
  private isPaused = false;
  private isLeaving = false;
  /** The next request has come, and waits for a later tick. */
  private isWaiting = false;
  private hasEnded = false;

  constructor(owner: ClientOwner, transport: Transport) {
    this.owner = owner;
    this.transport = transport;
    this.deadlines = new ClientDeadlines(owner.deadlines, owner.timers);
    this.reader = new Http1Reader(this);
    this.writer = new SocketWriter(transport);
  }

  /** Starts to read. Call once. */
  serve(service: RequestService): void {
    this.service = service;
    this.transport.attach(this);
    this.owner.timers.add(this);
    this.owner.connections.add(this);
  }

  /** True after an upgrade: both sides send bytes of another protocol. */
  get isTunnel(): boolean {
    return this.state === TUNNEL;
  }

  /** Reads the body of the request. */
  admitBody(): void {
    this.reader.admitBody();
    // During a read, the body follows at once and leaves together with the head.
    if (!this.reader.isRunning) this.settle();
  }

  /** Sends what the service has gathered of the body, and reads on if both sides have room. */
  settle(): void {
    if (this.isLeaving) return;
    if (this.isFull()) this.pause();
    else this.unpause();
  }

  /**
   * The whole response is written. With `keepsAlive`, the next request follows, after the rest of a body that nobody admitted;
   * otherwise, or when the plane is draining, the connection closes.
   */
  answered(keepsAlive: boolean): void {
    if (!keepsAlive || this.reader.isStopped || this.owner.isDraining()) return this.close();
    if (this.reader.isComplete) return this.next();
    if (this.move(ANSWERED_EARLY)) this.admitBody();
  }

  /** Makes the connection a tunnel after the response that switches protocols. Returns the bytes sent ahead; null if that is impossible. */
  openTunnel(): Buffer | null {
    return this.move(SWITCHED) ? this.reader.stop() : null;
  }

  /** Bytes through the tunnel. */
  sendRaw(buffer: Buffer, start: number, end: number): void {
    this.deadlines.restart();
    this.writer.bytes(buffer, start, end, true);
  }

  /** Gives the socket away after the head of an upgrade. `first`: bytes that came after the head. */
  handOver(taken: (socket: Socket, first: Buffer) => void): void {
    if (!this.move(SWITCHED)) return;
    this.isLeaving = true;
    this.transport.pause();
    // The rest of this read is known only after it.
    queueMicrotask(() => {
      const first = this.reader.stop();
      this.leave();
      taken(this.transport.intoSocket(), first);
    });
  }

  /** Ends our side, and reads on for a moment: closing with unread bytes would reset the connection before the response arrives. */
  close(): void {
    if (this.state === CLOSED || this.state === CLOSING || !this.move(LAST)) return;
    this.reader.stop();
    this.transport.end();
    this.unpause();
  }

  /** Each response says so, while the plane drains. */
  announceEnd(): void {}

  drain(): void {
    if ((this.state === AWAITING || this.state === BEHIND) && !this.reader.isMidHead) this.close();
  }

  destroy(): void {
    this.transport.destroy();
  }

  check(nowMs: number): void {
    const verdict = this.deadlines.judge(this.state, nowMs, this);
    if (verdict === "refuse") this.guard(() => this.refuse(REQUEST_TIMEOUT));
    else if (verdict === "close") this.close();
    else if (verdict === "destroy") this.transport.destroy();
    else if (verdict === "stalled") this.broken(new StalledExchangeError());
  }

  get idleSinceMs(): number | null {
    return this.state === AWAITING ? this.deadlines.sinceMs : null;
  }

  get isMidHead(): boolean {
    return this.reader.isMidHead;
  }

  get bytesTaken(): number | null {
    const { needsDrain, queuedBytes } = this.transport;
    const isTaking = this.state === CLOSING ? queuedBytes > 0 : needsDrain;
    return isTaking ? this.writer.bytesTaken : null;
  }

  /** Null while the body waits for its origin or provider, whose timeout then applies. */
  get bytesSent(): number | null {
    return this.reader.isReadingBody && !this.isPaused && !this.service.hasBegun ? this.received : null;
  }

  get bytesMoved(): number {
    return this.received + this.writer.written + this.writer.bytesTaken;
  }

  onBytes(buffer: Buffer, length: number): void {
    // `try` rather than `guard` saves a closure per read.
    try {
      this.receive(buffer, length);
    } catch (error) {
      this.broken(error);
    }
  }

  onDrain(): void {
    this.guard(() => {
      if (this.state !== BEHIND) this.service.onDrain();
      else if (this.move(CAUGHT_UP)) this.readNext();
    });
  }

  /** A client that ends its side during an exchange is gone. */
  onEnd(): void {
    this.guard(() => {
      if (this.state === TUNNEL) this.service.onRawEnd();
      else if (this.isWaiting) this.hasEnded = true;
      else if (this.state === EXCHANGE) this.transport.destroy();
      else this.transport.end();
    });
  }

  onClosed(): void {
    this.guard(() => {
      this.move(GONE);
      this.reader.stop();
      this.leave();
      this.service.onClosed();
    });
  }

  onHead(buffer: Buffer, head: Head): void {
    if (this.move(BEGUN)) this.service.onHead(buffer, head);
  }

  onBody(buffer: Buffer, start: number, end: number): void {
    if (this.state === EXCHANGE) this.service.onBody(buffer, start, end);
  }

  onRequestEnd(trailers: readonly Trailer[]): void {
    if (this.state === EXCHANGE) this.service.onRequestEnd(trailers);
    else if (this.state === PASSING_OVER) this.next();
  }

  onMalformed(status: number): void {
    if (status === PADDING) this.close();
    else this.refuse(status);
  }

  onPreface(bytes: Buffer): void {
    const { onHttp2 } = this.owner;
    if (onHttp2 === undefined) return this.refuse(VERSION_NOT_SUPPORTED);
    if (!this.move(GONE)) return;
    this.leave();
    this.transport.unread(bytes);
    onHttp2(this.transport);
  }

  private receive(buffer: Buffer, length: number): void {
    this.received += length;
    if (this.state === TUNNEL && !this.isLeaving) {
      this.deadlines.restart();
      if (!this.service.onRaw(buffer, 0, length)) this.pause();
      return;
    }
    const { isMidHead } = this.reader;
    this.reader.feed(buffer, length);
    // The time for a head runs from its first byte, without empty lines before it.
    if (this.state === AWAITING && this.hasServed && !isMidHead && this.reader.isMidHead) this.deadlines.restart();
    this.settle();
  }

  private isFull(): boolean {
    if (this.state !== EXCHANGE) return this.state === BEHIND || this.isWaiting;
    return this.reader.isReadingBody ? !this.service.flushBody() : this.reader.isFull;
  }

  private next(): void {
    this.hasServed = true;
    // Otherwise a client that asks without reading would make us collect responses without limit.
    if (this.state === EXCHANGE && this.transport.needsDrain) {
      if (this.move(ANSWERED_BEHIND)) this.settle();
    } else if (this.move(ANSWERED)) this.readNext();
  }

  private readNext(): void {
    // Thousands of requests can come in one read, and their responses may need nothing that others wait for.
    if (this.reader.hasMore && !this.owner.turns.take()) return this.waitForTurn();
    try {
      this.reader.next();
    } catch (error) {
      // Requests sent ahead begin here, within the call that ended the request before.
      return this.broken(error);
    }
    if (!this.reader.isRunning) this.settle();
  }

  private waitForTurn(): void {
    this.isWaiting = true;
    this.settle();
    this.owner.turns.wait(() => {
      this.isWaiting = false;
      if (this.state !== AWAITING || this.reader.isStopped) return;
      this.readNext();
      if (this.hasEnded) this.onEnd();
    });
  }

  private refuse(status: number): void {
    this.reader.stop();
    if (this.state === PASSING_OVER) return this.close();
    if (this.state === AWAITING && !this.move(BEGUN)) return;
    this.service.onRefused(status);
  }

  /** Returns false if the event is impossible in this state: the connection is then closed. */
  private move(event: number): boolean {
    const next = nextState(this.state, event);
    if (next === IMPOSSIBLE) {
      this.broken(impossibleEvent(this.state, event));
      return false;
    }
    this.state = next;
    this.deadlines.restart();
    return true;
  }

  private pause(): void {
    if (this.isPaused) return;
    this.isPaused = true;
    this.transport.pause();
  }

  private unpause(): void {
    if (!this.isPaused) return;
    this.isPaused = false;
    this.transport.resume();
  }

  private leave(): void {
    this.owner.timers.remove(this);
    this.owner.connections.delete(this);
  }

  /** An exception costs this connection, not the thread. */
  private guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.broken(error);
    }
  }

  private broken(error: unknown): void {
    this.owner.report(error);
    this.transport.destroy();
  }
}
