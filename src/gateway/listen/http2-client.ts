import { targetText } from "#wire/http/target.ts";
import { networkOf } from "#kernel/net/network-of.ts";
import { Http2Connection, type Http2Owner } from "#wire/connections/http/http2-connection.ts";
import type { Http2Request } from "#wire/connections/http/http2-request.ts";
import type { RequestService } from "#wire/connections/http/request-service.ts";
import type { Transport } from "#wire/connections/transport/transport.ts";
import { requestHeaderObject } from "#wire/http/header-object.ts";
import type { Head } from "#wire/http/parsed-head.ts";
import type { WindowBudget } from "#wire/http2/window-budget.ts";
import type { BodyReceiver, ClientRequest } from "./client-request.ts";
import { addressOf, type FrontOwner } from "./front-owner.ts";
import { StreamAnswer, type StreamAnswerOwner } from "./stream-answer.ts";

/** A client's request over HTTP/2: hands it to the gateway, with the answer to write to. */
export class Http2Client implements RequestService, StreamAnswerOwner {
  private readonly owner: FrontOwner;
  private readonly channel: Http2Request;
  private readonly peer: string;
  /** The client sends its body only after a 100 (RFC 9110 §10.1.1). */
  private isAwaitingLeave = false;
  private isBodyPaused = false;
  private hasEnded = false;
  private isOver = false;
  private answer: StreamAnswer | undefined;
  private receiver: BodyReceiver | undefined;

  constructor(owner: FrontOwner, channel: Http2Request, peer: string) {
    this.owner = owner;
    this.channel = channel;
    this.peer = peer;
  }

  readonly nowMs = (): number => this.owner.clock.nowMs();

  get hasBegun(): boolean {
    return this.answer?.hasBegun === true;
  }

  onHead(buffer: Buffer, head: Head): void {
    this.hasEnded = this.channel.isComplete;
    this.isAwaitingLeave = head.expectContinue && !this.hasEnded;
    const headers = requestHeaderObject(buffer, head);
    const request: ClientRequest = {
      method: head.method,
      target: targetText(buffer, head),
      minorVersion: head.minorVersion,
      headers,
      address: addressOf(this.owner, this.peer, headers),
      hasBody: !this.hasEnded,
      isComplete: () => this.hasEnded,
      take: (receiver) => this.take(receiver),
      pause: () => this.pause(true),
      resume: () => this.pause(false),
    };
    this.owner.onRequest(request, (this.answer = new StreamAnswer(this, this.channel, head.method === "HEAD")));
  }

  onBody(buffer: Buffer, start: number, end: number): void {
    this.receiver?.onData(Buffer.from(buffer.subarray(start, end)));
  }

  onRequestEnd(): void {
    this.hasEnded = true;
    const { receiver } = this;
    this.receiver = undefined;
    receiver?.onEnd();
  }

  onRefused(): void {
    const { answer } = this;
    if (answer?.hasBegun === true) return this.channel.cut();
    this.gone();
    this.owner.refuse(new StreamAnswer(this, this.channel, false));
  }

  flushBody(): boolean {
    return !this.isBodyPaused;
  }

  onDrain(): void {
    this.answer?.watcher?.clientDrained();
  }

  /** The gateway does not offer WebSockets over HTTP/2. */
  onRaw(): boolean {
    return true;
  }

  onRawEnd(): void {}

  onClosed(): void {
    this.gone();
  }

  finished(): void {
    const { receiver } = this;
    this.isOver = true;
    this.answer = this.receiver = undefined;
    receiver?.onGone();
    this.channel.answered();
  }

  private take(receiver: BodyReceiver): void {
    if (this.isOver) return receiver.onGone();
    if (this.hasEnded) return receiver.onEnd();
    this.receiver = receiver;
    if (this.isAwaitingLeave) {
      this.isAwaitingLeave = false;
      this.channel.encoder.begin();
      this.channel.encoder.status(100);
      this.channel.stream.sendHead();
    }
    this.channel.admitBody();
  }

  private pause(isPaused: boolean): void {
    if (this.isOver || this.isBodyPaused === isPaused) return;
    this.isBodyPaused = isPaused;
    this.channel.settle();
  }

  /** Discards the rest of the request and of the answer. */
  private gone(): void {
    const { receiver, answer } = this;
    this.isOver = true;
    this.answer = this.receiver = undefined;
    receiver?.onGone();
    answer?.gone();
  }
}

export interface Http2Front extends FrontOwner, Http2Owner {
  readonly windows: WindowBudget;
}

/** Serves the client's connection until it closes. */
export function serveHttp2(front: Http2Front, transport: Transport): void {
  const { address } = transport.peer;
  const createService = (request: Http2Request): Http2Client => new Http2Client(front, request, address);
  // A proxy before the gateway may have ended TLS, so the scheme may be https on a plain connection.
  new Http2Connection(front, transport, { windows: front.windows.forConnection(networkOf(address)), scheme: null, createService });
}
