import type { CacheReader, Waited } from "#edge/cache/serve/cache-reader.ts";
import type { CacheStatus } from "#edge/exchange/cache-decision.ts";
import { FillKeeping } from "./fill-storage.ts";
import type { FillOwner, FillRequest, Refusal, Source } from "./fill-context.ts";
import { FillReaders, isFor } from "./fill-waiters.ts";
import type { StoredResponse } from "#edge/cache/store/stored-response.ts";

/** How far a fill has come. */
type Stage = typeof WAITING | typeof SHARED | typeof TOLD_ONE | typeof PASSED | typeof OVER;

/** Before the head of the response. */
const WAITING = 0;
/** The length is known: all who wait read along. */
export const SHARED = 1;
/** The length is not known: one reads along, the others wait for the end. */
export const TOLD_ONE = 2;
/** Not kept: one reads, nobody waits. */
export const PASSED = 3;
export const OVER = 4;

/** An origin that means what it says of a response says it again. */
export const REFUSED_MS = 30_000;

/** What is longer is not fetched whole for somebody who wants a part of it. */
const PARTS_LENGTH_MAX = 4_194_304;

/** One request to an origin for all who ask for the same: what it brings (fill-arrival.ts) is kept and given to each of them. */
export class Fill implements Waited {
  readonly request: FillRequest;
  readonly startedMs: number;
  /** Set once the request is under way. */
  source: Source | null = null;
  /** What it brings was purged before it came. */
  isDoomed = false;
  /** Goes on although nobody waits. */
  isBackground = false;
  readonly owner: FillOwner;
  readonly readers: FillReaders;
  readonly keeping: FillKeeping;
  stage: Stage = WAITING;

  constructor(owner: FillOwner, request: FillRequest) {
    this.owner = owner;
    this.request = request;
    this.readers = new FillReaders(owner);
    this.keeping = new FillKeeping(owner, request, () => this.source?.onVisitorDrain());
    this.startedMs = owner.nowMs();
  }

  /** Known once the length is, or the end has come. */
  get response(): StoredResponse | null {
    return this.keeping.response;
  }

  /** Nobody knows yet what will come of it. */
  get isWaiting(): boolean {
    return this.stage === WAITING || (this.stage === TOLD_ONE && !this.keeping.isOnDisk);
  }

  /** One reads at his own pace, and nobody else is told anything. */
  get isForOne(): boolean {
    return this.keeping.isOnDisk;
  }

  get status(): CacheStatus {
    return this.request.stale === null ? "MISS" : "EXPIRED";
  }

  /** Waits for the response, or reads along where it has begun. */
  join(reader: CacheReader): void {
    this.readers.add(reader);
    reader.waitFor(this);
    if (this.stage === SHARED) this.share(reader);
  }

  /** Who still waits for a head, or for the end of what only one is told, does so no longer. */
  sendWaitersAway(): void {
    if (this.stage === SHARED) return;
    this.readers.sendOthersAway();
    // Where nobody is told the whole, one of those who want a part is as good as told until there is a head.
    if (this.stage !== WAITING || this.readers.wantWhole) this.dismissParts();
  }

  onReaderDrain(): void {
    // Only one that is told at the origin's pace comes here; others read what is there.
    this.source?.onVisitorDrain();
  }

  onReaderGone(reader: CacheReader): void {
    const { told } = this.readers;
    this.readers.forget(reader);
    if (this.stage === OVER || this.isBackground) return;
    if (this.readers.isEmpty || (reader === told && this.stage >= TOLD_ONE)) this.abandon();
  }

  /** Ends it without a word to anybody: the last one who waited has left. */
  abandon(refused: Refusal | null = null): void {
    const others = this.readers.everyone();
    this.close(refused);
    this.source?.abort();
    for (const reader of others) this.readers.sendAway(reader);
  }

  /** Lets one read along, where this is what he wants. */
  share(reader: CacheReader): void {
    const { response, body } = this.keeping;
    if (response === null || body === null) return;
    if (!isFor(reader, response) || (reader.wantsPart && response.length > this.partsLengthMax)) return this.readers.sendAway(reader);
    this.owner.respond(reader, response, body, this.status);
  }

  /** Sends those away who want a part. True where it ended because nobody else waited. */
  dismissParts(): boolean {
    if (!this.readers.wantParts) return false;
    const isLast = !this.readers.wantWhole && !this.isBackground;
    if (isLast) this.abandon({ status: this.status, keptMs: REFUSED_MS, isForParts: true });
    else for (const reader of this.readers.ofParts()) this.readers.sendAway(reader);
    return isLast;
  }

  get partsLengthMax(): number {
    return Math.min(PARTS_LENGTH_MAX, this.owner.objectBytesMax);
  }

  /** It is over, and nothing more of it is kept. */
  close(refused: Refusal | null): void {
    this.stage = OVER;
    this.keeping.giveUp();
    this.release(refused);
  }

  /** Nobody may wait for it any more. */
  release(refused: Refusal | null): void {
    this.keeping.release();
    this.owner.released(this.request, refused);
  }
}
