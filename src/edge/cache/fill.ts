import type { Trailer } from "#wire/http/chunked.ts";
import { BY_LENGTH, CHUNKED, type Framing, NO_BODY } from "#wire/http/framing.ts";
import type { Head } from "#wire/http/head.ts";
import { formatHttpDate } from "#wire/http/http-date.ts";
import type { Page } from "#edge/error-page.ts";
import type { Exchange } from "#edge/exchange.ts";
import type { Visitor } from "#edge/forward.ts";
import { BodyBuffer } from "./body-buffer.ts";
import type { BodySource, CacheReader, Waited } from "./cache-reader.ts";
import { browserTtlOf } from "./cache-rule.ts";
import type { CacheStatus } from "./cache-status.ts";
import type { DiskWriter } from "./disk-writer.ts";
import { readFields, type ResponseField } from "./response-fields.ts";
import { refreshed } from "./refreshed.ts";
import { secondaryKey } from "./secondary-key.ts";
import { storedHead } from "./stored-head.ts";
import { type Asked, StoredResponse } from "./stored-response.ts";
import { STORED_STATUSES, type Storable, storableOf } from "./storing.ts";

/** What a fill needs of the cache that began it. */
export interface FillOwner {
  nowMs(): number;
  /** Names of targeted fields, the most specific first (RFC 9213). */
  readonly targets: readonly string[];
  /** The largest body that is kept. */
  readonly objectBytesMax: number;
  /** A place on disk for a body that is too large for the memory; null where there is none. */
  writer(): DiskWriter | null;
  /** The largest body that has a place on disk. */
  readonly diskObjectBytesMax: number;
  /** Sets bytes aside for bodies that are under way; false where there are too many already. A negative number gives them back. */
  reserve(bytes: number): boolean;
  keep(response: StoredResponse): void;
  keepWritten(writer: DiskWriter, describeAs: (length: number) => StoredResponse): void;
  /** `next` stands for what was confirmed. */
  renew(stale: StoredResponse, next: StoredResponse): void;
  drop(response: StoredResponse): void;
  /** Nobody may wait for this fill any more; `refused` where the response is not for all, so that nobody waits next time. */
  released(fill: Fill, refused: Refusal | null): void;
  respond(reader: CacheReader, response: StoredResponse, source: BodySource, status: CacheStatus): void;
  /** Answers with a response whose body is kept, in memory or on disk. */
  give(reader: CacheReader, response: StoredResponse, status: CacheStatus): void;
}

export interface Refusal {
  readonly status: CacheStatus;
  /** How long to remember it. */
  readonly keptMs: number;
  /** Only those who want a part of it need not wait. */
  readonly isForParts: boolean;
}

export interface FillRequest {
  readonly asked: Asked;
  /** The exchange that the origin is asked for. */
  readonly exchange: Exchange;
  readonly hasAuthorization: boolean;
  /** What was there and is too old; null where nothing was. */
  readonly stale: StoredResponse | null;
}

/** The way to the origin and back. */
export interface Source {
  abort(): void;
  onVisitorDrain(): void;
}

/** Before the head of the response. */
const WAITING = 0;
/** The length is known: all who wait read along. */
const SHARED = 1;
/** The length is not known: one reads along, the others wait for the end. */
const TOLD_ONE = 2;
/** Not kept: one reads, nobody waits. */
const PASSED = 3;
const OVER = 4;

/** An origin that means what it says of a response says it again; one that fails is well again soon. */
const REFUSED_MS = 30_000;
const FAILED_MS = 1_000;

/** What is longer is not fetched whole for somebody who wants a part of it. */
const PARTS_LENGTH_MAX = 4_194_304;

/** So much waits for the disk at most, and the origin goes on when so much is left. */
const PENDING_BYTES_MAX = 4_194_304;
const PENDING_BYTES_LOW = 1_048_576;

/**
 * One request to an origin for all who ask for the same: what it brings is kept and given to each of them. Takes the place
 * of a visitor towards the origin.
 */
export class Fill implements Visitor, Waited {
  readonly request: FillRequest;
  readonly startedMs: number;
  /** Set once the request is under way. */
  source: Source | null = null;
  /** What it brings was purged before it came. */
  isDoomed = false;
  /** Goes on although nobody waits. */
  isBackground = false;
  response: StoredResponse | null = null;
  private readonly owner: FillOwner;
  /** The first is the one who is told where only one can be. */
  private readonly readers = new Set<CacheReader>();
  /** Those who want a part: none of them is ever told the whole. */
  private readonly parts = new Set<CacheReader>();
  private state = WAITING;
  private body: BodyBuffer | null = null;
  /** Instead of `body`, where that would be too large. */
  private writer: DiskWriter | null = null;
  private pending: { readonly reason: string; readonly storable: Storable } | null = null;
  private reserved = 0;

