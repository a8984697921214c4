import type { Transform } from "node:stream";
import type { Trailer } from "#wire/http/chunked.ts";
import { CHUNKED, type Framing, NO_BODY } from "#wire/http/framing.ts";
import type { Head } from "#wire/http/parsed-head.ts";
import type { EdgeContext } from "./context.ts";
import type { Page } from "#edge/pages/error-page.ts";
import type { Exchange } from "#edge/exchange/exchange.ts";
import type { ResponseSink } from "#edge/exchange/response-sink.ts";
import type { Coding } from "#edge/exchange/decisions.ts";
import { WHOLE_BYTES_MAX } from "#edge/compression/codecs.ts";

/** Bytes that may wait for compression before the edge pauses the origin. */
const PENDING_BYTES_MAX = 262_144;
/** Shared by all; never modified. Most responses gather nothing. */
const NOTHING: Buffer[] = [];

/** The source of a response, which can be paused. */
export interface ResponseSource {
  /** The request in progress. */
  readonly exchange: Exchange | null;
  /** Resumes after a pause. */
  goOn(): void;
}

/**
 * Compresses response bodies if the exchange asks for it, and pauses the source while the visitor is behind. It stands
 * between source and writer, so that earlier stages see the uncompressed body.
 */
export class CompressingSink implements ResponseSink {
  private readonly visitor: ResponseSink;
  private readonly source: ResponseSource;
  private readonly edge: Pick<EdgeContext, "codecs" | "report">;
  /** Null to pass the body unchanged. */
  private coding: Coding | null = null;
  private stream: Transform | null = null;
  /** The whole body, if it is known before it is sent. */
  private cachedBody: Buffer | null = null;
  /** The uncompressed body that is sent in place of the one that arrives; null to pass that on. */
  private instead: Buffer | null = null;
  /** The body is short; the sink waits for all of it and compresses it at once. */
  private isWhole = false;
  /** Copies of what arrived since the last flush, because the source reuses its buffer. */
  private gathered: Buffer[] = NOTHING;
  private gatheredBytes = 0;
  /** Bytes written to the compression stream that it has not consumed yet. */
  private pendingBytes = 0;

  constructor(visitor: ResponseSink, source: ResponseSource, edge: Pick<EdgeContext, "codecs" | "report">) {
    this.visitor = visitor;
    this.source = source;
    this.edge = edge;
  }

  admitBody(): void {
    this.visitor.admitBody();
  }

  onOriginDrain(): void {
    this.visitor.onOriginDrain();
  }

  sendInterim(buffer: Buffer, head: Head): void {
    this.visitor.sendInterim(buffer, head);
  }

  sendSwitch(buffer: Buffer, head: Head): boolean {
    return this.visitor.sendSwitch(buffer, head);
  }

  sendRaw(buffer: Buffer, start: number, end: number): void {
    this.visitor.sendRaw(buffer, start, end);
  }

  endRaw(): void {
    this.visitor.endRaw();
  }

  sendPage(page: Page): void {
    this.visitor.sendPage(page);
  }

  sendHead(buffer: Buffer, head: Head, framing: Framing): void {
    const { coding = null, cachedBody = null, isMinified = false } = this.source.exchange ?? {};
    this.instead = isMinified && coding === null && framing !== NO_BODY ? cachedBody : null;
    if (coding === null) return this.visitor.sendHead(buffer, head, framing);
    const { contentLength } = head;
    head.contentLength = -1;
    if (framing === NO_BODY) return this.visitor.sendHead(buffer, head, framing);
    this.coding = coding;
    this.cachedBody = cachedBody;
    this.isWhole = cachedBody !== null || (contentLength >= 0 && contentLength <= WHOLE_BYTES_MAX);
    if (!this.isWhole) this.stream = this.open(coding);
    this.visitor.sendHead(buffer, head, CHUNKED);
  }

  sendBody(buffer: Buffer, start: number, end: number): void {
    if (this.instead !== null) return;
    if (this.coding === null) return this.visitor.sendBody(buffer, start, end);
    if (this.cachedBody !== null) return;
    const piece = Buffer.from(buffer.subarray(start, end));
    if (this.gatheredBytes === 0) this.gathered = [piece];
    else this.gathered.push(piece);
    this.gatheredBytes += end - start;
  }

  flush(): boolean {
    if (this.coding === null) return this.visitor.flush();
    const { stream } = this;
    if (stream !== null && this.gatheredBytes > 0) {
      const piece = this.takeGathered();
      this.pendingBytes += piece.length;
      stream.write(piece, () => this.taken(piece.length));
    }
    const visitorHasRoom = this.visitor.flush();
    return visitorHasRoom && this.pendingBytes < PENDING_BYTES_MAX;
  }

  sendEnd(trailers: readonly Trailer[]): void {
    const { coding, stream } = this;
    if (coding === null) return this.sendAsIs(trailers);
    if (stream !== null) {
      stream.once("end", () => this.guard(() => this.finish(trailers)));
      return void stream.end(this.takeGathered());
    }
    const { codecs } = this.edge;
    const body = this.cachedBody === null ? codecs.whole(coding, this.takeGathered()) : codecs.kept(coding, this.cachedBody);
    this.visitor.sendBody(body, 0, body.length);
    this.finish(trailers);
  }

  private sendAsIs(trailers: readonly Trailer[]): void {
    const { instead } = this;
    this.instead = null;
    if (instead !== null) this.visitor.sendBody(instead, 0, instead.length);
    this.visitor.sendEnd(trailers);
  }

  cut(): void {
    this.abort();
    this.visitor.cut();
  }

  /** The visitor can receive more. Returns false while this sink still has bytes to send. */
  onVisitorDrain(): boolean {
    const { stream } = this;
    stream?.resume();
    return stream === null || this.pendingBytes < PENDING_BYTES_MAX;
  }

  /** The visitor is gone; discards the rest of the body. */
  abort(): void {
    const { stream } = this;
    this.instead = null;
    if (this.coding === null) return;
    this.coding = this.stream = this.cachedBody = null;
    this.takeGathered();
    this.pendingBytes = 0;
    stream?.destroy();
  }

  private open(coding: Coding): Transform {
    const stream = this.edge.codecs.open(coding);
    stream.on("data", (bytes: Buffer) =>
      this.guard(() => {
        if (this.stream !== stream) return;
        this.visitor.sendBody(bytes, 0, bytes.length);
        if (!this.visitor.flush()) stream.pause();
      }),
    );
    stream.on("error", (error) => {
      if (this.stream === stream) this.broken(error);
    });
    return stream;
  }

  private taken(bytes: number): void {
    const wasFull = this.pendingBytes >= PENDING_BYTES_MAX;
    this.pendingBytes = Math.max(0, this.pendingBytes - bytes);
    if (wasFull && this.pendingBytes < PENDING_BYTES_MAX) this.guard(() => this.source.goOn());
  }

  private finish(trailers: readonly Trailer[]): void {
    this.abort();
    this.visitor.sendEnd(trailers);
  }

  private takeGathered(): Buffer {
    const { gathered, gatheredBytes } = this;
    this.gathered = NOTHING;
    this.gatheredBytes = 0;
    return gathered.length === 1 ? gathered[0]! : Buffer.concat(gathered, gatheredBytes);
  }

  /** An exception ends only this response, not the worker. */
  private guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.broken(error);
    }
  }

  private broken(error: unknown): void {
    this.edge.report(error);
    this.cut();
  }
}
