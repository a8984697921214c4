import type { Kysely } from "kysely";
import type { Tables } from "#store/queries/tables.ts";

/** NS records that a zone has for a name in it. */
export const delegationOf = (db: Kysely<Tables>, zoneId: string, name: string): Promise<{ content: string; created_on: string }[]> =>
  db
    .selectFrom("dns_records")
    .select(["content", "created_on"])
    .where("zone_id", "=", zoneId)
    .where("name", "=", name)
    .where("type", "=", "NS")
    .limit(100)
    .execute();
