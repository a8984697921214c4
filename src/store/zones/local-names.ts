import type { Kysely } from "kysely";
import type { Tables } from "#store/queries/tables.ts";

/** A name in a hosted zone, as the zone answers for it. */
export interface HostedName {
  readonly zone: {
    readonly id: string;
    readonly account_id: string;
    readonly name: string;
    readonly type: string;
    readonly serial: number;
    readonly paused: number;
  };
  /** Records of the name, or of the wildcard that covers it. */
  readonly records: readonly { readonly type: string; readonly content: string; readonly proxied: number }[];
  /** Another server answers for the name, because of a delegation on the way. */
  readonly isDelegated: boolean;
}

/**
 * The hosted zone with the longest matching name, and its records at the name, for an account that points to it.
 * Considers active zones that are the account's own or proved to be another's (rule of snapshot/reliance.ts). Null if the
 * public DNS must be asked.
 */
export async function hostedName(db: Kysely<Tables>, name: string, viewerAccountId: string): Promise<HostedName | null> {
  const above = namesUp(name);
  const zone = await db
    .selectFrom("zones")
    .select(["id", "account_id", "name", "type", "serial", "paused"])
    .where("name", "in", above)
    .where("status", "=", "active")
    .where((eb) => eb.or([eb("account_id", "=", viewerAccountId), eb("proof", "!=", "none")]))
    .orderBy((eb) => eb.fn<number>("length", ["name"]), "desc")
    .executeTakeFirst();
  return zone === undefined ? null : hostedIn(db, zone, name);
}

/** The zone's records at the name, regardless of other zones. */
export async function hostedIn(db: Kysely<Tables>, zone: HostedName["zone"], name: string): Promise<HostedName> {
  const above = namesUp(name);
  const within = above.filter((one) => one.length > zone.name.length);
  const wildcards = [...within.slice(1), zone.name].map((parent) => `*.${parent}`);
  const records = await db
    .selectFrom("dns_records")
    .select(["name", "type", "content", "proxied"])
    .where("zone_id", "=", zone.id)
    .where("name", "in", [name, ...within, ...wildcards])
    .execute();
  const isDelegated = records.some((record) => record.type === "NS" && within.includes(record.name));
  const own = records.filter((record) => record.name === name);
  if (own.length > 0) return { zone, records: own, isDelegated };
  // RFC 4592 §3.3.1: the wildcard of the closest existing ancestor applies. Empty non-terminals count as missing here.
  const stop = within.findIndex((one) => records.some((record) => record.name === one));
  const candidates = stop < 0 ? wildcards : wildcards.slice(0, stop);
  const wildcard = candidates.find((one) => records.some((record) => record.name === one));
  return { zone, records: records.filter((record) => record.name === wildcard), isDelegated };
}

/** Whether the public DNS has the same records: a partial zone's records and those of a delegated name are elsewhere. */
export const answersItself = (hosted: HostedName | null): hosted is HostedName =>
  hosted !== null && !hosted.isDelegated && hosted.zone.type !== "partial";

/** The name and all its ancestors: at most 127. */
export function namesUp(name: string): string[] {
  const names = [name];
  for (let dot = name.indexOf("."); dot >= 0; dot = name.indexOf(".", dot + 1)) names.push(name.slice(dot + 1));
  return names;
}