  constructor(owner: FillOwner, request: FillRequest) {
    this.owner = owner;
    this.request = request;
    this.startedMs = owner.nowMs();
  }

  /** Nobody knows yet what will come of it. */
  get isWaiting(): boolean {
    return this.state === WAITING || (this.state === TOLD_ONE && this.writer === null);
  }

  /** One reads at his own pace, and nobody else is told anything. */
  get isForOne(): boolean {
    return this.writer !== null;
  }

  get status(): CacheStatus {
    return this.request.stale === null ? "MISS" : "EXPIRED";
  }

  /** Waits for the response, or reads along where it has begun. */
  join(reader: CacheReader): void {
    (reader.wantsPart ? this.parts : this.readers).add(reader);
    reader.waitFor(this);
    if (this.state === SHARED) this.share(reader);
  }

  /** Who still waits for a head, or for the end of what only one is told, does so no longer. */
  sendWaitersAway(): void {
    if (this.state === SHARED) return;
    this.sendOthersAway();
    // Where nobody is told the whole, one of those who want a part is as good as told until there is a head.
    if (this.state !== WAITING || this.readers.size > 0) this.dismissParts();
  }

  onReaderDrain(): void {
    // Only one that is told at the origin's pace comes here; others read what is there.
    this.source?.onVisitorDrain();
  }

  onReaderGone(reader: CacheReader): void {
    const [told] = this.readers;
    this.readers.delete(reader);
    this.parts.delete(reader);
    if (this.state === OVER || this.isBackground) return;
    if (this.readers.size + this.parts.size === 0 || (reader === told && this.state >= TOLD_ONE)) this.abandon();
  }

  admitBody(): void {}

  onOriginDrain(): void {}

  /** What an origin says ahead is meant for the one who asked. */
  sendInterim(): void {}

  sendSwitch(): boolean {
    return false;
  }

  sendRaw(): void {}

  endRaw(): void {}

  sendHead(buffer: Buffer, head: Head, framing: Framing): void {
    const { request, owner } = this;
    const { stale } = request;
    const nowMs = owner.nowMs();
    const [first] = this.everyone();
    if (first !== undefined) {
      first.exchange.originStatus = head.status;
      first.exchange.originTtfbMs = request.exchange.originTtfbMs;
    }
    if (stale !== null && head.status === 304) return this.confirm(stale, readFields(buffer, head), nowMs);
    if (stale !== null && head.status >= 500 && nowMs < stale.freshness.spareUntilMs) return this.useSpare(stale);
    const fields = withDate(readFields(buffer, head), nowMs);
    const storable = this.isDoomed ? null : storableOf(head.status, fields, this.storing(nowMs));
    const length = framing === NO_BODY ? 0 : framing === BY_LENGTH ? head.contentLength : null;
    const reason = buffer.toString("latin1", head.reasonStart, head.reasonEnd);
    // A part of what is not kept, or of what is long, is the origin's to give.
    if ((storable === null || (length ?? 0) > this.partsLengthMax) && this.dismissParts()) return;
    if (storable !== null && length !== null && length <= owner.objectBytesMax && this.set(length))
      this.beginShared(reason, storable, length);
    // The end of what ends with its connection cannot be told from a broken one.
    else if (storable !== null && (framing === CHUNKED || this.beginWriter(length))) this.tellOne(reason, storable, framing, length);
    else this.pass(buffer, head, framing, storable === null);
  }

  sendBody(buffer: Buffer, start: number, end: number): void {
    if (this.state === OVER) return;
    if (this.state !== PASSED) this.gather(buffer, start, end);
    if (this.state === SHARED) return;
    const [told] = this.readers;
    told?.sendBody(buffer, start, end);
  }

  sendEnd(trailers: readonly Trailer[]): void {
    if (this.state === OVER) return;
    const { state } = this;
    const [told, ...others] = this.readers;
    this.state = OVER;
    if (state === PASSED) return told?.finish(trailers);
    if (this.writer !== null) {
      if (this.isDoomed) this.writer.abort();
      else this.keepWritten(this.writer);
      this.writer = null;
      this.release(null);
      return told?.finish(trailers);
    }
    const response = this.complete();
    this.release(null);
    if (state === SHARED) return this.pump();
    told?.finish(trailers);
    for (const reader of others) this.give(reader, response, "HIT");
    for (const reader of [...this.parts]) this.give(reader, response, told === undefined ? this.status : "HIT");
  }

