import { type Kysely, sql } from "kysely";
import { positionOf, positionQuery, type StoredPosition } from "./history.ts";
import type { SizedSet } from "./recent-changes.ts";
import type { Change } from "./store.ts";
import { deleteInChunks } from "#store/queries/in-chunks.ts";
import { insertRows, insertsOf, type RowShape } from "#store/queries/rows.ts";
import { kyselyOver } from "#store/queries/kysely-over.ts";
import type { Dialect, Session, Statement } from "#store/queries/session.ts";
import type { Tables } from "#store/queries/tables.ts";
import { AUDIT_ROW, type OpenUnit } from "./unit.ts";

/** Minimum number of revisions that `changes` keeps. A replica that is further behind takes a full copy. */
export const REVISIONS_RETAINED = 50_000;
/** Old rows are deleted once per this many revisions, so that few commits pay for it. */
const TRIM_EVERY = 50;

const CHANGE_ROW: RowShape = { table: "changes", columns: ["rev", "seq", "kind", "id", "value"] };

/** More rows are written before the commit, some at a time. */
const LAST_ROWS_MAX = 64;

/**
 * Writes the changes and audit rows of units, and gives each unit with changes the next revision after `rev`. Returns the
 * units' revisions, null for those without changes, and the statements that remain for the end of the transaction.
 */
export async function flushUnits(
  session: Session,
  dialect: Dialect,
  rev: number,
  units: readonly OpenUnit[],
): Promise<{ readonly revs: readonly (number | null)[]; readonly statements: readonly Statement[] }> {
  let head = rev;
  const changeRows: unknown[][] = [];
  const revs = units.map((unit) => {
    if (unit.changes.length === 0) return null;
    head++;
    unit.changes.forEach(({ kind, id, value }, seq) => changeRows.push([head, seq, kind, id, value]));
    return head;
  });
  const statements: Statement[] = [];
  const add = async (shape: RowShape, rows: readonly (readonly unknown[])[]): Promise<void> => {
    if (rows.length <= LAST_ROWS_MAX) statements.push(...insertsOf(dialect, shape, rows));
    else await insertRows(session, dialect, shape, rows);
  };
  await add(
    AUDIT_ROW,
    units.flatMap((unit) => unit.audits),
  );
  if (head === rev) return { revs, statements };
  await add(CHANGE_ROW, changeRows);
  statements.push({ sql: `UPDATE counters SET value = ${dialect.placeholder(1)} WHERE name = 'rev'`, parameters: [head] });
  if (Math.floor(head / TRIM_EVERY) > Math.floor(rev / TRIM_EVERY)) {
    const db = kyselyOver(dialect, session.query);
    await deleteInChunks(db, { table: "changes", key: ["rev", "seq"], where: sql`rev <= ${head - REVISIONS_RETAINED}` });
  }
  return { revs, statements };
}

/** Rows of one statement, so that they belong to the position that it read. */
export interface FoundChanges {
  readonly at: StoredPosition;
  /** Those after a revision, oldest first. */
  readonly sets: readonly SizedSet[];
}

export async function readChanges(db: Kysely<Tables>, dialect: Dialect, rev: number, limit: number): Promise<FoundChanges> {
  const { rows } = await sql<Record<string, unknown>>`WITH place AS MATERIALIZED (${sql.raw(positionQuery(dialect))})
    SELECT place.value, place.history, place.own, changes.rev, changes.kind, changes.id, changes.value AS entry FROM place
    LEFT JOIN changes ON changes.rev > ${rev} AND changes.rev <= ${rev + limit} ORDER BY changes.rev, changes.seq`.execute(db);
  const sets: { rev: number; changes: Change[]; chars: number }[] = [];
  for (const row of rows) {
    // The database's place has no change after it.
    if (typeof row["rev"] !== "number") continue;
    const entry = row["entry"] as string | null;
    if (sets.at(-1)?.rev !== row["rev"]) sets.push({ rev: row["rev"], changes: [], chars: 0 });
    const last = sets.at(-1)!;
    last.changes.push({ kind: String(row["kind"]), id: String(row["id"]), value: entry === null ? null : JSON.parse(entry) });
    last.chars += entry?.length ?? 0;
  }
  return { at: positionOf(rows[0]), sets };
}

/** The sets that follow `rev` if none is missing. Every revision has rows, so a missing one was trimmed. */
export function unbroken({ at, sets }: FoundChanges, rev: number): readonly SizedSet[] | null {
  const first = sets[0]?.rev;
  return first === rev + 1 || (first === undefined && at.rev === rev) ? sets : null;
}
