import type { Kysely } from "kysely";
import type { DnsRecordRow } from "./record-row.ts";
import type { Tables } from "#store/queries/tables.ts";

const COLUMNS = [
  "id",
  "name",
  "type",
  "ttl",
  "proxied",
  "settings",
  "comment",
  "tags",
  "rdata",
] as const satisfies readonly (keyof DnsRecordRow)[];

export type ZoneFileRow = Pick<DnsRecordRow, (typeof COLUMNS)[number]>;

/** A few milliseconds of work, with what callers do with them. */
const ROWS_AT_ONCE = 250;

/** All records of a zone in the order of their names, page by page, using the index of names. */
export async function* zoneFileRows(db: Kysely<Tables>, zoneId: string): AsyncGenerator<readonly ZoneFileRow[]> {
  for (let last: ZoneFileRow | undefined; ;) {
    const after = last ?? { name: "", type: "", id: "" };
    const rows = await db
      .selectFrom("dns_records")
      .select(COLUMNS)
      .where("zone_id", "=", zoneId)
      .where((eb) => eb(eb.refTuple("name", "type", "id"), ">", eb.tuple(after.name, after.type, after.id)))
      .orderBy("name")
      .orderBy("type")
      .orderBy("id")
      .limit(ROWS_AT_ONCE)
      .execute();
    if (rows.length > 0) yield rows;
    if (rows.length < ROWS_AT_ONCE) return;
    last = rows.at(-1);
  }
}
