import type { Tables } from "#store/queries/tables.ts";
import { type Kysely, type Selectable, sql } from "kysely";
import { deleteInChunks, updateInChunks } from "#store/queries/in-chunks.ts";
import type { NotificationDeliveriesTable } from "#store/tables/events.ts";

export type DeliveryRow = Selectable<NotificationDeliveriesTable>;

type Db = Kysely<Tables>;

export type Destination = Pick<DeliveryRow, "mechanism_type" | "mechanism">;

/** Marks the policy's pending deliveries to any other destination than these as failed, with the error. */
export async function failPending(db: Db, policyId: string, destinations: readonly Destination[], error: string): Promise<void> {
  const kept = destinations.map(
    ({ mechanism_type, mechanism }) => sql`AND NOT (mechanism_type = ${mechanism_type} AND mechanism = ${mechanism})`,
  );
  await updateInChunks(db, {
    table: "notification_deliveries",
    key: ["id"],
    set: sql`status = 'failed', error = ${error}`,
    where: sql`policy_id = ${policyId} AND status = 'pending' ${sql.join(kept, sql` `)}`,
  });
}

/** Messages of an account in an hour, and those of it that are kept. */
export interface DeliveryLimits {
  readonly anHour: number;
  readonly kept: number;
}

/** An account chooses how many policies tell of an event, whom, and how often it happens. */
export const DELIVERY_LIMITS: DeliveryLimits = { anHour: 10_000, kept: 100_000 };
const HOUR_MS = 3_600_000;

/**
 * Adds the rows of an account, as far as its hour has room: the last row that does is not sent, and says so. Returns the rows
 * that will be sent.
 */
export async function insertDeliveries(
  db: Db,
  rows: readonly DeliveryRow[],
  { anHour }: DeliveryLimits = DELIVERY_LIMITS,
): Promise<readonly DeliveryRow[]> {
  const [first] = rows;
  if (first === undefined) return rows;
  const { n } = await history(db, first.account_id, { fromMs: first.created_ms - HOUR_MS })
    .select((eb) => eb.fn.countAll().as("n"))
    .executeTakeFirstOrThrow();
  const room = Math.max(0, anHour - Number(n));
  const isOver = rows.length > room;
  const sent = rows.slice(0, isOver ? Math.max(0, room - 1) : rows.length);
  const last = isOver ? rows.slice(sent.length, room) : [];
  const error = `the limit of ${anHour} messages an hour for an account is reached: this one and further ones are not sent`;
  const added = [...sent, ...last.map((row) => ({ ...row, status: "failed" as const, error }))];
  if (added.length > 0) await db.insertInto("notification_deliveries").values(added).execute();
  return sent;
}

export interface DueTimes {
  readonly nowMs: number;
  /** The latest plausible due time; later ones were set by a clock that was ahead. */
  readonly latestMs: number;
}

/** Due deliveries, at most `eachMax` per account: first the longest overdue of each account. */
export const dueDeliveries = (db: Db, { nowMs, latestMs }: DueTimes, eachMax: number, limit: number): Promise<DeliveryRow[]> =>
  db
    .selectFrom((from) =>
      from
        .selectFrom("notification_deliveries")
        .selectAll()
        .select(({ fn }) =>
          fn
            .agg<number>("row_number")
            .over((over) => over.partitionBy("account_id").orderBy("due_ms"))
            .as("place"),
        )
        .where("status", "=", "pending")
        .where((eb) => eb.or([eb("due_ms", "<=", nowMs), eb("due_ms", ">", latestMs)]))
        .as("due"),
    )
    .selectAll()
    .where("place", "<=", eachMax)
    .orderBy("place")
    .orderBy("due_ms")
    .limit(limit)
    .execute();

export const pendingDeliveries = (db: Db, ids: readonly string[]): Promise<DeliveryRow[]> =>
  db.selectFrom("notification_deliveries").selectAll().where("id", "in", ids).where("status", "=", "pending").orderBy("id").execute();

/**
 * Claims the attempt for the caller; false if another process claimed it, or the delivery has ended. `dueMs`: when the
 * next attempt may be made if the caller does not finish.
 */
