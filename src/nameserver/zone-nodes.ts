import { TYPE } from "#wire/dns/codes.ts";
import { type NameKey, parentKey } from "#wire/dns/name.ts";
import { createZoneWalks, type WalkedNode, type ZoneWalk } from "./zone-walk.ts";

/** All records of one owner name and type. */
export interface RecordSet {
  readonly type: number;
  readonly ttl: number;
  readonly rdatas: readonly Uint8Array[];
  /** Any of its records is proxied. */
  readonly proxied: boolean;
}

/** Sets by type; never changed once made. */
export type RecordSets = ReadonlyMap<number, RecordSet>;

/** One owner name, or a name that exists only because one below it does (RFC 8020). */
export interface NameNode {
  readonly sets: RecordSets;
}

export interface StoredRecord {
  readonly id: string;
  readonly key: NameKey;
  readonly type: number;
  readonly ttl: number;
  readonly rdata: Uint8Array;
  readonly proxied: boolean;
}

/** The names of one zone. What `add` and `remove` did is seen once `settle` has run. */
export interface ZoneNodes {
  get(key: NameKey): NameNode | undefined;
  readonly isEmpty: boolean;
  /** Names, with those that exist only because of one below them. */
  readonly size: number;
  /** Names with NS or DNAME records. Most zones have none, and then no question needs to look for them above its name. */
  readonly borders: number;
  add(record: StoredRecord): void;
  remove(key: NameKey, id: string): void;
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

interface MutableNode {
  sets: RecordSets;
  readonly order: number;
  readonly records: Map<string, StoredRecord>;
  /** Records at the name and below it; a node without any is removed. */
  recordsWithin: number;
}

const NO_SETS: RecordSets = new Map();

export function createZoneNodes(): ZoneNodes {
  const nodes = new Map<NameKey, MutableNode>();
  /** What stood at each name before the delta that is being applied. */
  const changed = new Map<NameKey, WalkedNode>();
  const walks = createZoneWalks(nodes);
  let order = 0;
  let borders = 0;

  const touch = (key: NameKey, { sets, order: created }: MutableNode): void => {
    if (!changed.has(key)) changed.set(key, { sets, order: created });
  };
  const remove = (key: NameKey, id: string): void => {
    const node = nodes.get(key);
    if (!node?.records.delete(id)) return;
    touch(key, node);
    for (const [name, within] of nodesAbove(nodes, key)) {
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
    add: (record) => {
      remove(record.key, record.id);
      for (let key: NameKey | undefined = record.key; key !== undefined; key = parentKey(key)) {
        const node = nodes.get(key);
        if (node) node.recordsWithin += 1;
        else nodes.set(key, { sets: NO_SETS, order: order++, records: new Map(), recordsWithin: 1 });
      }
      const node = nodes.get(record.key) as MutableNode;
      node.records.set(record.id, record);
      touch(record.key, node);
    },
    remove,
    settle: (onChange) => {
      for (const [key, before] of changed) {
        walks.keep(key, before);
        const node = nodes.get(key);
        const after = node ? setsOf(node.records.values()) : NO_SETS;
        if (node) node.sets = after;
        borders += Number(isBorder(after)) - Number(isBorder(before.sets));
        onChange?.({ key, before: before.sets, after });
      }
      changed.clear();
    },
    walk: () => walks.start(order),
  };
}

const isBorder = (sets: RecordSets): boolean => sets.has(TYPE.NS) || sets.has(TYPE.DNAME);

function* nodesAbove(nodes: ReadonlyMap<NameKey, MutableNode>, key: NameKey): Generator<readonly [NameKey, MutableNode]> {
  for (let name: NameKey | undefined = key; name !== undefined; name = parentKey(name)) yield [name, nodes.get(name) as MutableNode];
}

function setsOf(all: Iterable<StoredRecord>): RecordSets {
  const sets = new Map<number, RecordSet>();
  for (const [type, records] of Map.groupBy(all, (record) => record.type)) {
    // Two records of the same value are one in DNS (RFC 2181 §5), and a set has one TTL (§5.2).
    const distinct = new Map(records.map((record) => [Buffer.from(record.rdata).toString("latin1"), record.rdata]));
    const ttl = records.reduce((least, record) => Math.min(least, record.ttl), Number.POSITIVE_INFINITY);
    sets.set(type, { type, ttl, rdatas: [...distinct.values()], proxied: records.some((record) => record.proxied) });
  }
  return sets;
}