  flush(): boolean {
    if (this.state === SHARED) this.pump();
    if (this.state === SHARED || this.state === OVER) return true;
    const [told] = this.readers;
    const hasRoom = this.writer === null || this.writer.pendingBytes < PENDING_BYTES_MAX;
    return (told?.flush() ?? true) && hasRoom;
  }

  /** The origin could not be asked, or did not answer. */
  sendPage(page: Page): void {
    const { stale } = this.request;
    if (stale !== null && this.owner.nowMs() < stale.freshness.spareUntilMs) return this.useSpare(stale);
    const [told, ...others] = this.everyone();
    this.close(null);
    told?.sendPage(page);
    // Each of them finds out by itself: the page names the request it answers.
    for (const reader of others) this.sendAway(reader);
  }

  cut(): void {
    const { state } = this;
    const [told] = this.readers;
    const everyone = this.everyone();
    this.close(null);
    for (const reader of everyone) {
      if (state === SHARED || reader === told) reader.cut();
      else this.sendAway(reader);
    }
  }

  /** Ends it without a word to anybody: the last one who waited has left. */
  private abandon(refused: Refusal | null = null): void {
    const others = this.everyone();
    this.close(refused);
    this.source?.abort();
    for (const reader of others) this.sendAway(reader);
  }

  /** RFC 9111 §4.3.4: what is there still holds, and is brought up to date. */
  private confirm(stale: StoredResponse, fields: readonly ResponseField[], nowMs: number): void {
    const { asked, hasAuthorization } = this.request;
    const next = refreshed(stale, fields, asked, this.storing(nowMs));
    const readers = this.everyone();
    this.close(null);
    // What must not be kept for one who has credentials may still be kept for the others.
    if (next instanceof StoredResponse && !this.isDoomed) this.owner.renew(stale, next);
    else if (next !== null || !hasAuthorization) this.owner.drop(stale);
    for (const reader of readers) {
      if (next === "another") this.sendAway(reader);
      else this.give(reader, next ?? stale, "REVALIDATED");
    }
  }

  /** RFC 5861 §4 */
  private useSpare(stale: StoredResponse): void {
    const readers = this.everyone();
    this.close(null);
    this.source?.abort();
    for (const reader of readers) this.give(reader, stale, "STALE");
  }

  private beginShared(reason: string, storable: Storable, length: number): void {
    const { asked, exchange } = this.request;
    this.state = SHARED;
    this.body = new BodyBuffer(length);
    this.response = new StoredResponse(asked, reason, storable, secondaryKey(storable.vary, exchange), length);
    for (const reader of this.everyone()) this.share(reader);
  }

  private share(reader: CacheReader): void {
    const { response, body } = this;
    if (response === null || body === null) return;
    if (!this.isFor(reader, response) || (reader.wantsPart && response.length > this.partsLengthMax)) return this.sendAway(reader);
    this.owner.respond(reader, response, body, this.status);
  }

  private tellOne(reason: string, storable: Storable, framing: Framing, length: number | null): void {
    const { owner, request } = this;
    const [told] = this.readers;
    this.state = TOLD_ONE;
    if (this.writer === null) this.body = new BodyBuffer(null);
    else this.sendOthersAway();
    this.pending = { reason, storable };
    const passing = new StoredResponse(request.asked, reason, storable, "", 0);
    const { buffer, head } = storedHead(passing, { kind: "whole" }, length, owner.nowMs(), browserTtlOf(request.exchange));
    told?.sendHead(buffer, head, framing, this.status);
  }

  /** False where a body of this length has no place on disk either. */
  private beginWriter(length: number | null): boolean {
    const { owner } = this;
    if (length === null || length <= owner.objectBytesMax || length > owner.diskObjectBytesMax) return false;
    return this.openWriter() !== null;
  }

  private openWriter(): DiskWriter | null {
    const writer = this.owner.writer();
    if (writer === null) return null;
    this.writer = writer;
    writer.onWritten = () => {
      if (writer.pendingBytes <= PENDING_BYTES_LOW) this.source?.onVisitorDrain();
    };
    return writer;
  }

  private pass(buffer: Buffer, head: Head, framing: Framing, isRefused: boolean): void {
    const [told] = this.readers;
    const others = this.everyone().filter((reader) => reader !== told);
    const { stale } = this.request;
    const status = isRefused && !this.isDoomed && STORED_STATUSES.has(head.status) ? "BYPASS" : this.status;
    this.state = PASSED;
    if (stale !== null && head.status < 500) this.owner.drop(stale);
    const keptMs = head.status >= 500 ? FAILED_MS : REFUSED_MS;
    this.release(this.isDoomed ? null : { status, keptMs, isForParts: false });
    if (told === undefined) return this.abandon();
    told.sendHead(buffer, head, framing, status);
    for (const reader of others) this.sendAway(reader);
  }

