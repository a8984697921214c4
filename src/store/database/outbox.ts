import { type Kysely, sql } from "kysely";
import type { Position, Change, ChangeSet } from "./store.ts";
import { deleteInChunks } from "#store/queries/in-chunks.ts";
import { insertRows, type RowShape } from "#store/queries/rows.ts";
import { type Dialect, kyselyOver, type Session } from "#store/queries/session.ts";
import type { Tables } from "#store/queries/tables.ts";
import { AUDIT_ROW, type OpenUnit } from "./unit.ts";

/** Minimum number of revisions that `changes` keeps. A replica that is further behind takes a full copy. */
export const REVISIONS_RETAINED = 50_000;
/** Old rows are deleted once per this many revisions, so that few commits pay for it. */
const TRIM_EVERY = 50;

const CHANGE_ROW: RowShape = { table: "changes", columns: ["rev", "seq", "kind", "id", "value"] };

/**
 * Writes the changes and audit rows of units, and gives each unit with changes the next revision after `rev`. Returns the
 * units' revisions; null for those without changes.
 */
export async function flushUnits(
  session: Session,
  dialect: Dialect,
  rev: number,
  units: readonly OpenUnit[],
): Promise<readonly (number | null)[]> {
  let head = rev;
  const changeRows: unknown[][] = [];
  const revs = units.map((unit) => {
    if (unit.changes.length === 0) return null;
    head++;
    unit.changes.forEach(({ kind, id, value }, seq) => changeRows.push([head, seq, kind, id, value]));
    return head;
  });
  await insertRows(
    session,
    dialect,
    AUDIT_ROW,
    units.flatMap((unit) => unit.audits),
  );
  if (head === rev) return revs;
  await insertRows(session, dialect, CHANGE_ROW, changeRows);
  await session.query(`UPDATE counters SET value = ${dialect.placeholder(1)} WHERE name = 'rev'`, [head]);
  if (Math.floor(head / TRIM_EVERY) > Math.floor(rev / TRIM_EVERY)) {
    const db = kyselyOver(dialect, session.query);
    await deleteInChunks(db, { table: "changes", key: ["rev", "seq"], where: sql`rev <= ${head - REVISIONS_RETAINED}` });
  }
  return revs;
}

/**
 * See `Store.changesSince`. Every revision has rows, so a missing one was trimmed. `position` is read after the rows: if
 * the history is still the requested one, the rows belong to it.
 */
export async function readChangesSince(
  db: Kysely<Tables>,
  position: () => Promise<Position>,
  { rev, limit, history }: { readonly rev: number; readonly limit: number; readonly history: string | undefined },
): Promise<readonly ChangeSet[] | null> {
  const first = await readChangeSets(db, rev, limit);
  const newest = await position();
  if (history !== undefined && newest.history !== history) return null;
  if (first.length > 0) return first[0]!.rev === rev + 1 ? first : null;
  // No revision after `rev`: it is the newest, a commit came in between, or the rows were trimmed.
  if (newest.rev === rev) return [];
  const second = await readChangeSets(db, rev, limit);
  return second[0]?.rev === rev + 1 ? second : null;
}

async function readChangeSets(db: Kysely<Tables>, rev: number, limit: number): Promise<readonly ChangeSet[]> {
  const rows = await db
    .selectFrom("changes")
    .selectAll()
    .where("rev", ">", rev)
    .where("rev", "<=", rev + limit)
    .orderBy("rev")
    .orderBy("seq")
    .execute();
  const sets: { rev: number; changes: Change[] }[] = [];
  for (const row of rows) {
    const change = { kind: row.kind, id: row.id, value: row.value === null ? null : JSON.parse(row.value) };
    const last = sets.at(-1);
    if (last?.rev === row.rev) last.changes.push(change);
    else sets.push({ rev: row.rev, changes: [change] });
  }
  return sets;
}
