import { sql } from "kysely";
import type { DialectName } from "#store/queries/session.ts";
import type { Store } from "./store.ts";

/** The database's time in milliseconds since the Unix epoch, which all its clients share. */
export const databaseNow = (dialect: DialectName) =>
  dialect === "postgres"
    ? sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`
    : sql<number>`CAST(unixepoch('subsec') * 1000 AS INTEGER)`;

export async function databaseNowMs({ read, dialect }: Pick<Store, "read" | "dialect">): Promise<number> {
  const { now_ms } = await read.selectNoFrom(databaseNow(dialect).as("now_ms")).executeTakeFirstOrThrow();
  return now_ms;
}
