import { type Kysely, sql } from "kysely";
import type { DnsRecordRow } from "./record-row.ts";
import { tagKeys } from "./record-keys.ts";
import { prepareSetQuery } from "#store/queries/in-query.ts";
import type { Tables } from "#store/queries/tables.ts";

// Counts of a zone's records per facet: the properties of filters that may match most records. Counting those would read
// most of an index, at about 15 million records per second.

type Db = Kysely<Tables>;

type Counted = Pick<DnsRecordRow, "type" | "proxied" | "comment" | "tags">;

/** Facets whose records are counted, or all records of the zone without them. */
export interface Facets {
  readonly facets: readonly string[];
  readonly others: boolean;
}

export const typeFacet = (type: string): string => `type:${type}`;
export const PROXIED = "proxied";
export const COMMENTED = "commented";
/** `name` is folded, as by `tagKeys`. */
export const tagFacet = (name: string): string => `tag:${name}`;

function facetsOf({ type, proxied, comment, tags }: Counted): readonly string[] {
  const facets = [typeFacet(type)];
  if (proxied === 1) facets.push(PROXIED);
  if (comment !== null) facets.push(COMMENTED);
  if (tags !== "[]") facets.push(...new Set(tagKeys(tags).map(({ name }) => tagFacet(name))));
  return facets;
}

const FACET_ROWS = { width: 2, shared: 1 } as const;

const add = prepareSetQuery<[zoneId: string], unknown>(FACET_ROWS, (db, tuples, zone_id) =>
  db
    .insertInto("dns_record_counts")
    .values(tuples.map(([facet, count]) => ({ zone_id, facet: facet as string, count: count as number })))
    .onConflict((conflict) =>
      conflict.columns(["zone_id", "facet"]).doUpdateSet({ count: sql<number>`dns_record_counts.count + excluded.count` }),
    ),
);

const FACETS = { width: 1, shared: 1 } as const;

const forgetEmpty = prepareSetQuery<[zoneId: string], unknown>(FACETS, (db, tuples, zone_id) =>
  db
    .deleteFrom("dns_record_counts")
    .where("zone_id", "=", zone_id)
    .where(
      "facet",
      "in",
      tuples.map(([facet]) => facet as string),
    )
    .where("count", "=", 0),
);

/** Updates the counts in the transaction that writes the records. */
export async function countRecords(
  db: Db,
  zoneId: string,
  changes: readonly { readonly before: Counted | null; readonly after: Counted | null }[],
): Promise<void> {
  const added = new Map<string, number>();
  const count = (record: Counted | null, by: 1 | -1): void => {
    if (record !== null) for (const facet of facetsOf(record)) added.set(facet, (added.get(facet) ?? 0) + by);
  };
  for (const { before, after } of changes) {
    count(before, -1);
    count(after, 1);
  }
  const tuples = [...added].filter(([, by]) => by !== 0);
  if (tuples.length === 0) return;
  // Clients can invent any number of tags, so empty counts are deleted.
  const fewer = tuples.filter(([, by]) => by < 0).map(([facet]) => [facet]);
  const counted = add(db, tuples, zoneId);
  // One facet is one statement each, in this order.
  if (tuples.length > 1) await counted;
  await Promise.all([counted, forgetEmpty(db, fewer, zoneId)]);
}

/** Number of records with one of the facets, of which no record may have two; or of all others. */
export async function countedRecords(db: Db, zoneId: string, { facets, others }: Facets): Promise<number> {
  const { rows } = await sql<{ counted: number; records: number }>`
    SELECT record_count AS records, (
      SELECT coalesce(sum(count), 0) FROM dns_record_counts WHERE zone_id = ${zoneId} AND facet IN (${sql.join(facets)})
    ) AS counted FROM zones WHERE id = ${zoneId}`.execute(db);
  const [{ counted, records } = { counted: 0, records: 0 }] = rows;
  return others ? records - counted : counted;
}
