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

interface Node {
  /** Records at this name and below it: a name without its own still exists and stops wildcards. */
  count: number;
  records: readonly RecordEntry[];
}

export function createZoneNames(origin: string): ZoneNames {
  const nodes = new Map<string, Node>();

  /** The name and its ancestors up to the zone's own name. */
  const change = (name: string, by: 1 | -1): void => {
    for (let at = name; ; at = at.slice(at.indexOf(".") + 1)) {
      const node = nodes.get(at);
      if (node === undefined) nodes.set(at, { count: by, records: NONE });
      else if ((node.count += by) <= 0) nodes.delete(at);
      if (at.length <= origin.length) return;
    }
  };

  return {
    add: (record) => {
      change(record.name, 1);
      const node = nodes.get(record.name);
      if (node !== undefined && ADDRESS_TYPES.has(record.type)) node.records = [...node.records, record];
    },
    remove: (record) => {
      const node = nodes.get(record.name);
      if (node === undefined) return;
      node.records = node.records.filter((other) => other !== record);
      change(record.name, -1);
    },
    addressRecords: (name) => {
      const exact = nodes.get(name);
      if (exact !== undefined) return exact.records;
      for (let at = name; at.length > origin.length;) {
        at = at.slice(at.indexOf(".") + 1);
        if (nodes.has(at) || at.length <= origin.length) return nodes.get(`*.${at}`)?.records ?? NONE;
      }
      return NONE;
    },
  };
}
