import type { Insertable, Kysely, Selectable, Updateable } from "kysely";
import type { ImagesTable } from "#store/tables/images.ts";
import type { Tables } from "#store/queries/tables.ts";

export type ImageRow = Selectable<ImagesTable>;
type Db = Kysely<Tables>;

/** The place in a list by time of upload. */
export interface ImagePlace {
  readonly uploaded_on: string;
  readonly id: string;
}

export interface ImageSelection {
  readonly creator?: string | undefined;
  readonly order: "asc" | "desc";
  readonly after?: ImagePlace | undefined;
  readonly limit: number;
  readonly offset: number;
}

export const findImage = (db: Db, accountId: string, id: string): Promise<ImageRow | undefined> =>
  db.selectFrom("images").selectAll().where("account_id", "=", accountId).where("id", "=", id).executeTakeFirst();

/** The draft whose URL has the secret with this hash. */
export const imageByUpload = (db: Db, hash: string): Promise<ImageRow | undefined> =>
  db.selectFrom("images").selectAll().where("upload_hash", "=", hash).executeTakeFirst();

/** Images whose files have arrived. */
export function listImages(db: Db, accountId: string, { creator, order, after, limit, offset }: ImageSelection): Promise<ImageRow[]> {
  let query = db.selectFrom("images").selectAll().where("account_id", "=", accountId).where("blob_id", "is not", null);
  if (creator !== undefined) query = query.where("creator", "=", creator);
  if (after !== undefined) {
    const beyond = order === "asc" ? ">" : "<";
    query = query.where(({ eb, refTuple, tuple }) => eb(refTuple("uploaded_on", "id"), beyond, tuple(after.uploaded_on, after.id)));
  }
  return query.orderBy("uploaded_on", order).orderBy("id", order).limit(limit).offset(offset).execute();
}

/** All images of the account, with drafts that have not ended by the time. */
export async function imageTotals(db: Db, accountId: string, now: string): Promise<{ readonly count: number; readonly bytes: number }> {
  const row = await db
    .selectFrom("images")
    .select(({ fn }) => [fn.countAll().as("count"), fn.sum("bytes").as("bytes")])
    .where("account_id", "=", accountId)
    .where((eb) => eb.or([eb("blob_id", "is not", null), eb("expires_on", ">", now)]))
    .executeTakeFirstOrThrow();
  return { count: Number(row.count), bytes: Number(row.bytes ?? 0) };
}

export async function insertImage(db: Db, row: Insertable<ImagesTable>): Promise<void> {
  await db.insertInto("images").values(row).execute();
}

export async function updateImage(db: Db, { account_id, id }: ImageRow, change: Updateable<ImagesTable>): Promise<void> {
  await db.updateTable("images").set(change).where("account_id", "=", account_id).where("id", "=", id).execute();
}

export async function deleteImage(db: Db, { account_id, id }: Pick<ImageRow, "account_id" | "id">): Promise<void> {
  await db.deleteFrom("images").where("account_id", "=", account_id).where("id", "=", id).execute();
}

/** Deletes the row unless its file has arrived meanwhile. */
export async function deleteDraft(db: Db, { account_id, id }: Pick<ImageRow, "account_id" | "id">): Promise<void> {
  await db.deleteFrom("images").where("account_id", "=", account_id).where("id", "=", id).where("blob_id", "is", null).execute();
}

/** Whether it is a draft whose URL has ended: nothing can come of it. */
export const isEndedDraft = ({ blob_id, expires_on }: ImageRow, now: string): boolean => blob_id === null && (expires_on ?? "") <= now;

/** Drafts whose URLs have ended by the time. */
export const endedDrafts = (db: Db, before: string, limit: number): Promise<Pick<ImageRow, "account_id" | "id">[]> =>
  db
    .selectFrom("images")
    .select(["account_id", "id"])
    .where("expires_on", "<=", before)
    .where("blob_id", "is", null)
    .limit(limit)
    .execute();

/** Those of the files that belong to an image. */
export async function usedBlobs(db: Db, blobIds: readonly string[]): Promise<ReadonlySet<string>> {
  if (blobIds.length === 0) return new Set();
  const rows = await db.selectFrom("images").select("blob_id").where("blob_id", "in", blobIds).execute();
  return new Set(rows.flatMap(({ blob_id: id }) => (id === null ? [] : [id])));
}
