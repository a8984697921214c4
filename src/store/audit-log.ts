import type { Kysely, Selectable } from "kysely";
import type { AuditLogTable, Tables } from "#store/tables.ts";

/** Without what objects were before and after. */
export type AuditRow = Omit<Selectable<AuditLogTable>, "before" | "after">;

/** Of an account, newest first. */
export async function auditLogOf(
  db: Kysely<Tables>,
  accountId: string,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ readonly rows: readonly AuditRow[]; readonly total: number }> {
  const own = db.selectFrom("audit_log").where("account_id", "=", accountId);
  const rows = await own
    .select(["id", "at", "action", "actor_type", "actor_id", "actor_ip", "account_id", "zone_id", "resource_type", "resource_id"])
    .orderBy("id", "desc")
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  const { total } = await own.select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow();
  return { rows, total: Number(total) };
}
