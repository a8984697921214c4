import { targetText } from "#wire/http/target.ts";
import { Http1Connection } from "#wire/connections/http/http1-connection.ts";
import type { RequestService } from "#wire/connections/http/request-service.ts";
import type { Transport } from "#wire/connections/transport/transport.ts";
import { isPersistent } from "#wire/http/framing.ts";
import type { Head } from "#wire/http/parsed-head.ts";
import { requestHeaderObject } from "#wire/http/header-object.ts";
import { type AnswerOwner, ClientAnswer } from "./response-writer.ts";
import type { BodyReceiver, ClientRequest } from "./client-request.ts";
import { addressOf, type FrontOwner } from "./front-owner.ts";

/** Method and version of a malformed request are unknown. */
const REFUSED = { isHead: false, minorVersion: 1 };

/** A client of HTTP/1.x: hands each request of its connection to the gateway, with the answer to write to. */
export class Http1Client implements RequestService, AnswerOwner {
  readonly transport: Transport;
  private readonly owner: FrontOwner;
  private readonly connection: Http1Connection;
  private readonly peer: string;
  private isPersistent = false;
  /** The client sends its body only after a 100 (RFC 9110 §10.1.1). */
  private isAwaitingLeave = false;
  /** The current request, and the one whose body must not be read: flow control ends with its request. */
  private request: ClientRequest | undefined;
  private paused: ClientRequest | undefined;
  private answer: ClientAnswer | undefined;
  private receiver: BodyReceiver | undefined;

  constructor(owner: FrontOwner, connection: Http1Connection) {
    this.owner = owner;
    this.connection = connection;
    this.transport = connection.transport;
    this.peer = connection.transport.peer.address;
  }

  readonly nowMs = (): number => this.owner.clock.nowMs();

  get hasBegun(): boolean {
    return this.answer?.hasBegun === true;
  }

  keepsAlive(): boolean {
    return this.isPersistent && !this.isAwaitingLeave && !this.owner.isDraining();
  }

  onHead(buffer: Buffer, head: Head): void {
    const { reader } = this.connection;
    const hasBody = !reader.isComplete;
    this.isPersistent = isPersistent(head);
    this.isAwaitingLeave = head.expectContinue && head.minorVersion === 1 && hasBody;
    const headers = requestHeaderObject(buffer, head);
    const request: ClientRequest = {
      method: head.method,
      target: targetText(buffer, head),
      minorVersion: head.minorVersion,
      headers,
      address: addressOf(this.owner, this.peer, headers),
      hasBody,
      isComplete: () => this.request !== request || reader.isComplete,
      take: (receiver) => this.take(request, receiver),
      pause: () => this.pause(request),
      resume: () => this.resume(request),
    };
    this.request = request;
    // RFC 9110 §7.8: any other upgrade is an offer that the gateway ignores; some clients make one with each request.
    if (head.connectionUpgrade && request.headers["upgrade"]?.toLowerCase() === "websocket" && head.minorVersion === 1)
      return this.connection.handOver((socket, first) => this.owner.onUpgrade(request, socket, first));
    this.answer = new ClientAnswer(this, { isHead: head.method === "HEAD", minorVersion: head.minorVersion }, this.connection.writer);
    this.owner.onRequest(request, this.answer);
  }

  onBody(buffer: Buffer, start: number, end: number): void {
    this.receiver?.onData(Buffer.from(buffer.subarray(start, end)));
  }

  onRequestEnd(): void {
    const { receiver } = this;
    this.receiver = undefined;
    receiver?.onEnd();
  }

  onRefused(): void {
    const { hasBegun } = this;
    this.gone();
    if (hasBegun) return this.transport.destroy();
    this.owner.refuse(new ClientAnswer(this, REFUSED, this.connection.writer));
  }

  flushBody(): boolean {
    return this.paused === undefined || this.paused !== this.request;
  }

  onDrain(): void {
    this.answer?.watcher?.clientDrained();
  }

  /** Sockets of upgraded connections are handed over. */
  onRaw(): boolean {
    return true;
  }

  onRawEnd(): void {}

  onClosed(): void {
    this.gone();
  }

  finished(keepsAlive: boolean): void {
    const { receiver } = this;
    this.forget();
    // The rest of a body cannot be separated from the next request.
    receiver?.onGone();
    this.connection.answered(keepsAlive && receiver === undefined);
  }

  private take(request: ClientRequest, receiver: BodyReceiver): void {
    if (this.request !== request) return receiver.onGone();
    if (this.connection.reader.isComplete) return receiver.onEnd();
    this.receiver = receiver;
    if (this.isAwaitingLeave) {
      this.isAwaitingLeave = false;
      this.connection.writer.string("HTTP/1.1 100 Continue\r\n\r\n");
      this.connection.writer.flush();
    }
    this.connection.admitBody();
  }

  private pause(request: ClientRequest): void {
    if (this.request !== request) return;
    this.paused = request;
    this.connection.settle();
  }

  private resume(request: ClientRequest): void {
    if (this.paused !== request) return;
    this.paused = undefined;
    this.connection.settle();
  }

  /** Discards the rest of the request and of the answer. */
  private gone(): void {
    const { receiver, answer } = this;
    this.forget();
    receiver?.onGone();
    answer?.gone();
  }

  private forget(): void {
    this.request = this.paused = this.answer = this.receiver = undefined;
  }
}

/** Serves the client's connection until it closes. */
export function serveHttp1(owner: FrontOwner, transport: Transport): void {
  const connection = new Http1Connection(owner, transport);
  connection.serve(new Http1Client(owner, connection));
}
