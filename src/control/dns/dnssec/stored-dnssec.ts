import { generateKeyPair } from "node:crypto";
import { promisify } from "node:util";
import { type Clock, isoMicros } from "#kernel/clock.ts";
import { newId } from "#kernel/crypto/ids.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import type { DnssecStatus } from "#model/dns/dnssec-status.ts";
import { type DnssecLife, newLife, type RolloverStage } from "#model/dns/dnssec-life.ts";
import { dnssecEntry, serialEntry } from "#snapshot/compile/zone-entry.ts";
import type { Unit } from "#store/database/store.ts";
import {
  deleteDnssecKey,
  type DnssecKeyRow,
  dnssecKeysOfZone,
  dnssecOfZone,
  insertDnssecKey,
  putDnssec,
  type ZoneDnssecRow,
} from "#store/dns/zone-dnssec.ts";
import { touchZone } from "#store/zones/zones.ts";

/** A zone's DNSSEC as stored in the database. */
export interface StoredDnssec {
  readonly row: ZoneDnssecRow;
  /** Oldest first; at least one. */
  readonly keys: readonly DnssecKeyRow[];
}

export async function loadDnssec(db: Unit["db"], zoneId: string): Promise<StoredDnssec | undefined> {
  const row = await dnssecOfZone(db, zoneId);
  return row && { row, keys: await dnssecKeysOfZone(db, zoneId) };
}

/** Stores the changes, and publishes them to the planes if the keys in use change. Secondaries learn of it by the serial. */
export async function saveDnssec(unit: Unit, before: StoredDnssec | undefined, after: StoredDnssec): Promise<void> {
  const had = new Set(before?.keys.map(({ id }) => id));
  const has = new Set(after.keys.map(({ id }) => id));
  await putDnssec(unit.db, after.row);
  for (const key of after.keys) if (!had.has(key.id)) await insertDnssecKey(unit.db, key);
  for (const id of had) if (!has.has(id)) await deleteDnssecKey(unit.db, id);
  const entry = dnssecEntry(after.row, after.keys);
  if (JSON.stringify(entry) === JSON.stringify(dnssecEntry(before?.row, before?.keys ?? []))) return;
  const touched = await touchZone(unit, after.row.zone_id);
  unit.change({ kind: "dnssec", id: after.row.zone_id, value: entry });
  if (touched) unit.change({ kind: "serial", id: after.row.zone_id, value: serialEntry(touched) });
}

export const lifeOf = ({ row, keys }: StoredDnssec): DnssecLife => ({
  status: row.status as DnssecStatus,
  status_since: Date.parse(row.status_since),
  rollover: row.rollover as RolloverStage,
  rollover_since: Date.parse(row.rollover_since),
  keys: keys.map(({ id }) => id),
  ds_named: JSON.parse(row.ds_named) as string[],
  ds_since: Date.parse(row.ds_since),
  ds_ttl: row.ds_ttl,
  looked_on: row.looked_on === "" ? null : Date.parse(row.looked_on),
});

/** The same with another state, some of whose keys may be in `fresh`. */
export const withLife = ({ row, keys }: StoredDnssec, life: DnssecLife, fresh: readonly DnssecKeyRow[] = []): StoredDnssec => ({
  row: { ...row, ...columnsOf(life) },
  keys: [...keys, ...fresh].filter(({ id }) => life.keys.includes(id)),
});

/** Initial state of a zone's DNSSEC: disabled, with its first key. */
export function newDnssec(key: DnssecKeyRow, nowMs: number): StoredDnssec {
  const modified_on = iso(nowMs);
  const life = columnsOf(newLife(key.id, nowMs));
  const look = { ds_others: "[]", look_failure: "", look_failures: 0, next_look_on: modified_on, refetch_on: modified_on };
  return { row: { zone_id: key.zone_id, ...life, ...look, multi_signer: 0, modified_on }, keys: [key] };
}

const columnsOf = (life: DnssecLife) => ({
  status: life.status,
  status_since: iso(life.status_since),
  rollover: life.rollover,
  rollover_since: iso(life.rollover_since),
  ds_named: JSON.stringify(life.ds_named),
  ds_since: iso(life.ds_since),
  ds_ttl: life.ds_ttl,
  looked_on: life.looked_on === null ? "" : iso(life.looked_on),
});

export const iso = (ms: number): string => isoMicros(ms * 1000);

const generate = promisify(generateKeyPair);

export async function newDnssecKey(deps: { readonly sealer: Sealer; readonly clock: Clock }, zoneId: string): Promise<DnssecKeyRow> {
  const id = newId();
  const { privateKey } = await generate("ec", { namedCurve: "P-256" });
  const { x = "", y = "" } = privateKey.export({ format: "jwk" });
  return {
    id,
    zone_id: zoneId,
    public_key: Buffer.concat([Buffer.from(x, "base64url"), Buffer.from(y, "base64url")]).toString("base64"),
    private_key: deps.sealer.seal(privateKey.export({ format: "pem", type: "pkcs8" }), `dnssec:${id}`),
    created_on: isoMicros(deps.clock.nowMicros()),
  };
}
