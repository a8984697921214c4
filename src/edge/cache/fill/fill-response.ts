import { latin1 } from "#wire/http/bytes.ts";
import type { Trailer } from "#wire/http/chunked.ts";
import { BY_LENGTH, CHUNKED, type Framing, NO_BODY } from "#wire/http/framing.ts";
import type { Head } from "#wire/http/parsed-head.ts";
import type { Page } from "#edge/pages/error-page.ts";
import type { ResponseSink } from "#edge/exchange/response-sink.ts";
import { browserTtlOf } from "#edge/cache/policy/cache-rule.ts";
import { type Fill, DONE, PASS, REFUSED_MS, COLLAPSED, SINGLE_CLIENT } from "./fill.ts";
import { readFields, type ResponseField, withDate } from "#edge/cache/policy/response-fields.ts";
import { refreshed } from "#edge/cache/serve/freshen.ts";
import { storedHead } from "#edge/cache/serve/stored-head.ts";
import { StoredResponse } from "#edge/cache/store/stored-response.ts";
import { STORED_STATUSES, type Storable, cacheabilityOf, withheldFields } from "#edge/cache/policy/cacheability.ts";

/** Freshness of a failed response, in milliseconds: the origin may recover soon. */
const FAILED_MS = 1_000;

/** Receives the origin's response for a fill, in place of a visitor. */
export class FillResponse implements ResponseSink {
  private readonly fill: Fill;
  private readonly readers: Fill["readers"];
  private readonly keeping: Fill["keeping"];

  constructor(fill: Fill) {
    this.fill = fill;
    this.readers = fill.readers;
    this.keeping = fill.keeping;
  }

  admitBody(): void {}

  onOriginDrain(): void {}

  /** 1xx responses are for the client that asked; others that wait get none. */
  sendInterim(buffer: Buffer, head: Head): void {
    this.fill.asker?.sendInterim(buffer, head);
  }

  sendSwitch(): boolean {
    return false;
  }

  sendRaw(): void {}

  endRaw(): void {}

  sendHead(buffer: Buffer, head: Head, framing: Framing): void {
    const { request, owner } = this.fill;
    const { stale } = request;
    const nowMs = owner.nowMs();
    const [first] = this.readers.everyone();
    if (first !== undefined) {
      first.exchange.originStatus = head.status;
      first.exchange.originTtfbMs = request.exchange.originTtfbMs;
    }
    if (stale !== null && head.status === 304) return this.confirm(stale, readFields(buffer, head), nowMs);
    if (stale !== null && head.status >= 500 && nowMs < stale.freshness.spareUntilMs) return this.useSpare(stale);
    const fields = withDate(readFields(buffer, head), nowMs);
    const storable = this.fill.isDoomed ? null : cacheabilityOf(head.status, fields, this.storing(nowMs));
    if (storable !== null) this.withhold(fields, head.status, nowMs);
    const length = framing === NO_BODY ? 0 : framing === BY_LENGTH ? head.contentLength : null;
    const reason = latin1(buffer, head.reasonStart, head.reasonEnd);
    // The origin itself must answer range requests for a long body or one that is not stored.
    if ((storable === null || (length ?? 0) > this.fill.partsLengthMax) && this.fill.dismissParts()) return;
    if (storable !== null && length !== null && this.keeping.fits(length)) this.beginShared(reason, storable, length);
    // If the connection's end delimits the body, a complete body looks like a broken one.
    else if (storable !== null && (framing === CHUNKED || this.keeping.fitsDisk(length))) this.tellOne(reason, storable, framing, length);
    else this.pass(buffer, head, framing, storable === null);
  }

  sendBody(buffer: Buffer, start: number, end: number): void {
    if (this.fill.stage === DONE) return;
    if (this.fill.stage !== PASS) this.gather(buffer, start, end);
    if (this.fill.stage === COLLAPSED) return;
    this.readers.told?.sendBody(buffer, start, end);
  }

  sendEnd(trailers: readonly Trailer[]): void {
    if (this.fill.stage === DONE) return;
    const { stage, isDoomed, status } = this.fill;
    const { told, others } = this.readers;
    this.fill.stage = DONE;
    if (stage === PASS) return told?.finish(trailers);
    if (this.keeping.isOnDisk) {
      this.keeping.finishOnDisk(isDoomed);
      this.fill.release(null);
      return told?.finish(trailers);
    }
    const response = this.keeping.finish(isDoomed);
    this.fill.release(null);
    if (stage === COLLAPSED) return this.readers.pump();
    told?.finish(trailers);
    for (const reader of others) this.readers.give(reader, response, "HIT");
    for (const reader of this.readers.ofParts()) this.readers.give(reader, response, told === undefined ? status : "HIT");
  }

  flush(): boolean {
    if (this.fill.stage === COLLAPSED) this.readers.pump();
    if (this.fill.stage === COLLAPSED || this.fill.stage === DONE) return true;
    const { hasRoom } = this.keeping;
    return this.readers.told?.flush() !== false && hasRoom;
  }

