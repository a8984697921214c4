import type { CacheReader } from "#edge/cache/serve/cache-reader.ts";
import type { CacheStatus } from "#edge/exchange/cache-decision.ts";
import type { FillOwner } from "./fill-context.ts";
import { secondaryKey } from "#edge/cache/key/secondary-key.ts";
import type { StoredResponse } from "#edge/cache/store/stored-response.ts";

/** The readers that wait for a fill or read along. */
export class FillReaders {
  private readonly owner: Pick<FillOwner, "give">;
  /** In order of arrival; if only one reader can stream the response, it is the first. */
  private readonly whole = new Set<CacheReader>();
  /** Range requests, which never get the whole response. */
  private readonly parts = new Set<CacheReader>();

  constructor(owner: Pick<FillOwner, "give">) {
    this.owner = owner;
  }

  get isEmpty(): boolean {
    return this.whole.size + this.parts.size === 0;
  }

  get wantWhole(): boolean {
    return this.whole.size > 0;
  }

  get wantParts(): boolean {
    return this.parts.size > 0;
  }

  /** The reader that streams the response if only one can. */
  get told(): CacheReader | undefined {
    const [told] = this.whole;
    return told;
  }

  /** The other readers that want the whole response. */
  get others(): readonly CacheReader[] {
    const [, ...others] = this.whole;
    return others;
  }

  everyone(): readonly CacheReader[] {
    return [...this.whole, ...this.parts];
  }

  ofParts(): readonly CacheReader[] {
    return [...this.parts];
  }

  add(reader: CacheReader): void {
    (reader.wantsPart ? this.parts : this.whole).add(reader);
  }

  forget(reader: CacheReader): void {
    this.whole.delete(reader);
    this.parts.delete(reader);
  }

  /** More of the body is available. */
  pump(): void {
    for (const reader of this.whole) reader.pump();
    for (const reader of this.parts) reader.pump();
  }

  /** Answers one waiting reader. */
  give(reader: CacheReader, response: StoredResponse, status: CacheStatus): void {
    this.forget(reader);
    if (!isFor(reader, response)) return reader.goAlone();
    this.owner.give(reader, response, status);
  }

  sendAway(reader: CacheReader): void {
    this.forget(reader);
    reader.goAlone();
  }

  sendOthersAway(): void {
    for (const reader of this.others) this.sendAway(reader);
  }
}

/** Whether the response matches the request's fields that Vary names (RFC 9111 §4.1). */
export const isFor = (reader: CacheReader, { vary, secondary }: StoredResponse): boolean =>
  vary.length === 0 || secondaryKey(vary, reader.exchange) === secondary;
