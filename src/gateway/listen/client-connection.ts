import type { Socket } from "node:net";
import type { Clock } from "#kernel/clock.ts";
import { type ClientAddresses, linesOf } from "#kernel/net/client-addresses.ts";
import type { Checked, Timers } from "#kernel/timers.ts";
import { ClientDeadlines, type ClientDeadlineLimits, type Waiting } from "#wire/connections/http/client-deadlines.ts";
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
  IMPOSSIBLE,
  ImpossibleEventError,
  LAST,
  nextState,
  PASSING_OVER,
  StalledExchangeError,
  SWITCHED,
  TUNNEL,
} from "#wire/connections/http/client-states.ts";
import { Http1Reader, PADDING, type RequestHandler } from "#wire/connections/http/http1-reader.ts";
import { SocketWriter } from "#wire/connections/transport/socket-writer.ts";
import type { Transport, TransportHandler } from "#wire/connections/transport/transport.ts";
import { isPersistent } from "#wire/http/framing.ts";
import type { Head } from "#wire/http/parsed-head.ts";
import { requestHeaderObject } from "#wire/http/header-object.ts";
import { type AnswerOwner, ClientAnswer } from "./response-writer.ts";
import type { BodyReceiver, ClientRequest } from "./client-request.ts";

/** What connections need of the plane. */
export interface ClientOwner {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly deadlines: ClientDeadlineLimits;
  /** Clients behind trusted proxies; null without such proxies. */
  readonly clients: ClientAddresses | null;
  readonly connections: Set<ClientConnection>;
  isDraining(): boolean;
  onRequest(request: ClientRequest, answer: ClientAnswer): void;
  /** The socket is the caller's from now on; `first` came behind the head. */
  onUpgrade(request: ClientRequest, socket: Socket, first: Buffer): void;
  /** What a client gets that is not understood. */
  refusal(): string;
  /** A fault of our own, which costs one connection. */
  report(error: unknown): void;
}

/** One client's connection of HTTP/1.x: takes its requests one after the other. */
export class ClientConnection implements RequestHandler, TransportHandler, AnswerOwner, Checked, Waiting {
  readonly transport: Transport;
  private readonly owner: ClientOwner;
  private readonly address: string;
  private readonly reader: Http1Reader;
  private readonly writer: SocketWriter;
  private readonly deadlines: ClientDeadlines;
  private state: number = AWAITING;
  hasServed = false;
  private isPersistent = false;
  private readPaused = false;
  private isRefused = false;
  private received = 0;
  /** The client sends its body only when it is told to, or may be. */
  private isAwaitingLeave = false;
  /** The request under way, and the one of which nothing more should be read: flow control belongs to a request and ends with it. */
  private request: ClientRequest | undefined;
  private paused: ClientRequest | undefined;
  private answer: ClientAnswer | undefined;
  private taker: BodyReceiver | undefined;

  constructor(owner: ClientOwner, transport: Transport) {
    this.owner = owner;
    this.transport = transport;
    this.address = transport.peer.address;
    this.deadlines = new ClientDeadlines(owner.deadlines, owner.timers);
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
    if (this.state !== BEHIND) return this.answer?.watcher?.clientDrained();
    if (this.move(CAUGHT_UP)) this.readNext();
  }

  /** A client that ends its side amid an exchange is taken to be gone. */
  onEnd(): void {
    if (this.state === EXCHANGE) this.transport.destroy();
    else if (this.state !== TUNNEL) this.transport.end();
  }

  onClosed(): void {
    if (this.state === TUNNEL || this.state === CLOSED || !this.move(GONE)) return;
    this.leave();
    this.reader.stop();
    const { taker, answer } = this;
    this.taker = this.answer = this.request = undefined;
    taker?.onGone();
    answer?.gone();
  }

  /** No further request is taken: closes where none is under way. */
  drain(): void {
    if (this.state === AWAITING || this.state === BEHIND) this.close();
  }

  check(nowMs: number): void {
    const verdict = this.deadlines.judge(this.state, nowMs, this);
    if (verdict === "refuse") this.onMalformed();
    else if (verdict === "close") this.close();
    else if (verdict === "destroy") this.transport.destroy();
    else if (verdict === "stalled") this.broken(new StalledExchangeError());
  }

  get isMidHead(): boolean {
    return this.reader.isMidHead;
  }

  get bytesTaken(): number | null {
    const { needsDrain, queuedBytes } = this.transport;
    const isTaking = this.state === CLOSING ? queuedBytes > 0 : needsDrain;
    return isTaking ? this.writer.bytesTaken : null;
  }

