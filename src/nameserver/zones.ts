import { TYPE } from "#wire/dns/codes.ts";
import { WireError } from "#wire/dns/errors.ts";
import { type DnsName, type NameKey, ROOT_KEY, keyOf, nameOfKey, parentKey, parseAbsoluteName } from "#wire/dns/name.ts";
import { readRdata, typeCode } from "#wire/dns/record-types.ts";
import { WireReader } from "#wire/dns/wire-reader.ts";
import type { RecordEntry, ZoneEntry } from "#snapshot/entries.ts";
import type { AppliedOp, Snapshot } from "#snapshot/feed.ts";
import { apexSets } from "./apex.ts";

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
  /** Records at the name and below it; a node without any is removed. */
  readonly recordsWithin: number;
}

export interface ZoneIndex {
  readonly id: string;
  readonly key: NameKey;
  readonly name: DnsName;
  readonly entry: ZoneEntry;
  /** The apex sets that the zone entry makes: SOA and NS. */
  readonly apex: ReadonlyMap<number, RecordSet>;
  /** TTL of negative answers in seconds (RFC 2308 §5). */
  readonly negativeTtl: number;
  readonly nodes: ReadonlyMap<NameKey, NameNode>;
  /** Names that carry NS records. Most zones have none, and then no question needs to look for zone cuts. */
  readonly delegations: number;
}

/** What changed, for caches of answers. */
export interface ZoneChanges {
  /** Keys of zones whose records changed. */
  readonly zones: ReadonlySet<NameKey>;
  /** A zone appeared, went or moved, so that any name may belong to another zone now. */
  readonly namespace: boolean;
}

export interface Zones {
  /** The zone closest to the name that the server holds, or undefined. */
  find(key: NameKey): ZoneIndex | undefined;
  readonly zoneCount: number;
  /** Entries that no record or zone could be made of; they are left out of answers. */
  readonly rejected: number;
  /** Everything anew. */
  rebuild(snapshot: Snapshot): void;
  /** All ops of one delta. No query is answered in between, so that a delta is seen as a whole or not at all. */
  apply(ops: readonly AppliedOp[]): ZoneChanges;
}

interface StoredRecord {
  readonly id: string;
  readonly key: NameKey;
  readonly type: number;
  readonly ttl: number;
  readonly rdata: Uint8Array;
  readonly proxied: boolean;
}

interface MutableNode {
  readonly sets: Map<number, RecordSet>;
  readonly records: StoredRecord[];
  recordsWithin: number;
}

interface MutableZone {
  readonly id: string;
  key: NameKey;
  name: DnsName;
  entry: ZoneEntry | undefined;
  serial: number;
  apex: ReadonlyMap<number, RecordSet>;
  negativeTtl: number;
  readonly nodes: Map<NameKey, MutableNode>;
  delegations: number;
}

type ServedZone = MutableZone & { entry: ZoneEntry };

