import { CR, LF } from "#wire/http/bytes.ts";
import { type BodySink, NEED_MORE, type Trailer } from "#wire/http/chunked.ts";
import { BodyReader, NO_BODY, requestFraming } from "#wire/http/framing.ts";
import {
  findHeadEnd,
  HEAD_BYTES_MAX,
  canBeginRequest,
  isHopelessStart,
  isRequestLine,
  longHeadFault,
  parseRequestHead,
} from "#wire/http/head.ts";
import { Head } from "#wire/http/parsed-head.ts";
import { PendingBytes } from "#wire/http/pending-bytes.ts";

/** The connection of a reader, as the reader sees it. Heads and bytes are valid only during the call. */
export interface RequestHandler extends BodySink {
  /** A whole head; the bytes after it wait for `admitBody` or `next`. */
  onHead(buffer: Buffer, head: Head): void;
  onRequestEnd(trailers: readonly Trailer[]): void;
  /** `status` tells the client what was wrong; with `PADDING` the connection ends without a response. */
  onMalformed(status: number): void;
  /**
   * The connection begins with the preface of HTTP/2 (RFC 9113 §3.4). `bytes`: everything that came; nothing more is read
   * here.
   */
  onPreface(bytes: Buffer): void;
}

/** Bytes after a whole request do not begin another one: some clients pad their requests, and have their response already. */
export const PADDING = 0;

/** The preface of HTTP/2 looks like a head of another version to a reader of HTTP/1.1. */
const PREFACE_HEAD = "PRI * HTTP/2.0\r\n\r\n";

/** Bytes that a client sent ahead wait up to this bound; beyond it, its socket should not be read. */
const HELD_BYTES_MAX = 65_536;

/** Shared by all connections of a thread: a head is consumed before the next is parsed. */
const requestHead = new Head();

const IN_HEAD = 0;
/** The request is complete, or nobody takes its body yet. */
const WAITING = 1;
const IN_BODY = 2;
const STOPPED = 3;

/** Splits a client's bytes into requests, one at a time. */
export class Http1Reader {
  /** The current request has ended; true between requests. */
  isComplete = true;
  /** True during a `feed`, and during the calls that follow from it. */
  isRunning = false;
  /** Bytes of requests so far, without those that a client sent ahead. */
  consumed = 0;
  /** Bytes after the current request, while they are not yet in `pending`. */
  private ahead = 0;
  private readonly handler: RequestHandler;
  private readonly pending = new PendingBytes();
  private readonly body = new BodyReader();
  private phase = IN_HEAD;
  /** Bytes of an unfinished head that were searched for its end already. */
  private scanned = 0;

  constructor(handler: RequestHandler) {
    this.handler = handler;
  }

  /** A part of a head has come. */
  get isMidHead(): boolean {
    return this.phase === IN_HEAD && this.pending.length > 0;
  }

  /** The client has sent something after the current request. */
  get hasMore(): boolean {
    return this.isRunning ? this.ahead > 0 : this.pending.length > 0;
  }

  get isReadingBody(): boolean {
    return this.phase === IN_BODY;
  }

  /** Nothing more is read: the bytes so far belong to the last request. */
  get isStopped(): boolean {
    return this.phase === STOPPED;
  }

  /** The socket should not be read for now. */
  get isFull(): boolean {
    return this.phase === WAITING && (!this.isComplete || this.pending.length > HELD_BYTES_MAX);
  }

  /** Takes `buffer[0, length)`, which is valid only during the call. */
  feed(buffer: Buffer, length: number): void {
    if (this.phase === STOPPED) return;
    if (this.pending.length > 0) {
      this.pending.append(buffer, 0, length);
      this.run(this.pending.buffer, this.pending.start, this.pending.end);
    } else this.run(buffer, 0, length);
  }

  /** Reads the body of the request from now on. */
  admitBody(): void {
    if (this.isComplete || this.phase !== WAITING) return;
    this.phase = IN_BODY;
    this.proceed();
  }

