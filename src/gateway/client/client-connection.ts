import type { Socket } from "node:net";
import type { Clock } from "#kernel/clock.ts";
import type { Checked, Timers } from "#kernel/timers.ts";
import { Http1Reader, type RequestHandler } from "#wire/connections/http1-reader.ts";
import { SocketWriter } from "#wire/connections/socket-writer.ts";
import type { Transport, TransportHandler } from "#wire/connections/transport.ts";
import { isPersistent } from "#wire/http/framing.ts";
import type { Head } from "#wire/http/head.ts";
import { requestHeaderObject } from "#wire/http/header-object.ts";
import { type AnswerOwner, ClientAnswer, IDLE_SECONDS } from "./client-answer.ts";
import type { BodyTaker, ClientRequest } from "./client-request.ts";

/** What connections need of the plane. */
export interface ClientOwner {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly requestTimeoutMs: number;
  readonly connections: Set<ClientConnection>;
  isDraining(): boolean;
  onRequest(request: ClientRequest, answer: ClientAnswer): void;
  /** The socket is the caller's from now on; `first` came behind the head. */
  onUpgrade(request: ClientRequest, socket: Socket, first: Buffer): void;
  /** What a client gets that is not understood. */
  refusal(): string;
}

const HEAD_TIMEOUT_MS = 10_000;
const LINGER_MS = 2_000;

/** Waits for a request. */
const AWAITING = 0;
const EXCHANGE = 1;
/** Everything is written; what still comes is passed over. */
const CLOSING = 2;
const UPGRADED = 3;
const CLOSED = 4;

/** One client's connection of HTTP/1.x: takes its requests one after the other. */
export class ClientConnection implements RequestHandler, TransportHandler, AnswerOwner, Checked {
  readonly transport: Transport;
  private readonly owner: ClientOwner;
  private readonly address: string;
  private readonly reader: Http1Reader;
  private readonly writer: SocketWriter;
  private state = AWAITING;
  private sinceMs: number;
  private hasServed = false;
  private isPersistent = false;
  private readPaused = false;
  private isBodyPaused = false;
  private isRefused = false;
  /** The client sends its body only when it is told to, or may be. */
  private isAwaitingLeave = false;
  private answer: ClientAnswer | undefined;
  private taker: BodyTaker | undefined;

  constructor(owner: ClientOwner, transport: Transport) {
    this.owner = owner;
    this.transport = transport;
    this.address = transport.peerAddress;
    this.sinceMs = owner.timers.nowMs;
    this.reader = new Http1Reader(this);
    this.writer = new SocketWriter(transport);
    transport.attach(this);
    owner.timers.add(this);
    owner.connections.add(this);
  }

  readonly nowMs = (): number => this.owner.clock.nowMs();

  keepsAlive(): boolean {
    return this.isPersistent && !this.isAwaitingLeave && !this.owner.isDraining();
  }

  onDrain(): void {
    this.answer?.watcher?.clientDrained();
  }

  /** A client that ends its side amid an exchange is taken to be gone. */
  onEnd(): void {
    if (this.state === EXCHANGE) this.transport.destroy();
    else if (this.state !== UPGRADED) this.transport.end();
  }

  onClosed(): void {
    if (this.state === UPGRADED || this.state === CLOSED) return;
    this.state = CLOSED;
    this.leave();
    this.reader.stop();
    const { taker, answer } = this;
    this.taker = this.answer = undefined;
    taker?.onGone();
    answer?.gone();
  }

  /** No further request is taken: closes where none is under way. */
  drain(): void {
    if (this.state === AWAITING) this.close();
  }

  check(nowMs: number): void {
    const waitedMs = nowMs - this.sinceMs;
    if (this.state === AWAITING) {
      const { isMidHead } = this.reader;
      if (waitedMs <= (isMidHead || !this.hasServed ? HEAD_TIMEOUT_MS : IDLE_SECONDS * 1000)) return;
      if (isMidHead) this.onMalformed();
      else this.close();
    } else if (this.state === EXCHANGE) {
      if (!this.reader.isComplete && waitedMs > this.owner.requestTimeoutMs && !this.isBodyPaused) this.onMalformed();
    } else if (this.state === CLOSING) {
      if (this.transport.queuedBytes > 0) this.sinceMs = nowMs;
      else if (waitedMs > LINGER_MS) this.transport.destroy();
    }
  }