export async function claimDelivery(db: Db, row: DeliveryRow, dueMs: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("notification_deliveries")
    .set({ attempts: row.attempts + 1, due_ms: dueMs })
    .where("id", "=", row.id)
    .where("attempts", "=", row.attempts)
    .where("status", "=", "pending")
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Marks the delivery as sent, whatever its status is by now. */
export async function markSent(db: Db, { id }: DeliveryRow, sentOn: string): Promise<void> {
  await db
    .updateTable("notification_deliveries")
    .set({ status: "sent", sent_on: sentOn, error: null })
    .where("id", "=", id)
    .where("status", "!=", "sent")
    .execute();
}

/** Stores the failure of the attempt after `row`, unless another attempt began since or the delivery has ended. */
export async function attemptFailed(db: Db, row: DeliveryRow, values: Partial<DeliveryRow>): Promise<void> {
  await db
    .updateTable("notification_deliveries")
    .set(values)
    .where("id", "=", row.id)
    .where("attempts", "=", row.attempts + 1)
    .where("status", "=", "pending")
    .execute();
}

export interface SentTimes {
  /** ISO 8601, as in `sent_on`. */
  readonly from: string;
  readonly to: string;
  /** Lower limit of the creation time: no delivery sent in this time was created earlier. */
  readonly begunMs: number;
}

export async function countEmailsSent(db: Db, accountId: string, { from, to, begunMs }: SentTimes): Promise<number> {
  const row = await db
    .selectFrom("notification_deliveries")
    .select((eb) => eb.fn.countAll().as("n"))
    .where("account_id", "=", accountId)
    .where("created_ms", ">=", begunMs)
    .where("mechanism_type", "=", "email")
    .where("sent_on", ">=", from)
    .where("sent_on", "<=", to)
    .executeTakeFirst();
  return Number(row?.n ?? 0);
}

export interface HistoryFilter {
  readonly fromMs?: number;
  readonly toMs?: number;
}

const history = (db: Db, accountId: string, { fromMs, toMs }: HistoryFilter) => {
  const all = db.selectFrom("notification_deliveries").where("account_id", "=", accountId);
  const from = fromMs === undefined ? all : all.where("created_ms", ">=", fromMs);
  return toMs === undefined ? from : from.where("created_ms", "<", toMs);
};

/** Newest first. */
export const deliveriesOf = (
  db: Db,
  accountId: string,
  filter: HistoryFilter,
  page: { readonly limit: number; readonly offset: number },
): Promise<DeliveryRow[]> =>
  history(db, accountId, filter)
    .selectAll()
    .orderBy("created_ms", "desc")
    .orderBy("id", "desc")
    .limit(page.limit)
    .offset(page.offset)
    .execute();

export async function countDeliveries(db: Db, accountId: string, filter: HistoryFilter): Promise<number> {
  const row = await history(db, accountId, filter)
    .select((eb) => eb.fn.countAll().as("n"))
    .executeTakeFirst();
  return Number(row?.n ?? 0);
}

export async function deleteDeliveriesBefore(db: Db, beforeMs: number): Promise<void> {
  await deleteInChunks(db, {
    table: "notification_deliveries",
    key: ["id"],
    where: sql`created_ms < ${beforeMs} AND status != 'pending'`,
  });
}

/** Deletes the oldest messages of accounts that have more than `kept`, but those that are still to be sent. */
export async function deleteOldDeliveries(db: Db, { kept }: DeliveryLimits = DELIVERY_LIMITS): Promise<void> {
  const many = await db
    .selectFrom("notification_deliveries")
    .select("account_id")
    .groupBy("account_id")
    .having((eb) => eb.fn.countAll(), ">", kept)
    .execute();
  for (const { account_id } of many) {
    const [oldest] = await deliveriesOf(db, account_id, {}, { limit: 1, offset: kept - 1 });
    if (oldest === undefined) continue;
    await deleteInChunks(db, {
      table: "notification_deliveries",
      key: ["id"],
      where: sql`account_id = ${account_id} AND created_ms < ${oldest.created_ms} AND status != 'pending'`,
    });
  }
}
