import type { CacheReader } from "#edge/cache/serve/cache-reader.ts";
import type { CacheStatus } from "#edge/exchange/cache-decision.ts";
import type { FillOwner } from "./fill-context.ts";
import { secondaryKey } from "#edge/cache/key/secondary-key.ts";
import type { StoredResponse } from "#edge/cache/store/stored-response.ts";

/** Who waits for one fill, or reads along. */
export class FillReaders {
  private readonly owner: Pick<FillOwner, "give">;
  /** The first is the one who is told where only one can be. */
  private readonly whole = new Set<CacheReader>();
  /** Those who want a part: none of them is ever told the whole. */
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

  /** The one who is told where only one can be. */
  get told(): CacheReader | undefined {
    const [told] = this.whole;
    return told;
  }

  /** Those who want the whole as well. */
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

  /** More of the body is there. */
  pump(): void {
    for (const reader of this.whole) reader.pump();
    for (const reader of this.parts) reader.pump();
  }

  /** One who waited gets what is there now. */
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

/** Whether the response is the one that this visitor's fields choose (RFC 9111 §4.1). */
export const isFor = (reader: CacheReader, { vary, secondary }: StoredResponse): boolean =>
  vary.length === 0 || secondaryKey(vary, reader.exchange) === secondary;
