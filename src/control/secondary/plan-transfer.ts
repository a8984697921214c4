import { backgroundTurn } from "#kernel/background-turn.ts";
import { inTicks } from "#kernel/in-ticks.ts";
import { LargeMap } from "#kernel/large-map.ts";
import { chunksOf } from "#kernel/chunks.ts";
import type { RecordChanges } from "#control/dns/changes/change-steps.ts";
import type { PreparedRecord } from "#model/dns/prepared-record.ts";
import { recordCost } from "#model/dns/record-cost.ts";
import type { PrimaryApex } from "#model/dns/primary-copy.ts";
import { recordsByIds, recordsNamed } from "#store/dns/dns-record-rows.ts";
import type { DnsRecordRow } from "#store/dns/record-row.ts";
import type { Unit } from "#store/database/store.ts";
import { zoneFileRows } from "#store/dns/zone-file-rows.ts";
import { TYPE } from "#wire/dns/codes.ts";
import type { ResourceRecord } from "#wire/dns/message.ts";
import { formatName, keyOf, parseAbsoluteName } from "#wire/dns/name.ts";
import { typeCode } from "#wire/dns/record-types.ts";
import { type Transfer, TransferError, type ZoneDifference } from "#wire/dns/transfer-reader.ts";
import { apexOf } from "./transferred-apex.ts";
import {
  assertServable,
  copiedRecord,
  keyOfRecord,
  keyOfRow,
  type RecordKey,
  recordKey,
  roleOf,
  storedTtl,
  typeName,
} from "./copied-record.ts";
import { netDifference } from "./net-difference.ts";
import { createTransferredSets } from "./transferred-sets.ts";

/** The changes that make the zone equal to its primary's. */
export interface TransferPlan {
  readonly apex: PrimaryApex;
  readonly changes: Required<Pick<RecordChanges, "rows">> & { readonly deletes: readonly Removal[] };
  readonly added: AddedRecords;
}

/** A record that leaves, and its cost (record-cost.ts). */
export interface Removal {
  readonly id: string;
  readonly cost: number;
}

/** New records. Their stored form takes more memory than all else of them, so it is made where they are written. */
export interface AddedRecords {
  readonly size: number;
  prepared(): Iterable<PreparedRecord>;
}

export interface PlanContext {
  readonly db: Unit["db"];
  readonly zone: { readonly id: string; readonly name: string };
  /** The zone's current copy of the primary's apex. */
  readonly apex: PrimaryApex | null;
}

/** The primary's differences do not match the zone, so it must be transferred as a whole. */
export class OutOfStepError extends TransferError {
  constructor(reason: string) {
    super(`the differences do not match the zone: ${reason}`);
    this.name = "OutOfStepError";
  }
}

/** Records per tick; other requests run in between. */
const SLICE = 500;

/** RFC 1034 §4.2.1. A primary that has lost its data sends two SOA records and nothing between them. */
const WITHOUT_SERVERS = "the zone has no NS records at its name, so it is not whole";

/** Plans a complete replacement. Throws TransferError if a record cannot be stored. */
export async function planFull(scene: PlanContext, { soa, records }: Extract<Transfer, { kind: "full" }>): Promise<TransferPlan> {
  const zone = keyOf(soa.name);
  /** Positions in `records`; a new record's is also in `isNew`. */
  const wanted = new LargeMap<number>();
  const isNew = new Uint8Array(records.length);
  const nameServers = new LargeMap<ResourceRecord>();
  const sets = createTransferredSets();
  let at = -1;
  await inTicks(records, SLICE, (record) => {
    at += 1;
    const role = roleOf(record, zone);
    if (role === "none") return;
    const key = keyOfRecord(record);
    const held = role === "apex" ? nameServers : wanted;
    // Duplicate records count once (RFC 2181 §5).
    if (!held.has(key)) sets.add(formatName(record.name).toLowerCase(), record.type, record.rdata.length);
    if (role === "apex") return nameServers.set(key, record);
    isNew[wanted.get(key) ?? at] = 0;
    isNew[at] = 1;
    wanted.set(key, at);
  });
  const deletes: Removal[] = [];
  let previous = "";
  const ttls = new LargeMap<number>();
  const proxied = new Set<string>();
  for await (const rows of zoneFileRows(scene.db, scene.zone.id)) {
    for (const row of rows) {
      if (isOwnAlias(row, scene.zone.name)) continue;
      if (row.proxied === 1) proxied.add(`${row.name} ${row.type}`);
      const key = keyOfRow(row);
      const position = wanted.get(key);
      const record = position === undefined ? undefined : records[position];
      if (position === undefined || !record) {
        deletes.push({ id: row.id, cost: recordCost(row, previous) });
        previous = row.name;
        continue;
      }
      if (row.ttl !== storedTtl(record.ttl)) ttls.set(row.id, storedTtl(record.ttl));
      isNew[position] = 0;
      wanted.delete(key);
    }
    await backgroundTurn();
  }
  // In their order of arrival, in which neighbours have neighbouring names, so that they share pages of the indexes.
  const added = records.values().filter((_, position) => isNew[position] === 1);
  const rows: DnsRecordRow[] = [];
  for (const ids of chunksOf(ttls.keys(), SLICE))
    for (const row of await recordsByIds(scene.db, scene.zone.id, ids)) rows.push({ ...row, ttl: ttls.get(row.id) ?? row.ttl });
  const servers = [...nameServers.values()];
  const nsTtl = servers.reduce((least, { ttl }) => Math.min(least, ttl), servers[0]?.ttl ?? 0);
  if (servers.length === 0) throw new TransferError(WITHOUT_SERVERS);
  const apex = apexOf(
    soa,
    servers.map(({ rdata }) => rdata),
    nsTtl,
  );
  return { apex, changes: { deletes, rows }, added: await addedRecords(added, soa, proxied) };
}

