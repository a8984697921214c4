import { TYPE } from "#wire/dns/codes.ts";
import { type NameKey, parentKey } from "#wire/dns/name.ts";

/** All records of one owner name and type. */
export interface RecordSet {
  readonly type: number;
  readonly ttl: number;
  readonly rdatas: readonly Uint8Array[];
  /** Any of its records is proxied. */
  readonly proxied: boolean;
}

/** One owner name, or a name that exists only because one below it does (RFC 8020). */
export interface NameNode {
  readonly sets: ReadonlyMap<number, RecordSet>;
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
  /** Names with NS or DNAME records. Most zones have none, and then no question needs to look for them above its name. */
  readonly borders: number;
  add(record: StoredRecord): void;
  remove(key: NameKey, id: string): void;
  /** Makes the sets of all names that changed anew: once a delta, however many records of a name it holds. */
  settle(): void;
}

interface MutableNode {
  readonly sets: Map<number, RecordSet>;
  readonly records: Map<string, StoredRecord>;
  /** Records at the name and below it; a node without any is removed. */
  recordsWithin: number;
}

export function createZoneNodes(): ZoneNodes {
  const nodes = new Map<NameKey, MutableNode>();
  const changed = new Set<MutableNode>();
  let borders = 0;

  const remove = (key: NameKey, id: string): void => {
    const node = nodes.get(key);
    if (!node?.records.delete(id)) return;
    changed.add(node);
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
    get borders() {
      return borders;
    },
    add: (record) => {
      remove(record.key, record.id);
      for (let key: NameKey | undefined = record.key; key !== undefined; key = parentKey(key)) {
        const node = nodes.get(key);
        if (node) node.recordsWithin += 1;
        else nodes.set(key, { sets: new Map(), records: new Map(), recordsWithin: 1 });
      }
      const node = nodes.get(record.key) as MutableNode;
      node.records.set(record.id, record);
      changed.add(node);
    },
    remove,
    settle: () => {
      for (const node of changed) {
        const before = isBorder(node);
        refreshSets(node);
        borders += Number(isBorder(node)) - Number(before);
      }
      changed.clear();
    },
  };
}

const isBorder = ({ sets }: NameNode): boolean => sets.has(TYPE.NS) || sets.has(TYPE.DNAME);

function* nodesAbove(nodes: ReadonlyMap<NameKey, MutableNode>, key: NameKey): Generator<readonly [NameKey, MutableNode]> {
  for (let name: NameKey | undefined = key; name !== undefined; name = parentKey(name)) yield [name, nodes.get(name) as MutableNode];
}

function refreshSets(node: MutableNode): void {
  node.sets.clear();
  for (const [type, records] of Map.groupBy(node.records.values(), (record) => record.type)) {
    // Two records of the same value are one in DNS (RFC 2181 §5), and a set has one TTL (§5.2).
    const distinct = new Map(records.map((record) => [Buffer.from(record.rdata).toString("latin1"), record.rdata]));
    const ttl = records.reduce((least, record) => Math.min(least, record.ttl), Number.POSITIVE_INFINITY);
    node.sets.set(type, { type, ttl, rdatas: [...distinct.values()], proxied: records.some((record) => record.proxied) });
  }
}
