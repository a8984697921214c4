import type { Checked } from "#kernel/timers.ts";
import type { Trailer } from "#wire/http/chunked.ts";
import { ERROR } from "#wire/http2/codes.ts";
import type { HpackEncoder } from "#wire/http2/hpack/encoder.ts";
import { PendingChunks } from "#wire/http2/pending-chunks.ts";
import type { RequestFields } from "#wire/http2/request-fields.ts";
import { readRequestHead, readTrailers } from "#wire/http2/request-head.ts";
import type { ServerStream, StreamHandler } from "#wire/http2/stream.ts";
import { ClientDeadlines } from "./client-deadlines.ts";
import type { ClientOwner } from "./client-owner.ts";
import type { RequestService } from "./request-service.ts";

const REQUEST_TIMEOUT = 408;
const MALFORMED = 400;
const NOT_IMPLEMENTED = 501;

/** The connection of a request, as the request sees it. */
export interface RequestConnection {
  readonly encoder: HpackEncoder;
  readonly allowsWebSockets: boolean;
  /** Calls `flush` of the request after the current read. */
  flushLater(request: Http2Request): void;
  forget(request: Http2Request): void;
}

/**
 * One request of an HTTP/2 connection, and the stream that its response goes to. Hands the request to a service of its plane, in
 * the form of HTTP/1.1. Timers and flow control are the same for all planes; the service writes the response.
 */
export class Http2Request implements StreamHandler, Checked {
  readonly stream: ServerStream;
  /** Bytes of the head as HTTP/1.1 writes it, and of the body so far. */
  received = 0;
  /** The key of a request for a WebSocket (RFC 8441); empty for all others. */
  webSocketKey = "";
  /** The request contradicted itself (RFC 9113 §8.1.1), so its stream was closed. */
  isMalformed = false;
  private readonly owner: ClientOwner;
  private readonly connection: RequestConnection;
  private service!: RequestService;
  /** Created by the first check, since most responses are sent before it. */
  private deadlines: ClientDeadlines | null = null;
  /** The service has admitted the body. */
  private isReading = false;
  private isFlushDue = false;
  /** Body bytes that came before the service admitted them. */
  private early: PendingChunks | null = null;
  private isAnswered = false;
  /**
   * Since when, in milliseconds, the client may still take the last bytes of a cut response, or send the rest of a
   * request that was answered.
   */
  private endingMs: number | null = null;
  /** Bytes missing from the announced length; -1 without one. */
  private bodyLeft = -1;
  /** The body has ended, and the service does not know yet. */
  private isEndPending = false;
  private trailers: readonly Trailer[] = [];
  /** A tunnel: both sides send bytes of another protocol. */
  private isTunnel = false;

  constructor(owner: ClientOwner, connection: RequestConnection, stream: ServerStream) {
    this.owner = owner;
    this.connection = connection;
    this.stream = stream;
  }

  get encoder(): HpackEncoder {
    return this.connection.encoder;
  }

  /** The whole request has arrived. */
  get isComplete(): boolean {
    return this.stream.isRemoteDone;
  }

  /** Serves the request. Call once. `scheme`: the scheme that the request must name; null for any. */
  serve(service: RequestService, fields: RequestFields, scheme: string | null): void {
    this.service = service;
    this.guard(() => {
      const request = readRequestHead(fields, scheme, this.stream.isRemoteDone);
      if (typeof request === "number") return service.onRefused(request);
      const { buffer, head } = request;
      if (request.webSocketKey !== "" && !this.connection.allowsWebSockets) return service.onRefused(NOT_IMPLEMENTED);
      this.webSocketKey = request.webSocketKey;
      this.received = head.end;
      this.bodyLeft = head.contentLength;
      service.onHead(buffer, head);
      if (head.contentLength === 0) this.admitBody();
    });
  }

  /** Reads the body. Bytes after a request for a WebSocket wait for its response. */
  admitBody(): void {
    if (this.webSocketKey !== "" || this.isAnswered || (this.stream.isRemoteDone && !this.isEndPending)) return;
    if (!this.isReading) {
      this.isReading = true;
      this.handOnEarly();
    }
    if (!this.stream.isRemoteDone) this.stream.resume();
    // Body bytes that came with the head leave together with it.
    this.flushLater();
  }

  /** Sends what the service has gathered of the body, and lets the client send more if there is room. */
  settle(): void {
    if (this.isTunnel || this.service.flushBody()) this.stream.resume();
    else this.stream.lag();
  }

  /**
   * The whole response is handed over but for its end. The rest of the request is read for a moment and dropped, as in
   * HTTP/1.1.
   */
  answered(): void {
    this.isAnswered = true;
    if (this.stream.isRemoteDone) return;
    this.endingMs = this.owner.timers.nowMs;
    this.forgetEarly();
    this.stream.resume();
  }

  /** Makes the stream a tunnel (RFC 8441 §5). */
  openTunnel(): void {
    this.isTunnel = true;
    this.deadlines?.restart();
    this.stream.resume();
    this.handOnEarly();
  }

