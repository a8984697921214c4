import type { OriginTls } from "#edge/exchange/decisions.ts";
import { switchesTo, type WantedProtocol } from "#edge/origin/switched-protocol.ts";
import type { UpstreamTaker, Waiting } from "#edge/origin/origin-pool.ts";
import type { UpstreamPools } from "#edge/origin/upstream-pool.ts";
import type { UpstreamConnection, UpstreamFault, UpstreamSink } from "#wire/connections/http/upstream-connection.ts";
import type { Trailer } from "#wire/http/chunked.ts";
import { type Framing, isBodiless, NO_BODY } from "#wire/http/framing.ts";
import type { Head } from "#wire/http/parsed-head.ts";
import { chunkStart, forwardedFields, framingField, lastChunk, statusLine } from "#wire/http/write.ts";
import type { AnsweredStream, Answering } from "./serving.ts";

export interface ServiceRequest {
  readonly pools: UpstreamPools;
  readonly address: string;
  readonly port: number;
  readonly tls: OriginTls | null;
  readonly method: string;
  /** With the empty line. */
  readonly head: string;
  readonly hasBody: boolean;
  readonly isChunked: boolean;
  readonly wanted: WantedProtocol | null;
}

/** Methods that may be sent again if it is not known whether the service has got them (RFC 9110 §9.2.2). */
const IDEMPOTENT = new Set(["GET", "HEAD", "OPTIONS", "PUT", "DELETE"]);

/** One request to a service, and its response. */
export class ServiceCall implements UpstreamSink, UpstreamTaker, Answering {
  readonly visitorAddress = "";
  private readonly stream: AnsweredStream;
  private readonly request: ServiceRequest;
  private connection: UpstreamConnection | null = null;
  private waiting: Waiting | null = null;
  private isChunked = false;
  private keepsAlive = true;
  private bodyBegun = false;
  private retried = false;
  private isTunnel = false;
  private isOver = false;

  constructor(stream: AnsweredStream, request: ServiceRequest) {
    this.stream = stream;
    this.request = request;
  }

  start(fresh: boolean): void {
    const { pools, address, port, tls } = this.request;
    this.waiting = pools.acquire(address, port, tls, this, fresh);
  }

  abort(): void {
    this.isOver = true;
    this.waiting?.cancel();
    this.connection?.abort();
    this.connection = null;
  }

  onUpstream(connection: UpstreamConnection): void {
    this.connection = connection;
    connection.begin(this, this.request.method, 0);
    connection.writer.string(this.request.head);
    if (!this.request.hasBody) connection.endRequest();
    if (connection.isConnected) this.onConnected();
  }

  onOverload(): void {
    this.fail("The connector has too many requests for this service.");
  }

  onConnected(): void {
    this.stream.connection.admitBody();
    this.connection?.writer.flush();
  }

  onRequestBody(buffer: Buffer, start: number, end: number): void {
    const writer = this.connection?.writer;
    if (writer === undefined) return;
    this.bodyBegun = true;
    if (this.request.isChunked) writer.string(chunkStart(end - start));
    writer.bytes(buffer, start, end, true);
    if (this.request.isChunked) writer.string("\r\n");
  }

  onRequestEnd(trailers: readonly Trailer[]): void {
    if (this.request.isChunked) this.connection?.writer.string(lastChunk(trailers));
    this.connection?.endRequest();
    this.connection?.writer.flush();
  }

  flushRequest(): boolean {
    this.connection?.touch();
    return this.connection?.writer.flush() ?? true;
  }

  onRaw(buffer: Buffer, start: number, end: number): boolean {
    this.connection?.writer.bytes(buffer, start, end, true);
    return this.connection?.writer.flush() ?? true;
  }

  onRawEnd(): void {
    this.connection?.endSide();
  }

  onEdgeDrain(): void {
    this.connection?.resume();
  }

  /** The service takes more. */
  onDrain(): void {
    this.stream.connection.settle();
  }

  onInterim(buffer: Buffer, head: Head): void {
    this.stream.connection.writer.string(`${statusLine(buffer, head)}${forwardedFields(buffer, head)}\r\n`);
  }

  onSwitch(buffer: Buffer, head: Head): void {
    const { wanted } = this.request;
    const { connection } = this.stream;
    const early = wanted !== null && switchesTo(buffer, head, wanted) ? connection.openTunnel() : null;
    if (wanted === null || early === null) {
      this.connection?.abort();
      return this.fail("The service switched to another protocol.");
    }
    this.stream.hasBegun = this.isTunnel = true;
    connection.writer.string(
      `${statusLine(buffer, head)}${forwardedFields(buffer, head)}Connection: Upgrade\r\nUpgrade: ${wanted.name}\r\n\r\n`,
    );
    if (early.length > 0) this.onRaw(early, 0, early.length);
    connection.settle();
  }

  onHead(buffer: Buffer, head: Head, framing: Framing): void {
    this.stream.hasBegun = true;
    this.keepsAlive = !this.stream.closing();
    let frame = "";
    if (framing === NO_BODY) {
      if (head.contentLength >= 0 && (head.status === 304 || !isBodiless(head.status))) frame = framingField(head.contentLength);
    } else if (head.contentLength >= 0) frame = framingField(head.contentLength);
    else {
      this.isChunked = true;
      frame = framingField(null);
    }
    const ends = this.keepsAlive ? "" : "Connection: close\r\n";
    this.stream.connection.writer.string(`${statusLine(buffer, head)}${forwardedFields(buffer, head)}${frame}${ends}\r\n`);
  }

  onBody(buffer: Buffer, start: number, end: number): void {
    const { connection } = this.stream;
    if (this.isTunnel) return connection.sendRaw(buffer, start, end);
    if (this.isChunked) connection.writer.string(chunkStart(end - start));
    connection.writer.bytes(buffer, start, end, true);
    if (this.isChunked) connection.writer.string("\r\n");
  }

  onEnd(trailers: readonly Trailer[]): void {
    this.connection = null;
    if (this.isOver) return;
    this.isOver = true;
    if (this.isChunked) this.stream.connection.writer.string(lastChunk(trailers));
    this.stream.finish(this.keepsAlive);
  }

  onReadEnd(): void {
    if (!this.isOver && !this.stream.connection.writer.flush()) this.connection?.pause();
  }

  onTunnelEnd(): void {
    this.stream.connection.writer.flush();
    this.stream.connection.transport.end();
  }

  onFault(fault: UpstreamFault): void {
    const { connection, request } = this;
    this.connection = null;
    if (this.isOver || connection === null) return;
    const isStale = fault === "origin_closed" && connection.isReused && !connection.hasAnswered;
    if (isStale && !this.retried && !this.bodyBegun && IDEMPOTENT.has(request.method)) {
      this.retried = true;
      return this.start(true);
    }
    this.fail(`The connector cannot get an answer of the service (${fault}).`);
  }

  private fail(text: string): void {
    if (this.isOver) return;
    this.isOver = true;
    this.connection = null;
    this.stream.answer(502, text);
  }
}
