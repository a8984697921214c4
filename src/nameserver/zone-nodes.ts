import type { RecordEntry, RecordSettings } from "#snapshot/entries.ts";
import { TYPE } from "#wire/dns/codes.ts";
import { type NameKey, parentKey } from "#wire/dns/name.ts";
import { typeCode } from "#wire/dns/record-types.ts";
import { createZoneWalks, type WalkedNode, type ZoneWalk } from "./zone-walk.ts";

/** All records of one owner name and type. */
export interface RecordSet {
  readonly type: number;
  readonly ttl: number;
  readonly rdatas: readonly Uint8Array[];
  /** Any of its records is proxied. */
  readonly proxied: boolean;
  /** Those that any of its records has. */
  readonly settings?: RecordSettings;
}

/** Sets by type; never changed once made. */
export type RecordSets = ReadonlyMap<number, RecordSet>;

/** One owner name, or a name that exists only because one below it does (RFC 8020). */
export interface NameNode {
  readonly sets: RecordSets;
}

/**
 * What a name holds: entries that have been found good. Their RDATA is decoded when somebody asks for the name, since a
 * million records would be held twice otherwise.
 */
export type StoredRecord = Omit<RecordEntry, "zone_id">;

/** The names of one zone. What `add` and `remove` did is seen once `settle` has run. */
export interface ZoneNodes {
  get(key: NameKey): NameNode | undefined;
  readonly isEmpty: boolean;
  /** Names, with those that exist only because of one below them. */
  readonly size: number;
  /** Names with NS or DNAME records. Most zones have none, and then no question needs to look for them above its name. */
  readonly borders: number;
  add(key: NameKey, record: StoredRecord): void;
  /** The very object that was added. */
  remove(key: NameKey, record: StoredRecord): void;
  /** Makes the sets of all names that changed anew: once a delta, however many records of a name it holds. */
  settle(onChange?: (change: NameChange) => void): void;
  /** Everything that is there now, to be read over time. */
  walk(): ZoneWalk;
}

/** What one delta made of a name. */
export interface NameChange {
  readonly key: NameKey;
  readonly before: RecordSets;
  readonly after: RecordSets;
}

const NO_SETS: RecordSets = new Map();
const NO_RECORDS: readonly StoredRecord[] = [];

/**
 * A name of which nobody may ever ask has no sets: they are made of its records when somebody does. A class, since
 * there are as many as names and each answer reads one.
 */
class Node implements WalkedNode {
  readonly key: NameKey;
  readonly order: number;
  /** The record itself where there is only one, as at most names. */
  #held: StoredRecord | readonly StoredRecord[] = NO_RECORDS;
  /** Records at the name and below it; a node without any is removed. */
  recordsWithin = 1;
  #sets: RecordSets | null = NO_SETS;

  constructor(key: NameKey, order: number) {
    this.key = key;
    this.order = order;
  }

  get records(): readonly StoredRecord[] {
    return Array.isArray(this.#held) ? this.#held : [this.#held as StoredRecord];
  }

  set records(records: readonly StoredRecord[]) {
    this.#held = records.length === 0 ? NO_RECORDS : records.length === 1 ? (records[0] as StoredRecord) : records;
  }

  get sets(): RecordSets {
    return (this.#sets ??= setsOf(this.records));
  }

  /** From here on `sets` are those of today's records. */
  settle(): void {
    this.#sets = this.#held === NO_RECORDS ? NO_SETS : null;
  }
}

export function createZoneNodes(): ZoneNodes {
  const nodes = new Map<NameKey, Node>();
  /** What stood at each name before the delta that is being applied. */
  const changed = new Map<NameKey, WalkedNode>();
  /** Names that the delta brings and that had nothing before. */
  const fresh: Node[] = [];
  /** The names above the one that was added last, which are most often above the next one too. */
  let above: { readonly parent: NameKey | undefined; readonly nodes: readonly Node[] } | null = null;
  const walks = createZoneWalks(nodes);
  let order = 0;
  let borders = 0;

  /** To be called before the records change. */
  const touch = ({ key, sets, order: created }: Node): void => {
    if (!changed.has(key)) changed.set(key, { sets, order: created });
  };
  const counted = (key: NameKey): Node => {
    const node = nodes.get(key);
    if (node) {
      node.recordsWithin += 1;
      return node;
    }
    const made = new Node(key, order++);
    nodes.set(key, made);
    return made;
  };
  const countAbove = (parent: NameKey | undefined): void => {
    if (above?.parent === parent) for (const node of above?.nodes ?? []) node.recordsWithin += 1;
    else above = { parent, nodes: Array.from(namesFrom(parent), counted) };
  };
  const remove = (key: NameKey, record: StoredRecord): void => {
    const node = nodes.get(key);
    if (!node?.records.includes(record)) return;
    touch(node);
    node.records = node.records.filter((other) => other !== record);
    above = null;
    for (const name of namesFrom(key)) {
      const within = nodes.get(name) as Node;
      within.recordsWithin -= 1;
      if (within.recordsWithin === 0) nodes.delete(name);
    }
  };

  return {
    get: (key) => nodes.get(key),
    get isEmpty() {
      return nodes.size === 0;
    },
    get size() {
      return nodes.size;
    },
    get borders() {
      return borders;
    },
    add: (key, record) => {
      const known = nodes.size;
      const node = counted(key);
      if (nodes.size === known || changed.has(key)) touch(node);
      else fresh.push(node);
      node.records = [...node.records, record];
      countAbove(parentKey(key));
    },
    remove,
    settle: (onChange) => {
      for (const node of fresh) {
        // Something else happened to it as well.
        if (changed.has(node.key)) continue;
        node.settle();
        borders += Number(node.records.some(isBorder));
        onChange?.({ key: node.key, before: NO_SETS, after: node.sets });
      }
      fresh.length = 0;
      for (const [key, before] of changed) {
        walks.keep(key, before);
        const node = nodes.get(key);
        node?.settle();
        borders += Number(node?.records.some(isBorder) ?? false) - Number(BORDERS.some((type) => before.sets.has(type)));
        onChange?.({ key, before: before.sets, after: node?.sets ?? NO_SETS });
      }
      changed.clear();
    },
    walk: () => walks.start(order),
  };
}

const BORDERS: readonly number[] = [TYPE.NS, TYPE.DNAME];
const isBorder = ({ type }: StoredRecord): boolean => BORDERS.includes(typeCode(type) as number);

/** The name and those above it up to the root. */
function* namesFrom(key: NameKey | undefined): Generator<NameKey> {
  for (let name = key; name !== undefined; name = parentKey(name)) yield name;
}

function setsOf(all: readonly StoredRecord[]): RecordSets {
  const sets = new Map<number, RecordSet>();
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