  private gather(buffer: Buffer, start: number, end: number): void {
    const { body, owner } = this;
    if (this.writer === null && body !== null) {
      const length = body.length + end - start;
      if (this.state === SHARED) return body.append(buffer, start, end);
      const isKept = length <= owner.objectBytesMax && this.set(length);
      if ((!isKept || length > this.partsLengthMax) && this.dismissParts()) return;
      if (isKept) return body.append(buffer, start, end);
      this.body = null;
      const writer = length <= owner.diskObjectBytesMax ? this.openWriter() : null;
      if (writer !== null) {
        for (const piece of body.finish()) writer.append(piece, 0, piece.length);
        this.set(0);
        this.sendOthersAway();
      }
    }
    if (this.writer !== null && this.writer.length + end - start <= owner.diskObjectBytesMax) return this.writer.append(buffer, start, end);
    // Larger than anything that is kept: the one who is told has it all, the others begin anew.
    this.writer?.abort();
    this.writer = this.pending = null;
    this.state = PASSED;
    this.release({ status: this.status, keptMs: REFUSED_MS, isForParts: false });
    this.sendOthersAway();
  }

  /** Sends those away who want a part. True where it ended because nobody else waited. */
  private dismissParts(): boolean {
    if (this.parts.size === 0) return false;
    const isLast = this.readers.size === 0 && !this.isBackground;
    if (isLast) this.abandon({ status: this.status, keptMs: REFUSED_MS, isForParts: true });
    else for (const reader of [...this.parts]) this.sendAway(reader);
    return isLast;
  }

  private get partsLengthMax(): number {
    return Math.min(PARTS_LENGTH_MAX, this.owner.objectBytesMax);
  }

  private pump(): void {
    for (const reader of this.readers) reader.pump();
    for (const reader of this.parts) reader.pump();
  }

  private everyone(): CacheReader[] {
    return this.parts.size === 0 ? [...this.readers] : [...this.readers, ...this.parts];
  }

  private sendOthersAway(): void {
    const [, ...others] = this.readers;
    for (const reader of others) this.sendAway(reader);
  }

  private keepWritten(writer: DiskWriter): void {
    const { asked, exchange } = this.request;
    const { reason, storable } = this.pending!;
    const secondary = secondaryKey(storable.vary, exchange);
    this.owner.keepWritten(writer, (length) => new StoredResponse(asked, reason, storable, secondary, length));
  }

  private complete(): StoredResponse {
    const { asked, exchange } = this.request;
    const body = this.body!;
    if (this.response === null) {
      const { reason, storable } = this.pending!;
      this.response = new StoredResponse(asked, reason, storable, secondaryKey(storable.vary, exchange), body.length);
    }
    this.response.body = body.finish();
    if (!this.isDoomed) this.owner.keep(this.response);
    return this.response;
  }

  /** One who waited gets what is there now. */
  private give(reader: CacheReader, response: StoredResponse, status: CacheStatus): void {
    this.forget(reader);
    if (!this.isFor(reader, response)) return reader.goAlone();
    this.owner.give(reader, response, status);
  }

  private isFor(reader: CacheReader, { vary, secondary }: StoredResponse): boolean {
    return vary.length === 0 || secondaryKey(vary, reader.exchange) === secondary;
  }

  private sendAway(reader: CacheReader): void {
    this.forget(reader);
    reader.goAlone();
  }

  private forget(reader: CacheReader): void {
    this.readers.delete(reader);
    this.parts.delete(reader);
  }

  private storing(nowMs: number) {
    const { exchange, hasAuthorization } = this.request;
    const { path, cacheRule: rule } = exchange;
    return { requestMs: this.startedMs, responseMs: nowMs, hasAuthorization, targets: this.owner.targets, rule, path };
  }

  /** Sets aside what a body of this length takes. */
  private set(length: number): boolean {
    if (!this.owner.reserve(length - this.reserved)) return false;
    this.reserved = length;
    return true;
  }

  private close(refused: Refusal | null): void {
    this.state = OVER;
    this.writer?.abort();
    this.writer = null;
    this.release(refused);
  }

  private release(refused: Refusal | null): void {
    this.owner.reserve(-this.reserved);
    this.reserved = 0;
    this.owner.released(this, refused);
  }
}

/** RFC 9110 §6.6.1: what is kept says when it was made. */
const withDate = (fields: ResponseField[], nowMs: number): readonly ResponseField[] =>
  fields.some(({ key }) => key === "date") ? fields : [{ name: "Date", key: "date", value: formatHttpDate(nowMs) }, ...fields];
