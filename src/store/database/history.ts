import { randomBytes } from "node:crypto";
import { type Kysely, sql } from "kysely";
import type { Clock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { Dialect, Session, Statement } from "#store/queries/session.ts";
import type { Tables } from "#store/queries/tables.ts";
import { nowSeconds, raisedSerial } from "#store/queries/zone-serial.ts";
import type { Change, Position } from "./store.ts";

/** The database's position, and whether the database is the one on which its history began. */
export interface StoredPosition {
  readonly history: string | null;
  readonly rev: number;
  readonly isOwn: boolean;
}

const HALF_BYTES = 8;
const HALF_CHARS = 2 * HALF_BYTES;

const randomHalf = (): string => randomBytes(HALF_BYTES).toString("hex");

/** Whether both histories belong to the same installation, before or after a restore. */
export const isSameInstallation = (a: string, b: string): boolean => a.slice(0, HALF_CHARS) === b.slice(0, HALF_CHARS);

/** The highest revision that this process has seen, by which it detects a restored database, and the highest serial. */
export interface HighestPosition {
  get(): Position | null;
  note(position: Position): void;
  /** The highest serial that follows the clock; 0 if none. */
  serial(): number;
  noteSerials(changes: readonly Change[]): void;
}

/** Larger distances from the clock are serials of a primary, such as 2026112601, which must not raise ours. */
const NEAR_CLOCK_SECONDS = 10_000_000;

export function createHighestPosition(clock: Clock): HighestPosition {
  let seen: Position | null = null;
  let highest = 0;
  return {
    serial: () => highest,
    noteSerials: (changes) => {
      for (const { kind, value } of changes) {
        if (kind !== "serial" || value === null || !("serial" in value) || typeof value.serial !== "number") continue;
        if (value.serial > highest && value.serial - nowSeconds(clock) < NEAR_CLOCK_SECONDS) highest = value.serial;
      }
    },
    get: () => seen,
    note: ({ history, rev }) => {
      if (seen?.history !== history || seen.rev < rev) seen = { history, rev };
    },
  };
}

/** Whether the database continues its history: it is the original database and is not behind the revision seen before. */
export const isContinued = (stored: StoredPosition, seen: Position | null): stored is StoredPosition & Position =>
  stored.isOwn && stored.history !== null && (seen?.history !== stored.history || seen.rev <= stored.rev);

/** Reads what `positionOf` takes. */
export const positionQuery = ({ identity }: Dialect): string =>
  `SELECT value, history, history IS NOT NULL AND identity = ${identity} AS own FROM counters WHERE name = 'rev'`;

/**
 * Reads the revision counter and locks out all other writers until the transaction ends. Numbers from a sequence would
 * commit out of order, and a reader of "after rev N" would miss rows.
 */
export const lockPosition = (dialect: Dialect): Statement => ({ sql: `${positionQuery(dialect)}${dialect.forUpdate}` });

export async function readPosition(db: Kysely<Tables>, dialect: Dialect): Promise<StoredPosition> {
  const { rows } = await sql.raw<Record<string, unknown>>(positionQuery(dialect)).execute(db);
  return positionOf(rows[0]);
}

export function positionOf(row: Readonly<Record<string, unknown>> | undefined): StoredPosition {
  if (typeof row?.["value"] !== "number")
    throw partial("the database has no revision counter: it is being restored, or was not made by this program");
  const { value: rev, history, own } = row;
  return { rev, history: typeof history === "string" ? history : null, isOwn: own === true || own === 1 };
}

/** A dump is being loaded into the database, so missing data means nothing yet. */
class PartialDatabase extends Error {}

const UNDEFINED_TABLE = "42P01";

export const isPartial = (error: unknown): boolean =>
  error instanceof PlatformError &&
  (error.cause instanceof PartialDatabase || (error.cause as { readonly code?: unknown } | undefined)?.code === UNDEFINED_TABLE);

const partial = (reason: string): PlatformError => new PlatformError("database_unavailable", { cause: new PartialDatabase(reason) });

/** Throws while a restore is loading rows: they would overwrite raised serials. */
async function assertWhole(session: Session, { isWhole }: Dialect): Promise<void> {
  if (isWhole === null || (await session.query(isWhole)).rows[0]?.["found"] === true) return;
  throw partial("the database is being restored");
}

/**
 * Begins a history in the transaction that has locked the position: the first one, or a new one after a restore. Raises
 * serials above those that other servers may have seen since the backup, including `served`. Throws
 * `database_unavailable` during a restore.
 */
export async function beginHistory(
  session: Session,
  dialect: Dialect,
  clock: Clock,
  before: StoredPosition,
  served: number,
): Promise<Position> {
  if (before.history !== null) await assertWhole(session, dialect);
  const installation = before.history?.slice(0, HALF_CHARS) ?? randomHalf();
  const history = `${installation}${randomHalf()}`;
  await session.query(`UPDATE counters SET history = ${dialect.placeholder(1)}, identity = ${dialect.identity} WHERE name = 'rev'`, [
    history,
  ]);
  if (before.history !== null) await session.query(`UPDATE zones SET serial = ${raisedSerial(clock, served)}`);
  return { history, rev: before.rev };
}

/** Declares that the database's content is what was served at the position; the caller starts the history that follows (`renewHistory`). */
export async function continueFrom(db: Kysely<Tables>, { history, rev }: Position): Promise<void> {
  const known = history === "" ? {} : { history };
  await db
    .updateTable("counters")
    .set({ value: rev, ...known })
    .where("name", "=", "rev")
    .execute();
}
