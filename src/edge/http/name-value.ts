import { SharedSet } from "#kernel/shared-set.ts";
import type { RecordEntry } from "#snapshot/entries.ts";

const ADDRESS_TYPES = new Set(["A", "AAAA", "CNAME"]);
/** The edge keeps no RDATA. */
const contentOf = ({ content }: RecordEntry): string => content;
const NONE: readonly RecordEntry[] = [];
/** Larger numbers of address records are kept in a set, where adding and removing one costs the same at any size. */
const LISTED_MAX = 16;

/** A name with several records, or with names below it. Such a name exists even without records, and stops wildcards. */
class NameWithMore {
  /** Its records, and the existing names directly below it. A change affects names above only while names appear or vanish. */
  count: number;
  /** Its own records with an address. Lists are handed out, so they never change. */
  #held: readonly RecordEntry[] | SharedSet<RecordEntry>;
  #list: readonly RecordEntry[] | null = null;

  constructor(count: number, held: readonly RecordEntry[] | SharedSet<RecordEntry>) {
    this.count = count;
    this.#held = held;
  }

  copy(): NameWithMore {
    return new NameWithMore(this.count, this.#held instanceof SharedSet ? this.#held.copy() : this.#held);
  }

  /** Records that its changes had to copy so far. */
  get copied(): number {
    return this.#held instanceof SharedSet ? this.#held.copied : 0;
  }

  get records(): readonly RecordEntry[] {
    return this.#held instanceof SharedSet ? (this.#list ??= [...this.#held]) : this.#held;
  }

  add(record: RecordEntry): void {
    if (!ADDRESS_TYPES.has(record.type)) return;
    this.#list = null;
    if (this.#held instanceof SharedSet) this.#held.add(record);
    // few: LISTED_MAX
    else if (this.#held.length < LISTED_MAX) this.#held = [...this.#held, record];
    else this.#held = new SharedSet(contentOf, this.#held).add(record);
  }

  remove(record: RecordEntry): void {
    this.#list = null;
    if (this.#held instanceof SharedSet) this.#held.delete(record);
    else this.#held = this.#held.filter((other) => other !== record);
  }
}

/** Most names have one record and nothing below; the record itself then stands for the name, since there may be millions. */
export type NameValue = NameWithMore | RecordEntry;

export const recordsOf = (value: NameValue): readonly RecordEntry[] =>
  value instanceof NameWithMore ? value.records : ADDRESS_TYPES.has(value.type) ? [value] : NONE;

/** Records of the name that its changes had to copy so far. */
export const copiedOf = (value: NameValue | undefined): number => (value instanceof NameWithMore ? value.copied : 0);

/** A copy that can be changed separately. Of many records, it copies those near a change later. */
export const copyOf = (value: NameValue | undefined): NameValue | undefined => (value instanceof NameWithMore ? value.copy() : value);

const more = (value: NameValue | undefined): NameWithMore =>
  value instanceof NameWithMore ? value : new NameWithMore(value === undefined ? 0 : 1, value === undefined ? NONE : recordsOf(value));

export function withCount(value: NameValue | undefined, by: number): NameValue | undefined {
  const name = more(value);
  name.count += by;
  return name.count > 0 ? name : undefined;
}

export function addedTo(value: NameValue | undefined, record: RecordEntry): NameValue {
  if (value === undefined) return record;
  const name = more(value);
  name.count += 1;
  name.add(record);
  return name;
}

export function removedFrom(value: NameValue | undefined, record: RecordEntry): NameValue | undefined {
  if (!(value instanceof NameWithMore)) return undefined;
  value.remove(record);
  return withCount(value, -1);
}
