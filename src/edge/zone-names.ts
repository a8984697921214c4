import type { RecordEntry } from "#snapshot/entries.ts";

/** Which names a zone has, and the address records there. */
export interface ZoneNames {
  add(record: RecordEntry): void;
  remove(record: RecordEntry): void;
  /** A, AAAA and CNAME records for a name, its own or a wildcard's (RFC 4592); empty where it has none. */
  addressRecords(name: string): readonly RecordEntry[];
}

const ADDRESS_TYPES = new Set(["A", "AAAA", "CNAME"]);
const NONE: readonly RecordEntry[] = [];

/** A name that has several records, or names below it: without records of its own it still exists and stops wildcards. */
class Node {
  /** Records at this name and below it. */
  count: number;
  records: readonly RecordEntry[];

  constructor(count: number, records: readonly RecordEntry[]) {
    this.count = count;
    this.records = records;
  }
}

const addressOnly = (record: RecordEntry): readonly RecordEntry[] => (ADDRESS_TYPES.has(record.type) ? [record] : NONE);

export function createZoneNames(origin: string): ZoneNames {
  /** Most names have one record and nothing below: then it stands for them, since there may be millions. */
  const nodes = new Map<string, Node | RecordEntry>();

  const nodeAt = (name: string): Node => {
    const known = nodes.get(name);
    if (known instanceof Node) return known;
    const node = known === undefined ? new Node(0, NONE) : new Node(1, addressOnly(known));
    nodes.set(name, node);
    return node;
  };
  /** The names above it up to the zone's own name. */
  const changeAbove = (name: string, by: 1 | -1): void => {
    for (let at = name; at.length > origin.length;) {
      at = at.slice(at.indexOf(".") + 1);
      const node = nodeAt(at);
      node.count += by;
      if (node.count <= 0) nodes.delete(at);
    }
  };
  const recordsAt = (name: string): readonly RecordEntry[] | undefined => {
    const known = nodes.get(name);
    return known === undefined || known instanceof Node ? known?.records : addressOnly(known);
  };

  return {
    add: (record) => {
      const { name } = record;
      if (nodes.has(name)) {
        const node = nodeAt(name);
        node.count += 1;
        node.records = [...node.records, ...addressOnly(record)];
      } else nodes.set(name, record);
      changeAbove(name, 1);
    },
    remove: (record) => {
      const { name } = record;
      const known = nodes.get(name);
      if (known === undefined) return;
      if (known instanceof Node) {
        known.count -= 1;
        known.records = known.records.filter((other) => other !== record);
        if (known.count <= 0) nodes.delete(name);
      } else nodes.delete(name);
      changeAbove(name, -1);
    },
    addressRecords: (name) => {
      const exact = recordsAt(name);
      if (exact !== undefined) return exact;
      for (let at = name; at.length > origin.length;) {
        at = at.slice(at.indexOf(".") + 1);
        if (nodes.has(at) || at.length <= origin.length) return recordsAt(`*.${at}`) ?? NONE;
      }
      return NONE;
    },
  };
}