  /** A body that waits for its provider waits by the provider's time. */
  get bytesSent(): number | null {
    return this.reader.isComplete || this.isBodyPaused ? null : this.received;
  }

  get bytesMoved(): number {
    return this.received + this.writer.written + this.writer.bytesTaken;
  }

  onHead(buffer: Buffer, head: Head): void {
    if (!this.move(BEGUN)) return;
    this.isPersistent = isPersistent(head);
    this.isAwaitingLeave = head.expectContinue && head.minorVersion === 1 && !this.reader.isComplete;
    const headers = requestHeaderObject(buffer, head);
    const { clients } = this.owner;
    const request: ClientRequest = {
      method: head.method,
      target: buffer.toString("latin1", head.targetStart, head.targetEnd),
      minorVersion: head.minorVersion,
      headers,
      address: clients === null ? this.address : clients.of(this.address, linesOf(headers, clients.field)),
      hasBody: !this.reader.isComplete,
      isComplete: () => this.reader.isComplete,
      take: (taker) => this.take(taker),
      pause: () => this.pause(request),
      resume: () => this.resume(request),
    };
    this.request = request;
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
    if (this.state === PASSING_OVER) this.next();
  }

  /** Nothing more is read; what was asked gets an error where it still can. */
  onMalformed(status?: number): void {
    if (status === PADDING) return this.close();
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
    else if (this.move(ANSWERED_EARLY)) this.take(PASSED_OVER);
  }

  private next(): void {
    this.hasServed = true;
    this.request = this.paused = undefined;
    // Or somebody who asks without reading would have us gather answers without end.
    if (this.state === EXCHANGE && this.transport.needsDrain) {
      if (this.move(ANSWERED_BEHIND)) this.settle();
    } else if (this.move(ANSWERED)) this.readNext();
  }

  private readNext(): void {
    try {
      this.reader.next();
    } catch (error) {
      // As in `onBytes`: a request that waited is begun here.
      return this.broken(error);
    }
    this.settle();
  }

  private take(taker: BodyReceiver): void {
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

  private pause(request: ClientRequest): void {
    this.paused = request;
    this.settle();
  }

  private resume(request: ClientRequest): void {
    if (this.paused === request) this.paused = undefined;
    this.settle();
  }

  /** What came of a request before, and late, is not about this one; of one that is complete nothing is left to wait. */
  private get isBodyPaused(): boolean {
    return this.paused !== undefined && this.paused === this.request && !this.reader.isComplete;
  }

  private upgrade(request: ClientRequest): void {
    if (!this.move(SWITCHED)) return;
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
    this.received += length;
    const { isMidHead } = this.reader;
    try {
      this.reader.feed(buffer, length);
    } catch (error) {
      // What is thrown here nobody foresaw; it costs this connection, not the plane.
      return this.broken(error);
    }
    // The time for a head runs from its first byte; empty lines before it are none.
    if (this.state === AWAITING && this.hasServed && !isMidHead && this.reader.isMidHead) this.deadlines.restart();
    this.settle();
  }

  /** Reads on where there is room. */
  private settle(): void {
    if (this.state === TUNNEL || this.state === CLOSED) return;
    const isFull = this.state === BEHIND || (this.state === EXCHANGE && (this.reader.isFull || this.isBodyPaused));
    if (isFull === this.readPaused) return;
    this.readPaused = isFull;
    if (isFull) this.transport.pause();
    else this.transport.resume();
  }

  /** Ends our side and reads on for a moment: closing over unread bytes would reset what was just sent. */
  private close(): void {
    if (this.state === CLOSED || this.state === CLOSING || !this.move(LAST)) return;
    this.reader.stop();
    this.taker?.onGone();
    this.taker = undefined;
    this.transport.end();
    this.settle();
  }

  /** False where this cannot be: then the connection is over. */
  private move(event: number): boolean {
    const next = nextState(this.state, event);
    if (next === IMPOSSIBLE) {
      this.broken(new ImpossibleEventError(this.state, event));
      return false;
    }
    this.state = next;
    this.deadlines.restart();
    return true;
  }

  private broken(error: unknown): void {
    this.owner.report(error);
    this.transport.destroy();
  }

  private leave(): void {
    this.owner.timers.remove(this);
    this.owner.connections.delete(this);
  }
}

/** For a body that nobody needs, so that its connection can be used again. */
const PASSED_OVER: BodyReceiver = { onData: () => undefined, onEnd: () => undefined, onGone: () => undefined };
