import { type Kysely, type Selectable, sql } from "kysely";
import { deleteInChunks, deleteOwned, updateInChunks } from "#store/queries/in-chunks.ts";
import type {
  NotificationPoliciesTable,
  NotificationSilencesTable,
  NotificationSpikesTable,
  NotificationWebhooksTable,
} from "#store/tables/events.ts";
import type { Tables } from "#store/queries/tables.ts";

export type WebhookRow = Selectable<NotificationWebhooksTable>;
export type PolicyRow = Selectable<NotificationPoliciesTable>;
export type SilenceRow = Selectable<NotificationSilencesTable>;
export type SpikeRow = Selectable<NotificationSpikesTable>;
type Db = Kysely<Tables>;

export const webhooksOf = (db: Db, accountId: string): Promise<WebhookRow[]> =>
  db.selectFrom("notification_webhooks").selectAll().where("account_id", "=", accountId).orderBy("created_on").orderBy("id").execute();

export const webhookById = (db: Db, accountId: string, id: string): Promise<WebhookRow | undefined> =>
  db.selectFrom("notification_webhooks").selectAll().where("account_id", "=", accountId).where("id", "=", id).executeTakeFirst();

export async function insertWebhook(db: Db, row: WebhookRow): Promise<void> {
  await db.insertInto("notification_webhooks").values(row).execute();
}

export async function updateWebhook(db: Db, id: string, values: Partial<WebhookRow>): Promise<void> {
  await db.updateTable("notification_webhooks").set(values).where("id", "=", id).execute();
}

/** Webhooks whose URL is not sealed. */
export const unsealedWebhooks = (db: Db, limit: number): Promise<{ id: string; url: string }[]> =>
  db.selectFrom("notification_webhooks").select(["id", "url"]).where("url", "like", "http%").orderBy("id").limit(limit).execute();

/** Nothing happens if somebody else has changed it meanwhile. */
export async function replaceWebhookUrl(db: Db, { id, url }: Pick<WebhookRow, "id" | "url">, next: string): Promise<void> {
  await db.updateTable("notification_webhooks").set({ url: next }).where("id", "=", id).where("url", "=", url).execute();
}

export async function deleteWebhook(db: Db, id: string): Promise<void> {
  await db.deleteFrom("notification_webhooks").where("id", "=", id).execute();
}

export const policiesOf = (db: Db, accountId: string): Promise<PolicyRow[]> =>
  db.selectFrom("notification_policies").selectAll().where("account_id", "=", accountId).orderBy("created_on").orderBy("id").execute();

/** Enabled policies of every account. */
export const policiesOfType = (db: Db, type: string): Promise<PolicyRow[]> =>
  db.selectFrom("notification_policies").selectAll().where("enabled", "=", 1).where("alert_type", "=", type).orderBy("id").execute();

/** Enabled policies of every account. */
export const enabledPolicies = (db: Db): Promise<PolicyRow[]> =>
  db.selectFrom("notification_policies").selectAll().where("enabled", "=", 1).orderBy("id").execute();

export const policyById = (db: Db, accountId: string, id: string): Promise<PolicyRow | undefined> =>
  db.selectFrom("notification_policies").selectAll().where("account_id", "=", accountId).where("id", "=", id).executeTakeFirst();

export async function insertPolicy(db: Db, row: PolicyRow): Promise<void> {
  await db.insertInto("notification_policies").values(row).execute();
}

export async function updatePolicy(db: Db, id: string, values: Partial<PolicyRow>): Promise<void> {
  await db.updateTable("notification_policies").set(values).where("id", "=", id).execute();
}

/** Also deletes its pending deliveries. */
export async function deletePolicy(db: Db, id: string): Promise<void> {
  await deleteInChunks(db, { table: "notification_deliveries", key: ["id"], where: sql`policy_id = ${id} AND status = 'pending'` });
  await deleteOwned(db, "notification_policies", sql`id = ${id}`);
  await db.deleteFrom("notification_policies").where("id", "=", id).execute();
}

export const silencesOf = (db: Db, accountId: string): Promise<SilenceRow[]> =>
  db.selectFrom("notification_silences").selectAll().where("account_id", "=", accountId).orderBy("start_ms").orderBy("id").execute();

export const silenceById = (db: Db, accountId: string, id: string): Promise<SilenceRow | undefined> =>
  db.selectFrom("notification_silences").selectAll().where("account_id", "=", accountId).where("id", "=", id).executeTakeFirst();

export async function insertSilence(db: Db, row: SilenceRow): Promise<void> {
  await db.insertInto("notification_silences").values(row).execute();
}

export async function updateSilence(db: Db, id: string, values: Partial<SilenceRow>): Promise<void> {
  await db.updateTable("notification_silences").set(values).where("id", "=", id).execute();
}

export async function deleteSilence(db: Db, id: string): Promise<void> {
  await db.deleteFrom("notification_silences").where("id", "=", id).execute();
}

export async function isSilenced(db: Db, policyId: string, nowMs: number): Promise<boolean> {
  const row = await db
    .selectFrom("notification_silences")
    .select("id")
    .where("policy_id", "=", policyId)
    .where("start_ms", "<=", nowMs)
    .where("end_ms", ">", nowMs)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

export const spikesOf = (db: Db, policyId: string): Promise<SpikeRow[]> =>
  db.selectFrom("notification_spikes").selectAll().where("policy_id", "=", policyId).execute();

/** Inserts or replaces the row of the policy's subject. */
export async function putSpike(db: Db, row: SpikeRow): Promise<void> {
  await db
    .insertInto("notification_spikes")
    .values(row)
    .onConflict((conflict) => conflict.columns(["policy_id", "subject"]).doUpdateSet({ above: row.above, told_ms: row.told_ms }))
    .execute();
}

const SPIKES = { table: "notification_spikes", key: ["policy_id", "subject"] } as const;

/** Ends the policy's spikes; the time of the last notification stays stored. */
export async function endSpikes(db: Db, policyId: string): Promise<void> {
  await updateInChunks(db, { ...SPIKES, set: sql`above = 0`, where: sql`policy_id = ${policyId} AND above != 0` });
}

/** Deletes spikes that have ended, of times that no interval between notifications reaches. */
export async function deleteSpikesBefore(db: Db, beforeMs: number): Promise<void> {
  await deleteInChunks(db, { ...SPIKES, where: sql`above = 0 AND told_ms < ${beforeMs}` });
}

export async function forgetSpikes(db: Db, policyId: string): Promise<void> {
  await deleteInChunks(db, { ...SPIKES, where: sql`policy_id = ${policyId}` });
}
