import type { CacheReader, Waited } from "#edge/cache/serve/cache-reader.ts";
import type { CacheStatus } from "#edge/exchange/cache-decision.ts";
import { FillKeeping } from "./fill-storage.ts";
import type { FillOwner, FillRequest, Refusal, Source } from "./fill-context.ts";
import { FillReaders, isFor } from "./fill-waiters.ts";
import type { StoredResponse } from "#edge/cache/store/stored-response.ts";

/** Progress of a fill. */
type Stage = typeof WAITING | typeof COLLAPSED | typeof SINGLE_CLIENT | typeof PASS | typeof DONE;

/** Before the head of the response. */
const WAITING = 0;
/** The length is known: all readers read along. */
export const COLLAPSED = 1;
/** The length is unknown: one reader streams the response, the others wait for its end. */
export const SINGLE_CLIENT = 2;
/** Not stored: one reader streams the response, nobody waits. */
export const PASS = 3;
export const DONE = 4;

/** How long to remember that a response cannot be shared, in milliseconds: origins seldom change their mind. */
export const REFUSED_MS = 30_000;

/** Longer responses are not fetched whole for a range request. */
const PARTS_LENGTH_MAX = 4_194_304;

/** One request to an origin for all equal requests. Stores the response (fill-response.ts) and gives it to each reader. */
export class Fill implements Waited {
  readonly request: FillRequest;
  readonly startedMs: number;
  /** Set when the request is sent. */
  source: Source | null = null;
  /** The response was purged before it arrived. */
  isDoomed = false;
  /** The reader whose request goes to the origin; null in the background. */
  asker: CacheReader | null = null;
  /** Continues even if nobody waits. */
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

  /** Available once the length is known or the end has arrived. */
  get response(): StoredResponse | null {
    return this.keeping.response;
  }

  /** Not known yet whether the response will be stored in full. */
  get isWaiting(): boolean {
    return this.stage === WAITING || (this.stage === SINGLE_CLIENT && !this.keeping.isOnDisk);
  }

  /** A single reader streams the response at its own pace. */
  get isForOne(): boolean {
    return this.keeping.isOnDisk;
  }

  get status(): CacheStatus {
    return this.request.stale === null ? "MISS" : "EXPIRED";
  }

  /** Waits for the response, or reads along if it has begun. */
  join(reader: CacheReader): void {
    this.readers.add(reader);
    reader.waitFor(this);
    if (this.stage === COLLAPSED) this.share(reader);
  }

  /** Sends readers that wait for the head or the end to the origin, when their wait is over. */
  sendWaitersAway(): void {
    if (this.stage === COLLAPSED) return;
    this.readers.sendOthersAway();
    // If only range requests wait, keep one of them waiting for the head.
    if (this.stage !== WAITING || this.readers.wantWhole) this.dismissParts();
  }

  onReaderDrain(): void {
    // Only the reader that sets the origin's pace calls this; others read stored bytes.
    this.source?.onVisitorDrain();
  }

  onReaderGone(reader: CacheReader): void {
    const { told } = this.readers;
    this.readers.forget(reader);
    if (this.stage === DONE || this.isBackground) return;
    if (this.readers.isEmpty || (reader === told && this.stage >= SINGLE_CLIENT)) this.abandon();
  }

  /** Aborts the fill; readers that are left go to the origin. */
  abandon(refused: Refusal | null = null): void {
    const others = this.readers.everyone();
    this.close(refused);
    this.source?.abort();
    for (const reader of others) this.readers.sendAway(reader);
  }

  /** Lets a reader read along if the response matches its request. */
  share(reader: CacheReader): void {
    const { response, body } = this.keeping;
    if (response === null || body === null) return;
    if (!isFor(reader, response) || (reader.wantsPart && response.length > this.partsLengthMax)) return this.readers.sendAway(reader);
    this.owner.respond(reader, response, body, this.status);
  }

  /** Sends range requests to the origin. Returns true if the fill ended because nobody else waited. */
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

  /** Ends the fill; stores nothing more. */
  close(refused: Refusal | null): void {
    this.stage = DONE;
    this.keeping.giveUp();
    this.release(refused);
  }

  /** New requests may no longer wait for this fill. */
  release(refused: Refusal | null): void {
    this.keeping.release();
    this.owner.released(this.request, refused);
  }
}
