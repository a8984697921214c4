import { SharedSet } from "#kernel/shared-set.ts";
import type { RecordSettings } from "#snapshot/entries.ts";
import { TYPE } from "#wire/dns/codes.ts";
import type { NameKey } from "#wire/dns/name.ts";
import { typeCode } from "#wire/dns/record-types.ts";
import type { NameNode, RRset, RRsets, StoredRecord } from "./rrset.ts";

export const NO_SETS: RRsets = new Map();

/** Above this number, a name's records are a set, so that adding and removing take constant time. */
const LISTED_MAX = 16;

type Held = StoredRecord | StoredRecord[] | SharedSet<StoredRecord> | null;

const rdataOf = ({ rdata }: StoredRecord): string => rdata;

/**
 * One owner name, or an empty non-terminal (RFC 8020). The RRsets are built from the records on first use, because many
 * names are never queried. A class, because there is one per name and each answer reads one.
 */
export class IndexedName implements NameNode {
  readonly key: NameKey;
  /** Increases with each created name, as does its position in the map. */
  readonly order: number;
  /**
   * Records at the name, and existing names directly below it; at 0, the name does not exist. So a change of a record
   * touches the names above only as far as they come or go with it.
   */
  holds: number;
  /** The record itself if there is only one, as at most names. */
  #held: Held = null;
  /** Its NS and DNAME records. */
  #borders = 0;
  #sets: RRsets | null = NO_SETS;

  constructor(key: NameKey, order: number, holds: number) {
    this.key = key;
    this.order = order;
    this.holds = holds;
  }

  /** A copy with the same records that can be changed independently. Of many records, it copies those near a change later. */
  copy(): IndexedName {
    const copy = new IndexedName(this.key, this.order, this.holds);
    copy.#held = Array.isArray(this.#held) ? [...this.#held] : this.#held instanceof SharedSet ? this.#held.copy() : this.#held;
    copy.#borders = this.#borders;
    copy.settle();
    return copy;
  }

  get records(): Iterable<StoredRecord> {
    return this.#held === null ? [] : Array.isArray(this.#held) || this.#held instanceof SharedSet ? this.#held : [this.#held];
  }

  /** Records that its changes had to copy so far. */
  get copied(): number {
    return this.#held instanceof SharedSet ? this.#held.copied : 0;
  }

  /** Changes what it holds; gives 1 where the name now exists and did not, -1 where it no longer does, 0 otherwise. */
  hold(by: number): number {
    const existed = this.holds > 0;
    this.holds += by;
    return Number(this.holds > 0) - Number(existed);
  }

  add(record: StoredRecord): void {
    const held = this.#held;
    this.#borders += Number(isBorderRecord(record));
    if (held === null) this.#held = record;
    else if (held instanceof SharedSet) held.add(record);
    else if (!Array.isArray(held)) this.#held = [held, record];
    else if (held.length < LISTED_MAX) held.push(record);
    else this.#held = new SharedSet(rdataOf, held).add(record);
  }

  /** Removes this very object; returns false if the name does not hold it. */
  remove(record: StoredRecord): boolean {
    const held = this.#held;
    if (held === record) this.#held = null;
    else if (Array.isArray(held) && held.includes(record)) held.splice(held.indexOf(record), 1);
    else if (!(held instanceof SharedSet && held.delete(record))) return false;
    this.#borders -= Number(isBorderRecord(record));
    return true;
  }

  /** The RRsets as of the last `settle`, or of their first use if that was later. */
  get sets(): RRsets {
    return (this.#sets ??= setsOf([...this.records]));
  }

  /** From now on, `sets` shows the current records. */
  settle(): void {
    this.#sets = this.#held === null ? NO_SETS : null;
  }

  /** Whether it has NS or DNAME records. */
  get isBorder(): boolean {
    return this.#borders > 0;
  }
}

const BORDERS: readonly number[] = [TYPE.NS, TYPE.DNAME];
const isBorderRecord = ({ type }: StoredRecord): boolean => BORDERS.includes(typeCode(type) as number);

function setsOf(all: readonly StoredRecord[]): RRsets {
  const sets = new Map<number, RRset>();
  for (const [type, records] of Map.groupBy(all, (record) => typeCode(record.type) as number)) {
    // Two records of the same value are one in DNS (RFC 2181 §5), and a set has one TTL (§5.2).
    const distinct = new Set(records.map(({ rdata }) => rdata));
    const rdatas = Array.from(distinct, (rdata) => Buffer.from(rdata, "base64"));
    const ttl = records.reduce((least, record) => Math.min(least, record.ttl), Number.POSITIVE_INFINITY);
    const proxied = records.some((record) => record.proxied);
    const settings = records.map((record) => record.settings).filter((own) => own !== undefined);
    const own = settings.length === 0 ? {} : { settings: Object.assign({}, ...settings) as RecordSettings };
    sets.set(type, { type, ttl, rdatas, proxied, ...own });
  }
  return sets;
}
