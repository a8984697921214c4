import type { Kysely } from "kysely";
import type { Tables } from "#store/queries/tables.ts";

/** The zone's NS records at a name. */
export const delegationOf = (db: Kysely<Tables>, zoneId: string, name: string): Promise<{ content: string; created_on: string }[]> =>
  db
    .selectFrom("dns_records")
    .select(["content", "created_on"])
    .where("zone_id", "=", zoneId)
    .where("name", "=", name)
    .where("type", "=", "NS")
    .limit(100)
    .execute();