  /** The edge could not reach the origin, or got no valid response. */
  sendPage(page: Page): void {
    const { stale } = this.fill.request;
    if (stale !== null && this.fill.owner.nowMs() < stale.freshness.spareUntilMs) return this.useSpare(stale);
    const [told, ...others] = this.readers.everyone();
    this.fill.close(null);
    told?.sendPage(page);
    // The others repeat the request: an error page names the request that it answers.
    for (const reader of others) this.readers.sendAway(reader);
  }

  cut(): void {
    const { stage } = this.fill;
    const { told } = this.readers;
    const everyone = this.readers.everyone();
    this.fill.close(null);
    for (const reader of everyone) {
      if (stage === COLLAPSED || reader === told) reader.cut();
      else this.readers.sendAway(reader);
    }
  }

  /** RFC 9111 §4.3.4: the stored response is still valid; updates its fields. */
  private confirm(stale: StoredResponse, fields: readonly ResponseField[], nowMs: number): void {
    const { asked, hasAuthorization } = this.fill.request;
    const next = refreshed(stale, fields, asked, this.storing(nowMs));
    const named = new Set(fields.map(({ key }) => key));
    this.withhold([...stale.fields.filter(({ key }) => !named.has(key)), ...fields], stale.status, nowMs);
    const readers = this.readers.everyone();
    this.fill.close(null);
    // A response that must not be stored for a request with credentials may still be stored for others.
    if (next instanceof StoredResponse && !this.fill.isDoomed) this.fill.owner.renew(stale, next);
    else if (next !== null || !hasAuthorization) this.fill.owner.drop(stale);
    for (const reader of readers) {
      if (next === "another") this.readers.sendAway(reader);
      else this.readers.give(reader, next ?? stale, "REVALIDATED");
    }
  }

  /** Serves the stale response instead of an error (RFC 5861 §4). */
  private useSpare(stale: StoredResponse): void {
    const readers = this.readers.everyone();
    this.fill.close(null);
    this.fill.source?.abort();
    for (const reader of readers) this.readers.give(reader, stale, "STALE");
  }

  /** Fields that may not be stored still go to the visitor whose request the response answers (RFC 9111 §5.2.2.4, §5.2.2.7). */
  private withhold(received: readonly ResponseField[], status: number, nowMs: number): void {
    const { asker } = this.fill;
    if (asker !== null) asker.own = withheldFields(received, status, this.storing(nowMs));
  }

  private beginShared(reason: string, storable: Storable, length: number): void {
    this.fill.stage = COLLAPSED;
    this.keeping.begin(reason, storable, length);
    for (const reader of this.readers.everyone()) this.fill.share(reader);
  }

  private tellOne(reason: string, storable: Storable, framing: Framing, length: number | null): void {
    const { owner, request } = this.fill;
    const { told } = this.readers;
    this.fill.stage = SINGLE_CLIENT;
    this.keeping.beginUnknown(reason, storable);
    if (this.keeping.isOnDisk) this.readers.sendOthersAway();
    const passing = new StoredResponse(request.asked, reason, storable, "", 0);
    const { buffer, head } = storedHead(passing, { kind: "whole" }, length, owner.nowMs(), browserTtlOf(request.exchange), told?.own ?? []);
    told?.sendHead(buffer, head, framing, this.fill.status);
  }

  private pass(buffer: Buffer, head: Head, framing: Framing, isRefused: boolean): void {
    const { told } = this.readers;
    const others = this.readers.everyone().filter((reader) => reader !== told);
    const { stale } = this.fill.request;
    const status = isRefused && !this.fill.isDoomed && STORED_STATUSES.has(head.status) ? "BYPASS" : this.fill.status;
    this.fill.stage = PASS;
    if (stale !== null && head.status < 500) this.fill.owner.drop(stale);
    const keptMs = head.status >= 500 ? FAILED_MS : REFUSED_MS;
    this.fill.release(this.fill.isDoomed ? null : { status, keptMs, isForParts: false });
    if (told === undefined) return this.fill.abandon();
    told.sendHead(buffer, head, framing, status);
    for (const reader of others) this.readers.sendAway(reader);
  }

  private gather(buffer: Buffer, start: number, end: number): void {
    const { keeping } = this;
    const { body } = keeping;
    if (body !== null) {
      if (this.fill.stage === COLLAPSED) return body.append(buffer, start, end);
      const length = body.length + end - start;
      const isKept = keeping.fits(length);
      if ((!isKept || length > this.fill.partsLengthMax) && this.fill.dismissParts()) return;
      if (isKept) return body.append(buffer, start, end);
      if (keeping.moveToDisk(length)) this.readers.sendOthersAway();
    }
    if (keeping.appendOnDisk(buffer, start, end)) return;
    // Too large to store: the one reader that streams it gets all of it, the others repeat the request.
    keeping.giveUp();
    this.fill.stage = PASS;
    this.fill.release({ status: this.fill.status, keptMs: REFUSED_MS, isForParts: false });
    this.readers.sendOthersAway();
  }

  private storing(nowMs: number) {
    const { exchange, hasAuthorization } = this.fill.request;
    const { origin_path: path, cacheRule: rule } = exchange;
    return { requestMs: this.fill.startedMs, responseMs: nowMs, hasAuthorization, targets: this.fill.owner.targets, rule, path };
  }
}