  /** Bytes through the tunnel. */
  sendRaw(buffer: Buffer, start: number, end: number): void {
    this.deadlines?.restart();
    this.stream.send(buffer, start, end);
  }

  /** Resets the stream with INTERNAL_ERROR: half a response must not look complete. */
  cut(): void {
    // Both ways of a tunnel may have ended in order, with bytes that the client has not received yet.
    if (this.isTunnel && this.stream.isLocalEnded) this.stream.resetWhenSent(ERROR.none);
    else this.stream.reset(ERROR.internal);
  }

  /** Resets the stream with INTERNAL_ERROR after the waiting bytes, if the client takes these soon. */
  cutWhenSent(): void {
    this.isAnswered = true;
    this.endingMs = this.owner.timers.nowMs;
    this.stream.resetWhenSent(ERROR.internal);
  }

  /** Called by the connection after a read. */
  flush(): void {
    this.isFlushDue = false;
    this.guard(() => {
      if (!this.service.flushBody()) this.stream.lag();
    });
  }

  check(nowMs: number): void {
    const { stream } = this;
    const { lingerMs, tunnelIdleTimeoutMs } = this.owner.deadlines;
    if (this.endingMs !== null && nowMs - this.endingMs > lingerMs) {
      // RFC 9113 §8.1: the response is complete, and the rest of the request is not wanted.
      if (stream.isLocalDone) return stream.reset(ERROR.none);
      if (!stream.isLocalEnded) return stream.reset(ERROR.internal);
    }
    const isUploading = this.isReading && !stream.isRemoteDone && !this.service.hasBegun && !stream.isHeld;
    this.deadlines ??= new ClientDeadlines(this.owner.deadlines, this.owner.timers);
    if (this.isTunnel) {
      if (this.deadlines.lingering(nowMs, tunnelIdleTimeoutMs) !== "fine") this.cut();
      return;
    }
    const bytesTaken = stream.pendingBytes === 0 ? null : stream.sentBytes;
    const verdict = this.deadlines.exchanging(nowMs, bytesTaken, isUploading ? this.received : null);
    if (verdict === "refuse") this.guard(() => this.service.onRefused(REQUEST_TIMEOUT));
    else if (verdict !== "fine") this.cut();
  }

  onData(buffer: Buffer, start: number, end: number): void {
    this.guard(() => {
      // Bytes after the response are dropped.
      if (this.isAnswered) return;
      this.received += end - start;
      if (this.bodyLeft >= 0 && (this.bodyLeft -= end - start) < 0) this.stream.refuse();
      else if (this.isTunnel) this.handOnRaw(buffer, start, end);
      else if (this.isReading) this.handOn(buffer, start, end);
      else {
        (this.early ??= new PendingChunks()).append(buffer, start, end);
        this.stream.pause();
      }
    });
  }

  onEnd(trailers: readonly string[]): void {
    this.guard(() => {
      if (this.bodyLeft > 0 && !this.isAnswered) return this.stream.refuse();
      const read = readTrailers(trailers);
      if (read === null) return this.isAnswered ? this.cut() : this.service.onRefused(MALFORMED);
      this.trailers = read;
      this.isEndPending = true;
      if (this.isReading || this.isTunnel) this.handOnEnd();
    });
  }

  onDrain(): void {
    this.guard(() => this.service.onDrain());
  }

  onMalformed(): void {
    this.isMalformed = true;
  }

  /** The stream has closed, or the client has disconnected. */
  onClose(): void {
    this.connection.forget(this);
    this.forgetEarly();
    this.guard(() => this.service.onClosed());
  }

  private handOn(buffer: Buffer, start: number, end: number): void {
    this.service.onBody(buffer, start, end);
    this.flushLater();
  }

  private handOnRaw(buffer: Buffer, start: number, end: number): void {
    this.deadlines?.restart();
    if (!this.service.onRaw(buffer, start, end)) this.stream.lag();
  }

  private handOnEarly(): void {
    const { early } = this;
    this.early = null;
    while (early !== null && early.length > 0) {
      const { buffer, start, end } = early;
      if (this.isTunnel) this.handOnRaw(buffer, start, end);
      else this.handOn(buffer, start, end);
      early.drop(end - start);
    }
    if (this.isEndPending) this.handOnEnd();
  }

  private forgetEarly(): void {
    this.early?.clear();
    this.early = null;
  }

  private handOnEnd(): void {
    this.isEndPending = false;
    if (this.isAnswered) return;
    if (this.isTunnel) this.service.onRawEnd();
    else this.service.onRequestEnd(this.trailers);
  }

  private flushLater(): void {
    if (this.isFlushDue) return;
    this.isFlushDue = true;
    this.connection.flushLater(this);
  }

  /** An exception costs this stream, not its connection and not the thread. */
  private guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.owner.report(error);
      this.cut();
    }
  }
}
