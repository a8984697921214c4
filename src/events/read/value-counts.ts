import type { DatabaseSync } from "node:sqlite";
import { VALUE_HOUR_MS, type ValuePlace } from "#events/rollups/values.ts";
import { siteIds, type Where } from "#events/sql/where-sql.ts";

export interface ValueQuery {
  /** The sites; nothing else. */
  readonly where: Where<"security_events">;
  /** Whole hours within these are counted; null: no bound. */
  readonly fromMs: number;
  readonly toMs: number | null;
  /** Only this value; null: all. */
  readonly hash: string | null;
  readonly limit: number;
}

/** Values of whole hours, the last seen first (rollups/values.ts). */
export interface CountedValues {
  /** The counted period; of the rest, only the rows are known. */
  readonly fromMs: number;
  /** Null: to the end. */
  readonly toMs: number | null;
  readonly events: number;
  readonly values: readonly CountedValue[];
}

export interface CountedValue {
  readonly value_hash: string;
  readonly events: number;
  readonly first_ms: number;
  readonly last_ms: number;
  readonly confidence: number;
  /** Rules and detectors, with a blank between the two. */
  readonly finders: readonly string[];
  readonly place: ValuePlace;
}

const hourFrom = (ms: number): number => Math.ceil(ms / VALUE_HOUR_MS) * VALUE_HOUR_MS;
const hourTo = (ms: number): number => Math.floor(ms / VALUE_HOUR_MS) * VALUE_HOUR_MS;

export function readValueCounts(db: DatabaseSync, { where, fromMs, toMs, hash, limit }: ValueQuery): CountedValues {
  const sites = `(${(siteIds(db, "security_events", where as Where) ?? []).join(", ")})`;
  const from = hourFrom(Math.max(fromMs, wholeSince(db, sites)));
  const to = toMs === null ? null : Math.max(from, hourTo(toMs));
  const period = { from, to: to ?? Number.MAX_SAFE_INTEGER };
  const within = `site IN ${sites} AND at_ms >= :from AND at_ms < :to AND ${hash === null ? "value_hash <> ''" : "value_hash = :hash"}`;
  const parameters = hash === null ? period : { ...period, hash };
  const found = db
    .prepare(
      `SELECT value_hash, SUM(events) AS events, MIN(first_ms) AS first_ms, MAX(last_ms) AS last_ms, MAX(confidence) AS confidence FROM value_hours WHERE ${within} GROUP BY value_hash ORDER BY last_ms DESC, value_hash LIMIT :limit`,
    )
    .all({ ...parameters, limit }) as unknown as readonly Omit<CountedValue, "finders" | "place">[];
  const details = detailsOf(db, within, parameters, found);
  const all = db
    .prepare(
      `SELECT IFNULL(SUM(events), 0) AS n FROM value_hours WHERE site IN ${sites} AND at_ms >= :from AND at_ms < :to AND value_hash = ''`,
    )
    .get(period);
  return {
    fromMs: from,
    toMs: to,
    events: hash === null ? Number(all?.["n"]) : found.reduce((sum, { events }) => sum + events, 0),
    values: found.map((value) => ({ ...value, ...details.get(value.value_hash)! })),
  };
}

/** From when on the hours of the sites are whole. */
function wholeSince(db: DatabaseSync, sites: string): number {
  const all = db.prepare("SELECT since_ms FROM rollups WHERE name = 'value_hours'").get();
  const own = db.prepare(`SELECT IFNULL(MAX(since_ms), 0) AS since_ms FROM value_sites WHERE site IN ${sites}`).get();
  return Math.max(Number(all?.["since_ms"] ?? 0), Number(own?.["since_ms"] ?? 0));
}

type Details = Pick<CountedValue, "finders" | "place">;

/** Every rule of each value, and its last place. */
function detailsOf(
  db: DatabaseSync,
  within: string,
  parameters: Readonly<Record<string, string | number>>,
  found: readonly { readonly value_hash: string }[],
): ReadonlyMap<string, Details> {
  const details = new Map<string, Details>();
  const hashes = JSON.stringify(found.map(({ value_hash }) => value_hash));
  const rows = db
    .prepare(
      `SELECT value_hash, finders, place FROM value_hours WHERE ${within} AND value_hash IN (SELECT value FROM json_each(:hashes)) ORDER BY last_ms`,
    )
    .iterate({ ...parameters, hashes });
  for (const row of rows) {
    const hash = String(row["value_hash"]);
    const finders = new Set([...(details.get(hash)?.finders ?? []), ...String(row["finders"]).split(",")]);
    details.set(hash, { finders: [...finders], place: JSON.parse(String(row["place"])) as ValuePlace });
  }
  return details;
}