/** The index of zones and names that answers are read from. */
export function createZones(): Zones {
  const byId = new Map<string, MutableZone>();
  // Several accounts may have entered the same domain: the first of each list is served.
  const byName = new Map<NameKey, ServedZone[]>();
  let rejected = 0;

  const zoneOf = (id: string): MutableZone => {
    let zone = byId.get(id);
    if (!zone) {
      zone = {
        id,
        key: ROOT_KEY,
        name: nameOfKey(ROOT_KEY),
        entry: undefined,
        serial: 0,
        apex: new Map(),
        negativeTtl: 0,
        nodes: new Map(),
        delegations: 0,
      };
      byId.set(id, zone);
    }
    return zone;
  };

  const unlist = (zone: MutableZone): void => {
    const rest = (byName.get(zone.key) ?? []).filter((other) => other !== zone);
    if (rest.length === 0) byName.delete(zone.key);
    else byName.set(zone.key, rest);
  };

  /** Returns whether names may have changed hands. */
  const putZone = (id: string, entry: ZoneEntry | null): boolean => {
    const zone = zoneOf(id);
    const before = zone.entry;
    if (before) unlist(zone);
    const after = entry && isServed(entry) ? entry : undefined;
    const name = after && attempt(() => parseAbsoluteName(after.name));
    const apex = after && attempt(() => apexSets(after, zone.serial));
    if (after && name && apex) {
      Object.assign(zone, { entry: after, name, key: keyOf(name), apex, negativeTtl: Math.min(after.soa.ttl, after.soa.min_ttl) });
      byName.set(zone.key, [...(byName.get(zone.key) ?? []), zone as ServedZone].sort(byRank));
    } else {
      zone.entry = undefined;
      if (after) rejected += 1;
    }
    return before?.name !== after?.name || before?.status !== after?.status;
  };

  const putSerial = (id: string, serial: number): void => {
    const zone = zoneOf(id);
    zone.serial = serial;
    if (zone.entry) zone.apex = apexSets(zone.entry, serial);
  };

  const putRecord = (id: string, value: RecordEntry | null, before: RecordEntry | undefined): void => {
    const zone = before && byId.get(before.zone_id);
    const key = before && attempt(() => keyOf(parseAbsoluteName(before.name)));
    if (zone && key !== undefined) removeRecord(zone, key, id);
    if (!value) return;
    const record = attempt(() => readRecord(id, value));
    if (record) addRecord(zoneOf(value.zone_id), record);
    else rejected += 1;
  };

  /** Applies one op and returns the identifiers of the zones it touched. */
  const applyOp = (op: AppliedOp): readonly (string | undefined)[] => {
    if (op.kind === "serial") putSerial(op.id, op.value?.serial ?? 0);
    else if (op.kind === "record") putRecord(op.id, op.value, op.before);
    else return [];
    return op.kind === "record" ? [op.value?.zone_id, op.before?.zone_id] : [op.id];
  };

  return {
    get zoneCount() {
      return byName.size;
    },
    get rejected() {
      return rejected;
    },
    find: (key) => {
      for (let name: NameKey | undefined = key; name !== undefined; name = parentKey(name)) {
        const zone = byName.get(name)?.[0];
        if (zone) return zone;
      }
      return undefined;
    },
    rebuild: (snapshot) => {
      byId.clear();
      byName.clear();
      rejected = 0;
      for (const [id, entry] of snapshot.entries("serial")) putSerial(id, entry.serial);
      for (const [id, entry] of snapshot.entries("zone")) putZone(id, entry);
      for (const [id, entry] of snapshot.entries("record")) putRecord(id, entry, undefined);
    },
    apply: (ops) => {
      const touched = new Set<string>();
      let namespace = false;
      for (const op of ops) {
        if (op.kind === "zone") {
          namespace = putZone(op.id, op.value) || namespace;
          touched.add(op.id);
        } else for (const id of applyOp(op)) if (id !== undefined) touched.add(id);
      }
      const zones = new Set<NameKey>();
      for (const id of touched) {
        const zone = byId.get(id);
        if (zone?.entry) zones.add(zone.key);
        else if (zone?.nodes.size === 0 && zone.serial === 0) byId.delete(id);
      }
      return { zones, namespace };
    },
  };
}

/** Zones of type internal are for views that public questions never see. */
const isServed = (entry: ZoneEntry): boolean => entry.type !== "internal";

/** An active zone before one that still waits for its delegation, the older identifier before the other. */
function byRank(a: ServedZone, b: ServedZone): number {
  const rank = (zone: ServedZone): number => (zone.entry.status === "active" ? 0 : 1);
  return rank(a) - rank(b) || (a.id < b.id ? -1 : 1);
}

/** Undefined where the entry cannot be read: a bad one must not take the others down with it. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function readRecord(id: string, entry: RecordEntry): StoredRecord {
  const type = typeCode(entry.type);
  if (type === undefined) throw new WireError("bad_rdata");
  const bytes = Buffer.from(entry.rdata, "base64");
  const rdata = readRdata(type, new WireReader(bytes, { pointers: false }));
  return { id, key: keyOf(parseAbsoluteName(entry.name)), type, ttl: entry.ttl, rdata, proxied: entry.proxied };
}

function addRecord(zone: MutableZone, record: StoredRecord): void {
  for (let key: NameKey | undefined = record.key; key !== undefined; key = parentKey(key)) {
    const node = zone.nodes.get(key);
    if (node) node.recordsWithin += 1;
    else zone.nodes.set(key, { sets: new Map(), records: [], recordsWithin: 1 });
  }
  const node = zone.nodes.get(record.key) as MutableNode;
  node.records.push(record);
  refreshSet(zone, node, record);
}

function removeRecord(zone: MutableZone, key: NameKey, id: string): void {
  const node = zone.nodes.get(key);
  const at = node?.records.findIndex((record) => record.id === id) ?? -1;
  const [record] = at < 0 ? [] : (node?.records.splice(at, 1) ?? []);
  if (!node || !record) return;
  refreshSet(zone, node, record);
  for (let above: NameKey | undefined = key; above !== undefined; above = parentKey(above)) {
    const within = zone.nodes.get(above) as MutableNode;
    within.recordsWithin -= 1;
    if (within.recordsWithin === 0) zone.nodes.delete(above);
  }
}

function refreshSet(zone: MutableZone, node: MutableNode, { type }: StoredRecord): void {
  const records = node.records.filter((record) => record.type === type);
  const had = node.sets.has(type);
  if (records.length === 0) node.sets.delete(type);
  else {
    // Two records of the same value are one in DNS (RFC 2181 §5), and a set has one TTL (§5.2).
    const distinct = new Map(records.map((record) => [Buffer.from(record.rdata).toString("latin1"), record.rdata]));
    node.sets.set(type, {
      type,
      ttl: Math.min(...records.map((record) => record.ttl)),
      rdatas: [...distinct.values()],
      proxied: records.some((record) => record.proxied),
    });
  }
  if (type === TYPE.NS) zone.delegations += Number(node.sets.has(type)) - Number(had);
}