  /** Reads the next request. */
  next(): void {
    if (this.phase === STOPPED) return;
    this.phase = IN_HEAD;
    this.proceed();
  }

  /** Stops reading and returns the bytes that were not read. */
  stop(): Buffer {
    const rest = Buffer.from(this.pending.buffer.subarray(this.pending.start, this.pending.end));
    this.phase = STOPPED;
    this.pending.clear();
    return rest;
  }

  private proceed(): void {
    // A running `feed` reaches the new phase by itself.
    if (!this.isRunning && this.pending.length > 0) this.run(this.pending.buffer, this.pending.start, this.pending.end);
  }

  private run(buffer: Buffer, start: number, end: number): void {
    let at = start;
    this.isRunning = true;
    try {
      while (at < end && (this.phase === IN_HEAD || this.phase === IN_BODY)) {
        const before = at;
        at = this.phase === IN_HEAD ? this.readHead(buffer, at, end) : this.readBody(buffer, at, end);
        if (at === before) break;
      }
    } finally {
      this.isRunning = false;
    }
    if (at < end && this.phase !== STOPPED) this.pending.hold(buffer, at, end);
    else this.pending.clear();
  }

  /** Returns the offset just past the bytes it read: at most empty lines if the head is not complete. */
  private readHead(buffer: Buffer, start: number, end: number): number {
    let at = start;
    // RFC 9112 §2.2: an empty line before a request is ignored.
    while (at + 1 < end && buffer[at] === CR && buffer[at + 1] === LF) at += 2;
    if (at === end) return at;
    const from = at === start ? at + this.scanned : at;
    const headEnd = findHeadEnd(buffer, at, end, from);
    if ((headEnd < 0 ? end : headEnd) - at > HEAD_BYTES_MAX) return this.refuse(longHeadFault(buffer, at, end), end);
    if (headEnd < 0) {
      if (isHopelessStart(buffer, at, end, from, isRequestLine))
        return this.refuse(this.consumed > 0 && !canBeginRequest(buffer[at]) ? PADDING : 400, end);
      this.scanned = end - at;
      return at;
    }
    this.scanned = 0;
    const fault = parseRequestHead(buffer, at, headEnd, requestHead);
    if (fault !== 0) return this.isPreface(fault, buffer, start, headEnd) ? this.passOn(buffer, start, end) : this.refuse(fault, end);
    const framing = requestFraming(requestHead);
    this.body.begin(framing, requestHead.contentLength);
    this.isComplete = framing === NO_BODY;
    this.phase = WAITING;
    this.consumed += headEnd - start;
    this.ahead = end - headEnd;
    this.handler.onHead(buffer, requestHead);
    return headEnd;
  }

  private readBody(buffer: Buffer, start: number, end: number): number {
    const bodyEnd = this.body.read(buffer, start, end, this.handler);
    if (bodyEnd === NEED_MORE) {
      this.consumed += end - start;
      return end;
    }
    if (bodyEnd < 0) return this.refuse(-bodyEnd, end);
    this.consumed += bodyEnd - start;
    this.isComplete = true;
    this.ahead = end - bodyEnd;
    if (this.phase === IN_BODY) this.phase = WAITING;
    this.handler.onRequestEnd(this.body.trailers);
    return bodyEnd;
  }

  private isPreface(fault: number, buffer: Buffer, start: number, end: number): boolean {
    if (fault !== 505 || this.consumed > 0 || end - start !== PREFACE_HEAD.length) return false;
    return buffer.toString("latin1", start, end) === PREFACE_HEAD;
  }

  private passOn(buffer: Buffer, start: number, end: number): number {
    this.phase = STOPPED;
    this.handler.onPreface(Buffer.from(buffer.subarray(start, end)));
    return end;
  }

  /** Reads nothing more from a client whose bytes are malformed. */
  private refuse(status: number, end: number): number {
    this.phase = STOPPED;
    this.handler.onMalformed(status);
    return end;
  }
}