  onHead(buffer: Buffer, head: Head): void {
    this.state = EXCHANGE;
    this.sinceMs = this.owner.timers.nowMs;
    this.isPersistent = isPersistent(head);
    this.isAwaitingLeave = head.expectContinue && head.minorVersion === 1 && !this.reader.isComplete;
    const request: ClientRequest = {
      method: head.method,
      target: buffer.toString("latin1", head.targetStart, head.targetEnd),
      minorVersion: head.minorVersion,
      headers: requestHeaderObject(buffer, head),
      address: this.address,
      hasBody: !this.reader.isComplete,
      isComplete: () => this.reader.isComplete,
      take: (taker) => this.take(taker),
      pause: () => this.pauseBody(true),
      resume: () => this.pauseBody(false),
    };
    // RFC 9110 §7.8: any other upgrade is an offer, which is passed over; some clients make one with each request.
    if (head.connectionUpgrade && request.headers["upgrade"]?.toLowerCase() === "websocket" && head.minorVersion === 1)
      return this.upgrade(request);
    this.answer = new ClientAnswer(this, { isHead: head.method === "HEAD", minorVersion: head.minorVersion }, this.writer);
    this.owner.onRequest(request, this.answer);
  }

  onBody(buffer: Buffer, start: number, end: number): void {
    this.taker?.onData(Buffer.from(buffer.subarray(start, end)));
  }

  onRequestEnd(): void {
    const { taker } = this;
    this.taker = undefined;
    taker?.onEnd();
    // The answer came first, and waited for this.
    if (this.state === EXCHANGE && this.answer === undefined) this.next();
  }

  /** Nothing more is read; what was asked gets an error where it still can. */
  onMalformed(): void {
    this.reader.stop();
    this.isRefused = true;
    const { answer, taker } = this;
    this.answer = this.taker = undefined;
    taker?.onGone();
    if (answer?.hasBegun === true) {
      answer.gone();
      return void this.transport.destroy();
    }
    answer?.gone();
    this.writer.string(this.owner.refusal());
    this.writer.flush();
    this.close();
  }

  finished(keepsAlive: boolean): void {
    this.answer = undefined;
    if (!keepsAlive || this.isRefused || this.owner.isDraining()) return this.close();
    // Somebody else takes what still comes of the body, or nobody does.
    if (this.reader.isComplete) this.next();
    else if (this.taker !== undefined) this.close();
    else this.take(PASSED_OVER);
  }

  private next(): void {
    this.hasServed = true;
    this.state = AWAITING;
    this.sinceMs = this.owner.timers.nowMs;
    try {
      this.reader.next();
    } catch {
      // As in `onBytes`: a request that waited is begun here.
      return void this.transport.destroy();
    }
    this.settle();
  }

  private take(taker: BodyTaker): void {
    if (this.reader.isComplete) return taker.onEnd();
    this.taker = taker;
    if (this.isAwaitingLeave) {
      this.isAwaitingLeave = false;
      this.writer.string("HTTP/1.1 100 Continue\r\n\r\n");
      this.writer.flush();
    }
    this.reader.admitBody();
    this.settle();
  }

  private pauseBody(isPaused: boolean): void {
    this.isBodyPaused = isPaused;
    if (this.state === EXCHANGE) this.settle();
  }

  private upgrade(request: ClientRequest): void {
    this.state = UPGRADED;
    this.transport.pause();
    const onUpgrade = (): void => {
      const first = this.reader.stop();
      this.leave();
      this.owner.onUpgrade(request, this.transport.intoSocket(), first);
    };
    // What came in the same read belongs to the other protocol, and is known only after it.
    queueMicrotask(onUpgrade);
  }

  onBytes(buffer: Buffer, length: number): void {
    if (this.state === CLOSING) return;
    const { isMidHead } = this.reader;
    try {
      this.reader.feed(buffer, length);
    } catch {
      // What is thrown here nobody foresaw; it costs this connection, not the plane.
      return void this.transport.destroy();
    }
    // The time for a head runs from its first byte; empty lines before it are none.
    if (this.state === AWAITING && this.hasServed && !isMidHead && this.reader.isMidHead) this.sinceMs = this.owner.timers.nowMs;
    this.settle();
  }

  /** Reads on where there is room. */
  private settle(): void {
    if (this.state === UPGRADED || this.state === CLOSED) return;
    const isFull = this.state === EXCHANGE && (this.reader.isFull || this.isBodyPaused);
    if (isFull === this.readPaused) return;
    this.readPaused = isFull;
    if (isFull) this.transport.pause();
    else this.transport.resume();
  }

  /** Ends our side and reads on for a moment: closing over unread bytes would reset what was just sent. */
  private close(): void {
    if (this.state === CLOSED || this.state === CLOSING) return;
    this.state = CLOSING;
    this.sinceMs = this.owner.timers.nowMs;
    this.reader.stop();
    this.taker?.onGone();
    this.taker = undefined;
    this.transport.end();
    this.settle();
  }

  private leave(): void {
    this.owner.timers.remove(this);
    this.owner.connections.delete(this);
  }
}

/** For a body that nobody needs, so that its connection can be used again. */
const PASSED_OVER: BodyTaker = { onData: () => undefined, onEnd: () => undefined, onGone: () => undefined };