/** Plans the application of differences. Throws OutOfStepError, and TransferError as `planFull`. */
export async function planDifferences(
  scene: PlanContext & { readonly apex: PrimaryApex },
  { soa, differences }: { readonly soa: ResourceRecord; readonly differences: readonly ZoneDifference[] },
): Promise<TransferPlan> {
  const zone = keyOf(soa.name);
  const net = await netDifference(differences, (record) => roleOf(record, zone) !== "none");
  const names = new Set<string>();
  const sets = createTransferredSets();
  await inTicks(net.values(), SLICE, ({ sample }) => names.add(formatName(sample.name).toLowerCase()));
  const rows = new LargeMap<DnsRecordRow>();
  const proxied = new Set<string>();
  for (const some of chunksOf(names, SLICE)) {
    const found = (await recordsNamed(scene.db, scene.zone.id, some)).map(({ id }) => id);
    for (const row of await recordsByIds(scene.db, scene.zone.id, found)) {
      if (row.proxied === 1) proxied.add(`${row.name} ${row.type}`);
      if (!isOwnAlias(row, scene.zone.name)) rows.set(keyOfRow(row), row);
    }
    await backgroundTurn();
  }
  const servers = nameServersOf(scene);
  let nsTtl = scene.apex.ns_ttl;

  const deletes: Removal[] = [];
  let previous = "";
  const changed: DnsRecordRow[] = [];
  const added: ResourceRecord[] = [];
  let steps = 0;
  for (const [key, row] of rows) {
    if (++steps % SLICE === 0) await backgroundTurn();
    if (net.get(key)?.after !== null) sets.add(row.name, typeCode(row.type) ?? 0, Buffer.byteLength(row.rdata, "base64"));
  }
  for (const [key, { sample, existed, after }] of net) {
    if (++steps % SLICE === 0) await backgroundTurn();
    const inApex = roleOf(sample, zone) === "apex";
    const row = rows.get(key);
    if (existed !== (inApex ? servers.has(key) : row !== undefined))
      throw new OutOfStepError(`${formatName(sample.name)} ${typeName(sample.type)} ${existed ? "does not exist" : "already exists"}`);
    if (inApex) {
      if (after) servers.set(key, after.rdata);
      else servers.delete(key);
      nsTtl = after?.ttl ?? nsTtl;
    } else if (!row && after) {
      sets.add(formatName(after.name).toLowerCase(), after.type, after.rdata.length);
      added.push(after);
    } else if (row && !after) {
      deletes.push({ id: row.id, cost: recordCost(row, previous) });
      previous = row.name;
    } else if (row && after && row.ttl !== storedTtl(after.ttl)) changed.push({ ...row, ttl: storedTtl(after.ttl) });
  }
  if (servers.size === 0) throw new TransferError(WITHOUT_SERVERS);
  return {
    apex: apexOf(soa, servers.values(), nsTtl),
    changes: { deletes, rows: changed },
    added: await addedRecords(added, soa, proxied),
  };
}

/**
 * New records; proxied if others of their name and type are, so that the setting survives a change of address. Throws
 * TransferError if a zone here cannot contain one.
 */
async function addedRecords(records: Iterable<ResourceRecord>, soa: ResourceRecord, proxied: ReadonlySet<string>): Promise<AddedRecords> {
  const zone = keyOf(soa.name);
  const added: ResourceRecord[] = [];
  await inTicks(records, SLICE, (record) => {
    assertServable(record, zone);
    added.push(record);
  });
  const isProxied = ({ name, type }: ResourceRecord): boolean =>
    proxied.size > 0 && proxied.has(`${formatName(name).toLowerCase()} ${typeName(type)}`);
  return {
    size: added.length,
    prepared: function* () {
      for (const record of added) yield copiedRecord(record, isProxied(record));
    },
  };
}

/** A CNAME at the apex is an override, because no primary can have one. */
const isOwnAlias = (row: { readonly name: string; readonly type: string }, zoneName: string): boolean =>
  row.type === "CNAME" && row.name === zoneName;

function nameServersOf({
  apex,
  zone,
}: {
  readonly apex: PrimaryApex;
  readonly zone: { readonly name: string };
}): Map<RecordKey, Uint8Array> {
  const name = keyOf(parseAbsoluteName(zone.name));
  const rdatas = apex.name_servers.map((server) => parseAbsoluteName(server));
  return new Map(rdatas.map((rdata) => [recordKey(name, TYPE.NS, rdata), rdata]));
}
